//! The settings that every fit of a problem depends on.

use std::collections::BTreeMap;

use super::settings::ClassifierSettings;

impl ClassifierSettings {
    /// Returns the settings that every fit depends on, by name and in words, with others beside them.
    /// A file that keeps a part of a job is refused by them where they are not those of the job.
    pub(super) fn problem_in_words<const N: usize>(
        &self,
        others: [(&str, String); N],
    ) -> BTreeMap<String, String> {
        let common = [
            ("loss", self.loss.specification()),
            ("fixed-parameter", format!("{:?}", self.fixed_parameter)),
            ("scheme", format!("{:?}", self.scheme)),
            ("intercept", self.intercept.to_string()),
            ("standardize", self.standardize.to_string()),
            ("penalty-factors", self.factors_in_words()),
            ("class-weights", format!("{:?}", self.class_weights)),
            ("class-costs", format!("{:?}", self.class_costs)),
            ("seed", self.seed.to_string()),
            ("approximation", self.kernels.approximation.to_string()),
        ];
        let all = common.into_iter().chain(others);
        all.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn factors_in_words(&self) -> String {
        self.penalty_factors.as_ref().map(ToString::to_string).unwrap_or_default()
    }
}
