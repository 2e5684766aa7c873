//! Numbers to predict that are the next values of channels, and what is said of them without a model.
//!
//! ```text
//! y[n, c H + h] = x[n, L + h, channel c]                       h = 0..H-1: the values behind the L steps of sequence n
//! last value    x[n, L - 1, channel c]                         persistence
//! season S      x[n, L + h - S ceil((h + 1) / S), channel c]   the same time of the last season in the sequence; S <= L
//! ```

use serde::{Deserialize, Serialize};

/// Which channels go on, and how far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forecast {
    /// The channels, by their places among those of the data.
    pub channels: Vec<usize>,
    /// Steps behind a sequence's end, `H`.
    pub horizon: usize,
    /// Steps of a season, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub season: Option<usize>,
}

impl Forecast {
    /// Numbers of a sequence.
    pub fn targets(&self) -> usize {
        self.channels.len() * self.horizon
    }

    /// What each number is called: `load+1`, `load+2`, ...
    pub fn names(&self, channels: &[String]) -> Vec<String> {
        let of = |&channel: &usize| {
            let name = channels.get(channel).cloned().unwrap_or_default();
            (1..=self.horizon).map(move |step| format!("{name}+{step}"))
        };
        self.channels.iter().flat_map(of).collect()
    }

    /// The values that follow a sequence which ends before step `end`, of steps `[.., features]`; none if one is missing or not there.
    pub fn following(&self, values: &[f32], features: usize, end: usize) -> Option<Vec<f32>> {
        let ahead = values.get(end * features..(end + self.horizon) * features)?;
        let of = |&channel: &usize| ahead.iter().skip(channel).step_by(features).copied();
        let numbers: Vec<f32> = self.channels.iter().flat_map(of).collect();
        numbers.iter().all(|number| !number.is_nan()).then_some(numbers)
    }

    /// What persistence says of a sequence `[length, features]`: the last value of each channel, for all steps.
    pub fn last_values(&self, values: &[f32], features: usize) -> Vec<f32> {
        let last = values.len().saturating_sub(features);
        let of = |&channel: &usize| std::iter::repeat_n(values[last + channel], self.horizon);
        self.channels.iter().flat_map(of).collect()
    }

    /// The values one season earlier, as far as the sequence goes; none without a season, or in a sequence that is shorter.
    pub fn last_season(&self, values: &[f32], features: usize) -> Option<Vec<f32>> {
        let length = values.len() / features.max(1);
        let season = self.season.filter(|&season| season <= length)?;
        let at = |channel: usize, step: usize| {
            let back = season * (step + 1).div_ceil(season);
            values[(length + step - back) * features + channel]
        };
        let of = |&channel: &usize| (0..self.horizon).map(move |step| at(channel, step));
        Some(self.channels.iter().flat_map(of).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two channels: 0, 1, 2, .. and 100, 101, ..
    fn values(steps: usize) -> Vec<f32> {
        (0..steps).flat_map(|step| [step as f32, 100.0 + step as f32]).collect()
    }

    fn forecast(season: Option<usize>) -> Forecast {
        Forecast {
            channels: vec![1, 0],
            horizon: 3,
            season,
        }
    }

    #[test]
    fn what_follows_a_sequence() {
        let names = forecast(None).names(&["load".to_owned(), "temp".to_owned()]);
        assert_eq!(names, ["temp+1", "temp+2", "temp+3", "load+1", "load+2", "load+3"]);
        assert_eq!(
            forecast(None).following(&values(8), 2, 4).unwrap(),
            [104.0, 105.0, 106.0, 4.0, 5.0, 6.0]
        );
        assert_eq!(forecast(None).following(&values(6), 2, 4), None, "not all there");
        let mut missing = values(8);
        missing[2 * 6] = f32::NAN;
        assert_eq!(forecast(None).following(&missing, 2, 4), None);
    }

    #[test]
    fn what_is_said_without_a_model() {
        assert_eq!(
            forecast(None).last_values(&values(5), 2),
            [104.0, 104.0, 104.0, 4.0, 4.0, 4.0]
        );
        assert_eq!(forecast(None).last_season(&values(5), 2), None);
        assert_eq!(forecast(Some(6)).last_season(&values(5), 2), None);
        assert_eq!(
            forecast(Some(5)).last_season(&values(5), 2).unwrap()[3..],
            [0.0, 1.0, 2.0]
        );
        // Of a season shorter than the horizon the last one, again.
        assert_eq!(
            forecast(Some(2)).last_season(&values(5), 2).unwrap()[3..],
            [3.0, 4.0, 3.0]
        );
    }
}
