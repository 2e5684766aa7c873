//! The figures of a group: learning curves, value against time, value against size.

use super::group::{Group, GroupRow};
use super::speed::course;
use crate::chart::{self, Axis, Legend, Line, Look, Panel, Point};
use crate::reproduce::RunRecord;

/// Most lines of a figure that are still told apart.
const MOST_LINES: usize = 32;

/// All figures that have something to show, as SVG.
pub(super) fn figures(group: &Group) -> Vec<String> {
    let metric = group.metric();
    let name = format!("Validation {}", metric.title());
    let losses = lines(group, |row| epochs(row.mean_curve(|run| &run.history.train_loss)));
    let validation = lines(group, |row| {
        let values = row.mean_curve(|run| &run.history.validation).into_iter();
        epochs(values.map(|value| metric.shown(value)).collect())
    });
    let courses = lines(group, |row| course(row, metric));
    let best = format!("Best so far: {}", name.to_lowercase());
    let curves = [
        (String::from("Training loss"), Axis::Epochs, losses),
        (name, Axis::Epochs, validation),
        (best, Axis::Seconds, courses),
    ];
    let curves = curves
        .into_iter()
        .filter_map(|(title, axis, lines)| curve(&group.title, &title, axis, lines));
    curves.chain(size(group)).collect()
}

fn epochs(values: Vec<f64>) -> Vec<(f64, f64)> {
    values
        .into_iter()
        .enumerate()
        .map(|(index, value)| ((index + 1) as f64, value))
        .collect()
}

fn lines(group: &Group, points: impl Fn(&GroupRow) -> Vec<(f64, f64)>) -> Vec<Line> {
    let rows = group.rows.iter().zip(looks(group)).take(MOST_LINES);
    let line = |(row, look): (&GroupRow, Look)| Line {
        name: row.runs[0].row_title.clone(),
        look,
        points: points(row),
    };
    rows.map(line).filter(|line| !line.points.is_empty()).collect()
}

fn curve(group: &str, title: &str, axis: Axis, lines: Vec<Line>) -> Option<String> {
    if lines.is_empty() {
        return None;
    }
    let panel = Panel {
        title,
        axis,
        range: chart::around(chart::values(&lines)),
        lines,
        mark: None,
    };
    Some(chart::draw_inline(
        &format!("{group}: {title}"),
        &[panel],
        Legend::Below,
    ))
}

/// Ours full, the paper's hollow.
fn size(group: &Group) -> Option<String> {
    let metric = group.metric();
    let mut points = Vec::new();
    for (row, look) in group.table().iter().zip(looks(group)) {
        let ours = row.size_kb.zip(row.test.map(|spread| spread.mean));
        let paper = row.paper.kilobytes.zip(row.paper.figure(metric));
        for (found, hollow) in [(paper, true), (ours, false)] {
            points.extend(found.map(|(size, value)| Point {
                name: row.title.clone(),
                look,
                size,
                value,
                hollow,
            }));
        }
    }
    if !points.iter().any(|point| !point.hollow) {
        return None;
    }
    let hint = if points.iter().any(|point| point.hollow) {
        "size in KB (hollow: the paper)"
    } else {
        "size in KB"
    };
    let title = format!("Test {}", metric.title());
    let label = format!("{}: {title} against size", group.title);
    Some(chart::scatter(&label, (&title, hint), &points))
}

/// A color for each kind of cell, a pattern for each variant of it.
fn looks(group: &Group) -> Vec<Look> {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    let mut looks: Vec<Look> = Vec::new();
    for row in &group.rows {
        let first: &RunRecord = &row.runs[0];
        let cell = first.settings.cell();
        let kind = kinds.iter().position(|(kind, _)| *kind == cell).unwrap_or(kinds.len());
        if kind == kinds.len() {
            kinds.push((cell, 0));
        }
        let mut free = Look::all(kind, kinds[kind].1);
        kinds[kind].1 += 1;
        let first = Look::new(kind, 0);
        looks.push(free.find(|look| !looks.contains(look)).unwrap_or(first));
    }
    looks
}
