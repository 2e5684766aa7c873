//! Whether a run has begun to learn its training part by heart: its validation loss rises while its training loss falls.

/// Epochs whose mean is compared, so that a single one says nothing.
const MEAN: usize = 3;
/// How far above its lowest value the validation loss must end.
const RISE: f64 = 1.1;

/// Where it began, and how far it went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overfitting {
    /// The epoch of the lowest validation loss, from 1.
    pub epoch: usize,
    /// That loss.
    pub lowest: f64,
    /// The mean validation loss of the last epochs.
    pub last: f64,
}

impl Overfitting {
    /// From the losses of each epoch; none where the validation loss does not rise, or the training loss does.
    pub fn of(train: &[f64], validation: &[f64]) -> Option<Self> {
        let count = validation.len();
        let place = (0..count).min_by(|&one, &other| validation[one].total_cmp(&validation[other]))?;
        if train.len() != count || count - place <= MEAN {
            return None;
        }
        let end = |losses: &[f64]| losses[count - MEAN..].iter().sum::<f64>() / MEAN as f64;
        let (lowest, last) = (validation[place], end(validation));
        let rises = last > RISE * lowest && lowest >= 0.0;
        (rises && end(train) < train[place]).then_some(Overfitting {
            epoch: place + 1,
            lowest,
            last,
        })
    }

    /// What it means, in a sentence.
    pub fn sentence(self) -> String {
        format!(
            "overfitting from epoch {} on: the validation loss rises from {} to {} while the training loss falls",
            self.epoch,
            short(self.lowest),
            short(self.last)
        )
    }
}

/// Three digits.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 1.0 => format!("{value:.2}"),
        size if size >= 0.001 || size == 0.0 => format!("{value:.3}"),
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rising_validation_loss_beside_a_falling_training_loss_is_overfitting() {
        let train = [2.0, 1.0, 0.5, 0.2, 0.1, 0.05];
        let found = Overfitting::of(&train, &[1.5, 0.8, 0.9, 1.1, 1.2, 1.3]).unwrap();
        assert_eq!(found.epoch, 2);
        assert_eq!(
            found.sentence(),
            "overfitting from epoch 2 on: the validation loss rises from 0.800 to 1.20 while the training loss falls"
        );
    }

    #[test]
    fn what_is_none() {
        let falls = [2.0, 1.0, 0.5, 0.2, 0.1, 0.05];
        let rises = [1.5, 0.8, 0.9, 1.1, 1.2, 1.3];
        for (train, validation) in [
            (&falls[..], &falls[..]),
            (&rises, &rises),
            (&falls, &[0.9, 0.8, 0.8, 0.82, 0.81, 0.83]),
            (&falls[..2], &[0.1, 0.9]),
            (&falls, &[]),
            (&[], &[]),
        ] {
            assert_eq!(Overfitting::of(train, validation), None, "{train:?} {validation:?}");
        }
    }
}
