// An image, as a program hands it to cuModuleLoadData → PTX and machine code.
//
// A fatbin is a header (magic 0xba55ed50, u16 version, u16 bytes of the header, u64 bytes behind
// it) and entries: u16 kind (1 PTX, 2 machine code), u16, u32 bytes of the header, u64 padded
// bytes, u32 bytes when compressed, … u32 compute capability at 28, u64 flags at 40, u64 bytes when
// not compressed at
// 56. Flag 0x2000 is LZ4, 0x8000 zstd (seen in the files of nvcc 11 to 13). nvcc's own programs
// have a wrapper in front: magic 0x466243b1, u32 version, the address of the header.
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "driver/stand_in.h"

#define WRAPPER_MAGIC UINT32_C(0x466243b1)
#define FATBIN_MAGIC UINT32_C(0xba55ed50)
#define FATBIN_MAX (UINT64_C(1) << 33)
#define TEXT_MAX (UINT64_C(1) << 30)

enum { HEADER_BYTES = 16, ENTRY_BYTES = 64, KIND_PTX = 1, KIND_ELF = 2 };
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };

typedef struct Entry {
  uint16_t kind;
  uint32_t sm;
  uint64_t flags, whole_bytes;
  const unsigned char *payload;
  size_t bytes;
} Entry;

static uint64_t number(const unsigned char *at, int bytes) {
  uint64_t value = 0;
  memcpy(&value, at, (size_t)bytes);
  return value;
}

// ---- compressed ---------------------------------------------------------------------------------

typedef size_t Zstd(void *to, size_t room, const void *from, size_t n);
typedef int Lz4(const char *from, char *to, int n, int room);

static void *symbol_of(const char *library, const char *name) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return handle ? dlsym(handle, name) : NULL;
}

static bool by_zstd(const Entry *e, char *to) {
  Zstd *decompress = (Zstd *)symbol_of("libzstd.so.1", "ZSTD_decompress");
  return decompress && decompress(to, e->whole_bytes, e->payload, e->bytes) == e->whole_bytes;
}

static bool by_lz4(const Entry *e, char *to) {
  Lz4 *decompress = (Lz4 *)symbol_of("liblz4.so.1", "LZ4_decompress_safe");
  return decompress && decompress((const char *)e->payload, to, (int)e->bytes,
                                  (int)e->whole_bytes) == (int)e->whole_bytes;
}

static const char *unpack(Arena *arena, const Entry *e, size_t *bytes, const char **why) {
  if (!(e->flags & (FLAG_LZ4 | FLAG_ZSTD))) {
    *bytes = e->bytes;
    return arena_strndup(arena, (const char *)e->payload, e->bytes);
  }
  const bool zstd = e->flags & FLAG_ZSTD;
  if (e->whole_bytes > TEXT_MAX) return NULL;
  char *text = arena_alloc(arena, (size_t)e->whole_bytes + 1);
  if (zstd ? by_zstd(e, text) : by_lz4(e, text)) {
    *bytes = (size_t)e->whole_bytes;
    return text;
  }
  *why = zstd ? "its PTX is compressed by zstd, and libzstd.so.1 is missing or cannot read it"
              : "its PTX is compressed by LZ4, and liblz4.so.1 is missing or cannot read it";
  return NULL;
}

// ---- fatbins ------------------------------------------------------------------------------------

static bool next_entry(const unsigned char **at, const unsigned char *end, Entry *out) {
  const unsigned char *p = *at;
  if (end - p < ENTRY_BYTES) return false;
  const uint64_t header = number(p + 4, 4), padded = number(p + 8, 8);
  if (header < ENTRY_BYTES || header > (uint64_t)(end - p)) return false;
  if (padded > (uint64_t)(end - p) - header) return false;
  const uint64_t packed = number(p + 16, 4);
  *out = (Entry){.kind = (uint16_t)number(p, 2),
                 .sm = (uint32_t)number(p + 28, 4),
                 .flags = number(p + 40, 8),
                 .whole_bytes = number(p + 56, 8),
                 .payload = p + header,
                 .bytes = (size_t)(packed && packed < padded ? packed : padded)};
  *at = p + header + padded;
  return true;
}

// Whether the GPU can run an entry: PTX of its own architecture and of older ones, machine code of
// its own generation. A GPU that is not known takes all.
static bool suits(const Entry *e, uint32_t gpu) {
  if (!gpu) return true;
  return e->sm <= gpu && (e->kind == KIND_PTX || e->sm / 10 == gpu / 10);
}

// The newest that the GPU can run, else the newest. Worked example: libcublas has machine code for
// sm_75 to sm_120 and PTX for compute_120; an H200 runs that for sm_90.
static bool is_better(const Entry *e, const Entry *than, uint32_t gpu) {
  if (!than->payload) return true;
  const bool a = suits(e, gpu), b = suits(than, gpu);
  return a != b ? a : e->sm >= than->sm;
}

// One text and one machine code of several. Beside machine code that the GPU runs, PTX that it
// cannot run is left out.
static void read_fatbin(Arena *arena, const unsigned char *fatbin, DriverImage *out) {
  const uint64_t header = number(fatbin + 6, 2), bytes = number(fatbin + 8, 8);
  if (bytes > FATBIN_MAX || header < HEADER_BYTES) return;
  const unsigned char *at = fatbin + header, *end = at + bytes;
  const uint32_t gpu = (uint32_t)driver_capability();
  Entry e, code = {0}, text = {0};
  while (next_entry(&at, end, &e)) {
    if (e.kind == KIND_ELF && is_better(&e, &code, gpu)) code = e;
    if (e.kind == KIND_PTX && is_better(&e, &text, gpu)) text = e;
  }
  if (code.payload && text.payload && suits(&code, gpu) && !suits(&text, gpu)) text.payload = NULL;
  if (text.payload) {
    size_t n = 0;
    out->ptx = unpack(arena, &text, &n, &out->why_not);
    if (out->ptx) out->ptx_bytes = strnlen(out->ptx, n);
  }
  const char *ignored = NULL;
  if (code.payload)
    out->cubin = (const unsigned char *)unpack(arena, &code, &out->cubin_bytes, &ignored);
}

// ---- machine code alone -------------------------------------------------------------------------

static size_t elf_bytes(const unsigned char *elf) {
  Elf64_Ehdr header;
  memcpy(&header, elf, sizeof header);
  uint64_t end = header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize;
  const uint64_t segments = header.e_phoff + (uint64_t)header.e_phnum * header.e_phentsize;
  if (segments > end) end = segments;
  for (int i = 0; i < header.e_shnum && header.e_shentsize == sizeof(Elf64_Shdr); i++) {
    Elf64_Shdr section;
    memcpy(&section, elf + header.e_shoff + (size_t)i * sizeof section, sizeof section);
    const uint64_t last = section.sh_offset + (section.sh_type == SHT_NOBITS ? 0 : section.sh_size);
    if (last > end) end = last;
  }
  return end > FATBIN_MAX ? 0 : (size_t)end;
}

DriverImage driver_image(Arena *arena, const void *data) {
  DriverImage out = {0};
  const unsigned char *at = data;
  if (!at) return out;
  if (number(at, 4) == WRAPPER_MAGIC) memcpy(&at, at + 8, sizeof at);
  if (number(at, 4) == FATBIN_MAGIC) {
    read_fatbin(arena, at, &out);
  } else if (memcmp(at, ELFMAG, SELFMAG) == 0) {
    out.cubin_bytes = elf_bytes(at);
    out.cubin = (const unsigned char *)arena_strndup(arena, (const char *)at, out.cubin_bytes);
  } else {
    out.ptx = arena_strdup(arena, (const char *)at);
    out.ptx_bytes = strlen(out.ptx);
  }
  if (!out.ptx && !out.why_not)
    out.why_not =
        "it has only machine code, no PTX (nvcc -gencode arch=compute_90,code=[compute_90,sm_90] "
        "adds PTX)";
  return out;
}
