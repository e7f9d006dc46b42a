//! The approximations of a kernel, and their specifications.

use std::fmt;
use std::str::FromStr;

use margins_losses::{Specification, did_you_mean};

/// The approximation of a kernel where n is too large for its matrix.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Approximation {
    /// The kernel as it is.
    #[default]
    None,
    /// Pivoted Cholesky to this share of the trace, certified against the kernel itself.
    Cholesky {
        /// The share of the trace that may remain.
        tolerance: f64,
        /// The most memory that the factor may take, in gigabytes (1e9 bytes); see
        /// [`CHOLESKY_GIGABYTES`](Self::CHOLESKY_GIGABYTES).
        gigabytes: f64,
    },
    /// Nystrom features from landmarks, certified as the linear problem that they pose.
    Nystrom {
        /// The number of landmarks.
        landmarks: usize,
        /// The lambda for which leverage scores draw them; `None` draws them uniformly.
        leverage: Option<f64>,
    },
    /// Random Fourier features of a Gaussian kernel, certified as the linear problem that they
    /// pose.
    Fourier {
        /// The number of features.
        features: usize,
    },
}

impl Approximation {
    /// The memory that a pivoted Cholesky factor may take where nothing else is said: one gigabyte,
    /// which holds rank 1250 of 50000 samples.
    pub const CHOLESKY_GIGABYTES: f64 = 1.0;

    /// Returns true if features take the place of the kernel.
    pub(super) fn has_features(self) -> bool {
        matches!(self, Approximation::Nystrom { .. } | Approximation::Fourier { .. })
    }
}

impl fmt::Display for Approximation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Approximation::None => write!(f, "none"),
            Approximation::Cholesky { tolerance, gigabytes: Self::CHOLESKY_GIGABYTES } => {
                write!(f, "cholesky:tol={tolerance:?}")
            }
            Approximation::Cholesky { tolerance, gigabytes } => {
                write!(f, "cholesky:tol={tolerance:?},memory={gigabytes:?}")
            }
            Approximation::Nystrom { landmarks, leverage: None } => {
                write!(f, "nystrom:m={landmarks}")
            }
            Approximation::Nystrom { landmarks, leverage: Some(lambda) } => {
                write!(f, "nystrom:m={landmarks},leverage={lambda:?}")
            }
            Approximation::Fourier { features } => write!(f, "rff:m={features}"),
        }
    }
}

impl FromStr for Approximation {
    type Err = String;

    /// Reads `none`, `cholesky:tol=1e-8`, `cholesky:tol=1e-8,memory=4` (gigabytes),
    /// `nystrom:m=1000`, `nystrom:m=1000,leverage=1e-4` or `rff:m=2000`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut given = Specification::parse(text)?;
        let name = given.name();
        let mut take = |key: &str| given.take::<f64>(key, "a number");
        let count = |m: Option<f64>, default: f64| match m.unwrap_or(default) {
            m if m.fract() == 0.0 && (1.0..=1e6).contains(&m) => Ok(m as usize),
            m => Err(format!("m is {m}, but must be a whole number from 1 to 1000000")),
        };
        let positive = |what: &str, value: f64| {
            if value.is_finite() && value > 0.0 {
                Ok(value)
            } else {
                Err(format!("{what} is {value}, but must be a finite number greater than 0"))
            }
        };
        let (approximation, known) = match name {
            "none" => (Approximation::None, ""),
            "cholesky" => {
                let tolerance = positive("tol", take("tol")?.unwrap_or(1e-8))?;
                let memory = take("memory")?.unwrap_or(Self::CHOLESKY_GIGABYTES);
                let gigabytes = positive("memory", memory)?;
                (Approximation::Cholesky { tolerance, gigabytes }, "tol and memory")
            }
            "nystrom" => {
                let landmarks = count(take("m")?, 1000.0)?;
                let leverage = take("leverage")?.map(|l| positive("leverage", l)).transpose()?;
                (Approximation::Nystrom { landmarks, leverage }, "m and leverage")
            }
            "rff" => (Approximation::Fourier { features: count(take("m")?, 2000.0)? }, "m"),
            _ => {
                let meant = did_you_mean(name, ["none", "cholesky", "nystrom", "rff"]);
                return Err(format!(
                    "unknown approximation '{name}': known are none, cholesky:tol=1e-8, \
                     nystrom:m=1000, nystrom:m=1000,leverage=1e-4, rff:m=2000{meant}"
                ));
            }
        };
        given.finish(known)?;
        Ok(approximation)
    }
}
