// Three significant digits, but never an exponent: 2752, 515.9 → "516", 48.26 → "48.3", 0.249 →
// "0.25"; a whole number has no decimals.
#include "tui/canvas/fmt.h"

#include <math.h>
#include <stdio.h>

const char *fmt_figure(char out[FMT_MAX], double figure) {
  double size = fabs(figure);
  if (!(size >= 0) || isinf(figure) || figure < 0)
    snprintf(out, FMT_MAX, "?");
  else
    snprintf(out, FMT_MAX, "%.*f",
             size >= 100 || size == floor(size) ? 0
             : size >= 10                       ? 1
                                                : 2,
             figure);
  return out;
}

const char *fmt_bytes(char out[FMT_MAX], double bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; unit++) bytes /= 1024;
  snprintf(out, FMT_MAX, bytes == floor(bytes) ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return out;
}

const char *fmt_time(char out[FMT_MAX], double ns) {
  static const char *const units[] = {"ns", "µs", "ms", "s"};
  int unit = 0;
  for (; ns >= 1000 && unit < 3; unit++) ns /= 1000;
  char figure[FMT_MAX];
  snprintf(out, FMT_MAX, "%.12s %s", fmt_figure(figure, ns), units[unit]);
  return out;
}

const char *fmt_ratio(char out[FMT_MAX], double ratio) {
  if (ratio > 0)
    snprintf(out, FMT_MAX, "%.*f", ratio < 0.005 ? 3 : 2, ratio);
  else
    snprintf(out, FMT_MAX, "?");
  return out;
}
