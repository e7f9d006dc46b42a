//! A draw and an update together: our tree beside the weighted tree of `rand_distr`, in turn.
//!
//! Both draw with the same generator and get the same updates. `rand_distr` has no multiplication:
//! its weight is read and written.

use std::cell::RefCell;
use std::hint::black_box;

use margins::boost::SampleTree;
use margins_benches::Comparison;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::Distribution;
use rand_distr::weighted::WeightedTreeIndex;

/// Not powers of two, like the sizes of real data.
const SIZES: [usize; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
/// Turns long enough for the upper levels of a tree to be in the cache again after the other's
/// turn.
const TURNS: usize = 41;
const OPERATIONS: u32 = 100_000;

/// Small integers: the other tree, whose sums are adjusted by differences, would drift with others
/// until a draw panics.
fn weights(m: usize) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    (0..m).map(|_| f64::from(random.random_range(1..=16u8))).collect()
}

/// Every other weight drawn is doubled, and halved in the next turn.
fn operation<'a>(
    mut draw: impl FnMut() -> usize + 'a,
    mut multiply: impl FnMut(usize, f64) + 'a,
) -> impl FnMut() + 'a {
    let mut doubled = None;
    move || {
        let drawn = black_box(draw());
        match doubled.take() {
            Some(at) => multiply(at, 0.5),
            None => {
                doubled = Some(drawn);
                multiply(drawn, 2.0);
            }
        }
    }
}

fn main() {
    let generator = || ChaCha8Rng::seed_from_u64(2);
    let mut random = generator();
    let numbers = || {
        black_box(random.random::<f64>());
    };
    let alone = Comparison::new(TURNS, OPERATIONS, || (), numbers);
    println!("a random number alone takes {:.1} ns", alone.differences[1]);
    for m in SIZES {
        let ours = RefCell::new(SampleTree::new(&weights(m)).expect("positive weights"));
        let theirs = RefCell::new(WeightedTreeIndex::new(weights(m)).expect("positive weights"));
        let (mut random, mut other) = (generator(), generator());
        let ours = operation(
            || ours.borrow_mut().draw(&mut random),
            |at, factor| ours.borrow_mut().multiply(at, factor).expect("a factor"),
        );
        let theirs = operation(
            || theirs.borrow().sample(&mut other),
            |at, factor| {
                let mut tree = theirs.borrow_mut();
                let weight = tree.get(at) * factor;
                tree.update(at, weight).expect("a weight");
            },
        );
        println!(
            "m = {m}: SampleTree, WeightedTreeIndex: {}",
            Comparison::new(TURNS, OPERATIONS, ours, theirs)
        );
    }
}
