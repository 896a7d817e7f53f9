// Archive → objects → sections → fatbins → entries, one after the other.
//
//   section               of any name, for programs that load modules by themselves have fatbins
//                         among their data (cuFFT's .ldata, on any address)
//   fatbin                0xba55ed50, version 1, bytes of its head (16), bytes of its entries
//   entry                 kind, version, bytes of its head, bytes behind it; from byte 16 on bytes
//                         before the filling, from 28 on the architecture, from 40 on flags, from
//                         56 on bytes when unpacked
//
// Read off what nvcc 13.0 writes for each architecture and --compress-mode.
#include "sass/fat_file.h"

#include <string.h>

#include "base/elf_file.h"
#include "base/whole.h"

enum {
  FATBIN_HEAD = 16,
  ENTRY_HEAD = 64,
  KIND_PTX = 1,
  KIND_CUBIN = 2,
  KIND_LTO = 8,
  FLAG_LZ4 = 0x2000,
  FLAG_ZSTD = 0x8000,
  FLAG_ARCH = 0x100000,
  FLAG_FAMILY = 0x200000,
  MEMBER_HEAD = 60,
  MEMBER_SIZE = 48,
  MEMBER_SIZE_DIGITS = 10,
};
static const unsigned char fatbin_mark[8] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
static const char archive_mark[] = "!<arch>\n";

static bool begins(const void *bytes, size_t n, const void *with, size_t length) {
  return n >= length && memcmp(bytes, with, length) == 0;
}
static bool is_fatbin(const void *bytes, size_t n) {
  return begins(bytes, n, fatbin_mark, sizeof fatbin_mark);
}
static bool is_archive(const void *bytes, size_t n) {
  return begins(bytes, n, archive_mark, sizeof archive_mark - 1);
}
static bool is_host_object(const void *bytes, size_t n) {
  return begins(bytes, n, "\177ELF", 4) && !elf_cuda_sm(bytes, n);
}

bool fat_is(const void *bytes, size_t n) {
  return is_fatbin(bytes, n) || is_archive(bytes, n) || is_host_object(bytes, n);
}

// ---- entries ------------------------------------------------------------------------------------

static FatKind kind_of(int number) {
  return number == KIND_PTX     ? FAT_PTX
         : number == KIND_CUBIN ? FAT_CUBIN
         : number == KIND_LTO   ? FAT_LTO
                                : FAT_UNKNOWN;
}

static bool next_entry(FatFile *file, FatEntry *out) {
  const unsigned char *at = file->entry;
  if (!at || file->entry_end - at < ENTRY_HEAD) return false;
  const uint64_t left = (uint64_t)(file->entry_end - at), head = word_at(at + 4),
                 filled = long_at(at + 8), exact = word_at(at + 16), flags = long_at(at + 40),
                 whole = long_at(at + 56);
  if (head < ENTRY_HEAD || head > left || filled > left - head) return false;
  *out = (FatEntry){.kind = kind_of(short_at(at)),
                    .packing = flags & FLAG_LZ4    ? FAT_LZ4
                               : flags & FLAG_ZSTD ? FAT_ZSTD
                                                   : FAT_PLAIN,
                    .is_relocatable = file->is_relocatable,
                    .sm = (int)(word_at(at + 28) & 0xffff),
                    .variant = flags & FLAG_ARCH     ? 'a'
                               : flags & FLAG_FAMILY ? 'f'
                                                     : '\0',
                    .number = short_at(at),
                    .at = at + head,
                    .bytes = (size_t)filled};
  if (out->packing != FAT_PLAIN && exact && exact <= filled) out->bytes = (size_t)exact;
  out->whole = out->packing == FAT_PLAIN ? out->bytes : (size_t)whole;
  file->entry = at + head + filled;
  return true;
}

static bool next_fatbin(FatFile *file) {
  if (!file->at) return false;
  file->at =
      memmem(file->at, (size_t)(file->section_end - file->at), fatbin_mark, sizeof fatbin_mark);
  if (!file->at || file->section_end - file->at < FATBIN_HEAD) return false;
  const size_t left = (size_t)(file->section_end - file->at) - FATBIN_HEAD;
  const uint64_t bytes = long_at(file->at + 8);
  file->entry = file->at + FATBIN_HEAD;
  file->entry_end = bytes > left ? file->section_end : file->entry + (ptrdiff_t)bytes;
  file->at = file->entry_end;
  return true;
}

// ---- objects ------------------------------------------------------------------------------------

static bool next_section(FatFile *file) {
  const char *name;
  ElfBytes section;
  const size_t n = (size_t)(file->object_end - file->object);
  while (elf_section_at(file->object, n, file->section++, &name, &section)) {
    if (!section.at) continue;
    file->is_relocatable = strcmp(name, "__nv_relfatbin") == 0;
    file->at = section.at;
    file->section_end = section.end;
    return true;
  }
  return false;
}

// The length of an archive's member stands in its head in decimal digits.
static size_t member_bytes(const unsigned char *head) {
  size_t bytes = 0;
  for (int i = 0; i < MEMBER_SIZE_DIGITS; i++) {
    const unsigned char c = head[MEMBER_SIZE + i];
    if (c < '0' || c > '9') break;
    bytes = bytes * 10 + (size_t)(c - '0');
  }
  return bytes;
}

static void take_object(FatFile *file, const unsigned char *from, const unsigned char *to) {
  file->object = from;
  file->object_end = to;
  file->section = 0;
  file->at = file->section_end = NULL;
  if (!is_fatbin(from, (size_t)(to - from))) return;
  file->at = from;
  file->section_end = to;
}

static bool next_object(FatFile *file) {
  const unsigned char *head = file->next_object;
  if (!head || file->end - head < MEMBER_HEAD) return false;
  const unsigned char *from = head + MEMBER_HEAD;
  size_t bytes = member_bytes(head);
  if (bytes > (size_t)(file->end - from)) bytes = (size_t)(file->end - from);
  const unsigned char *to = from + bytes;
  file->next_object = to + (bytes & 1 && to < file->end);
  take_object(file, from, to);
  return true;
}

FatFile fat_file(const void *bytes, size_t n) {
  FatFile file = {.bytes = bytes, .end = (const unsigned char *)bytes + n};
  if (is_archive(bytes, n))
    file.next_object = file.bytes + sizeof archive_mark - 1;
  else
    take_object(&file, file.bytes, file.end);
  return file;
}

bool fat_next(FatFile *file, FatEntry *out) {
  for (;;) {
    if (next_entry(file, out)) return true;
    file->entry = NULL;
    if (next_fatbin(file)) continue;
    file->at = NULL;
    if (file->object && next_section(file)) continue;
    file->object = NULL;
    if (!next_object(file)) return false;
  }
}

// ---- LZ4 ----------------------------------------------------------------------------------------

// A length of four bits: behind 15 stand bytes that are added, up to one that is not 255.
static bool read_length(const unsigned char **at, const unsigned char *end, size_t *length) {
  if (*length != 15) return true;
  for (unsigned char more = 255; more == 255;) {
    if (*at == end) return false;
    more = *(*at)++;
    *length += more;
  }
  return true;
}

// A block: pairs of literals and of a piece that was there before. Pieces may overlap themselves.
bool fat_unpack(const unsigned char *at, size_t bytes, unsigned char *out, size_t n) {
  enum { LEAST_PIECE = 4 };
  const unsigned char *end = at + bytes;
  size_t done = 0;
  while (at < end) {
    const unsigned char token = *at++;
    size_t literals = token >> 4, piece = token & 15;
    if (!read_length(&at, end, &literals)) return false;
    if (literals > (size_t)(end - at) || literals > n - done) return false;
    memcpy(out + done, at, literals);
    at += literals;
    done += literals;
    if (at == end) break;
    if (end - at < 2) return false;
    const size_t back = short_at(at);
    at += 2;
    if (!read_length(&at, end, &piece)) return false;
    piece += LEAST_PIECE;
    if (!back || back > done || piece > n - done) return false;
    for (; piece; piece--, done++) out[done] = out[done - back];
  }
  return done == n;
}
