//! The logits that a device must give, in its own numbers.

use super::parity::FLOAT_BOUND;
use super::unit::Unit;

/// Logits after every step, `[steps, outputs]`, of each sequence.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Logits {
    Float(Vec<Vec<f32>>),
    /// With 16 binary places, and the numbers of each sequence that did not fit.
    Whole(Vec<Vec<i32>>, Vec<u32>),
}

impl Logits {
    /// The bytes of all, as this machine has them; of whole numbers with the saturations behind each sequence.
    pub fn bytes(&self) -> Vec<[u8; 4]> {
        match self {
            Logits::Float(all) => all.iter().flatten().map(|value| value.to_ne_bytes()).collect(),
            Logits::Whole(all, saturations) => {
                let of = |(logits, count): (&Vec<i32>, &u32)| {
                    let logits = logits.iter().map(|value| value.to_ne_bytes());
                    logits.chain([count.to_ne_bytes()]).collect::<Vec<_>>()
                };
                all.iter().zip(saturations).flat_map(of).collect()
            }
        }
    }

    /// Those after one step of a sequence, each as text.
    pub fn row(&self, sequence: usize, step: usize, outputs: usize) -> Vec<String> {
        let range = step * outputs..(step + 1) * outputs;
        match self {
            Logits::Float(all) => all[sequence][range].iter().map(|value| format!("{value:?}")).collect(),
            Logits::Whole(all, _) => all[sequence][range].iter().map(i32::to_string).collect(),
        }
    }

    /// How far a logit of another compiler may be from the one that is stored.
    pub fn bound(&self) -> f32 {
        FLOAT_BOUND as f32 * self.largest(0, 1).max(1.0)
    }

    /// The same of each output of a model of numbers; of whole numbers, of the number that is made of it.
    pub fn bounds(&self, unit: &Unit) -> Vec<f32> {
        let scales = unit.scales.iter();
        match self {
            Logits::Whole(..) => scales.map(Unit::bound).collect(),
            Logits::Float(_) => scales
                .enumerate()
                .map(|(place, scale)| {
                    let largest = self.largest(place, unit.scales.len());
                    (FLOAT_BOUND * scale.deviation) as f32 + 8.0 * f32::EPSILON * largest
                })
                .collect(),
        }
    }

    /// The largest of every so many logits; 0 of whole numbers.
    fn largest(&self, place: usize, outputs: usize) -> f32 {
        let Logits::Float(all) = self else { return 0.0 };
        let own = all.iter().flat_map(|all| all.iter().skip(place).step_by(outputs));
        own.fold(0.0, |largest: f32, value| largest.max(value.abs()))
    }
}
