//! The registry that reads specifications of losses.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::{
    DistanceWeighted, Error, Exponential, GargRoth, Hinge, LeakyHockeyStick, LeakyRelu,
    LogCoshMarginPursuit, Logistic, MarginLoss, MarginPursuit, ModifiedHuber, PowerHockeyStick,
    SmoothedHinge, Specification, Squared, SquaredHinge, ZeroOne,
};

type Constructor = dyn Fn(&[f64]) -> Result<Box<dyn MarginLoss>, Error> + Send + Sync;

#[derive(Clone)]
struct Entry {
    /// The names and defaults, in the order in which the constructor takes the values.
    parameters: Vec<(String, f64)>,
    constructor: Arc<Constructor>,
}

/// A map from names to losses, which reads specifications such as `margin-pursuit:gamma=1,scale=2`.
///
/// Parameters left out take their defaults. Register a loss of your own by [`with`](Self::with):
///
/// ```
/// use margins_losses::{LossRegistry, MarginLoss};
///
/// /// `L(u) = max(0, -u)^power`.
/// #[derive(Debug)]
/// struct PowerPerceptron {
///     power: f64,
/// }
///
/// impl MarginLoss for PowerPerceptron {
///     fn value(&self, u: f64) -> f64 {
///         (-u).max(0.0).powf(self.power)
///     }
///     fn derivative(&self, u: f64) -> f64 {
///         -self.power * (-u).max(0.0).powf(self.power - 1.0)
///     }
///     fn name(&self) -> &str {
///         "power-perceptron"
///     }
///     fn parameters(&self) -> Vec<(&'static str, f64)> {
///         vec![("power", self.power)]
///     }
/// }
///
/// let registry = LossRegistry::standard().with("power-perceptron", &[("power", 2.0)], |values| {
///     Ok(Box::new(PowerPerceptron { power: values[0] }))
/// });
/// let loss = registry.parse("power-perceptron:power=3")?;
/// assert_eq!(loss.value(-2.0), 8.0);
/// assert_eq!(loss.specification(), "power-perceptron:power=3");
/// # Ok::<(), margins_losses::Error>(())
/// ```
#[derive(Clone)]
pub struct LossRegistry {
    entries: BTreeMap<String, Entry>,
}

/// The names that scikit-learn gives to losses of the [standard](LossRegistry::standard) registry.
const ALIASES: [(&str, &str); 4] = [
    ("log_loss", "logistic"),
    ("modified_huber", "modified-huber"),
    ("squared_error", "squared"),
    ("squared_hinge", "squared-hinge"),
];

impl LossRegistry {
    /// Returns a registry of every loss of this crate. A loss is found under the name that
    /// scikit-learn gives it, too: `log_loss`, `modified_huber`, `squared_error` and `squared_hinge`.
    pub fn standard() -> Self {
        Self::empty()
            .with("lhs", &[], |_| Ok(Box::new(LeakyHockeyStick)))
            .with("l-r", &[("r", 2.0)], |p| Ok(Box::new(PowerHockeyStick::new(p[0])?)))
            .with("margin-pursuit", &[("gamma", 1.0), ("scale", 1.0)], |p| {
                Ok(Box::new(MarginPursuit::new(p[0], p[1])?))
            })
            .with("log-cosh", &[("gamma", 1.0), ("scale", 1.0)], |p| {
                Ok(Box::new(LogCoshMarginPursuit::new(p[0], p[1])?))
            })
            .with("leaky-relu", &[("lambda", 0.1)], |p| Ok(Box::new(LeakyRelu::new(p[0])?)))
            .with("hinge", &[], |_| Ok(Box::new(Hinge)))
            .with("squared-hinge", &[], |_| Ok(Box::new(SquaredHinge)))
            .with("smoothed-hinge", &[("width", 1.0)], |p| Ok(Box::new(SmoothedHinge::new(p[0])?)))
            .with("modified-huber", &[], |_| Ok(Box::new(ModifiedHuber)))
            .with("dwd", &[("q", 1.0)], |p| Ok(Box::new(DistanceWeighted::new(p[0])?)))
            .with("logistic", &[], |_| Ok(Box::new(Logistic)))
            .with("exponential", &[], |_| Ok(Box::new(Exponential)))
            .with("squared", &[], |_| Ok(Box::new(Squared)))
            .with("garg-roth", &[("alpha", 1.0), ("beta", 1.0)], |p| {
                Ok(Box::new(GargRoth::new(p[0], p[1])?))
            })
            .with("zero-one", &[], |_| Ok(Box::new(ZeroOne)))
    }

    /// Returns a registry without any loss.
    pub fn empty() -> Self {
        LossRegistry { entries: BTreeMap::new() }
    }

    /// Adds a loss, or replaces the one of this name. The constructor gets the values of the
    /// parameters in the order in which they are declared here with their defaults.
    #[must_use]
    pub fn with(
        mut self,
        name: &str,
        parameters: &[(&str, f64)],
        constructor: impl Fn(&[f64]) -> Result<Box<dyn MarginLoss>, Error> + Send + Sync + 'static,
    ) -> Self {
        let parameters = parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        let entry = Entry { parameters, constructor: Arc::new(constructor) };
        self.entries.insert(name.to_owned(), entry);
        self
    }

    /// Returns the registered names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Returns the parameters of a loss with their defaults, in the order of its specification.
    pub fn parameters(&self, name: &str) -> Option<&[(String, f64)]> {
        self.entries.get(own_name(name)).map(|entry| entry.parameters.as_slice())
    }

    /// Returns the loss of a specification `name` or `name:key=value,key=value`. Spaces around
    /// names and values are ignored.
    ///
    /// # Errors
    /// [`Error`] for a text of another form and for what [`build`](Self::build) refuses.
    pub fn parse(&self, specification: &str) -> Result<Box<dyn MarginLoss>, Error> {
        let wrong =
            |reason: String| Error::Syntax { specification: specification.to_owned(), reason };
        let given = Specification::parse(specification).map_err(wrong)?;
        if given.name().is_empty() {
            let known = self.known();
            return Err(wrong(format!(
                "it does not begin with the name of a loss; known are {known}"
            )));
        }
        let number = |&(key, value): &(&str, &str)| {
            Ok((key.to_owned(), Specification::read(key, value, "a number").map_err(wrong)?))
        };
        let parameters: Vec<_> = given.parameters().iter().map(number).collect::<Result<_, _>>()?;
        self.build_from(given.name(), &parameters, specification)
    }

    /// Returns the loss of this name with these parameters, and the defaults for those not given.
    ///
    /// # Errors
    /// [`Error`] if there is no such loss or parameter, if a parameter is given twice, or if its
    /// value is out of range.
    pub fn build(
        &self,
        name: &str,
        parameters: &[(String, f64)],
    ) -> Result<Box<dyn MarginLoss>, Error> {
        self.build_from(name, parameters, name)
    }

    fn build_from(
        &self,
        name: &str,
        parameters: &[(String, f64)],
        specification: &str,
    ) -> Result<Box<dyn MarginLoss>, Error> {
        let name = own_name(name);
        let entry = self
            .entries
            .get(name)
            .ok_or_else(|| Error::UnknownLoss { name: name.to_owned(), known: self.known() })?;
        let mut given = vec![None; entry.parameters.len()];
        for (key, value) in parameters {
            let place = entry.parameters.iter().position(|(known, _)| known == key);
            let slot = place.and_then(|place| given.get_mut(place)).ok_or_else(|| {
                Error::UnknownParameter {
                    loss: name.to_owned(),
                    parameter: key.clone(),
                    known: entry.takes(),
                }
            })?;
            if slot.replace(*value).is_some() {
                return Err(Error::Syntax {
                    specification: specification.to_owned(),
                    reason: format!("the parameter '{key}' is given twice"),
                });
            }
        }
        let values: Vec<f64> = given
            .iter()
            .zip(&entry.parameters)
            .map(|(given, (_, default))| given.unwrap_or(*default))
            .collect();
        let loss = (entry.constructor)(&values)?;
        // Reports and model files name a loss by its own name, and must find it again here.
        if loss.name() == name {
            Ok(loss)
        } else {
            Err(Error::Misnamed { registered: name.to_owned(), own: loss.name().to_owned() })
        }
    }

    fn known(&self) -> String {
        self.names().collect::<Vec<_>>().join(", ")
    }
}

/// Returns the name of a loss here, given that or the name in scikit-learn.
fn own_name(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, own)| own)
}

impl Entry {
    fn takes(&self) -> String {
        if self.parameters.is_empty() {
            return "it takes none".to_owned();
        }
        let defaults: Vec<String> =
            self.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("it takes {} by default", defaults.join(", "))
    }
}

impl Default for LossRegistry {
    /// Returns the [`standard`](LossRegistry::standard) registry.
    fn default() -> Self {
        Self::standard()
    }
}

impl fmt::Debug for LossRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = self.entries.iter().map(|(name, entry)| (name, &entry.parameters));
        f.debug_map().entries(parameters).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::LossRegistry;
    use crate::foreign_names::FOREIGN_NAMES;
    use crate::{Error, MarginLoss};

    fn message(specification: &str) -> String {
        match LossRegistry::standard().parse(specification) {
            Ok(loss) => format!("read as {}", loss.specification()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn names_of_scikit_learn_are_known() {
        for (alias, own) in super::ALIASES {
            assert_eq!(message(alias), format!("read as {own}"));
            assert_eq!(LossRegistry::standard().parameters(alias), Some(&[][..]));
        }
    }

    #[test]
    fn defaults_and_values() {
        assert_eq!(message("l-r"), "read as l-r:r=2");
        assert_eq!(message(" l-r : r = 1.5 "), "read as l-r:r=1.5");
        assert_eq!(message("margin-pursuit:scale=2"), "read as margin-pursuit:gamma=1,scale=2");
        assert_eq!(message("log-cosh:scale=2,gamma=3"), "read as log-cosh:gamma=3,scale=2");
        for name in LossRegistry::standard().names() {
            assert!(message(name).starts_with(&format!("read as {name}")));
        }
        assert_eq!(LossRegistry::default().names().count(), 15);
    }

    #[test]
    fn foreign_names_stand_for_losses_that_exist() {
        for (theirs, ours) in FOREIGN_NAMES {
            assert!(message(theirs).ends_with(&format!("did you mean '{ours}'?")), "{theirs}");
        }
    }

    #[test]
    fn errors_name_the_value_and_what_is_known() {
        assert_eq!(
            message("logitsic"),
            "unknown loss 'logitsic': known are dwd, exponential, garg-roth, hinge, l-r, leaky-relu, lhs, \
             log-cosh, logistic, margin-pursuit, modified-huber, smoothed-hinge, squared, squared-hinge, zero-one; \
             did you mean 'logistic'?"
        );
        assert!(message("ramp").ends_with("zero-one"));
        assert!(message("logloss").ends_with("did you mean 'logistic'?"));
        assert_eq!(message("hinge:c=1"), "loss 'hinge' has no parameter 'c': it takes none");
        assert_eq!(
            message("margin-pursuit:sigma=1"),
            "loss 'margin-pursuit' has no parameter 'sigma': it takes gamma=1, scale=1 by default"
        );
        assert_eq!(
            message("l-r:r=2,r=3"),
            "loss specification 'l-r:r=2,r=3': the parameter 'r' is given twice"
        );
        assert_eq!(
            message("l-r:r=two"),
            "loss specification 'l-r:r=two': the value 'two' of 'r' is not a number"
        );
        assert_eq!(
            message("l-r:"),
            "loss specification 'l-r:': '' is not of the form parameter=value"
        );
        assert_eq!(
            message("l-r:r=1"),
            "loss 'l-r': parameter r is 1, but must be a finite number greater than 1"
        );
        for text in ["l-r:r=NaN", "l-r:r=inf"] {
            assert!(message(text).contains("must be a finite number"), "{}", message(text));
        }
        assert!(message("").starts_with("loss specification '': it does not begin with the name"));
        assert!(message(":r=2").contains("does not begin with the name"));
    }

    #[test]
    fn build_takes_pairs() -> Result<(), Error> {
        let registry = LossRegistry::standard();
        let loss = registry.build("smoothed-hinge", &[("width".to_owned(), 0.5)])?;
        assert_eq!(loss.specification(), "smoothed-hinge:width=0.5");
        let twice = [("width".to_owned(), 0.5), ("width".to_owned(), 0.5)];
        assert!(registry.build("smoothed-hinge", &twice).is_err());
        assert!(LossRegistry::empty().build("hinge", &[]).is_err());
        Ok(())
    }
}
