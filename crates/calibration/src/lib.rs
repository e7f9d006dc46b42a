//! Bounds on the misclassification error by the surrogate risk, and probabilities from scores.
//!
//! This crate knows nothing of data sets, solvers or files: its inputs are losses, numbers and
//! slices of them.
//!
//! * [`PsiTransform`]: the Psi-transform of any calibrated loss and its inverse.
//! * [`least_conditional_risk`]: the lowest expected loss at a class probability.
//! * [`least_risk`]: the lowest risk of all functions, and how much label noise there is, from log
//!   odds.
//! * [`MarginPursuitPsi`]: the Psi-transform of margin pursuit in closed form.
//! * [`cubic`]: all real roots of a cubic, accurate where the textbook formulas cancel.
//! * [`location`]: the Catoni-type M-estimate of location, its confidence interval and stability, and
//!   the median of means.
//! * [`scale`]: rules for the scale of the margin-pursuit loss.
//! * [`projection_bound`]: the bound of Garg and Roth on the error of a linear classifier.
//! * [`risk_bound`]: the excess risk bound of margin pursuit, term by term.
//! * [`probability`]: how several classes are decided, with which probabilities, Platt scaling, isotonic
//!   regression, reliability.
//!
//! ```
//! use margins_calibration::PsiTransform;
//! use margins_losses::{LeakyRelu, Logistic};
//!
//! // A logistic risk within 0.02 of its minimum keeps the error within 0.2 of the Bayes error.
//! let psi = PsiTransform::of(&Logistic)?;
//! assert!((psi.inverse(0.02) - 0.1987).abs() < 1e-3);
//! // LeakyReLU has no such guarantee; the error has the reason.
//! let reason = PsiTransform::of(&LeakyRelu::new(0.1)?).unwrap_err();
//! assert!(reason.to_string().contains("kink at 0"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod cubic;
mod double_double;
mod error;
pub mod least_risk;
pub mod location;
mod margin_pursuit;
pub mod probability;
pub mod projection_bound;
pub mod risk_bound;
pub mod scale;
mod search;
mod tail;
mod transform;

pub use error::Error;
pub use margin_pursuit::MarginPursuitPsi;
pub use transform::{NotCalibrated, PsiTransform, conditional_risk, least_conditional_risk};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
