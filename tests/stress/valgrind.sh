#!/bin/sh
# Every view through 400 sizes under valgrind: no byte that nothing wrote is read, nothing is freed
# twice. The sanitizers of `make asan` see neither the one nor what the release build does.
#
#   tests/stress/valgrind.sh build/gemmview 1      1: all 400 sizes, 0.1: forty
set -eu
program=$1
fraction=${2:-1}
command -v valgrind >/dev/null || {
  echo 'valgrind is not installed: the 400 sizes per view are not tried'
  exit 0
}
script=$(mktemp)
trap 'rm -f "$script"' EXIT
awk -v n="$fraction" 'BEGIN {
  srand(4); n = int(400 * n); if (n < 4) n = 4
  for (i = 0; i < n; i++)
    printf "resize %dx%d\n", i % 5 ? 1 + int(rand() * 200) : 1 + i % 3, 1 + int(rand() * 60)
  print "resize 80x24"
}' >"$script"
for view in $("$program" completion bash | sed -n "s/^ *show) words='\([a-z ]*\) -.*/\1/p"); do
  valgrind --quiet --error-exitcode=9 --leak-check=no "$program" show "$view" --script "$script" \
    >/dev/null || {
    echo "valgrind: $view failed"
    exit 1
  }
  echo "valgrind: $view, $(($(wc -l <"$script") - 1)) sizes, nothing found"
done
