//! The free part of a classifier: the intercept with the features that no penalty acts on.
//!
//! In `F(b, w) = (1/n) sum c_i L(y_i (b + <w, x_i>)) + lambda sum_(j penalised) w_j^2` the free
//! coefficients have derivative 0 at the minimum, so that dual points are feasible where
//! `sum c_i s_i y_i z_i = 0`, `z_i` the values of the free columns, 1 for the intercept.
//! [`balance`] moves duals there.

use std::borrow::Cow;
use std::sync::Arc;

use margins_data::Design;
use margins_losses::MarginLoss;
use nalgebra::{DMatrix, DVector};

use crate::Error;
use crate::problem::EmpiricalRisk;
use crate::problem::pivoted::Pivoted;
use crate::problem::summation::sum_of_blocks;

/// The features that are never penalised, by their columns; by default none.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FreeColumns {
    columns: Arc<Vec<usize>>,
    /// Further ones that these make up, and that are penalised for that reason.
    dependent: Arc<Vec<usize>>,
}

impl FreeColumns {
    /// The largest number of columns.
    pub const MOST: usize = 64;

    /// Returns these columns.
    ///
    /// # Errors
    /// [`Error::FreeColumns`]: there are more than [`MOST`](Self::MOST).
    ///
    /// ```
    /// use margins_optim::problem::FreeColumns;
    ///
    /// let free = FreeColumns::new(vec![3, 1, 3])?;
    /// assert_eq!(free.get(), [1, 3]);
    /// assert!(FreeColumns::new((0..100).collect()).is_err());
    /// # Ok::<(), margins_optim::Error>(())
    /// ```
    pub fn new(mut columns: Vec<usize>) -> Result<Self, Error> {
        columns.sort_unstable();
        columns.dedup();
        if columns.len() > Self::MOST {
            return Err(Error::FreeColumns { found: columns.len(), limit: Self::MOST });
        }
        Ok(FreeColumns::of(columns))
    }

    /// Returns these columns, ascending.
    pub(crate) fn of(columns: Vec<usize>) -> Self {
        FreeColumns { columns: columns.into(), dependent: Arc::default() }
    }

    /// Returns the columns, ascending.
    pub fn get(&self) -> &[usize] {
        &self.columns
    }

    /// Returns the columns as those of the classes in one problem but the last, whose copies of them are 0:
    /// the coefficients of each class are so many `features`, one class after another, and behind them are
    /// so many intercepts.
    pub(crate) fn of_classes(&self, count: usize, features: usize, intercepts: usize) -> Self {
        let copies = |columns: &[usize]| -> Vec<usize> {
            let of_class = |class: usize| columns.iter().map(move |j| class * features + j);
            (0..count - 1).flat_map(of_class).collect()
        };
        let mut columns = copies(&self.columns);
        columns.extend(count * features..count * features + intercepts);
        FreeColumns { columns: columns.into(), dependent: copies(&self.dependent).into() }
    }

    /// Returns all columns over which duals are balanced, as they are over those that others make up.
    pub(crate) fn with_dependent(&self) -> impl Iterator<Item = usize> {
        self.columns.iter().chain(self.dependent.iter()).copied()
    }

    /// Returns the columns of so many features that are not among these, ascending.
    pub(crate) fn others(&self, features: usize) -> Vec<usize> {
        (0..features).filter(|j| self.get().binary_search(j).is_err()).collect()
    }

    /// Refuses columns that are not below the number of features.
    pub(crate) fn check(&self, features: usize) -> Result<(), Error> {
        match self.get().last() {
            Some(&last) if last >= features => Err(Error::Shape {
                what: "features, one of which is to be free of the penalty",
                expected: last + 1,
                found: features,
            }),
            _ => Ok(()),
        }
    }

    /// Returns true if there is no such feature.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Returns a vector over the features with zeros in place of the free ones.
    pub(crate) fn penalised<'v>(&self, vector: &'v [f64]) -> Cow<'v, [f64]> {
        let mut vector = Cow::Borrowed(vector);
        for &j in self.get() {
            vector.to_mut()[j] = 0.0;
        }
        vector
    }

    /// Returns those of the columns that are not linear combinations of the ones before them and the
    /// intercept. To penalise the others leaves the minimum as it is, for the columns returned can take
    /// their place, and makes it unique: their coefficients are 0 there.
    ///
    /// `gram` is the weighted matrix of inner products of the [block](Block) of these columns.
    #[must_use]
    pub(crate) fn independent(&self, has_intercept: bool, gram: &DMatrix<f64>) -> Self {
        /// The share of its square that a column must have left beside the ones before it: more than
        /// rounding leaves of it in sums of squares.
        const LEFT: f64 = 1e-13;
        let first = usize::from(has_intercept);
        let mut basis: Vec<usize> = (0..first).collect();
        let (mut kept, mut dependent) = (Vec::new(), Vec::new());
        for (k, &column) in self.get().iter().enumerate() {
            let at = first + k;
            let square = gram[(at, at)];
            let explained = Pivoted::of(&sub(gram, &basis)).map_or(0.0, |factor| {
                let cross =
                    DVector::from_iterator(basis.len(), basis.iter().map(|&i| gram[(at, i)]));
                cross.dot(&factor.solve(&cross))
            });
            if square > 0.0 && square - explained > LEFT * square {
                basis.push(at);
                kept.push(column);
            } else {
                dependent.push(column);
            }
        }
        FreeColumns { columns: kept.into(), dependent: dependent.into() }
    }
}

fn sub(matrix: &DMatrix<f64>, of: &[usize]) -> DMatrix<f64> {
    DMatrix::from_fn(of.len(), of.len(), |i, j| matrix[(of[i], of[j])])
}

/// The values `z_i` of the free columns, for every sample one after another, 1 for the intercept first.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    width: usize,
    values: Vec<f64>,
}

impl Block {
    pub(crate) fn of(design: &Design, free: &FreePart) -> Self {
        let (first, width) = (usize::from(free.intercept), free.width());
        let columns = free.columns.get();
        let mut values = vec![0.0; width * design.rows()];
        for (sample, z) in design.samples().zip(values.chunks_exact_mut(width.max(1))) {
            z[..first].fill(1.0);
            sample.for_each(|column, x| {
                if let Ok(k) = columns.binary_search(&column) {
                    z[first + k] = x;
                }
            });
        }
        Block { width, values }
    }

    /// Returns the number of columns, with the intercept's.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn sample(&self, i: usize) -> &[f64] {
        &self.values[i * self.width..(i + 1) * self.width]
    }

    /// Returns the sum of `weight(i) z_i z_i'` over this number of samples.
    pub(crate) fn gram(&self, samples: usize, weight: impl Fn(usize) -> f64) -> DMatrix<f64> {
        let mut gram = DMatrix::zeros(self.width, self.width);
        for i in 0..samples {
            let weight = weight(i);
            if weight > 0.0 {
                let z = self.sample(i);
                for j in 0..self.width {
                    for k in j..self.width {
                        gram[(k, j)] += weight * z[j] * z[k];
                    }
                }
            }
        }
        gram.fill_upper_triangle_with_lower_triangle();
        gram
    }
}

/// The free columns with the intercept, as duals are balanced over them.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FreePart {
    /// The columns.
    pub columns: FreeColumns,
    /// True if there is an intercept.
    pub intercept: bool,
}

impl FreePart {
    pub(crate) fn of(&self, intercept: f64, coef: &[f64]) -> Vec<f64> {
        let first = self.intercept.then_some(intercept).into_iter();
        first.chain(self.columns.get().iter().map(|&j| coef[j])).collect()
    }

    /// Returns the number of columns, with the intercept's.
    pub(crate) fn width(&self) -> usize {
        usize::from(self.intercept) + self.columns.get().len()
    }
}

/// A move of all duals at once by a linear function of their free columns, `d_i = <delta, z_i>`.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BlockMove {
    /// Every dual moves by `y_i d_i` times its distance to the nearer end of the domain, and by no
    /// more than half of it: duals that are at an end, which near an optimum are right, stay there.
    PullIn(Vec<f64>),
    /// Every dual moves by `y_i d_i`, as far as the domain lets it.
    Shift(Vec<f64>),
}

/// The weight of a sample in the matrix that a [move](BlockMove) is made by.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Mobility {
    /// Its own weight `c_i`.
    All,
    /// That times the distance of its dual to the nearer end of the domain.
    Room,
    /// That, or 0 if its dual is at an end of the domain.
    Inside,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BlockSums {
    /// The sums `(1/n) sum c_i s_i y_i z_i`.
    pub(crate) excess: Vec<f64>,
    /// The sums `(1/n) sum c_i |s_i z_i|`, to which the rounding of those is relative.
    pub(crate) sizes: Vec<f64>,
    /// The matrix `(1/n) sum c_i m_i z_i z_i'` with the [mobility](Mobility) m.
    pub(crate) gram: DMatrix<f64>,
}

impl BlockSums {
    pub(crate) fn count(width: usize) -> usize {
        2 * width + width * (width + 1) / 2
    }

    /// Returns the sums as one list: the excess, the sizes, and the lower triangle of the matrix.
    pub(crate) fn into_list(self) -> Vec<f64> {
        let columns = self.gram.column_iter().enumerate();
        let triangle = columns.flat_map(|(j, column)| column.as_slice()[j..].to_vec());
        self.excess.iter().chain(&self.sizes).copied().chain(triangle).collect()
    }

    pub(crate) fn from_list(list: &[f64], width: usize) -> Self {
        let (excess, rest) = list.split_at(width);
        let (sizes, triangle) = rest.split_at(width);
        let mut gram = DMatrix::zeros(width, width);
        let mut entries = triangle.iter();
        for j in 0..width {
            for i in j..width {
                gram[(i, j)] = *entries.next().unwrap_or(&f64::NAN);
                gram[(j, i)] = gram[(i, j)];
            }
        }
        BlockSums { excess: excess.to_vec(), sizes: sizes.to_vec(), gram }
    }

    /// Returns the largest excess relative to its size.
    fn relative(&self) -> f64 {
        let ratio = |(r, size): (&f64, &f64)| if *r == 0.0 { 0.0 } else { r.abs() / size };
        self.excess.iter().zip(&self.sizes).map(ratio).fold(0.0, f64::max)
    }

    /// Returns true if duals are balanced, so that no move follows.
    pub(crate) fn is_balanced(&self) -> bool {
        self.relative() <= BALANCED
    }

    /// Returns the `delta` that takes the excess away to first order.
    fn delta(&self) -> Option<Vec<f64>> {
        let factor = Pivoted::of(&self.gram)?;
        let delta = factor.solve(&DVector::from_column_slice(&self.excess));
        delta.iter().all(|d| d.is_finite()).then(|| delta.as_slice().to_vec())
    }
}

/// Returns the moves after which duals are balanced: `sum c_i s_i y_i z_i` is 0 to rounding, or as
/// small as they could be made. `look` returns the sums of the given duals after some moves.
pub(crate) fn balance(mut look: impl FnMut(&[BlockMove], Mobility) -> BlockSums) -> Vec<BlockMove> {
    /// The number of times that duals are pulled in.
    const PULLS: usize = 4;
    /// The factor by which a pull shrinks the excess at least.
    const SHRINK: f64 = 0.25;
    let given = look(&[], Mobility::Room);
    let mut excess = given.relative();
    let mut moves = Vec::new();
    let mut sums = given;
    for _ in 0..PULLS {
        if excess <= BALANCED || excess.is_nan() {
            return moves;
        }
        let Some(delta) = sums.delta() else { break };
        moves.push(BlockMove::PullIn(delta));
        sums = look(&moves, Mobility::Room);
        let left = sums.relative();
        if left.is_nan() || left > SHRINK * excess.max(BALANCED) {
            break;
        }
        excess = left;
    }
    if sums.is_balanced() { moves } else { project(look) }
}

/// The excess, relative to the size of its terms, up to which duals are balanced.
const BALANCED: f64 = 64.0 * f64::EPSILON;

/// Returns the move to the nearest balanced duals in the domain, by Newton's method on its equation
/// in `delta`, which is monotone and linear in pieces.
fn project(mut look: impl FnMut(&[BlockMove], Mobility) -> BlockSums) -> Vec<BlockMove> {
    const STEPS: usize = 40;
    const HALVINGS: i32 = 12;
    let mut sums = look(&[], Mobility::All);
    let mut delta = vec![0.0; sums.excess.len()];
    for _ in 0..STEPS {
        if sums.is_balanced() {
            break;
        }
        let Some(step) = sums.delta() else { break };
        let before = norm(&sums.excess);
        let next = (0..HALVINGS).find_map(|k| {
            let t = 0.5f64.powi(k);
            let next: Vec<f64> = delta.iter().zip(&step).map(|(a, d)| a + t * d).collect();
            let reached = look(&[BlockMove::Shift(next.clone())], Mobility::Inside);
            (norm(&reached.excess) < before).then_some((next, reached))
        });
        let Some(next) = next else { break };
        (delta, sums) = next;
    }
    vec![BlockMove::Shift(delta)]
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

impl<L: MarginLoss + ?Sized> EmpiricalRisk<'_, L> {
    pub(crate) fn block_sums(&self, block: &Block, duals: &[f64], by: Mobility) -> BlockSums {
        let gram = block.gram(duals.len(), |i| self.mobility(i, duals[i], by));
        let sum = |j: usize, sized: bool| {
            let [sum] = sum_of_blocks(duals.len(), |rows| {
                let term = |i: usize| {
                    let term =
                        self.signs.get(i) * self.weights.get(i) * duals[i] * block.sample(i)[j];
                    if sized { term.abs() } else { term }
                };
                [rows.map(term).sum::<f64>()]
            });
            sum
        };
        let all = |sized: bool| (0..block.width).map(|j| sum(j, sized)).collect();
        BlockSums { excess: all(false), sizes: all(true), gram }
    }

    /// Returns the weight of a sample with this dual in the matrix that a move is made by.
    pub(crate) fn mobility(&self, i: usize, s: f64, by: Mobility) -> f64 {
        let domain = self.domain();
        let mobility = match by {
            Mobility::All => 1.0,
            Mobility::Room => self.room_of(s),
            Mobility::Inside => f64::from(u8::from(s > domain.lower && s < domain.upper)),
        };
        self.weights.get(i) * mobility
    }

    /// Moves duals in their domain by a linear function of the free columns.
    pub(crate) fn move_block(&self, block: &Block, duals: &mut [f64], by: &BlockMove) {
        self.move_by(duals, by, |i, delta| {
            delta.iter().zip(block.sample(i)).map(|(d, z)| d * z).sum()
        });
    }

    /// Moves duals in their domain by `d_i`, which is a function of `delta` and the sample.
    pub(crate) fn move_by(
        &self,
        duals: &mut [f64],
        by: &BlockMove,
        along: impl Fn(usize, &[f64]) -> f64,
    ) {
        /// The share of the room of a dual that one move takes at most.
        const MOST: f64 = 0.5;
        let domain = self.domain();
        for (i, s) in duals.iter_mut().enumerate() {
            let y = self.signs.get(i);
            let by = match by {
                BlockMove::PullIn(delta) => {
                    self.room_of(*s) * (y * along(i, delta)).clamp(-MOST, MOST)
                }
                BlockMove::Shift(delta) => y * along(i, delta),
            };
            *s = (*s - by).clamp(domain.lower, domain.upper);
        }
    }

    /// Returns the largest margin of the wrong sign along a direction in the free part,
    /// `-y_i <d, z_i>`, relative to the size of its terms, `sum_j |d_j z_ij|`, of the samples of positive
    /// weight: 0 for a direction that separates the classes.
    pub(crate) fn violation(&self, block: &Block, direction: &[f64]) -> f64 {
        let counted = (0..self.weights.len()).filter(|&i| self.weights.get(i) > 0.0);
        let relative = |i: usize| {
            let terms = || direction.iter().zip(block.sample(i)).map(|(d, z)| d * z);
            let (margin, size) =
                (self.signs.get(i) * terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
            if margin < 0.0 { -margin / size } else { 0.0 }
        };
        counted.map(relative).fold(0.0, f64::max)
    }

    /// Moves duals in their domain to where `sum c_i s_i y_i z_i = 0`, or as near as they go.
    pub(crate) fn balance_block(&self, block: &Block, duals: &mut [f64]) {
        let moved = |moves: &[BlockMove]| {
            let mut moved = duals.to_vec();
            moves.iter().for_each(|by| self.move_block(block, &mut moved, by));
            moved
        };
        let moves = balance(|moves, by| self.block_sums(block, &moved(moves), by));
        let balanced = moved(&moves);
        duals.copy_from_slice(&balanced);
    }
}
