//! C99 of a plan: `NAME.h`, `NAME.c`, `NAME_info.c` with names and probabilities, which a program may do without, and
//! `NAME_selftest.c` with inputs and the logits that must follow; of a model of text `vocabulary.json`.
//!
//! No heap, no library, no global state: `stdint.h` is all that is included. Weights are `static const`, a stream's state and the
//! scratch are structs of the caller's. The functions of a cell are text in `float.c` and `int.c` here, of which a model takes what it
//! uses; they make the operations of `ernn-core` in the same order.

mod check;
mod header;
mod layers;
mod rename;
mod source;
mod text;
mod words;

pub(super) use self::rename::check_name;
pub use self::rename::name_for;
pub(super) use self::source::{files, template};

use super::target::Form;

pub(super) const FORM: Form = Form {
    name: "c",
    help: "A folder with a C99 header, source and self-test",
    title: "the export to C",
    files: |prepared| Ok(files(prepared).into_iter().chain(prepared.vocabulary()).collect()),
    program: check::compiler,
    run: check::compile_and_run,
    passed: "compiled, the self-test passes",
    untried: "no C compiler was found (CC, cc, gcc, clang): the C was not compiled, its arithmetic was only run in Rust",
    size: |memory, _| memory.on_flash(memory.tables, "tables"),
};
