// The strict grammar of a JSON text and where its values begin; used by json.c only.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

typedef struct JsonScan {
  Arena *arena;
  const char *text;  // followed by a NUL, which is not part of it
  size_t n, at;
  int depth_max;   // how deep values may be nested
  size_t *starts;  // byte offset of every value, in the order in which they begin
  int count, capacity;
  const char *error;  // NULL: the text is well-formed; otherwise `at` is the offending byte
} JsonScan;

// Scans text[0..n); true when it is one well-formed document.
bool json_scan(JsonScan *scan);
