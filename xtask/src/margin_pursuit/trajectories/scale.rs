//! Figure 5: too small a lambda with a scale from the data.

use std::path::Path;

use margins_experiments::{Document, Figure, Mean, Table};
use margins_report::page::chart::Chart;

use super::runs::{Inputs, Loaded, Method, SOURCES, Source};
use super::{Arguments, Curve, Curves, compute, document, load_all};
use crate::Failure;

/// What the names of figure 5 mean.
const SCALES: &str = "The scale is set after n gradients, at the lambda of the source. *As printed* divides \
    the steps by the scale, `1/(s sqrt(lambda) t)`; *alone* sets the scale in the loss and keeps the steps \
    at `1/(sqrt(lambda) t)`; *slow* takes steps `1/sqrt(t)`, the other choice that the text names, with \
    the scale 1 and with that from the data. *Recovers* is the first point after the scale was set whose \
    mean error is within one standard error of the lowest error at the best lambda, in gradients since. \
    Steps and scale depend on the length of the inputs, on which the paper is silent. The inputs are \
    those of figures 3 and 4; those divided by the root of their mean squared norm over the training \
    rows; and, where features are scaled, each divided by its largest size. COV is run with n = 5000 as \
    well. As printed, the scale makes the steps so small that the classifier hardly moves. With steps as \
    before, long inputs overshoot where a step times `||x||^2` is above 2, because a large scale takes \
    away the bound on the slope of the loss.";

/// Returns figure 5: too small a lambda, with and without the scale from the data, beside the best
/// lambda.
pub(crate) fn run(arguments: &Arguments, folder: &Path) -> Result<Document, Failure> {
    const ALL: [(Inputs, &str); 3] = [
        (Inputs::AsTheyAre, "margin-pursuit-fig5"),
        (Inputs::OfRangeOne, "margin-pursuit-fig5-range"),
        (Inputs::OfNormOne, "margin-pursuit-fig5-norm"),
    ];
    const METHODS: [Method; 5] = [
        Method::Pursuit,
        Method::Rescaled,
        Method::RescaledAlone,
        Method::Slow,
        Method::SlowRescaled,
    ];
    let mut table = Table::new([
        "data",
        "inputs",
        "rows",
        "lambda",
        "scale",
        "last error",
        "lowest error",
        "recovers",
    ]);
    let (mut figures, mut gains, mut about) = (Vec::new(), Vec::new(), None);
    for (inputs, name) in ALL {
        // Pixels and binary features are of size at most 1 as they are.
        let takes = |source: &&Source| source.scaled || inputs != Inputs::OfRangeOne;
        let names: Vec<&str> = SOURCES.iter().filter(takes).map(|source| source.name).collect();
        let (loaded, missing) = load_all(arguments, &names, inputs)?;
        let all = compute(name, (arguments, folder), &loaded, &METHODS)?;
        let mut panels = Vec::new();
        for curves in &all {
            panels.extend(of_scale(curves, &mut table, &mut gains));
        }
        figures.push(Figure::new(name, panels));
        about.get_or_insert((loaded, missing));
    }
    let (loaded, missing) = about.ok_or("no inputs")?;
    let title = "Figure 5: a scale from the data";
    let document = document(arguments, (ALL[0].1, title), &loaded, &missing, conditions(&gains));
    let document = document.text(SCALES).table(table);
    Ok(figures.into_iter().fold(document, Document::figure))
}

/// Adds the runs of figure 5 on one data set to the table, and what they show; returns their panels.
fn of_scale(curves: &Curves<'_>, table: &mut Table, gains: &mut Vec<Gain>) -> Vec<Chart> {
    let Loaded { source, title, rows, inputs, .. } = curves.loaded;
    let (under, at) = (source.under, *rows as u64);
    let Some((lambda, best)) = curves.best(Method::Pursuit) else { return Vec::new() };
    let Mean { mean, standard_error } = best.lowest_error();
    let aim = mean + standard_error;
    let recovered = |curve: &Curve| {
        let found =
            (0..curve.errors.len()).find(|&k| curves.steps[k] > at && curve.errors[k].mean <= aim);
        found.map(|k| curves.steps[k] - at)
    };
    let runs = [
        (format!("s = 1, lambda {under:e}"), Method::Pursuit, under),
        (format!("scaled as printed, {under:e}"), Method::Rescaled, under),
        (format!("scaled alone, {under:e}"), Method::RescaledAlone, under),
        (format!("slow, s = 1, {under:e}"), Method::Slow, under),
        (format!("slow, scaled, {under:e}"), Method::SlowRescaled, under),
        (format!("s = 1, best lambda {lambda:e}"), Method::Pursuit, lambda),
    ];
    let (mut shown, mut recovering) = (Vec::new(), Vec::new());
    for (name, method, lambda) in runs {
        let Some(curve) = curves.get(method, lambda) else { continue };
        let steps = recovered(curve);
        table.push([
            title.clone(),
            inputs.in_words().to_owned(),
            rows.to_string(),
            format!("{lambda:e}"),
            name.clone(),
            curve.last_error().to_string(),
            curve.lowest_error().to_string(),
            steps.map_or("not in this run".to_owned(), |steps| steps.to_string()),
        ]);
        let steps = steps.filter(|_| lambda == under);
        recovering.extend(steps.map(|steps| (method, format!("*{name}* after {steps}"))));
        shown.push((name, curve));
    }
    gains.extend(Gain::of(curves, &recovering));
    curves.panels(&shown, Some(at))
}

/// What the scale from the data changes on one data set with one kind of inputs.
struct Gain {
    /// The data set and its inputs.
    setting: String,
    /// Whether the scale helps by two paired standard errors in the reading of the steps that it helps
    /// most, each against the same steps at scale 1.
    helps: bool,
    /// Whether a run with the scale recovers where the same steps at scale 1 do not.
    recovers: bool,
    finding: String,
}

impl Gain {
    fn of(curves: &Curves<'_>, recovering: &[(Method, String)]) -> Option<Self> {
        const READINGS: [(&str, Method, Method); 3] = [
            ("scaled as printed", Method::Rescaled, Method::Pursuit),
            ("scaled alone", Method::RescaledAlone, Method::Pursuit),
            ("slow, scaled", Method::SlowRescaled, Method::Slow),
        ];
        let Loaded { source, title, inputs, .. } = curves.loaded;
        let of_reading = |(name, scaled, plain)| {
            let [scaled, plain] = [scaled, plain].map(|method| curves.get(method, source.under));
            let (scaled, plain) = (scaled?, plain?);
            Some((name, scaled, plain, scaled.difference(scaled.last(), plain, plain.last())))
        };
        let found = READINGS.into_iter().filter_map(of_reading);
        let (name, scaled, plain, difference) =
            found.min_by(|a, b| a.3.mean.total_cmp(&b.3.mean))?;
        let deviations = difference.in_standard_errors();
        let helps = deviations <= -2.0;
        let reading = match helps {
            true => "helps, most as",
            false => "does not help by two standard errors; its best reading is",
        };
        let runs: Vec<&str> = recovering.iter().map(|(_, run)| &**run).collect();
        let recovering_runs = match runs[..] {
            [] => "no run recovers".to_owned(),
            _ => format!("these recover: {}", runs.join("; ")),
        };
        let is_among = |method| recovering.iter().any(|(other, _)| *other == method);
        let recovers =
            READINGS.iter().any(|(_, scaled, plain)| is_among(*scaled) && !is_among(*plain));
        let setting = format!("{title} with {}", inputs.in_words());
        let finding = format!(
            "On {setting} the scale {reading} *{name}*, which ends at {} % against {} % at s = 1 \
             ({:+.1} points, {deviations:+.1} paired standard errors); {recovering_runs}.",
            scaled.last_error(),
            plain.last_error(),
            difference.mean
        );
        Some(Gain { setting, helps, recovers, finding })
    }
}

/// Returns in words under which conditions the scale from the data helps.
fn conditions(gains: &[Gain]) -> String {
    let of = |holds: fn(&Gain) -> bool| -> Vec<&str> {
        gains.iter().filter(|gain| holds(gain)).map(|gain| &*gain.setting).collect()
    };
    let (helped, caught_up) = (of(|gain| gain.helps), of(|gain| gain.recovers));
    let listed = |settings: &[&str]| match settings {
        [] => String::new(),
        _ => format!(": {}", settings.join("; ")),
    };
    let findings: Vec<String> = gains.iter().map(|gain| format!("* {}", gain.finding)).collect();
    format!(
        "The paper finds that runs with too small a lambda wander at s = 1, and that with a scale from the \
         data they almost at once catch up with the best lambda. With the steps that suit it best, the \
         scale lowers the last error by two paired standard errors in {} of {} settings of data and \
         inputs{}. A run catches up by the scale, where the same steps at s = 1 do not, in {} of them{}.\
         \n\n{}",
        helped.len(),
        gains.len(),
        listed(&helped),
        caught_up.len(),
        listed(&caught_up),
        findings.join("\n")
    )
}
