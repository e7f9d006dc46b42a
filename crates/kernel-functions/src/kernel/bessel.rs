//! The Bessel kernel, and the Bessel function in it.

use std::f64::consts::PI;

use margins_data::Sample;

use super::{check, positive};
use crate::{Block, Error, Kernel};

/// The Bessel kernel `(Gamma(V + 1) (2/t)^V J_V(t))^degree` of `t = sigma ||x - z||`, with the Bessel
/// function `J_V` of the first kind whose order is V, as kernlab's `besseldot`. It is 1 at `t = 0`,
/// and `sin(t)/t` for the order 1/2 and the degree 1.
///
/// At degree 1 it is the characteristic function of the uniform distribution on the sphere in
/// `2 V + 2` dimensions, so it is positive semidefinite for at most `2 V + 2` features (Schoenberg,
/// *Metric spaces and completely monotone functions*, 1938). Samples of more features are refused.
///
/// ```
/// use margins_data::Sample;
/// use margins_kernel_functions::{Bessel, Kernel};
///
/// let kernel = Bessel::new(2.0, 0.5, 1.0)?;
/// let value = kernel.value(&Sample::Dense(&[1.0, 0.0]), &Sample::Dense(&[0.0, 0.0]));
/// assert!((value - 2f64.sin() / 2.0).abs() < 1e-15);
/// # Ok::<(), margins_kernel_functions::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bessel {
    sigma: f64,
    order: f64,
    degree: i32,
}

/// The largest order.
const LARGEST_ORDER: f64 = 100.0;

impl Bessel {
    /// Makes the kernel of this width, order and degree.
    ///
    /// # Errors
    /// A sigma that is not positive, an order that is not a number from 0 to 100, a degree that is not
    /// a whole number from 1 to 1000.
    pub fn new(sigma: f64, order: f64, degree: f64) -> Result<Self, Error> {
        let is_order = |x: f64| (0.0..=LARGEST_ORDER).contains(&x);
        Ok(Bessel {
            sigma: positive("bessel", "sigma", sigma)?,
            order: check("bessel", "order", order, "a number from 0 to 100", is_order)?,
            degree: super::degree("bessel", degree)?,
        })
    }

    /// Returns true if the kernel is positive semidefinite for samples of so many features.
    fn takes(&self, features: usize) -> bool {
        features as f64 <= 2.0 * self.order + 2.0
    }

    /// Returns NaN, which every caller refuses, for a distance that is not finite.
    fn of_distance(&self, distance: f64) -> f64 {
        if distance.is_finite() {
            normalized_bessel(self.order, self.sigma * distance).powi(self.degree)
        } else {
            f64::NAN
        }
    }
}

impl Kernel for Bessel {
    fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
        if self.takes(x.features()) { self.of_distance(x.distance(z)) } else { f64::NAN }
    }
    fn name(&self) -> &str {
        "bessel"
    }
    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("sigma", self.sigma), ("order", self.order), ("degree", self.degree.into())]
    }
    fn is_positive_semidefinite(&self) -> bool {
        true
    }
    fn refusal(&self, x: &Sample<'_>) -> Option<String> {
        let p = x.features();
        let order = 0.5 * p as f64 - 1.0;
        let advice = if order <= LARGEST_ORDER {
            format!("Set order={order} or more.")
        } else {
            "Take another kernel, such as gaussian.".to_owned()
        };
        (!self.takes(p)).then(|| {
            format!(
                "the order {} is positive semidefinite for at most {} features, and these are {p}. \
                 {advice}",
                self.order,
                (2.0 * self.order + 2.0).floor()
            )
        })
    }
    fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
        if self.takes(block.features()) {
            block.distances(out);
            out.iter_mut().for_each(|value| *value = self.of_distance(*value));
        } else {
            out.fill(f64::NAN);
        }
    }
}

/// Returns `Gamma(V + 1) (2/t)^V J_V(t)` for the order V, from 0 to 100, and t of at least 0: by the
/// power series where its terms decrease, by recurrence in the order, and by Hankel's expansion
/// where t is large. The error is below 1e-14.
fn normalized_bessel(order: f64, t: f64) -> f64 {
    let square = 0.25 * t * t;
    if square <= order + 1.0 {
        power_series(order, square)
    } else if t <= (2.0 * order * order).max(25.0) {
        recurrence(order, t)
    } else if t < f64::INFINITY {
        hankel(order, t)
    } else {
        0.0
    }
}

/// Returns `sum_k (-t^2/4)^k / (k! (V + 1) ... (V + k))`.
fn power_series(order: f64, square: f64) -> f64 {
    let (mut term, mut sum, mut k) = (1.0f64, 1.0, 1.0);
    while term.abs() > 1e-17 {
        term *= -square / (k * (order + k));
        sum += term;
        k += 1.0;
    }
    sum
}

/// Runs `J_(v-1) = (2 v/t) J_v - J_(v+1)` down from an order where J is negligible (Miller's
/// algorithm). Neumann's expansion `(t/2)^V = sum_k (V + 2k) Gamma(V + k)/k! J_(V+2k)(t)` gives the
/// factor; it is summed in nested form, in which no coefficient overflows.
fn recurrence(order: f64, t: f64) -> f64 {
    let negligible = (t - order).max(0.0) + 13.0 * t.cbrt() + 20.0;
    let (mut above, mut at, mut sum) = (0.0, 1e-280, 0.0);
    for k in (1..=(0.5 * negligible).ceil() as usize).rev() {
        let k = k as f64;
        let twice = order + 2.0 * k;
        // The coefficient of the order V + 2k over the coefficient before it.
        let ratio = if k == 1.0 { twice } else { twice * (order + k - 1.0) / ((twice - 2.0) * k) };
        sum = (sum + at) * ratio;
        let between = 2.0 * twice / t * at - above;
        (above, at) = (between, 2.0 * (twice - 1.0) / t * between - at);
    }
    at / (at + sum)
}

/// Returns Hankel's asymptotic expansion in powers of `1/t`.
fn hankel(order: f64, t: f64) -> f64 {
    let (mut term, mut cosine, mut sine) = (1.0f64, 1.0, 0.0);
    for k in 1..60u8 {
        let odd = 2.0 * f64::from(k) - 1.0;
        term *= (4.0 * order * order - odd * odd) / (8.0 * t * f64::from(k));
        let signed = if k & 2 == 0 { term } else { -term };
        if k & 1 == 0 {
            cosine += signed;
        } else {
            sine += signed;
        }
        if term.abs() < 1e-17 {
            break;
        }
    }
    let angle = t - (0.5 * order + 0.25) * PI;
    let size = ln_gamma(order + 1.0) + order * (2.0 / t).ln() + 0.5 * (2.0 / (PI * t)).ln();
    size.exp() * (cosine * angle.cos() - sine * angle.sin())
}

/// Returns the logarithm of the gamma function of a number of at least 1, by Stirling's series from
/// 15 on.
fn ln_gamma(x: f64) -> f64 {
    let (mut at, mut shift) = (x, 1.0);
    while at < 15.0 {
        shift *= at;
        at += 1.0;
    }
    let s = 1.0 / (at * at);
    let tail = 1.0 / 360.0 - s * (1.0 / 1260.0 - s * (1.0 / 1680.0 - s / 1188.0));
    (at - 0.5) * at.ln() - at + 0.5 * (2.0 * PI).ln() + (1.0 / 12.0 - s * tail) / at - shift.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values in forty decimal digits, rounded, one for each form on both sides of its limits.
    #[test]
    fn the_bessel_function_has_its_values() {
        for (order, t, want) in [
            (0.0, 1.5, 0.511_827_671_735_918_1),
            (0.0, 12.25, 0.100_930_610_510_515_1),
            (0.0, 80.0, -0.069_742_165_512_210_02),
            (1.0, 3.0, 0.226_039_305_683_957_64),
            (1.0, 20.5, 0.013_293_140_311_550_804),
            (1.0, 30.0, -0.007_916_737_507_774_862),
            (2.25, 7.5, -0.036_315_365_298_890_09),
            (2.25, 40.0, -0.000_143_898_544_305_859_77),
            (5.0, 6.25, 0.149_834_369_340_805_9),
            (20.0, 15.0, 0.056_466_513_802_329_87),
            (20.0, 100.0, 1.587_218_792_833_405_3e-17),
        ] {
            let value = normalized_bessel(order, t);
            assert!((value - want).abs() <= 1e-15, "{order} {t}: {value} {want}");
        }
    }

    /// `J_(V-1) + J_(V+1) = (2 V/t) J_V`, for orders and arguments of every form.
    #[test]
    fn three_orders_satisfy_the_recurrence() {
        for order in [1.0, 1.5, 2.3, 7.0, 24.8, 99.0] {
            for k in -30..60 {
                let t = 1.25f64.powi(k);
                let of = |order| normalized_bessel(order, t);
                let above = 0.25 * t * t / (order * (order + 1.0)) * of(order + 1.0);
                let (sum, at) = (of(order - 1.0) + above, of(order));
                let scale = 1.0 + 0.25 * t * t / (order * (order + 1.0));
                assert!((sum - at).abs() <= 3e-14 * scale, "{order} {t}: {sum} {at}");
            }
        }
    }

    #[test]
    fn half_orders_are_elementary() {
        for k in -30..80 {
            let t = 1.25f64.powi(k);
            let half = normalized_bessel(0.5, t);
            assert!((half - t.sin() / t).abs() <= 1e-14, "{t}: {half}");
            let next = normalized_bessel(1.5, t);
            let want = 3.0 * (t.sin() - t * t.cos()) / (t * t * t);
            assert!((next - want).abs() <= 1e-14 + 1e-15 / (t * t * t), "{t}: {next} {want}");
        }
        assert_eq!(
            (normalized_bessel(3.0, 0.0), normalized_bessel(3.0, f64::INFINITY)),
            (1.0, 0.0)
        );
    }
}
