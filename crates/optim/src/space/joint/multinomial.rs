//! The multinomial logistic loss.

use margins_data::parallel;
use nalgebra::DMatrix;

use crate::problem::summation::{SUM_ERROR, UNIT, sum};
use crate::problem::{BlockMove, FenchelYoung, Mobility, ROWS, Rivals, Sums, Weights, weighted};
use crate::space::Decline;
use crate::space::joint::JointRisk;
use crate::space::joint::simplex::Simplex;

/// The mean of `log(sum_c exp(s_c)) - s_y`, minus the logarithm of the probability `q_y` of the class,
/// where `q_c` is proportional to `exp(s_c)`.
///
/// The duals of a sample are probabilities `p` of the k classes, and the conjugate is minus their
/// entropy: the Fenchel-Young sum of a sample is the relative entropy `sum_c p_c log(p_c/q_c)`. Its
/// second derivatives have the edge `q_a q_b` between the classes a and b.
pub(crate) struct Multinomial<'r> {
    simplex: Simplex<'r>,
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
        let (simplex, margins) = (Simplex { weights, rivals }, vec![0.0; rivals.pairs()]);
        Multinomial { simplex, margins, logs: zeros(), probabilities: zeros() }
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
        let (rivals, k) = (self.simplex.rivals, self.simplex.rivals.count());
        parallel::for_each_chunk(&mut self.logs, ROWS * k, |part, logs| {
            let margins = margins[part * ROWS * (k - 1)..].chunks_exact(k - 1);
            for (i, (logs, margins)) in (part * ROWS..).zip(logs.chunks_exact_mut(k).zip(margins)) {
                let (class, loss) = (rivals.class(i), loss(margins));
                logs[class] = -loss;
                rivals.of(class).zip(margins).for_each(|(c, u)| logs[c] = -u - loss);
            }
        });
        let logs = &self.logs;
        parallel::for_each_chunk(&mut self.probabilities, ROWS * k, |part, probabilities| {
            let logs = &logs[part * ROWS * k..];
            probabilities.iter_mut().zip(logs).for_each(|(q, log)| *q = log.exp());
        });
    }

    fn margins(&self) -> &[f64] {
        &self.margins
    }

    fn risk_at(&mut self, margins: &[f64]) -> f64 {
        let each = self.simplex.rivals.count() - 1;
        let of_sample = |i: usize| loss(&margins[i * each..(i + 1) * each]);
        let [risk] = sum(self.simplex.rivals.samples(), &|i| {
            [weighted(self.simplex.weights.get(i), of_sample(i))]
        });
        risk
    }

    fn sums(&mut self) -> Sums {
        let (k, each) = (self.simplex.rivals.count(), self.simplex.rivals.count() - 1);
        let [risk, slopes, arguments, curvature] = sum(self.simplex.rivals.samples(), &|i| {
            let (q, class) =
                (&self.probabilities[i * k..(i + 1) * k], self.simplex.rivals.class(i));
            let (mut slope, mut argument) = (0.0, 0.0);
            for (c, u) in self.simplex.rivals.of(class).zip(&self.margins[i * each..(i + 1) * each])
            {
                slope += q[c];
                argument += q[c] * (1.0 + u.abs());
            }
            let curvature = slope * q[class];
            let loss = -self.logs[i * k + class];
            [loss, slope, argument, curvature]
                .map(|term| weighted(self.simplex.weights.get(i), term))
        });
        let largest = self.margins.iter().fold(0.0f64, |size, u| size.max(u.abs()));
        Sums { risk, size: risk, residual: 0.0, slopes, arguments, curvature, largest }
    }

    fn gradient(&self, out: &mut [f64]) {
        self.simplex.write_pulls(&self.probabilities, 1.0, out);
    }

    fn curvatures(&self) -> Vec<f64> {
        self.probabilities.clone()
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
        self.probabilities.clone()
    }

    fn predict(&self, duals: &mut [f64], _curvatures: &[f64], changes: &[f64]) {
        self.simplex.tilt(duals, changes);
    }

    fn pulls(&self, duals: &[f64], out: &mut [f64]) {
        self.simplex.write_pulls(duals, -1.0, out);
    }

    fn pulls_of(&self, i: usize, duals: &[f64], out: &mut [f64]) {
        self.simplex.write_pulls_of(i, duals, out);
    }

    fn mobilities(&self, duals: &[f64], _by: Mobility) -> Vec<f64> {
        duals.to_vec()
    }

    fn move_duals(&self, duals: &mut [f64], _by: &BlockMove, changes: &[f64]) {
        self.simplex.tilt(duals, changes);
    }

    fn total_dual(&self, duals: &[f64]) -> f64 {
        self.simplex.total_dual(duals)
    }

    fn fenchel_young(&self, duals: &[f64]) -> FenchelYoung {
        /// The units of roundoff of a probability, its logarithm and their product.
        const TERM_ERROR: f64 = 8.0;
        let k = self.simplex.rivals.count();
        let [sum, size] = sum(self.simplex.rivals.samples(), &|i| {
            let (mut sum, mut size) = (0.0, 0.0);
            let row = i * k..(i + 1) * k;
            let rows = self.probabilities[row.clone()].iter().zip(&self.logs[row.clone()]);
            for (&p, (&q, &log)) in duals[row].iter().zip(rows) {
                // The differences of probabilities add up to 0, and make each term at least 0.
                let term = if p > 0.0 { p * (p.ln() - log) - (p - q) } else { q };
                sum += term.max(0.0);
                size += if p > 0.0 { p * (1.0 + p.ln().abs() + log.abs()) + q } else { q };
            }
            [sum, size].map(|term| weighted(self.simplex.weights.get(i), term))
        });
        let rounding = (SUM_ERROR + TERM_ERROR) * UNIT * size;
        FenchelYoung { sum, rounding, contradicted: false }
    }
}
