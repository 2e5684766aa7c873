//! The pictures: one a section and layer.

use super::{Analysis, Equilibria, Gradients, Iterations, LayerAnalysis, Phase, Range, Residuals, Spectrum, Steps};
use crate::chart::{Band, Bar, Chart, Line, Look, Scale, Side, charts};

/// Step sizes of more iterations than this are not told apart.
const MOST_LINES: usize = 8;

/// Below this, norms and residuals are drawn at the lower edge.
const FLOOR: f64 = 1e-16;

/// A picture.
pub struct Figure {
    /// Name of its file, without the ending.
    pub name: String,
    /// What it shows, for those who cannot see it, too.
    pub label: String,
    columns: usize,
    charts: Vec<Chart<'static>>,
}

impl Figure {
    /// All charts as one SVG with its style.
    pub fn svg(&self) -> String {
        charts(&self.label, &self.charts, self.columns, true)
    }

    /// Each chart as an SVG for a page that has the style: on a phone they stand below each other.
    pub(super) fn parts(&self) -> Vec<String> {
        let part = |chart: &Chart<'static>| {
            let label = format!("{}: {}", self.label, chart.title);
            charts(&label, std::slice::from_ref(chart), 1, false)
        };
        self.charts.iter().map(part).collect()
    }
}

/// The figures of a layer, in the order of its sections.
pub(super) fn of_layer(layer: &LayerAnalysis) -> Vec<(&'static str, Figure)> {
    let figure = |section: &'static str, label: String, charts: Vec<Chart<'static>>| {
        let figure = Figure {
            name: format!("layer-{}-{section}", layer.layer),
            label: format!("Layer {} ({}): {label}", layer.layer, layer.cell),
            columns: 2,
            charts,
        };
        (section, figure)
    };
    let mut all = vec![figure(
        "gradients",
        "gradient of the last state against distance".to_string(),
        gradients(&layer.gradients),
    )];
    if let Some(found) = &layer.spectrum {
        all.push(figure(
            "spectrum",
            "eigenvalues of the field".to_string(),
            spectrum(found),
        ));
    }
    if let Some(found) = &layer.residuals {
        all.push(figure(
            "residuals",
            "residual of the inner iteration".to_string(),
            residuals(found),
        ));
    }
    if let Some(found) = &layer.equilibria {
        let label = "iterations of Newton's method to an equilibrium".to_string();
        all.push(figure("equilibria", label, equilibria(found)));
    }
    if let Some(found) = &layer.steps {
        all.push(figure("steps", "learned step sizes".to_string(), steps(found)));
    }
    all
}

/// The figure of the whole model.
pub(super) fn of_model(analysis: &Analysis) -> Option<Figure> {
    let found = analysis.iterations.as_ref()?;
    Some(Figure {
        name: "iterations".to_string(),
        label: format!("{} with other inner iterations", found.metric.title()),
        columns: 1,
        charts: vec![iterations(found)],
    })
}

fn side(title: &'static str, scale: Scale) -> Side<'static> {
    Side { title, scale }
}

fn chart(title: &str, across: Side<'static>, up: Side<'static>) -> Chart<'static> {
    Chart {
        title: title.to_string(),
        across,
        up,
        bands: Vec::new(),
        bars: Vec::new(),
        lines: Vec::new(),
        marks: Vec::new(),
    }
}

/// A line of medians inside the band from the lowest to the highest value.
fn add(chart: &mut Chart, name: &str, kind: usize, values: impl Iterator<Item = (f64, Range)> + Clone) {
    let look = Look::new(kind, 0);
    chart.bands.push(Band {
        look,
        points: values.clone().map(|(x, range)| (x, range.low, range.high)).collect(),
    });
    chart.lines.push(Line {
        name: name.to_string(),
        look,
        points: values.map(|(x, range)| (x, range.median)).collect(),
    });
}

fn ends(ranges: impl Iterator<Item = Range>) -> impl Iterator<Item = f64> {
    ranges.flat_map(|range| [range.low, range.high])
}

fn gradients(found: &Gradients) -> Vec<Chart<'static>> {
    let distances = || Scale::Linear(0.0, found.norms.len().max(1) as f64);
    let norms = |pick: fn(&super::Norms) -> Range| found.norms.iter().map(move |at| (at.distance as f64, pick(at)));
    let mut first = chart(
        "Norm",
        side("distance T - k", distances()),
        side(
            "|dh_T/dh_k| / sqrt(D): 1 for the identity",
            Scale::logarithmic(ends(norms(|at| at.norm).map(|at| at.1)), FLOOR),
        ),
    );
    add(&mut first, "norm", 3, norms(|at| at.norm));
    let values = |pick: fn(&super::SingularValues) -> Range| {
        found
            .singular_values
            .iter()
            .map(move |at| (at.distance as f64, pick(at)))
    };
    type Pick = fn(&super::SingularValues) -> Range;
    let picks: [(&str, Pick); 3] = [
        ("largest", |at| at.largest),
        ("median", |at| at.median),
        ("smallest", |at| at.smallest),
    ];
    let all = picks.iter().flat_map(|(_, pick)| ends(values(*pick).map(|at| at.1)));
    let mut second = chart(
        "Singular values",
        side("distance T - k", distances()),
        side("largest, median, smallest of dh_T/dh_k", Scale::logarithmic(all, FLOOR)),
    );
    for (kind, (name, pick)) in picks.into_iter().enumerate() {
        add(&mut second, name, kind, values(pick));
    }
    // The names below are those of the first chart.
    vec![second, first]
}

fn spectrum(found: &Spectrum) -> Vec<Chart<'static>> {
    let histogram = &found.histogram;
    let to = histogram.from + histogram.width * histogram.counts.len() as f64;
    let total: usize = histogram.counts.iter().sum();
    let height = |count: usize| count as f64 / total.max(1) as f64;
    let highest = histogram.counts.iter().map(|&count| height(count)).fold(0.0, f64::max);
    let mut first = chart(
        "Real parts of all eigenvalues",
        side("real part", Scale::linear([histogram.from, to].into_iter())),
        side("share of the eigenvalues", Scale::linear([0.0, highest].into_iter())),
    );
    first.bars = histogram
        .counts
        .iter()
        .enumerate()
        .map(|(index, &count)| Bar {
            from: histogram.from + index as f64 * histogram.width,
            to: histogram.from + (index + 1) as f64 * histogram.width,
            height: height(count),
        })
        .collect();
    let largest = || found.by_step.iter().map(|at| (at.step as f64, at.largest));
    let last = found.by_step.last().map_or(1, |at| at.step);
    let mut second = chart(
        "Largest real part of each step",
        side("step", Scale::Linear(0.0, last as f64)),
        side(
            "below 0: the equilibrium draws in",
            Scale::linear(ends(largest().map(|at| at.1)).chain([0.0])),
        ),
    );
    add(&mut second, "largest", 0, largest());
    vec![first, second]
}

fn residuals(found: &Residuals) -> Vec<Chart<'static>> {
    let last = found.after.len().saturating_sub(1).max(1) as f64;
    let curve = |pick: fn(&super::After) -> Range| {
        found
            .after
            .iter()
            .map(move |after| (after.iteration as f64, pick(after)))
    };
    let one = |title: &str, up: &'static str, pick: fn(&super::After) -> Range| {
        let scale = Scale::logarithmic(ends(curve(pick).map(|after| after.1)), FLOOR);
        let mut chart = chart(
            title,
            side(
                "iteration i; behind the last one its step size goes on",
                Scale::Linear(0.0, last),
            ),
            side(up, scale),
        );
        add(&mut chart, "residual", 0, curve(pick));
        if let Some(at) = found.after.get(found.iterations) {
            chart.marks.push((
                at.iteration as f64,
                pick(at).median,
                format!("K = {}", found.iterations),
            ));
        }
        chart
    };
    vec![
        one("Residual", "|F(z^i)|", |after| after.residual),
        one("Beside the first one", "|F(z^i)| / |F(z^0)|", |after| after.relative),
    ]
}

/// How often Newton's method has needed 0, 1, .. iterations, of all steps; the rest to 1 has no equilibrium.
fn equilibria(found: &Equilibria) -> Vec<Chart<'static>> {
    let share = |count: usize| count as f64 / found.steps.max(1) as f64;
    let last = found.by_iterations.len().max(6) as f64;
    let mut only = chart(
        "Newton's method",
        side("iterations to an equilibrium", Scale::Linear(0.0, last)),
        side("share of all steps", Scale::Linear(0.0, 1.0)),
    );
    let counts = found.by_iterations.iter().enumerate();
    only.bars = counts
        .map(|(iterations, &count)| Bar {
            from: iterations as f64 - 0.3,
            to: iterations as f64 + 0.3,
            height: share(count),
        })
        .collect();
    vec![only]
}

fn steps(found: &Steps) -> Vec<Chart<'static>> {
    let all = found.eta.iter().flatten().copied();
    let mut only = chart(
        "Step sizes",
        side("time step", Scale::Linear(0.0, found.rows.max(1) as f64)),
        side("eta", Scale::linear(all.chain([0.0]))),
    );
    for (index, iteration) in found.by_iteration.iter().take(MOST_LINES).enumerate() {
        let column = found.eta.iter().enumerate();
        let mut points: Vec<(f64, f64)> = column.map(|(row, eta)| ((row + 1) as f64, eta[index])).collect();
        if let [(_, only)] = points[..] {
            // One for all time steps: a line through one point would not be seen.
            points = vec![(0.0, only), (1.0, only)];
        }
        only.lines.push(Line {
            name: format!("iteration {}", iteration.iteration),
            look: Look::new(index, 0),
            points,
        });
    }
    vec![only]
}

fn iterations(found: &Iterations) -> Chart<'static> {
    let shown = |value: f64| found.metric.shown(value);
    let scores = found
        .tried
        .iter()
        .flat_map(|tried| [tried.repeated, tried.finer])
        .chain(found.at_equilibrium)
        .map(shown);
    let last = found.tried.last().map_or(2, |tried| tried.iterations.max(2));
    let mut only = chart(
        &format!("{} of the model run with K iterations", capital(found.metric.title())),
        side("iterations K", Scale::Logarithmic(1.0, last as f64)),
        side("", Scale::linear(scores)),
    );
    type Pick = fn(&super::Tried) -> f64;
    let picks: [(&str, Pick); 2] = [
        ("last step size repeated", |tried| tried.repeated),
        ("same time, finer steps", |tried| tried.finer),
    ];
    for (kind, (name, pick)) in picks.into_iter().enumerate() {
        only.lines.push(Line {
            name: name.to_string(),
            look: Look::new(kind, kind),
            points: found
                .tried
                .iter()
                .map(|tried| (tried.iterations as f64, shown(pick(tried))))
                .collect(),
        });
    }
    if let Some(value) = found.at_equilibrium {
        only.lines.push(Line {
            name: "at the equilibrium".to_string(),
            look: Look::new(2, 2),
            points: vec![(1.0, shown(value)), (last as f64, shown(value))],
        });
    }
    if let Some(own) = found.tried.iter().find(|tried| tried.iterations == found.trained) {
        only.marks.push((
            own.iterations as f64,
            shown(own.repeated),
            format!("as trained: K = {}", own.iterations),
        ));
    }
    only
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Figure 1 of the paper.
pub(super) fn of_phase(found: &Phase) -> Figure {
    let panel = |path: &super::Path| {
        let axis = |unit: usize| Scale::linear(path.states.iter().map(move |state| state[unit]));
        let mut chart = chart(&path.cell, side("first unit", axis(0)), side("second unit", axis(1)));
        chart.lines.push(Line {
            name: path.cell.clone(),
            look: Look::new(0, 0),
            points: path.states.iter().map(|state| (state[0], state[1])).collect(),
        });
        let end = path
            .states
            .last()
            .map(|state| (state[0], state[1], "the last state".to_string()));
        chart.marks.extend(end);
        chart
    };
    Figure {
        name: "phase".to_string(),
        label: format!("Two hidden units over a random walk of {} steps", found.settings.steps),
        columns: 3,
        charts: found.paths.iter().map(panel).collect(),
    }
}
