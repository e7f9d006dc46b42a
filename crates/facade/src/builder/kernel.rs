//! The settings of kernels in the builder.

use margins_data::Memory;
use margins_estimators::regularised::{Approximation, KernelChoice, Sigmas};

use super::ClassifierBuilder;
use crate::Error;

impl ClassifierBuilder {
    /// Fits a kernel classifier, by the specification of the kernel, such as `gaussian:sigma=0.5`;
    /// `gaussian` alone takes sigma from the data, [`PRECOMPUTED`](crate::PRECOMPUTED) takes the
    /// samples for rows of a kernel matrix.
    #[doc(alias = "gamma")]
    #[must_use]
    pub fn kernel(mut self, specification: impl Into<String>) -> Self {
        self.kernels = Some(vec![specification.into()]);
        self
    }

    /// Chooses among kernels by cross-validation, together with lambda: the one with the lowest error
    /// on the same folds, of several the first. Distances between samples are computed once a
    /// kernel, for all folds, lambdas and members.
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
    /// let chosen = report.kernels.iter().find(|tried| Some(&tried.specification) == report.kernel.as_ref());
    /// let least = |curve: &margins::optim::ErrorCurve| curve.mean_error[curve.best];
    /// let chosen = least(&chosen.ok_or("chosen from these")?.curve);
    /// assert!(report.kernels.iter().all(|tried| chosen <= least(&tried.curve)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn kernels<S: Into<String>>(mut self, specifications: impl IntoIterator<Item = S>) -> Self {
        self.kernels = Some(specifications.into_iter().map(Into::into).collect());
        self
    }

    /// Chooses among values of sigma, too, by cross-validation: every kernel that leaves its sigma
    /// out is tried with each of them.
    ///
    /// ```
    /// use margins::{Classifier, CrossValidation, Sigmas};
    /// use margins::data::generate::{Example, GaussianMixture};
    /// use margins::optim::lambda_grid;
    ///
    /// let data = GaussianMixture::example(Example::One, 1)?.sample(60, 2)?;
    /// let how = CrossValidation { lambdas: lambda_grid(1.0, 1e-3, 5)?, ..CrossValidation::default() };
    /// let builder = Classifier::builder().kernel("gaussian").sigmas(Sigmas::Auto { count: 3 });
    /// let classifier = builder.cross_validation(how).build()?.fit(&data)?;
    /// assert_eq!(classifier.report().kernels.len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sigmas(mut self, sigmas: Sigmas) -> Self {
        self.settings.kernels.sigmas = Some(sigmas);
        self
    }

    /// Approximates the kernel.
    #[must_use]
    pub fn approximation(mut self, approximation: Approximation) -> Self {
        self.settings.kernels.approximation = approximation;
        self
    }

    /// Bounds the memory of the matrix of a kernel that is not approximated, half of what is free
    /// by default. The values of a larger matrix are recomputed wherever they are needed: the
    /// fits are the same, certified, and take longer.
    ///
    /// ```
    /// use margins::Classifier;
    /// use margins::data::Memory;
    /// use margins::data::generate::{Example, GaussianMixture};
    /// use margins::losses::Hinge;
    ///
    /// let data = GaussianMixture::example(Example::One, 1)?.sample(60, 2)?;
    /// let builder = Classifier::builder().kernel("gaussian:sigma=1").loss(Hinge).lambda(0.01);
    /// let computed = builder.memory(Memory::from_bytes(1000)).build()?.fit(&data)?;
    /// assert!(computed.report().is_certified());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn memory(mut self, memory: Memory) -> Self {
        self.settings.kernels.memory = Some(memory);
        self
    }

    /// Returns the kernels to choose from, of which there is at least one if any was named.
    pub(super) fn kernel_choice(&mut self) -> Result<KernelChoice, Error> {
        let specifications = self.kernels.take();
        if specifications.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::Setting {
                setting: "the number of kernels",
                value: "0".to_owned(),
                requirement: "at least 1".to_owned(),
            });
        }
        Ok(KernelChoice {
            specifications: specifications.unwrap_or_default(),
            sigmas: self.settings.kernels.sigmas.take(),
            approximation: self.settings.kernels.approximation,
            memory: self.settings.kernels.memory,
            registry: self.registry.kernels.clone(),
        })
    }
}
