//! Channels are told by their names, without regard to case. A file that gives none is read in the order of its columns.

use super::Part;
use super::values::Values;

/// How the channels of some sequences stand to those that are expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelMatch {
    /// The same names in the same order.
    Same,
    /// The same names in another order: where each expected channel stands among those found.
    Reordered(Vec<usize>),
    /// One side gives no names of its own.
    Unnamed,
    /// Both have names, and none is on both sides.
    Foreign,
    /// Both have names, and only some are on both sides.
    Partly,
}

impl ChannelMatch {
    /// Compares names.
    pub fn of(expected: &[String], found: &[String]) -> ChannelMatch {
        if !are_names(expected) || !are_names(found) {
            return ChannelMatch::Unnamed;
        }
        let order: Vec<usize> = expected.iter().filter_map(|name| place_of(name, found)).collect();
        let mut places = order.clone();
        places.sort_unstable();
        if order.is_empty() {
            ChannelMatch::Foreign
        } else if expected.len() != found.len() || !places.into_iter().eq(0..found.len()) {
            ChannelMatch::Partly
        } else if order.is_sorted() {
            ChannelMatch::Same
        } else {
            ChannelMatch::Reordered(order)
        }
    }
}

pub(super) fn place_of(name: &str, names: &[String]) -> Option<usize> {
    let exact = names.iter().position(|other| other == name);
    exact.or_else(|| {
        names
            .iter()
            .position(|other| other.to_lowercase() == name.to_lowercase())
    })
}

/// Whether someone gave the names: readers name what has no name by its number, by `value` or by `token`.
fn are_names(names: &[String]) -> bool {
    let numbered = |(number, name): (usize, &String)| *name == numbered(number + 1);
    let made_up = matches!(names, [one] if one == "value" || one == "token");
    !made_up && !names.iter().enumerate().all(numbered)
}

/// The name of a channel that has none.
pub(crate) fn numbered(number: usize) -> String {
    format!("channel {number}")
}

impl Part {
    /// Puts the values of each step into another order, `order[i]` being where the value for place `i` stands now. Pictures and tokens
    /// have an order of their own and stay.
    ///
    /// # Panics
    /// If `order` is not one of all features.
    pub fn reorder(&mut self, order: &[usize]) {
        assert_eq!(order.len(), self.features, "a place for each feature");
        let Values::Numbers(values) = &mut self.values else {
            return;
        };
        let mut step = vec![0.0; order.len()];
        for values in values.chunks_exact_mut(order.len()) {
            step.copy_from_slice(values);
            let places = values.iter_mut().zip(order);
            places.for_each(|(value, &from)| *value = step[from]);
        }
        let mut to = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &from)| to[from] = place);
        for position in &mut self.filled {
            *position = *position / order.len() * order.len() + to[*position % order.len()];
        }
        self.filled.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(expected: &str, found: &str) -> ChannelMatch {
        let names = |text: &str| text.split('|').map(String::from).collect::<Vec<_>>();
        ChannelMatch::of(&names(expected), &names(found))
    }

    #[test]
    fn names_tell_the_order() {
        assert_eq!(compare("x|y|z", "z|x|y"), ChannelMatch::Reordered(vec![1, 2, 0]));
        assert_eq!(compare("x|y", "X|y"), ChannelMatch::Same);
        assert_eq!(compare("x|X", "X|x"), ChannelMatch::Reordered(vec![1, 0]));
    }

    #[test]
    fn names_that_are_not_all_on_both_sides_tell_none() {
        assert_eq!(compare("x|y", "y|z"), ChannelMatch::Partly);
        assert_eq!(compare("x|y", "x|y|z"), ChannelMatch::Partly);
        assert_eq!(compare("x|y", "x|x"), ChannelMatch::Partly);
        assert_eq!(compare("x|y", "a|b"), ChannelMatch::Foreign);
        assert_eq!(compare("x|y", "channel 1|channel 2"), ChannelMatch::Unnamed);
        assert_eq!(compare("value", "x"), ChannelMatch::Unnamed);
    }

    #[test]
    fn values_and_the_places_of_filled_ones_move_together() {
        let mut part = Part::new(3);
        part.push(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], None, None);
        part.filled = vec![2, 3, 4];
        part.reorder(&[2, 0, 1]);
        assert_eq!(part.values.numbers(), [3.0, 1.0, 2.0, 6.0, 4.0, 5.0]);
        assert_eq!(part.filled, [0, 4, 5]);
    }
}
