//! What comes in, changed at random, seeded: `mutate TARGET|all EXECUTIONS SEED`. It counts the
//! executions, how many of them were accepted, and how much memory reading has taken at most. A
//! panic ends it, with the bytes in `artifacts/`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use margins_fuzz::change::changed;
use margins_fuzz::{Target, adversaries, find, targets};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The system's allocator with a count of the bytes in use and of the most that were.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grow(bytes: usize) {
    let now = IN_USE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: an allocator cannot be written without `unsafe`, and only one sees every allocation.
// Every call is handed to the system's as it came; the counts touch no memory that is handed out.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(memory, layout) }
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The old and the new place exist at once where the content moves.
        grow(size);
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the most memory that a job has in use at once.
fn peak_of(job: impl FnOnce()) -> usize {
    let before = IN_USE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    job();
    PEAK.load(Ordering::Relaxed) - before
}

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, executions, seed] = arguments.as_slice() else {
        return Err("usage: mutate TARGET|all EXECUTIONS SEED".into());
    };
    let (executions, seed): (u64, u64) = (executions.parse()?, seed.parse()?);
    // To hand so little work to another thread would take most of the time.
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global()?;
    let targets = if name == "all" { targets() } else { find(name).into_iter().collect() };
    if targets.is_empty() {
        let names: Vec<&str> = margins_fuzz::targets().iter().map(|target| target.name).collect();
        return Err(format!("there is no target '{name}': all, {}", names.join(", ")).into());
    }
    for target in &targets {
        if target.name == "model" {
            read_adversaries(target)?;
        }
        explore(target, executions, seed)?;
    }
    Ok(())
}

/// Reads models that are made to take much memory.
fn read_adversaries(target: &Target) -> Result<(), Failure> {
    for (what, bytes) in adversaries() {
        let peak = peak_of(|| (target.read)(&bytes));
        println!(
            "{:>6.1} bytes a byte for {} bytes of {what}",
            peak as f64 / bytes.len() as f64,
            bytes.len()
        );
        if peak > target.allowed(bytes.len()) {
            return Err(format!("too much memory for {what}").into());
        }
    }
    Ok(())
}

/// Runs a target on this many changed inputs.
fn explore(target: &Target, executions: u64, seed: u64) -> Result<(), Failure> {
    for (k, bytes) in target.corpus.iter().enumerate() {
        (target.check)(bytes).map_err(|error| format!("{}, the {k}-th: {error}", target.name))?;
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut refusals: BTreeMap<String, u64> = BTreeMap::new();
    let (mut accepted, mut highest, mut steepest) = (0u64, 0, 0.0f64);
    let start = Instant::now();
    for execution in 0..executions {
        let bytes = changed(target, &mut random);
        let allowed = target.allowed(bytes.len());
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| {
            let peak = peak_of(|| (target.read)(&bytes));
            (peak, (target.check)(&bytes))
        }));
        let finding = match outcome {
            Err(_) => Some("a panic"),
            Ok((peak, _)) if peak > allowed => Some("too much memory"),
            Ok((peak, outcome)) => {
                highest = highest.max(peak);
                steepest = steepest.max(peak as f64 / allowed as f64);
                match outcome {
                    Ok(()) => accepted += 1,
                    Err(error) => *refusals.entry(kind(&error)).or_default() += 1,
                }
                None
            }
        };
        if let Some(finding) = finding {
            std::fs::create_dir_all("artifacts")?;
            let path = format!("artifacts/{}-{seed}-{execution}", target.name);
            std::fs::write(&path, &bytes)?;
            return Err(format!("{finding}: {} bytes in {path}", bytes.len()).into());
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("target           {}", target.name);
    println!("executions    {executions}, seed {seed}");
    println!("seconds       {seconds:.0}, {:.0} executions a second", executions as f64 / seconds);
    println!("accepted      {accepted}");
    println!("peak memory   {highest} bytes, at most {:.0} % of what is allowed", 100.0 * steepest);
    println!("refusals of {} kinds:", refusals.len());
    let mut refusals: Vec<(String, u64)> = refusals.into_iter().collect();
    refusals.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (kind, count) in refusals.iter().take(20) {
        println!("{count:>12}  {kind}");
    }
    Ok(())
}

/// Returns a message without what stands in quotes, without paths and numbers.
fn kind(message: &str) -> String {
    let (mut quoted, mut in_path) = (false, false);
    let mut kind = String::new();
    for c in message.chars() {
        in_path = c == '/' || (in_path && !c.is_whitespace() && c != ',');
        match c {
            '\'' | '"' | '`' => quoted = !quoted,
            _ if quoted || in_path => {}
            '0'..='9' if kind.ends_with('0') => {}
            '0'..='9' => kind.push('0'),
            _ => kind.push(c),
        }
    }
    let end = kind.char_indices().nth(70).map_or(kind.len(), |(at, _)| at);
    kind[..end].to_owned()
}
