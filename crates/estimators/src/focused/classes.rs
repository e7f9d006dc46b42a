//! Games of several classes, each against the rest.

use std::time::Instant;

use margins_data::{ClassLabels, Classes, Dataset};
use margins_kernels::KernelRegistry;
use margins_model::{Model, Scheme};
use margins_optim::Status;

use super::committee::Committee;
use super::fit::FittedEnsemble;
use super::settings::EnsembleSettings;
use super::weights::share_of;
use crate::against_rest::each_against_rest;
use crate::regularised::ClassCosts;
use crate::{Error, Evidence};

/// The ensembles of several classes at the end of their games, which decide together.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FittedEnsembles {
    /// The model, as for two classes, with the share of votes for each class against the rest
    /// ([`Scheme::MajorityVersusRest`]), or one classifier for each ([`Scheme::OneVersusRest`]).
    pub model: Option<Model>,
    /// The decision judged on all samples: the largest 0-1 loss, and the most steps of a game if all
    /// ensembles were known to be right on every sample.
    pub evidence: Evidence,
    /// The end of the game of each class against the rest, in the order of the classes, with the
    /// losses of this class against the rest.
    pub classes: Vec<FittedEnsemble>,
    /// The rows that the ensembles together get wrong, from 0.
    pub wrong: Vec<usize>,
    /// The share of the samples that they get wrong, by weight.
    pub training_error: f64,
    /// The share of the samples that are not of the largest class, by weight.
    pub baseline: f64,
    /// Why the games ended: [`Status::RuleMet`] if all of them ended so, else the pause or the time
    /// limit that ended one, else [`Status::IterationLimit`].
    pub status: Status,
}

impl FittedEnsembles {
    /// Returns true if every game ended by consistency or by the most steps, and not by a pause or the
    /// clock.
    pub fn is_finished(&self) -> bool {
        self.classes.iter().all(FittedEnsemble::is_finished)
    }

    /// Returns the most steps of a game until its ensemble was known to be right on every sample that the
    /// game does not spare; `None` if one never was.
    pub fn consistent_at(&self) -> Option<u64> {
        consistent_at(&self.classes)
    }

    /// Returns the ensembles of all classes, which decide together.
    pub fn into_committee(self) -> Committee {
        Committee::Classes(self.classes.into_iter().map(|class| class.ensemble).collect())
    }
}

/// Returns the latest step at which a game became consistent; `None` if one never did.
fn consistent_at(games: &[FittedEnsemble]) -> Option<u64> {
    let mut ends = games.iter().map(|game| game.ending.consistent_at);
    ends.try_fold(0, |latest: u64, end| Some(latest.max(end?)))
}

impl EnsembleSettings {
    /// Plays a game for each of several classes against the rest, with `delta/k` for each of the k
    /// classes, [in parallel](margins_data::parallel).
    ///
    /// The ensembles decide for the class of the largest share of votes, or of the largest score with
    /// another output than the majority. Where each of them is right on a sample, one share is above
    /// 0 and all others are below: by corollary 1 the decision is right on every sample that no game
    /// spares (`v_i > epsilon`) wherever theorem 1 holds for all games, which all k of them together fail
    /// with probability at most delta.
    ///
    /// The games share the time limit, and have one seed, so that all of them hold out the same rows
    /// and draw the same subsample. The state of the game of class k, from 1, is in the file of the
    /// checkpoint with `.k` after its name.
    ///
    /// ```
    /// use margins_data::{Classes, Dataset, Design};
    /// use margins_estimators::Evidence;
    /// use margins_estimators::focused::EnsembleSettings;
    ///
    /// let rows = [[1.0, 0.0], [0.9, 0.3], [-0.5, 0.9], [-0.6, 0.7], [-0.5, -0.9], [-0.4, -1.0]];
    /// let classes = Classes::new(&["a", "a", "b", "b", "c", "c"])?;
    /// let data = Dataset::new(Design::from_rows(&rows)?, classes)?;
    /// let fitted = EnsembleSettings::default().fit_classes(&data)?;
    /// assert!(fitted.wrong.is_empty() && fitted.classes.len() == 3);
    /// assert!(matches!(fitted.evidence, Evidence::Played { max_loss: 0.0, .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`fit`](Self::fit).
    pub fn fit_classes(&self, data: &Dataset<Classes>) -> Result<FittedEnsembles, Error> {
        self.check()?;
        let data = &self.class_costs.weigh(data.clone())?;
        let limits = self.iterations.limits(self.time_limit);
        let classes =
            each_against_rest(data.labels(), limits.deadline, |class, labels, deadline| {
                // Only files have the name of the class.
                #[cfg(not(feature = "serde"))]
                let _ = class;
                let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
                let settings = EnsembleSettings {
                    delta: self.delta / data.labels().names().len() as f64,
                    time_limit: deadline.map(left),
                    class_costs: ClassCosts::default(),
                    #[cfg(feature = "serde")]
                    checkpoint: self.checkpoint.as_ref().map(|file| file.of_class(class)),
                    ..self.clone()
                };
                settings.fit(&data.relabelled(labels.clone())?)
            })?;
        let ensembles = classes.iter().map(|class| class.ensemble.clone()).collect();
        let committee = Committee::Classes(ensembles);
        let standard = KernelRegistry::standard();
        let registry = self.learner.registry().unwrap_or(&standard);
        let scores = committee.scores(data.design(), registry)?;
        let (labels, names) = (data.labels(), data.labels().names());
        let decided = |row: usize| {
            let scores: Vec<f64> = scores.row(row).iter().copied().collect();
            Scheme::OneVersusRest.decide(names.len(), &scores)
        };
        let wrong: Vec<usize> =
            (0..data.rows()).filter(|&row| decided(row) != labels.index(row)).collect();
        let weights = data.own_weights();
        let share = |rows: &Vec<usize>| share_of(rows, weights, data.rows());
        let largest = labels.rows_by_class().iter().map(share).fold(0.0, f64::max);
        let is = |status: Status| classes.iter().any(|class| class.status == status);
        let cut = classes.iter().find(|class| !class.is_finished()).map(|class| class.status);
        let limit = is(Status::IterationLimit).then_some(Status::IterationLimit);
        Ok(FittedEnsembles {
            model: self.model(data, classes[0].samples, &committee)?,
            evidence: Evidence::Played {
                max_loss: f64::from(u8::from(!wrong.is_empty())),
                consistent_at: consistent_at(&classes),
            },
            training_error: share_of(&wrong, weights, data.rows()),
            wrong,
            baseline: 1.0 - largest,
            status: cut.or(limit).unwrap_or(Status::RuleMet),
            classes,
        })
    }
}
