use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::PathBuf;

use flate2::read::MultiGzDecoder;

use crate::error::quoted;
use crate::{Column, Error, Place};

type Text<'a> = BufReader<Box<dyn Read + 'a>>;

/// The lines of a text file, one at a time, plain or gzip, with their numbers.
pub(super) struct Lines<'a> {
    reader: Text<'a>,
    compressed: bool,
    name: String,
    /// The current line as it stands in the file, or several where one was appended.
    buffer: Vec<u8>,
    /// The number of the first of these lines, and number of lines read.
    number: u64,
    read: u64,
    /// The files whose lines follow.
    further: VecDeque<PathBuf>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(reader: impl Read + 'a, name: &str) -> Result<Self, Error> {
        let (reader, compressed) = Self::text_of(reader, name)?;
        Ok(Lines {
            reader,
            compressed,
            name: name.to_owned(),
            buffer: Vec::new(),
            number: 0,
            read: 0,
            further: VecDeque::new(),
        })
    }

    /// Lets other files follow this one, which [`next_file`](Self::next_file) opens.
    pub(super) fn followed_by(mut self, files: &[PathBuf]) -> Self {
        self.further.extend(files.iter().cloned());
        self
    }

    /// Returns the name of the current file.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of the current line, or of the first of those joined.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Goes on to the next file, before its first line; false after the last.
    #[cold]
    pub(super) fn next_file(&mut self) -> Result<bool, Error> {
        let Some(path) = self.further.pop_front() else { return Ok(false) };
        self.name = path.display().to_string();
        let file =
            File::open(&path).map_err(|source| Error::Io { file: self.name.clone(), source })?;
        (self.reader, self.compressed) = Self::text_of(file, &self.name)?;
        (self.number, self.read) = (0, 0);
        Ok(true)
    }

    /// Returns the text of a file, and true if the file is compressed.
    fn text_of(mut reader: impl Read + 'a, name: &str) -> Result<(Text<'a>, bool), Error> {
        let mut start = Vec::new();
        let io = |source| Error::Io { file: name.to_owned(), source };
        reader.by_ref().take(2).read_to_end(&mut start).map_err(io)?;
        let compressed = start == [0x1f, 0x8b];
        let whole = Cursor::new(start).chain(reader);
        let text: Box<dyn Read + 'a> =
            if compressed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
        Ok((BufReader::with_capacity(1 << 16, text), compressed))
    }

    /// Goes on to the next line; false at the end of the file.
    pub(super) fn advance(&mut self) -> Result<bool, Error> {
        self.buffer.clear();
        self.number = self.read + 1;
        let more = self.append()?;
        if self.number == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
            self.buffer.drain(..3);
        }
        Ok(more)
    }

    /// Appends the next line to the current one; false at the end of the file.
    pub(super) fn append(&mut self) -> Result<bool, Error> {
        match self.reader.read_until(b'\n', &mut self.buffer) {
            Ok(0) => Ok(false),
            Ok(_) => {
                self.read += 1;
                Ok(true)
            }
            Err(source) => Err(self.failure(source)),
        }
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
        &self.buffer
    }

    /// Returns the current line without its end.
    pub(super) fn text(&self) -> Result<&str, Error> {
        let line = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        str::from_utf8(line).map_err(|error| {
            let (valid, rest) = line.split_at(error.valid_up_to());
            let characters = String::from_utf8_lossy(valid).chars().count();
            let byte = rest.first().copied().unwrap_or_default();
            let reason = format!("byte 0x{byte:02x} is not UTF-8: convert the file to UTF-8 text");
            self.malformed(Column::Character(characters + 1), reason)
        })
    }

    /// Returns a column of the current line.
    pub(super) fn place(&self, column: Column) -> Place {
        Place { file: self.name.clone(), line: Some(self.number), column: Some(column) }
    }

    /// Returns an error at a column of the current line.
    pub(super) fn malformed(&self, column: Column, reason: String) -> Error {
        Error::Malformed { place: self.place(column), reason }
    }

    /// Returns an error of the current line.
    pub(super) fn malformed_line(&self, reason: String) -> Error {
        let (line, column) = (Some(self.number), None);
        Error::Malformed { place: Place { file: self.name.clone(), line, column }, reason }
    }

    /// Returns an error of the whole file.
    pub(super) fn wrong(&self, reason: String) -> Error {
        let (line, column) = (None, None);
        Error::Malformed { place: Place { file: self.name.clone(), line, column }, reason }
    }
}

/// Returns the reason why a cell is not a finite number; `None` if it is missing altogether.
pub(super) fn not_a_number(value: &str) -> Option<String> {
    const MISSING: [&str; 8] = ["", "?", "na", "n/a", "nan", "null", "none", "missing"];
    if MISSING.contains(&value.to_ascii_lowercase().as_str()) {
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
