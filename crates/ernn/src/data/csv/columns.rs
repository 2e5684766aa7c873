//! Which column is what: by what was said, then by its name.

use super::super::labels;
use super::super::number::{Decimal, is_missing, parse_as, shown};
use super::names::{self, Sound, quoted, sound};
use super::options::{Layout, Said};

/// Which column is what.
#[derive(Debug)]
pub(super) struct Columns {
    pub names: Vec<String>,
    pub series: Option<usize>,
    pub step: Option<usize>,
    pub time: Option<usize>,
    pub label: Option<usize>,
    /// The columns of 0 and 1 that say which labels a sequence has.
    pub label_flags: Vec<usize>,
    /// The columns with the numbers of each sequence.
    pub targets: Vec<usize>,
    pub group: Option<usize>,
    /// The channels of a long table, the steps of a wide one.
    pub values: Vec<usize>,
    pub shape: Shape,
    /// Among `values`: columns that may well be something else, and nobody has said that they are channels.
    pub doubtful: Vec<(usize, Sound)>,
    /// Among `values`: columns of which somebody has said that they are channels.
    pub asked: Vec<usize>,
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A step of the sequence that the series column names.
    Long,
    /// A step of a recording, which is cut.
    Log,
    /// A sequence of one channel.
    Wide,
    /// Nobody knows.
    Unclear,
}

/// What was found, and what was expected.
pub(super) type Refusal = (String, String);
type Found<T> = std::result::Result<T, Refusal>;

impl Columns {
    /// Sorts the columns.
    pub fn new(names: Vec<String>, said: &Said) -> Found<Columns> {
        check_names(&names, said)?;
        let ignored = ignored(&names, said)?;
        let mut roles = Roles {
            names: &names,
            said,
            taken: ignored,
        };
        let options = said.options;
        let series = roles.take("--series-column", options.series_column.as_deref(), "series")?;
        let time = options.recordings.time_column.as_deref();
        let time = time
            .map(|name| roles.take("--time", Some(name), ""))
            .transpose()?
            .flatten();
        let step = roles.take("--step-column", options.step_column.as_deref(), "step")?;
        let targets = roles.targets(&options.target)?;
        let label_flags = roles.label_flags()?;
        let label = roles.take("--label-column", said.label, "label")?;
        let group = roles.take("--group-column", options.group_column.as_deref(), "group")?;
        let values = roles.channels()?;
        roles.check_forecast(&targets, &values)?;
        if values.is_empty() {
            let found = format!("the columns {}", labels::list(&names));
            return Err((found, "at least one column with values".to_owned()));
        }
        let is_channel = |&column: &usize| said.is_channel(&names[column]);
        let asked: Vec<usize> = values.iter().copied().filter(is_channel).collect();
        let mut doubtful: Vec<(usize, Sound)> = Vec::new();
        for &column in values.iter().filter(|column| !asked.contains(column)) {
            doubtful.extend(sound(&names[column]).map(|sound| (column, sound)));
        }
        let texts: Vec<&str> = values.iter().map(|&column| names[column].as_str()).collect();
        let is_wide = step.is_none() && names::steps(&texts).into_iter().all(|is_step| is_step);
        let shape = match series {
            _ if options.is_of_recordings() => Shape::Log,
            Some(_) => Shape::Long,
            None if is_wide => Shape::Wide,
            None => Shape::Unclear,
        };
        Ok(Columns {
            series,
            step,
            time,
            label: label.filter(|_| options.target.is_empty() && options.labels_from.is_empty()),
            label_flags,
            targets,
            group,
            values,
            shape,
            doubtful,
            asked,
            names,
        })
    }

    /// Those of a table without a header: the label, then the steps.
    pub fn without_header(fields: usize) -> Vec<String> {
        let steps = (0..fields.saturating_sub(1)).map(|step| step.to_string());
        std::iter::once("label".to_owned()).chain(steps).collect()
    }
}

/// Gives out columns, each once.
struct Roles<'a> {
    names: &'a [String],
    said: &'a Said<'a>,
    /// What a column is already: the flag that took it.
    taken: Vec<Option<&'static str>>,
}

impl Roles<'_> {
    /// The column that a flag names, or the one of the usual name.
    fn take(&mut self, flag: &'static str, named: Option<&str>, usual: &str) -> Found<Option<usize>> {
        let Some(name) = named else {
            let column = find(self.names, usual);
            let free = |column: &usize| self.taken[*column].is_none() && !self.is_chosen_channel(*column);
            let column = column.filter(free);
            if let Some(column) = column {
                self.taken[column] = Some(flag);
            }
            return Ok(column);
        };
        let Some(column) = find(self.names, name) else {
            return if self.said.may_lack(name) {
                Ok(None)
            } else {
                Err(absent(self.names, flag, name))
            };
        };
        self.claim(column, flag)?;
        Ok(Some(column))
    }

    /// The columns that a flag alone names; a table has a class or numbers for each sequence.
    fn targets(&mut self, named: &[String]) -> Found<Vec<usize>> {
        let mut columns = Vec::new();
        for target in named {
            if let Some(label) = self.said.label.filter(|label| !target.eq_ignore_ascii_case(label)) {
                let found = format!("--target {} and --label-column {}", quoted(target), quoted(label));
                return Err((found, "one of them: a model learns numbers or classes".to_owned()));
            }
            if self.said.options.recordings.horizon.is_none() {
                columns.extend(self.take("--target", Some(target), "")?);
                continue;
            }
            // The next values are asked for: the column is a channel as well.
            match find(self.names, target) {
                Some(column) => columns.push(column),
                None if self.said.may_lack(target) => {}
                None => return Err(absent(self.names, "--target", target)),
            }
        }
        Ok(columns)
    }

    /// Refuses a forecast of a column that is no channel, or is named twice.
    fn check_forecast(&self, targets: &[usize], values: &[usize]) -> Found<()> {
        if self.said.options.recordings.horizon.is_none() {
            return Ok(());
        }
        for (place, target) in targets.iter().enumerate() {
            let name = shown(self.names[*target].as_bytes());
            if targets[..place].contains(target) {
                return Err((format!("the column {name} twice in --target"), "each once".to_owned()));
            }
            if !values.contains(target) {
                let found = format!("--horizon for the column {name}, which is no channel");
                return Err((found, "a channel: what is predicted are its next values".to_owned()));
            }
        }
        Ok(())
    }

    /// The columns that say which labels a sequence has; new data may lack all of them.
    fn label_flags(&mut self) -> Found<Vec<usize>> {
        const FLAG: &str = "--labels-from";
        let wanted = &self.said.options.labels_from;
        let lacks = |name: &String| find(self.names, name).is_none() && self.said.may_lack(name);
        if wanted.iter().all(lacks) {
            return Ok(Vec::new());
        }
        let column = |name: &String| find(self.names, name).ok_or_else(|| absent(self.names, FLAG, name));
        let columns = wanted.iter().map(column).collect::<Found<Vec<usize>>>()?;
        columns.iter().try_for_each(|&column| self.claim(column, FLAG))?;
        Ok(columns)
    }

    fn claim(&mut self, column: usize, flag: &'static str) -> Found<()> {
        if let Some(other) = self.taken[column].replace(flag) {
            let found = format!(
                "the column {} in {other} and in {flag}",
                shown(self.names[column].as_bytes())
            );
            return Err((found, "one of them".to_owned()));
        }
        Ok(())
    }

    fn is_chosen_channel(&self, column: usize) -> bool {
        let name = &self.names[column];
        self.said
            .options
            .channels
            .iter()
            .any(|other| other.eq_ignore_ascii_case(name))
    }

    /// The columns that were chosen, or all that are nothing else.
    fn channels(&mut self) -> Found<Vec<usize>> {
        let chosen = &self.said.options.channels;
        if chosen.is_empty() {
            return Ok((0..self.names.len())
                .filter(|&column| self.taken[column].is_none())
                .collect());
        }
        let mut values = Vec::new();
        for name in chosen {
            let column = find(self.names, name).ok_or_else(|| absent(self.names, "--channels", name))?;
            self.claim(column, "--channels")?;
            values.push(column);
        }
        Ok(values)
    }
}

/// A column by its name; upper and lower case are the same.
pub(super) fn find(names: &[String], wanted: &str) -> Option<usize> {
    names.iter().position(|name| name.eq_ignore_ascii_case(wanted.trim()))
}

fn absent(names: &[String], flag: &str, name: &str) -> Refusal {
    let found = format!("no column {} ({flag})", shown(name.as_bytes()));
    (found, format!("one of {}", labels::list(names)))
}

fn ignored(names: &[String], said: &Said) -> Found<Vec<Option<&'static str>>> {
    let mut taken = vec![None; names.len()];
    for name in &said.options.ignore {
        match find(names, name) {
            Some(column) => taken[column] = Some("--ignore"),
            None if said.may_lack(name) => {}
            None => return Err(absent(names, "--ignore", name)),
        }
    }
    Ok(taken)
}

/// The names of a header; a column without one gets the name that pandas gives it.
pub(super) fn named(names: Vec<String>) -> Vec<String> {
    let named = |(column, name): (usize, String)| if name.is_empty() { unnamed(column) } else { name };
    names.into_iter().enumerate().map(named).collect()
}

fn unnamed(column: usize) -> String {
    format!("Unnamed: {column}")
}

/// The first column that has no name, or pandas' name for one that has none, and is not ignored.
fn without_name(names: &[String], said: &Said) -> Option<usize> {
    let is_unnamed = |name: &str| {
        name.get(..8)
            .is_some_and(|start| start.eq_ignore_ascii_case("unnamed:"))
    };
    let ignored = |name: &String| said.options.ignore.iter().any(|other| other.eq_ignore_ascii_case(name));
    names
        .iter()
        .position(|name| is_unnamed(name) && !ignored(name) && !said.is_channel(name))
}

fn check_names(names: &[String], said: &Said) -> Found<()> {
    if said.options.layout == Layout::Ucr {
        return Ok(());
    }
    refuse_numbers(names)?;
    let mut sorted: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    sorted.sort();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err((
            format!("two columns named {}", shown(pair[0].as_bytes())),
            "a name of its own for each column".to_owned(),
        ));
    }
    let Some(column) = without_name(names, said) else {
        return Ok(());
    };
    let name = &names[column];
    let what = if *name == unnamed(column) {
        "without a name"
    } else {
        "that had no name"
    };
    Err((
        format!(
            "column {} {what}: it may be the index of a DataFrame, which says nothing",
            column + 1
        ),
        format!(
            "a name for each column; save with to_csv(index=False), or leave it out with --ignore {}",
            quoted(name)
        ),
    ))
}

/// A header of counting numbers is what pandas writes; other numbers are a row of values, some of which may be missing.
fn refuse_numbers(names: &[String]) -> Found<()> {
    let known = |name: &String| !name.starts_with("Unnamed:") && !is_missing(name.as_bytes());
    let number = |name: &String| {
        parse_as(name.as_bytes(), Decimal::Comma)
            .ok()
            .filter(|number| !number.is_nan())
    };
    let known: Vec<&String> = names.iter().filter(|name| known(name)).collect();
    let numbers: Vec<f32> = known.iter().filter_map(|name| number(name)).collect();
    if numbers.len() < known.len() || numbers.is_empty() {
        return Ok(());
    }
    let counting = numbers.windows(2).all(|pair| pair[1] == pair[0] + 1.0) && matches!(numbers[0], 0.0 | 1.0);
    if counting {
        return Ok(());
    }
    let missing = if known.len() < names.len() {
        " and missing values"
    } else {
        " only"
    };
    Err((
        format!("numbers{missing}"),
        "a header line with column names (--layout ucr reads rows of a label and its values)".to_owned(),
    ))
}
