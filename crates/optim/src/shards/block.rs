//! The samples of one partition.

use std::collections::BTreeMap;
use std::sync::Arc;

use margins_data::{ClassLabels, Dataset, Design};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Error;
use crate::shards::FoldDraw;

/// The samples of one partition: features, classes, weights and folds, which travel together.
#[derive(Debug, Clone)]
pub struct Block {
    pub(super) rows: Arc<Rows>,
    pub(super) design: Arc<Design>,
}

/// All of the samples of a partition but their features: classes, weights and folds.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    classes: Vec<u32>,
    weights: Option<Vec<f64>>,
    folds: Option<Vec<u32>>,
}

impl Block {
    /// Returns a block of samples with their classes, counted from 0 in the order that all
    /// partitions share. It may have one class, or no rows.
    ///
    /// # Errors
    /// [`Error::Shape`]: the classes are not as many as the rows.
    pub fn new(design: Design, classes: Vec<u32>) -> Result<Self, Error> {
        check("classes, one per row", design.rows(), classes.len())?;
        let rows = Rows { classes, weights: None, folds: None };
        Ok(Block { rows: Arc::new(rows), design: Arc::new(design) })
    }

    /// Returns the block of a data set.
    pub fn of<Y: ClassLabels>(data: Dataset<Y>) -> Self {
        let rows = Rows {
            classes: data.labels().shared_indices().to_vec(),
            weights: data.weights().map(<[f64]>::to_vec),
            folds: data.folds().map(|folds| folds.iter().map(|&fold| fold as u32).collect()),
        };
        Block { rows: Arc::new(rows), design: Arc::new(data.into_design()) }
    }

    /// Gives the samples weights.
    ///
    /// # Errors
    /// [`Error::Shape`]: the weights are not as many as the rows. [`Error::Weight`]: a weight is
    /// negative or not finite.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self, Error> {
        check("weights, one per row", self.rows.len(), weights.len())?;
        if let Some(row) = weights.iter().position(|c| !(c.is_finite() && *c >= 0.0)) {
            return Err(Error::Weight { row, value: weights[row] });
        }
        Arc::make_mut(&mut self.rows).weights = Some(weights);
        Ok(self)
    }

    /// Gives the samples fold numbers.
    ///
    /// # Errors
    /// [`Error::Shape`]: the numbers are not as many as the rows.
    pub fn with_folds(mut self, folds: Vec<u32>) -> Result<Self, Error> {
        check("fold numbers, one per row", self.rows.len(), folds.len())?;
        Arc::make_mut(&mut self.rows).folds = Some(folds);
        Ok(self)
    }

    /// Returns all of the samples but their features.
    pub fn rows(&self) -> &Arc<Rows> {
        &self.rows
    }
}

impl Rows {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Adds the number of rows of every class that is counted.
    pub fn count_classes(&self, counts: &mut [usize]) {
        for &class in &self.classes {
            if let Some(count) = counts.get_mut(class as usize) {
                *count += 1;
            }
        }
    }

    /// Returns the folds that the samples came with.
    pub fn folds(&self) -> Option<&[u32]> {
        self.folds.as_deref()
    }

    /// Returns folds that are drawn for the samples, by the number of their partition: of each class
    /// every fold gets the same number of samples, up to one.
    pub fn draw(&self, partition: usize, draw: FoldDraw) -> Vec<u32> {
        let mut random = ChaCha8Rng::seed_from_u64(draw.seed);
        random.set_stream(partition as u64);
        let mut of_class: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (i, &class) in self.classes.iter().enumerate() {
            of_class.entry(class).or_default().push(i);
        }
        let mut folds = vec![0; self.len()];
        for rows in of_class.values_mut() {
            rows.shuffle(&mut random);
            let first = random.random_range(0..draw.count.max(1));
            for (k, &mut i) in (0..).zip(rows) {
                folds[i] = (first + k) % draw.count.max(1);
            }
        }
        folds
    }

    /// Returns some of the samples, with their part of these folds of all.
    pub(super) fn select(&self, chosen: &[usize], folds: Option<&[u32]>) -> Rows {
        fn of<T: Copy>(all: &[T], chosen: &[usize]) -> Vec<T> {
            chosen.iter().map(|&i| all[i]).collect()
        }
        Rows {
            classes: of(&self.classes, chosen),
            weights: self.weights.as_deref().map(|weights| of(weights, chosen)),
            folds: folds.map(|folds| of(folds, chosen)),
        }
    }

    /// Returns +1 for every sample of a class and -1 for all others.
    pub fn signs(&self, class: u32) -> Vec<f64> {
        self.classes.iter().map(|&own| if own == class { 1.0 } else { -1.0 }).collect()
    }

    pub(super) fn classes(&self) -> &[u32] {
        &self.classes
    }

    pub(super) fn class(&self, i: usize) -> usize {
        self.classes[i] as usize
    }

    /// Returns the weight with which a sample came, 1 unless it came with one.
    ///
    /// # Panics
    /// The method panics if there is no such sample.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }

    /// Returns the weight with which a sample came, times the cost of its class.
    pub(super) fn given(&self, i: usize, costs: &[f64]) -> f64 {
        let cost = costs.get(self.class(i)).copied().unwrap_or(1.0);
        cost * self.weight(i)
    }
}

fn check(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Shape { what, expected, found }) }
}
