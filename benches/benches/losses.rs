//! Batch evaluation of losses, beside the same loop over the scalar methods.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use margins::losses::LossRegistry;

const COUNT: usize = 10_000;

fn batch_evaluation(criterion: &mut Criterion) {
    // Margins on both sides of every kink.
    let margins: Vec<f64> = (0..COUNT).map(|i| ((i * 7919) % COUNT) as f64 * 6e-4 - 2.0).collect();
    let mut out = vec![0.0; COUNT];
    for specification in
        ["lhs", "l-r:r=2", "margin-pursuit", "logistic", "squared-hinge", "hinge", "exponential"]
    {
        let loss = LossRegistry::standard().parse(specification).expect("a standard loss");
        let mut group = criterion.benchmark_group(specification);
        group.throughput(Throughput::Elements(COUNT as u64));
        group.bench_function(BenchmarkId::new("value", "batch"), |bencher| {
            bencher.iter(|| loss.values(black_box(&margins), &mut out));
        });
        group.bench_function(BenchmarkId::new("value", "scalar"), |bencher| {
            bencher.iter(|| {
                for (o, &u) in out.iter_mut().zip(black_box(&margins)) {
                    *o = loss.value(u);
                }
            });
        });
        group.bench_function(BenchmarkId::new("derivative", "batch"), |bencher| {
            bencher.iter(|| loss.derivatives(black_box(&margins), &mut out));
        });
        group.finish();
    }
}

criterion_group!(benches, batch_evaluation);
criterion_main!(benches);
