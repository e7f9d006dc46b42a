use crate::Error;

/// Runs a job on a pool of that many threads, or on the rayon pool at hand if there is no number.
/// No result of this project depends on the number.
///
/// # Errors
/// No threads, or more than the system starts, and the errors of the job.
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
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.min(MOST)).build();
            let refuse = |reason: rayon::ThreadPoolBuildError| {
                let reason = reason.to_string();
                E::from(Error::Threads { threads, reason })
            };
            pool.map_err(refuse)?.install(job)
        }
    }
}
