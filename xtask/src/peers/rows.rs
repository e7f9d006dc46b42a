//! The rows of the table: what is fitted, with which loss, and by which other program.

use margins::data::digits::number;
use margins::optim::lambda_grid;

/// The widths of the grids.
pub(super) const SIGMAS: [f64; 10] = [0.01, 0.02, 0.04, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];

/// The data of a row.
#[derive(Clone, PartialEq)]
pub(super) enum File {
    /// A file in the shared folder.
    Shared(&'static str),
    /// This many rows drawn from `covtype`, standardised, with five folds.
    Covtype(usize),
}

/// Lambdas evenly spaced in the logarithm.
#[derive(Clone, Copy)]
pub(super) struct Lambdas {
    pub(super) first: f64,
    pub(super) last: f64,
    pub(super) count: usize,
}

impl Lambdas {
    pub(super) fn values(self) -> Result<Vec<f64>, margins::optim::Error> {
        Ok(lambda_grid(self.first, self.last, self.count)?.iter().map(|l| l.get()).collect())
    }
}

/// What is computed.
pub(super) enum Work {
    /// Widths and lambdas over the folds of the file, then the fit at the best of them.
    Grid,
    /// A cross-validated path at one width, on landmarks if there are some.
    Path { sigma: f64, lambdas: Lambdas, landmarks: Option<usize> },
    /// One fit with a kernel, to a relative gap.
    Fit { sigma: f64, lambda: f64, gap: f64 },
    /// One linear fit without an intercept.
    Linear { lambda: f64 },
}

/// The other program.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Opponent {
    LiquidSvm,
    Svc,
    TorchKm,
    Intelex,
    Cyanure,
}

pub(super) struct Row {
    pub(super) file: File,
    pub(super) work: Work,
    pub(super) loss: &'static str,
    pub(super) opponent: Opponent,
}

impl Row {
    /// Returns the name by which `--row` asks for the row.
    pub(super) fn name(&self) -> String {
        let work = match &self.work {
            Work::Grid => "grid".to_owned(),
            Work::Path { landmarks: None, .. } => "path".to_owned(),
            Work::Path { landmarks: Some(m), .. } => format!("nystrom{m}"),
            Work::Fit { lambda, gap, .. } => format!("fit-{lambda:e}-to-{gap:e}"),
            Work::Linear { lambda } => format!("linear-{lambda:e}"),
        };
        format!("{work}-{}-{}-{}", self.loss, self.file.name(), self.opponent.name())
    }

    /// Returns the width of the kernel, where the row has one.
    pub(super) fn sigma(&self) -> Option<f64> {
        match self.work {
            Work::Path { sigma, .. } | Work::Fit { sigma, .. } => Some(sigma),
            Work::Grid | Work::Linear { .. } => None,
        }
    }

    /// Returns the work in words.
    pub(super) fn in_words(&self) -> String {
        let file = self.file.name();
        let loss = self.loss;
        match &self.work {
            Work::Grid => format!("grid, {loss}, `{file}`"),
            Work::Path { sigma, lambdas, landmarks } => {
                let how = landmarks.map_or(String::new(), |m| format!(", {m} landmarks"));
                let (count, sigma) = (lambdas.count, number(*sigma, 3));
                format!("{count} lambdas x 5 folds, sigma = {sigma}{how}, {loss}, `{file}`")
            }
            Work::Fit { sigma, lambda, .. } => {
                format!("one fit, sigma = {sigma}, lambda = {lambda:e}, {loss}, `{file}`")
            }
            Work::Linear { lambda } => {
                format!("one linear fit, lambda = {lambda:e}, {loss}, `{file}`")
            }
        }
    }
}

impl File {
    pub(super) fn name(&self) -> String {
        match self {
            File::Shared(path) => {
                let name = path.rsplit('/').next().unwrap_or(path);
                name.split('.').next().unwrap_or(name).to_owned()
            }
            File::Covtype(rows) => format!("covtype{rows}"),
        }
    }

    /// Returns the name of the column of folds; svmlight files have no columns with names.
    pub(super) fn fold_column(&self) -> Option<&'static str> {
        match self {
            File::Shared(path) if path.contains(".svm") => None,
            File::Shared(_) | File::Covtype(_) => Some("fold"),
        }
    }
}

impl Opponent {
    pub(super) fn name(self) -> &'static str {
        match self {
            Opponent::LiquidSvm => "liquidsvm",
            Opponent::Svc => "svc",
            Opponent::TorchKm => "torchkm",
            Opponent::Intelex => "intelex",
            Opponent::Cyanure => "cyanure",
        }
    }

    /// Returns the name of the program in the table.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Opponent::LiquidSvm => "liquidSVM, its own grid",
            Opponent::Svc => "GridSearchCV of SVC, 2 jobs",
            Opponent::TorchKm => "TorchKM",
            Opponent::Intelex => "scikit-learn-intelex SVC",
            Opponent::Cyanure => "cyanure",
        }
    }
}

const MIXTURE_1: File = File::Shared("bench/mixture1_n900.csv.gz");
const MIXTURE_3: File = File::Shared("bench/mixture3_n900.csv.gz");
const CHESS: File = File::Shared("bench/chess_krvskp.csv.gz");
const LONG: Lambdas = Lambdas { first: 1.0, last: 1e-7, count: 100 };

/// Returns all rows of the table.
pub(super) fn all() -> Vec<Row> {
    [grids(), paths(), low_rank(), fits(), linear()].into_iter().flatten().collect()
}

fn grids() -> Vec<Row> {
    let grid = |file: &File, opponent| Row {
        file: file.clone(),
        work: Work::Grid,
        loss: "hinge",
        opponent,
    };
    let of_file = |file| [grid(&file, Opponent::LiquidSvm), grid(&file, Opponent::Svc)];
    [MIXTURE_1, MIXTURE_3, CHESS].into_iter().flat_map(of_file).collect()
}

fn paths() -> Vec<Row> {
    let torch = |file, loss, sigma, lambdas| Row {
        file,
        work: Work::Path { sigma, lambdas, landmarks: None },
        loss,
        opponent: Opponent::TorchKm,
    };
    let large = Lambdas { first: 1e-1, last: 1e-6, count: 50 };
    vec![
        torch(MIXTURE_1, "hinge", 1.0, LONG),
        torch(CHESS, "logistic", 1.0 / 7.0, LONG),
        torch(File::Covtype(10_000), "hinge", 0.05, large),
    ]
}

fn low_rank() -> Vec<Row> {
    let nystrom = |rows, loss| Row {
        file: File::Covtype(rows),
        work: Work::Path {
            sigma: 0.05,
            lambdas: Lambdas { first: 1e-2, last: 1e-7, count: 20 },
            landmarks: Some(1000),
        },
        loss,
        opponent: Opponent::TorchKm,
    };
    vec![nystrom(20_000, "hinge"), nystrom(20_000, "logistic"), nystrom(100_000, "logistic")]
}

fn fits() -> Vec<Row> {
    let fit = |rows, lambda| Row {
        file: File::Covtype(rows),
        work: Work::Fit { sigma: 0.05, lambda, gap: 1e-6 },
        loss: "hinge",
        opponent: Opponent::Intelex,
    };
    let small = [1e-4, 1e-5, 1e-6].map(|lambda| fit(10_000, lambda));
    let large = [1e-4, 1e-5].map(|lambda| fit(100_000, lambda));
    small.into_iter().chain(large).collect()
}

fn linear() -> Vec<Row> {
    let news = |loss| Row {
        file: File::Shared("data/news20_half.svm.gz"),
        work: Work::Linear { lambda: 1e-6 },
        loss,
        opponent: Opponent::Cyanure,
    };
    ["squared-hinge", "hinge"].map(news).into()
}
