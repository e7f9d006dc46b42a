//! The losses of a fit: given by their specifications, and several to choose from.

use std::borrow::Cow;
use std::sync::Arc;

use margins_losses::{LossRegistry, MarginLoss, Specification};

use super::scale_rule::AutoScale;
use super::settings::ClassifierSettings;
use crate::Error;

impl ClassifierSettings {
    /// Returns the settings with the losses of specifications: the first one, and others to choose from by
    /// cross-validation.
    ///
    /// Each loss that leaves its parameter `scale` out is taken with each of the scales, if there are
    /// some. Of margin pursuit only the ratio of scale and gamma matters: with
    /// `L_{c gamma, c s}(c u) = c^2 L_{gamma, s}(u)`, the objective at the level c gamma, the scale c s
    /// and the function c f is c^2 times that at gamma, s and f, for the same lambda. So gamma may stay
    /// as it is.
    ///
    /// `margin-pursuit:gamma=1,scale=auto,k=10` takes the scale from the training data, by the rule
    /// of [`AutoScale`].
    ///
    /// ```
    /// use margins_estimators::regularised::{AutoScale, ClassifierSettings};
    /// use margins_losses::LossRegistry;
    ///
    /// let (settings, registry) = (ClassifierSettings::default(), LossRegistry::standard());
    /// let scales = [0.5, 2.0, 8.0];
    /// let several = settings.clone().with_losses("margin-pursuit:gamma=1", &[], &scales, &registry)?;
    /// assert_eq!(several.loss.specification(), "margin-pursuit:gamma=1,scale=0.5");
    /// assert_eq!(several.or_losses.len(), 2);
    /// let auto = settings.with_losses("margin-pursuit:scale=auto", &[], &[], &registry)?;
    /// assert_eq!(auto.auto_scale, Some(AutoScale { k: 10.0 }));
    /// # Ok::<(), margins_estimators::Error>(())
    /// ```
    ///
    /// Source of the rule and of the scaling: Holland, *Classification using margin pursuit* (2019), below
    /// equation 6, and equation 20.
    ///
    /// # Errors
    /// [`Error::Losses`]: a specification that the registry does not take. [`Error::Contradiction`]: scales
    /// for losses of which none leaves its scale out.
    pub fn with_losses(
        self,
        first: &str,
        others: &[String],
        scales: &[f64],
        registry: &LossRegistry,
    ) -> Result<Self, Error> {
        let (mut losses, mut auto_scale) = (Vec::new(), None);
        let mut takes_scales = scales.is_empty();
        for specification in std::iter::once(first).chain(others.iter().map(String::as_str)) {
            if let Some((loss, rule)) = AutoScale::parse(specification)? {
                auto_scale = Some(rule);
                losses.push(Arc::new(loss) as Arc<dyn MarginLoss>);
                continue;
            }
            let loss = registry.parse(specification)?;
            if scales.is_empty() || !leaves_scale_out(specification, &*loss) {
                losses.push(loss.into());
                continue;
            }
            takes_scales = true;
            let separator = if specification.contains(':') { ',' } else { ':' };
            for scale in scales {
                let with_scale = format!("{specification}{separator}scale={scale}");
                losses.push(registry.parse(&with_scale)?.into());
            }
        }
        if !takes_scales {
            let scales: Vec<String> = scales.iter().map(f64::to_string).collect();
            let reason =
                "scales are for losses that leave their scale out, as margin-pursuit:gamma=1 does";
            let others = losses.iter().map(MarginLoss::specification).collect::<Vec<_>>();
            let losses = format!("loss {}", others.join(", "));
            return Err(Error::contradiction(
                format!("scales {}", scales.join(",")),
                losses,
                reason,
            ));
        }
        let loss = losses.remove(0);
        Ok(ClassifierSettings { loss, or_losses: losses, auto_scale, ..self })
    }

    /// Returns the losses to choose from, in the order given, each once.
    pub(super) fn losses(&self) -> Vec<&Arc<dyn MarginLoss>> {
        let mut losses = vec![&self.loss];
        for loss in &self.or_losses {
            if losses.iter().all(|known| known.specification() != loss.specification()) {
                losses.push(loss);
            }
        }
        losses
    }

    /// Returns the settings with each of the losses alone.
    pub(super) fn with_each_loss(&self) -> Vec<Cow<'_, Self>> {
        if self.or_losses.is_empty() {
            return vec![Cow::Borrowed(self)];
        }
        let alone = |loss: &Arc<dyn MarginLoss>| {
            Cow::Owned(ClassifierSettings {
                loss: Arc::clone(loss),
                or_losses: Vec::new(),
                ..self.clone()
            })
        };
        self.losses().into_iter().map(alone).collect()
    }
}

/// Returns true if the loss of a specification has a parameter `scale` that is not given.
fn leaves_scale_out(specification: &str, loss: &dyn MarginLoss) -> bool {
    let given = Specification::parse(specification);
    let is_given =
        given.is_ok_and(|given| given.parameters().iter().any(|(key, _)| *key == "scale"));
    !is_given && loss.parameters().iter().any(|(name, _)| *name == "scale")
}
