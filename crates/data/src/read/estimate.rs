//! Estimates the memory of a table from the beginning of its file, so that a table that does not fit
//! is refused before it is read.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use memchr::memchr_iter;

use super::labels::in_file;
use super::{FeatureColumns, Format, ReadOptions};
use crate::design::LABEL;
use crate::{Error, Memory};

/// The length of the text that is examined.
const SAMPLE: u64 = 1 << 20;

/// The bytes that a byte of text takes at most: a digit and a comma make a cell and the feature of it.
const STEEPEST: u64 = 8;

/// The bytes that a byte of gzip stands for at most.
const DENSEST: u64 = 1032;

/// The rows that a file seems to have, its columns if the beginning determines them, and the bytes that
/// the table takes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Estimate {
    rows: usize,
    columns: Option<usize>,
    bytes: usize,
}

/// Returns an error if the table in a text file and the files that follow it does not fit in memory.
/// A path that is not a regular file, or cannot be read, passes: its reader reports the error.
///
/// # Errors
/// [`Error::Memory`] in the file, with an estimate of what is needed.
pub(super) fn check_room(path: &Path, format: Format, options: &ReadOptions) -> Result<(), Error> {
    let sizes = [path].into_iter().chain(options.further_files.iter().map(|path| &**path));
    let Some(size) = sizes.map(size_of_regular).sum::<Option<u64>>() else { return Ok(()) };
    let Some(free) = Memory::free() else { return Ok(()) };
    check_within(path, size, format, options, free)
}

/// Returns an error if the table in files of this many bytes together does not fit in this much
/// memory.
fn check_within(
    path: &Path,
    size: u64,
    format: Format,
    options: &ReadOptions,
    free: Memory,
) -> Result<(), Error> {
    let with_work = |bytes: u64| Memory::from_bytes(bytes.saturating_add(of_work(size)) as usize);
    let largest = with_work(size.saturating_mul(STEEPEST).saturating_mul(DENSEST));
    if largest.check_within(Some(free)).is_ok() {
        return Ok(());
    }
    let Ok(Some(estimate)) = estimate(path, size, format, options) else { return Ok(()) };
    let Estimate { rows, columns, bytes } = estimate;
    let refused = |shortage| {
        let error = Error::Memory { rows, columns, shortage };
        in_file(&path.display().to_string(), error)
    };
    with_work(bytes as u64).check_within(Some(free)).map_err(refused)
}

/// Returns the bytes that reading and the threads take beside the table.
fn of_work(size: u64) -> u64 {
    /// The blocks of text in flight, and what was read of them.
    const BLOCKS: u64 = 48 << 20;
    const LEAST: u64 = 8 << 20;
    const STACK: u64 = 2 << 20;
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    LEAST + threads * STACK + size.saturating_mul(1 + STEEPEST).min(BLOCKS)
}

fn size_of_regular(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len())
}

/// Returns what the beginning of a file says of files of this many bytes together; nothing of one that
/// has no rows, or is no text.
fn estimate(
    path: &Path,
    size: u64,
    format: Format,
    options: &ReadOptions,
) -> io::Result<Option<Estimate>> {
    let (text, read) = beginning(path)?;
    let lines = memchr_iter(b'\n', &text).count();
    if lines < 2 || read == 0 {
        return Ok(None);
    }
    let times = size as f64 / read as f64;
    let all = |count: usize| (count as f64 * times) as usize;
    let count = |byte: u8| memchr_iter(byte, &text).count();
    Ok(Some(match format {
        Format::Csv => {
            let mut all_lines = text.split(|&byte| byte == b'\n');
            let header = all_lines
                .find(|line| !line.starts_with(b"sep=") && !line.starts_with(b"\"sep="))
                .unwrap_or_default();
            // As many commas as features beside a label.
            let columns = memchr_iter(b',', header).count().max(1);
            let cell = match options.features {
                FeatureColumns::Numbers => size_of::<f64>(),
                // The cell is kept beside the feature that is made of it.
                _ => 2 * size_of::<f64>(),
            };
            let rows = two_digits(all(lines - 1));
            let row = columns * cell + LABEL;
            Estimate { rows, columns: Some(columns), bytes: rows.saturating_mul(row) }
        }
        Format::Svmlight => {
            let (rows, stored) = (two_digits(all(lines)), all(count(b':')));
            let bytes = stored * 16 + rows * (size_of::<usize>() + LABEL);
            // A later row may have further columns, unless their number is set.
            Estimate { rows, columns: options.columns, bytes }
        }
        Format::Parquet => return Ok(None),
    }))
}

/// Returns the beginning of a text, plain or compressed, and the number of bytes that it takes in the
/// file.
fn beginning(path: &Path) -> io::Result<(Vec<u8>, u64)> {
    let mut file = File::open(path)?;
    let mut start = Vec::new();
    file.by_ref().take(2).read_to_end(&mut start)?;
    file.rewind()?;
    let mut text = Vec::new();
    if start != [0x1f, 0x8b] {
        let read = file.take(SAMPLE).read_to_end(&mut text)?;
        return Ok((text, read as u64));
    }
    let mut unpacked = MultiGzDecoder::new(BufReader::new(file));
    unpacked.by_ref().take(SAMPLE).read_to_end(&mut text)?;
    let mut buffered = unpacked.into_inner();
    let ahead = buffered.buffer().len() as u64;
    Ok((text, buffered.get_mut().stream_position()? - ahead))
}

/// Returns a number of which no more than two digits are meant.
fn two_digits(number: usize) -> usize {
    let unit = 10_usize.pow(number.max(1).ilog10().saturating_sub(1));
    (number + unit / 2) / unit * unit
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn text(rows: usize) -> String {
        let row = |k: usize| format!("{}.5,{},{},a\n", k % 7, k % 1000, k * k % 91);
        ["x,y,z,label\n".to_owned()].into_iter().chain((0..rows).map(row)).collect()
    }

    fn of(bytes: &[u8], format: Format) -> Option<Estimate> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let options = ReadOptions::default();
        estimate(file.path(), bytes.len() as u64, format, &options).unwrap()
    }

    #[test]
    fn the_beginning_tells_the_whole() {
        let text = text(300_000);
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(text.as_bytes()).unwrap();
        for bytes in [text.into_bytes(), packed.finish().unwrap()] {
            let Estimate { rows, columns, bytes } = of(&bytes, Format::Csv).unwrap();
            assert!(
                (280_000..=320_000).contains(&rows) && columns == Some(3),
                "{rows} x {columns:?}"
            );
            assert_eq!(bytes, rows * (3 * 8 + LABEL));
        }
        let lines = "1 2:0.5 7:1\n-1 3:1\n".repeat(100_000);
        let Estimate { rows, columns, bytes } = of(lines.as_bytes(), Format::Svmlight).unwrap();
        assert_eq!((rows, columns), (200_000, None));
        assert!(bytes.abs_diff(300_000 * 16 + 200_000 * (8 + LABEL)) < 100_000, "{bytes}");
    }

    #[test]
    fn a_table_without_room_is_refused_by_its_file() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let text = text(300_000);
        file.write_all(text.as_bytes()).unwrap();
        let check = |megabytes: usize| {
            let (options, free) = (ReadOptions::default(), Memory::from_bytes(megabytes << 20));
            check_within(file.path(), text.len() as u64, Format::Csv, &options, free)
        };
        assert!(check(2000).is_ok());
        let refused = check(5).unwrap_err().to_string();
        assert!(refused.starts_with(&file.path().display().to_string()), "{refused}");
        assert!(refused.contains("00000 rows and 3 columns does not fit"), "{refused}");
        assert!(refused.ends_with("and 5.2 MB are free"), "{refused}");
    }

    #[test]
    fn a_refusal_of_sparse_rows_tells_no_columns_that_nobody_knows() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let lines = "1 2:0.5 7:1\n-1 3:1\n".repeat(100_000);
        file.write_all(lines.as_bytes()).unwrap();
        let refused = |columns| {
            let options = ReadOptions { columns, ..ReadOptions::default() };
            let (size, free) = (lines.len() as u64, Memory::from_bytes(5 << 20));
            check_within(file.path(), size, Format::Svmlight, &options, free)
                .unwrap_err()
                .to_string()
        };
        let unknown = refused(None);
        assert!(unknown.contains("a table of 200000 rows does not fit into memory"), "{unknown}");
        let set = refused(Some(12));
        assert!(set.contains("a table of 200000 rows and 12 columns does not fit"), "{set}");
    }

    #[test]
    fn a_file_without_rows_tells_nothing() {
        assert_eq!(of(b"", Format::Csv), None);
        assert_eq!(of(b"a,b\n", Format::Csv), None);
    }

    #[test]
    fn estimates_have_two_digits() {
        for (number, expected) in [(0, 0), (7, 7), (99, 99), (123, 120), (9960, 10_000)] {
            assert_eq!(two_digits(number), expected);
        }
    }
}
