//! The `ernn` command.
fn main() {}
