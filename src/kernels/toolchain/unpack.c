// Entry → LZ4 or Zstandard → a cubin or PTX, or a sentence that says why not.
#include "kernels/toolchain/unpack.h"

#include <dlfcn.h>
#include <string.h>

#include "base/elf_file.h"

enum { WHOLE_MAX = 256 << 20 };

typedef size_t ZstdUnpack(void *out, size_t n, const void *at, size_t bytes);
typedef unsigned ZstdIsError(size_t code);
typedef struct Zstd {
  bool tried;
  ZstdUnpack *unpack;
  ZstdIsError *is_error;
} Zstd;

static const Zstd *zstd(void) {
  static Zstd api;
  if (api.tried) return &api;
  api.tried = true;
  void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  void *unpack = library ? dlsym(library, "ZSTD_decompress") : NULL,
       *is_error = library ? dlsym(library, "ZSTD_isError") : NULL;
  if (!unpack || !is_error) return &api;
  memcpy(&api.unpack, &unpack, sizeof unpack);
  memcpy(&api.is_error, &is_error, sizeof is_error);
  return &api;
}

static const char *unpack_into(const FatEntry *entry, unsigned char *out) {
  if (entry->packing == FAT_LZ4)
    return fat_unpack(entry->at, entry->bytes, out, entry->whole) ? NULL
                                                                  : "its compression is broken";
  const Zstd *api = zstd();
  if (!api->unpack) return "it is compressed with Zstandard, and libzstd.so.1 is not installed";
  const size_t n = api->unpack(out, entry->whole, entry->at, entry->bytes);
  return api->is_error(n) || n != entry->whole ? "its compression is broken" : NULL;
}

// An entry with other contents than it says is encrypted, or of a format not known here.
static const char *check(const FatEntry *entry, const Unpacked *u) {
  if (entry->kind == FAT_CUBIN && !elf_cuda_sm(u->at, u->bytes))
    return "it is encrypted, or no cubin";
  if (entry->kind == FAT_PTX && !memmem(u->at, u->bytes, ".version", 8))
    return "it is encrypted, or no PTX";
  return NULL;
}

Unpacked unpack_entry(Arena *arena, const FatEntry *entry) {
  Unpacked u = {.at = entry->at, .bytes = entry->bytes};
  if (entry->kind == FAT_LTO) u.why = "it is for link-time optimization only";
  if (entry->kind == FAT_UNKNOWN) u.why = "its kind is not known";
  if (!u.why && entry->packing != FAT_PLAIN) {
    if (!entry->whole || entry->whole > WHOLE_MAX) return (Unpacked){.why = "its size is not sane"};
    unsigned char *out = arena_alloc(arena, entry->whole + 1);
    u.at = out;
    u.bytes = entry->whole;
    u.why = unpack_into(entry, out);
  }
  if (!u.why) u.why = check(entry, &u);
  if (!u.why && entry->kind == FAT_PTX) u.bytes = strnlen((const char *)u.at, u.bytes);
  if (u.why) u.at = NULL;
  return u;
}
