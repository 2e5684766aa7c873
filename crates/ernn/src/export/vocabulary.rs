//! `vocabulary.json`: the tokens of a model of text, in the order of their numbers. A device takes numbers alone.

use crate::checkpoint::SavedModel;

/// The file, of a model that has a vocabulary.
pub(super) fn vocabulary(saved: &SavedModel) -> Option<(String, Vec<u8>)> {
    let tokens = &saved.vocabulary;
    let text = || serde_json::to_string(tokens).expect("texts") + "\n";
    (!tokens.is_empty()).then(|| ("vocabulary.json".to_string(), text().into_bytes()))
}
