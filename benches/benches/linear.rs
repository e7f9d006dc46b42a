//! One linear fit and one path of 100 lambdas on simulated data of the size of the comparisons.

use criterion::{Criterion, criterion_group, criterion_main};
use margins::data::Dataset;
use margins::data::generate::{Example, GaussianMixture};
use margins::losses::LeakyHockeyStick;
use margins::optim::{Lambda, Objective, Options, Solver, fit, lambda_grid, path};

fn mixture(example: Example) -> Dataset {
    let mixture = GaussianMixture::example(example, 1).expect("an example of the paper");
    mixture.sample(900, 1).expect("two classes")
}

fn one_fit(criterion: &mut Criterion) {
    let data = mixture(Example::Three { p: 30 });
    let objective = Objective::of(&LeakyHockeyStick, &data).expect("it fits together");
    let lambda = Lambda::new(1e-2).expect("positive");
    let mut group = criterion.benchmark_group("fit, n = 900, p = 30, lambda = 0.01");
    for (name, solver) in
        [("newton", Solver::Newton), ("mm", Solver::MM), ("mm-accelerated", Solver::MM_ACCELERATED)]
    {
        let options = Options { solver, ..Options::default() };
        group.bench_function(name, |bencher| {
            bencher.iter(|| fit(&objective, lambda, &options).expect("a solvable problem"));
        });
    }
    group.finish();
}

fn one_path(criterion: &mut Criterion) {
    let lambdas = lambda_grid(1.0, 1e-7, 100).expect("a grid");
    let mut group = criterion.benchmark_group("path of 100 lambdas, n = 900");
    for (name, example) in [("p = 2", Example::One), ("p = 30", Example::Three { p: 30 })] {
        let data = mixture(example);
        let objective = Objective::of(&LeakyHockeyStick, &data).expect("it fits together");
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                path(&objective, &lambdas, &Options::default(), &|_| {})
                    .expect("a solvable problem")
            });
        });
    }
    group.finish();
}

criterion_group!(benches, one_fit, one_path);
criterion_main!(benches);
