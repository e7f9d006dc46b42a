//! Builds models of linear classifiers.

use margins_losses::MarginLoss;
use margins_model::{Error, Member, Model, Scheme, TrainingSummary};
use margins_optim::Lambda;
use margins_optim::online::LinearClassifier;

/// Returns the model of a linear classifier of two classes, the negative and the positive one;
/// `lambda` is `None` if the learner has no penalty.
///
/// # Errors
/// [`Error::Invalid`]: coefficients that are not finite, or another number of names than of
/// features.
///
/// ```
/// use margins_estimators::linear_model;
/// use margins_losses::Hinge;
/// use margins_model::TrainingSummary;
/// use margins_optim::online::LinearClassifier;
///
/// let classifier = LinearClassifier { intercept: 0.0, coef: vec![1.0, -2.0] };
/// let training = TrainingSummary::uncertified(100);
/// let model = linear_model(&Hinge, None, ("ham", "spam"), None, training, &classifier)?;
/// assert_eq!(model.classes(), ["ham", "spam"]);
/// # Ok::<(), margins_model::Error>(())
/// ```
pub fn linear_model(
    loss: &dyn MarginLoss,
    lambda: Option<Lambda>,
    (negative, positive): (&str, &str),
    feature_names: Option<Vec<String>>,
    training: TrainingSummary,
    classifier: &LinearClassifier,
) -> Result<Model, Error> {
    let classes = vec![negative.to_owned(), positive.to_owned()];
    let members = vec![(classifier.clone(), training)];
    linear_model_of_classes(loss, lambda, (classes, Scheme::Binary), feature_names, members)
}

/// Returns the model of linear classifiers with what is known of their fits, the members of a scheme
/// for several classes.
pub(crate) fn linear_model_of_classes(
    loss: &dyn MarginLoss,
    lambda: Option<Lambda>,
    (classes, scheme): (Vec<String>, Scheme),
    feature_names: Option<Vec<String>>,
    members: Vec<(LinearClassifier, TrainingSummary)>,
) -> Result<Model, Error> {
    let members = members.into_iter().map(|(c, training)| linear_member(lambda, c, training));
    let members = members.collect();
    Model::from_members(loss, classes, scheme, feature_names, None, members)
}

/// Returns the member of a linear classifier.
pub(crate) fn linear_member(
    lambda: Option<Lambda>,
    classifier: LinearClassifier,
    training: TrainingSummary,
) -> Member {
    let LinearClassifier { intercept, coef } = classifier;
    Member { lambda: lambda.map(Lambda::get), intercept, coef, training, platt: None }
}
