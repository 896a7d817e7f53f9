// Worked example: "a…" is 61 E2 80 A6. The first byte is U+0061 in 1 byte. E2 announces three bytes
// and (E2 & 0F) << 12 | (80 & 3F) << 6 | (A6 & 3F) = U+2026, which needs three bytes, so it is well
// formed. "a\xE2\x80" ends too early: E2 is one replacement, 80 another.
#include "base/unicode.h"

#include <string.h>

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
  unsigned char lead = (unsigned char)*text;
  if (!lead) return 0;
  int bytes = announced_bytes(lead);
  uint32_t value = lead & mask[bytes];
  for (int i = 1; i < bytes; i++) {
    if (!utf8_continues(text[i]))
      bytes = 0;
    else
      value = value << 6 | ((unsigned char)text[i] & 0x3F);
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

bool utf8_is_format(uint32_t code) {
  return code == 0x061C || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) ||
         code == 0xFEFF || (code >= 0xFFF9 && code <= 0xFFFB) || (code >> 8) == 0xE00;
}

size_t utf8_cut(const char *text, size_t n) {
  size_t length = strnlen(text, n + 1);
  if (length <= n) return length;
  while (n > 0 && utf8_continues(text[n])) n--;
  return n;
}
