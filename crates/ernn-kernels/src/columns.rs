//! Matrix x vector for one sequence: the registers hold units, and a sum runs over the columns in the block kernel's order.
//!
//! Each weight is used once a step, so the time is that of reading them: from the second-level cache, where they are more than
//! the first one holds. They are packed in *panels* of a few registers of sums, each panel column by column, one stream of whole cache
//! lines. Going through the panels to and fro, a step begins with those that the step before has left in the first-level cache.

use crate::Real;
use crate::aligned::Aligned;
use crate::pack::cut_evenly;
use crate::simd::Vector;

/// Registers of sums that are kept at once: with the column's number they fit 16 registers, and their chains hide the latency.
const REGISTERS: usize = 12;

/// The same where two vectors are multiplied at once.
const PAIRED_REGISTERS: usize = REGISTERS / 2;

/// Steps whose inputs are multiplied at once: many enough that reading the weights costs little, few enough that the sums stay near.
pub(crate) const INPUT_STEPS: usize = 16;

/// The next multiple of a register.
pub(crate) fn padded(count: usize, lanes: usize) -> usize {
    count.next_multiple_of(lanes)
}

/// A matrix `[groups * rows, columns]` in panels. Each group of rows starts at a register; rows that fill up a register are 0.
#[derive(Clone, Debug)]
pub(crate) struct Columns<F> {
    panels: Vec<Panel>,
    /// `[panel][column][rows of the panel]`.
    values: Aligned<F>,
}

/// Where a panel stands.
#[derive(Clone, Copy, Debug)]
struct Panel {
    registers: usize,
    /// Its first row.
    row: usize,
    /// Its first weight, and behind its last one.
    weights: [usize; 2],
}

impl<F: Real> Columns<F> {
    /// Packs for one vector at a time.
    pub(crate) fn new(matrix: &[F], shape: [usize; 3], lanes: usize) -> Self {
        Columns::pack(matrix, shape, lanes, REGISTERS)
    }

    /// Packs for several vectors, two at a time: the weights of the inputs, which are all known beforehand.
    pub(crate) fn paired(matrix: &[F], shape: [usize; 3], lanes: usize) -> Self {
        Columns::pack(matrix, shape, lanes, PAIRED_REGISTERS)
    }

    fn pack(matrix: &[F], [groups, rows, columns]: [usize; 3], lanes: usize, most: usize) -> Self {
        let group_width = padded(rows, lanes);
        let width = groups * group_width;
        let (mut values, mut panels) = (Aligned::default(), Vec::new());
        values.resize(width * columns);
        for (first, registers) in cut_evenly(width / lanes, most) {
            let (row, size) = (first * lanes, registers * lanes);
            let weights = [row * columns, (row + size) * columns];
            panels.push(Panel {
                registers,
                row,
                weights,
            });
            for (index, value) in values[weights[0]..weights[1]].iter_mut().enumerate() {
                let (column, row) = (index / size, row + index % size);
                let (group, row) = (row / group_width, row % group_width);
                *value = if row < rows {
                    matrix[(group * rows + row) * columns + column]
                } else {
                    F::ZERO
                };
            }
        }
        Columns { panels, values }
    }

    /// The weights of a panel.
    #[inline(always)]
    fn weights(&self, panel: Panel) -> &[F] {
        &self.values[panel.weights[0]..panel.weights[1]]
    }
}

/// A vector `[groups * rows]` with each group filled up to whole registers.
pub(crate) fn fill_up<F: Real>(vector: &[F], groups: usize, lanes: usize) -> Aligned<F> {
    // Of one column, so that the panels stand in the order of the rows.
    Columns::new(vector, [groups, vector.len() / groups.max(1), 1], lanes).values
}

/// What sums start from.
#[derive(Clone, Copy)]
pub(crate) enum Start<'a, F> {
    /// 0.
    Zero,
    /// What stands in their place.
    Here,
    /// Numbers from elsewhere.
    From(&'a [F]),
}

/// Which panel comes first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The first.
    To,
    /// The last.
    Fro,
}

impl Way {
    /// That of a step: the opposite of the one before.
    #[inline(always)]
    pub(crate) fn of(step: usize) -> Way {
        if step.is_multiple_of(2) { Way::To } else { Way::Fro }
    }
}

/// `sums = start + sum_c column[c] * source[c]`; inlined into the function that [`crate::compiled::Compiled::columns`] enters.
#[inline(always)]
pub(crate) fn columns<V: Vector>(
    weights: &Columns<V::Scalar>,
    source: &[V::Scalar],
    start: Start<V::Scalar>,
    way: Way,
    sums: &mut [V::Scalar],
) {
    let panels = &weights.panels[..];
    for turn in 0..panels.len() {
        let at = panels[if way == Way::To { turn } else { panels.len() - 1 - turn }];
        let (panel, place) = (weights.weights(at), at.row);
        match at.registers {
            1 => one::<V, 1>(panel, source, start, place, sums),
            2 => one::<V, 2>(panel, source, start, place, sums),
            3 => one::<V, 3>(panel, source, start, place, sums),
            4 => one::<V, 4>(panel, source, start, place, sums),
            5 => one::<V, 5>(panel, source, start, place, sums),
            6 => one::<V, 6>(panel, source, start, place, sums),
            7 => one::<V, 7>(panel, source, start, place, sums),
            8 => one::<V, 8>(panel, source, start, place, sums),
            9 => one::<V, 9>(panel, source, start, place, sums),
            10 => one::<V, 10>(panel, source, start, place, sums),
            11 => one::<V, 11>(panel, source, start, place, sums),
            _ => one::<V, REGISTERS>(panel, source, start, place, sums),
        }
    }
}

/// Many vectors at once: `rows[t] = bias + sum_c column[c] * sources[t, c]`, from number `offset` of each row of `stride` numbers on;
/// inlined into the function that [`crate::compiled::Compiled::inputs`] enters.
#[inline(always)]
pub(crate) fn inputs<V: Vector>(
    weights: &Columns<V::Scalar>,
    bias: &[V::Scalar],
    sources: &[V::Scalar],
    [offset, stride]: [usize; 2],
    rows: &mut [V::Scalar],
) {
    for &at in &weights.panels {
        let (panel, bias) = (weights.weights(at), &bias[at.row..]);
        let place = [offset + at.row, stride];
        match at.registers {
            1 => pairs::<V, 1>(panel, bias, sources, place, rows),
            2 => pairs::<V, 2>(panel, bias, sources, place, rows),
            3 => pairs::<V, 3>(panel, bias, sources, place, rows),
            4 => pairs::<V, 4>(panel, bias, sources, place, rows),
            5 => pairs::<V, 5>(panel, bias, sources, place, rows),
            _ => pairs::<V, PAIRED_REGISTERS>(panel, bias, sources, place, rows),
        }
    }
}

/// One panel and one vector.
#[inline(always)]
fn one<V: Vector, const G: usize>(
    panel: &[V::Scalar],
    source: &[V::Scalar],
    start: Start<V::Scalar>,
    place: usize,
    sums: &mut [V::Scalar],
) {
    let sums = &mut sums[place..place + G * V::LANES];
    let mut registers = [match start {
        Start::Zero => [V::zero(); G],
        Start::Here => load::<V, G>(sums),
        Start::From(values) => load::<V, G>(&values[place..]),
    }];
    accumulate::<V, G, 1>(panel, [source], &mut registers);
    store(&registers[0], sums);
}

/// One panel and all vectors, two at a time.
#[inline(always)]
fn pairs<V: Vector, const G: usize>(
    panel: &[V::Scalar],
    bias: &[V::Scalar],
    sources: &[V::Scalar],
    [place, stride]: [usize; 2],
    rows: &mut [V::Scalar],
) {
    let (bias, size) = (load::<V, G>(bias), panel.len() / (G * V::LANES));
    for (pair, sources) in sources.chunks(2 * size).enumerate() {
        let place = 2 * pair * stride + place;
        if sources.len() == 2 * size {
            let (first, second) = sources.split_at(size);
            let mut registers = [bias; 2];
            accumulate::<V, G, 2>(panel, [first, second], &mut registers);
            store(&registers[0], &mut rows[place..]);
            store(&registers[1], &mut rows[place + stride..]);
        } else {
            let mut registers = [bias];
            accumulate::<V, G, 1>(panel, [sources], &mut registers);
            store(&registers[0], &mut rows[place..]);
        }
    }
}

#[inline(always)]
fn accumulate<V: Vector, const G: usize, const S: usize>(
    panel: &[V::Scalar],
    sources: [&[V::Scalar]; S],
    registers: &mut [[V; G]; S],
) {
    for (index, column) in panel.chunks_exact(G * V::LANES).enumerate() {
        let mut factors = [V::zero(); S];
        for (factor, source) in factors.iter_mut().zip(&sources) {
            *factor = V::splat(source[index]);
        }
        for g in 0..G {
            let weight = V::load(&column[g * V::LANES..]);
            for (registers, &factor) in registers.iter_mut().zip(&factors) {
                registers[g] = weight.mul_add(factor, registers[g]);
            }
        }
    }
}

#[inline(always)]
fn load<V: Vector, const G: usize>(from: &[V::Scalar]) -> [V; G] {
    let from = &from[..G * V::LANES];
    let mut registers = [V::zero(); G];
    for (register, values) in registers.iter_mut().zip(from.chunks_exact(V::LANES)) {
        *register = V::load(values);
    }
    registers
}

#[inline(always)]
fn store<V: Vector, const G: usize>(registers: &[V; G], to: &mut [V::Scalar]) {
    let to = &mut to[..G * V::LANES];
    for (register, values) in registers.iter().zip(to.chunks_exact_mut(V::LANES)) {
        register.store(values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::portable::PortableF64;

    const LANES: usize = PortableF64::LANES;

    /// Whole numbers, so that sums are exact; no two neighbors alike.
    fn numbers(count: usize) -> Vec<f64> {
        (0..count).map(|index| (index * 7 % 23) as f64 - 11.0).collect()
    }

    /// `start + matrix * source`, each group of rows filled up with what `start` has there.
    fn plain(matrix: &[f64], [groups, rows, columns]: [usize; 3], source: &[f64], start: &[f64]) -> Vec<f64> {
        let mut sums = start.to_vec();
        for (row, line) in matrix.chunks_exact(columns).enumerate().take(groups * rows) {
            let at = row / rows * padded(rows, LANES) + row % rows;
            sums[at] += line
                .iter()
                .zip(source)
                .map(|(weight, value)| weight * value)
                .sum::<f64>();
        }
        sums
    }

    fn shapes() -> impl Iterator<Item = [usize; 3]> {
        (1..60).flat_map(|rows| [[1, rows, 3], [3, rows, 5]])
    }

    #[test]
    fn products_are_those_of_a_plain_loop_whichever_panel_comes_first() {
        for shape in shapes() {
            let [groups, rows, columns] = shape;
            let matrix = numbers(groups * rows * columns);
            let (source, packed) = (numbers(columns), Columns::new(&matrix, shape, LANES));
            let start = numbers(groups * padded(rows, LANES));
            for way in [Way::To, Way::Fro] {
                let zeros = vec![0.0; start.len()];
                for (from, given) in [
                    (Start::Zero, &zeros),
                    (Start::Here, &start),
                    (Start::From(&start), &start),
                ] {
                    let mut sums = start.clone();
                    super::columns::<PortableF64>(&packed, &source, from, way, &mut sums);
                    assert_eq!(sums, plain(&matrix, shape, &source, given), "{shape:?}");
                }
            }
        }
    }

    #[test]
    fn the_inputs_of_any_number_of_steps_are_those_of_each_step() {
        for shape in shapes() {
            let [groups, rows, size] = shape;
            let matrix = numbers(groups * rows * size);
            let packed = Columns::paired(&matrix, shape, LANES);
            let bias = fill_up(&numbers(groups * rows), groups, LANES);
            let stride = groups * padded(rows, LANES) + 3;
            for steps in 0..5 {
                let sources = numbers(steps * size);
                let mut found = vec![0.5; steps * stride];
                inputs::<PortableF64>(&packed, &bias, &sources, [2, stride], &mut found);
                for (row, source) in found.chunks_exact(stride).zip(sources.chunks_exact(size)) {
                    let sums = plain(&matrix, shape, source, &bias);
                    assert_eq!(row[2..stride - 1], sums, "{shape:?}, {steps} steps");
                    assert_eq!(
                        [row[0], row[1], row[stride - 1]],
                        [0.5; 3],
                        "beside them nothing changes"
                    );
                }
            }
        }
    }
}
