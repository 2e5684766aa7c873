//! Figures of numbers to predict as text.

use ernn::evaluate::{Baseline, NumberReport, QuantileReport, figures};
use ernn::names;

use crate::output::percent;
use crate::table::{Cell, Table};
use crate::terminal::{COLUMNS, Look, Stream};

/// Targets of a table at most.
const MOST_TARGETS: usize = 48;

/// Errors of numbers, beside those of who knows nothing; of several targets a table as well.
pub fn text(found: &NumberReport) -> String {
    let colors = Stream::Out.has_colors();
    let own = Look::Bold.paint(
        &errors(found.root_mean_squared_error, found.mean_absolute_error),
        colors,
    );
    let r2 = found.r2.map_or_else(String::new, |r2| format!(", R2 {r2:.3}"));
    let quantiles = found.quantiles.as_ref().map_or_else(String::new, quantiles);
    let several = !found.targets.is_empty();
    let always = found.always_mean.as_ref().map_or_else(String::new, |always| {
        let whose = match several {
            true => "always the means of the training part".to_string(),
            false => format!("always the mean of the training part ({})", figures(always.answer)),
        };
        let errors = errors(always.root_mean_squared_error, always.mean_absolute_error);
        format!("\n{whose}: {errors}")
    });
    let line = |own: &Baseline| {
        let errors = errors(own.root_mean_squared_error, own.mean_absolute_error);
        format!("\n{}: {errors}", names::line(&own.name))
    };
    let baselines: String = found.baselines.iter().map(line).collect();
    let table = if several {
        format!("\n\n{}", of_targets(found, colors))
    } else {
        String::new()
    };
    format!("{own}{r2}{quantiles}{always}{baselines}{table}")
}

fn errors(root_mean_squared: f64, mean_absolute: f64) -> String {
    format!("RMSE {}, MAE {}", figures(root_mean_squared), figures(mean_absolute))
}

fn quantiles(found: &QuantileReport) -> String {
    let loss = format!("\nquantiles: pinball loss {}", figures(found.mean_pinball_loss));
    let (Some(coverage), Some(expected), [first, .., last]) =
        (found.coverage, found.expected_coverage(), &found.quantiles[..])
    else {
        return loss;
    };
    format!(
        "{loss}, {} of the numbers from q{first} to q{last} (right would be {})",
        percent(coverage),
        percent(expected)
    )
}

/// A line a target.
fn of_targets(found: &NumberReport, colors: bool) -> String {
    let covered = found.targets.iter().any(|target| target.quantiles.is_some());
    let mut head = vec!["target", "RMSE", "MAE", "R2"];
    head.extend(covered.then_some("pinball loss"));
    let mut table = Table::new(head);
    for target in found.targets.iter().take(MOST_TARGETS) {
        let mut cells: Vec<Cell> = vec![
            names::line(target.name.as_deref().unwrap_or_default()).into(),
            figures(target.root_mean_squared_error).into(),
            figures(target.mean_absolute_error).into(),
            target
                .r2
                .map_or_else(|| "-".to_string(), |r2| format!("{r2:.3}"))
                .into(),
        ];
        cells.extend(
            target
                .quantiles
                .as_ref()
                .map(|own| Cell::from(figures(own.mean_pinball_loss))),
        );
        table.row(cells);
    }
    let mut lines = table.lines(COLUMNS, colors);
    match found.targets.len().saturating_sub(MOST_TARGETS) {
        0 => {}
        more => lines.push(format!("  and {more} more, all of them in --json")),
    }
    lines.join("\n")
}
