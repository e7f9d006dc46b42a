//! Steps on the samples that are not set aside.

use margins_optim::Lambda;
use pulp::Arch;

use super::columns::Columns;
use super::frame::Frame;
use super::problem::Problem;
use super::sweep::{Bests, Search, Update};
use super::values::Values;
use crate::symmetric::number::{MOST_LANES, Number};

/// The samples that steps move, with all that steps read side by side.
///
/// Invariants: `gradient` belongs to `coef`; `rise[k]` is 0 if coefficient k can rise and minus
/// infinity if not, `fall[k]` is 0 if it can fall and infinity if not. All five vectors of numbers
/// that the vector loops read are padded to whole lanes with samples that can do neither.
pub(super) struct Active<'p, 'a, P> {
    problem: &'p Problem<'a>,
    values: Values<'a>,
    lambda: Lambda,
    frame: Frame,
    members: Vec<usize>,
    coef: Vec<f64>,
    /// The least and greatest value of every coefficient.
    bounds: Vec<(f64, f64)>,
    gradient: Vec<P>,
    diagonal: Vec<P>,
    rise: Vec<P>,
    fall: Vec<P>,
    columns: &'p mut Columns<'a, P>,
    pub(super) entries: f64,
    arch: Arch,
}

impl<'p, 'a, P: Number> Active<'p, 'a, P> {
    /// Returns the samples of positive weight, or all if these are many, with their coefficients and
    /// the gradient there: bounds let no sample of weight zero move.
    pub(super) fn new(
        problem: &'p Problem<'a>,
        values: Values<'a>,
        lambda: Lambda,
        (all_coefs, all_gradients): (&[f64], &[f64]),
        frame: Frame,
        columns: &'p mut Columns<'a, P>,
    ) -> Self {
        let n = problem.len();
        let many = !Columns::<P>::are_worth_copies(problem.samples.len(), n);
        let members = if many { (0..n).collect() } else { problem.samples.clone() };
        let coef = members.iter().map(|&i| all_coefs[i]).collect();
        let gradient = members.iter().map(|&i| frame.number(all_gradients[i])).collect();
        let mut active = Active {
            problem,
            values,
            lambda,
            frame,
            members,
            coef,
            bounds: Vec::new(),
            gradient,
            diagonal: Vec::new(),
            rise: Vec::new(),
            fall: Vec::new(),
            columns,
            entries: 0.0,
            arch: Arch::new(),
        };
        active.complete();
        active
    }

    /// Sets up everything that follows from members, coefficients and gradient.
    fn complete(&mut self) {
        let count = self.members.len();
        let height = count.next_multiple_of(MOST_LANES);
        let bounds = self.members.iter().map(|&i| self.problem.bounds(i, self.lambda));
        self.bounds = bounds.collect();
        let scale = self.frame.scale;
        let diagonal = self.members.iter().map(|&i| P::of(self.values.at(i, i) / scale));
        self.diagonal = diagonal.collect();
        self.diagonal.resize(height, P::of(0.0));
        self.gradient.truncate(count);
        self.gradient.resize(height, P::of(0.0));
        self.rise = vec![P::of(f64::NEG_INFINITY); height];
        self.fall = vec![P::of(f64::INFINITY); height];
        for k in 0..count {
            self.set_directions(k);
        }
        // With few samples the padding of more than the last column would be beyond the matrix.
        if count == self.problem.len() && count >= MOST_LANES {
            self.columns.reset_to_all(height);
        } else {
            self.columns.reset(count, height);
        }
    }

    fn can_rise(&self, k: usize) -> bool {
        self.coef[k] < self.bounds[k].1
    }

    fn can_fall(&self, k: usize) -> bool {
        self.coef[k] > self.bounds[k].0
    }

    fn set_directions(&mut self, k: usize) {
        self.rise[k] = P::of(if self.can_rise(k) { 0.0 } else { f64::NEG_INFINITY });
        self.fall[k] = P::of(if self.can_fall(k) { 0.0 } else { f64::INFINITY });
    }

    /// Sets aside the samples at a bound that the extremes say will stay there, if that leaves few
    /// enough; says whether it did.
    pub(super) fn shrink(&mut self, extremes: Bests, coef: &mut [f64]) -> bool {
        let (low, high) = extremes.values().window(self.problem.intercept);
        let stays = |k: usize| {
            let g = self.gradient[k].double();
            let (full, empty) = (!self.can_rise(k), !self.can_fall(k));
            (full && g > high) || (empty && g < low) || (full && empty)
        };
        let kept: Vec<usize> = (0..self.members.len()).filter(|&k| !stays(k)).collect();
        let (count, n) = (self.members.len(), self.problem.len());
        let fewer = 5 * kept.len() <= 4 * count;
        if !fewer || (count == n && !Columns::<P>::are_worth_copies(kept.len(), n)) {
            return false;
        }
        self.store(coef);
        self.members = kept.iter().map(|&k| self.members[k]).collect();
        self.coef = kept.iter().map(|&k| self.coef[k]).collect();
        self.gradient = kept.iter().map(|&k| self.gradient[k]).collect();
        self.complete();
        true
    }

    /// Writes the active coefficients where they belong.
    pub(super) fn store(&self, coef: &mut [f64]) {
        for (&i, &a) in self.members.iter().zip(&self.coef) {
            coef[i] = a;
        }
    }

    /// Returns the samples whose coefficients can move both ways, with the gradients as steps have
    /// kept them.
    pub(super) fn kept_gradients(&self) -> Vec<(usize, f64)> {
        let free = (0..self.members.len()).filter(|&k| self.can_rise(k) && self.can_fall(k));
        free.map(|k| (self.members[k], self.frame.gradient(self.gradient[k]))).collect()
    }

    pub(super) fn extremes(&mut self) -> Bests {
        let zeros = vec![P::of(0.0); self.gradient.len()];
        self.arch.dispatch(Update {
            steps: [P::of(0.0); 2],
            columns: [&zeros; 2],
            gradient: &mut self.gradient,
            rise: &self.rise,
            fall: &self.fall,
        })
    }

    /// Returns the violation of the conditions of optimality, by the extremes.
    pub(super) fn violation(&self, extremes: Bests) -> f64 {
        self.frame.unit * extremes.violation(self.problem.intercept)
    }

    fn value(&self, i: usize, j: usize) -> f64 {
        self.values.at(self.members[i], self.members[j])
    }

    /// Moves a pair of coefficients and returns the extremes that this leads to, or nothing if
    /// rounding lets no coefficient move.
    ///
    /// The first one is the worst violator. With an intercept it is one that can rise, the second
    /// one falls by as much, and is the one where that gains most. Without, there is nothing to
    /// balance; the second one is that which gains most once the first is where its own gradient
    /// vanishes, and the step is the best one in the box of both (a working set of two as in
    /// Steinwart, Hush and Scovel, *Training SVMs without offset*, JMLR 12, 2011).
    pub(super) fn step(&mut self, extremes: Bests) -> Option<Bests> {
        let i = extremes.first(self.problem.intercept);
        let slot_i = self.columns.load(i, &self.members);
        let j = self.second(i, self.columns.at(slot_i));
        // The column of i, used last, stays.
        let slot_j = self.columns.load(j, &self.members);
        let (move_i, move_j) = if self.problem.intercept {
            let t = self.transfer(i, j, self.columns.at(slot_i));
            (t, -t)
        } else {
            self.pair_step(i, j)
        };
        let before = [self.coef[i], self.coef[j]];
        self.coef[i] = self.moved(i, move_i);
        if i != j {
            self.coef[j] = self.moved(j, move_j);
        }
        if before == [self.coef[i], self.coef[j]] {
            return None;
        }
        let steps = [self.coef[i] - before[0], if i == j { 0.0 } else { self.coef[j] - before[1] }];
        self.set_directions(i);
        self.set_directions(j);
        self.entries += 2.0 * self.members.len() as f64;
        let Frame { unit, scale, .. } = self.frame;
        Some(self.arch.dispatch(Update {
            steps: steps.map(|step| P::of(step * scale / unit)),
            columns: [self.columns.at(slot_i), self.columns.at(slot_j)],
            gradient: &mut self.gradient,
            rise: &self.rise,
            fall: &self.fall,
        }))
    }

    /// Returns the partner of i that promises the largest gain.
    fn second(&self, i: usize, column: &[P]) -> usize {
        let scale = self.frame.scale;
        // Where all values are 0 it is still a number in single precision.
        let least_curvature =
            (self.problem.least_curvature::<P>() / scale).max(f64::from(f32::MIN_POSITIVE));
        self.arch.dispatch(Search {
            intercept: self.problem.intercept,
            gradient: &self.gradient,
            diagonal: &self.diagonal,
            rise: &self.rise,
            fall: &self.fall,
            column,
            slope: self.gradient[i],
            curvature: P::of(self.diagonal[i].double().max(least_curvature)),
            least_curvature: P::of(least_curvature),
        })
    }

    /// Returns `K_ii + K_jj - 2 K_ij`, given `K_ij` of the columns: from K itself where
    /// little is left of the sum.
    fn curvature(&self, i: usize, j: usize, k_ij: P) -> f64 {
        const LITTLE: f64 = 1e-2;
        let sum = self.diagonal[i].double() + self.diagonal[j].double();
        let difference = sum - 2.0 * k_ij.double();
        if difference > LITTLE * sum {
            return self.frame.scale * difference;
        }
        self.value(i, i) + self.value(j, j) - 2.0 * self.value(i, j)
    }

    /// Returns how much coefficient i takes from coefficient j.
    fn transfer(&self, i: usize, j: usize, column: &[P]) -> f64 {
        let curvature = self.curvature(i, j, column[j]);
        let slope = self.frame.slope(self.gradient[i]) - self.frame.slope(self.gradient[j]);
        let step = slope / curvature.max(self.problem.least_curvature::<f64>());
        step.min(self.bounds[i].1 - self.coef[i]).min(self.coef[j] - self.bounds[j].0)
    }

    /// Returns the largest gain in the box of coefficients i and j.
    fn pair_step(&self, i: usize, j: usize) -> (f64, f64) {
        let room = |k: usize| {
            let (lower, upper) = self.bounds[k];
            (lower - self.coef[k], upper - self.coef[k])
        };
        let least = self.problem.least_curvature::<f64>();
        // Without an intercept gradients are measured from 0.
        let [g_i, g_j] = [i, j].map(|k| self.frame.slope(self.gradient[k]));
        let [k_ii, k_jj] = [i, j].map(|k| self.value(k, k).max(least));
        let k_ij = self.value(i, j);
        let ((low_i, high_i), (low_j, high_j)) = (room(i), room(j));
        let best_i = |t_j: f64| (((g_i - k_ij * t_j) / k_ii).max(low_i).min(high_i), t_j);
        let best_j = |t_i: f64| (t_i, ((g_j - k_ij * t_i) / k_jj).max(low_j).min(high_j));
        if i == j {
            return best_i(0.0);
        }
        let schur = k_jj - k_ij * k_ij / k_ii;
        if schur > least {
            let t_j = (g_j - k_ij * g_i / k_ii) / schur;
            let t_i = (g_i - k_ij * t_j) / k_ii;
            if low_i <= t_i && t_i <= high_i && low_j <= t_j && t_j <= high_j {
                return (t_i, t_j);
            }
        }
        let gain = |&(t_i, t_j): &(f64, f64)| {
            g_i * t_i + g_j * t_j - 0.5 * (k_ii * t_i * t_i + k_jj * t_j * t_j) - k_ij * t_i * t_j
        };
        let edges = [best_i(low_j), best_i(high_j), best_j(low_i), best_j(high_i)];
        let better = |one: (f64, f64), other| if gain(&other) > gain(&one) { other } else { one };
        edges.into_iter().fold(best_i(0.0), better)
    }

    /// Returns coefficient k after a step; exactly at the bound if the step was all the room.
    fn moved(&self, k: usize, step: f64) -> f64 {
        let (lower, upper) = self.bounds[k];
        let a = self.coef[k];
        if step >= upper - a {
            upper
        } else if step <= lower - a {
            lower
        } else {
            a + step
        }
    }
}
