//! The frame of binary files: magic, version, checksum and the lengths of two parts, little-endian.

use std::ops::Range;

/// The bytes of magic, version, checksum and the two lengths.
pub(super) const PREFIX: usize = 32;

/// The place of the checksum, which does not cover itself.
const CHECKSUM: Range<usize> = 12..16;

/// Returns the bytes with the frame in their first [`PREFIX`], after which a first part of this
/// length begins; the second one goes to the end.
pub(super) fn close(mut bytes: Vec<u8>, magic: &[u8; 8], version: u32, first: usize) -> Vec<u8> {
    let second = bytes.len() - PREFIX - first;
    bytes[..8].copy_from_slice(magic);
    bytes[8..12].copy_from_slice(&version.to_le_bytes());
    bytes[16..24].copy_from_slice(&(first as u64).to_le_bytes());
    bytes[24..PREFIX].copy_from_slice(&(second as u64).to_le_bytes());
    let checksum = checksum(&bytes).to_le_bytes();
    bytes[CHECKSUM].copy_from_slice(&checksum);
    bytes
}

/// Returns the CRC-32 (IEEE 802.3) of all bytes but those of the checksum.
fn checksum(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..CHECKSUM.start]);
    hasher.update(&bytes[CHECKSUM.end..]);
    hasher.finalize()
}

/// The statements of a frame, none of which is trusted.
pub(super) struct Frame<'a> {
    bytes: &'a [u8],
    pub(super) version: u32,
    /// The lengths of the parts.
    pub(super) lengths: [u64; 2],
    /// The checksum that is written in the frame.
    pub(super) stored: u32,
}

impl<'a> Frame<'a> {
    /// Reads a frame, or returns the reason why the bytes are not one.
    pub(super) fn of(bytes: &'a [u8], magic: &[u8; 8]) -> Result<Self, String> {
        let Some((prefix, _)) = bytes.split_first_chunk::<PREFIX>() else {
            return Err(format!("it has {} bytes, fewer than {PREFIX}", bytes.len()));
        };
        if !prefix.starts_with(magic) {
            let reason = "its first bytes are those of a file that was transferred as text";
            return Err(reason.to_owned());
        }
        let half = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|k| prefix[at + k]));
        let whole =
            |at: usize| u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|k| prefix[at + k]));
        let (version, stored) = (half(8), half(CHECKSUM.start));
        Ok(Frame { bytes, version, lengths: [whole(16), whole(24)], stored })
    }

    /// Returns the parts, or the reason why their lengths are not those of the bytes.
    pub(super) fn parts(&self) -> Result<[&'a [u8]; 2], String> {
        let (rest, [first, second]) = (&self.bytes[PREFIX..], self.lengths);
        if first.checked_add(second) != Some(rest.len() as u64) {
            return Err(format!(
                "its header announces {PREFIX} + {first} + {second} bytes, but it has {}",
                self.bytes.len()
            ));
        }
        // No larger than the rest, as has just been seen.
        let (first, second) = rest.split_at(first as usize);
        Ok([first, second])
    }

    /// Returns the checksum of the bytes as they are.
    pub(super) fn computed(&self) -> u32 {
        checksum(self.bytes)
    }
}
