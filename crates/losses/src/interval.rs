//! Closed intervals, such as the domain of a conjugate.

/// A closed interval of the extended real line; an infinite end stands for no bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end, or `-inf`.
    pub lower: f64,
    /// The upper end, or `+inf`.
    pub upper: f64,
}

impl Interval {
    /// The whole real line.
    pub const REALS: Interval = Interval { lower: f64::NEG_INFINITY, upper: f64::INFINITY };

    /// Returns the interval from `lower` to `upper`.
    pub const fn new(lower: f64, upper: f64) -> Self {
        Interval { lower, upper }
    }

    /// Returns true if `t` lies in the interval, its ends included.
    pub fn contains(&self, t: f64) -> bool {
        self.lower <= t && t <= self.upper
    }
}
