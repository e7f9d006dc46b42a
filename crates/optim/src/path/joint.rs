//! Paths of several classes in one problem.

use margins_data::Design;
use margins_losses::MarginLoss;

use crate::Error;
use crate::method::{
    Coordinates, FeatureAscent, Fit, Observer, Options, Report, SpaceKind, coordinates_of_classes,
    suits_ascent,
};
use crate::path::over::{Start, path_from, path_with_duals};
use crate::problem::summation::dot;
use crate::problem::{EmpiricalRisk, FreeColumns, FreePart, JointForm, JointObjective, Lambda};
use crate::space::joint::{CrammerSinger, JointSamples, Multinomial, Pairwise};
use crate::space::{Extent, RowSpace};

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
    /// The pulls `r_ic` of the feasible duals `s` that certify the fit, a list a class with a number a
    /// sample: `(c_i/n) sum_a s_ia` over the rivals a for the class c of the sample, `-(c_i/n) s_ic` for
    /// another. At the minimum `w_c = sum_i r_ic x_i/(2 lambda)`. They are kept where
    /// [`Options::keep_duals`] asks for them.
    pub pulls: Option<Vec<Vec<f64>>>,
}

impl JointFit {
    /// Returns the fit of all k coefficients and intercepts behind each other, for features of which some are
    /// free, before numbers were subtracted from them.
    pub(crate) fn of(
        (fit, pulls): Solution,
        classes: &[usize],
        (features, free): (usize, &FreeColumns),
        offsets: Option<&[f64]>,
    ) -> Self {
        let Fit { lambda, coef, report, .. } = fit;
        let k = classes.len();
        let (coef, of_intercepts) = coef.split_at(k * features);
        let of_class = |class: usize| coef[class * features..(class + 1) * features].to_vec();
        let mut coefs: Vec<Vec<f64>> = (0..k).map(of_class).collect();
        for &j in free.get() {
            let mean = coefs.iter().map(|coef| coef[j]).sum::<f64>() / k as f64;
            coefs.iter_mut().for_each(|coef| coef[j] -= mean);
        }
        let intercept = |class: usize| {
            let b = of_intercepts.get(class).copied().unwrap_or(0.0);
            offsets.map_or(b, |offsets| b - dot(offsets, &coefs[class]))
        };
        let mut intercepts: Vec<f64> = (0..k).map(intercept).collect();
        let mean = intercepts.iter().sum::<f64>() / k as f64;
        intercepts.iter_mut().for_each(|b| *b -= mean);
        JointFit { lambda, classes: classes.to_vec(), intercepts, coefs, report, pulls }
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

/// A fit of all k coefficients and intercepts behind each other, with its pulls if they are kept.
type Solution = (Fit, Option<Vec<Vec<f64>>>);

/// Returns the minimisers of a [`JointObjective`] at every lambda, each once and largest first, by
/// Newton's method; `observer` sees every fit as it is made. A differentiable loss of few samples with
/// far more features is minimised in the row space of the features, and certified for these.
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
        None => in_coordinates(objective, &extent, lambdas, options, observer)?,
        Some(offsets) => {
            let mut design = Design::clone(&objective.design);
            design.shift_columns(offsets);
            let extent = Extent::of_shifted(&design, offsets);
            in_coordinates(&objective.over(design), &extent, lambdas, options, observer)?
        }
    };
    let classes = objective.present();
    let features = (objective.design.columns(), &objective.free);
    let of = |fit| JointFit::of(fit, &classes, features, offsets.as_deref());
    Ok(fits.into_iter().map(of).collect())
}

/// Solves in the coordinates that suit the problem.
fn in_coordinates<L: MarginLoss + ?Sized>(
    objective: &JointObjective<'_, L>,
    extent: &Extent,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<Solution>, Error> {
    let least = lambdas.iter().copied().reduce(|a, b| if b < a { b } else { a });
    match (coordinates_of_classes(objective), least) {
        (Coordinates::RowSpace, Some(least)) => {
            in_row_space(objective, extent, (lambdas, least), options, observer)
        }
        _ => solve(objective, extent, lambdas, Start::default(), options, observer),
    }
}

/// Solves in the row space of the features, to half of the tolerance. From the coefficients of every class, in
/// the features, goes on where rounding has left a larger gap than the tolerance.
fn in_row_space<L: MarginLoss + ?Sized>(
    objective: &JointObjective<'_, L>,
    extent: &Extent,
    (lambdas, least): (&[Lambda], Lambda),
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<Solution>, Error> {
    let row_space = RowSpace::of(&objective.design, extent, least)?;
    let reduced = objective.over(row_space.coordinates.clone());
    let (of_rows, tolerance) = (Extent::of(&reduced.design), 0.5 * options.tolerance);
    let tighter = Options { tolerance, keep_duals: false, ..*options };
    let fits = solve(&reduced, &of_rows, lambdas, Start::default(), &tighter, &|_| {})?;
    let lift = |(fit, _): Solution| {
        let (k, rank) = (objective.present().len(), reduced.design.columns());
        let (coef, intercepts) = fit.coef.split_at(k * rank);
        let of_class = |beta: &[f64]| row_space.coefficients(&objective.design, beta);
        let mut lifted: Vec<f64> = coef.chunks_exact(rank).flat_map(of_class).collect();
        lifted.extend(intercepts);
        let start = Start { point: Some((0.0, lifted)), nearness: None };
        let mut fits = solve(objective, extent, &[fit.lambda], start, options, observer)?;
        for (Fit { report, .. }, _) in &mut fits {
            report.iterations += fit.report.iterations;
            report.passes += fit.report.passes;
            let after = std::mem::replace(&mut report.history, fit.report.history.clone());
            report.history.extend(after);
        }
        Ok(fits)
    };
    Ok(fits.into_iter().map(lift).collect::<Result<Vec<_>, Error>>()?.concat())
}

fn solve<L: MarginLoss + ?Sized>(
    objective: &JointObjective<'_, L>,
    extent: &Extent,
    lambdas: &[Lambda],
    start: Start,
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<Solution>, Error> {
    with_samples(objective, extent, |samples| follow(samples, start, lambdas, options, observer))
}

/// Calls a function with the samples of an objective.
pub(super) fn with_samples<L: MarginLoss + ?Sized, T>(
    objective: &JointObjective<'_, L>,
    extent: &Extent,
    call: impl FnOnce(JointSamples<'_>) -> T,
) -> T {
    let JointObjective { loss, form, weights, .. } = objective;
    let free =
        FreePart { columns: objective.independent_free(), intercept: objective.has_intercepts };
    let rivals = &objective.rivals(&objective.present());
    let (data, samples) = ((&*objective.design, extent), (rivals, weights));
    let shape = (objective.design.rows(), objective.design.columns());
    let suits = suits_ascent(shape) && free.columns.get().is_empty();
    let ascends = suits.then_some(&*objective.design);
    match form {
        JointForm::Pairwise => {
            let risk = EmpiricalRisk::of_margins(*loss, Pairwise::<L>::weights(weights, rivals));
            let risk = Pairwise::new(&risk, rivals);
            call(by_ascent(JointSamples::new(data, samples, free, risk), ascends))
        }
        JointForm::Multinomial => {
            let risk = Multinomial::new(weights, rivals);
            call(by_ascent(JointSamples::new(data, samples, free, risk), ascends))
        }
        JointForm::CrammerSinger => {
            let risk = CrammerSinger::new(weights, rivals);
            call(by_ascent(JointSamples::new(data, samples, free, risk), ascends))
        }
    }
}

/// Returns samples that dual ascent in features minimises if they are given and the loss has a kink.
fn by_ascent<'o>(samples: JointSamples<'o>, features: Option<&'o Design>) -> JointSamples<'o> {
    match features {
        Some(design) if samples.parts().0.kink().is_some() => {
            samples.solved_by(FeatureAscent::new(design))
        }
        _ => samples,
    }
}

fn follow(
    samples: JointSamples<'_>,
    start: Start,
    lambdas: &[Lambda],
    options: &Options,
    observer: &Observer<'_>,
) -> Result<Vec<Solution>, Error> {
    if options.keep_duals {
        let pulls = |samples: &JointSamples<'_>, duals: &Vec<f64>| samples.pulls(duals);
        return path_with_duals(samples, start, lambdas, options, observer, pulls);
    }
    let fits = path_from(samples, start, lambdas, options, observer)?;
    Ok(fits.into_iter().map(|fit| (fit, None)).collect())
}
