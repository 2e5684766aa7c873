//! The tiny version of an experiment: few sequences, few epochs. It shows that everything works, and its numbers mean nothing.

use serde::Deserialize;

use ernn::data::{Dataset, Part, Task};
use ernn::optim::Schedule;
use ernn::train::RunConfig;

/// `[quick]` of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    /// Sequences of each part at most.
    pub limit: usize,
    /// Passes over the training part.
    pub epochs: usize,
    /// Seeds.
    #[serde(default = "one")]
    pub seeds: usize,
}

fn one() -> usize {
    1
}

impl Quick {
    /// Makes settings quick.
    pub(super) fn apply(self, settings: &mut RunConfig) {
        settings.training.epochs = self.epochs;
        if let Schedule::Cosine { epochs, .. } = &mut settings.training.schedule {
            *epochs = self.epochs;
        }
    }
}

/// Every part with `limit` of its sequences at most (a text with so many times 20 tokens), spread evenly over it: files are often sorted by class.
pub fn limited(mut dataset: Dataset, limit: usize) -> Dataset {
    let text = dataset.task == Task::NextToken;
    dataset.parts_mut().for_each(|part| {
        if text {
            part.truncate_text(limit * TOKENS);
        } else {
            *part = limited_part(part, limit);
        }
    });
    dataset
}

/// Tokens of a text that count as a sequence.
const TOKENS: usize = 20;

fn limited_part(part: &Part, limit: usize) -> Part {
    let kept = limit.min(part.len());
    let indices: Vec<usize> = (0..kept).map(|index| index * part.len() / kept).collect();
    part.select(&indices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ernn::data::{self, OpenOptions};

    #[test]
    fn keeps_some_of_every_class_of_every_part() {
        let dataset = data::open("japanese-vowels", &OpenOptions::default()).unwrap();
        let few = limited(dataset.clone(), 60);
        for (name, part) in few.parts() {
            assert_eq!(part.len(), 60, "{name}");
            for class in 0..9 {
                assert!(part.labels.contains(&class), "{name}: class {class}");
            }
        }
        assert_eq!(limited(dataset.clone(), 100_000), dataset);
    }
}
