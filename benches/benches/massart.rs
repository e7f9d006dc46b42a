//! The loop of the learner under Massart noise on dense samples of 1000 features, beside plain
//! passes over the same memory: the products with one vector, which read every sample once, are the
//! bound.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use margins::data::generate::{Adversary, MarginHalfspace, MassartDistribution};
use margins::massart::{Plan, Problem, Sgd, Sphere};

fn loop_and_pass(criterion: &mut Criterion) {
    // 160 MB: more than the caches hold.
    const ROWS: usize = 20_000;
    let halfspace = MarginHalfspace::new(1000, 0.05, 1).expect("a halfspace");
    let points = halfspace.points(ROWS, 1).expect("points");
    let noisy = MassartDistribution::of_halfspace(&halfspace, points, &Adversary::Random, 0.3)
        .expect("a distribution");
    let signs = noisy.flip(1);
    let design = noisy.design();
    let sphere = Sphere::new(design).expect("unit rows");
    let problem = Problem::new(0.3, 0.05).expect("in range");
    let step = Plan::practical(&problem).step;
    let mut group = criterion.benchmark_group("one pass, 20000 x 1000");
    group.throughput(Throughput::Bytes((ROWS * 1000 * 8) as u64));
    group.sample_size(20);
    let mut out = vec![0.0; ROWS];
    group.bench_function("products", |bencher| {
        bencher.iter(|| design.multiply(halfspace.normal(), &mut out));
    });
    group.bench_function("massart-sgd", |bencher| {
        let mut sgd = Sgd::new(problem, 1000, step).expect("a step");
        bencher.iter(|| sgd.run(&sphere, signs.iter().copied().enumerate()).expect("short steps"));
    });
    group.finish();
}

criterion_group!(benches, loop_and_pass);
criterion_main!(benches);
