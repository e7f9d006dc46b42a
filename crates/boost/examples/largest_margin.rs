//! Compares the smallest margins of weighted votes of decision stumps: of AdaBoost, of focused online
//! learning with Winnow, and the largest one that there is, between two bounds. Boosting looks for a
//! large smallest margin, focused online learning for a positive one.
//!
//!     cargo run --release -p margins-boost --example largest_margin

use margins_boost::opponents::{AdaBoost, largest_margin};
use margins_boost::{Combination, FocusedPlayer, Fol, Horizon, Stop, StumpSearch, StumpWinnow};
use margins_data::{Design, Labels};
use margins_optim::online::Scorer;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const ROWS: usize = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{:>4}{:>10}{:>10}{:>12}{:>12}", "seed", "AdaBoost", "FOL", "at least", "at most");
    for seed in 1..=3 {
        // Twelve features of +1 and -1, of which five vote for the class with different weights.
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut sign = || if random.random() { 1.0 } else { -1.0 };
        let rows: Vec<[f64; 12]> = (0..ROWS).map(|_| std::array::from_fn(|_| sign())).collect();
        let class = |x: &[f64; 12]| 3.0 * x[0] + 2.0 * x[1] + 2.0 * x[2] + x[3] + x[4];
        let signs = rows.iter().map(|x| class(x).signum()).collect();
        let (design, labels) = (Design::from_rows(&rows)?, Labels::from_signs(signs)?);
        let smallest = |vote: &dyn Scorer| {
            let margins = design.samples().zip(labels.signs()).map(|(x, y)| y * vote.score(&x));
            margins.fold(f64::INFINITY, f64::min)
        };

        let search = StumpSearch::new(&design);
        let mut boost = AdaBoost::new(&design, &labels)?;
        for _ in 0..2000 {
            boost.round(|weights| Ok(search.best(&labels, weights)?.0))?;
        }

        let learner = StumpWinnow::new(&design, 1, 0.1)?;
        let player = FocusedPlayer::new(ROWS)?;
        // Winnow makes at most 2 ln(24)/0.1^2 mistakes at the margin 0.1.
        let horizon = Horizon::classification(ROWS, 0.01, 2.0 * 24f64.ln() / 0.01)?;
        let game = Fol::new(player, learner, &design, &labels, horizon, seed)?;
        let mut game = game.with_combination(Combination::Average);
        game.run(Stop::Never)?;

        let largest =
            largest_margin(&design, &labels, 0.01, |weights| search.best(&labels, weights))?;
        let (boosted, focused) = (smallest(boost.vote()), smallest(game.ensemble()));
        let (lower, upper) = (largest.lower, largest.upper);
        println!("{seed:>4}{boosted:>10.4}{focused:>10.4}{lower:>12.4}{upper:>12.4}");
    }
    Ok(())
}
