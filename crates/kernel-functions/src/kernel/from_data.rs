//! A kernel with parameters that come from training data, such as the width of a Gaussian kernel.

use std::fmt;
use std::sync::Arc;

use margins_data::{Design, Sample};

use crate::kernel::Gaussian;
use crate::{Block, Error, Kernel, SigmaRange};

/// A rule that takes a parameter from training data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rule {
    /// The [`middle`](SigmaRange::middle) of the [`SigmaRange`] of the samples with their weights.
    Middle,
    /// `1/(d v)` for d features and the variance v of all entries of the design with the weights of
    /// their rows; 1 if all entries are equal. `gamma="scale"` of scikit-learn.
    Scale,
    /// `1/d` for d features. `gamma="auto"` of scikit-learn.
    Auto,
}

impl Rule {
    /// Returns the rule of this name in specifications.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "scale" => Some(Rule::Scale),
            "auto" => Some(Rule::Auto),
            _ => None,
        }
    }

    fn value(self, design: &Design, weights: Option<&[f64]>, seed: u64) -> Result<f64, Error> {
        let features = design.columns().max(1) as f64;
        match self {
            Rule::Middle => Ok(SigmaRange::of(design, weights, seed)?.middle()),
            Rule::Auto => Ok(features.recip()),
            Rule::Scale => {
                let variance = variance(design, weights);
                Ok(if variance > 0.0 { (features * variance).recip() } else { 1.0 })
            }
        }
    }
}

/// Returns the variance of all entries of a design, each with the weight of its row.
fn variance(design: &Design, weights: Option<&[f64]>) -> f64 {
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let mean_of = |term: &dyn Fn(f64) -> f64| {
        let (mut sum, mut total) = (0.0, 0.0);
        for (i, x) in design.samples().enumerate() {
            let mut row = (x.features() - x.stored()) as f64 * term(0.0);
            x.for_each(|_, value| row += term(value));
            sum += weight(i) * row;
            total += weight(i) * x.features() as f64;
        }
        sum / total
    };
    let mean = mean_of(&|value| value);
    mean_of(&|value| (value - mean) * (value - mean))
}

/// Makes a kernel from the values of its parameters.
pub(crate) type Constructor = dyn Fn(&[f64]) -> Result<Box<dyn Kernel>, Error> + Send + Sync;

/// A kernel some of whose parameters follow rules. Without data every value is NaN.
pub(crate) struct FromData {
    specification: String,
    constructor: Arc<Constructor>,
    /// The values of all parameters; those that follow rules are arbitrary until data are known.
    values: Vec<f64>,
    /// The rules that have not been applied, each with the index of its parameter.
    rules: Vec<(usize, Rule)>,
    /// The kernel of these values.
    kernel: Box<dyn Kernel>,
}

impl FromData {
    /// Returns the kernel; values that follow rules are any that the constructor takes.
    ///
    /// # Errors
    /// The errors of the constructor.
    pub(crate) fn new(
        specification: &str,
        constructor: Arc<Constructor>,
        values: Vec<f64>,
        rules: Vec<(usize, Rule)>,
    ) -> Result<Self, Error> {
        let (kernel, specification) = (constructor(&values)?, specification.to_owned());
        Ok(FromData { specification, constructor, values, rules, kernel })
    }
}

impl fmt::Debug for FromData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FromData").field(&self.specification()).finish()
    }
}

impl Kernel for FromData {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        if self.needs_data() { f64::NAN } else { self.kernel.value(x, z) }
    }
    fn name(&self) -> &str {
        self.kernel.name()
    }
    fn parameters(&self) -> Vec<(&'static str, f64)> {
        if self.needs_data() { Vec::new() } else { self.kernel.parameters() }
    }
    fn specification(&self) -> String {
        if self.needs_data() { self.specification.clone() } else { self.kernel.specification() }
    }
    fn is_positive_semidefinite(&self) -> bool {
        self.kernel.is_positive_semidefinite()
    }
    fn as_gaussian(&self) -> Option<Gaussian> {
        if self.needs_data() { None } else { self.kernel.as_gaussian() }
    }
    fn adapt_to(
        &mut self,
        design: &Design,
        weights: Option<&[f64]>,
        seed: u64,
    ) -> Result<(), Error> {
        if self.needs_data() {
            for &(k, rule) in &self.rules {
                self.values[k] = rule.value(design, weights, seed)?;
            }
            self.kernel = (self.constructor)(&self.values)?;
            self.rules.clear();
        }
        Ok(())
    }
    fn needs_data(&self) -> bool {
        !self.rules.is_empty()
    }
    fn refusal(&self, sample: &Sample<'_>) -> Option<String> {
        self.kernel.refusal(sample)
    }
    fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
        if self.needs_data() { out.fill(f64::NAN) } else { self.kernel.fill(block, out) }
    }
}
