//! Focused online learning: the largest loss of a sample made small, by a game between an online
//! learner and a player who draws the samples that it gets wrong (Shalev-Shwartz and Wexler 2016).
//! The evidence is the ensemble judged on every sample.
//!
//! ```
//! use margins_data::{Dataset, Design, Labels};
//! use margins_estimators::Evidence;
//! use margins_estimators::focused::EnsembleSettings;
//!
//! let design = Design::from_rows(&[[1.0, 0.1], [-1.0, 0.2], [0.5, -0.9]])?;
//! let data = Dataset::new(design, Labels::from_signs(vec![1.0, -1.0, 1.0])?)?;
//! let fitted = EnsembleSettings::default().fit(&data)?;
//! assert!(matches!(fitted.evidence, Evidence::Played { consistent_at: Some(_), .. }));
//! assert!(fitted.evaluation.consistent() && fitted.model.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod classes;
mod committee;
mod fit;
mod game;
mod game_file;
mod joint;
mod learner;
mod output;
mod plurality;
mod regression;
#[cfg(feature = "serde")]
mod sampler_file;
mod settings;
mod specification;
mod weights;

pub use classes::FittedEnsembles;
pub use committee::Committee;
pub use fit::FittedEnsemble;
pub use game::SeenLosses;
pub use learner::FocusedLearner;
pub use output::Output;
pub use regression::{FittedRegressor, Regressor, RegressorSettings};
#[cfg(feature = "serde")]
pub use sampler_file::{load_sampler, sampler_from_bytes, sampler_to_bytes, save_sampler};
#[cfg(feature = "serde")]
pub use settings::Checkpointing;
pub use settings::{
    EnsembleSettings, Guarantee, MistakeBound, SlackBudget, SlackRule, Subsampling,
};
