//! Experiments of *Leaky hockey stick loss* (Kwon and Zou 2023).

pub(crate) mod comparison;
pub(crate) mod consistency;
mod data_sets;
pub(crate) mod figures;
mod geometry;
mod stopping_rules;
pub(crate) mod table_1;
pub(crate) mod table_2;
pub(crate) mod timing;
mod tuning;
