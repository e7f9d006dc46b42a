//! The excess risk bound of margin pursuit, estimated from data.

use std::io::{Result, Write};

use margins::calibration::projection_bound::ProjectionBound;
use margins::data::digits::percent;
use margins::estimators::risk_bound::{EstimatedRiskBound, RiskBoundTerms};
use serde::Serialize;

use super::VERSION;
use super::table::{Table, facts, number};

/// The quantities and the terms of the bound.
#[derive(Serialize)]
pub(crate) struct BoundDocument {
    format: &'static str,
    version: u32,
    data: String,
    rows: usize,
    columns: usize,
    gamma: f64,
    delta: f64,
    #[serde(flatten)]
    at_scale: ScaleDocument,
    scales: Vec<ScaleDocument>,
}

/// The bound at one scale. Without kappa there are no terms.
#[derive(Serialize)]
struct ScaleDocument {
    scale: f64,
    input_second_moment: f64,
    smallest_eigenvalue: f64,
    operator_norm: f64,
    radius: f64,
    minimizer_norm: f64,
    stationary: bool,
    strong_convexity: f64,
    curvature_at_minimizer: f64,
    gradient_constant: f64,
    approximation_error: f64,
    #[serde(skip)]
    outside: bool,
    step: Option<f64>,
    iterations: Option<usize>,
    beta: Option<f64>,
    optimization_error: Option<f64>,
    epsilon_star: Option<f64>,
    statistical_error: Option<f64>,
    excess_over_linear: Option<f64>,
    misclassification_bound: Option<f64>,
    sound_epsilon_star: Option<f64>,
    sound_excess_over_linear: Option<f64>,
    sound_misclassification_bound: Option<f64>,
    vacuous: bool,
}

impl ScaleDocument {
    fn new(found: &EstimatedRiskBound) -> Self {
        let of = |term: fn(&RiskBoundTerms) -> f64| found.bound.as_ref().map(term);
        ScaleDocument {
            scale: found.scale,
            input_second_moment: found.input_second_moment,
            smallest_eigenvalue: found.smallest_eigenvalue,
            operator_norm: found.operator_norm,
            radius: found.radius,
            minimizer_norm: found.minimizer_norm,
            stationary: found.is_stationary,
            strong_convexity: found.strong_convexity,
            curvature_at_minimizer: found.curvature_at_minimizer,
            gradient_constant: found.gradient_constant,
            approximation_error: found.approximation_error,
            outside: found.is_outside(),
            step: of(|terms| terms.quantities.step),
            iterations: found.bound.map(|terms| terms.quantities.iterations),
            beta: of(|terms| terms.published.beta),
            optimization_error: of(|terms| terms.published.optimization_error),
            epsilon_star: of(|terms| terms.published.epsilon_star),
            statistical_error: of(|terms| terms.published.statistical_error),
            excess_over_linear: of(|terms| terms.published.excess_over_linear),
            misclassification_bound: of(|terms| terms.misclassification),
            sound_epsilon_star: of(|terms| terms.sound.sound_epsilon_star),
            sound_excess_over_linear: of(|terms| terms.sound.sound_excess_over_linear),
            sound_misclassification_bound: of(|terms| terms.sound_misclassification),
            vacuous: found.is_vacuous(),
        }
    }

    /// Returns the verdict in words.
    fn verdict(&self) -> String {
        match self.sound_misclassification_bound {
            None if self.outside => {
                format!("vacuous: A1 fails. Raise --radius above {}", number(self.minimizer_norm))
            }
            None if self.smallest_eigenvalue == 0.0 => {
                "vacuous: A2 fails, as features are linearly dependent. Leave some out".to_owned()
            }
            None => "vacuous: A2 is not shown. Raise the scale, or lower --radius".to_owned(),
            Some(_) if self.vacuous => "vacuous: it allows any error".to_owned(),
            Some(bound) => {
                format!("at most {} % above the Bayes error (estimated)", percent(bound))
            }
        }
    }
}

impl BoundDocument {
    pub(crate) fn new(
        data: &str,
        gamma: f64,
        delta: f64,
        found: &EstimatedRiskBound,
        along: &[EstimatedRiskBound],
    ) -> Self {
        BoundDocument {
            format: "margins-bound",
            version: VERSION,
            data: data.to_owned(),
            rows: found.samples,
            columns: found.dimension,
            gamma,
            delta,
            at_scale: ScaleDocument::new(found),
            scales: along.iter().map(ScaleDocument::new).collect(),
        }
    }

    pub(crate) fn write(&self, out: &mut dyn Write) -> Result<()> {
        let found = &self.at_scale;
        let term = |term: Option<f64>| term.map_or("none".to_owned(), number);
        let stationary = match (found.outside, found.stationary) {
            (true, _) => "outside",
            (false, true) => "inside",
            (false, false) => "not shown to be inside",
        };
        let approximation = (!found.outside).then_some(found.approximation_error);
        let approximation = approximation.map(|error| format!("at most {}", number(error)));
        let eigenvalues = [found.smallest_eigenvalue, found.operator_norm].map(number);
        facts(
            out,
            &[
                ("data", format!("{}, {} rows, {} columns", self.data, self.rows, self.columns)),
                ("loss", format!("gamma {}, scale {}", number(self.gamma), number(found.scale))),
                ("v_X", format!("{}, mean of ||x||^2", number(found.input_second_moment))),
                ("E xx'", format!("eigenvalues from {} to {}", eigenvalues[0], eigenvalues[1])),
                ("A0", format!("ball of radius {}", number(found.radius))),
                ("A1", format!("minimiser of norm {}, {stationary}", number(found.minimizer_norm))),
                (
                    "A2",
                    format!(
                        "kappa {} on the ball, {} at the minimiser",
                        number(found.strong_convexity),
                        number(found.curvature_at_minimizer)
                    ),
                ),
                ("A3", format!("c at least {}", number(found.gradient_constant))),
                ("optimization error", term(found.optimization_error)),
                ("epsilon*", term(found.epsilon_star)),
                ("statistical error", term(found.statistical_error)),
                ("excess risk", format!("{}, as published", term(found.excess_over_linear))),
                ("", format!("{}, corrected", term(found.sound_excess_over_linear))),
                ("approximation", approximation.unwrap_or("none".to_owned())),
                ("probability", format!("{} %", percent(1.0 - 2.0 * self.delta))),
                ("bound", found.verdict()),
            ],
        )?;
        writeln!(out)?;
        let mut table = Table::new(&[
            "scale",
            "kappa",
            "optimization error",
            "statistical error",
            "excess risk",
            "bound on the error",
        ]);
        for row in &self.scales {
            let bound = match row.sound_misclassification_bound {
                Some(bound) if !row.vacuous => format!("{} %", percent(bound)),
                _ => "vacuous".to_owned(),
            };
            table.row(vec![
                number(row.scale),
                number(row.strong_convexity),
                term(row.optimization_error),
                term(row.statistical_error),
                term(row.sound_excess_over_linear),
                bound,
            ]);
        }
        table.write(out)
    }
}

/// The bound of Garg and Roth on the error of a linear model.
#[derive(Serialize)]
pub(crate) struct ProjectionDocument {
    format: &'static str,
    version: u32,
    data: String,
    rows: usize,
    dimension: usize,
    error: f64,
    projection: f64,
    complexity: f64,
    confidence: f64,
    bound: f64,
    vacuous: bool,
}

impl ProjectionDocument {
    pub(crate) fn new(data: &str, rows: usize, found: &ProjectionBound) -> Self {
        ProjectionDocument {
            format: "margins-projection-bound",
            version: VERSION,
            data: data.to_owned(),
            rows,
            dimension: found.dimension,
            error: found.error,
            projection: found.projection,
            complexity: found.complexity,
            confidence: found.confidence,
            bound: found.bound(),
            vacuous: found.is_vacuous(),
        }
    }

    pub(crate) fn write(&self, out: &mut dyn Write) -> Result<()> {
        let bound = match self.vacuous {
            true => "vacuous: it allows any error".to_owned(),
            false => format!("at most {} % of new rows", percent(self.bound)),
        };
        facts(
            out,
            &[
                ("data", format!("{}, {} rows", self.data, self.rows)),
                ("error", format!("{} % of half of the rows", percent(self.error))),
                (
                    "projection",
                    format!("{}, to {} dimensions", number(self.projection), self.dimension),
                ),
                ("complexity", number(self.complexity)),
                ("probability", format!("{} %", percent(self.confidence))),
                ("bound", bound),
            ],
        )
    }
}
