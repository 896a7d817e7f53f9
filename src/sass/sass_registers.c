// They stand from bit 24 on in the info of the kernel's section; where that names its symbol alone
// (CUDA 13), in the entry of .nv.info for that symbol. An entry is a byte of format, one of
// attribute, and two of how long its value is; 0x2f is the count of registers.
#include "sass/sass_registers.h"

#include <string.h>

#include "base/elf_file.h"
#include "base/str.h"

enum { REGISTERS_SHIFT = 24, SYMBOL_MASK = 0xffffff, SIZED = 4, REGISTER_COUNT = 0x2f, HEAD = 4 };

static int of_symbol(ElfBytes info, uint32_t symbol) {
  enum { MOST = 255 };
  for (const unsigned char *at = info.at; at && info.end - at >= HEAD;) {
    const int format = at[0], attribute = at[1], size = at[2] | at[3] << 8;
    at += HEAD;
    if (format != SIZED) continue;
    if (info.end - at < size) break;
    uint32_t value[2] = {0, 0};
    if (attribute == REGISTER_COUNT && size >= (int)sizeof value) memcpy(value, at, sizeof value);
    if (value[1] && value[1] <= MOST && value[0] == symbol) return (int)value[1];
    at += size;
  }
  return 0;
}

int sass_registers(Arena *arena, const void *cubin, size_t bytes, const char *kernel) {
  ElfSection text;
  if (!elf_section_header(cubin, bytes, arena_printf(arena, ".text.%s", kernel), &text)) return 0;
  const int in_section = (int)(text.info >> REGISTERS_SHIFT);
  if (in_section) return in_section;
  return of_symbol(elf_section(cubin, bytes, ".nv.info"), text.info & SYMBOL_MASK);
}
