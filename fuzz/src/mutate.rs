//! Model files changed at random, seeded: `mutate FIXTURES EXECUTIONS SEED`. It counts the
//! executions, how many of them were models, and how much memory reading has taken at most. A panic
//! ends it, with the bytes in `artifacts/`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use margins_fuzz::{check, sealed};
use margins_model::{Model, Registry};
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
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

/// What reading may take: a multiple of the bytes, and what serde reserves for lists before it has
/// seen their elements, a mebibyte each of the few that are open at once.
fn allowed(bytes: usize) -> usize {
    64 * bytes + (4 << 20)
}

/// The most that reading these bytes has in use at once.
fn peak_of_reading(bytes: &[u8], registry: &Registry) -> usize {
    let before = IN_USE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    drop(Model::from_bytes(bytes, registry));
    PEAK.load(Ordering::Relaxed) - before
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [fixtures, executions, seed] = arguments.as_slice() else {
        return Err("usage: mutate FIXTURES EXECUTIONS SEED".into());
    };
    let (executions, seed): (u64, u64) = (executions.parse()?, seed.parse()?);
    let files = files(Path::new(fixtures))?;
    let registry = Registry::standard();
    for (what, bytes) in adversaries() {
        let peak = peak_of_reading(&bytes, &registry);
        println!(
            "{:>6.1} bytes a byte for {} bytes of {what}",
            peak as f64 / bytes.len() as f64,
            bytes.len()
        );
        if peak > allowed(bytes.len()) {
            return Err(format!("too much memory for {what}").into());
        }
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut refusals: BTreeMap<String, u64> = BTreeMap::new();
    let (mut models, mut highest, mut steepest) = (0u64, 0, 0.0f64);
    let start = Instant::now();
    for execution in 0..executions {
        let bytes = mutated(&files, &mut random);
        let peak = peak_of_reading(&bytes, &registry);
        highest = highest.max(peak);
        steepest = steepest.max(peak as f64 / allowed(bytes.len()) as f64);
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| check(&bytes, &registry)));
        let finding = match outcome {
            Err(_) => Some("a panic"),
            Ok(_) if peak > allowed(bytes.len()) => Some("too much memory"),
            Ok(Ok(())) => {
                models += 1;
                None
            }
            Ok(Err(error)) => {
                *refusals.entry(kind(&error.to_string())).or_default() += 1;
                None
            }
        };
        if let Some(finding) = finding {
            std::fs::create_dir_all("artifacts")?;
            let path = format!("artifacts/{seed}-{execution}");
            std::fs::write(&path, &bytes)?;
            return Err(format!("{finding}: {} bytes in {path}", bytes.len()).into());
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("executions    {executions}, seed {seed}");
    println!("seconds       {seconds:.0}, {:.0} executions a second", executions as f64 / seconds);
    println!("models        {models}");
    println!("peak memory   {highest} bytes, at most {:.0} % of what is allowed", 100.0 * steepest);
    println!("refusals of {} kinds:", refusals.len());
    let mut refusals: Vec<(String, u64)> = refusals.into_iter().collect();
    refusals.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (kind, count) in refusals.iter().take(40) {
        println!("{count:>12}  {kind}");
    }
    Ok(())
}

/// Long files that say as much in as few bytes as can be.
fn adversaries() -> Vec<(&'static str, Vec<u8>)> {
    const COUNT: usize = 1 << 19;
    let many = |element: &str| vec![element; COUNT].join(",");
    let json = |classes: &str, basis: &str| {
        let start = r#"{"format":"margins-model","version":3,"crate_version":"","loss":"lhs""#;
        format!(
            r#"{start},"scheme":"binary","classes":[{classes}],"feature_names":null,"basis":{basis},"members":[]}}"#
        )
        .into_bytes()
    };
    let samples = |samples: String| {
        json(
            "",
            &format!(r#"{{"kind":"kernel","kernel":"linear","scales":null,"samples":{samples}}}"#),
        )
    };
    let sparse = |rows| samples(format!(r#"{{"sparse":{{"columns":9,"rows":[{rows}]}}}}"#));
    let long = |number: usize| (number as u64).to_le_bytes().to_vec();
    let list = [long(COUNT), vec![0; 8 * COUNT]].concat();
    // No crate, loss, kernel, names or fits; the scheme is the first.
    let description = |classes: Vec<u8>| [vec![0; 8 + 8 + 1 + 4], classes, vec![0; 1 + 8]].concat();
    let binary = |description: Vec<u8>, numbers: Vec<u8>| {
        let prefix =
            [b"\x89MGN\r\n\x1a\n\x03\0\0\0\0\0\0\0".to_vec(), long(description.len())].concat();
        sealed([prefix, long(numbers.len()), description, numbers].concat())
    };
    let coefs = [long(0), list.clone(), vec![0; 1 + 4]].concat();
    vec![
        ("JSON, empty samples", samples(format!(r#"{{"dense":[{}]}}"#, many("[]")))),
        ("JSON, samples of one number", samples(format!(r#"{{"dense":[{}]}}"#, many("[0]")))),
        ("JSON, samples of zeros", samples(format!(r#"{{"dense":[[{}]]}}"#, many("0")))),
        ("JSON, sparse samples", sparse(many("[[0,1]]"))),
        ("JSON, a field that is none", json("", &format!(r#"{{"junk":[{}]}}"#, many("{}")))),
        ("JSON, empty names", json(&many("\"\""), "null")),
        ("binary, empty names", binary(description(list), vec![])),
        ("binary, empty coefficients", binary(description(long(0)), coefs)),
    ]
}

/// The valid models in a folder and in the folders of it.
fn files(folder: &Path) -> std::io::Result<Vec<Vec<u8>>> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    let mut models = Vec::new();
    for path in paths {
        if path.is_dir() {
            models.extend(files(&path)?);
        } else if path.extension().is_some_and(|name| name == "mgn" || name == "json") {
            models.push(std::fs::read(path)?);
        }
    }
    Ok(models)
}

/// A valid file with a few changes, most of them with a checksum that holds.
fn mutated(files: &[Vec<u8>], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = files.choose(random).cloned().unwrap_or_default();
    for _ in 0..random.random_range(1..6) {
        change(&mut bytes, files, random);
    }
    if random.random_bool(0.95) { sealed(bytes) } else { bytes }
}

fn change(bytes: &mut Vec<u8>, files: &[Vec<u8>], random: &mut ChaCha8Rng) {
    const NUMBERS: [u64; 12] = [
        0,
        1,
        2,
        127,
        1 << 16,
        1 << 31,
        u32::MAX as u64,
        1 << 40,
        i64::MAX as u64,
        u64::MAX,
        0x7ff0_0000_0000_0000,
        0x7ff8_0000_0000_0000,
    ];
    const WORDS: [&str; 14] = [
        "null",
        "1e999",
        "-0.0",
        "[[[[[[[[",
        "]",
        "{",
        "\"",
        "\\u0000",
        "\"dense\"",
        "\"sparse\"",
        "18446744073709551616",
        "NaN",
        "one-versus-one",
        "gaussian:sigma=1*linear+poly:degree=2",
    ];
    if bytes.is_empty() {
        bytes.extend(files.choose(random).into_iter().flatten());
        return;
    }
    let at = random.random_range(0..bytes.len());
    let length = random.random_range(1..33).min(bytes.len() - at);
    match random.random_range(0..10) {
        0 => bytes[at] ^= 1 << random.random_range(0..8),
        1 => bytes[at] = random.next_u32() as u8,
        2 | 3 => {
            let number = NUMBERS.choose(random).copied().unwrap_or_default().to_le_bytes();
            let length = 8.min(bytes.len() - at);
            bytes[at..at + length].copy_from_slice(&number[..length]);
        }
        4 => {
            // A length or a count, one more or one less.
            let more = random.random_bool(0.5);
            bytes[at] = if more { bytes[at].wrapping_add(1) } else { bytes[at].wrapping_sub(1) };
        }
        5 => bytes.truncate(at),
        6 => drop(bytes.drain(at..at + length)),
        7 => {
            let piece = bytes[at..at + length].to_vec();
            let times = random.random_range(1..20);
            bytes.splice(at..at, piece.repeat(times));
        }
        8 => {
            let word = WORDS.choose(random).copied().unwrap_or_default();
            bytes.splice(at..at + length, word.bytes());
        }
        _ => {
            let other = files.choose(random).map_or(&[][..], Vec::as_slice);
            let from = random.random_range(0..other.len().max(1));
            let end = (from + length).min(other.len());
            bytes.splice(at..at + length, other[from..end].iter().copied());
        }
    }
}

/// A message without what stands in quotes and without numbers.
fn kind(message: &str) -> String {
    let mut quoted = false;
    let mut kind = String::new();
    for c in message.chars() {
        match c {
            '\'' | '"' | '`' => quoted = !quoted,
            _ if quoted => {}
            '0'..='9' if kind.ends_with('0') => {}
            '0'..='9' => kind.push('0'),
            _ => kind.push(c),
        }
    }
    let end = kind.char_indices().nth(70).map_or(kind.len(), |(at, _)| at);
    kind[..end].to_owned()
}
