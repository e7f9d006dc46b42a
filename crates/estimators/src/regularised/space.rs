//! The choice of kernels, and the space of functions of each.

use margins_data::{Dataset, Memory};
use margins_kernels::KernelRegistry;

use super::approximation::Approximation;
use super::prepared::{PRECOMPUTED, kernel_features};
use super::sigmas::{Sigmas, filled_in};
use crate::Error;

/// The kernels that a classifier may have; without any it is linear.
#[derive(Debug, Clone, Default)]
pub struct KernelChoice {
    /// The specifications, such as `gaussian:sigma=0.5`. `gaussian` alone takes sigma from the
    /// data, and [`PRECOMPUTED`] takes the samples for rows of a kernel matrix. Cross-validation
    /// chooses among several: the first with the lowest error on the same folds.
    pub specifications: Vec<String>,
    /// The values of sigma to choose from, each of them a kernel, for all specifications that leave
    /// their sigma out. By default a Gaussian kernel takes sigma from the data.
    pub sigmas: Option<Sigmas>,
    /// The approximation of every kernel.
    pub approximation: Approximation,
    /// The most memory for the matrix of a kernel that is not approximated; half of what is free
    /// by default. The values of a larger matrix are recomputed wherever they are needed.
    pub memory: Option<Memory>,
    /// The kernels that specifications may name.
    pub registry: KernelRegistry,
}

/// The space of functions of a classifier, which the data will be prepared for.
#[derive(Debug, Clone)]
pub(super) enum FunctionSpace {
    Linear,
    Kernel { specification: String, approximation: Approximation },
}

impl FunctionSpace {
    /// Returns the specification of the kernel, if there is one.
    pub(super) fn kernel(&self) -> Option<&str> {
        match self {
            FunctionSpace::Linear => None,
            FunctionSpace::Kernel { specification, .. } => Some(specification),
        }
    }

    /// Returns true if fits are linear in features, those of the data or others in their place.
    pub(super) fn has_features(&self) -> bool {
        match self {
            FunctionSpace::Linear => true,
            FunctionSpace::Kernel { approximation, .. } => approximation.has_features(),
        }
    }
}

impl KernelChoice {
    /// Returns a space for each kernel, or the linear one if there is no kernel; sigmas that come from
    /// the data are placeholders.
    pub(super) fn spaces(&self) -> Result<Vec<FunctionSpace>, Error> {
        let Some(sigmas) = &self.sigmas else { return self.spaces_of(&self.specifications) };
        sigmas.check()?;
        let some = match sigmas {
            Sigmas::Given(values) => values,
            Sigmas::Auto { count } => &vec![1.0; *count],
        };
        self.spaces_with(sigmas, some)
    }

    /// Returns the memory limit for the matrix of one of several kernels: the limit of the user, or
    /// half of the free memory, of which the best kernel so far takes one half if there are several.
    /// `None` if the system does not report the free memory.
    pub(super) fn memory_of_matrix(&self, kernels: usize) -> Option<Memory> {
        let of_one = |half: Memory| if kernels > 1 { half.half() } else { half };
        self.memory.or_else(|| Memory::free().map(Memory::half).map(of_one))
    }

    /// Returns the spaces for data: a space a kernel and sigma, or the linear one.
    pub(super) fn spaces_for(
        &self,
        data: &Dataset,
        standardize: bool,
        seed: u64,
    ) -> Result<Vec<FunctionSpace>, Error> {
        let Some(sigmas) = &self.sigmas else { return self.spaces() };
        sigmas.check()?;
        let samples = || kernel_features(data, standardize).map(|(features, _)| features);
        self.spaces_with(sigmas, &sigmas.values(samples, data.own_weights(), seed)?)
    }

    fn spaces_with(&self, sigmas: &Sigmas, values: &[f64]) -> Result<Vec<FunctionSpace>, Error> {
        if matches!(sigmas, Sigmas::Auto { .. }) {
            // Distances suggest a sigma for Gaussian kernels only.
            self.check_names(&self.specifications)?;
        }
        let filled = filled_in(&self.specifications, values, &self.registry)?;
        let filled = filled.ok_or_else(|| {
            let functions = match &self.specifications[..] {
                [] => "a linear classifier".to_owned(),
                kernels => format!("kernel {}", kernels.join(", ")),
            };
            let reason = "sigmas are for kernels that leave their sigma out, as gaussian does";
            Error::contradiction(format!("sigmas {sigmas}"), functions, reason)
        })?;
        self.spaces_of(&filled)
    }

    fn spaces_of(&self, specifications: &[String]) -> Result<Vec<FunctionSpace>, Error> {
        let approximation = self.approximation;
        self.check_memory(specifications)?;
        if specifications.is_empty() {
            return match approximation {
                Approximation::None => Ok(vec![FunctionSpace::Linear]),
                approximation => Err(Error::contradiction(
                    format!("approximation {approximation}"),
                    "a linear classifier".to_owned(),
                    "only kernels are approximated",
                )),
            };
        }
        self.check_names(specifications)?;
        let space = |specification: &String| FunctionSpace::Kernel {
            specification: specification.clone(),
            approximation,
        };
        Ok(specifications.iter().map(space).collect())
    }

    /// Refuses a bound on the memory of a matrix that is not computed, whatever the loss.
    fn check_memory(&self, specifications: &[String]) -> Result<(), Error> {
        let Some(memory) = self.memory else { return Ok(()) };
        let other = if let Approximation::Cholesky { .. } = self.approximation {
            format!("approximation {}", self.approximation)
        } else if specifications.is_empty() {
            "a linear classifier".to_owned()
        } else if specifications.iter().any(|kernel| kernel == PRECOMPUTED) {
            format!("kernel {PRECOMPUTED}")
        } else {
            return Ok(());
        };
        let reason = "memory limits a kernel matrix that is computed from the features";
        Err(Error::contradiction(format!("memory {memory}"), other, reason))
    }

    /// Refuses specifications that the registry does not take.
    fn check_names(&self, specifications: &[String]) -> Result<(), Error> {
        let mut evaluated = specifications.iter().filter(|kernel| *kernel != PRECOMPUTED);
        Ok(evaluated.try_for_each(|kernel| self.registry.parse(kernel).map(drop))?)
    }
}
