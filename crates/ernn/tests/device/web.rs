//! Models as WebAssembly, run by node: all logits of all samples, and files that appear whole or not at all.

use ernn::export::{Options, Samples, Target};

use crate::has;
use crate::models::{Case, at_equilibrium, derived, of_a_number, of_several_numbers, one_of_each};

fn tools() -> bool {
    ["clang", "wasm-ld", "node"].into_iter().all(has)
}

#[test]
fn every_cell_says_as_webassembly_what_it_says_in_rust() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let number = Case {
        name: "a number".to_string(),
        model: of_a_number(300.0, 5.0),
    };
    let all = one_of_each().into_iter().chain(at_equilibrium()).chain(derived());
    let several = Case {
        name: "quantiles of two numbers".to_string(),
        model: of_several_numbers(&[(300.0, 5.0), (-2e-4, 1e-5)], &[0.1, 0.9]),
    };
    let all = all.chain([number, several]);
    for (index, case) in all.enumerate() {
        for numbers in case.numbers() {
            let out = folder.path().join(format!("{index}-{numbers:?}"));
            let report = Target::Web
                .write(&out, &case.model, &Samples::drawn(&case.model), &numbers.options())
                .unwrap_or_else(|error| panic!("{}: {error}", case.name));
            assert!(
                report.program.is_some() && report.same_bits == Some(true),
                "{}: {report:?}",
                case.name
            );
            let module = std::fs::read(out.join("ernn.wasm")).unwrap();
            let size = format!("module: {} bytes, ", module.len());
            assert!(report.size.starts_with(&size), "{}", report.size);
            assert_eq!(&module[..4], b"\0asm");
        }
    }
}

/// A page is one file: what it holds is the module, and nothing of it is loaded.
#[test]
fn a_page_needs_no_other_file() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let case = &one_of_each()[0];
    let options = Options {
        name: "mine".to_string(),
        ..Options::default()
    };
    let out = folder.path().join("out");
    Target::Web
        .write(&out, &case.model, &Samples::drawn(&case.model), &options)
        .unwrap();
    let page = std::fs::read_to_string(out.join("mine.html")).unwrap();
    for word in ["src=", "href=", "fetch(", "import "] {
        assert!(!page.contains(word), "{word}");
    }
    let names: Vec<_> = std::fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}
