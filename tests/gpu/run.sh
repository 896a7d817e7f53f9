#!/bin/sh
# Runs tests/gpu/test_*.sh on the GPU at hand. $GEMMVIEW is the program; in a portable folder it is
# the one beside tests/. A test that exits with 3 found no GPU: that is told, and no success.
set -u
here=$(dirname "$0")
GEMMVIEW=${GEMMVIEW:-$here/../../gemmview}
export GEMMVIEW
passed=0 failed=0 skipped=0
for test in "$here"/test_*.sh; do
  [ -f "$test" ] || continue
  name=$(basename "$test" .sh)
  sh "$test"
  case $? in
    0) passed=$((passed + 1)) result=passed ;;
    3) skipped=$((skipped + 1)) result='skipped: no GPU' ;;
    *) failed=$((failed + 1)) result=FAILED ;;
  esac
  echo "$name: $result"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
