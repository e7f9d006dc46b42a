//! The integration tests, in one program that is compiled and linked once.

mod determinism;
mod distributed;
mod encoding;
mod exact;
mod focused;
mod heart_scale;
mod invariances;
mod joint;
mod kept_folds;
mod landmarks;
mod losses;
mod margin_distribution;
mod massart;
mod measures;
mod models;
mod optimality;
mod regularised;
mod risk_bound;
mod stream;
mod uci_tables;
