//! Halfspaces with a margin, learned under Massart noise.
//!
//! Every unit sample has the label `sign(<w*, x>)`, which an adversary flips with a probability
//! `eta(x) <= eta < 1/2` of its choice, and `|<w*, x>| >= gamma`. The learners here find a
//! halfspace with an error of at most `eta + epsilon`, the best that is known to be possible in
//! polynomial time; the lowest error, `E eta(x)`, may be much smaller. No fixed convex surrogate has
//! this guarantee: see [`baselines`].
//!
//! * [`learn`], [`learn_from`], [`OnePass`], [`Sgd`]: stochastic gradient on losses that are
//!   reweighted at every step, with `O(log(1/delta)/(epsilon gamma)^2)` samples (algorithm 1 of the
//!   source).
//! * [`learn_by_cuts`]: cutting planes with a separation oracle (appendix B of the source);
//!   [`learn_by_projected_cuts`]: cutting planes after a [`Projection`], if there are many
//!   features; [`learn_by_tested_cuts`]: either of them, with a bound on the error from rows held
//!   out; [`learn_by_fresh_cuts`]: with fresh rows in each call of the oracle, as the proof has them.
//! * [`learn_adaptively`]: for an unknown eta and gamma.
//! * [`SamplesInParts`]: samples that do not fit in memory, for all of these.
//! * [`select`]: the best of many iterates.
//! * [`audit`]: a lower bound on the noise rate.
//! * [`baselines`]: earlier learners, for comparison.
//!
//! Samples are scaled into the unit ball, which does not change the decisions of a halfspace through
//! the origin, so that the halfspace applies to samples as they are: each is divided by its norm, or
//! all by the same number ([`Sphere::scaled`]). There is no intercept; add a constant feature
//! instead. In these learners sign(0) = +1, as in the source, whereas a classifier decides +1 if its
//! score is above 0: they differ only on samples exactly on the boundary.
//!
//! # Example
//!
//! An adversary flips a tenth of the labels at random. The error of the learned halfspace on new
//! samples stays within the guarantee.
//!
//! ```
//! use margins_data::generate::{Adversary, MarginHalfspace, MassartDistribution};
//! use margins_massart::{Plan, Problem, SphereSample, learn};
//! use margins_optim::method::Limits;
//!
//! let halfspace = MarginHalfspace::new(5, 0.2, 1)?;
//! let points = halfspace.points(2000, 1)?;
//! let noisy = MassartDistribution::of_halfspace(&halfspace, points, &Adversary::Random, 0.1)?;
//! let draws = noisy.draw(8000, 1);
//! let design = noisy.design().select(&draws.rows);
//! let sample = SphereSample::new(&design, &draws.signs)?;
//!
//! let problem = Problem::new(0.1, 0.2)?;
//! let plan = Plan::practical(&problem);
//! let learned = learn(&problem, &plan, &sample, 1, &Limits::default())?;
//! let error = noisy.linear_error(&learned.classifier.coef)?;
//! assert!(error <= 0.1 + problem.target.epsilon());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: I. Diakonikolas and N. Zarifis, *A near-optimal algorithm for learning margin halfspaces
//! with Massart noise*, NeurIPS 2024.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod audit;
mod auto;
pub mod baselines;
mod cuts;
pub mod cutting_planes;
mod error;
mod fresh_cuts;
mod held_out;
mod one_pass;
mod oracle;
mod parts;
mod problem;
mod projection;
mod selection;
mod sgd;
mod sphere;
mod split;

pub use audit::{Audit, audit};
pub use auto::{Adaptive, learn_adaptively, learn_adaptively_from_parts};
pub use cuts::{
    CutOptions, LearnedHalfspace, learn_by_cuts, learn_by_projected_cuts, learn_by_tested_cuts,
};
pub use error::Error;
pub use fresh_cuts::{CutPlan, learn_by_fresh_cuts};
pub use held_out::held_out_rows;
pub use one_pass::{OnePass, OnePassState};
pub use oracle::{Separation, reweighted_risk, separate};
pub use parts::{
    SamplesInParts, SeePart, learn_by_cuts_from_parts, learn_by_fresh_cuts_from_parts,
    learn_by_tested_cuts_from_parts, learn_from_parts,
};
pub use problem::{MarginBound, NoiseRate, Problem, Target};
pub use projection::Projection;
pub use selection::{Candidates, Selected, select, select_exhaustively};
pub use sgd::{CandidateRule, Learned, Plan, Sgd, learn, learn_from};
pub use sphere::{Sphere, SphereSample, UnitSample};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
