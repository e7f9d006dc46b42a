//! Certifies functions of the space of a kernel that were found in any way.

use std::borrow::Cow;

use margins_losses::MarginLoss;
use margins_optim::problem::EmpiricalRisk;
use margins_optim::problem::summation::dot;
use margins_optim::{Certificate, Lambda};
use nalgebra::DMatrix;

use crate::rkhs_norm::SampleNorms;
use crate::{Error, Gram};

/// A function of the space of a kernel, found in any way, with what its certificate needs.
#[derive(Debug)]
pub struct KnownFunction<'r, 'a, L: MarginLoss + ?Sized> {
    /// The risk of its scores.
    pub risk: &'r EmpiricalRisk<'a, L>,
    /// The weight of its squared norm.
    pub lambda: Lambda,
    /// The intercept `b`.
    pub intercept: f64,
    /// The scores `f(x_i)` of the samples, without intercept.
    pub scores: Vec<f64>,
    /// The squared norm `||f||^2` in the space.
    pub square_norm: f64,
    /// Feasible duals, one per sample, such as those that a [report](margins_optim::Report::duals)
    /// keeps; `None` takes the slopes at the margins, balanced where the loss has kinks.
    pub duals: Option<Vec<f64>>,
}

/// Bounds how far functions are from the minimum of `F` over the whole space of a kernel, as those
/// of Nystrom features are, which lie in a part of it.
///
/// With `g_i = c_i y_i L'(u_i)/n` the gradient of F at f is `sum_i g_i k(x_i, .) + 2 lambda f`, and
/// at the optimal intercept the duality gap is its squared norm over `4 lambda`,
///
/// `(g'Kg + 4 lambda g'f(X) + 4 lambda^2 ||f||^2) / (4 lambda)`.
///
/// One product with K serves all functions, and K need [not be held](Gram::matrix_free).
///
/// Where samples lie on a kink of the loss, as they do for the hinge, the slopes there are any between
/// those of the two sides. Duals `s` of the fit say which, `g_i = -c_i y_i s_i/n`, and the gap has the
/// Fenchel-Young sum `(1/n) sum c_i (L(u_i) + L*(-s_i) + s_i u_i)` beside the square. Without such
/// duals the bound is larger than it need be.
///
/// # Errors
/// A loss that is not convex; another number of scores or of duals than of samples; a kernel value that
/// is not finite.
///
/// ```
/// use margins_data::{Design, Labels};
/// use margins_kernels::{Gaussian, Gram, KnownFunction, certify};
/// use margins_losses::Logistic;
/// use margins_optim::{Lambda, problem::EmpiricalRisk};
///
/// let design = Design::from_rows(&[[0.0], [1.0], [2.0]])?;
/// let labels = Labels::from_signs(vec![-1.0, 1.0, 1.0])?;
/// let gram = Gram::new(&Gaussian::new(1.0)?, &design)?;
/// let risk = EmpiricalRisk::new(&Logistic, &labels)?;
/// let lambda = Lambda::new(0.1)?;
/// let (scores, duals) = (vec![0.0; 3], None);
/// let zero = KnownFunction { risk: &risk, lambda, intercept: 0.0, scores, square_norm: 0.0, duals };
/// let certificate = certify(&gram, &[zero])?[0];
/// assert!(certificate.duality_gap > 0.1 && certificate.objective <= 2f64.ln());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn certify<L: MarginLoss + ?Sized>(
    gram: &Gram,
    functions: &[KnownFunction<'_, '_, L>],
) -> Result<Vec<Certificate>, Error> {
    let n = gram.len();
    let mut gradients = DMatrix::zeros(n, functions.len());
    let mut all_duals = Vec::with_capacity(functions.len());
    for (function, mut column) in functions.iter().zip(gradients.column_iter_mut()) {
        function.risk.check_convex()?;
        check_size("scores, one per sample", n, function.scores.len())?;
        if let Some(duals) = &function.duals {
            check_size("duals, one per sample", n, duals.len())?;
        }
        let duals = function.duals();
        column.copy_from_slice(&function.gradient(duals.as_deref()));
        all_duals.push(duals);
    }
    let images = gram.multiply(&gradients);
    gram.check()?;
    let norms = SampleNorms::new(gram.entries().diagonal());
    let columns = gradients.column_iter().zip(images.column_iter());
    let each = functions.iter().zip(all_duals).zip(columns);
    Ok(each
        .map(|((f, duals), (g, image))| {
            f.certificate(&norms, duals.as_deref(), g.as_slice(), image.as_slice())
        })
        .collect())
}

fn check_size(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if found == expected { Ok(()) } else { Err(Error::Shape { what, expected, found }) }
}

impl<L: MarginLoss + ?Sized> KnownFunction<'_, '_, L> {
    /// Returns the duals that certify the function; `None` for the slopes at its margins.
    fn duals(&self) -> Option<Cow<'_, [f64]>> {
        match &self.duals {
            Some(duals) => Some(Cow::Borrowed(duals)),
            None if self.risk.loss().is_differentiable() => None,
            None => {
                let mut margins = self.risk.margins();
                let intercept = margins.settle(&self.scores, self.intercept);
                Some(Cow::Owned(margins.settled_duals(&self.scores, intercept)))
            }
        }
    }

    /// Returns the derivatives `g` of the risk in the scores by these duals, or by the slopes at the
    /// margins.
    fn gradient(&self, duals: Option<&[f64]>) -> Vec<f64> {
        if let Some(duals) = duals {
            return self.risk.pulls(duals).iter().map(|pull| -pull).collect();
        }
        let mut margins = self.risk.margins();
        margins.settle(&self.scores, self.intercept);
        let mut gradient = vec![0.0; self.scores.len()];
        margins.gradient(&mut gradient);
        gradient
    }

    /// Returns the certificate of the function with its best intercept, given the duals if there are
    /// any, its gradient `g` and `Kg`.
    fn certificate(
        &self,
        norms: &SampleNorms,
        duals: Option<&[f64]>,
        gradient: &[f64],
        image: &[f64],
    ) -> Certificate {
        /// The units of rounding of a score, in sizes of the norms that it is a product of.
        const UNITS: f64 = 4.0;
        let (ridge, n) = (2.0 * self.lambda.get(), self.scores.len() as f64);
        let square = dot(gradient, image);
        let cross = 2.0 * ridge * dot(gradient, &self.scores);
        let own = ridge * ridge * self.square_norm;
        // These terms may cancel, each of them right to the rounding of its products.
        let sizes = norms.largest_square(gradient).unwrap_or(f64::INFINITY) + cross.abs() + own;
        let norm = ((square + cross + own).max(0.0) + f64::EPSILON * sizes).sqrt();
        let penalty = self.lambda.get() * self.square_norm;
        let mut margins = self.risk.margins();
        margins.settle(&self.scores, self.intercept);
        let error = UNITS * n.sqrt() * f64::EPSILON * self.square_norm.sqrt();
        let rounding = margins.change_within(|i| error * norms.norm(i)) + f64::EPSILON * penalty;
        let objective = margins.risk() + penalty;
        match duals {
            Some(duals) => {
                margins.certificate_by_duals(self.lambda, objective, rounding, norm, duals)
            }
            None => margins.certificate(self.lambda, objective, rounding, norm, norms.largest()),
        }
    }
}
