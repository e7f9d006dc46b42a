use super::{ClassifierBuilder, contradiction};
use crate::space::Space;
use crate::{Approximation, Error};

/// What is said of a kernel.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    specification: Option<String>,
    approximation: Option<Approximation>,
}

impl Settings {
    pub(super) fn space(self) -> Result<Space, Error> {
        match (self.specification, self.approximation.unwrap_or_default()) {
            (Some(specification), approximation) => {
                Ok(Space::Kernel { specification, approximation })
            }
            (None, Approximation::None) => Ok(Space::Linear),
            (None, approximation) => Err(contradiction(
                format!("approximation {approximation}"),
                "a linear classifier".to_owned(),
                "it is kernels that are approximated",
            )),
        }
    }
}

/// With the feature `kernels`.
impl ClassifierBuilder {
    /// A kernel classifier, by the specification of the kernel, such as `gaussian:sigma=0.5`; `gaussian` alone takes
    /// sigma from the data, [`PRECOMPUTED`](crate::PRECOMPUTED) takes the samples for rows of a kernel matrix.
    #[doc(alias = "gamma")]
    #[must_use]
    pub fn kernel(mut self, specification: impl Into<String>) -> Self {
        self.kernel.specification = Some(specification.into());
        self
    }

    /// How the kernel is approximated.
    #[must_use]
    pub fn approximation(mut self, approximation: Approximation) -> Self {
        self.kernel.approximation = Some(approximation);
        self
    }
}
