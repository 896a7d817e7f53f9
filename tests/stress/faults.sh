#!/usr/bin/env bash
# One-bit faults in machine code: is the instruction named that has the wrong bit?
#
#   tests/stress/faults.sh build/gemmview [SEED [N [TABLE]]]     N faults, 100; lines go to TABLE, too
#   KERNELS="k01 k07 fp32/2" tests/stress/faults.sh …            in these kernels; triton_matmul, which
#                                                               has wgmma, only if it is asked for
#   FAULTS=OLD_TABLE tests/stress/faults.sh build/gemmview        those of a table, again
#
# A bit is turned round in the bytes of a cubin, among bits 0 to 104 of an instruction that is run:
# those behind say when it is issued, not what it does. `open K.ptx --against FAULTY.cubin` then is
# all that is asked. Columns: verdict, kernel, address, bit, what it was and is, instructions named.
#
#   first      the first instruction that the report names has the fault
#   either     one of two that the report says are as likely
#   named      another one that it names
#   harmless   memory is what the PTX leaves: no word of it depends on the bit
#   refused    the bytes are no instruction, or one that is not known
#   elsewhere  other instructions are named
#   silent     memory differs, or the run is stopped, and no instruction is named
#
# The last line is `located X of Y`: X first, either and named, Y without harmless and refused ones.
set -euo pipefail
program=$1 seed=${2:-1} most=${3:-100} table=${4:-/dev/null}
here=tests/data/open
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A shim of a version manager starts ten times as slowly as what it starts.
python=$(python3 -c 'import sys; print(sys.executable)') words=$(dirname "$0")/faults_words.py
FAULTS_NVDISASM=$(command -v nvdisasm)
printf '#!/bin/sh\nexec "%s" -S -E "%s" "$@"\n' "$python" "$(realpath "$words")" >"$work/nvdisasm"
chmod +x "$work/nvdisasm"
export FAULTS_NVDISASM FAULTS_STORE=$work/store GEMMVIEW_NVDISASM=$work/nvdisasm

launches() {
  cat <<'END'
k01 grid=8x7,block=32x8 mem:200000:zero mem:200000 250 200
k03 grid=8x6,block=32x4 mem:196608 mem:196608 256 192
k05 grid=4x4,block=256 mem:262144 mem:262144 mem:262144 256
k07 grid=24,block=512 mem:400012 mem:96 mem:96 100003
k09 grid=3x4,block=256 256 192 80 1.25 mem:81920 mem:61440 0.5 mem:196608
k11 grid=2x3,block=128 mem:98304 mem:65536 mem:393216 384 256 128
k13 grid=8x8,block=32x8 mem:60000 mem:60000 250 60 0.2
k15 grid=20,block=192 mem:120004 mem:1032:zero 30001
k17 grid=8x2,block=128 mem:32768 mem:32768 mem:32768 mem:32768 128 0.125
k19 grid=24,block=160,smem=16000 mem:46080 mem:15360 6
triton_matmul assembled grid=1,block=128,smem=24576 mem:65536 mem:65536 mem:65536 64 64 64 mem:4096 mem:4096
fp32/1 rung
fp32/2 rung
fp32/5 rung
hgemm/1 rung
END
}

# s = s * 1664525 + 1013904223, its upper bits
draw() {
  state=$(((state * 1664525 + 1013904223) & 0xffffffff))
  drawn=$(((state >> 8) % $1))
}

# A rung's kernel as PTX and machine code, for 64 x 64 x 32.
rung() {
  local text=$work/${1/\//_}
  "$program" cuda -k "$1,M=64,N=64,K=32" >"$text.cu" && command -v nvcc >/dev/null || return 1
  nvcc -std=c++17 -arch=sm_90a -lineinfo -ptx "$text.cu" -o "$text.ptx" 2>"$work/why" || return 1
  ptxas -arch=sm_90a -lineinfo "$text.ptx" -o "$text.cubin" 2>"$work/why" || return 1
  ptx=$text.ptx cubin=$text.cubin
  options=$(sed -n 's/^\/\/ *[a-z_0-9]*<<<\([0-9]*\), \([0-9]*\)>>>(A, B, C).*/--launch grid=\1,block=\2/p' "$text.cu")
  [ -n "$options" ] || return 1
  options="$options --arg mem:16384 --arg mem:16384 --arg mem:16384"
}

# ptx, cubin and options of a kernel; where its code lies in the cubin; its instructions in `code`.
settle() {
  local row
  row=$(launches | grep "^$1 ") || { echo "faults: no kernel $1" >&2 && exit 2; }
  if [ "${row#* }" = rung ]; then
    rung "$1" || { echo "faults: $1 is left out: it needs nvcc, and a kernel of A, B and C" && return 1; }
  elif [[ $row = *" assembled "* ]]; then
    # A text may name a version that is newer than the assembler.
    set -- $row
    ptx=$work/$1.ptx cubin=$work/$1.cubin options="--launch $3"
    sed 's/^\.version .*/.version 8.7/' "$here/$1.ptx" >"$ptx"
    ptxas -arch=sm_90a -lineinfo "$ptx" -o "$cubin" || { echo "faults: $1 is left out" && return 1; }
    shift 3
    options="$options$(printf ' --arg %s' "$@")"
  else
    set -- $row
    ptx=$here/$1.ptx cubin=tests/data/machine/open/$1.cubin options="--launch $2"
    shift 2
    options="$options$(printf ' --arg %s' "$@")"
  fi
  read -r text bytes < <(readelf -SW "$cubin" 2>/dev/null |
    sed -n 's/^ *\[ *[0-9]*\] \.text\.[^ ]* *PROGBITS *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\) .*/\1 \2/p')
  nvdisasm -c "$cubin" | sed -n 's/^ *\/\*\([0-9a-f]*\)\*\/ *\(.*\) ;.*/\1 \2/p' >"$work/code"
  # Behind the last EXIT there is filling.
  mapfile -t code < <(grep -v ' NOP$' "$work/code" | sed '$d')
}

# Instructions that the report names, the first one first.
named_by() {
  sed -nE 's/^  (right with|as likely|made by|or by|or a change in) +\/\*0*([0-9a-f]+)\*\/.*/\1|\2/p' "$1" |
    sed -e '/^right with/s/^/1/;/^as likely/s/^/2/;/^[a-z]/s/^/3/' | sort -s -t'|' -k1,1 | sed 's/.*|//' | tr '\n' ' '
}

# Addresses and bits of faults of a kernel: drawn, or those of the old table.
draw_faults() {
  local n
  if [ -n "${FAULTS:-}" ]; then
    awk -F'\t' -v kernel="$1" '$2 == kernel { print $3, $4 }' "$FAULTS"
    return
  fi
  for ((n = 0; n < $2; n++)); do
    draw ${#code[@]}
    local at=0x${code[drawn]%% *}
    draw 105
    echo "$at $drawn"
  done
}

# The texts of all words that they may ask for are learned at once.
plant_all() {
  local at bit
  "$python" "$words" learn "$cubin" $((16#$text)) $((16#$bytes)) "$work/store" "$work/faults"
  while read -r at bit <&3; do plant "$1" "${at#0x}" "$bit"; done 3<"$work/faults"
}

declare -A counts=([first]=0 [either]=0 [named]=0 [harmless]=0 [refused]=0 [elsewhere]=0 [silent]=0)
plant() {
  local at=$2 was bit=$3 verdict=elsewhere status=0 names byte is
  was=$(sed -n "s/^$at //p" "$work/code")
  byte=$((16#$text + 16#$at + bit / 8))
  cp "$cubin" "$work/faulty.cubin" && chmod u+w "$work/faulty.cubin"
  local old
  old=$(od -An -tu1 -j$byte -N1 "$cubin")
  printf "\\x$(printf %x $((old ^ 1 << bit % 8)))" |
    dd of="$work/faulty.cubin" bs=1 seek=$byte conv=notrunc status=none
  "$program" open "$ptx" $options --against "$work/faulty.cubin" --budget 100 >"$work/out" 2>"$work/err" || status=$?
  names=$(named_by "$work/out")
  case " $names" in
    " $(printf %x $((16#$at))) "*) verdict=first ;;
    *" $(printf %x $((16#$at))) "*) verdict=named ;;
    ' ') verdict=silent ;;
  esac
  if grep -q '^  as likely ' "$work/out"; then
    case " $(cut -d' ' -f1,2 <<<"$names") " in *" $(printf %x $((16#$at))) "*) verdict=either ;; esac
  fi
  [ "$status" = 0 ] && verdict=harmless
  [ "$status" -gt 1 ] && verdict=refused
  # Where the instruction itself is not known, or goes where there is none, the run ends there.
  grep -q "machine code not_run: .*(at 0x$(printf %x $((16#$at))))" "$work/out" && verdict=refused
  is=$("$GEMMVIEW_NVDISASM" -c "$work/faulty.cubin" 2>/dev/null |
    sed -n "s/^ *\/\*$at\*\/ *\(.*\) ;.*/\1/p" || true)
  counts[$verdict]=$((counts[$verdict] + 1))
  printf '%s\t%s\t0x%s\t%d\t%s\t%s\t%s\n' "$verdict" "$1" "$at" "$bit" "$was" "${is:-no instruction}" "$names" |
    tee -a "$table"
}

state=$((seed * 104729 & 0xffffffff))
: >"$table"
kernels=()
[ -z "${FAULTS:-}" ] || KERNELS=$(cut -f2 "$FAULTS" | uniq)
for kernel in ${KERNELS:-$(launches | sed '/ assembled /d;s/ .*//')}; do kernels+=("$kernel"); done
for i in "${!kernels[@]}"; do
  share=$((most * (i + 1) / ${#kernels[@]} - most * i / ${#kernels[@]}))
  settle "${kernels[i]}" || continue
  # Not in a shell of its own: the state goes on.
  draw_faults "${kernels[i]}" "$share" >"$work/faults"
  plant_all "${kernels[i]}"
done
for verdict in first either named elsewhere silent harmless refused; do
  echo "faults: $verdict ${counts[$verdict]}"
done
located=$((counts[first] + counts[either] + counts[named]))
echo "located $located of $((located + counts[elsewhere] + counts[silent]))"
