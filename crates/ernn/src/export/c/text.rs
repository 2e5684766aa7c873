//! Numbers and templates as C.

use std::fmt::Write;

use crate::export::plan::Tensor;

/// Numbers of a line.
const LINE: usize = 12;

/// A number that reads again to the same bits.
pub(super) fn float(value: f32) -> String {
    format!("{value:e}f")
}

/// `static const TYPE name[] = { .. };`
pub(super) fn table(name: &str, tensor: &Tensor) -> String {
    let (kind, values): (&str, Vec<String>) = match tensor {
        Tensor::F32(values) => ("float", values.iter().map(|&value| float(value)).collect()),
        Tensor::I32(values) => ("int32_t", values.iter().map(|&value| whole(value)).collect()),
        Tensor::I16(values) => ("int16_t", values.iter().map(i16::to_string).collect()),
        Tensor::U16(values) => ("uint16_t", values.iter().map(u16::to_string).collect()),
        Tensor::I8(values) => ("int8_t", values.iter().map(i8::to_string).collect()),
    };
    let mut text = format!("static const {kind} {name}[{}] = {{\n", values.len());
    for line in values.chunks(LINE) {
        let _ = writeln!(text, "    {},", line.join(", "));
    }
    text + "};\n"
}

/// C has no literal for the smallest `int32_t`.
pub(super) fn whole(value: i32) -> String {
    if value == i32::MIN {
        return "(-2147483647 - 1)".to_string();
    }
    value.to_string()
}

/// The lines of a template that a model needs: between `//? any WORDS` and `//? end` stand those for any of these words.
pub(super) fn select(template: &str, used: &[&str]) -> String {
    let mut text = String::new();
    let mut taken = vec![true];
    for line in template.lines() {
        if let Some(words) = line.strip_prefix("//? any ") {
            let here = words.split(' ').any(|word| used.contains(&word));
            taken.push(here && taken.iter().all(|&taken| taken));
        } else if line == "//? end" {
            taken.pop();
        } else if taken.iter().all(|&taken| taken) {
            text += line;
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_gives_the_lines_that_are_used() {
        let template = "a\n//? any x y\nb\n//? any z\nc\n//? end\nd\n//? end\ne\n";
        assert_eq!(select(template, &["y"]), "a\nb\nd\ne\n");
        assert_eq!(select(template, &["x", "z"]), "a\nb\nc\nd\ne\n");
        assert_eq!(select(template, &["z"]), "a\ne\n");
    }

    #[test]
    fn numbers_read_again_to_the_same_bits() {
        for value in [0.1f32, -0.0, 1e-45, f32::MAX, 16_777_217.0] {
            let text = float(value);
            assert_eq!(
                text.trim_end_matches('f').parse::<f32>().unwrap().to_bits(),
                value.to_bits()
            );
        }
        assert_eq!(whole(i32::MIN), "(-2147483647 - 1)");
    }
}
