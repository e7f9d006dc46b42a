//! The ends of a block file, which are read when it is opened.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::index::Index;
use super::layout::{BLOCK_HEAD, BlockHead, END, FOOT, HEAD, Layout, check};
use crate::Error;

/// The reason why an index is not to be had.
pub(super) enum Fault {
    Io(io::Error),
    Damage(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Fault::Io(error)
    }
}

impl From<String> for Fault {
    fn from(reason: String) -> Self {
        Fault::Damage(reason)
    }
}

/// Reads head, foot and index of a file.
pub(super) fn read_index(file: &mut File, length: u64) -> Result<(Layout, Index), Fault> {
    let mut head = [0; HEAD];
    if length < HEAD as u64 {
        return Err(Fault::Damage("the file ends within its head".to_owned()));
    }
    file.read_exact(&mut head)?;
    let layout = Layout::of_head(&head)?;
    let mut foot = [0; FOOT];
    let Some(at) = length.checked_sub(FOOT as u64).filter(|&at| at >= HEAD as u64) else {
        return Err(Fault::Damage("the file ends before its foot".to_owned()));
    };
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut foot)?;
    let [mut offset, mut checksums] = [[0; 8]; 2];
    offset.copy_from_slice(&foot[..8]);
    checksums.copy_from_slice(&foot[8..16]);
    let offset = u64::from_le_bytes(offset);
    let checksums = u64::from_le_bytes(checksums);
    let (of_index, of_foot) = (checksums as u32, (checksums >> 32) as u32);
    if foot[16..] != END || of_foot != crc32fast::hash(&foot[..12]) {
        return Err(Fault::Damage("the foot at its end is damaged or missing".to_owned()));
    }
    if !(HEAD as u64..=at).contains(&offset) {
        return Err(Fault::Damage("the foot names a place that is not in the file".to_owned()));
    }
    file.seek(SeekFrom::Start(offset))?;
    let mut index = Vec::new();
    file.by_ref().take(at - offset).read_to_end(&mut index)?;
    let checked = check(of_index, crc32fast::hash(&index))
        .and_then(|()| Index::of_bytes(&index, layout, offset));
    Ok((layout, checked.map_err(|reason| format!("index: {reason}"))?))
}

pub(super) fn foot(offset: u64, index: &[u8]) -> [u8; FOOT] {
    let mut foot = [0; FOOT];
    foot[..8].copy_from_slice(&offset.to_le_bytes());
    foot[8..12].copy_from_slice(&crc32fast::hash(index).to_le_bytes());
    let checksum = crc32fast::hash(&foot[..12]);
    foot[12..16].copy_from_slice(&checksum.to_le_bytes());
    foot[16..].copy_from_slice(&END);
    foot
}

/// Returns the error of a file without a sound index: names the block that it ends in, or after.
pub(super) fn damage(file: &mut File, name: String, length: u64, reason: String) -> Error {
    match last_block(file, length) {
        Some((block, true)) => {
            Error::Block { file: name, block, reason: "the file ends within it".to_owned() }
        }
        Some((blocks, false)) => {
            wrong(name, format!("{reason} (the file is cut off or damaged after {blocks} blocks)"))
        }
        None => wrong(name, reason),
    }
}

/// Returns the number of whole blocks from the start of a file, and true if the file ends within the
/// next one; `None` of a file without a head.
fn last_block(file: &mut File, length: u64) -> Option<(usize, bool)> {
    let mut head = [0; HEAD];
    file.seek(SeekFrom::Start(0)).ok()?;
    file.read_exact(&mut head).ok()?;
    let layout = Layout::of_head(&head).ok()?;
    let mut at = HEAD as u64;
    for blocks in 0.. {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(at)).ok()?;
        file.take(BLOCK_HEAD as u64).read_to_end(&mut bytes).ok()?;
        if bytes.len() < BLOCK_HEAD {
            return Some((blocks, BlockHead::may_begin(&bytes)));
        }
        let Some(head) = BlockHead::of_bytes(&bytes) else { return Some((blocks, false)) };
        match layout.block_bytes(head.rows, head.stored).and_then(|bytes| at.checked_add(bytes)) {
            Some(end) if end <= length => at = end,
            _ => return Some((blocks, true)),
        }
    }
    None
}

pub(super) fn wrong(file: String, reason: String) -> Error {
    Error::Malformed { place: crate::Place::of_file(file), reason }
}
