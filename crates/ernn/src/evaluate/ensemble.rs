//! Ensembles: several models of the same classes that answer as one.
//!
//! ```text
//! p[n,c] = 1/M sum_m p_m[n,c]                 of classification; the loss is -ln p[n,y_n]
//! p[n,l] = 1/M sum_m sigmoid(x_m[n,l])        of labels of which several can hold, each with its loss
//! x[n]   = 1/M sum_m x_m[n]                   of regression
//! q[n,c] = 1/M sum_m softmax(l_m[n] / T)[c]   what a teacher says at temperature T
//! ```
//!
//! Each member derives and normalizes as its own run did. An ensemble of one answers as its member, to the bit.

use std::path::{Path, PathBuf};

use super::answers::{Answer, label_each, number_each, predict_each};
use super::number_answers::NumberAnswers;
use super::quantiles::in_order;
use super::{
    Evaluation, LabelsReport, Prediction, indicators_of, label_probabilities, labels_of, logits_in, loss,
    must_be_finite, numbers_of, prepared,
};
use crate::cell::Equilibria;
use crate::checkpoint::{Checksum, EnsembleFolder, MODEL_FILE, SavedModel};
use crate::data::{Task, View, list};
use crate::model::Workspace;
use crate::{Error, Result, head};

/// Models whose answers are averaged; one at least.
#[derive(Clone, Debug)]
pub struct Ensemble {
    names: Vec<String>,
    members: Vec<SavedModel>,
}

impl Ensemble {
    /// An ensemble of these models, each with a name for errors.
    ///
    /// # Errors
    /// If there is none, or one has another task, other classes, channels or tokens than the first; or several do not give a class or a number
    /// for each sequence.
    pub fn new(named: Vec<(String, SavedModel)>) -> Result<Self> {
        let (names, members): (Vec<String>, Vec<SavedModel>) = named.into_iter().unzip();
        let Some(first) = members.first() else {
            return Err(Error::setting("ensemble", "no model", "at least one"));
        };
        for (name, member) in names.iter().zip(&members).skip(1) {
            must_go_with(&names[0], first, name, member)?;
        }
        let task = first.model.config().task;
        if members.len() > 1 && !is_averaged(task) {
            let problem = format!(
                "found a model that gives {}, expected one that gives a class, labels or a number for each sequence: the answers of several are \
                 averaged",
                described(task)
            );
            return Err(Error::data(&names[0], problem));
        }
        Ok(Ensemble { names, members })
    }

    /// Reads model files, run folders and folders of ensembles, whose members then stand in the place of the folder.
    ///
    /// # Errors
    /// If one is not there, is no model, or an ensemble whose training has not ended; and as [`Ensemble::new`].
    pub fn load(paths: &[PathBuf]) -> Result<Self> {
        let mut all = Vec::new();
        for path in paths {
            for path in members_of(path)? {
                must_be_there(&path)?;
                all.push((path.display().to_string(), SavedModel::load(&path)?));
            }
        }
        Ensemble::new(all)
    }

    /// The members.
    pub fn members(&self) -> &[SavedModel] {
        &self.members
    }

    /// What the members are called.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The first member, whose run says how data is read.
    pub fn first(&self) -> &SavedModel {
        &self.members[0]
    }

    /// Whether it has more than one member.
    pub fn is_several(&self) -> bool {
        self.members.len() > 1
    }

    /// Parameters of all members together.
    pub fn parameters(&self) -> usize {
        self.members.iter().map(|member| member.model.parameters().len()).sum()
    }

    /// Those of them that are other than 0.
    pub fn nonzero_parameters(&self) -> usize {
        self.members.iter().map(SavedModel::nonzero_parameters).sum()
    }

    /// The name of the class that was said, or that it is unknown; of several models' answers none is.
    pub fn called(&self, said: &Prediction) -> &str {
        match self.is_several() {
            true => &self.first().classes[said.class],
            false => super::called(self.first(), said),
        }
    }

    /// The size of all members together, as [`SavedModel::size_kb`].
    pub fn size_kb(&self) -> f64 {
        self.members.iter().map(SavedModel::size_kb).sum()
    }

    /// Tells whether two ensembles say the same: a checksum of the members' files.
    pub fn checksum(&self) -> String {
        let mut sum = Checksum::default();
        self.members.iter().for_each(|member| sum.add(&member.to_bytes()));
        sum.to_string()
    }

    /// Measures the averaged answers as [`evaluate`](super::evaluate) measures those of one model.
    ///
    /// # Errors
    /// If the sequences do not fit a member, have no label or number, or what a member gives is not finite.
    pub fn evaluate<'a>(&self, part: impl Into<View<'a>>) -> Result<Evaluation> {
        let part = part.into();
        if let [one] = &self.members[..] {
            return super::evaluate(one, part);
        }
        let mut equilibria = Equilibria::default();
        let outputs = self.outputs(&part, &mut equilibria)?;
        let mut found = match self.first().model.config().task {
            Task::Regression => self.of_numbers(outputs, &part)?,
            Task::MultiLabel => of_label_sets(
                &outputs,
                &self.first().classes,
                &indicators_of(&part, self.first().classes.len())?,
            ),
            _ => of_classes(
                &outputs,
                &self.first().classes,
                &labels_of(&part, self.first().classes.len())?,
            ),
        };
        found.equilibria = (equilibria.steps > 0).then_some(equilibria);
        Ok(found)
    }

    /// Classifies raw sequences as [`predict_each`] does; a sequence for which one member has no answer has none.
    ///
    /// # Errors
    /// As [`predict_each`].
    pub fn predict_each<'a>(&self, part: impl Into<View<'a>>, names: &[String]) -> Result<Vec<Answer<Prediction>>> {
        let part = part.into();
        let answers = self.answers(|member| predict_each(member, part.clone(), names))?;
        Ok(answers.into_iter().map(|all| all.map(average)).collect())
    }

    /// The numbers for each raw sequence as [`number_each`] gives them, the mean over the members.
    ///
    /// # Errors
    /// As [`number_each`].
    pub fn number_each<'a>(&self, part: impl Into<View<'a>>, names: &[String]) -> Result<Vec<Answer<Vec<f32>>>> {
        let part = part.into();
        let answers = self.answers(|member| number_each(member, part.clone(), names))?;
        Ok(answers
            .into_iter()
            .map(|all| all.map(|all| mean_numbers(&all)))
            .collect())
    }

    /// The probability of each label for each raw sequence as [`label_each`] gives it, the mean over the members.
    ///
    /// # Errors
    /// As [`label_each`].
    pub fn label_each<'a>(&self, part: impl Into<View<'a>>, names: &[String]) -> Result<Vec<Answer<Vec<f64>>>> {
        let part = part.into();
        let answers = self.answers(|member| label_each(member, part.clone(), names))?;
        let mean = |all: Vec<Vec<f64>>| mean_row(all.iter().map(|row| &row[..]));
        Ok(answers.into_iter().map(|all| all.map(mean)).collect())
    }

    /// The probabilities `[sequences, classes]` of raw sequences, each member's softened by a temperature and then averaged.
    ///
    /// # Errors
    /// If the members do not give classes of sequences, the sequences do not fit one, or what one gives is not finite.
    pub fn softened(&self, part: &View, temperature: f64) -> Result<Vec<f32>> {
        super::must_be(self.first(), Task::Classification)?;
        let classes = self.first().classes.len();
        let mut sums = vec![0.0; part.len() * classes];
        for outputs in self.outputs(part, &mut Equilibria::default())? {
            let mut softened: Vec<f64> = outputs.iter().map(|&logit| f64::from(logit) / temperature).collect();
            head::softmax(&mut softened, classes);
            sums.iter_mut().zip(&softened).for_each(|(sum, value)| *sum += value);
        }
        let count = self.members.len() as f64;
        Ok(sums.into_iter().map(|sum| (sum / count) as f32).collect())
    }

    /// The means of the numbers that were trained on, over the members; none if one does not know them.
    fn trained_means(&self) -> Vec<f64> {
        let count = self.members.len() as f64;
        let mean = |target: usize| {
            let own = self
                .members
                .iter()
                .map(|member| Some(member.provenance.targets.get(target)?.mean));
            own.sum::<Option<f64>>().map(|sum| sum / count)
        };
        let means: Option<Vec<f64>> = (0..self.first().model.config().targets()).map(mean).collect();
        means.unwrap_or_default()
    }

    /// The averaged numbers beside the true ones.
    fn of_numbers(&self, mut outputs: Vec<Vec<f32>>, part: &View) -> Result<Evaluation> {
        let config = self.first().model.config();
        outputs.iter_mut().for_each(|own| in_order(own, config.quantiles.len()));
        let answers = NumberAnswers::of(config, &mean_numbers(&outputs), &numbers_of(part, config.targets())?);
        Ok(Evaluation::of_numbers(&NumberAnswers {
            trained_means: self.trained_means(),
            ..answers.known_to(self.first(), part)
        }))
    }

    /// The logits or numbers of each member, all finite.
    fn outputs(&self, part: &View, equilibria: &mut Equilibria) -> Result<Vec<Vec<f32>>> {
        let mut all = Vec::with_capacity(self.members.len());
        for member in &self.members {
            let part = prepared(member, part.clone())?;
            let mut workspace = Workspace::default();
            let found = logits_in(&member.model, &part, &mut workspace)?;
            must_be_finite(&member.model, &found, &part, &[])?;
            if let Some(own) = workspace.take_equilibria() {
                equilibria.add(&own);
            }
            all.push(found);
        }
        Ok(all)
    }

    /// What all members say of each sequence, or why the first of them that is silent says nothing.
    fn answers<T>(&self, ask: impl Fn(&SavedModel) -> Result<Vec<Answer<T>>>) -> Result<Vec<Answer<Vec<T>>>> {
        let mut all: Vec<Answer<Vec<T>>> = Vec::new();
        for member in &self.members {
            let found = ask(member)?;
            all.resize_with(found.len(), || Ok(Vec::new()));
            for (own, answer) in all.iter_mut().zip(found) {
                *own = std::mem::replace(own, Ok(Vec::new())).and_then(|mut said| {
                    said.push(answer?);
                    Ok(said)
                });
            }
        }
        Ok(all)
    }
}

/// The folders and files of models that a path stands for.
fn members_of(path: &Path) -> Result<Vec<PathBuf>> {
    if !EnsembleFolder::is_at(path) {
        return Ok(vec![path.to_path_buf()]);
    }
    let folder = EnsembleFolder::read(path)?;
    if !folder.complete {
        let problem = format!(
            "found an ensemble of {} members whose training has not ended, expected one that has (`ernn train --resume {}`)",
            folder.members,
            path.display()
        );
        return Err(Error::data(path.display(), problem));
    }
    Ok((1..=folder.members)
        .map(|number| EnsembleFolder::member(path, number))
        .collect())
}

fn must_be_there(path: &Path) -> Result<()> {
    // A pipe is no regular file, and can hold a model all the same.
    let is_one = path.exists() && !path.is_dir();
    if is_one || path.join(MODEL_FILE).is_file() {
        return Ok(());
    }
    let problem = "found no model, expected a run folder, the folder of an ensemble or a model file";
    Err(Error::data(path.display(), problem))
}

/// Refuses a model whose answers are none to the first one's question.
fn must_go_with(first_name: &str, first: &SavedModel, name: &str, member: &SavedModel) -> Result<()> {
    let refuse = |what: &str, found: String, expected: String| {
        let problem = format!("found {what} {found}, expected those of {first_name}: {expected}");
        Err(Error::data(name, problem))
    };
    let [found, expected] = [member, first].map(|saved| saved.model.config().task);
    if found != expected {
        let problem = format!(
            "found a model that gives {}, expected one that gives {}, as {first_name}",
            described(found),
            described(expected)
        );
        return Err(Error::data(name, problem));
    }
    let asked = |saved: &SavedModel| (saved.model.config().quantiles.clone(), saved.target_names());
    if found == Task::Regression && asked(member) != asked(first) {
        return refuse(
            "the outputs",
            named(&member.output_names()),
            named(&first.output_names()),
        );
    }
    for (what, found, expected) in [
        ("the classes", &member.classes, &first.classes),
        ("the channels", &member.feature_names, &first.feature_names),
        ("the vocabulary", &member.vocabulary, &first.vocabulary),
    ] {
        if found != expected {
            return refuse(what, named(found), named(expected));
        }
    }
    Ok(())
}

/// Names with commas; of many the first alone.
fn named(names: &[String]) -> String {
    match names {
        [] => "none".to_string(),
        names => list(names),
    }
}

/// Whether the answers of several models to a task can be averaged.
pub(crate) fn is_averaged(task: Task) -> bool {
    matches!(task, Task::Classification | Task::Regression | Task::MultiLabel)
}

fn described(task: Task) -> &'static str {
    match task {
        Task::Classification => "classes of sequences",
        Task::Regression => "a number for a sequence",
        Task::MultiLabel => "several labels for a sequence",
        Task::StepClassification => "a class at every step",
        Task::StepRegression => "a number at every step",
        Task::NextToken => "a token at every step",
    }
}

/// The mean of what all members say of a sequence.
fn average(mut all: Vec<Prediction>) -> Prediction {
    if all.len() == 1 {
        return all.swap_remove(0);
    }
    let probabilities = mean_row(all.iter().map(|prediction| &prediction.probabilities[..]));
    Prediction {
        class: super::first_largest(&probabilities),
        probabilities,
    }
}

/// The mean of several rows of as many numbers.
fn mean_row<'a>(rows: impl ExactSizeIterator<Item = &'a [f64]>) -> Vec<f64> {
    let count = rows.len() as f64;
    let mut sums = Vec::new();
    for row in rows {
        sums.resize(row.len(), 0.0);
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    sums.iter_mut().for_each(|sum| *sum /= count);
    sums
}

/// The mean of several rows of as many numbers.
fn mean_numbers(rows: &[Vec<f32>]) -> Vec<f32> {
    let count = rows.len() as f64;
    let mean = |place: usize| (rows.iter().map(|row| f64::from(row[place])).sum::<f64>() / count) as f32;
    (0..rows.first().map_or(0, Vec::len)).map(mean).collect()
}

fn of_classes(outputs: &[Vec<f32>], classes: &[String], labels: &[u32]) -> Evaluation {
    let logits = |sequence: usize| {
        let own = sequence * classes.len()..(sequence + 1) * classes.len();
        outputs.iter().map(move |output| &output[own.clone()])
    };
    let said: Vec<Prediction> = (0..labels.len())
        .map(|sequence| average(logits(sequence).map(super::prediction).collect()))
        .collect();
    let losses = labels
        .iter()
        .enumerate()
        .map(|(sequence, &label)| mean_loss(logits(sequence).map(|row| loss(row, label))));
    Evaluation::of_predictions(classes, labels, &said, losses)
}

fn of_label_sets(outputs: &[Vec<f32>], classes: &[String], indicators: &[u8]) -> Evaluation {
    let rows: Vec<Vec<f64>> = outputs.iter().map(|output| label_probabilities(output)).collect();
    let means = mean_row(rows.iter().map(|row| &row[..]));
    let loss = |(place, &holds): (usize, &u8)| {
        let logits = outputs.iter().map(|output| f64::from(output[place]));
        mean_loss(logits.map(|logit| head::label_loss(logit, holds == 1)))
    };
    let total: f64 = indicators.iter().enumerate().map(loss).sum();
    let report = LabelsReport::new(classes, &means, indicators);
    let sequences = indicators.len() / classes.len().max(1);
    Evaluation::of_labels(sequences, total / indicators.len().max(1) as f64, report)
}

/// `-ln` of the mean of probabilities whose `-ln` are given: finite where one of them is, however small they are.
fn mean_loss(losses: impl ExactSizeIterator<Item = f64> + Clone) -> f64 {
    let count = losses.len() as f64;
    let least = losses.clone().fold(f64::INFINITY, f64::min);
    let sum: f64 = losses.map(|loss| (least - loss).exp()).sum();
    least - (sum / count).ln()
}

#[cfg(test)]
#[path = "ensemble_tests.rs"]
mod tests;
