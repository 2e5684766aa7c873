#!/usr/bin/env bash
# Compiles an export of `ernn export --to rust` to WebAssembly without any library and runs its self-test in node:
#
#   bench/wasm/rust.sh FOLDER
#
# Needs node, wasm-ld, and a Rust compiler for the target (see ../device_core.sh). Ends with 3 without the latter.
set -euo pipefail
folder=$1
here=$(cd "$(dirname "$0")" && pwd)
target=wasm32-unknown-unknown
compiler=$("$here/../device_core.sh" "$target")
rustc=$(sed -n 1p <<<"$compiler") sysroot=$(sed -n 2p <<<"$compiler")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

rust=("$rustc" --target "$target" --sysroot "$sysroot" -C opt-level=s -C panic=abort -C codegen-units=1 -L "$work" --out-dir "$work")
"${rust[@]}" --edition 2024 --crate-type rlib --crate-name ernn_core "$folder/ernn-core/src/lib.rs"
"${rust[@]}" --edition 2024 --crate-type rlib --crate-name model --extern ernn_core="$work/libernn_core.rlib" "$folder/src/lib.rs"
"${rust[@]}" --edition 2021 --crate-name shim --extern model="$work/libmodel.rlib" "$here/../cortex_m/shim.rs"
clang --target=wasm32 -O2 -ffreestanding -fno-builtin -c "$here/../cortex_m/memory.c" -o "$work/memory.o"
wasm-ld --no-entry --export=rust_selftest --export=rust_steps --strip-all --gc-sections "$work/libshim.a" "$work/memory.o" \
    -o "$work/model.wasm"
node -e "WebAssembly.instantiate(require('fs').readFileSync(process.argv[1]), {}).then(({ instance: { exports } }) =>
    console.log('selftest', exports.rust_selftest(), 'class', exports.rust_steps(64)))" "$work/model.wasm"
