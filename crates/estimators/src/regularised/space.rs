#[cfg(feature = "kernels")]
use margins_kernels::KernelRegistry;

#[cfg(feature = "kernels")]
use super::approximation::Approximation;
#[cfg(feature = "kernels")]
use super::prepared::PRECOMPUTED;
#[cfg(feature = "kernels")]
use crate::Error;

/// The kernels that a classifier may have; linear functions where there is none.
#[cfg(feature = "kernels")]
#[derive(Debug, Clone, Default)]
pub struct KernelChoice {
    /// The specifications, such as `gaussian:sigma=0.5`. `gaussian` alone takes sigma from the
    /// data, and [`PRECOMPUTED`] takes the samples for rows of a kernel matrix. Cross-validation
    /// chooses among several: the one of the least error on the same folds, of several the first.
    pub specifications: Vec<String>,
    /// The approximation of every kernel.
    pub approximation: Approximation,
    /// The kernels that specifications may name.
    pub registry: KernelRegistry,
}

/// The space of functions of a classifier, which the data will be prepared for.
#[derive(Debug, Clone)]
pub(super) enum Space {
    Linear,
    #[cfg(feature = "kernels")]
    Kernel {
        specification: String,
        approximation: Approximation,
    },
}

impl Space {
    /// Returns the specification of the kernel, if there is one.
    pub(super) fn kernel(&self) -> Option<&str> {
        match self {
            Space::Linear => None,
            #[cfg(feature = "kernels")]
            Space::Kernel { specification, .. } => Some(specification),
        }
    }

    /// Returns true if fits are linear in features, those of the data or others in their place.
    pub(super) fn has_features(&self) -> bool {
        match self {
            Space::Linear => true,
            #[cfg(feature = "kernels")]
            Space::Kernel { approximation, .. } => approximation.has_features(),
        }
    }
}

#[cfg(feature = "kernels")]
impl KernelChoice {
    /// Returns a space a kernel, or the linear one if there is no kernel.
    pub(super) fn spaces(&self) -> Result<Vec<Space>, Error> {
        let approximation = self.approximation;
        if self.specifications.is_empty() {
            return match approximation {
                Approximation::None => Ok(vec![Space::Linear]),
                approximation => Err(Error::contradiction(
                    format!("approximation {approximation}"),
                    "a linear classifier".to_owned(),
                    "it is kernels that are approximated",
                )),
            };
        }
        let mut evaluated = self.specifications.iter().filter(|kernel| *kernel != PRECOMPUTED);
        evaluated.try_for_each(|kernel| self.registry.check(kernel))?;
        let space = |specification: &String| Space::Kernel {
            specification: specification.clone(),
            approximation,
        };
        Ok(self.specifications.iter().map(space).collect())
    }
}
