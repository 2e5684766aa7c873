//! `ernn predict` with a model that forecasts: a line for each value behind each window, with its time.

use ernn::checkpoint::SavedModel;
use ernn::data::{Forecast, Sequences};
use ernn::evaluate::Answer;
use serde_json::{Map, Value, json};

use super::predict::{Format, beginning, json_line, quoted};

/// The lines of all windows.
pub fn lines(
    saved: &SavedModel,
    forecast: &Forecast,
    sequences: &Sequences,
    answers: &[Answer<Vec<f32>>],
    format: Format,
) -> String {
    let columns = columns(saved, forecast);
    let mut text = String::new();
    if format == Format::Csv {
        let names: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
        text += &format!("sequence,start,end,time,{}\n", names.join(","));
    }
    for (index, answer) in answers.iter().enumerate() {
        let times = sequences.ahead[index].iter().enumerate();
        let values = |step: usize| {
            answer
                .as_ref()
                .ok()
                .map(|values| of_step(forecast, values, columns.len(), step))
        };
        text += &match format {
            Format::Csv => times
                .map(|(step, time)| {
                    let numbers = values(step).map_or_else(
                        || ",".repeat(columns.len() - 1),
                        |values| values.iter().map(f32::to_string).collect::<Vec<_>>().join(","),
                    );
                    format!("{},{},{numbers}\n", beginning(sequences, index), quoted(time))
                })
                .collect::<String>(),
            Format::Json => {
                let steps = times.map(|(step, time)| entry(&columns, time, values(step)));
                let mut entries = json!({"forecast": steps.collect::<Vec<Value>>()});
                if let Err(problem) = answer {
                    entries["problem"] = json!(problem);
                }
                json_line(sequences, index, entries)
            }
        };
    }
    text
}

/// A column for each channel and quantile: `load`, `q0.1`, or of several channels `load_q0.1`.
fn columns(saved: &SavedModel, forecast: &Forecast) -> Vec<String> {
    let quantiles = &saved.model.config().quantiles;
    let several = forecast.channels.len() > 1;
    let of = |&channel: &usize| {
        let name = &saved.feature_names[channel];
        let named = |quantile: &f64| {
            if several {
                format!("{name}_q{quantile}")
            } else {
                format!("q{quantile}")
            }
        };
        match quantiles.is_empty() {
            true => vec![name.clone()],
            false => quantiles.iter().map(named).collect(),
        }
    };
    forecast.channels.iter().flat_map(of).collect()
}

/// The numbers of one step among those of a window, `[channels, steps, quantiles]`.
fn of_step(forecast: &Forecast, values: &[f32], columns: usize, step: usize) -> Vec<f32> {
    let quantiles = columns / forecast.channels.len();
    let of = |channel: usize| &values[(channel * forecast.horizon + step) * quantiles..][..quantiles];
    (0..forecast.channels.len()).flat_map(of).copied().collect()
}

fn entry(columns: &[String], time: &str, values: Option<Vec<f32>>) -> Value {
    let mut entry = Map::new();
    entry.insert("time".to_string(), json!(time));
    for (place, name) in columns.iter().enumerate() {
        entry.insert(name.clone(), json!(values.as_ref().map(|values| values[place])));
    }
    Value::Object(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_step_are_those_of_all_channels_and_quantiles() {
        let forecast = Forecast {
            channels: vec![2, 0],
            horizon: 3,
            season: None,
        };
        let values: Vec<f32> = (0..12).map(|value| value as f32).collect();
        assert_eq!(of_step(&forecast, &values, 4, 1), [2.0, 3.0, 8.0, 9.0]);
        assert_eq!(of_step(&forecast, &values[..6], 2, 2), [2.0, 5.0]);
    }
}
