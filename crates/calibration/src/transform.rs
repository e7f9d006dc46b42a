//! The Psi-transform of any loss.

use margins_losses::{MarginLoss, kink_at_zero};
use std::fmt;

use crate::{Error, MarginPursuitPsi};

/// Why a surrogate guarantee for this loss says nothing about misclassification.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum NotCalibrated {
    /// A convex loss with a kink at 0 (Bartlett, Jordan and McAuliffe 2006, theorem 2).
    KinkAtZero {
        /// Slope from the left.
        left: f64,
        /// Slope from the right.
        right: f64,
    },
    /// A convex loss that does not fall at 0 (same theorem).
    NotFallingAtZero {
        /// Slope at 0.
        slope: f64,
    },
    /// A loss without convexity for which a wrong sign is as good as a right one at this class
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
                "at the class probability {eta} a score of the wrong sign reaches the least risk"
            ),
        }
    }
}

impl std::error::Error for NotCalibrated {}

/// The Psi-transform of a loss: `Psi(R - R*) <= R_L - R_L*` for the misclassification risk R and the
/// surrogate risk `R_L` of any score.
///
/// With `C_eta(u) = eta L(u) + (1 - eta) L(-u)`, `H(eta) = inf C_eta` and `H-` the infimum over the
/// `u` of the wrong sign, `psi~(a) = H-((1+a)/2) - H((1+a)/2)`, and Psi is its convex biconjugate.
///
/// * A loss with [`MarginLoss::psi_transform`], or margin pursuit: the closed form.
/// * A convex calibrated loss: `psi~` is convex itself and `H-(eta) = L(0)`, so
///   `Psi(a) = L(0) - H((1+a)/2)` with the loss's population minimiser. The error is a few units of
///   rounding of `L(0)`, absolute.
/// * Any other calibrated loss: `psi~` on a grid of [`Self::GRID`] cells and its lower convex hull,
///   linear in between; the error is at most the sag of psi~ within a cell, of the order 1e-6 for
///   losses with a bounded second derivative.
///
/// Psi may be infinite at 1: negatively divergent losses reward certainty without end.
///
/// Source: Bartlett, Jordan and McAuliffe, *Convexity, classification, and risk bounds*, JASA 101
/// (2006), definition 2 and theorems 1 and 2.
#[derive(Debug)]
pub struct PsiTransform<'a> {
    loss: &'a dyn MarginLoss,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Closed,
    MarginPursuit(MarginPursuitPsi),
    Convex,
    /// Vertices of the lower convex hull of psi~, ascending.
    Hull(Vec<(f64, f64)>),
}

impl<'a> PsiTransform<'a> {
    /// Cells of the grid for losses without convexity.
    pub const GRID: usize = 2000;

    /// The transform of a calibrated loss.
    ///
    /// # Errors
    /// The reason why the loss is not calibrated.
    pub fn of(loss: &'a dyn MarginLoss) -> Result<Self, NotCalibrated> {
        let form = if let Some(exact) = margin_pursuit(loss) {
            Form::MarginPursuit(exact)
        } else if loss.is_convex() {
            check_convex(loss)?;
            if loss.psi_transform(0.5).is_some() { Form::Closed } else { Form::Convex }
        } else {
            Form::Hull(hull(loss)?)
        };
        Ok(PsiTransform { loss, form })
    }

    /// `Psi(a)`, `a` taken into [0, 1]; NaN for NaN.
    pub fn value(&self, a: f64) -> f64 {
        let a = a.clamp(0.0, 1.0);
        if a.is_nan() {
            return a;
        }
        match &self.form {
            Form::MarginPursuit(exact) => exact.value(a),
            Form::Closed => {
                self.loss.psi_transform(a).unwrap_or_else(|| convex_transform(self.loss, a))
            }
            Form::Convex => convex_transform(self.loss, a),
            Form::Hull(vertices) => interpolate(vertices, a),
        }
    }

    /// `Psi^{-1}(risk)`: the largest excess misclassification risk that an excess surrogate risk
    /// allows; 0 for a risk of at most 0, 1 for one of at least `Psi(1)`; NaN for NaN.
    pub fn inverse(&self, risk: f64) -> f64 {
        if let Form::MarginPursuit(exact) = &self.form {
            return exact.inverse(risk);
        }
        if risk.is_nan() {
            return risk;
        }
        if risk <= 0.0 {
            return 0.0;
        }
        if risk >= self.value(1.0) {
            return 1.0;
        }
        // Bisect on the logarithm first, as the solution may be tiny, then on the number itself.
        let (mut low, mut high) = (0.0f64, 1.0f64);
        loop {
            let middle = if low == 0.0 { high * 1e-3 } else { low + 0.5 * (high - low) };
            if middle <= low || middle >= high || high < f64::MIN_POSITIVE {
                return high;
            }
            if self.value(middle) <= risk {
                low = middle;
            } else {
                high = middle;
            }
        }
    }

    /// `H(eta)`, the least conditional risk; `-inf` where the loss has no lower bound on it.
    ///
    /// # Errors
    /// An `eta` outside [0, 1].
    pub fn least_conditional_risk(&self, eta: f64) -> Result<f64, Error> {
        let eta = Error::check("eta", eta, "in [0, 1]", |eta| (0.0..=1.0).contains(&eta))?;
        Ok(least_risk(self.loss, eta))
    }

    /// The misclassification risk that is certain from a surrogate risk and the least surrogate risk
    /// possible: at most the Bayes error plus this (Bartlett et al., theorem 1).
    ///
    /// # Errors
    /// Risks that are not finite, or a surrogate risk below the least one.
    pub fn excess_misclassification(&self, risk: f64, least_risk: f64) -> Result<f64, Error> {
        let least_risk = Error::check("the least surrogate risk", least_risk, "finite", |_| true)?;
        let requirement = "at least the least surrogate risk";
        let risk = Error::check("the surrogate risk", risk, requirement, |r| r >= least_risk)?;
        Ok(self.inverse(risk - least_risk))
    }
}

/// The closed form of margin pursuit, known by name and parameters as a model file knows it.
fn margin_pursuit(loss: &dyn MarginLoss) -> Option<MarginPursuitPsi> {
    match (loss.name(), loss.parameters().as_slice()) {
        ("margin-pursuit", [("gamma", gamma), ("scale", scale)]) => {
            MarginPursuitPsi::new(*gamma, *scale).ok()
        }
        _ => None,
    }
}

fn check_convex(loss: &dyn MarginLoss) -> Result<(), NotCalibrated> {
    let slope = loss.derivative(0.0);
    match kink_at_zero(loss) {
        Some((left, right)) => Err(NotCalibrated::KinkAtZero { left, right }),
        None if slope >= 0.0 => Err(NotCalibrated::NotFallingAtZero { slope }),
        None => Ok(()),
    }
}

/// `C_eta(u)`, with 0 times infinity taken as 0.
fn conditional_risk(loss: &dyn MarginLoss, eta: f64, u: f64) -> f64 {
    let part = |share: f64, u: f64| if share == 0.0 { 0.0 } else { share * loss.value(u) };
    part(eta, u) + part(1.0 - eta, -u)
}

fn least_risk(loss: &dyn MarginLoss, eta: f64) -> f64 {
    if eta == 0.0 || eta == 1.0 {
        return loss.lower_bound().unwrap_or(f64::NEG_INFINITY);
    }
    let u = loss.population_minimizer(eta);
    let risk = conditional_risk(loss, eta, u);
    if risk.is_nan() { f64::NEG_INFINITY } else { risk }
}

fn convex_transform(loss: &dyn MarginLoss, a: f64) -> f64 {
    (loss.value(0.0) - least_risk(loss, 0.5 * (1.0 + a))).max(0.0)
}

/// The lower convex hull of psi~ on the grid.
fn hull(loss: &dyn MarginLoss) -> Result<Vec<(f64, f64)>, NotCalibrated> {
    let mut vertices: Vec<(f64, f64)> = vec![(0.0, 0.0)];
    for k in 1..=PsiTransform::GRID {
        let a = k as f64 / PsiTransform::GRID as f64;
        let eta = 0.5 * (1.0 + a);
        let gap = least_wrong_risk(loss, eta) - least_risk(loss, eta);
        if gap <= 1e-12 * loss.value(0.0).abs().max(1.0) {
            return Err(NotCalibrated::WrongSign { eta });
        }
        // Keep the chain convex: a vertex above the chord of its neighbours goes.
        while let [.., (x0, y0), (x1, y1)] = vertices[..] {
            if (y1 - y0) * (a - x0) < (gap - y0) * (x1 - x0) {
                break;
            }
            vertices.pop();
        }
        vertices.push((a, gap));
    }
    Ok(vertices)
}

/// `H-(eta)` for `eta > 1/2`: the infimum of the conditional risk over `u <= 0`, by a scan on a
/// logarithmic grid and golden section around its best point.
fn least_wrong_risk(loss: &dyn MarginLoss, eta: f64) -> f64 {
    const STEPS: i32 = 400;
    let at = |k: i32| -1e-6 * 10f64.powf(f64::from(k) * 12.0 / f64::from(STEPS));
    let risk = |u: f64| {
        let risk = conditional_risk(loss, eta, u);
        if risk.is_nan() { f64::INFINITY } else { risk }
    };
    let best = (0..=STEPS).min_by(|&i, &j| risk(at(i)).total_cmp(&risk(at(j)))).unwrap_or(0);
    let (left, right) = (at((best + 1).min(STEPS)), if best == 0 { 0.0 } else { at(best - 1) });
    risk(0.0).min(golden_section(risk, left, right))
}

/// The least value that golden section finds of a function with one minimum in [low, high].
fn golden_section(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    const STEPS: usize = 60;
    let mut x = high - RATIO * (high - low);
    let mut y = low + RATIO * (high - low);
    let (mut fx, mut fy) = (f(x), f(y));
    for _ in 0..STEPS {
        if fx <= fy {
            (high, y, fy) = (y, x, fx);
            x = high - RATIO * (high - low);
            fx = f(x);
        } else {
            (low, x, fx) = (x, y, fy);
            y = low + RATIO * (high - low);
            fy = f(y);
        }
    }
    fx.min(fy)
}

fn interpolate(vertices: &[(f64, f64)], a: f64) -> f64 {
    let after = vertices.partition_point(|&(x, _)| x <= a);
    match (vertices.get(after.wrapping_sub(1)), vertices.get(after)) {
        (Some(&(x0, y0)), Some(&(x1, y1))) => y0 + (y1 - y0) * (a - x0) / (x1 - x0),
        (Some(&(_, y)), None) | (None, Some(&(_, y))) => y,
        (None, None) => f64::NAN,
    }
}
