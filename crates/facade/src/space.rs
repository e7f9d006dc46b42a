//! The functions that a classifier is made of: linear in the features, in the space of a kernel, or in
//! features that approximate one; with one way to fit, select and save all of them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use margins_data::{Dataset, Design, Standardizer};
use margins_kernels::features::{Landmarks, NystromMap, RandomFourierMap};
use margins_kernels::{
    Gaussian, Gram, Kernel, KernelFit, KernelObjective, KernelRegistry, PivotedCholesky,
    margin_distribution,
};
use margins_losses::{MarginLoss, Specification};
use margins_optim::robust::Learner;
use margins_optim::{ErrorCurve, Fit, Lambda, Objective, Training, cross_validate, error_curve};
use nalgebra::DMatrix;

use crate::Error;
use crate::model;
use crate::model::{Basis, Functions};

/// The specification of a kernel matrix given in the place of features.
pub const PRECOMPUTED: &str = "precomputed";

/// How a kernel is approximated where n is too large for its matrix.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Approximation {
    /// Not at all.
    #[default]
    None,
    /// Pivoted Cholesky to this share of the trace, certified against the kernel itself.
    Cholesky {
        /// The share of the trace that may remain.
        tolerance: f64,
    },
    /// Nystrom features from landmarks, certified as the linear problem that they pose.
    Nystrom {
        /// Number of landmarks.
        landmarks: usize,
        /// Whether they are drawn by leverage scores, for this lambda.
        leverage: Option<f64>,
    },
    /// Random Fourier features of a Gaussian kernel, certified as the linear problem that they pose.
    Fourier {
        /// Number of features.
        features: usize,
    },
}

impl fmt::Display for Approximation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Approximation::None => write!(f, "none"),
            Approximation::Cholesky { tolerance } => write!(f, "cholesky:tol={tolerance:?}"),
            Approximation::Nystrom { landmarks, leverage: None } => {
                write!(f, "nystrom:m={landmarks}")
            }
            Approximation::Nystrom { landmarks, leverage: Some(lambda) } => {
                write!(f, "nystrom:m={landmarks},leverage={lambda:?}")
            }
            Approximation::Fourier { features } => write!(f, "rff:m={features}"),
        }
    }
}

impl FromStr for Approximation {
    type Err = String;

    /// `none`, `cholesky:tol=1e-8`, `nystrom:m=1000`, `nystrom:m=1000,leverage=1e-4`, `rff:m=2000`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut given = Specification::parse(text)?;
        let name = given.name();
        let mut take = |key: &str| given.take::<f64>(key, "a number");
        let count = |m: Option<f64>, default: f64| match m.unwrap_or(default) {
            m if m.fract() == 0.0 && (1.0..=1e6).contains(&m) => Ok(m as usize),
            m => Err(format!("m is {m}, but must be a whole number from 1 to 1000000")),
        };
        let positive = |what: &str, value: f64| {
            if value.is_finite() && value > 0.0 {
                Ok(value)
            } else {
                Err(format!("{what} is {value}, but must be a finite number greater than 0"))
            }
        };
        let (approximation, known) = match name {
            "none" => (Approximation::None, ""),
            "cholesky" => {
                let tolerance = positive("tol", take("tol")?.unwrap_or(1e-8))?;
                (Approximation::Cholesky { tolerance }, "tol")
            }
            "nystrom" => {
                let landmarks = count(take("m")?, 1000.0)?;
                let leverage = take("leverage")?.map(|l| positive("leverage", l)).transpose()?;
                (Approximation::Nystrom { landmarks, leverage }, "m and leverage")
            }
            "rff" => (Approximation::Fourier { features: count(take("m")?, 2000.0)? }, "m"),
            _ => {
                return Err(format!(
                    "unknown approximation '{name}': known are none, cholesky:tol=1e-8, \
                     nystrom:m=1000, nystrom:m=1000,leverage=1e-4, rff:m=2000"
                ));
            }
        };
        given.finish(known)?;
        Ok(approximation)
    }
}

/// How the fits without one sample are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaveOneOut {
    /// Each anew, from the fit to all samples.
    Exact,
    /// By one Newton step from the fit to all samples: an approximation.
    OneStep,
}

/// Data made ready for fits in a space: whatever all lambdas and folds have in common.
#[derive(Debug)]
pub struct Prepared<'d> {
    data: &'d Dataset,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Linear,
    Gram {
        gram: Gram,
        basis: Option<KernelBasis>,
    },
    Cholesky {
        factor: PivotedCholesky,
        basis: KernelBasis,
    },
    /// Features in the place of those of the data.
    Nystrom {
        features: Design,
        map: NystromMap,
        basis: KernelBasis,
    },
    Fourier {
        features: Design,
        map: RandomFourierMap,
        basis: KernelBasis,
    },
}

/// A kernel on scaled features.
#[derive(Debug)]
struct KernelBasis {
    kernel: Box<dyn Kernel>,
    /// The samples that the kernel sees.
    design: Design,
    /// What features are multiplied with to get there.
    scales: Option<Vec<f64>>,
}

impl<'d> Prepared<'d> {
    /// For linear classifiers; with `standardize` features are scaled to unit standard deviation, anew in
    /// every fold.
    pub fn linear(data: &'d Dataset) -> Self {
        Prepared { data, form: Form::Linear }
    }

    /// For the function space of a kernel, given by its specification, or by [`PRECOMPUTED`] for data that
    /// are a kernel matrix. The sigma of a Gaussian kernel that is left out is taken from the data by the
    /// quantile rule of [`SigmaRange`](margins_kernels::SigmaRange). With `standardize` features are scaled to unit standard deviation
    /// once, over all rows. The seed draws landmarks, frequencies and pairs for sigma.
    ///
    /// # Errors
    /// What the registry, the kernel or the approximation cannot take.
    pub fn for_kernel(
        specification: &str,
        approximation: Approximation,
        kernels: &KernelRegistry,
        data: &'d Dataset,
        standardize: bool,
        seed: u64,
    ) -> Result<Self, Error> {
        if specification == PRECOMPUTED {
            if approximation != Approximation::None {
                return Err(Error::ApproximatePrecomputed);
            }
            if standardize {
                return Err(Error::StandardizePrecomputed);
            }
            let gram = Gram::precomputed(data.design().to_dense())?;
            return Ok(Prepared { data, form: Form::Gram { gram, basis: None } });
        }
        let (design, scales) = scaled(data, standardize)?;
        let kernel = kernels.parse_for(specification, &design, seed)?;
        let basis = KernelBasis { kernel, design, scales };
        Ok(Prepared { data, form: Form::of(basis, approximation, seed)? })
    }

    /// Some of the rows to learn from; all of them if none are named.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn subset<'s>(&'s self, rows: Option<&'s [usize]>) -> Subset<'s> {
        let gram = match (&self.form, rows) {
            (Form::Gram { gram, .. }, Some(rows)) => Some(Cow::Owned(gram.select(rows))),
            (Form::Gram { gram, .. }, None) => Some(Cow::Borrowed(gram)),
            _ => None,
        };
        let design = match &self.form {
            Form::Nystrom { features, .. } | Form::Fourier { features, .. } => features,
            _ => self.data.design(),
        };
        let design = rows.map_or_else(|| design.clone(), |rows| design.select(rows));
        Subset { form: &self.form, rows, design, gram }
    }

    /// The fits at every lambda, largest first.
    ///
    /// # Errors
    /// As [`Training::path`] and [`margins_kernels::path`].
    pub fn path<L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
        lambdas: &[Lambda],
    ) -> Result<Vec<Fit>, Error> {
        self.subset(None).path(training, self.data, lambdas)
    }

    /// The fits of a robust learner at every lambda, largest first: on features, or, of the large-margin
    /// distribution machine, on a kernel matrix as well.
    ///
    /// # Errors
    /// As [`Learner::path`]; another learner on a kernel matrix.
    pub fn robust_path<L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
        learner: &Learner,
        lambdas: &[Lambda],
    ) -> Result<Vec<Fit>, Error> {
        let (options, observer) = (&training.options, training.observer);
        let on_features = |training: &Training<'_, L>, data: &Dataset| {
            let solve =
                |objective: &Objective<'_, L>| learner.path(objective, lambdas, options, observer);
            Ok(training.path_with(data, solve)?)
        };
        match (&self.form, learner) {
            (Form::Linear, _) => on_features(training, self.data),
            (Form::Nystrom { .. } | Form::Fourier { .. }, _) => {
                on_features(&unscaled(training), &self.subset(None).chosen(self.data)?)
            }
            (Form::Gram { gram, .. }, Learner::MarginDistribution(machine)) => {
                let objective = KernelObjective::from_risk(training.risk(self.data)?, gram)?;
                let fits = margin_distribution(machine, &objective, lambdas, options, observer)?;
                Ok(fits.into_iter().map(into_fit).collect())
            }
            (Form::Gram { .. } | Form::Cholesky { .. }, _) => Err(Error::LinearLearner(*learner)),
        }
    }

    /// The cross-validated error along the lambdas, and the fit on all of the data at the one that
    /// `select` takes, by its index.
    ///
    /// # Errors
    /// As [`path`](Self::path) and [`margins_optim::cross_validate`].
    pub fn cross_validate<L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
        folds: &[usize],
        lambdas: &[Lambda],
        select: impl Fn(&ErrorCurve) -> usize,
    ) -> Result<(ErrorCurve, Fit), Error> {
        let linear = |training: &Training<'_, L>, data: &Dataset| {
            let mut cv = cross_validate(training, data, folds, lambdas)?;
            let fit = cv.fits.swap_remove(select(&cv.curve));
            Ok((cv.curve, fit))
        };
        let curve = match &self.form {
            Form::Linear => return linear(training, self.data),
            Form::Nystrom { .. } | Form::Fourier { .. } => {
                return linear(&unscaled(training), &self.subset(None).chosen(self.data)?);
            }
            Form::Gram { gram, .. } => {
                margins_kernels::cross_validate(training, self.data, gram, folds, lambdas)?
            }
            Form::Cholesky { .. } => {
                let abandon = training.abandon_hopeless;
                error_curve(self.data, folds, lambdas, abandon, |rows, held_out, lambdas| {
                    let fits = self.subset(Some(rows)).path(training, self.data, lambdas)?;
                    let scores = self.scores_of(&fits, held_out)?;
                    Ok::<_, Error>((fits, scores))
                })?
            }
        };
        let at = select(&curve);
        let fit = self.fit_along(training, &curve.lambdas, at)?;
        Ok((curve, fit))
    }

    /// The leave-one-out error along the lambdas, and the fit on all of the data at the one that `select`
    /// takes, by its index. For exact kernel classifiers with a differentiable loss.
    ///
    /// # Errors
    /// Another kind of classifier; as [`margins_kernels::leave_one_out`].
    pub fn leave_one_out<L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
        lambdas: &[Lambda],
        method: LeaveOneOut,
        select: impl Fn(&ErrorCurve) -> usize,
    ) -> Result<(ErrorCurve, Fit), Error> {
        let Form::Gram { gram, .. } = &self.form else { return Err(Error::LeaveOneOut) };
        let objective = KernelObjective::from_risk(training.risk(self.data)?, gram)?;
        let (options, observer) = (&training.options, training.observer);
        let mut fits = margins_kernels::path(&objective, lambdas, options, observer)?;
        let mut scores = Vec::with_capacity(fits.len());
        let mut converged = Vec::with_capacity(fits.len());
        for fit in &fits {
            let (without, all) = match method {
                LeaveOneOut::Exact => margins_kernels::leave_one_out(&objective, fit, options)?,
                LeaveOneOut::OneStep => {
                    let scores = margins_kernels::one_step_leave_one_out(&objective, fit)?;
                    (scores, fit.report.converged())
                }
            };
            scores.push(without);
            converged.push(all);
        }
        let curve = ErrorCurve::of_scores(self.data, &fits, &scores, &converged);
        let fit = fits.swap_remove(select(&curve));
        Ok((curve, into_fit(fit)))
    }

    /// The fit at one of the lambdas, by way of a few larger ones.
    fn fit_along<L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
        lambdas: &[Lambda],
        at: usize,
    ) -> Result<Fit, Error> {
        let silent = Training { observer: &|_| {}, ..*training };
        let mut fits = self.path(&silent, &way_to(lambdas, at))?;
        Ok(fits.swap_remove(fits.len() - 1))
    }

    /// The scores of some of the samples under every fit, one list a fit.
    ///
    /// # Errors
    /// Kernel values that are not finite.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn scores_of(&self, fits: &[Fit], rows: &[usize]) -> Result<Vec<Vec<f64>>, Error> {
        let linear = |design: &Design| {
            let chosen = design.select(rows);
            fits.iter().map(|fit| fit.decision_function(&chosen)).collect()
        };
        // Fits x functions, of the functions that are used.
        let coefs =
            |used: &[usize]| DMatrix::from_fn(fits.len(), used.len(), |k, i| fits[k].coef[used[i]]);
        let products = match &self.form {
            Form::Linear => return Ok(linear(self.data.design())),
            Form::Nystrom { features, .. } | Form::Fourier { features, .. } => {
                return Ok(linear(features));
            }
            Form::Gram { gram, .. } => {
                let used = |&i: &usize| fits.iter().any(|fit| fit.coef[i] != 0.0);
                let support: Vec<usize> = (0..gram.len()).filter(used).collect();
                coefs(&support) * gram.cross_of(&support, rows)
            }
            Form::Cholesky { factor, basis: KernelBasis { kernel, design, .. } } => {
                let pivots = factor.pivots();
                let (rows, columns) = (design.select(rows), design.select(pivots));
                margins_kernels::combine_all(&**kernel, &rows, &columns, &coefs(pivots))?
            }
        };
        let with_intercept = |(k, fit): (usize, &Fit)| {
            products.row(k).iter().map(|product| product + fit.intercept).collect()
        };
        Ok(fits.iter().enumerate().map(with_intercept).collect())
    }

    /// The scores of the data themselves.
    ///
    /// # Errors
    /// Kernel values that are not finite.
    pub fn scores(&self, fit: &Fit) -> Result<Vec<f64>, Error> {
        let mut scores = match &self.form {
            Form::Linear => return Ok(fit.decision_function(self.data.design())),
            Form::Nystrom { features, .. } | Form::Fourier { features, .. } => {
                return Ok(fit.decision_function(features));
            }
            Form::Gram { gram, .. } => {
                let coef = DMatrix::from_column_slice(fit.coef.len(), 1, &fit.coef);
                (gram.matrix() * coef).as_slice().to_vec()
            }
            Form::Cholesky { factor, basis } => {
                let pivots = factor.pivots();
                let coef: Vec<f64> = pivots.iter().map(|&i| fit.coef[i]).collect();
                let KernelBasis { kernel, design, .. } = basis;
                margins_kernels::combine(&**kernel, design, &design.select(pivots), &coef)?
            }
        };
        scores.iter_mut().for_each(|score| *score += fit.intercept);
        Ok(scores)
    }

    /// The norm of the function without its intercept, `||w||` or the root of `a'Ka`.
    ///
    /// # Errors
    /// As [`scores`](Self::scores).
    pub fn norm(&self, fit: &Fit) -> Result<f64, Error> {
        let products = match &self.form {
            Form::Gram { .. } | Form::Cholesky { .. } => self.scores(fit)?,
            _ => return Ok(fit.coef.iter().map(|w| w * w).sum::<f64>().sqrt()),
        };
        let square = fit.coef.iter().zip(&products).map(|(a, f)| a * (f - fit.intercept));
        Ok(square.sum::<f64>().max(0.0).sqrt())
    }

    /// What a model has to hold beside coefficients, and those of every fit: only what prediction needs. The
    /// fits share the functions; of kernel sections those that any of them has a use for.
    ///
    /// # Errors
    /// More features than a model can have.
    pub fn basis(&self, fits: &[Fit]) -> Result<(Option<Basis>, Vec<Vec<f64>>), model::Error> {
        let new = |basis: &KernelBasis, functions| {
            Basis::new(&*basis.kernel, basis.scales.clone(), functions).map(Some)
        };
        let given = || fits.iter().map(|fit| fit.coef.clone()).collect();
        Ok(match &self.form {
            Form::Linear | Form::Gram { basis: None, .. } => (None, given()),
            Form::Gram { basis: Some(basis), .. } | Form::Cholesky { basis, .. } => {
                let used = |i: &usize| fits.iter().any(|fit| fit.coef[*i] != 0.0);
                let mut support: Vec<usize> = (0..basis.design.rows()).filter(used).collect();
                if support.is_empty() {
                    // Classifiers of no kernel section are constants; one sample keeps the model whole.
                    support.push(0);
                }
                let coef = |fit: &Fit| support.iter().map(|&i| fit.coef[i]).collect();
                let sections = Functions::Sections(basis.design.select(&support));
                (new(basis, sections)?, fits.iter().map(coef).collect())
            }
            Form::Nystrom { map, basis, .. } => {
                let sections = Functions::Sections(map.landmarks().clone());
                let coef = |fit: &Fit| map.kernel_coefficients(&fit.coef);
                (new(basis, sections)?, fits.iter().map(coef).collect())
            }
            Form::Fourier { map, basis, .. } => {
                let frequencies = Design::from_samples(map.frequencies().clone())?;
                (new(basis, Functions::Fourier(frequencies))?, given())
            }
        })
    }

    /// The specification of the kernel; `None` for linear classifiers.
    pub fn kernel_specification(&self) -> Option<String> {
        match &self.form {
            Form::Linear => None,
            Form::Gram { basis: None, .. } => Some(PRECOMPUTED.to_owned()),
            Form::Gram { basis: Some(basis), .. }
            | Form::Cholesky { basis, .. }
            | Form::Nystrom { basis, .. }
            | Form::Fourier { basis, .. } => Some(basis.kernel.specification()),
        }
    }

    /// Number of coefficients that a fit has to choose: features, samples, or features of a map.
    pub fn dimension(&self) -> usize {
        match &self.form {
            Form::Linear => self.data.columns(),
            Form::Gram { gram, .. } => gram.len(),
            Form::Cholesky { factor, .. } => factor.pivots().len(),
            Form::Nystrom { map, .. } => map.features(),
            Form::Fourier { map, .. } => map.features(),
        }
    }
}

/// Rows of prepared data to learn from, with what all fits to them have in common.
#[derive(Debug)]
pub struct Subset<'s> {
    form: &'s Form,
    rows: Option<&'s [usize]>,
    /// The features of these rows, or those in their place.
    design: Design,
    /// Of these rows.
    gram: Option<Cow<'s, Gram>>,
}

impl Subset<'_> {
    /// The fits at every lambda, largest first. The data are those that were prepared, all rows of them, perhaps
    /// with other labels or weights; so are the functions that the coefficients belong to.
    ///
    /// # Errors
    /// As [`Training::path`] and [`margins_kernels::path`].
    pub fn path<L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
        data: &Dataset,
        lambdas: &[Lambda],
    ) -> Result<Vec<Fit>, Error> {
        let mut fits = match (self.form, &self.gram) {
            (Form::Cholesky { factor, basis }, _) => {
                // Samples that are left out are samples of weight zero: the factor serves every subset.
                let risk = match self.rows {
                    Some(rows) => training.risk_of_rows(data, rows)?,
                    None => training.risk(data)?,
                };
                let KernelBasis { kernel, design, .. } = basis;
                let (options, observer) = (&training.options, training.observer);
                let fits = factor.path(&risk, &**kernel, design, lambdas, options, observer)?;
                return Ok(fits.into_iter().map(into_fit).collect());
            }
            (_, Some(gram)) => {
                let chosen = self.chosen(data)?;
                margins_kernels::training_path(training, &chosen, gram, lambdas)?
            }
            (Form::Linear, None) => return Ok(training.path(&self.chosen(data)?, lambdas)?),
            (_, None) => return Ok(unscaled(training).path(&self.chosen(data)?, lambdas)?),
        };
        if let Some(rows) = self.rows {
            for fit in &mut fits {
                let mut coef = vec![0.0; data.rows()];
                rows.iter().zip(&fit.coef).for_each(|(&i, a)| coef[i] = *a);
                fit.coef = coef;
            }
        }
        Ok(fits.into_iter().map(into_fit).collect())
    }

    /// These rows of the data, with the features in place.
    fn chosen(&self, data: &Dataset) -> Result<Dataset, Error> {
        let labels = match self.rows {
            Some(rows) => data.labels().select(rows),
            None => data.labels().clone(),
        };
        let chosen = Dataset::new(self.design.clone(), labels)?;
        let Some(weights) = data.weights() else { return Ok(chosen) };
        let weights = match self.rows {
            Some(rows) => rows.iter().map(|&i| weights[i]).collect(),
            None => weights.to_vec(),
        };
        Ok(chosen.with_weights(weights)?)
    }
}

impl Form {
    fn of(basis: KernelBasis, approximation: Approximation, seed: u64) -> Result<Self, Error> {
        let KernelBasis { kernel, design, .. } = &basis;
        Ok(match approximation {
            Approximation::None => {
                Form::Gram { gram: Gram::new(&**kernel, design)?, basis: Some(basis) }
            }
            Approximation::Cholesky { tolerance } => {
                let factor = PivotedCholesky::new(&**kernel, design, tolerance, usize::MAX)?;
                Form::Cholesky { factor, basis }
            }
            Approximation::Nystrom { landmarks, leverage } => {
                let rule = match leverage {
                    None => Landmarks::Uniform,
                    Some(lambda) => Landmarks::Leverage { lambda },
                };
                let map = NystromMap::new(&**kernel, design, landmarks, rule, seed)?;
                let features = map.transform(&**kernel, design)?;
                Form::Nystrom { features, map, basis }
            }
            Approximation::Fourier { features } => {
                let gaussian = gaussian(&**kernel)?;
                let map = RandomFourierMap::new(gaussian, design.columns(), features, seed)?;
                let features = map.transform(design)?;
                Form::Fourier { features, map, basis }
            }
        })
    }
}

/// The Gaussian kernel that this one is.
fn gaussian(kernel: &dyn Kernel) -> Result<Gaussian, Error> {
    match (kernel.name(), kernel.parameters().as_slice()) {
        ("gaussian", [("sigma", sigma)]) => Ok(Gaussian::new(*sigma)?),
        _ => Err(Error::Fourier(kernel.specification())),
    }
}

/// The design with its scales: one over the standard deviations, 1 for constant columns.
fn scaled(data: &Dataset, standardize: bool) -> Result<(Design, Option<Vec<f64>>), Error> {
    if !standardize {
        return Ok((data.design().clone(), None));
    }
    let standardizer = Standardizer::fit(data.design(), data.weights());
    let scales = standardizer.unscale_coefficients(&vec![1.0; data.columns()]);
    Ok((standardizer.scale(data.design().clone())?, Some(scales)))
}

fn unscaled<'a, L: MarginLoss + ?Sized>(training: &Training<'a, L>) -> Training<'a, L> {
    Training { standardize: false, ..*training }
}

fn into_fit(fit: KernelFit) -> Fit {
    let KernelFit { lambda, intercept, coef, report } = fit;
    Fit { lambda, intercept, coef, report }
}

/// A few of the lambdas, largest first, by way of which the one at an index is reached.
pub(crate) fn way_to(lambdas: &[Lambda], at: usize) -> Vec<Lambda> {
    const STRIDE: usize = 16;
    (0..=at).filter(|k| (at - k).is_multiple_of(STRIDE)).map(|k| lambdas[k]).collect()
}
