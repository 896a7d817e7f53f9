// FNV-1a, 64 bits: names for what is too long to be one. It spreads; it does not protect, so
// a caller that cannot bear a clash compares the whole as well.
//
//   uint64_t hash = hash_text(HASH_START, text);
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_byte(uint64_t hash, unsigned char byte) {
  return (hash ^ byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n) {
  for (size_t i = 0; i < n; i++) hash = hash_byte(hash, ((const unsigned char *)bytes)[i]);
  return hash;
}

static inline uint64_t hash_text(uint64_t hash, const char *text) {
  return hash_bytes(hash, text, strlen(text));
}
