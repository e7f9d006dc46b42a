//! Features for comparison.

use margins_data::Design;

/// Returns the bits of all values, by row and column.
pub(crate) fn bits(design: &Design) -> Vec<Vec<(usize, u64)>> {
    let sample = |i: usize| {
        let mut row = Vec::new();
        design.sample(i).for_each(|column, x| row.push((column, x.to_bits())));
        row
    };
    (0..design.rows()).map(sample).collect()
}
