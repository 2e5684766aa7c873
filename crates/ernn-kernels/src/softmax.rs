//! Softmax cross-entropy over many classes: logits, losses and all gradients, without ever holding the logits of a whole batch.
//!
//! ```text
//! l[n,c] = b[c] + sum_i W[c,i] h[n,i]        loss[n] = ln sum_c exp(l[n,c]) - l[n,y_n]
//! g[n,c] = scale (softmax(l[n])[c] - [c = y_n])
//! dW[c,i] += sum_n g[n,c] h[n,i]     db[c] += sum_n g[n,c]     dh[n,i] = sum_c g[n,c] W[c,i]
//! ```
//!
//! Shapes: h [rows, inputs], W [classes, inputs], b [classes], y [rows]. A vocabulary of 10,000 makes 40 KB of logits a row: rows go
//! through in chunks of a few megabytes of logits. Within a chunk, rows stand in panels `[group][feature][lane]`, and the classes are
//! cut into *slabs* whose weights stay in the second-level cache while all groups pass by. A slab keeps the largest logit of a row
//! and the sum of its exponentials; these are joined over the slabs in their order (as in online softmax, Milakov and Gimelshein,
//! arXiv 1805.02867), so that the same bits come out for any number of threads.

use rayon::prelude::*;

use crate::aligned::Aligned;
use crate::compiled::Compiled;
use crate::math::exponential_below;
use crate::outer::{Outer, Rows, sum_rows};
use crate::pack::Packed;
use crate::product::{Epilogue, Init, Product, Store};
use crate::simd::{load_row, row, store_row};
use crate::{Isa, Real};

/// Classes in a slab: 240 rows of 256 weights are a quarter of a megabyte.
const SLAB: usize = 240;
/// Bytes of logits in a chunk at most.
const CHUNK_BYTES: usize = 8 << 20;
/// Groups of rows in a chunk at most.
const MOST_GROUPS: usize = 64;
/// Groups that share one pass over the weights on the way to the gradient of the states.
const GROUPS_TOGETHER: usize = 4;

/// A linear readout with softmax behind it, and its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Softmax<'a, F> {
    /// Size of a state.
    pub inputs: usize,
    /// Number of classes.
    pub classes: usize,
    /// `W [classes, inputs]`.
    pub weight: &'a [F],
    /// `b [classes]`.
    pub bias: &'a [F],
}

/// What is found for one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowLoss<F> {
    /// `-ln p[y]`
    pub loss: F,
    /// Whether no class is likelier than the target.
    pub correct: bool,
}

/// Where the gradients go.
#[derive(Debug)]
pub struct SoftmaxGradient<'a, F> {
    /// What the gradient of each row's loss is multiplied by.
    pub scale: F,
    /// `[classes, inputs]`, added to.
    pub weight: &'a mut [F],
    /// `[classes]`, added to.
    pub bias: &'a mut [F],
    /// `[rows, inputs]`, set.
    pub states: &'a mut [F],
}

/// Working memory; reuse it from batch to batch.
#[derive(Debug, Default)]
pub struct SoftmaxWorkspace<F> {
    forward: Vec<Packed<F>>,
    backward: Vec<Packed<F>>,
    /// `[group][input][lane]`
    states: Aligned<F>,
    /// The same for their gradient.
    state_gradient: Aligned<F>,
    slabs: Vec<Slab<F>>,
}

/// The classes of one slab for all groups of a chunk.
#[derive(Debug, Default)]
struct Slab<F> {
    /// `[group][class of the slab][lane]`: logits, then exponentials, then gradients.
    values: Aligned<F>,
    /// `[group][lane]`: the largest logit.
    largest: Vec<F>,
    /// `[group][lane]`: the sum of `exp(logit - largest)`.
    sums: Vec<F>,
    /// `[group][lane]`: what makes gradients of exponentials.
    factors: Vec<F>,
    /// `[group][lane]`: the logit of the target, where it is a class of this slab.
    at_target: Vec<F>,
}

impl<F: Real> Softmax<'_, F> {
    /// The loss of each row of `states` `[rows, inputs]`, and the gradients if they are wanted.
    ///
    /// # Panics
    /// If sizes disagree or a target is no class.
    pub fn run(
        &self,
        isa: Isa,
        states: &[F],
        targets: &[u32],
        mut gradient: Option<SoftmaxGradient<F>>,
        workspace: &mut SoftmaxWorkspace<F>,
    ) -> Vec<RowLoss<F>> {
        self.check(states, targets, gradient.as_ref());
        let lanes = isa.lanes::<F>();
        self.pack(gradient.is_some(), workspace);
        let group_bytes = self.classes * lanes * size_of::<F>();
        let groups = (CHUNK_BYTES / group_bytes).clamp(1, MOST_GROUPS);
        let mut losses = Vec::with_capacity(targets.len());
        for (chunk, targets) in targets.chunks(groups * lanes).enumerate() {
            let first = chunk * groups * lanes * self.inputs;
            let chunk = Chunk {
                of: *self,
                isa,
                lanes,
                targets,
            };
            chunk.run(&states[first..], first, gradient.as_mut(), workspace, &mut losses);
        }
        losses
    }

    fn check(&self, states: &[F], targets: &[u32], gradient: Option<&SoftmaxGradient<F>>) {
        assert!(self.inputs > 0 && self.classes > 0, "a readout has inputs and classes");
        assert_eq!(
            self.weight.len(),
            self.classes * self.inputs,
            "weights [classes, inputs]"
        );
        assert_eq!(self.bias.len(), self.classes, "one bias a class");
        assert_eq!(states.len(), targets.len() * self.inputs, "one target a row of states");
        assert!(
            targets.iter().all(|&target| (target as usize) < self.classes),
            "targets are classes"
        );
        if let Some(gradient) = gradient {
            let sizes = [gradient.weight.len(), gradient.bias.len(), gradient.states.len()];
            assert_eq!(
                sizes,
                [self.weight.len(), self.classes, states.len()],
                "gradients of the sizes of what they are of"
            );
        }
    }

    /// First class and number of classes of each slab.
    fn slabs(&self) -> impl Iterator<Item = (usize, usize)> {
        let classes = self.classes;
        (0..classes)
            .step_by(SLAB)
            .map(move |first| (first, SLAB.min(classes - first)))
    }

    fn pack(&self, backward: bool, workspace: &mut SoftmaxWorkspace<F>) {
        let slabs: Vec<(usize, usize)> = self.slabs().collect();
        let SoftmaxWorkspace {
            forward,
            backward: turned,
            ..
        } = workspace;
        forward.resize_with(slabs.len(), Packed::default);
        turned.resize_with(slabs.len(), Packed::default);
        let (inputs, weight) = (self.inputs, self.weight);
        let packs = forward.par_iter_mut().zip(turned.par_iter_mut());
        packs.zip(&slabs).for_each(|((forward, turned), &(first, count))| {
            let weight = &weight[first * inputs..(first + count) * inputs];
            forward.pack(count, inputs, |row, column| weight[row * inputs + column]);
            if backward {
                turned.pack(inputs, count, |row, column| weight[column * inputs + row]);
            }
        });
    }
}

/// Some rows, whose logits fit into memory.
struct Chunk<'a, F> {
    of: Softmax<'a, F>,
    isa: Isa,
    lanes: usize,
    targets: &'a [u32],
}

impl<F: Real> Chunk<'_, F> {
    fn run(
        &self,
        states: &[F],
        first: usize,
        gradient: Option<&mut SoftmaxGradient<F>>,
        workspace: &mut SoftmaxWorkspace<F>,
        losses: &mut Vec<RowLoss<F>>,
    ) {
        let SoftmaxWorkspace {
            forward,
            backward,
            states: panels,
            state_gradient,
            slabs,
        } = workspace;
        let (inputs, lanes) = (self.of.inputs, self.lanes);
        let groups = self.targets.len().div_ceil(lanes);
        panels.resize(groups * inputs * lanes);
        self.spread(states, panels);
        let cuts: Vec<(usize, usize)> = self.of.slabs().collect();
        slabs.resize_with(cuts.len(), Slab::default);
        let (isa, bias, targets) = (self.isa, self.of.bias, self.targets);
        slabs
            .par_iter_mut()
            .zip(&cuts)
            .zip(&*forward)
            .for_each(|((slab, &(first, count)), weights)| {
                slab.values.resize(groups * count * lanes);
                slab.largest.resize(groups * lanes, F::ZERO);
                slab.sums.resize(groups * lanes, F::ZERO);
                slab.at_target.resize(groups * lanes, F::ZERO);
                let task = LogitsTask {
                    weights,
                    bias: &bias[first..first + count],
                    states: panels,
                    targets,
                    first,
                    values: &mut slab.values,
                    largest: &mut slab.largest,
                    sums: &mut slab.sums,
                    at_target: &mut slab.at_target,
                };
                F::softmax_logits(isa, task);
            });
        let scale = gradient.as_ref().map_or(F::ZERO, |gradient| gradient.scale);
        self.join(slabs, scale, losses);
        let Some(gradient) = gradient else {
            return;
        };
        let weights = gradient.weight.par_chunks_mut(SLAB * inputs);
        let biases = gradient.bias.par_chunks_mut(SLAB);
        slabs.par_iter_mut().zip(&cuts).zip(weights.zip(biases)).for_each(
            |((slab, &(first, count)), (weight, bias))| {
                self.multiply(slab, count);
                for (row, &target) in targets.iter().enumerate() {
                    let class = (target as usize).wrapping_sub(first);
                    if class < count {
                        slab.values[(row / lanes * count + class) * lanes + row % lanes] -= scale;
                    }
                }
                let task = WeightTask {
                    groups,
                    states: panels,
                    values: &slab.values,
                    weight,
                    bias,
                };
                F::softmax_weight(isa, task);
            },
        );
        state_gradient.resize(groups * inputs * lanes);
        let together = GROUPS_TOGETHER * inputs * lanes;
        let slabs = &*slabs;
        state_gradient
            .par_chunks_mut(together)
            .enumerate()
            .for_each(|(index, out)| {
                out.fill(F::ZERO);
                for (weights, slab) in backward.iter().zip(slabs) {
                    let own = slab.values.len() / groups;
                    let task = StatesTask {
                        weights,
                        values: &slab.values[index * GROUPS_TOGETHER * own..],
                        out: &mut *out,
                    };
                    F::softmax_states(isa, task);
                }
            });
        self.collect(state_gradient, &mut gradient.states[first..]);
    }

    /// Rows `[rows, inputs]` to panels; lanes without a row are zero.
    fn spread(&self, states: &[F], panels: &mut [F]) {
        let (inputs, lanes) = (self.of.inputs, self.lanes);
        panels.fill(F::ZERO);
        for (row, state) in states.chunks_exact(inputs).take(self.targets.len()).enumerate() {
            let start = row / lanes * inputs * lanes + row % lanes;
            for (to, &from) in panels[start..].iter_mut().step_by(lanes).zip(state) {
                *to = from;
            }
        }
    }

    /// The reverse.
    fn collect(&self, panels: &[F], states: &mut [F]) {
        let (inputs, lanes) = (self.of.inputs, self.lanes);
        for (row, state) in states.chunks_exact_mut(inputs).take(self.targets.len()).enumerate() {
            let start = row / lanes * inputs * lanes + row % lanes;
            for (to, &from) in state.iter_mut().zip(panels[start..].iter().step_by(lanes)) {
                *to = from;
            }
        }
    }

    /// Joins the slabs' largest logits and sums to losses, and finds each slab's factors.
    fn join(&self, slabs: &mut [Slab<F>], scale: F, losses: &mut Vec<RowLoss<F>>) {
        for slab in slabs.iter_mut() {
            // Lanes without a row have no gradient.
            slab.factors.clear();
            slab.factors.resize(slab.sums.len(), F::ZERO);
        }
        for (row, &target) in self.targets.iter().enumerate() {
            let largest = slabs[1..]
                .iter()
                .fold(slabs[0].largest[row], |most, slab| most.max(slab.largest[row]));
            let total: F = slabs
                .iter()
                .map(|slab| slab.sums[row] * (slab.largest[row] - largest).exp())
                .sum();
            for slab in slabs.iter_mut() {
                slab.factors[row] = (slab.largest[row] - largest).exp() * scale / total;
            }
            let logit = slabs[target as usize / SLAB].at_target[row];
            losses.push(RowLoss {
                loss: largest - logit + total.ln(),
                correct: logit >= largest,
            });
        }
    }

    /// Exponentials become gradients, but for the targets.
    fn multiply(&self, slab: &mut Slab<F>, count: usize) {
        let lanes = self.lanes;
        let panels = slab.values.chunks_exact_mut(count * lanes);
        for (panel, factors) in panels.zip(slab.factors.chunks_exact(lanes)) {
            for class in panel.chunks_exact_mut(lanes) {
                for (value, &factor) in class.iter_mut().zip(factors) {
                    *value *= factor;
                }
            }
        }
    }
}

/// Logits of one slab, and their exponentials.
pub struct LogitsTask<'a, F> {
    weights: &'a Packed<F>,
    bias: &'a [F],
    states: &'a [F],
    targets: &'a [u32],
    /// The slab's first class.
    first: usize,
    values: &'a mut [F],
    largest: &'a mut [F],
    sums: &'a mut [F],
    at_target: &'a mut [F],
}

/// Computes them group by group, while a group's logits are in the cache.
#[inline(always)]
pub(crate) fn logits<V: Compiled>(task: LogitsTask<V::Scalar>) {
    let (count, lanes) = (task.bias.len(), row::<V>());
    let groups = task.largest.len() / lanes;
    let inputs = task.states.len() / groups;
    for group in 0..groups {
        let values = &mut task.values[group * count * lanes..(group + 1) * count * lanes];
        let product = Product {
            init: Init::Bias(task.bias),
            ..Product::plain(task.weights, &task.states[group * inputs..(group + 1) * inputs])
        };
        V::product(product, &mut Store::plain(values));
        let rows = group * lanes..((group + 1) * lanes).min(task.targets.len());
        for row in rows {
            let class = (task.targets[row] as usize).wrapping_sub(task.first);
            if class < count {
                task.at_target[row] = values[class * lanes + row % lanes];
            }
        }
        let mut largest = load_row::<V>(values);
        for logits in values.chunks_exact(lanes) {
            let [low, high] = load_row::<V>(logits);
            largest = [largest[0].max(low), largest[1].max(high)];
        }
        let mut sums = [V::zero(); 2];
        for logits in values.chunks_exact_mut(lanes) {
            let [low, high] = load_row::<V>(logits);
            let exponentials = [
                exponential_below(low.sub(largest[0])),
                exponential_below(high.sub(largest[1])),
            ];
            sums = [sums[0].add(exponentials[0]), sums[1].add(exponentials[1])];
            store_row(exponentials, logits);
        }
        store_row(largest, &mut task.largest[group * lanes..]);
        store_row(sums, &mut task.sums[group * lanes..]);
    }
}

/// Gradient of the weights and biases of one slab.
pub struct WeightTask<'a, F> {
    groups: usize,
    states: &'a [F],
    values: &'a [F],
    weight: &'a mut [F],
    bias: &'a mut [F],
}

/// Adds it.
#[inline(always)]
pub(crate) fn weight<V: Compiled>(task: WeightTask<V::Scalar>) {
    let left = Rows {
        values: task.values,
        stride: task.values.len() / task.groups,
        features: task.bias.len(),
    };
    let stride = task.states.len() / task.groups;
    let of = Outer {
        count: task.groups,
        left,
        right: Rows {
            values: task.states,
            stride,
            features: stride / row::<V>(),
        },
        scale: V::Scalar::ONE,
    };
    V::outer(of, task.weight);
    sum_rows::<V>(task.groups, left, task.bias);
}

/// Gradient of the states of some groups from one slab.
pub struct StatesTask<'a, F> {
    weights: &'a Packed<F>,
    /// `[group][class of the slab][lane]`
    values: &'a [F],
    /// `[group][input][lane]`; says how many groups.
    out: &'a mut [F],
}

/// Adds it.
#[inline(always)]
pub(crate) fn states<V: Compiled>(task: StatesTask<V::Scalar>) {
    let (from, to) = (task.weights.columns() * row::<V>(), task.weights.rows() * row::<V>());
    for (values, out) in task.values.chunks_exact(from).zip(task.out.chunks_exact_mut(to)) {
        V::product(Product::plain(task.weights, values), &mut AddTo { out });
    }
}

/// Adds a finished row to what is there.
struct AddTo<'a, F> {
    out: &'a mut [F],
}

impl<V: Compiled> Epilogue<V> for AddTo<'_, V::Scalar> {
    #[inline(always)]
    fn finish(&mut self, index: usize, sum: [V; 2]) {
        let out = &mut self.out[index * row::<V>()..(index + 1) * row::<V>()];
        let [low, high] = load_row::<V>(out);
        store_row([low.add(sum[0]), high.add(sum[1])], out);
    }
}
