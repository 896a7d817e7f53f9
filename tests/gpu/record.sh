#!/bin/sh
# Programs recorded on a GPU, unchanged, and their capsules opened: what the CPU makes of the launch beside
# what the GPU left. Needs nvcc; Triton and PyTorch where python3 has them.
#
#   tests/gpu/record.sh            one line for each: recorded, opened, words that are equal
#
# $GEMMVIEW is the program. Ends with 1 when a program did not pass its own check, or was not recorded.
set -u
here=$(cd "$(dirname "$0")" && pwd)
data=$here/../data/record
G=${GEMMVIEW:-$here/../../build/gemmview}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# try NAME OPTIONS PROGRAM…: recorded by OPTIONS, then opened.
try() {
  name=$1 options=$2
  shift 2
  # shellcheck disable=SC2086  # options are meant to be split
  if "$G" record $options -o "$work/$name.capsule" -- "$@" >"$work/$name.out" 2>"$work/$name.err"; then
    "$G" open "$work/$name.capsule" --text --compare >"$work/$name.open" 2>>"$work/$name.err"
    status=$?
    echo "$name: recorded, $(wc -c <"$work/$name.capsule") bytes; open $status: $(grep 'words that changed' "$work/$name.open")"
    grep 'the first that differs' "$work/$name.open"
  else
    failed=1
    echo "$name: $(tail -n 2 "$work/$name.out" "$work/$name.err" | tr '\n' ' ')"
  fi
}

# overhead PROGRAM…: its wall time without and with the driver in front, nothing recorded.
overhead() {
  began=$(date +%s.%N)
  "$@" >/dev/null
  between=$(date +%s.%N)
  "$G" record --list -- "$@" >/dev/null 2>&1
  ended=$(date +%s.%N)
  echo "overhead of $*: $(echo "$began $between $ended" | awk '{print $2 - $1 " s, " $3 - $2 " s behind the driver"}')"
}

for name in add sgemm wgmma; do
  arch=90a
  nvcc -gencode arch=compute_$arch,code=[compute_$arch,sm_$arch] -lineinfo -o "$work/$name" "$data/$name.cu" || exit 2
  try $name '' "$work/$name"
done
nvcc -gencode arch=compute_90a,code=[compute_90a,sm_90a] -cudart shared -lineinfo -o "$work/shared" "$data/add.cu" &&
  try shared '--kernel add* --launch 2' "$work/shared" 3
cc -O1 -o "$work/driver_add" "$data/driver_add.c" -ldl && try driver '' "$work/driver_add" "$data/add.ptx"
overhead "$work/add" 200000

if python3 -c 'import torch, triton' 2>/dev/null; then
  try triton '--kernel add_kernel' python3 "$data/triton_add.py"
  try torch '--kernel *softmax*' python3 "$data/torch_ops.py"
  try torch_gemm '--kernel *gemm*' python3 "$data/torch_ops.py"
  overhead python3 "$data/triton_add.py" 20000
else
  echo 'triton, torch: python3 has not both of them: left out'
fi
exit $failed
