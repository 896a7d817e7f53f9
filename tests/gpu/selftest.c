// The self test as a program of its own, for a GPU machine that has a compiler and little else:
//
//   cc -std=c17 -D_GNU_SOURCE -O2 -Isrc tests/gpu/selftest.c $(tests/gpu/sources.sh) \
//      -lcjson -ldl -lm -lpthread -o selftest && ./selftest 1024 4096 8192 128x128x16384
#include "kernels/device/gpu_selftest.h"

int main(int argc, char **argv) { return gpu_selftest_main(argc, argv); }
