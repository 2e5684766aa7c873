//! The same in Markdown: tables, what was cut short, and the settings; figures and heat tables are the page's.

use super::GENERATOR;
use super::group::Group;
use super::overfitting;
use super::tables::{Grid, grids, speed_rows};
use crate::compare::aligned;
use ernn::names::markdown as safe;

/// The report as Markdown.
pub fn markdown(groups: &[Group], title: &str) -> String {
    let sections: Vec<String> = groups.iter().map(section).collect();
    format!("{GENERATOR}\n\n# {}\n\n{}", safe(title), sections.join("\n"))
}

fn section(group: &Group) -> String {
    let (mut first, rest) = grids(group);
    for (line, _) in first
        .lines
        .iter_mut()
        .zip(&first.reached)
        .filter(|(_, reached)| **reached)
    {
        line[first.wanted] = format!("**{}**", line[first.wanted]);
    }
    let notes: Vec<String> = group.notes.iter().map(|note| safe(note)).collect();
    let mut text = format!(
        "## {} ({})\n\n{}\n\n{}",
        safe(&group.title),
        safe(&group.key),
        notes.join(" "),
        grid(&first)
    );
    if let Some(words) = overfitting::paragraph(group) {
        text += &format!("\n{}\n", safe(&words));
    }
    let unfinished = group.unfinished();
    if !unfinished.is_empty() {
        text += "\nNot finished:\n\n";
        unfinished
            .iter()
            .for_each(|sentence| text += &format!("- {}\n", safe(sentence)));
    }
    if rest.head.len() > 1 {
        text += &format!("\nMore numbers:\n\n{}", grid(&rest));
    }
    if let Some((head, mut lines)) = speed_rows(group) {
        lines.iter_mut().for_each(|line| line[0] = safe(&line[0]));
        lines.insert(0, head);
        text += &format!(
            "\nSeconds of training until the validation part shows:\n\n{}",
            aligned(&lines)
        );
    }
    text
}

fn grid(grid: &Grid) -> String {
    let mut lines = grid.lines.clone();
    lines.iter_mut().for_each(|line| line[0] = safe(&line[0]));
    lines.insert(0, grid.head.clone());
    aligned(&lines)
}
