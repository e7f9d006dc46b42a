//! Serde for values that clones share.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) fn serialize<T: Serialize, S: Serializer>(
    value: &Arc<T>,
    to: S,
) -> Result<S::Ok, S::Error> {
    T::serialize(value, to)
}

pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Arc<T>, D::Error> {
    T::deserialize(from).map(Arc::new)
}
