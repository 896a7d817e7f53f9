#!/usr/bin/env bash
# Every order of every rung: each is proved in 2 s of one core, and each fault that can be put into it is found, or
# proved harmless with the reason. Columns: rung, breakage, verdict, seconds of CPU, states, whether
# the witness is shown to be the shortest (1, 0; empty: there is none), the failure or the reason.
#
#   tests/stress/orders.sh build/gemmview [TABLE]     rungs of all ladders; lines go to TABLE, too
#   LADDERS="hopper fp16" tests/stress/orders.sh …    of these
set -euo pipefail
program=$1 table=${2:-/dev/null}
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
TIMEFORMAT='%U %S'
text() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$answer"; }
number() { sed -n "s/.*\"$1\":\([0-9]*\)[,}].*/\1/p" "$answer" | head -n 1; }
breakages_of() {
  "$program" interpret --symptom all -k "$1" | sed -n 's/^  \([a-z_0-9]*\) .*/\1/p' | sort -u
}

bad=0
# Ladder and rung, breakage (-: none).
ask() {
  local seconds verdict why status=0
  local options=(-k "$1" --every-order --json)
  [ "$2" = - ] || options+=(--break "$2")
  seconds=$({ time "$program" interpret "${options[@]}" >"$answer" 2>"$answer.err" || status=$?; } 2>&1 |
    awk '{ printf "%.2f", $1 + $2 }')
  verdict=$(text verdict)
  why=$(text fault)
  [ "$verdict" = found ] || why=$(text harmless)
  [ "$verdict" = bounded ] && why=$(sed -n 's/.*"left_out":\[\([^]]*\)\].*/\1/p' "$answer")
  [ -n "$verdict" ] || { verdict=error && why=$(head -n 1 "$answer.err"); }
  rm -f "$answer.err"
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$verdict" "$seconds" "$(number states)" \
    "$(number shortest)" "$why" | tee -a "$table"
  case "$2 $verdict" in
    '- proved' | [!-]*' found') ;;
    [!-]*' proved') [ -n "$why" ] || bad=$((bad + 1)) ;;
    *) bad=$((bad + 1)) ;;
  esac
  awk "BEGIN { exit !($seconds > 2) }" && bad=$((bad + 1)) || true
}

: >"$table"
for rung in $("$program" ladders --csv | awk -F, 'NR > 1 { print $1 "/" $3 }'); do
  case " ${LADDERS:-${rung%/*}} " in *" ${rung%/*} "*) ;; *) continue ;; esac
  ask "$rung" -
  for breakage in $(breakages_of "$rung"); do ask "$rung" "$breakage"; done
done
[ "$bad" = 0 ] || { echo "orders: $bad lines are slow, bounded, or have no answer" && exit 1; }
