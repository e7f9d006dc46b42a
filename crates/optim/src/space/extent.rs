//! The sizes of samples and features, on which bounds on rounding depend.

use margins_data::{Design, Sample};

use crate::Lambda;
use crate::problem::Rivals;
use crate::problem::summation::{UNIT, block_of_three, dot, sum_of_blocks};

/// The sizes of samples and features, on which the rounding of products with them depends.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Extent {
    /// The largest norm of a sample, R.
    pub radius: f64,
    /// The largest size of feature j.
    sizes: Vec<f64>,
    /// The sum of the squares of feature j.
    squares: Vec<f64>,
    /// The ranges of the features that every sample stores, by feature. Those of others contain zero.
    ranges: Vec<Range>,
    /// The smallest size of a feature that is not zero throughout.
    least_size: f64,
    largest_size: f64,
    /// The number `t_j` that has been subtracted from feature j; empty if none has.
    taken: Vec<f64>,
    samples: usize,
    /// The largest number of stored features of a sample.
    longest: usize,
    /// The number of parts in which sums over samples are made, 0 or 1 for a whole.
    parts: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Range {
    feature: usize,
    low: f64,
    high: f64,
}

impl Range {
    fn add(&mut self, x: f64) {
        self.low = self.low.min(x);
        self.high = self.high.max(x);
    }
}

impl Extent {
    /// Returns the extent of a design.
    pub fn of(design: &Design) -> Self {
        let (mut sizes, mut squares) =
            (vec![0.0f64; design.columns()], vec![0.0; design.columns()]);
        let mut ranges = full_features(design);
        let (mut largest, mut longest) = (0.0f64, 0);
        for sample in design.samples() {
            let mut square = 0.0;
            sample.for_each(|j, x| {
                sizes[j] = sizes[j].max(x.abs());
                squares[j] += x * x;
                square += x * x;
            });
            match sample {
                Sample::Dense(x) => ranges.iter_mut().zip(x).for_each(|(range, &x)| range.add(x)),
                Sample::Sparse { columns, values, .. } => {
                    let mut stored = columns.iter().zip(values);
                    for range in &mut ranges {
                        if let Some((_, &x)) = stored.find(|(j, _)| **j == range.feature) {
                            range.add(x);
                        }
                    }
                }
            }
            longest = longest.max(sample.stored());
            largest = largest.max(square);
        }
        let (radius, samples) = (largest.sqrt(), design.rows());
        let whole = Extent {
            radius,
            sizes,
            squares,
            ranges,
            samples,
            longest,
            parts: 1,
            ..Extent::default()
        };
        whole.with_least_and_largest()
    }

    fn with_least_and_largest(mut self) -> Self {
        let (mut least, mut largest) = (f64::INFINITY, 0.0);
        for &m in &self.sizes {
            least = if m > 0.0 && m < least { m } else { least };
            largest = if m > largest { m } else { largest };
        }
        (self.least_size, self.largest_size) = (least, largest);
        self
    }

    /// Returns the extent of a design from which these shifts have already been subtracted.
    pub fn of_shifted(design: &Design, taken: &[f64]) -> Self {
        Extent { taken: taken.to_vec(), ..Self::of(design) }
    }

    /// Returns the extent of the differences between a sample in the place of its class and itself in the
    /// place of a rival, behind which are those of the intercepts of all classes but the last.
    pub(crate) fn over_rivals(
        &self,
        design: &Design,
        rivals: &Rivals<'_>,
        intercepts: bool,
    ) -> Self {
        let (p, k) = (design.columns(), rivals.count());
        let places = if intercepts { k - 1 } else { 0 };
        let mut squares = self.squares.repeat(k);
        // A sample is in as many differences in the place of its class as it has rivals.
        for (class, sample) in rivals.classes().zip(design.samples()) {
            sample.for_each(|j, x| squares[class * p + j] += (k - 2) as f64 * x * x);
        }
        let mut of_intercepts = vec![rivals.samples() as f64; k];
        rivals.classes().for_each(|class| of_intercepts[class] += (k - 2) as f64);
        squares.extend(of_intercepts.iter().take(places));
        let mut sizes = self.sizes.repeat(k);
        sizes.resize(k * p + places, 1.0);
        let square = self.radius * self.radius + if intercepts { 1.0 } else { 0.0 };
        let differences = Extent {
            radius: (2.0 * square).sqrt(),
            sizes,
            squares,
            ranges: Vec::new(),
            taken: self.taken.repeat(k),
            samples: rivals.pairs(),
            longest: 2 * (self.longest + 1),
            parts: self.parts,
            ..Extent::default()
        };
        differences.with_least_and_largest()
    }

    /// Returns the extent of samples in parts, whose sums are made part by part and then added.
    pub fn of_parts<'e>(parts: impl IntoIterator<Item = &'e Extent>) -> Self {
        let mut whole = Extent::default();
        for part in parts {
            if whole.samples == 0 {
                whole.ranges.clone_from(&part.ranges);
            } else if part.samples > 0 {
                let mut others = part.ranges.iter().peekable();
                whole.ranges.retain_mut(|range| {
                    while others.next_if(|other| other.feature < range.feature).is_some() {}
                    let Some(other) = others.next_if(|other| other.feature == range.feature) else {
                        return false;
                    };
                    (range.low, range.high) =
                        (range.low.min(other.low), range.high.max(other.high));
                    true
                });
            }
            whole.radius = whole.radius.max(part.radius);
            whole.samples += part.samples;
            whole.longest = whole.longest.max(part.longest);
            whole.parts += 1;
            whole.sizes.resize(part.sizes.len(), 0.0);
            whole.squares.resize(part.squares.len(), 0.0);
            whole
                .sizes
                .iter_mut()
                .zip(&part.sizes)
                .for_each(|(size, other)| *size = size.max(*other));
            whole
                .squares
                .iter_mut()
                .zip(&part.squares)
                .for_each(|(square, other)| *square += other);
        }
        whole.with_least_and_largest()
    }

    /// Returns the number of features.
    pub(crate) fn features(&self) -> usize {
        self.sizes.len()
    }

    pub(crate) fn size(&self, feature: usize) -> f64 {
        self.sizes[feature]
    }

    pub(crate) fn squares(&self) -> impl Iterator<Item = f64> {
        self.squares.iter().copied()
    }

    /// Returns the largest size of each feature to a power of two, 1 for a feature that is zero.
    pub(crate) fn magnitudes(&self) -> Vec<f64> {
        let power = |size: f64| if size > 0.0 { size.log2().floor().exp2() } else { 1.0 };
        self.sizes.iter().copied().map(power).collect()
    }

    /// Returns the numbers to subtract from the features so that no offset drowns their spread;
    /// `None` if none does.
    ///
    /// A feature whose values lie further from zero than 32 times their range is shifted to the
    /// middle of that range. The difference of two of its values is exact (Sterbenz 1974), and with
    /// an intercept that is not penalised the problem stays the same.
    pub fn offsets(&self) -> Option<Vec<f64>> {
        const FAR: f64 = 32.0;
        let mut offsets = Vec::new();
        for &Range { feature, low, high } in &self.ranges {
            let middle = low + 0.5 * (high - low);
            if middle.abs() > FAR * (high - low) {
                offsets.resize(self.sizes.len(), 0.0);
                offsets[feature] = middle;
            }
        }
        (!offsets.is_empty()).then_some(offsets)
    }

    /// Returns true if features differ so much in size that their squares cannot be added up. A feature
    /// whose square is below lambda counts as one of that size: the penalty outweighs its curvature.
    pub fn is_wide(&self, lambda: Lambda) -> bool {
        /// The range from which on the squares of the large features drown those of the small ones.
        const WIDEST_RANGE: f64 = 1e4;
        let least = self.least_size.max(lambda.get().sqrt());
        self.largest_size / least > WIDEST_RANGE
    }

    /// Returns `1/(q_j + lambda)`, `q_j` the mean square of feature j, which is proportional to the
    /// inverse diagonal of the Hessian at zero; `None` where features are of similar size, and where
    /// there are more features than samples: gradients then stay in the span of the samples, which
    /// holds the minimum, and a diagonal matrix would lead out of it.
    pub(crate) fn metric(&self, lambda: Lambda) -> Option<Vec<f64>> {
        let factor = |square: &f64| 1.0 / (square / self.samples as f64 + lambda.get());
        (self.is_wide(lambda) && self.squares.len() <= self.samples)
            .then(|| self.squares.iter().map(factor).collect())
    }

    /// Returns how far the scores of coefficients can be off, of which `largest` is the largest
    /// size.
    ///
    /// The bound is `u (k + 8) A` with the unit roundoff `u`, the k additions of a product of a
    /// sample with the coefficients, and a bound on the sum of the sizes of its terms,
    /// `A = min(sum_j m_j |w_j|, R ||w||) + sum_j |t_j w_j|`, `m_j` the largest size of feature j.
    /// The steps by which scores are updated add some units of the size of the scores.
    pub fn score_error(&self, coef: &[f64], largest: f64) -> f64 {
        const UPDATES: f64 = 64.0;
        let [absolute, square] = sum_of_blocks(coef.len(), |block| {
            let (m, w) = (&self.sizes[block.clone()], &coef[block]);
            block_of_three(m, w, w, &|m, w, _| [m * w.abs(), w * w])
        });
        let terms = absolute.min(self.radius * square.sqrt());
        // Sparse products run in four lanes, dense ones in eight.
        let additions = self.longest as f64 / 4.0 + 8.0;
        // The intercept for the features as given is computed from the intercept for the shifted
        // ones.
        let taken = self.taken.iter().zip(coef).map(|(t, w)| (t * w).abs());
        UNIT * (additions * (terms + taken.sum::<f64>()) + UPDATES * largest)
    }

    /// Returns how far the scores of coefficients can be off if they are computed in twice the working
    /// precision, beside a unit of roundoff of each margin.
    pub(crate) fn accurate_score_error(&self, coef: &[f64]) -> f64 {
        const SHIFTS: f64 = 8.0;
        let terms = self.radius * dot(coef, coef).sqrt();
        let taken: f64 = self.taken.iter().zip(coef).map(|(t, w)| (t * w).abs()).sum();
        let sums = 2.0 * (self.longest as f64 * UNIT).powi(2) * terms;
        SHIFTS * UNIT * taken + sums
    }

    /// Returns how far `(1/n) sum c_i s_i y_i x_i` can be off in norm, if the sizes `c_i |s_i| / n`
    /// sum to `total`.
    ///
    /// Rounding errors of sums of n terms grow like the root of n, but for a few odd cases:
    /// `4 sqrt(n) u` times the sum of the sizes holds with a probability next to one (Higham and
    /// Mary, *A new approach to probabilistic rounding error analysis*, SIAM J. Sci. Comput. 41,
    /// 2019).
    pub fn pull_error(&self, total: f64) -> f64 {
        const FACTOR: f64 = 4.0;
        FACTOR * (self.samples as f64).sqrt() * UNIT * self.radius * total
    }

    /// Returns how far `(1/n) sum c_i s_i y_i x_i` can be off in norm if it is computed in twice
    /// the working precision.
    pub fn accurate_pull_error(&self, total: f64) -> f64 {
        // The sum of a part is rounded to working precision, and so are those of sums of parts.
        let levels = if self.parts > 1 { 1.0 + (self.parts as f64).log2().ceil() } else { 0.0 };
        let relative = 2.0 * (self.samples as f64 * UNIT).powi(2) + levels * UNIT;
        relative * self.radius * total
    }
}

/// Returns empty ranges of the features that every sample stores.
fn full_features(design: &Design) -> Vec<Range> {
    let mut samples = design.samples();
    let Some(first) = samples.next() else { return Vec::new() };
    let mut full = Vec::with_capacity(first.stored());
    first.for_each(|feature, _| {
        full.push(Range { feature, low: f64::INFINITY, high: f64::NEG_INFINITY });
    });
    for sample in samples.take_while(|_| design.is_sparse()) {
        if let Sample::Sparse { columns, .. } = sample {
            let mut stored = columns.iter().peekable();
            full.retain(|range| {
                while stored.next_if(|j| **j < range.feature).is_some() {}
                stored.peek() == Some(&&range.feature)
            });
        }
        if full.is_empty() {
            break;
        }
    }
    full
}

#[cfg(test)]
mod tests {
    use margins_data::Design;

    use super::Extent;
    use crate::Lambda;

    /// Of a sparse feature that some sample does not store, the range contains zero.
    #[test]
    fn gaps_of_sparse_features_are_zeros() {
        let full = [[100.0, 0.0, 7.0, 3.0], [101.0, 50.0, 0.0, 3.0], [102.0, 51.0, 8.0, 3.0]];
        let dense = Design::from_rows(&full).expect("finite");
        let stored = |row: &[f64; 4]| (0..4).zip(*row).filter(|&(_, x)| x != 0.0).collect();
        let rows: Vec<Vec<(usize, f64)>> = full.iter().map(stored).collect();
        let sparse = Design::from_sparse_rows(&rows, 4).expect("sorted");
        let offsets = Some(vec![101.0, 0.0, 0.0, 3.0]);
        let (sparse, dense) = (Extent::of(&sparse), Extent::of(&dense));
        assert_eq!((&sparse.offsets(), &dense.offsets()), (&offsets, &offsets));
        assert_eq!((&sparse.sizes, &sparse.squares), (&dense.sizes, &dense.squares));
        // A feature that a part lacks is no longer full.
        let part =
            Design::from_sparse_rows(&[vec![(0, 100.0)], vec![(0, 103.0)]], 4).expect("sorted");
        for parts in [[&sparse, &Extent::of(&part)], [&Extent::of(&part), &sparse]] {
            let parts = Extent::of_parts(parts);
            assert_eq!(parts.offsets(), Some(vec![101.5, 0.0, 0.0, 0.0]));
        }
    }

    /// A feature that the penalty outweighs does not make the others need other methods.
    #[test]
    fn a_small_feature_counts_as_the_root_of_lambda() {
        let extent = Extent::of(&Design::from_rows(&[[1.0, 0.0], [-2.0, 1e-6]]).expect("finite"));
        let lambda = |lambda| Lambda::new(lambda).expect("positive");
        assert!(!extent.is_wide(lambda(1e-2)) && extent.is_wide(lambda(1e-10)));
        assert_eq!(extent.metric(lambda(1e-2)), None);
        let metric = [1.0 / (2.5 + 1e-10), 1.0 / (0.5e-12 + 1e-10)];
        assert_eq!(extent.metric(lambda(1e-10)), Some(metric.to_vec()));
        let extent = Extent::of(&Design::from_rows(&[[1.0, 1e-6, 0.0]]).expect("finite"));
        assert_eq!(extent.metric(lambda(1e-10)), None);
    }
}
