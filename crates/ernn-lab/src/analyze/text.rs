//! What was measured, in words: for the page and for the terminal.

use super::{
    Analysis, Condition, Equilibria, Gradients, Iterations, LayerAnalysis, Phase, Range, Residuals, Skipped, Spectrum,
    Steps,
};

/// A number with its name.
pub(super) struct Fact {
    pub section: &'static str,
    pub name: &'static str,
    pub value: String,
}

/// Title and explanation of a section.
pub(super) fn explain(section: &str) -> (&'static str, &'static str) {
    match section {
        "gradients" => (
            "Gradients",
            "How the last state depends on an earlier one, dh_T/dh_k, against the distance T - k. Lines: the median over the sequences; bands: the \
             lowest to the highest. A norm that stays near 1 lets a loss reach far back; of an LSTM, h is the whole state (h, c).",
        ),
        "spectrum" => (
            "Spectrum",
            "Eigenvalues of diag(phi') R - gamma I where the last inner iteration has been. Where all real parts are below 0, an equilibrium draws \
             the state in.",
        ),
        "residuals" => (
            "Residuals",
            "How far a step is from an equilibrium: F(z) = phi(R z + u) - gamma z after each inner iteration, and beyond those of the model with the \
             last step size. A straight line downwards is linear convergence.",
        ),
        "equilibria" => (
            "Equilibria",
            "Newton's method looks for gamma z = phi(R z + u) at every step, to a residual of at most 1e-6 in each unit. What is missing to a share \
             of 1 has no equilibrium, or none that it finds.",
        ),
        "steps" => ("Step sizes", "The learned eta of each time step and inner iteration."),
        _ => ("", ""),
    }
}

/// What the other iterations are.
pub(super) const EXPLAIN_ITERATIONS: &str = "The trained model run with another number K of inner iterations: with its first step sizes, or the last one \
                                             again and again; with K equal steps whose sum is that of the learned ones; and with every state at its equilibrium, by Newton's method.";

/// One sentence about the whole analysis.
pub(super) fn about(analysis: &Analysis) -> String {
    let (subject, settings) = (&analysis.subject, analysis.settings);
    format!(
        "{}, {} part of {}: {} sequences, chosen by seed {}. Measured in double precision, accuracies in single precision as the model runs.",
        subject.model, subject.part, subject.dataset, settings.sequences, settings.seed
    )
}

/// `Layer 1: ernn, 64 units, K = 3`.
pub(super) fn layer_title(layer: &LayerAnalysis) -> String {
    let iterations = layer
        .inner_iterations
        .map_or_else(String::new, |k| format!(", K = {k}"));
    format!(
        "Layer {}: {}, {} units{iterations}",
        layer.layer, layer.cell, layer.hidden
    )
}

/// Why something was not measured.
pub(super) fn skipped(skipped: &Skipped) -> String {
    let place = skipped
        .layer
        .map_or_else(String::new, |layer| format!("layer {layer}, "));
    format!("{place}{}: {}", skipped.section, skipped.reason)
}

/// All numbers of a layer that fit into a line.
pub(super) fn facts(layer: &LayerAnalysis) -> Vec<Fact> {
    let mut facts = of_gradients(&layer.gradients);
    facts.extend(layer.spectrum.iter().flat_map(of_spectrum));
    facts.extend(layer.residuals.iter().flat_map(of_residuals));
    facts.extend(layer.equilibria.iter().flat_map(of_equilibria));
    facts.extend(layer.steps.iter().flat_map(of_steps));
    facts
}

fn fact(section: &'static str, name: &'static str, value: impl Into<String>) -> Fact {
    Fact {
        section,
        name,
        value: value.into(),
    }
}

fn of_gradients(found: &Gradients) -> Vec<Fact> {
    let fact = |name, value: String| fact("gradients", name, value);
    let mut facts = Vec::new();
    if let (Some(first), Some(last)) = (found.norms.first(), found.norms.last()) {
        facts.push(fact("norm at distance 1", range(first.norm)));
        facts.push(fact("distance from I at distance 1", range(first.from_identity)));
        facts.push(fact("distance from -I at distance 1", range(first.from_alternating)));
        facts.push(fact("longest distance", last.distance.to_string()));
        facts.push(fact("norm there", range(last.norm)));
        facts.push(fact("distance from I there", range(last.from_identity)));
        facts.push(fact("distance from (-1)^(T-k) I there", range(last.from_alternating)));
    }
    if let Some(last) = found.singular_values.last() {
        facts.push(fact("largest singular value there", range(last.largest)));
        facts.push(fact("median singular value there", range(last.median)));
        facts.push(fact("smallest singular value there", range(last.smallest)));
    }
    facts
}

fn of_spectrum(found: &Spectrum) -> Vec<Fact> {
    let fact = |name, value: String| fact("spectrum", name, value);
    let not_found = match found.not_found {
        0 => String::new(),
        count => format!(" (and {count} whose eigenvalues were not found)"),
    };
    vec![
        fact("gamma", number(found.gamma)),
        fact("steps looked at", format!("{}{not_found}", found.steps)),
        fact("all real parts below 0", percent(found.all_below_zero)),
        fact("the largest real part is 0", percent(found.some_at_zero)),
        fact("some real part above 0", percent(found.some_above_zero)),
        fact("largest real part", range(found.largest)),
        fact("units awake (phi' not 0)", range(found.awake)),
    ]
}

fn of_residuals(found: &Residuals) -> Vec<Fact> {
    let fact = |name, value: String| fact("residuals", name, value);
    let mut facts = vec![fact("steps looked at", found.steps.to_string())];
    if let (Some(first), Some(own), Some(last)) = (
        found.after.first(),
        found.after.get(found.iterations),
        found.after.last(),
    ) {
        facts.push(fact("residual before the first iteration", range(first.residual)));
        facts.push(fact("residual after the K iterations", range(own.residual)));
        facts.push(fact("beside the first one", range(own.relative)));
        facts.push(fact("residual after 50 more", range(last.residual)));
        facts.push(fact("beside the first one, too", range(last.relative)));
    }
    facts.extend([
        fact("measured rate an iteration, over the last ten", range(found.rate)),
        fact("steps that end nearer than they began", percent(found.shrinking)),
        fact("steps that end at a residual of at most 1e-6", percent(found.found)),
    ]);
    let [held, shrank, elsewhere] = condition(&found.theorem);
    facts.extend([
        fact("the theorem's condition held", held),
        fact("the residual shrank where it held", shrank),
        fact("and where it did not", elsewhere),
    ]);
    let [held, shrank, elsewhere] = condition(&found.corollary);
    facts.extend([
        fact("the corollary's condition held", held),
        fact("the residual shrank where that held", shrank),
        fact("and where that did not", elsewhere),
        fact("|I + eta dF|", range(found.norm)),
    ]);
    facts
}

fn of_equilibria(found: &Equilibria) -> Vec<Fact> {
    let fact = |name, value: String| fact("equilibria", name, value);
    let mut facts = vec![
        fact("steps looked at", found.steps.to_string()),
        fact("steps with an equilibrium", percent(found.found)),
    ];
    let ranges = [
        ("iterations of Newton's method to it", found.iterations),
        ("units awake there", found.awake_where_found),
        ("how far from it the K iterations end, |z^K - z| / |z|", found.distance),
        ("units awake where none was found", found.awake_elsewhere),
        ("largest residual where none was found", found.residual_elsewhere),
    ];
    facts.extend(
        ranges
            .into_iter()
            .filter_map(|(name, found)| Some(fact(name, range(found?)))),
    );
    facts
}

fn of_steps(found: &Steps) -> Vec<Fact> {
    let rows = found.by_iteration.iter();
    let iteration = rows.map(|iteration| {
        let value = format!(
            "iteration {}: {}, {} below 0",
            iteration.iteration,
            range(iteration.eta),
            percent(iteration.negative)
        );
        fact("steps", "eta", value)
    });
    iteration.collect()
}

/// How often it held, and how often the residual shrank where it held and where it did not.
fn condition(found: &Condition) -> [String; 3] {
    let of = |part: usize, whole: usize| format!("{part} of {whole}");
    [
        of(found.held, found.evaluated),
        of(found.shrank_where_held, found.held),
        of(found.shrank_elsewhere, found.evaluated - found.held),
    ]
}

/// Head and rows of the scores; bold is that of the model.
pub(super) fn iteration_rows(found: &Iterations) -> (Vec<String>, Vec<(bool, Vec<String>)>) {
    let head = ["iterations K", "last step size repeated", "same time, finer steps"].map(String::from);
    let value = |value: f64| found.metric.text(found.metric.shown(value));
    let rows = found.tried.iter().map(|tried| {
        let row = vec![tried.iterations.to_string(), value(tried.repeated), value(tried.finer)];
        (tried.iterations == found.trained, row)
    });
    let at_rest = found
        .at_equilibrium
        .map(|score| (false, vec!["equilibrium".to_string(), value(score), "-".to_string()]));
    (head.to_vec(), rows.chain(at_rest).collect())
}

/// One sentence about figure 1.
pub(super) fn about_phase(phase: &Phase) -> String {
    let settings = phase.settings;
    format!(
        "Two hidden units of each cell, with the same U, W and b, while the input walks at random in two dimensions: {} steps of variance {}, seed {}. \
         phi = tanh, gamma = 1, P = I; U has the spectral norm 0.9, so that there is one equilibrium at every step; eta = {}. Dot: the last state.",
        settings.steps, settings.variance, settings.seed, settings.eta
    )
}

/// Head and rows of the cells of figure 1.
pub(super) fn phase_rows(phase: &Phase) -> (Vec<String>, Vec<Vec<String>>) {
    let head = ["cell", "first unit", "second unit", "largest residual of a step"].map(String::from);
    let rows = phase.paths.iter().map(|path| {
        let ends = |unit: usize| Range::of(path.states.iter().map(|state| state[unit])).map_or_else(String::new, range);
        let residual = path.residual.map_or_else(|| "-".to_string(), number);
        vec![path.cell.clone(), ends(0), ends(1), residual]
    });
    (head.to_vec(), rows.collect())
}

/// The analysis for the terminal.
pub fn summary(analysis: &Analysis) -> String {
    let mut text = about(analysis) + "\n";
    for layer in &analysis.layers {
        text += &format!("\n{}\n", layer_title(layer));
        let mut section = "";
        for fact in facts(layer) {
            if fact.section != section {
                section = fact.section;
                text += &format!("  {section}\n");
            }
            text += &format!("    {}: {}\n", fact.name, fact.value);
        }
    }
    if let Some(found) = &analysis.iterations {
        text += &format!(
            "\n{} of {} sequences, run with K iterations\n",
            found.metric.title(),
            found.sequences
        );
        let (head, rows) = iteration_rows(found);
        text += &format!("  {}\n", head.join(" | "));
        for (own, row) in rows {
            text += &format!("  {}{}\n", row.join(" | "), if own { "  (as trained)" } else { "" });
        }
    }
    for entry in &analysis.skipped {
        text += &format!("\nskipped: {}", skipped(entry));
    }
    text.trim_end().to_string()
}

fn range(range: Range) -> String {
    format!(
        "{} ({} to {})",
        number(range.median),
        number(range.low),
        number(range.high)
    )
}

/// Three digits or so.
fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e5).contains(&size) {
        let text = format!("{value:.4}");
        return text.trim_end_matches('0').trim_end_matches('.').to_string();
    }
    format!("{value:.2e}")
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0.0, 1.0, -0.25, 0.12345, 1234.5].map(number),
            ["0", "1", "-0.25", "0.1235", "1234.5"]
        );
        assert_eq!([1e-9, 3.2e7, f64::INFINITY].map(number), ["1.00e-9", "3.20e7", "inf"]);
    }

    #[test]
    fn a_condition_is_told_with_what_came_of_it() {
        let found = Condition {
            evaluated: 10,
            held: 4,
            shrank_where_held: 3,
            shrank_elsewhere: 1,
        };
        assert_eq!(condition(&found), ["4 of 10", "3 of 4", "1 of 6"]);
    }
}
