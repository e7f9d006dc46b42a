//! Sums and products of kernels.

use margins_data::{Design, Sample};

use crate::grammar::operand;
use crate::{Block, Error, Kernel};

/// The sum of two kernels, `k_1(x, z) + k_2(x, z)`.
#[derive(Debug)]
pub struct Sum(pub Box<dyn Kernel>, pub Box<dyn Kernel>);

/// The product of two kernels, `k_1(x, z) k_2(x, z)`.
#[derive(Debug)]
pub struct Product(pub Box<dyn Kernel>, pub Box<dyn Kernel>);

macro_rules! combine {
    ($type:ident, $name:literal, $sign:tt, $assign:tt, $left:expr, $right:expr) => {
        impl Kernel for $type {
            fn value(&self, x: &Sample<'_>, z: &Sample<'_>) -> f64 {
                self.0.value(x, z) $sign self.1.value(x, z)
            }
            fn name(&self) -> &str {
                $name
            }
            fn specification(&self) -> String {
                let (left, right) = (operand(&*self.0, $left), operand(&*self.1, $right));
                format!(concat!("{}", stringify!($sign), "{}"), left, right)
            }
            fn is_positive_semidefinite(&self) -> bool {
                self.0.is_positive_semidefinite() && self.1.is_positive_semidefinite()
            }
            fn adapt_to(
                &mut self,
                design: &Design,
                weights: Option<&[f64]>,
                seed: u64,
            ) -> Result<(), Error> {
                self.0.adapt_to(design, weights, seed)?;
                self.1.adapt_to(design, weights, seed)
            }
            fn needs_data(&self) -> bool {
                self.0.needs_data() || self.1.needs_data()
            }
            fn is_interrupted(&self) -> bool {
                self.0.is_interrupted() || self.1.is_interrupted()
            }
            fn refusal(&self, sample: &Sample<'_>) -> Option<String> {
                self.0.refusal(sample).or_else(|| self.1.refusal(sample))
            }
            fn fill(&self, block: &Block<'_>, out: &mut [f64]) {
                self.0.fill(block, out);
                let mut other = vec![0.0; out.len()];
                self.1.fill(block, &mut other);
                out.iter_mut().zip(&other).for_each(|(a, b)| *a $assign b);
            }
        }
    };
}

combine!(Sum, "sum", +, +=, &[], &['+']);
combine!(Product, "product", *, *=, &['+'], &['+', '*']);
