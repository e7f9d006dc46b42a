//! The Psi-transform of any loss.

mod from_zero;
mod hull;

use std::fmt;

use crate::{Error, MarginPursuitPsi, search, tail};
use hull::Hull;
use margins_losses::{MarginLoss, OutOfRange, SpecialCase, kink_at_zero};

/// The reason why a surrogate guarantee for this loss says nothing about misclassification.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum NotCalibrated {
    /// The loss is convex with a kink at 0 (Bartlett, Jordan and McAuliffe 2006, theorem 2).
    KinkAtZero {
        /// The slope from the left.
        left: f64,
        /// The slope from the right.
        right: f64,
    },
    /// The loss is convex and does not fall at 0 (Bartlett, Jordan and McAuliffe 2006, theorem 2).
    NotFallingAtZero {
        /// The slope at 0.
        slope: f64,
    },
    /// The loss is not convex, and a wrong sign is as good as a right one at this class
    /// probability.
    WrongSign {
        /// The class probability.
        eta: f64,
    },
}

impl fmt::Display for NotCalibrated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotCalibrated::KinkAtZero { left, right } => write!(
                f,
                "it is convex with a kink at 0 (slopes {left} and {right}), so that for class \
                 probabilities near 1/2 the sign of the minimiser is lost"
            ),
            NotCalibrated::NotFallingAtZero { slope } => {
                write!(f, "it is convex with slope {slope} at 0, where it would have to fall")
            }
            NotCalibrated::WrongSign { eta } => write!(
                f,
                "at the class probability {eta} a score of the wrong sign reaches the minimal risk"
            ),
        }
    }
}

impl std::error::Error for NotCalibrated {}

/// The Psi-transform of a loss: `Psi(R - R*) <= R_L - R_L*` for the misclassification risk R and
/// the surrogate risk `R_L` of any score, `R*` and `R_L*` the least ones of all measurable functions.
///
/// It says nothing about excesses over the best function of a class: a linear function of the least
/// surrogate risk among linear ones may misclassify far more samples than another linear function.
///
/// With `C_eta(u) = eta L(u) + (1 - eta) L(-u)`, `H(eta) = inf C_eta` and `H-` the infimum over the
/// `u` of the wrong sign, `psi~(a) = H-((1+a)/2) - H((1+a)/2)`, and Psi is its convex biconjugate.
///
/// * A loss with [`MarginLoss::psi_transform`], or margin pursuit: the closed form, accurate to
///   some units of rounding of Psi itself, also near 0.
/// * Any other calibrated loss for which no score of the wrong sign is better than 0, as for every
///   convex one, and for the losses of Savage and the tangent: `H-(eta) = L(0)` and `psi~` is convex
///   itself, so that `Psi(a) = L(0) - H((1+a)/2)`, computed from values and slopes. The value is a
///   lower bound, within 1e-10 of Psi at `a` less `4e-15`: slopes do not show smaller differences of
///   classes.
/// * Any other calibrated loss: a convex lower bound of `psi~`, piecewise linear, within about 1e-9
///   of Psi, relative to it.
///
/// So [`inverse`](Self::inverse) is accurate to rounding or from above, never too small.
///
/// Psi may be infinite at 1: negatively divergent losses reward certainty without end.
///
/// The transform holds what it is given: a reference to a loss, or the loss itself, a box of it or
/// a shared loss, for a transform that outlives the place where it is made.
///
/// ```
/// use margins_calibration::{NotCalibrated, PsiTransform};
/// use margins_losses::{Logistic, MarginLoss};
///
/// fn make(loss: Box<dyn MarginLoss>) -> Result<PsiTransform<Box<dyn MarginLoss>>, NotCalibrated> {
///     PsiTransform::of(loss)
/// }
/// let owned = make(Box::new(Logistic))?;
/// assert_eq!(owned.value(0.5), PsiTransform::of(&Logistic)?.value(0.5));
/// # Ok::<(), NotCalibrated>(())
/// ```
///
/// Source: Bartlett, Jordan and McAuliffe, *Convexity, classification, and risk bounds*, JASA 101
/// (2006), definition 2 and theorems 1 and 2.
#[derive(Debug, Clone)]
pub struct PsiTransform<L> {
    loss: L,
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    Closed,
    MarginPursuit(MarginPursuitPsi),
    FromZero,
    Hull(Hull),
}

impl Form {
    fn of(loss: &dyn MarginLoss) -> Result<Self, NotCalibrated> {
        Ok(if let Some(exact) = margin_pursuit(loss) {
            Form::MarginPursuit(exact)
        } else if loss.is_convex() {
            check_at_zero(loss)?;
            if has_closed_form(loss) { Form::Closed } else { Form::FromZero }
        } else if has_closed_form(loss) && loss.is_classification_calibrated() {
            Form::Closed
        } else if loss.special_case().is_some() && !loss.is_classification_calibrated() {
            // The loss gives the value itself, also where no grid would find it.
            return Err(NotCalibrated::WrongSign { eta: 0.5_f64.next_up() });
        } else if from_zero::wrong_scores_are_no_better(loss) && check_at_zero(loss).is_ok() {
            Form::FromZero
        } else {
            Form::Hull(Hull::of(loss)?)
        })
    }
}

impl<L: MarginLoss> PsiTransform<L> {
    /// Returns the transform of a calibrated loss.
    ///
    /// # Errors
    /// [`NotCalibrated`] is the reason why the loss is not calibrated.
    pub fn of(loss: L) -> Result<Self, NotCalibrated> {
        let form = Form::of(&loss)?;
        Ok(PsiTransform { loss, form })
    }

    /// Returns `Psi(a)`, `a` taken into [0, 1]; NaN for NaN.
    pub fn value(&self, a: f64) -> f64 {
        let a = a.clamp(0.0, 1.0);
        if a.is_nan() {
            return a;
        }
        match &self.form {
            Form::MarginPursuit(exact) => exact.value(a),
            Form::Closed => {
                let computed = || from_zero::transform(&self.loss, a);
                self.loss.psi_transform(a).unwrap_or_else(computed)
            }
            Form::FromZero => from_zero::transform(&self.loss, a),
            Form::Hull(hull) => hull.value(a),
        }
    }

    /// Returns `Psi^{-1}(risk)`: the largest excess misclassification risk that an excess surrogate
    /// risk allows, both over all measurable functions; 0 for a risk of at most 0, 1 for one of at
    /// least `Psi(1)`; NaN for NaN.
    ///
    /// This is the smallest double at which [`value`](Self::value) reaches the risk; a risk below the
    /// normal numbers counts as the smallest of those.
    pub fn inverse(&self, risk: f64) -> f64 {
        search::inverse(|a| self.value(a), risk)
    }

    /// Returns `H(eta)`, the lowest conditional risk; `-inf` where the loss has no lower bound on
    /// it.
    ///
    /// # Errors
    /// [`Error::Parameter`]: `eta` is outside [0, 1].
    pub fn least_conditional_risk(&self, eta: f64) -> Result<f64, Error> {
        least_conditional_risk(&self.loss, eta)
    }

    /// Returns a bound on the misclassification risk above the Bayes error, from a surrogate risk and
    /// the minimum over all measurable functions (Bartlett et al., theorem 1). The minimal surrogate risk
    /// of a class of functions, such as the linear ones, is larger and gives no bound.
    ///
    /// # Errors
    /// [`Error::Parameter`]: a risk is not finite, or the surrogate risk is below the minimum.
    pub fn excess_misclassification(&self, risk: f64, least_of_all: f64) -> Result<f64, Error> {
        let least_of_all = OutOfRange::check(
            "the lowest surrogate risk of all functions",
            least_of_all,
            "finite",
            |_| true,
        )?;
        let requirement = "at least the lowest surrogate risk of all functions";
        let risk =
            OutOfRange::check("the surrogate risk", risk, requirement, |r| r >= least_of_all)?;
        Ok(self.inverse(risk - least_of_all))
    }
}

/// Returns the closed form of margin pursuit, if that is the loss.
fn margin_pursuit(loss: &dyn MarginLoss) -> Option<MarginPursuitPsi> {
    match loss.special_case() {
        Some(SpecialCase::MarginPursuit { gamma, scale }) => {
            MarginPursuitPsi::new(gamma, scale).ok()
        }
        _ => None,
    }
}

fn has_closed_form(loss: &dyn MarginLoss) -> bool {
    loss.psi_transform(0.5).is_some()
}

/// Refuses a loss with a kink at 0 or that does not fall there: near even odds no score is then better
/// than 0.
fn check_at_zero(loss: &dyn MarginLoss) -> Result<(), NotCalibrated> {
    let slope = loss.derivative(0.0);
    match kink_at_zero(loss) {
        Some((left, right)) => Err(NotCalibrated::KinkAtZero { left, right }),
        None if slope >= 0.0 => Err(NotCalibrated::NotFallingAtZero { slope }),
        None => Ok(()),
    }
}

/// Returns the conditional risk `C_eta(u) = eta L(u) + (1 - eta) L(-u)` of the score u where the
/// positive class has the probability `eta`, with 0 times infinity taken as 0.
///
/// ```
/// use margins_calibration::{conditional_risk, least_conditional_risk};
/// use margins_losses::{MarginLoss, MarginPursuit};
///
/// let loss = MarginPursuit::new(1.0, 1.0)?;
/// let best = loss.population_minimizer(0.7);
/// let least = least_conditional_risk(&loss, 0.7)?;
/// assert!((conditional_risk(&loss, 0.7, best)? - least).abs() < 1e-15);
/// assert!(conditional_risk(&loss, 0.7, best + 0.1)? > least);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`]: `eta` is outside [0, 1], or u is NaN.
pub fn conditional_risk(loss: &dyn MarginLoss, eta: f64, u: f64) -> Result<f64, Error> {
    if u.is_nan() {
        return Err(OutOfRange { parameter: "the score", value: u, requirement: "a number" }.into());
    }
    Ok(risk_at(loss, check_share(eta)?, u))
}

/// Returns `H(eta)`, the lowest conditional risk; `-inf` where the loss has no lower bound on it. For
/// margin pursuit it is a closed form.
///
/// # Errors
/// [`Error::Parameter`]: `eta` is outside [0, 1].
pub fn least_conditional_risk(loss: &dyn MarginLoss, eta: f64) -> Result<f64, Error> {
    let eta = check_share(eta)?;
    match margin_pursuit(loss) {
        Some(exact) => exact.least_conditional_risk(eta),
        None => {
            let rare = eta.min(1.0 - eta);
            let on_tail = tail::least_risk(loss, ((1.0 - rare) / rare).ln());
            Ok(on_tail.unwrap_or_else(|| least_risk_at(loss, eta, loss.population_minimizer(eta))))
        }
    }
}

fn check_share(eta: f64) -> Result<f64, OutOfRange> {
    OutOfRange::check("eta", eta, "in [0, 1]", |eta| (0.0..=1.0).contains(&eta))
}

/// Returns `C_eta(u)`, with 0 times infinity taken as 0.
fn risk_at(loss: &dyn MarginLoss, eta: f64, u: f64) -> f64 {
    let part = |share: f64, u: f64| if share == 0.0 { 0.0 } else { share * loss.value(u) };
    part(eta, u) + part(1.0 - eta, -u)
}

/// Returns `H(eta)` from a minimiser of the conditional risk.
fn least_risk_at(loss: &dyn MarginLoss, eta: f64, minimizer: f64) -> f64 {
    if eta == 0.0 || eta == 1.0 {
        return loss.lower_bound().unwrap_or(f64::NEG_INFINITY);
    }
    let risk = risk_at(loss, eta, minimizer);
    if risk.is_nan() { f64::NEG_INFINITY } else { risk }
}
