//! The axes of charts, and the names of places on them.

use plotters::coord::ranged1d::Ranged;
use plotters::coord::types::RangedCoordf64;

use margins_data::digits;

use super::number::{power_of_ten, short};

/// What an axis says.
#[derive(Clone, Copy)]
pub struct Axis {
    /// The words beside the axis.
    pub label: &'static str,
    /// True for a logarithmic axis.
    pub is_log: bool,
    /// The ends of the axis; by default those of the points.
    pub range: Option<(f64, f64)>,
    /// The names of the places 0, 1, 2, ..., where these are categories.
    pub names: &'static [&'static str],
    /// True if values are whole numbers, between which there is nothing to name.
    pub is_whole: bool,
    /// True if values are shares, so that the axis of equal ones goes from 0 to 1.
    pub are_shares: bool,
}

/// The smallest number that a logarithmic axis shows.
pub(super) const LEAST: f64 = 1e-18;

/// The significant digits of places, and the most of them where fewer do not tell places apart.
const DIGITS: usize = 4;
const MOST_DIGITS: usize = 10;

/// The part of their size by which places differ at least that an axis tells apart.
const LEAST_WIDTH: f64 = 1e-8;

impl Axis {
    /// Returns a linear axis as long as its points need.
    pub fn new(label: &'static str) -> Self {
        Axis { label, is_log: false, range: None, names: &[], is_whole: false, are_shares: false }
    }

    /// Returns a logarithmic axis as long as its points need.
    pub fn log(label: &'static str) -> Self {
        Axis { is_log: true, ..Self::new(label) }
    }

    /// Returns a linear axis from 0 to 1.
    pub fn share(label: &'static str) -> Self {
        Axis { range: Some((0.0, 1.0)), ..Self::new(label) }
    }

    /// Returns a linear axis of shares, as long as its points need.
    pub fn of_shares(label: &'static str) -> Self {
        Axis { are_shares: true, ..Self::new(label) }
    }

    /// Returns an axis of the whole numbers from 1 on.
    pub fn whole(label: &'static str, count: usize) -> Self {
        Axis { range: Some((0.5, count as f64 + 0.5)), is_whole: true, ..Self::new(label) }
    }

    /// Returns the most places that are named on an axis with these ends.
    pub(super) fn most_named(&self, low: f64, high: f64) -> usize {
        if self.is_whole { (high - low).round().clamp(1.0, 12.0) as usize } else { 6 }
    }

    /// Returns the places that are named between these ends.
    fn named(&self, low: f64, high: f64) -> Vec<f64> {
        RangedCoordf64::from(low..high).key_points(self.most_named(low, high))
    }

    /// Returns the number of significant digits that distinguish the labels between these ends.
    pub(super) fn digits(&self, low: f64, high: f64) -> usize {
        let tells = |digits: &usize| {
            let names = self.named(low, high).into_iter().map(|at| self.label_of(at, *digits));
            let mut names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
            let all = names.len();
            names.dedup();
            names.len() == all
        };
        (DIGITS..MOST_DIGITS).find(tells).unwrap_or(MOST_DIGITS)
    }

    /// Returns the width of the longest name of a place between these ends.
    fn longest(&self, low: f64, high: f64) -> u32 {
        let digits = self.digits(low, high);
        let length = |place: f64| self.label_of(place, digits).chars().count() as u32;
        let longest = self.named(low, high).into_iter().map(length).max();
        8 * longest.unwrap_or(0)
    }

    /// Returns the width in which the names of the places between these ends and the words beside them stand.
    pub(super) fn room(&self, low: f64, high: f64) -> u32 {
        u32::max(64, 28 + self.longest(low, high))
    }

    /// Returns the most places between these ends whose names stand beside each other in a width.
    pub(super) fn most_beside(&self, low: f64, high: f64, width: u32) -> usize {
        let room = u32::max(1, self.longest(low, high) + 24);
        (width / room).clamp(1, 5) as usize
    }

    pub(super) fn place(&self, x: f64) -> f64 {
        if self.is_log { x.max(LEAST).log10() } else { x }
    }

    /// Returns the name of a place, a number with so many significant digits.
    pub(super) fn label_of(&self, place: f64, digits: usize) -> String {
        if !self.names.is_empty() {
            let is_middle = place >= 0.0 && place.fract() == 0.0;
            let name = self.names.get(place as usize).filter(|_| is_middle);
            return name.copied().unwrap_or_default().to_owned();
        }
        if self.is_whole && (place - place.round()).abs() > 1e-9 {
            return String::new();
        }
        if self.is_log {
            return if digits > DIGITS {
                digits::number(10f64.powf(place), digits)
            } else {
                power_of_ten(place)
            };
        }
        // Ticks are sums of steps, so that 0 comes with rounding.
        let is_zero = place.abs() < 1e-15;
        digits::number(if is_zero { 0.0 } else { place }, digits)
    }

    /// Returns a value for reading.
    pub(super) fn value(&self, x: f64) -> String {
        let name = self.names.get(x.round().max(0.0) as usize);
        name.map_or_else(|| short(x), |name| (*name).to_owned())
    }

    /// Returns the places of the ends, which differ.
    pub(super) fn ends(&self, places: impl Iterator<Item = f64>) -> (f64, f64) {
        if let Some((low, high)) = self.range {
            return (self.place(low), self.place(high));
        }
        let start = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = places
            .filter(|x| x.is_finite())
            .fold(start, |(low, high), x| (low.min(x), high.max(x)));
        let (width, size) = (high - low, low.abs().max(high.abs()));
        let least = LEAST_WIDTH * if self.is_log { 1.0 } else { size };
        if width > least {
            (low - 0.04 * width, high + 0.04 * width)
        } else if self.are_shares || !low.is_finite() {
            (0.0, 1.0)
        } else {
            // A power of ten on each side, and not at the end, where its name would be cut.
            let beside = match size {
                _ if self.is_log => 1.04,
                0.0 => 0.5,
                size => 0.5 * size,
            };
            (low - beside, high + beside)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_on_short_axes_have_different_names() {
        for (axis, low, high) in [
            (Axis::new("objective"), 0.756_234_1, 0.756_234_9),
            (Axis::log("norm"), -4.701, -4.699),
            (Axis::new("coefficient"), -2e-5, 3e-5),
        ] {
            let digits = axis.digits(low, high);
            let names: Vec<String> =
                axis.named(low, high).into_iter().map(|at| axis.label_of(at, digits)).collect();
            assert!(
                names.len() > 2 && names.windows(2).all(|pair| pair[0] != pair[1]),
                "{names:?}"
            );
            let longest = names.iter().map(String::len).max().unwrap_or(0) as u32;
            assert!(axis.room(low, high) >= 8 * longest + 28, "{names:?}");
        }
        assert_eq!(Axis::new("error").digits(0.0, 0.5), DIGITS);
    }

    #[test]
    fn axes_of_equal_values_have_room_around_them() {
        let ends = |axis: Axis, places: &[f64]| axis.ends(places.iter().copied());
        for (axis, places, expected) in [
            (Axis::new("objective"), vec![0.5, 0.5 + 1e-12], (0.25, 0.75)),
            (Axis::new("objective"), vec![1e150], (0.5e150, 1.5e150)),
            (Axis::new("margin"), vec![0.0], (-0.5, 0.5)),
            (Axis::log("lambda"), vec![-2.0, -2.0 + 1e-12], (-3.04, -0.96)),
            (Axis::of_shares("error"), vec![0.0], (0.0, 1.0)),
            (Axis::of_shares("error"), vec![0.27, 0.27], (0.0, 1.0)),
            (Axis::new("margin"), vec![f64::NAN], (0.0, 1.0)),
        ] {
            let found = ends(axis, &places);
            let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
            let is_expected = is_near(found.0, expected.0) && is_near(found.1, expected.1);
            assert!(is_expected, "{places:?}: {found:?}");
        }
        let (low, high) = ends(Axis::new("objective"), &[0.5, 0.5 + 1e-7]);
        assert!(low > 0.4999 && high < 0.5001, "{low} to {high}");
    }

    /// Names at the bottom of a picture leave room between them, however many digits they take.
    #[test]
    fn long_names_beside_each_other_are_few() {
        let (low, high) = (0.01_f64.log10(), 0.010_000_01_f64.log10());
        assert_eq!(Axis::log("lambda").most_beside(low, high, 336), 3);
        assert_eq!(Axis::log("lambda").most_beside(-4.0, 0.0, 336), 5);
    }
}
