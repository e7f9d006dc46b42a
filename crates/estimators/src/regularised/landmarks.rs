//! Nystrom features of samples that are not in memory: every shard has the landmarks, and makes the
//! features of its samples where these are. Features without a penalty stand beside the kernel.

use std::sync::Arc;

use margins_data::Design;
use margins_kernels::features::NystromMap;
use margins_kernels::{Kernel, KernelRegistry};
use margins_losses::MarginLoss;
use margins_model::{Basis, Functions};
use margins_optim::Fit;
use margins_optim::problem::PenaltyFactors;
use margins_optim::shards::{
    BinaryProblem, Blocks, Failure, Landmarks, Rows, StoredRows, Workers, rows_over_shards,
    spreads_over_shards,
};

use super::approximation::Approximation;
use super::data_summary::DataSummary;
use super::prepared::seen_by_kernel;
use super::settings::ClassifierSettings;
use super::space::FunctionSpace;
use crate::Error;

/// A kernel with landmarks, whose features take the place of those of the samples.
#[derive(Debug)]
pub(super) struct LandmarkFeatures {
    kernel: Arc<dyn Kernel>,
    /// The features that stand beside the kernel, ascending; they come before those of the map.
    beside: Vec<usize>,
    /// The factors that features are multiplied with before the kernel sees them.
    scales: Option<Vec<f64>>,
    /// The map of the landmarks, scaled.
    map: NystromMap,
}

impl LandmarkFeatures {
    /// Returns the features of a kernel with these landmarks, given with all features and their scales;
    /// a Gaussian kernel without sigma takes it from them.
    fn on(
        settings: &ClassifierSettings,
        specification: &str,
        landmarks: &Design,
        scales: Option<Vec<f64>>,
        beside: Vec<usize>,
    ) -> Result<Self, Error> {
        let seen = seen_by_kernel(landmarks.columns(), &beside)?;
        let mut landmarks = landmarks.select_columns(&seen)?;
        let scales: Option<Vec<f64>> =
            scales.map(|scales| seen.iter().map(|&j| scales[j]).collect());
        if let Some(scales) = &scales {
            landmarks.scale_columns(scales);
        }
        let mut kernel = settings.kernels.registry.parse(specification)?;
        kernel.adapt_to(&landmarks, None, settings.seed)?;
        let map = NystromMap::on(&*kernel, &landmarks)?;
        Ok(LandmarkFeatures { kernel: kernel.into(), beside, scales, map })
    }

    fn from_message(landmarks: &Landmarks, registry: &KernelRegistry) -> Result<Self, Failure> {
        let Landmarks { kernel, features, beside, scales, sparse, samples, factor } = landmarks;
        let wrong = |s: &Vec<f64>| s.len() != *features || !s.iter().all(|s| s.is_finite());
        if scales.as_ref().is_some_and(wrong) {
            return Err(format!("landmarks have no scales for {features} features").into());
        }
        if !beside.is_sorted_by(|j, next| j < next) {
            return Err(
                format!("the features beside the kernel are {beside:?}, not ascending").into()
            );
        }
        let kernel: Arc<dyn Kernel> = registry.parse(kernel)?.into();
        let samples = samples.clone().into_design(*features, *sparse)?;
        let map = NystromMap::from_factor(samples, factor)?;
        Ok(LandmarkFeatures { kernel, beside: beside.clone(), scales: scales.clone(), map })
    }

    pub(super) fn message(&self) -> Landmarks {
        let landmarks = self.map.landmarks();
        Landmarks {
            kernel: self.specification(),
            features: landmarks.columns(),
            beside: self.beside.clone(),
            scales: self.scales.clone(),
            sparse: landmarks.is_sparse(),
            samples: StoredRows::of(landmarks, 0..landmarks.rows()),
            factor: self.map.factor(),
        }
    }

    pub(super) fn specification(&self) -> String {
        self.kernel.specification()
    }

    /// Returns the number of features, those beside the kernel included.
    pub(super) fn count(&self) -> usize {
        self.beside.len() + self.map.features()
    }

    /// Returns the number of features that stand beside the kernel, the first ones.
    pub(super) fn count_beside(&self) -> usize {
        self.beside.len()
    }

    /// Returns the penalty factors: 0 beside the kernel.
    pub(super) fn penalty(&self) -> Result<PenaltyFactors, Error> {
        let mut factors = vec![0.0; self.beside.len()];
        factors.resize(self.count(), 1.0);
        Ok(PenaltyFactors::of_columns(factors)?)
    }

    /// Returns the functions that a model of fits has to hold, and the coefficients of every fit.
    pub(super) fn basis(&self, fits: &[&Fit]) -> Result<(Option<Basis>, Vec<Vec<f64>>), Error> {
        let sections = Functions::Sections(self.map.landmarks().clone());
        let basis = Basis::new(&*self.kernel, self.scales.clone(), sections)?;
        let coef = |fit: &&Fit| {
            let (beside, of_map) = fit.coef.split_at(self.beside.len());
            [beside, &self.map.kernel_coefficients(of_map)].concat()
        };
        let basis = basis.with_linear(self.beside.clone())?;
        Ok((Some(basis), fits.iter().map(coef).collect()))
    }

    fn of(&self, samples: &Design) -> Result<Design, Failure> {
        if samples.rows() == 0 {
            // A map makes no features of no rows.
            return Ok(Design::from_sparse_rows(&[Vec::new()], self.count())?.select(&[]));
        }
        let (found, expected) =
            (samples.columns(), self.beside.len() + self.map.landmarks().columns());
        if found != expected {
            return Err(format!("{found} features of samples, not {expected}").into());
        }
        let mut seen = samples.clone();
        if !self.beside.is_empty() {
            seen = samples.select_columns(&seen_by_kernel(found, &self.beside)?)?;
        }
        if let Some(scales) = &self.scales {
            seen.scale_columns(scales);
        }
        let features = self.map.transform(&*self.kernel, &seen)?;
        if self.beside.is_empty() {
            return Ok(features);
        }
        Ok(samples.select_columns(&self.beside)?.beside(&features)?)
    }
}

/// Partitions that make Nystrom features of their samples where a fit asks for that: a shard of them
/// serves kernels and linear fits alike.
#[derive(Debug)]
pub struct LandmarkBlocks<B> {
    blocks: B,
    registry: KernelRegistry,
    /// True if features are kept once they are made.
    keeps: bool,
    features: Option<LandmarkFeatures>,
    /// The features that have been made, with their places: all of them, or those asked for last.
    made: Vec<(usize, Arc<Design>)>,
}

impl<B: Blocks> LandmarkBlocks<B> {
    /// Returns partitions that recompute their features when other landmarks are asked for; the
    /// registry has the kernels that fits may name.
    pub fn new(blocks: B, registry: KernelRegistry) -> Self {
        LandmarkBlocks { blocks, registry, keeps: false, features: None, made: Vec::new() }
    }

    /// Returns partitions that keep the features of all samples, m numbers of 8 bytes per row.
    #[must_use]
    pub fn kept(self) -> Self {
        LandmarkBlocks { keeps: true, ..self }
    }

    /// Returns the partitions as they came.
    pub fn blocks(&mut self) -> &mut B {
        &mut self.blocks
    }
}

impl<B: Blocks> Blocks for LandmarkBlocks<B> {
    fn partitions(&self) -> &[usize] {
        self.blocks.partitions()
    }

    fn rows(&self, k: usize) -> &Arc<Rows> {
        self.blocks.rows(k)
    }

    fn design(&mut self, k: usize) -> Result<Arc<Design>, Failure> {
        let Some(features) = &self.features else { return self.blocks.design(k) };
        if let Some((_, design)) = self.made.iter().find(|(place, _)| *place == k) {
            return Ok(Arc::clone(design));
        }
        if !self.keeps {
            self.made.clear();
        }
        let design = Arc::new(features.of(&*self.blocks.design(k)?)?);
        self.made.push((k, Arc::clone(&design)));
        Ok(design)
    }

    fn are_in_memory(&self) -> bool {
        self.blocks.are_in_memory() && (self.keeps || self.features.is_none())
    }

    fn map(&mut self, landmarks: Option<&Landmarks>) -> Result<(), Failure> {
        self.made.clear();
        let read = |landmarks| LandmarkFeatures::from_message(landmarks, &self.registry);
        self.features = landmarks.map(read).transpose()?;
        Ok(())
    }
}

/// Returns the factors by which features of samples that workers hold are scaled to unit standard
/// deviation in a problem.
pub(super) fn scales_over(
    workers: &mut dyn Workers,
    loss: &dyn MarginLoss,
    problem: &BinaryProblem,
) -> Result<Option<Vec<f64>>, Error> {
    Ok(spreads_over_shards(workers, loss, problem)?.map(|spreads| spreads.factors()))
}

impl ClassifierSettings {
    /// Returns the Nystrom features that take the place of those of samples that workers hold, if the
    /// settings name such a kernel. The landmarks are the rows that a fit in memory draws.
    pub(super) fn features_of(
        &self,
        workers: &mut dyn Workers,
        table: &DataSummary,
    ) -> Result<Option<LandmarkFeatures>, Error> {
        let Some((kernel, count)) = self.landmarks()? else { return Ok(None) };
        if count == 0 {
            return Err(
                margins_kernel_functions::Error::TooFewFeatures { least: 1, found: 0 }.into()
            );
        }
        let scales = if self.standardize {
            let costs = self.class_costs.of(&table.classes)?;
            let all = BinaryProblem { costs, ..BinaryProblem::default() };
            scales_over(workers, &*self.loss, &all)?
        } else {
            None
        };
        let drawn = NystromMap::rows(table.rows(), count, self.seed);
        let (features, sparse) = (table.features, table.sparse);
        let landmarks = rows_over_shards(workers, &table.partitions, &drawn, features, sparse)?;
        let names = table.feature_names.as_deref();
        let factors = self.penalty_factors.as_ref().map(|factors| factors.on(names, features));
        let beside = factors.transpose()?.map_or(Vec::new(), |on| on.free().get().to_vec());
        LandmarkFeatures::on(self, &kernel, &landmarks, scales, beside).map(Some)
    }

    /// Returns the kernel with the number of landmarks that its features have, if it is one whose
    /// features can be made of samples that are not in memory.
    ///
    /// # Errors
    /// A setting that such features do not go with.
    pub(super) fn landmarks(&self) -> Result<Option<(String, usize)>, Error> {
        let spaces = self.spaces()?;
        let [FunctionSpace::Kernel { specification, approximation }] = &spaces[..] else {
            return Ok(None);
        };
        let Approximation::Nystrom { landmarks, leverage: None } = *approximation else {
            return Ok(None);
        };
        let refused = [
            (
                self.certify_exact,
                "certify_exact",
                "it takes a pass over the kernel matrix of all rows",
            ),
            (self.kernels.sigmas.is_some(), "sigmas", "give the kernel its sigma"),
        ];
        match refused.into_iter().find(|(given, ..)| *given) {
            Some((_, one, reason)) => {
                let other = "Nystrom features of samples that are not in memory".to_owned();
                Err(Error::contradiction(one.to_owned(), other, reason))
            }
            None => Ok(Some((specification.clone(), landmarks))),
        }
    }
}
