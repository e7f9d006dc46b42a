//! Learners that are older than algorithm 1, or need no theory, for comparison. [`learn_tested`] runs those that find a
//! halfspace, and tests it on rows held out.
//!
//! * The perceptron is [`Perceptron`](margins_optim::online::Perceptron) without an intercept
//!   (Rosenblatt 1958): any noise makes it wander.
//! * [`surrogate`]: the minimiser of one convex surrogate, such as LeakyReLU, hinge or logistic
//!   loss, whose error noise in the right places lifts far above eta + epsilon.
//! * [`partition`]: a decision list of such minimisers, each trusted only far from its boundary
//!   (Diakonikolas, Gouleakis and Tzamos 2019); it has the guarantee eta + epsilon, but is no
//!   halfspace.
//! * [`proper`]: cutting planes with an oracle that examines the surrogate on slabs around the
//!   boundary (Chen, Koehler, Moitra and Yau 2020); a halfspace, with more samples than algorithm
//!   1.
//! * [`plane`]: a halfspace with the lowest 0-1 error on a sample of the plane.

pub mod partition;
pub mod plane;
pub mod proper;
pub mod surrogate;
mod tested;

pub use tested::{Baseline, learn_tested};
