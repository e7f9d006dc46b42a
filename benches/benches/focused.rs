//! A round of focused online learning beside one of uniform sampling: the same learner, loss and samples.
//!
//! Labels are random, so that about every other round has a loss and updates the tree, as few rounds of
//! a real game do.

use criterion::{Criterion, criterion_group, criterion_main};
use margins::boost::{FocusedPlayer, Game, SamplePlayer, Schedule, UniformPlayer};
use margins::data::{Design, Labels};
use margins::optim::online::Perceptron;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const ROWS: usize = 1_000_000;
const FEATURES: usize = 20;

fn rounds(criterion: &mut Criterion) {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let values: Vec<[f64; FEATURES]> =
        (0..ROWS).map(|_| std::array::from_fn(|_| random.random::<f64>() - 0.5)).collect();
    let signs = (0..ROWS).map(|_| if random.random() { 1.0 } else { -1.0 }).collect();
    let design = Design::from_rows(&values).expect("finite values");
    let labels = Labels::from_signs(signs).expect("both classes");
    drop(values);
    let mut group = criterion.benchmark_group("round, m = 1000000, p = 20");
    let mut bench = |name: &str, play: &mut dyn FnMut()| {
        group.bench_function(name, |bencher| bencher.iter(&mut *play));
    };
    let uniform = UniformPlayer::new(ROWS).expect("samples");
    let focused = FocusedPlayer::new(ROWS).expect("samples");
    bench("uniform", &mut player(uniform, &design, &labels));
    bench("focused", &mut player(focused, &design, &labels));
    group.finish();
}

fn player<'a>(
    player: impl SamplePlayer + 'a,
    design: &'a Design,
    labels: &'a Labels,
) -> impl FnMut() + 'a {
    let schedule = Schedule::new(1 << 50, 1).expect("rounds");
    let game = Game::new(player, Perceptron::new(FEATURES), design, labels, schedule, 1);
    let mut game = game.expect("parts that fit");
    move || assert!(game.play().expect("finite scores"))
}

criterion_group!(benches, rounds);
criterion_main!(benches);
