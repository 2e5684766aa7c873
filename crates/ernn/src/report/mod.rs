//! Report: results become one page, and the same in Markdown.
//!
//! ```text
//! result files of reproduce, run folders, comparisons -> groups (one a table) -> rows -> HTML with SVG inside, Markdown
//! ```
//!
//! The page needs nothing else: no script, no font, no network. It reads well on a phone (wide things scroll inside their box), in
//! dark surroundings and on paper. All text that comes from files is escaped.

mod collect;
mod confusion;
mod figures;
mod group;
mod markdown;
mod page;
mod speed;
mod tables;

use std::fs;
use std::path::Path;

pub use collect::collect;
pub use group::{Group, GroupRow};
pub use markdown::markdown;
pub(crate) use page::document;
pub use page::html;
pub(crate) use tables::table;

use crate::checkpoint::write_atomically;
use crate::{Error, Result};

/// Stands in every report, so that one may be replaced by the next.
pub const GENERATOR: &str = "<!-- generator: ernn report -->";

/// Writes a report, and its folder if there is none.
pub fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|source| Error::Io {
            path: folder.to_path_buf(),
            action: "create",
            source,
        })?;
    }
    write_atomically(path, text.as_bytes())
}
