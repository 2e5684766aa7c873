//! What must change no bit.

use ernn_kernels::equilibrium::SequenceRunner;
use ernn_kernels::{Isa, Real};

use crate::case::{Case, cases, single};
use crate::gradients::gradients;
use crate::support::{Numbers, bits};

/// `[T, d]` of one sequence.
fn sequence_input<F: Real>(case: &Case<F>, sequence: usize) -> Vec<F> {
    let rows = (0..case.lengths[sequence]).flat_map(|step| {
        let at = (step * case.lengths.len() + sequence) * case.inputs;
        &case.numbers[4][at..at + case.inputs]
    });
    rows.copied().collect()
}

#[test]
fn a_column_gets_the_same_bits_everywhere() {
    for case in cases().iter().map(single) {
        for isa in Isa::available() {
            let whole = case.run(isa).states().to_time_major();
            let (sequences, hidden) = (case.lengths.len(), case.hidden);
            let mut runner = SequenceRunner::new(isa, &case.cell());
            for sequence in 0..sequences {
                let input = sequence_input(&case, sequence);
                let initial = &case.numbers[5][sequence * hidden..(sequence + 1) * hidden];
                let (mut state, mut states) = (initial.to_vec(), Vec::new());
                runner.run(&input, &mut state, &mut states);
                let (mut single, mut streamed) = (initial.to_vec(), Vec::new());
                for (step, x) in input.chunks(case.inputs).enumerate() {
                    runner.run(x, &mut single, &mut streamed);
                    let expected = &whole[(step * sequences + sequence) * hidden..][..hidden];
                    assert_eq!(bits(&streamed), bits(expected), "{} streamed", case.name);
                    assert_eq!(
                        bits(&states[step * hidden..(step + 1) * hidden]),
                        bits(expected),
                        "{}",
                        case.name
                    );
                }
            }
        }
    }
}

#[test]
fn threads_change_no_bit() {
    let mut case = cases().remove(12);
    case.lengths = vec![300, 2, 150, 299, 0, 7];
    case.numbers[4] = Numbers(5).vector(300 * 6 * case.inputs, 1.0);
    case.numbers[5] = Numbers(6).vector(6 * case.hidden, 1.0);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| gradients(&case, Isa::best()).concat())
    };
    let one = run(1);
    for threads in [2, 3, 8] {
        assert_eq!(bits(&one), bits(&run(threads)));
    }
}
