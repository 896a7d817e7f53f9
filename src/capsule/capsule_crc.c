// CRC-32 as zlib and Ethernet have it (polynomial 0xedb88320, reflected), eight bytes at a time.
// The crc of "123456789" is cbf43926.
#include <string.h>

#include "capsule/capsule.h"

enum { SLICES = 8, BYTE_VALUES = 256 };

// One bit after the other: for the few bytes at the ends.
static uint32_t one_byte(uint32_t crc, unsigned char byte) {
  crc ^= byte;
  for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (UINT32_C(0xedb88320) & (0 - (crc & 1)));
  return crc;
}

static void make_tables(uint32_t table[SLICES][BYTE_VALUES]) {
  for (int byte = 0; byte < BYTE_VALUES; byte++) table[0][byte] = one_byte(0, (unsigned char)byte);
  for (int slice = 1; slice < SLICES; slice++)
    for (int byte = 0; byte < BYTE_VALUES; byte++) {
      const uint32_t before = table[slice - 1][byte];
      table[slice][byte] = before >> 8 ^ table[0][before & 255];
    }
}

uint32_t capsule_crc(uint32_t crc, const void *bytes, size_t n) {
  enum { WORTH_TABLES = 4096 };
  const unsigned char *at = bytes;
  crc = ~crc;
  if (n >= WORTH_TABLES) {
    uint32_t table[SLICES][BYTE_VALUES];
    make_tables(table);
    for (; n >= SLICES; n -= SLICES, at += SLICES) {
      uint32_t low, high;
      memcpy(&low, at, sizeof low);
      memcpy(&high, at + sizeof low, sizeof high);
      low ^= crc;
      crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^
            table[4][low >> 24] ^ table[3][high & 255] ^ table[2][high >> 8 & 255] ^
            table[1][high >> 16 & 255] ^ table[0][high >> 24];
    }
  }
  for (; n > 0; n--) crc = one_byte(crc, *at++);
  return ~crc;
}
