#!/bin/sh
# The sources that tests/gpu/selftest.c needs, from the repository's root.
for name in plan record dl nvrtc driver nvml launch helpers problem verify reference timing bench \
  gpu_selftest gpu_selftest_text; do
  echo "src/kernels/$name.c"
done
for name in arena str diag die json json_scan json_write nearest; do
  echo "src/base/$name.c"
done
