//! The candidate with the least empirical error, found without evaluating every candidate on every sample.
//!
//! Neighbours in time are neighbours in space. If the unit vectors along w and v are at most r apart, w and
//! v decide differently only on unit samples with `|<v, x>| <= r ||v||`. So a candidate v that stands for a
//! stretch of time settles all other samples for all of the stretch, and the errors settled so are a
//! lower bound for every candidate of it. A stretch whose bound is no better than the best error found is
//! dropped; any other is halved, with the samples that are left. Bounds are certain, not only likely, so the
//! answer is that of the exhaustive search, to the last tie.

use super::sphere::{SphereSample, is_wrong};

/// Candidates in the order of time, all with the same number of coefficients.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates {
    columns: usize,
    coefs: Vec<f64>,
    inverse_norms: Vec<f64>,
}

impl Candidates {
    /// None, to be filled.
    pub fn new(columns: usize) -> Self {
        Candidates { columns, coefs: Vec::new(), inverse_norms: Vec::new() }
    }

    /// Adds one.
    ///
    /// # Panics
    /// If the number of coefficients is not that of the others.
    pub fn push(&mut self, coef: &[f64]) {
        assert_eq!(coef.len(), self.columns, "coefficients of a candidate");
        let norm = coef.iter().map(|w| w * w).sum::<f64>().sqrt();
        self.coefs.extend_from_slice(coef);
        self.inverse_norms.push(if norm > 0.0 { norm.recip() } else { 0.0 });
    }

    /// Adds those of another list.
    ///
    /// # Panics
    /// If the number of coefficients differs.
    pub fn append(&mut self, mut other: Candidates) {
        assert_eq!(other.columns, self.columns, "coefficients of candidates");
        self.coefs.append(&mut other.coefs);
        self.inverse_norms.append(&mut other.inverse_norms);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.inverse_norms.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.inverse_norms.is_empty()
    }

    /// The coefficients of one.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn get(&self, index: usize) -> &[f64] {
        &self.coefs[index * self.columns..(index + 1) * self.columns]
    }

    /// The distance between the unit vectors along two candidates, or the largest one there is if one of
    /// them is zero.
    fn distance(&self, a: usize, b: usize) -> f64 {
        let (p, q) = (self.inverse_norms[a], self.inverse_norms[b]);
        if p == 0.0 || q == 0.0 {
            return 2.0;
        }
        let pairs = self.get(a).iter().zip(self.get(b));
        pairs.map(|(x, y)| (x * p - y * q).powi(2)).sum::<f64>().sqrt()
    }
}

/// The outcome of a selection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Selected {
    /// The first candidate with the least error.
    pub index: usize,
    /// Its share of wrong samples.
    pub error: f64,
    /// Number of candidates.
    pub candidates: usize,
    /// Inner products of length d computed; the exhaustive search takes candidates times samples.
    pub products: u64,
}

/// By evaluating every candidate on every sample: the reference.
///
/// # Panics
/// If there is no candidate, or its length is not the number of features.
pub fn select_exhaustively(candidates: &Candidates, sample: &SphereSample<'_>) -> Selected {
    assert!(!candidates.is_empty(), "a selection needs a candidate");
    let mut best = Best::default();
    for index in 0..candidates.len() {
        best.offer(sample.wrong(&sample.points().scores(candidates.get(index))), index);
    }
    let products = (candidates.len() * sample.rows()) as u64;
    best.selected(candidates, sample, products)
}

/// By branch and bound over stretches of time: the same answer for a fraction of the products.
///
/// # Panics
/// If there is no candidate, or its length is not the number of features.
pub fn select(candidates: &Candidates, sample: &SphereSample<'_>) -> Selected {
    assert!(!candidates.is_empty(), "a selection needs a candidate");
    let mut search = Search { candidates, sample, best: Best::default(), products: 0 };
    let rows = (0..sample.rows()).filter(|&row| sample.weights()[row] > 0.0).collect();
    search.bound(&Stretch { from: 0, to: candidates.len(), settled: 0.0, open: rows });
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

/// Candidates from one number to before another that agree on all samples but the open ones.
struct Stretch {
    from: usize,
    to: usize,
    /// Weight of the other samples that all of them get wrong.
    settled: f64,
    open: Vec<usize>,
}

struct Search<'a, 'p> {
    candidates: &'a Candidates,
    sample: &'a SphereSample<'p>,
    best: Best,
    products: u64,
}

impl Search<'_, '_> {
    /// Whether no candidate of the stretch can be the answer. Sums of weights that are no integers may
    /// differ by rounding in the order of summation.
    fn is_hopeless(&self, stretch: &Stretch) -> bool {
        let rounding = 1e-12 * self.sample.total();
        let (settled, best) = (stretch.settled, self.best);
        settled > best.wrong + rounding || (settled >= best.wrong && stretch.from > best.index)
    }

    fn bound(&mut self, stretch: &Stretch) {
        if stretch.from >= stretch.to || self.is_hopeless(stretch) {
            return;
        }
        let middle = stretch.from.midpoint(stretch.to);
        let scores = self.evaluate(middle, stretch);
        let mut halves = [(stretch.from, middle), (middle + 1, stretch.to)]
            .map(|(from, to)| self.narrow(from, to, middle, stretch, &scores));
        // The more promising half first.
        if halves[1].settled < halves[0].settled {
            halves.reverse();
        }
        halves.iter().for_each(|half| self.bound(half));
    }

    /// The unit scores of a candidate on the open samples; offers the candidate.
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

    /// Weight and position of the open samples that the scores get wrong.
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

    /// A part of a stretch, with the samples settled that a candidate beside or in it settles.
    fn narrow(
        &mut self,
        from: usize,
        to: usize,
        middle: usize,
        stretch: &Stretch,
        scores: &[f64],
    ) -> Stretch {
        // Products and distances are rounded.
        const SLACK: f64 = 1e-12;
        let radius = (from..to).map(|t| self.candidates.distance(t, middle)).fold(0.0, f64::max);
        self.products += (to - from) as u64;
        let inverse_norm = self.candidates.inverse_norms[middle];
        let is_open = |score: f64| (score * inverse_norm).abs() <= radius + SLACK;
        let wrong = self.weights_of_wrong(stretch, scores);
        let settled: f64 =
            wrong.filter(|&(_, at)| !is_open(scores[at])).map(|(weight, _)| weight).sum();
        let pairs = stretch.open.iter().zip(scores);
        let open = pairs.filter(|&(_, &score)| is_open(score)).map(|(&row, _)| row).collect();
        Stretch { from, to, settled: stretch.settled + settled, open }
    }
}
