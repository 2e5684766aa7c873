//! What is written: the numbers as JSON, each picture as SVG, and one page that needs nothing else.

use serde::Serialize;

use super::figures::{self, Figure};
use super::text;
use super::{Analysis, LayerAnalysis, Phase};
use crate::report::{document, table};
use ernn::chart::escaped;

/// Stands in every page, so that an older analysis may be replaced by the next.
pub const GENERATOR: &str = "<!-- generator: ernn analyze -->";

/// The files of an analysis, names and contents; the page is the last one.
pub fn files(analysis: &Analysis) -> Vec<(String, String)> {
    let mut files = vec![("analysis.json".to_string(), json(analysis))];
    let layers = analysis
        .layers
        .iter()
        .flat_map(figures::of_layer)
        .map(|(_, figure)| figure);
    let all = layers.chain(figures::of_model(analysis));
    files.extend(all.map(|figure| (format!("{}.svg", figure.name), figure.svg())));
    files.push(("analysis.html".to_string(), html(analysis)));
    files
}

/// The files of figure 1; the page is the last one.
pub fn phase_files(phase: &Phase) -> Vec<(String, String)> {
    let figure = figures::of_phase(phase);
    let mut body = format!("<p class=\"soft\">{}</p>\n", escaped(&text::about_phase(phase)));
    body += &figure.html();
    let (head, rows) = text::phase_rows(phase);
    body += &table(
        "The states of each cell",
        &head,
        rows.into_iter().map(|row| (false, row)),
    );
    vec![
        ("phase.json".to_string(), json(phase)),
        ("phase.svg".to_string(), figure.svg()),
        ("phase.html".to_string(), document("Phase space", GENERATOR, &body)),
    ]
}

/// Numbers that are none (beyond the range of a double) become `null`.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("numbers, texts and lists") + "\n"
}

fn html(analysis: &Analysis) -> String {
    let subject = &analysis.subject;
    let title = format!("Analysis of {}", subject.model);
    let mut body = format!("<p class=\"soft\">{}</p>\n", escaped(&text::about(analysis)));
    for layer in &analysis.layers {
        body += &of_layer(layer);
    }
    if let (Some(found), Some(figure)) = (&analysis.iterations, figures::of_model(analysis)) {
        body += &format!(
            "<h2>Other inner iterations</h2>\n<p>{}</p>\n",
            escaped(text::EXPLAIN_ITERATIONS)
        );
        let (head, rows) = text::iteration_rows(found);
        body += &with_table(&figure, &table("", &head, rows.into_iter()));
    }
    if !analysis.skipped.is_empty() {
        body += "<h2>Not measured</h2>\n<ul>\n";
        for skipped in &analysis.skipped {
            body += &format!("<li>{}</li>\n", escaped(&text::skipped(skipped)));
        }
        body += "</ul>\n";
    }
    document(&escaped(&title), GENERATOR, &body)
}

fn of_layer(layer: &LayerAnalysis) -> String {
    let mut body = format!("<h2>{}</h2>\n", escaped(&text::layer_title(layer)));
    let facts = text::facts(layer);
    for (section, figure) in figures::of_layer(layer) {
        let (title, explanation) = text::explain(section);
        body += &format!(
            "<h3>{}</h3>\n<p class=\"soft\">{}</p>\n",
            escaped(title),
            escaped(explanation)
        );
        let rows = facts.iter().filter(|fact| fact.section == section);
        let rows = rows.map(|fact| (false, vec![fact.name.to_string(), fact.value.clone()]));
        let head = ["measured", "median (lowest to highest)"].map(String::from);
        body += &with_table(&figure, &table("", &head, rows));
    }
    body
}

/// A single chart has its table beside it where there is room, several have it below.
fn with_table(figure: &Figure, table: &str) -> String {
    let drawing = figure.html();
    if figure.is_single() {
        format!("<div class=\"beside\">\n{drawing}{table}</div>\n")
    } else {
        drawing + table
    }
}
