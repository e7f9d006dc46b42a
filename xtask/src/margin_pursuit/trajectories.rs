//! Figures 3 to 5: errors and margins along the run of the stochastic projected methods.
//!
//! Holland (2019), section 4. What it leaves open is settled here as follows: figure 3 takes COV
//! and DIGIT5, figure 4 PROTEIN and SIDO; COV and PROTEIN are scaled to unit standard deviation by
//! the training rows, the others are binary or pixels from 0 to 1 and stay as they are; a run is 40
//! n steps on samples drawn independently, from random coefficients of norm 1, without an
//! intercept; the scale is set from the data after n steps at confidence 95 %. Steps and scale depend
//! on the length of the inputs, so that figure 5 is run a second time with inputs of mean squared norm
//! 1.

mod runs;

use std::path::{Path, PathBuf};

use clap::Args;

use margins_report::page::chart::Chart;

use crate::Failure;
use crate::document::{Document, Table};
use crate::figure::{Axis, Figure, Points, Series, Style, panel};
use crate::trials::{self, Key};
use runs::{Inputs, Loaded, Method, SOURCES, State, Statistic, Trajectory, follow, load};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder with the data sets as NAME.csv.gz or NAME.svm.gz: covtype, mnist5_train, protein,
    /// sido
    #[arg(long)]
    data_dir: PathBuf,
    /// Take dorothea, binary and sparse like it, for SIDO
    #[arg(long)]
    stand_in: bool,
    /// Trials
    #[arg(long, default_value_t = 25)]
    trials: usize,
    /// Threads [default: one a core]; no result depends on it
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Seed of subsamples, starts and steps
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

const LAMBDAS: [f64; 7] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];

/// Mean and standard error over trials at every point.
struct Curve {
    trials: Vec<Trajectory>,
    means: Vec<State>,
    /// The standard error of the test error.
    errors: Vec<f64>,
}

impl Curve {
    fn of(trials: &[Trajectory]) -> Self {
        let n = trials.len() as f64;
        let points = trials[0].0.len();
        let mean =
            |k: usize, get: Statistic| trials.iter().map(|trial| get(&trial.0[k])).sum::<f64>() / n;
        let means: Vec<State> = (0..points)
            .map(|k| State {
                training_error: mean(k, |s| s.training_error),
                test_error: mean(k, |s| s.test_error),
                mean: mean(k, |s| s.mean),
                variance: mean(k, |s| s.variance),
                skewness: mean(k, |s| s.skewness),
            })
            .collect();
        let deviation = |k: usize| {
            let square = |trial: &Trajectory| (trial.0[k].test_error - means[k].test_error).powi(2);
            (trials.iter().map(square).sum::<f64>() / (n - 1.0).max(1.0) / n).sqrt()
        };
        let errors = (0..points).map(deviation).collect();
        Curve { trials: trials.to_vec(), means, errors }
    }

    /// Returns the point of the least test error.
    fn best(&self) -> usize {
        let error = |&k: &usize| self.means[k].test_error;
        (0..self.means.len()).min_by(|a, b| error(a).total_cmp(&error(b))).unwrap_or(0)
    }

    fn least_error(&self) -> f64 {
        self.means[self.best()].test_error
    }

    fn last(&self) -> usize {
        self.means.len() - 1
    }

    /// Returns the mean of its test errors at a point less those of another curve at its own, trial by
    /// trial, in percent, and that in standard errors.
    fn difference(&self, at: usize, other: &Curve, other_at: usize) -> (f64, f64) {
        let error = |trial: &Trajectory, k: usize| 100.0 * trial.0[k].test_error;
        let pairs = self.trials.iter().zip(&other.trials);
        let differences: Vec<f64> = pairs.map(|(a, b)| error(a, at) - error(b, other_at)).collect();
        let n = differences.len() as f64;
        let mean = differences.iter().sum::<f64>() / n;
        let squares: f64 = differences.iter().map(|d| (d - mean).powi(2)).sum();
        (mean, mean / (squares / (n - 1.0).max(1.0) / n).sqrt())
    }

    /// Returns the error at a point in percent, as in `12.34 (0.56)`.
    fn error_at(&self, k: usize) -> String {
        format!("{:.2} ({:.2})", 100.0 * self.means[k].test_error, 100.0 * self.errors[k])
    }
}

/// The curves of one data set, by method and lambda.
struct Curves<'a> {
    loaded: &'a Loaded,
    steps: Vec<u64>,
    curves: Vec<(Method, f64, Curve)>,
}

impl Curves<'_> {
    fn get(&self, method: Method, lambda: f64) -> Option<&Curve> {
        let wanted = |entry: &&(Method, f64, Curve)| entry.0 == method && entry.1 == lambda;
        self.curves.iter().find(wanted).map(|(_, _, curve)| curve)
    }

    /// Returns the lambda of a method with the least test error over all points, as the source
    /// selects.
    fn best(&self, method: Method) -> Option<(f64, &Curve)> {
        let of_method = self.curves.iter().filter(|entry| entry.0 == method);
        let least = of_method.min_by(|a, b| a.2.least_error().total_cmp(&b.2.least_error()));
        least.map(|(_, lambda, curve)| (*lambda, curve))
    }

    fn points(&self, curve: &Curve, get: Statistic) -> Points {
        let pairs = self.steps.iter().zip(&curve.means);
        pairs.map(|(&step, state)| (step as f64, get(state))).collect()
    }

    /// Returns test and training error, mean, variance and skewness of the margins along the steps.
    fn panels(&self, shown: &[(String, &Curve)], mark: Option<u64>) -> Vec<Chart> {
        let statistics: [(&str, &str, Axis, Statistic); 5] = [
            ("error", "Test error", Axis::new("test error, %"), |s| 100.0 * s.test_error),
            ("training", "Training error", Axis::new("training error, %"), |s| {
                100.0 * s.training_error
            }),
            ("mean", "Mean margin", Axis::new("mean margin"), |s| s.mean),
            ("variance", "Variance of the margins", Axis::log("variance"), |s| {
                s.variance.max(1e-12)
            }),
            ("skewness", "Skewness of the margins", Axis::new("skewness"), |s| s.skewness),
        ];
        let source = self.loaded.source.name.to_lowercase();
        let of_statistic = |(key, name, y, get): (&str, &str, Axis, Statistic)| {
            let curves = shown.iter().map(|(name, curve)| {
                let points = self.points(curve, get);
                let bars = || curve.errors.iter().map(|error| 100.0 * error).collect();
                let style = if key == "error" { Style::Bars(bars()) } else { Style::Line };
                Series::new(name, points, style)
            });
            let mut series: Vec<Series> = curves.collect();
            if let Some(step) = mark {
                let values = series.iter().flat_map(|series| &series.points).map(|point| point.1);
                let ends = (f64::INFINITY, f64::NEG_INFINITY);
                let (low, high) = values.fold(ends, |(l, h), v| (l.min(v), h.max(v)));
                let points = vec![(step as f64, low), (step as f64, high)];
                series.push(Series::new("scale set", points, Style::Dashed).coloured(5));
            }
            let title = format!("{name}, {}", self.loaded.title);
            panel(&format!("{source}-{key}"), title, [Axis::log("gradients"), y], series)
        };
        statistics.into_iter().map(of_statistic).collect()
    }
}

/// Runs what a figure needs, the grid of each method and the runs of figure 5 if asked for.
fn compute<'a>(
    name: &str,
    (arguments, folder): (&Arguments, &Path),
    loaded: &'a [Loaded],
    methods: &[Method],
) -> Result<Vec<Curves<'a>>, Failure> {
    let runs = |loaded: &Loaded| -> Vec<(Method, f64)> {
        let lambdas = |method: Method| match method {
            Method::Pursuit | Method::Pegasos => LAMBDAS.to_vec(),
            _ => vec![loaded.source.under],
        };
        methods.iter().flat_map(|&m| lambdas(m).into_iter().map(move |l| (m, l))).collect()
    };
    let key = |loaded: &Loaded, (method, lambda): (Method, f64)| {
        format!("{}/{}/{lambda:e}", loaded.source.name, method.name())
    };
    let all: Vec<(&Loaded, Method, f64)> = (loaded.iter())
        .flat_map(|loaded| runs(loaded).into_iter().map(move |(m, l)| (loaded, m, l)))
        .collect();
    let keys: Vec<Key> = (all.iter())
        .flat_map(|&(loaded, m, l)| (0..arguments.trials).map(move |k| (key(loaded, (m, l)), k)))
        .collect();
    let trial = |(name, number): &Key| {
        let run = all.iter().find(|&&(loaded, m, l)| key(loaded, (m, l)) == *name);
        let &(loaded, method, lambda) = run.ok_or("a run of no figure")?;
        follow(loaded, method, lambda, arguments.seed.wrapping_add(*number as u64))
    };
    let protocol = format!("{name} 1 seed={} stand-in={}", arguments.seed, arguments.stand_in);
    let journal = folder.join(format!("{name}.journal"));
    let results = trials::run(&journal, &protocol, &keys, arguments.threads, trial)?;
    let mut results = results.chunks_exact(arguments.trials.max(1));
    Ok(loaded
        .iter()
        .map(|loaded| {
            let curve = |(method, lambda)| {
                let trials = results.next().unwrap_or_default();
                (method, lambda, Curve::of(trials))
            };
            let curves = runs(loaded).into_iter().map(curve).collect();
            Curves { loaded, steps: loaded.checkpoints(), curves }
        })
        .collect())
}

/// Returns the data sets of a figure that are there, and the names of those that are not.
fn load_all(
    arguments: &Arguments,
    names: &[&str],
    inputs: Inputs,
) -> Result<(Vec<Loaded>, Vec<String>), Failure> {
    if arguments.trials == 0 {
        return Err("at least one trial is needed".into());
    }
    let mut missing = Vec::new();
    let mut loaded = Vec::new();
    for source in SOURCES.iter().filter(|source| names.contains(&source.name)) {
        loaded.extend(load(arguments, source, inputs, &mut missing)?);
    }
    if loaded.is_empty() {
        return Err(format!("none of {} is there", names.join(", ")).into());
    }
    Ok((loaded, missing))
}

/// Returns the document of a figure without table and picture.
fn document(
    arguments: &Arguments,
    (name, title): (&'static str, &'static str),
    loaded: &[Loaded],
    missing: &[String],
    findings: &[String],
) -> Document {
    let rows: Vec<String> =
        loaded.iter().map(|loaded| format!("{} {}", loaded.title, loaded.data.rows())).collect();
    let about = format!(
        "{} trials, seed {}. Errors are test errors in percent, with their standard error over the \
         trials. Training and test samples are drawn from the rows of the files: {}.",
        arguments.trials,
        arguments.seed,
        rows.join(", ")
    );
    let mut document = Document::new(name, title, findings.join("\n\n")).text(about);
    if !missing.is_empty() {
        document =
            document.text(format!("These data sets were not available: {}.", missing.join(", ")));
    }
    document
}

pub(crate) fn figure_3(arguments: &Arguments, folder: &Path) -> Result<Document, Failure> {
    let title = "Figure 3: margin pursuit and Pegasos on COV and DIGIT5";
    naive_scaling("margin-pursuit-fig3", title, arguments, folder, &["COV", "DIGIT5"])
}

pub(crate) fn figure_4(arguments: &Arguments, folder: &Path) -> Result<Document, Failure> {
    let title = "Figure 4: margin pursuit and Pegasos on PROTEIN and SIDO";
    naive_scaling("margin-pursuit-fig4", title, arguments, folder, &["PROTEIN", "SIDO"])
}

/// Returns figure 3 or 4: margin pursuit beside Pegasos, each at its best lambda.
fn naive_scaling(
    name: &'static str,
    title: &'static str,
    arguments: &Arguments,
    folder: &Path,
    sets: &[&str],
) -> Result<Document, Failure> {
    let (loaded, missing) = load_all(arguments, sets, Inputs::AsTheyAre)?;
    let methods = [Method::Pursuit, Method::Pegasos];
    let all = compute(name, (arguments, folder), &loaded, &methods)?;
    let mut panels = Vec::new();
    let mut table = Table::new([
        "data",
        "rows",
        "method",
        "best lambda",
        "least error",
        "at gradient",
        "last error",
        "training error, last",
        "mean margin, last",
        "largest",
        "variance, last",
        "over squared mean",
        "skewness, last",
    ]);
    let mut findings = Vec::new();
    for curves in &all {
        let mut shown = Vec::new();
        if let [Some((_, pursuit)), Some((_, pegasos))] = methods.map(|method| curves.best(method))
        {
            findings.push(compared(&curves.loaded.title, pursuit, pegasos));
        }
        for method in methods {
            let Some((lambda, curve)) = curves.best(method) else { continue };
            let (best, last) = (curve.best(), curve.last());
            let largest =
                |get: Statistic| curve.means.iter().map(get).fold(f64::NEG_INFINITY, f64::max);
            let end = &curve.means[last];
            table.push([
                curves.loaded.title.clone(),
                curves.loaded.rows.to_string(),
                method.name().to_owned(),
                format!("{lambda:e}"),
                curve.error_at(best),
                curves.steps[best].to_string(),
                curve.error_at(last),
                format!("{:.2}", 100.0 * end.training_error),
                format!("{:.3}", end.mean),
                format!("{:.3}", largest(|s| s.mean)),
                format!("{:.3}", end.variance),
                format!("{:.3}", relative_variance(end)),
                format!("{:.2}", end.skewness),
            ]);
            shown.push((format!("{}, lambda {lambda:e}", method.name()), curve));
        }
        panels.extend(curves.panels(&shown, None));
    }
    let document = document(arguments, (name, title), &loaded, &missing, &findings);
    Ok(document.table(table).figure(Figure { name, panels }))
}

/// Returns the variance of the margins over their squared mean, which no scaling of the coefficients
/// changes.
fn relative_variance(state: &State) -> f64 {
    state.variance / state.mean.powi(2)
}

/// Returns in words how margin pursuit compares with Pegasos on a data set, each at its best lambda.
fn compared(title: &str, pursuit: &Curve, pegasos: &Curve) -> String {
    let (difference, deviations) = pursuit.difference(pursuit.best(), pegasos, pegasos.best());
    let errs = match deviations.abs() {
        2.0.. if difference < 0.0 => "errs less than Pegasos",
        2.0.. => "errs more than Pegasos",
        _ => "errs as Pegasos does",
    };
    let [ours, theirs] = [pursuit, pegasos].map(|curve| &curve.means[curve.last()]);
    let of_largest = |curve: &Curve| {
        let largest = curve.means.iter().map(|state| state.mean).fold(f64::NEG_INFINITY, f64::max);
        100.0 * curve.means[curve.last()].mean / largest
    };
    format!(
        "On {title} margin pursuit {errs}: the least errors differ by {difference:+.2} points, \
         {deviations:+.1} paired standard errors. The variance of its last margins is {:.2} of that of \
         Pegasos, and over the squared mean {:.2} of it. Their mean ends at {:.0} % of its largest value, \
         that of Pegasos at {:.0} %; their skewness is {:.2} against {:.2}.",
        ours.variance / theirs.variance,
        relative_variance(ours) / relative_variance(theirs),
        of_largest(pursuit),
        of_largest(pegasos),
        ours.skewness,
        theirs.skewness
    )
}

/// What the names of figure 5 mean.
const SCALES: &str = "The scale is set after n gradients. *As printed* divides the steps by the scale, \
    `1/(s sqrt(lambda) t)`; *alone* sets the scale in the loss and keeps the steps at \
    `1/(sqrt(lambda) t)`; *slow* takes steps `1/sqrt(t)`, with the scale 1 and with that from the data. \
    *Recovers* is the first point after the scale was set whose mean error is within one standard \
    error of the lowest error at the best lambda, in gradients since the scale was set.";

/// Returns figure 5: too small a lambda, with and without the scale from the data, beside the best
/// lambda.
pub(crate) fn figure_5(arguments: &Arguments, folder: &Path) -> Result<Document, Failure> {
    const ALL: [(Inputs, &str); 2] = [
        (Inputs::AsTheyAre, "margin-pursuit-fig5"),
        (Inputs::OfNormOne, "margin-pursuit-fig5-norm"),
    ];
    const METHODS: [Method; 5] = [
        Method::Pursuit,
        Method::Rescaled,
        Method::RescaledAlone,
        Method::Slow,
        Method::SlowRescaled,
    ];
    let names = SOURCES.map(|source| source.name);
    let mut table = Table::new([
        "data",
        "inputs",
        "rows",
        "lambda",
        "scale",
        "last error",
        "least error",
        "recovers",
    ]);
    let (mut figures, mut findings, mut about) = (Vec::new(), Vec::new(), None);
    for (inputs, name) in ALL {
        let (loaded, missing) = load_all(arguments, &names, inputs)?;
        let all = compute(name, (arguments, folder), &loaded, &METHODS)?;
        let mut panels = Vec::new();
        for curves in &all {
            panels.extend(of_scale(curves, &mut table, &mut findings));
        }
        figures.push(Figure { name, panels });
        about.get_or_insert((loaded, missing));
    }
    let (loaded, missing) = about.ok_or("no inputs")?;
    let title = "Figure 5: a scale from the data";
    let document = document(arguments, (ALL[0].1, title), &loaded, &missing, &findings);
    let document = document.text(SCALES).table(table);
    Ok(figures.into_iter().fold(document, Document::figure))
}

/// Adds the runs of figure 5 on one data set to the table, and what they show; returns their panels.
fn of_scale(curves: &Curves<'_>, table: &mut Table, findings: &mut Vec<String>) -> Vec<Chart> {
    let Loaded { source, title, rows, inputs, .. } = curves.loaded;
    let (under, at) = (source.under, *rows as u64);
    let Some((lambda, best)) = curves.best(Method::Pursuit) else { return Vec::new() };
    let aim = best.least_error() + best.errors[best.best()];
    let recovered = |curve: &Curve| {
        let found = (0..curve.means.len())
            .find(|&k| curves.steps[k] > at && curve.means[k].test_error <= aim);
        found.map(|k| curves.steps[k] - at)
    };
    let runs = [
        (format!("s = 1, lambda {under:e}"), under, curves.get(Method::Pursuit, under)),
        (format!("scaled as printed, {under:e}"), under, curves.get(Method::Rescaled, under)),
        (format!("scaled alone, {under:e}"), under, curves.get(Method::RescaledAlone, under)),
        (format!("slow, s = 1, {under:e}"), under, curves.get(Method::Slow, under)),
        (format!("slow, scaled, {under:e}"), under, curves.get(Method::SlowRescaled, under)),
        (format!("s = 1, best lambda {lambda:e}"), lambda, Some(best)),
    ];
    let (mut shown, mut recovering) = (Vec::new(), Vec::new());
    for (name, lambda, curve) in runs {
        let Some(curve) = curve else { continue };
        let steps = recovered(curve);
        table.push([
            title.clone(),
            inputs.in_words().to_owned(),
            rows.to_string(),
            format!("{lambda:e}"),
            name.clone(),
            curve.error_at(curve.last()),
            curve.error_at(curve.best()),
            steps.map_or("not in this run".to_owned(), |steps| steps.to_string()),
        ]);
        let steps = steps.filter(|_| lambda == under);
        recovering.extend(steps.map(|steps| format!("*{name}* after {steps}")));
        shown.push((name, curve));
    }
    findings.extend(gain(curves, &recovering));
    curves.panels(&shown, Some(at))
}

/// Returns in words what the scale from the data changes, in the reading that it helps most, each
/// against the same steps at scale 1; and which runs recover.
fn gain(curves: &Curves<'_>, recovering: &[String]) -> Option<String> {
    let Loaded { source, title, inputs, .. } = curves.loaded;
    let readings = [
        ("scaled as printed", Method::Rescaled, Method::Pursuit),
        ("scaled alone", Method::RescaledAlone, Method::Pursuit),
        ("slow, scaled", Method::SlowRescaled, Method::Slow),
    ];
    let of_reading = |(name, scaled, plain)| {
        let [scaled, plain] = [scaled, plain].map(|method| curves.get(method, source.under));
        let (scaled, plain) = (scaled?, plain?);
        Some((name, scaled, plain, scaled.difference(scaled.last(), plain, plain.last())))
    };
    let found = readings.into_iter().filter_map(of_reading);
    let (name, scaled, plain, (difference, deviations)) =
        found.min_by(|a, b| a.3.0.total_cmp(&b.3.0))?;
    let helps = match deviations {
        ..=-2.0 => "helps, most as",
        _ => "does not help by two standard errors; its best reading is",
    };
    let recovers = match recovering {
        [] => "no run recovers".to_owned(),
        _ => format!("these recover: {}", recovering.join("; ")),
    };
    Some(format!(
        "On {title} with {} the scale from the data {helps} *{name}*, which ends at {} % against {} \
         % at s = 1 ({difference:+.1} points, {deviations:+.1} paired standard errors); {recovers}.",
        inputs.in_words(),
        scaled.error_at(scaled.last()),
        plain.error_at(plain.last())
    ))
}

#[cfg(test)]
mod tests {
    use margins::data::generate::{Example, GaussianMixture};

    use super::runs::draw;
    use super::{Curve, Inputs, Loaded, Method, SOURCES, Trajectory, follow};

    fn loaded() -> Loaded {
        let mixture = GaussianMixture::example(Example::One, 1).expect("an example");
        let data = mixture.sample(400, 2).expect("samples");
        let inputs = Inputs::AsTheyAre;
        Loaded { source: &SOURCES[0], title: "mixture".into(), data, rows: 100, inputs }
    }

    #[test]
    fn samples_are_balanced_and_disjoint() {
        let loaded = loaded();
        let (train, test) = draw(&loaded, 3).expect("enough rows");
        assert_eq!((train.rows(), train.labels().count_positive()), (100, 50));
        assert_eq!(test.rows(), 2 * test.labels().count_positive());
        assert!(test.rows() > 200 && train.rows() + test.rows() <= 400);
        let (train, _) = draw(&Loaded { inputs: Inputs::OfNormOne, ..loaded }, 3).expect("rows");
        let norms = train.design().samples().map(|x| x.squared_norm()).sum::<f64>();
        assert!((norms / 100.0 - 1.0).abs() < 1e-12, "{norms}");
    }

    /// The methods learn; a run before the scale is set is the run without; a journal keeps every
    /// bit.
    #[test]
    fn trajectories_are_those_of_the_methods() {
        let loaded = loaded();
        let run = |method, lambda| follow(&loaded, method, lambda, 5).expect("a run");
        let plain = run(Method::Pursuit, 1e-2);
        let last = plain.0.len() - 1;
        for method in [Method::Pursuit, Method::Pegasos] {
            let of_last = |seed| follow(&loaded, method, 1.0, seed).expect("a run").0[last];
            let errors: Vec<f64> = (5..8).map(|seed| of_last(seed).training_error).collect();
            assert!(errors.iter().sum::<f64>() < 0.4 * 3.0, "{errors:?}");
        }
        let steps = loaded.checkpoints();
        let same = steps.iter().filter(|&&step| step <= 100).count();
        for method in [Method::Rescaled, Method::RescaledAlone] {
            let scaled = run(method, 1e-2);
            assert_eq!(plain.0[..same], scaled.0[..same]);
            assert_ne!(plain.0[last], scaled.0[last]);
        }
        assert_eq!(plain.to_string().parse::<Trajectory>().expect("its own form"), plain);
        assert!("1,2;3".parse::<Trajectory>().is_err());
        let curve = Curve::of(&[plain.clone(), plain.clone()]);
        assert_eq!((curve.means[last], curve.errors[last]), (plain.0[last], 0.0));
        // Differences of 10 and 30 points, trial by trial: 20 on average, with a standard error of 10.
        let with_errors = |errors: [f64; 2]| {
            let state = |test_error| super::State { test_error, ..plain.0[last] };
            Curve::of(&errors.map(|error| Trajectory(vec![state(error)])))
        };
        let (difference, deviations) =
            with_errors([0.3, 0.6]).difference(0, &with_errors([0.2, 0.3]), 0);
        assert!((difference - 20.0).abs() < 1e-9 && (deviations - 2.0).abs() < 1e-9);
    }
}
