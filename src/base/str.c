// Grows by doubling inside the arena; the old copy is left behind for the arena's reset.
#include "base/str.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/unicode.h"

Str str_new(Arena *arena) {
  Str str = {.arena = arena, .capacity = 64};
  str.text = arena_alloc(arena, str.capacity);
  return str;
}

static void str_reserve(Str *str, size_t more) {
  size_t need = str->length + more + 1;
  if (need <= str->capacity) return;
  size_t capacity = str->capacity * 2;
  while (capacity < need) capacity *= 2;
  char *text = arena_alloc(str->arena, capacity);
  memcpy(text, str->text, str->length);
  str->text = text;
  str->capacity = capacity;
}

void str_add_bytes(Str *str, const char *bytes, size_t n) {
  str_reserve(str, n);
  memcpy(str->text + str->length, bytes, n);
  str->length += n;
  str->text[str->length] = '\0';
}

void str_add(Str *str, const char *text) { str_add_bytes(str, text, strlen(text)); }

void str_add_char(Str *str, char c) { str_add_bytes(str, &c, 1); }

void str_add_number(Str *str, long long number) {
  enum { DIGITS = 24 };
  char text[DIGITS], *at = text + DIGITS;
  unsigned long long rest = number < 0 ? -(unsigned long long)number : (unsigned long long)number;
  do *--at = (char)('0' + rest % 10);
  while (rest /= 10);
  if (number < 0) *--at = '-';
  str_add_bytes(str, at, (size_t)(text + DIGITS - at));
}

void str_add_repeat(Str *str, char c, int n) {
  for (int i = 0; i < n; i++) str_add_char(str, c);
}

void str_vprintf(Str *str, const char *format, va_list args) {
  // Where there is room for it, as there nearly always is, the text is made once.
  va_list again;
  va_copy(again, args);
  const size_t room = str->capacity - str->length;
  const int length = vsnprintf(str->text + str->length, room, format, args);
  assert(length >= 0);
  if ((size_t)length >= room) {
    str_reserve(str, (size_t)length);
    vsnprintf(str->text + str->length, (size_t)length + 1, format, again);
  }
  va_end(again);
  str->length += (size_t)length;
}

void str_printf(Str *str, const char *format, ...) {
  va_list args;
  va_start(args, format);
  str_vprintf(str, format, args);
  va_end(args);
}

bool str_equal(const char *a, const char *b) { return strcmp(a, b) == 0; }
// Most names that are compared differ in the first letter.
bool str_equal_fold(const char *a, const char *b) {
  return ((a[0] ^ b[0]) & ~0x20) == 0 && strcasecmp(a, b) == 0;
}
bool str_starts(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

// C0 but \n and \t, DEL, and C1.
static bool acts_on_terminal(uint32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0);
}

char *str_sanitise(Arena *arena, const char *text) {
  Str out = str_new(arena);
  uint32_t code;
  for (int n; (n = utf8_decode(text, &code)) > 0; text += n) {
    bool ill_formed = code == UTF8_REPLACEMENT && n == 1;
    if (ill_formed || acts_on_terminal(code) || utf8_is_format(code))
      str_add_repeat(&out, '?', n);
    else
      str_add_bytes(&out, text, (size_t)n);
  }
  return out.text;
}

char *str_line(Arena *arena, const char *text) {
  char *line = str_sanitise(arena, text);
  for (char *at = line; *at; at++)
    if (*at == '\n' || *at == '\t') *at = ' ';
  return line;
}
