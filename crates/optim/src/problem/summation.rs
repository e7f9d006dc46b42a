//! Sums whose rounding error hardly grows with the number of terms.

use std::ops::Range;

use margins_data::parallel;

/// The number of terms that are added up before halves of the whole are.
pub const BLOCK: usize = 64;
const LANES: usize = 8;

/// The units of roundoff `u = 2^-53` that bound the error of a [`sum`], relative to the sum of the
/// sizes of its terms.
///
/// A block of 64 terms takes 7 additions in each of 8 lanes and 3 more to add these up; the halves
/// of up to `2^50` terms take 44. Every term passes through at most 54 additions, each of which
/// moves it by a factor between `1 - u` and `1 + u` (Higham, *Accuracy and stability of numerical
/// algorithms*, section 4.2).
pub const SUM_ERROR: f64 = 55.0;

/// The unit roundoff `u` of double precision.
pub const UNIT: f64 = 0.5 * f64::EPSILON;

/// Returns the sums over `0..count` of the entries of `term(i)`, added pairwise.
pub fn sum<const N: usize>(count: usize, term: &impl Fn(usize) -> [f64; N]) -> [f64; N] {
    sum_between(0, count, &mut |i| term(i))
}

fn sum_between<const N: usize>(
    from: usize,
    to: usize,
    term: &mut impl FnMut(usize) -> [f64; N],
) -> [f64; N] {
    if to - from <= BLOCK {
        return sum_of_block(from, to, term);
    }
    // The middle is a multiple of the block, so that all blocks but the last are full.
    let middle = from + ((to - from) / 2).next_multiple_of(BLOCK);
    let (mut low, high) = (sum_between(from, middle, term), sum_between(middle, to, term));
    low.iter_mut().zip(high).for_each(|(l, h)| *l += h);
    low
}

fn sum_of_block<const N: usize>(
    from: usize,
    to: usize,
    term: &mut impl FnMut(usize) -> [f64; N],
) -> [f64; N] {
    let mut lanes = [[0.0; LANES]; N];
    for first in (from..to).step_by(LANES) {
        for lane in 0..LANES.min(to - first) {
            for (lanes, t) in lanes.iter_mut().zip(term(first + lane)) {
                lanes[lane] += t;
            }
        }
    }
    lanes.map(of_lanes)
}

/// Returns the sums over blocks of `0..count`, at most [`BLOCK`] each, added pairwise.
pub fn sum_of_blocks<const N: usize>(
    count: usize,
    mut block: impl FnMut(Range<usize>) -> [f64; N],
) -> [f64; N] {
    let of_block = &mut |k: usize| block(k * BLOCK..((k + 1) * BLOCK).min(count));
    sum_between(0, count.div_ceil(BLOCK), of_block)
}

/// Returns the sums over rows of k numbers, each times a factor of the row: of [`BLOCK`] rows one after
/// another, then pairwise.
pub(crate) fn sums_of_rows(
    rows: &[f64],
    k: usize,
    factor: &(dyn Fn(usize) -> f64 + Sync),
) -> Vec<f64> {
    let mut blocks = parallel::map(0..rows.len().div_ceil(BLOCK * k), |block| {
        let mut sums = vec![0.0; k];
        let first = block * BLOCK;
        for (i, row) in (first..).zip(rows[first * k..].chunks_exact(k).take(BLOCK)) {
            let factor = factor(i);
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += factor * x);
        }
        sums
    });
    let mut width = 1;
    while width < blocks.len() {
        for at in (0..blocks.len() - width).step_by(2 * width) {
            let other = std::mem::take(&mut blocks[at + width]);
            blocks[at].iter_mut().zip(&other).for_each(|(sum, x)| *sum += x);
        }
        width *= 2;
    }
    blocks.into_iter().next().unwrap_or_else(|| vec![0.0; k])
}

/// Returns the sums of the entries of `term(a_i, b_i, c_i)` over a block of three vectors.
#[inline(always)]
pub fn block_of_three<const N: usize>(
    a: &[f64],
    b: &[f64],
    c: &[f64],
    term: &impl Fn(f64, f64, f64) -> [f64; N],
) -> [f64; N] {
    let mut lanes = [[0.0; LANES]; N];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let (c, c_rest) = c.as_chunks::<LANES>();
    for ((a, b), c) in a.iter().zip(b).zip(c) {
        for lane in 0..LANES {
            for (lanes, t) in lanes.iter_mut().zip(term(a[lane], b[lane], c[lane])) {
                lanes[lane] += t;
            }
        }
    }
    for (lane, ((&a, &b), &c)) in a_rest.iter().zip(b_rest).zip(c_rest).enumerate() {
        for (lanes, t) in lanes.iter_mut().zip(term(a, b, c)) {
            lanes[lane] += t;
        }
    }
    lanes.map(of_lanes)
}

fn of_lanes([a, b, c, d, e, f, g, h]: [f64; LANES]) -> f64 {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Returns `<a, b>`, added pairwise.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let [sum] = sum_of_blocks(a.len(), |range| [dot_of_block(&a[range.clone()], &b[range])]);
    sum
}

fn dot_of_block(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    for (lane, (a, b)) in lanes.iter_mut().zip(a_rest.iter().zip(b_rest)) {
        *lane += a * b;
    }
    of_lanes(lanes)
}

/// Returns the variance of numbers.
pub fn variance(numbers: &[f64]) -> f64 {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n
}

/// Returns the Euclidean norm of a vector; no square underflows or overflows that matters to it.
pub fn norm(vector: &[f64]) -> f64 {
    const PLAIN: Range<f64> = 1e-200..1e200;
    let square = dot(vector, vector);
    if PLAIN.contains(&square) || square == 0.0 && vector.iter().all(|&x| x == 0.0) {
        return square.sqrt();
    }
    let largest = vector.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
    let square: f64 = vector.iter().map(|x| (x / largest).powi(2)).sum();
    largest * square.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole numbers are multiplied and added without error, whatever the order.
    #[test]
    fn products_are_those_of_the_definition() {
        for count in [0, 1, 7, 63, 64, 65, 129, 4097, 5000] {
            let a: Vec<f64> = (0..count).map(|i| f64::from(i % 7)).collect();
            let b: Vec<f64> = (0..count).map(|i| f64::from(i % 5) - 2.0).collect();
            assert_eq!(dot(&a, &b), a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>());
        }
    }

    #[test]
    fn three_vectors_are_added_up_like_one() {
        for count in [0, 1, 7, 64, 65, 200, 4097] {
            let a: Vec<f64> = (0..count).map(|i| f64::from(i % 7)).collect();
            let [total, twice] = sum_of_blocks(count as usize, |rows| {
                let a = &a[rows];
                block_of_three(a, a, a, &|a, b, c| [a + b * c, 2.0 * b])
            });
            assert_eq!(total, a.iter().map(|a| a + a * a).sum::<f64>());
            assert_eq!(twice, 2.0 * a.iter().sum::<f64>());
        }
    }

    /// Whole numbers are added without error, whatever the order.
    #[test]
    fn every_term_counts_once() {
        for count in [0, 1, 7, 63, 64, 65, 128, 129, 1000, 4097] {
            let [plain, squares] = sum(count, &|i| [i as f64, (i * i) as f64]);
            assert_eq!(plain, (0..count).sum::<usize>() as f64);
            assert_eq!(squares, (0..count).map(|i| i * i).sum::<usize>() as f64);
        }
    }

    /// A million tenths, each off by the same part of a unit, whose plain sum is off by thousands
    /// of units.
    #[test]
    fn rounding_stays_below_its_bound() {
        let count = 1_000_000;
        let [sum] = sum(count, &|_| [0.1]);
        // The double next to 0.1 is 0.1000000000000000055511151231257827.
        let exact = 1e5 + 5.551_115_123_125_783e-12;
        assert!((sum - exact).abs() <= SUM_ERROR * UNIT * exact, "{sum}");
    }
}
