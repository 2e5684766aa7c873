//! Numbers that are none. JSON has no NaN and no infinity: they are written as `null`, and `null` is read as NaN.

use serde::{Deserialize, Deserializer};

/// A number.
pub fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// A list of them.
pub fn numbers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let values = Vec::<Option<f64>>::deserialize(deserializer)?;
    Ok(values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect())
}
