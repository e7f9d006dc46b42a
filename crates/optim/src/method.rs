//! The methods: iterative solvers of one problem at one lambda, the choice among them, and the rule that
//! ends them.
//!
//! Every solver asks one [`Monitor`] whether to continue, and gives it a certificate to decide by.
//!
//! * [`Solver`], [`Options`]: the method and its settings. [`Route`]: the methods on a matrix of inner
//!   products of the samples. `choose` is the only place that chooses.
//! * [`Report`], [`Status`]: how good the result is, and why the solver stopped.
//! * [`Limits`]: the deadline and the callback of methods that make no certificate.
//! * [`Descent`], [`descend`]: Newton-like methods for objectives of your own.
//! * [`search`]: a step along a direction. [`LimitedMemory`]: directions from the steps before.
//! * [`ConjugateGradients`]: the steps for a linear equation, with a preconditioner.

mod block_ascent;
mod bundle;
mod choice;
mod choose;
mod conjugate_gradients;
pub(crate) mod costs;
mod descent;
mod factor;
mod gradient_descent;
mod growing_cholesky;
mod kernel_newton;
mod lbfgs;
mod least_squares;
mod limited_memory;
mod line_search;
pub(crate) mod mm;
mod monitor;
mod newton;
mod options;
mod prediction;
mod proximal;
mod proximal_newton;
mod report;
mod requirements;
mod room;
mod sdca;
mod smoothing;
mod status;
mod watch;

pub(crate) use block_ascent::{BlockAscent, FeatureAscent, OnMatrix, Progress};
pub(crate) use bundle::Bundle;
pub use choice::{Choice, Coordinates, Method};
pub use choose::Route;
pub(crate) use choose::{
    OverParts, Plan, choose, coordinates_beside_free, coordinates_of_classes, over_parts,
    suits_ascent,
};
pub use conjugate_gradients::{ConjugateGradients, Exactness};
pub use descent::{Descent, descend};
pub(crate) use gradient_descent::GradientDescent;
pub use growing_cholesky::GrowingCholesky;
pub(crate) use kernel_newton::KernelNewton;
pub(crate) use lbfgs::{Lbfgs, READ_ONCE};
pub use least_squares::least_squares;
pub use limited_memory::LimitedMemory;
pub use line_search::{Accept, search};
pub(crate) use mm::{MajorizeMinimize, Majorizer};
pub use monitor::{Monitor, Rule};
pub(crate) use newton::{LARGEST_DENSE_ORDER, Newton, System};
pub use options::{Options, Solver, StepRule};
pub(crate) use proximal_newton::{ProximalNewton, radius_near};
pub use report::{Elapsed, Ending, Fit, HistoryEntry, Observed, Observer, Report};
pub use requirements::{Requirements, SpaceKind};
pub(crate) use sdca::DualAscent;
pub(crate) use smoothing::{Nearness, SmoothedNewton};
pub use status::Status;
pub(crate) use watch::stopping;
pub use watch::{Iteration, Limits, Watch, is_over};
