#!/usr/bin/env bash
# Runs an export of `ernn export --to c` on an emulated Cortex-M4 and says what it takes:
#
#   bench/cortex_m/run.sh FOLDER NAME
#
# flash: code and constants of NAME.c (and of NAME_sound.c and NAME_listen.c, where they are); RAM: what the caller keeps; stack: the deepest,
# measured; instructions a step; of a model that listens those of a step of its windows, of one that hears those of its front end.
# OPTIMIZE=-O2 in the environment takes the place of -Os.
# Needs arm-none-eabi-gcc and qemu-system-arm.
set -euo pipefail
folder=$1 name=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

flags=(-std=c99 -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 "${OPTIMIZE:--Os}" -ffunction-sections -fdata-sections -ffreestanding
    -Wall -Wextra -I "$folder")
arm-none-eabi-gcc "${flags[@]}" -c "$folder/$name.c" -o "$work/model.o"
objects=("$work/model.o")
also=()
for part in sound:HEARS listen:LISTENS; do
    file=$folder/${name}_${part%:*}.c
    [ -e "$file" ] || continue
    arm-none-eabi-gcc "${flags[@]}" -c "$file" -o "$work/${part%:*}.o"
    objects+=("$work/${part%:*}.o")
    also+=("-D${part#*:}")
done
arm-none-eabi-gcc "${flags[@]}" -c "$folder/${name}_selftest.c" -o "$work/selftest.o"
arm-none-eabi-gcc "${flags[@]}" -std=gnu99 -DMODEL="$name" -DUPPER="${name^^}" -DHEADER="\"$name.h\"" "${also[@]}" -c "$here/board.c" -o "$work/board.o"
arm-none-eabi-gcc "${flags[@]}" -nostdlib -T "$here/link.ld" -Wl,--gc-sections "${objects[@]}" "$work/selftest.o" "$work/board.o" \
    -lgcc -o "$work/image.elf"
said=$(timeout 300 qemu-system-arm -M mps2-an386 -display none -monitor none -serial none -icount shift=0 \
    -semihosting-config enable=on,target=native -kernel "$work/image.elf" 2>&1 </dev/null)
flash=$(arm-none-eabi-size "${objects[@]}" | awk 'NR > 1 { sum += $1 + $2 } END { print sum }')
ram=$(arm-none-eabi-nm -S "$work/image.elf" | awk '$4 ~ /^(state|scratch|windows|events|sound|work)$/ { if (sizes[$4] == "" || $2 > sizes[$4]) sizes[$4] = $2 }
    END { for (name in sizes) print sizes[name] }' | while read -r size; do echo $((16#$size)); done | awk '{ sum += $1 } END { print sum }')
echo "$said flash $flash ram $ram"
case $said in "selftest 0 "*) ;; *) exit 1 ;; esac
