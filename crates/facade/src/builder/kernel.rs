use super::{ClassifierBuilder, contradiction};
use crate::space::Space;
use crate::{Approximation, Error, PRECOMPUTED, Registry};

/// What is said of a kernel.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    specifications: Option<Vec<String>>,
    approximation: Option<Approximation>,
}

impl Settings {
    /// A space a kernel, of which there is at least one; else the linear one.
    pub(super) fn spaces(self, registry: &Registry) -> Result<Vec<Space>, Error> {
        let Some(specifications) = self.specifications else {
            return match self.approximation.unwrap_or_default() {
                Approximation::None => Ok(vec![Space::Linear]),
                approximation => Err(contradiction(
                    format!("approximation {approximation}"),
                    "a linear classifier".to_owned(),
                    "it is kernels that are approximated",
                )),
            };
        };
        if specifications.is_empty() {
            return Err(Error::setting("the number of kernels", &0, "at least 1"));
        }
        let mut evaluated = specifications.iter().filter(|kernel| *kernel != PRECOMPUTED);
        evaluated.try_for_each(|kernel| registry.kernels.check(kernel))?;
        let approximation = self.approximation.unwrap_or_default();
        let space = |specification| Space::Kernel { specification, approximation };
        Ok(specifications.into_iter().map(space).collect())
    }
}

/// With the feature `kernels`.
impl ClassifierBuilder {
    /// A kernel classifier, by the specification of the kernel, such as `gaussian:sigma=0.5`; `gaussian` alone takes
    /// sigma from the data, [`PRECOMPUTED`](crate::PRECOMPUTED) takes the samples for rows of a kernel matrix.
    #[doc(alias = "gamma")]
    #[must_use]
    pub fn kernel(mut self, specification: impl Into<String>) -> Self {
        self.kernel.specifications = Some(vec![specification.into()]);
        self
    }

    /// Kernels to choose from by cross-validation, together with lambda: the one of the least error on the same folds,
    /// of several the first. Distances between samples are computed once a kernel, for all folds, lambdas and members.
    ///
    /// ```
    /// use margins::{Classifier, CrossValidation};
    /// use margins::data::generate::{Example, GaussianMixture};
    /// use margins::optim::lambda_grid;
    ///
    /// let data = GaussianMixture::example(Example::One, 1)?.sample(60, 2)?;
    /// let how = CrossValidation { lambdas: lambda_grid(1.0, 1e-3, 5)?, ..CrossValidation::default() };
    /// let kernels = ["gaussian:sigma=0.1", "gaussian:sigma=1", "linear"];
    /// let classifier = Classifier::builder().kernels(kernels).cross_validation(how).build()?.fit(&data)?;
    /// let report = classifier.report();
    /// assert_eq!(report.kernels.len(), 3);
    /// let chosen = report.kernels.iter().find(|tried| Some(&tried.kernel) == report.kernel.as_ref());
    /// let least = |curve: &margins::optim::ErrorCurve| curve.mean_error[curve.best];
    /// let chosen = least(&chosen.ok_or("chosen from these")?.curve);
    /// assert!(report.kernels.iter().all(|tried| chosen <= least(&tried.curve)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn kernels<S: Into<String>>(mut self, specifications: impl IntoIterator<Item = S>) -> Self {
        self.kernel.specifications = Some(specifications.into_iter().map(Into::into).collect());
        self
    }

    /// How the kernel is approximated.
    #[must_use]
    pub fn approximation(mut self, approximation: Approximation) -> Self {
        self.kernel.approximation = Some(approximation);
        self
    }
}
