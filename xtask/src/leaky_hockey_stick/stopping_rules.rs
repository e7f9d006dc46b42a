//! Table 2 with certified fits and with the stopping rule of the authors' program, on the same splits.
//!
//! On small samples many lambdas have the lowest cross-validated error. The table therefore has the
//! largest of them and the one of the lowest log-loss. Of every trial the journal keeps the errors on
//! the test rows at all lambdas, so that the table can also say which lambda would have been as good.

use std::cmp::Ordering;
use std::path::Path;
use std::time::Instant;

use margins::Registry;
use margins::data::metrics::error_rate;
use margins::estimators::regularised::{Preparation, Prepared, folds_of};
use margins::kernels::{PlannedPaths, Route, combine_all};
use margins::losses::LeakyHockeyStick;
use margins::nalgebra::DMatrix;
use margins::optim::{Options, Solver, Training};
use margins_experiments::figure::{Axis, Style, categories, panel, with_bars};
use margins_experiments::trials::{self, Key};
use margins_experiments::{Cell, Document, Figure, Mean, Numbers, Table};
use rand_chacha::ChaCha8Rng;

use super::comparison::{Row, Settings, distance, stream};
use super::data_sets::{DATA_SETS, NAMES};
use super::tuning::{FOLDS, Samples, Space, lambdas, machine, tested};
use crate::Failure;

/// The number of a rule that stands at a place before its errors.
#[derive(Clone, Copy)]
enum Head {
    Seconds,
    /// The index of the largest lambda of the lowest cross-validated error.
    Largest,
    /// The index of the one with the lowest log-loss among them, the choice of `margins cv`.
    LogLoss,
    /// The index of the smallest.
    Smallest,
    /// The index of the largest lambda within one standard error.
    OneStandardError,
    /// The number of lambdas that all paths reach.
    Reached,
    /// The number of these at which a fit is not certified.
    Open,
}

/// The count of these numbers.
const HEAD: usize = Head::Open as usize + 1;

/// What a rule does in a trial.
struct Along {
    /// The [head](Head) and the test error at each lambda, NaN after the end of the path.
    numbers: Vec<f64>,
    /// The cross-validated error at each lambda.
    cross_validated: Vec<f64>,
}

impl Along {
    /// Returns the test error at the largest lambda of the lowest cross-validated error among the first
    /// lambdas.
    fn within(&self, count: usize) -> f64 {
        let errors = &self.cross_validated[..count];
        let best = (0..count).min_by(|&a, &b| errors[a].total_cmp(&errors[b]));
        best.map_or(f64::NAN, |k| self.numbers[HEAD + k])
    }
}

/// Fits the samples at all lambdas, and tests the fits.
fn along(samples: &Samples, space: Space, solver: Solver) -> Result<Along, Failure> {
    let Samples { train, test, seed } = samples;
    let (registry, lambdas) = (Registry::standard(), lambdas()?);
    let (folds, _) = folds_of(train, Some(FOLDS), *seed)?;
    let options = Options { solver, ..Options::default() };
    let training = Training { options, ..Training::new(&LeakyHockeyStick) };
    let began = Instant::now();
    let prepared = match space {
        Space::Linear => Prepared::linear(train),
        Space::Gaussian => {
            let planned = PlannedPaths::one(Route::of(&LeakyHockeyStick, solver)?, lambdas.len());
            let preparation =
                Preparation { seed: *seed, planned, solver, ..Preparation::default() };
            Prepared::for_kernel("gaussian", &registry.kernels, train, preparation)?
        }
    };
    let (mut curve, fits) = prepared.cross_validate(&training, &folds, &lambdas)?;
    let on_all = || prepared.subset(None).path(&training, None, train, &lambdas);
    let fits = fits.map_or_else(on_all, Ok)?;
    curve.leave_out(|k| k >= fits.len());
    let seconds = began.elapsed().as_secs_f64();

    let of_linear = |fits: &[margins::optim::Fit]| -> Vec<Vec<f64>> {
        fits.iter().map(|fit| fit.decision_function(test.design())).collect()
    };
    let scores = match prepared.kernel_specification() {
        None => of_linear(&fits),
        Some(kernel) => {
            let kernel = registry.kernels.parse(&kernel)?;
            let coefs = DMatrix::from_fn(fits.len(), train.rows(), |k, i| fits[k].coef[i]);
            let scores = combine_all(&*kernel, test.design(), train.design(), &coefs)?;
            let with_intercept = |k: usize| scores.row(k).add_scalar(fits[k].intercept);
            (0..fits.len()).map(|k| with_intercept(k).iter().copied().collect()).collect()
        }
    };
    let least = curve.mean_error[curve.best];
    let mut equal =
        (0..lambdas.len()).filter(|&k| curve.reached[k] && curve.mean_error[k] == least);
    let largest = equal.next().unwrap_or(curve.best);
    let smallest = equal.next_back().unwrap_or(largest);
    let reached = curve.reached.iter().filter(|&&reached| reached).count();
    let certified = curve.certified.iter().filter(|&&certified| certified).count();
    let indices = [largest, curve.best, smallest, curve.one_standard_error];
    let mut numbers = vec![seconds];
    numbers.extend(indices.into_iter().chain([reached, reached - certified]).map(|n| n as f64));
    for scores in &scores {
        numbers.push(error_rate(scores, test.labels().signs(), None)?.rate);
    }
    numbers.resize(HEAD + lambdas.len(), f64::NAN);
    Ok(Along { numbers, cross_validated: curve.mean_error })
}

/// Returns the numbers of a trial: those of both rules, the published one NaN unless it is wanted, error
/// and seconds of the SVM, and the error of certified fits at the lambdas that the published rule reaches.
fn trial(samples: &Samples, space: Space, with_rule: bool) -> Result<Numbers, Failure> {
    let certified = along(samples, space, Solver::Auto)?;
    let (rule, limited) = if with_rule {
        let rule = along(samples, space, Solver::MM_PUBLISHED)?.numbers;
        let reached = rule[Head::Reached as usize] as usize;
        (rule, certified.within(reached))
    } else {
        (vec![f64::NAN; certified.numbers.len()], f64::NAN)
    };
    let began = Instant::now();
    let machine = tested(machine(space, samples.seed)?, samples)?;
    let others = [machine.error, began.elapsed().as_secs_f64(), limited];
    Ok(Numbers(certified.numbers.into_iter().chain(rule).chain(others).collect()))
}

/// The rules, by their place in a trial.
const CERTIFIED: usize = 0;
const PUBLISHED: usize = 1;

/// Certified fits less the published rule, at the largest lambda.
const BY_RULE: [(usize, Head); 2] = [(CERTIFIED, Head::Largest), (PUBLISHED, Head::Largest)];

/// The largest lambda less the one of the lowest log-loss, of certified fits.
const BY_CHOICE: [(usize, Head); 2] = [(CERTIFIED, Head::Largest), (CERTIFIED, Head::LogLoss)];

/// What the trials of a row have shown.
struct Shown<'a> {
    row: &'a Row,
    trials: &'a [Numbers],
    /// The number of lambdas.
    count: usize,
}

impl Shown<'_> {
    fn head(&self, trial: &Numbers, rule: usize, at: Head) -> f64 {
        trial.0[rule * (HEAD + self.count) + at as usize]
    }

    /// Returns the error at a lambda.
    fn error(&self, trial: &Numbers, rule: usize, lambda: usize) -> f64 {
        trial.0[rule * (HEAD + self.count) + HEAD + lambda]
    }

    /// Returns the error at the lambda of a choice.
    fn chosen(&self, trial: &Numbers, rule: usize, choice: Head) -> f64 {
        self.error(trial, rule, self.head(trial, rule, choice) as usize)
    }

    fn machine(&self, trial: &Numbers) -> f64 {
        trial.0[2 * (HEAD + self.count)]
    }

    /// Returns the error of certified fits at the largest lambda of those that the published rule reaches.
    fn limited(&self, trial: &Numbers) -> f64 {
        trial.0[2 * (HEAD + self.count) + 2]
    }

    /// Returns the paired differences that the parts of the rule make: the limit of iterations (certified
    /// fits at the lambdas that the rule reaches, less those at all), and the tolerance (the rest).
    fn parts(&self) -> [Mean; 2] {
        let limit = |t: &Numbers| self.limited(t) - self.chosen(t, CERTIFIED, Head::Largest);
        let tolerance = |t: &Numbers| self.chosen(t, PUBLISHED, Head::Largest) - self.limited(t);
        [self.mean(limit), self.mean(tolerance)]
    }

    /// Returns the numbers of the trials that have them.
    fn numbers(&self, of: impl Fn(&Numbers) -> f64) -> impl Iterator<Item = f64> {
        self.trials.iter().map(of).filter(|number| !number.is_nan())
    }

    fn mean(&self, of: impl Fn(&Numbers) -> f64) -> Mean {
        Mean::percent(self.numbers(of))
    }

    fn of(&self, rule: usize, choice: Head) -> Mean {
        self.mean(|trial| self.chosen(trial, rule, choice))
    }

    /// Returns the paired difference of two rules, each with its choice of lambda.
    fn difference(&self, one: (usize, Head), other: (usize, Head)) -> Mean {
        self.mean(|t| self.chosen(t, one.0, one.1) - self.chosen(t, other.0, other.1))
    }

    /// Returns the lambda with the lowest mean error of certified fits on the test rows.
    fn hindsight(&self) -> usize {
        let mean = |k: usize| self.mean(|trial| self.error(trial, CERTIFIED, k)).mean;
        (0..self.count).min_by(|&a, &b| mean(a).total_cmp(&mean(b))).unwrap_or(0)
    }

    /// Returns the mean of a number over the trials, as it is, or a dash if it is missing.
    fn plain(&self, digits: usize, of: impl Fn(&Numbers) -> f64) -> String {
        let Mean { mean, .. } = Mean::of(self.numbers(of));
        if mean.is_nan() { "-".to_owned() } else { format!("{mean:.digits$}") }
    }

    fn name(&self) -> String {
        let title = self.row.title.split(',').next().unwrap_or_default();
        format!("{title} {}", self.row.space.name())
    }
}

/// Runs the trials and returns the document. `trials_of` is the number of trials of a row, `with_rule`
/// whether the published rule is in one of them, and `draw` makes the samples of one.
pub(super) fn run(
    name: &'static str,
    arguments: &str,
    rows: &[Row],
    (trials_of, with_rule): (impl Fn(&Row) -> usize, impl Fn(&Row, usize) -> bool + Sync),
    settings: &Settings,
    folder: &Path,
    draw: impl Fn(&Row, &mut ChaCha8Rng) -> Result<Samples, Failure> + Sync,
) -> Result<Document, Failure> {
    if rows.is_empty() {
        return Err(format!("{name}: no row begins with {:?}", settings.only).into());
    }
    let keys: Vec<Key> =
        rows.iter().flat_map(|row| (0..trials_of(row)).map(|k| (row.key(), k))).collect();
    let journal = folder.join(format!("{name}.journal"));
    let numbers = trials::run(&journal, arguments, &keys, settings.threads, |(key, number)| {
        let row = rows.iter().find(|row| row.key() == *key).ok_or("a row of no table")?;
        let mut random = stream(settings.seed, row.stream, *number);
        trial(&draw(row, &mut random)?, row.space, with_rule(row, *number))
    })?;
    let (count, mut rest) = (lambdas()?.len(), &numbers[..]);
    let mut shown = Vec::new();
    for row in rows {
        let (own, others) = rest.split_at(trials_of(row));
        shown.push(Shown { row, trials: own, count });
        rest = others;
    }
    Ok(Document::new(name, "Table 2: errors on data sets", finding(&shown))
        .figure(figure(&shown))
        .csv(name, csv(&shown))
        .table(errors(&shown))
        .table(choices(&shown)?)
        .text(parts_in_words(&shown))
        .table(parts(&shown)))
}

/// The standard errors beyond which a difference counts. Of 20 entries about one is beyond two by
/// chance.
const FAR: f64 = 3.0;

/// Returns the names, or `no entry`.
fn listed(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    if names.is_empty() { "no entry".to_owned() } else { names.join(", ") }
}

/// The entries of which a paired difference is far above 0, and those where it is far below.
struct Differences {
    above: Vec<String>,
    below: Vec<String>,
}

impl Differences {
    fn of<'a>(
        shown: impl Iterator<Item = &'a Shown<'a>>,
        difference: impl Fn(&Shown<'_>) -> Mean,
    ) -> Self {
        let mut found = Differences { above: Vec::new(), below: Vec::new() };
        for s in shown {
            let difference = difference(s);
            let Mean { mean, standard_error } = difference;
            let entry = format!("{} ({:.2} +- {standard_error:.2})", s.name(), mean.abs());
            match difference.in_standard_errors() {
                distance if distance > FAR => found.above.push(entry),
                distance if distance < -FAR => found.below.push(entry),
                _ => {}
            }
        }
        found
    }

    /// Returns `less on X and more on Y`.
    fn in_words(&self) -> String {
        let [less, more] = [&self.above, &self.below].map(|names| listed(names.iter().cloned()));
        format!("less on {less} and more on {more}")
    }
}

/// Returns the finding in words.
fn finding(shown: &[Shown<'_>]) -> String {
    let with_rule = || shown.iter().filter(|s| !s.of(PUBLISHED, Head::Largest).mean.is_nan());
    let as_good = with_rule().filter(|s| {
        let k = s.hindsight();
        let rule = |t: &Numbers| s.chosen(t, PUBLISHED, Head::Largest);
        s.mean(|t| s.error(t, CERTIFIED, k) - rule(t)).mean <= 0.0
    });
    let ruled = with_rule().count();
    let [by_rule, by_choice] = [BY_RULE, BY_CHOICE]
        .map(|[one, other]| Differences::of(shown.iter(), |s| s.difference(one, other)));
    let early_stopping = match (by_rule.above.len(), by_rule.below.len()) {
        (0, 0) => "early stopping neither helps nor hurts here".to_owned(),
        (0, hurt) => format!(
            "early stopping is no second regulariser here, and hurts {hurt} of {ruled} entries"
        ),
        (helped, _) => {
            format!("early stopping is a second regulariser on {helped} of {ruled} entries")
        }
    };
    let matters = match by_choice.above.len().cmp(&by_rule.above.len()) {
        Ordering::Greater => "Another choice of lambda helps more",
        Ordering::Equal => "Another choice of lambda helps as often",
        Ordering::Less => "Another choice of lambda helps less",
    };
    let off = |rule: usize, choice: Head| {
        let far = shown.iter().filter_map(|s| {
            let distance = distance(s.of(rule, choice), s.row.published[0]);
            (distance.abs() > FAR).then(|| format!("{} ({distance:+.1})", s.name()))
        });
        listed(far)
    };
    let by_default = Differences::of(shown.iter(), |s| {
        s.difference((PUBLISHED, Head::Largest), (CERTIFIED, Head::LogLoss))
    });
    let advice = match by_default.below.len() {
        0 => "Users lose nothing by certified fits with that choice, the default of `margins cv`",
        _ => "Users may want both: the default of `margins cv` and `--stop published`",
    };
    format!(
        "More than {FAR} standard errors from the published errors are: certified fits at the lambda \
         of the lowest log-loss on {}; certified fits at the largest lambda on {}; fits by the \
         published stopping rule at the largest lambda on {}. All three have the lowest \
         cross-validated error, which on small samples many lambdas share.\n\n\
         At the largest lambda, fits by the published rule err {} than certified ones, by more than \
         {FAR} paired standard errors: {early_stopping}. {matters}: certified fits at the lambda of \
         the lowest log-loss err {} than at the largest. At one fixed lambda, known in hindsight, \
         certified fits err at most as much as the rule on {} of {ruled} entries. {advice}: they err {} \
         than the published rule at the largest lambda.\n\n{}",
        off(CERTIFIED, Head::LogLoss),
        off(CERTIFIED, Head::Largest),
        off(PUBLISHED, Head::Largest),
        by_rule.in_words(),
        by_choice.in_words(),
        as_good.count(),
        by_default.in_words(),
        Space::BOTH.map(|space| beside_machine(shown, space)).join(" "),
    )
}

/// Returns on how many data sets of a space the leaky hockey stick classifier errs less than the
/// support vector machine, as a sentence.
fn beside_machine(shown: &[Shown<'_>], space: Space) -> String {
    let of_space = || shown.iter().filter(move |s| s.row.space == space);
    let is_less = |[lhs, svm]: &[Mean; 2]| lhs.mean < svm.mean;
    let count = |choice| {
        let ours = |s: &Shown<'_>| [s.of(CERTIFIED, choice), s.mean(|t| s.machine(t))];
        of_space().filter(|s| is_less(&ours(s))).count()
    };
    let published = of_space().filter(|s| is_less(&s.row.published)).count();
    let everywhere = DATA_SETS.iter().map(|set| set.published(space));
    let everywhere = everywhere.filter(is_less).count();
    let ours = count(Head::Largest);
    let compared = match ours.cmp(&published) {
        Ordering::Less => "fewer than the",
        Ordering::Equal => "as many as the",
        Ordering::Greater => "more than the",
    };
    let differences = Differences::of(of_space(), |s| {
        s.mean(|t| s.machine(t) - s.chosen(t, CERTIFIED, Head::Largest))
    });
    format!(
        "With the {} space the leaky hockey stick classifier has a lower mean error than the support \
         vector machine, both at the largest lambda, on {ours} of {} data sets, {compared} {published} \
         published for these ({everywhere} of the {} in the paper); by log-loss on {}. Beyond {FAR} \
         paired standard errors it errs {}.",
        space.name(),
        of_space().count(),
        DATA_SETS.len(),
        count(Head::LogLoss),
        differences.in_words(),
    )
}

fn signed(difference: Mean) -> Cell {
    let Mean { mean, standard_error } = difference;
    if mean.is_nan() { "-".into() } else { format!("{mean:+.2} ({standard_error:.2})").into() }
}

/// Returns the cells that begin a row.
fn beginning(s: &Shown<'_>) -> Vec<Cell> {
    vec![(&s.row.title).into(), s.row.space.name().into(), s.trials.len().into()]
}

/// Returns the table of errors.
fn errors(shown: &[Shown<'_>]) -> Table {
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

/// Returns the table of other choices of lambda, and of seconds.
fn choices(shown: &[Shown<'_>]) -> Result<Table, Failure> {
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
        cells.push(s.plain(2, |t| t.0[2 * (HEAD + s.count) + 1]).into());
        table.push(cells);
    }
    Ok(table)
}

/// Returns in words which part of the published rule changes the error.
fn parts_in_words(shown: &[Shown<'_>]) -> String {
    let [limit, tolerance] =
        [0, 1].map(|part| Differences::of(shown.iter(), |s| s.parts()[part]).in_words());
    format!(
        "**The parts of the rule.** The published rule differs from certified fits by its limit of \
         iterations for a path and by its tolerance. *Before the limit* are certified fits at the \
         largest lambda of the lowest cross-validated error among the lambdas that the rule reaches. \
         Beyond {FAR} paired standard errors, certified fits at all lambdas err {limit} than those before \
         the limit, which is due to the limit. Those before the limit err {tolerance} than the rule, \
         which is due to the tolerance.",
    )
}

/// Returns the table of the parts of the published rule, at the largest lambda of the lowest
/// cross-validated error.
fn parts(shown: &[Shown<'_>]) -> Table {
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

fn csv(shown: &[Shown<'_>]) -> String {
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
fn figure(shown: &[Shown<'_>]) -> Figure {
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

#[cfg(test)]
mod tests {
    use super::{Along, HEAD};

    /// The largest of several lambdas with the lowest cross-validated error, without those after the
    /// limit.
    #[test]
    fn a_limit_leaves_out_the_lambdas_after_it() {
        let mut numbers = vec![0.0; HEAD];
        numbers.extend([0.4, 0.3, 0.2, 0.1]);
        let along = Along { numbers, cross_validated: vec![0.5, 0.25, 0.25, 0.125] };
        assert_eq!([1, 2, 3, 4].map(|count| along.within(count)), [0.4, 0.3, 0.3, 0.1]);
    }
}
