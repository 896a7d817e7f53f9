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

ElfBytes elf_section(const void *bytes, size_t n, const char *name) {
  File file = {.bytes = bytes, .n = n};
  Elf64_Shdr strings, header;
  if (!bytes || n < sizeof file.header || memcmp(bytes, ELFMAG, SELFMAG) != 0) return (ElfBytes){0};
  memcpy(&file.header, bytes, sizeof file.header);
  if (!read_header(&file, &strings, file.header.e_shstrndx)) return (ElfBytes){0};
  const ElfBytes names = contents(&file, &strings);
  for (int i = 0; i < file.header.e_shnum; i++)
    if (read_header(&file, &header, i) && strcmp(elf_string(names, header.sh_name), name) == 0)
      return contents(&file, &header);
  return (ElfBytes){0};
}
