//! The members of a model with their certificates and largest coefficients.

use margins_data::{Design, Standardizer};
use margins_model::{Basis, Functions, Model};
use serde::Serialize;

/// The most coefficients that are listed.
const MOST_LISTED: usize = 30;

/// A certificate in a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CertificateSummary {
    /// The classes that the problem distinguishes, in words.
    pub name: String,
    /// The regularisation, if there is a penalty.
    pub lambda: Option<f64>,
    /// The objective reached, where it is known.
    pub objective: Option<f64>,
    /// A lower bound on the minimum of the objective, where one is known.
    pub dual_objective: Option<f64>,
    /// The gap between them relative to their size, where it is known.
    pub relative_gap: Option<f64>,
    /// True if the gap is at most the tolerance.
    pub converged: bool,
}

impl From<&MemberSummary> for CertificateSummary {
    fn from(member: &MemberSummary) -> Self {
        CertificateSummary {
            name: member.name.clone(),
            lambda: member.lambda,
            objective: member.objective,
            dual_objective: member.dual_objective,
            relative_gap: member.relative_gap,
            converged: member.converged,
        }
    }
}

/// Returns the certificate of the one problem that gives all members of a model, if there is one.
pub(crate) fn joint_certificate(model: &Model) -> Option<CertificateSummary> {
    let member = model.members().first().filter(|_| model.scheme().is_joint())?;
    Some(CertificateSummary {
        name: model.scheme().problem_names(model.classes()).concat(),
        lambda: member.lambda,
        objective: member.training.objective,
        dual_objective: member.training.dual_objective,
        relative_gap: member.training.relative_gap,
        converged: member.training.converged,
    })
}

/// A member of a model with its certificate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemberSummary {
    /// The classes that it distinguishes, in words.
    pub name: String,
    /// The regularisation, if there is a penalty.
    pub lambda: Option<f64>,
    /// The objective reached, where it is known and the member is a problem of its own.
    pub objective: Option<f64>,
    /// A lower bound on the minimum of the objective, where one is known.
    pub dual_objective: Option<f64>,
    /// The gap between them relative to their size, where it is known.
    pub relative_gap: Option<f64>,
    /// True if the gap is at most the tolerance.
    pub converged: bool,
    /// True if a scaling of the scores gives the probabilities, as Platt's does, and not the loss.
    pub scaled_probabilities: bool,
    /// The intercept.
    pub intercept: f64,
    /// The kind of the coefficients: `features`, `support samples` or `random features`.
    pub functions: &'static str,
    /// The number of coefficients.
    pub count: usize,
    /// The number of coefficients that are not zero.
    pub nonzero: usize,
    /// The coefficients that are largest once standardised where that is known, and else the largest ones, at
    /// most 30, the largest first.
    pub largest: Vec<Coefficient>,
}

/// A coefficient with the name of its function.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coefficient {
    /// The name of the feature, or the row that a support sample has in the data fitted to where these are at
    /// hand, counted from 1; else the number of the function among those of the model, from 1.
    pub name: String,
    /// The coefficient.
    pub value: f64,
    /// The standardised coefficient: the coefficient times the standard deviation of its feature over
    /// the training rows, each counted once. One deviation changes the score by it, so that features
    /// of different units can be compared. `None` if these rows are not in memory, and for functions
    /// that are not features.
    pub standardized: Option<f64>,
}

impl Coefficient {
    /// Returns the size by which coefficients are put in order.
    pub(crate) fn size(&self) -> f64 {
        self.standardized.unwrap_or(self.value).abs()
    }
}

/// Returns the members of a model, with the rows of its support samples in the data fitted to if these are
/// given. The members of a majority or a decision list decide only together: none of them is listed.
pub(crate) fn members(model: &Model, fitted_to: Option<&Design>) -> Vec<MemberSummary> {
    if model.scheme().scores_together() {
        return Vec::new();
    }
    let functions = match model.basis().map(Basis::functions) {
        None => "features",
        Some(Functions::Sections(_)) => "support samples",
        Some(Functions::Fourier(_)) => "random features",
    };
    let support = model.basis().zip(fitted_to).and_then(|(basis, rows)| Support::new(basis, rows));
    let beside = model.basis().map_or(&[][..], Basis::linear);
    let feature = |j: usize| match model.feature_names() {
        Some(names) => names[j].clone(),
        None => format!("feature {}", j + 1),
    };
    let name = |k: usize| {
        if model.basis().is_none() {
            return feature(k);
        }
        let Some(k) = k.checked_sub(beside.len()) else { return feature(beside[k]) };
        match support.as_ref().and_then(|support| support.row(k)) {
            Some(row) => format!("row {}", row + 1),
            None => format!("{} {}", functions.trim_end_matches('s'), k + 1),
        }
    };
    let of_features = fitted_to.filter(|_| model.basis().is_none());
    let spreads = of_features.map(|rows| Standardizer::fit(rows, None));
    let standardized = |k: usize, value: f64| Some(value * spreads.as_ref()?.deviations().get(k)?);
    let summary = |(member_name, member): (String, &margins_model::Member)| {
        let coef = &member.coef;
        let size = |k: usize| standardized(k, coef[k]).unwrap_or(coef[k]).abs();
        let mut order: Vec<usize> = (0..coef.len()).filter(|&k| coef[k] != 0.0).collect();
        order.sort_by(|&i, &j| size(j).total_cmp(&size(i)));
        let listed = order.iter().take(MOST_LISTED);
        let coefficient = |&k: &usize| {
            let (name, value) = (name(k), coef[k]);
            Coefficient { name, value, standardized: standardized(k, value) }
        };
        let own = (!model.scheme().is_joint()).then_some(&member.training);
        MemberSummary {
            name: member_name,
            lambda: member.lambda,
            objective: own.and_then(|own| own.objective),
            dual_objective: own.and_then(|own| own.dual_objective),
            relative_gap: own.and_then(|own| own.relative_gap),
            converged: member.training.converged,
            scaled_probabilities: member.platt.is_some(),
            intercept: member.intercept,
            functions,
            count: coef.len(),
            nonzero: order.len(),
            largest: listed.map(coefficient).collect(),
        }
    };
    let names = model.scheme().member_names(model.classes());
    names.into_iter().zip(model.members()).map(summary).collect()
}

/// The support samples of a kernel classifier, and the rows in the units that it keeps them in.
struct Support<'m> {
    samples: &'m Design,
    rows: Design,
}

impl<'m> Support<'m> {
    fn new(basis: &'m Basis, rows: &Design) -> Option<Self> {
        let Functions::Sections(samples) = basis.functions() else { return None };
        let beside = basis.linear();
        let seen: Vec<usize> =
            (0..rows.columns()).filter(|j| beside.binary_search(j).is_err()).collect();
        let mut rows =
            if beside.is_empty() { rows.clone() } else { rows.select_columns(&seen).ok()? };
        if let Some(scales) = basis.scales() {
            rows.scale_columns(scales);
        }
        Some(Support { samples, rows })
    }

    /// Returns the first row that is a support sample.
    fn row(&self, k: usize) -> Option<usize> {
        self.rows.samples().position(|row| row == self.samples.sample(k))
    }
}
