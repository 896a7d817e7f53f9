#!/bin/sh
# The sectors and requests of global memory that the model counts, against the GPU's counters.
#
#   tests/gpu/sectors.sh build/gemmview                    all states of sectors.states
#   tests/gpu/sectors.sh build/gemmview STATE…             these
#
# Needs ncu and the right to read counters; without them it ends with 3. One line for each state:
# loads (copies by cp.async among them), stores and additions, each as model/counter, and hits in L2. A state
# agrees where every counter is within half a percent. L2 is only shown: its model is an estimate.
# What ncu says of each state lies in $OUT (build/results/sectors).
set -u
here=$(cd "$(dirname "$0")" && pwd)
program=$1
shift
OUT=${OUT:-build/results}/sectors
mkdir -p "$OUT"
ncu=$(command -v ncu || find /usr/local /opt/nvidia -name ncu -type f 2>/dev/null | head -n 1)
[ -n "$ncu" ] || {
  echo 'ncu is not installed: nothing was counted'
  exit 3
}

unit=l1tex__t
op=pipe_lsu_mem_global_op
metrics=
for what in sectors requests; do
  for kind in ld st red; do metrics=$metrics,${unit}_${what}_${op}_$kind.sum; done
done
metrics=${metrics#,},lts__t_sector_hit_rate.pct

# The model's: "ldg 65536 131072" for each access: operation, requests, sectors of the whole grid.
model() {
  "$program" show banks --json -k "$1" | tr '{' '\n' | grep '"matrix"' |
    sed 's/.*"op":"\([a-z]*\)[0-9]*".*"requests_grid":\([0-9.e+]*\|null\),"sectors_grid":\([0-9.e+]*\|null\).*/\1 \2 \3/'
}

# The counters': "NAME VALUE" for each metric, thousands' commas taken out.
counters() {
  "$ncu" --csv --print-units base --kernel-name matmul --launch-count 1 --metrics "$metrics" \
    "$program" bench --in-process --no-time --no-reference -k "$1" >"$2" 2>&1 || return 1
  awk -F'","' '/^"[0-9]/ { name = $(NF - 2); value = $NF; gsub(/[",]/, "", value); print name, value }' "$2"
}

compare() {
  awk -v state="$1" '
    NR == FNR { requests[$1] += $2; sectors[$1] += $3; next }
    {
      kind = $1
      sub(/\.sum$/, "", kind)
      if (kind ~ /hit_rate/) { hit = $2; next }
      what = kind ~ /_requests_/ ? "r" : "s"
      sub(/.*_op_/, "", kind)
      seen[what, kind] = $2
    }
    function counted(what, kind) { return seen[what, kind] + 0 }
    function differ(a, b) { return (a > b ? a - b : b - a) > 0.005 * (a > b ? a : b) }
    function tell(kind, name) {
      if (!sectors[kind] && !counted("s", name)) return
      line = line sprintf("  %s %d/%d in %d/%d", name, sectors[kind], counted("s", name), requests[kind],
                          counted("r", name))
      if (differ(sectors[kind], counted("s", name))) bad = bad " " name
    }
    END {
      # op_ld has the copies of cp.async in it (seen on an H200, driver 580.159.04).
      sectors["ldg"] += sectors["ldgsts"]; requests["ldg"] += requests["ldgsts"]
      tell("ldg", "ld"); tell("stg", "st"); tell("red", "red")
      printf "%s%s  L2 %.0f %%  %s\n", bad ? "DIFFERS:" bad : "agrees", line, hit, state
      exit bad != ""
    }' "$OUT/model.txt" "$OUT/counted.txt"
}

if [ $# = 0 ]; then
  set --
  while read -r state; do
    case $state in '' | '#'*) ;; *) set -- "$@" "$state" ;; esac
  done <"$here/sectors.states"
fi
n=0 agree=0
for state; do
  n=$((n + 1))
  model "$state" >"$OUT/model.txt"
  if ! counters "$state" "$OUT/$n.csv" >"$OUT/counted.txt" || [ ! -s "$OUT/counted.txt" ]; then
    grep -m 2 -E 'ERR|==ERROR==' "$OUT/$n.csv"
    grep -q ERR_NVGPUCTRPERM "$OUT/$n.csv" && exit 3
    echo "not counted: $state"
    continue
  fi
  compare "$state" && agree=$((agree + 1))
done
echo "$agree of $n states agree"
[ "$agree" = "$n" ]
