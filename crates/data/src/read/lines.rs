//! The numbered lines of a text file, plain or gzip, one at a time or in blocks.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::ops::Range;
use std::path::PathBuf;

use flate2::read::MultiGzDecoder;
use memchr::{memchr, memchr_iter, memrchr};

use super::content::{ends_lines_in_returns, not_text};
use crate::error::quoted;
use crate::missing::{USUAL_WORDS, is_gap};
use crate::{Column, Error, Place, RowNumber, blocks};

/// The bytes that are read at a time.
const READ: usize = 1 << 16;

/// The fewest bytes of a block that another follows. What is made of so few stays near the processor.
const BLOCK: usize = 1 << 16;

/// The same where all rows are kept: what is made of them leaves the processor anyway, and threads wait for
/// each other less often.
const LARGE_BLOCK: usize = 1 << 18;

/// The lines of a text file, one at a time, plain or gzip, with their numbers.
pub(super) struct Lines<'a> {
    /// The part of the file that has not been read; `None` of a [`Block`].
    reader: Option<Box<dyn Read + 'a>>,
    compressed: bool,
    name: String,
    text: Vec<u8>,
    /// The place in it of the current line, or of several where one was appended.
    line: Range<usize>,
    /// True if lines end in a carriage return alone.
    has_returns: bool,
    /// The error that ends the text.
    fault: Option<io::Error>,
    /// The number of the first of these lines, and number of lines read.
    number: u64,
    read: u64,
    /// The files whose lines follow.
    further: VecDeque<PathBuf>,
    /// False if there is no quote in the whole text.
    quotes: bool,
    /// The fewest bytes of a block.
    block: usize,
}

/// Whole lines, to be parsed on any thread.
pub(super) struct Block {
    name: String,
    text: Vec<u8>,
    /// The number of lines before.
    before: u64,
}

impl Block {
    /// Returns the most rows of so many cells that there are, of which each cell takes a byte.
    pub(super) fn most_rows(&self, cells: usize) -> usize {
        let lines = memchr_iter(b'\n', &self.text).count() + 1;
        lines.min(self.text.len() / cells.max(1) + 1)
    }
}

impl<'a> Lines<'a> {
    pub(super) fn new(reader: impl Read + 'a, name: &str) -> Result<Self, Error> {
        let (reader, compressed) = Self::text_of(reader, name)?;
        let block = Block { name: name.to_owned(), text: Vec::new(), before: 0 };
        let block = Lines::of(block);
        let mut lines = Lines { reader: Some(reader), compressed, quotes: true, ..block };
        lines.fill();
        if let Some(reason) = not_text(&lines.text) {
            return Err(lines.wrong(reason));
        }
        lines.has_returns = ends_lines_in_returns(&lines.text);
        lines.end_lines_from(0);
        Ok(lines)
    }

    pub(super) fn of(block: Block) -> Self {
        Lines {
            quotes: memchr(b'"', &block.text).is_some(),
            reader: None,
            compressed: false,
            name: block.name,
            text: block.text,
            line: 0..0,
            has_returns: false,
            fault: None,
            number: block.before,
            read: block.before,
            further: VecDeque::new(),
            block: BLOCK,
        }
    }

    /// Lets other files follow this one, which [`next_file`](Self::next_file) opens.
    pub(super) fn followed_by(mut self, files: &[PathBuf]) -> Self {
        self.further.extend(files.iter().cloned());
        self
    }

    pub(super) fn take_large_blocks(&mut self) {
        self.block = LARGE_BLOCK;
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of the current line, or of the first of those joined.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Returns false if no line has a quote.
    pub(super) fn may_have_quotes(&self) -> bool {
        self.quotes
    }

    /// Advances to the next file, before its first line; false after the last.
    #[cold]
    pub(super) fn next_file(&mut self) -> Result<bool, Error> {
        let Some(path) = self.further.pop_front() else { return Ok(false) };
        let name = path.display().to_string();
        let file = File::open(&path).map_err(|source| Error::Io { file: name.clone(), source })?;
        let (further, block) = (std::mem::take(&mut self.further), self.block);
        *self = Lines { further, block, ..Lines::new(file, &name)? };
        Ok(true)
    }

    /// Returns the text of a file, and true if the file is compressed.
    fn text_of(
        mut reader: impl Read + 'a,
        name: &str,
    ) -> Result<(Box<dyn Read + 'a>, bool), Error> {
        let mut start = Vec::new();
        let io = |source| Error::Io { file: name.to_owned(), source };
        reader.by_ref().take(8).read_to_end(&mut start).map_err(io)?;
        if blocks::begins(&start) {
            let reason = "a block file is read by its name, without other files".to_owned();
            let place = Place::of_file(name);
            return Err(Error::Malformed { place, reason });
        }
        let compressed = start.starts_with(&[0x1f, 0x8b]);
        let whole = Cursor::new(start).chain(reader);
        Ok((
            if compressed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) },
            compressed,
        ))
    }

    /// Refuses a carriage return within the line, which other programs take for the end of a line.
    pub(super) fn check_returns(&self) -> Result<(), Error> {
        if memchr(b'\r', self.bytes().trim_ascii_end()).is_none() {
            return Ok(());
        }
        let reason =
            "the line contains a carriage return without a line feed: give all lines the same end";
        Err(self.malformed_line(reason.to_owned()))
    }

    /// Advances to the next line; false at the end of the file.
    pub(super) fn advance(&mut self) -> Result<bool, Error> {
        self.line.start = self.line.end;
        self.number = self.read + 1;
        let more = self.append()?;
        if self.number == 1 && self.bytes().starts_with(b"\xef\xbb\xbf") {
            self.line.start += 3;
        }
        Ok(more)
    }

    /// Appends the next line to the current one; false at the end of the file.
    #[inline]
    pub(super) fn append(&mut self) -> Result<bool, Error> {
        let mut looked_at = self.line.end;
        loop {
            if let Some(length) = memchr(b'\n', &self.text[looked_at..]) {
                self.line.end = looked_at + length + 1;
                break;
            }
            let length = self.text.len() - self.line.start;
            if !self.fill() {
                self.check_end()?;
                if self.line.end == self.text.len() {
                    return Ok(false);
                }
                self.line.end = self.text.len();
                break;
            }
            looked_at = self.line.start + length;
        }
        self.read += 1;
        Ok(true)
    }

    /// Reads on, and forgets the text before the current line; false at the end of the file and
    /// before a fault.
    fn fill(&mut self) -> bool {
        let Some(reader) = self.reader.as_mut().filter(|_| self.fault.is_none()) else {
            return false;
        };
        self.text.drain(..self.line.start);
        self.line = 0..self.line.end - self.line.start;
        let length = self.text.len();
        self.fault = reader.take(READ as u64).read_to_end(&mut self.text).err();
        self.end_lines_from(length);
        self.text.len() > length
    }

    /// Ends lines from a place of the text on by line feeds, where they end in carriage returns.
    fn end_lines_from(&mut self, at: usize) {
        if self.has_returns {
            let returns = self.text[at..].iter_mut().filter(|byte| **byte == b'\r');
            returns.for_each(|byte| *byte = b'\n');
        }
    }

    /// Returns the fault that ends the text, if there is one.
    fn check_end(&mut self) -> Result<(), Error> {
        self.fault.take().map_or(Ok(()), |source| Err(self.failure(source)))
    }

    /// Takes the next whole lines together; `None` at the end of the file. Where cells may be in
    /// quotes no block ends within one.
    pub(super) fn next_block(&mut self, quotes: bool) -> Result<Option<Block>, Error> {
        self.line.start = self.line.end;
        let mut size = self.block;
        let length = loop {
            let mut more = true;
            while more && self.text.len() - self.line.end < size {
                more = self.fill();
            }
            let rest = &self.text[self.line.end..];
            match end_of_lines(rest, quotes) {
                _ if !more && self.fault.is_none() => break rest.len(),
                Some(length) => break length,
                None if more => size *= 2,
                None => break 0,
            }
        };
        if length == 0 {
            return self.check_end().map(|()| None);
        }
        let end = self.line.end + length;
        let text = self.text[self.line.end..end].to_vec();
        let block = Block { name: self.name.clone(), text, before: self.read };
        let unfinished = u64::from(!block.text.ends_with(b"\n"));
        self.read += memchr_iter(b'\n', &block.text).count() as u64 + unfinished;
        self.line = end..end;
        Ok(Some(block))
    }

    fn failure(&self, source: io::Error) -> Error {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        match source.kind() {
            UnexpectedEof if self.compressed => {
                self.wrong(format!("the gzip data ends too early, after {} whole lines", self.read))
            }
            InvalidData | InvalidInput if self.compressed => {
                self.wrong(format!("the gzip data is damaged after line {}: {source}", self.read))
            }
            _ => Error::Io { file: self.name.clone(), source },
        }
    }

    /// Returns the current line as it stands, for looking at single bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.text[self.line.clone()]
    }

    /// Returns the current line without its end.
    pub(super) fn text(&self) -> Result<&str, Error> {
        let line = self.bytes();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        str::from_utf8(line).map_err(|error| {
            let (valid, rest) = line.split_at(error.valid_up_to());
            let characters = String::from_utf8_lossy(valid).chars().count();
            let byte = rest.first().copied().unwrap_or_default();
            let reason = format!("byte 0x{byte:02x} is not UTF-8: convert the file to UTF-8 text");
            self.malformed(Column::Character(characters + 1), reason)
        })
    }

    pub(super) fn place(&self, column: Column) -> Place {
        Place { column: Some(column), ..self.line_place() }
    }

    pub(super) fn malformed(&self, column: Column, reason: String) -> Error {
        Error::Malformed { place: self.place(column), reason }
    }

    pub(super) fn malformed_line(&self, reason: String) -> Error {
        Error::Malformed { place: self.line_place(), reason }
    }

    pub(super) fn wrong(&self, reason: String) -> Error {
        Error::Malformed { place: Place::of_file(self.name()), reason }
    }

    fn line_place(&self) -> Place {
        Place { row: Some(RowNumber::Line(self.number)), ..Place::of_file(self.name()) }
    }
}

/// Returns the length of the text up to the last end of a line, outside of quotes where cells may be
/// in some.
fn end_of_lines(text: &[u8], quotes: bool) -> Option<usize> {
    if !quotes || memchr(b'"', text).is_none() {
        return memrchr(b'\n', text).map(|at| at + 1);
    }
    let mut within = false;
    let mut end = None;
    for (at, &byte) in text.iter().enumerate() {
        within ^= byte == b'"';
        if byte == b'\n' && !within {
            end = Some(at + 1);
        }
    }
    end
}

/// Returns the reason why a cell is not a finite number; `None` if it is missing altogether.
pub(super) fn not_a_number(value: &str) -> Option<String> {
    if is_gap(value, &USUAL_WORDS) {
        return None;
    }
    let digits = value.bytes().any(|byte| byte.is_ascii_digit());
    let fault = match value.parse::<f64>() {
        Ok(_) if digits => "is too large for a number of 64 bits",
        Ok(_) => "is not a finite number",
        Err(_) => "is not a number",
    };
    Some(format!("{} {fault}", quoted(value)))
}
