//! Sequences of lambdas along n.

/// Lambdas along n: `c n^(-a)`.
#[derive(Clone, Copy)]
pub(super) struct Schedule {
    c: f64,
    a: f64,
}

/// Those of theorem 5 and those that are not, in pairs of the same c.
pub(super) const SCHEDULES: [Schedule; 4] = [
    Schedule { c: 1.0, a: 0.5 },
    Schedule { c: 1.0, a: 1.0 },
    Schedule { c: 0.01, a: 0.5 },
    Schedule { c: 0.01, a: 1.0 },
];

impl Schedule {
    pub(super) fn lambda(self, n: usize) -> f64 {
        self.c * (n as f64).powf(-self.a)
    }

    pub(super) fn name(self) -> String {
        match (self.a == 1.0, self.c == 1.0) {
            (true, _) => format!("{}/n", self.c),
            (false, true) => "n^(-1/2)".to_owned(),
            (false, false) => format!("{} n^(-1/2)", self.c),
        }
    }

    /// Returns `1/lambda_(n+1) - 1/lambda_n`, which tends to 0 under theorem 5.
    pub(super) fn step(self, n: usize) -> f64 {
        1.0 / self.lambda(n + 1) - 1.0 / self.lambda(n)
    }

    /// Returns `|1/lambda_n - 1/lambda_(n-1)| + 2/(n lambda_n)`, the bound of A.13 on how far a score
    /// moves when a sample is left out, for a kernel of at most 1.
    pub(super) fn stability(self, n: usize) -> f64 {
        self.step(n - 1) + 2.0 / (n as f64 * self.lambda(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_satisfy_theorem_5_and_inverses_do_not() {
        for Schedule { c, a } in SCHEDULES {
            let schedule = Schedule { c, a };
            let n = 1_000_000;
            assert!(schedule.lambda(n) < 2e-3 * schedule.lambda(1), "{}", schedule.name());
            let expected = if a == 1.0 { 1.0 / c } else { 0.5 / (c * (n as f64).sqrt()) };
            let step = schedule.step(n);
            assert!((step / expected - 1.0).abs() < 1e-4, "{}: {step}", schedule.name());
        }
    }
}
