//! The limits of estimators without a certificate.

use std::time::{Duration, Instant};

use margins_optim::method::Limits;

use crate::regularised::IterationObserver;

impl IterationObserver<()> {
    /// Returns the limits of a method that begins now and may take so long.
    pub(crate) fn limits(&self, time_limit: Option<Duration>) -> Limits<'_> {
        let deadline = time_limit.and_then(|limit| Instant::now().checked_add(limit));
        Limits { deadline, watch: self.watch() }
    }
}
