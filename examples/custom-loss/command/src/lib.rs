//! Everything that `margins` offers, over two more losses.

use margins::Registry;

/// The losses and kernels of `margins`, with `dwd` and `tsallis` among the losses.
pub fn registry() -> Registry {
    let mut registry = Registry::standard();
    registry.losses = custom_losses::register(registry.losses);
    registry
}
