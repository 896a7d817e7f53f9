// Recursive descent over the grammar of RFC 8259, without building anything.
//
// The tree itself comes from cJSON, which is lenient: it takes 01, trailing garbage, raw controls
// in strings, lone surrogates and ill-formed UTF-8. So a text is scanned here first, and only a
// well-formed one is parsed. The scan also writes down where each value begins; the tree is walked
// in the same order, so every value of the tree knows its line and column.
//
//   {"a": [1, 20]}      starts: 0 (the object), 6 (the array), 7 (1), 10 (20)
//
// Requires: nothing of the text. Ensures: on success cJSON accepts the text too, and no string in
// it holds a NUL.
#include "base/json_scan.h"

#include <string.h>

#include "base/unicode.h"

enum { NUMBER_LENGTH_MAX = 63 };  // cJSON copies a number into 64 bytes

static bool fail(JsonScan *s, const char *error) {
  if (!s->error) s->error = error;
  return false;
}

static char peek(const JsonScan *s) { return s->at < s->n ? s->text[s->at] : '\0'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void skip_blanks(JsonScan *s) {
  while (s->at < s->n && memchr(" \t\r\n", s->text[s->at], 4)) s->at++;
}

static void remember_start(JsonScan *s) {
  if (s->count == s->capacity) {
    int capacity = s->capacity ? 2 * s->capacity : 64;
    size_t *starts = ARENA_ARRAY(s->arena, size_t, capacity);
    if (s->count) memcpy(starts, s->starts, sizeof *starts * (size_t)s->count);
    s->starts = starts;
    s->capacity = capacity;
  }
  s->starts[s->count++] = s->at;
}

// The four digits after \u, or -1.
static int hex4(const JsonScan *s, size_t at) {
  int code = 0;
  for (size_t i = at; i < at + 4; i++) {
    char c = i < s->n ? s->text[i] : '\0';
    int digit = is_digit(c)            ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  return code;
}

// Scans an escape, from its backslash on.
static bool scan_escape(JsonScan *s) {
  char c = s->at + 1 < s->n ? s->text[s->at + 1] : '\0';
  if (c == '\0') return fail(s, "the text ends inside an escape");
  if (c != 'u') {
    if (!strchr("\"\\/bfnrt", c)) return fail(s, "JSON does not have this escape");
    s->at += 2;
    return true;
  }
  int code = hex4(s, s->at + 2);
  if (code < 0) return fail(s, "\\u needs four hexadecimal digits");
  if (code == 0) return fail(s, "a string may not hold NUL");
  if (code >= 0xDC00 && code <= 0xDFFF) return fail(s, "a low surrogate without its high half");
  s->at += 6;
  if (code < 0xD800 || code > 0xDBFF) return true;
  bool paired = peek(s) == '\\' && s->at + 1 < s->n && s->text[s->at + 1] == 'u';
  int low = paired ? hex4(s, s->at + 2) : -1;
  if (low < 0xDC00 || low > 0xDFFF) return fail(s, "a high surrogate without its low half");
  s->at += 6;
  return true;
}

// A sequence that starts with a byte of 0x80 or more.
static bool scan_utf8(JsonScan *s) {
  uint32_t code;
  int length = utf8_decode(s->text + s->at, &code);
  if (length == 1) return fail(s, "these bytes are not UTF-8");
  s->at += (size_t)length;
  return true;
}

// Scans a string, from its opening quote on.
static bool scan_string(JsonScan *s) {
  s->at++;
  while (s->at < s->n) {
    unsigned char c = (unsigned char)s->text[s->at];
    if (c == '"') {
      s->at++;
      return true;
    }
    if (c < 0x20) return fail(s, "a control character in a string must be escaped");
    if (c >= 0x80 ? !scan_utf8(s) : c == '\\' && !scan_escape(s)) return false;
    if (c < 0x80 && c != '\\') s->at++;
  }
  return fail(s, "the text ends inside a string");
}

static bool scan_digits(JsonScan *s) {
  if (!is_digit(peek(s))) return fail(s, "a number needs a digit here");
  while (is_digit(peek(s))) s->at++;
  return true;
}

static bool scan_number(JsonScan *s) {
  size_t start = s->at;
  if (peek(s) == '-') s->at++;
  bool zero = peek(s) == '0';
  size_t digits = s->at;
  if (!scan_digits(s)) return false;
  if (zero && s->at - digits > 1) return fail(s, "a number may not start with an extra 0");
  if (peek(s) == '.') {
    s->at++;
    if (!scan_digits(s)) return false;
  }
  if (peek(s) == 'e' || peek(s) == 'E') {
    s->at++;
    if (peek(s) == '+' || peek(s) == '-') s->at++;
    if (!scan_digits(s)) return false;
  }
  if (s->at - start > NUMBER_LENGTH_MAX) return fail(s, "a number may have at most 63 characters");
  return true;
}

static bool scan_word(JsonScan *s, const char *word) {
  size_t length = strlen(word);
  if (s->n - s->at < length || memcmp(s->text + s->at, word, length) != 0)
    return fail(s, "expected a value: an object, array, string, number, true, false or null");
  s->at += length;
  return true;
}

static bool scan_value(JsonScan *s, int depth);

static bool scan_member(JsonScan *s, int depth) {
  skip_blanks(s);
  if (peek(s) != '"') return fail(s, "expected a key in double quotes");
  if (!scan_string(s)) return false;
  skip_blanks(s);
  if (peek(s) != ':') return fail(s, "expected a colon after the key");
  s->at++;
  return scan_value(s, depth);
}

// Scans elements or members, from the opening bracket up to `close`.
static bool scan_container(JsonScan *s, char close, int depth) {
  if (depth > s->depth_max) return fail(s, "nested deeper than 64 levels");
  s->at++;
  skip_blanks(s);
  if (peek(s) == close) {
    s->at++;
    return true;
  }
  for (;;) {
    if (!(close == '}' ? scan_member(s, depth) : scan_value(s, depth))) return false;
    skip_blanks(s);
    char c = peek(s);
    if (c != ',' && c != close)
      return fail(s, close == '}' ? "expected a comma or }" : "expected a comma or ]");
    s->at++;
    if (c == close) return true;
  }
}

static bool scan_value(JsonScan *s, int depth) {
  skip_blanks(s);
  if (s->at >= s->n) return fail(s, "the text ends before a value");
  remember_start(s);
  char c = peek(s);
  if (c == '{') return scan_container(s, '}', depth + 1);
  if (c == '[') return scan_container(s, ']', depth + 1);
  if (c == '"') return scan_string(s);
  if (c == '-' || is_digit(c)) return scan_number(s);
  return scan_word(s, c == 't' ? "true" : c == 'f' ? "false" : "null");
}

bool json_scan(JsonScan *s) {
  if (s->n >= 3 && memcmp(s->text, "\xEF\xBB\xBF", 3) == 0)
    return fail(s, "the text starts with a byte order mark; save it without one");
  if (!scan_value(s, 0)) return false;
  skip_blanks(s);
  return s->at == s->n || fail(s, "bytes after the end of the document");
}
