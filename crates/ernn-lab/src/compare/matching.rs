//! Models of different cells with as many parameters.

use toml::Value;

use ernn::Result;
use ernn::data::Dataset;
use ernn::train::RunConfig;

/// The largest hidden size that a cell takes.
const LARGEST: usize = 65_536;

/// Numbers in the whole model, readout included.
pub(crate) fn parameters(settings: &RunConfig, dataset: &Dataset) -> usize {
    let spans = settings.model_for(dataset).spans();
    spans.last().map_or(0, |span| span.range().end)
}

/// Gives all layers the hidden size with which the number of parameters comes closest to `target`; the smaller one of two as
/// close. The settings are valid as they are; a size that they do not allow (below the rank) is not taken.
pub(super) fn match_parameters(settings: &mut RunConfig, dataset: &Dataset, target: usize) -> Result<()> {
    let with = |hidden: usize| -> Result<RunConfig> {
        let mut settings = settings.clone();
        settings.set_in_layers("hidden", &Value::Integer(hidden as i64))?;
        Ok(settings)
    };
    // The number of parameters grows with the size, and so does what a rank allows: both are found by halving.
    let smallest = first_size(|hidden| Ok(with(hidden)?.check().is_ok()))?;
    let above = first_size(|hidden| Ok(parameters(&with(hidden)?, dataset) > target))?;
    let distance = |hidden: usize| Ok(parameters(&with(hidden)?, dataset).abs_diff(target));
    let (below, above) = ((above - 1).max(smallest), above.max(smallest));
    let best = if distance(above)? < distance(below)? {
        above
    } else {
        below
    };
    *settings = with(best)?;
    Ok(())
}

/// The smallest size for which `holds`, which then holds for all larger ones; the largest one if there is none.
fn first_size(holds: impl Fn(usize) -> Result<bool>) -> Result<usize> {
    let (mut low, mut high) = (1, LARGEST);
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle)? {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low)
}
