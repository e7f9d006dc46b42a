//! A draw and an update together: our tree beside the weighted tree of `rand_distr`.
//!
//! Both trees see the same sequence of indices and factors. `rand_distr` has no multiplication: its
//! weight is read and written.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use margins::boost::SampleTree;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::weighted::WeightedTreeIndex;

/// Not powers of two or of eight, like the sizes of real data.
const SIZES: [usize; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// Weights as a game leaves them: over several orders of magnitude.
fn weights(m: usize) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    (0..m).map(|_| (4.0 * random.random::<f64>()).exp()).collect()
}

/// The weight of a drawn index goes up and down around what it was.
fn factor(random: &mut ChaCha8Rng) -> f64 {
    if random.random() { 1.25 } else { 0.8 }
}

fn draw_and_update(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("draw and update");
    for m in SIZES {
        let mut tree = SampleTree::new(&weights(m)).expect("positive weights");
        let mut random = ChaCha8Rng::seed_from_u64(2);
        group.bench_function(BenchmarkId::new("SampleTree", m), |bencher| {
            bencher.iter(|| {
                let at = tree.draw(&mut random);
                tree.multiply(at, factor(&mut random)).expect("a factor");
                black_box(at)
            });
        });
        let mut tree = WeightedTreeIndex::new(weights(m)).expect("positive weights");
        let mut random = ChaCha8Rng::seed_from_u64(2);
        group.bench_function(BenchmarkId::new("WeightedTreeIndex", m), |bencher| {
            bencher.iter(|| {
                // Its sums drift until a draw fails, which the panicking form would not survive.
                let at = tree.try_sample(&mut random).expect("positive weights");
                let weight = tree.get(at) * factor(&mut random);
                tree.update(at, weight).expect("a weight");
                black_box(at)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, draw_and_update);
criterion_main!(benches);
