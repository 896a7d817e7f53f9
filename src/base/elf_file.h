// Sections of an ELF file by their names, as far as cubins need them: 64 bits, of this machine's
// byte order.
//
//   ElfBytes text = elf_section(cubin, n, ".text.matmul");     text.at NULL: there is none
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ElfBytes {
  const unsigned char *at, *end;
} ElfBytes;

// Inside of the `n` bytes of the file, whatever it says of itself; nothing where it is no ELF file,
// has no such section, or one without contents.
ElfBytes elf_section(const void *file, size_t n, const char *name);
// The section of this number, from 0 on, and its name; false: the file has fewer. One without
// contents has at NULL.
bool elf_section_at(const void *file, size_t n, int index, const char **name, ElfBytes *out);
// All that a section's header says; false: there is no such section. `bytes`: of one without
// contents, too.
typedef struct ElfSection {
  uint64_t bytes;
  uint32_t info;  // of .text.KERNEL in a cubin: registers of a thread from bit 24 on
} ElfSection;
bool elf_section_header(const void *file, size_t n, const char *name, ElfSection *out);
// A string of a string table; "" where it has none there.
const char *elf_string(ElfBytes strings, uint64_t offset);

// The symbol that a place of a section is relocated to.
typedef struct ElfRelocation {
  const char *symbol;  // "" where nothing relocates the place
  int64_t addend;      // 0 where the bytes of the place are the addend (SHT_REL)
} ElfRelocation;
// Reads both kinds of entries: ptxas 13.0 writes SHT_REL for sm_75 … sm_89, SHT_RELA from sm_90 on.
ElfRelocation elf_relocation(const void *file, size_t n, const char *section, uint64_t offset);
// The compute capability that a cubin is for, 80 of sm_80; 0 where the file is no cubin. (LLVM's
// ELF.h: the low byte of e_flags under ABI version 7, CUDA 12, the next one under 8, CUDA 13.)
int elf_cuda_sm(const void *file, size_t n);
