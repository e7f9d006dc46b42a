//! The problem: `F(b, w) = (1/n) sum_i c_i L(y_i (b + <w, x_i>)) + lambda ||w||^2`, from its samples to its sums.
//!
//! * [`Objective`]: loss, samples and weights; [`EmpiricalRisk`]: its first part, for scores from anywhere.
//! * [`Margins`]: the sums over the samples that solvers ask for, at one point after another.
//! * [`Lambda`], [`lambda_grid`]: the regularisation.
//! * [`Point`]: an intercept and coefficients with their scores.
//! * [`Extent`]: how large the samples are, in every unit; [`RowSpace`]: coordinates for more features than samples.
//! * [`summation`]: sums whose rounding is known.

mod extent;
mod lambda;
mod margin_summary;
mod margins;
mod objective;
mod point;
mod reflections;
mod risk;
mod row_space;
pub mod summation;

pub use extent::Extent;
pub use lambda::{DEFAULT_GRID, Lambda, lambda_grid};
pub use margin_summary::MarginSummary;
pub use margins::Margins;
pub use margins::weighted;
pub use objective::Objective;
pub(crate) use objective::PART;
pub use point::Point;
pub use risk::EmpiricalRisk;
pub use row_space::{Eigenspace, RowSpace};
