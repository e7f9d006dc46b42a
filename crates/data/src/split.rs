//! Random splits of the rows: cross-validation folds, hold-out, subsamples.
//!
//! Each function draws from a ChaCha8 generator seeded with its `seed` alone, so that the same call
//! gives the same split everywhere. Indices come back in ascending order.

use std::cmp::Reverse;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::dataset::Folds;
use crate::{ClassLabels, Error, Labels};

/// Rows to train on, and rows to test on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The rows to train on; one that repeats counts as often.
    pub train: Vec<usize>,
    /// The rows to test on.
    pub test: Vec<usize>,
}

/// The splits of a cross-validation.
///
/// ```
/// use margins_data::split::{Split, Splits};
///
/// let splits = Splits::from(&[0, 1, 0]);
/// assert_eq!(splits.get(1), Split { train: vec![0, 2], test: vec![1] });
/// ```
#[derive(Debug, Clone, Copy)]
pub enum Splits<'a> {
    /// The fold of every row, counted from 0: each fold is tested on once, by what is trained on all
    /// others.
    Folds(&'a [usize]),
    /// Any splits: a row may be tested on several times, or never, as random, repeated and time series
    /// splits do.
    Each(&'a [Split]),
}

impl<'a> From<&'a [usize]> for Splits<'a> {
    fn from(folds: &'a [usize]) -> Self {
        Splits::Folds(folds)
    }
}

impl<'a, const N: usize> From<&'a [usize; N]> for Splits<'a> {
    fn from(folds: &'a [usize; N]) -> Self {
        Splits::Folds(folds)
    }
}

impl<'a> From<&'a Vec<usize>> for Splits<'a> {
    fn from(folds: &'a Vec<usize>) -> Self {
        Splits::Folds(folds)
    }
}

impl<'a> From<&'a [Split]> for Splits<'a> {
    fn from(each: &'a [Split]) -> Self {
        Splits::Each(each)
    }
}

impl Splits<'_> {
    /// Returns the number of splits.
    pub fn count(&self) -> usize {
        match self {
            Splits::Folds(folds) => folds.iter().max().map_or(0, |last| last.saturating_add(1)),
            Splits::Each(each) => each.len(),
        }
    }

    /// Returns the split at an index.
    ///
    /// # Panics
    /// If there is no such split.
    pub fn get(&self, index: usize) -> Split {
        match self {
            Splits::Folds(folds) => {
                let (train, test) = fold_indices(folds, index);
                Split { train, test }
            }
            Splits::Each(each) => each[index].clone(),
        }
    }
}

/// Draws the fold, 0 to k-1, of every row, at random. The number of rows of each class, and of all
/// rows, differs by at most one between folds.
///
/// # Errors
/// `k` is less than 2 or more than the number of rows.
pub fn stratified_folds<Y: ClassLabels>(
    labels: &Y,
    k: usize,
    seed: u64,
) -> Result<Vec<usize>, Error> {
    if k < 2 || k > labels.len() {
        let range = format!("at least 2 and at most {}, the number of rows", labels.len());
        return Err(Error::parameter("the number of folds", k, range));
    }
    let classes = shuffled_classes(labels, seed);
    // One deal through both classes, so that the second starts where the first ended.
    let mut folds = vec![0; labels.len()];
    for (row, fold) in classes.into_iter().flatten().zip((0..k).cycle()) {
        folds[row] = fold;
    }
    Ok(folds)
}

/// Distributes groups of rows, such as the visits of one patient, over the folds 0 to k-1, so that
/// no group is divided. `groups` has the number of the group of every row, from 0 without a gap.
///
/// The largest group comes first, groups of one size in random order. Each goes to the fold with the
/// fewest rows of its classes so far, by their share of all rows of the class.
///
/// ```
/// use margins_data::{Labels, split::grouped_folds};
///
/// let labels = Labels::new(&["a", "b", "a", "b", "a", "b", "a", "b"])?;
/// let folds = grouped_folds(&labels, &[0, 0, 1, 1, 1, 1, 2, 2], 2, 7)?;
/// assert_eq!(folds, [1, 1, 0, 0, 0, 0, 1, 1]);
/// # Ok::<(), margins_data::Error>(())
/// ```
///
/// # Errors
/// `k` is less than 2 or more than the number of groups.
///
/// # Panics
/// If there is not one group a row.
pub fn grouped_folds<Y: ClassLabels>(
    labels: &Y,
    groups: &[usize],
    k: usize,
    seed: u64,
) -> Result<Vec<usize>, Error> {
    assert_eq!(groups.len(), labels.len(), "one group a row");
    let count = groups.iter().max().map_or(0, |last| last + 1);
    if k < 2 || k > count {
        let range = format!("at least 2 and at most {count}, the number of groups of rows");
        return Err(Error::parameter("the number of folds", k, range));
    }
    let mut rows = vec![Vec::new(); count];
    groups.iter().enumerate().for_each(|(row, &group)| rows[group].push(row));
    rows.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    rows.sort_by_key(|rows| Reverse(rows.len()));
    let classes = labels.names().len();
    let mut sizes = vec![0.0; classes];
    (0..labels.len()).for_each(|row| sizes[labels.index(row)] += 1.0);
    let mut taken = vec![(vec![0.0; classes], 0); k];
    let mut folds = vec![0; labels.len()];
    for group in rows {
        let share = |fold: usize| -> f64 {
            let of_class = |class: usize| taken[fold].0[class] / (sizes[class] * sizes[class]);
            group.iter().map(|&row| of_class(labels.index(row))).sum()
        };
        let order = |&a: &usize, &b: &usize| {
            share(a).total_cmp(&share(b)).then(taken[a].1.cmp(&taken[b].1))
        };
        let fold = (0..k).min_by(order).unwrap_or(0);
        for &row in &group {
            folds[row] = fold;
            taken[fold].0[labels.index(row)] += 1.0;
        }
        taken[fold].1 += group.len();
    }
    Ok(folds)
}

/// Returns the fold of every row, counted from 0, and the names of the folds in order, by the rule of
/// [`Dataset::with_fold_names`](crate::Dataset::with_fold_names).
///
/// ```
/// use margins_data::split::named_folds;
///
/// assert_eq!(named_folds(&["10", "9", "9.0"])?, (vec![1, 0, 0], vec!["9".into(), "10".into()]));
/// # Ok::<(), margins_data::Error>(())
/// ```
///
/// # Errors
/// No row, or fewer than two folds.
pub fn named_folds<S: AsRef<str>>(names: &[S]) -> Result<(Vec<usize>, Vec<String>), Error> {
    let Folds { of_rows, names } = Folds::of_names(names)?;
    Ok((of_rows, names.to_vec()))
}

/// Returns the rows outside `fold` (to train on) and those in it (to test on).
pub fn fold_indices(folds: &[usize], fold: usize) -> (Vec<usize>, Vec<usize>) {
    (0..folds.len()).partition(|&row| folds[row] != fold)
}

/// Draws training and test rows, at random within each class: `test_fraction` of each class,
/// rounded, but at least one row of each on either side, is for testing.
///
/// # Errors
/// `test_fraction` is not strictly between 0 and 1, or a class has fewer than two rows.
pub fn hold_out<Y: ClassLabels>(
    labels: &Y,
    test_fraction: f64,
    seed: u64,
) -> Result<(Vec<usize>, Vec<usize>), Error> {
    check_fraction(test_fraction)?;
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for (class, name) in shuffled_classes(labels, seed).iter().zip(labels.names()) {
        if class.len() < 2 {
            let class_size = format!("{} in class '{name}'", class.len());
            let requirement = "at least 2, one to train on and one to test on";
            return Err(Error::parameter("the number of rows", class_size, requirement));
        }
        let size = share(class.len(), test_fraction);
        test.extend_from_slice(&class[..size]);
        train.extend_from_slice(&class[size..]);
    }
    Ok((ascending(train), ascending(test)))
}

/// Draws training and test rows out of n, at random without regard to classes; either side may lack
/// a class. This is the protocol of many published comparisons.
///
/// # Errors
/// `test_fraction` is not strictly between 0 and 1, or n is less than 2.
pub fn hold_out_plain(
    n: usize,
    test_fraction: f64,
    seed: u64,
) -> Result<(Vec<usize>, Vec<usize>), Error> {
    check_fraction(test_fraction)?;
    if n < 2 {
        return Err(Error::parameter("the number of rows", n, "at least 2"));
    }
    let mut test: Vec<usize> = (0..n).collect();
    test.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let train = test.split_off(share(n, test_fraction));
    Ok((ascending(train), ascending(test)))
}

/// Draws `size` rows at random without replacement, half of them positive (the smaller half if
/// `size` is odd), or as near to half as the classes allow.
///
/// # Errors
/// `size` is less than 2 or more than the number of rows.
pub fn balanced_subsample(labels: &Labels, size: usize, seed: u64) -> Result<Vec<usize>, Error> {
    if size < 2 || size > labels.len() {
        let range = format!("at least 2 and at most {}, the number of rows", labels.len());
        return Err(Error::parameter("the size of a subsample", size, range));
    }
    let classes = shuffled_classes(labels, seed);
    let (negative, positive) = (&classes[0], &classes[1]);
    let lacking = size.saturating_sub(negative.len());
    let positives = (size / 2).clamp(lacking, positive.len().max(lacking));
    let chosen = [&positive[..positives], &negative[..size - positives]].concat();
    Ok(ascending(chosen))
}

/// Returns the rows of every class, the classes in order, each in random order.
fn shuffled_classes<Y: ClassLabels>(labels: &Y, seed: u64) -> Vec<Vec<usize>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut classes = vec![Vec::new(); labels.names().len()];
    (0..labels.len()).for_each(|row| classes[labels.index(row)].push(row));
    classes.iter_mut().for_each(|rows| rows.shuffle(&mut random));
    classes
}

fn check_fraction(fraction: f64) -> Result<(), Error> {
    if fraction > 0.0 && fraction < 1.0 {
        return Ok(());
    }
    Err(Error::parameter("the test fraction", fraction, "strictly between 0 and 1"))
}

/// Returns a fraction of n >= 2, rounded, with something left on either side.
fn share(n: usize, fraction: f64) -> usize {
    ((n as f64 * fraction).round() as usize).clamp(1, n - 1)
}

fn ascending(mut rows: Vec<usize>) -> Vec<usize> {
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(negatives: usize, positives: usize) -> Labels {
        // Interleaved as far as both last.
        let signs = (0..negatives + positives).map(|i| {
            if i % 2 == 0 && i / 2 < positives || i >= 2 * negatives { 1.0 } else { -1.0 }
        });
        Labels::from_signs(signs.collect()).unwrap()
    }

    fn positives(labels: &Labels, rows: &[usize]) -> usize {
        labels.select(rows).count_positive()
    }

    proptest! {
        #[test]
        fn folds_are_balanced(n in 5usize..60, p in 5usize..60, k in 2usize..6, seed: u64) {
            let labels = labels(n, p);
            let folds = stratified_folds(&labels, k, seed).unwrap();
            let mut tested = Vec::new();
            let mut sizes = Vec::new();
            for fold in 0..k {
                let (train, test) = fold_indices(&folds, fold);
                prop_assert_eq!(train.len() + test.len(), labels.len());
                prop_assert!(train.iter().all(|row| test.binary_search(row).is_err()));
                let positive = positives(&labels, &test);
                sizes.push([test.len(), positive, test.len() - positive]);
                tested.extend(test);
            }
            for column in 0..3 {
                let counts = sizes.iter().map(|size| size[column]);
                prop_assert!(counts.clone().max().unwrap() - counts.min().unwrap() <= 1);
            }
            prop_assert_eq!(ascending(tested), (0..labels.len()).collect::<Vec<_>>());
        }

        #[test]
        fn groups_stay_together(groups in proptest::collection::vec(0usize..9, 9..60), k in 2usize..10, seed: u64) {
            let labels = labels(groups.len() / 3, groups.len() - groups.len() / 3);
            // Every group has a row.
            let groups: Vec<usize> = groups.iter().enumerate().map(|(row, &g)| if row < 9 { row } else { g }).collect();
            match grouped_folds(&labels, &groups, k, seed) {
                Ok(folds) => {
                    let first = |g: usize| groups.iter().position(|&group| group == g).unwrap();
                    prop_assert!((0..groups.len()).all(|row| folds[row] == folds[first(groups[row])]));
                    prop_assert!((0..k).all(|fold| folds.contains(&fold)));
                    prop_assert_eq!(grouped_folds(&labels, &groups, k, seed).unwrap(), folds);
                }
                Err(error) => prop_assert!(k > 9, "{}", error),
            }
        }

        /// Groups of one size and composition are spread evenly.
        #[test]
        fn equal_groups_are_spread_evenly(of_fold in 1usize..5, k in 2usize..6, seed: u64) {
            let groups: Vec<usize> = (0..2 * k * of_fold).map(|row| row / 2).collect();
            let labels = labels(k * of_fold, k * of_fold);
            let folds = grouped_folds(&labels, &groups, k, seed).unwrap();
            for fold in 0..k {
                prop_assert_eq!(folds.iter().filter(|&&f| f == fold).count(), 2 * of_fold);
            }
        }

        #[test]
        fn hold_out_keeps_the_class_shares(
            n in 2usize..60, p in 2usize..60, fraction in 0.01..0.99f64, seed: u64,
        ) {
            let labels = labels(n, p);
            let (train, test) = hold_out(&labels, fraction, seed).unwrap();
            prop_assert_eq!(positives(&labels, &test), share(p, fraction));
            prop_assert_eq!(test.len(), share(p, fraction) + share(n, fraction));
            prop_assert_eq!(ascending([train, test].concat()), (0..n + p).collect::<Vec<_>>());
            let (train, test) = hold_out_plain(n, fraction, seed).unwrap();
            prop_assert_eq!(test.len(), share(n, fraction));
            prop_assert_eq!(ascending([train, test].concat()), (0..n).collect::<Vec<_>>());
        }

        #[test]
        fn subsamples_are_balanced(
            n in 1usize..30, p in 1usize..30, share in 0.0..1.0f64, seed: u64,
        ) {
            let labels = labels(n, p);
            let size = 2 + (share * (n + p - 2) as f64) as usize;
            let rows = balanced_subsample(&labels, size, seed).unwrap();
            prop_assert_eq!(rows.len(), size);
            prop_assert!(rows.is_sorted_by(|a, b| a < b));
            let positive = positives(&labels, &rows);
            let (half, rest) = (size / 2, size - size / 2);
            let expected = if p < half { p } else if n < rest { size - n } else { half };
            prop_assert_eq!(positive, expected);
        }
    }

    #[test]
    fn splits_are_reproducible() {
        let labels = labels(6, 4);
        assert_eq!(
            stratified_folds(&labels, 3, 7).unwrap(),
            stratified_folds(&labels, 3, 7).unwrap()
        );
        insta::assert_debug_snapshot!((
            stratified_folds(&labels, 3, 7).unwrap(),
            stratified_folds(&labels, 3, 8).unwrap(),
            hold_out(&labels, 1.0 / 3.0, 7).unwrap(),
            hold_out_plain(10, 1.0 / 3.0, 7).unwrap(),
            balanced_subsample(&labels, 4, 7).unwrap(),
        ));
    }

    #[test]
    fn refusals() {
        let labels = labels(6, 3);
        let single = labels.select(&[0, 1, 3]);
        insta::assert_snapshot!(
            [
                stratified_folds(&labels, 1, 0).unwrap_err().to_string(),
                stratified_folds(&labels, 10, 0).unwrap_err().to_string(),
                grouped_folds(&labels, &[0, 0, 0, 1, 1, 1, 2, 2, 2], 4, 0).unwrap_err().to_string(),
                hold_out(&labels, 0.0, 0).unwrap_err().to_string(),
                hold_out(&labels, f64::NAN, 0).unwrap_err().to_string(),
                hold_out(&single, 0.5, 0).unwrap_err().to_string(),
                hold_out_plain(1, 0.5, 0).unwrap_err().to_string(),
                balanced_subsample(&labels, 10, 0).unwrap_err().to_string(),
                balanced_subsample(&labels, 0, 0).unwrap_err().to_string(),
            ]
            .join("\n")
        );
    }
}
