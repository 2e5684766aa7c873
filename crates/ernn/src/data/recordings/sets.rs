//! Which labels a window has, where several can hold.
//!
//! ```text
//! y[w,l] = 1 if at least a share `purity` of the steps of window w has label l; with --label-at end, if its last step has it
//! ```
//!
//! A step without any word on its labels has none of them; a window of which less than `purity` says anything is left out.

use super::super::UNLABELLED;
use super::super::label_sets;
use super::super::labels::{self, Names};
use super::options::LabelAt;

/// The sets of windows, from those of their steps.
pub(super) struct WindowSets {
    /// The labels that any step has, in their order.
    labels: Vec<String>,
    /// For each set of steps its labels, indices into `labels`.
    members: Vec<Vec<usize>>,
    /// The sets of windows.
    pub found: Names,
}

impl WindowSets {
    /// For steps whose labels are indices into these sets.
    pub fn new(sets: &[String]) -> WindowSets {
        let labels = label_sets::classes(&[], sets);
        let place = |name: &str| labels.iter().position(|label| label == name);
        let members = sets
            .iter()
            .map(|set| label_sets::names(set).filter_map(place).collect());
        WindowSets {
            members: members.collect(),
            found: Names::default(),
            labels,
        }
    }

    /// The set of a window with these labels of its steps; none if too few of them say anything.
    pub fn of(&mut self, steps: &[u32], at: LabelAt, purity: f64) -> Option<u32> {
        let steps = match at {
            LabelAt::End => &steps[steps.len() - 1..],
            LabelAt::Most => steps,
        };
        let enough = |count: usize| count as f64 / steps.len() as f64 >= purity - 1e-9;
        let known = || steps.iter().filter(|&&set| set != UNLABELLED);
        if !enough(known().count()) {
            return None;
        }
        let mut counts = vec![0; self.labels.len()];
        for &set in known() {
            self.members[set as usize].iter().for_each(|&label| counts[label] += 1);
        }
        let has = (0..counts.len()).filter(|&label| enough(counts[label]));
        let text = label_sets::text(has.map(|label| self.labels[label].as_str()));
        Some(self.found.number(&text))
    }

    /// All labels: those that were declared, or those of all steps, whether a window has them or not.
    pub fn declared(&self, declared: Vec<String>) -> Vec<String> {
        match declared.is_empty() {
            true => {
                let mut all = self.labels.clone();
                labels::sort(&mut all);
                all
            }
            false => declared,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_holds_where_enough_steps_have_it() {
        let sets = ["", "a", "a|b"].map(String::from);
        let mut windows = WindowSets::new(&sets);
        let mut name = |steps: &[u32], at, purity| {
            let set = windows.of(steps, at, purity);
            set.map(|set| windows.found.names[set as usize].clone())
        };
        assert_eq!(name(&[1, 2, 2, 0], LabelAt::Most, 0.5).as_deref(), Some("a|b"));
        assert_eq!(name(&[1, 2, 2, 0], LabelAt::Most, 0.75).as_deref(), Some("a"));
        assert_eq!(name(&[1, 2, 2, 0], LabelAt::Most, 1.0).as_deref(), Some(""));
        assert_eq!(name(&[0, 0, 2], LabelAt::End, 1.0).as_deref(), Some("a|b"));
        assert_eq!(name(&[2, 2, UNLABELLED], LabelAt::Most, 0.7), None);
        assert_eq!(windows.declared(Vec::new()), ["a", "b"]);
        assert_eq!(windows.declared(vec!["c".to_owned()]), ["c"]);
    }
}
