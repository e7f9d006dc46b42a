//! The automatically chosen method, with its predicted time.

use std::fmt;

use crate::method::Solver;

/// The coordinates that a linear problem is solved in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordinates {
    /// The features as they are.
    Features,
    /// An orthonormal basis of the span of the samples.
    RowSpace,
}

/// The method that a linear problem is solved by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Method {
    /// The solver, none of them [`Solver::Auto`].
    pub solver: Solver,
    /// The coordinates.
    pub coordinates: Coordinates,
    /// True if Newton's equations are formed and factorised, false if conjugate gradients solve them.
    pub is_dense: bool,
}

/// A method with the prediction that it was chosen by.
///
/// Displayed it is a line such as `newton on the features by conjugate gradients, predicted 0.02 s
/// (newton in the row space 8.9 s)`, with `after a trial of lbfgs` where the method takes over from
/// there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The method.
    pub method: Method,
    /// True if the method has taken over from L-BFGS, which a problem is tried by first.
    pub after_trial: bool,
    /// The processor seconds that were predicted.
    pub seconds: f64,
    /// The next best method with its seconds, if there was a choice.
    pub next: Option<(Method, f64)>,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let coordinates = match self.coordinates {
            Coordinates::Features => "on the features",
            Coordinates::RowSpace => "in the row space",
        };
        let system = match self.solver {
            Solver::Newton | Solver::ProximalNewton if !self.is_dense => " by conjugate gradients",
            _ => "",
        };
        write!(f, "{} {coordinates}{system}", self.solver.name())
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let in_words = |seconds: f64| match seconds {
            ..0.01 => "less than 0.01 s".to_owned(),
            _ => format!("{seconds:.2} s"),
        };
        let after = if self.after_trial { " after a trial of lbfgs" } else { "" };
        write!(f, "{}{after}, predicted {}", self.method, in_words(self.seconds))?;
        match &self.next {
            Some((method, seconds)) => write!(f, " ({method} {})", in_words(*seconds)),
            None => Ok(()),
        }
    }
}
