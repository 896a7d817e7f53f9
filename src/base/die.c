// A fatal error restores the terminal first, then speaks, then aborts (so that a core can be had).
#include "base/die.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void (*restore_terminal)(void);

void die_set_restore(void (*restore)(void)) { restore_terminal = restore; }

void die(const char *format, ...) {
  void (*restore)(void) = restore_terminal;
  restore_terminal = NULL;
  if (restore) restore();
  va_list args;
  va_start(args, format);
  fputs("gemmview: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  abort();
}
