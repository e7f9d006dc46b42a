use super::curved::{Inverse, Made, curved};
use crate::problem::Samples;

/// The inverse of H of some of the samples, for which those stand that are at hand where the others are
/// elsewhere. It preconditions conjugate gradients, of which every step takes a round of messages
/// (Zhang and Lin, *DiSCO: distributed optimization for self-concordant empirical loss*, 2015).
///
/// Of m samples each counts for n/m, so that H of these samples has about `d_i ||x_i||^2` along sample i
/// that H of all has not. The ridge of the preconditioner is larger by their mean, or else directions
/// that only the drawn samples have would spread the spectrum.
#[derive(Default)]
pub(super) struct SampledFactor {
    made: Option<(f64, Made)>,
    /// The steps that the first solution with the factor took.
    first_steps: Option<usize>,
    is_worn: bool,
}

impl SampledFactor {
    /// Makes ready for an equation; `None` if no samples are at hand, or their matrix is numerically
    /// singular. A factor at hand serves as long as it is not worn, for lambdas near that of its own.
    pub(super) fn prepare<S: Samples>(
        &mut self,
        samples: &mut S,
        ridge: f64,
        moves_intercept: bool,
    ) -> Option<Inverse<'_>> {
        /// The ratio from which on a ridge is another one.
        const RATIO: f64 = 2.0;
        let serves = |&(own, _): &(f64, Made)| ridge <= RATIO * own && own <= RATIO * ridge;
        if self.is_worn || !self.made.as_ref().is_some_and(serves) {
            let (design, curvatures) = samples.sampled()?;
            let of = curved(&curvatures);
            if of.is_empty() {
                return None;
            }
            let norms = of.iter().map(|&i| curvatures[i] * design.sample(i).squared_norm());
            let own = norms.sum::<f64>() / of.len() as f64;
            let made = Made::new(design, &curvatures, ridge + own, of)?;
            *self = SampledFactor { made: Some((ridge, made)), first_steps: None, is_worn: false };
        }
        self.made.as_ref().map(|(_, made)| Inverse::as_made(made, moves_intercept))
    }

    /// Hears how many steps a solution took: a factor of other curvatures is worn when that becomes much
    /// more than at first.
    pub(super) fn took(&mut self, steps: usize) {
        const FREE: usize = 5;
        let first = *self.first_steps.get_or_insert(steps);
        self.is_worn = steps > 2 * first + FREE;
    }
}
