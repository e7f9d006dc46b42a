use std::path::Path;

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with a header line.
    Csv,
    /// Lines `label index:value index:value ...`, indices from 1.
    Svmlight,
    /// Parquet, which needs the feature `parquet`.
    Parquet,
}

impl Format {
    /// Returns the format that the name of a file tells, with or without `.gz` at its end: CSV for
    /// `.csv`, svmlight for `.svm`, `.libsvm`, `.svmlight` and `.txt`, Parquet for `.parquet`.
    pub fn of(path: impl AsRef<Path>) -> Option<Format> {
        let name = path.as_ref().file_name()?.to_str()?.to_ascii_lowercase();
        match name.strip_suffix(".gz").unwrap_or(&name).rsplit_once('.')?.1 {
            "csv" => Some(Format::Csv),
            "svm" | "libsvm" | "svmlight" | "txt" => Some(Format::Svmlight),
            "parquet" => Some(Format::Parquet),
            _ => None,
        }
    }
}
