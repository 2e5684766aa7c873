//! What a model of numbers of steps says of sequences: a line a step, with its time where the sequences are windows of recordings.

use ernn::checkpoint::SavedModel;
use ernn::data::Sequences;
use ernn::evaluate;
use serde_json::{Map, Value, json};

use super::predict::{Format, quoted};
use super::predict_segments::recording;
use crate::failure::Result;
use crate::output::timed;

/// A line for each step: the sequence or the recording, the number of the step from 1 or its time, and the numbers by their names.
pub(super) fn lines(saved: &SavedModel, sequences: &Sequences, format: Format) -> Result<String> {
    let answers = timed("prediction", || {
        evaluate::predict_step_numbers(saved, &sequences.part, &sequences.names)
    })?;
    let names = saved.output_names();
    let has_times = !sequences.step_times.is_empty();
    let when = if has_times { "time" } else { "step" };
    let mut text = String::new();
    if format == Format::Csv {
        let columns: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        text += &format!("sequence,{when},{}\n", columns.join(","));
    }
    for (index, numbers) in answers.iter().enumerate() {
        let name = recording(&sequences.names[index], has_times);
        for (step, numbers) in numbers.chunks_exact(names.len()).enumerate() {
            let time = sequences.step_times.get(index).map(|times| times[step].as_str());
            text += &match format {
                Format::Csv => {
                    let time = time.map_or_else(|| (step + 1).to_string(), quoted);
                    let numbers: Vec<String> = numbers.iter().map(f32::to_string).collect();
                    format!("{},{time},{}\n", quoted(&name), numbers.join(","))
                }
                Format::Json => {
                    let mut entry = Map::new();
                    entry.insert("sequence".to_string(), json!(name));
                    entry.insert(
                        when.to_string(),
                        time.map_or_else(|| json!(step + 1), |time| json!(time)),
                    );
                    let pairs = names.iter().zip(numbers);
                    entry.extend(pairs.map(|(name, number)| (name.clone(), json!(number))));
                    format!("{}\n", Value::Object(entry))
                }
            };
        }
    }
    Ok(text)
}
