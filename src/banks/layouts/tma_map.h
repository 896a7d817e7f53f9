// A tensor map as cuBLAS's nvjet kernels bring it in their parameters: 64 bytes → its box, and
// back.
//
//   TmaBox box; uint64_t address;
//   tma_map_read(bytes, &box, &address)      false: these bytes are no such map
//   tma_map_write(&box, address, bytes)      false: it has no field for a number, or the type
//
// Where each field lies was read off the maps of two kernels of cuBLAS 13.0 for an H200 (bf16 and
// tf32, 4096^3), whose matrices, boxes and swizzles are known, and whose results are right so: the
// address, then from bit 64 on a kind (4 bits), the rank less 1 (3), the element type (4), the
// swizzle (2, at 77); strides in pieces of 16 bytes from bit 96 on, extents less 1 from 256, steps
// less 1 at 416, box less 1 from 440. Strides above 64 GiB and steps were not seen.
#pragma once
#include "banks/layouts/tma_box.h"

enum { TMA_MAP_BYTES = 64 };

bool tma_map_read(const unsigned char bytes[TMA_MAP_BYTES], TmaBox *box, uint64_t *address);
// Requires tma_box_check. Integers of 8 to 64 bits stand for a type that has no code of its own.
bool tma_map_write(const TmaBox *box, uint64_t address, unsigned char bytes[TMA_MAP_BYTES]);
