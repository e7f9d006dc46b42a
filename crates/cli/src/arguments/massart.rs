//! Options of `margins massart`.

use std::time::Duration;

use clap::Args;
use margins::data::Memory;
use margins::estimators::massart::{CutSearch, RowScaling};
use margins::massart::baselines::Baseline;
use margins::massart::cutting_planes::Method;
use margins::massart::{CandidateRule, Plan, Problem};

use super::data::{ClassesArguments, DataArguments, Source};
use super::encode::EncodeArguments;
use super::global::ThreadsArguments;
use super::regularised::ModelArguments;
use super::report::{PageArguments, TestArguments};
use super::values::{
    OneVersusRest, calls, candidate_rule, choices, name_of, number, positive, seconds, whole,
};

#[derive(Debug, Args)]
#[command(mut_arg("data", |option| option.required(false).required_unless_present("calculate")))]
#[command(mut_arg("classes", |option| option.requires("stream")))]
#[command(mut_arg("fold_column", |option| option.conflicts_with("stream")))]
#[command(mut_arg("weights_column", |option| option.conflicts_with("stream")))]
pub(crate) struct MassartArguments {
    #[command(flatten)]
    pub(crate) data: DataArguments,
    #[command(flatten)]
    pub(crate) encode: EncodeArguments,
    #[command(flatten)]
    pub(crate) classes: ClassesArguments,
    /// Read the rows as a stream, in bounded memory, and only as many as needed (sgd)
    #[arg(long, help_heading = "Data")]
    pub(crate) stream: bool,
    #[arg(
        long,
        value_name = "AMOUNT",
        conflicts_with = "stream",
        help_heading = "Data",
        hide_short_help = true
    )]
    pub(crate) memory: Option<Memory>,
    #[command(flatten)]
    pub(crate) noise: NoiseArguments,
    #[command(flatten)]
    pub(crate) learner: LearnerArguments,
    #[command(flatten)]
    pub(crate) output: ModelArguments,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) test: TestArguments,
}

impl MassartArguments {
    /// Returns the data, with their encoding.
    pub(crate) fn source(&self) -> Source<'_> {
        Source { encode: Some(&self.encode), ..self.data.source() }
    }
}

/// The options of the noise and of the accuracy.
#[derive(Debug, Args)]
#[command(next_help_heading = "Noise")]
pub(crate) struct NoiseArguments {
    #[arg(long, value_name = "RATE", value_parser = number)]
    pub(crate) eta: Option<f64>,
    #[arg(long, value_name = "MARGIN", value_parser = number)]
    pub(crate) gamma: Option<f64>,
    #[arg(long, value_name = "EPSILON", value_parser = number)]
    pub(crate) epsilon: Option<f64>,
    #[arg(long, value_name = "DELTA", value_parser = number)]
    pub(crate) delta: Option<f64>,
}

/// The options of the learner.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learner")]
pub(crate) struct LearnerArguments {
    #[arg(long, value_name = "LEARNER", default_value = "sgd")]
    pub(crate) learner: MassartLearner,
    #[arg(long, conflicts_with = "stream")]
    pub(crate) standardize: bool,
    #[arg(long)]
    pub(crate) no_intercept: bool,
    #[arg(long, value_name = "BY")]
    pub(crate) scale_rows: Option<RowScalingName>,
    #[arg(long, value_name = "PLAN")]
    pub(crate) plan: Option<PlanName>,
    #[command(flatten)]
    pub(crate) numbers: NumberArguments,
    /// Print what the proven plan, or --plan, takes and what the rows of --data prove, and fit nothing
    ///
    /// For sgd --data is not needed: without it, only the steps, candidates and rows of the plan for
    /// --eta, --gamma, --epsilon and --delta are printed. For cuts --data has the number of features.
    #[arg(long, conflicts_with_all = ["out", "report", "test", "stream", "memory"])]
    pub(crate) calculate: bool,
    /// Print a lower bound on eta, for --gamma, and the rows most likely flipped, and fit nothing
    #[arg(long, conflicts_with_all = ["calculate", "out", "report", "test", "stream", "memory"])]
    pub(crate) audit: bool,
    /// Scheme
    ///
    /// Learns a halfspace for each class against the rest, on the same rows, and prints a bound on
    /// the error of all together. Without it, more than two classes are an error.
    #[arg(
        long,
        value_name = "HOW",
        conflicts_with_all = ["stream", "calculate", "audit", "positive"]
    )]
    pub(crate) multi_class: Option<OneVersusRest>,
    #[command(flatten)]
    pub(crate) cuts: CutArguments,
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = seconds,
        hide_short_help = true
    )]
    pub(crate) time_limit: Option<Duration>,
    #[arg(long, value_parser = whole::<u64>, default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) threads: ThreadsArguments,
}

/// The numbers of algorithm 1 that replace those of the plan.
#[derive(Debug, Args)]
pub(crate) struct NumberArguments {
    #[arg(long, value_name = "T", value_parser = positive, hide_short_help = true)]
    steps: Option<usize>,
    #[arg(long, value_name = "SIZE", value_parser = number, hide_short_help = true)]
    step: Option<f64>,
    #[arg(long, value_name = "N", value_parser = positive, hide_short_help = true)]
    held_out: Option<usize>,
    #[arg(long, value_name = "all|K", value_parser = candidate_rule, hide_short_help = true)]
    candidates: Option<CandidateRule>,
}

impl NumberArguments {
    /// Returns a plan with these numbers.
    pub(crate) fn of(&self, plan: Plan) -> Plan {
        Plan {
            step: self.step.unwrap_or(plan.step),
            steps: self.steps.unwrap_or(plan.steps),
            candidates: self.candidates.unwrap_or(plan.candidates),
            selection: self.held_out.unwrap_or(plan.selection),
        }
    }

    /// Returns the option of the first number, if there is one.
    pub(crate) fn first(&self) -> Option<&'static str> {
        let given = [
            ("--steps", self.steps.is_some()),
            ("--step", self.step.is_some()),
            ("--held-out", self.held_out.is_some()),
            ("--candidates", self.candidates.is_some()),
        ];
        given.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
    }
}

/// The options of cutting planes.
#[derive(Debug, Args)]
pub(crate) struct CutArguments {
    #[arg(long, value_name = "M", value_parser = positive, hide_short_help = true)]
    pub(crate) project: Option<usize>,
    #[arg(long, value_name = "CENTRE", hide_short_help = true)]
    pub(crate) localization: Option<LocalizationName>,
    #[arg(long, value_name = "N", value_parser = calls, hide_short_help = true)]
    pub(crate) max_calls: Option<usize>,
}

impl CutArguments {
    /// Returns the search of a plan.
    pub(crate) fn search(&self, plan: PlanName) -> CutSearch {
        CutSearch {
            method: self.localization.map(Method::from),
            most_calls: self.max_calls,
            fresh_rows: plan == PlanName::Proven,
        }
    }

    /// Returns the first option, if there is one.
    pub(crate) fn first(&self) -> Option<&'static str> {
        let given = [
            ("--project", self.project.is_some()),
            ("--localization", self.localization.is_some()),
            ("--max-calls", self.max_calls.is_some()),
        ];
        given.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
    }
}

choices! {
    /// The methods that choose the point to ask about.
    LocalizationName of "localization": AnalyticCentre, Ellipsoid
}

impl From<LocalizationName> for Method {
    fn from(name: LocalizationName) -> Self {
        match name {
            LocalizationName::AnalyticCentre => Method::AnalyticCentre,
            LocalizationName::Ellipsoid => Method::Ellipsoid,
        }
    }
}

impl LearnerArguments {
    /// Returns the plan of a fit, the practical one by default.
    pub(crate) fn fitted_plan(&self) -> PlanName {
        self.plan.unwrap_or(PlanName::Practical)
    }

    /// Returns the name of the plan of `sgd` and `cuts`.
    pub(crate) fn plan_name(&self) -> Option<String> {
        let has_plan = matches!(self.learner, MassartLearner::Sgd | MassartLearner::Cuts);
        has_plan.then(|| name_of(&self.fitted_plan()))
    }
}

choices! {
    /// The numbers that rows are divided by.
    RowScalingName of "scale_rows": Largest, Each
}

impl From<RowScalingName> for RowScaling {
    fn from(name: RowScalingName) -> Self {
        match name {
            RowScalingName::Largest => RowScaling::Largest,
            RowScalingName::Each => RowScaling::Each,
        }
    }
}

choices! {
    /// The constants of algorithm 1.
    PlanName of "plan": Practical, Proven
}

impl PlanName {
    /// Returns the constants for a problem.
    pub(crate) fn plan(self, problem: &Problem) -> Plan {
        match self {
            PlanName::Practical => Plan::practical(problem),
            PlanName::Proven => Plan::proven(problem),
        }
    }
}

impl MassartLearner {
    /// Returns the earlier learner of this name, if it is one.
    pub(crate) fn baseline(self) -> Option<Baseline> {
        match self {
            MassartLearner::Perceptron => Some(Baseline::Perceptron),
            MassartLearner::LeakyRelu => Some(Baseline::LeakyRelu),
            MassartLearner::Proper => Some(Baseline::Proper),
            MassartLearner::Plane => Some(Baseline::Plane),
            MassartLearner::Sgd
            | MassartLearner::Cuts
            | MassartLearner::Auto
            | MassartLearner::Partition => None,
        }
    }
}

choices! {
    /// The learners of halfspaces under Massart noise.
    MassartLearner of "learner": Sgd, Cuts, Auto, Perceptron, LeakyRelu, Proper, Plane, Partition
}
