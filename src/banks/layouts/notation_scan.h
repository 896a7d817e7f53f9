// A text read from left to right, and one finding that names the column and what was expected.
#pragma once
#include "base/diag.h"

typedef struct Scan {
  Arena *arena;
  Diags *diags;
  const char *text, *at;
  bool failed;
} Scan;

Scan scan_new(Arena *arena, const char *text, Diags *diags);
// "layout: "…", column 9: expected a stride, found ")"". Only the first counts; always false.
bool scan_fail(Scan *scan, const char *expected);
// The same for what was read well and means nothing: "…", column 9: `sentence`.
bool scan_refuse(Scan *scan, const char *sentence);

// These skip blanks first. scan_take goes past the text only if it stands there.
char scan_peek(Scan *scan);
bool scan_take(Scan *scan, const char *text);
bool scan_expect(Scan *scan, const char *text);  // a finding where it does not
bool scan_end(Scan *scan);                       // nothing but blanks is left, or a finding

// A decimal or 0x number of at most 2^40, "_" before it where CuTe knows it when it compiles.
bool scan_number(Scan *scan, const char *expected, long long *out);
bool scan_signed(Scan *scan, const char *expected, long long *out);
// Letters, digits and "_"; NULL where none begins.
const char *scan_word(Scan *scan);
