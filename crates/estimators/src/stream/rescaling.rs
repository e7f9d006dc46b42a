//! Sets the scale of margin pursuit from the data once, during a run.

use margins_calibration::scale;
use margins_losses::MarginPursuit;
use margins_optim::online::stochastic::Rescaled;
use margins_optim::{Error, Lambda};

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
    const DELTA: f64 = 0.05;
    move |margins| {
        let refuse = |reason: String| Error::Rescaling(reason);
        let scale = scale::data_driven(margins, lambda.get(), DELTA);
        let scale = scale.map_err(|error| refuse(error.to_string()))?;
        let loss = MarginPursuit::new(gamma, scale).map_err(|error| refuse(error.to_string()))?;
        Ok(Rescaled { loss: Box::new(loss), step_factor: from / scale })
    }
}
