//! Several classes by a learner of two classes: each class against the rest.

use std::time::Instant;

use margins_data::{ClassLabels, Classes, Labels, parallel};
use margins_optim::path::TimeShares;

use crate::Error;

/// Returns what a learner of two classes returns for each class against the rest, in the order of the
/// classes, each given by its index. They are learned in parallel, and share the time until the
/// deadline.
pub(crate) fn each_against_rest<R: Send>(
    classes: &Classes,
    deadline: Option<Instant>,
    learn: impl Fn(usize, &Labels, Option<Instant>) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let count = classes.names().len();
    let shares = TimeShares::new(deadline, count, parallel::threads());
    parallel::try_map_large(0..count, |class| {
        learn(class, &classes.against_rest(class), shares.begin())
    })
}
