//! The page of a data set.

use ernn::chart::{Bar, Chart, Figure, Scale, Side, escaped};
use ernn::data::Task;
use ernn::evaluate::figures;
use ernn::names::counted;

use super::measure::{Shift, Shown};
use super::{GENERATOR, examples};
use crate::report::{document, table};

/// Bars of the histogram of lengths.
const BARS: usize = 30;
/// The darkest color, as an opacity: text stays readable on it.
const DARKEST: f64 = 0.55;
/// The shift, in standard deviations, that has it.
const FAR: f64 = 2.0;

/// The data set as a page that needs nothing else.
pub fn html(shown: &Shown) -> String {
    let facts = &shown.facts;
    let mut body = format!("<p>{}</p>\n", escaped(&summary(shown)));
    if !shown.dataset.notes.is_empty() {
        body += "<ul>\n";
        for note in &shown.dataset.notes {
            body += &format!("<li>{}</li>\n", escaped(note));
        }
        body += "</ul>\n";
    }
    body += &classes(shown);
    body += &lengths(shown);
    body += "<h2>Examples</h2>\n<p class=\"soft\">Of each class the training sequence in the middle of those that have it.</p>\n";
    body += &examples::html(shown.dataset);
    body += &channels(shown);
    body += &shifts(
        "Channels by class",
        "Where the mean of a class lies, in standard deviations from the mean of all: what a linear model would see.",
        "class",
        shown,
        &shown.by_class,
    );
    body += &shifts(
        "Channels by group",
        "The same by person, device or recording. Groups that differ as much as classes do are what a model may learn instead of them.",
        "group",
        shown,
        &shown.by_group,
    );
    document(&escaped(&facts.name), GENERATOR, &body)
}

fn summary(shown: &Shown) -> String {
    let facts = &shown.facts;
    let learned = match facts.task {
        Task::Classification => "The class of each sequence is to be learned.",
        Task::StepClassification => "The class of each step is to be learned.",
        Task::NextToken => "The next token is to be learned.",
        Task::MultiLabel => "Which labels each sequence has is to be learned: none, one or several.",
        Task::Regression => "A number for each sequence is to be learned.",
        Task::StepRegression => "A number for each step is to be learned.",
    };
    let parts = facts.parts.iter().map(|part| {
        let groups = match part.groups {
            0 => String::new(),
            groups => format!(" of {}", counted(groups, "group")),
        };
        format!(
            "{}{groups} in the {} part",
            counted(part.sequences, "sequence"),
            part.name
        )
    });
    let parts: Vec<String> = parts.collect();
    format!(
        "{}; {}. {learned} Everything below is of the training part; of a test part only its number of sequences is shown.",
        parts.join(", "),
        counted(facts.features, "channel")
    )
}

fn share(part: usize, whole: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// How many of each class there are in the parts that may be looked at.
fn classes(shown: &Shown) -> String {
    let facts = &shown.facts;
    let counted: Vec<_> = facts
        .parts
        .iter()
        .filter(|part| part.name != "test" && !part.class_counts.is_empty())
        .collect();
    if counted.is_empty() {
        return match facts.classes.is_empty() && facts.task == Task::Classification {
            true => "<p>There are no labels.</p>\n".to_string(),
            false => String::new(),
        };
    }
    let (one, all) = match facts.task {
        Task::MultiLabel => ("label", "Labels"),
        _ => ("class", "Classes"),
    };
    let mut head = vec![one.to_string()];
    for part in &counted {
        let steps = if facts.task == Task::StepClassification {
            ", steps"
        } else {
            ""
        };
        head.extend([format!("{}{steps}", part.name), "share".to_string()]);
    }
    let rows = facts.classes.iter().enumerate().map(|(class, name)| {
        let mut row = vec![name.clone()];
        for part in &counted {
            let all = match facts.task {
                Task::MultiLabel => part.sequences,
                _ => part.class_counts.iter().sum(),
            };
            row.extend([
                part.class_counts[class].to_string(),
                share(part.class_counts[class], all),
            ]);
        }
        (false, row)
    });
    format!("<h2>{all}</h2>\n{}", table("", &head, rows))
}

/// A histogram, where there is more than one length.
fn lengths(shown: &Shown) -> String {
    let ends = shown.lengths.iter().min().zip(shown.lengths.iter().max());
    let Some((&shortest, &longest)) = ends.filter(|(shortest, longest)| shortest < longest) else {
        return String::new();
    };
    let bars = BARS.min(longest - shortest + 1);
    let width = (longest - shortest + 1) as f64 / bars as f64;
    let mut counts = vec![0_usize; bars];
    for length in &shown.lengths {
        counts[(((length - shortest) as f64 / width) as usize).min(bars - 1)] += 1;
    }
    let from = |bar: usize| shortest as f64 + bar as f64 * width;
    let most = counts.iter().copied().max().unwrap_or(0) as f64;
    let across = Side::new("steps of a sequence", Scale::Linear(from(0), from(bars)));
    let mut chart = Chart::new(
        "Lengths",
        across,
        Side::new("sequences", Scale::from_zero([most].into_iter())),
    );
    chart.bars = counts
        .iter()
        .enumerate()
        .map(|(bar, &count)| Bar {
            from: from(bar),
            to: from(bar + 1),
            height: count as f64,
        })
        .collect();
    format!(
        "<h2>Lengths</h2>\n{}",
        Figure::new("Lengths of the sequences", vec![chart]).html()
    )
}

fn channels(shown: &Shown) -> String {
    if shown.channels.is_empty() {
        return String::new();
    }
    let head = ["channel", "mean", "std", "smallest", "largest", "missing"].map(String::from);
    let rows = shown.channels.iter().map(|channel| {
        let numbers = [channel.mean, channel.deviation, channel.smallest, channel.largest].map(figures);
        let mut row = vec![channel.name.clone()];
        row.extend(numbers);
        row.push(format!("{:.1} %", 100.0 * channel.missing));
        (false, row)
    });
    let mut html = format!("<h2>Channels</h2>\n{}", table("", &head, rows));
    if shown.facts.features > shown.channels.len() {
        html += &format!(
            "<p class=\"soft\">The first {} of {}.</p>\n",
            shown.channels.len(),
            shown.facts.features
        );
    }
    html
}

/// A heat table: classes or groups downwards, channels to the right.
fn shifts(title: &str, explanation: &str, what: &str, shown: &Shown, rows: &[Shift]) -> String {
    if rows.len() < 2 {
        return String::new();
    }
    let mut html = format!(
        "<h2>{title}</h2>\n<p class=\"soft\">{explanation}</p>\n<div class=\"box\" tabindex=\"0\">\n<table class=\"heat\">\n\
         <thead><tr><th scope=\"col\">{what}</th>"
    );
    for channel in &shown.channels {
        let name = escaped(&channel.name);
        html += &format!("<th scope=\"col\" class=\"upright\" title=\"{name}\"><span>{name}</span></th>");
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in rows {
        html += &format!("<tr><th scope=\"row\">{}</th>", escaped(&row.name));
        for shift in &row.shifts {
            let opacity = DARKEST * (shift.abs() / FAR).min(1.0);
            html += &format!("<td style=\"--share: {opacity:.3}\">{shift:+.1}</td>");
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table>\n</div>\n"
}
