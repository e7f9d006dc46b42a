//! A draw and an update together: our tree beside the weighted tree of `rand_distr`.
//!
//! `rand_distr` has no multiplication: its weight is read and written.

use std::cell::RefCell;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use margins::boost::SampleTree;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::Distribution;
use rand_distr::weighted::WeightedTreeIndex;

/// Not powers of two or of eight, like the sizes of real data.
const SIZES: [usize; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// Small integers: the other tree, whose sums are adjusted by differences, would drift with others until
/// a draw panics.
fn weights(m: usize) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    (0..m).map(|_| f64::from(random.random_range(1..=16u8))).collect()
}

/// Every other weight drawn is doubled, and halved in the next turn.
fn turns(mut draw: impl FnMut() -> usize) -> impl FnMut() -> (usize, f64) {
    let mut doubled = None;
    move || {
        let drawn = black_box(draw());
        match doubled.take() {
            Some(at) => (at, 0.5),
            None => {
                doubled = Some(drawn);
                (drawn, 2.0)
            }
        }
    }
}

fn draw_and_update(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("draw and update");
    for m in SIZES {
        let tree = RefCell::new(SampleTree::new(&weights(m)).expect("positive weights"));
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let mut turn = turns(|| tree.borrow().draw(&mut random));
        group.bench_function(BenchmarkId::new("SampleTree", m), |bencher| {
            bencher.iter(|| {
                let (at, factor) = turn();
                tree.borrow_mut().multiply(at, factor).expect("a factor");
            });
        });
        let tree = RefCell::new(WeightedTreeIndex::new(weights(m)).expect("positive weights"));
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let mut turn = turns(|| tree.borrow().sample(&mut random));
        group.bench_function(BenchmarkId::new("WeightedTreeIndex", m), |bencher| {
            bencher.iter(|| {
                let (at, factor) = turn();
                let mut tree = tree.borrow_mut();
                let weight = tree.get(at) * factor;
                tree.update(at, weight).expect("a weight");
            });
        });
    }
    group.finish();
}

criterion_group!(benches, draw_and_update);
criterion_main!(benches);
