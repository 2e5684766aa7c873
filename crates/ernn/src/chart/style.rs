//! The style of all charts: plain colors first, those for dark surroundings over them.

use super::look::{COLORS, DASHES, PAPERS};

const INK: (&str, &str) = ("#1f2328", "#e6edf3");
const SOFT: (&str, &str) = ("#57606a", "#9198a1");
const RULE: (&str, &str) = ("#d8dee4", "#30363d");
/// A point that stands out: of no cell's color.
const STANDS_OUT: (&str, &str) = ("#d1242f", "#ff7b72");

/// What a page with charts needs once.
pub fn style() -> String {
    let dashes = DASHES.iter().enumerate();
    let dashes: String = dashes
        .map(|(index, dash)| format!("  .d{index} {{ stroke-dasharray: {dash} }}\n"))
        .collect();
    let (light, dark) = (colors(|pair| pair.0), colors(|pair| pair.1));
    format!(
        "
  svg text {{ font: 13px system-ui, sans-serif }} svg .title {{ font-weight: 600; font-size: 15px }}
  .line {{ fill: none; stroke-width: 2; stroke-linejoin: round }} .thin {{ stroke-width: 1 }} .band {{ opacity: .18 }}
  .marker {{ stroke-width: 1 }} .hollow {{ stroke-width: 2 }} .mark {{ stroke-dasharray: 4 4 }}
  .label {{ stroke-width: 4; paint-order: stroke; stroke-linejoin: round }}
{dashes}{light}  @media screen and (prefers-color-scheme: dark) {{
{dark}  }}
"
    )
}

/// The rules that have a color.
fn colors(pick: fn((&'static str, &'static str)) -> &'static str) -> String {
    let (paper, ink, soft, rule) = (pick(PAPERS), pick(INK), pick(SOFT), pick(RULE));
    let mut rules = format!(
        "  svg text {{ fill: {ink} }} svg .soft, svg .tick {{ fill: {soft} }} .paper {{ fill: {paper} }}\n  \
         .grid {{ stroke: {rule} }} .axis, .mark {{ stroke: {soft} }} .label, .marker, .stands-out {{ stroke: {paper} }}\n  \
         .hollow {{ fill: {paper} }} .bar {{ fill: {} }} .stands-out {{ fill: {} }}\n",
        pick(COLORS[0]),
        pick(STANDS_OUT)
    );
    for (index, color) in COLORS.into_iter().enumerate() {
        let color = pick(color);
        rules += &format!("  .c{index} {{ stroke: {color} }} .f{index} {{ fill: {color} }}\n");
    }
    rules
}
