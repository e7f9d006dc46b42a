//! The data sets of table 2, with the errors and seconds published for them.

use std::path::Path;

use margins::data::Dataset;
use margins::data::read::{self, ReadOptions};
use margins_experiments::Mean;

use super::comparison::published;
use super::tuning::Space;
use crate::Failure;

/// A data set of the table, under the name that it has in the source and that of its file.
pub(super) struct Published {
    pub(super) title: &'static str,
    pub(super) file: &'static str,
    pub(super) n: usize,
    pub(super) p: usize,
    /// Linear, then Gaussian.
    numbers: [[f64; 4]; 2],
    /// The seconds of the leaky hockey stick classifier and of the support vector machine, as `numbers`.
    seconds: [[f64; 2]; 2],
}

const fn data_set(
    title: &'static str,
    file: &'static str,
    (n, p): (usize, usize),
    numbers: [[f64; 4]; 2],
    seconds: [[f64; 2]; 2],
) -> Published {
    Published { title, file, n, p, numbers, seconds }
}

#[rustfmt::skip]
pub(super) const DATA_SETS: [Published; 15] = [
    data_set("Arrhythmia", "arrhythmia68", (68, 233), [[21.39, 0.84, 21.39, 0.85], [20.13, 0.82, 21.78, 0.85]], [[0.48, 10.08], [2.18, 10.23]]),
    data_set("Australian", "australian", (690, 14), [[13.59, 0.23, 13.62, 0.23], [13.89, 0.23, 13.61, 0.23]], [[0.35, 344.94], [2.34, 11.96]]),
    data_set("Banknote", "banknote", (1372, 4), [[1.07, 0.05, 1.08, 0.05], [0.44, 0.03, 0.01, 0.00]], [[6.84, 10.41], [25.49, 11.68]]),
    data_set("Biodeg", "biodeg", (1055, 41), [[13.56, 0.18, 13.23, 0.18], [12.23, 0.17, 12.28, 0.17]], [[6.13, 652.33], [23.87, 26.03]]),
    data_set("Bupa", "bupa", (345, 6), [[31.59, 0.77, 31.79, 0.77], [31.16, 0.77, 31.34, 0.77]], [[0.06, 18.35], [0.38, 4.26]]),
    data_set("Chess", "chess_krvskp", (3196, 36), [[2.82, 0.05, 3.25, 0.05], [1.70, 0.04, 0.93, 0.03]], [[41.41, 69.64], [239.25, 152.53]]),
    data_set("cle:Heart", "heart_cleveland", (297, 13), [[16.15, 0.37, 15.85, 0.37], [16.47, 0.37, 16.31, 0.37]], [[0.11, 3.31], [0.36, 3.92]]),
    data_set("Hepatitis", "hepatitis", (80, 19), [[14.44, 0.67, 16.19, 0.70], [13.59, 0.65, 13.89, 0.66]], [[0.16, 3.21], [2.84, 3.09]]),
    data_set("Hungarian", "heart_hungarian", (261, 10), [[17.69, 0.41, 18.52, 0.41], [18.69, 0.42, 17.90, 0.41]], [[0.08, 3.35], [0.26, 3.74]]),
    data_set("LSVT", "lsvt", (126, 310), [[14.31, 0.53, 16.69, 0.57], [15.10, 0.55, 16.07, 0.56]], [[0.60, 20.86], [15.62, 27.86]]),
    data_set("Musk", "musk", (475, 166), [[17.08, 0.30, 16.85, 0.30], [10.48, 0.24, 8.29, 0.22]], [[2.30, 26.82], [4.11, 62.61]]),
    data_set("Parkinsons", "parkinsons", (195, 22), [[15.25, 0.40, 14.14, 0.43], [11.68, 0.40, 9.06, 0.35]], [[0.16, 9.40], [1.72, 5.85]]),
    data_set("Sonar", "sonar", (208, 60), [[23.39, 0.51, 25.10, 0.52], [17.36, 0.45, 15.65, 0.43]], [[0.61, 8.73], [0.91, 8.09]]),
    data_set("Spectf", "spect", (80, 22), [[30.07, 0.87, 31.19, 0.88], [26.74, 0.84, 28.04, 0.85]], [[0.13, 5.00], [0.14, 7.79]]),
    data_set("Vertebral", "vertebral", (310, 6), [[14.88, 0.35, 15.18, 0.35], [16.81, 0.37, 15.83, 0.36]], [[0.14, 14.38], [1.14, 6.69]]),
];

/// The machine of the published seconds, by section 6.2.
pub(super) const PUBLISHED_MACHINE: &str = "a dual-core Intel Core i5 of 2.9 GHz with 8 GB";

/// The names of the data sets.
pub(super) const NAMES: [&str; DATA_SETS.len()] = {
    let mut names = [""; DATA_SETS.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = DATA_SETS[at].title;
        at += 1;
    }
    names
};

impl Published {
    /// Returns the errors of the leaky hockey stick classifier and of the support vector machine.
    pub(super) fn published(&self, space: Space) -> [Mean; 2] {
        published(self.numbers[space as usize])
    }

    /// Returns the seconds that the source has for tuning and fitting the leaky hockey stick classifier and
    /// the support vector machine: means of three runs on [`PUBLISHED_MACHINE`].
    pub(super) fn published_seconds(&self, space: Space) -> [f64; 2] {
        self.seconds[space as usize]
    }

    /// Returns the data set, or none where there is no file of it.
    pub(super) fn read(&self, folder: &Path) -> Result<Option<Dataset>, Failure> {
        let names = [format!("{}.csv.gz", self.file), format!("{}.csv", self.file)];
        let Some(path) = names.iter().map(|name| folder.join(name)).find(|path| path.exists())
        else {
            return Ok(None);
        };
        let data = read::dataset(&path, &ReadOptions::default())?;
        let (n, p) = (data.rows(), data.columns());
        if (n, p) != (self.n, self.p) {
            let expected = format!("{} x {}", self.n, self.p);
            return Err(
                format!("{}: {n} x {p}, not {expected} as published", path.display()).into()
            );
        }
        Ok(Some(data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 6.2: the leaky hockey stick classifier errs less on ten data sets (linear) and six
    /// (Gaussian), and is faster on 15 and 13.
    #[test]
    fn the_published_numbers_have_the_published_counts() {
        let count = |is_less: &dyn Fn(&Published) -> bool| {
            DATA_SETS.iter().filter(|set| is_less(set)).count()
        };
        let counts = Space::BOTH.map(|space| {
            let errs_less = |set: &Published| {
                let [lhs, svm] = set.published(space);
                lhs.mean < svm.mean
            };
            let is_faster = |set: &Published| {
                let [lhs, svm] = set.published_seconds(space);
                lhs < svm
            };
            [count(&errs_less), count(&is_faster)]
        });
        assert_eq!(counts, [[10, 15], [6, 13]]);
    }
}
