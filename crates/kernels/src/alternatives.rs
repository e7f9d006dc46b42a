//! The time and the memory of methods that do not need the kernel matrix in memory.

use std::fmt;

use margins_data::Memory;

/// The alternatives to a kernel matrix that does not fit in memory, with their estimated times from
/// the time of some kernel values on this machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alternatives {
    n: usize,
    /// The seconds of a kernel value on all threads.
    value: f64,
    /// True if solvers may recompute the values for every product.
    matrix_free: bool,
}

impl Alternatives {
    /// The largest number of landmarks of the suggested approximation, which has at most a tenth of the
    /// rows.
    const LANDMARKS: usize = 1000;

    /// Takes the number of samples, the seconds of a kernel value on all threads, and whether the kernel is
    /// known to be positive semidefinite: one that is not has no way without the matrix but the approximation.
    pub(crate) fn new(n: usize, value: f64, matrix_free: bool) -> Self {
        Alternatives { n, value, matrix_free }
    }

    /// Returns the memory of the matrix.
    fn matrix(&self) -> Memory {
        Memory::from_bytes(8_usize.saturating_mul(self.n).saturating_mul(self.n))
    }

    /// Returns the seconds that all values take, pairs once.
    fn all_values(&self) -> f64 {
        0.5 * self.value * (self.n as f64).powi(2)
    }
}

impl fmt::Display for Alternatives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The seconds of a multiplication and an addition in a factorisation.
        const MULTIPLICATION: f64 = 1e-10;
        let (matrix, all) = (self.matrix(), Seconds(self.all_values()));
        write!(f, "Allow {matrix}, and the matrix takes {all} once")?;
        if self.matrix_free {
            write!(f, "; take another solver, which recomputes it for every product, {all} each")?;
        }
        let m = Self::LANDMARKS.min(self.n / 10).max(1);
        let features = Memory::from_bytes(8_usize.saturating_mul(self.n).saturating_mul(m));
        let (n, m) = (self.n as f64, m as f64);
        let time = Seconds(self.value * n * m + MULTIPLICATION * n * m * m);
        write!(f, "; or take Nystrom features with {m} landmarks, {features} and {time}")
    }
}

/// A time of which one or two digits are meant.
struct Seconds(f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            seconds if seconds < 1.0 => write!(f, "less than a second"),
            seconds if seconds < 90.0 => write!(f, "about {seconds:.0} s"),
            seconds if seconds < 5400.0 => write!(f, "about {:.0} min", seconds / 60.0),
            seconds => write!(f, "about {:.0} h", seconds / 3600.0),
        }
    }
}
