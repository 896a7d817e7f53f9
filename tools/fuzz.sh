#!/bin/sh
# Runs one fuzz target for some seconds and fails when it found something.
#
#   tools/fuzz.sh json 60      build/fuzz/fuzz_json, seeds from tests/fuzz/corpus/json/ if there
#
# What it learns stays in build/fuzz/corpus/; an input that broke the target stays as
# build/fuzz/fuzz_NAME-crash-…, to become a test.
set -eu
name=$1
seconds=$2
learnt=build/fuzz/corpus/$name
seeds=tests/fuzz/corpus/$name
mkdir -p "$learnt"
set -- "$learnt"
[ -d "$seeds" ] && set -- "$@" "$seeds"
log=build/fuzz/fuzz_$name.log
if "build/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
  -print_final_stats=1 -artifact_prefix="build/fuzz/fuzz_$name-" "$@" >"$log" 2>&1; then
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  echo "fuzz $name: $runs inputs in $seconds s, nothing found"
else
  tail -n 40 "$log" >&2
  echo "fuzz $name: found something, see $log" >&2
  exit 1
fi
