//! The index at the end of a block file.

use super::bytes::{Bytes, put_list, put_text};
use super::encoding::{put_encoding, take_encoding};
use super::layout::{BlockHead, HEAD, INDEX_TAG, Layout};
use crate::ClassIndex;
use crate::encode::Encoding;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Index {
    pub(super) blocks: Vec<BlockEntry>,
    pub(super) rows: u64,
    pub(super) features: u64,
    pub(super) stored: u64,
    /// The names of the classes, in the order of their codes.
    pub(super) classes: Vec<String>,
    /// The rank of every class in the order of the labels; with two classes the second is positive.
    pub(super) class_ranks: Vec<u32>,
    /// The names of the folds by their codes; their numbers are in the order of the names.
    pub(super) folds: Vec<String>,
    pub(super) feature_names: Option<Vec<String>>,
    pub(super) encoding: Option<Encoding>,
}

/// The entry of a block in the index: its offset in the file, and its head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockEntry {
    pub(super) offset: u64,
    pub(super) head: BlockHead,
}

impl Index {
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut out = INDEX_TAG.to_vec();
        let rank = |out: &mut Vec<u8>, rank: &u32| out.extend(rank.to_le_bytes());
        let text = |out: &mut Vec<u8>, text: &String| put_text(out, text);
        put_list(&mut out, &self.blocks, |out, block| {
            out.extend(block.offset.to_le_bytes());
            out.extend(&block.head.bytes()[4..]);
        });
        let totals = [self.rows, self.features, self.stored];
        totals.iter().for_each(|total| out.extend(total.to_le_bytes()));
        put_list(&mut out, &self.classes, text);
        put_list(&mut out, &self.class_ranks, rank);
        put_list(&mut out, &self.folds, text);
        out.push(u8::from(self.feature_names.is_some()));
        if let Some(names) = &self.feature_names {
            put_list(&mut out, names, text);
        }
        out.push(u8::from(self.encoding.is_some()));
        if let Some(encoding) = &self.encoding {
            put_encoding(&mut out, encoding);
        }
        out
    }

    /// Reads the index of a file whose blocks end at a place.
    pub(super) fn of_bytes(bytes: &[u8], layout: Layout, end: u64) -> Result<Self, String> {
        let Some(rest) = bytes.strip_prefix(&INDEX_TAG) else {
            return Err("it is not where the end of the file says".to_owned());
        };
        let mut rest = Bytes::new(rest);
        let index = Index {
            blocks: rest.list(place)?,
            rows: rest.u64()?,
            features: rest.u64()?,
            stored: rest.u64()?,
            classes: rest.list(Bytes::text)?,
            class_ranks: rest.list(Bytes::u32)?,
            folds: rest.list(Bytes::text)?,
            feature_names: rest.bool()?.then(|| rest.list(Bytes::text)).transpose()?,
            encoding: rest.bool()?.then(|| take_encoding(&mut rest)).transpose()?,
        };
        rest.finish()?;
        index.check_blocks(layout, end)?;
        index.check_names(layout)?;
        Ok(index)
    }

    /// Refuses blocks that do not follow each other, from the head to the index.
    fn check_blocks(&self, layout: Layout, end: u64) -> Result<(), String> {
        let (mut at, mut rows, mut stored) = (HEAD as u64, 0_u64, 0_u64);
        for (number, BlockEntry { offset, head }) in self.blocks.iter().enumerate() {
            let wrong = |what: &str| Err(format!("block {number} {what}"));
            if *offset != at || head.rows == 0 {
                return wrong("is not where the one before it ends, or has no rows");
            }
            let dense = u64::from(head.rows).checked_mul(self.features);
            if !layout.sparse && dense != Some(head.stored) {
                return wrong("has not one value for every row and feature");
            }
            let after = layout.block_bytes(head.rows, head.stored);
            let after = after.and_then(|bytes| at.checked_add(bytes)).filter(|&after| after <= end);
            let Some(after) = after else {
                return wrong("is larger than the file");
            };
            at = after;
            // Neither sum is larger than the file.
            rows += u64::from(head.rows);
            stored += head.stored;
        }
        if at != end || (rows, stored) != (self.rows, self.stored) || rows == 0 {
            return Err("the blocks have another size together than it says".to_owned());
        }
        Ok(())
    }

    fn check_names(&self, layout: Layout) -> Result<(), String> {
        if self.classes.len() < 2 {
            return Err(format!("it names {} classes, but two are needed", self.classes.len()));
        }
        ClassIndex::new(&self.classes).map_err(|error| error.to_string())?;
        check_ranks(&self.class_ranks, self.classes.len())?;
        ClassIndex::new(&self.folds).map_err(|error| format!("its folds: {error}"))?;
        if layout.folds != (self.folds.len() >= 2) || (!layout.folds && !self.folds.is_empty()) {
            return Err(format!("it has {} folds", self.folds.len()));
        }
        let features = self.features;
        if features == 0 || features > u64::from(u32::MAX) {
            return Err(format!("it has {features} features"));
        }
        let names = self.feature_names.as_ref().map(|names| names.len() as u64);
        if let Some(count) = names.filter(|&count| count != features) {
            return Err(format!("it names {count} features, but there are {features}"));
        }
        match &self.encoding {
            Some(encoding) if Some(encoding.feature_names()) != self.feature_names => {
                Err("its encoding makes other features than it names".to_owned())
            }
            _ => Ok(()),
        }
    }
}

fn place(rest: &mut Bytes<'_>) -> Result<BlockEntry, String> {
    let offset = rest.u64()?;
    let (rows, stored, checksum) = (rest.u32()?, rest.u64()?, rest.u32()?);
    Ok(BlockEntry { offset, head: BlockHead { rows, stored, checksum } })
}

/// Refuses ranks that are not all numbers below their count.
fn check_ranks(ranks: &[u32], count: usize) -> Result<(), String> {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    if sorted.iter().map(|&rank| rank as usize).eq(0..count) {
        return Ok(());
    }
    Err(format!("the ranks are not the numbers below {count}"))
}
