//! The kernel perceptron on a budget, and the expansions that it returns.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use margins_data::{Design, Sample};
use margins_losses::OutOfRange;
use margins_optim::online::{OnlineLearner, Scorer};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::{Ensemble, Error};

/// A sample of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Owned {
    Dense(Vec<f64>),
    Sparse { columns: Vec<usize>, values: Vec<f64> },
}

/// Samples, and the coefficients of each member of an ensemble for them.
pub type Support = (Design, Vec<Vec<f64>>);

impl Owned {
    fn new(x: &Sample<'_>) -> Self {
        match *x {
            Sample::Dense(x) => Owned::Dense(x.to_vec()),
            Sample::Sparse { columns, values, .. } => {
                Owned::Sparse { columns: columns.to_vec(), values: values.to_vec() }
            }
        }
    }

    /// Returns the sample, with as many features as the samples that it is compared with.
    fn sample(&self, features: usize) -> Sample<'_> {
        match self {
            Owned::Dense(x) => Sample::Dense(x),
            Owned::Sparse { columns, values } => Sample::Sparse { columns, values, features },
        }
    }
}

/// A classifier `f(x) = sum_j y_j k(x_j, x)` over at most as many support vectors as the budget
/// says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelExpansion<K> {
    kernel: K,
    support: Vec<SupportVector>,
}

/// A support vector `y_j` and `x_j`, which the learner and all its snapshots share in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SupportVector(f64, #[serde(with = "crate::shared")] Arc<Owned>);

impl<K> KernelExpansion<K> {
    /// Returns the classifier with its kernel in another form, such as `()` for a file, which
    /// cannot hold a function.
    pub fn map_kernel<J>(self, form: impl FnOnce(K) -> J) -> KernelExpansion<J> {
        KernelExpansion { kernel: form(self.kernel), support: self.support }
    }

    /// Returns the number of support vectors.
    pub fn support_vectors(&self) -> usize {
        self.support.len()
    }
}

impl<K> Ensemble<KernelExpansion<K>> {
    /// Returns the support vectors of all classifiers, each of them once, as samples of so many
    /// features, and the coefficients of every classifier; `None` without support vectors.
    ///
    /// # Errors
    /// Samples that make no design, such as too many of them.
    pub fn support(&self, features: usize) -> Result<Option<Support>, Error> {
        let mut places = HashMap::new();
        let mut rows: Vec<Vec<(usize, f64)>> = Vec::new();
        let mut dense = false;
        let mut signed = Vec::with_capacity(self.members().len());
        for member in self.members() {
            let mut of_member = Vec::with_capacity(member.support.len());
            for SupportVector(y, z) in &member.support {
                dense |= matches!(**z, Owned::Dense(_));
                let mut row = Vec::new();
                z.sample(features).for_each(|column, value| row.push((column, value)));
                let key: Vec<(usize, u64)> = row.iter().map(|&(k, x)| (k, x.to_bits())).collect();
                let place = *places.entry(key).or_insert(rows.len());
                if place == rows.len() {
                    rows.push(row);
                }
                of_member.push((place, *y));
            }
            signed.push(of_member);
        }
        if rows.is_empty() {
            return Ok(None);
        }
        let coefs = signed.into_iter().map(|of_member| {
            let mut coef = vec![0.0; rows.len()];
            of_member.into_iter().for_each(|(place, y)| coef[place] += y);
            coef
        });
        let coefs = coefs.collect();
        let samples = if dense {
            let values =
                |row: &Vec<(usize, f64)>| row.iter().map(|&(_, x)| x).collect::<Vec<f64>>();
            Design::from_rows(&rows.iter().map(values).collect::<Vec<_>>())?
        } else {
            Design::from_sparse_rows(&rows, features)?
        };
        Ok(Some((samples, coefs)))
    }
}

impl<K: Fn(&Sample<'_>, &Sample<'_>) -> f64> Scorer for KernelExpansion<K> {
    fn score(&self, x: &Sample<'_>) -> f64 {
        let value =
            |SupportVector(y, z): &SupportVector| y * (self.kernel)(&z.sample(x.features()), x);
        self.support.iter().map(value).sum()
    }
}

/// The kernel perceptron on a budget: on a mistake, `y f(x) <= 0`, the sample becomes a support
/// vector, and once the budget is used up one of the others, at random, makes room for it.
///
/// The kernel is any function of two samples, such as `move |x, z| kernel.value(x, z)` for a kernel
/// of `margins-kernel-functions`.
///
/// Source: Cavallanti, Cesa-Bianchi and Gentile (2007), the randomised budget perceptron.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelPerceptron<K> {
    expansion: KernelExpansion<K>,
    budget: NonZeroUsize,
    random: ChaCha8Rng,
}

impl<K> KernelPerceptron<K> {
    /// Returns the learner with its kernel in another form, such as `()` for a file, which cannot
    /// hold a function.
    pub fn map_kernel<J>(self, form: impl FnOnce(K) -> J) -> KernelPerceptron<J> {
        let KernelPerceptron { expansion, budget, random } = self;
        KernelPerceptron { expansion: expansion.map_kernel(form), budget, random }
    }
}

impl<K: Fn(&Sample<'_>, &Sample<'_>) -> f64> KernelPerceptron<K> {
    /// Returns a learner without support vectors; the seed is for those that make room.
    ///
    /// # Errors
    /// A budget of 0.
    pub fn new(kernel: K, budget: usize, seed: u64) -> Result<Self, Error> {
        let budget = NonZeroUsize::new(budget).ok_or(OutOfRange {
            parameter: "the budget",
            value: 0.0,
            requirement: "at least 1",
        })?;
        let expansion = KernelExpansion { kernel, support: Vec::new() };
        Ok(KernelPerceptron { expansion, budget, random: ChaCha8Rng::seed_from_u64(seed) })
    }
}

impl<K: Fn(&Sample<'_>, &Sample<'_>) -> f64> Scorer for KernelPerceptron<K> {
    fn score(&self, x: &Sample<'_>) -> f64 {
        self.expansion.score(x)
    }
}

impl<K> OnlineLearner for KernelPerceptron<K>
where
    K: Fn(&Sample<'_>, &Sample<'_>) -> f64 + Clone + Send + Sync,
{
    type Snapshot = KernelExpansion<K>;

    fn step(&mut self, x: &Sample<'_>, y: f64) -> Result<(), margins_optim::Error> {
        let margin = y * self.score(x);
        if !margin.is_finite() {
            return Err(margins_optim::Error::Diverged(margin));
        }
        if margin <= 0.0 {
            let support = &mut self.expansion.support;
            let vector = SupportVector(y, Arc::new(Owned::new(x)));
            if support.len() < self.budget.get() {
                support.push(vector);
            } else {
                support[self.random.random_range(0..self.budget.get())] = vector;
            }
        }
        Ok(())
    }

    fn snapshot(&self) -> KernelExpansion<K> {
        self.expansion.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use margins_optim::online::Perceptron;

    #[test]
    fn with_the_linear_kernel_it_is_the_perceptron() {
        let rows: Vec<Vec<(usize, f64)>> = (0..40)
            .map(|i: usize| vec![(i % 3, (i as f64).sin()), (3, 1.0 - (i % 5) as f64)])
            .collect();
        let design = Design::from_sparse_rows(&rows, 4).unwrap();
        let dot = |x: &Sample<'_>, z: &Sample<'_>| {
            let mut sum = 0.0;
            x.for_each_pair(z, |x, z| sum += x * z);
            sum
        };
        let mut kernel = KernelPerceptron::new(dot, 1000, 1).unwrap();
        let mut linear = Perceptron::new(4).without_intercept();
        for (i, x) in design.samples().enumerate() {
            let y = if i % 2 == 0 { 1.0 } else { -1.0 };
            assert!((kernel.score(&x) - linear.score(&x)).abs() < 1e-12);
            kernel.step(&x, y).unwrap();
            linear.step(&x, y).unwrap();
        }
        assert!(kernel.snapshot().support_vectors() > 5);
    }

    #[test]
    fn the_budget_is_kept_and_exclusive_or_learned() {
        let design = Design::from_rows(&[[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]).unwrap();
        let signs = [-1.0, -1.0, 1.0, 1.0];
        let gaussian = |x: &Sample<'_>, z: &Sample<'_>| (-2.0 * x.squared_distance(z)).exp();
        let mut learner = KernelPerceptron::new(gaussian, 4, 3).unwrap();
        for _ in 0..100 {
            for (x, y) in design.samples().zip(signs) {
                learner.step(&x, y).unwrap();
                assert!(learner.expansion.support_vectors() <= 4);
            }
        }
        assert!(design.samples().zip(signs).all(|(x, y)| y * learner.score(&x) > 0.0));
        assert!(KernelPerceptron::new(gaussian, 0, 3).is_err());
    }
}
