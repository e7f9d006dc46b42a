//! Robust and distributional objectives: robust estimates of the mean loss, and the distribution of
//! the margins.
//!
//! | learner | objective | certificate |
//! | --- | --- | --- |
//! | [`CatoniRisk`] | Catoni's estimate of the mean loss | none: not convex |
//! | [`MedianOfMeans`] | the median of the mean losses of blocks | none: not convex, random |
//! | [`MarginDistribution`] | the loss, less the mean of the margins, plus their variance | duality gap |
//! | [`GargRothDescent`] | the projection profile, or any loss | none: not convex |
//! | [`unpenalised`] | the mean loss without a penalty | the gradient |
//!
//! A fit without certificate has an infinite gap. Its status is
//! [`RuleMet`](margins_optim::Status::RuleMet) or [`Stalled`](margins_optim::Status::Stalled) if
//! the descent ended by itself.
//!
//! ```
//! use margins_data::{Design, Labels};
//! use margins_losses::Hinge;
//! use margins_robust::{CatoniRisk, MarginDistribution};
//! use margins_optim::{Lambda, Objective, Options};
//!
//! // The last sample is far out on the wrong side.
//! let design = Design::from_rows(&[[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0], [-80.0]])?;
//! let labels = Labels::from_signs(vec![-1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0])?;
//! let objective = Objective::new(&Hinge, &design, &labels)?;
//! let (lambda, options) = (Lambda::new(0.01)?, Options::default());
//! let robust = CatoniRisk::new(2.0)?.fit(&objective, lambda, &options)?;
//! assert!((0..6).all(|i| robust.score(&design.sample(i)) * labels.signs()[i] > 0.0));
//!
//! let fit = MarginDistribution::new(0.5, 0.5)?.fit(&objective, lambda, &options)?;
//! assert!(fit.report.converged());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod catoni_risk;
mod error;
mod estimated_risk;
mod garg_roth;
mod learner;
mod margin_distribution;
mod median_of_means;
mod quasi_newton;
mod restarts;
mod separation;
mod steepest;
mod unpenalised;

pub use catoni_risk::CatoniRisk;
pub use error::Error;
pub use garg_roth::GargRothDescent;
pub use learner::RobustLearner;
pub use margin_distribution::{MarginDistribution, MarginDistributionSolution};
pub use median_of_means::MedianOfMeans;
pub use restarts::Restarts;
pub use unpenalised::{unpenalised, unpenalised_from};

use margins_optim::method::Ending;
use margins_optim::problem::summation::dot;
use margins_optim::{Certificate, Fit, Lambda};

/// Returns the certificate of a point with this value and gradient and without a lower bound: its
/// gap is infinite, or NaN if numbers overflowed.
fn uncertain(value: f64, gradient: &[f64]) -> Certificate {
    let norm = dot(gradient, gradient).sqrt();
    let gap = if norm.is_finite() { f64::INFINITY } else { f64::NAN };
    Certificate::new(value, gap, 0.0, norm)
}

/// Returns the fit of a descent without a certificate; its point has the intercept first.
fn uncertified(lambda: Lambda, point: &[f64], ending: Ending, passes: usize) -> Fit {
    let report = ending.report(passes, f64::INFINITY);
    Fit { lambda, intercept: point[0], coef: point[1..].to_vec(), report }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
