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
    /// Triads by the names of their channels, such as `ax,ay,az;gx,gy,gz`, a `|` between those of devices that move apart; empty: told from
    /// the names.
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
        written(&self.triads, names)
    }

    /// The same, those of each device: of sensors that always turn alike. Names tell devices where each has the same sensors, two at least:
    /// `arm_acc_x .. arm_gyro_z leg_acc_x .. leg_gyro_z`.
    ///
    /// # Errors
    /// As [`Transforms::triads`].
    pub fn devices(&self, names: &[String]) -> Result<Vec<Vec<Triad>>> {
        if self.triads.trim().is_empty() {
            return Ok(by_device(told(names), names));
        }
        let devices: Result<Vec<_>> = self.triads.split('|').map(|device| written(device, names)).collect();
        Ok(devices?.into_iter().filter(|device| !device.is_empty()).collect())
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
            let found = format!("the channels {}", list(names));
            return Err(Error::setting("magnitudes", found, expected));
        }
        Ok(())
    }
}

fn written(triads: &str, names: &[String]) -> Result<Vec<Triad>> {
    let written = triads.split([';', '|']).filter(|triad| !triad.trim().is_empty());
    written.map(|triad| written_triad(triad, names)).collect()
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
        let place =
            place.ok_or_else(|| Error::setting("triads", name, format!("one of the channels {}", list(names))))?;
        places.push(place as u32);
    }
    let distinct = |triad: &Triad| triad[0] != triad[1] && triad[0] != triad[2] && triad[1] != triad[2];
    let triad: Option<Triad> = places.try_into().ok();
    triad.filter(distinct).ok_or_else(|| {
        let expected = "three channels between commas, triads between semicolons, devices between bars";
        Error::setting("triads", written.trim(), expected)
    })
}

/// Whether names say that channels are the axes of sensors: three that differ in one letter alone, an x, a y and a z.
pub(crate) fn are_axes(names: &[String]) -> bool {
    !by_axes(names).is_empty()
}

/// Three names that differ in one letter alone, an x, a y and a z; names that differ in numbers at their end alone go by threes.
fn told(names: &[String]) -> Vec<Triad> {
    let found = by_axes(names);
    if found.is_empty() { by_threes(names) } else { found }
}

fn by_axes(names: &[String]) -> Vec<Triad> {
    let mut found: Vec<Triad> = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let others = axes(name).find_map(|[y, z]| Some([exactly(&y, names)?, exactly(&z, names)?]));
        if let Some([y, z]) = others.filter(|others| free(&found, place, others)) {
            found.push([place, y, z].map(|place| place as u32));
        }
    }
    found
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

/// Triads whose names begin with a device, if each device has the same sensors, and more than one; else all are of one device.
fn by_device(triads: Vec<Triad>, names: &[String]) -> Vec<Vec<Triad>> {
    let mut devices: Vec<(&str, Vec<&str>, Vec<Triad>)> = Vec::new();
    for &triad in &triads {
        let name = names[triad[0] as usize].as_str();
        let Some((device, sensor)) = name.split_once(['_', '-', '.', ' ']) else {
            return one_device(triads);
        };
        match devices.iter_mut().find(|(other, ..)| *other == device) {
            Some((_, sensors, own)) => {
                sensors.push(sensor);
                own.push(triad);
            }
            None => devices.push((device, vec![sensor], vec![triad])),
        }
    }
    let alike = devices.iter().all(|(_, sensors, _)| *sensors == devices[0].1);
    if devices.len() < 2 || devices[0].1.len() < 2 || !alike {
        return one_device(triads);
    }
    devices.into_iter().map(|(.., triads)| triads).collect()
}

fn one_device(triads: Vec<Triad>) -> Vec<Vec<Triad>> {
    if triads.is_empty() { Vec::new() } else { vec![triads] }
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
    fn names_tell_devices_of_the_same_sensors() {
        let devices = |text: &str| Transforms::default().devices(&names(text)).unwrap();
        let apart = devices(
            "T_acc_x T_acc_y T_acc_z T_mag_x T_mag_y T_mag_z RA_acc_x RA_acc_y RA_acc_z RA_mag_x RA_mag_y RA_mag_z",
        );
        assert_eq!(apart, [vec![[0, 1, 2], [3, 4, 5]], vec![[6, 7, 8], [9, 10, 11]]]);
        let one = [vec![[0, 1, 2], [3, 4, 5]]];
        assert_eq!(devices("acc_x acc_y acc_z gyro_x gyro_y gyro_z"), one);
        assert_eq!(devices("ax ay az gx gy gz"), one);
        let har =
            "body_acc_x body_acc_y body_acc_z body_gyro_x body_gyro_y body_gyro_z total_acc_x total_acc_y total_acc_z";
        assert_eq!(devices(har), [vec![[0, 1, 2], [3, 4, 5], [6, 7, 8]]]);
        assert!(devices("a b").is_empty());
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
        let devices = |triads: &str| written(triads).devices(&channels).unwrap();
        assert_eq!(devices("x,y,z;a,b,x"), [vec![[0, 1, 2], [3, 4, 0]]]);
        assert_eq!(devices("x,y,z|a,b,x|"), [vec![[0, 1, 2]], vec![[3, 4, 0]]]);
        assert_eq!(
            written("x,y,z|a,b,x").triads(&channels).unwrap(),
            [[0, 1, 2], [3, 4, 0]]
        );
        let error = written("").check(&names("a b")).unwrap_err().to_string();
        assert!(
            error.starts_with("magnitudes: found the channels a, b, expected names that end in x"),
            "{error}"
        );
        assert_eq!(written("").count(&channels), 1);
    }
}
