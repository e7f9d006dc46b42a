//! The rows of the table: what is fitted, with which loss, beside whom, and how much faster ours should be.

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
    /// A linear path of 100 lambdas.
    LinearPath,
}

/// The other program.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Opponent {
    LiquidSvm,
    Svc,
    TorchKm {
        loss: &'static str,
    },
    Intelex,
    Cyanure,
    /// Ours with the logistic loss.
    Logistic,
}

pub(super) struct Row {
    pub(super) file: File,
    pub(super) work: Work,
    pub(super) loss: &'static str,
    pub(super) opponent: Opponent,
    /// The largest ratio of times that ours aims at.
    pub(super) goal: f64,
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
            Work::LinearPath => "linear-path".to_owned(),
        };
        format!("{work}-{}-{}-{}", self.loss, self.file.name(), self.opponent.name())
    }

    /// Returns the loss that the opponent minimises.
    pub(super) fn loss_of_opponent(&self) -> &'static str {
        match self.opponent {
            Opponent::LiquidSvm | Opponent::Svc | Opponent::Intelex => "hinge",
            Opponent::TorchKm { loss } => loss,
            Opponent::Cyanure => self.loss,
            Opponent::Logistic => "logistic",
        }
    }

    /// Returns the width of the kernel, where the row has one.
    pub(super) fn sigma(&self) -> Option<f64> {
        match self.work {
            Work::Path { sigma, .. } | Work::Fit { sigma, .. } => Some(sigma),
            Work::Grid | Work::Linear { .. } | Work::LinearPath => None,
        }
    }

    /// Returns the work in words.
    pub(super) fn in_words(&self) -> String {
        let file = self.file.name();
        let loss = self.loss;
        match &self.work {
            Work::Grid => format!("grid of 10 widths x 10 lambdas x 5 folds, {loss}, `{file}`"),
            Work::Path { sigma, lambdas, landmarks } => {
                let how = landmarks.map_or("exact".to_owned(), |m| format!("Nystrom m = {m}"));
                let Lambdas { first, last, count } = lambdas;
                format!(
                    "path of {count} lambdas ({first:e} to {last:e}) x 5 folds, {how}, sigma = {sigma:.4}, {loss}, `{file}`"
                )
            }
            Work::Fit { sigma, lambda, gap } => format!(
                "one exact fit, sigma = {sigma}, lambda = {lambda:e}, to a gap of {gap:e}, {loss}, `{file}`"
            ),
            Work::Linear { lambda } => {
                format!("one linear fit, lambda = {lambda:e}, {loss}, `{file}`")
            }
            Work::LinearPath => format!("linear path of 100 lambdas, {loss}, `{file}`"),
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
            Opponent::TorchKm { loss: "hinge" } => "torchkm-svm",
            Opponent::TorchKm { .. } => "torchkm-logistic",
            Opponent::Intelex => "intelex",
            Opponent::Cyanure => "cyanure",
            Opponent::Logistic => "our-logistic-path",
        }
    }

    /// Returns the name of the program in the table.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Opponent::LiquidSvm => "liquidSVM, its own grid, hinge",
            Opponent::Svc => "GridSearchCV of SVC, 2 jobs",
            Opponent::TorchKm { loss: "hinge" } => "TorchKM SVM",
            Opponent::TorchKm { .. } => "TorchKM logistic",
            Opponent::Intelex => "scikit-learn-intelex SVC",
            Opponent::Cyanure => "cyanure",
            Opponent::Logistic => "our own logistic path",
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
    let grid = |file: &File, loss, opponent, goal| Row {
        file: file.clone(),
        work: Work::Grid,
        loss,
        opponent,
        goal,
    };
    let mut rows = Vec::new();
    for (file, goal) in [(MIXTURE_1, 1.5), (MIXTURE_3, 1.5), (CHESS, 3.0)] {
        rows.push(grid(&file, "lhs", Opponent::LiquidSvm, goal));
        rows.push(grid(&file, "hinge", Opponent::LiquidSvm, 0.7));
        rows.push(grid(&file, "lhs", Opponent::Svc, 0.1));
        rows.push(grid(&file, "hinge", Opponent::Svc, 0.1));
    }
    rows
}

fn paths() -> Vec<Row> {
    let torch = |file: &File, (sigma, lambdas), loss, theirs, goal| Row {
        file: file.clone(),
        work: Work::Path { sigma, lambdas, landmarks: None },
        loss,
        opponent: Opponent::TorchKm { loss: theirs },
        goal,
    };
    let chess = (1.0 / 7.0, LONG);
    let large = (0.05, Lambdas { first: 1e-1, last: 1e-6, count: 50 });
    let covtype = File::Covtype(10_000);
    vec![
        torch(&MIXTURE_1, (1.0, LONG), "hinge", "hinge", 0.15),
        torch(&CHESS, chess, "logistic", "logistic", 0.12),
        torch(&CHESS, chess, "lhs", "logistic", 0.12),
        torch(&covtype, large, "hinge", "hinge", 0.07),
        torch(&covtype, large, "lhs", "hinge", 0.2),
        torch(&covtype, large, "logistic", "hinge", 0.2),
    ]
}

fn low_rank() -> Vec<Row> {
    let nystrom = |rows, loss, theirs, goal| Row {
        file: File::Covtype(rows),
        work: Work::Path {
            sigma: 0.05,
            lambdas: Lambdas { first: 1e-2, last: 1e-7, count: 20 },
            landmarks: Some(1000),
        },
        loss,
        opponent: Opponent::TorchKm { loss: theirs },
        goal,
    };
    vec![
        nystrom(20_000, "hinge", "hinge", 0.3),
        nystrom(20_000, "logistic", "logistic", 0.2),
        nystrom(20_000, "lhs", "logistic", 0.2),
        nystrom(100_000, "logistic", "logistic", 0.2),
        nystrom(100_000, "lhs", "logistic", 0.2),
    ]
}

fn fits() -> Vec<Row> {
    let fit = |rows, loss, lambda, gap, goal| Row {
        file: File::Covtype(rows),
        work: Work::Fit { sigma: 0.05, lambda, gap },
        loss,
        opponent: Opponent::Intelex,
        goal,
    };
    let mut rows = Vec::new();
    for lambda in [1e-4, 1e-5, 1e-6] {
        for (loss, goal) in [("hinge", 1.0), ("lhs", 2.5), ("logistic", 2.5)] {
            rows.push(fit(10_000, loss, lambda, 1e-6, goal));
        }
    }
    for lambda in [1e-4, 1e-5] {
        rows.push(fit(100_000, "hinge", lambda, 1e-3, 1.0));
        rows.push(fit(100_000, "hinge", lambda, 1e-6, 2.5));
    }
    rows
}

fn linear() -> Vec<Row> {
    let news = |loss, goal| Row {
        file: File::Shared("data/news20_half.svm.gz"),
        work: Work::Linear { lambda: 1e-6 },
        loss,
        opponent: Opponent::Cyanure,
        goal,
    };
    let path = |file| Row {
        file: File::Shared(file),
        work: Work::LinearPath,
        loss: "hinge",
        opponent: Opponent::Logistic,
        goal: 3.0,
    };
    vec![
        news("squared-hinge", 0.2),
        news("hinge", 0.5),
        path("data/a9a.svm.gz"),
        path("data/ijcnn1.svm.gz"),
    ]
}
