//! `ernn-core` without an operating system: exported Rust crates on an emulated Cortex-M4 and as WebAssembly.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ernn::export::{Samples, Target};

use crate::has;
use crate::models::{Case, at_equilibrium, one_of_each};

/// What a script of `bench` says when it finds no compiler for its target.
const NO_COMPILER: i32 = 3;

/// A script, the tools it asks for, and how what it says begins.
struct Script {
    name: &'static str,
    tools: &'static [&'static str],
    begins: &'static str,
}

const SCRIPTS: [Script; 2] = [
    Script {
        name: "cortex_m/rust.sh",
        tools: &["arm-none-eabi-gcc", "qemu-system-arm"],
        begins: "selftest 0 stack ",
    },
    Script {
        name: "wasm/rust.sh",
        tools: &["clang", "wasm-ld", "node"],
        begins: "selftest 0 class ",
    },
];

/// A model of each kind of layer that the runtime tells apart: once folded, the other cells are an ERNN's.
fn kinds() -> Vec<Case> {
    let mut cases = one_of_each();
    let gru = ["gru 0", "gru 1"];
    let others = [
        "ernn 1",
        "deep-transition 0",
        "lstm 0",
        "ugrnn 0",
        "fastgrnn 1",
        "gated-antisymmetric 0",
    ];
    cases.retain(|case| gru.contains(&case.name.as_str()) || others.contains(&case.name.as_str()));
    assert_eq!(cases.len(), gru.len() + others.len());
    cases.extend(at_equilibrium().into_iter().take(2));
    cases
}

fn run(script: &Script, folder: &Path) -> Option<String> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../bench")
        .join(script.name);
    let Output { status, stdout, stderr } = Command::new(&place).arg(folder).output().unwrap();
    if status.code() == Some(NO_COMPILER) {
        println!("skipped: no Rust compiler for the target of {}", script.name);
        return None;
    }
    let said = String::from_utf8_lossy(&stdout).into_owned();
    let problem = String::from_utf8_lossy(&stderr);
    assert!(status.success() && said.starts_with(script.begins), "{said}{problem}");
    Some(said)
}

/// Also: no code of the device's image can panic, so that nothing of `core`'s formatting lies in flash.
#[test]
fn every_kind_of_layer_passes_its_self_test_on_a_cortex_m4_and_as_webassembly() {
    let scripts: Vec<&Script> = SCRIPTS
        .iter()
        .filter(|script| script.tools.iter().all(|tool| has(tool)))
        .collect();
    if scripts.is_empty() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for case in kinds() {
        for numbers in case.numbers() {
            let out: PathBuf = folder.path().join(format!("{}-{numbers:?}", case.name));
            Target::Rust
                .write(&out, &case.model, &Samples::drawn(&case.model), &numbers.options())
                .unwrap();
            for said in scripts.iter().filter_map(|script| run(script, &out)) {
                println!("{} {numbers:?}: {}", case.name, said.trim());
                assert!(!said.contains("panics ") || said.ends_with(" panics 0\n"), "{said}");
                assert!(!said.contains('-'), "a step was refused: {said}");
            }
        }
    }
}
