//! What the benchmarks share.

use std::fmt;
use std::time::Instant;

/// Two ways to do the same, each timed in turn, so that both suffer from what else the machine
/// does.
#[derive(Debug, Clone, Copy)]
pub struct Comparison {
    /// Median of the nanoseconds that an operation of the first took.
    pub first: f64,
    /// The median nanoseconds of the second.
    pub second: f64,
    /// 10 %, 50 % and 90 % quantiles of second/first in a turn.
    pub ratios: [f64; 3],
    /// 10 %, 50 % and 90 % quantiles of second - first in a turn, in nanoseconds.
    pub differences: [f64; 3],
}

impl Comparison {
    /// Of `operations` of each in every turn.
    pub fn new(
        turns: usize,
        operations: u32,
        mut first: impl FnMut(),
        mut second: impl FnMut(),
    ) -> Self {
        let nanoseconds = |operation: &mut dyn FnMut()| {
            let start = Instant::now();
            (0..operations).for_each(|_| operation());
            1e9 * start.elapsed().as_secs_f64() / f64::from(operations)
        };
        let times: Vec<[f64; 2]> =
            (0..turns).map(|_| [nanoseconds(&mut first), nanoseconds(&mut second)]).collect();
        let quantiles = |of: fn(&[f64; 2]) -> f64| {
            let mut values: Vec<f64> = times.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            [0.1, 0.5, 0.9].map(|share| values[(share * (turns - 1) as f64).round() as usize])
        };
        Comparison {
            first: quantiles(|t| t[0])[1],
            second: quantiles(|t| t[1])[1],
            ratios: quantiles(|t| t[1] / t[0]),
            differences: quantiles(|t| t[1] - t[0]),
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, median, high] = self.ratios;
        let (first, second) = (self.first, self.second);
        write!(f, "{first:.0} ns, {second:.0} ns, ratio {median:.2} ({low:.2} to {high:.2})")
    }
}
