//! Exported C as WebAssembly, without any library, run by node.

use std::process::Command;

use ernn::export::Samples;

use crate::models::{at_equilibrium, one_of_each};
use crate::{exported, has};

const RUN: &str = "WebAssembly.instantiate(require('fs').readFileSync(process.argv[1]), {}).then(\
                   ({ instance }) => console.log('selftest', instance.exports.ernn_selftest()))";

#[test]
fn every_cell_passes_its_self_test_as_webassembly() {
    if !["clang", "wasm-ld", "node"].into_iter().all(has) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (index, case) in one_of_each().iter().chain(&at_equilibrium()).enumerate() {
        for &numbers in case.numbers() {
            let out = folder.path().join(format!("{index}-{numbers:?}"));
            exported(case, &Samples::drawn(&case.model), numbers, &out);
            let mut clang = Command::new("clang");
            clang.args([
                "--target=wasm32",
                "-std=c99",
                "-O2",
                "-ffreestanding",
                "-fno-builtin",
                "-nostdlib",
                "-Wall",
                "-Werror",
            ]);
            clang.args([
                "-Wl,--no-entry",
                "-Wl,--export=ernn_selftest",
                "-o",
                "model.wasm",
                "ernn.c",
                "ernn_selftest.c",
            ]);
            let compiled = clang.current_dir(&out).output().unwrap();
            let said = String::from_utf8_lossy(&compiled.stderr);
            assert!(compiled.status.success(), "{}: {said}", case.name);
            let done = Command::new("node")
                .args(["-e", RUN, "model.wasm"])
                .current_dir(&out)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&done.stdout);
            assert_eq!(
                said,
                "selftest 0\n",
                "{}: {}",
                case.name,
                String::from_utf8_lossy(&done.stderr)
            );
        }
    }
}
