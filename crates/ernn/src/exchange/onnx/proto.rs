//! The messages of an ONNX file that a recurrent model needs, with the field numbers of `onnx.proto` (onnx/onnx, `onnx/onnx.proto`).
//!
//! | message | fields |
//! |---|---|
//! | `ModelProto` | 1 ir_version, 2 producer_name, 3 producer_version, 7 graph, 8 opset_import, 14 metadata_props |
//! | `OperatorSetIdProto` | 1 domain (empty: the standard operators), 2 version |
//! | `StringStringEntryProto` | 1 key, 2 value |
//! | `GraphProto` | 1 node, 2 name, 5 initializer, 11 input, 12 output |
//! | `NodeProto` | 1 input, 2 output, 3 name, 4 op_type, 5 attribute |
//! | `AttributeProto` | 1 name, 2 f, 3 i, 4 s, 6 g, 7 floats, 8 ints, 9 strings, 20 type |
//! | `TensorProto` | 1 dims, 2 data_type, 8 name, 9 raw_data (little-endian, row-major) |
//! | `ValueInfoProto` | 1 name, 2 type: `TypeProto` 1 tensor_type: 1 elem_type, 2 shape: 1 dim: 1 dim_value or 2 dim_param |
//!
//! Repeated numbers are not packed: `onnx.proto` has proto2's default, and every reader takes both.

use super::wire::{Field, Writer, fields};

type Found<T> = Result<T, String>;

/// The operators' version: of 2022, known to every runtime of the last years.
pub(super) const OPSET: i64 = 17;
/// The file format's version that came with it.
const IR_VERSION: i64 = 8;

/// `ModelProto`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Model {
    pub graph: Graph,
    /// Names and values.
    pub metadata: Vec<(String, String)>,
}

/// `GraphProto`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Graph {
    pub name: String,
    pub nodes: Vec<Node>,
    pub constants: Vec<Tensor>,
    pub inputs: Vec<ValueInfo>,
    pub outputs: Vec<ValueInfo>,
}

/// `NodeProto`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub operator: String,
    pub name: String,
    /// Names of values; an empty one stands for an input that is left out.
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    pub attributes: Vec<(String, Attribute)>,
}

/// The value of an `AttributeProto`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Attribute {
    Float(f32),
    Integer(i64),
    Text(String),
    Graph(Graph),
    Floats(Vec<f32>),
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

/// `TensorProto`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tensor {
    pub name: String,
    pub shape: Vec<usize>,
    pub values: Values,
}

/// Numbers of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    Floats(Vec<f32>),
    /// 64 bits each.
    Integers(Vec<i64>),
}

impl Values {
    /// Also of zeros of different sign, and of what is no number.
    pub fn same_bits(&self, other: &Values) -> bool {
        match (self, other) {
            (Values::Floats(a), Values::Floats(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
            }
            (Values::Integers(a), Values::Integers(b)) => a == b,
            _ => false,
        }
    }
}

/// `TensorProto.DataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Float = 1,
    Int32 = 6,
    Int64 = 7,
    Bool = 9,
}

/// `ValueInfoProto` of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValueInfo {
    pub name: String,
    pub element: Element,
    pub shape: Vec<Dimension>,
}

/// One dimension of a shape.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Dimension {
    Fixed(usize),
    /// Free; equal names have equal sizes.
    Named(String),
}

impl Model {
    /// The bytes of the file; equal models give equal bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.integer(1, IR_VERSION);
        out.bytes(2, b"ernn");
        out.bytes(3, env!("CARGO_PKG_VERSION").as_bytes());
        out.message(7, |out| self.graph.encode(out));
        out.message(8, |out| {
            out.bytes(1, b"");
            out.integer(2, OPSET);
        });
        for (key, value) in &self.metadata {
            out.message(14, |out| {
                out.bytes(1, key.as_bytes());
                out.bytes(2, value.as_bytes());
            });
        }
        out.finish()
    }

    /// The model in a file's bytes.
    pub fn decode(bytes: &[u8]) -> Found<Self> {
        let (mut graph, mut metadata) = (None, Vec::new());
        for (number, field) in fields(bytes)? {
            match number {
                7 => graph = Some(Graph::decode(field)?),
                14 => {
                    let [key, value] = two_texts(field)?;
                    metadata.push((key, value));
                }
                _ => {}
            }
        }
        let graph = graph.ok_or("found no graph")?;
        Ok(Model { graph, metadata })
    }
}

fn two_texts(field: Field) -> Found<[String; 2]> {
    let mut texts = [String::new(), String::new()];
    for (number, field) in fields(field.bytes()?)? {
        if let 1 | 2 = number {
            texts[number as usize - 1] = field.text()?;
        }
    }
    Ok(texts)
}

impl Graph {
    fn encode(&self, out: &mut Writer) {
        self.nodes
            .iter()
            .for_each(|node| out.message(1, |out| node.encode(out)));
        out.bytes(2, self.name.as_bytes());
        self.constants
            .iter()
            .for_each(|tensor| out.message(5, |out| tensor.encode(out)));
        self.inputs
            .iter()
            .for_each(|value| out.message(11, |out| value.encode(out)));
        self.outputs
            .iter()
            .for_each(|value| out.message(12, |out| value.encode(out)));
    }

    fn decode(field: Field) -> Found<Self> {
        let mut graph = Graph::default();
        for (number, field) in fields(field.bytes()?)? {
            match number {
                1 => graph.nodes.push(Node::decode(field)?),
                2 => graph.name = field.text()?,
                5 => graph.constants.push(Tensor::decode(field)?),
                11 => graph.inputs.push(ValueInfo::decode(field)?),
                12 => graph.outputs.push(ValueInfo::decode(field)?),
                _ => {}
            }
        }
        Ok(graph)
    }
}

impl Node {
    fn encode(&self, out: &mut Writer) {
        self.inputs.iter().for_each(|name| out.bytes(1, name.as_bytes()));
        self.outputs.iter().for_each(|name| out.bytes(2, name.as_bytes()));
        out.bytes(3, self.name.as_bytes());
        out.bytes(4, self.operator.as_bytes());
        for (name, value) in &self.attributes {
            out.message(5, |out| {
                out.bytes(1, name.as_bytes());
                value.encode(out);
            });
        }
    }

    fn decode(field: Field) -> Found<Self> {
        let mut node = Node {
            operator: String::new(),
            name: String::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            attributes: Vec::new(),
        };
        for (number, field) in fields(field.bytes()?)? {
            match number {
                1 => node.inputs.push(field.text()?),
                2 => node.outputs.push(field.text()?),
                3 => node.name = field.text()?,
                4 => node.operator = field.text()?,
                5 => node.attributes.push(Attribute::decode(field)?),
                _ => {}
            }
        }
        Ok(node)
    }
}

impl Attribute {
    fn encode(&self, out: &mut Writer) {
        match self {
            Attribute::Float(value) => out.float(2, *value),
            Attribute::Integer(value) => out.integer(3, *value),
            Attribute::Text(text) => out.bytes(4, text.as_bytes()),
            Attribute::Graph(graph) => out.message(6, |out| graph.encode(out)),
            Attribute::Floats(values) => values.iter().for_each(|&value| out.float(7, value)),
            Attribute::Integers(values) => values.iter().for_each(|&value| out.integer(8, value)),
            Attribute::Texts(texts) => texts.iter().for_each(|text| out.bytes(9, text.as_bytes())),
        }
        out.integer(20, self.kind());
    }

    /// `AttributeProto.AttributeType`.
    fn kind(&self) -> i64 {
        match self {
            Attribute::Float(_) => 1,
            Attribute::Integer(_) => 2,
            Attribute::Text(_) => 3,
            Attribute::Graph(_) => 5,
            Attribute::Floats(_) => 6,
            Attribute::Integers(_) => 7,
            Attribute::Texts(_) => 8,
        }
    }

    fn decode(field: Field) -> Found<(String, Self)> {
        let all = fields(field.bytes()?)?;
        let values = |wanted: u64| {
            all.iter()
                .filter(move |(number, _)| *number == wanted)
                .map(|(_, field)| *field)
        };
        let one = |wanted: u64| values(wanted).next().ok_or("found an attribute without its value");
        let value = match one(20)?.integer()? {
            1 => Attribute::Float(one(2)?.float()?),
            2 => Attribute::Integer(one(3)?.integer()?),
            3 => Attribute::Text(one(4)?.text()?),
            5 => Attribute::Graph(Graph::decode(one(6)?)?),
            6 => Attribute::Floats(values(7).map(Field::float).collect::<Found<_>>()?),
            7 => Attribute::Integers(values(8).map(Field::integer).collect::<Found<_>>()?),
            8 => Attribute::Texts(values(9).map(Field::text).collect::<Found<_>>()?),
            kind => {
                return Err(format!(
                    "found an attribute of type {kind}, expected 1, 2, 3, 5, 6, 7 or 8"
                ));
            }
        };
        Ok((one(1)?.text()?, value))
    }
}

impl Tensor {
    fn encode(&self, out: &mut Writer) {
        self.shape.iter().for_each(|&size| out.integer(1, size as i64));
        let (element, bytes): (Element, Vec<u8>) = match &self.values {
            Values::Floats(values) => (
                Element::Float,
                values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            ),
            Values::Integers(values) => (
                Element::Int64,
                values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            ),
        };
        out.integer(2, element as i64);
        out.bytes(8, self.name.as_bytes());
        out.bytes(9, &bytes);
    }

    fn decode(field: Field) -> Found<Self> {
        let (mut name, mut shape, mut element, mut bytes) = (String::new(), Vec::new(), None, &[][..]);
        for (number, field) in fields(field.bytes()?)? {
            match number {
                1 => shape.push(size(field.integer()?)?),
                2 => element = Some(Element::of(field.integer()?)?),
                8 => name = field.text()?,
                9 => bytes = field.bytes()?,
                _ => {}
            }
        }
        let values = match element {
            Some(Element::Float) => Values::Floats(
                bytes
                    .as_chunks()
                    .0
                    .iter()
                    .map(|&value| f32::from_le_bytes(value))
                    .collect(),
            ),
            Some(Element::Int64) => Values::Integers(
                bytes
                    .as_chunks()
                    .0
                    .iter()
                    .map(|&value| i64::from_le_bytes(value))
                    .collect(),
            ),
            other => {
                return Err(format!(
                    "{name}: found elements {other:?}, expected floats or 64-bit integers"
                ));
            }
        };
        Ok(Tensor { name, shape, values })
    }
}

fn size(value: i64) -> Found<usize> {
    usize::try_from(value).map_err(|_| format!("found a size of {value}, expected 0 or more"))
}

impl Element {
    /// The element type of this number.
    pub fn of(number: i64) -> Found<Self> {
        match number {
            1 => Ok(Element::Float),
            6 => Ok(Element::Int32),
            7 => Ok(Element::Int64),
            9 => Ok(Element::Bool),
            _ => Err(format!("found the element type {number}, expected 1, 6, 7 or 9")),
        }
    }
}

impl ValueInfo {
    fn encode(&self, out: &mut Writer) {
        out.bytes(1, self.name.as_bytes());
        out.message(2, |out| {
            out.message(1, |out| {
                out.integer(1, self.element as i64);
                out.message(2, |out| {
                    for dimension in &self.shape {
                        out.message(1, |out| match dimension {
                            Dimension::Fixed(size) => out.integer(1, *size as i64),
                            Dimension::Named(name) => out.bytes(2, name.as_bytes()),
                        });
                    }
                });
            });
        });
    }

    fn decode(field: Field) -> Found<Self> {
        let (mut name, mut element, mut shape) = (String::new(), Element::Float, Vec::new());
        for (number, field) in fields(field.bytes()?)? {
            match number {
                1 => name = field.text()?,
                2 => {
                    let kind = fields(field.bytes()?)?;
                    let (_, tensor) = kind.first().ok_or("found a value without a type")?;
                    (element, shape) = tensor_type(*tensor)?;
                }
                _ => {}
            }
        }
        Ok(ValueInfo { name, element, shape })
    }
}

fn tensor_type(field: Field) -> Found<(Element, Vec<Dimension>)> {
    let (mut element, mut shape) = (Element::Float, Vec::new());
    for (number, field) in fields(field.bytes()?)? {
        match number {
            1 => element = Element::of(field.integer()?)?,
            2 => {
                for (_, dimension) in fields(field.bytes()?)? {
                    let parts = fields(dimension.bytes()?)?;
                    shape.push(match parts.first().ok_or("found a dimension without a size")? {
                        (1, field) => Dimension::Fixed(size(field.integer()?)?),
                        (_, field) => Dimension::Named(field.text()?),
                    });
                }
            }
            _ => {}
        }
    }
    Ok((element, shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_comes_back_as_it_was() {
        let inner = Graph {
            name: "step".to_string(),
            ..Graph::default()
        };
        let attributes = [
            Attribute::Float(0.5),
            Attribute::Integer(-1),
            Attribute::Text("reverse".to_string()),
            Attribute::Graph(inner),
            Attribute::Floats(vec![0.5, 2.0]),
            Attribute::Integers(vec![1, -2]),
            Attribute::Texts(vec!["Tanh".to_string(), "Relu".to_string()]),
        ];
        let named = |(index, value)| (format!("a{index}"), value);
        let tensor = |name: &str, values| Tensor {
            name: name.to_string(),
            shape: vec![1, 2],
            values,
        };
        let value = |name: &str, element, shape| ValueInfo {
            name: name.to_string(),
            element,
            shape,
        };
        let graph = Graph {
            name: "model".to_string(),
            nodes: vec![Node {
                operator: "Scan".to_string(),
                name: "n".to_string(),
                inputs: vec!["x".to_string(), String::new()],
                outputs: vec!["y".to_string()],
                attributes: attributes.into_iter().enumerate().map(named).collect(),
            }],
            constants: vec![
                tensor("w", Values::Floats(vec![1.5, -0.0])),
                tensor("i", Values::Integers(vec![-7, 9])),
            ],
            inputs: vec![value("x", Element::Int32, vec![Dimension::Named("batch".to_string())])],
            outputs: vec![value("y", Element::Float, vec![Dimension::Fixed(3)])],
        };
        let model = Model {
            graph,
            metadata: vec![("classes".to_string(), "[\"a\"]".to_string())],
        };
        let bytes = model.encode();
        assert_eq!(Model::decode(&bytes).unwrap(), model);
        for length in 0..bytes.len() {
            let _ = Model::decode(&bytes[..length]);
        }
        assert!(Model::decode(b"").unwrap_err().contains("no graph"));
    }
}
