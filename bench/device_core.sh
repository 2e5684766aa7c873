#!/usr/bin/env bash
# A Rust compiler for a target without an operating system, and where that target's `core` lies:
#
#   bench/device_core.sh TARGET
#
# writes two lines, the compiler and its sysroot. The compiler on the PATH is taken where `rustup target add TARGET` has been; else
# Debian's (packages rustc-web and rust-web-src), with which `core` is compiled once, into target/device-core. Ends with 3 if there is neither.
set -euo pipefail
target=$1
here=$(cd "$(dirname "$0")" && pwd)

found=$(rustc --print target-libdir --target "$target" 2>/dev/null || true)
if [ -n "$found" ] && compgen -G "$found/libcore-*.rlib" >/dev/null; then
    command -v rustc
    rustc --print sysroot
    exit
fi

rustc=/usr/bin/rustc
version=$("$rustc" --version 2>/dev/null | awk '{ print $2 }') || exit 3
source=/usr/src/rustc-$version/library/core/src/lib.rs
[ -n "$version" ] && [ -f "$source" ] || exit 3

root=${ERNN_DEVICE_CORE:-$here/../target/device-core}/$version
libraries=$root/lib/rustlib/$target/lib
if [ ! -d "$libraries" ]; then
    # Made beside its place and moved there whole: others may be doing the same.
    mkdir -p "$root"
    work=$(mktemp -d "$root/.new.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    flags=(--target "$target" --edition 2024 --crate-type rlib -O -C panic=abort -C codegen-units=1 --cap-lints allow
        -Z force-unstable-if-unmarked)
    export RUSTC_BOOTSTRAP=1
    made=$work/lib/rustlib/$target/lib
    mkdir -p "$made"
    "$rustc" "${flags[@]}" --crate-name core -o "$made/libcore.rlib" "$source"
    # Every no_std crate asks for it; what it holds elsewhere, the linker takes from the C compiler's library.
    echo '#![feature(compiler_builtins)] #![compiler_builtins] #![no_std]' |
        "$rustc" "${flags[@]}" --sysroot "$work" --crate-name compiler_builtins -o "$made/libcompiler_builtins.rlib" -
    mkdir -p "$root/lib/rustlib/$target"
    mv -T "$made" "$libraries" 2>/dev/null || [ -d "$libraries" ]
fi
echo "$rustc"
echo "$root"
