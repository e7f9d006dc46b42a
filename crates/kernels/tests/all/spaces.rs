//! The list of spaces: where samples are, and which functions of them a fit is about.
//!
//! [Properties](super::properties) hold for every space, method and loss. A new space is a row of
//! [`SPACES`]; a new method is a row of [`Solver::NAMED`], a new loss one of
//! [`CONVEX_LOSSES`](margins_test_support::CONVEX_LOSSES).

use std::sync::Arc;

use margins_data::blocks::{self, BlockFile, BlockSettings};
use margins_data::{Classes, Dataset, Design, Labels, Memory};
use margins_kernels::features::{LandmarkSampling, NystromMap};
use margins_kernels::{Error, Gaussian, Gram, Kernel, Linear, Route, joint_path, training_path};
use margins_losses::MarginLoss;
use margins_optim::method::SpaceKind;
use margins_optim::path::JointFit;
use margins_optim::problem::{JointForm, PenaltyFactors};
use margins_optim::shards::{
    BinaryProblem, Block, Blocks, OnDisk, Resident, Shard, Threads, path_over_shards,
};
use margins_optim::{Fit, Lambda, Options, Report, Solver, Training};
use margins_test_support::{dense, lambda, sparse};

/// Samples with a loss: the problem at every lambda, but for the functions that it is about.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) signs: Vec<f64>,
    pub(crate) weights: Vec<f64>,
    pub(crate) intercept: bool,
    pub(crate) loss: Arc<dyn MarginLoss>,
    /// The relative gap that fits are for.
    pub(crate) tolerance: f64,
}

impl Problem {
    fn data(&self, design: Design) -> Dataset {
        let labels = Labels::from_signs(self.signs.clone()).expect("two classes");
        let data = Dataset::new(design, labels).expect("as many rows");
        data.with_weights(self.weights.clone()).expect("weights")
    }
}

/// The functions that a problem is about: all spaces of the same functions have the same minimum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Functions {
    /// `<w, x>` with the norm of w.
    Linear,
    /// The same, but no penalty acts on the last feature.
    LastFree,
    /// The function space of the Gaussian kernel.
    Gaussian,
}

/// The width of the Gaussian kernel.
const SIGMA: f64 = 0.5;

impl Functions {
    /// Returns the inner product of the functions that stand for two samples.
    pub(crate) fn kernel(self, x: &[f64], z: &[f64]) -> f64 {
        let products = x.iter().zip(z).map(|(a, b)| a * b);
        match self {
            Functions::Linear => products.sum(),
            Functions::LastFree => products.take(x.len() - 1).sum(),
            Functions::Gaussian => {
                (-SIGMA * x.iter().zip(z).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp()
            }
        }
    }

    fn of_library(self) -> Arc<dyn Kernel> {
        match self {
            Functions::Gaussian => Arc::new(Gaussian::new(SIGMA).expect("positive")),
            _ => Arc::new(Linear),
        }
    }
}

/// The methods that a space takes, by what solvers and losses declare.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Methods {
    /// All of them, on features in memory.
    Features,
    /// Those for features without a penalty.
    FreeFeatures,
    /// Those over sums of samples that are not in memory.
    Sums,
    /// Those for several classes in one problem.
    Joint,
    /// Those on a matrix of inner products: held in memory, computed where it is needed, or of which
    /// there are columns in single precision.
    Held,
    Computed,
    Columns,
}

impl Methods {
    /// Returns true if a method is one of them, for a loss.
    pub(crate) fn take(self, solver: Solver, loss: &dyn MarginLoss) -> bool {
        let suits = solver.requirements().loss.iter().all(|need| need.check(loss).is_ok());
        let route = Route::of(loss, solver).ok();
        let is_sequential = route == Some(Route::SupportVectors);
        // Steps of Newton's method on a matrix smooth no kinks.
        let is_in = |routes: &[Route]| {
            let others = || suits && loss.is_differentiable();
            is_sequential || others() && route.is_some_and(|route| routes.contains(&route))
        };
        match self {
            Methods::Features => suits && solver.takes(SpaceKind::Features),
            Methods::FreeFeatures => suits && solver.takes(SpaceKind::FreeFeatures),
            Methods::Sums => suits && solver.takes(SpaceKind::Parts),
            Methods::Joint => suits && solver.takes(SpaceKind::Joint),
            Methods::Held => is_in(&[Route::SampleSpace, Route::Eigenspace]),
            Methods::Computed => is_in(&[Route::SampleSpace]),
            Methods::Columns => is_sequential,
        }
    }
}

/// A row of the list.
pub(crate) struct Space {
    pub(crate) name: &'static str,
    pub(crate) functions: Functions,
    pub(crate) methods: Methods,
    fit: fn(&Task<'_>) -> Expansions,
}

/// A problem with its functions, its method and its lambdas.
struct Task<'a> {
    problem: &'a Problem,
    functions: Functions,
    training: Training<'a, dyn MarginLoss>,
    lambdas: &'a [Lambda],
}

/// A fit whose coefficients are those of functions which stand for centres.
struct Expansion {
    fit: Fit,
    rows: Vec<Vec<f64>>,
    centres: Vec<Vec<f64>>,
}

type Expansions = Result<Vec<Expansion>, Error>;

/// A fit, and what follows from its coefficients by definition.
#[derive(Debug)]
pub(crate) struct Solution {
    pub(crate) lambda: f64,
    pub(crate) intercept: f64,
    /// The scores of the samples by the part of the function that the penalty acts on.
    pub(crate) values: Vec<f64>,
    /// F.
    pub(crate) primal: f64,
    /// A bound on the rounding of F.
    pub(crate) rounding: f64,
    pub(crate) report: Report,
}

impl Space {
    /// Returns the fits at all lambdas, largest first.
    pub(crate) fn path(
        &self,
        problem: &Problem,
        solver: Solver,
        lambdas: &[Lambda],
    ) -> Result<Vec<Solution>, Error> {
        let functions = self.functions;
        let mut factors = vec![1.0; problem.rows[0].len()];
        factors[problem.rows[0].len() - 1] = 0.0;
        let factors = PenaltyFactors::of_columns(factors).expect("factors");
        let penalty = (functions == Functions::LastFree).then_some(&factors);
        let Problem { intercept, tolerance, .. } = *problem;
        let max_iterations = Some(1_000_000);
        let options = Options { solver, tolerance, max_iterations, ..Options::default() };
        let training = Training { intercept, penalty, options, ..Training::new(&*problem.loss) };
        let fits = (self.fit)(&Task { problem, functions, training, lambdas })?;
        Ok(fits.into_iter().map(|fit| Solution::new(problem, functions, fit)).collect())
    }
}

impl Solution {
    fn new(problem: &Problem, functions: Functions, of: Expansion) -> Self {
        let Expansion { fit: Fit { lambda, intercept, coef, report }, rows, centres } = of;
        let lambda = lambda.get();
        let combine = |x: &[f64]| {
            let terms = centres.iter().zip(&coef).map(|(z, a)| a * functions.kernel(x, z));
            terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()))
        };
        let (mut values, mut primal, mut size) = (Vec::new(), 0.0, 0.0);
        for (i, x) in rows.iter().enumerate() {
            let (value, terms) = combine(x);
            let last = coef.len() - 1;
            let free = if functions == Functions::LastFree { coef[last] * x[last] } else { 0.0 };
            let margin = problem.signs[i] * (intercept + free + value);
            let share = problem.weights[i] / rows.len() as f64;
            let (loss, slope) = (problem.loss.value(margin), problem.loss.derivative(margin));
            primal += share * loss;
            size += share * (loss.abs() + slope.abs() * (intercept.abs() + free.abs() + terms));
            values.push(value);
        }
        for (z, a) in centres.iter().zip(&coef) {
            let (value, terms) = combine(z);
            primal += lambda * a * value;
            size += lambda * (a * terms).abs();
        }
        // Sums of at most some hundred terms, in two orders.
        let rounding = 1e3 * f64::EPSILON * size;
        Solution { lambda, intercept, values, primal, rounding, report }
    }
}

/// Returns the fits of coefficients of features.
fn on_features(fits: Vec<Fit>, rows: &[Vec<f64>]) -> Vec<Expansion> {
    let p = rows[0].len();
    let unit = |j: usize| (0..p).map(|k| f64::from(u8::from(j == k))).collect();
    let expansion =
        |fit| Expansion { fit, rows: rows.to_vec(), centres: (0..p).map(unit).collect() };
    fits.into_iter().map(expansion).collect()
}

fn in_memory(task: &Task<'_>, rows: &[Vec<f64>], store: fn(&[Vec<f64>]) -> Design) -> Expansions {
    let fits = task.training.path(&task.problem.data(store(rows)), task.lambdas)?;
    Ok(on_features(fits, rows))
}

/// More features than samples: 16 copies of each, a quarter as large, whose inner products are the same.
fn wide(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let copies = |row: &Vec<f64>| row.iter().map(|x| 0.25 * x).collect::<Vec<_>>().repeat(16);
    rows.iter().map(copies).collect()
}

fn on_shards<B: Blocks + Send>(task: &Task<'_>, shares: Vec<B>) -> Expansions {
    let shard = |share| Shard::new(Arc::clone(&task.problem.loss), share);
    let mut workers = Threads::new(shares.into_iter().map(shard).collect());
    let problem = BinaryProblem::default();
    let fits = path_over_shards(&mut workers, &task.training, &problem, task.lambdas, None)?;
    Ok(on_features(fits, &task.problem.rows))
}

/// Two shards in memory of four partitions, one of them without rows and one of a single class.
fn in_shards(task: &Task<'_>, store: fn(&[Vec<f64>]) -> Design) -> Expansions {
    let data = task.problem.data(store(&task.problem.rows));
    let is_apart = |i: &usize| *i < 4 && task.problem.signs[*i] > 0.0;
    let (apart, rest): (Vec<usize>, Vec<usize>) = (0..data.rows()).partition(is_apart);
    let (one, other) = rest.split_at(rest.len() / 2);
    let mut shares = vec![Resident::default(); 2];
    for (k, rows) in [&apart[..], &[], one, other].into_iter().enumerate() {
        let classes = rows.iter().map(|&i| u32::from(task.problem.signs[i] > 0.0)).collect();
        let weights = rows.iter().map(|&i| task.problem.weights[i]).collect();
        let block = Block::new(data.design().select(rows), classes);
        let block = block.and_then(|block| block.with_weights(weights)).expect("one per row");
        shares[k % 2].insert(k, block);
    }
    on_shards(task, shares)
}

/// Two shares of the blocks of a file.
fn in_a_file(task: &Task<'_>) -> Expansions {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows");
    let settings = BlockSettings { rows: Some(5), ..BlockSettings::default() };
    blocks::write(&task.problem.data(dense(&task.problem.rows)), &path, settings).expect("a file");
    let file = BlockFile::open(&path).expect("a block file");
    let shares = OnDisk::open(&file, 2, Memory::from_bytes(1 << 20)).expect("enough memory");
    on_shards(task, shares)
}

fn on_matrix(task: &Task<'_>, gram: &Gram) -> Expansions {
    let rows = &task.problem.rows;
    let fits = training_path(&task.training, &task.problem.data(dense(rows)), gram, task.lambdas)?;
    let expansion = |fit| Expansion { fit, rows: rows.clone(), centres: rows.clone() };
    Ok(fits.into_iter().map(Fit::from).map(expansion).collect())
}

/// Two classes in one problem, at twice lambda: the difference of their functions is that of the binary one.
fn in_one_problem(task: &Task<'_>, gram: Option<&Gram>) -> Expansions {
    let rows = &task.problem.rows;
    let data = task.problem.data(dense(rows));
    let data = data.relabelled(Classes::from(data.labels()))?;
    let doubled: Vec<Lambda> = task.lambdas.iter().map(|at| lambda(2.0 * at.get())).collect();
    let fits = match gram {
        Some(gram) => joint_path(&task.training, JointForm::Pairwise, &data, gram, &doubled)?,
        None => task.training.joint_path(JointForm::Pairwise, &data, &doubled)?,
    };
    let binary = |fit: JointFit| Fit {
        lambda: lambda(0.5 * fit.lambda.get()),
        intercept: fit.intercepts[1] - fit.intercepts[0],
        coef: fit.coefs[1].iter().zip(&fit.coefs[0]).map(|(a, b)| a - b).collect(),
        report: fit.report,
    };
    let fits = fits.into_iter().map(binary);
    let expansion = |fit| Expansion { fit, rows: rows.clone(), centres: rows.clone() };
    match gram {
        Some(_) => Ok(fits.map(expansion).collect()),
        None => Ok(on_features(fits.collect(), rows)),
    }
}

fn held(task: &Task<'_>) -> Expansions {
    on_matrix(task, &Gram::new(&*task.functions.of_library(), &dense(&task.problem.rows))?)
}

fn computed(task: &Task<'_>) -> Expansions {
    let (kernel, design) = (task.functions.of_library(), dense(&task.problem.rows));
    on_matrix(task, &Gram::matrix_free(kernel, design, Memory::from_bytes(1 << 18))?)
}

fn of_features(task: &Task<'_>) -> Expansions {
    on_matrix(task, &Gram::of_features(dense(&task.problem.rows), || false)?)
}

/// All samples are landmarks, so that the features have the kernel as their inner products.
fn landmarks(task: &Task<'_>) -> Expansions {
    let (kernel, design) = (task.functions.of_library(), dense(&task.problem.rows));
    let n = design.rows();
    let map = NystromMap::new(&*kernel, &design, n, LandmarkSampling::Uniform, 1)?;
    let data = task.problem.data(map.transform(&*kernel, &design)?);
    let centre = |row: nalgebra::RowDVector<f64>| row.iter().copied().collect::<Vec<_>>();
    let dense = map.landmarks().to_dense();
    let centres: Vec<Vec<f64>> = dense.row_iter().map(|row| centre(row.into_owned())).collect();
    let expansion = |fit: Fit| {
        let fit = Fit { coef: map.kernel_coefficients(&fit.coef), ..fit };
        Expansion { fit, rows: task.problem.rows.clone(), centres: centres.clone() }
    };
    Ok(task.training.path(&data, task.lambdas)?.into_iter().map(expansion).collect())
}

/// Every space. That of a matrix of low rank, `held` for linear functions, is solved over a factor by
/// the automatic method.
pub(crate) const SPACES: [Space; 21] = {
    use Functions::{Gaussian, LastFree, Linear};
    use Methods::{Columns, Computed, Features, FreeFeatures, Held, Joint, Sums};

    const fn row(
        name: &'static str,
        functions: Functions,
        methods: Methods,
        fit: fn(&Task<'_>) -> Expansions,
    ) -> Space {
        Space { name, functions, methods, fit }
    }

    [
        row("dense", Linear, Features, |task| in_memory(task, &task.problem.rows, dense)),
        row("sparse", Linear, Features, |task| in_memory(task, &task.problem.rows, sparse)),
        row("wide", Linear, Features, |task| in_memory(task, &wide(&task.problem.rows), dense)),
        row("shards", Linear, Sums, |task| in_shards(task, dense)),
        row("sparse shards", Linear, Sums, |task| in_shards(task, sparse)),
        row("a file", Linear, Sums, in_a_file),
        row("a matrix of low rank", Linear, Held, held),
        row("a computed matrix of low rank", Linear, Computed, computed),
        row("products of features", Linear, Columns, of_features),
        row("landmarks of the linear kernel", Linear, Features, landmarks),
        row("a matrix", Gaussian, Held, held),
        row("a computed matrix", Gaussian, Computed, computed),
        row("landmarks", Gaussian, Features, landmarks),
        row("dense, a feature free", LastFree, FreeFeatures, |task| {
            in_memory(task, &task.problem.rows, dense)
        }),
        row("sparse, a feature free", LastFree, FreeFeatures, |task| {
            in_memory(task, &task.problem.rows, sparse)
        }),
        row("shards, a feature free", LastFree, Sums, |task| in_shards(task, dense)),
        row("sparse shards, a feature free", LastFree, Sums, |task| in_shards(task, sparse)),
        row("a file, a feature free", LastFree, Sums, in_a_file),
        row("one problem", Linear, Joint, |task| in_one_problem(task, None)),
        row("one problem, a feature free", LastFree, Joint, |task| in_one_problem(task, None)),
        row("one problem with a matrix", Gaussian, Joint, |task| {
            let kernel = task.functions.of_library();
            in_one_problem(task, Some(&Gram::new(&*kernel, &dense(&task.problem.rows))?))
        }),
    ]
};
