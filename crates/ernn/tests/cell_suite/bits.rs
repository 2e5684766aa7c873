//! What must change no bit: the batch that a sequence is in, its place there, what stands behind its end, what the memory
//! held before, the number of threads, and the way through the single-sequence runner.

use ernn::batch::Batch;
use ernn::cell::{Activation, CellConfig, ErnnConfig, FastGrnnConfig, LstmConfig, Rank, RnnConfig, Span};
use ernn::model::{LossOptions, Model, ModelConfig, Workspace};
use ernn::{Isa, Panels, Real};

use crate::table::{Case, cases};

fn bits<F: Real>(values: &[F]) -> Vec<u64> {
    values.iter().map(|value| value.to_f64().to_bits()).collect()
}

fn logits<F: Real>(case: &Case, batch: &Batch<F>, workspace: &mut Workspace<F>) -> Vec<u64> {
    bits(&case.model().logits(&batch.inputs, workspace).expect("logits"))
}

/// Loss, right predictions and gradient.
fn training<F: Real>(case: &Case, batch: &Batch<F>, workspace: &mut Workspace<F>) -> (u64, usize, Vec<u64>) {
    let model = case.model();
    let mut gradient = vec![F::from_f64(f64::NAN); model.parameters().len()];
    let found = model.loss_and_gradient(batch, &case.options(), workspace, &mut gradient);
    let (loss, right) = found.expect("a loss");
    (loss.to_f64().to_bits(), right, bits(&gradient))
}

fn a_sequence_has_its_logits_everywhere<F: Real>() {
    for case in cases() {
        let (isa, classes) = (Isa::best(), case.config.classes);
        let mut workspace = Workspace::default();
        let together = logits(&case, &case.batch::<F>(isa), &mut workspace);
        let order = case.shuffled();
        let shuffled = logits(&case, &case.pick::<F>(isa, &order), &mut workspace);
        for (slot, &sequence) in order.iter().enumerate() {
            let expected = &together[sequence * classes..][..classes];
            assert_eq!(
                &shuffled[slot * classes..][..classes],
                expected,
                "{}, another order",
                case.name
            );
        }
        let mut runner = case.model::<F>().runner();
        for (sequence, expected) in together.chunks_exact(classes).enumerate() {
            let alone = logits(&case, &case.pick::<F>(isa, &[sequence]), &mut workspace);
            assert_eq!(alone, expected, "{}, sequence {sequence} alone", case.name);
            let run = runner.logits(&case.sequence(sequence));
            assert_eq!(bits(&run), expected, "{}, sequence {sequence} by the runner", case.name);
        }
    }
}

#[test]
fn a_sequence_has_its_logits_everywhere_f32() {
    a_sequence_has_its_logits_everywhere::<f32>();
}

#[test]
fn a_sequence_has_its_logits_everywhere_f64() {
    a_sequence_has_its_logits_everywhere::<f64>();
}

/// A case's own inputs hold NaN behind the end of each sequence; here against numbers written sequence by sequence.
#[test]
fn padding_changes_nothing() {
    for case in cases() {
        let all: Vec<usize> = (0..case.lengths.len()).collect();
        for isa in Isa::available() {
            let (padded, clean) = (case.batch::<f32>(isa), case.pick::<f32>(isa, &all));
            let mut workspace = Workspace::default();
            let expected = training(&case, &clean, &mut workspace);
            assert!(f64::from_bits(expected.0).is_finite(), "{}", case.name);
            assert_eq!(
                training(&case, &padded, &mut workspace),
                expected,
                "{}, {isa:?}",
                case.name
            );
        }
    }
}

/// Even the panels' own padding may hold anything, where no gradient is wanted.
#[test]
fn spoiled_panels_change_no_logit() {
    for case in cases() {
        for isa in Isa::available() {
            let clean = case.batch::<f64>(isa);
            let mut spoiled = case.batch::<f64>(isa);
            let nothing = vec![f64::NAN; case.config.input_size];
            for block in (0..case.lengths.len()).collect::<Vec<_>>().chunks(clean.inputs.lanes()) {
                let longest = block
                    .iter()
                    .map(|&sequence| case.lengths[sequence])
                    .max()
                    .expect("a sequence");
                for &sequence in block {
                    (case.lengths[sequence]..longest)
                        .for_each(|step| spoiled.inputs.set_step(sequence, step, &nothing));
                }
            }
            let mut workspace = Workspace::default();
            let expected = logits(&case, &clean, &mut workspace);
            assert_eq!(
                logits(&case, &spoiled, &mut workspace),
                expected,
                "{}, {isa:?}",
                case.name
            );
        }
    }
}

/// Loss and gradient of a full lane block of one feature: one sequence of a step of 1, the others of `steps` of -1. In a full
/// block the kernels leave out the mask until the first sequence ends.
fn of_one_and_many<F: Real>(model: &Model<F>, isa: Isa, steps: usize) -> (F, Vec<F>) {
    let count = isa.lanes::<F>();
    let mut lengths = vec![steps; count];
    lengths[0] = 1;
    let mut batch = Batch::new();
    batch.inputs = Panels::new(isa, 1, &lengths);
    batch.inputs.set_sequence(0, &[F::ONE]);
    (1..count).for_each(|slot| batch.inputs.set_sequence(slot, &vec![-F::ONE; steps]));
    batch.targets = (0..count).map(|slot| u32::from(slot > 0)).collect();
    batch.indices = (0..count).collect();
    let mut gradient = vec![F::ZERO; model.parameters().len()];
    let result = model.loss_and_gradient(
        &batch,
        &LossOptions::default(),
        &mut Workspace::default(),
        &mut gradient,
    );
    (result.expect("a loss").0, gradient)
}

/// A ReLU that sleeps in the long sequences, and would grow without bound behind the end of the short one if it went on there:
/// then infinities meet gradients of 0 and make them NaN.
#[test]
fn what_would_grow_behind_the_end_changes_nothing() {
    let rnn = |rank| {
        CellConfig::Rnn(RnnConfig {
            hidden: 4,
            rank,
            activation: Activation::Relu,
            ..Default::default()
        })
    };
    let lstm = |rank| {
        CellConfig::Lstm(LstmConfig {
            hidden: 4,
            rank,
            activation: Activation::Relu,
            ..Default::default()
        })
    };
    let fastgrnn = |rank| {
        CellConfig::FastGrnn(FastGrnnConfig {
            hidden: 4,
            rank,
            activation: Activation::Relu,
            ..Default::default()
        })
    };
    let ernn = |rank, iterations| {
        CellConfig::Ernn(ErnnConfig {
            hidden: 4,
            rank,
            iterations,
            ..Default::default()
        })
    };
    let cells = [
        (rnn(Rank::Full), 1.0),
        (rnn(Rank::Low(2)), 1.0),
        (rnn(Rank::Low(2)), 1e15),
        (ernn(Rank::Full, 1), 1.0),
        (ernn(Rank::Low(2), 1), 1.0),
        (ernn(Rank::Full, 2), 1.0),
        (ernn(Rank::Low(2), 2), 1.0),
        (lstm(Rank::Full), 1.0),
        (lstm(Rank::Low(2)), 1.0),
        (fastgrnn(Rank::Full), 1.0),
        (fastgrnn(Rank::Low(2)), 1.0),
    ];
    let in_both = cells.into_iter().flat_map(|case| [(case.clone(), false), (case, true)]);
    for ((cell, recurrent), bidirectional) in in_both {
        let config = ModelConfig {
            bidirectional,
            ..ModelConfig::new(1, 2, vec![cell])
        };
        let value = |span: &Span| match span.name.rsplit('.').next().expect("a name") {
            "b" | "b_z" | "b_h" | "bias" => vec![0.0; span.len()],
            "W" | "eta" | "zeta" | "nu" => vec![1.0; span.len()],
            "weight" => (0..span.len())
                .map(|index| if index < span.len() / 2 { 0.0 } else { 1.0 })
                .collect(),
            _ => vec![recurrent; span.len()],
        };
        let parameters = config.spans().iter().flat_map(value).collect();
        let model = Model::<f32>::from_parameters(config.clone(), parameters).expect("a model");
        for isa in Isa::available() {
            let expected = of_one_and_many(&model, isa, 1);
            assert!(expected.1.iter().any(|&value| value != 0.0) && expected.0.is_finite());
            assert_eq!(of_one_and_many(&model, isa, 120), expected, "{config:?}, {isa:?}");
        }
    }
}

/// The workspace has seen a longer batch of NaN and, every other time, another instruction set.
#[test]
fn used_memory_changes_nothing() {
    let isas = Isa::available();
    for (index, case) in cases().iter().enumerate() {
        let isa = isas[index % isas.len()];
        let batch = case.batch::<f64>(isa);
        let expected = (
            logits(case, &batch, &mut Workspace::default()),
            training(case, &batch, &mut Workspace::default()),
        );
        let mut workspace = Workspace::default();
        for isa in [isas[(index + index % 2) % isas.len()], isa] {
            let mut spoiled = case.pick::<f64>(isa, &[0; 21]);
            let width = case.config.input_size;
            spoiled.inputs = Panels::new(isa, width, &[43; 21]);
            (0..21).for_each(|slot| spoiled.inputs.set_sequence(slot, &vec![f64::NAN; 43 * width]));
            training(case, &spoiled, &mut workspace);
            let found = (
                logits(case, &batch, &mut workspace),
                training(case, &batch, &mut workspace),
            );
            assert!(found == expected, "{}, {isa:?}", case.name);
        }
    }
}

fn threads_change_nothing<F: Real>() {
    let pools = [1, 2, 3].map(|threads| {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
        builder.build().expect("a thread pool")
    });
    for case in cases() {
        for isa in Isa::available() {
            let batch = case.batch::<F>(isa);
            let [one, two, three] = pools.each_ref().map(|pool| {
                pool.install(|| {
                    let mut workspace = Workspace::default();
                    (
                        logits(&case, &batch, &mut workspace),
                        training(&case, &batch, &mut workspace),
                    )
                })
            });
            assert!(one == two && one == three, "{}, {isa:?}", case.name);
        }
    }
}

#[test]
fn threads_change_nothing_f32() {
    threads_change_nothing::<f32>();
}

#[test]
fn threads_change_nothing_f64() {
    threads_change_nothing::<f64>();
}
