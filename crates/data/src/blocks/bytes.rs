//! Reads and writes the little-endian numbers, lists and texts of block files.

/// The unread part of some bytes: little-endian numbers, and UTF-8 texts after their length. An
/// error is a message for the reader of the file.
pub(super) struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Bytes(bytes)
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'b [u8], String> {
        let Some((taken, rest)) = self.0.split_at_checked(count) else {
            return Err(format!("{} bytes are left, but {count} are needed", self.0.len()));
        };
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self) -> Result<u8, String> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, String> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, String> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(super) fn f64(&mut self) -> Result<f64, String> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    /// Takes 1 for true or 0 for false.
    pub(super) fn bool(&mut self) -> Result<bool, String> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(format!("{other} is neither 0 nor 1")),
        }
    }

    pub(super) fn text(&mut self) -> Result<String, String> {
        let length = self.u32()? as usize;
        let text = str::from_utf8(self.take(length)?);
        text.map(str::to_owned).map_err(|_| "a text is not UTF-8".to_owned())
    }

    /// Takes a list after its length. It grows as its items are read, so that a length beyond the
    /// end is an error before it is an allocation.
    pub(super) fn list<T>(
        &mut self,
        item: impl FnMut(&mut Self) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let length = self.u64()?;
        self.items(length, item)
    }

    pub(super) fn items<T>(
        &mut self,
        count: u64,
        mut item: impl FnMut(&mut Self) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Refuses bytes that are left.
    pub(super) fn finish(self) -> Result<(), String> {
        match self.0.len() {
            0 => Ok(()),
            left => Err(format!("{left} bytes are left over")),
        }
    }
}

/// Appends a text after its length.
pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text.as_bytes());
}

/// Appends a list after its length.
pub(super) fn put_list<T>(out: &mut Vec<u8>, items: &[T], mut put: impl FnMut(&mut Vec<u8>, &T)) {
    out.extend((items.len() as u64).to_le_bytes());
    items.iter().for_each(|item| put(out, item));
}
