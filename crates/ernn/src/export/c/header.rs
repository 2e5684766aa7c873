//! `NAME.h` and `NAME_info.c`: what a program may do with the model, and all that people look for: names, sizes, units, an example.

use std::fmt::Write;

use ernn_core::{Format, Sizes};

use super::rename::rename;
use super::source::Source;
use super::text::{float, select};
use super::words::{in_comment, sentence, string};
use crate::data::Task;
use crate::export::unit::output_names;
use crate::export::{Samples, about};

/// Names in the header's comment at most; all stand in `NAME_info.c`.
const LISTED: usize = 64;

impl Source<'_> {
    /// Whether logits have names.
    pub(super) fn has_classes(&self) -> bool {
        !self.saved.classes.is_empty() && self.saved.classes.len() == self.plan.outputs
    }

    /// Steps of the longest sequence: of the training where the run says so, else of the data at hand. A text has no such length.
    pub(super) fn window(&self, samples: &Samples) -> Option<usize> {
        let steps = samples
            .sequences
            .iter()
            .map(|sequence| sequence.len() / samples.features);
        let at_hand = steps.max().filter(|_| samples.real);
        let of_text = self.saved.model.config().task == Task::NextToken;
        self.about.steps.or(at_hand).filter(|_| !of_text)
    }

    pub(super) fn header(&self, window: Option<usize>) -> String {
        let frame = select(include_str!("frame.h"), &self.used);
        let place = frame.find("#ifdef __cplusplus").unwrap_or(0);
        let (head, rest) = frame.split_at(place);
        self.comment(window) + &rename(&format!("{head}{}{rest}", self.constants(window)), self.name)
    }

    fn comment(&self, window: Option<usize>) -> String {
        let mut text = String::from("/*\n");
        let mut say = |line: &str| {
            let _ = writeln!(text, "   {line}");
        };
        for line in about::origin(self.saved, self.about) {
            say(&sentence(&line));
        }
        let version = env!("CARGO_PKG_VERSION");
        say(&format!(
            "Made by `ernn export`, version {version}; change the model, not this file."
        ));
        say("");
        for line in about::inputs(self.saved) {
            say(&sentence(&line));
        }
        if !self.plan.tokens {
            list("input", &self.saved.feature_names)
                .iter()
                .for_each(|line| say(line));
        }
        if self.has_classes() {
            let what = if self.plan.several { "label" } else { "class" };
            list(what, &self.saved.classes).iter().for_each(|line| say(line));
        }
        if self.used.contains(&"values") {
            list("value", &output_names(self.saved))
                .iter()
                .for_each(|line| say(line));
        }
        if let Some(line) = about::output(self.saved) {
            say(&sentence(&line));
        }
        say("");
        say("An example:");
        text += &rename(&self.example(window), self.name);
        text + "*/\n"
    }

    fn example(&self, window: Option<usize>) -> String {
        let steps = window.map_or("steps", |_| "ERNN_WINDOW");
        if self.ears.is_some() {
            return self.example_of_sound(steps);
        }
        if self.listens.is_some() {
            return example_of_windows();
        }
        let [declared, read, push] = if self.plan.tokens {
            [
                "uint32_t token;",
                "token = next_token();",
                "ernn_push_token(&state, &scratch, token)",
            ]
        } else {
            [
                "float input[ERNN_INPUTS];",
                "read_sensor(input);",
                "ernn_push(&state, &scratch, input)",
            ]
        };
        let by_step = self.says_each_step();
        let after = if by_step {
            "after each step"
        } else {
            "after a whole sequence"
        };
        let use_of_it = self.use_of_logits();
        let room = match (&self.plan.unit, self.plan.outputs) {
            (Some(_), 2..) => "\n       static float values[ERNN_OUTPUTS];",
            _ => "",
        };
        let declared = match self.plan.several {
            true => format!("unsigned char labels[ERNN_OUTPUTS];\n       {declared}"),
            false => declared.to_string(),
        };
        let mut text = format!(
            "\n       static ernn_state state;\n       static ernn_scratch scratch;\n       static ernn_logit logits[ERNN_OUTPUTS];{room}\n       \
             {declared}\n       for (;;) {{\n           ernn_reset(&state);\n           \
             for (int i = 0; i < {steps}; i++) {{\n               {read}\n               \
             if ({push})\n                   continue;   // refused: nothing was done\n"
        );
        let asked = format!("ernn_logits(&state, &scratch, logits);   // {after}");
        if by_step {
            text += &format!("               {asked}\n               {use_of_it}\n           }}\n");
        } else {
            text += &format!("           }}\n           {asked}\n           {use_of_it}\n");
        }
        text + "       }\n"
    }

    /// The example of a model of sound, which takes blocks of samples as a microphone gives them.
    fn example_of_sound(&self, steps: &str) -> String {
        let (kept, reset) = match self.listens {
            Some(_) => (STREAM, RESET_STREAM),
            None => ("       static ernn_state state;\n", "       ernn_reset(&state);\n"),
        };
        let mut text = format!(
            "\n       static ernn_sound sound;\n       static ernn_work work;\n{kept}       static ernn_scratch scratch;\n       \
             static ernn_logit logits[ERNN_OUTPUTS];\n       float features[ERNN_INPUTS];\n       int16_t block[ERNN_HOP];\n       \
             ernn_sound_reset(&sound);\n{reset}       for (;;) {{\n           const int16_t *samples = block;\n           \
             int count = read_microphone(block);   // samples of 16 bits, ERNN_RATE a second, ERNN_HOP or fewer\n           \
             while (ernn_sound_push(&sound, &work, &samples, &count, features)) {{\n"
        );
        let use_of_it = self.use_of_logits();
        text += &match self.listens {
            Some(_) => listened("               ", "features"),
            None if self.says_each_step() => format!(
                "               ernn_push(&state, &scratch, features);\n               \
                 ernn_logits(&state, &scratch, logits);   // after each step\n               {use_of_it}\n"
            ),
            None => format!(
                "               ernn_push(&state, &scratch, features);\n               if (state.steps < {steps})\n                   \
                 continue;\n               ernn_logits(&state, &scratch, logits);   // after a whole sequence\n               \
                 {use_of_it}\n               ernn_reset(&state);\n"
            ),
        };
        text + "           }\n       }\n"
    }

    /// Whether it says something after each step.
    fn says_each_step(&self) -> bool {
        let task = self.saved.model.config().task;
        task.is_of_steps() || task == Task::NextToken
    }

    /// What the example does with logits.
    fn use_of_logits(&self) -> &'static str {
        match (&self.plan.unit, self.plan.outputs) {
            (None, _) if self.plan.several => {
                "int count = ernn_labels(logits, labels);   // labels[i] is 1 where label i holds"
            }
            (None, _) => "int place = ernn_class(logits);",
            (Some(_), 1) => "float value = ernn_value(logits);",
            (Some(_), _) => "ernn_values(logits, values);",
        }
    }

    /// Macros and types, before the functions.
    fn constants(&self, window: Option<usize>) -> String {
        let (number, logit) = match self.plan.format {
            Format::Float => ("float", "float"),
            Format::Int8 if self.plan.narrow => ("int8_t", "int32_t"),
            Format::Int8 => ("int16_t", "int32_t"),
        };
        let what = if self.plan.tokens {
            "tokens that are known, in the order of vocabulary.json"
        } else {
            "values of a step"
        };
        let logits = match (&self.plan.unit, self.plan.outputs) {
            (Some(_), 1) => "one number",
            (Some(_), _) => "numbers",
            (None, _) if self.plan.several => "logits of labels of which several can hold",
            (None, _) => "logits",
        };
        let Sizes {
            state,
            scratch,
            inputs,
            outputs,
        } = self.sizes;
        let mut text = format!(
            "#define ERNN_INPUTS {inputs} /* {what} */\n\
             #define ERNN_OUTPUTS {outputs} /* {logits} */\n\
             #define ERNN_STATE {state} /* numbers of a stream's state */\n\
             #define ERNN_SCRATCH {scratch} /* numbers that a step needs besides */\n"
        );
        if let Some(ears) = self.ears {
            let sizes = ears.sizes();
            let _ = writeln!(
                text,
                "#define ERNN_RATE {} /* samples of sound a second */\n\
                 #define ERNN_FRAME {} /* samples that a step is made of */\n\
                 #define ERNN_HOP {} /* samples from step to step */\n\
                 #define ERNN_WORK {} /* numbers that making a step needs besides */",
                sizes.rate, sizes.samples, sizes.step, sizes.work
            );
        }
        if let Some(steps) = window {
            let _ = writeln!(
                text,
                "#define ERNN_WINDOW {steps} /* steps of the longest sequence of the training */"
            );
        }
        if let Some(listens) = self.listens {
            let way = &listens.way;
            let rule = way.rule(&listens.is_event);
            let _ = writeln!(
                text,
                "#define ERNN_LISTEN {} /* steps of a window of a stream without an end */\n\
                 #define ERNN_EVERY {} /* steps from the beginning of a window to the next */\n\
                 #define ERNN_COPIES {} /* windows under way at a time */\n\
                 #define ERNN_AVERAGE {} /* windows whose probabilities are averaged */\n\
                 #define ERNN_ON {} /* an event begins from this average on, of 32768 */\n\
                 #define ERNN_OFF {} /* and ends below this one */\n\
                 #define ERNN_LEAST {} /* windows in a row that it takes to begin */\n\
                 #define ERNN_REST {} /* windows after an event in which none begins */",
                way.window,
                way.hop,
                listens.copies(),
                rule.average,
                rule.on,
                rule.off,
                rule.least,
                rule.rest
            );
        }
        let quantiles = self.plan.unit.as_ref().map_or(1, |unit| unit.quantiles);
        if quantiles > 1 {
            let _ = writeln!(
                text,
                "#define ERNN_QUANTILES {quantiles} /* of each number, side by side */"
            );
        }
        let scales = self.plan.unit.as_ref().filter(|_| self.plan.format == Format::Int8);
        if let Some([scale]) = scales.map(|unit| &unit.scales[..]) {
            let [mean, deviation] = [scale.mean, scale.deviation].map(|number| float(number as f32));
            let _ = writeln!(
                text,
                "#define ERNN_VALUE_MEAN {mean} /* of the numbers that were trained on */\n\
                 #define ERNN_VALUE_DEVIATION {deviation} /* of them; what 1 is on their scale */"
            );
        }
        let scale = about::logit_scale(self.plan.format);
        let _ = writeln!(text, "#define ERNN_LOGIT_SCALE {scale}.0f /* what 1 is in a logit */");
        let _ = writeln!(
            text,
            "#define ERNN_MODEL_ID \"{}\" /* of the same numbers the same */",
            self.id
        );
        if let Some(accuracy) = self.about.test_accuracy {
            let _ = writeln!(
                text,
                "#define ERNN_TEST_ACCURACY {accuracy:.4}f /* of the trained model, in f32 */"
            );
        }
        let _ = writeln!(text, "\ntypedef {number} ernn_number;");
        let _ = writeln!(text, "typedef {logit} ernn_logit;\n");
        text
    }

    /// `NAME_info.c`.
    pub(super) fn info(&self) -> String {
        let mut text = rename("#include \"ernn_.h\"\n\n", self.name);
        let mut array = |what: &str, size: &str, names: &[String]| {
            text += &rename(&format!("const char *const ernn_{what}[{size}] = {{\n"), self.name);
            names
                .iter()
                .for_each(|name| text += &format!("    {},\n", string(name)));
            text += "};\n\n";
        };
        if self.has_classes() {
            array("class_names", "ERNN_OUTPUTS", &self.saved.classes);
        }
        if self.used.contains(&"values") {
            array("value_names", "ERNN_OUTPUTS", &output_names(self.saved));
        }
        if !self.plan.tokens {
            array("input_names", "ERNN_INPUTS", &self.saved.feature_names);
        }
        text + &rename(&select(include_str!("info.c"), &self.used), self.name)
    }
}

/// What a stream of windows keeps, and its beginning.
const STREAM: &str = "       static ernn_windows windows;\n       static ernn_events events;\n";
const RESET_STREAM: &str = "       ernn_windows_reset(&windows);\n       ernn_events_reset(&events);\n";

/// The example of a model that reads windows of a stream.
fn example_of_windows() -> String {
    let taken = listened("           ", "input");
    format!(
        "\n{STREAM}       static ernn_scratch scratch;\n       static ernn_logit logits[ERNN_OUTPUTS];\n       \
         float input[ERNN_INPUTS];\n{RESET_STREAM}       for (;;) {{\n           read_sensor(input);\n{taken}       }}\n"
    )
}

/// A step of a stream of windows, in the example.
fn listened(indent: &str, input: &str) -> String {
    format!(
        "{indent}if (ernn_windows_push(&windows, &scratch, {input}, logits) == 1) {{   // a window has ended\n{indent}    \
         int place = ernn_events_push(&events, logits);\n{indent}    if (place >= 0)\n{indent}        \
         say(ernn_class_names[place]);   // an event begins\n{indent}}}\n"
    )
}

/// `class 0: "walk"`, a line each.
fn list(what: &str, names: &[String]) -> Vec<String> {
    let shown = names.iter().enumerate().take(LISTED);
    let mut lines: Vec<String> = shown
        .map(|(place, name)| format!("   {what} {place}: {}", in_comment(name)))
        .collect();
    if names.len() > LISTED {
        lines.push(format!(
            "   and {} more, all of them in the _info.c",
            names.len() - LISTED
        ));
    }
    lines
}
