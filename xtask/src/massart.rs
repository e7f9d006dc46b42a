//! Experiments with halfspaces under Massart noise (Diakonikolas and Zarifis 2024).

pub(crate) mod adversaries;
pub(crate) mod cuts;
mod instance;
pub(crate) mod real_data;
pub(crate) mod sample_complexity;
pub(crate) mod selection;
pub(crate) mod surrogates;
