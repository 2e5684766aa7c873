//! A crate of `ernn export --to rust` as functions for C: for the board of `board.c`, and for WebAssembly.
//!
//! State and scratch lie on the stack, so that nothing here is unsafe.
#![no_std]
#![crate_type = "staticlib"]

use model::{SIZES, Session};

/// Never there, as no path leads to it: `rust.sh` looks for it.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}

/// 0, or the number of the first sequence that came out wrong, or -1 for an image that was changed.
#[no_mangle]
pub extern "C" fn rust_selftest() -> i32 {
    match model::selftest() {
        Ok(()) => 0,
        Err(0) => -1,
        Err(sequence) => sequence as i32,
    }
}

/// So many steps of one stream, their inputs 0; gives the class, so that nothing is left out.
#[no_mangle]
pub extern "C" fn rust_steps(count: i32) -> i32 {
    let (mut state, mut scratch) = ([Default::default(); SIZES.state], [Default::default(); SIZES.scratch]);
    let mut logits = [Default::default(); SIZES.outputs];
    let Ok(model) = model::model() else { return -1 };
    let Ok(mut session) = Session::new(&model, &mut state) else { return -2 };
    for _ in 0..count {
        let pushed = if model.reads_tokens() {
            session.push_token(&mut scratch, 0)
        } else {
            session.push(&mut scratch, &[0.0; SIZES.inputs])
        };
        if pushed.is_err() {
            return -3;
        }
    }
    session.class(&mut scratch, &mut logits).map_or(-4, |class| class as i32)
}
