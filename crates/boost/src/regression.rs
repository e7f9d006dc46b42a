//! Regression with targets in [0, 1]: a small absolute error on every sample.

use margins_data::{Design, Sample};
use margins_losses::OutOfRange;
use margins_optim::Status;
use margins_optim::method::Limits;
use margins_optim::online::{Iterate, LinearClassifier};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::{Error, FocusedPlayer, Horizon, SamplePlayer};

/// The mean of linear functions, each clipped to [0, 1]: `h(x) = mean_j min(1, max(0, <w_j, x>))`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClippedMean(Vec<Vec<f64>>);

impl ClippedMean {
    /// Returns the coefficients w_j of each function.
    pub fn members(&self) -> &[Vec<f64>] {
        &self.0
    }

    /// Returns `h(x)`, from 0 to 1; 0 without functions.
    ///
    /// # Panics
    /// If the sample has other features than the functions.
    pub fn predict(&self, x: &Sample<'_>) -> f64 {
        let sum: f64 = self.0.iter().map(|w| x.dot(w).clamp(0.0, 1.0)).sum();
        sum / self.0.len().max(1) as f64
    }
}

/// The end of a [`RegressionGame`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegressionOutcome {
    /// The number of rounds played.
    pub rounds: u64,
    /// The round by which the mean of the functions was known to have an error of at most epsilon on
    /// every sample; `None` if it never was.
    pub reached_at: Option<u64>,
    /// The sum of the losses that were seen.
    pub seen_loss: f64,
    /// The limit that ended the game, if one did.
    pub stopped: Option<Status>,
}

/// Focused online learning of a bounded linear function (example 2 of the paper): targets y_i in
/// [0, 1], functions `h_w(x) = min(1, max(0, <w, x>))` with `||w|| <= W`, losses `|h_w(x) - y|`.
///
/// Round t: the focused player draws a sample, the loss of the present function goes to the player,
/// and the learner takes a gradient step of length `W/(X sqrt T)` on a surrogate of the loss, projected
/// on the ball of radius W, with X the largest norm of a sample. With `p = <w, x>` the surrogate is
/// `max(0, 1 - p)` for y = 1, `max(0, p)` for y = 0, and `|p - y|` for other targets: convex, at least
/// the loss, and 0 exactly where the loss is 0. The functions before k random rounds are kept. Their
/// mean has at most the mean of their losses, because `|h - y|` is convex in h.
///
/// The learner's losses sum to at most `X W sqrt T` more than the surrogates of any w (Zinkevich 2003).
/// If some w has no loss, its surrogates are 0, and theorem 1 holds with `B = X W sqrt T`
/// ([`Horizon::with_regret`]): with probability `1 - delta` the mean has an error of at most epsilon
/// on every sample.
///
/// ```
/// use margins_boost::{Horizon, RegressionGame};
/// use margins_data::Design;
/// use margins_optim::method::Limits;
///
/// let design = Design::from_rows(&[[0.1, 0.9], [0.5, 0.5], [0.9, 0.2], [0.3, 0.1]])?;
/// let targets = [0.5, 0.5, 0.55, 0.2]; // <(0.5, 0.5), x>
/// let horizon = Horizon::with_regret(4, 0.1, 0.01, 0.0, 1.0)?;
/// let mut game = RegressionGame::new(&design, &targets, 1.0, horizon, 1)?;
/// let ending = game.run(Some(0.1), &Limits::default())?;
/// assert!(ending.reached_at.is_some() && game.max_error() <= 0.1);
/// assert!((game.predictor().predict(&design.sample(2)) - 0.55).abs() <= 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Source: Shalev-Shwartz and Wexler (2016), example 2.
#[derive(Debug, Clone)]
pub struct RegressionGame<'a> {
    design: &'a Design,
    targets: &'a [f64],
    norm: f64,
    step: f64,
    horizon: Horizon,
    outputs: Vec<u64>,
    random: ChaCha8Rng,
    player: FocusedPlayer,
    iterate: Iterate,
    kept: ClippedMean,
    /// The sums of the predictions of the functions kept, one per sample.
    sums: Vec<f64>,
    round: u64,
    seen_loss: f64,
    reached_at: Option<u64>,
}

/// The seeds of the two uses of randomness, so that the outputs do not depend on the draws.
const SAMPLES: u64 = 0;
const OUTPUTS: u64 = 1;

impl<'a> RegressionGame<'a> {
    /// Returns a game before its first round; `norm` is W.
    ///
    /// # Errors
    /// Another number of targets than of samples, a target that is not in [0, 1], or a norm that is
    /// not a finite number greater than 0.
    pub fn new(
        design: &'a Design,
        targets: &'a [f64],
        norm: f64,
        horizon: Horizon,
        seed: u64,
    ) -> Result<Self, Error> {
        Error::check_len("targets", design.rows(), targets.len())?;
        if let Some(at) = targets.iter().position(|y| !(0.0..=1.0).contains(y)) {
            return Err(Error::Target { at, value: targets[at] });
        }
        let norm = OutOfRange::check_positive("the norm", norm)?;
        let largest = largest_norm(design);
        let scale = largest * (horizon.rounds() as f64).sqrt();
        let step = if scale > 0.0 { norm / scale } else { 0.0 };
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(OUTPUTS);
        let outputs = horizon.draw_outputs(&mut random);
        random.set_stream(SAMPLES);
        random.set_word_pos(0);
        Ok(RegressionGame {
            design,
            targets,
            norm,
            step,
            horizon,
            outputs,
            random,
            player: FocusedPlayer::new(design.rows())?,
            iterate: Iterate::new(LinearClassifier::zero(design.columns())),
            kept: ClippedMean::default(),
            sums: vec![0.0; design.rows()],
            round: 0,
            seen_loss: 0.0,
            reached_at: None,
        })
    }

    /// Plays to the end, to a limit, or until the mean of the functions kept has an error of at most
    /// epsilon on every sample, which is checked whenever a function is kept.
    ///
    /// # Errors
    /// Coefficients that overflow.
    pub fn run(
        &mut self,
        epsilon: Option<f64>,
        limits: &Limits<'_>,
    ) -> Result<RegressionOutcome, Error> {
        const ROUNDS_A_LOOK: u64 = 64;
        let mut stopped = None;
        while self.round < self.horizon.rounds() && self.reached_at.is_none() {
            if self.round.is_multiple_of(ROUNDS_A_LOOK) {
                stopped = limits.reached();
                if stopped.is_some() {
                    break;
                }
            }
            let kept = self.kept.0.len();
            self.play()?;
            if let Some(epsilon) = epsilon
                && self.kept.0.len() > kept
                && self.max_error() <= epsilon
            {
                self.reached_at = Some(self.round);
            }
        }
        let (rounds, reached_at, seen_loss) = (self.round, self.reached_at, self.seen_loss);
        Ok(RegressionOutcome { rounds, reached_at, seen_loss, stopped })
    }

    fn play(&mut self) -> Result<(), Error> {
        let row = self.player.draw(&mut self.random);
        let (x, y) = (self.design.sample(row), self.targets[row]);
        let product = self.iterate.product(&x);
        let loss = (product.clamp(0.0, 1.0) - y).abs();
        while self.outputs.get(self.kept.0.len()) == Some(&self.round) {
            self.keep();
        }
        // The slope of |p - y| would pull a function back that is right because it is clipped.
        let slope = if loss == 0.0 { 0.0 } else { (product - y).signum() };
        self.iterate.advance(1.0, (-self.step * slope, 0.0), &x, product)?;
        self.iterate.finish(Some(self.norm));
        self.player.observe(row, loss)?;
        self.seen_loss += loss;
        self.round += 1;
        Ok(())
    }

    /// Keeps the present function.
    fn keep(&mut self) {
        let coef = self.iterate.last().coef;
        for (sum, x) in self.sums.iter_mut().zip(self.design.samples()) {
            *sum += x.dot(&coef).clamp(0.0, 1.0);
        }
        self.kept.0.push(coef);
    }

    /// Returns the mean of the functions kept, or the present function before the first was.
    pub fn predictor(&self) -> ClippedMean {
        match self.kept.0.is_empty() {
            true => ClippedMean(vec![self.iterate.last().coef]),
            false => self.kept.clone(),
        }
    }

    /// Returns the errors `|h(x_i) - y_i|` of the [predictor](Self::predictor), one per sample.
    pub fn errors(&self) -> Vec<f64> {
        let count = self.kept.0.len() as f64;
        let error = |(row, (sum, y)): (usize, (&f64, &f64))| match self.kept.0.is_empty() {
            true => (self.iterate.product(&self.design.sample(row)).clamp(0.0, 1.0) - y).abs(),
            false => (sum / count - y).abs(),
        };
        self.sums.iter().zip(self.targets).enumerate().map(error).collect()
    }

    /// Returns the largest error of the predictor.
    pub fn max_error(&self) -> f64 {
        self.errors().into_iter().fold(0.0, f64::max)
    }
}

/// Returns the largest norm X of a sample.
pub fn largest_norm(design: &Design) -> f64 {
    design.samples().map(|x| x.squared_norm()).fold(0.0, f64::max).sqrt()
}
