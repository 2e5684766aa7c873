//! A list that stands in files as its only entry where it has one: so it was written before there could be several.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One entry as itself, several (or none) as a list.
///
/// # Errors
/// Those of the serializer.
pub(crate) fn serialize<T: Serialize, S: Serializer>(all: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    match all {
        [one] => one.serialize(serializer),
        all => all.serialize(serializer),
    }
}

/// An entry or a list of them.
///
/// # Errors
/// If it is neither.
pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written<T> {
        One(T),
        More(Vec<T>),
    }
    Ok(match Written::deserialize(deserializer)? {
        Written::One(one) => vec![one],
        Written::More(all) => all,
    })
}
