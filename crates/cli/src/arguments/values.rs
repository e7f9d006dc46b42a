//! Values of options.

use std::fmt;
use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use margins::data::metrics::Measure;
use margins::data::read::Format;
use margins::estimators::settings;
use margins::estimators::stream::Projection;
use margins::massart::CandidateRule;
use margins::optim::online::stochastic::Averaging;
use margins::optim::{ClassWeights, Lambda, Solver, StepRule, lambda_grid};
use margins::robust::{self, RobustLearner};
use margins::{ClassCosts, LeaveOneOut, Scheme};

/// Reads the name of a format of data files, one of those that this build reads.
pub(crate) fn data_format() -> impl TypedValueParser<Value = Format> {
    let names = Format::known().iter().map(|format| format.name());
    PossibleValuesParser::new(names)
        .try_map(|name| Format::named(&name).ok_or("it is not a data format"))
}

/// Defines the values of an option by the names of a setting, whose row explains them.
macro_rules! choices {
    ($(#[$doc:meta])* $name:ident of $setting:literal: $($variant:ident),+) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name { $($variant),+ }

        impl clap::ValueEnum for $name {
            fn value_variants<'a>() -> &'a [Self] {
                &[$($name::$variant),+]
            }

            fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
                $crate::arguments::values::choice($setting, &format!("{self:?}"))
            }
        }
    };
}
pub(super) use choices;

/// Returns the name and the explanation of a variant of a setting, such as `OneSe` of `selection`.
pub(super) fn choice(setting: &str, variant: &str) -> Option<PossibleValue> {
    let is_variant = |name: &str| variant.eq_ignore_ascii_case(&name.replace('-', ""));
    let (name, what) = settings::choices(setting).find(|(name, _)| is_variant(name))?;
    Some(PossibleValue::new(name).help(what))
}

choices! {
    /// The problems that several classes are solved by.
    MultiClass of "multi_class": Ovr, Ovo, Joint, Multinomial, CrammerSinger
}

impl From<MultiClass> for Scheme {
    fn from(how: MultiClass) -> Self {
        match how {
            MultiClass::Ovr => Scheme::OneVersusRest,
            MultiClass::Ovo => Scheme::OneVersusOne,
            MultiClass::Joint => Scheme::Joint,
            MultiClass::Multinomial => Scheme::Multinomial,
            MultiClass::CrammerSinger => Scheme::CrammerSinger,
        }
    }
}

choices! {
    /// The only scheme of a learner that knows two classes.
    OneVersusRest of "multi_class": Ovr
}

choices! {
    /// The games of several classes.
    GamesOfClasses of "multi_class": Ovr, Joint
}

choices! {
    /// The sources of probabilities.
    Probability of "probability": Loss, Platt
}

/// Reads the penalty factor of a column, such as `age=0`.
pub(crate) fn penalty_factor(text: &str) -> Result<(String, f64), String> {
    match text.rsplit_once('=') {
        Some((column, factor)) => Ok((column.trim().to_owned(), number(factor)?)),
        None => Err("expected a column and its factor, such as age=0".to_owned()),
    }
}

/// The weights of the classes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ClassWeight {
    /// The weights that the data have.
    None,
    /// Both classes have the same total weight.
    Balanced,
    /// The weight of every sample of a class that is named is multiplied by its cost.
    Costs(Vec<(String, f64)>),
}

impl ClassWeight {
    /// Returns the rule by which classes multiply weights.
    pub(crate) fn rule(&self) -> ClassWeights {
        match self {
            ClassWeight::Balanced => ClassWeights::Balanced,
            ClassWeight::None | ClassWeight::Costs(_) => ClassWeights::AsGiven,
        }
    }

    /// Returns the costs of the classes.
    ///
    /// # Errors
    /// The errors of [`ClassCosts::new`].
    pub(crate) fn costs(&self) -> Result<ClassCosts, margins::Error> {
        match self {
            ClassWeight::Costs(costs) => ClassCosts::new(costs.clone()),
            ClassWeight::None | ClassWeight::Balanced => Ok(ClassCosts::default()),
        }
    }
}

impl FromStr for ClassWeight {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => return Ok(ClassWeight::None),
            "balanced" => return Ok(ClassWeight::Balanced),
            _ => (),
        }
        let cost = |part: &str| match part.rsplit_once('=') {
            Some((class, cost)) => Ok((class.trim().to_owned(), number(cost)?)),
            None => Err("expected none, balanced or costs such as yes=2,no=1".to_owned()),
        };
        text.split(',').map(cost).collect::<Result<_, _>>().map(ClassWeight::Costs)
    }
}

impl fmt::Display for ClassWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClassWeight::None => f.write_str("none"),
            ClassWeight::Balanced => f.write_str("balanced"),
            ClassWeight::Costs(costs) => {
                let costs: Vec<String> =
                    costs.iter().map(|(class, cost)| format!("{class}={cost}")).collect();
                f.write_str(&costs.join(","))
            }
        }
    }
}

choices! {
    /// The algorithms that minimise the regularised risk.
    SolverName of "solver":
    Auto, Mm, MmAccelerated, Newton, ProximalNewton,
    Sdca, Bundle, Lbfgs, Gd
}

choices! {
    /// The stopping rules.
    StopName of "stop": Gap, Published
}

/// Returns the name of a choice on the command line.
pub(crate) fn name_of(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

impl SolverName {
    /// Returns the solver with the settings that it has of its own.
    pub(crate) fn solver(self, seed: u64, step: StepRule) -> Solver {
        match Solver::named(&name_of(&self)).unwrap_or_default() {
            Solver::GradientDescent { .. } => Solver::GradientDescent { step },
            other => other.seeded(seed),
        }
    }
}

/// The formats of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Text tables
    Table,
    /// JSON document with a stable schema, described in docs/json.md
    Json,
}

/// The ways to leave one sample out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LeaveOneOutName {
    /// One fit per sample
    Exact,
    /// One Newton step per sample, an approximation
    OneStep,
}

impl From<LeaveOneOutName> for LeaveOneOut {
    fn from(name: LeaveOneOutName) -> Self {
        match name {
            LeaveOneOutName::Exact => LeaveOneOut::Exact,
            LeaveOneOutName::OneStep => LeaveOneOut::OneStep,
        }
    }
}

choices! {
    /// The rules by which a cross-validation selects a lambda.
    Selection of "selection": Best, OneSe
}

impl From<Selection> for margins::Selection {
    fn from(selection: Selection) -> Self {
        match selection {
            Selection::Best => margins::Selection::Best,
            Selection::OneSe => margins::Selection::OneStandardError,
        }
    }
}

choices! {
    /// The measures by which a cross-validation chooses.
    MeasureName of "scoring": Error, BalancedError, LogLoss, Auc, Brier
}

impl From<MeasureName> for Measure {
    fn from(name: MeasureName) -> Self {
        match name {
            MeasureName::Error => Measure::Error,
            MeasureName::BalancedError => Measure::BalancedError,
            MeasureName::LogLoss => Measure::LogLoss,
            MeasureName::Auc => Measure::Auc,
            MeasureName::Brier => Measure::Brier,
        }
    }
}

/// A lambda grid; a type of its own as clap takes a bare `Vec` for a repeated option.
#[derive(Debug, Clone)]
pub(crate) struct Grid(pub(crate) Vec<Lambda>);

pub(crate) fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("'{text}' is not a number"))
}

/// Reads a whole number of 0 or more.
pub(crate) fn whole<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let too_large = || format!("'{text}' is too large");
    let wrong = |error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => too_large(),
        _ => format!("'{text}' is not a whole number of 0 or more"),
    };
    let number: u64 = text.trim().parse().map_err(wrong)?;
    T::try_from(number).map_err(|_| too_large())
}

pub(crate) fn positive(text: &str) -> Result<usize, String> {
    match whole(text)? {
        0 => Err("0 is not at least 1".to_owned()),
        count => Ok(count),
    }
}

/// Reads a number of calls of an oracle, of which the first one is asked about no halfspace.
pub(crate) fn calls(text: &str) -> Result<usize, String> {
    match whole(text)? {
        few @ (0 | 1) => Err(format!("{few} is not at least 2")),
        count => Ok(count),
    }
}

/// Reads which iterates are candidates.
pub(crate) fn candidate_rule(text: &str) -> Result<CandidateRule, String> {
    match text {
        "all" => Ok(CandidateRule::All),
        _ => positive(text)
            .map(CandidateRule::Random)
            .map_err(|_| "expected all, or a whole number of at least 1".to_owned()),
    }
}

pub(crate) fn tolerance(text: &str) -> Result<f64, String> {
    let value = number(text)?;
    if 0.0 < value && value < 1.0 {
        Ok(value)
    } else {
        Err(format!("{value} is not between 0 and 1"))
    }
}

/// Reads a time in seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = |value: f64| format!("{value} is not a number of seconds greater than 0");
    let value = number(text)?;
    let limit = Duration::try_from_secs_f64(value).map_err(|_| wrong(value))?;
    if limit.is_zero() { Err(wrong(value)) } else { Ok(limit) }
}

pub(crate) fn parse_objective(text: &str) -> Result<RobustLearner, String> {
    text.parse().map_err(|error: robust::Error| error.to_string())
}

pub(crate) fn parse_lambda(text: &str) -> Result<Lambda, String> {
    Lambda::new(number(text)?).map_err(|error| error.to_string())
}

/// Reads lambda, or 0 for a method without a penalty.
pub(crate) fn parse_lambda_or_none(text: &str) -> Result<Lambda, String> {
    Lambda::new_or_none(number(text)?).map_err(|error| error.to_string())
}

pub(crate) fn parse_grid(text: &str) -> Result<Grid, String> {
    let parts: Vec<&str> = text.split(':').collect();
    match parts.as_slice() {
        [list] => list.split(',').map(parse_lambda).collect::<Result<_, _>>().map(Grid),
        [from, to, count] => {
            let count = count
                .trim()
                .parse()
                .map_err(|_| format!("'{count}' is not a number of lambdas"))?;
            lambda_grid(number(from)?, number(to)?, count).map(Grid).map_err(|e| e.to_string())
        }
        _ => Err("expected FIRST:LAST:COUNT or a list separated by commas".to_owned()),
    }
}

pub(crate) fn projection(text: &str) -> Result<Projection, String> {
    if text == "none" { Ok(Projection::None) } else { number(text).map(Projection::Radius) }
}

pub(crate) fn averaging(text: &str) -> Result<Averaging, String> {
    match text.split_once(':') {
        None if text == "none" => Ok(Averaging::None),
        None if text == "polyak" => Ok(Averaging::Polyak),
        Some(("suffix", share)) => number(share).map(Averaging::Suffix),
        _ => Err("expected none, polyak or suffix:SHARE".to_owned()),
    }
}

/// Reads the steps of gradient descent.
pub(crate) fn step_rule(text: &str) -> Result<StepRule, String> {
    match text {
        "search" => Ok(StepRule::LineSearch),
        "smooth" => Ok(StepRule::Smooth),
        _ => number(text).map(StepRule::Fixed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The command calls the solvers as every other text does.
    #[test]
    fn solvers_have_the_names_of_the_library() {
        let names = SolverName::value_variants().iter().map(name_of).collect::<Vec<_>>();
        let mut known = Solver::NAMED.map(|(name, _)| name.to_owned());
        let mut sorted = names.clone();
        sorted.sort();
        known.sort();
        assert_eq!(sorted, known);
        for (variant, name) in SolverName::value_variants().iter().zip(&names) {
            let solver = variant.solver(1, StepRule::default());
            assert_eq!(Some(solver), Solver::named(name));
        }
        let step = StepRule::Fixed(0.5);
        assert_eq!(SolverName::Gd.solver(1, step), Solver::GradientDescent { step });
        assert_eq!(SolverName::Sdca.solver(7, step), Solver::Sdca { seed: 7 });
    }

    #[test]
    fn weights_of_classes_are_names_or_costs() {
        let costs = "a=b=2, -1 =0.5".parse::<ClassWeight>().unwrap();
        let expected = [("a=b".to_owned(), 2.0), ("-1".to_owned(), 0.5)];
        assert_eq!(costs, ClassWeight::Costs(expected.into()));
        assert_eq!(costs.to_string(), "a=b=2,-1=0.5");
        for wrong in ["", "heavy", "a=", "a=1,", "a=one"] {
            assert!(wrong.parse::<ClassWeight>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn whole_numbers_have_no_sign_and_no_fraction() {
        assert_eq!(whole::<usize>(" 12"), Ok(12));
        for wrong in ["-1", "", "1.5", "1e3", "x"] {
            let expected = format!("'{wrong}' is not a whole number of 0 or more");
            assert_eq!(whole::<u64>(wrong), Err(expected));
        }
        assert_eq!(
            whole::<u64>("18446744073709551616"),
            Err("'18446744073709551616' is too large".to_owned())
        );
    }

    #[test]
    fn times_are_positive_and_finite() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["0", "-1", "nan", "inf", "1e300", "soon", "1e-30"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn grids_are_ranges_or_lists() {
        assert_eq!(parse_grid("0.5").unwrap().0.len(), 1);
        assert_eq!(parse_grid("1, 0.1 ,0.01").unwrap().0.len(), 3);
        assert_eq!(parse_grid("1:1e-3:4").unwrap().0.len(), 4);
        for wrong in ["", "a", "1:2", "1:0:3", "1:0.1:0", "1:0.1:x", "1,,2", "1:0.1:1"] {
            assert!(parse_grid(wrong).is_err(), "{wrong}");
        }
    }
}
