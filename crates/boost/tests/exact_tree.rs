//! The tree beside a reference in twice the precision.
//!
//! `cargo test --release -p margins-boost --test exact_tree -- --ignored` takes 10^8 updates.

use margins_boost::SampleTree;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A positive number `(high + low) 2^exponent`, good to about 100 bits.
#[derive(Clone, Copy)]
struct Reference {
    high: f64,
    low: f64,
    exponent: i64,
}

impl Reference {
    /// `high factor` in two parts (fused multiplication), then `high` back into [2^-512, 2^512].
    fn multiply(&mut self, factor: f64) {
        let product = self.high * factor;
        let error = self.high.mul_add(factor, -product) + self.low * factor;
        self.high = product + error;
        self.low = error - (self.high - product);
        if self.high > 2f64.powi(512) {
            self.high *= 2f64.powi(-512);
            self.low *= 2f64.powi(-512);
            self.exponent += 512;
        }
        if self.high < 2f64.powi(-512) {
            self.high *= 2f64.powi(512);
            self.low *= 2f64.powi(512);
            self.exponent -= 512;
        }
    }
}

/// The largest difference between the probabilities of the tree and those of the reference.
fn difference(tree: &SampleTree, reference: &[Reference]) -> f64 {
    let top = reference.iter().map(|w| w.exponent).max().expect("weights");
    let scaled = |w: &Reference| {
        let shift = i32::try_from(w.exponent - top).unwrap_or(i32::MIN).max(-2000);
        let scale = 2f64.powi(shift / 2);
        (w.high * scale * scale, w.low * scale * scale)
    };
    // Sums of high and low parts, the former by Neumaier's compensation.
    let (mut sum, mut low) = (0.0f64, 0.0f64);
    for (high, part) in reference.iter().map(scaled) {
        let next = sum + high;
        low += part + if sum >= high { (sum - next) + high } else { (high - next) + sum };
        sum = next;
    }
    let total = sum + low;
    let probabilities = reference.iter().map(scaled).map(|(high, part)| (high + part) / total);
    let differences = probabilities.enumerate().map(|(at, p)| (p - tree.probability(at)).abs());
    differences.fold(0.0, f64::max)
}

/// Updates as in a game, `exp(loss/(2 m p_i))` with `p_i` the mixed probability and losses from 0
/// to 1, alternating between drawn and uniform samples.
fn largest_difference(m: usize, updates: u64, checks: u64) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(m as u64);
    let mut tree = SampleTree::uniform(m).expect("weights");
    let mut reference = vec![Reference { high: 1.0, low: 0.0, exponent: 0 }; m];
    let mut largest = 0.0f64;
    for update in 1..=updates {
        let at = if random.random() { tree.draw(&mut random) } else { random.random_range(0..m) };
        let p = 0.5 * tree.probability(at) + 0.5 / m as f64;
        let factor = (random.random::<f64>() * 0.5 / (m as f64 * p)).exp();
        tree.multiply(at, factor).expect("a factor");
        reference[at].multiply(factor);
        if update % (updates / checks) == 0 {
            largest = largest.max(difference(&tree, &reference));
        }
    }
    largest
}

#[test]
fn probabilities_stay_exact() {
    for m in [1, 2, 9, 1000] {
        let difference = largest_difference(m, 300_000, 30);
        assert!(difference < 1e-12, "m = {m}: {difference}");
    }
}

#[test]
#[ignore = "10^8 updates: half a minute in a release build"]
fn probabilities_stay_exact_for_100_million_updates() {
    for m in [10, 1001, 100_000] {
        let difference = largest_difference(m, 100_000_000, 100);
        println!("m = {m}: {difference:e}");
        assert!(difference < 1e-12, "m = {m}: {difference}");
    }
}
