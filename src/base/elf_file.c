#include "base/elf_file.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

typedef struct File {
  const unsigned char *bytes;
  size_t n;
  Elf64_Ehdr header;
} File;

static bool read_header(const File *file, Elf64_Shdr *header, int index) {
  const uint64_t at = file->header.e_shoff + (uint64_t)index * sizeof *header;
  if (at > file->n || file->n - at < sizeof *header) return false;
  memcpy(header, file->bytes + at, sizeof *header);
  return true;
}

static ElfBytes contents(const File *file, const Elf64_Shdr *header) {
  if (header->sh_type == SHT_NOBITS || header->sh_offset > file->n ||
      file->n - header->sh_offset < header->sh_size)
    return (ElfBytes){0};
  const unsigned char *at = file->bytes + header->sh_offset;
  return (ElfBytes){at, at + header->sh_size};
}

const char *elf_string(ElfBytes strings, uint64_t offset) {
  const uint64_t n = (uint64_t)(strings.end - strings.at);
  if (!strings.at || offset >= n || !memchr(strings.at + offset, 0, n - offset)) return "";
  return (const char *)strings.at + offset;
}

static bool open_file(File *file, ElfBytes *names) {
  Elf64_Shdr strings;
  if (!file->bytes || file->n < sizeof file->header || memcmp(file->bytes, ELFMAG, SELFMAG) != 0)
    return false;
  memcpy(&file->header, file->bytes, sizeof file->header);
  if (!read_header(file, &strings, file->header.e_shstrndx)) return false;
  *names = contents(file, &strings);
  return true;
}

// The index of the section of this name and its header; -1: there is none.
static int find_section(const File *file, ElfBytes names, const char *name, Elf64_Shdr *header) {
  for (int i = 0; i < file->header.e_shnum; i++)
    if (read_header(file, header, i) && strcmp(elf_string(names, header->sh_name), name) == 0)
      return i;
  return -1;
}

ElfBytes elf_section(const void *bytes, size_t n, const char *name) {
  File file = {.bytes = bytes, .n = n};
  Elf64_Shdr header;
  ElfBytes names;
  if (!open_file(&file, &names) || find_section(&file, names, name, &header) < 0)
    return (ElfBytes){0};
  return contents(&file, &header);
}

bool elf_section_header(const void *bytes, size_t n, const char *name, ElfSection *out) {
  File file = {.bytes = bytes, .n = n};
  Elf64_Shdr header;
  ElfBytes names;
  if (!open_file(&file, &names) || find_section(&file, names, name, &header) < 0) return false;
  *out = (ElfSection){header.sh_size, header.sh_info};
  return true;
}

bool elf_section_at(const void *bytes, size_t n, int index, const char **name, ElfBytes *out) {
  File file = {.bytes = bytes, .n = n};
  Elf64_Shdr header;
  ElfBytes names;
  if (!open_file(&file, &names) || index < 0 || index >= file.header.e_shnum ||
      !read_header(&file, &header, index))
    return false;
  *name = elf_string(names, header.sh_name);
  *out = contents(&file, &header);
  return true;
}

// The name of a symbol of the table that a section of relocations links to.
static const char *symbol_name(const File *file, uint32_t table, uint64_t index) {
  Elf64_Shdr symbols, strings;
  Elf64_Sym symbol;
  if (!read_header(file, &symbols, (int)table) ||
      !read_header(file, &strings, (int)symbols.sh_link))
    return "";
  const ElfBytes bytes = contents(file, &symbols);
  if (!bytes.at || (uint64_t)(bytes.end - bytes.at) / sizeof symbol <= index) return "";
  memcpy(&symbol, bytes.at + index * sizeof symbol, sizeof symbol);
  return elf_string(contents(file, &strings), symbol.st_name);
}

// An entry of SHT_REL is the beginning of one of SHT_RELA, which has the addend behind it.
static bool find_relocation(const File *file, const Elf64_Shdr *header, uint64_t offset,
                            ElfRelocation *out) {
  const size_t size = header->sh_type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
  ElfBytes entries = contents(file, header);
  for (; entries.end - entries.at >= (ptrdiff_t)size; entries.at += size) {
    Elf64_Rela entry = {0};
    memcpy(&entry, entries.at, size);
    if (entry.r_offset != offset) continue;
    const char *symbol = symbol_name(file, header->sh_link, ELF64_R_SYM(entry.r_info));
    *out = (ElfRelocation){symbol, entry.r_addend};
    return true;
  }
  return false;
}

ElfRelocation elf_relocation(const void *bytes, size_t n, const char *section, uint64_t offset) {
  File file = {.bytes = bytes, .n = n};
  ElfRelocation out = {"", 0};
  Elf64_Shdr header;
  ElfBytes names;
  const int of = open_file(&file, &names) ? find_section(&file, names, section, &header) : -1;
  if (of < 0) return out;
  for (int i = 0; i < file.header.e_shnum; i++) {
    if (!read_header(&file, &header, i) || (int)header.sh_info != of) continue;
    if (header.sh_type != SHT_REL && header.sh_type != SHT_RELA) continue;
    if (find_relocation(&file, &header, offset, &out)) return out;
  }
  return out;
}

int elf_cuda_sm(const void *bytes, size_t n) {
  enum { MACHINE_CUDA = 190, ABI_OF_CUDA_13 = 8 };
  File file = {.bytes = bytes, .n = n};
  ElfBytes names;
  if (!open_file(&file, &names) || file.header.e_machine != MACHINE_CUDA) return 0;
  const bool is_new = file.header.e_ident[EI_ABIVERSION] >= ABI_OF_CUDA_13;
  return (int)(file.header.e_flags >> (is_new ? 8 : 0) & 0xff);
}
