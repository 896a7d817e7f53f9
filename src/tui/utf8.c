// UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF) and column widths.
//
// Worked example: "a…" is 61 E2 80 A6. The first byte is U+0061 in 1 byte. E2 announces three bytes
// and (E2 & 0F) << 12 | (80 & 3F) << 6 | (A6 & 3F) = U+2026, which needs three bytes, so it is well
// formed; both take one column. "a\xE2\x80" ends too early: E2 is one replacement, 80 another.
#include "tui/utf8.h"

#include <stdbool.h>

typedef struct Range {
  uint32_t first, last;
} Range;

#define WIDTH_ZERO(first, last) {first, last},
static const Range zero[] = {
#include "tui/width.def"
};
#undef WIDTH_ZERO
#define WIDTH_WIDE(first, last) {first, last},
static const Range wide[] = {
#include "tui/width.def"
};
#undef WIDTH_WIDE

static int announced_bytes(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

static bool well_formed(uint32_t code, int bytes) {
  if (bytes == 3) return code >= 0x800 && !(code >= 0xD800 && code < 0xE000);
  if (bytes == 4) return code >= 0x10000 && code < 0x110000;
  return true;
}

int utf8_decode(const char *text, uint32_t *code) {
  static const unsigned char mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  const unsigned char *at = (const unsigned char *)text;
  if (!*at) return 0;
  int bytes = announced_bytes(*at);
  uint32_t value = *at & mask[bytes];
  for (int i = 1; i < bytes; i++) {
    if ((at[i] & 0xC0) != 0x80)
      bytes = 0;
    else
      value = value << 6 | (at[i] & 0x3F);
  }
  if (bytes && well_formed(value, bytes)) return *code = value, bytes;
  *code = UTF8_REPLACEMENT;
  return 1;
}

int utf8_encode(uint32_t code, char out[4]) {
  if (code >= 0x110000 || (code >= 0xD800 && code < 0xE000)) code = UTF8_REPLACEMENT;
  if (code < 0x80) return out[0] = (char)code, 1;
  int bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (int i = bytes - 1; i > 0; i--, code >>= 6) out[i] = (char)(0x80 | (code & 0x3F));
  out[0] = (char)(lead[bytes] | code);
  return bytes;
}

static bool listed(const Range *ranges, size_t n, uint32_t code) {
  size_t low = 0;
  while (low < n) {
    size_t middle = low + (n - low) / 2;
    if (code > ranges[middle].last)
      low = middle + 1;
    else if (code < ranges[middle].first)
      n = middle;
    else
      return true;
  }
  return false;
}

int utf8_width(uint32_t code) {
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return -1;
  if (code < 0x300) return 1;
  if (listed(zero, sizeof zero / sizeof zero[0], code)) return 0;
  return listed(wide, sizeof wide / sizeof wide[0], code) ? 2 : 1;
}

static int drawn_width(uint32_t code) {
  int width = utf8_width(code);
  return width < 0 ? 1 : width;
}

int utf8_columns(const char *text) {
  int columns = 0;
  uint32_t code;
  for (int bytes; (bytes = utf8_decode(text, &code)) > 0; text += bytes)
    columns += drawn_width(code);
  return columns;
}

size_t utf8_fit(const char *text, int columns) {
  size_t offset = 0;
  uint32_t code;
  for (int bytes; (bytes = utf8_decode(text + offset, &code)) > 0; offset += (size_t)bytes) {
    columns -= drawn_width(code);
    if (columns < 0) break;
  }
  return offset;
}

size_t utf8_next(const char *text, size_t offset) {
  uint32_t code;
  int bytes = utf8_decode(text + offset, &code);
  do offset += (size_t)bytes;
  while ((bytes = utf8_decode(text + offset, &code)) > 0 && utf8_width(code) == 0);
  return offset;
}

size_t utf8_previous(const char *text, size_t offset) {
  size_t at = 0, before = 0;
  while (at < offset && text[at]) before = at, at = utf8_next(text, at);
  return before;
}
