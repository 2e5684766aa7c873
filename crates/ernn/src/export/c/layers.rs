//! The constants of a layer as C: its tables, and the struct that its function takes.

use std::fmt::Write;

use ernn_core::{Format, Kind};

use super::text::{float, table};
use crate::export::plan::PlannedLayer;

/// A layer under construction.
struct Layer<'a> {
    format: Format,
    place: usize,
    planned: &'a PlannedLayer,
}

/// Tables and struct of a layer that reads `inputs` values.
pub(super) fn layer(format: Format, place: usize, inputs: usize, planned: &PlannedLayer) -> String {
    let layer = Layer { format, place, planned };
    let mut text = String::new();
    for (index, tensor) in planned.tensors.iter().enumerate() {
        text += &table(&layer.table(index), tensor);
    }
    let kind = planned.kind();
    let (name, fields) = match kind {
        Kind::Leaky => ("leaky", layer.leaky(inputs)),
        Kind::Deep => {
            text += &layer.network();
            ("deep", layer.deep(inputs))
        }
        Kind::Equilibrium => ("equilibrium", layer.equilibrium(inputs)),
        _ => ("gated", layer.gated(inputs)),
    };
    let _ = writeln!(
        text,
        "static const {name} layer{place} = {{\n    {}\n}};\n",
        fields.join(", ")
    );
    text
}

impl Layer<'_> {
    fn table(&self, tensor: usize) -> String {
        format!("layer{}_{tensor}", self.place)
    }

    /// Tensors of a matrix: of whole numbers weights and factors.
    fn parts(&self) -> usize {
        match self.format {
            Format::Float => 1,
            Format::Int8 => 2,
        }
    }

    /// The matrix that begins at this tensor; of none, nothing.
    fn matrix(&self, tensor: Option<usize>) -> String {
        match (self.format, tensor) {
            (Format::Float, Some(tensor)) => self.table(tensor),
            (Format::Float, None) => "0".to_string(),
            (Format::Int8, Some(tensor)) => format!("{{ {}, {} }}", self.table(tensor), self.table(tensor + 1)),
            (Format::Int8, None) => "{ 0, 0 }".to_string(),
        }
    }

    /// A number of the record: a float, or a whole one.
    fn number(&self, word: usize) -> String {
        let word = self.planned.words[word];
        match self.format {
            Format::Float => float(f32::from_bits(word)),
            Format::Int8 => (word as i32).to_string(),
        }
    }

    /// Some of the binary places of whole numbers: the bytes of words 13 and 14, counted through.
    fn places(&self, chosen: &[usize]) -> Vec<String> {
        let bytes: Vec<u8> = self.planned.words[13..15]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        match self.format {
            Format::Float => Vec::new(),
            Format::Int8 => chosen.iter().map(|&place| bytes[place].to_string()).collect(),
        }
    }

    /// Where `A`, `B` and what follows stand; `R` begins at the first of them.
    fn recurrent(&self) -> (String, String, usize) {
        let first = self.parts() + 1;
        let low = self.planned.words[2] > 0;
        let right = low.then_some(first + self.parts());
        let next = first + self.parts() * if low { 2 } else { 1 };
        (self.matrix(Some(first)), self.matrix(right), next)
    }

    fn leaky(&self, inputs: usize) -> Vec<String> {
        let [_, hidden, rank, _, iterations, rows, ..] = self.planned.words;
        let (_, activation, _) = self.planned.functions();
        let sizes = [inputs as u32, hidden, rank, activation.number(), iterations, rows];
        let mut fields: Vec<String> = sizes.iter().map(u32::to_string).collect();
        fields.extend([7, 8, 9].map(|word| self.number(word)));
        fields.extend(self.places(&[IDENTITY, H, PHI, DECAY, GAIN]));
        let (matrix, right, next) = self.recurrent();
        fields.extend([self.matrix(Some(0)), self.table(self.parts()), matrix, right]);
        fields.extend([self.table(next), self.table(next + 1)]);
        fields
    }

    fn equilibrium(&self, inputs: usize) -> Vec<String> {
        let [_, hidden, rank, _, iterations, _, newton, ..] = self.planned.words;
        let (_, activation, _) = self.planned.functions();
        let sizes = [inputs as u32, hidden, rank, activation.number(), iterations, newton];
        let mut fields: Vec<String> = sizes.iter().map(u32::to_string).collect();
        fields.extend([7, 8, 9, 10, 11].map(|word| self.number(word)));
        let (matrix, right, _) = self.recurrent();
        fields.extend([self.matrix(Some(0)), self.table(self.parts()), matrix, right]);
        fields
    }

    fn gated(&self, inputs: usize) -> Vec<String> {
        let [_, hidden, rank, ..] = self.planned.words;
        let (kind, activation, gate) = self.planned.functions();
        let groups = kind.groups().expect("a gated cell");
        let sizes = [
            kind.number(),
            inputs as u32,
            hidden,
            rank,
            gate.number(),
            activation.number(),
        ];
        let mut fields: Vec<String> = sizes.iter().map(u32::to_string).collect();
        let bounds = [
            groups.all,
            groups.input.0,
            groups.input.1,
            groups.state.0,
            groups.state.1,
        ];
        fields.extend(bounds.iter().map(usize::to_string));
        fields.push(u8::from(groups.reset).to_string());
        fields.push(self.number(9));
        fields.extend(self.places(&[IDENTITY]));
        fields.extend([10, 11].map(|word| self.number(word)));
        fields.extend(self.places(&[H, MEMORY, PHI]));
        let (matrix, right, _) = self.recurrent();
        fields.extend([self.matrix(Some(0)), self.table(self.parts()), matrix, right]);
        fields
    }

    /// The tensor at which a layer of the network begins.
    fn inner(&self, index: usize) -> usize {
        self.parts() + index * (self.parts() + 1)
    }

    fn width(&self, index: usize) -> usize {
        self.planned.tensors[self.inner(index) + self.parts()].len()
    }

    fn network(&self) -> String {
        let layers = (0..self.planned.words[6] as usize).map(|index| {
            let tensor = self.inner(index);
            let bias = self.table(tensor + self.parts());
            format!("{{ {}, {}, {bias} }}", self.width(index), self.matrix(Some(tensor)))
        });
        let layers: Vec<String> = layers.collect();
        format!(
            "static const deep_layer layer{}_network[] = {{ {} }};\n",
            self.place,
            layers.join(", ")
        )
    }

    fn deep(&self, inputs: usize) -> Vec<String> {
        let [_, hidden, _, _, iterations, rows, layers, ..] = self.planned.words;
        let (_, activation, _) = self.planned.functions();
        let widest = (0..layers as usize).map(|index| self.width(index)).max().unwrap_or(0);
        let sizes = [
            inputs as u32,
            hidden,
            activation.number(),
            iterations,
            rows,
            layers,
            widest as u32,
        ];
        let mut fields: Vec<String> = sizes.iter().map(u32::to_string).collect();
        fields.extend([7, 8].map(|word| self.number(word)));
        fields.extend(self.places(&[H, PHI, DECAY, GAIN]));
        let next = self.inner(layers as usize);
        fields.extend([self.matrix(Some(0)), format!("layer{}_network", self.place)]);
        fields.extend([self.table(next), self.table(next + 1)]);
        fields
    }
}

/// Where places stand in words 13 and 14.
const H: usize = 0;
const MEMORY: usize = 1;
const PHI: usize = 3;
const DECAY: usize = 5;
const GAIN: usize = 6;
const IDENTITY: usize = 7;
