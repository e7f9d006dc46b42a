//! The tables, their CSV and the picture.

use margins_experiments::figure::{Axis, Style, categories, panel, with_bars};
use margins_experiments::{Cell, Figure, Mean, Numbers, Table};

use super::numbers::{BY_CHOICE, BY_RULE, CERTIFIED, Head, PUBLISHED, Shown};
use crate::Failure;
use crate::leaky_hockey_stick::comparison::distance;
use crate::leaky_hockey_stick::data_sets::{DATA_SETS, NAMES};
use crate::leaky_hockey_stick::tuning::{Space, lambdas};

fn signed(difference: Mean) -> Cell {
    let Mean { mean, standard_error } = difference;
    if mean.is_nan() { "-".into() } else { format!("{mean:+.2} ({standard_error:.2})").into() }
}

/// Returns the cells that begin a row.
fn beginning(s: &Shown<'_>) -> Vec<Cell> {
    vec![(&s.row.title).into(), s.row.space.name().into(), s.trials.len().into()]
}

/// Returns the table of errors.
pub(super) fn errors(shown: &[Shown<'_>]) -> Table {
    let mut table = Table::new([
        "samples",
        "space",
        "trials",
        "published",
        "certified, log-loss",
        "differs by",
        "certified, largest",
        "differs by",
        "rule, largest",
        "differs by",
        "certified - rule, largest",
        "largest - log-loss, certified",
        "SVM",
        "published",
        "differs by",
    ]);
    for s in shown {
        let [lhs, svm] = s.row.published;
        let mut cells = beginning(s);
        cells.push(lhs.into());
        for (rule, choice) in
            [(CERTIFIED, Head::LogLoss), (CERTIFIED, Head::Largest), (PUBLISHED, Head::Largest)]
        {
            let ours = s.of(rule, choice);
            cells.extend([ours.into(), Cell::difference(distance(ours, lhs))]);
        }
        for [one, other] in [BY_RULE, BY_CHOICE] {
            cells.push(signed(s.difference(one, other)));
        }
        let machine = s.mean(|t| s.machine(t));
        cells.extend([machine.into(), svm.into(), Cell::difference(distance(machine, svm))]);
        table.push(cells);
    }
    table
}

/// Returns the table of other choices of lambda, and of seconds, ours beside the published ones.
pub(super) fn choices(shown: &[Shown<'_>]) -> Result<Table, Failure> {
    let lambdas = lambdas()?;
    let mut table = Table::new([
        "samples",
        "space",
        "trials",
        "rule, log-loss",
        "rule, smallest",
        "certified, smallest",
        "certified, one standard error",
        "certified, best in hindsight",
        "at lambda",
        "lambdas reached by the rule",
        "not certified",
        "seconds: certified",
        "rule",
        "SVM",
        "seconds in the paper, on another machine: LHS",
        "SVM",
    ]);
    for s in shown {
        let k = s.hindsight();
        let mut cells = beginning(s);
        cells.push(s.of(PUBLISHED, Head::LogLoss).into());
        cells.push(s.of(PUBLISHED, Head::Smallest).into());
        cells.push(s.of(CERTIFIED, Head::Smallest).into());
        cells.push(s.of(CERTIFIED, Head::OneStandardError).into());
        cells.push(s.mean(|t| s.error(t, CERTIFIED, k)).into());
        cells.push(format!("{:.1e}", lambdas[k].get()).into());
        cells.push(s.plain(0, |t| s.head(t, PUBLISHED, Head::Reached)).into());
        let open: f64 = s.trials.iter().map(|t| s.head(t, CERTIFIED, Head::Open)).sum();
        cells.push(format!("{open:.0}").into());
        for rule in [CERTIFIED, PUBLISHED] {
            cells.push(s.plain(2, |t| s.head(t, rule, Head::Seconds)).into());
        }
        cells.push(s.plain(2, |t| s.machine_seconds(t)).into());
        cells.extend(s.published_seconds().map(|seconds| format!("{seconds:.2}").into()));
        table.push(cells);
    }
    Ok(table)
}

/// Returns the table of the parts of the published rule, at the largest lambda of the lowest
/// cross-validated error.
pub(super) fn parts(shown: &[Shown<'_>]) -> Table {
    let mut table = Table::new([
        "samples",
        "space",
        "trials",
        "certified",
        "before the limit",
        "rule",
        "before the limit - certified",
        "rule - before the limit",
    ]);
    for s in shown.iter().filter(|s| !s.parts()[0].mean.is_nan()) {
        let with_rule = |t: &&Numbers| !s.limited(t).is_nan();
        let trials: Vec<Numbers> = s.trials.iter().filter(with_rule).cloned().collect();
        let s = &Shown { trials: &trials, ..*s };
        let mut cells = beginning(s);
        let of = |rule| Cell::from(s.of(rule, Head::Largest));
        cells.extend([of(CERTIFIED), s.mean(|t| s.limited(t)).into(), of(PUBLISHED)]);
        cells.extend(s.parts().map(signed));
        table.push(cells);
    }
    table
}

pub(super) fn csv(shown: &[Shown<'_>]) -> String {
    let mut text = String::from(
        "row,classifier,trials,mean,standard_error,published_mean,published_standard_error\n",
    );
    for s in shown {
        let [lhs, svm] = s.row.published;
        let all = s.trials.len();
        let ruled = s.numbers(|t| s.limited(t)).count();
        let of = [
            ("certified-log-loss", all, s.of(CERTIFIED, Head::LogLoss), lhs),
            ("certified-largest", all, s.of(CERTIFIED, Head::Largest), lhs),
            ("rule-log-loss", ruled, s.of(PUBLISHED, Head::LogLoss), lhs),
            ("rule-largest", ruled, s.of(PUBLISHED, Head::Largest), lhs),
            ("svm", all, s.mean(|t| s.machine(t)), svm),
        ];
        for (classifier, trials, ours, theirs) in of {
            text += &format!(
                "{},{classifier},{trials},{},{},{},{}\n",
                s.row.key(),
                ours.mean,
                ours.standard_error,
                theirs.mean,
                theirs.standard_error
            );
        }
    }
    text
}

/// Returns the picture: the errors on every data set, published and ours, with standard errors.
pub(super) fn figure(shown: &[Shown<'_>]) -> Figure {
    let of_space = |space: Space| {
        let entries = || shown.iter().filter(move |s| s.row.space == space);
        let along = |name: &str, of: &dyn Fn(&Shown<'_>) -> Mean| {
            let place = |s: &Shown<'_>| {
                NAMES.iter().position(|name| s.row.title.starts_with(name)).unwrap_or(0) as f64
            };
            let points = entries().map(|s| (place(s), of(s)));
            let points = points.filter(|(_, error)| !error.mean.is_nan());
            let points = points.map(|(x, error)| (x, error.mean, error.standard_error));
            with_bars(name, points, Style::Beside)
        };
        let published = DATA_SETS.iter().enumerate().map(|(at, set)| {
            let [Mean { mean, standard_error }, _] = set.published(space);
            (at as f64, mean, standard_error)
        });
        let title = format!("Leaky hockey stick, {} space", space.name());
        let series = vec![
            with_bars("published", published, Style::Beside),
            along("certified, log-loss", &|s| s.of(CERTIFIED, Head::LogLoss)),
            along("certified, largest lambda", &|s| s.of(CERTIFIED, Head::Largest)),
            along("published rule, largest lambda", &|s| s.of(PUBLISHED, Head::Largest)),
        ];
        let axes = [categories("data set", &NAMES), Axis::new("test error, %")];
        panel(space.name(), title, axes, series)
    };
    Figure::new("lhs-table2-errors", Space::BOTH.map(of_space).into())
}
