//! Problems in which the samples far from every bend of the loss are merged.

use std::borrow::Cow;

use margins_data::Design;
use margins_losses::MarginLoss;
use nalgebra::DMatrix;

use crate::problem::{EmpiricalRisk, Objective};

/// The samples that are on a line of the loss, whatever happens near them, and all others.
///
/// Two samples belong to one group if they have one sign, and the loss one slope from `u_i - radius` to
/// `u_i + radius` for both.
pub(crate) struct Lines {
    groups: Vec<(f64, f64)>,
    /// The samples that are in no group.
    alone: Vec<usize>,
    /// The place of each sample: that among those alone, or behind them that of its group.
    places: Vec<usize>,
}

impl Lines {
    pub(crate) fn len(&self) -> usize {
        self.alone.len() + self.groups.len()
    }

    /// Returns the samples that are in no group.
    pub(crate) fn alone(&self) -> &[usize] {
        &self.alone
    }

    /// Returns the group of a sample, if it is in one.
    fn group(&self, i: usize) -> Option<usize> {
        self.places[i].checked_sub(self.alone.len())
    }

    /// Returns duals of all samples for those of samples alone and groups.
    pub(crate) fn spread(&self, duals: &[f64]) -> Vec<f64> {
        self.places.iter().map(|&place| duals[place]).collect()
    }

    /// Returns the samples that have left the line of their group, given the slopes of the loss
    /// elsewhere.
    pub(crate) fn leavers(&self, slopes: &[f64]) -> Vec<usize> {
        let slope = |i: &usize| self.group(*i).map(|group| self.groups[group].1);
        (0..slopes.len()).filter(|i| slope(i).is_some_and(|slope| slope != slopes[*i])).collect()
    }
}

impl<L: MarginLoss + ?Sized> EmpiricalRisk<'_, L> {
    /// Returns the lines within a radius of margins. Samples can be left alone whatever their line.
    pub(crate) fn lines(&self, margins: &[f64], radius: f64, left_alone: &[bool]) -> Lines {
        let [left, right] = self.slopes_around(margins, radius);
        let mut lines = Lines { groups: Vec::new(), alone: Vec::new(), places: Vec::new() };
        let mut of_group = |i: usize| {
            if left[i] != right[i] || left_alone[i] {
                lines.alone.push(i);
                return None;
            }
            let line = (self.signs.get(i), left[i]);
            Some(lines.groups.iter().position(|known| *known == line).unwrap_or_else(|| {
                lines.groups.push(line);
                lines.groups.len() - 1
            }))
        };
        let members: Vec<Option<usize>> = (0..margins.len()).map(&mut of_group).collect();
        let mut numbers = 0..;
        let behind = lines.alone.len();
        let place =
            |group: Option<usize>| group.map(|group| behind + group).or_else(|| numbers.next());
        lines.places = members.into_iter().filter_map(place).collect();
        lines
    }

    /// Returns the samples that are on no line within a radius of margins.
    pub(crate) fn bent(&self, margins: &[f64], radius: f64) -> Vec<usize> {
        let [left, right] = self.slopes_around(margins, radius);
        (0..margins.len()).filter(|&i| left[i] != right[i]).collect()
    }

    /// Returns the slopes of the loss at the two ends of a radius about margins.
    fn slopes_around(&self, margins: &[f64], radius: f64) -> [Vec<f64>; 2] {
        [-radius, radius].map(|shift| {
            let margins: Vec<f64> = margins.iter().map(|u| u + shift).collect();
            let mut slopes = vec![0.0; margins.len()];
            self.derivatives(0, &margins, &mut slopes);
            slopes
        })
    }
}

/// A problem in which the samples of a [line](Lines) are merged into their mean, which has the sum of
/// their weights.
///
/// At every point where all of them are on their line, within the radius or not, the mean has the
/// weighted sum of their losses. Elsewhere it has less, by Jensen's inequality. A dual of the mean
/// is as good as the same dual of every sample in the group: `v` and the dual objective are the
/// same. So a bound on the minimum of the merged problem bounds that of the whole one.
pub(crate) struct Merged<'a, L: MarginLoss + ?Sized> {
    pub(crate) objective: Objective<'a, L>,
    pub(crate) lines: Lines,
    /// The share that each sample has in its place.
    shares: Vec<f64>,
}

impl<'a, L: MarginLoss + ?Sized> Objective<'a, L> {
    /// Returns the problem in which the samples of lines are merged; `None` if means overflow.
    pub(crate) fn merged(&self, lines: Lines) -> Option<Merged<'a, L>> {
        let (signs, weights) = (self.risk.signs(), self.risk.weights());
        let mut totals = vec![0.0; lines.len()];
        lines.places.iter().zip(weights).for_each(|(&place, c)| totals[place] += c);
        let share = |(i, (&place, c)): (usize, (&usize, &f64))| match lines.group(i) {
            Some(_) if *c > 0.0 => c / totals[place],
            Some(_) => 0.0,
            None => 1.0,
        };
        let shares: Vec<f64> = lines.places.iter().zip(weights).enumerate().map(share).collect();
        let of_alone = lines.alone.iter().map(|&i| signs[i]);
        let all_signs = of_alone.chain(lines.groups.iter().map(|(sign, _)| *sign)).collect();
        let design = self.stacked(&lines, &shares)?;
        let objective =
            Objective::made_of(self.risk.of_samples(all_signs, totals), Cow::Owned(design));
        Some(Merged { objective, lines, shares })
    }

    /// Returns the samples alone, and behind them the weighted means of groups; `None` if these overflow.
    fn stacked(&self, lines: &Lines, shares: &[f64]) -> Option<Design> {
        let means = self.means(lines, shares);
        if self.design.is_sparse() {
            let alone = self.design.select(&lines.alone);
            if lines.groups.is_empty() {
                return Some(alone);
            }
            let stored = |column: &[f64]| -> Vec<(usize, f64)> {
                column.iter().copied().enumerate().filter(|(_, x)| *x != 0.0).collect()
            };
            let rows: Vec<_> = means.column_iter().map(|mean| stored(mean.as_slice())).collect();
            let means = Design::from_sparse_rows(&rows, self.design.columns());
            return Design::stack(&[alone, means.ok()?]).ok();
        }
        // One copy, for the samples may be many.
        let mut samples = DMatrix::zeros(self.design.columns(), lines.len());
        for (&i, mut column) in lines.alone.iter().zip(samples.column_iter_mut()) {
            self.design.sample(i).add_to(1.0, column.as_mut_slice());
        }
        samples.columns_mut(lines.alone.len(), lines.groups.len()).copy_from(&means);
        Design::from_samples(samples).ok()
    }

    fn means(&self, lines: &Lines, shares: &[f64]) -> DMatrix<f64> {
        let mut means = DMatrix::zeros(self.design.columns(), lines.groups.len());
        for (i, &share) in shares.iter().enumerate() {
            if let Some(group) = lines.group(i) {
                self.design.sample(i).add_to(share, means.column_mut(group).as_mut_slice());
            }
        }
        means
    }
}

impl<L: MarginLoss + ?Sized> Merged<'_, L> {
    /// Returns duals of the merged problem for duals of the whole one: means, with which the dual
    /// objective is no smaller.
    pub(crate) fn merge(&self, duals: &[f64]) -> Vec<f64> {
        let mut merged = vec![0.0; self.lines.len()];
        for ((&place, share), s) in self.lines.places.iter().zip(&self.shares).zip(duals) {
            merged[place] += share * s;
        }
        let domain = self.objective.risk.domain();
        merged.iter().map(|s| s.clamp(domain.lower, domain.upper)).collect()
    }
}
