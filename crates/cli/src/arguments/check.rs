//! Refuses options that the value of another option excludes. clap refuses all other wrong
//! combinations.

use std::path::Path;

use margins::estimators::focused::FocusedLearner;
use margins::estimators::stream::Projection;
use margins::optim::Lambda;
use margins::optim::online::stochastic::Averaging;
use margins::robust::RobustLearner;

use super::cv::CvArguments;
use super::encode::EncodeArguments;
use super::fit::FitArguments;
use super::focus::FocusArguments;
use super::massart::{
    LearnerArguments, MassartArguments, MassartLearner, NoiseArguments, PlanName, RowScalingName,
};
use super::path::PathArguments;
use super::predict::DecisionArguments;
use super::psi::{PsiArguments, Quantity};
use super::regularised::{RegularisedArguments, StopArguments};
use super::stream::{MethodName, ScheduleName, StreamArguments};
use super::values::{Probability, SolverName, StopName};
use crate::failure::Failure;

/// An option, which is refused if it is given, with the reason.
type Refused<'o> = (bool, &'o str, &'static str);

/// Refuses the first of the options that is given to a method which cannot use it.
fn refuse(method: &str, options: &[Refused<'_>]) -> Result<(), Failure> {
    match options.iter().find(|(given, ..)| *given) {
        Some((_, option, reason)) => {
            Err(Failure::Usage(format!("{option} is not for {method}: {reason}")))
        }
        None => Ok(()),
    }
}

pub(crate) fn fit(arguments: &FitArguments) -> Result<(), Failure> {
    let FitArguments { common, objective, classifier, step, history, duals, lambda, .. } =
        arguments;
    if *lambda == Some(Lambda::NONE) {
        let no_dual = "without a penalty there is no dual problem";
        refuse("--lambda 0", &[(duals.path().is_some(), "--duals", no_dual)])?;
    }
    let solver = common.solver.solver();
    if solver != SolverName::Gd {
        let method = match &objective.objective {
            Some(objective) => format!("--objective {}", name(objective)),
            None => format!("--solver {}", super::values::name_of(&solver)),
        };
        refuse(&method, &[(step.is_some(), "--step", "it applies to --solver gd only")])?;
    }
    let Some(objective) = &objective.objective else { return Ok(()) };
    robust(objective, common)?;
    let platt = classifier.probability == Probability::Platt;
    let held_out = "Platt scaling is available for the mean loss only";
    let of_mean = "it applies to the mean loss only";
    refuse(
        &format!("--objective {}", name(objective)),
        &[
            (platt, "--probability platt", held_out),
            (classifier.multi_class.is_some(), "--multi-class", of_mean),
            (history.is_some(), "--history", of_mean),
            (duals.path().is_some(), "--duals", of_mean),
        ],
    )
}

/// Refuses options that make no sense with the published stopping rule.
pub(crate) fn cv(arguments: &CvArguments) -> Result<(), Failure> {
    let CvArguments { common, classifier, choice, stop, .. } = arguments;
    published(stop, common)?;
    let platt = classifier.probability == Probability::Platt;
    let of_other_rows = "paths of other rows may end before the lambda selected";
    let from_minimum = "fits without one sample start from a minimum. Use --folds";
    refuse_with_published(
        stop,
        &[
            (
                choice.abandon_hopeless,
                "--abandon-hopeless",
                "each lambda starts from the one before it",
            ),
            (choice.leave_one_out.is_some(), "--leave-one-out", from_minimum),
            (platt, "--probability platt", of_other_rows),
        ],
    )
}

fn refuse_with_published(stop: &StopArguments, options: &[Refused<'_>]) -> Result<(), Failure> {
    match stop.stop {
        StopName::Gap => Ok(()),
        StopName::Published => refuse("--stop published", options),
    }
}

/// Refuses options of fits that make no sense with the published stopping rule.
fn published(stop: &StopArguments, common: &RegularisedArguments) -> Result<(), Failure> {
    let solver = common.solver.solver();
    let other = !matches!(solver, SolverName::Auto | SolverName::Mm);
    let option = format!("--solver {}", super::values::name_of(&solver));
    let limit = common.solver.time_limit.is_some();
    let own_limit = "the rule ends a path by its iterations";
    refuse_with_published(
        stop,
        &[
            (other, option.as_str(), "the rule is for majorisation-minimisation. Use --solver mm"),
            (limit, "--time-limit", own_limit),
        ],
    )
}

pub(crate) fn path(arguments: &PathArguments) -> Result<(), Failure> {
    published(&arguments.stop, &arguments.common)?;
    let robust_objective = arguments.objective.objective.is_some();
    let of_mean = "it has its own stopping rule";
    refuse_with_published(&arguments.stop, &[(robust_objective, "--objective", of_mean)])?;
    let Some(objective) = &arguments.objective.objective else { return Ok(()) };
    robust(objective, &arguments.common)?;
    let several = arguments.multi_class.is_some();
    let duals = arguments.duals.path().is_some();
    let of_mean = "it applies to the mean loss only";
    refuse(
        &format!("--objective {}", name(objective)),
        &[(several, "--multi-class", of_mean), (duals, "--duals", of_mean)],
    )
}

/// Refuses options that a robust objective ignores.
fn robust(objective: &RobustLearner, common: &RegularisedArguments) -> Result<(), Failure> {
    let solver = &common.solver;
    let steps = matches!(objective, RobustLearner::MedianOfMeans(_));
    let linear = common.kernel.kernel.is_none();
    refuse(
        &format!("--objective {}", name(objective)),
        &[
            (solver.solver.is_some(), "--solver", "the objective has its own solver"),
            (
                steps && solver.tol.is_some(),
                "--tol",
                "the objective runs a fixed number of steps. Use --max-iterations",
            ),
            (
                linear && solver.seed.is_some(),
                "--seed",
                "the objective has its own seed. Use --objective catoni:seed=2",
            ),
        ],
    )
}

fn name(objective: &RobustLearner) -> String {
    let specification = objective.to_string();
    specification.split(':').next().unwrap_or_default().to_owned()
}

pub(crate) fn stream(arguments: &StreamArguments) -> Result<(), Failure> {
    let StreamArguments { method, memory, .. } = arguments;
    if method.method == MethodName::Pegasos {
        let steps = "pegasos has the fixed step length 1/(2 lambda t). Use --method sgd";
        refuse(
            "--method pegasos",
            &[
                (method.step.is_some(), "--step", steps),
                (method.schedule.is_some(), "--schedule", steps),
                (memory.rescale_at.is_some(), "--rescale-at", steps),
            ],
        )?;
    }
    if method.method == MethodName::MarginPursuit {
        let steps = "margin-pursuit has the step length 1/(scale sqrt(lambda) t). Use --method sgd";
        let draws = "the method draws so itself. Leave it out";
        refuse(
            "--method margin-pursuit",
            &[
                (method.step.is_some(), "--step", steps),
                (method.schedule.is_some(), "--schedule", steps),
                (memory.with_replacement, "--with-replacement", draws),
            ],
        )?;
    }
    if matches!(method.method, MethodName::Adaptive | MethodName::Coin) {
        let chosen = "the method sets its step length itself. Use --method sgd";
        let single = "the method uses one sample per step. Use --method sgd";
        let ball = matches!(method.projection, Some(Projection::Radius(_)));
        refuse(
            &format!("--method {}", super::values::name_of(&method.method)),
            &[
                (method.step.is_some(), "--step", chosen),
                (method.schedule.is_some(), "--schedule", chosen),
                (memory.rescale_at.is_some(), "--rescale-at", chosen),
                (method.batch.is_some_and(|batch| batch != 1), "--batch", single),
                (ball, "--projection", "the method does not project. Use --method sgd"),
                (
                    method.random_start.is_some(),
                    "--random-start",
                    "the method starts at 0. Use --method sgd",
                ),
            ],
        )?;
    }
    if method.schedule == Some(ScheduleName::MarginPursuit) && method.step.is_some() {
        return Err(Failure::usage(
            "--schedule margin-pursuit sets the step length itself. Leave out --step",
        ));
    }
    if memory.epochs.is_none() {
        let all =
            "medians and categories need all rows. Add --epochs 1, which reads them into memory";
        refuse("one pass over a stream", &[of_raw_tables(&arguments.encode, all)])?;
    }
    if memory.epochs.is_none() && matches!(method.average, Some(Averaging::Suffix(_))) {
        return Err(Failure::usage(
            "--average suffix needs the number of steps, which is unknown for a stream. Add --epochs 1",
        ));
    }
    Ok(())
}

/// Returns the refusal of the option that encodes text and missing values, if one is given.
fn of_raw_tables(encode: &EncodeArguments, reason: &'static str) -> Refused<'static> {
    let asked = encode.asked();
    (asked.is_some(), asked.unwrap_or("--encode"), reason)
}

/// Refuses what has no meaning for a lower bound on the noise rate.
fn audit(noise: &NoiseArguments, learner: &LearnerArguments) -> Result<(), Failure> {
    let no_fit = "the audit fits nothing. Leave it out";
    refuse(
        "--audit",
        &[
            (noise.eta.is_some(), "--eta", "the audit bounds it from below. Leave it out"),
            (noise.epsilon.is_some(), "--epsilon", no_fit),
            (learner.learner != MassartLearner::Sgd, "--learner", no_fit),
            (learner.plan.is_some(), "--plan", no_fit),
            of_numbers(learner, no_fit),
            of_cuts(learner, no_fit),
        ],
    )
}

/// Returns the refusal of the first number of algorithm 1, if one is given.
fn of_numbers(learner: &LearnerArguments, reason: &'static str) -> Refused<'static> {
    let first = learner.numbers.first();
    (first.is_some(), first.unwrap_or_default(), reason)
}

/// Returns the refusal of the first option of cutting planes, if one is given.
fn of_cuts(learner: &LearnerArguments, reason: &'static str) -> Refused<'static> {
    let first = learner.cuts.first();
    (first.is_some(), first.unwrap_or_default(), reason)
}

/// Refuses what has no meaning for the proven plan, or for numbers of a plan without a fit.
fn planned(learner: &LearnerArguments) -> Result<(), Failure> {
    if learner.plan == Some(PlanName::Proven) {
        let of_proof = "the plan has the numbers of the proof. Leave out --plan";
        let projected = "theorem B.3 is for the features as they are. Leave it out";
        let project = (learner.cuts.project.is_some(), "--project", projected);
        refuse("--plan proven", &[of_numbers(learner, of_proof), project])?;
    }
    if learner.calculate {
        let of_fit = "the numbers of a plan are calculated. Leave it out";
        let is_practical = learner.plan == Some(PlanName::Practical);
        let of_practical = (
            is_practical && learner.learner == MassartLearner::Cuts,
            "--plan practical",
            "cutting planes have numbers of rows in the proven plan only. Leave it out",
        );
        let project = (learner.cuts.project.is_some(), "--project", of_fit);
        refuse("--calculate", &[of_numbers(learner, of_fit), project, of_practical])?;
    }
    Ok(())
}

pub(crate) fn massart(arguments: &MassartArguments) -> Result<(), Failure> {
    let MassartArguments { noise, learner, stream, encode, .. } = arguments;
    if learner.audit {
        return audit(noise, learner);
    }
    if *stream {
        let all = "medians and categories need all rows. Leave out --stream";
        let largest = learner.scale_rows == Some(RowScalingName::Largest);
        let unknown = "the largest norm needs all rows. Leave out --stream";
        refuse(
            "--stream",
            &[of_raw_tables(encode, all), (largest, "--scale-rows largest", unknown)],
        )?;
    }
    let of_cuts = of_cuts(learner, "it applies to --learner cuts only");
    let with_plans = "it applies to --learner sgd and cuts only";
    let plan = (learner.plan.is_some(), "--plan", with_plans);
    let calculate = (learner.calculate, "--calculate", with_plans);
    let numbers = of_numbers(learner, "it applies to --learner sgd only");
    let of_sgd = (*stream, "--stream", "the learner needs all rows at once. Leave out --stream");
    planned(learner)?;
    match learner.learner {
        MassartLearner::Sgd => refuse("--learner sgd", &[of_cuts]),
        MassartLearner::Cuts => refuse("--learner cuts", &[of_sgd, numbers]),
        learner @ (MassartLearner::Perceptron
        | MassartLearner::LeakyRelu
        | MassartLearner::Proper
        | MassartLearner::Plane
        | MassartLearner::Partition) => {
            let name = super::values::name_of(&learner);
            refuse(&format!("--learner {name}"), &[of_cuts, of_sgd, plan, numbers, calculate])
        }
        MassartLearner::Auto => {
            let tries = "the learner searches over noise rates and margins. Use --learner sgd";
            refuse(
                "--learner auto",
                &[
                    of_cuts,
                    of_sgd,
                    plan,
                    numbers,
                    calculate,
                    (noise.eta.is_some(), "--eta", tries),
                    (noise.gamma.is_some(), "--gamma", tries),
                ],
            )
        }
    }
}

/// Refuses standard output as a file that is read again.
pub(crate) fn checkpoint(file: Option<&Path>) -> Result<(), Failure> {
    if file == Some(Path::new("-")) {
        return Err(Failure::usage("--checkpoint - is not a file. Use the name of a file"));
    }
    Ok(())
}

/// Refuses what has no meaning for an online learner, which may take a kernel.
pub(crate) fn focus(arguments: &FocusArguments, online: &FocusedLearner) -> Result<(), Failure> {
    checkpoint(arguments.checkpoint())?;
    let learner = &arguments.learner;
    let takes_kernel = matches!(online, FocusedLearner::KernelPerceptron { .. });
    if takes_kernel != learner.kernel.is_some() {
        return Err(Failure::usage("--kernel and --learner kernel-perceptron need each other"));
    }
    if learner.no_intercept && !online.is_linear() {
        return Err(Failure::usage("--no-intercept applies to linear learners only"));
    }
    let of_models =
        [("--out", arguments.output.out().is_some()), ("--test", arguments.test.path().is_some())];
    match of_models.iter().find(|(_, given)| *given) {
        Some((option, _)) if !online.makes_model() => Err(Failure::Usage(format!(
            "{option} applies to linear learners and kernels only: stumps and networks cannot be saved",
        ))),
        _ => Ok(()),
    }
}

/// Refuses a threshold outside of the range of probabilities.
pub(crate) fn decision(arguments: &DecisionArguments) -> Result<(), Failure> {
    match arguments.threshold {
        Some(at) if arguments.probability && !(0.0..=1.0).contains(&at) => {
            Err(Failure::Usage(format!("--threshold {at}: must be from 0 to 1 with --probability")))
        }
        Some(at) if !at.is_finite() => {
            Err(Failure::Usage(format!("--threshold {at}: must be a finite number")))
        }
        _ => Ok(()),
    }
}

pub(crate) fn psi(arguments: &PsiArguments) -> Result<(), Failure> {
    let is_share: fn(f64) -> bool = |at| (0.0..=1.0).contains(&at);
    let (in_range, range): (fn(f64) -> bool, _) = match arguments.quantity() {
        Quantity::Psi => (is_share, "an excess misclassification risk is in [0, 1]"),
        Quantity::Inverse => (|at| at >= 0.0, "an excess surrogate risk is at least 0"),
        Quantity::Risk | Quantity::Minimizer => (is_share, "a class probability is in [0, 1]"),
    };
    match arguments.at.iter().find(|&&at| !in_range(at)) {
        Some(at) => Err(Failure::Usage(format!("--at {at}: {range}"))),
        None => Ok(()),
    }
}
