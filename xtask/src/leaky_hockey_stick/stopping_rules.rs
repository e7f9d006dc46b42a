//! Table 2 with certified fits and with the stopping rule of the authors' program, on the same splits.
//!
//! Of every trial the journal keeps the errors on the test rows at all lambdas, so that the table can say
//! which lambda would have been as good.

use std::path::Path;
use std::time::Instant;

use margins::Registry;
use margins::data::metrics::error_rate;
use margins::estimators::regularised::{Preparation, Prepared, folds_of};
use margins::kernels::{PlannedPaths, Route, combine_all};
use margins::losses::LeakyHockeyStick;
use margins::nalgebra::DMatrix;
use margins::optim::{Options, Solver, Training};
use rand_chacha::ChaCha8Rng;

use super::comparison::{Mean, Row, Settings, stream};
use super::tuning::{FOLDS, Samples, Space, lambdas, machine, tested};
use crate::Failure;
use crate::document::{Cell, Document, Table};
use crate::figure::{Axis, Figure, Panel, Series, Style};
use crate::massart::adversaries::Numbers;
use crate::trials::{self, Key};

const RULES: [Solver; 2] = [Solver::Auto, Solver::MM_PUBLISHED];

/// The numbers of a rule before its errors: seconds, the index of the lambda selected, that of the
/// one-standard-error rule, the number of lambdas reached and that of lambdas without certificate.
const HEAD: usize = 5;

/// Returns the numbers of a rule in a trial: the [head](HEAD) and the test error at each lambda, NaN after
/// the end of the path.
fn along(samples: &Samples, space: Space, solver: Solver) -> Result<Vec<f64>, Failure> {
    let Samples { train, test, seed } = samples;
    let (registry, lambdas) = (Registry::standard(), lambdas()?);
    let (folds, _) = folds_of(train, Some(FOLDS), *seed)?;
    let options = Options { solver, ..Options::default() };
    let training = Training { options, ..Training::new(&LeakyHockeyStick) };
    let began = Instant::now();
    let prepared = match space {
        Space::Linear => Prepared::linear(train),
        Space::Gaussian => {
            let planned = PlannedPaths::one(Route::of(&LeakyHockeyStick, solver), lambdas.len());
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
    // Of lambdas with the lowest error the largest is taken, as in the package of the paper.
    let least = curve.mean_error[curve.best];
    let best = (0..lambdas.len()).find(|&k| curve.reached[k] && curve.mean_error[k] == least);
    let reached = curve.reached.iter().filter(|&&reached| reached).count();
    let certified = curve.certified.iter().filter(|&&certified| certified).count();
    let indices = [best.unwrap_or(curve.best), curve.one_standard_error];
    let mut numbers = vec![seconds];
    numbers.extend([indices[0], indices[1], reached, reached - certified].map(|n| n as f64));
    for scores in &scores {
        numbers.push(error_rate(scores, test.labels().signs(), None)?.rate);
    }
    numbers.resize(HEAD + lambdas.len(), f64::NAN);
    Ok(numbers)
}

/// Returns the numbers of a trial: those of both rules, and error and seconds of the machine.
fn trial(samples: &Samples, space: Space) -> Result<Numbers, Failure> {
    let mut numbers = Vec::new();
    for solver in RULES {
        numbers.extend(along(samples, space, solver)?);
    }
    let began = Instant::now();
    let machine = tested(machine(space, samples.seed)?, samples)?;
    numbers.extend([machine.error, began.elapsed().as_secs_f64()]);
    Ok(Numbers(numbers))
}

/// What the trials of a row have shown.
struct Shown<'a> {
    row: &'a Row,
    trials: &'a [Numbers],
    count: usize,
}

impl<'a> Shown<'a> {
    fn new(row: &'a Row, trials: &'a [Numbers]) -> Result<Self, Failure> {
        Ok(Shown { row, trials, count: lambdas()?.len() })
    }

    /// Returns a number of the head of a rule in a trial.
    fn head(&self, trial: &Numbers, rule: usize, at: usize) -> f64 {
        trial.0[rule * (HEAD + self.count) + at]
    }

    /// Returns the error at a lambda.
    fn error(&self, trial: &Numbers, rule: usize, lambda: usize) -> f64 {
        trial.0[rule * (HEAD + self.count) + HEAD + lambda]
    }

    /// Returns the error at the lambda selected, or at that of the one-standard-error rule.
    fn selected(&self, trial: &Numbers, rule: usize, at: usize) -> f64 {
        self.error(trial, rule, self.head(trial, rule, at) as usize)
    }

    fn machine(&self, trial: &Numbers) -> f64 {
        trial.0[2 * (HEAD + self.count)]
    }

    fn mean(&self, of: impl Fn(&Numbers) -> f64) -> Mean {
        Mean::of(self.trials.iter().map(of))
    }

    fn of_rule(&self, rule: usize) -> Mean {
        self.mean(|trial| self.selected(trial, rule, 1))
    }

    /// Returns certified less rule, paired.
    fn paired(&self) -> Mean {
        self.mean(|trial| self.selected(trial, 0, 1) - self.selected(trial, 1, 1))
    }

    /// Returns the lambda with the lowest mean error of certified fits on the test rows.
    fn hindsight(&self) -> usize {
        let mean = |k: usize| self.mean(|trial| self.error(trial, 0, k)).mean;
        (0..self.count).min_by(|&a, &b| mean(a).total_cmp(&mean(b))).unwrap_or(0)
    }

    fn seconds(&self, of: impl Fn(&Numbers) -> f64) -> String {
        let mean = self.trials.iter().map(of).sum::<f64>() / self.trials.len() as f64;
        format!("{mean:.2}")
    }

    fn name(&self) -> String {
        let title = self.row.title.split(',').next().unwrap_or_default();
        format!("{title} {}", self.row.space.name())
    }
}

/// Runs the trials and returns the document. `draw` makes the samples of a trial of a row.
pub(super) fn run(
    name: &'static str,
    arguments: &str,
    rows: &[Row],
    trials_of: impl Fn(&Row) -> usize,
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
        trial(&draw(row, &mut random)?, row.space)
    })?;
    let mut rest = &numbers[..];
    let mut shown = Vec::new();
    for row in rows {
        let (own, others) = rest.split_at(trials_of(row));
        shown.push(Shown::new(row, own)?);
        rest = others;
    }
    Ok(Document::new(name, "the published errors beside certified fits and the published rule")
        .finding(finding(&shown))
        .figure(figure(name, &shown))
        .csv(name, csv(&shown))
        .table(errors(&shown))
        .table(choices(&shown)?))
}

/// Returns the finding in words.
fn finding(shown: &[Shown<'_>]) -> String {
    /// The standard errors beyond which a difference counts.
    const FAR: f64 = 2.0;
    let all = shown.len();
    let off = |rule: usize| {
        let far = |s: &&Shown<'_>| s.of_rule(rule).distance(s.row.published[0]).abs() > FAR;
        shown.iter().filter(far).count()
    };
    let beyond = |sign: f64| {
        let far = |s: &&Shown<'_>| sign * s.paired().mean > FAR * s.paired().standard_error;
        let said = |s: &Shown<'_>| {
            let Mean { mean, standard_error } = s.paired();
            format!("{} {mean:+.2} +- {standard_error:.2}", s.name())
        };
        let names: Vec<String> = shown.iter().filter(far).map(said).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let as_good = shown.iter().filter(|s| {
        let k = s.hindsight();
        s.mean(|t| s.error(t, 0, k)).mean <= s.of_rule(1).mean
    });
    let better = |space: Space| {
        let of_space = || shown.iter().filter(move |s| s.row.space == space);
        let published = |s: &&Shown<'_>| s.row.published[0].mean < s.row.published[1].mean;
        let machine = |s: &Shown<'_>| s.mean(|t| s.machine(t)).mean;
        let ours = |rule| of_space().filter(move |s| s.of_rule(rule).mean < machine(s)).count();
        format!(
            "{}: certified on {}, with the rule on {}, published on {} of {} sets",
            space.name(),
            ours(0),
            ours(1),
            of_space().filter(published).count(),
            of_space().count()
        )
    };
    format!(
        "Of {all} entries, {} of certified fits and {} of the published stopping rule differ from the \
         published errors by more than {FAR} standard errors. The rule predicts better than certified \
         fits by more than {FAR} paired standard errors on: {}; worse on: {}. At one fixed lambda, the \
         best in hindsight, certified fits have at most the error of the rule in {} entries. The leaky \
         hockey stick classifier has a lower mean error than the support vector machine: {}; {}.",
        off(0),
        off(1),
        beyond(1.0),
        beyond(-1.0),
        as_good.count(),
        better(Space::Linear),
        better(Space::Gaussian)
    )
}

fn signed(Mean { mean, standard_error }: Mean) -> Cell {
    format!("{mean:+.2} ({standard_error:.2})").into()
}

/// Returns the table of errors and seconds.
fn errors(shown: &[Shown<'_>]) -> Table {
    let mut table = Table::new([
        "samples",
        "space",
        "trials",
        "certified",
        "rule",
        "published",
        "certified differs by",
        "rule differs by",
        "certified - rule",
        "SVM",
        "published",
        "SVM differs by",
        "seconds: certified",
        "rule",
        "SVM",
    ]);
    for s in shown {
        let [lhs, svm] = s.row.published;
        let (certified, rule) = (s.of_rule(0), s.of_rule(1));
        let machine = s.mean(|t| s.machine(t));
        let mut cells: Vec<Cell> = vec![(&s.row.title).into(), s.row.space.name().into()];
        cells.extend([s.trials.len().into(), certified.into(), rule.into(), lhs.into()]);
        cells.extend([certified, rule].map(|ours| Cell::difference(ours.distance(lhs))));
        cells.extend([signed(s.paired()), machine.into(), svm.into()]);
        cells.push(Cell::difference(machine.distance(svm)));
        cells.extend([0, 1].map(|rule| s.seconds(|t| s.head(t, rule, 0)).into()));
        cells.push(s.seconds(|t| t.0[2 * (HEAD + s.count) + 1]).into());
        table.push(cells);
    }
    table
}

/// Returns the table of other choices of lambda.
fn choices(shown: &[Shown<'_>]) -> Result<Table, Failure> {
    let lambdas = lambdas()?;
    let mut table = Table::new([
        "samples",
        "space",
        "lambdas reached by the rule",
        "one standard error, certified",
        "less the rule",
        "best lambda, certified",
        "at lambda",
        "less the rule",
        "not certified",
    ]);
    for s in shown {
        let k = s.hindsight();
        let rule = |t: &Numbers| s.selected(t, 1, 1);
        let reached = s.trials.iter().map(|t| s.head(t, 1, 3)).sum::<f64>() / s.trials.len() as f64;
        let open = s.trials.iter().map(|t| s.head(t, 0, 4)).sum::<f64>();
        let mut cells: Vec<Cell> = vec![(&s.row.title).into(), s.row.space.name().into()];
        cells.push(format!("{reached:.0}").into());
        cells.push(s.mean(|t| s.selected(t, 0, 2)).into());
        cells.push(signed(s.mean(|t| s.selected(t, 0, 2) - rule(t))));
        cells.push(s.mean(|t| s.error(t, 0, k)).into());
        cells.push(format!("{:.1e}", lambdas[k].get()).into());
        cells.push(signed(s.mean(|t| s.error(t, 0, k) - rule(t))));
        cells.push(format!("{open:.0}").into());
        table.push(cells);
    }
    Ok(table)
}

fn csv(shown: &[Shown<'_>]) -> String {
    let mut text = String::from(
        "row,classifier,trials,mean,standard_error,published_mean,published_standard_error\n",
    );
    for s in shown {
        let [lhs, svm] = s.row.published;
        let of = [
            ("certified", s.of_rule(0), lhs),
            ("published-rule", s.of_rule(1), lhs),
            ("svm", s.mean(|t| s.machine(t)), svm),
        ];
        for (classifier, ours, theirs) in of {
            text += &format!(
                "{},{classifier},{},{},{},{},{}\n",
                s.row.key(),
                s.trials.len(),
                ours.mean,
                ours.standard_error,
                theirs.mean,
                theirs.standard_error
            );
        }
    }
    text
}

/// Returns the picture: our errors over the published ones, one dot an entry, with standard errors.
fn figure(name: &'static str, shown: &[Shown<'_>]) -> Figure {
    const RANGE: (f64, f64) = (0.0, 36.0);
    let panel = |rule: usize, key: &'static str, title: &str| {
        let point = |s: &Shown<'_>| (s.row.published[0].mean, s.of_rule(rule).mean);
        let dots = |space: Space, colour: usize| Series {
            name: space.name().to_owned(),
            points: shown.iter().filter(|s| s.row.space == space).map(point).collect(),
            style: Style::Dots(colour),
        };
        let bars = |s: &Shown<'_>| {
            let ((x, y), bar) = (point(s), s.of_rule(rule).standard_error);
            let across = s.row.published[0].standard_error;
            [(x, y - bar), (x, y + bar), (x - across, y), (x + across, y)]
        };
        let bars = Series {
            name: "standard errors".to_owned(),
            points: shown.iter().flat_map(bars).collect(),
            style: Style::Pieces(5),
        };
        let equal = Series {
            name: "equal".to_owned(),
            points: vec![(RANGE.0, RANGE.0), (RANGE.1, RANGE.1)],
            style: Style::Guide(5),
        };
        Panel {
            key,
            title: title.to_owned(),
            x: Axis { label: "published error, %", range: RANGE },
            y: Axis { label: "our error, %", range: RANGE },
            series: vec![equal, bars, dots(Space::Linear, 0), dots(Space::Gaussian, 1)],
        }
    };
    let panels = vec![
        panel(0, "certified", "Certified fits"),
        panel(1, "rule", "The published stopping rule"),
    ];
    Figure { name, panels }
}
