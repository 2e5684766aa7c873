//! `curves.svg`: training and validation loss and accuracy over the epochs.
//!
//! Plain SVG text: two panels, no fonts to load, colours of its own for light and dark surroundings.

use std::fmt::Write;

use crate::checkpoint::{EpochRecord, Phase};

/// Size of the drawing and of the plot area in each of its two panels.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 360.0;
const PANEL: f64 = WIDTH / 2.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 44.0;

const STYLE: &str = "
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600; font-size: 15px }
  .paper { fill: #ffffff } .grid { stroke: #d8dee4 } .axis { stroke: #57606a }
  polyline { fill: none; stroke-width: 2; stroke-linejoin: round }
  .train { stroke: #0b63ce } .validation { stroke: #c4480a } .best { stroke: #57606a; stroke-dasharray: 4 4 }
  text.train { stroke: none; fill: #0b63ce } text.validation { stroke: none; fill: #c4480a }
  circle.train { fill: #0b63ce } circle.validation { fill: #c4480a }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .paper { fill: #0d1117 } .grid { stroke: #30363d } .axis, .best { stroke: #9198a1 }
    .train { stroke: #6cb0ff } .validation { stroke: #ffa260 }
    text.train, circle.train { fill: #6cb0ff } text.validation, circle.validation { fill: #ffa260 }
  }
";

/// One line of a panel: its CSS class, its name, and a value for each epoch that has one.
type Series<'a> = (&'a str, Vec<(f64, f64)>);

/// Draws the epochs of the selecting pass; those of a retraining pass have no validation part to compare with.
pub(super) fn draw(history: &[EpochRecord]) -> String {
    let epochs: Vec<&EpochRecord> = history.iter().filter(|record| record.phase == Phase::Select).collect();
    let last = epochs.last().map_or(1.0, |record| record.epoch as f64);
    let best = epochs
        .iter()
        .filter(|record| record.best)
        .map(|record| record.epoch as f64)
        .next_back();
    let series = |value: fn(&EpochRecord) -> Option<f64>| -> Vec<(f64, f64)> {
        let point = |record: &&EpochRecord| Some((record.epoch as f64, value(record)?));
        epochs.iter().filter_map(point).collect()
    };
    let losses = [
        ("train", series(|record| Some(record.train_loss))),
        ("validation", series(|record| record.validation_loss)),
    ];
    let accuracies = [
        ("train", series(|record| Some(record.train_accuracy))),
        ("validation", series(|record| record.validation_accuracy)),
    ];
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         role=\"img\" aria-label=\"Loss and accuracy over the epochs\">\n<style>{STYLE}</style>\n\
         <rect class=\"paper\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\"/>\n"
    );
    panel(&mut svg, 0.0, "Loss", &losses, last, best);
    panel(&mut svg, PANEL, "Accuracy", &accuracies, last, best);
    svg.push_str("</svg>\n");
    svg
}

fn panel(svg: &mut String, left: f64, title: &str, series: &[Series], last: f64, best: Option<f64>) {
    let values = || series.iter().flat_map(|(_, points)| points.iter().map(|point| point.1));
    let highest = values().fold(0.0, f64::max);
    // Accuracies above one half are read more easily without the empty half below them.
    let floor = if title == "Accuracy" && values().fold(1.0, f64::min) >= 0.5 {
        0.5
    } else {
        0.0
    };
    let ceiling = if title == "Accuracy" { 1.0 } else { highest.max(1e-9) };
    let x = |epoch: f64| left + LEFT + (PANEL - LEFT - RIGHT) * (epoch - 1.0) / (last - 1.0).max(1.0);
    let y = |value: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - floor) / (ceiling - floor);

    line(
        svg,
        &format!("<text class=\"title\" x=\"{:.1}\" y=\"26\">{title}</text>", left + LEFT),
    );
    grid(svg, left, floor, ceiling, last, &x, &y);
    if let Some(best) = best {
        let (x, top, bottom) = (x(best), y(ceiling), y(floor));
        line(
            svg,
            &format!(
                "<line class=\"best\" x1=\"{x:.1}\" y1=\"{top:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"><title>best epoch: {best}</title></line>"
            ),
        );
    }
    for (row, (class, points)) in series.iter().enumerate().filter(|(_, (_, points))| !points.is_empty()) {
        let path: Vec<String> = points
            .iter()
            .map(|&(epoch, value)| format!("{:.1},{:.1}", x(epoch), y(value)))
            .collect();
        line(
            svg,
            &format!("<polyline class=\"{class}\" points=\"{}\"/>", path.join(" ")),
        );
        if let [(epoch, value)] = points[..] {
            line(
                svg,
                &format!(
                    "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"/>",
                    x(epoch),
                    y(value)
                ),
            );
        }
        let (legend, end) = (
            left + PANEL - RIGHT - 90.0 * (1 - row) as f64,
            points[points.len() - 1].1,
        );
        let text = format!("{class} {end:.3}");
        line(
            svg,
            &format!("<text class=\"{class}\" x=\"{legend:.1}\" y=\"26\" text-anchor=\"end\">{text}</text>"),
        );
    }
}

fn grid(
    svg: &mut String,
    left: f64,
    floor: f64,
    ceiling: f64,
    last: f64,
    x: &dyn Fn(f64) -> f64,
    y: &dyn Fn(f64) -> f64,
) {
    let (start, end) = (left + LEFT, left + PANEL - RIGHT);
    for value in ticks(floor, ceiling) {
        let (height, class) = (y(value), if value == floor { "axis" } else { "grid" });
        line(
            svg,
            &format!(
                "<line class=\"{class}\" x1=\"{start:.1}\" y1=\"{height:.1}\" x2=\"{end:.1}\" y2=\"{height:.1}\"/>"
            ),
        );
        let text = trimmed(value);
        line(
            svg,
            &format!(
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                start - 8.0,
                height + 4.5
            ),
        );
    }
    for epoch in ticks(0.0, last)
        .into_iter()
        .filter(|epoch| *epoch >= 1.0 && epoch.fract() == 0.0)
    {
        let (place, base) = (x(epoch), HEIGHT - BOTTOM + 18.0);
        line(
            svg,
            &format!("<text x=\"{place:.1}\" y=\"{base:.1}\" text-anchor=\"middle\">{epoch}</text>"),
        );
    }
    let (middle, base) = ((start + end) / 2.0, HEIGHT - 8.0);
    line(
        svg,
        &format!("<text x=\"{middle:.1}\" y=\"{base:.1}\" text-anchor=\"middle\">epoch</text>"),
    );
}

/// About five round numbers from `low` to `high`.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let raw = (high - low) / 5.0;
    let magnitude = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * magnitude)
        .into_iter()
        .find(|step| *step >= raw * 0.999);
    let step = step.unwrap_or(raw);
    let count = ((high - low) / step + 1e-9).floor() as usize;
    (0..=count).map(|index| low + index as f64 * step).collect()
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn line(svg: &mut String, text: &str) {
    writeln!(svg, "{text}").expect("writing to a string");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_reach_the_top() {
        assert_eq!(ticks(0.0, 1.0).len(), 6);
        assert_eq!(ticks(0.0, 100.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(0.0, 2.3), [0.0, 0.5, 1.0, 1.5, 2.0]);
    }

    #[test]
    fn draws_any_history() {
        for epochs in [0, 1, 2, 57] {
            let history: Vec<EpochRecord> = (1..=epochs)
                .map(|epoch| EpochRecord {
                    epoch,
                    train_loss: 1.0 / epoch as f64,
                    validation_accuracy: (epoch > 1).then_some(0.75),
                    best: epoch == 2,
                    ..EpochRecord::default()
                })
                .collect();
            let svg = draw(&history);
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert_eq!(
                svg.matches("<polyline").count(),
                if epochs == 0 { 0 } else { 2 + usize::from(epochs > 1) }
            );
        }
    }
}
