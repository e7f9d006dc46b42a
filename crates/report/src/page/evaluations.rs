//! The charts of evaluations.

use maud::Markup;

use super::chart::{Axis, Chart, Series, Style};
use super::number::{percent, short, with_error};
use super::tables;
use crate::class_evaluation::{ClassEvaluation, Curve, ReliabilityDiagram};
use crate::evaluation::Evaluation;
use crate::points::distribution;

/// The most classes that a chart shows.
const MOST_CLASSES: usize = 8;

/// Lines under names, for one chart.
type Lines<'e, T> = Vec<(&'e str, &'e T)>;

/// Returns the distribution of the margins on all data, and on each by class.
pub(super) fn margins(evaluations: &[Evaluation]) -> Vec<Markup> {
    let Some(last) = evaluations.last() else { return Vec::new() };
    let axes = || (Axis::new("margin"), Axis::share("share of samples"));
    let (x, y) = axes();
    let all = Chart {
        key: "margins".to_owned(),
        title: "Distribution of margins".to_owned(),
        description: format!(
            "The share of samples with a margin of at most each value. On {} the median is {}, and {} of \
             the decisions are wrong.",
            last.data,
            short(middle(&last.margins)),
            percent(last.error.value)
        ),
        x,
        y,
        series: evaluations
            .iter()
            .map(|evaluation| Series::line(&*evaluation.data, distribution(&evaluation.margins)))
            .collect(),
    };
    let by_class = evaluations.iter().enumerate().map(|(number, evaluation)| {
        let mut classes: Vec<&ClassEvaluation> =
            evaluation.classes.iter().filter(|class| !class.margins.is_empty()).collect();
        let all = classes.len();
        worst(&mut classes, |class| -middle(&class.margins));
        let medians =
            classes.iter().map(|c| format!("{} for {}", short(middle(&c.margins)), c.class));
        let (x, y) = axes();
        Chart {
            key: format!("margins-{number}"),
            title: format!("Margins by class on {}{}", evaluation.data, least(all)),
            description: format!(
                "The median margins are {}.",
                medians.collect::<Vec<_>>().join(", ")
            ),
            x,
            y,
            series: classes
                .iter()
                .map(|class| Series::line(&*class.class, distribution(&class.margins)))
                .collect(),
        }
    });
    [all].into_iter().chain(by_class).map(|chart| chart.figure()).collect()
}

fn middle(quantiles: &[f64]) -> f64 {
    quantiles.get(quantiles.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Keeps the worst of the classes, as many as a chart shows, in their order.
fn worst<T>(classes: &mut Vec<T>, badness: impl Fn(&T) -> f64) {
    let mut values: Vec<f64> = classes.iter().map(&badness).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    if let Some(&bound) = values.get(MOST_CLASSES - 1) {
        classes.retain(|class| badness(class).total_cmp(&bound).is_ge());
        classes.truncate(MOST_CLASSES);
    }
}

/// Returns which classes a chart shows, if there are too many to show all.
fn least(classes: usize) -> String {
    match classes > MOST_CLASSES {
        true => format!(", the {MOST_CLASSES} worst of {classes} classes"),
        false => String::new(),
    }
}

/// Returns the lines of the charts. For two classes one chart shows the positive class on all data
/// sets; for more there is a chart per data set with a line per class, whose title names the data.
fn by_chart<'e, T>(
    evaluations: &'e [Evaluation],
    of: impl Fn(&'e ClassEvaluation) -> Option<&'e T>,
    badness: impl Fn(&T) -> f64,
) -> Vec<(String, Lines<'e, T>)> {
    let two = evaluations.iter().all(|evaluation| evaluation.classes.len() == 2);
    let charts: Vec<(String, Lines<'e, T>)> = if two {
        let of_data = |e: &'e Evaluation| Some((e.data.as_str(), of(&e.classes[1])?));
        vec![(String::new(), evaluations.iter().filter_map(of_data).collect())]
    } else {
        let of_classes = |evaluation: &'e Evaluation| {
            let named = |class: &'e ClassEvaluation| Some((class.class.as_str(), of(class)?));
            let mut lines: Lines<'e, T> = evaluation.classes.iter().filter_map(named).collect();
            let title = format!(" on {}{}", evaluation.data, least(lines.len()));
            worst(&mut lines, |line| badness(line.1));
            (title, lines)
        };
        evaluations.iter().map(of_classes).collect()
    };
    charts.into_iter().filter(|(_, lines)| !lines.is_empty()).collect()
}

/// A kind of curve over thresholds.
struct Kind {
    key: &'static str,
    title: &'static str,
    /// The words before the area under the curve.
    sentence: &'static str,
    x: Axis,
    y: Axis,
    of: fn(&ClassEvaluation) -> Option<&Curve>,
    /// The value by chance alone, if it is the same for all data.
    chance: Vec<Series>,
}

pub(super) fn ranking(evaluations: &[Evaluation]) -> Vec<Markup> {
    let kinds = [
        Kind {
            key: "roc",
            title: "ROC curve",
            sentence: "A row of the class scores higher than another row with probability",
            x: Axis::share("false positive rate"),
            y: Axis::share("true positive rate"),
            of: |class| class.roc.as_ref(),
            chance: vec![diagonal("chance")],
        },
        Kind {
            key: "precision-recall",
            title: "Precision and recall",
            sentence: "The average precision is",
            x: Axis::share("recall"),
            y: Axis::share("precision"),
            of: |class| class.precision_recall.as_ref(),
            chance: Vec::new(),
        },
    ];
    kinds.into_iter().flat_map(|kind| kind.figures(evaluations)).collect()
}

impl Kind {
    fn figures(self, evaluations: &[Evaluation]) -> Vec<Markup> {
        let charts = by_chart(evaluations, self.of, |curve| -curve.area.value);
        let mut figures = Vec::with_capacity(charts.len());
        for (number, (data, lines)) in charts.into_iter().enumerate() {
            let area = |(name, curve): &(&str, &Curve)| {
                let area = area_of(curve).replace(' ', "\u{a0}");
                format!("{area} ({name})")
            };
            let areas: Vec<String> = lines.iter().map(area).collect();
            let line = |&(name, curve): &(&str, &Curve)| Series::line(name, curve.points.clone());
            let mut series: Vec<Series> = lines.iter().map(line).collect();
            series.extend(self.chance.iter().cloned());
            let chart = Chart {
                key: format!("{}-{number}", self.key),
                title: format!("{}{data}", self.title),
                description: format!("{} {}.", self.sentence, areas.join(", ")),
                x: self.x,
                y: self.y,
                series,
            };
            figures.push(chart.figure());
        }
        figures
    }
}

/// Returns the line from (0, 0) to (1, 1).
fn diagonal(name: &str) -> Series {
    let points = vec![(0.0, 0.0), (1.0, 1.0)];
    Series::new(name, points, Style::Dashed)
}

fn area_of(curve: &Curve) -> String {
    with_error(curve.area.value, curve.area.standard_error, "")
}

/// Returns the reliability diagrams; nothing without probabilities.
pub(super) fn reliability(evaluations: &[Evaluation]) -> Vec<Markup> {
    let found = by_chart(
        evaluations,
        |class| class.reliability.as_ref(),
        |diagram: &ReliabilityDiagram| diagram.calibration_error,
    );
    let chart = |(number, (data, lines)): (usize, (String, Lines<'_, ReliabilityDiagram>))| {
        let words: Vec<String> = lines.iter().map(|(name, r)| in_words(name, r)).collect();
        let of_bins = lines.iter().map(|(name, diagram)| {
            let bins = || diagram.bins.iter();
            let points = bins().map(|b| (b.mean_probability, b.observed.value)).collect();
            let bars = bins().map(|b| b.observed.standard_error).collect();
            Series::new(*name, points, Style::Bars(bars))
        });
        Chart {
            key: format!("reliability-{number}"),
            title: format!("Reliability of the probabilities{data}"),
            description: words.join(" "),
            x: Axis::share("predicted probability"),
            y: Axis::share("observed frequency"),
            series: of_bins.chain([diagonal("calibrated")]).collect(),
        }
        .figure()
    };
    found.into_iter().enumerate().map(chart).collect()
}

fn in_words(name: &str, diagram: &ReliabilityDiagram) -> String {
    format!(
        "{name}: calibration error {} ({} by chance alone), log-loss {}, Brier score {}.",
        short(diagram.calibration_error),
        short(diagram.if_calibrated.value),
        short(diagram.log_loss),
        short(diagram.brier)
    )
}

/// Returns what was measured of each class against the rest, of more than two classes.
pub(super) fn classes(evaluation: &Evaluation) -> Option<Markup> {
    if evaluation.classes.len() == 2 {
        return None;
    }
    let area = |curve: &Option<Curve>| curve.as_ref().map_or_else(|| "none".to_owned(), area_of);
    let of_reliability = |class: &ClassEvaluation, value: fn(&ReliabilityDiagram) -> String| {
        class.reliability.as_ref().map_or_else(|| "none".to_owned(), value)
    };
    let row = |class: &ClassEvaluation| {
        vec![
            class.class.clone(),
            area(&class.roc),
            area(&class.precision_recall),
            of_reliability(class, |r| short(r.calibration_error)),
            of_reliability(class, |r| short(r.log_loss)),
            of_reliability(class, |r| short(r.brier)),
        ]
    };
    let rows: Vec<Vec<String>> = evaluation.classes.iter().map(row).collect();
    let header =
        ["class", "ROC area", "average precision", "calibration error", "log-loss", "Brier"];
    let caption = format!("Each class against the rest on {}", evaluation.data);
    Some(tables::table(&caption, &header, &rows))
}
