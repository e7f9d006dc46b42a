//! The losses and kernels that a model may name.

use margins_kernel_functions::{Kernel, KernelRegistry};
use margins_losses::{LossRegistry, MarginLoss};

/// The losses and kernels that specifications and model files may name: those of this project and
/// yours.
///
/// A model file names its loss and its kernel, and needs a registry that knows both to be read; the
/// error names the one that is missing. With the feature `serde` a reference to a registry is a
/// `DeserializeSeed` of [`Model`](crate::Model).
///
/// ```
/// use margins_losses::MarginLoss;
/// use margins_model::Registry;
///
/// /// `max(0, 1 - u)^4`.
/// #[derive(Debug)]
/// struct Quartic;
///
/// impl MarginLoss for Quartic {
///     fn name(&self) -> &str {
///         "quartic"
///     }
///     fn value(&self, u: f64) -> f64 {
///         (1.0 - u).max(0.0).powi(4)
///     }
///     fn derivative(&self, u: f64) -> f64 {
///         -4.0 * (1.0 - u).max(0.0).powi(3)
///     }
/// }
///
/// let registry = Registry::standard().with_loss("quartic", &[], |_| Ok(Box::new(Quartic)));
/// assert_eq!(registry.losses.parse("quartic")?.value(0.0), 1.0);
/// # Ok::<(), margins_losses::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Registry {
    /// The losses.
    pub losses: LossRegistry,
    /// The kernels.
    pub kernels: KernelRegistry,
}

impl Registry {
    /// Returns the registry of every loss and every kernel of this project.
    pub fn standard() -> Self {
        Self::default()
    }

    /// Adds a loss, or replaces the one of this name: [`LossRegistry::with`].
    #[must_use]
    pub fn with_loss(
        mut self,
        name: &str,
        parameters: &[(&str, f64)],
        constructor: impl Fn(&[f64]) -> Result<Box<dyn MarginLoss>, margins_losses::Error>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.losses = self.losses.with(name, parameters, constructor);
        self
    }

    /// Adds a kernel, or replaces the one of this name: [`KernelRegistry::with`].
    #[must_use]
    pub fn with_kernel(
        mut self,
        name: &str,
        parameters: &[(&str, Option<f64>)],
        constructor: impl Fn(&[f64]) -> Result<Box<dyn Kernel>, margins_kernel_functions::Error>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.kernels = self.kernels.with(name, parameters, constructor);
        self
    }
}
