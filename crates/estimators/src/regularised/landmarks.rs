//! Nystrom features of samples that are not in memory: every shard has the landmarks, and makes the
//! features of its samples where these are.

use std::sync::Arc;

use margins_data::Design;
use margins_kernels::Kernel;
use margins_kernels::features::NystromMap;
use margins_model::{Basis, Functions};
use margins_optim::Fit;
use margins_optim::shards::{Blocks, Failure, Rows};

use super::approximation::Approximation;
use super::settings::Settings;
use super::space::Space;
use crate::Error;

/// A kernel with landmarks, whose features take the place of those of the samples.
#[derive(Debug)]
pub(super) struct LandmarkFeatures {
    kernel: Arc<dyn Kernel>,
    map: NystromMap,
}

impl LandmarkFeatures {
    /// Returns the features of a kernel with these landmarks; a Gaussian kernel without sigma takes
    /// it from them.
    pub(super) fn on(
        settings: &Settings,
        specification: &str,
        landmarks: &Design,
    ) -> Result<Self, Error> {
        let registry = &settings.kernels.registry;
        let kernel: Arc<dyn Kernel> =
            registry.parse_for(specification, landmarks, settings.seed)?.into();
        let map = NystromMap::on(&*kernel, landmarks)?;
        Ok(LandmarkFeatures { kernel, map })
    }

    /// Returns the number of features.
    pub(super) fn count(&self) -> usize {
        self.map.features()
    }

    /// Returns the specification of the kernel.
    pub(super) fn specification(&self) -> String {
        self.kernel.specification()
    }

    /// Returns the functions that a model of fits has to hold, and the coefficients of every fit.
    pub(super) fn basis(&self, fits: &[Fit]) -> Result<(Basis, Vec<Vec<f64>>), Error> {
        let sections = Functions::Sections(self.map.landmarks().clone());
        let basis = Basis::new(&*self.kernel, None, sections)?;
        Ok((basis, fits.iter().map(|fit| self.map.kernel_coefficients(&fit.coef)).collect()))
    }
}

/// Partitions with the features of landmarks, which are made whenever they are asked for.
pub(super) struct Mapped<'m, B> {
    blocks: B,
    features: &'m LandmarkFeatures,
    /// The features that were asked for last, with their place.
    last: Option<(usize, Arc<Design>)>,
}

impl<'m, B: Blocks> Mapped<'m, B> {
    /// Returns partitions with the features of landmarks.
    pub(super) fn new(blocks: B, features: &'m LandmarkFeatures) -> Self {
        Mapped { blocks, features, last: None }
    }
}

impl<B: Blocks> Blocks for Mapped<'_, B> {
    fn partitions(&self) -> &[usize] {
        self.blocks.partitions()
    }

    fn rows(&self, k: usize) -> &Arc<Rows> {
        self.blocks.rows(k)
    }

    fn design(&mut self, k: usize) -> Result<Arc<Design>, Failure> {
        if let Some((last, design)) = &self.last
            && *last == k
        {
            return Ok(Arc::clone(design));
        }
        self.last = None;
        let design = self.blocks.design(k)?;
        let LandmarkFeatures { kernel, map } = self.features;
        let features = if design.rows() == 0 {
            // A map makes no features of no rows.
            Design::from_sparse_rows(&[Vec::new()], map.features())?.select(&[])
        } else {
            map.transform(&**kernel, &design)?
        };
        let features = Arc::new(features);
        self.last = Some((k, Arc::clone(&features)));
        Ok(features)
    }
}

impl Settings {
    /// Returns the kernel with the number of landmarks that its features have, if it is one whose
    /// features can be made of samples that are not in memory.
    ///
    /// # Errors
    /// A setting that such features do not go with.
    pub(super) fn landmarks(&self) -> Result<Option<(String, usize)>, Error> {
        let spaces = self.spaces()?;
        let [Space::Kernel { specification, approximation }] = &spaces[..] else { return Ok(None) };
        let Approximation::Nystrom { landmarks, leverage: None } = *approximation else {
            return Ok(None);
        };
        let refused = [
            (self.standardize, "standardize", "standardise the features before blocks are written"),
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
