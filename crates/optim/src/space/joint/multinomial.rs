//! The multinomial logistic loss.

use nalgebra::DMatrix;

use crate::problem::summation::{SUM_ERROR, UNIT, sum};
use crate::problem::{
    BlockMove, FenchelYoung, Mobility, Rivals, Sums, Weights, laplacian, weighted,
};
use crate::space::Decline;
use crate::space::joint::JointRisk;

/// The mean of `log(sum_c exp(s_c)) - s_y`, minus the logarithm of the probability `q_y` of the class,
/// where `q_c` is proportional to `exp(s_c)`.
///
/// The duals of a sample are probabilities `p` of the k classes, and the conjugate is minus their
/// entropy: the Fenchel-Young sum of a sample is the relative entropy `sum_c p_c log(p_c/q_c)`. Its
/// second derivatives have the edge `q_a q_b` between the classes a and b.
pub(crate) struct Multinomial<'r> {
    weights: &'r Weights,
    rivals: &'r Rivals<'r>,
    margins: Vec<f64>,
    /// The logarithms of the probabilities `q`.
    logs: Vec<f64>,
    /// The probabilities `q`.
    probabilities: Vec<f64>,
}

impl<'r> Multinomial<'r> {
    /// Returns the risk of samples with these weights over n.
    pub(crate) fn new(weights: &'r Weights, rivals: &'r Rivals<'r>) -> Self {
        let zeros = || vec![0.0; rivals.samples() * rivals.count()];
        let margins = vec![0.0; rivals.pairs()];
        Multinomial { weights, rivals, margins, logs: zeros(), probabilities: zeros() }
    }

    /// Calls a function with the number of every sample, its class and its probabilities.
    fn for_each(&self, probabilities: &[f64], mut visit: impl FnMut(usize, usize, &[f64])) {
        let of_samples = probabilities.chunks_exact(self.rivals.count());
        let samples = self.rivals.classes().zip(of_samples).enumerate();
        samples.for_each(|(i, (class, p))| visit(i, class, p));
    }

    /// Makes probabilities those proportional to themselves times the exponentials of some numbers.
    fn tilt(&self, probabilities: &mut [f64], by: impl Fn(usize, usize) -> f64) {
        let k = self.rivals.count();
        for (i, p) in probabilities.chunks_exact_mut(k).enumerate() {
            let counted = (0..k).filter(|&c| p[c] > 0.0);
            let largest = counted.map(|c| by(i, c)).fold(f64::NEG_INFINITY, f64::max);
            p.iter_mut().enumerate().for_each(|(c, p)| {
                *p *= if *p > 0.0 { (by(i, c) - largest).exp() } else { 0.0 };
            });
            let total: f64 = p.iter().sum();
            p.iter_mut().for_each(|p| *p /= total);
        }
    }

    /// Writes the derivatives in the scores, `c_i (q_c - 1)` for the class of a sample and `c_i q_c` for
    /// others, times a sign.
    fn write_pulls(&self, probabilities: &[f64], sign: f64, out: &mut [f64]) {
        let k = self.rivals.count();
        self.for_each(probabilities, |i, class, p| {
            let out = &mut out[i * k..(i + 1) * k];
            let mut others = 0.0;
            for c in self.rivals.of(class) {
                others += p[c];
                out[c] = sign * weighted(self.weights.get(i), p[c]);
            }
            out[class] = -sign * weighted(self.weights.get(i), others);
        });
    }
}

/// Returns `log(1 + sum_c exp(-u_c))`.
fn loss(margins: &[f64]) -> f64 {
    let least = margins.iter().fold(f64::INFINITY, |least, u| least.min(*u));
    if least >= 0.0 {
        return margins.iter().map(|u| (-u).exp()).sum::<f64>().ln_1p();
    }
    let sum: f64 = margins.iter().map(|u| (least - u).exp()).sum();
    -least + (least.exp() + sum).ln()
}

impl JointRisk for Multinomial<'_> {
    fn decline(&self) -> Decline {
        Decline::Bounded
    }

    fn set(&mut self, margins: &[f64]) {
        self.margins.copy_from_slice(margins);
        let k = self.rivals.count();
        let logs = self.logs.chunks_exact_mut(k).zip(margins.chunks_exact(k - 1));
        for (class, (logs, margins)) in self.rivals.classes().zip(logs) {
            let loss = loss(margins);
            logs[class] = -loss;
            self.rivals.of(class).zip(margins).for_each(|(c, u)| logs[c] = -u - loss);
        }
        self.probabilities.iter_mut().zip(&self.logs).for_each(|(q, log)| *q = log.exp());
    }

    fn margins(&self) -> &[f64] {
        &self.margins
    }

    fn risk_at(&mut self, margins: &[f64]) -> f64 {
        let each = self.rivals.count() - 1;
        let of_sample = |i: usize| loss(&margins[i * each..(i + 1) * each]);
        let [risk] = sum(self.rivals.samples(), &|i| [weighted(self.weights.get(i), of_sample(i))]);
        risk
    }

    fn sums(&mut self) -> Sums {
        let (k, each) = (self.rivals.count(), self.rivals.count() - 1);
        let [risk, slopes, arguments, curvature] = sum(self.rivals.samples(), &|i| {
            let (q, class) = (&self.probabilities[i * k..(i + 1) * k], self.rivals.class(i));
            let (mut slope, mut argument) = (0.0, 0.0);
            for (c, u) in self.rivals.of(class).zip(&self.margins[i * each..(i + 1) * each]) {
                slope += q[c];
                argument += q[c] * (1.0 + u.abs());
            }
            let curvature = slope * q[class];
            let loss = -self.logs[i * k + class];
            [loss, slope, argument, curvature].map(|term| weighted(self.weights.get(i), term))
        });
        let largest = self.margins.iter().fold(0.0f64, |size, u| size.max(u.abs()));
        Sums { risk, size: risk, residual: 0.0, slopes, arguments, curvature, largest }
    }

    fn gradient(&self, out: &mut [f64]) {
        self.write_pulls(&self.probabilities, 1.0, out);
    }

    fn curvatures(&self) -> Vec<f64> {
        self.probabilities.clone()
    }

    fn bend(&self, curvatures: &[f64], changes: &mut [f64]) {
        let k = self.rivals.count();
        self.for_each(curvatures, |i, _, q| {
            let changes = &mut changes[i * k..(i + 1) * k];
            let mean: f64 = q.iter().zip(&*changes).map(|(q, d)| q * d).sum();
            let c = self.weights.get(i);
            changes.iter_mut().zip(q).for_each(|(d, q)| *d = weighted(c, q * (*d - mean)));
        });
    }

    fn edge(&self, curvatures: &[f64], a: usize, b: usize, out: &mut [f64]) {
        self.for_each(curvatures, |i, _, q| out[i] = weighted(self.weights.get(i), q[a] * q[b]));
    }

    fn diagonal(&self, curvatures: &[f64], out: &mut [f64]) {
        let k = self.rivals.count();
        self.for_each(curvatures, |i, _, q| {
            let out = &mut out[i * k..(i + 1) * k];
            let c = self.weights.get(i);
            out.iter_mut().zip(q).for_each(|(d, q)| *d = weighted(c, q * (1.0 - q)));
        });
    }

    fn laplacian(&self, curvatures: &[f64]) -> DMatrix<f64> {
        laplacian(self.rivals.count(), |add| {
            self.for_each(curvatures, |i, _, q| {
                let c = self.weights.get(i);
                for a in 0..q.len() {
                    (0..a).for_each(|b| add(a, b, weighted(c, q[a] * q[b])));
                }
            });
        })
    }

    fn duals(&self) -> Vec<f64> {
        self.probabilities.clone()
    }

    fn predict(&self, duals: &mut [f64], _curvatures: &[f64], changes: &[f64]) {
        let k = self.rivals.count();
        self.tilt(duals, |i, c| changes[i * k + c]);
    }

    fn pulls(&self, duals: &[f64], out: &mut [f64]) {
        self.write_pulls(duals, -1.0, out);
    }

    fn mobilities(&self, duals: &[f64], _by: Mobility) -> Vec<f64> {
        duals.to_vec()
    }

    fn move_duals(&self, duals: &mut [f64], by: &BlockMove) {
        let (BlockMove::PullIn(delta) | BlockMove::Shift(delta)) = by;
        self.tilt(duals, |_, c| delta.get(c).copied().unwrap_or(0.0));
    }

    fn total_dual(&self, duals: &[f64]) -> f64 {
        let k = self.rivals.count();
        let [total] = sum(self.rivals.samples(), &|i| {
            let others = self.rivals.of(self.rivals.class(i)).map(|c| duals[i * k + c]);
            [weighted(self.weights.get(i), others.sum())]
        });
        total
    }

    fn fenchel_young(&self, duals: &[f64]) -> FenchelYoung {
        /// The units of roundoff of a probability, its logarithm and their product.
        const TERM_ERROR: f64 = 8.0;
        let k = self.rivals.count();
        let [sum, size] = sum(self.rivals.samples(), &|i| {
            let (mut sum, mut size) = (0.0, 0.0);
            let row = i * k..(i + 1) * k;
            let rows = self.probabilities[row.clone()].iter().zip(&self.logs[row.clone()]);
            for (&p, (&q, &log)) in duals[row].iter().zip(rows) {
                // The differences of probabilities add up to 0, and make each term at least 0.
                let term = if p > 0.0 { p * (p.ln() - log) - (p - q) } else { q };
                sum += term.max(0.0);
                size += if p > 0.0 { p * (1.0 + p.ln().abs() + log.abs()) + q } else { q };
            }
            [sum, size].map(|term| weighted(self.weights.get(i), term))
        });
        let rounding = (SUM_ERROR + TERM_ERROR) * UNIT * size;
        FenchelYoung { sum, rounding, contradicted: false }
    }
}
