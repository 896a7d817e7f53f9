// The writing half of json.h: text appended to a Str, commas kept by a small stack.
//
// The text written is always valid UTF-8 and safe to print on a terminal, whatever came in: strings
// may hold a compiler's log or a file name. Every double is written so that it reads back equal,
// with 15, 16 or 17 digits: 0.1 → 0.1, 1/3 → 0.3333333333333333, NaN → null.
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/unicode.h"

JsonWriter json_writer(Str *str) { return (JsonWriter){.str = str}; }

// The comma before a value or key, if one belongs there.
static void separate(JsonWriter *w, bool is_key) {
  if (w->depth == 0) return;
  int level = w->depth - 1;
  assert((w->kind[level] == JSON_OBJECT) == (is_key || w->after_key));
  if (w->after_key)
    w->after_key = false;
  else if (w->filled[level])
    str_add_char(w->str, ',');
  w->filled[level] = true;
}

static void begin(JsonWriter *w, JsonKind kind, char bracket) {
  assert(w->depth < JSON_DEPTH_MAX);
  separate(w, false);
  str_add_char(w->str, bracket);
  w->kind[w->depth] = (unsigned char)kind;
  w->filled[w->depth++] = false;
}

static void end(JsonWriter *w, JsonKind kind, char bracket) {
  assert(w->depth > 0 && w->kind[w->depth - 1] == kind && !w->after_key);
  (void)kind;
  w->depth--;
  str_add_char(w->str, bracket);
}

void json_begin_object(JsonWriter *w) { begin(w, JSON_OBJECT, '{'); }
void json_begin_document(JsonWriter *w) {
  json_begin_object(w);
  json_member_string(w, "schema", JSON_DOCUMENT_SCHEMA);
}
void json_end_object(JsonWriter *w) { end(w, JSON_OBJECT, '}'); }
void json_begin_array(JsonWriter *w) { begin(w, JSON_ARRAY, '['); }
void json_end_array(JsonWriter *w) { end(w, JSON_ARRAY, ']'); }

// Beyond U+FFFF as a pair of surrogates.
static void add_escape(Str *str, uint32_t code) {
  if (code < 0x10000)
    str_printf(str, "\\u%04x", code);
  else
    str_printf(str, "\\u%04x\\u%04x", 0xD7C0 + (code >> 10), 0xDC00 | (code & 0x3FF));
}

static void add_character(Str *str, const char *at, uint32_t code, int length) {
  static const char short_form[0x20] = {
      ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
  if (code == '"' || code == '\\')
    str_printf(str, "\\%c", (char)code);
  else if (code < 0x20 && short_form[code])
    str_printf(str, "\\%c", short_form[code]);
  else if (code < 0x20 || (code >= 0x7F && code < 0xA0) || utf8_is_format(code))
    add_escape(str, code);
  else if (code == UTF8_REPLACEMENT)
    str_add(str, "\xEF\xBF\xBD");
  else
    str_add_bytes(str, at, (size_t)length);
}

static void add_quoted(Str *str, const char *text) {
  str_add_char(str, '"');
  while (*text) {
    size_t plain = 0;
    while ((signed char)text[plain] >= 0x20 && text[plain] != 0x7F && text[plain] != '"' &&
           text[plain] != '\\')
      plain++;
    str_add_bytes(str, text, plain);
    text += plain;
    if (!*text) break;
    uint32_t code;
    int length = utf8_decode(text, &code);
    add_character(str, text, code, length);
    text += length;
  }
  str_add_char(str, '"');
}

void json_key(JsonWriter *w, const char *key) {
  assert(w->depth > 0 && !w->after_key);
  separate(w, true);
  add_quoted(w->str, key);
  str_add_char(w->str, ':');
  w->after_key = true;
}

void json_put_string(JsonWriter *w, const char *text) {
  if (!text) {
    json_put_null(w);
    return;
  }
  separate(w, false);
  add_quoted(w->str, text);
}

void json_put_int(JsonWriter *w, int64_t value) {
  separate(w, false);
  char digits[24];
  int n = snprintf(digits, sizeof digits, "%lld", (long long)value);
  str_add_bytes(w->str, digits, (size_t)n);
}

void json_put_double(JsonWriter *w, double value) {
  if (!isfinite(value)) {
    json_put_null(w);
    return;
  }
  separate(w, false);
  char digits[32];
  for (int precision = 15; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, value);
    if (strtod(digits, NULL) == value) break;
  }
  str_add(w->str, digits);
}

void json_put_bool(JsonWriter *w, bool value) {
  separate(w, false);
  str_add(w->str, value ? "true" : "false");
}

void json_put_null(JsonWriter *w) {
  separate(w, false);
  str_add(w->str, "null");
}

void json_member_string(JsonWriter *w, const char *key, const char *text) {
  json_key(w, key);
  json_put_string(w, text);
}

void json_member_int(JsonWriter *w, const char *key, int64_t value) {
  json_key(w, key);
  json_put_int(w, value);
}

void json_member_double(JsonWriter *w, const char *key, double value) {
  json_key(w, key);
  json_put_double(w, value);
}

void json_member_bool(JsonWriter *w, const char *key, bool value) {
  json_key(w, key);
  json_put_bool(w, value);
}
