//! Which values settings may have. What is refused is named, with its value and those that are allowed.

use std::fmt::Display;

use super::{RunConfig, TrainingSettings};
use crate::cell::{CellConfig, LARGEST, check_positive};
use crate::checkpoint::UNKNOWN;
use crate::data::Dataset;
use crate::model::check_quantiles;
use crate::optim::{OptimizerConfig, Schedule};
use crate::{Error, Result};

/// More is a slip of the finger, or so many that no run would end.
const MOST_STEPS: usize = 100_000_000;
/// The same of the sequences of a step.
const MOST_SEQUENCES: usize = 1 << 20;

/// The exponential of many times more is not a number of 32 bits.
const MOST_GAIN: f64 = 10.0;

impl RunConfig {
    /// Refuses values out of range; names the setting, its value and the allowed ones.
    pub fn check(&self) -> Result<()> {
        self.training.check()?;
        let embedding = self.model.embedding.as_ref();
        let rates = [
            ("dropout", self.model.dropout),
            ("layer_dropout", self.model.layer_dropout),
            (
                "embedding_dropout",
                embedding.map_or(0.0, |embedding| embedding.dropout),
            ),
        ];
        for (name, rate) in rates {
            demand(
                fraction(rate),
                name,
                rate,
                "a number from 0 up to, but not including, 1",
            )?;
        }
        demand(
            !self.model.bidirectional || self.training.tbptt == 0,
            "tbptt",
            self.training.tbptt,
            "0 for a bidirectional model: its second direction begins at a sequence's end, which a piece does not have",
        )?;
        demand(!self.model.layers.is_empty(), "layers", 0, "at least one layer")?;
        self.model.layers.iter().try_for_each(CellConfig::check)
    }
}

impl RunConfig {
    /// Refuses what goes with other data.
    pub(crate) fn check_for(&self, dataset: &Dataset) -> Result<()> {
        let taken = dataset.classes.iter().any(|class| class == UNKNOWN);
        demand(
            self.training.unknown == 0.0 || !taken,
            "--unknown",
            self.training.unknown,
            "0: a class is called \"unknown\", and an answer would mean two things",
        )
    }
}

impl TrainingSettings {
    fn check(&self) -> Result<()> {
        // TOML's integers have 63 bits.
        demand(
            i64::try_from(self.seed).is_ok(),
            "seed",
            self.seed,
            "0 to 9223372036854775807",
        )?;
        self.check_length()?;
        demand(
            (1..=MOST_SEQUENCES).contains(&self.batch_size),
            "batch_size",
            self.batch_size,
            &format!("1 to {MOST_SEQUENCES}"),
        )?;
        check_positive("learning_rate", self.learning_rate)?;
        demand(
            self.clip_norm.is_finite() && self.clip_norm >= 0.0,
            "clip_norm",
            self.clip_norm,
            "a number above 0, or 0 for no limit",
        )?;
        demand(
            fraction(self.validation),
            "validation",
            self.validation,
            "a part of the training sequences: 0 up to, but not including, 1",
        )?;
        demand(
            fraction(self.average),
            "average",
            self.average,
            "a part that stays, from 0 up to, but not including, 1",
        )?;
        demand(
            fraction(self.sparsity),
            "sparsity",
            self.sparsity,
            "a share of zeros, from 0 up to, but not including, 1",
        )?;
        self.check_augmentation()?;
        check_quantiles(&self.quantiles)?;
        demand(
            self.quantiles.is_empty() || self.loss.is_default(),
            "loss",
            format!("{:?} beside quantiles", self.loss).to_lowercase(),
            "none: quantiles have the pinball loss",
        )?;
        if let Some(teacher) = &self.teacher {
            teacher.check()?;
        }
        check_optimizer(&self.optimizer)?;
        check_schedule(&self.schedule)
    }

    fn check_length(&self) -> Result<()> {
        demand(
            (1..=MOST_STEPS).contains(&self.epochs),
            "epochs",
            self.epochs,
            &format!("1 to {MOST_STEPS}"),
        )?;
        for (name, steps, none) in [
            ("min_steps", self.min_steps, "no floor"),
            ("max_steps", self.max_steps, "no ceiling"),
        ] {
            let expected = format!("0 ({none}) to {MOST_STEPS}");
            demand(steps <= MOST_STEPS, name, steps, &expected)?;
        }
        demand(
            self.max_steps == 0 || self.min_steps <= self.max_steps,
            "min_steps",
            self.min_steps,
            &format!("at most max_steps, {}", self.max_steps),
        )
    }

    fn check_augmentation(&self) -> Result<()> {
        for (name, deviation, most) in [
            ("input_noise", self.input_noise, LARGEST),
            ("input_offset", self.input_offset, LARGEST),
            ("input_gain", self.input_gain, MOST_GAIN),
            ("input_rotation", self.input_rotation, MOST_GAIN),
            ("input_warp", self.input_warp, MOST_GAIN),
        ] {
            let expected = format!("a standard deviation, 0 to {most}");
            demand((0.0..=most).contains(&deviation), name, deviation, &expected)?;
        }
        for (name, share) in [
            ("unknown", self.unknown),
            ("input_crop", self.input_crop),
            ("input_shift", self.input_shift),
            ("input_mask_steps", self.input_mask_steps),
            ("input_mask_channels", self.input_mask_channels),
        ] {
            demand(fraction(share), name, share, "a share: 0 up to, but not including, 1")?;
        }
        Ok(())
    }
}

/// A part of a whole that is never all of it.
fn fraction(value: f64) -> bool {
    (0.0..1.0).contains(&value)
}

fn check_optimizer(optimizer: &OptimizerConfig) -> Result<()> {
    let (decay, memories, epsilon) = match optimizer {
        OptimizerConfig::Adam(adam) => (
            adam.weight_decay,
            vec![("beta1", adam.beta1), ("beta2", adam.beta2)],
            adam.epsilon,
        ),
        OptimizerConfig::AdamW(adam) => (
            adam.weight_decay,
            vec![("beta1", adam.beta1), ("beta2", adam.beta2)],
            adam.epsilon,
        ),
        OptimizerConfig::Sgd(sgd) => (sgd.weight_decay, vec![("momentum", sgd.momentum)], 1.0),
    };
    for (name, memory) in memories {
        demand(
            fraction(memory),
            name,
            memory,
            "a number from 0 up to, but not including, 1",
        )?;
    }
    demand(
        epsilon.is_finite() && epsilon > 0.0,
        "epsilon",
        epsilon,
        "a number above 0",
    )?;
    let expected = format!("0 to {LARGEST}");
    demand((0.0..=LARGEST).contains(&decay), "weight_decay", decay, &expected)
}

fn check_schedule(schedule: &Schedule) -> Result<()> {
    let (name, value, holds, expected) = match *schedule {
        Schedule::Constant => return Ok(()),
        Schedule::Step { factor, .. } => ("factor", factor, factor > 0.0 && factor.is_finite(), "a number above 0"),
        Schedule::Cosine { floor, .. } => ("floor", floor, floor >= 0.0 && floor.is_finite(), "0 or more"),
    };
    demand(holds, name, value, expected)
}

pub(super) fn demand(holds: bool, name: &str, found: impl Display, expected: &str) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(Error::setting(name, found, expected))
}
