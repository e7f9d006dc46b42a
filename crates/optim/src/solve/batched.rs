//! Many problems over one design advance together: an accelerated MM step of all of them is four
//! products of matrices, which are several times as fast as as many products with vectors.
//!
//! The problems differ in lambda and in the weights of samples; a fold gives its samples held out
//! the weight 0. One majoriser serves all of them: the majoriser for the largest weight of every
//! sample lies above the objective of each.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use margins_data::{Design, parallel};
use margins_losses::MarginLoss;
use nalgebra::DMatrix;

use crate::certificate::certify;
use crate::problem::summation::dot;
use crate::problem::{EmpiricalRisk, Extent, Margins, Point};
use crate::solve::mm::{CHECK_EVERY, DEFAULT_ITERATIONS, Majorizer, MajorizerAt};
use crate::solve::{Ending, Monitor, Status};
use crate::{Certificate, Error, Lambda, Options};

/// The number of lambdas that advance together; the next ones start where these end.
const LAMBDAS: usize = 10;

/// The number of problems whose products are one. It is fixed, so that results do not depend on the
/// number of threads.
const COLUMNS: usize = 64;

/// A point of a path with its ending and its passes.
pub struct Reached {
    /// The regularisation.
    pub lambda: Lambda,
    /// The intercept, coefficients and their products.
    pub point: Point,
    /// The ending of the iteration.
    pub ending: Ending,
    /// The number of products of the design or its transpose with a vector.
    pub passes: usize,
}

/// Returns the paths of several risks over one design, one list a risk, in the order of the lambdas
/// given, which is descending. Problems advance together, [in parallel](margins_data::parallel).
///
/// # Errors
/// [`Error::Unsuitable`]: the loss is not convex and differentiable, or has no finite curvature.
/// [`Error::TooLargeForMm`]: the features are more than an eigendecomposition is meant for.
pub fn paths<L: MarginLoss + ?Sized>(
    design: &Design,
    risks: &[EmpiricalRisk<'_, L>],
    lambdas: &[Lambda],
    options: &Options,
) -> Result<Vec<Vec<Reached>>, Error> {
    let Some(first) = risks.first() else { return Ok(Vec::new()) };
    first.check_loss()?;
    let weights = largest_weights(risks);
    let majorizer = Majorizer::new(design, first.loss(), &weights, first.has_intercept())?;
    let extent = Extent::of(design);
    let batch = Batch { design, majorizer: &majorizer, extent: &extent };
    let mut paths: Vec<Vec<Reached>> = risks.iter().map(|_| Vec::new()).collect();
    for lambdas in lambdas.chunks(LAMBDAS) {
        let of_all: Vec<(usize, Lambda)> = lambdas
            .iter()
            .flat_map(|&lambda| (0..risks.len()).map(move |risk| (risk, lambda)))
            .collect();
        let some: Vec<&[(usize, Lambda)]> = of_all.chunks(COLUMNS).collect();
        let reached = parallel::map(0..some.len(), |k| {
            let problems = some[k].iter().map(|&(risk, lambda)| {
                let start = start(&risks[risk], paths[risk].last(), lambda, design, options);
                Problem::new(&risks[risk], &majorizer, options, lambda, start)
            });
            batch.solve(problems.collect())
        });
        for (reached, (risk, _)) in reached.into_iter().flatten().zip(of_all) {
            paths[risk].push(reached);
        }
    }
    Ok(paths)
}

/// Returns the largest `c_i / n` of every sample.
fn largest_weights<L: MarginLoss + ?Sized>(risks: &[EmpiricalRisk<'_, L>]) -> Vec<f64> {
    let mut largest = vec![0.0f64; risks[0].sample_count()];
    for risk in risks {
        largest.iter_mut().zip(risk.weights()).for_each(|(most, &w)| *most = most.max(w));
    }
    largest
}

/// Returns the last solution, or beyond separation the place on the ray from it, which is a
/// solution.
fn start<L: MarginLoss + ?Sized>(
    risk: &EmpiricalRisk<'_, L>,
    last: Option<&Reached>,
    lambda: Lambda,
    design: &Design,
    options: &Options,
) -> Point {
    let Some(Reached { lambda: before, point, .. }) = last else {
        return Point::zero(design.rows(), design.columns());
    };
    match risk.loss().homogeneous_tail() {
        Some(tail)
            if options.closed_form_ray
                && risk.all_beyond(&point.products, point.intercept, tail.from) =>
        {
            point.scaled((before.get() / lambda.get()).powf(1.0 / (1.0 + tail.degree)))
        }
        _ => point.clone(),
    }
}

/// The parts that the problems share.
struct Batch<'b> {
    design: &'b Design,
    majorizer: &'b Majorizer,
    extent: &'b Extent,
}

struct Problem<'r, L: MarginLoss + ?Sized> {
    lambda: Lambda,
    majorizer: MajorizerAt<'r>,
    margins: Margins<'r, L>,
    point: Point,
    /// The point before the present one, and the weight of Nesterov's extrapolation from it.
    previous: Point,
    weight: f64,
    passes: usize,
    monitor: Monitor<'r>,
    /// The ending of the problem, once it has ended.
    outcome: Option<(Status, Certificate)>,
}

impl<'r, L: MarginLoss + ?Sized> Problem<'r, L> {
    fn new(
        risk: &'r EmpiricalRisk<'_, L>,
        majorizer: &'r Majorizer,
        options: &'r Options,
        lambda: Lambda,
        start: Point,
    ) -> Self {
        Problem {
            lambda,
            majorizer: majorizer.at(lambda),
            margins: risk.margins(),
            previous: start.clone(),
            point: start,
            weight: 1.0,
            passes: 0,
            monitor: Monitor::new(options, lambda, DEFAULT_ITERATIONS),
            outcome: None,
        }
    }

    /// Returns the point to step from.
    fn extrapolate(&mut self) -> Point {
        let weight = 0.5 * (1.0 + (1.0 + 4.0 * self.weight * self.weight).sqrt());
        let share = (self.weight - 1.0) / weight;
        self.weight = weight;
        self.point.step(share, &self.point.step(-1.0, &self.previous))
    }

    /// Goes to the next point, forgetting the momentum where it points uphill (O'Donoghue and
    /// Candes 2015).
    fn go_to(&mut self, next: Point, slope: f64, gradient: &[f64]) {
        let change = next.step(-1.0, &self.point);
        if slope * change.intercept + dot(gradient, &change.coef) > 0.0 {
            self.weight = 1.0;
        }
        self.previous = std::mem::replace(&mut self.point, next);
        self.monitor.count(1);
        self.passes += 2;
    }
}

impl Batch<'_> {
    fn solve<L: MarginLoss + ?Sized>(&self, mut problems: Vec<Problem<'_, L>>) -> Vec<Reached> {
        loop {
            let mut open: Vec<&mut Problem<'_, L>> =
                problems.iter_mut().filter(|problem| problem.outcome.is_none()).collect();
            // All open problems have taken the same number of steps.
            let Some(first) = open.first() else { break };
            if first.monitor.iterations().is_multiple_of(CHECK_EVERY)
                || first.monitor.exhausted().is_some()
            {
                self.check(&mut open);
                open.retain(|problem| problem.outcome.is_none());
            }
            self.advance(&mut open);
        }
        problems
            .into_iter()
            .filter_map(|Problem { lambda, point, passes, monitor, outcome, .. }| {
                let (status, certificate) = outcome?;
                Some(Reached { lambda, point, ending: monitor.end(status, certificate), passes })
            })
            .collect()
    }

    /// Takes a step of every problem.
    fn advance<L: MarginLoss + ?Sized>(&self, open: &mut [&mut Problem<'_, L>]) {
        let from: Vec<Point> = open.iter_mut().map(|problem| problem.extrapolate()).collect();
        let slopes: Vec<f64> = (open.iter_mut().zip(&from))
            .map(|(problem, point)| problem.margins.set(&point.products, point.intercept))
            .collect();
        let gradients = self.gradients(open, &from);
        let order = self.design.columns() + 1;
        let right =
            Mat::from_fn(
                order,
                open.len(),
                |j, k| {
                    if j == 0 { slopes[k] } else { gradients[(j - 1, k)] }
                },
            );
        let vectors = faer_of(self.majorizer.vectors());
        let mut rotated = product(vectors.transpose(), right.as_ref());
        for (k, problem) in open.iter().enumerate() {
            let column = rotated.col_as_slice_mut(k);
            column.iter_mut().zip(problem.majorizer.scale()).for_each(|(r, s)| *r *= s);
        }
        let steps = product(vectors, rotated.as_ref());
        let mut next: Vec<Point> = (open.iter().enumerate())
            .map(|(k, problem)| {
                problem.majorizer.finish(&from[k], right.col_as_slice(k), steps.col_as_slice(k))
            })
            .collect();
        self.set_products(&mut next);
        for (k, (problem, next)) in open.iter_mut().zip(next).enumerate() {
            problem.go_to(next, slopes[k], gradients.col_as_slice(k));
        }
    }

    /// Certifies every problem, and ends those that are solved, have overflowed, or have no steps
    /// left.
    fn check<L: MarginLoss + ?Sized>(&self, open: &mut [&mut Problem<'_, L>]) {
        let mut settled: Vec<Point> = open.iter().map(|problem| problem.point.clone()).collect();
        for (problem, point) in open.iter_mut().zip(&mut settled) {
            point.intercept = problem.margins.settle(&point.products, point.intercept);
        }
        let gradients = self.gradients(open, &settled);
        for (k, (problem, point)) in open.iter_mut().zip(settled).enumerate() {
            problem.passes += 1;
            let gradient = gradients.col_as_slice(k);
            let Problem { lambda, margins, .. } = &mut **problem;
            let certificate = certify(&margins.sums(), self.extent, *lambda, &point.coef, gradient);
            if let Some(status) =
                problem.monitor.judge(problem.passes, &certificate, || problem.margins.summary())
            {
                problem.point = point;
                problem.outcome = Some((status, certificate));
            }
        }
    }

    /// Returns the gradients of F in the coefficients at points to which the margins are set, one a
    /// column.
    fn gradients<L: MarginLoss + ?Sized>(
        &self,
        open: &[&mut Problem<'_, L>],
        points: &[Point],
    ) -> Mat<f64> {
        let mut pulls = Mat::zeros(self.design.rows(), open.len());
        for (k, problem) in open.iter().enumerate() {
            problem.margins.gradient(pulls.col_as_slice_mut(k));
        }
        let mut gradients = match self.samples() {
            Some(samples) => product(samples, pulls.as_ref()),
            None => {
                let mut out = Mat::zeros(self.design.columns(), open.len());
                for k in 0..open.len() {
                    let pulls = pulls.col_as_slice(k);
                    self.design.multiply_transposed(pulls, out.col_as_slice_mut(k));
                }
                out
            }
        };
        for (k, (problem, point)) in open.iter().zip(points).enumerate() {
            let ridge = 2.0 * problem.lambda.get();
            let gradient = gradients.col_as_slice_mut(k).iter_mut();
            gradient.zip(&point.coef).for_each(|(g, w)| *g += ridge * w);
        }
        gradients
    }

    fn set_products(&self, points: &mut [Point]) {
        match self.samples() {
            Some(samples) => {
                let coefs = Mat::from_fn(samples.nrows(), points.len(), |j, k| points[k].coef[j]);
                let products = product(samples.transpose(), coefs.as_ref());
                for (k, point) in points.iter_mut().enumerate() {
                    point.products.copy_from_slice(products.col_as_slice(k));
                }
            }
            None => {
                for point in points {
                    self.design.multiply(&point.coef, &mut point.products);
                }
            }
        }
    }

    /// Returns the samples as columns; `None` if they are sparse.
    fn samples(&self) -> Option<MatRef<'_, f64>> {
        let (n, p) = (self.design.rows(), self.design.columns());
        Some(MatRef::from_column_major_slice(self.design.dense_samples()?, p, n))
    }
}

fn faer_of(matrix: &DMatrix<f64>) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(matrix.as_slice(), matrix.nrows(), matrix.ncols())
}

fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}
