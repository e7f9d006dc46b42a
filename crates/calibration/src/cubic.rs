//! Real roots of `a u^3 + b u^2 + c u + d`.
//!
//! The case analysis is that of the discriminant (Holland 2019, appendix 6.3): one real root by
//! Cardano's formula, a double or triple root in closed form, three roots by Viete's trigonometric
//! form. Where the textbook formulas lose digits this module does otherwise:
//!
//! * the unknown is scaled by a power of two so that the product of the roots is near 1, and the
//!   coefficients by another so that the largest is near 1: nothing overflows, nothing of weight
//!   underflows;
//! * the sign of the discriminant is decided in twice the working precision;
//! * Cardano's square root takes the sign that adds;
//! * of three roots only the largest is taken from Viete's form, where it does not cancel; the
//!   other two come from the quadratic that is left, and their distance, when they are close, from
//!   the discriminant;
//! * every simple root is polished by Newton steps on a residual in twice the working precision.

use crate::Error;
use crate::double_double::DoubleDouble;
use margins_losses::OutOfRange;

/// At most three real roots, ascending and distinct.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Roots {
    values: [f64; 3],
    count: usize,
}

impl Roots {
    /// Returns the roots, ascending.
    pub fn as_slice(&self) -> &[f64] {
        &self.values[..self.count]
    }

    fn push(&mut self, root: f64) {
        self.values[self.count] = root;
        self.count += 1;
    }

    /// Returns the roots ascending, equal ones once.
    fn sorted(mut self) -> Self {
        self.values[..self.count].sort_by(f64::total_cmp);
        let mut distinct = Roots::default();
        for &root in self.as_slice() {
            // -0 and 0 are one root.
            if distinct.as_slice().last() != Some(&root) {
                distinct.push(root + 0.0);
            }
        }
        distinct
    }
}

/// Returns all real roots of `a u^3 + b u^2 + c u + d`, multiple ones once. A zero leading
/// coefficient makes it a quadratic, two a linear equation; a constant other than zero has no
/// roots.
///
/// Simple roots are right to a few units in the last place; of multiple and nearly multiple ones
/// that is true of the residual, relative to the sum of the absolute terms.
///
/// # Errors
/// A coefficient that is not finite; all of them zero, when every number is a root.
///
/// ```
/// use margins_calibration::cubic::getroot;
///
/// // (u - 1)(u - 2)(u + 4)
/// assert_eq!(getroot(1.0, 1.0, -10.0, 8.0)?.as_slice(), [-4.0, 1.0, 2.0]);
/// // (u - 1)^2 (u - 2)
/// assert_eq!(getroot(1.0, -4.0, 5.0, -2.0)?.as_slice(), [1.0, 2.0]);
/// assert!(getroot(0.0, 1.0, 0.0, 1.0)?.as_slice().is_empty());
/// # Ok::<(), margins_calibration::Error>(())
/// ```
pub fn getroot(a: f64, b: f64, c: f64, d: f64) -> Result<Roots, Error> {
    for (name, value) in [("a", a), ("b", b), ("c", c), ("d", d)] {
        OutOfRange::check(name, value, "a finite number", |_| true)?;
    }
    if [a, b, c, d] == [0.0; 4] {
        return Err(OutOfRange {
            parameter: "every coefficient",
            value: 0.0,
            requirement: "other than 0 for one of them at least",
        }
        .into());
    }
    let mut roots = Roots::default();
    if d == 0.0 {
        // One root is 0, the others those of a u^2 + b u + c.
        roots.push(0.0);
        if [a, b, c] != [0.0; 3] {
            let rest = getroot(0.0, a, b, c)?;
            rest.as_slice().iter().for_each(|&root| roots.push(root));
        }
        return Ok(roots.sorted());
    }
    let (polynomial, scale) = Cubic { a, b, c, d }.balanced();
    for &x in polynomial.roots().as_slice() {
        let root = times_power_of_two(x, scale);
        // A root beyond the range of doubles is none that could be returned.
        if root.is_finite() {
            roots.push(root);
        }
    }
    Ok(roots.sorted())
}

/// Returns `x 2^power` where the power itself may be out of range.
fn times_power_of_two(x: f64, power: i32) -> f64 {
    let half = power / 2;
    x * 2f64.powi(half) * 2f64.powi(power - half)
}

/// Returns the exponent `e` with `|x|` in [2^e, 2^(e+1)), subnormal numbers included; `None` for 0.
fn exponent(x: f64) -> Option<i32> {
    if x == 0.0 {
        return None;
    }
    let biased = |x: f64| ((x.to_bits() >> 52) & 0x7ff) as i32;
    Some(if x.is_normal() { biased(x) - 1023 } else { biased(x * 2f64.powi(64)) - 1023 - 64 })
}

#[derive(Debug, Clone, Copy)]
struct Cubic {
    a: f64,
    b: f64,
    c: f64,
    d: f64,
}

impl Cubic {
    /// Returns the polynomial in `x`, `u = 2^scale x`, with coefficients of size at most 1 and, for
    /// a true cubic, a product of roots of size near 1.
    fn balanced(self) -> (Cubic, i32) {
        let coefficients = [self.a, self.b, self.c, self.d];
        let degrees = [3, 2, 1, 0];
        // Balance the leading coefficient that is there against the constant one.
        let leading = (0..3).find(|&k| coefficients[k] != 0.0);
        let scale = match (leading.map(|k| (k, exponent(coefficients[k]))), exponent(self.d)) {
            (Some((k, Some(top))), Some(bottom)) => (bottom - top) / degrees[k],
            _ => 0,
        };
        let exponents =
            (0..4).filter_map(|k| Some(exponent(coefficients[k])? + scale * degrees[k]));
        let largest = exponents.max().unwrap_or(0);
        let scaled = |k: usize| times_power_of_two(coefficients[k], scale * degrees[k] - largest);
        (Cubic { a: scaled(0), b: scaled(1), c: scaled(2), d: scaled(3) }, scale)
    }

    /// Returns the value in twice the working precision, and the derivative.
    fn evaluate(&self, x: f64) -> (f64, f64) {
        let x2 = DoubleDouble::from(x);
        let horner = |high: DoubleDouble, next: f64| high * x2 + DoubleDouble::from(next);
        let value = horner(horner(horner(self.a.into(), self.b), self.c), self.d);
        (value.high, (3.0 * self.a * x + 2.0 * self.b) * x + self.c)
    }

    /// Returns the root after Newton steps, which are taken while they make the residual smaller.
    fn polished(&self, mut x: f64) -> f64 {
        const MOST_STEPS: usize = 4;
        let (mut value, mut slope) = self.evaluate(x);
        for _ in 0..MOST_STEPS {
            let next = x - value / slope;
            if !next.is_finite() || next == x {
                break;
            }
            let (next_value, next_slope) = self.evaluate(next);
            if next_value.abs() >= value.abs() {
                break;
            }
            (x, value, slope) = (next, next_value, next_slope);
        }
        x
    }

    fn roots(&self) -> Roots {
        if self.a == 0.0 { self.quadratic_roots() } else { self.cubic_roots() }
    }

    fn quadratic_roots(&self) -> Roots {
        let (b, c, d) = (self.b, self.c, self.d);
        let mut roots = Roots::default();
        if b == 0.0 {
            if c != 0.0 {
                roots.push(-d / c);
            }
            return roots;
        }
        let square = DoubleDouble::from(c) * DoubleDouble::from(c);
        let product = 4.0 * (DoubleDouble::from(b) * DoubleDouble::from(d));
        let discriminant = (square - product).high;
        if discriminant == 0.0 {
            roots.push(-c / (2.0 * b));
        } else if discriminant > 0.0 {
            // The sum that does not cancel; the other root from the product of both.
            let q = -0.5 * (c + discriminant.sqrt().copysign(c));
            roots.push(self.polished(q / b));
            roots.push(self.polished(d / q));
        }
        roots
    }

    /// Returns the discriminant `18abcd - 4b^3 d + b^2 c^2 - 4ac^3 - 27a^2 d^2`, and 0 where it is
    /// within the rounding of its terms in twice the working precision.
    fn discriminant(&self) -> f64 {
        const RESOLUTION: f64 = 1e-29;
        let [a, b, c, d] = [self.a, self.b, self.c, self.d].map(DoubleDouble::from);
        let (ad, bc) = (a * d, b * c);
        let terms = [
            18.0 * (ad * bc),
            -4.0 * (b * b * b * d),
            bc * bc,
            -4.0 * (a * c * c * c),
            -27.0 * (ad * ad),
        ];
        let size: f64 = terms.iter().map(|term| term.high.abs()).sum();
        let sum = terms.into_iter().fold(DoubleDouble::from(0.0), |sum, term| sum + term).high;
        if sum.abs() <= RESOLUTION * size { 0.0 } else { sum }
    }

    fn cubic_roots(&self) -> Roots {
        let discriminant = self.discriminant();
        let mut roots = Roots::default();
        if discriminant < 0.0 {
            roots.push(self.polished(self.cardano()));
        } else if discriminant > 0.0 {
            let largest = self.polished(self.largest_of_three());
            roots.push(largest);
            for x in self.other_two(largest, discriminant) {
                roots.push(self.polished(x));
            }
        } else {
            self.multiple_roots(&mut roots);
        }
        roots
    }

    /// Returns `b^2 - 3ac` in twice the working precision.
    fn delta_0(&self) -> DoubleDouble {
        let [a, b, c] = [self.a, self.b, self.c].map(DoubleDouble::from);
        b * b - 3.0 * (a * c)
    }

    /// Returns `2b^3 - 9abc + 27a^2 d`.
    fn delta_1(&self) -> f64 {
        let [a, b, c, d] = [self.a, self.b, self.c, self.d].map(DoubleDouble::from);
        (2.0 * (b * b * b) - 9.0 * (a * b * c) + 27.0 * (a * a * d)).high
    }

    /// Returns the one real root.
    fn cardano(&self) -> f64 {
        let (delta_0, delta_1) = (self.delta_0().high, self.delta_1());
        let root = (delta_1 * delta_1 - 4.0 * delta_0 * delta_0 * delta_0).max(0.0).sqrt();
        let cube = 0.5 * (delta_1 + root.copysign(delta_1));
        let c = cube.cbrt();
        let from_cardano = -(self.b + c + delta_0 / c) / (3.0 * self.a);
        // Cancellation can leave nothing of a root much smaller than the complex pair. The linear
        // part of the polynomial then has it, and Newton on the reciprocal does not lose it.
        let from_linear = -self.d / self.c;
        let residual = |x: f64| {
            let size = (self.a * x * x * x).abs() + (self.b * x * x).abs() + (self.c * x).abs();
            self.evaluate(x).0.abs() / (size + self.d.abs())
        };
        if from_linear.is_finite() && residual(from_linear) < residual(from_cardano) {
            from_linear
        } else {
            from_cardano
        }
    }

    /// Returns the largest in size of three real roots, by Viete's form: the one on the far side of
    /// the mean `-b/(3a)`, where nothing cancels.
    fn largest_of_three(&self) -> f64 {
        let (delta_0, delta_1) = (self.delta_0().high.max(0.0), self.delta_1());
        let k = delta_0.sqrt();
        let cosine = (-delta_1 / (2.0 * delta_0 * k)).clamp(-1.0, 1.0);
        // With b/a > 0 the largest root is the most negative one: mirror the polynomial.
        let sign = if (self.b < 0.0) == (self.a < 0.0) { -1.0 } else { 1.0 };
        let orientation = sign * self.a.signum();
        let angle = (orientation * cosine).acos() / 3.0;
        (-self.b + orientation * 2.0 * k * angle.cos()) / (3.0 * self.a)
    }

    /// Returns the two roots beside the largest of three.
    fn other_two(&self, largest: f64, discriminant: f64) -> [f64; 2] {
        // a x^2 + e x + f, from the constant end as is stable for the largest root.
        let f = -self.d / largest;
        let e = (f - self.c) / largest;
        let square = e * e - 4.0 * self.a * f;
        if square > 1e-6 * e * e {
            let q = -0.5 * (e + square.sqrt().copysign(e));
            return [q / self.a, f / q];
        }
        // discriminant = (a p'(largest) (x_2 - x_3))^2.
        let slope = self.evaluate(largest).1;
        let half = 0.5 * (discriminant.sqrt() / (self.a * slope)).abs();
        let middle = -0.5 * e / self.a;
        [middle - half, middle + half]
    }

    /// Adds a triple root, or a double and a simple one.
    fn multiple_roots(&self, roots: &mut Roots) {
        let [a, b, c, d] = [self.a, self.b, self.c, self.d].map(DoubleDouble::from);
        let delta_0 = self.delta_0().high;
        let size = self.b * self.b + (3.0 * self.a * self.c).abs();
        if delta_0.abs() <= 1e-14 * size || size == 0.0 {
            roots.push(-self.b / (3.0 * self.a));
            return;
        }
        roots.push((9.0 * (a * d) - b * c).high / (2.0 * delta_0));
        let numerator = 4.0 * (a * b * c) - 9.0 * (a * a * d) - b * b * b;
        roots.push(self.polished(numerator.high / (self.a * delta_0)));
    }
}
