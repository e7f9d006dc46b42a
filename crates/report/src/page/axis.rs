//! The axes of charts and the labels of their ticks.

use margins_data::digits;

use super::number::{power_of_ten, short};

/// The properties of an axis.
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

/// The significant digits of places, and the most of them where fewer do not distinguish places.
const DIGITS: usize = 4;
const MOST_DIGITS: usize = 10;

/// The smallest share of their size by which places differ that an axis distinguishes.
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

    /// Returns the places that are named between these ends, at most so many unless they are categories.
    pub(super) fn ticks(&self, low: f64, high: f64, most: usize) -> Vec<f64> {
        let (least, largest) = (low - 1e-9 * (high - low), high + 1e-9 * (high - low));
        let is_shown = |at: &f64| (least..=largest).contains(at);
        if !self.names.is_empty() {
            return (0..self.names.len()).map(|k| k as f64).filter(is_shown).collect();
        }
        if self.is_whole {
            return multiples(low, high, most.max(12), Some(1.0));
        }
        if !self.is_log {
            return multiples(low, high, most, None);
        }
        if largest.floor() - least.ceil() >= 1.0 {
            return multiples(low, high, most, Some(1.0));
        }
        let decades = low.floor() as i32..=high.floor() as i32;
        let few = |mantissas: &[f64]| -> Vec<f64> {
            let all = decades.clone();
            let all = all.flat_map(|k| mantissas.iter().map(move |m| f64::from(k) + m.log10()));
            all.filter(is_shown).collect()
        };
        let all = [few(&[1.0, 2.0, 5.0]), few(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])];
        let found = all.into_iter().find(|ticks| (2..=most).contains(&ticks.len()));
        found.unwrap_or_else(|| {
            let values = multiples(10f64.powf(low), 10f64.powf(high), most, None);
            values.into_iter().map(f64::log10).collect()
        })
    }

    /// Returns the number of significant digits that distinguish the labels of these places.
    pub(super) fn digits(&self, ticks: &[f64]) -> usize {
        let tells = |digits: &usize| {
            let mut names: Vec<String> =
                ticks.iter().map(|&at| self.label_of(at, *digits)).collect();
            names.dedup();
            names.len() == ticks.len()
        };
        (DIGITS..MOST_DIGITS).find(tells).unwrap_or(MOST_DIGITS)
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
        if self.is_log {
            let is_power = (place - place.round()).abs() < 1e-9;
            return if is_power {
                power_of_ten(place)
            } else {
                digits::number(10f64.powf(place), digits)
            };
        }
        digits::number(place, digits)
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

/// Returns the multiples of 1, 2 or 5 times a power of ten between two ends, of the smallest step that
/// has at most so many, and at least `least_step`.
fn multiples(low: f64, high: f64, most: usize, least_step: Option<f64>) -> Vec<f64> {
    let room = 1e-9 * (high - low);
    let first = ((high - low) / most.max(1) as f64).log10().floor() as i32;
    let steps = (first..).flat_map(|power| [1.0, 2.0, 5.0].map(|factor| (factor, power)));
    let least = least_step.unwrap_or(0.0);
    let of = |(factor, power): (f64, i32)| {
        // Quotients by a power of ten round correctly, and 0 comes without rounding.
        let multiple = move |k: f64| match power {
            0.. => k * factor * 10f64.powi(power),
            _ => k * factor / 10f64.powi(-power),
        };
        let step = multiple(1.0);
        let (begin, end) = (((low - room) / step).ceil(), ((high + room) / step).floor());
        let count = (end - begin + 1.0).max(0.0) as usize;
        let is_few = step >= least && count <= most.max(1);
        // Adding 0 leaves no negative zero.
        is_few.then(|| (0..count).map(|k| multiple(begin + k as f64) + 0.0).collect())
    };
    steps.take(60).find_map(of).unwrap_or_default()
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
            let ticks = axis.ticks(low, high, 6);
            let digits = axis.digits(&ticks);
            let names: Vec<String> =
                ticks.into_iter().map(|at| axis.label_of(at, digits)).collect();
            assert!(
                names.len() > 2 && names.windows(2).all(|pair| pair[0] != pair[1]),
                "{names:?}"
            );
        }
        assert_eq!(Axis::new("error").digits(&[0.0, 0.5]), DIGITS);
    }

    #[test]
    fn ticks_are_round_numbers_and_powers_of_ten() {
        let names = |axis: Axis, low, high, most| -> Vec<String> {
            let ticks = axis.ticks(low, high, most);
            let digits = axis.digits(&ticks);
            ticks.into_iter().map(|at| axis.label_of(at, digits)).collect()
        };
        let (linear, log) = (Axis::new("margin"), Axis::log("rounds"));
        assert_eq!(names(linear, -2.0, 6.0, 6), ["-2", "0", "2", "4", "6"]);
        assert_eq!(names(linear, -0.31, 0.29, 6), ["-0.3", "-0.2", "-0.1", "0", "0.1", "0.2"]);
        assert_eq!(names(log, -0.2, 4.1, 6), ["1", "10", "100", "1000", "1e4"]);
        assert_eq!(names(log, -7.0, 1.0, 6), ["1e-6", "1e-4", "0.01", "1"]);
        assert_eq!(names(log, 1.2, 2.4, 7), ["20", "50", "100", "200"]);
        assert_eq!(names(Axis::whole("kernel", 3), 0.5, 3.5, 6), ["1", "2", "3"]);
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
}
