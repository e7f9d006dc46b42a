use margins_boost::{Combination, Evaluation, GameOutcome};
use margins_data::Dataset;
use margins_losses::ZeroOne;
use margins_model::{Model, TrainingSummary};
use margins_optim::Status;
use margins_optim::online::LinearClassifier;

use super::committee::Committee;
use super::game::Table;
use super::settings::Settings;
#[cfg(feature = "serde")]
use crate::checkpoint::{CheckpointFile, Kind};
use crate::{Error, Evidence, linear_model};

/// The ensemble at the end of a game.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Fitted {
    /// The average of linear classifiers; `None` of another ensemble, which no model holds, and
    /// before the first classifier was taken. No probabilities follow from a game, so that its loss
    /// is the 0-1 loss.
    pub model: Option<Model>,
    /// The ensemble judged on all samples.
    pub evidence: Evidence,
    /// The end of the game.
    pub ending: GameOutcome,
    /// The loss of every sample, and the mistakes.
    pub evaluation: Evaluation,
    /// The way in which the classifiers make one.
    pub combination: Combination,
    /// The classifiers that the game leaves behind.
    pub ensemble: Committee,
    /// The number of samples learnt from.
    pub samples: usize,
    /// The most steps.
    pub max_steps: u64,
    /// True if the game ended by consistency or by the most steps, and not by a pause or the clock.
    pub finished: bool,
    /// The limit that ended the game, if one did: [`Status::TimeLimit`].
    pub stopped: Option<Status>,
    /// The rows with slack, from 0, the largest first; `None` without slack.
    pub outliers: Option<Vec<usize>>,
    /// The specification of the kernel of the learner.
    pub kernel: Option<String>,
}

/// The files of games; those of version 1 have settings by the names of options, those of version 2
/// say nothing of the data.
#[cfg(feature = "serde")]
const GAME: Kind = Kind {
    format: "margins-fol-checkpoint",
    version: 3,
    job: "a game",
    method: "focused online learning",
};

impl Settings {
    /// Plays the game on data of two classes.
    ///
    /// # Errors
    /// [`check`](Self::check) says which settings are refused. [`Error::Boost`], [`Error::Optim`]:
    /// a number outside its range, or a learner whose numbers overflow. [`Error::Boost`] too: the
    /// function of [`iterations`](Self::iterations) ended the game. `Error::Checkpoint`: a file that
    /// is not the state of this game.
    pub fn fit(&self, data: &Dataset) -> Result<Fitted, Error> {
        self.check()?;
        data.design().check_fits(1, 0)?;
        let limits = self.iterations.limits(self.time_limit);
        let part = self.chosen_rows(data.rows())?.map(|rows| data.select(&rows));
        let chosen = part.as_ref().unwrap_or(data);
        let horizon = self.horizon(chosen.rows())?;
        #[cfg(feature = "serde")]
        let checkpoint = self.checkpoint.as_ref();
        let table = Table {
            settings: self,
            data: chosen,
            all: data,
            horizon,
            limits,
            #[cfg(feature = "serde")]
            file: checkpoint.map(|checkpoint| CheckpointFile {
                kind: &GAME,
                path: &checkpoint.path,
                settings: self.describe(data, &horizon),
            }),
            #[cfg(feature = "serde")]
            pause_at: checkpoint.and_then(|checkpoint| checkpoint.pause_at).unwrap_or(u64::MAX),
            #[cfg(not(feature = "serde"))]
            pause_at: u64::MAX,
        };
        let outcome = table.play()?;
        let (ending, evaluation) = (outcome.ending, outcome.evaluation);
        let model = match outcome.ensemble.classifier() {
            Some(classifier) => Some(model(data, chosen.rows(), &classifier)?),
            None => None,
        };
        Ok(Fitted {
            model,
            evidence: Evidence::Played {
                max_loss: evaluation.max_loss(),
                consistent_at: ending.consistent_at,
            },
            finished: ending.consistent_at.is_some() || ending.rounds == horizon.rounds(),
            stopped: outcome.stopped,
            ending,
            evaluation,
            combination: self.combination(),
            ensemble: outcome.ensemble,
            samples: chosen.rows(),
            max_steps: horizon.rounds(),
            outliers: outcome.outliers,
            kernel: outcome.kernel,
        })
    }
}

/// Returns the model of the average, learnt from some of the rows.
fn model(data: &Dataset, rows: usize, classifier: &LinearClassifier) -> Result<Model, Error> {
    let labels = data.labels();
    let classes = (labels.negative_class(), labels.positive_class());
    let names = data.feature_names().map(<[String]>::to_vec);
    let training = TrainingSummary::uncertified(rows);
    let model = linear_model(&ZeroOne, None, classes, names, training, classifier)?;
    Ok(model.with_encoding(data.encoding().cloned())?)
}
