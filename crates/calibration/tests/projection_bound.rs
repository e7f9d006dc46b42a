//! The bound of Garg and Roth: its terms by hand, what it bounds, and its direction.

use margins_calibration::projection_bound::{projection_bound, sign_change};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

#[test]
fn terms_by_hand() {
    // 3 exp(-k/18) and 2/k at h = 1: equal near k = 18 ln(1.5 k).
    assert_eq!(sign_change(1.0, 1), 1.0);
    assert!((sign_change(1.0, 10) - 0.2).abs() < 1e-15);
    assert!((sign_change(-1.0, 180) - 3.0 * (-10.0f64).exp()).abs() < 1e-15);
    assert_eq!(sign_change(0.0, 1000), 1.0);
    let margins = [0.9, 0.8, -0.1, 0.7, 0.95, 0.6, 0.5, 0.99];
    let (n, delta) = (4.0f64, 0.1f64);
    let found = projection_bound(&margins, delta, 1).unwrap();
    assert!((1..=2).contains(&found.dimension) && found.is_vacuous() && found.bound() == 1.0);
    let changes: f64 = margins.iter().map(|&h| sign_change(h, found.dimension)).sum();
    assert!((found.projection - 2.0 / (delta * n) * changes).abs() < 1e-12);
    let k = found.dimension as f64 + 2.0;
    let inside = k * (n * 1f64.exp() / k).ln() + (2.0 / delta).ln();
    assert!((found.complexity - 2.0 * (inside / (2.0 * n)).sqrt()).abs() < 1e-12);
    assert!((found.confidence - 0.6).abs() < 1e-15 && (found.error == 0.0 || found.error == 0.25));
}

/// A random Gaussian projection changes the sign no more often than the term says.
#[test]
fn signs_change_as_seldom_as_stated() {
    const TRIALS: usize = 4000;
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    for h in [0.2f64, 0.5, 0.8] {
        for k in [1, 5, 20, 80] {
            // Coordinates along w, and along x orthogonal to w.
            let changed = (0..TRIALS).filter(|_| {
                let product: f64 = (0..k)
                    .map(|_| {
                        let (along, across) = (normal(), normal());
                        along * (h * along + (1.0 - h * h).sqrt() * across)
                    })
                    .sum();
                product <= 0.0
            });
            let share = changed.count() as f64 / TRIALS as f64;
            let deviation = 3.0 * (0.25 / TRIALS as f64).sqrt();
            assert!(share <= sign_change(h, k) + deviation, "{h} {k}: {share}");
        }
    }
}

#[test]
fn few_rows_say_nothing_and_many_do() {
    assert!(projection_bound(&[1.0; 1000], 0.025, 1).unwrap().is_vacuous());
    let many = projection_bound(&vec![1.0; 100_000], 0.025, 1).unwrap();
    assert!(many.bound() < 0.5 && many.error == 0.0, "{many:?}");
    // A tenth of the rows is wrong.
    let margins: Vec<f64> = (0..100_000).map(|i| if i % 10 == 0 { -1.0 } else { 1.0 }).collect();
    let some = projection_bound(&margins, 0.025, 1).unwrap();
    assert!((some.error - 0.1).abs() < 0.01 && (some.projection - many.projection).abs() < 1e-9);
    let refused =
        |margins: &[f64], delta| projection_bound(margins, delta, 1).unwrap_err().to_string();
    assert!(refused(&[0.5; 5], 0.1).contains("the number of margins is 5"));
    assert!(refused(&[0.5; 9], 0.25).contains("delta is 0.25"));
    assert!(refused(&[2.0; 9], 0.1).contains("margin 0 is 2"));
}

proptest! {
    #[test]
    fn larger_margins_lower_the_bound(
        margins in proptest::collection::vec(0.0..1.0f64, 6..60),
        growth in 1.0..2.0f64,
        delta in 0.01..0.2f64,
    ) {
        let larger: Vec<f64> = margins.iter().map(|h| (h * growth).min(1.0)).collect();
        let sum = |margins: &[f64]| {
            let found = projection_bound(margins, delta, 1).unwrap();
            found.projection + found.complexity
        };
        prop_assert!(sum(&larger) <= sum(&margins) * (1.0 + 1e-12));
    }
}
