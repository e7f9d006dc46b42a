//! What the beginning of a file says about its content: files that are not text are named by it.

use memchr::memchr;

/// The kind of a file by its first bytes, and the advice for it.
struct Signature {
    at: usize,
    bytes: &'static [u8],
    name: &'static str,
    advice: &'static str,
}

const UNPACK: &str = "unpack it first, or compress it by gzip";
const CONVERT: &str = "convert it to UTF-8";
const TEXT: &str = "write it as CSV, svmlight or Parquet";

const SIGNATURES: [Signature; 22] = [
    signature(4, b"1AY&SY", "is compressed by bzip2", UNPACK),
    signature(0, b"\xfd7zXZ\0", "is compressed by xz", UNPACK),
    signature(0, b"\x28\xb5\x2f\xfd", "is compressed by zstd", UNPACK),
    signature(0, b"\x04\x22\x4d\x18", "is compressed by lz4", UNPACK),
    signature(0, b"\x1f\x9d", "is compressed by compress", UNPACK),
    signature(0, b"7z\xbc\xaf\x27\x1c", "is a 7z archive", UNPACK),
    signature(0, b"PK\x03\x04", "is a ZIP archive, as .zip, .xlsx and .npz files are", TEXT),
    signature(257, b"ustar", "is a tar archive", "extract its files first"),
    signature(0, b"PAR1\x15", "is Parquet", "name it .parquet, or pass --data-format parquet"),
    signature(0, b"ARROW1\0", "is an Arrow or Feather file", TEXT),
    signature(0, b"FEA1\0", "is a Feather file", TEXT),
    signature(0, b"\x93NUMPY", "is a NumPy array", TEXT),
    signature(0, b"\x89HDF\r\n", "is an HDF5 file", TEXT),
    signature(0, b"SQLite format 3\0", "is an SQLite database", TEXT),
    signature(0, b"\xd0\xcf\x11\xe0", "is a document of an older Microsoft Office", TEXT),
    signature(0, b"%PDF-", "is a PDF document", TEXT),
    signature(0, b"\x89PNG\r\n", "is a PNG image", TEXT),
    signature(0, b"\xff\xd8\xff", "is a JPEG image", TEXT),
    signature(0, b"GIF89a", "is a GIF image", TEXT),
    signature(0, b"\x7fELF", "is a program", TEXT),
    signature(0, b"\xff\xfe", "is text in UTF-16", CONVERT),
    signature(0, b"\xfe\xff", "is text in UTF-16", CONVERT),
];

const fn signature(
    at: usize,
    bytes: &'static [u8],
    name: &'static str,
    advice: &'static str,
) -> Signature {
    Signature { at, bytes, name, advice }
}

/// Returns what is wrong with a file that begins so, and what to do; `None` for text.
pub(super) fn not_text(start: &[u8]) -> Option<String> {
    /// The bytes in which a file that is not text has a zero byte.
    const ENOUGH: usize = 1024;
    let begins =
        |it: &&Signature| start.get(it.at..).is_some_and(|rest| rest.starts_with(it.bytes));
    if let Some(Signature { name, advice, .. }) = SIGNATURES.iter().find(begins) {
        return Some(format!("the file {name}: {advice}"));
    }
    memchr(0, &start[..start.len().min(ENOUGH)])
        .map(|_| format!("the file is binary, not text: {TEXT}"))
}

/// Returns true for text whose lines end in a carriage return alone.
pub(super) fn ends_lines_in_returns(start: &[u8]) -> bool {
    // A carriage return at the very end may have its line feed behind it.
    memchr(b'\n', start).is_none() && memchr(b'\r', start).is_some_and(|at| at + 1 < start.len())
}
