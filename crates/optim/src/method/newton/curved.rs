//! The inverse of the Newton matrix from the samples with curvature, updated as these change.

use margins_data::Design;

use crate::method::GrowingCholesky;
use crate::products::{sample_gram, sample_products};
use crate::space::Samples;

/// The largest number of samples with curvature for which a factor is computed: 128 MB.
const MOST: usize = 4000;

/// The inverse of `H = Z' D Z + 2 lambda diag(0, 1, ..., 1)` by way of the samples A that have
/// curvature, where these are fewer than the features.
///
/// With `S = 2 lambda D_A^(-1) + X_A X_A'` the solution `(b, w)` of `H (b, w) = (r_0, r)` is
/// `w = (r - X_A' v)/(2 lambda)`, where `v = S^(-1) (X_A r + 2 lambda b 1)` and b is such that
/// `1'v = r_0` (Sherman, Morrison and Woodbury).
///
/// The factor of S lasts from step to step. Samples that gain curvature become rows of it. For those that
/// lose theirs `v` is fixed at 0, which is exact as well, until so many have changed that a new factor
/// costs less.
#[derive(Default)]
pub(crate) struct CurvedFactor {
    factored: Option<Factored>,
}

struct Factored {
    /// The factor `2 lambda`.
    ridge: f64,
    /// The samples in the factor, in its order, with their features and curvatures.
    samples: Vec<usize>,
    design: Design,
    curvatures: Vec<f64>,
    factor: GrowingCholesky<f64>,
}

pub(super) struct Inverse<'f> {
    factored: &'f Factored,
    fixed: FixedSamples,
    /// The solution `S^(-1) 1`; `None` where the intercept does not move.
    ones: Option<Vec<f64>>,
    is_fresh: bool,
}

/// Samples in the factor for which `v` is fixed at 0.
struct FixedSamples {
    /// The places of the samples in the factor.
    places: Vec<usize>,
    /// The columns of `S^(-1)` of the samples, one after the other.
    columns: Vec<f64>,
    /// The factor of their part of `S^(-1)`.
    factor: GrowingCholesky<f64>,
}

fn curved(curvatures: &[f64]) -> Vec<usize> {
    (0..curvatures.len()).filter(|&i| curvatures[i] > 0.0).collect()
}

impl CurvedFactor {
    /// Returns true if there is a factor of some curvatures.
    pub(super) fn is_factored(&self) -> bool {
        self.factored.is_some()
    }

    pub(super) fn clear(&mut self) {
        self.factored = None;
    }

    /// Returns the number of steps of conjugate gradients, one product with the samples that have
    /// curvature and one with the transpose each, that cost as much as a factor; `None` where there
    /// can be none.
    pub(super) fn price<S: Samples>(&self, samples: &mut S) -> Option<usize> {
        // A stored value costs 4 ns in a step. A pair of samples costs 0.4 ns for each value of one
        // if these are gathered, and 0.02 ns as a product of matrices; the factor runs at that rate.
        const GATHERED: f64 = 0.1;
        const MULTIPLIED: f64 = 0.005;
        let (design, curvatures) = samples.curved()?;
        let count = curved(curvatures).len();
        if count == 0 || count > MOST || count > design.columns() {
            return None;
        }
        let m = count as f64;
        let values = design.stored() as f64 / design.rows() as f64;
        let pairs = if design.is_sparse() { GATHERED } else { MULTIPLIED };
        Some((pairs * m + MULTIPLIED * m * m / (3.0 * values.max(1.0))) as usize)
    }

    /// Makes ready for the curvatures that samples keep; `None` if they are too many, or S is
    /// numerically singular.
    pub(super) fn prepare<S: Samples>(
        &mut self,
        samples: &mut S,
        ridge: f64,
        moves_intercept: bool,
    ) -> Option<Inverse<'_>> {
        let (design, curvatures) = samples.curved()?;
        let now = curved(curvatures);
        if now.is_empty() || now.len() > MOST {
            return None;
        }
        let kept = self
            .factored
            .take()
            .and_then(|factored| factored.extended(design, curvatures, ridge, &now));
        let is_fresh = kept.is_none();
        let factored = match kept {
            Some(factored) => factored,
            None => Factored::new(design, curvatures, ridge, now)?,
        };
        let factored = self.factored.insert(factored);
        let fixed = factored.fixed(curvatures)?;
        let mut inverse = Inverse { factored, fixed, ones: None, is_fresh };
        if moves_intercept {
            inverse.ones = Some(inverse.substitute(vec![1.0; factored.samples.len()]));
        }
        Some(inverse)
    }
}

impl Factored {
    fn new(design: &Design, curvatures: &[f64], ridge: f64, samples: Vec<usize>) -> Option<Self> {
        let design = design.select(&samples);
        let curvatures: Vec<f64> = samples.iter().map(|&i| curvatures[i]).collect();
        let products = sample_gram(&design);
        let mut factor = GrowingCholesky::new(MOST.min(samples.len() + samples.len() / 4));
        let entry = |i: usize, j: usize| {
            products[(i, j)] + if i == j { ridge / curvatures[i] } else { 0.0 }
        };
        let is_definite = factor.extend(samples.len(), entry);
        is_definite.then_some(Factored { ridge, samples, design, curvatures, factor })
    }

    /// Returns the factor with the samples that have gained curvature; `None` if a new one is the
    /// better choice.
    fn extended(
        mut self,
        design: &Design,
        curvatures: &[f64],
        ridge: f64,
        now: &[usize],
    ) -> Option<Self> {
        /// The share of the samples that may come and go, and that may have other curvatures.
        const SHARE: f64 = 0.125;
        /// The ratio from which on a curvature or lambda is another one.
        const RATIO: f64 = 2.0;
        let differs = |one: f64, other: f64| one > RATIO * other || other > RATIO * one;
        let mut contained = vec![false; curvatures.len()];
        self.samples.iter().for_each(|&i| contained[i] = true);
        let added: Vec<usize> = now.iter().copied().filter(|&i| !contained[i]).collect();
        let gone = self.samples.len() + added.len() - now.len();
        let others = self.samples.iter().zip(&self.curvatures);
        let others = others.filter(|&(&i, &d)| curvatures[i] > 0.0 && differs(curvatures[i], d));
        let changed = added.len() + gone + others.count();
        let fits = self.samples.len() + added.len() <= self.factor.capacity();
        if differs(ridge, self.ridge) || changed as f64 > SHARE * now.len() as f64 || !fits {
            return None;
        }
        if !added.is_empty() {
            let old = self.samples.len();
            let new = design.select(&added);
            self.design = Design::stack(&[self.design, new.clone()]).ok()?;
            self.curvatures.extend(added.iter().map(|&i| curvatures[i]));
            let count = added.len();
            self.samples.extend(added);
            let products = sample_products(&self.design, &new);
            let entry = |i: usize, j: usize| {
                let shift = if i == j { self.ridge / self.curvatures[i] } else { 0.0 };
                products[(i, j - old)] + shift
            };
            if !self.factor.extend(count, entry) {
                return None;
            }
        }
        Some(self)
    }

    /// Returns what holds the samples in the factor that have no curvature; `None` if that is
    /// numerically singular.
    fn fixed(&self, curvatures: &[f64]) -> Option<FixedSamples> {
        let m = self.samples.len();
        let places: Vec<usize> = (0..m).filter(|&k| curvatures[self.samples[k]] <= 0.0).collect();
        let mut columns = vec![0.0; m * places.len()];
        for (column, &place) in columns.chunks_exact_mut(m).zip(&places) {
            column[place] = 1.0;
        }
        self.factor.solve(&mut columns);
        let mut factor = GrowingCholesky::new(places.len());
        let is_definite = factor.extend(places.len(), |i, j| columns[m * j + places[i]]);
        is_definite.then_some(FixedSamples { places, columns, factor })
    }
}

impl Inverse<'_> {
    /// Returns true if the factor is of the present curvatures.
    pub(super) fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    /// Returns `S^(-1) right`, over the samples that have curvature.
    fn substitute(&self, mut right: Vec<f64>) -> Vec<f64> {
        self.factored.factor.solve(&mut right);
        let FixedSamples { places, columns, factor } = &self.fixed;
        let mut forces: Vec<f64> = places.iter().map(|&place| right[place]).collect();
        factor.solve(&mut forces);
        for (column, force) in columns.chunks_exact(right.len()).zip(&forces) {
            right.iter_mut().zip(column).for_each(|(v, c)| *v -= force * c);
        }
        places.iter().for_each(|&place| right[place] = 0.0);
        right
    }

    /// Returns `H^(-1) right`, the intercept's entry first.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let Factored { design, ridge, samples, .. } = self.factored;
        let (first, right) = (right[0], &right[1..]);
        let mut scores = vec![0.0; samples.len()];
        design.multiply(right, &mut scores);
        let mut v = self.substitute(scores);
        let mut intercept = 0.0;
        if let Some(ones) = &self.ones {
            let shift = (first - v.iter().sum::<f64>()) / ones.iter().sum::<f64>();
            v.iter_mut().zip(ones).for_each(|(v, one)| *v += shift * one);
            intercept = shift / ridge;
        }
        let mut image = vec![0.0; right.len()];
        design.multiply_transposed(&v, &mut image);
        let coef = right.iter().zip(&image).map(|(r, x)| (r - x) / ridge);
        std::iter::once(intercept).chain(coef).collect()
    }
}

#[cfg(test)]
mod tests {
    use margins_data::{Design, Labels};
    use margins_losses::{MarginLoss, SquaredHinge};
    use nalgebra::DMatrix;

    use super::CurvedFactor;
    use crate::Objective;
    use crate::space::{Curvature, InMemory, Samples, Scores, Space};

    const ROWS: usize = 24;
    const COLUMNS: usize = 40;
    const RIDGE: f64 = 0.02;

    /// Returns samples that store three or four features each.
    fn sparse() -> Design {
        let row = |i: usize| -> Vec<(usize, f64)> {
            let mut columns: Vec<usize> = (0..4).map(|k| (7 * i + 11 * k * k) % COLUMNS).collect();
            columns.sort_unstable();
            columns.dedup();
            columns.into_iter().map(|j| (j, ((3 * i + j) as f64).sin() + 1.5)).collect()
        };
        let rows: Vec<_> = (0..ROWS).map(row).collect();
        Design::from_sparse_rows(&rows, COLUMNS).expect("finite")
    }

    /// Solves `H x = right` by the dense matrix.
    fn by_gram<S: Samples>(samples: &mut S, right: &[f64]) -> Vec<f64> {
        let mut matrix = DMatrix::zeros(COLUMNS + 1, COLUMNS + 1);
        samples.gram(&mut matrix);
        matrix.fill_upper_triangle_with_lower_triangle();
        (1..=COLUMNS).for_each(|j| matrix[(j, j)] += RIDGE);
        if !samples.has_intercept() {
            matrix.row_mut(0).fill(0.0);
            matrix.column_mut(0).fill(0.0);
            matrix[(0, 0)] = 1.0;
        }
        let right = nalgebra::DVector::from_column_slice(right);
        matrix.cholesky().expect("definite").solve(&right).as_slice().to_vec()
    }

    /// Samples gain curvature and lose it from step to step; each time the factor, updated or rebuilt,
    /// belongs to the present curvatures.
    #[test]
    fn the_inverse_is_that_of_the_dense_matrix_whatever_samples_come_and_go() {
        let design = sparse();
        let dense = Design::dense(&design.to_dense()).expect("finite");
        let signs: Vec<f64> = (0..ROWS).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let labels = Labels::from_signs(signs.clone()).expect("two classes");
        // The margin of a sample that is listed is 2, where the loss has no curvature.
        let flat: [&[usize]; 6] = [&[1, 2], &[1], &[1, 5], &[2], &[], &[0, 3, 4, 6, 7, 8, 9]];
        for design in [&design, &dense] {
            let with =
                Objective::new(&SquaredHinge as &dyn MarginLoss, design, &labels).expect("fits");
            let without = with.clone().without_intercept();
            for objective in [with, without] {
                let mut samples = InMemory::new(&objective);
                let mut factor = CurvedFactor::default();
                let mut fresh = 0;
                for flat in flat {
                    let product = |i: usize| if flat.contains(&i) { 2.0 * signs[i] } else { 0.0 };
                    samples.set(&(0..ROWS).map(product).collect(), 0.0);
                    samples.keep_curvatures();
                    let intercept = samples.has_intercept();
                    let right: Vec<f64> = (0..=COLUMNS)
                        .map(|j| if j == 0 && !intercept { 0.0 } else { (j as f64).cos() })
                        .collect();
                    let inverse = factor.prepare(&mut samples, RIDGE, intercept).expect("definite");
                    fresh += usize::from(inverse.is_fresh());
                    let found = inverse.solve(&right);
                    let expected = by_gram(&mut samples, &right);
                    let size = expected.iter().fold(0.0f64, |size, x| size.max(x.abs()));
                    for (one, other) in found.iter().zip(&expected) {
                        assert!((one - other).abs() <= 1e-12 * size, "{flat:?}: {one} {other}");
                    }
                }
                assert_eq!(fresh, 2, "small changes keep the factor, large ones do not");
            }
        }
    }
}
