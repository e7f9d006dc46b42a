//! Learns samples of which five in two thousand contradict the others at first sight. A perceptron
//! whose samples are drawn where it errs is right on all of them after fewer rounds than one whose
//! samples are drawn evenly.
//!
//!     cargo run --release -p margins-boost --example rare_samples

use margins_boost::{Error, Evaluation, FocusedPlayer, Game, Horizon, SamplePlayer, UniformPlayer};
use margins_data::{Design, Labels};
use margins_losses::ZeroOne;
use margins_optim::online::Perceptron;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The first feature separates the classes of most samples; the second separates the rare ones,
    // and is ten times smaller there.
    let (rows, rare) = (2000, 5);
    let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let row = |i: usize| if i < rare { [-sign(i), 0.1 * sign(i)] } else { [sign(i), 0.0] };
    let design = Design::from_rows(&(0..rows).map(row).collect::<Vec<_>>())?;
    let labels = Labels::from_signs((0..rows).map(sign).collect())?;
    println!("{:>4}{:>10}{:>10}", "seed", "focused", "even");
    for seed in 1..=3 {
        let focused = rounds_to_learn(FocusedPlayer::new(rows)?, &design, &labels, seed)?;
        let even = rounds_to_learn(UniformPlayer::new(rows)?, &design, &labels, seed)?;
        println!("{seed:>4}{focused:>10}{even:>10}");
    }
    Ok(())
}

/// Returns the number of rounds after which the perceptron is right on every sample, checked every
/// hundred rounds.
fn rounds_to_learn<P: SamplePlayer>(
    player: P,
    design: &Design,
    labels: &Labels,
    seed: u64,
) -> Result<u64, Error> {
    let horizon = Horizon::classification(labels.len(), 0.01, 400.0)?;
    let mut game = Game::new(player, Perceptron::new(2), design, labels, horizon, seed)?;
    while game.play()? {
        if game.round().is_multiple_of(100)
            && Evaluation::new(game.learner(), design, labels, &ZeroOne)?.consistent()
        {
            break;
        }
    }
    Ok(game.round())
}
