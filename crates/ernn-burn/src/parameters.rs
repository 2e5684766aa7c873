//! The parameters of a cell as a Burn module: named tensors, in the order of the library's flat vector.
//!
//! Which tensors there are depends on the settings (a dense matrix or its factors), so they stand in a list. Each is known to Burn
//! under its name in the cell's formula, the same as in a model file: records, parameter groups and visitors see `parameters.V`.

use burn::module::{
    Content, Devices, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor, Param, ParamId,
};
use burn::tensor::{Device, Tensor, TensorData};
use ernn::cell::Span;

/// A tensor of a cell.
#[derive(Clone, Debug)]
pub enum Parameter {
    /// A matrix `[rows, columns]`.
    Matrix(Param<Tensor<2>>),
    /// A vector.
    Vector(Param<Tensor<1>>),
}

impl Parameter {
    /// All its numbers, row by row; the graph goes on through them.
    fn flat(&self) -> Tensor<1> {
        match self {
            Parameter::Matrix(matrix) => matrix.val().flatten(0, 1),
            Parameter::Vector(vector) => vector.val(),
        }
    }

    /// Its shape.
    pub fn shape(&self) -> Vec<usize> {
        match self {
            Parameter::Matrix(matrix) => matrix.lazy_shape().as_slice().to_vec(),
            Parameter::Vector(vector) => vector.lazy_shape().as_slice().to_vec(),
        }
    }

    /// Burn's name for it, as gradients and parameter groups use it.
    pub fn id(&self) -> ParamId {
        match self {
            Parameter::Matrix(matrix) => matrix.id,
            Parameter::Vector(vector) => vector.id,
        }
    }
}

/// Calls a method of the parameter inside and wraps what it gives.
macro_rules! each {
    ($parameter:expr, $inner:ident => $call:expr) => {
        match $parameter {
            Parameter::Matrix($inner) => Parameter::Matrix($call),
            Parameter::Vector($inner) => Parameter::Vector($call),
        }
    };
}

/// The named tensors of a cell.
#[derive(Clone, Debug)]
pub struct Parameters {
    entries: Vec<(String, Parameter)>,
}

impl Parameters {
    /// Parameters with the names and shapes of `spans` and these values, one tensor after the other.
    pub(crate) fn new(spans: &[Span], values: &[f32], device: &Device) -> Self {
        let entries = spans.iter().map(|span| {
            let data = TensorData::new(values[span.range()].to_vec(), span.shape.clone());
            let parameter = match span.shape.len() {
                1 => Parameter::Vector(Param::from_data(data, device)),
                _ => Parameter::Matrix(Param::from_data(data, device)),
            };
            (span.name.clone(), parameter)
        });
        Parameters {
            entries: entries.collect(),
        }
    }

    /// One tensor after the other, in one vector; the graph goes on through it.
    pub(crate) fn flat(&self) -> Tensor<1> {
        Tensor::cat(self.entries.iter().map(|(_, parameter)| parameter.flat()).collect(), 0)
    }

    /// All numbers, in the order of the library's flat vector.
    pub fn values(&self) -> Vec<f32> {
        self.flat().into_data().iter::<f32>().collect()
    }

    /// The tensors and their names in the cell's formula.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Parameter)> {
        self.entries.iter().map(|(name, parameter)| (&name[..], parameter))
    }

    /// The tensor of this name, if the cell has it with its settings.
    pub fn find(&self, name: &str) -> Option<&Parameter> {
        self.iter()
            .find(|&(found, _)| found == name)
            .map(|(_, parameter)| parameter)
    }

    fn each(self, mut change: impl FnMut(&str, Parameter) -> Parameter) -> Self {
        let entries = self.entries.into_iter().map(|(name, parameter)| {
            let changed = change(&name, parameter);
            (name, changed)
        });
        Parameters {
            entries: entries.collect(),
        }
    }
}

/// What Burn's visitors and mappers are told of the list.
const CONTAINER: &str = "Struct:Parameters";

impl Module for Parameters {
    fn collect_devices(&self, devices: Devices) -> Devices {
        self.entries
            .iter()
            .fold(devices, |devices, (_, parameter)| match parameter {
                Parameter::Matrix(matrix) => matrix.collect_devices(devices),
                Parameter::Vector(vector) => vector.collect_devices(devices),
            })
    }

    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        for (name, parameter) in &self.entries {
            visitor.enter_module(name, CONTAINER);
            match parameter {
                Parameter::Matrix(matrix) => matrix.visit(visitor),
                Parameter::Vector(vector) => vector.visit(visitor),
            }
            visitor.exit_module(name, CONTAINER);
        }
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        self.each(|name, parameter| {
            mapper.enter_module(name, CONTAINER);
            let mapped = each!(parameter, inner => Module::map(inner, mapper));
            mapper.exit_module(name, CONTAINER);
            mapped
        })
    }

    fn fork(self, device: &Device) -> Self {
        self.each(|_, parameter| each!(parameter, inner => inner.fork(device)))
    }

    fn to_device(self, device: &Device) -> Self {
        self.each(|_, parameter| each!(parameter, inner => inner.to_device(device)))
    }

    fn train(self) -> Self {
        self.each(|_, parameter| each!(parameter, inner => inner.train()))
    }

    fn valid(&self) -> Self {
        self.clone()
            .each(|_, parameter| each!(parameter, inner => Module::valid(&inner)))
    }

    fn materialize(self) -> Self {
        self.each(|_, parameter| each!(parameter, inner => inner.materialize()))
    }
}

impl ModuleDisplayDefault for Parameters {
    fn content(&self, content: Content) -> Option<Content> {
        let entries = self.entries.iter();
        entries
            .fold(content, |content, (name, parameter)| match parameter {
                Parameter::Matrix(matrix) => content.add(name, matrix),
                Parameter::Vector(vector) => content.add(name, vector),
            })
            .optional()
    }
}

impl ModuleDisplay for Parameters {}
