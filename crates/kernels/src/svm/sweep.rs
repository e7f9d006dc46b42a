//! Vectorised sweeps over the active samples: gradients updated, extremes and partners found.

use pulp::{Simd, WithSimd};

use super::extremes::Extremes;
use crate::symmetric::number::{MOST_LANES, Number};

/// The extremes of the active set and where they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bests {
    pub(super) rising: (f64, usize),
    pub(super) falling: (f64, usize),
}

impl Bests {
    pub(super) fn values(self) -> Extremes {
        Extremes { rising: self.rising.0, falling: self.falling.0 }
    }

    pub(super) fn violation(self, intercept: bool) -> f64 {
        self.values().violation(intercept)
    }

    /// Returns the worst violator.
    pub(super) fn first(self, intercept: bool) -> usize {
        if intercept || self.rising.0 >= -self.falling.0 { self.rising.1 } else { self.falling.1 }
    }
}

/// The largest value so far in every lane and where it was, as a floating-point number.
struct Largest<P: Number, S: Simd> {
    simd: S,
    values: P::Vector<S>,
    places: P::Vector<S>,
}

impl<P: Number, S: Simd> Largest<P, S> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        let values = P::splat(simd, P::of(f64::NEG_INFINITY));
        Largest { simd, values, places: P::splat(simd, P::of(0.0)) }
    }

    #[inline(always)]
    fn see(&mut self, values: P::Vector<S>, places: P::Vector<S>) {
        let larger = P::greater(self.simd, values, self.values);
        self.values = P::select(self.simd, larger, values, self.values);
        self.places = P::select(self.simd, larger, places, self.places);
    }

    /// Returns the largest of all and its first place.
    #[inline(always)]
    fn first(&self) -> (f64, usize) {
        let simd = self.simd;
        let largest = P::largest(simd, self.values);
        let less = P::greater(simd, P::splat(simd, largest), self.values);
        let nowhere = P::splat(simd, P::of(f64::INFINITY));
        let place = P::least(simd, P::select(simd, less, nowhere, self.places));
        (largest.double(), place.double() as usize)
    }
}

#[inline(always)]
fn lanes_of<P: Number, S: Simd>() -> usize {
    size_of::<P::Vector<S>>() / size_of::<P>()
}

#[inline(always)]
fn first_places<P: Number, S: Simd>() -> P::Vector<S> {
    let places: [P; MOST_LANES] = std::array::from_fn(|lane| P::of(lane as f64));
    P::vectors::<S>(&places)[0]
}

/// A sweep that subtracts a step along two columns from the gradient and finds the extremes.
pub(super) struct Update<'s, P> {
    pub(super) steps: [P; 2],
    pub(super) columns: [&'s [P]; 2],
    pub(super) gradient: &'s mut [P],
    pub(super) rise: &'s [P],
    pub(super) fall: &'s [P],
}

impl<P: Number> WithSimd for Update<'_, P> {
    type Output = Bests;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Bests {
        let [t_i, t_j] = self.steps.map(|t| P::splat(simd, t));
        let (mut rising, mut falling) = (Largest::<P, S>::new(simd), Largest::<P, S>::new(simd));
        let gradient = P::vectors_mut::<S>(self.gradient);
        let count = gradient.len();
        let [column_i, column_j] = self.columns.map(|column| &P::vectors::<S>(column)[..count]);
        let rise = &P::vectors::<S>(self.rise)[..count];
        let fall = &P::vectors::<S>(self.fall)[..count];
        let mut places = first_places::<P, S>();
        let lanes = P::splat(simd, P::of(lanes_of::<P, S>() as f64));
        // An index, unlike iterators, becomes plain loads in every build.
        for k in 0..count {
            let along_i = P::times(simd, t_i, column_i[k]);
            let change = P::plus(simd, along_i, P::times(simd, t_j, column_j[k]));
            let g = P::minus(simd, gradient[k], change);
            gradient[k] = g;
            rising.see(P::plus(simd, g, rise[k]), places);
            falling.see(P::negative(simd, P::plus(simd, g, fall[k])), places);
            places = P::plus(simd, places, lanes);
        }
        let (falling, place) = falling.first();
        Bests { rising: rising.first(), falling: (-falling, place) }
    }
}

/// A sweep that looks for the second coefficient of a pair, the one with the largest gain.
///
/// With an intercept it falls by what the first one, i, rises: the gain along that direction is
/// half of `(g_i - g_j)^2 / (K_ii + K_jj - 2 K_ij)`. Without, what j adds to the step of i alone is
/// half of `r_j^2 / (K_jj - K_ij^2/K_ii)`, `r_j = g_j - g_i K_ij/K_ii`.
pub(super) struct Search<'s, P> {
    pub(super) intercept: bool,
    pub(super) gradient: &'s [P],
    pub(super) diagonal: &'s [P],
    pub(super) rise: &'s [P],
    pub(super) fall: &'s [P],
    /// The column, gradient and curvature of the first coefficient.
    pub(super) column: &'s [P],
    pub(super) slope: P,
    pub(super) curvature: P,
    pub(super) least_curvature: P,
}

impl<P: Number> Search<'_, P> {
    /// Returns the place of the largest `slope^2/curvature`, of which `candidate` makes the two
    /// from gradient, diagonal, rise, fall and entry of the column.
    #[inline(always)]
    fn run<S: Simd>(
        &self,
        simd: S,
        candidate: impl Fn([P::Vector<S>; 5]) -> (P::Vector<S>, P::Vector<S>),
    ) -> usize {
        let mut best = Largest::<P, S>::new(simd);
        let gradient = P::vectors::<S>(self.gradient);
        let count = gradient.len();
        let [diagonal, rise, fall, column] = [self.diagonal, self.rise, self.fall, self.column]
            .map(|numbers| &P::vectors::<S>(numbers)[..count]);
        let least = P::splat(simd, self.least_curvature);
        let mut places = first_places::<P, S>();
        let lanes = P::splat(simd, P::of(lanes_of::<P, S>() as f64));
        for k in 0..count {
            let (slope, curvature) =
                candidate([gradient[k], diagonal[k], rise[k], fall[k], column[k]]);
            let curvature = P::max(simd, curvature, least);
            best.see(P::over(simd, P::times(simd, slope, slope), curvature), places);
            places = P::plus(simd, places, lanes);
        }
        best.first().1
    }
}

impl<P: Number> WithSimd for Search<'_, P> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        let zero = P::splat(simd, P::of(0.0));
        let g_i = P::splat(simd, self.slope);
        if self.intercept {
            let k_ii = P::splat(simd, self.curvature);
            self.run(
                simd,
                #[inline(always)]
                |[g, d, _, fall, k]| {
                    let slope = P::max(simd, P::minus(simd, g_i, P::plus(simd, g, fall)), zero);
                    (slope, P::minus(simd, P::plus(simd, k_ii, d), P::plus(simd, k, k)))
                },
            )
        } else {
            let inverse = P::splat(simd, P::of(1.0 / self.curvature.double()));
            self.run(
                simd,
                #[inline(always)]
                |[g, d, rise, fall, k]| {
                    let ratio = P::times(simd, k, inverse);
                    let slope = P::minus(simd, g, P::times(simd, ratio, g_i));
                    let up = P::max(simd, P::plus(simd, slope, rise), zero);
                    let down = P::min(simd, P::plus(simd, slope, fall), zero);
                    let curvature = P::minus(simd, d, P::times(simd, ratio, k));
                    (P::plus(simd, up, down), curvature)
                },
            )
        }
    }
}
