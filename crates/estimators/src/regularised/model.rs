//! Models of fits.

use margins_calibration::probability::PlattScaling;
use margins_data::{ClassLabels, Classes, Dataset};
use margins_losses::MarginLoss;
use margins_model::{Member, Model, Scheme};
use margins_optim::Fit;

use super::prepared::Prepared;
use crate::Error;
use crate::certificate::summary;

/// Returns the model of fits, one a member of the scheme, to data with these classes.
pub(super) fn model_of_fits(
    loss: &dyn MarginLoss,
    data: &Dataset<Classes>,
    scheme: Scheme,
    prepared: &Prepared<'_>,
    standardize: bool,
    fits: &[Fit],
    platt: Option<&[PlattScaling]>,
) -> Result<Model, Error> {
    let (basis, coefs) = prepared.basis(fits)?;
    let member = |(m, (fit, coef)): (usize, (&Fit, Vec<f64>))| Member {
        lambda: Some(fit.lambda.get()),
        intercept: fit.intercept,
        coef,
        training: summary(&fit.report, data.rows(), standardize),
        platt: platt.map(|scalings| scalings[m]),
    };
    let members = fits.iter().zip(coefs).enumerate().map(member).collect();
    let names = data.feature_names().map(<[String]>::to_vec);
    let classes = data.labels().names().to_vec();
    let model = Model::from_members(loss, classes, scheme, names, basis, members)?;
    Ok(model.with_encoding(data.encoding().cloned())?)
}

impl Prepared<'_> {
    /// Returns the model of a fit to the data, of two classes.
    ///
    /// # Errors
    /// [`Error::Model`]: a fit whose numbers overflowed, and that no program could apply.
    pub fn model(
        &self,
        loss: &dyn MarginLoss,
        standardize: bool,
        fit: &Fit,
    ) -> Result<Model, Error> {
        let data = self.data();
        let classes = data.relabelled(Classes::from(data.labels()))?;
        let fits = std::slice::from_ref(fit);
        model_of_fits(loss, &classes, Scheme::Binary, self, standardize, fits, None)
    }
}
