//! Dual ascent in features, for Newton's method to certify.

use margins_data::Design;

use super::{BlockAscent, OnFeatures};
use crate::Lambda;
use crate::method::is_over;
use crate::space::MergedProblem;
use crate::space::joint::{DualSolver, JointSamples};

/// Dual ascent over the samples of a design, kept from lambda to lambda.
pub(crate) struct FeatureAscent<'d> {
    design: &'d Design,
    ascent: Option<BlockAscent<OnFeatures<'d>>>,
}

impl<'d> FeatureAscent<'d> {
    pub(crate) fn new(design: &'d Design) -> Self {
        FeatureAscent { design, ascent: None }
    }
}

impl<'o> DualSolver<'o> for FeatureAscent<'o> {
    fn solve(
        &mut self,
        samples: &mut JointSamples<'o>,
        lambda: Lambda,
        problem: &MergedProblem<'_>,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        /// The share of the tolerance that is left for every attempt before.
        const SHARE: f64 = 0.2;
        let (k, design) = (samples.parts().1.count(), self.design);
        let ascent = self
            .ascent
            .get_or_insert_with(|| BlockAscent::new(samples, OnFeatures::new(design, k), lambda));
        ascent.move_to(lambda);
        let tolerance = SHARE.powi(problem.left.len() as i32) * problem.tolerance;
        let stop = || (problem.stop)() || is_over(problem.deadline);
        let reached = ascent.approach(samples, tolerance, &stop, |_| {});
        ascent.settle(samples);
        let mut coef = ascent.expansion().coefs();
        if samples.has_intercepts() {
            let intercepts = ascent.intercepts();
            coef.extend(intercepts[..k - 1].iter().map(|b| b - intercepts[k - 1]));
        }
        reached.then(|| (coef, ascent.duals().to_vec()))
    }
}
