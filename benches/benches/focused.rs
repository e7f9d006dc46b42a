//! A round of focused online learning beside one of uniform sampling, in turn: the same learner,
//! loss and samples.
//!
//! Labels are random, so that about every other round has a loss and updates the tree, as few
//! rounds of a real game do.

use margins::boost::{FocusedPlayer, Game, Horizon, SamplePlayer, UniformPlayer};
use margins::data::{Design, Labels};
use margins::optim::online::Perceptron;
use margins_benches::Comparison;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const ROWS: usize = 1_000_000;
const FEATURES: usize = 20;
/// Many short turns, most of which no other process interrupts.
const TURNS: usize = 801;
const OPERATIONS: u32 = 4000;

fn main() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let values: Vec<[f64; FEATURES]> =
        (0..ROWS).map(|_| std::array::from_fn(|_| random.random::<f64>() - 0.5)).collect();
    let signs = (0..ROWS).map(|_| if random.random() { 1.0 } else { -1.0 }).collect();
    let design = Design::from_rows(&values).expect("finite values");
    let labels = Labels::from_signs(signs).expect("both classes");
    drop(values);
    let uniform = player(UniformPlayer::new(ROWS).expect("samples"), &design, &labels);
    let focused = player(FocusedPlayer::new(ROWS).expect("samples"), &design, &labels);
    let comparison = Comparison::new(TURNS, OPERATIONS, uniform, focused);
    let [low, median, high] = comparison.differences;
    println!("round, m = {ROWS}, p = {FEATURES}: uniform, focused: {comparison}");
    println!("the focused one takes {median:.0} ns more ({low:.0} to {high:.0})");
}

fn player<'a>(
    player: impl SamplePlayer + 'a,
    design: &'a Design,
    labels: &'a Labels,
) -> impl FnMut() + 'a {
    let horizon = Horizon::new(1 << 50, 1).expect("rounds");
    let game = Game::new(player, Perceptron::new(FEATURES), design, labels, horizon, 1);
    let mut game = game.expect("parts that fit");
    move || assert!(game.play().expect("finite scores"))
}
