// The text around a kernel's name → where the name stands in it.
//
// Worked example, _ZN7cutlass7Kernel2I52cutlass_80_tensorop_…: "cutlass_" is found, and the 52 in
// front of it is its length.
#include "model/schedules/decode_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static const struct {
  const char *prefix;
  DecodedFamily family;
} families[] = {
    {"cutlass3x_", DECODED_CUTLASS3}, {"cutlass_", DECODED_CUTLASS}, {"nvjet_", DECODED_NVJET},
    {"volta_", DECODED_CUBLAS},       {"turing_", DECODED_CUBLAS},   {"ampere_", DECODED_CUBLAS},
    {"hopper_", DECODED_CUBLAS},      {"maxwell_", DECODED_CUBLAS},
};

bool decode_in_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

size_t decode_gap_length(const char *text) {
  static const char *const gaps[] = {"...", "…"};
  for (int i = 0; i < 2; i++)
    if (str_starts(text, gaps[i])) return strlen(gaps[i]);
  return 0;
}

// The piece before "_xmma_": "sm80".
static const char *find_xmma(const char *text) {
  const char *at = strstr(text, "_xmma_");
  while (at && at > text && isalnum((unsigned char)at[-1])) at--;
  return at;
}

// Letters, digits, "gemm": the beginning of the word that "gemm" ends.
static const char *find_bare(const char *text) {
  const char *at = strstr(text, "gemm");
  while (at && at > text && isalnum((unsigned char)at[-1])) at--;
  return at;
}

const char *decode_find_name(const char *text, DecodedFamily *family) {
  if (find_xmma(text)) {
    *family = DECODED_XMMA;
    return find_xmma(text);
  }
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
    const char *at = strstr(text, families[i].prefix);
    if (!at) continue;
    *family = families[i].family;
    return at;
  }
  *family = DECODED_BARE;
  return find_bare(text);
}

size_t decode_name_length(const char *text, const char *name) {
  size_t n = 0;
  while (decode_in_name(name[n]) || decode_gap_length(name + n))
    n += decode_in_name(name[n]) ? 1 : decode_gap_length(name + n);
  const char *digits = name;
  while (digits > text && isdigit((unsigned char)digits[-1])) digits--;
  bool mangled = digits < name && str_starts(text, "_Z");
  size_t said = mangled ? strtoul(digits, NULL, 10) : n;
  return said < n ? said : n;
}
