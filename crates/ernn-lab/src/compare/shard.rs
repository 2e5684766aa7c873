//! One of several processes that share the runs of a comparison.

use std::str::FromStr;

/// Process `index` of `count`, from 1; in text `2/4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Default for Shard {
    /// All of it.
    fn default() -> Self {
        Shard { index: 1, count: 1 }
    }
}

impl Shard {
    /// Whether this process does the run of this number.
    pub fn holds(self, run: usize) -> bool {
        run % self.count == self.index - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/');
        let numbers = numbers.and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match numbers {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Shard { index, count }),
            _ => Err(format!("found {text}, expected I/N with I from 1 to N, as 2/4")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_its_text_and_refuses_any_other() {
        assert_eq!("2/4".parse(), Ok(Shard { index: 2, count: 4 }));
        assert_eq!("1/1".parse(), Ok(Shard::default()));
        for text in ["", "2", "0/2", "3/2", "1/0", "0/0", "-1/2", "1/2/3", "a/b", "1 / 2"] {
            let error = text.parse::<Shard>().unwrap_err();
            assert!(error.contains("expected I/N"), "{error}");
        }
    }
}
