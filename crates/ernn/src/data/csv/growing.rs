//! Numbers that become more while a table is read: memory is asked for an eighth at a time, and a refusal is an error.

use std::path::Path;

use crate::{Error, Result};

/// Makes room for more entries. Doubling, as `Vec` does it, would take up to twice what is needed.
pub(super) fn make_room<T>(entries: &mut Vec<T>, more: usize, path: &Path) -> Result<()> {
    if entries.capacity() - entries.len() >= more {
        return Ok(());
    }
    let step = more.max(entries.len() / 8).max(1024);
    let reserved = entries
        .try_reserve_exact(step)
        .or_else(|_| entries.try_reserve_exact(more));
    reserved.map_err(|_| {
        let bytes = (entries.len() + more).saturating_mul(size_of::<T>());
        let problem = format!(
            "found values that take over {:.0} MB after {} of them, expected as much free memory",
            bytes as f64 / 1e6,
            entries.len()
        );
        Error::data(path.display(), problem)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_grows_by_an_eighth_and_a_refusal_is_an_error() {
        let mut entries = vec![0_u8; 80_000];
        entries.shrink_to_fit();
        make_room(&mut entries, 10, Path::new("a.csv")).unwrap();
        assert!(
            (90_000..100_000).contains(&entries.capacity()),
            "{}",
            entries.capacity()
        );
        let error = make_room(&mut entries, usize::MAX / 2, Path::new("a.csv"))
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("a.csv: found values that take over"), "{error}");
    }
}
