//! The settings that every fit of a problem depends on.

use std::collections::BTreeMap;

use margins_model::Scheme;

use super::settings::ClassifierSettings;

impl ClassifierSettings {
    /// Returns the settings that every fit depends on, by name and in words, with others beside them.
    /// A file that keeps a part of a job is refused by them where they are not those of the job. The
    /// scheme is the one that is fitted: what the default is may change between versions.
    pub(super) fn problem_in_words<const N: usize>(
        &self,
        scheme: Scheme,
        others: [(&str, String); N],
    ) -> BTreeMap<String, String> {
        // Without `..`, so that the compiler asks of each new setting whether fits depend on it.
        let ClassifierSettings {
            loss,
            kernels,
            fixed_parameter,
            intercept,
            standardize,
            penalty_factors,
            class_weights,
            class_costs,
            seed,
            // Each fit has one loss.
            or_losses: _,
            // For fits that keep nothing.
            auto_scale: _,
            // Described by the caller, or with the data.
            scheme: _,
            options: _,
            regularisation: _,
            sample_weights: _,
            // Fits without a penalty keep nothing.
            start: _,
            // Jobs with a learner of their own keep nothing.
            learner: _,
            // Computed after the fits, of which they change nothing.
            certify_exact: _,
            probabilities: _,
            // Where a job runs and what it shows.
            #[cfg(feature = "rayon")]
                threads: _,
            time_limit: _,
            checkpoint: _,
            progress: _,
            iterations: _,
        } = self;
        let penalty_factors = penalty_factors.as_ref().map(ToString::to_string);
        let common = [
            ("loss", loss.specification()),
            ("fixed-parameter", format!("{fixed_parameter:?}")),
            ("scheme", scheme.to_string()),
            ("intercept", intercept.to_string()),
            ("standardize", standardize.to_string()),
            ("penalty-factors", penalty_factors.unwrap_or_default()),
            ("class-weights", format!("{class_weights:?}")),
            ("class-costs", format!("{class_costs:?}")),
            ("seed", seed.to_string()),
            ("approximation", kernels.approximation.to_string()),
        ];
        let all = common.into_iter().chain(others);
        all.map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
