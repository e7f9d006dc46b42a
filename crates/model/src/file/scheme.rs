//! The scheme as files have it: with the number of members of each class where these vote.

use serde::{Deserialize, Serialize};

use crate::{Model, Scheme};

/// A scheme in a file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SchemeInFile {
    Binary,
    OneVersusRest,
    OneVersusOne,
    Majority,
    MajorityVersusRest(Vec<usize>),
    Joint,
    Multinomial,
    Plurality,
}

impl SchemeInFile {
    /// Returns the scheme of a model.
    pub(super) fn of(model: &Model) -> Self {
        match model.scheme() {
            Scheme::Binary => SchemeInFile::Binary,
            Scheme::OneVersusRest => SchemeInFile::OneVersusRest,
            Scheme::OneVersusOne => SchemeInFile::OneVersusOne,
            Scheme::Majority => SchemeInFile::Majority,
            Scheme::Joint => SchemeInFile::Joint,
            Scheme::Multinomial => SchemeInFile::Multinomial,
            Scheme::MajorityVersusRest => {
                SchemeInFile::MajorityVersusRest(model.votes().into_owned())
            }
            Scheme::Plurality => SchemeInFile::Plurality,
        }
    }

    /// Returns the scheme with the number of members of each class.
    pub(super) fn parts(self) -> (Scheme, Vec<usize>) {
        match self {
            SchemeInFile::Binary => (Scheme::Binary, Vec::new()),
            SchemeInFile::OneVersusRest => (Scheme::OneVersusRest, Vec::new()),
            SchemeInFile::OneVersusOne => (Scheme::OneVersusOne, Vec::new()),
            SchemeInFile::Majority => (Scheme::Majority, Vec::new()),
            SchemeInFile::Joint => (Scheme::Joint, Vec::new()),
            SchemeInFile::Multinomial => (Scheme::Multinomial, Vec::new()),
            SchemeInFile::MajorityVersusRest(votes) => (Scheme::MajorityVersusRest, votes),
            SchemeInFile::Plurality => (Scheme::Plurality, Vec::new()),
        }
    }
}
