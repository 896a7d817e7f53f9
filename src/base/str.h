// A growing string in an arena: how every text in the program is put together.
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct Str {
  Arena *arena;
  char *text;  // always terminated
  size_t length, capacity;
} Str;

Str str_new(Arena *arena);
void str_add(Str *str, const char *text);
void str_add_bytes(Str *str, const char *bytes, size_t n);
void str_add_char(Str *str, char c);
// The number in decimal: for tables of thousands, which printf would take milliseconds for.
void str_add_number(Str *str, long long number);
void str_add_repeat(Str *str, char c, int n);  // n <= 0 adds nothing
void str_printf(Str *str, const char *format, ...) __attribute__((format(printf, 2, 3)));
void str_vprintf(Str *str, const char *format, va_list args);

// "wavefront%s": nothing behind one of them, an s behind any other number.
static inline const char *plural_s(int64_t n) { return n == 1 ? "" : "s"; }

bool str_equal(const char *a, const char *b);
bool str_equal_fold(const char *a, const char *b);  // ASCII case ignored
bool str_starts(const char *text, const char *prefix);

// A copy of `text` in which every byte that a terminal could act on (C0 except \n and \t, DEL, C1,
// bad UTF-8) is replaced by '?'. For every string that comes from outside.
char *str_sanitise(Arena *arena, const char *text);
// The same on one line: \n and \t become blanks. For names.
char *str_line(Arena *arena, const char *text);
