//! The pictures: one a section and layer.

use super::{Analysis, Equilibria, Gradients, Iterations, LayerAnalysis, Phase, Range, Residuals, Spectrum, Steps};
use ernn::chart::{self, Band, Bar, Chart, Dot, Line, Look, Scale, Shape, Side, looks};
use ernn::evaluate::Metric;

/// Step sizes of more iterations than this are not told apart.
const MOST_LINES: usize = 8;

/// Below this, norms and residuals are drawn at the lower edge.
const FLOOR: f64 = 1e-16;

/// A picture.
pub struct Figure {
    /// Name of its file, without the ending.
    pub name: String,
    drawn: chart::Figure,
}

impl Figure {
    fn new(name: String, label: String, charts: Vec<Chart>) -> Self {
        Figure {
            name,
            drawn: chart::Figure::new(label, charts),
        }
    }

    /// What it shows, for those who cannot see it, too.
    pub fn label(&self) -> &str {
        &self.drawn.label
    }

    /// All charts as one SVG with its style.
    pub fn svg(&self) -> String {
        self.drawn.svg()
    }

    /// The charts as a piece of a page that has the style.
    pub(super) fn html(&self) -> String {
        self.drawn.html()
    }

    /// Whether it is a single chart, which leaves room beside it.
    pub(super) fn is_single(&self) -> bool {
        self.drawn.charts.len() == 1
    }
}

/// The figures of a layer, in the order of its sections.
pub(super) fn of_layer(layer: &LayerAnalysis) -> Vec<(&'static str, Figure)> {
    let figure = |section: &'static str, label: String, charts: Vec<Chart>| {
        let name = format!("layer-{}-{section}", layer.layer);
        let label = format!("Layer {} ({}): {label}", layer.layer, layer.cell);
        (section, Figure::new(name, label, charts))
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
    let label = format!("{} with other inner iterations", found.metric.title());
    Some(Figure::new("iterations".to_string(), label, vec![iterations(found)]))
}

fn side(title: &str, scale: Scale) -> Side {
    Side::new(title, scale)
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

fn gradients(found: &Gradients) -> Vec<Chart> {
    let distances = || Scale::Linear(0.0, found.norms.len().max(1) as f64);
    let norms = |pick: fn(&super::Norms) -> Range| found.norms.iter().map(move |at| (at.distance as f64, pick(at)));
    let mut first = Chart::new(
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
    let mut second = Chart::new(
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

fn spectrum(found: &Spectrum) -> Vec<Chart> {
    let histogram = &found.histogram;
    let to = histogram.from + histogram.width * histogram.counts.len() as f64;
    let total: usize = histogram.counts.iter().sum();
    let height = |count: usize| count as f64 / total.max(1) as f64;
    let highest = histogram.counts.iter().map(|&count| height(count)).fold(0.0, f64::max);
    let mut first = Chart::new(
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
    let mut second = Chart::new(
        "Largest real part of each step",
        side("step", Scale::Linear(0.0, last as f64)),
        side(
            "below 0: the equilibrium draws in",
            Scale::linear(ends(largest().map(|at| at.1)).chain([0.0])),
        ),
    );
    add(&mut second, "median, and lowest to highest", 0, largest());
    vec![first, second]
}

fn residuals(found: &Residuals) -> Vec<Chart> {
    let last = found.after.len().saturating_sub(1).max(1) as f64;
    let curve = |pick: fn(&super::After) -> Range| {
        found
            .after
            .iter()
            .map(move |after| (after.iteration as f64, pick(after)))
    };
    let one = |title: &str, up: &'static str, pick: fn(&super::After) -> Range| {
        let scale = Scale::logarithmic(ends(curve(pick).map(|after| after.1)), FLOOR);
        let mut chart = Chart::new(title, side("iteration i", Scale::Linear(0.0, last)), side(up, scale));
        add(&mut chart, "median, and lowest to highest", 0, curve(pick));
        if let Some(at) = found.after.get(found.iterations) {
            chart.dots.push(Dot {
                name: format!("after the K = {} iterations of the model", found.iterations),
                place: (at.iteration as f64, pick(at).median),
            });
        }
        chart
    };
    vec![
        one("Residual", "|F(z^i)|", |after| after.residual),
        one("Beside the first one", "|F(z^i)| / |F(z^0)|", |after| after.relative),
    ]
}

/// How often Newton's method has needed 0, 1, .. iterations, of all steps; the rest to 1 has no equilibrium.
fn equilibria(found: &Equilibria) -> Vec<Chart> {
    let share = |count: usize| count as f64 / found.steps.max(1) as f64;
    let last = found.by_iterations.len().max(6) as f64;
    let mut only = Chart::new(
        "Newton's method",
        side("iterations to an equilibrium", Scale::Linear(-0.5, last + 0.5)),
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

fn steps(found: &Steps) -> Vec<Chart> {
    let scale = Scale::linear(found.eta.iter().flatten().copied().chain([0.0]));
    let chart = |title: &str, places: usize| {
        let across = side(title, Scale::Whole(1.0, places.max(1) as f64));
        Chart::new("Step sizes", across, side("eta", scale))
    };
    if let [row] = &found.eta[..] {
        // The same for all time steps.
        let mut only = chart("iteration", row.len());
        only.lines.push(Line {
            name: String::new(),
            look: Look::new(0, 0),
            points: row
                .iter()
                .enumerate()
                .map(|(index, &eta)| ((index + 1) as f64, eta))
                .collect(),
        });
        return vec![only];
    }
    let mut only = chart("time step", found.rows);
    for (index, iteration) in found.by_iteration.iter().take(MOST_LINES).enumerate() {
        let column = found.eta.iter().enumerate();
        only.lines.push(Line {
            name: format!("iteration {}", iteration.iteration),
            look: Look::new(index, 0),
            points: column.map(|(row, eta)| ((row + 1) as f64, eta[index])).collect(),
        });
    }
    vec![only]
}

fn iterations(found: &Iterations) -> Chart {
    let shown = |value: f64| found.metric.shown(value);
    let scores = found
        .tried
        .iter()
        .flat_map(|tried| [tried.repeated, tried.finer])
        .chain(found.at_equilibrium)
        .map(shown);
    let last = found.tried.last().map_or(2, |tried| tried.iterations.max(2));
    let scale = match found.metric {
        Metric::Accuracy | Metric::MeanAveragePrecision => Scale::percent(scores),
        Metric::Perplexity | Metric::RootMeanSquaredError | Metric::MeanSquaredError => Scale::losses(scores),
    };
    let mut only = Chart::new(
        format!("{}, run with K iterations", capital(found.metric.title())),
        side("iterations K", Scale::Logarithmic(1.0, last as f64)),
        side("", scale),
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
        only.dots.push(Dot {
            name: format!("as trained: K = {}", own.iterations),
            place: (own.iterations as f64, shown(own.repeated)),
        });
    }
    only
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Figure 1 of the paper: all panels have the same axes, or a small square would look like a large one.
pub(super) fn of_phase(found: &Phase) -> Figure {
    let states = found.paths.iter().flat_map(|path| &path.states).flatten();
    let sizes = states.filter(|value| value.is_finite()).map(|value| value.abs());
    let end = match Scale::from_zero(sizes) {
        Scale::Linear(_, end) => end,
        _ => 1.0,
    };
    let scale = Scale::Linear(-end, end);
    let looks = looks(found.paths.iter().map(|path| path.kind));
    let panel = |(path, look): (&super::Path, Look)| {
        let mut chart = Chart::new(&path.cell, side("first unit", scale), side("second unit", scale));
        chart.lines.push(Line {
            name: String::new(),
            look,
            points: path.states.iter().map(|state| (state[0], state[1])).collect(),
        });
        chart.dots.extend(path.states.last().map(|state| Dot {
            name: "the last state".to_string(),
            place: (state[0], state[1]),
        }));
        chart
    };
    let charts = found.paths.iter().zip(looks).map(panel).collect();
    let label = format!("Two hidden units over a random walk of {} steps", found.settings.steps);
    let mut figure = Figure::new("phase".to_string(), label, charts);
    figure.drawn.shape = Shape::Square;
    figure
}

#[cfg(test)]
mod tests {
    use super::super::{PhaseSettings, phase};
    use super::*;
    use ernn::chart::layout;

    #[test]
    fn panels_of_the_phase_space_have_equal_axes() {
        for steps in [1, 60, 1000] {
            let settings = PhaseSettings {
                steps,
                ..Default::default()
            };
            let figure = of_phase(&phase(settings).unwrap());
            let first = &figure.drawn.charts[0];
            for chart in &figure.drawn.charts {
                assert_eq!(chart.across.scale, first.across.scale);
                assert_eq!(chart.up.scale, first.across.scale);
            }
            layout::check(&figure.svg());
            layout::check_page(&figure.html());
        }
    }

    #[test]
    fn where_no_equilibrium_was_found_it_says_so() {
        let found = Equilibria {
            steps: 10,
            tolerance: 1e-6,
            found: 0.0,
            by_iterations: Vec::new(),
            iterations: None,
            awake_where_found: None,
            awake_elsewhere: None,
            residual_elsewhere: None,
            distance: None,
        };
        let figure = chart::Figure::new("x", equilibria(&found));
        assert!(figure.svg().contains(">none found<") && !figure.svg().contains("class=\"grid\""));
        let some = Equilibria {
            by_iterations: vec![3, 0, 2],
            ..found
        };
        let svg = chart::Figure::new("x", equilibria(&some)).svg();
        assert!(!svg.contains("none found"));
        layout::check(&svg);
    }
}
