//! Report: results become one page, and the same in Markdown.
//!
//! ```text
//! result files of reproduce, run folders, comparisons -> groups (one a table) -> rows -> HTML with SVG inside, Markdown
//! ```
//!
//! The page needs nothing else: no script, no font, no network. It reads well on a phone, in dark surroundings and on paper: the main table
//! fits the narrowest screen, and what is wider stands behind a line that opens it. All text that comes from files is escaped.

mod collect;
mod confusion;
mod figures;
mod group;
mod markdown;
mod overfitting;
mod page;
mod scatter;
mod speed;
mod tables;
mod timeline;

use std::path::Path;

pub use collect::collect;
pub use group::{Group, GroupRow};
pub use markdown::markdown;
pub(crate) use page::document;
pub use page::html;
pub(crate) use tables::table;

use ernn::Result;
use ernn::checkpoint::write_with_folder;

/// Stands in every report, so that one may be replaced by the next.
pub const GENERATOR: &str = "<!-- generator: ernn report -->";

/// Writes a report, and its folder if there is none.
pub fn write(path: &Path, text: &str) -> Result<()> {
    write_with_folder(path, text.as_bytes())
}
