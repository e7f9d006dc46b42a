//! Certificates for the exact kernel, of fits on features that approximate it.

use margins_data::Design;
use margins_kernels::{Gram, JointPulls, KnownFunction, certify, joint_certificates};
use margins_losses::MarginLoss;
use margins_optim::problem::EmpiricalRisk;
use margins_optim::{Certificate, Fit};

use super::approximation::Approximation;
use super::contests::ContestData;
use super::fitted::{InMemory, TrainingData};
use super::settings::ClassifierSettings;
use crate::Error;

impl ClassifierSettings {
    /// Refuses certificates for the kernel itself where fits are certified for it anyway, or are
    /// no functions of its space.
    pub(super) fn check_exact(&self) -> Result<(), Error> {
        let refuse = |other: String, reason| {
            Err(Error::contradiction("certify_exact".to_owned(), other, reason))
        };
        if !self.certify_exact {
            return Ok(());
        }
        if let Some(learner) = &self.learner {
            return refuse(format!("objective {learner}"), "it certifies fits of the mean loss");
        }
        let approximation = self.kernels.approximation;
        let other = || format!("approximation {approximation}");
        match approximation {
            Approximation::Nystrom { .. } => Ok(()),
            Approximation::Fourier { .. } => refuse(
                other(),
                "random Fourier features are no functions of the space of the kernel",
            ),
            Approximation::None | Approximation::Cholesky { .. } => {
                refuse(other(), "every gap is for the kernel itself already")
            }
        }
    }

    /// Returns the certificates for the kernel itself of fits, one list a lambda with one fit a
    /// problem; `None` if they are not asked for. One pass over the kernel matrix serves all.
    pub(super) fn exact_certificates(
        &self,
        training_data: &TrainingData,
        fits: &[Vec<Fit>],
    ) -> Result<Option<Vec<Vec<Certificate>>>, Error> {
        if !self.certify_exact {
            return Ok(None);
        }
        let TrainingData::InMemory(here) = training_data else { return Ok(None) };
        let InMemory { contests, prepared, .. } = &**here;
        let Some(gram) = prepared.approximated() else { return Ok(None) };
        let gram = gram?;
        if let (true, Some(features)) = (contests.scheme().is_joint(), prepared.map_features()) {
            return joint_certificates_of(&gram, features, fits).map(Some);
        }
        let training = self.training(contests.classes().rows(), None);
        let members = contests.datasets()?;
        let rows: Vec<Option<&[usize]>> =
            members.iter().map(|member| member.rows.as_deref()).collect();
        let risks = members
            .iter()
            .map(|ContestData { data, rows }| match rows {
                Some(rows) => training.risk_of_rows(data, rows),
                None => training.risk(data),
            })
            .collect::<Result<Vec<EmpiricalRisk<'_, dyn MarginLoss>>, _>>()?;
        let mut functions = Vec::new();
        for fits in fits {
            for ((fit, risk), rows) in fits.iter().zip(&risks).zip(&rows) {
                let mut scores = prepared.scores(fit)?;
                scores.iter_mut().for_each(|score| *score -= fit.intercept);
                let square_norm = fit.coef.iter().map(|w| w * w).sum();
                let Fit { lambda, intercept, .. } = *fit;
                let duals =
                    fit.report.duals.as_ref().map(|duals| of_all(duals, *rows, scores.len()));
                let function =
                    KnownFunction { risk, lambda, intercept, scores, square_norm, duals };
                functions.push(function);
            }
        }
        let certificates = certify(&gram, &functions)?;
        Ok(Some(certificates.chunks(risks.len()).map(<[Certificate]>::to_vec).collect()))
    }
}

/// Returns the certificates of fits of several classes in one problem, one a lambda.
fn joint_certificates_of(
    gram: &Gram,
    features: &Design,
    fits: &[Vec<Fit>],
) -> Result<Vec<Vec<Certificate>>, Error> {
    let known: Vec<JointPulls<'_>> = (fits.iter())
        .map(|members| JointPulls {
            lambda: members[0].lambda,
            certificate: members[0].report.certificate(),
            pulls: members.iter().filter_map(|fit| fit.report.duals.as_deref()).collect(),
        })
        .collect();
    let certificates = joint_certificates(gram, features, &known)?;
    Ok(certificates.into_iter().map(|of| vec![of]).collect())
}

/// Returns the duals of all samples, given those of all or of some rows: the others weigh nothing.
fn of_all(duals: &[f64], rows: Option<&[usize]>, n: usize) -> Vec<f64> {
    match rows {
        Some(rows) if duals.len() == rows.len() => {
            let mut all = vec![0.0; n];
            rows.iter().zip(duals).for_each(|(&row, &dual)| all[row] = dual);
            all
        }
        _ => duals.to_vec(),
    }
}
