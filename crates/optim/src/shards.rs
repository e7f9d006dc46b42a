//! Samples in shards: in parts of one process, in blocks of a file, or on other machines.
//!
//! A [`Shard`] holds partitions. It answers each [`Request`] with sums over each of its partitions,
//! and keeps the products `X w` that later requests combine, and the duals about which the loss is
//! smoothed. [`Sharded`] is the other end: it is
//! [`Samples`](crate::space::Samples) to the solver, asks all shards at once by way of
//! [`Workers`], and adds up the answers in the order of the partitions. A result has therefore the
//! same bits for any number of shards.
//!
//! All that a shard keeps follows from its partitions and from coefficients that [`Sharded`] knows.
//! A shard that is lost can be rebuilt anywhere: [`Message::for_new_shard`].
//!
//! * [`Block`]: the samples of a partition; [`Blocks`]: where partitions come from, [`Resident`] in
//!   memory or [`OnDisk`].
//! * [`Request`], [`Ask`], [`Reply`]: the messages.
//! * [`Threads`]: shards in this process.
//! * [`OnLandmarks`]: shards that make features of [`Landmarks`] of their samples.
//! * [`path_over_shards`]: the path of lambdas, with standardisation and class weights;
//!   [`joint_path_over_shards`]: that of several classes in one problem; [`PointStore`]: where paths keep
//!   how far they have come.

mod answer;
mod block;
mod errors;
mod failure;
mod few_samples;
mod joint;
mod landmarks;
mod merging;
mod on_disk;
mod on_landmarks;
mod open;
mod pair;
mod part;
mod point_store;
mod proximal_step;
mod request;
mod shard;
mod sharded;
mod slots;
mod start;
mod stored_rows;
mod threads;
#[cfg(feature = "serde")]
mod wire;
mod workers;

pub use block::{Block, Rows};
pub use errors::{RuleOutcome, errors_over_shards};
pub use failure::Failure;
pub use landmarks::Landmarks;
pub use on_disk::OnDisk;
pub use on_landmarks::{OnLandmarks, rows_over_shards};
pub use open::{BinaryProblem, joint_path_over_shards, path_over_shards, spreads_over_shards};
pub use point_store::PointStore;
pub use request::{
    Answer, Ask, Definition, Description, DualStep, FeatureSource, FoldDraw, GivenPoint,
    JointProblem, Kept, Merging, Partial, ProximalStep, Reply, Request, Rule, SampledRows, Spot,
    Weighting,
};
pub use shard::{Blocks, Resident, Shard};
pub use sharded::Sharded;
pub use slots::Handle;
pub use stored_rows::StoredRows;
pub use threads::Threads;
#[cfg(feature = "serde")]
pub use wire::VERSION;
pub use workers::{BYTES_A_SAMPLED_VALUE, MOST_SAMPLED, Message, Workers};
