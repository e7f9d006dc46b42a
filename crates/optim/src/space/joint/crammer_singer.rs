//! The largest hinge of a sample against its rivals.

use nalgebra::DMatrix;

use crate::problem::summation::{SUM_ERROR, UNIT, sum};
use crate::problem::{BlockMove, FenchelYoung, Mobility, Rivals, Sums, Weights, weighted};
use crate::space::Decline;
use crate::space::joint::JointRisk;
use crate::space::joint::simplex::{Simplex, project};

/// The mean of `max_(c != y_i) (1 - (s_y - s_c))_+`.
///
/// With `z_y = 0` and `z_c = 1 - u_c` for the rivals the loss of a sample is `max_p <p, z>` over
/// probabilities `p` of the k classes, which are the duals; the conjugate is `p_y - 1`, and the
/// Fenchel-Young sum of a sample `sum_c p_c (max z - z_c)`. Smoothed about `a` the loss is
/// `max_p <p, z> - (sigma/2) ||p - a||^2`, whose maximiser is the projection of `a + z/sigma`. Its second
/// derivatives have the edge `1/(sigma m)` between any two of the m classes with `p_c > 0`.
///
/// Source: Crammer and Singer, *On the algorithmic implementation of multiclass kernel-based vector
/// machines*, JMLR 2 (2001).
pub(crate) struct CrammerSinger<'r> {
    simplex: Simplex<'r>,
    margins: Vec<f64>,
    /// The duals at the margins.
    duals: Vec<f64>,
    /// The strength sigma of the smoothing, 0 without one.
    strength: f64,
    /// The duals about which the loss is smoothed; by default those without a rival.
    centres: Option<Vec<f64>>,
}

impl<'r> CrammerSinger<'r> {
    /// Returns the risk of samples with these weights over n.
    pub(crate) fn new(weights: &'r Weights, rivals: &'r Rivals<'r>) -> Self {
        let duals = vec![0.0; rivals.samples() * rivals.count()];
        let (simplex, margins) = (Simplex { weights, rivals }, vec![0.0; rivals.pairs()]);
        CrammerSinger { simplex, margins, duals, strength: 0.0, centres: None }
    }

    /// Returns the numbers `z` of a sample with these margins, one a class.
    fn gains(&self, i: usize, margins: &[f64]) -> Vec<f64> {
        let rivals = self.simplex.rivals;
        let (class, mut gains) = (rivals.class(i), vec![0.0; rivals.count()]);
        rivals.of(class).zip(margins).for_each(|(c, u)| gains[c] = 1.0 - u);
        gains
    }

    /// Returns the number of a class in the dual about which the loss of a sample is smoothed.
    fn centre_of(&self, i: usize, c: usize) -> f64 {
        match &self.centres {
            Some(centres) => centres[i * self.simplex.rivals.count() + c],
            None => f64::from(u8::from(c == self.simplex.rivals.class(i))),
        }
    }

    /// Writes the dual of a sample with these gains: the vertex of the largest one, the middle of several,
    /// or the maximiser of the smoothed loss.
    fn write_dual(&self, i: usize, gains: &[f64], out: &mut [f64]) {
        if self.strength > 0.0 {
            for (c, (p, z)) in out.iter_mut().zip(gains).enumerate() {
                *p = self.centre_of(i, c) + z / self.strength;
            }
            return project(out);
        }
        let largest = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let count = gains.iter().filter(|z| **z == largest).count() as f64;
        let p = |z: &f64| if *z == largest { 1.0 / count } else { 0.0 };
        out.iter_mut().zip(gains).for_each(|(out, z)| *out = p(z));
    }

    /// Returns the loss of a sample by its gains and its dual, and the sum of the sizes of its terms.
    fn loss(&self, i: usize, gains: &[f64], dual: &[f64]) -> [f64; 2] {
        let (mut loss, mut size) = (0.0, 0.0);
        for (c, (p, z)) in dual.iter().zip(gains).enumerate() {
            let away = p - self.centre_of(i, c);
            let smoothing = 0.5 * self.strength * away * away;
            loss += p * z - smoothing;
            size += p * z.abs() + smoothing;
        }
        [loss, size]
    }

    /// Calls a function with every sample, its gains and room for its dual.
    fn for_each(&self, margins: &[f64], mut visit: impl FnMut(usize, &[f64], &mut [f64])) {
        let k = self.simplex.rivals.count();
        let mut dual = vec![0.0; k];
        for (i, margins) in margins.chunks_exact(k - 1).enumerate() {
            let gains = self.gains(i, margins);
            self.write_dual(i, &gains, &mut dual);
            visit(i, &gains, &mut dual);
        }
    }

    /// Returns the duals at margins.
    fn duals_at(&self, margins: &[f64]) -> Vec<f64> {
        let mut duals = Vec::with_capacity(self.duals.len());
        self.for_each(margins, |_, _, dual| duals.extend_from_slice(dual));
        duals
    }

    /// Returns the numbers of the edges between the classes with a positive dual, which add up to `scale/m`
    /// each.
    fn edges(&self, duals: &[f64], scale: f64) -> Vec<f64> {
        let k = self.simplex.rivals.count();
        let mut edges = vec![0.0; duals.len()];
        for (dual, edges) in duals.chunks_exact(k).zip(edges.chunks_exact_mut(k)) {
            let count = dual.iter().filter(|p| **p > 0.0).count() as f64;
            let q = (scale / count).sqrt();
            dual.iter().zip(edges).filter(|(p, _)| **p > 0.0).for_each(|(_, edge)| *edge = q);
        }
        edges
    }
}

impl JointRisk for CrammerSinger<'_> {
    fn decline(&self) -> Decline {
        Decline::Ends
    }

    fn set(&mut self, margins: &[f64]) {
        self.margins.copy_from_slice(margins);
        self.duals = self.duals_at(margins);
    }

    fn margins(&self) -> &[f64] {
        &self.margins
    }

    fn risk_at(&mut self, margins: &[f64]) -> f64 {
        let mut losses = Vec::with_capacity(self.simplex.rivals.samples());
        self.for_each(margins, |i, gains, dual| losses.push(self.loss(i, gains, dual)[0]));
        let [risk] = sum(losses.len(), &|i| [weighted(self.simplex.weights.get(i), losses[i])]);
        risk
    }

    fn sums(&mut self) -> Sums {
        let (rivals, k) = (self.simplex.rivals, self.simplex.rivals.count());
        let [risk, size, slopes, arguments, curvature] = sum(rivals.samples(), &|i| {
            let margins = &self.margins[i * (k - 1)..(i + 1) * (k - 1)];
            let (dual, class) = (&self.duals[i * k..(i + 1) * k], rivals.class(i));
            let [loss, size] = self.loss(i, &self.gains(i, margins), dual);
            let (mut slope, mut argument) = (0.0, 0.0);
            for (c, u) in rivals.of(class).zip(margins) {
                slope += dual[c];
                argument += dual[c] * (1.0 + u.abs());
            }
            let count = dual.iter().filter(|p| **p > 0.0).count() as f64;
            let bends = self.strength > 0.0 && dual[class] > 0.0;
            let curvature = if bends { (1.0 - 1.0 / count) / self.strength } else { 0.0 };
            let terms = [loss, size, slope, argument, curvature];
            terms.map(|term| weighted(self.simplex.weights.get(i), term))
        });
        let largest = self.margins.iter().fold(0.0f64, |size, u| size.max(u.abs()));
        Sums { risk, size, residual: 0.0, slopes, arguments, curvature, largest }
    }

    fn gradient(&self, out: &mut [f64]) {
        self.simplex.write_pulls(&self.duals, 1.0, out);
    }

    fn curvatures(&self) -> Vec<f64> {
        match self.strength {
            0.0 => vec![0.0; self.duals.len()],
            strength => self.edges(&self.duals, 1.0 / strength),
        }
    }

    fn bend(&self, curvatures: &[f64], changes: &mut [f64]) {
        self.simplex.bend(curvatures, changes);
    }

    fn edge(&self, curvatures: &[f64], a: usize, b: usize, out: &mut [f64]) {
        self.simplex.edge(curvatures, a, b, out);
    }

    fn diagonal(&self, curvatures: &[f64], out: &mut [f64]) {
        self.simplex.diagonal(curvatures, out);
    }

    fn laplacian(&self, curvatures: &[f64], of_samples: &[f64]) -> DMatrix<f64> {
        self.simplex.laplacian(curvatures, of_samples)
    }

    fn width(&self) -> usize {
        self.simplex.rivals.count()
    }

    fn duals(&self) -> Vec<f64> {
        self.duals.clone()
    }

    fn predict(&self, duals: &mut [f64], curvatures: &[f64], changes: &[f64]) {
        let k = self.simplex.rivals.count();
        let of_samples = curvatures.chunks_exact(k).zip(changes.chunks_exact(k));
        for (dual, (q, changes)) in duals.chunks_exact_mut(k).zip(of_samples) {
            let mut changes = changes.to_vec();
            Simplex::bend_one(q, &mut changes);
            dual.iter_mut().zip(&changes).for_each(|(p, d)| *p += d);
            project(dual);
        }
    }

    fn pulls(&self, duals: &[f64], out: &mut [f64]) {
        self.simplex.write_pulls(duals, -1.0, out);
    }

    fn pulls_of(&self, i: usize, duals: &[f64], out: &mut [f64]) {
        self.simplex.write_pulls_of(i, duals, out);
    }

    /// With the gains z the dual over p' is `<p', z> - (curvature/2) ||p' - p||^2`, whose maximiser is a
    /// projection.
    fn ascend(&self, i: usize, margins: &[f64], curvature: f64, duals: &mut [f64]) {
        let gains = self.gains(i, margins);
        if curvature <= 0.0 {
            return self.write_dual(i, &gains, duals);
        }
        duals.iter_mut().zip(&gains).for_each(|(p, z)| *p += z / curvature);
        project(duals);
    }

    fn mobilities(&self, duals: &[f64], by: Mobility) -> Vec<f64> {
        match by {
            Mobility::Room => duals.to_vec(),
            Mobility::All => self.edges(&vec![1.0; duals.len()], 1.0),
            Mobility::Inside => self.edges(duals, 1.0),
        }
    }

    /// A pull multiplies probabilities, so that those that are 0 stay so; a shift adds to them, and takes them
    /// back into the simplex.
    fn move_duals(&self, duals: &mut [f64], by: &BlockMove, changes: &[f64]) {
        let k = self.simplex.rivals.count();
        match by {
            BlockMove::PullIn(_) => self.simplex.tilt(duals, changes),
            BlockMove::Shift(_) => {
                for (dual, changes) in duals.chunks_exact_mut(k).zip(changes.chunks_exact(k)) {
                    dual.iter_mut().zip(changes).for_each(|(p, d)| *p += d);
                    project(dual);
                }
            }
        }
    }

    fn total_dual(&self, duals: &[f64]) -> f64 {
        self.simplex.total_dual(duals)
    }

    /// With the gradient `g = z - sigma (q - a)` of the maximum at its maximiser q, the sum of a sample is
    /// `sum_c p_c (max g - g_c) + (sigma/2) ||p - q||^2`.
    fn fenchel_young(&self, duals: &[f64]) -> FenchelYoung {
        /// The units of roundoff of a gain, its difference to the largest and their product.
        const TERM_ERROR: f64 = 8.0;
        let k = self.simplex.rivals.count();
        let [sum, size] = sum(self.simplex.rivals.samples(), &|i| {
            let mut gains = self.gains(i, &self.margins[i * (k - 1)..(i + 1) * (k - 1)]);
            let row = i * k..(i + 1) * k;
            let (p, q) = (&duals[row.clone()], &self.duals[row]);
            let mut size = 0.0;
            for (c, z) in gains.iter_mut().enumerate() {
                let bend = self.strength * (q[c] - self.centre_of(i, c));
                size += p[c] * (1.0 + z.abs() + bend.abs());
                *z -= bend;
            }
            let largest = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut sum = 0.0;
            for (c, g) in gains.iter().enumerate() {
                let away = p[c] - q[c];
                sum += p[c] * (largest - g) + 0.5 * self.strength * away * away;
            }
            [sum, size + largest.abs()].map(|term| weighted(self.simplex.weights.get(i), term))
        });
        let rounding = (SUM_ERROR + TERM_ERROR) * UNIT * size;
        FenchelYoung { sum, rounding, contradicted: false }
    }

    fn is_smoothed(&self) -> bool {
        true
    }

    fn smooth(&mut self, strength: f64) {
        self.strength = strength;
        self.duals = self.duals_at(&self.margins);
    }

    fn centre(&mut self, margins: Option<&[f64]>) {
        self.centres = margins.map(|margins| self.duals_at(margins));
    }
}
