//! Selection of the candidate with the lowest empirical error, without evaluating every candidate on
//! every sample.
//!
//! Neighbours in time are neighbours in space. If the unit vectors along w and v are at most r
//! apart, w and v decide differently only on unit samples with `|<v, x>| <= r ||v||`. So a
//! candidate v that stands for a stretch of time settles all other samples for all of the stretch,
//! and the errors settled so are a lower bound for every candidate of it. The bound serves three
//! times:
//!
//! * Thinning, nested: the candidate in the middle of a stretch of time is evaluated on the samples
//!   that are open, and settles most of them for both halves, until a stretch is a block of
//!   [`BLOCK`] candidates.
//! * Elimination: a stretch whose bound is no better than the best error found is dropped, the more
//!   promising half of another one goes first, and a block is dropped once all of its candidates
//!   have too many errors.
//! * Blocks: the candidates of a block and the samples that are open to it are multiplied as
//!   matrices.
//!
//! Bounds are certain, not only likely, so that the answer is the one of the exhaustive search, to
//! the last tie; a product so near 0 that its sign may be rounding is computed again by the
//! arithmetic of that search.

use std::ops::Range;

use margins_data::Memory;
use margins_optim::method::Limits;
use margins_optim::products::multiply_rows;

use crate::Error;
use crate::sphere::{SphereSample, is_wrong};

/// Candidates in the order of time, all with the same number of coefficients.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates {
    columns: usize,
    coefs: Vec<f64>,
    inverse_norms: Vec<f64>,
}

impl Candidates {
    /// Returns an empty list, to be filled.
    pub fn new(columns: usize) -> Self {
        Candidates { columns, coefs: Vec::new(), inverse_norms: Vec::new() }
    }

    /// Returns an empty list with memory for this many candidates.
    ///
    /// ```
    /// use margins_massart::{Candidates, Error};
    ///
    /// assert!(Candidates::with_capacity(20, 1000).is_ok());
    /// let refused = Candidates::with_capacity(20, usize::MAX);
    /// assert!(matches!(refused, Err(Error::Candidates { columns: 20, .. })));
    /// ```
    ///
    /// # Errors
    /// [`Error::Candidates`]: their coefficients, and a norm for each, take more memory than is free.
    pub fn with_capacity(columns: usize, count: usize) -> Result<Self, Error> {
        let of_one = columns.saturating_add(1).saturating_mul(size_of::<f64>());
        let refused = |shortage| Error::Candidates { count, columns, shortage };
        Memory::from_bytes(count.saturating_mul(of_one)).check_free().map_err(refused)?;
        let (coefs, inverse_norms) =
            (Vec::with_capacity(count * columns), Vec::with_capacity(count));
        Ok(Candidates { columns, coefs, inverse_norms })
    }

    /// Adds a candidate.
    ///
    /// # Panics
    /// The method panics if the number of coefficients is not that of the others.
    pub fn push(&mut self, coef: &[f64]) {
        assert_eq!(coef.len(), self.columns, "coefficients of a candidate");
        self.coefs.extend_from_slice(coef);
        self.inverse_norms.push(inverse_norm(coef));
    }

    /// Replaces a candidate.
    ///
    /// # Panics
    /// The method panics if there is no candidate at the index, or the number of coefficients
    /// differs.
    pub fn replace(&mut self, index: usize, coef: &[f64]) {
        self.coefs[index * self.columns..(index + 1) * self.columns].copy_from_slice(coef);
        self.inverse_norms[index] = inverse_norm(coef);
    }

    /// Adds the candidates of another list.
    ///
    /// # Panics
    /// The method panics if the number of coefficients differs.
    pub fn append(&mut self, mut other: Candidates) {
        assert_eq!(other.columns, self.columns, "coefficients of candidates");
        self.coefs.append(&mut other.coefs);
        self.inverse_norms.append(&mut other.inverse_norms);
    }

    /// Returns the number of coefficients of each candidate.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of candidates.
    pub fn len(&self) -> usize {
        self.inverse_norms.len()
    }

    /// Returns true if there are no candidates.
    pub fn is_empty(&self) -> bool {
        self.inverse_norms.is_empty()
    }

    /// Returns the coefficients of a candidate.
    ///
    /// # Panics
    /// The method panics if there is no candidate at the index.
    pub fn get(&self, index: usize) -> &[f64] {
        &self.coefs[index * self.columns..(index + 1) * self.columns]
    }

    /// Returns the coefficients of a range of candidates, one after the other.
    fn block(&self, range: Range<usize>) -> &[f64] {
        &self.coefs[range.start * self.columns..range.end * self.columns]
    }

    /// Returns the distance between the unit vectors along two candidates, or the largest possible
    /// one if one of them is zero.
    fn distance(&self, a: usize, b: usize) -> f64 {
        let (p, q) = (self.inverse_norms[a], self.inverse_norms[b]);
        if p == 0.0 || q == 0.0 {
            return 2.0;
        }
        let mut squares = [0.0; 8];
        let (xs, x_rest) = self.get(a).as_chunks::<8>();
        let (ys, y_rest) = self.get(b).as_chunks::<8>();
        for (x, y) in xs.iter().zip(ys) {
            for lane in 0..8 {
                squares[lane] += (x[lane] * p - y[lane] * q).powi(2);
            }
        }
        let rest = x_rest.iter().zip(y_rest).map(|(x, y)| (x * p - y * q).powi(2));
        rest.chain(squares).sum::<f64>().sqrt()
    }
}

/// Returns the inverse norm of a vector, and 0 for the zero vector.
pub(crate) fn inverse_norm(coef: &[f64]) -> f64 {
    let norm = coef.iter().map(|w| w * w).sum::<f64>().sqrt();
    if norm > 0.0 { norm.recip() } else { 0.0 }
}

/// The outcome of a selection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Selected {
    /// The index of the first candidate with the lowest error.
    pub index: usize,
    /// The share of samples that it gets wrong.
    pub error: f64,
    /// The number of candidates.
    pub candidates: usize,
    /// The number of inner products of length d computed; the exhaustive search takes candidates
    /// times samples.
    pub products: u64,
}

/// Returns the best candidate by evaluating every candidate on every sample, for reference.
///
/// # Panics
/// The function panics if there is no candidate, or its length is not the number of features.
pub fn select_exhaustively(candidates: &Candidates, sample: &SphereSample<'_>) -> Selected {
    assert!(!candidates.is_empty(), "a selection needs a candidate");
    let mut best = Best::default();
    for index in 0..candidates.len() {
        best.offer(sample.wrong(&sample.points().scores(candidates.get(index))), index);
    }
    let products = (candidates.len() * sample.rows()) as u64;
    best.selected(candidates, sample, products)
}

/// Returns the best candidate by branch and bound over stretches of time, then by blocks: the
/// answer of [`select_exhaustively`] for a fraction of the work.
///
/// # Panics
/// The function panics if there is no candidate, or its length is not the number of features.
pub fn select(candidates: &Candidates, sample: &SphereSample<'_>) -> Selected {
    select_within(candidates, sample, &Limits::default())
}

/// Returns the answer of [`select`], or the best candidate so far if the callback of the limits
/// ends the search.
pub(super) fn select_within(
    candidates: &Candidates,
    sample: &SphereSample<'_>,
    limits: &Limits<'_>,
) -> Selected {
    assert!(!candidates.is_empty(), "a selection needs a candidate");
    let mut search = Search::new(candidates, sample, limits);
    let open = (0..sample.rows()).filter(|&row| sample.weights()[row] > 0.0).collect();
    search.bound(&Stretch { blocks: 0..search.blocks.len(), settled: 0.0, open });
    search.best.selected(candidates, sample, search.products)
}

/// The best candidate so far.
#[derive(Clone, Copy)]
struct Best {
    wrong: f64,
    index: usize,
}

impl Default for Best {
    fn default() -> Self {
        Best { wrong: f64::INFINITY, index: usize::MAX }
    }
}

impl Best {
    fn offer(&mut self, wrong: f64, index: usize) {
        if (wrong, index) < (self.wrong, self.index) {
            *self = Best { wrong, index };
        }
    }

    fn selected(
        self,
        candidates: &Candidates,
        sample: &SphereSample<'_>,
        products: u64,
    ) -> Selected {
        let error = self.wrong / sample.total();
        Selected { index: self.index, error, candidates: candidates.len(), products }
    }
}

/// The number of candidates of a block. Smaller blocks leave fewer products, larger ones make them
/// cheaper.
const BLOCK: usize = 64;

/// Consecutive candidates.
struct Block {
    candidates: Range<usize>,
    /// The largest distance of a candidate from the centre.
    radius: f64,
}

impl Block {
    /// Returns the candidate that stands for all of the block.
    fn centre(&self) -> usize {
        self.candidates.start.midpoint(self.candidates.end)
    }
}

/// Blocks whose candidates agree on all samples but the open ones.
struct Stretch {
    blocks: Range<usize>,
    /// The weight of the settled samples that all of the candidates get wrong.
    settled: f64,
    open: Vec<usize>,
}

struct Search<'a, 'p> {
    candidates: &'a Candidates,
    sample: &'a SphereSample<'p>,
    limits: &'a Limits<'a>,
    blocks: Vec<Block>,
    best: Best,
    products: u64,
    /// The largest rounding of a product of unit vectors, or of a distance between them.
    rounding: f64,
}

impl<'a, 'p> Search<'a, 'p> {
    fn new(
        candidates: &'a Candidates,
        sample: &'a SphereSample<'p>,
        limits: &'a Limits<'a>,
    ) -> Self {
        let block = |start: usize| {
            let range = start..candidates.len().min(start + BLOCK);
            let mut block = Block { candidates: range.clone(), radius: 0.0 };
            let centre = block.centre();
            block.radius = range.map(|t| candidates.distance(t, centre)).fold(0.0, f64::max);
            block
        };
        Search {
            candidates,
            sample,
            limits,
            blocks: (0..candidates.len()).step_by(BLOCK).map(block).collect(),
            best: Best::default(),
            products: candidates.len() as u64,
            rounding: f64::max(1e-12, 1e-15 * candidates.columns as f64),
        }
    }

    /// Returns true if no candidate from `first` on can be the answer if it gets this weight wrong.
    /// Sums of weights that are no integers may differ by rounding in the order of summation.
    fn is_hopeless(&self, wrong: f64, first: usize) -> bool {
        let rounding = 1e-12 * self.sample.total();
        wrong > self.best.wrong + rounding || (wrong >= self.best.wrong && first > self.best.index)
    }

    fn bound(&mut self, stretch: &Stretch) {
        let Range { start, end } = stretch.blocks;
        if self.is_hopeless(stretch.settled, self.blocks[start].candidates.start) {
            return;
        }
        let middle = start.midpoint(end);
        let centre = self.blocks[middle].centre();
        let scores = self.evaluate(centre, stretch);
        if self.limits.is_interrupted() {
            return;
        }
        if end - start == 1 {
            return self.finish(&self.narrow(start..end, centre, stretch, &scores));
        }
        self.products += (end - start) as u64;
        let mut halves = [start..middle, middle..end]
            .map(|blocks| self.narrow(blocks, centre, stretch, &scores));
        // The more promising half goes first.
        if halves[1].settled < halves[0].settled {
            halves.reverse();
        }
        halves.iter().for_each(|half| self.bound(half));
    }

    /// Offers a candidate, and returns its unit scores on the open samples.
    fn evaluate(&mut self, index: usize, stretch: &Stretch) -> Vec<f64> {
        let (coef, points) = (self.candidates.get(index), self.sample.points());
        let scores: Vec<f64> = if stretch.open.len() == self.sample.rows() {
            points.scores(coef)
        } else {
            stretch.open.iter().map(|&row| points.sample(row).dot(coef)).collect()
        };
        self.products += scores.len() as u64;
        let wrong: f64 = self.weights_of_wrong(stretch, &scores).map(|(weight, _)| weight).sum();
        self.best.offer(stretch.settled + wrong, index);
        scores
    }

    /// Returns weight and position of the open samples that the scores get wrong.
    fn weights_of_wrong<'s>(
        &'s self,
        stretch: &'s Stretch,
        scores: &'s [f64],
    ) -> impl Iterator<Item = (f64, usize)> + 's {
        let (signs, weights) = (self.sample.signs(), self.sample.weights());
        let open = stretch.open.iter().zip(scores).enumerate();
        open.filter(|(_, (row, score))| is_wrong(**score, signs[**row]))
            .map(|(at, (&row, _))| (weights[row], at))
    }

    /// Returns a part of a stretch, with the samples settled that a candidate of the stretch
    /// settles.
    fn narrow(
        &self,
        blocks: Range<usize>,
        centre: usize,
        stretch: &Stretch,
        scores: &[f64],
    ) -> Stretch {
        let reach = |block: &Block| self.candidates.distance(block.centre(), centre) + block.radius;
        let radius = self.blocks[blocks.clone()].iter().map(reach).fold(0.0, f64::max);
        let inverse_norm = self.candidates.inverse_norms[centre];
        let is_open = |score: f64| (score * inverse_norm).abs() <= radius + self.rounding;
        let wrong = self.weights_of_wrong(stretch, scores);
        let settled: f64 =
            wrong.filter(|&(_, at)| !is_open(scores[at])).map(|(weight, _)| weight).sum();
        let pairs = stretch.open.iter().zip(scores);
        let open = pairs.filter(|&(_, &score)| is_open(score)).map(|(&row, _)| row).collect();
        Stretch { blocks, settled: stretch.settled + settled, open }
    }

    /// Offers all candidates of a block, unless they are hopeless before the end of the open
    /// samples.
    fn finish(&mut self, leaf: &Stretch) {
        /// The number of samples multiplied at a time.
        const ROWS: usize = 128;
        let range = self.blocks[leaf.blocks.start].candidates.clone();
        let mut wrong = vec![leaf.settled; range.len()];
        let mut scores = vec![0.0; ROWS * range.len()];
        for rows in leaf.open.chunks(ROWS) {
            if wrong.iter().zip(range.clone()).all(|(&wrong, t)| self.is_hopeless(wrong, t)) {
                return;
            }
            let scores = &mut scores[..rows.len() * range.len()];
            let coefs = self.candidates.block(range.clone());
            multiply_rows(self.sample.points().design(), rows, coefs, scores);
            self.products += scores.len() as u64;
            for (&row, scores) in rows.iter().zip(scores.chunks_exact_mut(range.len())) {
                self.count(row, range.clone(), scores, &mut wrong);
            }
        }
        wrong.into_iter().zip(range).for_each(|(wrong, t)| self.best.offer(wrong, t));
    }

    /// Adds the weight of a sample to what the candidates get wrong, if they do.
    fn count(&self, row: usize, range: Range<usize>, scores: &mut [f64], wrong: &mut [f64]) {
        let points = self.sample.points();
        let (sign, weight) = (self.sample.signs()[row], self.sample.weights()[row]);
        let near = self.rounding / points.inverse_norms()[row];
        let inverse_norms = &self.candidates.inverse_norms[range.clone()];
        let is_near = |(score, inverse): (&f64, &f64)| score.abs() * inverse <= near;
        // Without a short cut the loop runs over lanes.
        if scores.iter().zip(inverse_norms).map(is_near).fold(false, |any, near| any | near) {
            let exact = range.map(|t| points.sample(row).dot(self.candidates.get(t)));
            scores.iter_mut().zip(exact).for_each(|(score, exact)| *score = exact);
        }
        for (wrong, &score) in wrong.iter_mut().zip(&*scores) {
            *wrong += if is_wrong(score, sign) { weight } else { 0.0 };
        }
    }
}
