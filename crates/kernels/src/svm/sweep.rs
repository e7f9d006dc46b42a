//! Vectorised sweeps over the active samples: gradients updated, extremes and partners found.

use pulp::{Simd, WithSimd};

use super::dual_point::Extremes;

pub(super) const LANES: usize = 8;

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
struct Largest<S: Simd> {
    simd: S,
    values: S::f64s,
    places: S::f64s,
}

impl<S: Simd> Largest<S> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        let values = simd.splat_f64s(f64::NEG_INFINITY);
        Largest { simd, values, places: simd.splat_f64s(0.0) }
    }

    #[inline(always)]
    fn see(&mut self, values: S::f64s, places: S::f64s) {
        let larger = self.simd.greater_than_f64s(values, self.values);
        self.values = self.simd.select_f64s(larger, values, self.values);
        self.places = self.simd.select_f64s(larger, places, self.places);
    }

    /// Returns the largest of all and its first place.
    #[inline(always)]
    fn first(&self) -> (f64, usize) {
        let simd = self.simd;
        let largest = simd.reduce_max_f64s(self.values);
        let here = simd.greater_than_or_equal_f64s(self.values, simd.splat_f64s(largest));
        let nowhere = simd.splat_f64s(f64::INFINITY);
        let place = simd.reduce_min_f64s(simd.select_f64s(here, self.places, nowhere));
        (largest, place as usize)
    }
}

/// The places of the first lanes.
const PLACES: [f64; LANES] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

/// Returns the first so many vectors of numbers.
#[inline(always)]
fn vectors<S: Simd>(x: &[f64], count: usize) -> &[S::f64s] {
    &S::as_simd_f64s(x).0[..count]
}

/// A sweep that subtracts a step along two columns from the gradient and finds the extremes.
pub(super) struct Update<'s> {
    pub(super) steps: [f64; 2],
    pub(super) columns: [&'s [f64]; 2],
    pub(super) gradient: &'s mut [f64],
    pub(super) rise: &'s [f64],
    pub(super) fall: &'s [f64],
}

impl WithSimd for Update<'_> {
    type Output = Bests;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Bests {
        let [t_i, t_j] = self.steps.map(|t| simd.splat_f64s(t));
        let (mut rising, mut falling) = (Largest::new(simd), Largest::new(simd));
        let gradient = S::as_mut_simd_f64s(self.gradient).0;
        let count = gradient.len();
        let column_i = vectors::<S>(self.columns[0], count);
        let column_j = vectors::<S>(self.columns[1], count);
        let (rise, fall) = (vectors::<S>(self.rise, count), vectors::<S>(self.fall, count));
        let mut places = S::as_simd_f64s(&PLACES).0[0];
        // An index, unlike iterators, becomes plain loads in every build.
        for k in 0..count {
            let along_i = simd.mul_f64s(t_i, column_i[k]);
            let change = simd.add_f64s(along_i, simd.mul_f64s(t_j, column_j[k]));
            let g = simd.sub_f64s(gradient[k], change);
            gradient[k] = g;
            rising.see(simd.add_f64s(g, rise[k]), places);
            falling.see(simd.neg_f64s(simd.add_f64s(g, fall[k])), places);
            places = simd.add_f64s(places, simd.splat_f64s(S::F64_LANES as f64));
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
pub(super) struct Search<'s> {
    pub(super) intercept: bool,
    pub(super) gradient: &'s [f64],
    pub(super) diagonal: &'s [f64],
    pub(super) rise: &'s [f64],
    pub(super) fall: &'s [f64],
    /// The column, gradient and curvature of the first coefficient.
    pub(super) column: &'s [f64],
    pub(super) slope: f64,
    pub(super) curvature: f64,
    pub(super) least_curvature: f64,
}

impl Search<'_> {
    /// Returns the place of the largest `slope^2/curvature`, of which `candidate` makes the two
    /// from gradient, diagonal, rise, fall and entry of the column.
    #[inline(always)]
    fn run<S: Simd>(
        &self,
        simd: S,
        candidate: impl Fn([S::f64s; 5]) -> (S::f64s, S::f64s),
    ) -> usize {
        let mut best = Largest::new(simd);
        let gradient = S::as_simd_f64s(self.gradient).0;
        let count = gradient.len();
        let diagonal = vectors::<S>(self.diagonal, count);
        let (rise, fall) = (vectors::<S>(self.rise, count), vectors::<S>(self.fall, count));
        let column = vectors::<S>(self.column, count);
        let mut places = S::as_simd_f64s(&PLACES).0[0];
        for k in 0..count {
            let (slope, curvature) =
                candidate([gradient[k], diagonal[k], rise[k], fall[k], column[k]]);
            let curvature = simd.max_f64s(curvature, simd.splat_f64s(self.least_curvature));
            best.see(simd.div_f64s(simd.mul_f64s(slope, slope), curvature), places);
            places = simd.add_f64s(places, simd.splat_f64s(S::F64_LANES as f64));
        }
        best.first().1
    }
}

impl WithSimd for Search<'_> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        let zero = simd.splat_f64s(0.0);
        let g_i = simd.splat_f64s(self.slope);
        if self.intercept {
            let k_ii = simd.splat_f64s(self.curvature);
            self.run(
                simd,
                #[inline(always)]
                |[g, d, _, fall, k]| {
                    let slope = simd.max_f64s(simd.sub_f64s(g_i, simd.add_f64s(g, fall)), zero);
                    (slope, simd.sub_f64s(simd.add_f64s(k_ii, d), simd.add_f64s(k, k)))
                },
            )
        } else {
            let inverse = simd.splat_f64s(1.0 / self.curvature);
            self.run(
                simd,
                #[inline(always)]
                |[g, d, rise, fall, k]| {
                    let ratio = simd.mul_f64s(k, inverse);
                    let slope = simd.sub_f64s(g, simd.mul_f64s(ratio, g_i));
                    let up = simd.max_f64s(simd.add_f64s(slope, rise), zero);
                    let down = simd.min_f64s(simd.add_f64s(slope, fall), zero);
                    (simd.add_f64s(up, down), simd.sub_f64s(d, simd.mul_f64s(ratio, k)))
                },
            )
        }
    }
}
