//! The table as text: `compare.csv` for programs, `compare.md` for people.

use std::collections::BTreeSet;

use super::difference::Difference;
use super::plan::ITERATIONS;
use super::table::{Best, Table, TableRow};
use super::vary::Varied;
use ernn::evaluate::Spread;
use ernn::names;

/// What people see where a number is not known.
const NOTHING: &str = "-";

impl Table {
    /// One line a row; what is not known is empty. Accuracies are from 0 to 1.
    pub fn to_csv(&self) -> String {
        let part = self.part.clone().unwrap_or_default();
        let mut writer = csv::Writer::from_writer(Vec::new());
        for (index, row) in self.rows.iter().enumerate() {
            let (names, mut values): (Vec<&str>, Vec<String>) = self.csv_values(row, &part).into_iter().unzip();
            let runs = self.runs();
            if index == 0 {
                let names = names.into_iter().map(String::from);
                let names = names.chain(runs.iter().map(|run| run_name(*run)));
                writer.write_record(names).expect("writing to memory");
            }
            let score = |run: &(u64, Option<usize>)| {
                let found = row.values.iter().find(|value| (value.seed, value.fold) == *run);
                found.map_or_else(String::new, |value| value.score.to_string())
            };
            values.extend(runs.iter().map(score));
            writer.write_record(values).expect("writing to memory");
        }
        let bytes = writer.into_inner().expect("writing to memory");
        String::from_utf8(bytes).expect("names and numbers")
    }

    /// Headline, table and what its numbers mean.
    pub fn to_markdown(&self) -> String {
        let part = self.part.as_deref().unwrap_or("test");
        let mut lines = Vec::new();
        let compared = self.rows.iter().any(|row| row.behind.is_some());
        for row in &self.rows {
            let mut values = self.markdown_values(row, part);
            if compared {
                values.push(("behind the best".to_string(), behind(row)));
            }
            let (names, values): (Vec<String>, Vec<String>) = values.into_iter().unzip();
            if lines.is_empty() {
                lines.push(names);
            }
            lines.push(values);
        }
        let seeds = match &self.seeds[..] {
            [first, .., last] => format!("seeds {first} to {last}"),
            seeds => format!("seed {}", seeds.first().copied().unwrap_or_default()),
        };
        let unfinished = if self.complete {
            ""
        } else {
            "\n\\*: not all seeds have been run; the same command goes on.\n"
        };
        let best = self.best_text();
        let over = match self
            .rows
            .iter()
            .flat_map(|row| &row.values)
            .any(|value| value.fold.is_some())
        {
            true => "the folds of all seeds",
            false => "the seeds",
        };
        let compared = self.rows.iter().filter(|row| row.behind.is_some()).count();
        let noise = match compared {
            0 => String::new(),
            count => format!("\n{}\n", self.pairs.sentence(count)),
        };
        format!(
            "{}, {seeds}\n\n{}\nThe score: mean ± sample standard deviation over {over}, and lowest to highest. {MEANING}\n{noise}{unfinished}{best}",
            names::line(&self.dataset),
            aligned(&lines)
        )
    }

    /// The runs of which any row has a score, with their folds.
    fn runs(&self) -> Vec<(u64, Option<usize>)> {
        let values = self.rows.iter().flat_map(|row| &row.values);
        let runs: BTreeSet<_> = values.map(|value| (value.seed, value.fold)).collect();
        runs.into_iter().collect()
    }

    /// Where the best settings are, and what they are good for.
    fn best_text(&self) -> String {
        if self.best.is_empty() {
            return String::new();
        }
        let line = |best: &Best| format!("- {}: {} ({})\n", best.kind, best.row, best.file);
        let lines: String = self.best.iter().map(line).collect();
        let judge = match self.part.as_deref() {
            Some("folds") => "folds",
            _ => "validation part",
        };
        format!(
            "\nThe best by the {judge}; the test part was not read. `ernn train --config FILE` reads it once:\n\n{lines}"
        )
    }

    /// The settings that were varied, in the order in which they were named.
    fn varied(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for varied in self.rows.iter().flat_map(|row| &row.varied) {
            if !names.contains(&&varied.name[..]) {
                names.push(&varied.name);
            }
        }
        names
    }

    /// What a row has of its own: a value for each setting that was varied, nothing where its cell has no such setting.
    fn own_values(&self, row: &TableRow) -> Vec<(&str, Option<String>)> {
        let value = |name: &str| row.varied.iter().find(|varied| varied.name == name).map(Varied::word);
        self.varied().into_iter().map(|name| (name, value(name))).collect()
    }

    fn csv_values<'a>(&'a self, row: &TableRow, part: &str) -> Vec<(&'a str, String)> {
        let mut values: Vec<(&str, String)> = csv_values(row, part);
        values.extend(csv_difference(row));
        let own = self.own_values(row).into_iter();
        values.splice(
            CSV_NAMES..CSV_NAMES,
            own.filter(|(name, _)| !SHOWN.contains(name))
                .map(|(name, value)| (name, value.unwrap_or_default())),
        );
        values
    }

    fn markdown_values(&self, row: &TableRow, part: &str) -> Vec<(String, String)> {
        let mut values = markdown_values(row, part);
        let own = self
            .own_values(row)
            .into_iter()
            .filter(|(name, _)| !SHOWN.contains(name));
        let own = own.map(|(name, value)| (name.replace('_', " "), value.unwrap_or_else(|| NOTHING.to_string())));
        values.splice(MARKDOWN_NAMES..MARKDOWN_NAMES, own);
        values
    }
}

/// Settings with columns of their own, whether they are varied or not.
const SHOWN: [&str; 2] = [ITERATIONS, "hidden"];
/// Columns before those of the settings that were varied.
const CSV_NAMES: usize = 4;
const MARKDOWN_NAMES: usize = 3;

const MEANING: &str = "KB: 4 bytes for each parameter that is not zero, without the embedding. Times: means over the seeds; for one sequence the median of many repetitions on one thread.";

fn csv_values(row: &TableRow, part: &str) -> Vec<(&'static str, String)> {
    let known = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let score = |value: fn(Spread) -> Option<f64>| known(row.score.and_then(value));
    vec![
        ("row", row.name.clone()),
        ("cell", row.cell.clone()),
        ("iterations", row.iterations.map_or_else(String::new, |k| k.to_string())),
        ("hidden", row.hidden.to_string()),
        ("part", part.to_string()),
        ("metric", row.metric.name().to_string()),
        ("mean", score(|spread| Some(spread.mean))),
        ("deviation", score(|spread| spread.deviation)),
        ("lowest", score(|spread| Some(spread.lowest))),
        ("highest", score(|spread| Some(spread.highest))),
        ("parameters", row.parameters.to_string()),
        ("kilobytes", row.kilobytes.to_string()),
        ("train_seconds", known(row.train_seconds)),
        ("seconds_to_best", known(row.seconds_to_best)),
        ("latency_milliseconds", known(row.latency_milliseconds)),
        ("seeds_done", row.seeds_done.to_string()),
        ("seeds", row.seeds.to_string()),
        ("diverged", row.diverged.to_string()),
        ("complete", row.complete.to_string()),
    ]
}

/// `seed_1`, or `seed_1_fold_2`.
fn run_name((seed, fold): (u64, Option<usize>)) -> String {
    let fold = fold.map_or_else(String::new, |fold| format!("_fold_{fold}"));
    format!("seed_{seed}{fold}")
}

fn csv_difference(row: &TableRow) -> [(&'static str, String); 3] {
    let of = |value: fn(&Difference) -> f64| {
        row.behind
            .as_ref()
            .map_or_else(String::new, |behind| value(behind).to_string())
    };
    [
        ("difference_to_best", of(|behind| behind.mean)),
        ("standard_error", of(|behind| behind.error)),
        ("p", of(|behind| behind.p)),
    ]
}

/// `-1.20 ± 0.40, p 0.012`, with a star where it is more than noise.
fn behind(row: &TableRow) -> String {
    let Some(behind) = &row.behind else {
        return NOTHING.to_string();
    };
    let metric = row.metric;
    let p = match behind.p {
        p if p < 0.001 => "p < 0.001".to_string(),
        p => format!("p {p:.3}"),
    };
    format!(
        "{} ± {}, {p}{}",
        metric.difference_text(metric.shown(behind.mean)),
        metric.text(metric.shown(behind.error)),
        if behind.more_than_noise { "" } else { " (noise)" }
    )
}

fn markdown_values(row: &TableRow, part: &str) -> Vec<(String, String)> {
    let known = |value: Option<String>| value.unwrap_or_else(|| NOTHING.to_string());
    let seconds = |value: Option<f64>| known(value.map(|seconds| format!("{seconds:.2}")));
    let shown = |value: f64| row.metric.text(row.metric.shown(value));
    let mean = |spread: Spread| match spread.deviation {
        Some(deviation) => format!("{} ± {}", shown(spread.mean), shown(deviation)),
        None => shown(spread.mean),
    };
    let extremes = |spread: Spread| format!("{} to {}", shown(spread.lowest), shown(spread.highest));
    let mark = if row.complete { "" } else { " \\*" };
    let milliseconds = row.latency_milliseconds.map(|time| format!("{time:.4}"));
    [
        ("cell", format!("{}{mark}", row.cell)),
        ("K", known(row.iterations.map(|k| k.to_string()))),
        ("hidden", row.hidden.to_string()),
        (&format!("{part} {}", row.metric.title()), known(row.score.map(mean))),
        ("lowest to highest", known(row.score.map(extremes))),
        ("parameters", row.parameters.to_string()),
        ("KB", format!("{:.1}", row.kilobytes)),
        ("training, s", seconds(row.train_seconds)),
        ("to best epoch, s", seconds(row.seconds_to_best)),
        ("one sequence, ms", known(milliseconds)),
        ("seeds", format!("{}/{}", row.seeds_done, row.seeds)),
        ("diverged", row.diverged.to_string()),
    ]
    .map(|(name, value)| (name.to_string(), value))
    .into()
}

/// Columns of one width, so that the table reads well as plain text, too. Names stand left, numbers right. A column in which nothing is
/// known (`-`) is left out.
pub(crate) fn aligned(lines: &[Vec<String>]) -> String {
    let lines = &known_columns(lines);
    let columns = lines.first().map_or(0, Vec::len);
    let length = |text: &str| text.chars().count();
    let widths: Vec<usize> = (0..columns)
        .map(|column| lines.iter().map(|line| length(&line[column])).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        for (column, (value, width)) in line.iter().zip(&widths).enumerate() {
            text += &match column {
                0 => format!("| {value:<width$} |"),
                _ => format!(" {value:>width$} |"),
            };
        }
        text.push('\n');
        if index == 0 {
            for (column, width) in widths.iter().enumerate() {
                let rule = "-".repeat(width + 1);
                text += &if column == 0 {
                    format!("|{rule}-|")
                } else {
                    format!("{rule}:|")
                };
            }
            text.push('\n');
        }
    }
    text
}

/// The lines, head first, without the columns that say nothing.
fn known_columns(lines: &[Vec<String>]) -> Vec<Vec<String>> {
    let body = lines.get(1..).unwrap_or_default();
    let known = |column: &usize| body.is_empty() || body.iter().any(|line| line[*column] != NOTHING);
    let columns: Vec<usize> = (0..lines.first().map_or(0, Vec::len)).filter(known).collect();
    let chosen = |line: &Vec<String>| columns.iter().map(|&column| line[column].clone()).collect();
    lines.iter().map(chosen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::difference::{Pairs, to_the_best};
    use crate::compare::table::Value;
    use ernn::evaluate::Metric;

    #[test]
    fn a_column_in_which_nothing_is_known_is_left_out() {
        let lines = [["row", "paper", "ours"], ["a", "-", "1"], ["b", "-", "-"]];
        let lines = lines.map(|line| line.map(String::from).to_vec());
        assert_eq!(
            aligned(&lines),
            "| row | ours |\n|-----|-----:|\n| a   |    1 |\n| b   |    - |\n"
        );
        assert_eq!(aligned(&lines[..1]), "| row | paper | ours |\n|-----|------:|-----:|\n");
    }

    fn table() -> Table {
        let row = TableRow {
            name: "ernn-k3".to_string(),
            cell: "ernn".to_string(),
            varied: Vec::new(),
            hidden: 80,
            iterations: Some(3),
            metric: Metric::Accuracy,
            score: Some(Spread {
                mean: 0.9551,
                deviation: Some(0.0042),
                lowest: 0.951,
                highest: 0.9593,
            }),
            parameters: 4546,
            kilobytes: 17.7578125,
            train_seconds: Some(12.5),
            seconds_to_best: Some(8.25),
            latency_milliseconds: Some(0.0625),
            seeds_done: 3,
            seeds: 3,
            diverged: 1,
            complete: true,
            values: vec![
                Value {
                    seed: 1,
                    fold: None,
                    score: 0.951,
                },
                Value {
                    seed: 2,
                    fold: None,
                    score: 0.9593,
                },
            ],
            behind: None,
        };
        let begun = TableRow {
            name: "rnn".to_string(),
            cell: "rnn".to_string(),
            iterations: None,
            score: None,
            train_seconds: None,
            seconds_to_best: None,
            latency_milliseconds: None,
            seeds_done: 0,
            diverged: 0,
            complete: false,
            values: Vec::new(),
            ..row.clone()
        };
        Table {
            dataset: "har-2".to_string(),
            part: Some("test".to_string()),
            seeds: vec![1, 2, 3],
            complete: false,
            rows: vec![row, begun],
            best: Vec::new(),
            pairs: Pairs::seeds(),
        }
    }

    #[test]
    fn csv_has_every_number_and_nothing_for_what_is_not_known() {
        let text = table().to_csv();
        let expected = "\
row,cell,iterations,hidden,part,metric,mean,deviation,lowest,highest,parameters,kilobytes,\
train_seconds,seconds_to_best,latency_milliseconds,seeds_done,seeds,diverged,complete,difference_to_best,standard_error,p,seed_1,seed_2
ernn-k3,ernn,3,80,test,accuracy,0.9551,0.0042,0.951,0.9593,4546,17.7578125,12.5,8.25,0.0625,3,3,1,true,,,,0.951,0.9593
rnn,rnn,,80,test,accuracy,,,,,4546,17.7578125,,,,0,3,0,false,,,,,
";
        assert_eq!(text, expected);
    }

    #[test]
    fn markdown_is_aligned_and_marks_what_is_not_complete() {
        let text = table().to_markdown();
        assert!(text.starts_with("har-2, seeds 1 to 3\n\n| cell "), "{text}");
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(lines.len(), 4);
        assert!(
            lines
                .iter()
                .all(|line| line.chars().count() == lines[0].chars().count()),
            "{text}"
        );
        for part in [
            "95.51 ± 0.42",
            "95.10 to 95.93",
            " 17.8 |",
            " 8.25 |",
            " 0.0625 |",
            " 3/3 |",
        ] {
            assert!(lines[2].contains(part), "no {part} in {text}");
        }
        assert!(
            lines[3].starts_with("| rnn \\* |") && text.contains("\\*: not all"),
            "{text}"
        );
        let complete = Table {
            complete: true,
            rows: vec![table().rows.remove(0)],
            ..table()
        };
        assert!(!complete.to_markdown().contains('*'));
    }

    /// Four seeds of two rows, the second one always behind by about as much.
    fn compared() -> Table {
        let mut table = table();
        let value = |seed, score| Value {
            seed,
            fold: None,
            score,
        };
        let [one, other] = [[0.95, 0.96, 0.94, 0.95], [0.91, 0.93, 0.90, 0.91]];
        for (row, scores) in table.rows.iter_mut().zip([one, other]) {
            row.values = (1..).zip(scores).map(|(seed, score)| value(seed, score)).collect();
            row.score = Spread::of(&scores);
        }
        to_the_best(&mut table);
        table
    }

    #[test]
    fn a_difference_to_the_best_says_whether_it_is_noise() {
        let table = compared();
        assert_eq!(table.rows[0].behind, None);
        let behind = table.rows[1].behind.clone().unwrap();
        assert_eq!(
            (behind.pairs, &behind.best[..], behind.more_than_noise),
            (4, "ernn-k3", true)
        );
        assert!((behind.mean + 0.0375).abs() < 1e-12 && behind.p < 0.01, "{behind:?}");
        let text = table.to_markdown();
        assert!(
            text.contains("-3.75 ± 0.25, p ") && text.contains("for 1 comparison (Holm)"),
            "{text}"
        );
        assert!(
            table.to_latex().contains("rnn & $91.25 \\pm 1.26$"),
            "{}",
            table.to_latex()
        );
    }
}
