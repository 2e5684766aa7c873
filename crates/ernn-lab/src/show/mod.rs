//! Show: a data set becomes one page, to look at before anything is trained.
//!
//! ```text
//! Dataset -> measure (classes, lengths, channels by class and by group, examples) -> page: HTML with SVG inside
//! ```
//!
//! Of the test part only the number of its sequences is shown: who looks at what judges, chooses by it.

mod examples;
mod measure;
mod page;

pub use measure::{Shown, measure};
pub use page::html;

/// Stands in every page, so that one may be replaced by the next.
pub const GENERATOR: &str = "<!-- generator: ernn data show -->";
