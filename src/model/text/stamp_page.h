// What a traced block writes, as the host reads it: a page for each warp. The text of a traced
// kernel declares the same structs (emit_stamp.c) and asserts the same size.
#pragma once
#include <stdint.h>

// Stamps that a page has room for; a macro, because the text says it too.
#define STAMPS_EACH 16384
#define STAMP_PAGE_BYTES (48 + 16 * STAMPS_EACH)

typedef struct Stamp {
  int64_t clock;  // of the SM
  int32_t mark;   // 2 · place + (0 begin, 1 end); places are the emission's
  int32_t number;
} Stamp;

typedef struct StampPage {
  uint64_t ns_begin, ns_end;  // %globaltimer
  int64_t clock_begin, clock_end;
  uint32_t sm, block, written, unused;  // written: those beyond the page counted
  Stamp stamp[STAMPS_EACH];
} StampPage;

// A page that was read: its times are since the first warp of the block began.
typedef struct StampedWarp {
  int64_t ns_begin, ns_end;        // %globaltimer
  int64_t clock_begin, clock_end;  // the SM's clock at the same two moments
  int64_t lost;                    // stamps for which the page had no room
  int n;
  const Stamp *stamp;
} StampedWarp;

_Static_assert(sizeof(StampPage) == STAMP_PAGE_BYTES, "as the text of a kernel has it");
