// A tensor map as the driver and cuBLAS lay it out for sm_90: 64 bytes → its box.
//
//   TmaBox box; uint64_t address;
//   tma_map_read(bytes, &box, &address)      false: these bytes are no such map
#pragma once
#include "banks/layouts/tma_box.h"

enum { TMA_MAP_BYTES = 64 };

bool tma_map_read(const unsigned char bytes[TMA_MAP_BYTES], TmaBox *box, uint64_t *address);
