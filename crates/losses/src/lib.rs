//! Margin losses for binary classification.
//!
//! This crate is scalar mathematics: it knows nothing of data, solvers or files. A margin loss is a
//! function `L` of the margin `u = y f(x)`, with `y` in {-1, +1} and `f` a real score. The trait
//! [`MarginLoss`] has all that solvers, certificates and calibration need of a loss. A new loss
//! implements [`value`](MarginLoss::value) and [`derivative`](MarginLoss::derivative); the other
//! methods have numerical defaults.
//!
//! ```
//! use margins_losses::{LeakyHockeyStick, LossRegistry, MarginLoss};
//!
//! let loss = LeakyHockeyStick;
//! assert_eq!(loss.value(0.0), 1.0);
//! assert_eq!(loss.value(std::f64::consts::E), -1.0); // a reward beyond the margin 1
//! assert_eq!(loss.curvature(), Some(1.0));
//! assert_eq!(loss.population_minimizer(0.75), 3.0); // eta / (1 - eta)
//! assert_eq!(loss.probability(3.0), Some(0.75));
//!
//! let loss = LossRegistry::standard().parse("margin-pursuit:gamma=1,scale=2")?;
//! assert_eq!(loss.name(), "margin-pursuit");
//! # Ok::<(), margins_losses::Error>(())
//! ```
//!
//! | loss | specification | convex | source |
//! | --- | --- | --- | --- |
//! | [`LeakyHockeyStick`] | `lhs` | yes | Kwon and Zou 2023, equation 1 |
//! | [`PowerHockeyStick`] | `l-r:r=2` | yes | Kwon and Zou 2023, equation 15 |
//! | [`MarginPursuit`] | `margin-pursuit:gamma=1,scale=1` | yes | Holland 2019, equations 4 and 5 |
//! | [`LogCoshMarginPursuit`] | `log-cosh:gamma=1,scale=1` | yes | Holland 2019 with `log cosh` for `rho` |
//! | [`LeakyRelu`] | `leaky-relu:lambda=0.1` | yes | Diakonikolas and Zarifis 2024, equation 1 |
//! | [`Hinge`] | `hinge` | yes | Cortes and Vapnik 1995 |
//! | [`SquaredHinge`] | `squared-hinge` | yes | Cortes and Vapnik 1995 |
//! | [`SmoothedHinge`] | `smoothed-hinge:width=1` | yes | Shalev-Shwartz and Zhang 2013 |
//! | [`ModifiedHuber`] | `modified-huber` | yes | Zhang 2004 |
//! | [`DistanceWeighted`] | `dwd:q=1` | yes | Marron, Todd and Ahn 2007; Wang and Zou 2018 |
//! | [`Logistic`] | `logistic` | yes | Cox 1958 |
//! | [`Exponential`] | `exponential` | yes | Freund and Schapire 1997 |
//! | [`Squared`] | `squared` | yes | least squares on labels |
//! | [`GargRoth`] | `garg-roth:alpha=1,beta=1` | no | Garg and Roth 2003 |
//! | [`ZeroOne`] | `zero-one` | no | evaluation only |
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod catoni;
#[cfg(any(test, feature = "testkit"))]
pub mod testkit;

mod distance_weighted;
mod error;
mod exponential;
mod foreign_names;
mod forward;
mod garg_roth;
mod hinge;
mod interval;
mod joint_probabilities;
mod leaky_hockey_stick;
mod leaky_relu;
mod log_cosh_margin_pursuit;
mod logistic;
mod margin_loss;
mod margin_pursuit;
mod modified_huber;
mod out_of_range;
mod power_hockey_stick;
mod registry;
mod scalar_search;
mod smoothed_hinge;
mod special_case;
mod specification;
mod squared;
mod squared_hinge;
mod suggestion;
mod vectorized;
mod zero_one;

pub use distance_weighted::DistanceWeighted;
pub use error::Error;
pub use exponential::Exponential;
pub use garg_roth::GargRoth;
pub use hinge::Hinge;
pub use interval::Interval;
pub use joint_probabilities::{joint_probabilities, softmax};
pub use leaky_hockey_stick::LeakyHockeyStick;
pub use leaky_relu::LeakyRelu;
pub use log_cosh_margin_pursuit::LogCoshMarginPursuit;
pub use logistic::Logistic;
pub use margin_loss::{HomogeneousTail, MarginLoss, kink_at_zero};
pub use margin_pursuit::{ConditionalMinimum, MarginPursuit};
pub use modified_huber::ModifiedHuber;
pub use out_of_range::OutOfRange;
pub use power_hockey_stick::PowerHockeyStick;
pub use registry::LossRegistry;
pub use smoothed_hinge::SmoothedHinge;
pub use special_case::SpecialCase;
pub use specification::Specification;
pub use squared::Squared;
pub use squared_hinge::SquaredHinge;
pub use suggestion::{did_you_mean, did_you_mean_of};
pub use zero_one::ZeroOne;

/// The example of the README, run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
