//! Focused online learning: minimises the maximal loss by any online learner.
//!
//! This crate knows nothing of kernels, files or the command. It plays the game
//! `min_w max_p sum_i p_i l(w, x_i, y_i)`: one player draws the samples from which the other, an
//! [`OnlineLearner`](margins_optim::online::OnlineLearner), learns. Uniform draws minimise the *mean*
//! loss; a focused player, which draws samples with large losses more often, the *largest* loss.
//!
//! * [`Fol`]: focused online learning; [`Horizon`]: its rounds and outputs, by theorem 1 with its
//!   constants.
//! * [`Game`] of a [`SamplePlayer`] and a learner; [`Ensemble`]: its result; [`Evaluation`]: the
//!   losses of the result on samples.
//! * [`FocusedSampler`]: the focused draws alone, for a learner of any kind.
//! * [`Checkpoint`]: a game to resume later.
//! * [`SampleTree`]: draws samples by weight and multiplies weights, without overflow or drift.
//! * [`StumpWinnow`], [`KernelPerceptron`], [`MultilayerPerceptron`]: learners in addition to the
//!   learners of [`margins_optim::online`]; [`KeslerPerceptron`]: several classes in one game.
//! * [`bounds`]: the theorems and lemmas of the paper as calculators.
//! * [`Slack`] and [`Subsample`]: robustness against outliers.
//! * [`opponents`]: AdaBoost, EXP3.P.1, the sublinear perceptron, the largest margin of a vote.
//!
//! Source: S. Shalev-Shwartz and Y. Wexler, *Minimizing the maximal loss: how and why?* (ICML
//! 2016).
//!
//! ```
//! use margins_boost::{Evaluation, Fol, FocusedPlayer, Horizon, Stop};
//! use margins_data::generate::GaussianMixture;
//! use margins_losses::ZeroOne;
//! use margins_optim::online::Perceptron;
//!
//! // Two clusters, ten deviations apart.
//! let mixture =
//!     GaussianMixture::with_centres(vec![vec![1.0, 0.0]], vec![vec![-1.0, 0.0]], 0.1)?;
//! let data = mixture.sample(100, 1)?;
//! let horizon = Horizon::classification(100, 0.01, 100.0)?;
//! let (player, learner) = (FocusedPlayer::new(100)?, Perceptron::new(2));
//! let mut game = Fol::new(player, learner, data.design(), data.labels(), horizon, 1)?;
//! game.run(Stop::Consistent)?;
//! let result = Evaluation::new(game.ensemble(), data.design(), data.labels(), &ZeroOne)?;
//! assert_eq!(result.max_loss(), 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod bounds;
mod checkpoint;
mod consistency;
mod ensemble;
mod error;
mod evaluation;
mod game;
mod horizon;
mod kernel_perceptron;
mod kesler;
mod multilayer_perceptron;
pub mod opponents;
mod player;
mod player_kind;
mod power_of_two;
mod regression;
mod sample_tree;
mod sampler;
mod shared;
mod slack;
mod stump;
mod subsample;

pub use checkpoint::Checkpoint;
pub use ensemble::{Combination, Ensemble};
pub use error::Error;
pub use evaluation::Evaluation;
pub use game::{Fol, Game, GameOutcome, Stop};
pub use horizon::{Horizon, mean_loss_bound};
pub use kernel_perceptron::{KernelExpansion, KernelPerceptron, Support};
pub use kesler::{KeslerPerceptron, LinearClasses, kesler_sample, kesler_samples};
pub use multilayer_perceptron::{MultilayerPerceptron, Network};
pub use player::{FocusedPlayer, SamplePlayer, UniformPlayer};
pub use player_kind::{Player, PlayerKind};
pub use regression::{ClippedMean, RegressionGame, RegressionOutcome, largest_norm};
pub use sample_tree::SampleTree;
pub use sampler::FocusedSampler;
pub use slack::{Slack, SlackKind, projection_threshold};
pub use stump::{Stump, StumpSearch, StumpVote, StumpWinnow};
pub use subsample::Subsample;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
