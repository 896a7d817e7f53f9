// The library that stands in for libcuda.so.1, as bytes of this program.
#pragma once
#include <stddef.h>

extern const unsigned char driver_bytes[], driver_bytes_end[];
