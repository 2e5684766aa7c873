//! `model-card.md`: what a model is, what it was trained on, how good it is, and where nothing is known of it.
//!
//! Everything is taken from the report, the data set and the parts of the run; nothing of it differs between two equal runs.

mod figures;
mod tables;

use std::fmt::Write;

use self::figures::{interval, numbers, percent, pooled};
use self::tables::few_of;
use super::{Ending, Report, split};
use crate::cell::CellConfig;
use crate::checkpoint::{EpochRecord, Phase};
use crate::data::{Dataset, PartFacts, Task, View, list};
use crate::evaluate::{Metric, figures};
use crate::names::{counted, markdown};

/// Ranges of numbers that are said.
const FEW_TARGETS: usize = 3;

/// All that a card is made of.
pub(crate) struct Card<'a> {
    pub report: &'a Report,
    pub dataset: &'a Dataset,
    /// The sequences that were trained on.
    pub fit: View<'a>,
    /// Those that chose the epoch, where there are any.
    pub validation: Option<View<'a>>,
    pub history: &'a [EpochRecord],
}

impl<'a> Card<'a> {
    /// Of several runs together: all sequences but those of the test part were trained on by some of them.
    pub fn of_all(report: &'a Report, dataset: &'a Dataset) -> Self {
        Card {
            report,
            dataset,
            fit: View::of_all(std::iter::once(&dataset.train).chain(&dataset.validation)),
            validation: None,
            history: &[],
        }
    }

    /// The whole file.
    pub fn text(&self) -> String {
        let sections = [
            ("The model", bullets(self.model())),
            ("Data", self.data()),
            ("Figures", self.figures()),
            ("How it was chosen", bullets(self.chosen())),
            ("Limits", bullets(self.limits())),
            ("Use", self.usage()),
        ];
        let mut text = format!("# Model card: {}\n", markdown(&self.report.dataset));
        for (title, content) in sections {
            let _ = write!(text, "\n## {title}\n\n{}\n", content.trim_end());
        }
        text
    }

    fn task(&self) -> Task {
        self.dataset.task
    }

    fn model(&self) -> Vec<String> {
        let (report, model) = (self.report, &self.report.settings.model);
        let mut lines = vec![
            match self.task() {
                Task::Classification => "Task: the class of a sequence".to_string(),
                Task::StepClassification => "Task: the class of each step".to_string(),
                Task::NextToken => "Task: the next token of a text".to_string(),
                Task::Regression => "Task: one number for a sequence".to_string(),
                Task::StepRegression => "Task: a number for each step".to_string(),
                Task::MultiLabel => "Task: which of several labels a sequence has".to_string(),
            },
            format!(
                "Cell: {}, {}{}{}",
                report.cell,
                layers(&model.layers),
                if model.bidirectional {
                    ", in both directions"
                } else {
                    ""
                },
                match report.members.len() {
                    0 => String::new(),
                    members => format!(", an ensemble of {members} whose answers are averaged"),
                }
            ),
            self.size(),
            self.inputs(),
        ];
        lines.extend(self.answers());
        lines.push(format!(
            "Made by ernn {}, with the instruction set {}, seed {}",
            report.version, report.machine.instruction_set, report.seed
        ));
        lines
    }

    fn size(&self) -> String {
        let report = self.report;
        let nonzero = match report.parameters - report.nonzero_parameters {
            0 => String::new(),
            _ => format!(", {} of them other than 0", report.nonzero_parameters),
        };
        let file = match report.model_bytes {
            0 => String::new(),
            bytes => format!("; a file of {}", counted(bytes, "byte")),
        };
        format!(
            "Size: {}{nonzero}, {:.1} KB at 4 bytes for each{file}",
            counted(report.parameters, "parameter"),
            report.size_kb
        )
    }

    fn inputs(&self) -> String {
        if !self.dataset.vocabulary.is_empty() {
            return format!(
                "Input: a token at each step, of a vocabulary of {}",
                self.dataset.vocabulary.len()
            );
        }
        let settings = &self.report.settings;
        let names = &self.dataset.feature_names;
        let derived = match settings.model.transforms.count(names) {
            0 => String::new(),
            count => format!(
                ", from which {} made",
                if count == 1 {
                    "1 more is".to_string()
                } else {
                    format!("{count} more are")
                }
            ),
        };
        format!(
            "Input: {} at each step ({}){derived}; missing values: {}",
            counted(names.len(), "number"),
            markdown(&list(names)),
            serde_json::to_value(settings.data.missing)
                .ok()
                .as_ref()
                .and_then(|name| name.as_str())
                .unwrap_or("refuse")
        )
    }

    fn answers(&self) -> Option<String> {
        match self.task() {
            Task::Classification | Task::StepClassification => Some(format!(
                "Answers: one of {} classes ({})",
                self.dataset.classes.len(),
                markdown(&list(&self.dataset.classes))
            )),
            Task::MultiLabel => Some(format!(
                "Answers: none, one or several of {} ({}), each from a probability of 50 % on",
                counted(self.dataset.classes.len(), "label"),
                markdown(&list(&self.dataset.classes))
            )),
            Task::Regression | Task::StepRegression => {
                let names = &self.dataset.target_names;
                Some(match (self.dataset.train.targets(), names.as_slice()) {
                    (1, [name]) => format!("Answers: the number `{}`, in the unit of the data", markdown(name)),
                    (0 | 1, _) => "Answers: the number, in the unit of the data".to_string(),
                    (count, _) => format!(
                        "Answers: {count} numbers ({}), in the units of the data",
                        markdown(&list(names))
                    ),
                })
            }
            Task::NextToken => None,
        }
    }

    /// The parts that the run had, with their names; of a test part that was not read its number of sequences alone.
    fn parts(&self) -> Vec<PartFacts> {
        let classes = self.dataset.classes.len();
        let of = |name, view: &View| PartFacts::of(name, &view.clone().scaled(&[]), classes);
        let mut parts = vec![of("trained on", &self.fit)];
        parts.extend(self.validation.as_ref().map(|view| of("validation", view)));
        parts.extend(self.dataset.test.as_ref().map(|test| match self.report.part {
            "test" => of("test", &View::of(test)),
            _ => PartFacts::of("test, not read", &View::chosen(test, &[]), classes),
        }));
        parts
    }

    fn data(&self) -> String {
        let report = self.report;
        let mut text = markdown(&report.dataset);
        let source = &report.settings.data.source;
        if *source != report.dataset {
            let _ = write!(text, ", read from {}", markdown(source));
        }
        let _ = write!(text, ". {}\n\n", self.split());
        let parts = self.parts();
        let is_text = self.task() == Task::NextToken;
        text += if is_text {
            "| part | tokens |\n|---|---|\n"
        } else {
            "| part | sequences | steps of a sequence | groups |\n|---|---|---|---|\n"
        };
        for part in &parts {
            let unread = part.name == "test, not read";
            let sequences = if unread {
                self.dataset.test.as_ref().map_or(0, |test| test.len())
            } else {
                part.sequences
            };
            let _ = match (is_text, unread) {
                (true, true) => writeln!(text, "| {} | |", part.name),
                (true, false) => writeln!(text, "| {} | {} |", part.name, part.steps),
                (false, true) => writeln!(text, "| {} | {sequences} | | |", part.name),
                (false, false) => writeln!(
                    text,
                    "| {} | {sequences} | {} to {} | {} |",
                    part.name,
                    part.shortest,
                    part.longest,
                    if part.groups == 0 {
                        "-".to_string()
                    } else {
                        part.groups.to_string()
                    }
                ),
            };
        }
        text + &self.class_counts(&parts)
    }

    fn class_counts(&self, parts: &[PartFacts]) -> String {
        let counted: Vec<&PartFacts> = parts.iter().filter(|part| !part.class_counts.is_empty()).collect();
        if counted.is_empty() {
            return String::new();
        }
        let names: Vec<&str> = counted.iter().map(|part| part.name).collect();
        let unit = match self.task() {
            Task::StepClassification => "steps of a class",
            Task::MultiLabel => "sequences with a label",
            _ => "sequences of a class",
        };
        let mut text = format!(
            "\n| {unit} | {} |\n|---{}|\n",
            names.join(" | "),
            "|---".repeat(names.len())
        );
        for (class, name) in self.dataset.classes.iter().enumerate() {
            let counts: Vec<String> = counted
                .iter()
                .map(|part| part.class_counts[class].to_string())
                .collect();
            let _ = writeln!(text, "| {} | {} |", markdown(name), counts.join(" | "));
        }
        text
    }

    fn split(&self) -> String {
        let training = &self.report.settings.training;
        if !self.report.members.is_empty() {
            return "Each member has its own split.".to_string();
        }
        match (&self.validation, &self.dataset.validation) {
            (Some(_), Some(_)) => "The validation part is the data's own.".to_string(),
            (Some(validation), None) => {
                let share = (1e4 * training.validation).round() / 100.0;
                let part = match (self.task(), validation.groups().is_empty()) {
                    (Task::NextToken, _) => return format!("The validation part is the last {share} % of the text."),
                    (_, true) => "drawn",
                    (_, false) => "whole groups drawn",
                };
                let seed = training.seed;
                format!("The validation part is {share} % of the training part, {part} by seed {seed}.")
            }
            (None, _) => "All sequences to train on were trained on.".to_string(),
        }
    }

    fn figures(&self) -> String {
        let report = self.report;
        let mut lines = Vec::new();
        if report.part != "folds" {
            lines.push(format!(
                "{}: {}",
                self.measured(),
                numbers(&report.evaluation, self.task())
            ));
        }
        lines.extend(self.of_validation());
        lines.extend(self.of_folds());
        bullets(lines) + &tables::per_class(&report.evaluation)
    }

    /// What the figures are of: part and number of sequences.
    fn measured(&self) -> String {
        let thing = match self.task() {
            Task::Classification | Task::Regression | Task::MultiLabel => "sequence",
            Task::StepClassification | Task::StepRegression => "step",
            Task::NextToken => "token",
        };
        let part = match self.report.part {
            "train" => "What it was trained on",
            "validation" => "Validation part",
            _ => "Test part, read once after training",
        };
        format!("{part} ({})", counted(self.report.evaluation.examples, thing))
    }

    /// The validation part after the best epoch, where the figures are of another part.
    fn of_validation(&self) -> Option<String> {
        if self.report.part == "validation" {
            return None;
        }
        let best = |record: &&EpochRecord| record.phase == Phase::Select && record.epoch == self.report.best_epoch;
        let metric = Metric::of(self.task());
        let value = metric.after(self.history.iter().find(best)?)?;
        let retrained = if self.validation.is_none() {
            ", before it was trained anew"
        } else {
            ""
        };
        let training = &self.report.settings.training;
        let (_, part) = split(self.dataset, training.validation, training.seed).ok()?;
        Some(format!(
            "Validation part, which chose the epoch{retrained} ({}): {}",
            self.counted(&part?),
            metric.phrase(value)
        ))
    }

    /// So many sequences, steps or tokens.
    fn counted(&self, view: &View) -> String {
        match self.task() {
            Task::Classification | Task::Regression | Task::MultiLabel => counted(view.len(), "sequence"),
            Task::StepClassification => counted(view.steps(), "step"),
            Task::StepRegression => counted(view.steps_with_numbers(), "step"),
            Task::NextToken => counted(view.steps(), "token"),
        }
    }

    fn of_folds(&self) -> Option<String> {
        let folds = self.report.folds.as_ref()?;
        let mut text = format!(
            "{} folds, each judged by a model that had not seen it ({} in all): {}",
            folds.folds.len(),
            counted(folds.pooled.examples, "sequence"),
            pooled(&folds.pooled, self.task())
        );
        if let Some([low, high]) = folds.interval {
            let unit = if folds.groups.is_empty() { "sequence" } else { "group" };
            let _ = write!(text, "; {}, each {unit} counted for itself", interval(low, high));
        }
        if let Some(chance) = folds.chance {
            let _ = write!(text, "; always the most frequent class: {}", percent(chance));
        }
        Some(text)
    }

    fn chosen(&self) -> Vec<String> {
        let (report, training) = (self.report, &self.report.settings.training);
        let mut lines = Vec::new();
        if let Some(folds) = report.folds.as_ref().filter(|folds| folds.trials > 1) {
            lines.push(format!(
                "The settings are the best of {} that folds of the training part judged.",
                counted(folds.trials, "trial")
            ));
        }
        if report.part == "folds" {
            lines.push("There is no model of everything: each fold has its own, in folds/K.".to_string());
            return lines;
        }
        if !report.members.is_empty() {
            let seeds: Vec<String> = report.members.iter().map(|member| member.seed.to_string()).collect();
            lines.push(format!(
                "The members differ in their seeds: {}. Each has a card in member-K.",
                seeds.join(", ")
            ));
            return lines;
        }
        let epochs = counted(report.epochs, "epoch");
        lines.push(match (report.validated, self.validation.is_some()) {
            (true, true) => format!("The parameters are those after epoch {} of {epochs}, the best on the validation part.", report.best_epoch),
            (true, false) => format!("A first pass of {epochs} had a validation part; then the model was trained anew on everything, for as many."),
            (false, _) => format!("No validation part chose an epoch: the parameters are those after the last of {epochs}."),
        });
        if report.ending == Ending::EarlyStopped {
            lines.push(format!(
                "It stopped after {} without a better one.",
                counted(training.patience, "epoch")
            ));
        }
        if training.from.is_some() {
            lines.push("It began with the weights of another model.".to_string());
        }
        if training.teacher.is_some() {
            lines.push("Beside the labels it learned what a teacher says.".to_string());
        }
        lines
    }

    fn limits(&self) -> Vec<String> {
        let report = self.report;
        let mut lines = Vec::new();
        match report.ending {
            Ending::Interrupted => {
                lines.push("The run was cut short: these are not the figures of its settings.".to_string())
            }
            Ending::Diverged => lines.push(format!(
                "The training diverged: {}.",
                markdown(report.error.as_deref().unwrap_or("a number is not finite"))
            )),
            Ending::Finished | Ending::EarlyStopped => {}
        }
        match report.part {
            "train" => lines.push("The figures are of what it was trained on, and say nothing about other sequences.".to_string()),
            "validation" => lines.push("There was no test part, or it was not read: the figures are of the part that chose the epoch, and flatter.".to_string()),
            _ => {}
        }
        if report.folds.as_ref().is_some_and(|folds| folds.is_chance()) {
            lines.push(
                "As far as these sequences can tell, it is no better than always naming the most frequent class."
                    .to_string(),
            );
        }
        lines.extend(self.unknown_answers());
        lines.extend(self.unknown_inputs());
        lines.extend(self.unknown_groups());
        lines
    }

    /// Answers that it has not learned, or hardly.
    fn unknown_answers(&self) -> Vec<String> {
        let facts = PartFacts::of("", &self.fit.clone().scaled(&[]), self.dataset.classes.len());
        match self.task() {
            Task::Classification | Task::StepClassification => {
                let what = if self.task() == Task::Classification {
                    "sequence"
                } else {
                    "step"
                };
                let mut lines = vec![format!(
                    "It names one of its classes for every {what}, also for one that is of none of them."
                )];
                lines.extend(few_of("Classes", what, &self.dataset.classes, &facts.class_counts));
                lines
            }
            Task::MultiLabel => {
                let mut lines = vec![
                    "It knows its labels alone: of a sequence that has others it says nothing about them.".to_string(),
                ];
                lines.extend(few_of("Labels", "sequence", &self.dataset.classes, &facts.class_counts));
                lines
            }
            Task::Regression | Task::StepRegression => facts
                .target_ranges
                .iter()
                .map(|[low, high]| format!("It was trained on numbers from {low} to {high}."))
                .take(FEW_TARGETS)
                .collect(),
            Task::NextToken => vec![format!(
                "Tokens outside its vocabulary of {} are all alike to it.",
                self.dataset.vocabulary.len()
            )],
        }
    }

    /// Sequences of which nothing is known.
    fn unknown_inputs(&self) -> Vec<String> {
        if self.task() == Task::NextToken {
            return vec![format!(
                "It learned from windows of {}.",
                counted(self.report.settings.training.window(), "token")
            )];
        }
        let lengths: Vec<usize> = (0..self.fit.len()).map(|index| self.fit.length(index)).collect();
        let shortest = lengths.iter().min().copied().unwrap_or(0);
        let mut lines = vec![match (shortest, self.fit.longest()) {
            (same, longest) if same == longest => format!(
                "It was trained on sequences of {}; of others nothing is known.",
                counted(same, "step")
            ),
            (shortest, longest) => {
                format!("It was trained on sequences of {shortest} to {longest} steps; of others nothing is known.")
            }
        }];
        if let Some(facts) = self.dataset.recordings.first() {
            let rate = facts
                .rate
                .or(facts.found_rate)
                .map(|rate| format!(" at {} steps a second", figures(rate)));
            let window = facts
                .window
                .map(|window| format!(" in windows of {}", counted(window, "step")));
            lines.push(format!(
                "It was trained on recordings{}{}; other rates are other data to it.",
                rate.unwrap_or_else(|| " whose rate nobody said".to_string()),
                window.unwrap_or_default()
            ));
        }
        if self.dataset.vocabulary.is_empty() {
            lines.push("Values far from those it was trained on are refused, or mean nothing to it.".to_string());
        }
        lines
    }

    fn unknown_groups(&self) -> Option<String> {
        let own = self.fit.groups();
        if own.is_empty() {
            return None;
        }
        let mut text = format!("It was trained on {}", counted(own.len(), "group"));
        if let Some(test) = self.dataset.test.as_ref().filter(|_| self.report.part == "test") {
            let others = View::of(test).groups();
            let shared = others.iter().filter(|group| own.contains(group)).count();
            let _ = write!(
                text,
                "; the test part has {}, {shared} of them among these",
                counted(others.len(), "group")
            );
        }
        text += ". Sequences of a group are alike, so that what counts for other groups is the number of groups.";
        Some(text)
    }

    fn usage(&self) -> String {
        let commands = match (self.task(), self.report.part) {
            (_, "folds") => "ernn predict RUN/folds/1 new.csv    # the model of the first fold",
            (Task::NextToken, _) => "ernn predict RUN --generate 200 --prompt \"...\"\nernn evaluate RUN",
            _ => "ernn predict RUN new.csv\nernn evaluate RUN",
        };
        format!("RUN is this folder; `config.toml` in it repeats the training.\n\n```sh\n{commands}\n```")
    }
}

fn bullets(lines: Vec<String>) -> String {
    lines.iter().map(|line| format!("- {line}\n")).collect()
}

fn layers(layers: &[CellConfig]) -> String {
    let hidden: Vec<String> = layers.iter().map(|layer| layer.hidden().to_string()).collect();
    format!(
        "{} of {} hidden units",
        counted(layers.len(), "layer"),
        hidden.join(" and ")
    )
}
