use crate::encode::{EncodeOptions, Encoding, MissingWords, RawTable};
use crate::{Design, Error};

/// What the features of CSV are made of.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum FeatureColumns {
    /// Columns of finite numbers, as they are.
    #[default]
    Numbers,
    /// Columns with words and gaps, by an encoding that is learned from the rows read.
    Learn(EncodeOptions),
    /// Columns with words and gaps, by an encoding learned before.
    Known(Box<Encoding>),
}

impl FeatureColumns {
    /// Returns the words that stand for gaps, where there may be any.
    pub(super) fn missing_words(&self) -> Option<&MissingWords> {
        match self {
            FeatureColumns::Numbers => None,
            FeatureColumns::Learn(options) => Some(&options.missing_words),
            FeatureColumns::Known(encoding) => Some(&encoding.options().missing_words),
        }
    }
}

/// The features of a file.
pub(super) enum Features {
    Design { design: Design, names: Option<Vec<String>> },
    Raw(RawTable),
}

impl Features {
    /// Returns the features, and their names if they have any, by an encoding that is known.
    pub(super) fn encoded(
        self,
        columns: &FeatureColumns,
    ) -> Result<(Design, Option<Vec<String>>), Error> {
        match (self, columns) {
            (Features::Design { design, names }, _) => Ok((design, names)),
            (Features::Raw(raw), FeatureColumns::Known(encoding)) => {
                Ok((encoding.encode(&raw)?, Some(encoding.feature_names())))
            }
            (Features::Raw(_), _) => {
                let requirement = "one that was learned from labelled rows";
                Err(Error::parameter("the encoding", "to be learned", requirement))
            }
        }
    }
}
