// Where the name of a kernel stands in a symbol, or in a profiler's line (decode.h).
#pragma once
#include <stddef.h>

#include "model/schedules/decode.h"

// The beginning of the name, and of which family it is; NULL: there is none.
const char *decode_find_name(const char *text, DecodedFamily *family);
// Its length. In a mangled symbol a number in front says how long it is.
size_t decode_name_length(const char *text, const char *name);
bool decode_in_name(char c);
// Bytes of "..." or "…", which stand for what somebody left out; 0: neither is here.
size_t decode_gap_length(const char *text);
