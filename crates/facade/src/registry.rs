use margins_kernels::KernelRegistry;
use margins_losses::LossRegistry;

/// The losses and kernels that specifications and model files may name. Add yours to either.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    /// The losses.
    pub losses: LossRegistry,
    /// The kernels.
    pub kernels: KernelRegistry,
}

impl Registry {
    /// Every loss and every kernel of this project.
    pub fn standard() -> Self {
        Self::default()
    }
}
