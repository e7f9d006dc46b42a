//! Platt scaling, isotonic regression and reliability against their definitions.

use margins_calibration::Error;
use margins_calibration::probability::{Binning, IsotonicRegression, PlattScaling, Reliability};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn signs_of(positive: &[bool]) -> Vec<f64> {
    positive.iter().map(|&yes| if yes { 1.0 } else { -1.0 }).collect()
}

fn targets(signs: &[f64]) -> Vec<f64> {
    let positives = signs.iter().filter(|&&y| y > 0.0).count() as f64;
    let negatives = signs.len() as f64 - positives;
    let (high, low) = ((positives + 1.0) / (positives + 2.0), 1.0 / (negatives + 2.0));
    signs.iter().map(|&y| if y > 0.0 { high } else { low }).collect()
}

fn cross_entropy(scores: &[f64], signs: &[f64], a: f64, b: f64) -> f64 {
    let term = |(f, t): (&f64, f64)| {
        let p = 1.0 / (1.0 + (a * f + b).exp());
        -t * p.ln() - (1.0 - t) * (-p).ln_1p()
    };
    scores.iter().zip(targets(signs)).map(term).sum()
}

const SCORES: [f64; 8] = [-2.0, -1.5, -0.5, 0.1, 0.3, 1.0, 1.4, 3.0];
const SIGNS: [f64; 8] = [-1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1.0];

#[test]
fn platt_against_a_grid() {
    let platt = PlattScaling::fit(&SCORES, &SIGNS).unwrap();
    let (a, b) = (platt.slope(), platt.intercept());
    let least = cross_entropy(&SCORES, &SIGNS, a, b);
    for i in -40..=40 {
        for j in -40..=40 {
            for width in [1e-4, 0.05, 1.0] {
                let (da, db) = (width * f64::from(i) / 20.0, width * f64::from(j) / 20.0);
                assert!(cross_entropy(&SCORES, &SIGNS, a + da, b + db) >= least - 1e-14);
            }
        }
    }
    assert!(a < 0.0 && platt.iterations() < 10);
}

#[test]
fn platt_finds_the_link_that_made_the_signs() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let scores: Vec<f64> = (0..20_000).map(|_| rng.random_range(-4.0..4.0)).collect();
    let happens = |f: &f64| rng.random::<f64>() < 1.0 / (1.0 + (-1.3 * f + 0.4).exp());
    let positive: Vec<bool> = scores.iter().map(happens).collect();
    let platt = PlattScaling::fit(&scores, &signs_of(&positive)).unwrap();
    assert!((platt.slope() + 1.3).abs() < 0.05 && (platt.intercept() - 0.4).abs() < 0.06);
}

#[test]
fn platt_on_separable_and_constant_scores() {
    // Two points: p(-1) = 1/3 and p(1) = 2/3 are the targets, so a = -log 2 and b = 0.
    let two = PlattScaling::fit(&[-1.0, 1.0], &[-1.0, 1.0]).unwrap();
    assert!((two.slope() + 2f64.ln()).abs() < 1e-9 && two.intercept().abs() < 1e-9);
    assert!((two.probability(1.0) - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!((two.probability(1e308), two.probability(-1e308)), (1.0, 0.0));
    assert!(two.probability(-700.0) > 0.0);
    // Separable into two points: the targets again.
    let scores: Vec<f64> = (0..1000).map(|i| if i < 900 { 5.0 } else { 6.0 }).collect();
    let signs: Vec<f64> = (0..1000).map(|i| if i < 900 { -1.0 } else { 1.0 }).collect();
    let separable = PlattScaling::fit(&scores, &signs).unwrap();
    assert!((separable.probability(5.0) - 1.0 / 902.0).abs() < 1e-10);
    assert!((separable.probability(6.0) - 101.0 / 102.0).abs() < 1e-10);
    // All scores equal: the mean target.
    let constant = PlattScaling::fit(&[7.0; 4], &[1.0, 1.0, 1.0, -1.0]).unwrap();
    let mean = (3.0 * 0.8 + 1.0 / 3.0) / 4.0;
    assert!((constant.probability(-1e300) - mean).abs() < 1e-15);
    assert_eq!(constant.slope(), 0.0);
    assert!((1.0 / (1.0 + constant.intercept().exp()) - mean).abs() < 1e-15);
}

#[test]
fn platt_never_falls_as_scores_rise() {
    let signs = SIGNS.map(|sign| -sign);
    let platt = PlattScaling::fit(&SCORES, &signs).unwrap();
    assert_eq!((platt.slope(), platt.probability(-9.0)), (0.0, platt.probability(9.0)));
    // The best constant is the mean target, by symmetry one half here.
    assert!((platt.probability(0.0) - 0.5).abs() < 1e-15);
    let weighted = PlattScaling::fit_weighted(&SCORES, &signs, &[2.0; 8]).unwrap();
    assert_eq!(weighted.slope(), 0.0);
}

#[test]
fn platt_at_extreme_scores() {
    // The targets keep an outlier from certainty: it alone sets the slope.
    for outlier in [1e10, 1e150, 1e308] {
        let scores: Vec<f64> = SCORES.into_iter().chain([outlier]).collect();
        let signs: Vec<f64> = SIGNS.into_iter().chain([1.0]).collect();
        let platt = PlattScaling::fit(&scores, &signs).unwrap();
        assert!((platt.slope() * outlier + 1.7441314).abs() < 1e-7, "{platt:?}");
    }
    let far = PlattScaling::fit(&[f64::MAX, -f64::MAX], &[1.0, -1.0]).unwrap();
    assert!((far.probability(f64::MAX) - 2.0 / 3.0).abs() < 1e-9);
    let near = PlattScaling::fit(&[1.0, 1.0 + f64::EPSILON], &[-1.0, 1.0]).unwrap();
    assert!((near.probability(1.0) - 1.0 / 3.0).abs() < 1e-9);
}

#[test]
fn platt_is_equivariant() {
    let base = PlattScaling::fit(&SCORES, &SIGNS).unwrap();
    for (factor, shift) in [(1e150, 0.0), (1e-150, 0.0), (3.0, 1.0), (1e-3, 100.0), (1e8, -2.0)] {
        let scores = SCORES.map(|f| factor * f + shift);
        let platt = PlattScaling::fit(&scores, &SIGNS).unwrap();
        for (moved, f) in scores.into_iter().zip(SCORES) {
            assert!((platt.probability(moved) - base.probability(f)).abs() < 1e-9, "{factor}");
        }
    }
}

#[test]
fn isotonic_by_hand() {
    let isotonic = IsotonicRegression::fit(&SCORES, &SIGNS, None).unwrap();
    let blocks: Vec<_> = isotonic.blocks().collect();
    let want = [(-2.0, -1.5, 0.0), (-0.5, 1.0, 0.5), (1.4, 3.0, 1.0)];
    assert_eq!(blocks, want);
    for (score, p) in
        [(-9.0, 0.0), (-1.5, 0.0), (-1.0, 0.25), (-0.5, 0.5), (1.0, 0.5), (1.2, 0.75), (9.0, 1.0)]
    {
        assert!((isotonic.probability(score) - p).abs() < 1e-15, "{score}");
    }
    assert!(isotonic.probability(f64::NAN).is_nan());
    assert_eq!(isotonic.probability(f64::INFINITY), 1.0);
    // A tie, also of the two zeros, is one point.
    let tied = IsotonicRegression::fit(&[0.0, -0.0, 0.0, 1.0], &[1.0, -1.0, -1.0, 1.0], None);
    assert_eq!(tied.unwrap().blocks().next(), Some((0.0, 0.0, 1.0 / 3.0)));
    let far = IsotonicRegression::fit(&[-f64::MAX, f64::MAX], &[-1.0, 1.0], None).unwrap();
    assert_eq!(far.probability(0.0), 0.5);
    let huge = [1e308; 8];
    assert_eq!(IsotonicRegression::fit(&SCORES, &SIGNS, Some(&huge)).unwrap(), isotonic);
}

/// Returns the isotonic values by the max-min formula: the largest over i <= k of the least over j >= k of the means
/// of the scores i to j.
fn max_min(samples: &[(f64, f64, f64)]) -> Vec<f64> {
    let mean = |i: f64, j: f64| {
        let within = samples.iter().filter(|(f, _, _)| (i..=j).contains(f));
        let (sum, weight) =
            within.fold((0.0, 0.0), |(sum, weight), (_, y, c)| (sum + c * y, weight + c));
        sum / weight
    };
    let scores = || samples.iter().map(|&(f, _, _)| f);
    scores()
        .map(|k| {
            let least = |i| scores().filter(|&j| j >= k).map(|j| mean(i, j)).fold(1.0, f64::min);
            scores().filter(|&i| i <= k).map(least).fold(0.0, f64::max)
        })
        .collect()
}

#[test]
fn reliability_by_hand() {
    let probabilities = [0.1, 0.3, 0.6, 0.9, 1.0];
    let signs = [-1.0, 1.0, -1.0, 1.0, 1.0];
    let halves = Reliability::new(&probabilities, &signs, None, Binning::EqualWidth(2)).unwrap();
    let [low, high] = halves.bins() else { panic!("{:?}", halves.bins()) };
    assert_eq!((low.count, high.count), (2, 3));
    assert!((low.mean_probability - 0.2).abs() < 1e-15 && low.observed_frequency == 0.5);
    assert!((high.mean_probability - 2.5 / 3.0).abs() < 1e-15);
    let error = halves.expected_calibration_error();
    assert!((error.value - (0.6 + 0.5) / 5.0).abs() < 1e-15);
    // The first bin: S is 0, 1, 2 with probability 0.63, 0.34, 0.03, its mean 0.4. The second: 1 to
    // 3 with 0.04, 0.42, 0.54, its mean 2.5.
    let means = [0.63 * 0.4 + 0.34 * 0.6 + 0.03 * 1.6, 0.04 * 1.5 + 0.42 * 0.5 + 0.54 * 0.5];
    assert!((error.expected_if_calibrated - (means[0] + means[1]) / 5.0).abs() < 1e-15);
    let variances = [0.09 + 0.21 - means[0] * means[0], 0.24 + 0.09 - means[1] * means[1]];
    let standard = (variances[0] + variances[1]).sqrt() / 5.0;
    assert!((error.standard_error_if_calibrated - standard).abs() < 1e-15);
    let brier = halves.brier();
    assert!((brier.score - (0.01 + 0.49 + 0.36 + 0.01) / 5.0).abs() < 1e-15);
    assert!((brier.uncertainty - 0.24).abs() < 1e-15);

    let counts = |binning| -> Vec<usize> {
        let reliability = Reliability::new(&probabilities, &signs, None, binning).unwrap();
        reliability.bins().iter().map(|bin| bin.count).collect()
    };
    assert_eq!(counts(Binning::EqualWidth(10)), [1, 1, 1, 2]);
    assert_eq!(counts(Binning::EqualWidth(usize::MAX)), [1; 5]);
    assert_eq!(counts(Binning::EqualCount(1)), [5]);
    assert_eq!(counts(Binning::EqualCount(2)), [3, 2]);
    assert_eq!(counts(Binning::EqualCount(usize::MAX)), [1; 5]);
    let tied = Reliability::new(&[0.5; 5], &signs, None, Binning::EqualCount(3)).unwrap();
    assert_eq!(tied.bins().len(), 1);
}

/// A sample of weight k says as much of bins and scores as k samples; one of weight 0 says nothing.
#[test]
fn weights_count_as_repetitions() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let probabilities: Vec<f64> = (0..60).map(|_| rng.random()).collect();
    let positive: Vec<bool> = probabilities.iter().map(|&p| rng.random::<f64>() < p).collect();
    let (signs, weights) = (signs_of(&positive), (0..60).map(|i| f64::from(i % 4)));
    let weights: Vec<f64> = weights.collect();
    let repeated = |values: &[f64]| -> Vec<f64> {
        let times = |(&value, &weight): (&f64, &f64)| vec![value; weight as usize];
        values.iter().zip(&weights).flat_map(times).collect()
    };
    for binning in [Binning::EqualWidth(4), Binning::EqualCount(7)] {
        let weighted = Reliability::new(&probabilities, &signs, Some(&weights), binning).unwrap();
        let all = (repeated(&probabilities), repeated(&signs));
        let rows = Reliability::new(&all.0, &all.1, None, binning).unwrap();
        assert_eq!(weighted.bins().len(), rows.bins().len());
        for (a, b) in weighted.bins().iter().zip(rows.bins()) {
            assert!((a.mean_probability - b.mean_probability).abs() < 1e-14);
            assert!((a.observed_frequency - b.observed_frequency).abs() < 1e-14);
            assert!(a.count < b.count && a.effective_count <= a.count as f64 + 1e-12);
            assert_eq!(b.effective_count, b.count as f64);
        }
        let values = |r: &Reliability| {
            let b = r.brier();
            let parts = [b.score, b.reliability, b.resolution, b.uncertainty];
            let within = [b.within_bin_variance, b.within_bin_covariance];
            [&parts[..], &within, &[r.expected_calibration_error().value]].concat()
        };
        for (a, b) in values(&weighted).into_iter().zip(values(&rows)) {
            assert!((a - b).abs() < 1e-14, "{a} {b}");
        }
        // The same weight for all samples changes nothing: only relative weights matter.
        let same = Reliability::new(&probabilities, &signs, Some(&[0.3; 60]), binning).unwrap();
        assert_eq!(same, Reliability::new(&probabilities, &signs, None, binning).unwrap());
    }
}

#[test]
fn the_sampling_error_is_that_of_a_simulation() {
    const TRIALS: usize = 2000;
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    // Rare in the lower bins, and many enough in the upper for the normal approximation.
    let probabilities: Vec<f64> = (1..=400).map(|i| (f64::from(i) / 400.0).powi(2)).collect();
    // So many of two weights that the normal approximation is near.
    let uneven: Vec<f64> = (0..400).map(|i| f64::from(1 + 2 * (i % 2))).collect();
    for (binning, weights) in [
        (Binning::EqualWidth(3), None),
        (Binning::EqualCount(10), None),
        (Binning::EqualWidth(3), Some(&uneven[..])),
    ] {
        let mut errors = Vec::with_capacity(TRIALS);
        let mut stated = None;
        for _ in 0..TRIALS {
            let positive: Vec<bool> =
                probabilities.iter().map(|&p| rng.random::<f64>() < p).collect();
            let got =
                Reliability::new(&probabilities, &signs_of(&positive), weights, binning).unwrap();
            errors.push(got.expected_calibration_error().value);
            stated = Some(got.expected_calibration_error());
        }
        let stated = stated.unwrap();
        let mean = errors.iter().sum::<f64>() / TRIALS as f64;
        let variance = errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (TRIALS - 1) as f64;
        let spread = variance.sqrt();
        let tolerance = 4.0 * spread / (TRIALS as f64).sqrt();
        assert!((stated.expected_if_calibrated - mean).abs() < tolerance, "{stated:?} {mean}");
        assert!((stated.standard_error_if_calibrated / spread - 1.0).abs() < 0.08, "{spread}");
    }
}

#[test]
fn refusals() {
    let equal = Binning::EqualWidth(2);
    let refused = [
        PlattScaling::fit(&[], &[]).unwrap_err(),
        PlattScaling::fit(&[1.0], &[1.0, -1.0]).unwrap_err(),
        PlattScaling::fit(&[1.0, f64::INFINITY], &[1.0, -1.0]).unwrap_err(),
        PlattScaling::fit(&[1.0, 2.0], &[1.0, 0.0]).unwrap_err(),
        PlattScaling::fit(&[1.0, 2.0], &[1.0, 1.0]).unwrap_err(),
        IsotonicRegression::fit(&[1.0, 2.0], &[1.0, -1.0], Some(&[1.0])).unwrap_err(),
        IsotonicRegression::fit(&[1.0, 2.0], &[1.0, -1.0], Some(&[1.0, -1.0])).unwrap_err(),
        IsotonicRegression::fit(&[1.0, 2.0], &[1.0, -1.0], Some(&[1.0, 0.0])).unwrap_err(),
        IsotonicRegression::fit(&[1.0, 2.0], &[1.0, -1.0], Some(&[0.0, 0.0])).unwrap_err(),
        Reliability::new(&[0.5, 1.5], &[1.0, -1.0], None, equal).unwrap_err(),
        Reliability::new(&[f64::NAN], &[1.0], None, equal).unwrap_err(),
        Reliability::new(&[], &[], None, equal).unwrap_err(),
        Reliability::new(&[0.5], &[1.0], None, Binning::EqualCount(0)).unwrap_err(),
        Reliability::new(&[0.5], &[1.0], Some(&[]), equal).unwrap_err(),
        Reliability::new(&[0.5], &[1.0], Some(&[-1.0]), equal).unwrap_err(),
        Reliability::new(&[0.5], &[1.0], Some(&[0.0]), equal).unwrap_err(),
    ];
    let messages: Vec<String> = refused.iter().map(Error::to_string).collect();
    assert_eq!(
        messages,
        [
            "signs: at least one value is needed",
            "signs, one per value: expected 1, found 2",
            "scores: value inf at index 1 is not finite",
            "sign 1 is 0, but must be +1 or -1",
            "labels of both classes are needed, all 2 are of one",
            "weights, one a score: expected 2, found 1",
            "weight 1 is -1, but must be at least 0 and finite",
            "labels of both classes are needed, all 1 are of one",
            "labels of both classes are needed, all 0 are of one",
            "probability 1 is 1.5, but must be from 0 to 1",
            "probability 0 is NaN, but must be from 0 to 1",
            "signs: at least one value is needed",
            "number of bins is 0, but must be at least 1",
            "weights, one a score: expected 1, found 0",
            "weight 0 is -1, but must be at least 0 and finite",
            "positive weights: at least one value is needed",
        ]
    );
}

fn finite() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("finite", |x| x.is_finite())
}

/// The scaling with these numbers, as it is read.
fn read_platt([center, spread, slope, intercept]: [f64; 4]) -> Result<PlattScaling, String> {
    let numbers = serde_json::json!({
        "center": center, "spread": spread, "slope": slope, "intercept": intercept, "iterations": 3,
    });
    serde_json::from_value(numbers).map_err(|error| error.to_string())
}

#[test]
fn platt_is_read_where_it_is_one() {
    for (scores, signs) in [(&SCORES[..], &SIGNS[..]), (&[7.0; 3], &[1.0, 1.0, -1.0])] {
        let platt = PlattScaling::fit(scores, signs).unwrap();
        let text = serde_json::to_string(&platt).unwrap();
        assert_eq!(serde_json::from_str::<PlattScaling>(&text).unwrap(), platt);
    }
    let spread = |value: &str| {
        Err(format!(
            "the spread of a Platt scaling is {value}, but must be finite and greater than 0, or 0 with a slope of 0"
        ))
    };
    assert_eq!(read_platt([0.0, 0.0, 1.0, 0.0]), spread("0"));
    assert_eq!(read_platt([0.0, -2.0, 0.0, 0.0]), spread("-2"));
    assert_eq!(read_platt([0.0, 0.0, 0.0, 0.0]).unwrap().probability(1.0), 0.5);
}

proptest! {
    /// Whatever the scaling and the score.
    #[test]
    fn platt_gives_probabilities(
        numbers in proptest::array::uniform4(finite()),
        score in finite(),
        flat: bool,
    ) {
        let [center, spread, slope, intercept] = numbers;
        let slope = if flat || spread == 0.0 { 0.0 } else { slope };
        let platt = read_platt([center, spread.abs(), slope, intercept]).unwrap();
        prop_assert!((0.0..=1.0).contains(&platt.probability(score)), "{platt:?}");
    }

    #[test]
    fn platt_has_a_zero_gradient(
        samples in proptest::collection::vec((-20.0..20.0f64, any::<bool>()), 2..60),
    ) {
        let (scores, positive): (Vec<f64>, Vec<bool>) = samples.into_iter().unzip();
        let signs = signs_of(&positive);
        prop_assume!(positive.contains(&true) && positive.contains(&false));
        let platt = PlattScaling::fit(&scores, &signs).unwrap();
        let (mut along_score, mut total) = (0.0, 0.0);
        for (f, t) in scores.iter().zip(targets(&signs)) {
            let excess = platt.probability(*f) - t;
            along_score += f * excess;
            total += excess;
        }
        // At a slope of 0 the function may fall towards slopes that are not allowed.
        let is_flat = platt.slope() == 0.0 && along_score > 0.0;
        prop_assert!(platt.slope() <= 0.0);
        prop_assert!(total.abs() < 1e-8 && (is_flat || along_score.abs() < 1e-7), "{total} {along_score}");
    }

    #[test]
    fn isotonic_is_the_max_min_formula(
        samples in proptest::collection::vec((-6i8..6, any::<bool>(), 1u8..5), 0..25),
    ) {
        let samples: Vec<(f64, f64, f64)> = samples
            .into_iter()
            .map(|(f, yes, c)| (f64::from(f) / 2.0, f64::from(u8::from(yes)), f64::from(c)))
            .chain([(0.5, 1.0, 1.0), (0.5, 0.0, 2.0)])
            .collect();
        let scores: Vec<f64> = samples.iter().map(|s| s.0).collect();
        let signs: Vec<f64> = samples.iter().map(|s| 2.0 * s.1 - 1.0).collect();
        let weights: Vec<f64> = samples.iter().map(|s| s.2).collect();
        let isotonic = IsotonicRegression::fit(&scores, &signs, Some(&weights)).unwrap();
        for (score, want) in scores.iter().zip(max_min(&samples)) {
            prop_assert!((isotonic.probability(*score) - want).abs() < 1e-14);
        }
        let path: Vec<f64> =
            (-400..400).map(|i| isotonic.probability(f64::from(i) / 100.0)).collect();
        prop_assert!(path.is_sorted() && path.iter().all(|p| (0.0..=1.0).contains(p)));
    }

    #[test]
    fn the_brier_score_is_the_sum_of_its_parts(
        samples in proptest::collection::vec((0.0..=1.0f64, any::<bool>()), 1..200),
        bins in 1usize..20,
        by_count in any::<bool>(),
    ) {
        let (probabilities, positive): (Vec<f64>, Vec<bool>) = samples.into_iter().unzip();
        let binning = if by_count { Binning::EqualCount(bins) } else { Binning::EqualWidth(bins) };
        let got = Reliability::new(&probabilities, &signs_of(&positive), None, binning).unwrap();
        let brier = got.brier();
        let sum = brier.reliability - brier.resolution + brier.uncertainty
            + brier.within_bin_variance - brier.within_bin_covariance;
        prop_assert!((sum - brier.score).abs() < 1e-14);
        prop_assert_eq!(got.bins().iter().map(|bin| bin.count).sum::<usize>(), positive.len());
        prop_assert!(got.bins().len() <= bins);
        prop_assert!(got.bins().is_sorted_by(|a, b| a.mean_probability < b.mean_probability));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// A weight of k is k repetitions, a weight of 0 a removed sample.
    #[test]
    fn platt_weights_are_repetitions(
        samples in proptest::collection::vec((-3.0..3.0f64, any::<bool>(), 0..5usize), 4..30),
    ) {
        let mut samples = samples;
        samples.extend([(-0.3, true, 1), (0.2, false, 2)]);
        let repeat = |(f, y, k): &(f64, bool, usize)| std::iter::repeat_n((*f, *y), *k);
        let (repeated, positive): (Vec<f64>, Vec<bool>) = samples.iter().flat_map(repeat).unzip();
        let repeated = PlattScaling::fit(&repeated, &signs_of(&positive)).unwrap();
        let scores: Vec<f64> = samples.iter().map(|sample| sample.0).collect();
        let positive: Vec<bool> = samples.iter().map(|sample| sample.1).collect();
        let weights: Vec<f64> = samples.iter().map(|sample| sample.2 as f64).collect();
        let weighted = PlattScaling::fit_weighted(&scores, &signs_of(&positive), &weights).unwrap();
        for f in [-5.0, -1.0, 0.0, 0.4, 2.0] {
            let (p, q) = (weighted.probability(f), repeated.probability(f));
            prop_assert!((p - q).abs() <= 1e-8, "{f}: {p} {q}");
        }
    }
}

#[test]
fn platt_weights_of_any_size() {
    let fit = |weights: &[f64]| PlattScaling::fit_weighted(&SCORES, &SIGNS, weights);
    // Fractions too: the targets are those of the sums 4/3 and 4/3.
    let third = fit(&[1.0 / 3.0; 8]).unwrap();
    assert!(
        third.slope() < 0.0 && third.slope() > PlattScaling::fit(&SCORES, &SIGNS).unwrap().slope()
    );
    // Without weight no evidence, with much the proportions themselves.
    assert!((fit(&[1e-200; 8]).unwrap().probability(3.0) - 0.5).abs() < 1e-9);
    let heavy = fit(&[1e200; 8]).unwrap();
    assert!(heavy.slope() < PlattScaling::fit(&SCORES, &SIGNS).unwrap().slope());
    let refused = |weights: &[f64]| fit(weights).unwrap_err().to_string();
    assert_eq!(refused(&[1.0; 7]), "weights, one a score: expected 8, found 7");
    let negative = [1.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    assert_eq!(refused(&negative), "weight 2 is -1, but must be finite and at least 0");
    assert!(refused(&[f64::INFINITY; 8]).starts_with("weight 0 is inf"));
    assert_eq!(refused(&[f64::MAX; 8]), "the sum of the weights is inf, but must be finite");
    let one_class = [1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0];
    assert!(matches!(fit(&one_class), Err(Error::OneClass(4))));
}
