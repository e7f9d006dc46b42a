//! The scheme as files have it: with the number of members of each class where these vote, and the
//! rule of a decision list.

use serde::{Deserialize, Serialize};

use crate::model::SchemeParts;
use crate::{DecisionList, Model, Scheme};

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
    DecisionList(DecisionList),
    CrammerSinger,
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
            Scheme::DecisionList => {
                let list = model.decision_list().cloned();
                SchemeInFile::DecisionList(list.expect("a checked decision list has its rule"))
            }
            Scheme::CrammerSinger => SchemeInFile::CrammerSinger,
        }
    }

    /// Returns the scheme with its parts.
    pub(super) fn parts(self) -> SchemeParts {
        let scheme = match self {
            SchemeInFile::Binary => Scheme::Binary,
            SchemeInFile::OneVersusRest => Scheme::OneVersusRest,
            SchemeInFile::OneVersusOne => Scheme::OneVersusOne,
            SchemeInFile::Majority => Scheme::Majority,
            SchemeInFile::MajorityVersusRest(votes) => {
                return (Scheme::MajorityVersusRest, votes, None);
            }
            SchemeInFile::Joint => Scheme::Joint,
            SchemeInFile::Multinomial => Scheme::Multinomial,
            SchemeInFile::Plurality => Scheme::Plurality,
            SchemeInFile::DecisionList(list) => {
                return (Scheme::DecisionList, Vec::new(), Some(list));
            }
            SchemeInFile::CrammerSinger => Scheme::CrammerSinger,
        };
        (scheme, Vec::new(), None)
    }
}
