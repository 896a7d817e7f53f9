// Where the name of a kernel stands in a symbol, or in a profiler's line (decode.h).
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef enum DecodedFamily {
  DECODED_CUTLASS,   // cutlass_80_tensorop_…: 2.x
  DECODED_CUTLASS3,  // cutlass3x_sm90_…
  DECODED_CUBLAS,    // ampere_h16816gemm_…
  DECODED_XMMA,      // sm80_xmma_gemm_…
  DECODED_NVJET,     // nvjet_…
  DECODED_BARE,      // s1688gemm_64x256_16x4
} DecodedFamily;

// The beginning of the name, and of which family it is; NULL: there is none.
const char *decode_find_name(const char *text, DecodedFamily *family);
// Its length. In a mangled symbol a number in front says how long it is.
size_t decode_name_length(const char *text, const char *name);
bool decode_in_name(char c);
// Bytes of "..." or "…", which stand for what a user left out; 0: neither is here.
size_t decode_gap_length(const char *text);
