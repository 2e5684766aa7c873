//! ONNX Runtime, where Python has it.

use std::path::Path;
use std::process::Command;

/// Runs all files of a folder by `reference/onnx_runtime.py`, whose head says what the folder holds; gives what it printed, or nothing
/// (and says so) where Python or ONNX Runtime is missing. `ERNN_PYTHON` names another Python than `python3`.
///
/// # Panics
/// If a number is further than `tolerance` from the expected one.
pub fn run(folder: &Path, tolerance: f64) -> Option<String> {
    let python = std::env::var("ERNN_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let found = Command::new(&python)
        .args(["-c", "import numpy, onnx, onnxruntime"])
        .output();
    if !found.is_ok_and(|output| output.status.success()) {
        println!("skipped: {python} cannot import numpy, onnx and onnxruntime (ERNN_PYTHON names another Python)");
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/onnx_runtime.py");
    let done = Command::new(&python)
        .arg(script)
        .arg(folder)
        .args(["--rtol", &tolerance.to_string()])
        .output()
        .expect("a Python that was just there");
    let [said, errors] = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(done.status.success(), "{said}{errors}");
    println!("{said}");
    Some(said)
}
