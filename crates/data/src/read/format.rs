//! The formats of files, and how names of files select them.

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
    const ALL: [Format; 3] = [Format::Csv, Format::Svmlight, Format::Parquet];

    /// Returns the format by the name of a file: CSV for `.csv`, svmlight for `.svm`, `.libsvm`,
    /// `.svmlight` and `.txt`, each with or without `.gz` at its end, Parquet for `.parquet`.
    pub fn of(path: impl AsRef<Path>) -> Option<Format> {
        let name = path.as_ref().file_name()?.to_string_lossy().to_ascii_lowercase();
        let ending = name.strip_suffix(".gz").unwrap_or(&name).rsplit_once('.')?.1;
        Format::ALL.into_iter().find(|format| format.endings().contains(&ending))
    }

    /// Returns the formats that this build reads.
    pub fn known() -> &'static [Format] {
        let known = if cfg!(feature = "parquet") { 3 } else { 2 };
        &Format::ALL[..known]
    }

    /// Returns the name: `csv`, `svmlight` or `parquet`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Svmlight => "svmlight",
            Format::Parquet => "parquet",
        }
    }

    /// Returns the format of a name among those that this build reads.
    pub fn named(name: &str) -> Option<Format> {
        Format::known().iter().copied().find(|format| format.name() == name)
    }

    fn endings(self) -> &'static [&'static str] {
        match self {
            Format::Csv => &["csv"],
            Format::Svmlight => &["svm", "libsvm", "svmlight", "txt"],
            Format::Parquet => &["parquet"],
        }
    }
}

/// Returns the endings of the names of files that this build reads, such as ".csv, .txt or .parquet".
pub(super) fn endings_in_words() -> String {
    let endings: Vec<String> = Format::known()
        .iter()
        .flat_map(|format| format.endings())
        .map(|ending| format!(".{ending}"))
        .collect();
    any_of(&endings)
}

/// Returns the names of the formats that this build reads, such as "csv, svmlight or parquet".
pub fn formats_in_words() -> String {
    any_of(&Format::known().iter().map(|format| format.name()).collect::<Vec<_>>())
}

fn any_of<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_every_format_of_the_build() {
        for format in Format::known() {
            assert!(formats_in_words().contains(format.name()));
            assert_eq!(Format::named(format.name()), Some(*format));
            for ending in format.endings() {
                assert!(endings_in_words().contains(&format!(".{ending}")));
                assert_eq!(Format::of(format!("a.{ending}")), Some(*format));
            }
        }
        assert_eq!(formats_in_words().contains("parquet"), cfg!(feature = "parquet"));
    }
}
