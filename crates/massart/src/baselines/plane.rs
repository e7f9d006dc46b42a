//! The halfspace with the lowest 0-1 error on a sample of the plane.

use std::cmp::Ordering;

use margins_optim::online::LinearClassifier;

use crate::cutting_planes::End;
use crate::{Error, LearnedHalfspace, SphereSample};

/// Returns a halfspace `w != 0` with the lowest error on a sample of two features, `sign(<w, x>) != y`
/// with sign(0) = +1, by weight: exact, in the time of sorting the angles of the n rows.
///
/// The direction of w turns once around the circle. A row x of it enters the halfspace where w is x
/// turned by a right angle clockwise, and leaves it behind the opposite direction, so that at most 2n
/// directions, and as many arcs between them, differ in their errors. Of several with the lowest
/// error the widest arc is chosen, and its middle returned, with norm 1; a direction with rows on its
/// boundary is returned only if it is better than every arc.
///
/// In the plane this is the learner of an error of opt + epsilon, opt the error of w*, that more
/// dimensions allow in exponential time only (section 1 of the [paper](crate)).
///
/// ```
/// use margins_data::Design;
/// use margins_massart::{SphereSample, baselines::plane};
///
/// let design = Design::from_rows(&[[1.0, 0.2], [0.5, -0.5], [-1.0, 0.3], [0.2, 1.0]])?;
/// let sample = SphereSample::new(&design, &[1.0, 1.0, -1.0, -1.0])?;
/// let found = plane::learn(&sample)?;
/// assert_eq!((found.error, sample.error(&found.classifier.coef)), (0.0, 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Plane`]: the sample has another number of features.
pub fn learn(sample: &SphereSample<'_>) -> Result<LearnedHalfspace, Error> {
    if sample.columns() != 2 {
        return Err(Error::Plane { columns: sample.columns() });
    }
    let (mut wrong, mut turns) = (0.0, Vec::new());
    for (row, x) in sample.points().design().samples().enumerate() {
        let (weight, is_positive) = (sample.weights()[row], sample.signs()[row] > 0.0);
        if weight == 0.0 {
            continue;
        }
        let [a, b] = [x.dot(&[1.0, 0.0]), x.dot(&[0.0, 1.0])];
        // The change of the wrong weight where the row enters.
        let change = if is_positive { -weight } else { weight };
        let mut starts_inside = true;
        if a != 0.0 || b != 0.0 {
            let enters = Turn { to: Direction::new([b, -a]), enters: true, change };
            let leaves = Turn { to: Direction::new([-b, a]), enters: false, change: -change };
            starts_inside = leaves.to.order(&enters.to).is_lt();
            turns.extend([enters, leaves]);
        }
        wrong += if starts_inside == is_positive { 0.0 } else { weight };
    }
    turns.sort_unstable_by(|one, other| one.to.order(&other.to));
    let places = places(&turns, wrong);
    // Sums of weights differ by rounding in the order of summation.
    let rounding = 1e-12 * sample.weights().iter().sum::<f64>();
    let lowest = places.iter().map(|place| place.wrong).fold(f64::INFINITY, f64::min);
    let best = places.iter().filter(|place| place.wrong <= lowest + rounding);
    let best = best.max_by(|one, other| one.width.total_cmp(&other.width));
    let coef = best.map_or(vec![1.0, 0.0], |place| place.w.to_vec());
    let error = sample.error(&coef);
    let classifier = LinearClassifier { intercept: 0.0, coef };
    Ok(LearnedHalfspace { classifier, error, end: End::Accepted, calls: places.len() })
}

/// A row that enters or leaves the halfspace, as w turns counterclockwise.
struct Turn {
    to: Direction,
    /// True if the row enters with w in this direction; false if it leaves behind it.
    enters: bool,
    /// The change of the weight that is wrong.
    change: f64,
}

/// A w, or the middle of an arc of them, with the weight that it gets wrong.
struct Place {
    w: [f64; 2],
    wrong: f64,
    /// The length of the chord of the arc, 0 of a single direction.
    width: f64,
}

/// Returns the directions of turns, which ascend, and the arcs behind them; `wrong` is the weight wrong
/// before the first one.
fn places(turns: &[Turn], mut wrong: f64) -> Vec<Place> {
    let groups: Vec<&[Turn]> =
        turns.chunk_by(|one, other| one.to.order(&other.to).is_eq()).collect();
    let mut places = Vec::with_capacity(2 * groups.len());
    for (at, group) in groups.iter().enumerate() {
        let of = |enters: bool| group.iter().filter(move |turn| turn.enters == enters);
        wrong += of(true).map(|turn| turn.change).sum::<f64>();
        places.push(Place { w: group[0].to.vector, wrong, width: 0.0 });
        wrong += of(false).map(|turn| turn.change).sum::<f64>();
        let next = groups[(at + 1) % groups.len()];
        let [[a, b], [c, d]] = [unit(group[0].to.vector), unit(next[0].to.vector)];
        // The middle of an arc of at most half of the circle: the sum of its ends is short near
        // half of it, and the chord, turned clockwise, near 0; both are along the middle.
        let w = unit([a + c + (d - b), b + d - (c - a)]);
        places.push(Place { w, wrong, width: (c - a).hypot(d - b) });
    }
    places
}

/// A vector of the plane that is not zero, with its place in the order of angles.
struct Direction {
    vector: [f64; 2],
    /// The eighth of the circle, counterclockwise from the first axis.
    eighth: u8,
    /// The ratio of the components, ascending in the eighth: a number and the rest that it rounds away.
    ratio: [f64; 2],
}

impl Direction {
    fn new(vector: [f64; 2]) -> Self {
        let [a, b] = vector;
        // Turned into the first quarter.
        let (quarter, u, v) = match (a > 0.0, b > 0.0) {
            (true, _) if b >= 0.0 => (0, a, b),
            (_, true) => (1, b, -a),
            (false, _) if a < 0.0 => (2, -a, -b),
            _ => (3, -b, a),
        };
        // The remainder of the division is exact, so that two numbers hold the ratio to twice the digits,
        // and multiples of one vector have the same.
        let ratio = |small: f64, large: f64| {
            let rounded = small / large;
            [rounded + 0.0, (-rounded).mul_add(large, small) / large + 0.0]
        };
        let (eighth, ratio) = if v <= u {
            (2 * quarter, ratio(v, u))
        } else {
            (2 * quarter + 1, ratio(u, v).map(|part| 0.0 - part))
        };
        Direction { vector, eighth, ratio }
    }

    fn order(&self, other: &Self) -> Ordering {
        let pairs = self.ratio.iter().zip(&other.ratio);
        let of_ratios = || pairs.map(|(one, other)| one.total_cmp(other));
        self.eighth
            .cmp(&other.eighth)
            .then_with(|| of_ratios().fold(Ordering::Equal, Ordering::then))
    }
}

fn unit(vector: [f64; 2]) -> [f64; 2] {
    let norm = vector[0].hypot(vector[1]);
    vector.map(|part| part / norm)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use margins_data::Design;
    use proptest::prelude::*;

    use super::*;

    /// Directions ascend counterclockwise, and multiples of one are equal.
    #[test]
    fn directions_are_in_the_order_of_their_angles() {
        let at = |angle: f64| Direction::new([angle.cos(), angle.sin()]);
        for i in 0..400 {
            let angle = f64::from(i) * TAU / 401.0;
            assert!(at(angle).order(&at(angle + 1e-9)).is_lt(), "{angle}");
        }
        for (a, b) in [(1, 0), (3, 1), (2, 2), (1, 3), (0, 1), (-1, 3), (-3, 1), (-1, 0), (-1, -3)]
        {
            let of = |length: f64| Direction::new([length * f64::from(a), length * f64::from(b)]);
            assert!(of(1.0).order(&of(3.0)).is_eq() && of(0.5).order(&of(7.0)).is_eq(), "{a} {b}");
            let (turned, next) = (Direction::new([f64::from(-a), f64::from(-b)]), of(1.0));
            assert!(turned.order(&next).is_ne());
        }
        // Neighbours, of which about half have ratios that round alike.
        let near = |k: u32| Direction::new([3.7, 1.9 + f64::from(k) * f64::EPSILON]);
        assert!((0..20).all(|k| near(k).order(&near(k + 1)).is_lt()));
        assert!((0..20).any(|k| near(k).ratio[0] == near(k + 1).ratio[0]));
    }

    proptest! {
        /// Brute force over all angles, and over the directions with rows on their boundary: rows on a grid are
        /// often on one line or opposite, so that sign(0) = +1 decides, and some are zero or without weight.
        #[test]
        fn no_direction_has_a_lower_error(
            rows in proptest::collection::vec(
                ((-3i8..4, -3i8..4), any::<bool>(), 0u8..4), 1..14,
            ),
            fractions: bool,
        ) {
            let points: Vec<[f64; 2]> =
                rows.iter().map(|((a, b), ..)| [f64::from(*a), f64::from(*b)]).collect();
            let signs: Vec<f64> =
                rows.iter().map(|(_, positive, _)| if *positive { 1.0 } else { -1.0 }).collect();
            let unit = if fractions { 0.1 } else { 1.0 };
            let mut weights: Vec<f64> =
                rows.iter().map(|(.., weight)| unit * f64::from(*weight)).collect();
            weights[0] += 1.0;
            let design = Design::from_rows(&points).unwrap();
            let sample = SphereSample::new(&design, &signs).unwrap().with_weights(weights).unwrap();
            let found = learn(&sample).unwrap();
            let steps = (0..2000).map(|i| (f64::from(i) + 0.3) * TAU / 2000.0);
            let around = steps.map(|angle| [angle.cos(), angle.sin()]);
            let on_boundary = points.iter().flat_map(|[a, b]| [[-b, *a], [*b, -a]]);
            let all = around.chain(on_boundary).filter(|w| *w != [0.0, 0.0]);
            let lowest = all.map(|w| sample.error(&w)).fold(f64::INFINITY, f64::min);
            prop_assert!((found.error - lowest).abs() < 1e-12, "{} {lowest}", found.error);
        }
    }

    /// The middle of the widest arc has the largest margin in angle; opposite rows of one class are both
    /// right on the boundary alone; three features are refused.
    #[test]
    fn ties_are_decided() {
        let learned = |rows: &[[f64; 2]], signs: &[f64]| {
            let design = Design::from_rows(rows).unwrap();
            learn(&SphereSample::new(&design, signs).unwrap()).unwrap()
        };
        let found = learned(&[[1.0, 1.0], [1.0, -1.0], [-5.0, 0.0]], &[1.0, 1.0, -1.0]);
        let w = &found.classifier.coef;
        assert!(found.error == 0.0 && (w[0] - 1.0).abs() < 1e-15 && w[1].abs() < 1e-15, "{w:?}");
        let found = learned(&[[1.0, 2.0], [-1.0, -2.0]], &[1.0, 1.0]);
        assert_eq!(found.error, 0.0);
        assert_eq!(found.classifier.coef[0] + 2.0 * found.classifier.coef[1], 0.0);
        assert_eq!(learned(&[[0.0, 0.0]], &[-1.0]).error, 1.0);
        let space = Design::from_rows(&[[1.0, 0.0, 0.0]]).unwrap();
        let refused = learn(&SphereSample::new(&space, &[1.0]).unwrap()).unwrap_err().to_string();
        let expected = "the search for the lowest 0-1 error is in the plane, and there are 3 features with \
                        the intercept: leave all but two out, or choose another learner";
        assert_eq!(refused, expected);
    }
}
