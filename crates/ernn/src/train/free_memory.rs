//! Memory that this process may still take: the machine's, that of its control groups, and of its limit on addresses.
//!
//! ```text
//! /proc/meminfo                          MemAvailable
//! /proc/self/cgroup, /sys/fs/cgroup/..   memory.max - (memory.current - file), of the group and all above it
//! /proc/self/limits, /proc/self/status   Max address space - VmSize
//! ```
//!
//! Pages of files count as a group's use, but the system gives them up. Where these files are not, nothing is known.

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes; none where nothing tells.
pub fn available() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| kilobytes(&text, "MemAvailable:"));
    let group = read("/proc/self/cgroup").and_then(|text| of_groups(&text, Path::new("/sys/fs/cgroup")));
    let addresses = read("/proc/self/limits")
        .zip(read("/proc/self/status"))
        .and_then(|(limits, status)| of_addresses(&limits, &status));
    [machine, group, addresses].into_iter().flatten().min()
}

/// `Name:   123 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim()
        .strip_suffix("kB")?
        .trim()
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

fn of_addresses(limits: &str, status: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(kilobytes(status, "VmSize:")?))
}

/// The least that the process's group, or one above it, has left.
fn of_groups(text: &str, root: &Path) -> Option<u64> {
    let own = text.lines().find_map(|line| line.strip_prefix("0::"));
    let second = own.and_then(|path| {
        let mut folder = root.join(path.trim().trim_start_matches('/'));
        let mut least = None;
        loop {
            least = least.into_iter().chain(left_in(&folder)).min();
            if folder == root || !folder.pop() {
                break least;
            }
        }
    });
    second.or_else(|| left_in_first_version(text, root))
}

fn left_in(folder: &Path) -> Option<u64> {
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let used = number("memory.current")?.saturating_sub(entry(&stat, "file"));
    Some(number("memory.max")?.saturating_sub(used))
}

fn left_in_first_version(text: &str, root: &Path) -> Option<u64> {
    let controllers = |line: &str| {
        line.split(':')
            .nth(1)
            .is_some_and(|names| names.split(',').any(|name| name == "memory"))
    };
    let line = text.lines().find(|line| controllers(line))?;
    let path = line.split(':').nth(2)?.trim_start_matches('/');
    let candidates: [PathBuf; 2] = [root.join("memory").join(path), root.join("memory")];
    candidates.iter().find_map(|folder| {
        let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
        let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let used = number("memory.usage_in_bytes")?.saturating_sub(entry(&stat, "total_cache"));
        Some(number("memory.limit_in_bytes")?.saturating_sub(used))
    })
}

/// `name 123`.
fn entry(text: &str, name: &str) -> u64 {
    let value = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok();
    text.lines().find_map(value).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_they_stand() {
        assert_eq!(
            kilobytes("MemFree: 1 kB\nMemAvailable:   24 kB\n", "MemAvailable:"),
            Some(24 << 10)
        );
        assert_eq!(kilobytes("", "MemAvailable:"), None);
        let limits =
            |limit: &str| format!("Limit  Soft  Hard  Units\nMax address space   {limit}   unlimited   bytes\n");
        assert_eq!(of_addresses(&limits("4096"), "VmSize:\t  1 kB\n"), Some(3072));
        assert_eq!(of_addresses(&limits("unlimited"), "VmSize:\t  1 kB\n"), None);
    }

    #[test]
    fn the_narrowest_group_counts_and_files_are_no_use_of_it() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(of_groups("0::/a/b\n", root.path()), None);
        write("a/b/memory.max", "max\n");
        write("a/b/memory.current", "10\n");
        write("a/memory.max", "1000\n");
        write("a/memory.current", "600\n");
        write("a/memory.stat", "anon 100\nfile_mapped 3\nfile 500\n");
        assert_eq!(of_groups("0::/a/b\n", root.path()), Some(900));
        write("memory/c/memory.limit_in_bytes", "100\n");
        write("memory/c/memory.usage_in_bytes", "30\n");
        assert_eq!(of_groups("5:cpu,memory:/c\n0::/\n", root.path()), Some(70));
    }
}
