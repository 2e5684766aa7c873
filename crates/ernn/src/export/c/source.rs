//! The text of the three files.

use std::fmt::Write;

use ernn_core::image::RECORD_WORDS;
use ernn_core::listen::EXPONENTIALS;
use ernn_core::sound::{SILENCE, TABLE as LOGARITHMS};
use ernn_core::{Activation, Format, Kind, Sizes, smallest_variance};

use super::layers::layer;
use super::rename::rename;
use super::text::{float, select, table, whole};
use crate::checkpoint::SavedModel;
use crate::data::TargetScale;
use crate::export::listen::{Listens, TEST_WINDOWS};
use crate::export::logits::Logits;
use crate::export::plan::{Plan, PlannedLayer, Tensor};
use crate::export::sound::{Ears, TEST_SAMPLES};
use crate::export::target::Files;
use crate::export::{About, Prepared, about};
use crate::model::{Pooling, Statistic};

/// All that the text of a model is made of.
pub(super) struct Source<'a> {
    pub plan: &'a Plan,
    pub sizes: Sizes,
    pub saved: &'a SavedModel,
    /// Words for the templates.
    pub used: Vec<&'static str>,
    /// The beginning of all names.
    pub name: &'a str,
    pub about: &'a About,
    /// Tells models apart.
    pub id: String,
    /// Of a model of sound.
    pub ears: Option<&'a Ears>,
    /// Of a model that listens.
    pub listens: Option<&'a Listens>,
}

/// Header, source, self-test.
pub(in crate::export) fn files(prepared: &Prepared) -> Files {
    let name = &prepared.options.name;
    let mut source = Source {
        plan: &prepared.plan,
        sizes: Sizes::of(&prepared.image),
        saved: prepared.saved,
        used: used(prepared),
        name,
        about: &prepared.options.about,
        id: about::id(prepared),
        ears: prepared.ears.as_ref(),
        listens: prepared.listens.as_ref(),
    };
    source.used.extend(source.has_classes().then_some("classes"));
    let renamed = |text: String| rename(&text, name);
    // Names of classes and inputs are put in after the renaming: they are nobody's identifiers.
    let sound = source
        .ears
        .map(|ears| (format!("{name}_sound.c"), renamed(sound(ears))));
    let texts = [
        (format!("{name}.h"), source.header(source.window(prepared.samples))),
        (format!("{name}.c"), renamed(source.body())),
        (format!("{name}_info.c"), source.info()),
        (format!("{name}_selftest.c"), renamed(source.selftest(prepared))),
    ];
    let listen = source.listens.map(|listens| {
        let text = listen(listens) + &select(include_str!("listen.c"), &source.used);
        (format!("{name}_listen.c"), renamed(text))
    });
    (texts.into_iter().chain(sound).chain(listen))
        .map(|(file, text)| (file, text.into_bytes()))
        .collect()
}

/// A template beside these files, of a model and with its name.
pub(in crate::export) fn template(text: &str, prepared: &Prepared) -> String {
    rename(&select(text, &used(prepared)), &prepared.options.name)
}

/// `NAME_sound.c`.
fn sound(ears: &Ears) -> String {
    let mut text = String::from("#include \"ernn_.h\"\n\n");
    let constants = [
        ("EMPHASIS", ears.emphasis().to_string()),
        ("SILENCE", float(SILENCE)),
        (
            "LN2",
            format!("{} /* ln 2 / 65536 */", float(std::f32::consts::LN_2 / 65_536.0)),
        ),
    ];
    for (name, value) in constants {
        let _ = writeln!(text, "#define {name} {value}");
    }
    text.push('\n');
    for (name, tensor) in ears.tables() {
        text += &table(name, &tensor);
    }
    let logarithms: Vec<String> = LOGARITHMS.iter().map(u32::to_string).collect();
    let _ = writeln!(
        text,
        "static const uint32_t logarithms[33] = {{\n    {},\n}};\n",
        logarithms.join(", ")
    );
    text + include_str!("sound.c")
}

/// `NAME_listen.c` up to its functions.
fn listen(listens: &Listens) -> String {
    let flags: Vec<&str> = listens
        .is_event
        .iter()
        .map(|&event| if event { "1" } else { "0" })
        .collect();
    let mut text = String::from("#include \"ernn_.h\"\n\n");
    let _ = writeln!(
        text,
        "static const unsigned char is_event[ERNN_OUTPUTS] = {{ {} }}; /* or the background */",
        flags.join(", ")
    );
    text + &table("exponentials", &Tensor::U16(EXPONENTIALS.to_vec())) + "\n"
}

/// The words of all that a model uses.
fn used(prepared: &Prepared) -> Vec<&'static str> {
    let plan = &prepared.plan;
    let mut used = vec![
        if plan.tokens { "tokens" } else { "numbers" },
        match plan.format {
            Format::Float => "float",
            Format::Int8 => "int8",
        },
    ];
    let derived = &plan.derived;
    used.push(if derived.any { "derived" } else { "plain" });
    used.extend(prepared.ears.is_some().then_some("sound"));
    used.extend(prepared.listens.is_some().then_some("listens"));
    used.extend((derived.memory > 0).then_some("memory"));
    used.extend(derived.differences.then_some("differences"));
    used.extend(derived.compressed.then_some("compressed"));
    used.extend((derived.triads > 0).then_some("magnitudes"));
    used.extend(pooling(plan.pooling));
    used.extend((plan.outputs > 1 && plan.unit.is_none() && !plan.several).then_some("softmax"));
    used.push(match (&plan.unit, plan.outputs) {
        (None, _) if plan.several => "labels",
        (None, _) => "choice",
        (Some(_), 1) => "value",
        (Some(_), _) => "values",
    });
    let quantiles = plan.unit.as_ref().is_some_and(|unit| unit.quantiles > 1);
    used.extend(quantiles.then_some("quantiles"));
    used.push(if plan.narrow { "state8" } else { "state16" });
    used.push(if plan.has_compressed() { "sparse" } else { "dense" });
    used.extend(plan.layers.iter().any(|layer| layer.words[2] > 0).then_some("lowrank"));
    for layer in &plan.layers {
        let (kind, activation, gate) = layer.functions();
        used.push(activation_word(activation));
        used.extend(match kind {
            Kind::Leaky => ["leaky", "steps"],
            Kind::Deep => ["deep", "steps"],
            Kind::Equilibrium => ["equilibrium", "equilibrium"],
            Kind::Lstm => ["gated", "lstm"],
            Kind::GruAfter => ["gated", "gruafter"],
            Kind::GruBefore => ["gated", "grubefore"],
            Kind::Ugrnn => ["gated", "ugrnn"],
            Kind::FastGrnn => ["gated", "fastgrnn"],
            Kind::Antisymmetric => ["gated", "antisymmetric"],
        });
        if kind.groups().is_some() {
            used.push(activation_word(gate));
        }
    }
    used
}

/// `mean` with what else is seen beside it, or `lastonly`.
fn pooling(pooling: Pooling) -> Vec<&'static str> {
    if pooling == Pooling::Last {
        return vec!["lastonly"];
    }
    let word = |&statistic: &Statistic| match statistic {
        Statistic::Mean => "mean",
        Statistic::Deviation => "deviation",
        Statistic::Largest => "largest",
        Statistic::Last => "last",
    };
    pooling.statistics().iter().map(word).collect()
}

fn activation_word(activation: Activation) -> &'static str {
    match activation {
        Activation::Relu => "relu",
        Activation::Tanh => "tanh",
        Activation::Sigmoid => "sigmoid",
        Activation::HardTanh => "hardtanh",
        Activation::HardSigmoid => "hardsigmoid",
    }
}

impl PlannedLayer {
    pub(super) fn kind(&self) -> Kind {
        Kind::of(self.words[0]).expect("a kind that was planned")
    }

    /// Kind, `phi`, activation of the gates.
    pub(super) fn functions(&self) -> (Kind, Activation, Activation) {
        let activation = |number| Activation::of(number).expect("an activation that was planned");
        (
            self.kind(),
            activation(self.words[3] & 255),
            activation(self.words[3] >> 8),
        )
    }

    pub(super) fn hidden(&self) -> usize {
        self.words[1] as usize
    }

    pub(super) fn state_len(&self) -> usize {
        self.hidden() * if self.kind().memory() { 2 } else { 1 }
    }
}

impl Source<'_> {
    fn body(&self) -> String {
        let mut text = String::from("#include \"ernn_.h\"\n\n");
        let [functions, frame, number, more] = match self.plan.format {
            Format::Float => [include_str!("float.c"), include_str!("frame_float.c"), "float", ""],
            Format::Int8 => {
                if self.used.iter().any(|word| ["tanh", "sigmoid"].contains(word)) {
                    text += &table("tanh_values", &Tensor::I16(ernn_core::int::math::TANH.to_vec()));
                    text.push('\n');
                }
                [
                    include_str!("int.c"),
                    include_str!("frame_int.c"),
                    "int16_t",
                    ", &state->saturations",
                ]
            }
        };
        text += &select(functions, &self.used);
        text.push('\n');
        text += &self.tables();
        for (place, planned) in self.plan.layers.iter().enumerate() {
            text += &layer(self.plan.format, place, self.inputs(place), planned);
        }
        text += &self.advance(number, more);
        text += &self.scales();
        text += &select(include_str!("frame.c"), &self.used);
        text += &select(include_str!("inputs.c"), &self.used);
        text += &select(frame, &self.used);
        text
    }

    /// The scales of several numbers to predict, of whole numbers.
    fn scales(&self) -> String {
        let several = self.plan.unit.as_ref().filter(|unit| unit.scales.len() > 1);
        let Some(unit) = several.filter(|_| self.plan.format == Format::Int8) else {
            return String::new();
        };
        let of = |number: fn(&TargetScale) -> f64| unit.scales.iter().map(|scale| number(scale) as f32).collect();
        table("value_mean", &Tensor::F32(of(|scale| scale.mean)))
            + &table("value_deviation", &Tensor::F32(of(|scale| scale.deviation)))
            + "\n"
    }

    /// Sizes that the functions of a stream need, and the tables of input and readout.
    pub(super) fn tables(&self) -> String {
        let hidden = self.plan.layers.last().map_or(0, PlannedLayer::hidden);
        let layers: usize = self.plan.layers.iter().map(PlannedLayer::state_len).sum();
        let last = self.plan.layers.last().map_or(0, PlannedLayer::state_len);
        let pooling = self.plan.pooling;
        let memory = self.memory();
        let mut text = format!("#define FIRST {}\n#define HIDDEN {hidden}\n", self.plan.first);
        let _ = writeln!(
            text,
            "#define SEEN {} /* by the readout */",
            hidden * pooling.statistics().len()
        );
        if pooling.has(Statistic::Last) {
            let _ = writeln!(text, "#define LAST {}", memory + layers - last);
        }
        if pooling.sees_all_steps() {
            let _ = writeln!(text, "#define KEPT {}", memory + layers);
        }
        if pooling.sees_all_steps() && self.plan.format == Format::Int8 {
            let places = self.plan.layers.last().map_or(0, |layer| layer.words[13] & 255);
            let smallest = smallest_variance(places);
            let _ = writeln!(
                text,
                "#define SMALLEST_VARIANCE {smallest} /* four times 2^-16, in squares of states */"
            );
        }
        text.push('\n');
        let names: &[&str] = if self.plan.tokens {
            &["embedding"]
        } else {
            &["input_mean", "input_scale", "compressed_scale", "triad"]
        };
        for (name, tensor) in names
            .iter()
            .zip(&self.plan.input)
            .filter(|(_, tensor)| tensor.len() > 0)
        {
            text += &table(name, tensor);
        }
        let derived = &self.plan.derived;
        if derived.memory > 0 {
            let _ = writeln!(text, "#define MEMORY {} /* floats */", derived.memory);
        }
        if derived.triads > 0 {
            let _ = writeln!(text, "#define TRIADS {}", derived.triads);
        }
        let names: &[&str] = match self.plan.format {
            Format::Float => &["readout_weight", "readout_bias"],
            Format::Int8 => &["readout_weight", "readout_factors", "readout_bias"],
        };
        for (name, tensor) in names.iter().zip(&self.plan.readout) {
            text += &table(name, tensor);
        }
        if self.plan.format == Format::Int8 {
            text += "static const matrix readout = { readout_weight, readout_factors };\n";
        }
        text.push('\n');
        text
    }

    /// Numbers of a state before those of the layers.
    fn memory(&self) -> usize {
        let parts = match self.plan.format {
            Format::Float => 1,
            Format::Int8 if self.plan.narrow => 4,
            Format::Int8 => 2,
        };
        parts * self.plan.derived.memory
    }

    /// Size of what a layer reads.
    pub(super) fn inputs(&self, place: usize) -> usize {
        match place {
            0 => self.plan.first,
            _ => self.plan.layers[place - 1].hidden(),
        }
    }

    /// The function that carries all layers over a step; `more` are further arguments of each.
    pub(super) fn advance(&self, number: &str, more: &str) -> String {
        let mut text = format!("static void advance(ernn_state *state, const {number} *x, {number} *scratch)\n{{\n");
        text += "    ernn_number *values = state->values;\n";
        // Whole numbers are told whether they come from a state.
        let [of_input, of_state] = match self.plan.format {
            Format::Float => ["", ""],
            Format::Int8 => [", 0", ", SMALL"],
        };
        let mut at = self.memory();
        let (mut below, mut source) = ("x".to_string(), format!("x{of_input}"));
        for (place, layer) in self.plan.layers.iter().enumerate() {
            let call = match layer.kind() {
                Kind::Leaky => format!("leaky_step(&layer{place}, state->steps, {source}, values + {at}"),
                Kind::Deep => format!("deep_step(&layer{place}, state->steps, {source}, values + {at}"),
                Kind::Equilibrium => format!("equilibrium_step(&layer{place}, {source}, values + {at}"),
                kind => {
                    let memory = if kind.memory() {
                        format!("values + {}", at + layer.hidden())
                    } else {
                        "0".to_string()
                    };
                    let step = match self.plan.format {
                        Format::Float => "",
                        Format::Int8 => "state->steps, ",
                    };
                    format!("gated_step(&layer{place}, {step}{source}, values + {at}, {memory}")
                }
            };
            let _ = writeln!(text, "    {call}, scratch{more});");
            below = format!("values + {at}");
            source = format!("{below}{of_state}");
            at += layer.state_len();
        }
        if self.plan.pooling.sees_all_steps() {
            let _ = writeln!(
                text,
                "    keep_for_readout(values + KEPT, {below}, HIDDEN, state->steps{more});"
            );
        }
        text + "    if (state->steps < 0xffffffffu)\n        state->steps++;\n}\n\n"
    }

    fn selftest(&self, prepared: &Prepared) -> String {
        let mut text = String::from("#include \"ernn_.h\"\n\n");
        let kind = if prepared.samples.real {
            "data"
        } else {
            "drawn with the mean and deviation of the training data"
        };
        let _ = writeln!(text, "/* Inputs ({kind}), and the logits after their last step. */");
        let (mut inputs, mut lengths, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for (sequence, mut row) in prepared.tests() {
            inputs.extend_from_slice(sequence);
            lengths.push((sequence.len() / prepared.samples.features).to_string());
            match prepared.logits {
                Logits::Float(_) => row.iter_mut().for_each(|value| value.push('f')),
                Logits::Whole(..) => row
                    .iter_mut()
                    .for_each(|value| *value = whole(value.parse().unwrap_or(0))),
            }
            rows.push(format!("{{ {} }}", row.join(", ")));
        }
        text += &table("inputs", &Tensor::F32(inputs));
        let _ = writeln!(text, "#define SEQUENCES {}", lengths.len());
        text += &self.bounds(prepared);
        if let Some(listens) = self.listens {
            let (sum, mut row) = (listens.test_sum(), listens.test_window(prepared));
            if self.plan.format == Format::Float {
                row.iter_mut().for_each(|value| value.push('f'));
            }
            let _ = writeln!(
                text,
                "#define WINDOWS {TEST_WINDOWS} /* of drawn logits */\n#define EVENTS_SUM {sum}u /* of their events */\n\
                 static const ernn_logit of_window[ERNN_OUTPUTS] = {{ {} }}; /* of a stream of the inputs, over and over */",
                row.join(", ")
            );
        }
        if let Some(ears) = self.ears {
            let sum = ears.test_sum();
            let _ = writeln!(
                text,
                "#define SOUND {TEST_SAMPLES} /* samples of a made sound */\n#define SOUND_SUM {sum}u /* of its features */"
            );
        }
        let _ = writeln!(
            text,
            "static const int lengths[SEQUENCES] = {{ {} }};",
            lengths.join(", ")
        );
        text += &self.values(prepared);
        let expected = rows.join(",\n    ");
        let _ = writeln!(
            text,
            "static const ernn_logit expected[SEQUENCES][ERNN_OUTPUTS] = {{\n    {expected}\n}};\n"
        );
        text + &select(include_str!("selftest.c"), &self.used)
    }

    /// How far from the stored numbers those of another compiler may be: one bound, or one for each of several numbers to predict.
    fn bounds(&self, prepared: &Prepared) -> String {
        let bounds = self.plan.unit.as_ref().map(|unit| prepared.logits.bounds(unit));
        match (bounds, self.plan.format) {
            (Some(bounds), _) if bounds.len() > 1 => table("bounds", &Tensor::F32(bounds)),
            (Some(bounds), Format::Float) => format!("#define BOUND {}\n", float(bounds[0])),
            (Some(bounds), Format::Int8) => format!("#define VALUE_BOUND {}\n", float(bounds[0])),
            (None, Format::Float) => format!("#define BOUND {}\n", float(prepared.logits.bound())),
            (None, Format::Int8) => String::new(),
        }
    }

    /// The numbers that must be made of the stored outputs; of a single one in `f32` the output is the number.
    fn values(&self, prepared: &Prepared) -> String {
        let whole = self.plan.format == Format::Int8;
        let Some(unit) = self.plan.unit.as_ref().filter(|unit| whole || unit.scales.len() > 1) else {
            return String::new();
        };
        let values = prepared.tests().flat_map(|(_, row)| {
            let outputs = row.iter().map(|output| output.parse::<f64>().unwrap_or(f64::NAN));
            if whole {
                return unit.numbers(outputs.map(|output| output / f64::from(about::WHOLE_LOGIT)));
            }
            let mut numbers: Vec<f32> = outputs.map(|output| output as f32).collect();
            unit.in_order(&mut numbers);
            numbers
        });
        table("values", &Tensor::F32(values.collect()))
    }
}

/// The words of a record are all that C needs to know of a layer.
const _: () = assert!(RECORD_WORDS == 16);
