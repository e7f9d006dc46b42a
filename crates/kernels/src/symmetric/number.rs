//! The types of numbers that vector instructions process.

use std::ops::{AddAssign, Mul};

use pulp::Simd;

/// The most lanes of a vector.
pub(crate) const MOST_LANES: usize = 16;

/// A floating-point number of double precision, or of single precision for half of the memory to
/// read and twice as many at a time, with what vectors of it can do.
pub(crate) trait Number:
    Copy + Default + AddAssign + Mul<Output = Self> + Send + Sync + 'static
{
    /// The distance from 1 to the next number.
    const EPSILON: f64;
    /// The lanes of the widest vectors.
    const LANES: usize;
    type Vector<S: Simd>: Copy;
    type Mask<S: Simd>: Copy;

    /// Returns the nearest number.
    fn of(x: f64) -> Self;
    fn double(self) -> f64;

    fn vectors<S: Simd>(x: &[Self]) -> &[Self::Vector<S>];
    /// Returns the whole vectors of a slice, to be changed.
    fn vectors_mut<S: Simd>(x: &mut [Self]) -> &mut [Self::Vector<S>];
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S>;
    fn plus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn minus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn times<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn over<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn max<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn min<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn negative<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;
    /// Returns the lanes in which a is greater than b.
    fn greater<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Mask<S>;
    /// Returns the lanes of a where the mask has them, and else those of b.
    fn select<S: Simd>(
        simd: S,
        mask: Self::Mask<S>,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
    ) -> Self::Vector<S>;
    fn largest<S: Simd>(simd: S, a: Self::Vector<S>) -> Self;
    fn least<S: Simd>(simd: S, a: Self::Vector<S>) -> Self;
}

/// Makes a type a number, given its lanes, its vectors and masks, and for each operation the one of
/// the machine.
macro_rules! number {
    (
        $number:ident, $lanes:literal, $vector:ident, $mask:ident, $as:ident, $as_mut:ident,
        $splat:ident, $negative:ident, $greater:ident, $select:ident,
        vectors of two: [$($two:ident: $of_two:ident),*],
        numbers of one: [$($one:ident: $of_one:ident),*]
    ) => {
        impl Number for $number {
            const EPSILON: f64 = $number::EPSILON as f64;
            const LANES: usize = $lanes;
            type Vector<S: Simd> = S::$vector;
            type Mask<S: Simd> = S::$mask;

            #[inline(always)]
            fn of(x: f64) -> Self {
                x as $number
            }

            #[inline(always)]
            fn double(self) -> f64 {
                f64::from(self)
            }

            #[inline(always)]
            fn vectors<S: Simd>(x: &[Self]) -> &[S::$vector] {
                S::$as(x).0
            }

            #[inline(always)]
            fn vectors_mut<S: Simd>(x: &mut [Self]) -> &mut [S::$vector] {
                S::$as_mut(x).0
            }

            #[inline(always)]
            fn splat<S: Simd>(simd: S, x: Self) -> S::$vector {
                simd.$splat(x)
            }

            #[inline(always)]
            fn negative<S: Simd>(simd: S, a: S::$vector) -> S::$vector {
                simd.$negative(a)
            }

            #[inline(always)]
            fn greater<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$mask {
                simd.$greater(a, b)
            }

            #[inline(always)]
            fn select<S: Simd>(simd: S, mask: S::$mask, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$select(mask, a, b)
            }

            $(
                #[inline(always)]
                fn $two<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                    simd.$of_two(a, b)
                }
            )*

            $(
                #[inline(always)]
                fn $one<S: Simd>(simd: S, a: S::$vector) -> Self {
                    simd.$of_one(a)
                }
            )*
        }
    };
}

number!(
    f64, 8, f64s, m64s, as_simd_f64s, as_mut_simd_f64s, splat_f64s, neg_f64s, greater_than_f64s, select_f64s,
    vectors of two: [
        plus: add_f64s, minus: sub_f64s, times: mul_f64s, over: div_f64s, max: max_f64s, min: min_f64s
    ],
    numbers of one: [largest: reduce_max_f64s, least: reduce_min_f64s]
);
number!(
    f32, 16, f32s, m32s, as_simd_f32s, as_mut_simd_f32s, splat_f32s, neg_f32s, greater_than_f32s, select_f32s,
    vectors of two: [
        plus: add_f32s, minus: sub_f32s, times: mul_f32s, over: div_f32s, max: max_f32s, min: min_f32s
    ],
    numbers of one: [largest: reduce_max_f32s, least: reduce_min_f32s]
);
