//! Faults of files, of other processes, of limits and of the clock.

mod clock;
mod destinations;
mod files;
mod limits;
mod others;
mod writers;

use std::path::Path;

use super::expected::Seen;
use super::lab::Lab;
use crate::Failure;

/// A trial of some faults.
type Group = fn(&Lab) -> Result<Vec<Seen>, Failure>;

/// Tries all of them; the library makes the clock jump.
pub(super) fn run(lab: &Lab, faketime: &Path) -> Result<Vec<Seen>, Failure> {
    let groups: [Group; 11] = [
        writers::full_disk,
        writers::read_only_folder,
        writers::no_folder,
        destinations::all,
        files::full_device,
        files::empty_device,
        files::pipes,
        files::changing_file,
        others::closed_pipe,
        others::two_at_once,
        limits::all,
    ];
    let mut rows = Vec::new();
    for group in groups {
        rows.extend(group(lab)?);
    }
    rows.extend(clock::jumps(lab, faketime)?);
    Ok(rows)
}
