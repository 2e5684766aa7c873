//! What an axis shows: its range, and its ticks at round numbers.
//!
//! The names of the ticks of an axis are all different, have no more digits than that takes, and do not touch each other.

/// Most ticks of an axis.
const MOST: usize = 8;
/// A range is at least this part of its values: what differs by less is the same.
const LEAST_RANGE: f64 = 0.02;
/// Losses above so many times their median ask for a logarithmic axis: on a linear one, all others lie on the floor.
const SPIKE: f64 = 30.0;

/// An axis from, to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Equal steps are equally long.
    Linear(f64, f64),
    /// Both above 0; values below are drawn at the lower end.
    Logarithmic(f64, f64),
    /// Of whole numbers, both ends among them.
    Whole(f64, f64),
}

/// A place of the grid, and its name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub value: f64,
    pub name: String,
}

impl Scale {
    /// From a round number below the values to one above; not below 0 where nothing is.
    pub fn linear(values: impl Iterator<Item = f64>) -> Self {
        let Some((low, high)) = ends(values) else {
            return Scale::Linear(0.0, 1.0);
        };
        let (from, to) = widened(low, high);
        let step = step(to - from, 5);
        let floor = (from / step + 1e-9).floor() * step;
        let ceiling = ((to / step - 1e-9).ceil() * step).max(floor + step);
        Scale::Linear(if low >= 0.0 { floor.max(0.0) } else { floor }, ceiling)
    }

    /// As [`Scale::linear`], of numbers in percent.
    pub fn percent(values: impl Iterator<Item = f64>) -> Self {
        match Scale::linear(values) {
            Scale::Linear(low, high) => Scale::Linear(low.min(98.0), high.min(100.0)),
            other => other,
        }
    }

    /// From 0 to a round number above the values.
    pub fn from_zero(values: impl Iterator<Item = f64>) -> Self {
        Scale::linear(values.chain([0.0]))
    }

    /// From 0; logarithmic if single values stand far above the others.
    pub fn losses(values: impl Iterator<Item = f64>) -> Self {
        let mut all: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        all.sort_by(f64::total_cmp);
        let (Some(&least), Some(&most)) = (all.first(), all.last()) else {
            return Scale::Linear(0.0, 1.0);
        };
        let median = all[all.len() / 2];
        if least >= 0.0 && median > 0.0 && most > SPIKE * median {
            // Far below the median, the rest of the way to 0 says nothing.
            return Scale::logarithmic(all.into_iter(), 1e-3 * median);
        }
        Scale::from_zero(all.into_iter())
    }

    /// A logarithmic axis of whole powers of ten that holds all values above `floor`.
    pub fn logarithmic(values: impl Iterator<Item = f64>, floor: f64) -> Self {
        let Some((low, high)) = ends(values.map(|value| value.max(floor))) else {
            return Scale::Logarithmic(0.1, 10.0);
        };
        let low = low.log10().floor();
        Scale::Logarithmic(10f64.powf(low), 10f64.powf(high.log10().ceil().max(low + 1.0)))
    }

    /// A logarithmic axis with a little room around its values.
    pub fn sizes(values: impl Iterator<Item = f64>) -> Self {
        match ends(values.map(|value| value.max(1e-6))) {
            Some((low, high)) => Scale::Logarithmic(0.8 * low, 1.25 * high),
            None => Scale::Logarithmic(0.1, 10.0),
        }
    }

    /// Part of the way from the lower to the upper end.
    pub(super) fn share(self, value: f64) -> f64 {
        let share = match self {
            Scale::Logarithmic(low, high) => (value.max(low) / low).ln() / (high / low).ln(),
            // A single epoch stands at the left end.
            Scale::Linear(low, high) | Scale::Whole(low, high) if high <= low => value - low,
            Scale::Linear(low, high) | Scale::Whole(low, high) => (value - low) / (high - low),
        };
        share.clamp(0.0, 1.0)
    }

    /// As many ticks as `fit`, at most [`MOST`]; the sparsest choice if none does.
    pub(super) fn ticks(self, fit: impl Fn(&[Tick]) -> bool) -> Vec<Tick> {
        let mut choices = self.choices();
        let found = choices
            .iter()
            .position(|ticks| (2..=MOST).contains(&ticks.len()) && fit(ticks));
        let sparse = || choices.iter().rposition(|ticks| !ticks.is_empty());
        choices.swap_remove(found.or_else(sparse).unwrap_or_default())
    }

    /// Sets of ticks, those with the most first.
    fn choices(self) -> Vec<Vec<Tick>> {
        match self {
            Scale::Linear(low, high) => (1..=6).rev().map(|count| linear(low, high, count)).collect(),
            Scale::Whole(low, high) => (0..=6).rev().map(|count| whole(low, high, count)).collect(),
            Scale::Logarithmic(low, high) => {
                let factors: [&[f64]; 3] = [&[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
                let mut choices: Vec<Vec<Tick>> = factors.iter().map(|factors| powers(low, high, factors, 1)).collect();
                let strides = [2, 3, 4, 5, 10, 20, 50, 100, 200];
                choices.extend(strides.map(|stride| powers(low, high, &[1.0], stride)));
                if high / low < 12.0 {
                    choices.splice(0..0, (2..=6).rev().map(|count| linear(low, high, count)));
                }
                choices
            }
        }
    }
}

/// About so many round numbers between two.
fn linear(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let step = step(high - low, count);
    let first = (low / step - 1e-6).ceil();
    let steps = ((high / step + 1e-6).floor() - first).max(-1.0) as i64;
    // The sum with 0 takes the sign from -0.
    let values = (0..=steps).map(|index| (first + index as f64) * step + 0.0);
    named(values.collect(), step)
}

/// The first number, and about so many round ones up to the last.
fn whole(first: f64, last: f64, count: usize) -> Vec<Tick> {
    let mut values = vec![first];
    if count > 0 && last > first {
        let step = step(last - first, count).max(1.0).round();
        let from = (first / step).floor() as i64 + 1;
        let to = (last / step + 1e-9).floor() as i64;
        values.extend((from..=to).map(|index| index as f64 * step));
    }
    let tick = |value: f64| Tick {
        value,
        name: number(value, 0),
    };
    values.into_iter().map(tick).collect()
}

fn powers(low: f64, high: f64, factors: &[f64], stride: usize) -> Vec<Tick> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let powers = (first..=last).step_by(stride);
    let places = powers.flat_map(|power| factors.iter().map(move |factor| (*factor, power)));
    let value = |factor: f64, power: i32| factor * 10f64.powi(power);
    let inside = places.filter(|&(factor, power)| (low * 0.999..=high * 1.001).contains(&value(factor, power)));
    let tick = |(factor, power): (f64, i32)| Tick {
        value: value(factor, power),
        name: match power {
            -3..=4 => number(value(factor, power), (-power).max(0) as usize),
            _ => format!("{factor}e{power}"),
        },
    };
    inside.map(tick).collect()
}

/// Names with as many decimals as the step asks for.
fn named(values: Vec<f64>, step: f64) -> Vec<Tick> {
    let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let decimals = (-step.log10() - 1e-9).ceil();
    let plain = largest < 1e5 && decimals <= 5.0;
    let name = |value: f64| {
        if plain {
            return number(value, decimals.max(0.0) as usize);
        }
        if value == 0.0 {
            return "0".to_string();
        }
        let digits = (value.abs().log10() + 1e-9).floor() + decimals;
        format!("{value:.*e}", digits.max(0.0) as usize)
    };
    values
        .into_iter()
        .map(|value| Tick {
            value,
            name: name(value),
        })
        .collect()
}

fn number(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$}")
}

/// A round number, about so many of which make a length.
fn step(length: f64, count: usize) -> f64 {
    let raw = length / count as f64;
    let magnitude = 10f64.powf(raw.log10().floor());
    let round = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * magnitude);
    round.into_iter().find(|step| *step >= raw * 0.999).unwrap_or(raw)
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    (low <= high).then_some((low, high))
}

/// The range, or a wider one around it if it is next to nothing.
fn widened(low: f64, high: f64) -> (f64, f64) {
    let least = (LEAST_RANGE * low.abs().max(high.abs())).max(1e-9);
    if high - low >= least {
        return (low, high);
    }
    let middle = low + (high - low) / 2.0;
    (middle - least / 2.0, middle + least / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(scale: Scale) -> Vec<String> {
        scale.ticks(|_| true).into_iter().map(|tick| tick.name).collect()
    }

    #[test]
    fn ticks_are_round_numbers_inside() {
        assert_eq!(names(Scale::Linear(-0.3, 0.4)), ["-0.2", "0.0", "0.2", "0.4"]);
        assert_eq!(names(Scale::Linear(0.0, 784.0)), ["0", "200", "400", "600"]);
        assert_eq!(
            names(Scale::Linear(0.0, 1.0)),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(
            names(Scale::Linear(0.0625, 0.0635)),
            ["0.0626", "0.0628", "0.0630", "0.0632", "0.0634"]
        );
        assert_eq!(
            names(Scale::Linear(0.0, 3e6)),
            ["0", "5e5", "1.0e6", "1.5e6", "2.0e6", "2.5e6", "3.0e6"]
        );
        assert_eq!(names(Scale::Linear(0.0, 4e-8)), ["0", "1e-8", "2e-8", "3e-8", "4e-8"]);
        assert_eq!(names(Scale::Whole(1.0, 20.0)), ["1", "5", "10", "15", "20"]);
        assert_eq!(names(Scale::Whole(1.0, 3.0)), ["1", "2", "3"]);
        assert_eq!(names(Scale::Whole(1.0, 1.0)), ["1"]);
        assert_eq!(
            names(Scale::Logarithmic(1.0, 100.0)),
            ["1", "2", "5", "10", "20", "50", "100"]
        );
        assert_eq!(
            names(Scale::Logarithmic(1e-6, 1.0)),
            ["1e-6", "1e-5", "1e-4", "0.001", "0.01", "0.1", "1"]
        );
        assert_eq!(names(Scale::Logarithmic(14.0, 35.0)), ["15", "20", "25", "30", "35"]);
    }

    #[test]
    fn names_of_ticks_are_all_different_whatever_the_range() {
        let ends = [
            0.0, 1e-12, 0.063, 0.0631, 0.9, 1.0, 1.5, 99.9, 100.0, 784.0, 1e5, 123456.0, 3e9, 1e300,
        ];
        for (index, &low) in ends.iter().enumerate() {
            for &high in &ends[index + 1..] {
                for (from, to) in [(low, high), (-high, -low), (-high, high)] {
                    let mut scales = vec![Scale::Linear(from, to), Scale::linear([from, to].into_iter())];
                    if from > 0.0 {
                        scales.push(Scale::Logarithmic(from, to));
                        scales.push(Scale::sizes([from, to].into_iter()));
                    }
                    for scale in scales {
                        let found = names(scale);
                        assert!((1..=MOST).contains(&found.len()), "{scale:?}: {found:?}");
                        for (place, name) in found.iter().enumerate() {
                            assert!(!found[..place].contains(name), "{scale:?}: {found:?}");
                            assert!(name.len() < 13, "{scale:?}: {found:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn fewer_ticks_where_there_is_no_room() {
        let few = |ticks: &[Tick]| ticks.len() <= 3;
        assert_eq!(Scale::Linear(0.0, 100.0).ticks(few).len(), 3);
        assert!(Scale::Logarithmic(1e-12, 1e4).ticks(few).len() <= 3);
        assert!(Scale::Whole(1.0, 50.0).ticks(few).len() <= 3);
        assert_eq!(Scale::Whole(1.0, 50.0).ticks(|_| false).len(), 1, "the sparsest choice");
    }

    #[test]
    fn ranges_hold_all_values() {
        let linear = |values: &[f64]| Scale::linear(values.iter().copied());
        assert_eq!(linear(&[91.3, 94.8]), Scale::Linear(91.0, 95.0));
        assert_eq!(linear(&[115.0, 480.0]), Scale::Linear(100.0, 500.0));
        assert_eq!(linear(&[]), Scale::Linear(0.0, 1.0));
        assert_eq!(linear(&[f64::NAN]), Scale::Linear(0.0, 1.0));
        assert_eq!(Scale::percent([99.9, 99.9].into_iter()), Scale::Linear(98.0, 100.0));
        assert_eq!(Scale::percent([100.0].into_iter()), Scale::Linear(98.0, 100.0));
        assert_eq!(Scale::from_zero([3.0, 7.0].into_iter()), Scale::Linear(0.0, 8.0));
        for values in [&[5.0][..], &[0.0], &[-3.0, -3.0], &[1e-12, 1e12], &[0.063, 0.06300001]] {
            let Scale::Linear(low, high) = linear(values) else {
                panic!("a linear axis")
            };
            assert!(low < high && low.is_finite() && high.is_finite(), "{values:?}");
            assert!(
                values.iter().all(|value| (low..=high).contains(value)),
                "{values:?}: {low} {high}"
            );
        }
        assert_eq!(
            Scale::logarithmic([0.02, 30.0].into_iter(), 1e-12),
            Scale::Logarithmic(0.01, 100.0)
        );
        let Scale::Logarithmic(low, high) = Scale::logarithmic([0.0, 0.5, f64::INFINITY].into_iter(), 1e-12) else {
            panic!("a logarithmic axis")
        };
        assert!((low / 1e-12 - 1.0).abs() < 1e-9 && high == 1.0, "{low} {high}");
    }

    #[test]
    fn a_spike_makes_an_axis_of_losses_logarithmic() {
        let calm = [2.0, 1.0, 0.5, 0.1];
        assert_eq!(Scale::losses(calm.into_iter()), Scale::Linear(0.0, 2.0));
        let spike = [2.0, 1.0, 0.5, 0.4, 11431.0];
        assert_eq!(Scale::losses(spike.into_iter()), Scale::Logarithmic(0.1, 1e5));
    }
}
