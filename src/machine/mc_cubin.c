// Sections → kernels. Every number is checked against the section that it is about.
#include "machine/mc_cubin.h"

#include <string.h>

#include "base/str.h"
#include "base/whole.h"

enum {
  INFO_MAX_THREADS = 0x05,
  INFO_PARAMETERS = 0x0a,
  INFO_REQUIRED_THREADS = 0x10,
  INFO_FRAME = 0x11,
  INFO_STACK = 0x12,
  INFO_PARAMETER = 0x17,
  INFO_PARAMETER_BYTES = 0x19,
  INFO_CLUSTER = 0x3d,
};
enum { STACK_LEAST = 1024, SYMBOL_BYTES = 24 };

typedef struct Record {
  int attribute, size;
  const unsigned char *at;
} Record;

// The next record of .nv.info; false: there is none. One of format 4 has its bytes behind its head.
static bool next_record(const unsigned char **at, const unsigned char *end, Record *out) {
  enum { HEAD = 4, SIZED = 4 };
  if (!*at || end - *at < HEAD) return false;
  *out = (Record){(*at)[1], 2, *at + 2};
  if ((*at)[0] == SIZED) {
    out->size = short_at(*at + 2);
    out->at = *at + HEAD;
  }
  if (out->at + out->size > end) return false;
  *at = out->at + out->size;
  return true;
}

static void take_three(const Record *r, int out[3]) {
  for (int d = 0; d < 3 && r->size >= 12; d++) out[d] = (int)(word_at(r->at + 4 * d) & 0xffff);
}

static void take_parameter(McKernel *k, const Record *r) {
  enum { SIZE_FROM = 18 };
  if (r->size < 12) return;
  const int number = short_at(r->at + 4);
  if (number >= MC_PARAMETERS_MAX) return;
  if (number >= k->n_parameters) k->n_parameters = number + 1;
  k->parameters[number] =
      (McParameter){short_at(r->at + 6), (int)(word_at(r->at + 8) >> SIZE_FROM)};
}

static void take_kernel_info(McKernel *k, const Record *r) {
  switch (r->attribute) {
    case INFO_PARAMETER:
      take_parameter(k, r);
      return;
    case INFO_PARAMETERS:
      if (r->size >= 8) k->parameters_at = short_at(r->at + 4);
      if (r->size >= 8) k->parameter_bytes = short_at(r->at + 6);
      return;
    case INFO_MAX_THREADS:
      take_three(r, k->maximum);
      return;
    case INFO_REQUIRED_THREADS:
      take_three(r, k->required);
      return;
    case INFO_CLUSTER:
      take_three(r, k->cluster);
      return;
    default:
      return;
  }
}

static int section_bytes(const McCubin *cubin, const char *prefix, const char *kernel,
                         Arena *arena) {
  ElfSection header;
  if (!elf_section_header(cubin->bytes, cubin->n, arena_printf(arena, "%s%s", prefix, kernel),
                          &header))
    return 0;
  return header.bytes < INT32_MAX ? (int)header.bytes : INT32_MAX;
}

// Parameters that reach behind the kernel's own are cut off: nothing is read from there.
static void check_parameters(McKernel *k) {
  for (int i = 0; i < k->n_parameters; i++) {
    McParameter *p = &k->parameters[i];
    if (p->offset > k->parameter_bytes) p->offset = k->parameter_bytes;
    if (p->bytes > k->parameter_bytes - p->offset) p->bytes = k->parameter_bytes - p->offset;
  }
}

static void read_kernel(Arena *arena, const McCubin *cubin, McKernel *k) {
  enum { REGISTERS_FROM = 24 };
  const ElfBytes info =
      elf_section(cubin->bytes, cubin->n, arena_printf(arena, ".nv.info.%s", k->name));
  ElfSection header;
  k->parameters = ARENA_ARRAY(arena, McParameter, MC_PARAMETERS_MAX);
  k->parameters_at = cubin->sm >= 100 ? 0x380 : cubin->sm >= 90 ? 0x210 : 0x160;
  Record record;
  for (const unsigned char *at = info.at; next_record(&at, info.end, &record);)
    take_kernel_info(k, &record);
  check_parameters(k);
  k->shared_bytes = section_bytes(cubin, ".nv.shared.", k->name, arena);
  if (cubin->sm >= 90 && k->shared_bytes < MC_RESERVED_SHARED) k->shared_bytes = MC_RESERVED_SHARED;
  if (elf_section_header(cubin->bytes, cubin->n, arena_printf(arena, ".text.%s", k->name), &header))
    k->registers = (int)(header.info >> REGISTERS_FROM);
}

// ---- symbols ------------------------------------------------------------------------------------

typedef struct Symbols {
  ElfBytes table, names;
  int n;
} Symbols;

static Symbols symbols_of(const McCubin *cubin) {
  Symbols s = {elf_section(cubin->bytes, cubin->n, ".symtab"),
               elf_section(cubin->bytes, cubin->n, ".strtab"), 0};
  if (s.table.at) s.n = (int)((s.table.end - s.table.at) / SYMBOL_BYTES);
  return s;
}

static const char *symbol_name(const Symbols *s, int index) {
  return s->names.at ? elf_string(s->names, word_at(s->table.at + index * SYMBOL_BYTES)) : "";
}

int mc_cubin_symbol_index(const McCubin *cubin, const char *name) {
  const Symbols s = symbols_of(cubin);
  for (int i = 0; i < s.n; i++)
    if (str_equal(symbol_name(&s, i), name)) return i;
  return -1;
}

bool mc_cubin_symbol_at(const McCubin *cubin, int index, McSymbol *out) {
  enum { INFO = 4, SECTION = 6, VALUE = 8, SIZE = 16, TYPE_MASK = 15, OBJECT = 1 };
  const Symbols s = symbols_of(cubin);
  if (index < 0 || index >= s.n) return false;
  const unsigned char *at = s.table.at + index * SYMBOL_BYTES;
  ElfBytes bytes;
  *out =
      (McSymbol){.name = symbol_name(&s, index), .is_variable = (at[INFO] & TYPE_MASK) == OBJECT};
  memcpy(&out->at, at + VALUE, sizeof out->at);
  memcpy(&out->bytes, at + SIZE, sizeof out->bytes);
  const int section = short_at(at + SECTION);
  if (section && !elf_section_at(cubin->bytes, cubin->n, section, &out->section, &bytes))
    out->section = NULL;
  return true;
}

bool mc_cubin_symbol(const McCubin *cubin, const char *name, McSymbol *out) {
  return mc_cubin_symbol_at(cubin, mc_cubin_symbol_index(cubin, name), out);
}

// The stack of a thread: at least what the driver gives unless it is asked.
static void read_stacks(const McCubin *cubin) {
  const Symbols s = symbols_of(cubin);
  const ElfBytes info = elf_section(cubin->bytes, cubin->n, ".nv.info");
  Record record;
  for (int i = 0; i < cubin->n_kernels; i++) cubin->kernels[i].stack_bytes = STACK_LEAST;
  for (const unsigned char *at = info.at; next_record(&at, info.end, &record);) {
    if (record.size < 8 || (record.attribute != INFO_STACK && record.attribute != INFO_FRAME))
      continue;
    const uint32_t symbol = word_at(record.at), bytes = word_at(record.at + 4);
    if (symbol >= (uint32_t)s.n) continue;
    for (int i = 0; i < cubin->n_kernels; i++) {
      McKernel *k = &cubin->kernels[i];
      if (str_equal(k->name, symbol_name(&s, (int)symbol)) && bytes < 1u << 20)
        k->stack_bytes = (int)bytes + STACK_LEAST;
    }
  }
}

bool mc_cubin_read(Arena *arena, const void *bytes, size_t n, McCubin *out) {
  *out = (McCubin){.bytes = bytes, .n = n, .sm = elf_cuda_sm(bytes, n)};
  if (!out->sm) return false;
  const char *name;
  ElfBytes section;
  int sections = 0;
  while (elf_section_at(bytes, n, sections, &name, &section)) sections++;
  out->kernels = ARENA_ARRAY(arena, McKernel, sections + 1);
  for (int i = 0; i < sections; i++) {
    if (!elf_section_at(bytes, n, i, &name, &section)) break;
    if (!str_starts(name, ".text.") || !section.at) continue;
    McKernel *k = &out->kernels[out->n_kernels++];
    *k = (McKernel){.name = str_sanitise(arena, name + strlen(".text.")), .text = section};
    read_kernel(arena, out, k);
  }
  read_stacks(out);
  return true;
}

const McKernel *mc_cubin_kernel(const McCubin *cubin, const char *name) {
  for (int i = 0; i < cubin->n_kernels; i++)
    if (str_equal(cubin->kernels[i].name, name)) return &cubin->kernels[i];
  return NULL;
}
