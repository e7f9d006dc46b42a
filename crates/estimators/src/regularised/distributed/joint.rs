//! Several classes in one problem, whose samples workers hold.

use std::time::Instant;

use margins_optim::shards::{BinaryProblem, joint_path_over_shards};
use margins_optim::{Fit, Lambda};

use super::Distributed;
use crate::Error;
use crate::regularised::contests::form_of;
use crate::regularised::prepared::{all_of, by_class};

impl Distributed<'_> {
    /// Returns the fits of every class at each lambda, from one problem for all classes with weight.
    pub(super) fn joint_path(
        &mut self,
        problem: &BinaryProblem,
        lambdas: &[Lambda],
        deadline: Option<Instant>,
    ) -> Result<Vec<Vec<Fit>>, Error> {
        let (classes, coefs) = (self.table.classes.len(), self.coefs());
        let Some(form) = form_of(self.scheme) else { return Ok(Vec::new()) };
        let fits = self.solve(0, problem, deadline, |workers, training, points| {
            let of = (form, classes);
            joint_path_over_shards(workers, training, of, problem, lambdas, points)
        })?;
        let (present, paths) = match fits {
            Err(margins_optim::Error::OneClass(alone)) => match alone.parse() {
                Ok(class) => (vec![class], all_of(class, classes, coefs, lambdas)),
                Err(_) => return Err(margins_optim::Error::OneClass(alone).into()),
            },
            fits => {
                let fits = fits?;
                let present = fits.first().map(|fit| fit.classes.clone()).unwrap_or_default();
                (present, by_class(fits, classes, coefs, lambdas))
            }
        };
        let is_missing = |class: &usize| self.table.class_rows[*class] > 0;
        let missing = (0..classes).filter(|class| !present.contains(class)).rfind(is_missing);
        if let (Some(fold), Some(missing)) = (problem.held_out, missing) {
            self.untrained.insert(fold as usize, missing);
        }
        Ok(paths)
    }
}
