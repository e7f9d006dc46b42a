//! Two losses from the literature for `margins`: one file each, `margins-losses` alone to depend
//! on.
//!
//! ```
//! use custom_losses::{Tsallis, register};
//! use margins_losses::{LossRegistry, MarginLoss};
//!
//! let losses = register(LossRegistry::standard());
//! assert_eq!(losses.parse("tsallis:alpha=1.5")?.value(2.0), Tsallis::new(1.5)?.value(2.0));
//! # Ok::<(), margins_losses::Error>(())
//! ```

mod distance_weighted;
mod tsallis;

pub use distance_weighted::DistanceWeighted;
use margins_losses::LossRegistry;
pub use tsallis::Tsallis;

/// Makes both losses known by name, as `dwd:q=1` and `tsallis:alpha=1.5`.
pub fn register(losses: LossRegistry) -> LossRegistry {
    losses
        .with("dwd", &[("q", 1.0)], |values| Ok(Box::new(DistanceWeighted::new(values[0])?)))
        .with("tsallis", &[("alpha", 1.5)], |values| Ok(Box::new(Tsallis::new(values[0])?)))
}
