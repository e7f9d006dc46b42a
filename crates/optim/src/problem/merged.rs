//! Problems in which the samples far from every bend of the loss are merged.

use std::borrow::Cow;

use margins_data::Design;
use margins_losses::MarginLoss;
use nalgebra::DMatrix;

use crate::problem::{EmpiricalRisk, Objective};

/// A problem in which samples of one class and one slope of the loss are merged into their mean,
/// which has the sum of their weights.
///
/// Let `L` be a line of the same slope from `u_i - radius` to `u_i + radius` for all samples of a
/// group. At every point where all of them are on this line, within the radius or not, the mean has the
/// weighted sum of their losses. Elsewhere it has less, by Jensen's inequality. A dual of the mean
/// is as good as the same dual of every sample in the group: `v` and the dual objective are the
/// same. So a bound on the minimum of the merged problem bounds that of the whole one.
pub(crate) struct Merged<'a, L: MarginLoss + ?Sized> {
    pub(crate) objective: Objective<'a, L>,
    /// The sample of the merged problem that each sample is part of.
    places: Vec<usize>,
    /// The share that each sample has in it.
    shares: Vec<f64>,
    /// The slopes of the lines on which samples are merged, each into one of the last samples.
    slopes: Vec<f64>,
}

impl<'a, L: MarginLoss + ?Sized> Objective<'a, L> {
    /// Returns the problem merged about given margins, but for samples that are to be left alone;
    /// `None` unless that halves the samples.
    pub(crate) fn merged(
        &self,
        margins: &[f64],
        radius: f64,
        alone: &[bool],
    ) -> Option<Merged<'a, L>> {
        let (lines, members) = self.risk.lines(margins, radius, alone);
        let groups = lines.len();
        let kept: Vec<usize> = (0..members.len()).filter(|&i| members[i].is_none()).collect();
        let rows = kept.len() + groups;
        if 2 * rows > members.len() {
            return None;
        }
        let mut numbers = 0..;
        let place = |group: &Option<usize>| match group {
            Some(group) => Some(kept.len() + group),
            None => numbers.next(),
        };
        let places: Vec<usize> = members.iter().filter_map(place).collect();
        let (signs, weights) = (self.risk.signs(), self.risk.weights());
        let mut totals = vec![0.0; rows];
        places.iter().zip(weights).for_each(|(&place, c)| totals[place] += c);
        let share = |(&place, c): (&usize, &f64)| if *c > 0.0 { c / totals[place] } else { 1.0 };
        let shares: Vec<f64> = places.iter().zip(weights).map(share).collect();
        let all_signs =
            kept.iter().map(|&i| signs[i]).chain(lines.iter().map(|(sign, _)| *sign)).collect();
        let means = self.means(&members, &shares, rows - kept.len())?;
        let design = Design::stack(&[self.design.select(&kept), means]).ok()?;
        let objective =
            Objective { risk: self.risk.of_samples(all_signs, totals), design: Cow::Owned(design) };
        let slopes = lines.into_iter().map(|(_, slope)| slope).collect();
        Some(Merged { objective, places, shares, slopes })
    }

    /// Returns the weighted means of groups of samples; `None` if they overflow.
    fn means(&self, members: &[Option<usize>], shares: &[f64], groups: usize) -> Option<Design> {
        let p = self.design.columns();
        let mut means = DMatrix::zeros(p, groups);
        for (i, group) in members.iter().enumerate() {
            if let Some(group) = group {
                self.design.sample(i).add_to(shares[i], means.column_mut(*group).as_mut_slice());
            }
        }
        if !self.design.is_sparse() {
            return Design::from_samples(means).ok();
        }
        let stored = |column: &[f64]| -> Vec<(usize, f64)> {
            column.iter().copied().enumerate().filter(|(_, x)| *x != 0.0).collect()
        };
        let rows: Vec<_> = means.column_iter().map(|mean| stored(mean.as_slice())).collect();
        Design::from_sparse_rows(&rows, p).ok()
    }
}

impl<L: MarginLoss + ?Sized> EmpiricalRisk<'_, L> {
    /// Returns sign and slope of the groups of samples with one sign and one slope of the loss within
    /// the radius of their margins, and the group of each sample, if it is in one.
    fn lines(
        &self,
        margins: &[f64],
        radius: f64,
        alone: &[bool],
    ) -> (Vec<(f64, f64)>, Vec<Option<usize>>) {
        let slopes_at = |shift: f64| {
            let margins: Vec<f64> = margins.iter().map(|u| u + shift).collect();
            let mut slopes = vec![0.0; margins.len()];
            self.derivatives(&margins, &mut slopes);
            slopes
        };
        let (left, right) = (slopes_at(-radius), slopes_at(radius));
        let mut lines: Vec<(f64, f64)> = Vec::new();
        let members = (0..margins.len())
            .map(|i| {
                if left[i] != right[i] || alone[i] || self.weights.get(i) == 0.0 {
                    return None;
                }
                let line = (self.signs.get(i), left[i]);
                Some(lines.iter().position(|known| *known == line).unwrap_or_else(|| {
                    lines.push(line);
                    lines.len() - 1
                }))
            })
            .collect();
        (lines, members)
    }
}

impl<L: MarginLoss + ?Sized> Merged<'_, L> {
    /// Returns duals of the merged problem for duals of the whole one: means, with which the dual
    /// objective is no smaller.
    pub(crate) fn merge(&self, duals: &[f64]) -> Vec<f64> {
        let mut merged = vec![0.0; self.objective.design.rows()];
        for ((&place, share), s) in self.places.iter().zip(&self.shares).zip(duals) {
            merged[place] += share * s;
        }
        let domain = self.objective.risk.domain();
        merged.iter().map(|s| s.clamp(domain.lower, domain.upper)).collect()
    }

    /// Returns duals of the whole problem for duals of the merged one.
    pub(crate) fn spread(&self, duals: &[f64]) -> Vec<f64> {
        self.places.iter().map(|&place| duals[place]).collect()
    }

    /// Returns the samples that have left the line on which they are merged, given the slopes of the
    /// loss elsewhere.
    pub(crate) fn leavers(&self, slopes: &[f64]) -> Vec<usize> {
        let alone = self.objective.design.rows() - self.slopes.len();
        let line = |i: &usize| self.places[*i].checked_sub(alone).map(|group| self.slopes[group]);
        (0..slopes.len()).filter(|i| line(i).is_some_and(|slope| slope != slopes[*i])).collect()
    }
}
