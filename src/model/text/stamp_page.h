// Tells what a traced block writes, as the host reads it: a page for each warp. The text of a
// traced kernel declares the same structs (emit_stamp.c) and asserts the same size.
#pragma once
#include <stdint.h>

// Stamps that a page has room for, and the bits of a turn's number; macros, because the text says
// them too.
#define STAMPS_EACH 16384
#define STAMP_NUMBER_BITS 20
#define STAMP_PAGE_BYTES (48 + 8 * STAMPS_EACH)

// As a thread writes it: what = mark << STAMP_NUMBER_BITS, plus the number.
typedef struct PackedStamp {
  uint32_t clock;  // the low half of the SM's
  uint32_t what;
} PackedStamp;

typedef struct StampPage {
  uint64_t ns_begin, ns_end;  // %globaltimer
  int64_t clock_begin, clock_end;
  uint32_t sm, block, written, unused;  // written: those beyond the page counted
  PackedStamp stamp[STAMPS_EACH];
} StampPage;

// As it was read. An end that stands alone closes work that began where the work before it ended
// (EmitStamp.follows).
typedef struct Stamp {
  int64_t clock;  // of the SM
  int32_t mark;   // 2 · place + (0 begin, 1 end); places are the emission's
  int32_t number;
} Stamp;

// A page that was read: its times are since the first of all warps that were traced began.
typedef struct StampedWarp {
  int sm;                          // that it ran on
  int64_t ns_begin, ns_end;        // %globaltimer
  int64_t clock_begin, clock_end;  // the SM's clock at the same two moments
  int64_t lost;                    // stamps for which the page had no room
  int n;
  const Stamp *stamp;
} StampedWarp;

_Static_assert(sizeof(StampPage) == STAMP_PAGE_BYTES, "as the text of a kernel has it");
