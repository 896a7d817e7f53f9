#!/bin/sh
# The sources that tests/gpu/selftest.c needs, from the repository's root.
for name in plan record dl nvrtc driver nvml launch helpers problem verify reference timing bench \
  gpu_selftest gpu_selftest_text; do
  echo "src/kernels/$name.c"
done
for file in src/base/*.c; do
  [ "$file" = src/base/embed.c ] || echo "$file" # the data files are not needed
done
