//! The focused draws alone, beside the player of a game and by the properties of the proof.

use margins_boost::{Error, FocusedPlayer, FocusedSampler, SamplePlayer};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// A loss that depends on the sample and on how far the game is.
fn loss(row: usize, round: usize) -> f64 {
    ((row * 7 + round * 3) % 11) as f64 / 10.0
}

/// Draws a batch and observes its losses; returns both.
fn step(sampler: &mut FocusedSampler, batch: usize, round: usize) -> Vec<(usize, f64)> {
    let drawn = sampler.draw(batch).unwrap().iter().map(|&row| (row, loss(row, round)));
    let drawn: Vec<(usize, f64)> = drawn.collect();
    sampler.observe(&drawn.iter().map(|&(_, loss)| loss).collect::<Vec<_>>()).unwrap();
    drawn
}

/// Returns the logarithm of the sum of the weights.
fn log_total(sampler: &FocusedSampler) -> f64 {
    let logarithms: Vec<f64> = (0..sampler.rows()).map(|row| sampler.log_weight(row)).collect();
    let largest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + logarithms.iter().map(|l| (l - largest).exp()).sum::<f64>().ln()
}

proptest! {
    /// And the bound of the proof of theorem 1, `ln W <= ln m + 2 (e - 1) eta S`, holds.
    #[test]
    fn a_batch_of_one_is_a_round_of_the_focused_player(m in 1usize..200, seed: u64) {
        let mut sampler = FocusedSampler::new(m, seed).unwrap();
        let mut player = FocusedPlayer::new(m).unwrap();
        let (mut random, mut seen) = (ChaCha8Rng::seed_from_u64(seed), 0.0);
        for round in 0..300 {
            let (drawn, loss) = step(&mut sampler, 1, round)[0];
            prop_assert_eq!(drawn, player.draw(&mut random));
            player.observe(drawn, loss).unwrap();
            for row in 0..m {
                prop_assert_eq!(sampler.probability(row), player.probability(row));
                prop_assert_eq!(sampler.log_weight(row), player.log_weight(row));
            }
            seen += loss;
            let most = (m as f64).ln() + (std::f64::consts::E - 1.0) * seen / m as f64;
            prop_assert!(log_total(&sampler) <= most + 1e-9);
        }
    }

    /// Each drawn copy counts by the probability of its draw; A.2.2: `p_i >= 1/(2m)` and
    /// `q_i/p_i <= 2`.
    #[test]
    fn weights_are_those_of_the_draws(
        m in 1usize..40, batches in prop::collection::vec(1usize..60, 1..40), seed: u64,
    ) {
        let mut sampler = FocusedSampler::new(m, seed).unwrap();
        let mut estimates = vec![0.0; m];
        for (round, &batch) in batches.iter().enumerate() {
            let p = sampler.probabilities();
            prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let total = log_total(&sampler);
            for (row, &p) in p.iter().enumerate() {
                let q = (sampler.log_weight(row) - total).exp();
                prop_assert!((p - 0.5 * q - 0.5 / m as f64).abs() < 1e-12);
                prop_assert!(p >= 0.5 / m as f64 && q <= 2.0 * p);
            }
            for (row, loss) in step(&mut sampler, batch, round) {
                estimates[row] += loss / p[row];
            }
        }
        for (row, estimate) in estimates.iter().enumerate() {
            let (found, expected) = (sampler.log_weight(row), estimate / (2.0 * m as f64));
            prop_assert!((found - expected).abs() <= 1e-12 * (1.0 + expected));
        }
    }

    #[test]
    fn a_sampler_that_was_written_continues_to_the_bit(
        m in 1usize..100, batch in 1usize..20, seed: u64,
    ) {
        let mut sampler = FocusedSampler::new(m, seed).unwrap();
        (0..20).for_each(|round| drop(step(&mut sampler, batch, round)));
        sampler.draw(batch).unwrap();
        let text = serde_json::to_string(&sampler).unwrap();
        let mut read: FocusedSampler = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&read, &sampler);
        for sampler in [&mut sampler, &mut read] {
            sampler.observe(&vec![0.5; batch]).unwrap();
            (0..20).for_each(|round| drop(step(sampler, batch, round)));
        }
        prop_assert_eq!(read, sampler);
    }
}

/// The draws of one batch against its probabilities by a chi-square statistic, of 19 degrees of
/// freedom, mean 19 and standard deviation 6.2; and the estimate `l/p_i` of every loss, which has
/// the deviation `l sqrt((1/p_i - 1)/n)`.
#[test]
fn draws_are_unbiased_within_a_batch() {
    let (m, batch) = (20, 200_000);
    let mut sampler = FocusedSampler::new(m, 3).unwrap();
    (0..200).for_each(|round| drop(step(&mut sampler, 7, round)));
    let p = sampler.probabilities();
    assert!(p.iter().copied().fold(0.0, f64::max) > 1.5 / m as f64);
    let mut counts = vec![0.0; m];
    sampler.draw(batch).unwrap().iter().for_each(|&row| counts[row] += 1.0);
    let n = batch as f64;
    let each = counts.iter().zip(&p).map(|(count, p)| (count - n * p).powi(2) / (n * p));
    let statistic: f64 = each.sum();
    assert!((statistic - 19.0).abs() < 4.0 * 6.2, "{statistic}");
    for (row, (count, p)) in counts.iter().zip(&p).enumerate() {
        let loss = loss(row, 0);
        let deviation = loss * ((1.0 / p - 1.0) / n).sqrt();
        assert!((count / n * loss / p - loss).abs() <= 4.0 * deviation, "sample {row}");
    }
}

/// Ville's inequality: over 100 games with losses that are known, the bounds of all samples fail
/// after any batch in at most a share delta of games.
#[test]
fn the_losses_keep_to_their_bounds() {
    let (m, delta, games) = (8, 0.2, 100);
    let fails = |seed: u64| {
        let mut sampler = FocusedSampler::new(m, seed).unwrap();
        let mut sums = vec![0.0; m];
        (0..400).any(|round| {
            let batch = 1 + round % 7;
            step(&mut sampler, batch, round);
            let draws = sampler.draws() as f64;
            sums.iter_mut().enumerate().any(|(row, sum)| {
                *sum += batch as f64 * loss(row, round);
                *sum / draws > sampler.loss_bound(row, delta).unwrap()
            })
        })
    };
    let failed = (0..games).filter(|&seed| fails(seed)).count() as f64 / games as f64;
    assert!(failed <= delta, "{failed}");
    // And they say something: a sample that is always right gets a small one.
    let mut sampler = FocusedSampler::new(m, 1).unwrap();
    for _ in 0..20_000 {
        sampler.draw(1).unwrap();
        sampler.observe(&[0.0]).unwrap();
    }
    let expected = 4.0 * 8.0 * (8.0f64 / 0.05).ln() / 20_000.0;
    assert!((sampler.loss_bound(0, 0.05).unwrap() - expected).abs() < 1e-15);
}

#[test]
fn refusals_leave_the_sampler_as_it_was() {
    let mut sampler = FocusedSampler::new(3, 1).unwrap();
    let message = |result: Result<(), Error>| result.unwrap_err().to_string();
    let mut told = vec![
        message(FocusedSampler::new(0, 1).map(drop)),
        message(sampler.draw(0).map(drop)),
        message(sampler.draw(1 << 40).map(drop)),
        message(sampler.observe(&[0.5])),
        message(sampler.loss_bound(0, 1.0).map(drop)),
    ];
    let first = sampler.draw(2).unwrap()[1];
    let before = sampler.clone();
    told.push(message(sampler.draw(2).map(drop)));
    told.push(message(sampler.observe(&[0.5])));
    let refused = message(sampler.observe(&[0.5, 1.5]));
    told.push(refused.replace(&format!("sample {first}"), "sample N"));
    assert!(sampler.observe(&[f64::NAN, 0.5]).is_err());
    assert_eq!(sampler, before);
    insta::assert_snapshot!(told.join("\n"));
    let text = serde_json::to_string(&sampler).unwrap();
    let far = text.replace("\"pending\":[", "\"pending\":[7,");
    assert!(serde_json::from_str::<FocusedSampler>(&far).is_err());
}
