//! The fixed parts of a block file, and what its rows consist of.

use super::bytes::Bytes;

/// The first bytes, made as those of PNG: a byte that no text has, the name, and line ends that a
/// transfer as text would change.
pub(super) const MAGIC: [u8; 8] = *b"\x89MGB\r\n\x1a\n";

/// The last bytes.
pub(super) const END: [u8; 8] = *b"MGB end\n";

/// The version of the format.
const VERSION: u32 = 1;

/// The bytes of the head of the file: magic, version, flags, checksum.
pub(super) const HEAD: usize = 20;

/// The bytes of the foot of the file: place and checksum of the index, checksum, end.
pub(super) const FOOT: usize = 24;

/// The bytes before each block: tag, rows, stored values, checksum.
pub(super) const BLOCK_HEAD: usize = 20;

/// The first bytes of a block.
const BLOCK_TAG: [u8; 4] = *b"BLCK";

/// The first bytes of the index.
pub(super) const INDEX_TAG: [u8; 4] = *b"INDX";

/// The precision of the values in a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Precision {
    /// 32 bits: half the size; values are rounded.
    Single,
    /// 64 bits: values are kept to the last bit.
    #[default]
    Double,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) sparse: bool,
    pub(super) precision: Precision,
    pub(super) weights: bool,
    pub(super) folds: bool,
}

impl Layout {
    pub(super) fn head(self) -> [u8; HEAD] {
        let double = self.precision == Precision::Double;
        let bits = [self.sparse, double, self.weights, self.folds];
        let flags = (0..).zip(bits).map(|(k, bit)| u32::from(bit) << k).sum::<u32>();
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&MAGIC);
        head[8..12].copy_from_slice(&VERSION.to_le_bytes());
        head[12..16].copy_from_slice(&flags.to_le_bytes());
        let checksum = crc32fast::hash(&head[..16]);
        head[16..].copy_from_slice(&checksum.to_le_bytes());
        head
    }

    pub(super) fn of_head(head: &[u8; HEAD]) -> Result<Self, String> {
        if head[..8] != MAGIC {
            return Err("this is no block file: it does not start as one".to_owned());
        }
        let mut rest = Bytes::new(&head[8..]);
        let (version, flags, checksum) = (rest.u32()?, rest.u32()?, rest.u32()?);
        check(checksum, crc32fast::hash(&head[..16]))
            .map_err(|reason| format!("head: {reason}"))?;
        if version != VERSION {
            return Err(format!(
                "the format has version {version}, but only version {VERSION} is known"
            ));
        }
        if flags >> 4 != 0 {
            return Err(format!("flags {flags} are unknown"));
        }
        let bit = |k: u32| flags >> k & 1 == 1;
        let precision = if bit(1) { Precision::Double } else { Precision::Single };
        Ok(Layout { sparse: bit(0), precision, weights: bit(2), folds: bit(3) })
    }

    pub(super) fn value_bytes(self) -> u64 {
        match self.precision {
            Precision::Single => 4,
            Precision::Double => 8,
        }
    }

    /// Returns the bytes of a row without its stored values.
    pub(super) fn row_bytes(self) -> u64 {
        4 + 8 * u64::from(self.weights) + 4 * u64::from(self.folds) + 4 * u64::from(self.sparse)
    }

    /// Returns the bytes of a stored value, with its column if there is one.
    pub(super) fn stored_bytes(self) -> u64 {
        self.value_bytes() + 4 * u64::from(self.sparse)
    }

    /// Returns the bytes of a block with its head; `None` beyond all files.
    pub(super) fn block_bytes(self, rows: u32, stored: u64) -> Option<u64> {
        let values = stored.checked_mul(self.stored_bytes())?;
        values.checked_add(BLOCK_HEAD as u64 + u64::from(rows) * self.row_bytes())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockHead {
    pub(super) rows: u32,
    pub(super) stored: u64,
    /// The checksum of the other parts of the head and of the content.
    pub(super) checksum: u32,
}

impl BlockHead {
    pub(super) fn of(rows: u32, stored: u64, content: &[u8]) -> Self {
        let mut head = BlockHead { rows, stored, checksum: 0 };
        head.checksum = head.expected_checksum(content);
        head
    }

    pub(super) fn expected_checksum(self, content: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.bytes()[..16]);
        hasher.update(content);
        hasher.finalize()
    }

    pub(super) fn bytes(self) -> [u8; BLOCK_HEAD] {
        let mut bytes = [0; BLOCK_HEAD];
        bytes[..4].copy_from_slice(&BLOCK_TAG);
        bytes[4..8].copy_from_slice(&self.rows.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.stored.to_le_bytes());
        bytes[16..].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    /// Returns true if a few bytes, of which there are some, may be the start of a head.
    pub(super) fn may_begin(bytes: &[u8]) -> bool {
        bytes.first() == Some(&BLOCK_TAG[0])
    }

    /// Reads the header of a block; returns `None` if the bytes are not a block header.
    pub(super) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = Bytes::new(bytes.strip_prefix(&BLOCK_TAG)?);
        let (rows, stored) = (rest.u32().ok()?, rest.u64().ok()?);
        Some(BlockHead { rows, stored, checksum: rest.u32().ok()? })
    }
}

/// Refuses another checksum than the one that is stored.
pub(super) fn check(stored: u32, found: u32) -> Result<(), String> {
    if stored == found {
        return Ok(());
    }
    Err(format!("the content is damaged: its checksum is {found:08x}, not {stored:08x}"))
}
