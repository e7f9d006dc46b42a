//! Games of several classes.

use margins::data::digits::{self, percent};
use serde::Serialize;

use super::{TheoremDocument, ValidationDocument};
use crate::output::Lines;
use crate::output::classes::ClassesDocument;
use crate::output::data::{ClassDocument, size};
use crate::output::table::{MOST_LISTED, Table, name_cell, number};

/// A game for each class against the rest, and what the ensembles decide together.
#[derive(Serialize)]
pub(crate) struct GamesDocument<'a> {
    pub(crate) format: &'static str,
    pub(crate) version: u32,
    pub(crate) data: ClassesDocument<'a>,
    /// The scheme of the model; null if no model holds the ensembles.
    pub(crate) scheme: Option<String>,
    pub(crate) loss: String,
    pub(crate) kernel: Option<&'a str>,
    pub(crate) epsilon: f64,
    /// The probability of failure of all games together.
    pub(crate) delta: f64,
    pub(crate) standardize: bool,
    pub(crate) combination: &'static str,
    pub(crate) player: &'static str,
    pub(crate) seed: u64,
    pub(crate) finished: bool,
    /// The name of the status.
    pub(crate) status: &'static str,
    /// True if the decision is right on every row.
    pub(crate) consistent: bool,
    /// The most steps of a game until its ensemble was known to be right on every sample; null if that
    /// of one never was.
    pub(crate) steps_to_consistency: Option<u64>,
    /// The rows that the decision gets wrong, from 1.
    pub(crate) mistakes: Vec<usize>,
    pub(crate) training_error: f64,
    /// The share of the rows that always predicting the largest class gets wrong.
    pub(crate) baseline_error: f64,
    pub(crate) games: Vec<GameDocument<'a>>,
}

/// The game of a class, whose losses are those of the class against the rest.
#[derive(Serialize)]
pub(crate) struct GameDocument<'a> {
    pub(crate) name: &'a str,
    pub(crate) learner: &'a str,
    pub(crate) members: usize,
    pub(crate) samples: usize,
    pub(crate) steps: u64,
    pub(crate) max_steps: u64,
    pub(crate) status: &'static str,
    pub(crate) steps_to_consistency: Option<u64>,
    pub(crate) max_loss: f64,
    pub(crate) mean_loss: f64,
    pub(crate) mistakes: usize,
    pub(crate) seen_loss: f64,
    pub(crate) loss_bound: Option<f64>,
    pub(crate) theorem: TheoremDocument,
    pub(crate) validation: Option<ValidationDocument>,
    pub(crate) slack: Option<String>,
    pub(crate) outliers: Option<Vec<usize>>,
}

impl GamesDocument<'_> {
    /// Returns the lines on data and games.
    pub(crate) fn describe(&self) -> Lines {
        let mut lines = vec![
            size(&self.data.name, self.data.rows, self.data.columns),
            ("classes", ClassDocument::line(&self.data.classes)),
            ("loss", format!("{}, clipped to [0, 1]", self.loss)),
        ];
        let learner = self.games.first().map(|game| ("learner", game.learner.to_owned()));
        lines.extend(learner);
        lines.extend(self.kernel.map(|kernel| ("kernel", digits::specification(kernel))));
        lines.push(("ensembles", format!("{} of each class against the rest", self.combination)));
        lines
    }

    /// Returns the table of the first classes.
    pub(crate) fn table(&self) -> Table {
        let header = ["class", "classifiers", "steps", "maximal loss", "mistakes", ""];
        let mut table = Table::new(&header);
        for game in self.games.iter().take(MOST_LISTED) {
            table.row(vec![
                name_cell(game.name),
                game.members.to_string(),
                game.steps.to_string(),
                number(game.max_loss),
                game.mistakes.to_string(),
                game.status.to_owned(),
            ]);
        }
        table
    }

    /// Returns the lines on the decision of all ensembles together.
    pub(crate) fn outcome(&self) -> Lines {
        let consistent = match (self.consistent, self.steps_to_consistency) {
            (true, Some(steps)) => format!("yes, after at most {steps} steps"),
            (true, None) => "yes".to_owned(),
            (false, Some(steps)) if self.learned_from_all() => {
                format!("no, but every row that no game spares, after at most {steps} steps")
            }
            (false, _) => "no".to_owned(),
        };
        let (error, mistakes) = (percent(self.training_error), self.mistakes.len());
        let mut lines = vec![
            ("status", self.status.to_owned()),
            ("consistent", consistent),
            ("training error", format!("{error} %, {mistakes} of {}", self.data.rows)),
        ];
        let proven = self.games.iter().all(|game| game.theorem.holds());
        lines.extend(proven.then(|| {
            let most = self.games.iter().map(|game| game.max_steps).max().unwrap_or_default();
            let mistakes = self.games.iter().map(|game| game.theorem.mistakes).fold(0.0, f64::max);
            let (delta, mistakes) = (number(self.delta), number(mistakes));
            let theorem = format!(
                "{most} steps; failure probability {delta} together assuming at most {mistakes} \
                 mistakes a class"
            );
            ("theorem 1", theorem)
        }));
        lines
    }

    /// Returns true if every game learned from all rows.
    fn learned_from_all(&self) -> bool {
        let all = |game: &GameDocument<'_>| {
            game.samples == self.data.rows && game.theorem.subsample_failure.is_none()
        };
        self.games.iter().all(all)
    }
}
