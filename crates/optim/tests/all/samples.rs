//! Samples in several places: the same solver, the same certificate.

use margins_data::{Dataset, Design};
use margins_losses::{HomogeneousTail, LeakyHockeyStick, Logistic, MarginLoss, SquaredHinge};
use margins_optim::path::path_over;
use margins_optim::problem::{
    EmpiricalRisk, FenchelYoung, MarginSummary, Point, Products, Sums, settle,
};
use margins_optim::space::{Curvature, Decline, Duals, Extent, InMemory, Scores, Smoothing, Space};
use margins_optim::{ClassWeights, Error, Objective, Options, Training, lambda_grid, path};
use margins_test_support::{mixture, weighted};
use nalgebra::DMatrix;

/// What the parts keep: one vector a part.
#[derive(Debug, Clone)]
struct Kept(Vec<Vec<f64>>);

impl Products for Kept {
    fn plus(&self, t: f64, other: &Self) -> Self {
        Kept(self.0.iter().zip(&other.0).map(|(a, b)| a.plus(t, b)).collect())
    }

    fn times(&self, factor: f64) -> Self {
        Kept(self.0.iter().map(|a| a.times(factor)).collect())
    }
}

/// Samples in parts, each of which could be on a machine of its own. Only sums, p numbers at most,
/// leave a part.
struct Parts<'o, 'a, L: MarginLoss + ?Sized> {
    parts: Vec<InMemory<'o, 'a, L>>,
    /// The labels and weights of all, which are one number per sample.
    risk: EmpiricalRisk<'a, L>,
    extent: Extent,
    columns: usize,
    residual: f64,
}

impl<L: MarginLoss + ?Sized> Parts<'_, '_, L> {
    fn sum(&mut self, mut of_part: impl FnMut(usize, &mut InMemory<'_, '_, L>) -> f64) -> f64 {
        self.parts.iter_mut().enumerate().map(|(k, part)| of_part(k, part)).sum()
    }

    fn add(
        &mut self,
        out: &mut [f64],
        write: impl Fn(usize, &mut InMemory<'_, '_, L>, &mut [f64]),
    ) {
        out.fill(0.0);
        let mut own = vec![0.0; out.len()];
        for (k, part) in self.parts.iter_mut().enumerate() {
            write(k, part, &mut own);
            out.iter_mut().zip(&own).for_each(|(o, x)| *o += x);
        }
    }
}

fn part_of(point: &Point<Kept>, k: usize) -> Point {
    Point { intercept: point.intercept, coef: Vec::new(), products: point.products.0[k].clone() }
}

impl<L: MarginLoss + ?Sized> Space for Parts<'_, '_, L> {
    fn shape(&self) -> (usize, usize) {
        (self.risk.weights().len(), self.columns)
    }

    fn is_sparse(&self) -> bool {
        false
    }

    fn has_intercept(&self) -> bool {
        self.risk.has_intercept()
    }

    fn tail(&self) -> Option<HomogeneousTail> {
        self.risk.loss().homogeneous_tail()
    }

    fn decline(&self) -> Decline {
        self.parts[0].decline()
    }

    fn extent(&self) -> &Extent {
        &self.extent
    }

    fn mean_square(&self) -> f64 {
        self.parts.iter().map(Space::mean_square).sum()
    }

    fn check_loss(&self) -> Result<(), Error> {
        self.risk.check_loss()
    }

    fn is_unbounded(&self) -> bool {
        self.risk.is_unbounded()
    }
}

impl<L: MarginLoss + ?Sized> Scores for Parts<'_, '_, L> {
    type Products = Kept;

    fn products(&mut self, coef: &[f64]) -> Kept {
        Kept(self.parts.iter_mut().map(|part| part.products(coef)).collect())
    }

    fn set(&mut self, products: &Kept, intercept: f64) -> f64 {
        self.sum(|k, part| part.set(&products.0[k], intercept))
    }

    fn settle(&mut self, products: &Kept, intercept: f64) -> f64 {
        if !self.has_intercept() {
            self.set(products, 0.0);
            return 0.0;
        }
        let set = |all: &mut Self, b| {
            let slope = all.set(products, b);
            [slope, all.sum(|_, part| part.sums().slopes)]
        };
        let curvature = |all: &mut Self| all.sum(|_, part| part.sums().curvature);
        let (b, residual) = settle(self, intercept, set, curvature);
        self.residual = residual;
        b
    }

    fn along(&mut self, point: &Point<Kept>, direction: &Point<Kept>, t: f64) -> f64 {
        self.sum(|k, part| part.along(&part_of(point, k), &part_of(direction, k), t))
    }

    fn risk_at(&mut self, products: &Kept, intercept: f64) -> f64 {
        self.sum(|k, part| part.risk_at(&products.0[k], intercept))
    }

    fn sums(&mut self) -> Sums {
        let of_parts: Vec<Sums> = self.parts.iter_mut().map(Scores::sums).collect();
        let sum = |of: fn(&Sums) -> f64| of_parts.iter().map(of).sum();
        Sums {
            risk: sum(|s| s.risk),
            size: sum(|s| s.size),
            residual: self.residual,
            slopes: sum(|s| s.slopes),
            arguments: sum(|s| s.arguments),
            curvature: sum(|s| s.curvature),
            largest: of_parts.iter().map(|s| s.largest).fold(0.0, f64::max),
        }
    }

    fn violation(&mut self, intercept: f64, coef: &[f64]) -> f64 {
        let of_part = |part: &mut InMemory<'_, '_, L>| part.violation(intercept, coef);
        self.parts.iter_mut().map(of_part).fold(0.0, f64::max)
    }

    fn gradient(&mut self, out: &mut [f64]) {
        self.add(out, |_, part, own| part.gradient(own));
    }

    fn is_contradicted(&mut self, point: &Point<Kept>) -> bool {
        let mut parts = self.parts.iter_mut().enumerate();
        parts.any(|(k, part)| part.is_contradicted(&part_of(point, k)))
    }

    fn summary(&mut self) -> MarginSummary {
        self.parts[0].summary()
    }

    fn all_beyond(&mut self, point: &Point<Kept>, from: f64) -> bool {
        let mut parts = self.parts.iter_mut().enumerate();
        parts.all(|(k, part)| part.all_beyond(&part_of(point, k), from))
    }
}

impl<L: MarginLoss + ?Sized> Curvature for Parts<'_, '_, L> {
    fn keep_curvatures(&mut self) {
        self.parts.iter_mut().for_each(Curvature::keep_curvatures);
    }

    fn forget_curvatures(&mut self) {
        self.parts.iter_mut().for_each(Curvature::forget_curvatures);
    }

    fn curvature(&mut self) -> f64 {
        self.sum(|_, part| part.curvature())
    }

    fn normal(&mut self, shift: f64, v: &[f64], out: &mut [f64]) -> f64 {
        out.fill(0.0);
        let mut own = vec![0.0; out.len()];
        let mut total = 0.0;
        for part in &mut self.parts {
            total += part.normal(shift, v, &mut own);
            out.iter_mut().zip(&own).for_each(|(o, x)| *o += x);
        }
        total
    }

    fn gram(&mut self, out: &mut DMatrix<f64>) {
        let mut own = DMatrix::zeros(out.nrows(), out.ncols());
        out.fill(0.0);
        for part in &mut self.parts {
            part.gram(&mut own);
            *out += &own;
        }
    }

    fn diagonal(&mut self, out: &mut [f64]) {
        self.add(out, |_, part, own| part.diagonal(own));
    }
}

impl<L: MarginLoss + ?Sized> Duals for Parts<'_, '_, L> {
    type Duals = Vec<Vec<f64>>;

    fn predict(&mut self, duals: Vec<Vec<f64>>, change: &Point<Kept>) -> Vec<Vec<f64>> {
        let parts = self.parts.iter_mut().zip(duals).enumerate();
        parts.map(|(k, (part, duals))| part.predict(duals, &part_of(change, k))).collect()
    }

    fn duals(&mut self) -> Vec<Vec<f64>> {
        self.parts.iter_mut().map(Duals::duals).collect()
    }

    fn balance(&mut self, duals: &mut Vec<Vec<f64>>) {
        let mut all = duals.concat();
        self.risk.balance(&mut all);
        let mut rest = &all[..];
        for own in duals {
            let (first, after) = rest.split_at(own.len());
            own.copy_from_slice(first);
            rest = after;
        }
    }

    fn total_dual(&mut self, duals: &Vec<Vec<f64>>) -> f64 {
        self.sum(|k, part| part.total_dual(&duals[k]))
    }

    fn pull(&mut self, duals: &Vec<Vec<f64>>, accurately: bool, out: &mut [f64]) {
        self.add(out, |k, part, own| part.pull(&duals[k], accurately, own));
    }

    fn imbalance(&mut self, duals: &Vec<Vec<f64>>) -> f64 {
        self.sum(|k, part| part.imbalance(&duals[k]))
    }

    fn fenchel_young(&mut self, duals: &Vec<Vec<f64>>) -> FenchelYoung {
        let none = FenchelYoung { sum: 0.0, rounding: 0.0, contradicted: false };
        self.parts.iter_mut().zip(duals).fold(none, |all, (part, duals)| {
            let own = part.fenchel_young(duals);
            FenchelYoung {
                sum: all.sum + own.sum,
                rounding: all.rounding + own.rounding,
                contradicted: all.contradicted || own.contradicted,
            }
        })
    }
}

impl<L: MarginLoss + ?Sized> Smoothing for Parts<'_, '_, L> {}

/// The rows of a part, with weights that make its mean its share of the mean over all.
fn part(data: &Dataset, rows: std::ops::Range<usize>) -> Dataset {
    let rows: Vec<usize> = rows.collect();
    let share = rows.len() as f64 / data.rows() as f64;
    let weights = rows.iter().map(|&i| share * data.weights().map_or(1.0, |c| c[i])).collect();
    let part = Dataset::new(data.design().select(&rows), data.labels().select(&rows));
    part.and_then(|part| part.with_weights(weights)).expect("a part")
}

#[test]
fn samples_in_parts_have_the_path_of_all() {
    let data = weighted(mixture(240, 10));
    let lambdas = lambda_grid(1.0, 1e-6, 15).expect("a grid");
    let parts: Vec<Dataset> =
        [0..70, 70..71 + 50, 121..240].map(|rows| part(&data, rows)).into_iter().collect();
    let options = Options { tolerance: 1e-9, ..Options::default() };
    let losses: [&dyn MarginLoss; 3] = [&LeakyHockeyStick, &Logistic, &SquaredHinge];
    for loss in losses {
        let whole = Objective::of(loss, &data).expect("fits");
        let expected = path(&whole, &lambdas, &options, &|_| {}).expect("a path");
        let objectives: Vec<Objective<'_, dyn MarginLoss>> =
            parts.iter().map(|part| Objective::of(loss, part).expect("fits")).collect();
        let samples = Parts {
            parts: objectives.iter().map(InMemory::new).collect(),
            risk: Training::new(loss).risk(&data).expect("fits"),
            extent: Extent::of(data.design()),
            columns: data.columns(),
            residual: 0.0,
        };
        let fits = path_over(samples, &lambdas, &options, &|_| {}).expect("a path");
        for (one, other) in fits.iter().zip(&expected) {
            let what = format!("{} at {}", loss.name(), one.lambda);
            assert!(one.report.converged(), "{what}: {:?}", one.report);
            let (a, b) = (one.report.objective, other.report.objective);
            assert!((a - b).abs() <= 2e-9 * a.abs().max(b.abs()), "{what}: {a} and {b}");
            let certificate = whole.certificate(one.lambda, one.intercept, &one.coef);
            let relative = certificate.expect("convex").relative_gap();
            assert!(relative <= 2e-9, "{what}: {relative:e} by the whole data");
        }
    }
}

#[test]
fn losses_with_a_kink_are_refused() {
    let design = Design::from_rows(&[[0.0], [1.0]]).expect("finite");
    let labels = margins_data::Labels::from_signs(vec![-1.0, 1.0]).expect("two classes");
    let objective = Objective::new(&margins_losses::Hinge, &design, &labels).expect("fits");
    let lambdas = lambda_grid(1.0, 0.1, 2).expect("a grid");
    let refused = path_over(InMemory::new(&objective), &lambdas, &Options::default(), &|_| {});
    assert!(matches!(refused, Err(Error::Unsuitable { .. })));
}

/// Two fits lie within their gaps of the one minimum, and their coefficients within the roots of
/// `gap/lambda` of those of the minimiser.
#[test]
fn rows_that_are_left_out_weigh_nothing() {
    let data = weighted(mixture(240, 10));
    let rows: Vec<usize> = (0..data.rows()).filter(|i| i % 5 != 2).collect();
    let losses: [&dyn MarginLoss; 3] = [&LeakyHockeyStick, &Logistic, &SquaredHinge];
    let lambdas = lambda_grid(1.0, 1e-4, 5).expect("a grid");
    for loss in losses {
        for class_weights in [ClassWeights::AsGiven, ClassWeights::Balanced] {
            let training = Training { class_weights, ..Training::new(loss) };
            let kept = training.path(&data.select(&rows), &lambdas).expect("a path");
            let shared =
                training.path_of_rows(&data, &rows, data.design(), &lambdas).expect("a path");
            for (one, other) in kept.iter().zip(&shared) {
                assert!(one.report.converged() && other.report.converged());
                let gaps = [one, other].map(|fit| fit.report.duality_gap);
                let apart = (one.report.objective - other.report.objective).abs();
                let rounding = 1e-13 * one.report.objective.abs();
                assert!(apart <= gaps[0].max(gaps[1]) + rounding, "{apart} and {gaps:?}");
                let squares = one.coef.iter().zip(&other.coef).map(|(a, b)| (a - b).powi(2));
                let distance: f64 = squares.sum::<f64>().sqrt();
                let [first, second] = gaps.map(|gap| (gap / one.lambda.get()).sqrt());
                let size = one.coef.iter().map(|w| w.abs()).sum::<f64>();
                assert!(distance <= first + second + 1e-9 * size, "{distance} at {}", one.lambda);
            }
        }
    }
}
