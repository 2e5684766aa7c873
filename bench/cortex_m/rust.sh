#!/usr/bin/env bash
# Runs an export of `ernn export --to rust` on an emulated Cortex-M4 and says what it takes:
#
#   bench/cortex_m/rust.sh FOLDER
#
# flash: the whole image, with the board's start; stack: the deepest, of which state and scratch are a part; instructions a step.
# Needs arm-none-eabi-gcc, qemu-system-arm, and a Rust compiler for the target (see ../device_core.sh). Ends with 3 without the latter.
set -euo pipefail
folder=$1
here=$(cd "$(dirname "$0")" && pwd)
target=thumbv7em-none-eabihf
compiler=$("$here/../device_core.sh" "$target")
rustc=$(sed -n 1p <<<"$compiler") sysroot=$(sed -n 2p <<<"$compiler")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

rust=("$rustc" --target "$target" --sysroot "$sysroot" -C opt-level=s -C panic=abort -C codegen-units=1 -C target-cpu=cortex-m4
    -L "$work" --out-dir "$work")
"${rust[@]}" --edition 2024 --crate-type rlib --crate-name ernn_core "$folder/ernn-core/src/lib.rs"
"${rust[@]}" --edition 2024 --crate-type rlib --crate-name model --extern ernn_core="$work/libernn_core.rlib" "$folder/src/lib.rs"
"${rust[@]}" --edition 2021 --crate-name shim --extern model="$work/libmodel.rlib" "$here/shim.rs"

flags=(-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -Os -ffunction-sections -fdata-sections -ffreestanding -Wall -Wextra)
arm-none-eabi-gcc "${flags[@]}" -std=gnu99 -DRUST -DHEADER='"rust.h"' -I "$here" -c "$here/board.c" -o "$work/board.o"
arm-none-eabi-gcc "${flags[@]}" -std=c99 -fno-tree-loop-distribute-patterns -c "$here/memory.c" -o "$work/memory.o"
arm-none-eabi-gcc "${flags[@]}" -nostdlib -T "$here/link.ld" -Wl,--gc-sections "$work/board.o" "$work/libshim.a" "$work/memory.o" \
    -lgcc -z noexecstack -o "$work/image.elf"
said=$(timeout 300 qemu-system-arm -M mps2-an386 -display none -monitor none -serial none -icount shift=0 \
    -semihosting-config enable=on,target=native -kernel "$work/image.elf" 2>&1 </dev/null)
flash=$(arm-none-eabi-size "$work/image.elf" | awk 'NR == 2 { print $1 + $2 }')
# Functions that only a panic calls.
panics=$(arm-none-eabi-nm -C "$work/image.elf" | grep -c panicking || true)
echo "$said flash $flash panics $panics"
case $said in "selftest 0 "*) ;; *) exit 1 ;; esac
