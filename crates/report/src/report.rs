//! The numbers of a report.

use margins_calibration::location::MarginLocation;
use margins_data::{ClassLabels, Dataset, Design};
use margins_model::{Model, Registry};
use nalgebra::DMatrix;
use serde::Serialize;

use crate::Error;
use crate::data::{DataSummary, Labelled};
use crate::evaluation::Evaluation;
use crate::excess_risk::ExcessRisk;
use crate::game::Game;
use crate::members::{CertificateSummary, MemberSummary, joint_certificate, members};
use crate::profile::Profile;
use crate::selection::Selection;
use crate::suspect::Suspect;

/// The numbers of a report. Parts that a fit does not have are empty.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The name of the document, `margins-report`.
    pub format: &'static str,
    /// The version of the document.
    pub version: u32,
    /// The heading.
    pub title: String,
    /// Where the report comes from.
    pub origin: Origin,
    /// The fit and its results, in words.
    pub facts: Vec<Fact>,
    /// The warnings, in words, which come first.
    pub warnings: Vec<String>,
    /// The data at a glance.
    pub data: Vec<DataSummary>,
    /// The choice of lambda, if it was cross-validated.
    pub selection: Option<Selection>,
    /// The fits along a path, largest lambda first.
    pub path: Vec<PathPoint>,
    /// The largest coefficients along the path, of a classifier that is linear in its features.
    pub profiles: Vec<Profile>,
    /// The duals of some samples along the path, of a kernel classifier.
    pub duals: Vec<Profile>,
    /// The locations of the training margins of every member along the path, of several classes by the
    /// margin-pursuit loss.
    pub locations: Vec<Profile>,
    /// The end of a game of focused online learning.
    pub game: Option<Game>,
    /// The certificate of one problem for all classes; the members then have none of their own.
    pub certificate: Option<CertificateSummary>,
    /// The binary classifiers of the model, or its classes.
    pub members: Vec<MemberSummary>,
    /// The evaluations of the model, on the training data first.
    pub evaluations: Vec<Evaluation>,
    /// The bound on the excess error by the Psi-transform, for the data evaluated last.
    pub excess_risk: Option<ExcessRisk>,
    /// The choice among candidates by rows held out, of a halfspace under Massart noise.
    pub candidates: Option<CandidateChoice>,
    /// The rows with slack of focused learning, from 1, the largest first.
    pub outliers: Option<Vec<usize>>,
    /// The first of these rows, at most 50, with what is unusual about them.
    pub suspects: Vec<Suspect>,
}

/// Where a report comes from.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Origin {
    /// The command line.
    pub command: String,
    /// The version of the program.
    pub program: String,
    /// The seed of all that was drawn, if anything was.
    pub seed: Option<u64>,
    /// The time at which the report was made, as RFC 3339 in UTC.
    pub time: String,
    /// The seconds that it took.
    pub seconds: f64,
}

/// A name with what there is to say about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fact {
    /// The name.
    pub name: String,
    /// The words or the number.
    pub value: String,
}

/// The choice of a halfspace under Massart noise among candidates, by rows held out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CandidateChoice {
    /// The noise rate of the run that the halfspace comes from.
    pub eta: f64,
    /// The margin of that run.
    pub gamma: f64,
    /// The number of candidates.
    pub candidates: usize,
    /// The number of rows held out.
    pub held_out: usize,
    /// The share of them that the halfspace gets wrong, by weight: the least of all candidates.
    pub error: f64,
    /// The bound on the error on new samples.
    pub bound: f64,
    /// The probability with which the bound may fail.
    pub delta: f64,
    /// The number of the halfspace among the candidates, from 1.
    pub chosen: usize,
    /// Candidates by their number with the share of rows held out that they get wrong.
    pub errors: Vec<(usize, f64)>,
}

/// A fit of a path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PathPoint {
    /// The regularisation.
    pub lambda: f64,
    /// The objective reached, of several problems their sum.
    pub objective: f64,
    /// The relative duality gap of the objective, of several problems the largest.
    pub relative_gap: f64,
    /// True if every gap is at most the tolerance.
    pub converged: bool,
    /// The norm of all members together, the root of the sum of their squared norms.
    pub norm: f64,
    /// The share of training samples misclassified.
    pub training_error: f64,
    /// The location of the training margins, of two classes by the margin-pursuit loss.
    pub margin_location: Option<MarginLocation>,
}

impl Report {
    /// Returns a report without numbers.
    pub fn new(title: impl Into<String>, origin: Origin) -> Self {
        Report {
            format: "margins-report",
            version: 1,
            title: title.into(),
            origin,
            facts: Vec::new(),
            warnings: Vec::new(),
            data: Vec::new(),
            selection: None,
            path: Vec::new(),
            profiles: Vec::new(),
            duals: Vec::new(),
            locations: Vec::new(),
            game: None,
            certificate: None,
            members: Vec::new(),
            evaluations: Vec::new(),
            excess_risk: None,
            candidates: None,
            outliers: None,
            suspects: Vec::new(),
        }
    }

    /// Adds facts in words.
    pub fn add_facts<N: Into<String>>(&mut self, facts: impl IntoIterator<Item = (N, String)>) {
        self.facts.extend(facts.into_iter().map(|(name, value)| Fact { name: name.into(), value }));
    }

    /// Adds the members of a model with their certificates and coefficients. The training data, if
    /// given, name the rows of support samples and standardise coefficients of features.
    pub fn describe(&mut self, model: &Model, fitted_to: Option<&Design>) {
        self.certificate = joint_certificate(model);
        self.members = members(model, fitted_to);
    }

    /// Returns the certificates: the one of all classes, or those of the members.
    pub(crate) fn certificates(&self) -> Vec<CertificateSummary> {
        match &self.certificate {
            Some(joint) => vec![joint.clone()],
            None => self.members.iter().map(CertificateSummary::from).collect(),
        }
    }

    /// Adds the rows with slack of focused learning, counted from 0, the largest first.
    pub fn suspect<Y: ClassLabels>(&mut self, data: &Dataset<Y>, rows: &[usize]) {
        self.outliers = Some(rows.iter().map(|row| row + 1).collect());
        self.suspects = Suspect::first(data, rows);
    }

    /// Adds a summary of the data, and the evaluation of a model on them.
    ///
    /// # Errors
    /// [`Error::Model`], [`Error::Data`]: the model cannot be applied to the data, or they cannot be
    /// measured. [`Error::Loss`]: the registry does not know the loss.
    pub fn evaluate(
        &mut self,
        sample: &Labelled<'_>,
        model: &Model,
        registry: &Registry,
    ) -> Result<(), Error> {
        let scores = model.decision_functions(sample.design, registry)?;
        self.evaluate_scores(sample, model, &scores, registry)
    }

    /// Adds a summary of the data, and the evaluation of a model by these scores of its members, a row a
    /// sample and a column per member. They may come from fits to other samples, as in a
    /// cross-validation.
    ///
    /// # Errors
    /// [`Error::Data`]: the data cannot be measured. [`Error::Loss`]: the registry does not know the
    /// loss.
    pub fn evaluate_scores(
        &mut self,
        sample: &Labelled<'_>,
        model: &Model,
        scores: &DMatrix<f64>,
        registry: &Registry,
    ) -> Result<(), Error> {
        let loss = registry.losses.parse(model.loss()).map_err(|e| Error::Loss(e.to_string()))?;
        self.data.push(sample.summary(model));
        self.evaluations.push(Evaluation::new(sample, model, &*loss, scores)?);
        if model.members().len() == 1 && model.members()[0].training.objective.is_some() {
            self.excess_risk = ExcessRisk::new(sample, &*loss, scores.as_slice());
        }
        Ok(())
    }
}
