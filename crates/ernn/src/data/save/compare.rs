//! Whether two data sets say the same of their sequences.

use super::super::{Dataset, Part, View};

/// The first difference, in words; none if values, numbers, labels, groups and names of channels are the same. What a data set calls a
/// sequence or a group counts, not its number.
pub(super) fn difference(one: &Dataset, other: &Dataset) -> Option<String> {
    let parts = |dataset: &Dataset| dataset.parts().map(|(name, _)| name).collect::<Vec<_>>();
    if parts(one) != parts(other) {
        return Some(format!(
            "the parts {} became {}",
            parts(one).join(", "),
            parts(other).join(", ")
        ));
    }
    if one.feature_names != other.feature_names {
        return Some(format!(
            "the channels {} became {}",
            one.feature_names.join(", "),
            other.feature_names.join(", ")
        ));
    }
    if one.task != other.task {
        return Some("what is to be learned became something else".to_string());
    }
    let mut pairs = one.parts().zip(other.parts());
    pairs.find_map(|((name, part), (_, again))| {
        of_parts((one, part), (other, again)).map(|difference| format!("{name} part, {difference}"))
    })
}

fn of_parts((one, part): (&Dataset, &Part), (other, again): (&Dataset, &Part)) -> Option<String> {
    if part.len() != again.len() {
        return Some(format!("{} sequences became {}", part.len(), again.len()));
    }
    let class = |dataset: &Dataset, part: &Part, index: usize| {
        part.labels
            .get(index)
            .map(|&label| dataset.classes[label as usize].clone())
    };
    let group =
        |dataset: &Dataset, part: &Part, index: usize| part.groups.get(index).map(|&group| dataset.group_name(group));
    (0..part.len()).find_map(|index| {
        let what = if class(one, part, index) != class(other, again, index) {
            "its class"
        } else if group(one, part, index) != group(other, again, index) {
            "its group"
        } else if part.numbers.get(index).map(|number| number.to_bits())
            != again.numbers.get(index).map(|number| number.to_bits())
        {
            "its number"
        } else if values(part, index) != values(again, index) {
            "its values"
        } else {
            return None;
        };
        Some(format!("sequence {}: {what} became something else", part.name(index)))
    })
}

/// The bits of a sequence's values.
fn values(part: &Part, index: usize) -> Vec<u32> {
    super::values(&View::of(part), index)
        .iter()
        .map(|value| value.to_bits())
        .collect()
}
