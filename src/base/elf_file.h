// Sections of an ELF file by their names, as far as cubins need them: 64 bits, of this machine's
// byte order.
//
//   ElfBytes text = elf_section(cubin, n, ".text.matmul");     text.at NULL: there is none
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct ElfBytes {
  const unsigned char *at, *end;
} ElfBytes;

// Inside of the `n` bytes of the file, whatever it says of itself; nothing where it is no ELF file,
// has no such section, or one without contents.
ElfBytes elf_section(const void *file, size_t n, const char *name);
// A string of a string table; "" where it has none there.
const char *elf_string(ElfBytes strings, uint64_t offset);
