//! Which program this is: version, revision, and the instruction set that it uses here.

use ernn::Isa;

/// `0.1.0, revision 0123456789ab, instruction set avx2`.
pub fn long() -> String {
    let revision = option_env!("ERNN_BUILT_FROM").unwrap_or("unknown");
    let set = format!("{:?}", Isa::best()).to_lowercase();
    format!(
        "{}, revision {revision}, instruction set {set}",
        env!("CARGO_PKG_VERSION")
    )
}
