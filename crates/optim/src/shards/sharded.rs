//! Samples in shards as the driver sees them.

mod samples;

use margins_losses::MarginLoss;

use crate::problem::{BlockMove, BlockSums, FreeColumns, FreePart, Mobility, Point, Sums};
use crate::shards::few_samples::FewSamples;
use crate::shards::slots::{Centre, Slots, Spread};
use crate::shards::workers::{descriptions, sums};
use crate::shards::{
    Ask, Description, DualStep, Failure, FeatureSource, Handle, JointProblem, Message, Partial,
    PointStore, Reply, Request, Spot, Weighting, Workers,
};
use crate::space::Extent;

/// The largest number of slots that make up the products of a point: a step adds one, and more than
/// this many are recomputed as one.
const MOST_SLOTS: usize = 3;

/// Samples in shards, as [`Newton's method`](crate::path::path_over) sees them.
///
/// A round of messages that fails is the last one: from then on every sum is NaN, and
/// [`failure`](crate::space::Space::failure) says why.
pub struct Sharded<'a> {
    pub(super) workers: &'a mut dyn Workers,
    pub(super) loss: &'a dyn MarginLoss,
    pub(super) weighting: Weighting,
    pub(super) intercept: bool,
    /// The features that no penalty acts on.
    pub(super) free: FreeColumns,
    pub(super) partitions: usize,
    pub(super) shape: (usize, usize),
    pub(super) sparse: bool,
    pub(super) stored: usize,
    pub(super) extent: Extent,
    /// The sums of the weights of the two classes, or of all that take part.
    pub(super) totals: Vec<f64>,
    pub(super) mean_square: f64,
    /// The factors by which features are multiplied.
    pub(super) factors: Option<Vec<f64>>,
    /// The strength with which the loss is smoothed.
    pub(super) smoothing: f64,
    /// The duals about which it is smoothed; by default zeros.
    pub(super) centre: Option<Centre>,
    pub(super) points: Option<&'a dyn PointStore>,
    /// Some of the samples, where conjugate gradients are preconditioned by them.
    pub(super) few: Option<FewSamples>,
    pub(super) slots: Slots,
    pub(super) state: State,
    pub(super) rounds: usize,
    pub(super) failure: Option<Failure>,
}

/// Where the samples are.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The scores at which the margins are.
    at: Option<Located>,
    /// The scores at which the curvatures are kept.
    kept: Option<Located>,
    residual: f64,
    /// The sums at the scores where the margins are, if these have been asked for.
    sums: Option<Sums>,
    /// The sums of the duals that were asked for last.
    duals: Option<(Vec<DualStep>, [f64; 3])>,
    /// The slopes at scores that have been asked for lately.
    slopes: Vec<(Spot, Slopes)>,
    /// The gradient at the scores where the margins are, without the factors of the features, if it
    /// has come already.
    gradient: Option<Vec<f64>>,
}

/// Scores, with a hold on their slots.
#[derive(Debug, Clone)]
pub struct Located {
    products: Handle,
    intercept: f64,
    smoothing: f64,
    centre: Option<Centre>,
}

#[derive(Debug, Clone, Copy)]
struct Slopes {
    slope: f64,
    size: f64,
    curvature: f64,
    along: f64,
}

/// How duals are obtained.
#[derive(Debug, Clone)]
pub enum DualMove {
    /// Begins with the slopes at scores.
    Slopes(Located),
    /// Moves by what the curvatures at scores predict of a change.
    Predict(Located, Located),
    /// Moves towards the inside of the domain.
    PullIn(f64),
    /// Moves by an amount.
    Shift(f64),
    /// Moves by a function of the free columns.
    Block(FreePart, BlockMove),
    /// Begins with the duals of a merged problem.
    Spread(Spread),
}

impl Located {
    fn spot(&self) -> Spot {
        let terms = self.products.terms();
        // The loss itself has no centre, and a centre named in vain would have to be kept.
        let centre = self.centre.as_ref().filter(|_| self.smoothing > 0.0).map(Centre::number);
        Spot { terms, intercept: self.intercept, smoothing: self.smoothing, centre }
    }
}

fn steps(duals: &[DualMove]) -> Vec<DualStep> {
    let step = |step: &DualMove| match step {
        DualMove::Slopes(at) => DualStep::Slopes(at.spot()),
        DualMove::Predict(at, change) => DualStep::Predict { at: at.spot(), change: change.spot() },
        DualMove::PullIn(factor) => DualStep::PullIn(*factor),
        DualMove::Shift(by) => DualStep::Shift(*by),
        DualMove::Block(free, by) => DualStep::Block { free: free.clone(), by: by.clone() },
        DualMove::Spread(spread) => DualStep::Kept(spread.number()),
    };
    duals.iter().map(step).collect()
}

impl Sharded<'_> {
    /// Returns the problem for all classes at once, if it is one.
    fn joint(&self) -> Option<&JointProblem> {
        self.weighting.joint.as_deref()
    }

    /// Returns the number of rounds of messages so far.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    pub(super) fn ask(&mut self, ask: Ask) -> Result<Vec<Reply>, Failure> {
        self.rounds += 1;
        let (define, forget) = self.slots.news();
        let weighting = self.weighting.clone();
        // The first message drops what an earlier problem has left with the shards.
        let reset = self.rounds == 1;
        let features = if reset { FeatureSource::Own } else { FeatureSource::Same };
        let request = Request { reset, define, forget, features, weighting, ask };
        self.workers.round(&Message { slots: self.slots.all(), ..Message::of(&request) })
    }

    pub(super) fn describe(&mut self) -> Result<Vec<Description>, Failure> {
        let factors = self.factors.clone();
        descriptions(self.ask(Ask::Describe { factors })?)
    }

    /// Returns the sums that answer a question: so many that are added, and so many of which the
    /// largest counts.
    pub(super) fn sum(&mut self, ask: Ask, added: usize, largest: usize) -> Partial {
        let none = || Partial {
            added: vec![f64::NAN; added],
            largest: vec![f64::NAN; largest],
            listed: Vec::new(),
        };
        if self.failure.is_some() {
            return none();
        }
        let answer = self.ask(ask).and_then(|replies| sums(replies, self.partitions));
        let answer = answer.and_then(|sums| {
            let found = (sums.added.len(), sums.largest.len());
            if found == (added, largest) {
                return Ok(sums);
            }
            Err(format!("a shard answered with {found:?} sums, not {:?}", (added, largest)).into())
        });
        answer.unwrap_or_else(|failure| {
            self.failure = Some(failure);
            none()
        })
    }

    fn added(&mut self, ask: Ask, count: usize) -> Vec<f64> {
        self.sum(ask, count, 0).added
    }

    /// Returns scores at products, which are in few enough slots afterwards.
    fn locate(&self, products: &Handle, intercept: f64, most: usize) -> Located {
        self.slots.compact(products, most);
        self.located(products.clone(), intercept)
    }

    /// Returns scores at products, however many slots they are in.
    fn located(&self, products: Handle, intercept: f64) -> Located {
        Located { products, intercept, smoothing: self.smoothing, centre: self.centre.clone() }
    }

    /// Lets the products of `point + t direction` be in few enough slots.
    fn make_room(&self, point: &Point<Handle>, direction: &Point<Handle>) {
        self.slots.compact(&point.products, MOST_SLOTS - 1);
        self.slots.compact(&direction.products, 1);
    }

    fn go_to(&mut self, at: Located) {
        self.state.at = Some(at);
        (self.state.sums, self.state.gradient) = (None, None);
    }

    /// Returns the scores where the margins are.
    fn here(&self) -> Spot {
        self.state.at.as_ref().map(Located::spot).unwrap_or_default()
    }

    /// Returns the scores where the curvatures are kept.
    fn kept(&self) -> Spot {
        self.state.kept.as_ref().map(Located::spot).unwrap_or_default()
    }

    /// Returns the slopes at scores that have been asked for lately.
    fn known_slopes(&self, spot: &Spot) -> Option<Slopes> {
        self.state.slopes.iter().find(|(at, _)| at == spot).map(|(_, slopes)| *slopes)
    }

    fn slopes(&mut self, at: Vec<Spot>, direction: Option<Spot>) -> Slopes {
        const EACH: usize = 4;
        let ask = Ask::Slopes { at: at.clone(), direction };
        let sums = self.added(ask, EACH * at.len());
        let slopes = |s: &[f64]| Slopes { slope: s[0], size: s[1], curvature: s[2], along: s[3] };
        self.state.slopes = at.into_iter().zip(sums.chunks(EACH).map(slopes)).collect();
        self.state.slopes[0].1
    }

    /// Goes to an intercept, and returns the slopes there.
    fn set_intercept(&mut self, products: &Handle, intercept: f64) -> Slopes {
        let at = self.locate(products, intercept, MOST_SLOTS);
        let spot = at.spot();
        self.go_to(at);
        self.known_slopes(&spot).unwrap_or_else(|| self.slopes(vec![spot], None))
    }

    /// Goes to an intercept, and returns the slopes there; sums come in the same round, and the gradient
    /// where the intercept may be the last of a search.
    fn set_intercept_with_sums(
        &mut self,
        products: &Handle,
        intercept: f64,
        gradient: bool,
    ) -> Slopes {
        let at = self.locate(products, intercept, MOST_SLOTS);
        self.go_to(at);
        let answer = self.ask_sums(gradient);
        let sums = sums_of(&answer);
        let slopes = Slopes {
            slope: answer.added[5],
            size: sums.slopes,
            curvature: sums.curvature,
            along: 0.0,
        };
        self.state.slopes = vec![(self.here(), slopes)];
        self.state.gradient = gradient.then(|| answer.added[OF_SUMS..].to_vec());
        slopes
    }

    /// Asks for the sums, and the gradient behind them, where the margins are.
    fn ask_sums(&mut self, gradient: bool) -> Partial {
        let ask = Ask::Sums { at: self.here(), gradient };
        let features = if gradient { self.shape.1 } else { 0 };
        let answer = self.sum(ask, OF_SUMS + features, 1);
        self.state.sums = Some(sums_of(&answer));
        answer
    }

    pub(super) fn scaled(&self, coef: &[f64]) -> Vec<f64> {
        let mut coef = coef.to_vec();
        self.scale(&mut coef);
        coef
    }

    /// Returns coefficients of the features in the units of the fit.
    fn unscaled(&self, mut coef: Vec<f64>) -> Vec<f64> {
        if let Some(factors) = &self.factors {
            coef.iter_mut().zip(factors).for_each(|(w, factor)| *w /= factor);
        }
        coef
    }

    /// Multiplies a vector by the factors of the features.
    fn scale(&self, vector: &mut [f64]) {
        if let Some(factors) = &self.factors {
            vector.iter_mut().zip(factors).for_each(|(x, factor)| *x *= factor);
        }
    }

    /// Writes a sum over samples, one number per feature.
    fn write(&self, sums: &[f64], out: &mut [f64]) {
        out.copy_from_slice(sums);
        self.scale(out);
    }

    /// Returns the sums of `c |s|`, `c s y` and `c room(s)` for duals.
    fn dual_sums(&mut self, duals: &[DualMove]) -> [f64; 3] {
        let steps = steps(duals);
        if let Some((_, sums)) = self.state.duals.as_ref().filter(|(of, _)| *of == steps) {
            return *sums;
        }
        let sums = self.added(Ask::Duals(steps.clone()), 3);
        let sums = [sums[0], sums[1], sums[2]];
        self.state.duals = Some((steps, sums));
        sums
    }

    fn free_part(&self) -> FreePart {
        FreePart { columns: self.free.clone(), intercept: self.intercept }
    }

    /// Takes the penalty off some features, but for those that others of them
    /// [make up](FreeColumns::independent).
    pub(super) fn set_free(&mut self, free: FreeColumns) {
        self.free = free;
        if !self.free.is_empty() {
            let gram = self.block_sums(&[], Mobility::All).gram;
            self.free = self.free.independent(self.intercept, &gram);
        }
    }

    fn block_sums(&mut self, duals: &[DualMove], by: Mobility) -> BlockSums {
        let free = self.free_part();
        let width = free.width();
        let ask = Ask::Block { free, duals: steps(duals), by };
        BlockSums::from_list(&self.added(ask, BlockSums::count(width)), width)
    }
}

/// The number of sums before the gradient in an answer to [`Ask::Sums`].
const OF_SUMS: usize = 6;

fn sums_of(answer: &Partial) -> Sums {
    Sums {
        risk: answer.added[0],
        size: answer.added[1],
        residual: 0.0,
        slopes: answer.added[2],
        arguments: answer.added[3],
        curvature: answer.added[4],
        largest: answer.largest[0],
    }
}
