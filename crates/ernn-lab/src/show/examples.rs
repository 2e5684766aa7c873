//! Sequences as pictures: a chart of lines for a few channels, a map of shades for many.

use std::fmt::Write;

use ernn::chart::{Chart, Figure, Line, Look, Scale, Side, escaped};
use ernn::data::{Dataset, View};

/// Channels that are told apart as lines.
const LINES: usize = 6;
/// Classes of which an example is shown.
const CLASSES: usize = 12;
/// Points of a line, and columns of a map.
const POINTS: usize = 300;
const COLUMNS: usize = 64;
/// Rows of a map.
const ROWS: usize = 40;
/// Shades of a map.
const SHADES: usize = 8;

/// An example of each class, or of data without classes the first sequences.
pub(super) fn html(dataset: &Dataset) -> String {
    let chosen = chosen(dataset);
    let view = View::of(&dataset.train);
    if view.is_tokens() {
        return texts(dataset, &view, &chosen);
    }
    match dataset.train.features {
        0..=LINES => lines(dataset, &view, &chosen),
        _ => maps(dataset, &view, &chosen),
    }
}

/// A title and a sequence for each example: of each class that in the middle of all that have it.
fn chosen(dataset: &Dataset) -> Vec<(String, usize)> {
    let part = &dataset.train;
    if !part.indicators.is_empty() {
        let labels = dataset.classes.iter().enumerate().take(CLASSES);
        let middle = |(label, name): (usize, &String)| {
            let has = |&sequence: &usize| part.indicators_of(sequence)[label] == 1;
            let own: Vec<usize> = (0..part.len()).filter(has).collect();
            Some((name.clone(), *own.get(own.len() / 2)?))
        };
        return labels.filter_map(middle).collect();
    }
    if part.labels.is_empty() {
        let first = (0..part.len().min(4)).map(|sequence| (part.name(sequence), sequence));
        return first
            .map(|(name, sequence)| (format!("sequence {name}"), sequence))
            .collect();
    }
    let classes = dataset.classes.iter().enumerate().take(CLASSES);
    let middle = |(class, name): (usize, &String)| {
        let own: Vec<usize> = (0..part.len())
            .filter(|&sequence| part.labels[sequence] as usize == class)
            .collect();
        Some((name.clone(), *own.get(own.len() / 2)?))
    };
    classes.filter_map(middle).collect()
}

fn values(view: &View, sequence: usize) -> Vec<f32> {
    let mut values = vec![0.0; view.length(sequence) * view.features()];
    view.read(sequence, &mut values);
    values
}

fn lines(dataset: &Dataset, view: &View, chosen: &[(String, usize)]) -> String {
    let charts = chosen.iter().map(|(title, sequence)| {
        let (values, features) = (values(view, *sequence), view.features());
        let steps = values.len() / features;
        let every = steps.div_ceil(POINTS).max(1);
        let scale = Scale::linear(values.iter().map(|&value| f64::from(value)));
        let across = Side::new("step", Scale::Whole(1.0, steps.max(2) as f64));
        let mut chart = Chart::new(title.clone(), across, Side::new("", scale));
        chart.lines = (0..features)
            .map(|channel| Line {
                name: dataset.feature_names[channel].clone(),
                look: Look::new(channel, 0),
                points: (0..steps)
                    .step_by(every)
                    .map(|step| ((step + 1) as f64, f64::from(values[step * features + channel])))
                    .collect(),
            })
            .collect();
        chart
    });
    Figure::new("Examples", charts.collect()).html()
}

/// Channels upwards, time across; the stronger the shade, the larger.
fn maps(dataset: &Dataset, view: &View, chosen: &[(String, usize)]) -> String {
    let mut html = String::from("<div class=\"charts two\">\n");
    for (title, sequence) in chosen {
        let values = values(view, *sequence);
        html += &map(title, &values, view.features());
    }
    let names = &dataset.feature_names;
    let (first, last) = (
        names.first().cloned().unwrap_or_default(),
        names.last().cloned().unwrap_or_default(),
    );
    html + &format!(
        "</div>\n<p class=\"soft\">Time goes to the right, channels go up from {} to {}; the stronger the shade, the larger.</p>\n",
        escaped(&first),
        escaped(&last)
    )
}

fn map(title: &str, values: &[f32], features: usize) -> String {
    let steps = values.len() / features.max(1);
    let (columns, rows) = (steps.clamp(1, COLUMNS), features.min(ROWS));
    let mean = |row: usize, column: usize| {
        let cells =
            |from: usize, of: usize, all: usize| from * all / of..((from + 1) * all / of).max(from * all / of + 1);
        let steps = cells(column, columns, steps);
        let channels = cells(row, rows, features);
        let all = steps.flat_map(|step| channels.clone().map(move |channel| step * features + channel));
        let (sum, count) = all.fold((0.0, 0), |(sum, count), place| {
            (sum + f64::from(values[place]), count + 1)
        });
        sum / f64::from(count.max(1))
    };
    let cells: Vec<Vec<f64>> = (0..rows)
        .map(|row| (0..columns).map(|column| mean(row, column)).collect())
        .collect();
    let all = || cells.iter().flatten().copied();
    let (low, high) = (
        all().fold(f64::INFINITY, f64::min),
        all().fold(f64::NEG_INFINITY, f64::max),
    );
    let mut paths = vec![String::new(); SHADES];
    for (row, cells) in cells.iter().enumerate() {
        for (column, value) in cells.iter().enumerate() {
            let share = if high > low { (value - low) / (high - low) } else { 0.0 };
            let shade = ((share * SHADES as f64) as usize).min(SHADES - 1);
            let _ = write!(paths[shade], "M{column} {}h1v1h-1z", rows - 1 - row);
        }
    }
    let name = escaped(title);
    let mut svg = format!(
        "<div><p>{name}</p>\n<svg viewBox=\"0 0 {columns} {rows}\" preserveAspectRatio=\"none\" style=\"aspect-ratio: 2\" role=\"img\" \
         aria-label=\"{name}: {steps} steps of {features} channels\">\n"
    );
    for (shade, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        let opacity = (shade + 1) as f64 / SHADES as f64;
        svg += &format!("<path d=\"{path}\" fill=\"rgb(var(--heat))\" fill-opacity=\"{opacity:.3}\"/>\n");
    }
    svg + "</svg></div>\n"
}

fn texts(dataset: &Dataset, view: &View, chosen: &[(String, usize)]) -> String {
    let mut html = String::from("<ul>\n");
    for (title, sequence) in chosen {
        let words = view.tokens(*sequence).iter().take(40);
        let words: Vec<&str> = words
            .filter_map(|&token| dataset.vocabulary.get(token as usize).map(String::as_str))
            .collect();
        html += &format!("<li>{}: {} ...</li>\n", escaped(title), escaped(&words.join(" ")));
    }
    html + "</ul>\n"
}
