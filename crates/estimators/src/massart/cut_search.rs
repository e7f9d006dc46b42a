//! Cutting planes: the localisation method, the number of calls, and the rows of each call.

use margins_data::blocks::BlockFile;
use margins_massart::cutting_planes::Method;
use margins_massart::{
    CutOptions, CutPlan, Problem, Projection, SamplesInParts, SphereSample, learn_by_fresh_cuts,
    learn_by_fresh_cuts_from_parts, learn_by_tested_cuts, learn_by_tested_cuts_from_parts,
};
use margins_optim::Status;
use margins_optim::method::Limits;

use super::answer::Answer;
use super::file::FileSample;
use super::{HalfspaceMethod, HalfspaceSettings};
use crate::Error;

/// How cutting planes search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CutSearch {
    /// The localisation method: by default analytic centres, and ellipsoids with fresh rows.
    pub method: Option<Method>,
    /// The largest number of calls of the oracle, of which the first one cuts w = 0 off; by default
    /// that of [`CutOptions`], and of [`CutPlan::new`] with fresh rows.
    pub most_calls: Option<usize>,
    /// True to give the oracle fresh rows in each call, as theorem B.3 is proven, instead of all rows.
    pub fresh_rows: bool,
}

impl CutSearch {
    fn plan(&self, problem: &Problem, columns: usize) -> CutPlan {
        CutPlan::new(problem, columns, self.method.unwrap_or(Method::Ellipsoid), self.most_calls)
    }

    fn options<'w>(&self, limits: &Limits<'w>) -> CutOptions<'w> {
        let method = self.method.unwrap_or(Method::AnalyticCentre);
        CutOptions { method, most_calls: self.most_calls, limits: *limits }
    }

    /// Returns the projection that was asked for, or a worthwhile one if all rows are in each call.
    fn projection(
        &self,
        columns: usize,
        dimensions: Option<usize>,
        worthwhile: impl FnOnce() -> Option<usize>,
        seed: u64,
    ) -> Result<Option<Projection>, Error> {
        if self.fresh_rows && dimensions.is_some() {
            return Err(Error::contradiction(
                "fresh rows in each call".to_owned(),
                "a projection".to_owned(),
                "theorem B.3 is for the features as they are",
            ));
        }
        let dimensions = if self.fresh_rows { None } else { dimensions.or_else(worthwhile) };
        Ok(dimensions.map(|m| Projection::new(columns, m, seed)).transpose()?)
    }

    pub(super) fn learn(
        &self,
        problem: Problem,
        dimensions: Option<usize>,
        sample: &SphereSample<'_>,
        seed: u64,
        limits: &Limits<'_>,
    ) -> Result<Answer, Error> {
        let columns = sample.columns();
        let worthwhile = || Projection::worthwhile(&problem, sample);
        let map = self.projection(columns, dimensions, worthwhile, seed)?;
        let learned = if self.fresh_rows {
            learn_by_fresh_cuts(&problem, &self.plan(&problem, columns), sample, seed, limits)?
        } else {
            learn_by_tested_cuts(&problem, &self.options(limits), sample, map.as_ref(), seed)?
        };
        Ok(Answer::by_cuts(problem, map.map(|map| map.dimensions()), learned))
    }

    pub(super) fn learn_from_parts(
        &self,
        problem: Problem,
        dimensions: Option<usize>,
        (file, sample): (&BlockFile, &mut FileSample),
        seed: u64,
        limits: &Limits<'_>,
    ) -> Result<Answer, Error> {
        let columns = sample.columns();
        let worthwhile = || Projection::worthwhile_for(&problem, file.rows(), file.stored());
        let map = self.projection(columns, dimensions, worthwhile, seed)?;
        let learned = if self.fresh_rows {
            let plan = self.plan(&problem, columns);
            learn_by_fresh_cuts_from_parts(&problem, &plan, sample, seed, limits)?
        } else {
            let options = self.options(limits);
            learn_by_tested_cuts_from_parts(&problem, &options, sample, map.as_ref(), seed)?
        };
        Ok(Answer::by_cuts(problem, map.map(|map| map.dimensions()), learned))
    }
}

impl HalfspaceSettings {
    /// Returns the numbers of cutting planes with fresh rows in each call, for this many features as
    /// given; `None` of other methods.
    pub fn cut_plan(&self, columns: usize) -> Option<CutPlan> {
        match self.method {
            HalfspaceMethod::Cuts { problem, search, .. } if search.fresh_rows => {
                Some(search.plan(&problem, columns + usize::from(self.intercept)))
            }
            _ => None,
        }
    }

    /// Returns the number of rows, those held out among them, for which a proof gives a fit its guarantee:
    /// T + N of the plan of the gradient, and of cutting planes with fresh rows those of the calls made if
    /// they accepted a halfspace of this many features as given, or else of all calls; `None` of other
    /// methods.
    pub fn proven_rows(&self, columns: usize, calls: usize, status: Status) -> Option<usize> {
        if let HalfspaceMethod::Gradient { plan, .. } = self.method {
            return Some(plan.rows());
        }
        let plan = self.cut_plan(columns)?;
        let calls = if status == Status::RuleMet { calls } else { plan.calls };
        Some(CutPlan { calls, ..plan }.rows())
    }
}
