//! Bytes changed at random.

use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use crate::Target;

/// Returns bytes of the corpus with a few changes, most of them with checksums that hold.
pub fn changed(target: &Target, random: &mut ChaCha8Rng) -> Vec<u8> {
    let bytes = target.corpus.choose(random).cloned().unwrap_or_default();
    changed_from(bytes, target, random)
}

/// Returns bytes with a few changes, most of the time with checksums that hold.
pub fn changed_from(mut bytes: Vec<u8>, target: &Target, random: &mut ChaCha8Rng) -> Vec<u8> {
    for _ in 0..random.random_range(1..6) {
        once(&mut bytes, target, random);
    }
    if random.random_bool(0.95) { (target.seal)(bytes) } else { bytes }
}

/// Returns a piece that means something in text.
fn word(target: &Target, random: &mut ChaCha8Rng) -> &'static str {
    const WORDS: [&str; 8] =
        ["1e999", "[[[[[[[[", "]", "{", "\"", "\\u0000", "18446744073709551616", "\u{feff}"];
    let words = if random.random_bool(0.5) { target.words } else { &WORDS };
    words.choose(random).copied().unwrap_or_default()
}

fn once(bytes: &mut Vec<u8>, target: &Target, random: &mut ChaCha8Rng) {
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
    if bytes.is_empty() {
        bytes.extend(target.corpus.choose(random).into_iter().flatten());
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
            let word = word(target, random);
            bytes.splice(at..at + length, word.bytes());
        }
        _ => {
            let other = target.corpus.choose(random).map_or(&[][..], Vec::as_slice);
            let from = random.random_range(0..other.len().max(1));
            let end = (from + length).min(other.len());
            bytes.splice(at..at + length, other[from..end].iter().copied());
        }
    }
}
