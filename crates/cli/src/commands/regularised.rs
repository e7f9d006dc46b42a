//! The settings of fits of the regularised risk, and what their reports have in common.

use std::fmt;
use std::ops::ControlFlow;

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use margins::data::blocks::BlockFile;
use margins::data::digits::{self, percent};
use margins::data::{Classes, Labels, Memory, parallel};
use margins::estimators::regularised::{
    ClassifierSettings, IterationObserver, KernelChoice, Observer, Regularisation,
};
use margins::estimators::{COPIES, memory_below};
use margins::optim::{Fit, Options, Status, StepRule};
use margins::robust::RobustLearner;
use margins::{Approximation, Probabilities, Registry};

use crate::arguments::regularised::{KernelArguments, RegularisedArguments};
use crate::arguments::values::{Probability, name_of};
use crate::failure::Failure;
use crate::messages::{is_quiet, is_verbose, to_stderr};
use crate::output::Lines;
use crate::output::fits::is_stationary;
use crate::output::iterations::describe_iteration;
use crate::output::training::TrainingDocument;
use crate::output::warnings::{Warnings, of_gaps};
use crate::program;
use crate::rows::Rows;
use crate::terminal;

/// The fits that a command asks for.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) arguments: &'a RegularisedArguments,
    pub(super) objective: Option<RobustLearner>,
    /// True if fits keep the points that they reach, as those to a block file on disk do.
    pub(super) keeps_points: bool,
}

impl Task<'_> {
    /// Returns the settings of the fits, with probabilities of the loss and without an observer.
    pub(super) fn settings(
        self,
        registry: &Registry,
        regularisation: Regularisation,
    ) -> Result<ClassifierSettings, Failure> {
        let RegularisedArguments { loss, kernel, penalty, factors, solver, .. } = self.arguments;
        let maps_blocks =
            self.landmarks().is_some() && self.arguments.source().block_file()?.is_some();
        let settings = ClassifierSettings {
            learner: self.objective,
            kernels: KernelChoice {
                specifications: kernel.kernel.iter().cloned().collect(),
                sigmas: None,
                approximation: kernel.approx,
                // Without a kernel it is that of the rows.
                memory: kernel.memory.filter(|_| kernel.kernel.is_some() && !maps_blocks),
                registry: registry.kernels.clone(),
            },
            certify_exact: kernel.certify_exact,
            regularisation,
            intercept: !penalty.no_intercept,
            standardize: penalty.standardize,
            penalty_factors: factors.factors().map_err(Failure::usage)?,
            class_weights: loss.class_weight.rule(),
            class_costs: loss.class_weight.costs()?,
            options: Options {
                solver: solver.solver().solver(solver.seed(), StepRule::default()),
                tolerance: solver.tolerance(),
                max_iterations: solver.max_iterations,
                ..Options::default()
            },
            seed: solver.seed(),
            time_limit: solver.time_limit,
            iterations: iterations(),
            ..ClassifierSettings::default()
        };
        settings.with_losses(&loss.loss, &[], &[], &registry.losses).map_err(Failure::usage)
    }

    /// Returns the number of landmarks, if a kernel is approximated by features that can be made of
    /// rows on disk.
    fn landmarks(self) -> Option<usize> {
        match self.arguments.kernel.approx {
            Approximation::Nystrom { landmarks, leverage: None } => Some(landmarks),
            _ => None,
        }
    }

    /// Returns the rows with labels of two classes: in memory, but those of a block file for which
    /// memory does not suffice.
    pub(super) fn rows(self) -> Result<Rows<Labels>, Failure> {
        self.rows_with(COPIES)
    }

    /// Returns the rows as [`rows`](Self::rows) does, if fits make so many copies of the features.
    fn rows_with(self, copies: usize) -> Result<Rows<Labels>, Failure> {
        match self.file_beyond_memory(copies)? {
            Some((file, memory)) => Rows::on_disk(&file, memory),
            None => Ok(Rows::InMemory(self.arguments.source().dataset()?)),
        }
    }

    /// Returns the rows as [`rows`](Self::rows) does, with a note if folds cannot learn an encoding of
    /// their own.
    pub(super) fn rows_of_folds(self) -> Result<Rows<Labels>, Failure> {
        let rows = self.rows_with(Self::copies_of_folds())?;
        rows.in_memory().inspect(|data| self.arguments.source().note_of_encoding(data));
        Ok(rows)
    }

    /// Returns the number of copies of the features that a cross-validation makes: one more for each
    /// fold at work.
    fn copies_of_folds() -> usize {
        COPIES + parallel::threads()
    }

    /// Returns the rows with labels of any number of classes, as [`rows`](Self::rows) does; they may
    /// be for folds.
    pub(super) fn rows_of_classes(self, folds: bool) -> Result<Rows<Classes>, Failure> {
        let copies = if folds { Self::copies_of_folds() } else { COPIES };
        match self.file_beyond_memory(copies)? {
            Some((file, memory)) => Rows::on_disk(&file, memory),
            None => Ok(Rows::InMemory(self.arguments.source().classes()?)),
        }
    }

    /// Returns the block file that the rows are in and the memory that they may have, if that does
    /// not suffice for so many copies of all of them; a kernel needs them there whatever they take.
    fn file_beyond_memory(self, copies: usize) -> Result<Option<(BlockFile, Memory)>, Failure> {
        let KernelArguments { kernel, memory, .. } = &self.arguments.kernel;
        if kernel.is_some() && self.landmarks().is_none() && !self.keeps_points {
            return Ok(None);
        }
        let refuse =
            |option: &str| Err(Failure::Usage(format!("{option} {}", program::block_file())));
        match self.arguments.source().block_file()? {
            None if self.keeps_points => refuse("--checkpoint is for linear classifiers of"),
            None if memory.is_some() && kernel.is_none() => refuse("--memory needs --kernel or"),
            None => Ok(None),
            Some(file) => {
                let memory = if self.keeps_points {
                    memory.or_else(|| Memory::free().map(Memory::half))
                } else {
                    memory_below(&file, *memory, copies, self.landmarks())
                };
                Ok(memory.map(|memory| (file, memory)))
            }
        }
    }

    /// Returns the document on the settings, with the complete specifications of loss and kernel.
    pub(super) fn document(self, loss: String, kernel: Option<String>) -> TrainingDocument {
        let RegularisedArguments {
            loss: asked, kernel: functions, penalty, factors, solver, ..
        } = self.arguments;
        TrainingDocument {
            loss,
            approximation: kernel.as_ref().map(|_| functions.approx.to_string()),
            kernel,
            objective: self.objective.map(|objective| objective.to_string()),
            solver: name_of(&solver.solver()),
            tolerance: solver.tolerance(),
            intercept: !penalty.no_intercept,
            standardize: penalty.standardize,
            penalty_factors: factors.in_words(),
            class_weight: asked.class_weight.to_string(),
            seed: solver.seed(),
        }
    }

    /// Returns the lines on the objective and on the functions, with their dimension if it is given.
    pub(super) fn describe(
        self,
        loss: String,
        kernel: Option<String>,
        dimension: Option<usize>,
    ) -> Lines {
        let mut lines = vec![("loss", loss)];
        lines.extend(self.objective.map(|objective| ("robust objective", objective.to_string())));
        lines.extend(kernel.map(|kernel| ("kernel", digits::specification(&kernel))));
        let approximation = self.arguments.kernel.approx;
        if approximation != Approximation::None {
            let rank = dimension.map(|dimension| format!(", rank {dimension}"));
            let text = format!("{approximation}{}", rank.unwrap_or_default());
            lines.push(("approximation", text));
        }
        let factors = self.arguments.factors.in_words();
        lines.extend(factors.map(|factors| ("penalty factors", factors)));
        lines
    }

    /// Returns the warnings about the fits at each lambda.
    pub(super) fn warnings<'f>(self, lambdas: impl Iterator<Item = &'f [Fit]>) -> Warnings {
        let mut warnings = Warnings::default();
        match &self.objective {
            Some(objective) if !objective.is_certified() => warnings
                .add(format!("--objective {objective} is not convex: the fit has no certificate.")),
            _ => {
                let lambdas: Vec<&[Fit]> =
                    lambdas.filter(|fits| !fits.iter().all(is_stationary)).collect();
                let ends: Vec<Status> =
                    lambdas.iter().copied().flatten().map(|fit| fit.report.status).collect();
                let of_lambda = |fits: &&[Fit]| {
                    let gaps = fits.iter().map(|fit| fit.report.relative_gap);
                    (fits.iter().all(|fit| fit.report.converged()), gaps.fold(0.0, f64::max))
                };
                let gaps = lambdas.iter().map(of_lambda);
                warnings.add(of_gaps(gaps, None, &ends, self.arguments));
            }
        }
        warnings
    }
}

/// Returns the source of probabilities, by this number of folds.
pub(super) fn probabilities(source: Probability, folds: Option<usize>) -> Probabilities {
    match source {
        Probability::Loss => Probabilities::OfTheLoss,
        Probability::Platt => Probabilities::Platt { folds },
    }
}

/// Returns the observer that prints every iteration on standard error, if that is wanted.
pub(super) fn iterations() -> IterationObserver {
    if !is_verbose() {
        return IterationObserver::default();
    }
    IterationObserver::new(|iteration| {
        to_stderr(describe_iteration(iteration));
        ControlFlow::Continue(())
    })
}

/// Returns a bar on standard error, if that is a terminal that can show one and prints nothing else, and the observer that moves it.
pub(super) fn progress() -> (ProgressBar, Observer) {
    let hidden = is_quiet() || is_verbose() || terminal::is_dumb();
    let bar = if hidden { ProgressBar::hidden() } else { ProgressBar::new(0) };
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} fits{left}{msg}") {
        let characters = if terminal::is_plain() { "#>-" } else { "█░" };
        bar.set_style(style.progress_chars(characters).with_key("left", time_left));
    }
    let moved = bar.clone();
    let observer = Observer::new(move |progress| {
        moved.set_length(progress.total as u64);
        if let Some(best) = progress.best_error {
            moved.set_message(format!(", best error so far {} %", percent(best)));
        }
        moved.inc(1);
    });
    (bar, observer)
}

/// Writes the time left, which is unknown before the first fit.
fn time_left(state: &ProgressState, out: &mut dyn fmt::Write) {
    if state.pos() > 0 {
        // A bar cannot report an error of its own.
        let _ = write!(out, ", {:#} left", HumanDuration(state.eta()));
    }
}
