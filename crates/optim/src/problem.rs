//! The problem: `F(b, w) = (1/n) sum_i c_i L(y_i (b + <w, x_i>)) + lambda ||w||^2`, from its
//! samples to its sums.
//!
//! * [`Objective`]: loss, samples and weights; [`EmpiricalRisk`]: the first part of an objective,
//!   for scores from anywhere.
//! * [`Margins`]: the sums over the samples that solvers ask for, at one point after another.
//! * [`Need`]: the properties of a loss that methods need, and the refusal of a loss without them.
//! * [`JointObjective`]: the problem of several classes at once.
//! * [`PenaltyFactors`]: how strongly the penalty acts on each feature; [`FreeColumns`]: those that
//!   it does not act on.
//! * [`Lambda`], [`lambda_grid`]: the regularisation.
//! * [`Point`]: an intercept and coefficients with their scores.
//! * [`Sums`]: sums over the samples at a point. [`summation`]: sums whose rounding is known.

mod balance;
mod best_intercepts;
mod fenchel_young;
mod free;
mod intercept;
mod joint;
mod lambda;
mod margin_summary;
mod margins;
mod merged;
mod needs;
mod objective;
mod orthogonal;
mod penalty_factors;
mod per_sample;
mod pivoted;
mod point;
mod risk;
mod rivals;
pub mod summation;
mod sums;

pub(crate) use balance::{Balance, is_unbounded};
pub(crate) use fenchel_young::CONJUGATE_ERROR;
pub use fenchel_young::FenchelYoung;
pub(crate) use free::{Block, BlockSums, balance};
pub use free::{BlockMove, FreeColumns, FreePart, Mobility};
pub use intercept::settle;
pub use joint::{JointForm, JointObjective};
pub use lambda::{DEFAULT_GRID, Lambda, lambda_grid};
pub use margin_summary::MarginSummary;
pub(crate) use margins::ScoresAt;
pub use margins::{Margins, weighted};
pub(crate) use merged::{Lines, Merged};
pub use needs::Need;
pub(crate) use needs::curvature;
pub use objective::Objective;
pub(crate) use objective::{MOST_OF_A_PART, part_of};
pub(crate) use orthogonal::Orthogonal;
pub use penalty_factors::{Penalty, PenaltyFactors};
pub(crate) use per_sample::{Room, Signs, Weights};
pub use point::{Point, Products};
pub use risk::EmpiricalRisk;
pub(crate) use rivals::{ROWS, Rivals, laplacian};
pub use sums::Sums;
