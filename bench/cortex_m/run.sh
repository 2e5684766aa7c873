#!/usr/bin/env bash
# Runs an export of `ernn export --to c` on an emulated Cortex-M4 and says what it takes:
#
#   bench/cortex_m/run.sh FOLDER NAME
#
# flash: code and constants of NAME.c alone; RAM: a stream's state and the scratch; stack: the deepest, measured; instructions a step.
# Needs arm-none-eabi-gcc and qemu-system-arm.
set -euo pipefail
folder=$1 name=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

flags=(-std=c99 -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -Os -ffunction-sections -fdata-sections -ffreestanding
    -Wall -Wextra -I "$folder")
arm-none-eabi-gcc "${flags[@]}" -c "$folder/$name.c" -o "$work/model.o"
arm-none-eabi-gcc "${flags[@]}" -c "$folder/${name}_selftest.c" -o "$work/selftest.o"
arm-none-eabi-gcc "${flags[@]}" -std=gnu99 -DMODEL="$name" -DUPPER="${name^^}" -DHEADER="\"$name.h\"" -c "$here/board.c" -o "$work/board.o"
arm-none-eabi-gcc "${flags[@]}" -nostdlib -T "$here/link.ld" -Wl,--gc-sections "$work/model.o" "$work/selftest.o" "$work/board.o" \
    -lgcc -o "$work/image.elf"
said=$(timeout 300 qemu-system-arm -M mps2-an386 -display none -monitor none -serial none -icount shift=0 \
    -semihosting-config enable=on,target=native -kernel "$work/image.elf" 2>&1 </dev/null)
flash=$(arm-none-eabi-size "$work/model.o" | awk 'NR == 2 { print $1 + $2 }')
ram=$(arm-none-eabi-nm -S "$work/image.elf" | awk '$4 == "state" || $4 == "scratch" { sizes[$4] = $2 }
    END { for (name in sizes) print sizes[name] }' | while read -r size; do echo $((16#$size)); done | awk '{ sum += $1 } END { print sum }')
echo "$said flash $flash ram $ram"
case $said in "selftest 0 "*) ;; *) exit 1 ;; esac
