//! Sets the scale of margin pursuit from the data once, during a run.

use margins_calibration::scale;
use margins_losses::MarginPursuit;
use margins_optim::online::stochastic::Rescaled;
use margins_optim::{Error, Lambda};

use super::settings::RescaleSteps;

/// Returns the rule by which a run on margin pursuit of this level and scale sets its scale once
/// from the margins of the training samples: [`data_driven`](scale::data_driven) at confidence 95
/// %, with the steps divided by the factor that the scale grows by, because the slopes of the loss
/// grow as much. The rule is for [`fit_rescaled`](margins_optim::online::stochastic::fit_rescaled).
///
/// Source: Holland 2019, section 4, which leaves the confidence open.
pub fn data_driven_scale(
    gamma: f64,
    from: f64,
    lambda: Lambda,
) -> impl FnOnce(&[f64]) -> Result<Rescaled, Error> {
    rescaled(gamma, from, lambda, RescaleSteps::Divide)
}

/// Returns the rule of [`data_driven_scale`] with these steps.
pub(super) fn rescaled(
    gamma: f64,
    from: f64,
    lambda: Lambda,
    steps: RescaleSteps,
) -> impl FnOnce(&[f64]) -> Result<Rescaled, Error> {
    const DELTA: f64 = 0.05;
    move |margins| {
        let refuse = |reason: String| Error::Rescaling(reason);
        let scale = scale::data_driven(margins, lambda.get(), DELTA);
        let scale = scale.map_err(|error| refuse(error.to_string()))?;
        let loss = MarginPursuit::new(gamma, scale).map_err(|error| refuse(error.to_string()))?;
        let step_factor = match steps {
            RescaleSteps::Divide => from / scale,
            RescaleSteps::Keep => 1.0,
        };
        Ok(Rescaled { loss: Box::new(loss), step_factor })
    }
}

#[cfg(test)]
mod tests {
    use margins_losses::MarginLoss;

    use super::*;

    #[test]
    fn steps_are_divided_as_the_scale_grows_or_kept() {
        let margins = [0.5, -2.0, 3.0, 1.0, 4.0];
        let lambda = Lambda::new(1e-3).expect("a lambda");
        let found = scale::data_driven(&margins, lambda.get(), 0.05).expect("a scale");
        for (steps, factor) in [(RescaleSteps::Divide, 2.0 / found), (RescaleSteps::Keep, 1.0)] {
            let Rescaled { loss, step_factor } =
                rescaled(1.0, 2.0, lambda, steps)(&margins).expect("a rule");
            assert_eq!(step_factor, factor);
            let expected = MarginPursuit::new(1.0, found).expect("a loss");
            assert_eq!(loss.derivative(-1.0), expected.derivative(-1.0));
        }
    }
}
