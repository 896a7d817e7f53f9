// Characters out of UTF-8 bytes, and back (RFC 3629: no overlong forms, no surrogates, nothing
// above U+10FFFF).
//
//   uint32_t code;
//   for (int n; (n = utf8_decode(at, &code)) > 0; at += n) …
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UTF8_REPLACEMENT = 0xFFFD };

// The character at `text` and the bytes it takes; 0 at the end of the text. An ill-formed byte is
// one UTF8_REPLACEMENT of one byte; the character U+FFFD itself takes three.
int utf8_decode(const char *text, uint32_t *code);
// Bytes written to `out` (not terminated), 1 to 4; what is not a character becomes U+FFFD.
int utf8_encode(uint32_t code, char out[4]);

// A byte that goes on with a character another byte began.
static inline bool utf8_continues(char byte) { return ((unsigned char)byte & 0xC0) == 0x80; }
// Marks that would turn the writing around or are invisible carriers of meaning.
bool utf8_is_format(uint32_t code);
// The longest beginning of `text` that has at most `n` bytes and cuts no character in two.
size_t utf8_cut(const char *text, size_t n);
