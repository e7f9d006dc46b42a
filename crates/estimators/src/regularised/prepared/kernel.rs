//! Data prepared for a kernel: scaled features, the matrix or map, and its basis for models.

mod duals;
mod feature_space;
mod part;
mod preparation;
mod sections;

use std::borrow::Cow;
use std::sync::Arc;

use margins_data::split::Splits;
use margins_data::{Dataset, Design, Memory, Standardizer, parallel};
use margins_kernels::features::{LandmarkSampling, NystromMap, RandomFourierMap};
use margins_kernels::{Gram, Kernel, KernelRegistry, PivotedCholesky, PlannedPaths, Watched};
use margins_losses::MarginLoss;
use margins_model::{Basis, Functions};
use margins_optim::{
    ErrorCurve, Fit, FoldRows, Lambda, ScoredFold, Sensitivity, Training, error_curve,
};
use nalgebra::DMatrix;

use feature_space::FeatureSpace;
pub(in crate::regularised) use feature_space::duals_of_coefficients;
pub(super) use part::Part;
pub use preparation::Preparation;
pub(super) use sections::Sections;
use sections::used_sections;

use super::{Approximation, Prepared, coefs, norm};
use crate::Error;

/// The specification of a kernel matrix given instead of features.
pub const PRECOMPUTED: &str = "precomputed";

/// Data in the function space of a kernel.
#[derive(Debug)]
pub(super) enum Form {
    Gram { gram: Gram, basis: Option<KernelBasis> },
    Cholesky { factor: PivotedCholesky, basis: KernelBasis },
    Features(FeatureSpace),
}

#[derive(Debug)]
pub(super) enum FeatureMap {
    Nystrom(NystromMap),
    Fourier(RandomFourierMap),
}

/// A kernel on scaled features.
#[derive(Debug)]
pub(super) struct KernelBasis {
    kernel: Arc<dyn Kernel>,
    /// The samples that the kernel sees.
    design: Design,
    /// The features that no penalty acts on, which the kernel does not see.
    beside: Option<Beside>,
    /// The factors by which features were scaled to get there.
    scales: Option<Vec<f64>>,
    preparation: Preparation,
}

/// Features beside a kernel, as given.
#[derive(Debug)]
pub(super) struct Beside {
    columns: Vec<usize>,
    values: Design,
}

impl<'d> Prepared<'d> {
    /// Returns the data made ready for the function space of a kernel, given by its specification,
    /// or by [`PRECOMPUTED`] for data that are a kernel matrix. A Gaussian kernel without sigma
    /// takes it from the data by the quantile rule of [`SigmaRange`](margins_kernels::SigmaRange).
    ///
    /// # Errors
    /// A specification that the registry does not know, and data that the kernel or the
    /// approximation cannot take. An error that
    /// [is interrupted](margins_kernels::Error::is_interrupted): the deadline has passed.
    pub fn for_kernel(
        specification: &str,
        kernels: &KernelRegistry,
        data: &'d Dataset,
        preparation: Preparation,
    ) -> Result<Self, Error> {
        let Preparation { approximation, standardize, seed, .. } = preparation;
        let form = if specification == PRECOMPUTED {
            if approximation != Approximation::None {
                return Err(Error::ApproximatePrecomputed);
            }
            if standardize {
                return Err(Error::StandardizePrecomputed);
            }
            if data.encoding().is_some() {
                return Err(Error::EncodePrecomputed);
            }
            Form::Gram { gram: Gram::precomputed(data.design().to_dense())?, basis: None }
        } else {
            let Parted { design, scales, beside } = Parted::of(data, &preparation)?;
            let mut kernel = kernels.parse(specification)?;
            kernel.adapt_to(&design, data.own_weights(), seed)?;
            let kernel = kernel.into();
            Form::of(KernelBasis { kernel, design, beside, scales, preparation })?
        };
        let form = super::Form::Kernel(Box::new(form));
        Ok(Prepared { data: Cow::Borrowed(data), form })
    }
}

impl Form {
    /// Returns the form that the preparation of the basis asks for.
    fn of(basis: KernelBasis) -> Result<Self, Error> {
        let KernelBasis { kernel, design, preparation, .. } = &basis;
        let Preparation { approximation, memory, seed, deadline, planned, .. } = *preparation;
        let watched = &*Watched::until(kernel, deadline);
        // With all samples for landmarks the features are coordinates of the kernel as it is.
        let approximation = match (approximation, &basis.beside) {
            (Approximation::None, Some(_)) => {
                Approximation::Nystrom { landmarks: design.rows(), leverage: None }
            }
            (other, _) => other,
        };
        Ok(match approximation {
            Approximation::None => {
                let memory = memory.or_else(|| Memory::free().map(Memory::half));
                Form::Gram {
                    gram: Gram::within(kernel, design, memory, &planned, deadline)?,
                    basis: Some(basis),
                }
            }
            Approximation::Cholesky { tolerance, gigabytes } => {
                let factor = PivotedCholesky::within(watched, design, tolerance, gigabytes)?;
                Form::Cholesky { factor, basis }
            }
            Approximation::Nystrom { landmarks, leverage } => {
                let rule = match leverage {
                    None => LandmarkSampling::Uniform,
                    Some(lambda) => LandmarkSampling::Leverage { lambda },
                };
                preparation.check_features(design, landmarks, true)?;
                let map = NystromMap::new(watched, design, landmarks, rule, seed)?;
                let features = map.transform(watched, design)?;
                Form::Features(FeatureSpace::new(
                    features,
                    FeatureMap::Nystrom(map),
                    basis,
                    memory,
                )?)
            }
            Approximation::Fourier { features } => {
                let gaussian = kernel.as_gaussian();
                let gaussian = gaussian.ok_or_else(|| Error::Fourier(kernel.specification()))?;
                preparation.check_features(design, features, false)?;
                let map = RandomFourierMap::new(gaussian, design.columns(), features, seed)?;
                let features = map.transform(design)?;
                Form::Features(FeatureSpace::new(
                    features,
                    FeatureMap::Fourier(map),
                    basis,
                    memory,
                )?)
            }
        })
    }

    /// Returns the same for features of other data, one of several folds that share the memory.
    /// `None` of a kernel matrix that was given.
    pub(super) fn learned_from(&self, data: &Dataset) -> Result<Option<Self>, Error> {
        let Some(KernelBasis { kernel, preparation, .. }) = self.kernel_basis() else {
            return Ok(None);
        };
        let Parted { design, scales, beside } = Parted::of(data, preparation)?;
        // The share is the same on any number of threads, as results are.
        const FOLDS: usize = 4;
        let all = preparation.memory.or_else(|| Memory::free().map(Memory::half));
        let share = |all: Memory| Memory::from_bytes(all.bytes() / FOLDS);
        let planned = PlannedPaths::one(preparation.planned.route, preparation.planned.lambdas);
        let preparation = Preparation { memory: all.map(share), planned, ..preparation.clone() };
        let kernel = Arc::clone(kernel);
        Form::of(KernelBasis { kernel, design, beside, scales, preparation }).map(Some)
    }

    /// Returns the kernel with its samples; `None` of a kernel matrix that was given.
    fn kernel_basis(&self) -> Option<&KernelBasis> {
        match self {
            Form::Gram { basis, .. } => basis.as_ref(),
            Form::Cholesky { basis, .. } | Form::Features(FeatureSpace { basis, .. }) => {
                Some(basis)
            }
        }
    }

    /// Returns the squares of the norms of all samples in the space of the functions.
    pub(super) fn squared_norms(&self) -> Result<Vec<f64>, Error> {
        Ok(match self {
            Form::Gram { gram, .. } => gram.diagonal(),
            // The truncated kernel is at most the kernel.
            Form::Cholesky { basis, .. } => {
                margins_kernels::diagonal(&*basis.kernel, &basis.design)?
            }
            Form::Features(space) => space.squared_norms(),
        })
    }

    /// Returns the kernel matrix, unless the kernel is approximated.
    pub(super) fn gram(&self) -> Option<&Gram> {
        match self {
            Form::Gram { gram, .. } => Some(gram),
            _ => None,
        }
    }

    /// Returns the matrix of the kernel that Nystrom features approximate, which is not held; `None`
    /// of other forms: random Fourier features span no part of the space of their kernel.
    pub(super) fn approximated(&self) -> Option<Result<Gram, Error>> {
        let Form::Features(FeatureSpace { map: FeatureMap::Nystrom(_), basis, .. }) = self else {
            return None;
        };
        let memory = Memory::free().map_or(Memory::from_bytes(1 << 30), Memory::half);
        let gram = Gram::matrix_free(basis.kernel.clone(), basis.design.clone(), memory);
        Some(gram.map_err(Error::from))
    }

    /// Returns the features that replace those of the data, if there are any.
    pub(super) fn features(&self) -> Option<&Design> {
        match self {
            Form::Features(space) => Some(&space.features),
            _ => None,
        }
    }

    /// Returns what fits to these rows have in common.
    pub(super) fn part(&self, rows: Option<&[usize]>) -> Part<'_> {
        match self {
            Form::Gram { gram, .. } => Part::Gram(Box::new(match rows {
                Some(rows) => Cow::Owned(gram.select(rows)),
                None => Cow::Borrowed(gram),
            })),
            Form::Cholesky { factor, basis } => Part::Cholesky(factor, basis),
            Form::Features(space) => Part::Features(space),
        }
    }

    pub(super) fn cross_validate<L: MarginLoss + ?Sized>(
        &self,
        prepared: &Prepared<'_>,
        training: &Training<'_, L>,
        splits: Splits<'_>,
        lambdas: &[Lambda],
    ) -> Result<(ErrorCurve, Option<Vec<Fit>>), Error> {
        let data = prepared.data();
        let curve = match self {
            // The encoding is learned from the rows of each fold.
            _ if data.raw_table().is_some() => {
                self.by_subsets(prepared, training, splits, lambdas)?
            }
            Form::Features(space) => {
                return space.cross_validate(training, data, splits, lambdas);
            }
            Form::Gram { gram, .. } => {
                margins_kernels::cross_validate(training, data, gram, splits, lambdas)?
            }
            Form::Cholesky { factor, .. } => {
                let design = factor.coordinates();
                let count = splits.count();
                let at_once = count.min(parallel::threads());
                let squares = training.options.solver.squares(design.rows(), design.columns());
                design.check_fits(at_once, at_once, squares)?;
                self.by_subsets(prepared, training, splits, lambdas)?
            }
        };
        Ok((curve, None))
    }

    /// Returns the cross-validated error of fits to the rows of each fold, for data as they are
    /// learned from these rows.
    fn by_subsets<L: MarginLoss + ?Sized>(
        &self,
        prepared: &Prepared<'_>,
        training: &Training<'_, L>,
        splits: Splits<'_>,
        lambdas: &[Lambda],
    ) -> Result<ErrorCurve, Error> {
        error_curve(training, prepared.data(), splits, lambdas, |training, fold, lambdas| {
            let FoldRows { rows, held_out, .. } = fold;
            let learned = prepared.learned_on(rows)?;
            let form = match &learned {
                Some(Prepared { form: super::Form::Kernel(form), .. }) => form,
                _ => self,
            };
            let prepared = learned.as_ref().unwrap_or(prepared);
            let subset = prepared.subset(Some(rows));
            let fits = subset.path(training, None, prepared.data(), lambdas)?;
            let scores = form.scores_of(&fits, &form.sections(&fits), held_out)?;
            let squares = form.squared_norms()?;
            let sensitivity = Sensitivity::of_squares(&squares, rows, held_out);
            Ok(ScoredFold { fits, scores, sensitivity })
        })
    }

    pub(super) fn scores(&self, fit: &Fit) -> Result<Vec<f64>, Error> {
        let mut scores = match self {
            Form::Features(space) => return Ok(fit.decision_function(&space.features)),
            Form::Gram { gram, .. } => {
                let coef = DMatrix::from_column_slice(fit.coef.len(), 1, &fit.coef);
                gram.multiply(&coef).as_slice().to_vec()
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
        if let Form::Features(space) = self {
            return Ok(norm(&fit.coef[space.basis.count_beside()..]));
        }
        let products = self.scores(fit)?;
        let square = fit.coef.iter().zip(&products).map(|(a, f)| a * (f - fit.intercept));
        Ok(square.sum::<f64>().max(0.0).sqrt())
    }

    pub(super) fn basis(
        &self,
        fits: &[&Fit],
    ) -> Result<(Option<Basis>, Vec<Vec<f64>>), margins_model::Error> {
        let new = |basis: &KernelBasis, functions| {
            let linear = basis.beside.as_ref().map_or(Vec::new(), |beside| beside.columns.clone());
            let made = Basis::new(&*basis.kernel, basis.scales.clone(), functions)?;
            made.with_linear(linear).map(Some)
        };
        Ok(match self {
            Form::Gram { basis: None, .. } => (None, coefs(fits)),
            Form::Gram { basis: Some(basis), .. } | Form::Cholesky { basis, .. } => {
                let (sections, coefs) = used_sections(&basis.design, fits);
                (new(basis, sections)?, coefs)
            }
            Form::Features(FeatureSpace { map: FeatureMap::Nystrom(map), basis, .. }) => {
                let sections = Functions::Sections(map.landmarks().clone());
                let m = basis.count_beside();
                let coef = |fit: &&Fit| {
                    let (beside, of_map) = fit.coef.split_at(m);
                    [beside, &map.kernel_coefficients(of_map)].concat()
                };
                (new(basis, sections)?, fits.iter().map(coef).collect())
            }
            Form::Features(FeatureSpace { map: FeatureMap::Fourier(map), basis, .. }) => {
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
            | Form::Features(FeatureSpace { basis, .. }) => basis.kernel.specification(),
        }
    }

    pub(super) fn dimension(&self) -> usize {
        match self {
            Form::Gram { gram, .. } => gram.len(),
            Form::Cholesky { factor, .. } => factor.pivots().len(),
            Form::Features(space) => space.features.columns() - space.basis.count_beside(),
        }
    }
}

impl KernelBasis {
    fn count_beside(&self) -> usize {
        self.beside.as_ref().map_or(0, |beside| beside.columns.len())
    }
}

/// The features that a kernel sees with their scales, and those beside it: the ones that no penalty acts
/// on.
struct Parted {
    design: Design,
    scales: Option<Vec<f64>>,
    beside: Option<Beside>,
}

impl Parted {
    fn of(data: &Dataset, preparation: &Preparation) -> Result<Self, Error> {
        let (design, scales) = kernel_features(data, preparation.standardize)?;
        let factors = preparation.penalty_factors.as_ref();
        let penalty = factors.map(|factors| factors.on(data.feature_names(), data.columns()));
        let columns = penalty.transpose()?.map_or(Vec::new(), |on| on.free().get().to_vec());
        if columns.is_empty() {
            return Ok(Parted { design, scales, beside: None });
        }
        let seen = seen_by_kernel(data.columns(), &columns)?;
        let scales = scales.map(|scales| seen.iter().map(|&j| scales[j]).collect());
        let values = data.design().select_columns(&columns)?;
        let beside = Some(Beside { columns, values });
        Ok(Parted { design: design.select_columns(&seen)?, scales, beside })
    }
}

/// Returns the columns, of so many, that a kernel sees beside these, which are ascending.
///
/// # Errors
/// [`Error::NoKernelFeatures`]: there are none.
pub(in crate::regularised) fn seen_by_kernel(
    columns: usize,
    beside: &[usize],
) -> Result<Vec<usize>, Error> {
    let is_seen = |j: &usize| beside.binary_search(j).is_err();
    let seen: Vec<usize> = (0..columns).filter(is_seen).collect();
    if seen.is_empty() { Err(Error::NoKernelFeatures) } else { Ok(seen) }
}

/// Returns the features that kernels see with their scales: one over the standard deviations, 1 for
/// constant columns; no scales for features as they are.
pub(in super::super) fn kernel_features(
    data: &Dataset,
    standardize: bool,
) -> Result<(Design, Option<Vec<f64>>), Error> {
    if !standardize {
        return Ok((data.design().clone(), None));
    }
    let standardizer = Standardizer::fit(data.design(), data.weights());
    let scales = standardizer.unscale_coefficients(&vec![1.0; data.columns()]);
    Ok((standardizer.scale(data.design().clone())?, Some(scales)))
}
