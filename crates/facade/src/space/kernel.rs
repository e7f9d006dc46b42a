use std::borrow::Cow;

use margins_data::{Dataset, Design, Standardizer};
use margins_kernels::features::{Landmarks, NystromMap, RandomFourierMap};
use margins_kernels::{
    Gaussian, Gram, Kernel, KernelFit, KernelObjective, KernelRegistry, PivotedCholesky,
    margin_distribution,
};
use margins_losses::MarginLoss;
use margins_optim::robust::Learner;
use margins_optim::{ErrorCurve, Fit, Lambda, Options, Training, error_curve};
use nalgebra::DMatrix;

use super::{
    Prepared, Subset, coefs, linear_cross_validate, linear_norm, linear_robust_path,
    linear_scores_of, way_to,
};
use crate::model::{Basis, Functions};
use crate::{Approximation, Error, Selection, TimeLimit, model};

/// The specification of a kernel matrix given in the place of features.
pub const PRECOMPUTED: &str = "precomputed";

/// How the fits without one sample are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaveOneOut {
    /// Each anew, from the fit to all samples.
    Exact,
    /// By one Newton step from the fit to all samples: an approximation.
    OneStep,
}

/// Data in the function space of a kernel.
#[derive(Debug)]
pub(super) enum Form {
    Gram {
        gram: Gram,
        basis: Option<KernelBasis>,
    },
    Cholesky {
        factor: PivotedCholesky,
        basis: KernelBasis,
    },
    /// Features in the place of those of the data.
    Features {
        features: Design,
        map: FeatureMap,
        basis: KernelBasis,
    },
}

#[derive(Debug)]
pub(super) enum FeatureMap {
    Nystrom(NystromMap),
    Fourier(RandomFourierMap),
}

/// A kernel on scaled features.
#[derive(Debug)]
pub(super) struct KernelBasis {
    kernel: Box<dyn Kernel>,
    /// The samples that the kernel sees.
    design: Design,
    /// What features are multiplied with to get there.
    scales: Option<Vec<f64>>,
}

/// What all fits to some of the rows have in common.
#[derive(Debug)]
pub(super) enum Part<'s> {
    /// The kernel matrix of these rows.
    Gram(Cow<'s, Gram>),
    /// The factor for all rows.
    Cholesky(&'s PivotedCholesky, &'s KernelBasis),
    /// Features, which the subset has.
    Features,
}

impl<'d> Prepared<'d> {
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
        let form = if specification == PRECOMPUTED {
            if approximation != Approximation::None {
                return Err(Error::ApproximatePrecomputed);
            }
            if standardize {
                return Err(Error::StandardizePrecomputed);
            }
            Form::Gram { gram: Gram::precomputed(data.design().to_dense())?, basis: None }
        } else {
            let (design, scales) = scaled(data, standardize)?;
            let kernel = kernels.parse_for(specification, &design, seed)?;
            Form::of(KernelBasis { kernel, design, scales }, approximation, seed)?
        };
        Ok(Prepared { data, form: super::Form::Kernel(Box::new(form)) })
    }

    /// The leave-one-out error along the lambdas, and the fit on all of the data at the one that the rule
    /// takes; after the limit on the time among those that are certified. For exact kernel classifiers with a
    /// differentiable loss.
    ///
    /// # Errors
    /// Another kind of classifier; as [`margins_kernels::leave_one_out`]; [`Error::TimeLimit`]: no lambda was certified in
    /// time.
    pub fn leave_one_out<L: MarginLoss + ?Sized>(
        &self,
        training: &Training<'_, L>,
        lambdas: &[Lambda],
        method: LeaveOneOut,
        rule: Selection,
        limit: Option<TimeLimit>,
    ) -> Result<(ErrorCurve, Fit), Error> {
        let gram = match &self.form {
            super::Form::Kernel(form) => form.gram(),
            super::Form::Linear => None,
        };
        let gram = gram.ok_or(Error::LeaveOneOut)?;
        let objective = KernelObjective::from_risk(training.risk(self.data)?, gram)?;
        let deadline = limit.map_or(training.options.deadline, |limit| limit.of_folds());
        let (options, observer) = (&Options { deadline, ..training.options }, training.observer);
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
        let curve = ErrorCurve::of_scores(self.data, &fits, &scores, &converged)?;
        let fit = fits.swap_remove(TimeLimit::choose(limit, rule, &curve)?);
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
}

impl Form {
    fn of(basis: KernelBasis, approximation: Approximation, seed: u64) -> Result<Self, Error> {
        let KernelBasis { kernel, design, .. } = &basis;
        Ok(match approximation {
            Approximation::None => {
                Form::Gram { gram: Gram::new(&**kernel, design)?, basis: Some(basis) }
            }
            Approximation::Cholesky { tolerance, gigabytes } => {
                let factor = PivotedCholesky::within(&**kernel, design, tolerance, gigabytes)?;
                Form::Cholesky { factor, basis }
            }
            Approximation::Nystrom { landmarks, leverage } => {
                let rule = match leverage {
                    None => Landmarks::Uniform,
                    Some(lambda) => Landmarks::Leverage { lambda },
                };
                let map = NystromMap::new(&**kernel, design, landmarks, rule, seed)?;
                let features = map.transform(&**kernel, design)?;
                Form::Features { features, map: FeatureMap::Nystrom(map), basis }
            }
            Approximation::Fourier { features } => {
                let gaussian = gaussian(&**kernel)?;
                let map = RandomFourierMap::new(gaussian, design.columns(), features, seed)?;
                let features = map.transform(design)?;
                Form::Features { features, map: FeatureMap::Fourier(map), basis }
            }
        })
    }

    /// The kernel matrix, if it is no approximation.
    fn gram(&self) -> Option<&Gram> {
        match self {
            Form::Gram { gram, .. } => Some(gram),
            _ => None,
        }
    }

    /// The features in the place of those of the data.
    pub(super) fn features(&self) -> Option<&Design> {
        match self {
            Form::Features { features, .. } => Some(features),
            _ => None,
        }
    }

    pub(super) fn part(&self, rows: Option<&[usize]>) -> Part<'_> {
        match self {
            Form::Gram { gram, .. } => Part::Gram(match rows {
                Some(rows) => Cow::Owned(gram.select(rows)),
                None => Cow::Borrowed(gram),
            }),
            Form::Cholesky { factor, basis } => Part::Cholesky(factor, basis),
            Form::Features { .. } => Part::Features,
        }
    }

    pub(super) fn robust_path<L: MarginLoss + ?Sized>(
        &self,
        prepared: &Prepared<'_>,
        training: &Training<'_, L>,
        learner: &Learner,
        lambdas: &[Lambda],
    ) -> Result<Vec<Fit>, Error> {
        let data = prepared.data;
        match (self, learner) {
            (Form::Features { .. }, _) => {
                let chosen = prepared.subset(None).chosen(data)?;
                linear_robust_path(&unscaled(training), learner, &chosen, lambdas)
            }
            (Form::Gram { gram, .. }, Learner::MarginDistribution(machine)) => {
                let objective = KernelObjective::from_risk(training.risk(data)?, gram)?;
                let (options, observer) = (&training.options, training.observer);
                let fits = margin_distribution(machine, &objective, lambdas, options, observer)?;
                Ok(fits.into_iter().map(into_fit).collect())
            }
            (Form::Gram { .. } | Form::Cholesky { .. }, _) => Err(Error::LinearLearner(*learner)),
        }
    }

    pub(super) fn cross_validate<L: MarginLoss + ?Sized>(
        &self,
        prepared: &Prepared<'_>,
        training: &Training<'_, L>,
        folds: &[usize],
        lambdas: &[Lambda],
        select: impl Fn(&ErrorCurve) -> usize,
    ) -> Result<(ErrorCurve, Fit), Error> {
        let data = prepared.data;
        let curve = match self {
            Form::Features { .. } => {
                let chosen = prepared.subset(None).chosen(data)?;
                return linear_cross_validate(&unscaled(training), &chosen, folds, lambdas, select);
            }
            Form::Gram { gram, .. } => {
                margins_kernels::cross_validate(training, data, gram, folds, lambdas)?
            }
            Form::Cholesky { .. } => {
                error_curve(training, data, folds, lambdas, |training, rows, held_out, lambdas| {
                    let fits = prepared.subset(Some(rows)).path(training, data, lambdas)?;
                    let scores = self.scores_of(&fits, held_out)?;
                    Ok::<_, Error>((fits, scores))
                })?
            }
        };
        let at = select(&curve);
        let fit = prepared.fit_along(training, &curve.lambdas, at)?;
        Ok((curve, fit))
    }

    pub(super) fn scores_of(&self, fits: &[Fit], rows: &[usize]) -> Result<Vec<Vec<f64>>, Error> {
        // Fits x functions, of the functions that are used.
        let coefs =
            |used: &[usize]| DMatrix::from_fn(fits.len(), used.len(), |k, i| fits[k].coef[used[i]]);
        let products = match self {
            Form::Features { features, .. } => return Ok(linear_scores_of(features, fits, rows)),
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

    pub(super) fn scores(&self, fit: &Fit) -> Result<Vec<f64>, Error> {
        let mut scores = match self {
            Form::Features { features, .. } => return Ok(fit.decision_function(features)),
            Form::Gram { gram, .. } => {
                let coef = DMatrix::from_column_slice(fit.coef.len(), 1, &fit.coef);
                (gram.matrix() * coef).as_slice().to_vec()
            }
            Form::Cholesky { factor, basis: KernelBasis { kernel, design, .. } } => {
                let pivots = factor.pivots();
                let coef: Vec<f64> = pivots.iter().map(|&i| fit.coef[i]).collect();
                margins_kernels::combine(&**kernel, design, &design.select(pivots), &coef)?
            }
        };
        scores.iter_mut().for_each(|score| *score += fit.intercept);
        Ok(scores)
    }

    pub(super) fn norm(&self, fit: &Fit) -> Result<f64, Error> {
        if let Form::Features { .. } = self {
            return Ok(linear_norm(fit));
        }
        let products = self.scores(fit)?;
        let square = fit.coef.iter().zip(&products).map(|(a, f)| a * (f - fit.intercept));
        Ok(square.sum::<f64>().max(0.0).sqrt())
    }

    pub(super) fn basis(
        &self,
        fits: &[Fit],
    ) -> Result<(Option<Basis>, Vec<Vec<f64>>), model::Error> {
        let new = |basis: &KernelBasis, functions| {
            Basis::new(&*basis.kernel, basis.scales.clone(), functions).map(Some)
        };
        Ok(match self {
            Form::Gram { basis: None, .. } => (None, coefs(fits)),
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
            Form::Features { map: FeatureMap::Nystrom(map), basis, .. } => {
                let sections = Functions::Sections(map.landmarks().clone());
                let coef = |fit: &Fit| map.kernel_coefficients(&fit.coef);
                (new(basis, sections)?, fits.iter().map(coef).collect())
            }
            Form::Features { map: FeatureMap::Fourier(map), basis, .. } => {
                let frequencies = Design::from_samples(map.frequencies().clone())?;
                (new(basis, Functions::Fourier(frequencies))?, coefs(fits))
            }
        })
    }

    pub(super) fn kernel_specification(&self) -> String {
        match self {
            Form::Gram { basis: None, .. } => PRECOMPUTED.to_owned(),
            Form::Gram { basis: Some(basis), .. }
            | Form::Cholesky { basis, .. }
            | Form::Features { basis, .. } => basis.kernel.specification(),
        }
    }

    pub(super) fn dimension(&self) -> usize {
        match self {
            Form::Gram { gram, .. } => gram.len(),
            Form::Cholesky { factor, .. } => factor.pivots().len(),
            Form::Features { map: FeatureMap::Nystrom(map), .. } => map.features(),
            Form::Features { map: FeatureMap::Fourier(map), .. } => map.features(),
        }
    }
}

impl Part<'_> {
    pub(super) fn path<L: MarginLoss + ?Sized>(
        &self,
        subset: &Subset<'_>,
        training: &Training<'_, L>,
        data: &Dataset,
        lambdas: &[Lambda],
    ) -> Result<Vec<Fit>, Error> {
        let mut fits = match self {
            Part::Cholesky(factor, KernelBasis { kernel, design, .. }) => {
                // Samples that are left out are samples of weight zero: the factor serves every subset.
                let risk = match subset.rows {
                    Some(rows) => training.risk_of_rows(data, rows)?,
                    None => training.risk(data)?,
                };
                let (options, observer) = (&training.options, training.observer);
                let fits = factor.path(&risk, &**kernel, design, lambdas, options, observer)?;
                return Ok(fits.into_iter().map(into_fit).collect());
            }
            Part::Gram(gram) => {
                margins_kernels::training_path(training, &subset.chosen(data)?, gram, lambdas)?
            }
            Part::Features => {
                return Ok(unscaled(training).path(&subset.chosen(data)?, lambdas)?);
            }
        };
        if let Some(rows) = subset.rows {
            for fit in &mut fits {
                let mut coef = vec![0.0; data.rows()];
                rows.iter().zip(&fit.coef).for_each(|(&i, a)| coef[i] = *a);
                fit.coef = coef;
            }
        }
        Ok(fits.into_iter().map(into_fit).collect())
    }
}

/// The Gaussian kernel that this one is.
fn gaussian(kernel: &dyn Kernel) -> Result<Gaussian, Error> {
    kernel.as_gaussian().ok_or_else(|| Error::Fourier(kernel.specification()))
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
