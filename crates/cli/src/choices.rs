//! What the values of options can be.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use margins::LeaveOneOut;
use margins::optim::{Lambda, Solver, StepRule, lambda_grid};
use margins::robust::{self, Learner};

use crate::massart::MassartLearner;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum DataFormat {
    Csv,
    Svmlight,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MultiClass {
    /// One-versus-rest
    Ovr,
    /// One-versus-one
    Ovo,
}

/// Where probabilities come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Probability {
    /// As the loss has them
    Loss,
    /// Platt scaling
    Platt,
}

/// What the classes weigh.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ClassWeight {
    /// As the data say.
    None,
    /// Both classes have the same total weight.
    Balanced,
    /// The weight of every sample of a class that is named is multiplied by its cost.
    Costs(Vec<(String, f64)>),
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SolverName {
    /// Newton for up to 3000 features or rows; for more, and for a loss with a kink such as hinge, sdca
    Auto,
    /// Majorisation-minimisation as published
    Mm,
    /// Majorisation-minimisation with extrapolation
    MmAccelerated,
    /// Majorisation-minimisation of ten lambdas at a time, and with a kernel of all folds at a time
    MmBatched,
    /// Semismooth Newton: dense for up to 3000 features or rows, else conjugate gradients
    Newton,
    /// Stochastic dual coordinate ascent: any convex loss, linear classifiers
    Sdca,
    /// Cutting planes (bundle method) with line search: any convex loss, linear classifiers
    Bundle,
    /// Gradient descent
    Gd,
    /// Stochastic gradient: any loss, linear classifiers, fit only
    Sgd,
    /// Pegasos: the hinge loss, linear classifiers, fit only
    Pegasos,
}

/// The name of focused online learning.
pub(crate) const FOL: &str = "fol";

/// What fits.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SolverChoice {
    /// A solver of the objective.
    Named(SolverName),
    /// A learner with an objective of its own.
    Robust(Learner),
    /// A learner of halfspaces under Massart noise.
    Massart(MassartLearner),
    /// Focused online learning.
    Focused,
}

impl SolverChoice {
    /// The solver; the default one, which knows no options, where it is not the objective's.
    pub(crate) fn name(self) -> SolverName {
        match self {
            SolverChoice::Named(name) => name,
            SolverChoice::Robust(_) | SolverChoice::Massart(_) | SolverChoice::Focused => {
                SolverName::Auto
            }
        }
    }
}

impl fmt::Display for SolverChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SolverChoice::Named(name) => f.write_str(&name_of(name)),
            SolverChoice::Robust(learner) => learner.fmt(f),
            SolverChoice::Massart(learner) => learner.fmt(f),
            SolverChoice::Focused => f.write_str(FOL),
        }
    }
}

/// The name of a choice on the command line.
pub(crate) fn name_of(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

impl SolverName {
    /// The solver of a path; `None` for the stochastic ones.
    pub(crate) fn of_paths(self) -> Option<Solver> {
        Some(match self {
            SolverName::Auto => Solver::Auto,
            SolverName::Mm => Solver::MM,
            SolverName::MmAccelerated => Solver::MM_ACCELERATED,
            SolverName::MmBatched => Solver::MmBatched,
            SolverName::Newton => Solver::Newton,
            SolverName::Sdca => Solver::SDCA,
            SolverName::Bundle => Solver::Bundle,
            SolverName::Gd => Solver::GRADIENT_DESCENT,
            SolverName::Sgd | SolverName::Pegasos => return None,
        })
    }

    /// Returns the method of paths with its own settings, the automatic choice for a stochastic one.
    pub(crate) fn with_settings(self, seed: u64, step: StepRule) -> Solver {
        match self.of_paths().unwrap_or_default() {
            Solver::Sdca { .. } => Solver::Sdca { seed },
            Solver::GradientDescent { .. } => Solver::GradientDescent { step },
            other => other,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For reading
    Table,
    /// One stable document, described in docs/json.md
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LeaveOneOutName {
    /// A fit without each sample
    Exact,
    /// One Newton step towards it
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Selection {
    /// Least mean error
    Best,
    /// Largest lambda within one standard error of the least
    OneSe,
}

/// A lambda grid; a type of its own as clap takes a bare `Vec` for a repeated option.
#[derive(Debug, Clone)]
pub(crate) struct Grid(pub(crate) Vec<Lambda>);

pub(crate) fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("'{text}' is not a number"))
}

pub(crate) fn positive(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(0) => Err("0 is not at least 1".to_owned()),
        other => other.map_err(|_| format!("'{text}' is not a number of dimensions")),
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

/// A time in seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = |value: f64| format!("{value} is no time in seconds greater than 0");
    let value = number(text)?;
    let limit = Duration::try_from_secs_f64(value).map_err(|_| wrong(value))?;
    if limit.is_zero() { Err(wrong(value)) } else { Ok(limit) }
}

pub(crate) fn parse_solver(text: &str) -> Result<SolverChoice, String> {
    if let Ok(name) = SolverName::from_str(text, false) {
        return Ok(SolverChoice::Named(name));
    }
    let name = text.split(':').next().unwrap_or_default().trim();
    if Learner::NAMES.contains(&name) {
        return text
            .parse()
            .map(SolverChoice::Robust)
            .map_err(|error: robust::Error| error.to_string());
    }
    if let Some(learner) = MassartLearner::ALL.into_iter().find(|learner| learner.name() == text) {
        return Ok(SolverChoice::Massart(learner));
    }
    if text == FOL {
        return Ok(SolverChoice::Focused);
    }
    let solvers: Vec<String> = SolverName::value_variants().iter().map(name_of).collect();
    let massart = MassartLearner::ALL.map(MassartLearner::name).join(", ");
    let robust = Learner::NAMES.join(", ");
    Err(format!("known are {}, {robust}, {massart}, {FOL}", solvers.join(", ")))
}

pub(crate) fn parse_lambda(text: &str) -> Result<Lambda, String> {
    Lambda::new(number(text)?).map_err(|error| error.to_string())
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

#[cfg(test)]
mod tests {
    use super::*;

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
