//! Models at several lambdas over the same functions of a sample.

use margins_losses::MarginLoss;

use crate::{Basis, Error, Member, Model, Scheme};

/// The models of a path: binary classifiers at several lambdas over the same functions of a sample,
/// with the certificate of each fit. A model alone is a path of one lambda.
///
/// A lambda between two fitted ones has no model, because interpolated coefficients have no
/// certificate.
///
/// ```
/// use margins_losses::Logistic;
/// use margins_model::{Error, Member, ModelPath, Scheme, TrainingSummary};
///
/// let member = |lambda: f64| Member {
///     lambda: Some(lambda),
///     intercept: 0.0,
///     coef: vec![1.0 / lambda],
///     training: TrainingSummary::uncertified(100),
///     platt: None,
/// };
/// let classes = vec!["ham".to_owned(), "spam".to_owned()];
/// let members = [1.0, 0.1, 0.01].map(member).to_vec();
/// let path = ModelPath::from_members(&Logistic, classes, Scheme::Binary, None, None, members)?;
/// assert_eq!(path.lambdas(), [1.0, 0.1, 0.01]);
/// assert_eq!(path.at(0.1)?.members()[0].coef, [10.0]);
/// assert!(matches!(path.at(0.05), Err(Error::NotFitted { .. })));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ModelPath {
    /// The model at the largest lambda.
    first: Model,
    /// The members at the smaller lambdas, of the largest one first.
    further: Vec<Vec<Member>>,
}

impl From<Model> for ModelPath {
    fn from(model: Model) -> Self {
        ModelPath { first: model, further: Vec::new() }
    }
}

impl ModelPath {
    /// Returns the models of binary classifiers that share a basis: all members of the [`Scheme`] at
    /// the largest lambda, then those at the next lambda, and so on.
    ///
    /// # Errors
    /// [`Error::Invalid`]: what [`Model::from_members`] refuses; members that do not fill the last
    /// lambda; lambdas that differ within a step, or do not fall from step to step; a scheme
    /// whose members [score together](Scheme::scores_together).
    pub fn from_members(
        loss: &dyn MarginLoss,
        classes: Vec<String>,
        scheme: Scheme,
        feature_names: Option<Vec<String>>,
        basis: Option<Basis>,
        mut members: Vec<Member>,
    ) -> Result<Self, Error> {
        if scheme.scores_together() {
            let reason = format!("a path has no members that score together, as in {scheme}");
            return Err(Error::Invalid(reason));
        }
        let count = scheme.scores(classes.len()).unwrap_or(members.len()).max(1);
        let mut further = Vec::new();
        while members.len() > count {
            let rest = members.len() % count;
            further.push(members.split_off(members.len() - if rest > 0 { rest } else { count }));
        }
        further.reverse();
        let first = Model::from_members(loss, classes, scheme, feature_names, basis, members)?;
        let path = ModelPath { first, further };
        path.check().map_err(Error::Invalid)?;
        Ok(path)
    }

    /// Refuses steps that are no path.
    fn check(&self) -> Result<(), String> {
        if self.further.is_empty() {
            return Ok(());
        }
        let (count, functions) = (self.first.members().len(), self.first.members()[0].coef.len());
        for (k, members) in self.further.iter().enumerate() {
            let step = k + 2;
            if members.len() != count {
                let found = members.len();
                return Err(format!("step {step} of the path has {found} members, not {count}"));
            }
            for (m, member) in members.iter().enumerate() {
                let member_of = |reason| format!("step {step}, member {}: {reason}", m + 1);
                member.check(functions).map_err(member_of)?;
            }
        }
        let of_step = |members: &[Member]| {
            let lambda = members[0].lambda?;
            members.iter().all(|member| member.lambda == Some(lambda)).then_some(lambda)
        };
        let mut before = f64::INFINITY;
        for (k, members) in self.steps().enumerate() {
            match of_step(members) {
                Some(lambda) if lambda < before => before = lambda,
                _ => {
                    let step = k + 1;
                    let rule = "the members of a step share a lambda below that of the step before";
                    return Err(format!("step {step} of the path has other lambdas: {rule}"));
                }
            }
        }
        Ok(())
    }

    /// Returns the model at the largest lambda, with which all others share loss, classes and
    /// functions.
    pub fn first(&self) -> &Model {
        &self.first
    }

    /// Returns the members at the smaller lambdas.
    #[cfg(feature = "serde")]
    pub(crate) fn further(&self) -> &[Vec<Member>] {
        &self.further
    }

    /// Returns the members at each lambda, of the largest one first.
    pub fn steps(&self) -> impl Iterator<Item = &[Member]> {
        [self.first.members()].into_iter().chain(self.further.iter().map(Vec::as_slice))
    }

    /// Returns the lambdas, largest first; none of a model alone that was fitted without a penalty.
    pub fn lambdas(&self) -> Vec<f64> {
        self.steps().filter_map(|members| members[0].lambda).collect()
    }

    /// Returns the model at a lambda that was fitted, given to the six digits that tables print.
    ///
    /// # Errors
    /// [`Error::NotFitted`]: another lambda, with the nearest ones of the path.
    pub fn at(&self, lambda: f64) -> Result<Model, Error> {
        /// The largest relative distance of two numbers that print alike.
        const PRINTED: f64 = 5e-6;
        let lambdas = self.lambdas();
        let distance = |fitted: f64| (fitted - lambda).abs() / fitted;
        let nearest = (0..lambdas.len())
            .min_by(|&i, &j| distance(lambdas[i]).total_cmp(&distance(lambdas[j])));
        match nearest {
            Some(0) if distance(lambdas[0]) <= PRINTED => Ok(self.first.clone()),
            Some(k) if distance(lambdas[k]) <= PRINTED => {
                Ok(self.first.with_members(self.further[k - 1].clone()))
            }
            _ => {
                let above = lambdas.iter().rev().find(|fitted| **fitted > lambda);
                let below = lambdas.iter().find(|fitted| **fitted < lambda);
                let nearest = above.into_iter().chain(below).copied().collect();
                Err(Error::NotFitted { lambda, nearest })
            }
        }
    }

    /// Returns the model of a path with one lambda.
    ///
    /// # Errors
    /// [`Error::SeveralLambdas`]: the path has more than one.
    pub fn into_only(self) -> Result<Model, Error> {
        if self.further.is_empty() {
            return Ok(self.first);
        }
        let lambdas = self.lambdas();
        let (count, largest) = (lambdas.len(), lambdas[0]);
        Err(Error::SeveralLambdas { count, largest, smallest: lambdas[count - 1] })
    }

    /// Returns the path with a change of what all of its models share.
    ///
    /// # Errors
    /// The error of the change.
    pub fn try_map(
        self,
        change: impl FnOnce(Model) -> Result<Model, Error>,
    ) -> Result<Self, Error> {
        Ok(ModelPath { first: change(self.first)?, ..self })
    }
}
