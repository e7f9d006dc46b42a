//! The charts of a report.

use maud::{Markup, html};

use super::axis::LEAST;
use super::chart::{Axis, Chart, Series, Style};
use super::number::{percent, short, with_error};
use super::tables;
use crate::excess_risk::ExcessRisk;
use crate::game::Game;
use crate::measured::Measured;
use crate::points::distribution;
use crate::profile::Profile;
use crate::report::{CandidateChoice, PathPoint, Report};
use crate::selection::{LambdaError, Selection};

const LAMBDA: &str = "lambda";

pub(super) fn selection(selection: &Selection) -> Vec<Markup> {
    let lambdas = &selection.lambdas;
    let (best, chosen) = (&lambdas[selection.best], &lambdas[selection.one_standard_error]);
    let measure = selection.measure;
    let is_share = measure.ends_with("error");
    let shown = |x: f64| if is_share { percent(x) } else { short(x) };
    let value = |at: &LambdaError| at.mean_measure.unwrap_or(f64::NAN);
    let point = |at: &LambdaError| (at.lambda, value(at));
    let defined = || lambdas.iter().filter(|at| at.mean_measure.is_some());
    let bars = defined().map(|at| at.measure_standard_error.unwrap_or(0.0)).collect();
    let errors = Chart {
        key: "errors".to_owned(),
        title: format!("Cross-validated {measure}"),
        description: format!(
            "Of {} lambdas, {} has the best {measure}, {}. The largest lambda within one standard error of \
             it is {}, with {}.",
            lambdas.len(),
            short(best.lambda),
            shown(value(best)),
            short(chosen.lambda),
            shown(value(chosen))
        ),
        x: Axis::log(LAMBDA),
        y: if is_share { Axis::of_shares(measure) } else { Axis::new(measure) },
        series: vec![Series::new(
            "mean and standard error",
            defined().map(point).collect(),
            Style::Bars(bars),
        )]
        .into_iter()
        .chain(choices(measure, point(best), point(chosen)))
        .collect(),
    };
    let gaps = lambdas.iter().map(|at| (at.lambda, at.worst_relative_gap)).collect();
    let certified = lambdas.iter().filter(|at| at.certified).count();
    let mut parts = vec![errors.figure()];
    if !selection.kernels.is_empty() {
        parts.push(kernels(selection));
    }
    parts.push(gap_chart("fold-gaps", gaps, certified).figure());
    parts
}

/// Returns the marks of the two choices.
fn choices(measure: &str, best: (f64, f64), one_standard_error: (f64, f64)) -> [Series; 2] {
    let mark = |name: &str, point, style| Series::new(name, vec![point], style);
    [
        mark(&format!("best {measure}"), best, Style::Marks),
        mark("largest lambda within one standard error", one_standard_error, Style::Rings),
    ]
}

/// Returns the chart of relative gaps along lambda, of which so many are certified.
fn gap_chart(key: &str, gaps: Vec<(f64, f64)>, certified: usize) -> Chart {
    let largest = gaps.iter().map(|(_, gap)| *gap).fold(0.0, f64::max);
    let y = Axis::log("relative duality gap");
    let name = match gaps.iter().any(|(_, gap)| *gap < LEAST) {
        true => format!("{}, at least {LEAST:e}", y.label),
        false => y.label.to_owned(),
    };
    Chart {
        key: key.to_owned(),
        title: "Certificates along the path".to_owned(),
        description: format!(
            "The largest relative duality gap is {}; {certified} of {} lambdas are certified.",
            short(largest),
            gaps.len()
        ),
        x: Axis::log(LAMBDA),
        y,
        series: vec![Series::line(name, gaps)],
    }
}

/// Returns a name with a capital letter in front.
fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns the measure of all kernels and lambdas as a heat map.
fn kernels(selection: &Selection) -> Markup {
    let Selection { measure, lambdas, kernels, best, one_standard_error } = selection;
    let shown = |x: f64| if measure.ends_with("error") { percent(x) } else { short(x) };
    let (mut points, mut errors) = (Vec::new(), Vec::new());
    for (number, kernel) in kernels.iter().enumerate() {
        for (at, error) in lambdas.iter().zip(&kernel.values).filter(|(_, value)| value.is_finite())
        {
            points.push((at.lambda, (number + 1) as f64));
            errors.push(*error);
        }
    }
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = errors.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut chart = Chart {
        key: "kernels".to_owned(),
        title: format!("{} by kernel and lambda", capitalised(measure)),
        description: format!(
            "The {measure} of {} kernels at {} lambdas is between {} and {}.",
            kernels.len(),
            lambdas.len(),
            shown(least),
            shown(largest)
        ),
        x: Axis::log(LAMBDA),
        y: Axis::whole("kernel", kernels.len()),
        series: vec![Series::new(
            format!("{measure}: {} in dark, {} in pale", shown(least), shown(largest)),
            points,
            Style::Cells(errors),
        )],
    };
    if let Some(chosen) = kernels.iter().position(|kernel| kernel.chosen) {
        let at = |k: usize| (lambdas[k].lambda, (chosen + 1) as f64);
        chart.series.extend(choices(measure, at(*best), at(*one_standard_error)));
    }
    html! {
        div {
            (chart.figure())
            ol { @for kernel in kernels {
                li { code { (kernel.kernel) } @if kernel.chosen { ", chosen" } }
            } }
        }
    }
}

pub(super) fn path(report: &Report) -> Vec<Markup> {
    let Report { path, profiles, duals, locations, .. } = report;
    if path.len() < 2 {
        return Vec::new();
    }
    let along = |value: fn(&PathPoint) -> f64| -> Vec<(f64, f64)> {
        path.iter().map(|point| (point.lambda, value(point))).collect()
    };
    let (first, last) = (&path[0], &path[path.len() - 1]);
    let one = |key: &str, title: &str, y, value: fn(&PathPoint) -> f64| Chart {
        key: key.to_owned(),
        title: format!("{title} along the path"),
        description: format!(
            "The {} goes from {} at lambda {} to {} at lambda {}.",
            title.to_lowercase(),
            short(value(first)),
            short(first.lambda),
            short(value(last)),
            short(last.lambda)
        ),
        x: Axis::log(LAMBDA),
        y,
        series: vec![Series::line(y.label, along(value))],
    };
    let certified = path.iter().filter(|point| point.converged).count();
    let (error, objective) = (Axis::of_shares("training error"), Axis::new("objective"));
    let mut charts = vec![
        one("path-objectives", "Objective", objective, |point| point.objective),
        one("path-errors", "Training error", error, |point| point.training_error),
        one("path-norms", "Norm", Axis::log("norm"), |point| point.norm),
    ];
    if let Some(location) = last.margin_location {
        let estimate = |point: &PathPoint| point.margin_location.map_or(f64::NAN, |l| l.estimate);
        let axis = Axis::new("location of the margins");
        let mut chart = one("path-locations", "Location of the margins", axis, estimate);
        chart.series.extend(beside_locations(path, location.gamma));
        charts.push(chart);
    }
    charts.extend(lines_of(
        path,
        profiles,
        ["path-coefficients", "Largest coefficients", "coefficient"],
    ));
    charts.extend(lines_of(path, duals, ["path-duals", "Duals of samples", "dual"]));
    let words = ["path-locations", "Location of the margins", "location of the margins"];
    charts.extend(lines_of(path, locations, words));
    charts.push(gap_chart("path-gaps", along(|point| point.relative_gap), certified));
    charts.iter().map(Chart::figure).collect()
}

/// Returns the lines beside the locations of the margins along a path: the level that they aim at, and the
/// ends of their intervals where there are some.
fn beside_locations(path: &[PathPoint], gamma: f64) -> Vec<Series> {
    let level = path.iter().map(|point| (point.lambda, gamma)).collect();
    let end = |k: usize| -> Vec<(f64, f64)> {
        let end = |point: &PathPoint| {
            let interval = point.margin_location?.interval?;
            Some((point.lambda, interval[k]))
        };
        path.iter().filter_map(end).collect()
    };
    let ends = ["lower end of the 95 % interval, for new rows", "upper end"];
    let ends = ends.into_iter().enumerate().map(|(k, name)| (name, end(k)));
    let ends = ends.filter(|(_, points)| !points.is_empty());
    let ends = ends.map(|(name, points)| Series::line(name, points));
    std::iter::once(Series::line("gamma", level)).chain(ends).collect()
}

/// Returns the chart of coefficients or duals along a path, if there are any, with its key, title and
/// axis.
fn lines_of(
    path: &[PathPoint],
    profiles: &[Profile],
    [key, title, y]: [&'static str; 3],
) -> Option<Chart> {
    let last = path.last()?;
    let at_the_end = |profile: &Profile| {
        let coefficient = profile.coef.last().copied().unwrap_or_default();
        format!("{} of {}", short(coefficient), profile.name)
    };
    let line = |profile: &Profile| {
        let along = path.iter().zip(&profile.coef).map(|(point, &coef)| (point.lambda, coef));
        Series::line(&*profile.name, along.collect())
    };
    let ends: Vec<String> = profiles.iter().map(at_the_end).collect();
    (!profiles.is_empty()).then(|| Chart {
        key: key.to_owned(),
        title: format!("{title} along the path"),
        description: format!("At lambda {} they are {}.", short(last.lambda), ends.join(", ")),
        x: Axis::log(LAMBDA),
        y: Axis::new(y),
        series: profiles.iter().map(line).collect(),
    })
}

/// Returns the losses that a game leaves, and how it ended.
pub(super) fn game(game: &Game) -> [Markup; 2] {
    let Game { rounds, most_rounds, consistent_at, max_loss, mean_loss, mistakes, losses } = game;
    let chart = Chart {
        key: "game-losses".to_owned(),
        title: "Distribution of losses".to_owned(),
        description: format!(
            "The share of samples with a loss of at most each value. The largest loss is {}, the mean loss {}.",
            short(*max_loss),
            short(*mean_loss)
        ),
        x: Axis::new("loss of the ensemble"),
        y: Axis::share("share of samples"),
        series: vec![Series::line("share of samples", distribution(losses))],
    };
    let consistent =
        consistent_at.map_or_else(|| "never".to_owned(), |round| format!("after {round} rounds"));
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let rows = [
        row("rounds", rounds.to_string()),
        row("at most", most_rounds.to_string()),
        row("right on all training samples", consistent),
        row("largest loss", short(*max_loss)),
        row("mean loss", short(*mean_loss)),
        row("samples on the wrong side", mistakes.to_string()),
    ];
    [chart.figure(), tables::table("The end of the game", &["", ""], &rows)]
}

pub(super) fn excess_risk(excess: &ExcessRisk) -> Markup {
    let points: Vec<(f64, f64)> =
        excess.points.iter().map(|point| (point.excess_risk, point.excess_error)).collect();
    let tenth = excess.points[excess.points.len() / 10];
    let Measured { value, standard_error } = excess.risk;
    let of_it = if value > 0.0 { "of it " } else { "" };
    let description = format!(
        "The mean loss on {} is {}. If {} {of_it}were excess over the minimal mean loss of all \
         measurable functions, the error would be at most {} above the Bayes error. There is no such bound \
         for the excess over the best classifier of the fitted kind.",
        excess.data,
        with_error(value, standard_error, ""),
        short(tenth.excess_risk),
        percent(tenth.excess_error)
    );
    let chart = Chart {
        key: "excess-risk".to_owned(),
        title: "Bound on the excess error".to_owned(),
        description,
        x: Axis::new("excess of the mean loss over its minimum"),
        y: Axis::share("excess over the Bayes error, at most"),
        series: vec![Series::line("inverse of Psi", points)],
    };
    chart.figure()
}

/// Returns the errors of single candidates on the rows held out, and the bound that holds for all.
pub(super) fn candidates(choice: &CandidateChoice) -> Option<Markup> {
    let CandidateChoice { candidates, held_out, error, bound, chosen, errors, .. } = choice;
    let points: Vec<(f64, f64)> =
        errors.iter().map(|&(number, error)| (number as f64, error)).collect();
    let (first, last) = points.first().zip(points.last())?;
    let line = vec![(first.0, *bound), (last.0, *bound)];
    let chart = Chart {
        key: "candidates".to_owned(),
        title: "Candidates on the rows held out".to_owned(),
        description: format!(
            "Of {candidates} candidates ({} shown), number {chosen} has the lowest error on {held_out} held-out \
             rows, {}. Allowing for the choice and for chance, the error on new rows is at most {}.",
            errors.len(),
            percent(*error),
            percent(*bound)
        ),
        x: Axis::new("candidate"),
        y: Axis::of_shares("error"),
        series: vec![
            Series::new("error of a candidate", points, Style::Dots),
            Series::new("chosen", vec![(*chosen as f64, *error)], Style::Rings),
            Series::new("bound on the error", line, Style::Dashed),
        ],
    };
    Some(chart.figure())
}
