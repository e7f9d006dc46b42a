//! Models of fits.

use margins_calibration::probability::PlattScaling;
use margins_data::{Classes, Dataset};
use margins_losses::MarginLoss;
use margins_model::{Basis, Member, Model, ModelPath, Scheme};
use margins_optim::Fit;

use super::data_summary::DataSummary;
use super::prepared::Prepared;
use crate::Error;
use crate::certificate::summary;

/// Returns the model of a fit of `margins-optim` to the data, of two classes.
///
/// ```
/// use margins_data::generate::{Example, GaussianMixture};
/// use margins_estimators::regularised::model_of_fit;
/// use margins_losses::Logistic;
/// use margins_optim::{Lambda, Objective, Options, fit};
///
/// let data = GaussianMixture::example(Example::One, 1)?.sample(60, 2)?;
/// let objective = Objective::of(&Logistic, &data)?;
/// let fit = fit(&objective, Lambda::new(0.01)?, &Options::default())?;
/// let model = model_of_fit(&Logistic, &data, &fit)?;
/// assert_eq!(model.members()[0].coef, fit.coef);
/// assert!(model.members()[0].training.converged);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Data`]: another number of coefficients than of features. [`Error::Model`]: a fit whose
/// numbers overflowed, and that no program could apply.
pub fn model_of_fit(loss: &dyn MarginLoss, data: &Dataset, fit: &Fit) -> Result<Model, Error> {
    let (found, expected) = (fit.coef.len(), data.columns());
    if found != expected {
        let (what, places) = ("coefficients", "features");
        return Err(margins_data::Error::Count { what, found, places, expected }.into());
    }
    Prepared::linear(data).model(loss, false, fit)
}

/// Returns the model of fits, one per member of the scheme, to data with these classes.
pub(super) fn model_of_fits(
    loss: &dyn MarginLoss,
    data: &Dataset<Classes>,
    scheme: Scheme,
    prepared: &Prepared<'_>,
    standardize: bool,
    fits: &[Fit],
    platt: Option<&[PlattScaling]>,
) -> Result<Model, Error> {
    let fits: Vec<&Fit> = fits.iter().collect();
    let (table, functions) = (DataSummary::of(data), prepared.basis(&fits)?);
    model_of_functions(loss, &table, scheme, functions, standardize, &fits, platt)
}

/// Returns the model of functions, with the coefficients of each member for them.
pub(super) fn model_of_functions(
    loss: &dyn MarginLoss,
    table: &DataSummary,
    scheme: Scheme,
    (basis, coefs): (Option<Basis>, Vec<Vec<f64>>),
    standardize: bool,
    fits: &[&Fit],
    platt: Option<&[PlattScaling]>,
) -> Result<Model, Error> {
    let mut members = members_of(table, coefs, standardize, fits);
    for (member, scaling) in members.iter_mut().zip(platt.unwrap_or_default()) {
        member.platt = Some(*scaling);
    }
    let (classes, names) = (table.classes.clone(), table.feature_names.clone());
    let model = Model::from_members(loss, classes, scheme, names, basis, members)?;
    Ok(model.with_encoding(table.encoding.clone())?)
}

/// Returns the models of functions at several lambdas, with the fits lambda after lambda.
pub(super) fn models_of_functions(
    loss: &dyn MarginLoss,
    table: &DataSummary,
    scheme: Scheme,
    (basis, coefs): (Option<Basis>, Vec<Vec<f64>>),
    standardize: bool,
    fits: &[&Fit],
) -> Result<ModelPath, Error> {
    let members = members_of(table, coefs, standardize, fits);
    let (classes, names) = (table.classes.clone(), table.feature_names.clone());
    let path = ModelPath::from_members(loss, classes, scheme, names, basis, members)?;
    Ok(path.try_map(|model| model.with_encoding(table.encoding.clone()))?)
}

/// Returns the members of fits, with their coefficients for the functions of a model.
fn members_of(
    table: &DataSummary,
    coefs: Vec<Vec<f64>>,
    standardize: bool,
    fits: &[&Fit],
) -> Vec<Member> {
    let member = |(fit, coef): (&&Fit, Vec<f64>)| Member {
        lambda: Some(fit.lambda.get()),
        intercept: fit.intercept,
        coef,
        training: summary(&fit.report, table.rows(), standardize),
        platt: None,
    };
    fits.iter().zip(coefs).map(member).collect()
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
