//! Paths of several classes in one problem.

use margins_data::Design;
use margins_losses::MarginLoss;

use crate::Error;
use crate::method::{Fit, Observer, Options, Report, SpaceKind};
use crate::path::over::path_over;
use crate::problem::summation::dot;
use crate::problem::{EmpiricalRisk, JointForm, JointObjective, Lambda};
use crate::space::Extent;
use crate::space::joint::{JointSamples, Multinomial, Pairwise};

/// The minimiser of a [`JointObjective`] at one lambda, with one certificate.
#[derive(Debug, Clone, PartialEq)]
pub struct JointFit {
    /// The regularisation.
    pub lambda: Lambda,
    /// The classes that took part, ascending: those that have a sample of positive weight.
    pub classes: Vec<usize>,
    /// The intercepts `b_c` of these classes, which add up to 0.
    pub intercepts: Vec<f64>,
    /// The coefficients `w_c` of these classes.
    pub coefs: Vec<Vec<f64>>,
    /// The certificate of all classes together.
    pub report: Report,
}

impl JointFit {
    /// Returns the fit of all k coefficients and intercepts behind each other, for features before
    /// numbers were subtracted from them.
    fn of(fit: Fit, classes: &[usize], features: usize, offsets: Option<&[f64]>) -> Self {
        let Fit { lambda, coef, report, .. } = fit;
        let k = classes.len();
        let (coef, of_intercepts) = coef.split_at(k * features);
        let of_class = |class: usize| coef[class * features..(class + 1) * features].to_vec();
        let coefs: Vec<Vec<f64>> = (0..k).map(of_class).collect();
        let intercept = |class: usize| {
            let b = of_intercepts.get(class).copied().unwrap_or(0.0);
            offsets.map_or(b, |offsets| b - dot(offsets, &coefs[class]))
        };
        let mut intercepts: Vec<f64> = (0..k).map(intercept).collect();
        let mean = intercepts.iter().sum::<f64>() / k as f64;
        intercepts.iter_mut().for_each(|b| *b -= mean);
        JointFit { lambda, classes: classes.to_vec(), intercepts, coefs, report }
    }

    /// Returns the scores of samples: a row a class that took part, each with a number a sample.
    pub fn scores(&self, design: &Design) -> Vec<Vec<f64>> {
        let of_class = |(coef, b): (&Vec<f64>, &f64)| {
            let mut scores = vec![0.0; design.rows()];
            design.multiply(coef, &mut scores);
            scores.iter_mut().for_each(|s| *s += b);
            scores
        };
        self.coefs.iter().zip(&self.intercepts).map(of_class).collect()
    }
}

/// Returns the minimisers of a [`JointObjective`] at every lambda, each once and largest first, by
/// Newton's method; `observer` sees every fit as it is made.
///
/// # Errors
/// [`Error::SolverSpace`]: a solver other than [`Auto`](crate::Solver::Auto) and
/// [`Newton`](crate::Solver::Newton). [`Error::Unsuitable`]: the loss is not convex.
/// [`Error::Tolerance`]: the tolerance is not positive. [`Error::NoLambdas`]: there are no lambdas.
/// [`Error::Lambda`]: a lambda is 0.
pub fn joint_path<L: MarginLoss + ?Sized>(
    objective: &JointObjective<'_, L>,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<JointFit>, Error> {
    options.check()?;
    options.solver.check_space(SpaceKind::Joint)?;
    if lambdas.contains(&Lambda::NONE) {
        return Err(Error::Lambda(0.0));
    }
    let extent = Extent::of(&objective.design);
    let offsets = extent.offsets().filter(|_| objective.has_intercepts);
    let fits = match &offsets {
        None => solve(objective, &extent, lambdas, options, observer)?,
        Some(offsets) => {
            let mut design = Design::clone(&objective.design);
            design.shift_columns(offsets);
            let extent = Extent::of_shifted(&design, offsets);
            solve(&objective.over(design), &extent, lambdas, options, observer)?
        }
    };
    let (classes, features) = (objective.present(), objective.design.columns());
    let of = |fit| JointFit::of(fit, &classes, features, offsets.as_deref());
    Ok(fits.into_iter().map(of).collect())
}

fn solve<L: MarginLoss + ?Sized>(
    objective: &JointObjective<'_, L>,
    extent: &Extent,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<Fit>, Error> {
    let JointObjective { loss, form, weights, has_intercepts, .. } = objective;
    let rivals = &objective.rivals(&objective.present());
    let (data, samples) = ((&*objective.design, extent), (rivals, weights));
    match form {
        JointForm::Pairwise => {
            let risk = EmpiricalRisk::of_margins(*loss, Pairwise::<L>::weights(weights, rivals));
            let risk = Pairwise::new(&risk, rivals);
            let samples = JointSamples::new(data, samples, *has_intercepts, risk);
            path_over(samples, lambdas, options, observer)
        }
        JointForm::Multinomial => {
            let risk = Multinomial::new(weights, rivals);
            let samples = JointSamples::new(data, samples, *has_intercepts, risk);
            path_over(samples, lambdas, options, observer)
        }
    }
}
