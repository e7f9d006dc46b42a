#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod class_evaluation;
mod class_scores;
mod data;
mod error;
mod evaluation;
mod excess_risk;
mod game;
mod measured;
mod members;
pub mod page;
mod points;
mod profile;
mod report;
mod selection;
mod suspect;
mod warnings;

pub use class_evaluation::{ClassEvaluation, Curve, ReliabilityBin, ReliabilityDiagram};
pub use data::{ClassShare, DataSummary, Labelled, RawColumnSummary};
pub use error::Error;
pub use evaluation::{Confusion, Evaluation, HardSample};
pub use excess_risk::{ExcessRisk, ExcessRiskPoint};
pub use game::Game;
pub use measured::Measured;
pub use members::{CertificateSummary, Coefficient, MemberSummary};
pub use profile::Profile;
pub use report::{CandidateChoice, Fact, Origin, PathPoint, Report};
pub use selection::{KernelErrors, LambdaError, Selection};
pub use suspect::{Deviation, Suspect};
