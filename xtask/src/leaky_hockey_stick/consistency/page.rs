//! What the trials have shown: words, picture and tables.

use margins::calibration::least_risk::share_without_noise;
use margins_experiments::figure::{Axis, Series, Style, panel, power, with_bars};
use margins_experiments::{Figure, Mean, Numbers, Table, below_and_above};
use margins_report::page::chart::Chart;

use super::lemma_4::{DELTAS, WIDTH, delta};
use super::schedule::{SCHEDULES, Schedule};
use super::{EXAMPLES, FOR_SIGMA, NAME, Row, Setting, TEST_SAMPLES};
use crate::Failure;
use crate::leaky_hockey_stick::table_1::SIMULATED;

/// What the trials of a row have shown.
pub(super) struct Shown<'a> {
    pub(super) row: Row,
    pub(super) setting: &'a Setting,
    pub(super) trials: &'a [Numbers],
}

impl Shown<'_> {
    fn mean(&self, schedule: usize, of: impl Fn(&[f64]) -> f64) -> Mean {
        let numbers = |trial: &Numbers| of(&trial.0[schedule * WIDTH..][..WIDTH]);
        Mean::percent(self.trials.iter().map(numbers))
    }

    fn excess(&self, schedule: usize) -> Mean {
        self.mean(schedule, |numbers| numbers[1])
    }

    /// Returns both terms of lemma 4 at a delta.
    fn terms(&self, schedule: usize, delta: usize) -> [Mean; 2] {
        [2, 3].map(|place| self.mean(schedule, |numbers| numbers[place + 2 * delta]))
    }

    fn bound_at(&self, schedule: usize, delta: usize) -> Mean {
        self.mean(schedule, |numbers| numbers[2 + 2 * delta] + numbers[3 + 2 * delta])
    }

    /// Returns the delta with the lowest bound.
    fn best_delta(&self, schedule: usize) -> usize {
        let bound = |k: usize| self.bound_at(schedule, k).mean;
        (0..DELTAS).min_by(|&a, &b| bound(a).total_cmp(&bound(b))).unwrap_or(0)
    }

    fn bound(&self, schedule: usize) -> Mean {
        self.bound_at(schedule, self.best_delta(schedule))
    }

    /// Returns the excess of `c/n` less that of `c n^(-1/2)`, paired.
    fn difference(&self, pair: usize) -> Mean {
        let excess = |trial: &Numbers, schedule: usize| trial.0[schedule * WIDTH + 1];
        let of = |trial: &Numbers| excess(trial, 2 * pair + 1) - excess(trial, 2 * pair);
        Mean::percent(self.trials.iter().map(of))
    }
}

/// Returns the rows of an example, smallest first.
fn of_example<'s, 'a>(shown: &'s [Shown<'a>], example: usize) -> Vec<&'s Shown<'a>> {
    shown.iter().filter(|s| s.row.example == example).collect()
}

/// Returns what the errors do along n, in words.
pub(super) fn finding(shown: &[Shown<'_>]) -> String {
    let (mut sentences, mut falls, mut pairs) = (Vec::new(), [[0; 2]; 2], Vec::new());
    for example in 0..EXAMPLES {
        let rows = of_example(shown, example);
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { continue };
        let of = |(at, schedule): (usize, Schedule)| {
            let [from, to] = [first, last].map(|s| s.excess(at));
            let bound = [first, last].map(|s| s.bound(at));
            falls[0][at % 2] += usize::from(to.mean < from.mean);
            falls[1][at % 2] += usize::from(bound[1].mean < bound[0].mean);
            let along = |s: &&Shown<'_>| (s.row.n() as f64, s.excess(at).mean);
            let points: Vec<(f64, f64)> = rows.iter().map(along).filter(|p| p.1 > 0.0).collect();
            let grows = match points.len() {
                0 | 1 => String::new(),
                _ => format!(" (as the power {:.2} of n)", power(&points)),
            };
            format!("{:.2} to {:.2} with {}{grows}", from.mean, to.mean, schedule.name())
        };
        let words: Vec<String> = SCHEDULES.into_iter().enumerate().map(of).collect();
        sentences.push(format!(
            "On {} the excess error in percent goes from n = {} to {} from {}.",
            first.setting.title,
            first.row.n(),
            last.row.n(),
            words.join(", ")
        ));
        pairs.extend((0..SCHEDULES.len() / 2).map(|pair| last.difference(pair)));
    }
    let [less, more] = below_and_above(pairs.iter().copied());
    let all = pairs.len();
    let [[rooted, inverse], [rooted_bound, inverse_bound]] = falls;
    format!(
        "{}\n\nThere are {all} pairs of an example and a factor c. With c n^(-1/2), which satisfies \
         theorem 5, the excess error falls along n in {rooted} of them, and the bound of lemma 4 in \
         {rooted_bound}. With c/n, which does not satisfy it, the error falls in {inverse} and the bound \
         in {inverse_bound}. At the largest n the error with c/n differs from that with c n^(-1/2) by \
         more than two paired standard errors upwards in {more} and downwards in {less} of the pairs.",
        sentences.join(" ")
    )
}

/// Returns the picture: excess errors and bounds along n, an example in a row.
pub(super) fn figure(shown: &[Shown<'_>]) -> Figure {
    let mut panels: Vec<Chart> = Vec::new();
    for example in 0..EXAMPLES {
        let rows = of_example(shown, example);
        let Some(first) = rows.first() else { continue };
        let series = |of: &dyn Fn(&Shown<'_>, usize) -> Mean| -> Vec<Series> {
            let along = |(at, schedule): (usize, Schedule)| {
                let points = rows.iter().map(|&s| (s.row.n() as f64, of(s, at)));
                let points = points.map(|(n, mean)| (n, mean.mean, mean.standard_error));
                with_bars(schedule.name(), points.filter(|point| point.1 > 0.0), Style::Bars)
            };
            SCHEDULES.into_iter().enumerate().map(along).collect()
        };
        let key = SIMULATED[first.row.example].key;
        let axes = |label| [Axis::log("samples n"), Axis::log(label)];
        let title = format!("Excess error, {}", first.setting.title);
        panels.push(panel(key, title, axes("excess error, %"), series(&|s, at| s.excess(at))));
        let title = format!("Bound of lemma 4, {}", first.setting.title);
        let key = format!("{key}-bound");
        panels.push(panel(&key, title, axes("bound, %"), series(&|s, at| s.bound(at))));
    }
    Figure::new(NAME, panels)
}

/// Returns all numbers: of every row, schedule and delta.
pub(super) fn csv(shown: &[Shown<'_>]) -> String {
    let mut text = String::from(
        "row,schedule,lambda,trials,certified,excess,standard_error,delta,first_term,second_term\n",
    );
    for s in shown {
        for (at, schedule) in SCHEDULES.into_iter().enumerate() {
            let Mean { mean, standard_error } = s.excess(at);
            let beginning = format!(
                "{},{},{},{},{},{mean},{standard_error}",
                s.row.key(),
                schedule.name(),
                schedule.lambda(s.row.n()),
                s.trials.len(),
                s.trials.iter().filter(|trial| trial.0[at * WIDTH] == 1.0).count(),
            );
            for k in 0..DELTAS {
                let [first, second] = s.terms(at, k).map(|term| term.mean);
                text += &format!("{beginning},{},{first},{second}\n", delta(k));
            }
        }
    }
    text
}

pub(super) fn introduction(examples: &[&Setting], seed: u64) -> String {
    let of = |s: &&Setting| {
        format!("{}: Bayes error {:.2} %, kernel {}", s.title, s.bayes_error, s.kernel)
    };
    let examples: Vec<String> = examples.iter().map(of).collect();
    format!(
        "The table shows the misclassification rate above the Bayes error, in percent with its standard \
         error over the trials, of Gaussian kernel classifiers with the leaky hockey stick loss and \
         without intercept, (13) of Kwon and Zou (2023). The centres of the examples are those of \
         [table 1](../experiments/lhs-table1.md). The kernel is the same for all n: its sigma is the automatic one of \
         kernlab for {FOR_SIGMA} other samples. Every trial has {TEST_SAMPLES} test points, at which \
         the excess error is the mean of `|2 p(x) - 1|` where the classifier differs from the Bayes \
         rule; p is known, and the seed is {seed}. {}.\n\n\
         Theorem 5 asks for lambda_n -> 0 and 1/lambda_(n+1) - 1/lambda_n -> 0. The difference is about \
         n^(-1/2)/(2 c) for c n^(-1/2), and 1/c at every n for c/n. The theorem is for a compact input \
         space, which these examples do not have, and its conditions are sufficient: it does not say \
         that errors with c/n stay away from the Bayes error.",
        examples.join("; ")
    )
}

pub(super) fn errors(shown: &[Shown<'_>]) -> Table {
    let header = ["samples", "n", "trials"].map(str::to_owned);
    let names = SCHEDULES.map(Schedule::name);
    let end = ["not certified".to_owned()];
    let mut table = Table::new(header.into_iter().chain(names).chain(end));
    for s in shown {
        let beginning = [s.setting.title.to_owned(), s.row.n().to_string()];
        let excess = (0..SCHEDULES.len()).map(|at| s.excess(at).to_string());
        let is_open = |trial: &&Numbers, at: usize| trial.0[at * WIDTH] == 0.0;
        let open =
            (0..SCHEDULES.len()).map(|at| s.trials.iter().filter(|t| is_open(t, at)).count());
        let end = [open.sum::<usize>().to_string()];
        let trials = [s.trials.len().to_string()];
        table.push(beginning.into_iter().chain(trials).chain(excess).chain(end));
    }
    table
}

pub(super) fn about_bounds() -> String {
    format!(
        "**Lemma 4.** For every delta the excess error is at most the sum of two terms: the probability \
         that the classifier differs from the Bayes rule where X has hardly any label noise, \
         `p (1 - p) <= delta/2 (1 - delta/2)`, and the excess risk elsewhere. The table has both, times 100, at the \
         smallest and at the largest n, at the delta of {DELTAS} from 1 to {:e} where their sum is lowest. \
         *Step* is 1/lambda_(n+1) - 1/lambda_n, and *stability* the bound of the proof of theorem 5 on \
         the change of a score when a sample is left out, |1/lambda_n - 1/lambda_(n-1)| + 2/(n lambda_n) \
         for a kernel of at most 1.",
        delta(DELTAS - 1)
    )
}

pub(super) fn bounds(shown: &[Shown<'_>]) -> Table {
    let mut table = Table::new([
        "samples",
        "n",
        "lambda_n",
        "lambda",
        "step",
        "stability",
        "excess error, %",
        "delta",
        "first term, %",
        "second term, %",
        "sum, %",
    ]);
    for example in 0..EXAMPLES {
        let rows = of_example(shown, example);
        let ends = [rows.first(), rows.last()].into_iter().flatten();
        for s in ends.take(rows.len()) {
            for (at, schedule) in SCHEDULES.into_iter().enumerate() {
                let (n, k) = (s.row.n(), s.best_delta(at));
                let [first, second] = s.terms(at, k);
                table.push([
                    s.setting.title.to_owned(),
                    n.to_string(),
                    schedule.name(),
                    format!("{:.1e}", schedule.lambda(n)),
                    format!("{:.2}", schedule.step(n)),
                    format!("{:.2}", schedule.stability(n)),
                    s.excess(at).to_string(),
                    format!("{:.0e}", delta(k)),
                    first.to_string(),
                    second.to_string(),
                    s.bound_at(at, k).to_string(),
                ]);
            }
        }
    }
    table
}

/// Returns the table of `g(delta)` and of its product with the logarithm.
pub(super) fn shares(examples: &[&Setting], seed: u64) -> Result<Table, Failure> {
    const SMALL: [f64; 5] = [1e-1, 1e-2, 1e-4, 1e-8, 1e-16];
    let heads = SMALL.map(|delta| [format!("g({delta:e})"), format!("-log({delta:e}) g")]);
    let first = ["samples".to_owned()];
    let mut table = Table::new(first.into_iter().chain(heads.into_iter().flatten()));
    for setting in examples {
        let log_odds = setting.mixture.log_odds(100_000, seed);
        let mut cells = vec![setting.title.to_owned()];
        for delta in SMALL {
            let g = share_without_noise(&log_odds, delta)?;
            cells.extend([format!("{g:.4}"), format!("{:.4}", -delta.ln() * g)]);
        }
        table.push(cells);
    }
    Ok(table)
}
