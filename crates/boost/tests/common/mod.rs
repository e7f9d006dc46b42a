//! Problems with a known solution.

use margins_boost::{FocusedPlayer, Fol, Horizon};
use margins_data::{Design, Labels};
use margins_optim::online::OnlineLearner;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Samples of the cube [-1, 1]^p on both sides of a random hyperplane through the origin, none
/// nearer than `margin`.
pub(crate) fn separable(m: usize, p: usize, margin: f64, seed: u64) -> (Design, Labels) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut point = || -> Vec<f64> { (0..p).map(|_| 2.0 * random.random::<f64>() - 1.0).collect() };
    let mut normal = point();
    let norm = normal.iter().map(|w| w * w).sum::<f64>().sqrt();
    normal.iter_mut().for_each(|w| *w /= norm);
    let (mut rows, mut signs) = (Vec::new(), Vec::new());
    while rows.len() < m {
        let x = point();
        let score: f64 = x.iter().zip(&normal).map(|(x, w)| x * w).sum();
        // Both classes are there.
        let wanted = if rows.len() < 2 { [1.0, -1.0][rows.len()] } else { score.signum() };
        if score * wanted >= margin {
            rows.push(x);
            signs.push(wanted);
        }
    }
    (Design::from_rows(&rows).expect("rows"), Labels::from_signs(signs).expect("both classes"))
}

/// The most mistakes of a perceptron without intercept on such samples, `(R/gamma)^2`.
pub(crate) fn mistakes(p: usize, margin: f64) -> f64 {
    p as f64 / (margin * margin)
}

pub(crate) fn fol<'a, L: OnlineLearner>(
    learner: L,
    (design, labels): &'a (Design, Labels),
    horizon: Horizon,
    seed: u64,
) -> Fol<'a, L> {
    let player = FocusedPlayer::new(design.rows()).expect("samples");
    Fol::new(player, learner, design, labels, horizon, seed).expect("parts that fit")
}
