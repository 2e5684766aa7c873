//! Exported C on an emulated Cortex-M4: `bench/cortex_m`.

use std::path::Path;
use std::process::Command;

use ernn::export::Samples;

use crate::models::{Case, at_equilibrium, derived, of_sound, one_of_each};
use crate::{exported, has};

#[test]
fn every_cell_passes_its_self_test_on_a_cortex_m4() {
    if !["arm-none-eabi-gcc", "qemu-system-arm"].into_iter().all(has) {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/cortex_m/run.sh");
    let folder = tempfile::tempdir().unwrap();
    let sound = Case {
        name: "sound".to_string(),
        model: of_sound(),
    };
    let all = one_of_each()
        .into_iter()
        .chain(at_equilibrium())
        .chain(derived())
        .chain([sound]);
    for (index, case) in all.enumerate() {
        for &numbers in case.numbers() {
            let out = folder.path().join(format!("{index}-{numbers:?}"));
            exported(&case, &Samples::drawn(&case.model), numbers, &out);
            let done = Command::new(&script).arg(&out).arg("ernn").output().unwrap();
            let said = String::from_utf8_lossy(&done.stdout);
            println!("{} {numbers:?}: {}", case.name, said.trim());
            assert!(
                said.starts_with("selftest 0 stack "),
                "{}: {said}{}",
                case.name,
                String::from_utf8_lossy(&done.stderr)
            );
            let number = |word: &str| -> u32 {
                let rest = said.split(&format!("{word} ")).nth(1).unwrap_or_default();
                rest.split_whitespace().next().unwrap_or_default().parse().unwrap()
            };
            assert!((100..1_000_000).contains(&number("instructions")), "{said}");
            // The buffers are the caller's: the stack holds calls and nothing else.
            assert!((16..512).contains(&number("stack")), "{said}");
        }
    }
}
