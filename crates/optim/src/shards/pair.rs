//! The samples of two classes, where a problem is about these alone.

use std::sync::{Arc, OnceLock};

use margins_data::Design;

use crate::shards::{FoldDraw, Rows, Weighting};

/// The samples of a partition that are of one of two classes, with their folds.
#[derive(Debug)]
pub(super) struct Pair {
    classes: (u32, u32),
    draw: Option<FoldDraw>,
    chosen: Vec<usize>,
    rows: Arc<Rows>,
    /// Their features, if these are kept.
    design: OnceLock<Arc<Design>>,
}

impl Pair {
    pub(super) fn new(
        rows: &Rows,
        folds: Option<&[u32]>,
        classes: (u32, u32),
        draw: Option<FoldDraw>,
    ) -> Self {
        let is_one = |class: u32| class == classes.0 || class == classes.1;
        let of_all = rows.classes().iter().enumerate();
        let chosen: Vec<usize> =
            of_all.filter(|(_, class)| is_one(**class)).map(|(i, _)| i).collect();
        let rows = Arc::new(rows.select(&chosen, folds));
        Pair { classes, draw, chosen, rows, design: OnceLock::new() }
    }

    /// Returns true if these are the samples that weights are for.
    pub(super) fn is_of(&self, weighting: &Weighting) -> bool {
        Some(self.classes) == weighting.pair() && self.draw == weighting.draw
    }

    pub(super) fn rows(&self) -> &Arc<Rows> {
        &self.rows
    }

    /// Returns the features, of those of all samples.
    pub(super) fn design(&self, all: &Design, keep: bool) -> Arc<Design> {
        let select = || Arc::new(all.select(&self.chosen));
        if keep { Arc::clone(self.design.get_or_init(select)) } else { select() }
    }
}
