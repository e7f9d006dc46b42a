#![doc = include_str!("../README.md")]

mod data;
mod error;
mod evaluation;
mod excess_risk;
mod members;
pub mod page;
mod report;
mod selection;
mod warnings;

pub use data::{ClassShare, DataSummary, Labelled};
pub use error::Error;
pub use evaluation::{
    Confusion, Curve, Evaluation, HardSample, Measured, ReliabilityBin, ReliabilityDiagram,
};
pub use excess_risk::{ExcessRisk, ExcessRiskPoint};
pub use members::{Coefficient, MemberSummary};
pub use report::{Fact, Origin, PathPoint, Report};
pub use selection::{KernelErrors, LambdaError, Selection};
