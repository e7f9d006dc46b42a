//! Runs a job on a given number of threads.

use crate::Error;

/// Runs a job on a pool of that many threads, or on the current rayon pool for `None`.
/// No result of this project depends on the number.
///
/// # Errors
/// No threads, or more than the system starts or memory has room for, and the errors of the job.
pub fn on_threads<T: Send, E: From<Error> + Send>(
    threads: Option<usize>,
    job: impl FnOnce() -> Result<T, E> + Send,
) -> Result<T, E> {
    // More threads than this only take memory.
    const MOST: usize = 256;
    match threads {
        None => job(),
        Some(0) => Err(Error::setting("the number of threads", &0, "at least 1").into()),
        Some(threads) => {
            let count = threads.min(MOST);
            let refuse = |reason| E::from(Error::Threads { threads, reason });
            check_room(count).map_err(refuse)?;
            let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
            pool.map_err(|error| refuse(error.to_string()))?.install(job)
        }
    }
}

/// Refuses threads whose stacks leave no addresses for anything else: the system would start them, and
/// the next few bytes that the job asks for would end the program.
fn check_room(threads: usize) -> Result<(), String> {
    /// The addresses of a thread: its stack, and what it begins with.
    const OF_A_THREAD: usize = (2 << 20) + (64 << 10);
    /// The memory that a job takes without a check, such as the beginning of a file.
    const OF_A_JOB: usize = 8 << 20;
    let bytes = threads * OF_A_THREAD + OF_A_JOB;
    // Addresses that are never touched take no memory.
    let mut room: Vec<u8> = Vec::new();
    room.try_reserve_exact(bytes).map_err(|_| {
        format!("there is no room for their {}", margins_data::Memory::from_bytes(bytes))
    })
}
