//! Which channels a model derives from those of the data, as settings, and how triads of channels are told.
//!
//! ```text
//! differences   x_t - x_{t-1} of every channel, 0 at the first step
//! compress      asinh((x_t - m_t) / s) of every channel, m_t = m_{t-1} + (0.1 x_t - 0.1 m_{t-1}), m_0 = x_1
//! magnitudes    the length of each triad: three channels that are the directions of one sensor
//! ```
//!
//! The channels of the data stay, and the derived ones stand behind them in this order. `ernn_core::inputs` computes them, here and on
//! devices; [`super::Derivation`] holds what was fitted.

use serde::{Deserialize, Serialize};

use super::channels::place_of;
use super::labels::list;
use crate::{Error, Result};

/// Which channels are derived.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Transforms {
    /// The first difference of every channel.
    pub differences: bool,
    /// The compressed high pass of every channel.
    pub compress: bool,
    /// The length of each triad.
    pub magnitudes: bool,
    /// Triads by the names of their channels, such as `ax,ay,az;gx,gy,gz`; empty: told from the names.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub triads: String,
}

/// The places of three channels that are the directions of one sensor.
pub type Triad = [u32; 3];

impl Transforms {
    /// Nothing is asked for.
    pub fn is_default(&self) -> bool {
        *self == Transforms::default()
    }

    /// Whether any channel is derived.
    pub fn derives(&self) -> bool {
        self.differences || self.compress || self.magnitudes
    }

    /// The triads among channels of these names: the written ones, or those that the names tell; there may be none.
    ///
    /// # Errors
    /// If a written channel is none of these, or a triad has not three.
    pub fn triads(&self, names: &[String]) -> Result<Vec<Triad>> {
        if self.triads.trim().is_empty() {
            return Ok(told(names));
        }
        let written = self.triads.split(';').filter(|triad| !triad.trim().is_empty());
        written.map(|triad| written_triad(triad, names)).collect()
    }

    /// Channels that are derived from those of these names; see [`Transforms::check`] for what is refused.
    pub fn count(&self, names: &[String]) -> usize {
        let kinds = usize::from(self.differences) + usize::from(self.compress);
        let magnitudes = if self.magnitudes {
            self.triads(names).map_or(0, |triads| triads.len())
        } else {
            0
        };
        kinds * names.len() + magnitudes
    }

    /// Refuses triads that are not there.
    ///
    /// # Errors
    /// As [`Transforms::triads`], and if lengths of triads are asked for where the names tell none.
    pub fn check(&self, names: &[String]) -> Result<()> {
        if self.triads(names)?.is_empty() && self.magnitudes {
            let expected = "names that end in x, y, z or in numbers by threes, or --triads \"a,b,c;d,e,f\"";
            return Err(setting(
                "magnitudes",
                &format!("the channels {}", list(names)),
                expected,
            ));
        }
        Ok(())
    }
}

fn setting(name: &str, found: &str, expected: &str) -> Error {
    Error::Setting {
        name: name.to_owned(),
        found: found.to_owned(),
        expected: expected.to_owned(),
    }
}

fn written_triad(written: &str, names: &[String]) -> Result<Triad> {
    let mut places = Vec::new();
    for name in written.split(',').map(str::trim) {
        // A number is the place of a channel that has no name.
        let numbered = || {
            name.parse::<usize>()
                .ok()?
                .checked_sub(1)
                .filter(|&place| place < names.len())
        };
        let place = place_of(name, names).or_else(numbered);
        let place = place.ok_or_else(|| setting("triads", name, &format!("one of the channels {}", list(names))))?;
        places.push(place as u32);
    }
    let distinct = |triad: &Triad| triad[0] != triad[1] && triad[0] != triad[2] && triad[1] != triad[2];
    let triad: Option<Triad> = places.try_into().ok();
    triad.filter(distinct).ok_or_else(|| {
        setting(
            "triads",
            written.trim(),
            "three channels between commas, triads between semicolons",
        )
    })
}

/// Three names that differ in one letter alone, an x, a y and a z; names that differ in numbers at their end alone go by threes.
fn told(names: &[String]) -> Vec<Triad> {
    let mut found: Vec<Triad> = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let others = axes(name).find_map(|[y, z]| Some([exactly(&y, names)?, exactly(&z, names)?]));
        if let Some([y, z]) = others.filter(|others| free(&found, place, others)) {
            found.push([place, y, z].map(|place| place as u32));
        }
    }
    if found.is_empty() { by_threes(names) } else { found }
}

fn free(found: &[Triad], x: usize, others: &[usize; 2]) -> bool {
    let mut taken = found.iter().flatten().map(|&place| place as usize);
    !taken.any(|place| place == x || others.contains(&place))
}

fn exactly(name: &str, names: &[String]) -> Option<usize> {
    names.iter().position(|other| other == name)
}

/// The names with y and z in the place of an x, the last x first.
fn axes(name: &str) -> impl Iterator<Item = [String; 2]> {
    let places = name.char_indices().filter(|(_, letter)| matches!(letter, 'x' | 'X'));
    places
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .map(move |(place, letter)| {
            let axes = if letter == 'x' { ["y", "z"] } else { ["Y", "Z"] };
            axes.map(|axis| format!("{}{axis}{}", &name[..place], &name[place + 1..]))
        })
}

/// Names `a1 a2 a3 a4 a5 a6 ..`: as many of a kind as threes have.
fn by_threes(names: &[String]) -> Vec<Triad> {
    let stem = |name: &String| name.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned();
    let numbered = |name: &String| name.ends_with(|letter: char| letter.is_ascii_digit());
    let kinds = names.chunk_by(|one, next| numbered(one) && numbered(next) && stem(one) == stem(next));
    let mut from = 0;
    let mut found = Vec::new();
    for kind in kinds {
        if kind.len().is_multiple_of(3) {
            let places = (from..from + kind.len()).step_by(3);
            found.extend(places.map(|place| [place, place + 1, place + 2].map(|place| place as u32)));
        }
        from += kind.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(' ').map(|name| name.replace('~', " ")).collect()
    }

    #[test]
    fn names_tell_triads() {
        let none: [Triad; 0] = [];
        assert_eq!(told(&names("acc_x acc_y acc_z gx gy gz t")), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(told(&names("z x y")), [[1, 2, 0]]);
        assert_eq!(told(&names("T_xacc T_yacc T_zacc")), [[0, 1, 2]]);
        assert_eq!(told(&names("max_x max_y max_z")), [[0, 1, 2]]);
        assert_eq!(told(&names("AccX AccY AccZ max")), [[0, 1, 2]]);
        assert_eq!(told(&names("channel~1 channel~2 channel~3")), [[0, 1, 2]]);
        assert_eq!(told(&names("a1 a2 a3 a4 a5 a6 b")), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(told(&names("x y")), none);
        assert_eq!(told(&names("a b c")), none);
        assert_eq!(told(&names("a1 a2 a3 a4")), none);
    }

    #[test]
    fn written_triads_go_before_told_ones() {
        let written = |triads: &str| Transforms {
            magnitudes: true,
            triads: triads.to_owned(),
            ..Transforms::default()
        };
        let channels = names("x y z a b");
        assert_eq!(written("").triads(&channels).unwrap(), [[0, 1, 2]]);
        assert_eq!(
            written(" A, b,z ; 1,2,4;").triads(&channels).unwrap(),
            [[3, 4, 2], [0, 1, 3]]
        );
        for (triads, part) in [
            ("x,y", "triads: found x,y, expected three channels"),
            ("x,y,y", "triads: found x,y,y, expected three"),
            ("x,y,q", "triads: found q, expected one of the channels x, y, z, a, b"),
            ("1,2,9", "triads: found 9,"),
        ] {
            let error = written(triads).check(&channels).unwrap_err().to_string();
            assert!(error.starts_with(part), "{error}");
        }
        let error = written("").check(&names("a b")).unwrap_err().to_string();
        assert!(
            error.starts_with("magnitudes: found the channels a, b, expected names that end in x"),
            "{error}"
        );
        assert_eq!(written("").count(&channels), 1);
    }
}
