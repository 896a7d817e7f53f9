// Numbers as people read them: three significant digits, binary kilobytes, clocks.
//
// Every function writes into `out` and returns it, so that views can build sentences without memory
// of their own.
#pragma once
#include <stdint.h>

enum { FMT_MAX = 32 };

const char *fmt_bytes(char out[FMT_MAX], double bytes);  // "16.5 KiB"
const char *fmt_figure(char out[FMT_MAX],
                       double figure);                   // "2752", "48.3", "0.25", "?" when unknown
const char *fmt_time(char out[FMT_MAX], double ns);      // "275 µs", "2.97 ms"
const char *fmt_ratio(char out[FMT_MAX], double ratio);  // "0.86", "0.004", "?" when unknown
