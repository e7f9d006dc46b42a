//! A box of a loss, a shared loss and a reference to one are losses: every method is passed on, so
//! that a closed form is never replaced by a numerical default.

use std::sync::Arc;

use crate::{HomogeneousTail, Interval, MarginLoss, SpecialCase};

macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        impl<T: MarginLoss + ?Sized> MarginLoss for Box<T> {
            $(fn $name(&self, $($argument: $type),*) $(-> $result)? {
                (**self).$name($($argument),*)
            })*
        }

        impl<T: MarginLoss + ?Sized> MarginLoss for Arc<T> {
            $(fn $name(&self, $($argument: $type),*) $(-> $result)? {
                (**self).$name($($argument),*)
            })*
        }

        impl<T: MarginLoss + ?Sized> MarginLoss for &T {
            $(fn $name(&self, $($argument: $type),*) $(-> $result)? {
                (**self).$name($($argument),*)
            })*
        }

        /// The methods passed on, for the comparison with those of the trait.
        #[cfg(test)]
        const FORWARDED: &[&str] = &[$(stringify!($name)),*];
    };
}

forward! {
    value(u: f64) -> f64;
    derivative(u: f64) -> f64;
    name() -> &str;
    parameters() -> Vec<(&'static str, f64)>;
    specification() -> String;
    second_derivative(u: f64) -> f64;
    is_convex() -> bool;
    is_differentiable() -> bool;
    curvature() -> Option<f64>;
    lipschitz() -> Option<f64>;
    conjugate(t: f64) -> f64;
    conjugate_domain() -> Option<Interval>;
    proximal(point: f64, step: f64) -> f64;
    flow(u: f64, time: f64) -> f64;
    dual_step(dual: f64, margin: f64, curvature: f64) -> f64;
    lower_bound() -> Option<f64>;
    is_classification_calibrated() -> bool;
    population_minimizer(eta: f64) -> f64;
    probability(score: f64) -> Option<f64>;
    undecided_scores() -> Option<Interval>;
    psi_transform(a: f64) -> Option<f64>;
    homogeneous_tail() -> Option<HomogeneousTail>;
    special_case() -> Option<SpecialCase>;
    values(margins: &[f64], out: &mut [f64]);
    derivatives(margins: &[f64], out: &mut [f64]);
    second_derivatives(margins: &[f64], out: &mut [f64]);
}

#[cfg(test)]
mod tests {
    use super::FORWARDED;

    #[test]
    fn every_method_of_the_trait_is_forwarded() {
        let source = include_str!("margin_loss.rs");
        let methods: Vec<&str> = source
            .lines()
            .filter_map(|line| line.strip_prefix("    fn "))
            .filter_map(|line| line.split('(').next())
            .collect();
        assert_eq!(methods.len(), 26);
        for method in methods {
            assert!(FORWARDED.contains(&method), "{method} is not passed on");
        }
    }
}
