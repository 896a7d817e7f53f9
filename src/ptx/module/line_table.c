// DWARF line programs, as much as cubins have of them. (DWARF 4, 6.2.)
//
// A program is a little machine that moves an address and a line and drops rows. NVIDIA's extended
// operations (calls that were inlined) carry their length and are passed over. Which kernel a
// sequence belongs to says the relocation of its first address.
#include "ptx/module/line_table.h"

#include <stdbool.h>
#include <string.h>

#include "base/elf_file.h"

enum { FILES_MAX = 512 };

typedef ElfBytes Bytes;

typedef struct Program {
  Arena *arena;
  const char *kernel;
  const void *cubin;
  size_t bytes;
  const char *section;
  const unsigned char *section_start;
  LineTable table;
  int capacity;
  const char *files[FILES_MAX];
  int n_files;
  // The machine.
  uint64_t address, file;
  int64_t line;
  bool inside;  // the sequence is this kernel's
  int line_base, line_range, opcode_base, step;
  unsigned char lengths[256];
} Program;

// ---- bytes --------------------------------------------------------------------------------------

static uint64_t take(Bytes *b, int n) {
  uint64_t value = 0;
  if (b->end - b->at < n) {
    b->at = b->end;
    return 0;
  }
  memcpy(&value, b->at, (size_t)n);
  b->at += n;
  return value;
}

static uint64_t take_uleb(Bytes *b) {
  uint64_t value = 0;
  for (int shift = 0; b->at < b->end; shift += 7) {
    const unsigned char byte = *b->at++;
    if (shift < 64) value |= (uint64_t)(byte & 127) << shift;
    if (!(byte & 128)) break;
  }
  return value;
}

static int64_t take_sleb(Bytes *b) {
  uint64_t value = 0;
  int shift = 0;
  unsigned char byte = 0;
  while (b->at < b->end) {
    byte = *b->at++;
    if (shift < 64) value |= (uint64_t)(byte & 127) << shift;
    shift += 7;
    if (!(byte & 128)) break;
  }
  if (shift < 64 && (byte & 64)) value |= ~UINT64_C(0) << shift;
  return (int64_t)value;
}

static const char *take_string(Bytes *b) {
  const unsigned char *zero = b->at < b->end ? memchr(b->at, 0, (size_t)(b->end - b->at)) : NULL;
  const char *text = zero ? (const char *)b->at : "";
  b->at = zero ? zero + 1 : b->end;
  return text;
}

// ---- the program --------------------------------------------------------------------------------

static void drop_row(Program *p) {
  if (!p->inside) return;
  if (p->table.n == p->capacity) {
    p->capacity = p->capacity ? 2 * p->capacity : 512;
    LineRow *grown = ARENA_ARRAY(p->arena, LineRow, p->capacity);
    if (p->table.n) memcpy(grown, p->table.rows, sizeof *grown * (size_t)p->table.n);
    p->table.rows = grown;
  }
  const bool known = p->file >= 1 && p->file <= (uint64_t)p->n_files;
  p->table.rows[p->table.n++] =
      (LineRow){p->address, known ? p->files[p->file - 1] : "", (int)p->line};
}

static void start_sequence(Program *p) {
  p->address = 0;
  p->file = 1;
  p->line = 1;
  p->inside = false;
}

static void run_extended(Program *p, Bytes *b) {
  const uint64_t length = take_uleb(b);
  if (length == 0 || length > (uint64_t)(b->end - b->at)) return;
  const unsigned char *next = b->at + length;
  const int operation = *b->at++;
  if (operation == 1) {
    start_sequence(p);
  } else if (operation == 2) {
    const uint64_t place = (uint64_t)(b->at - p->section_start);
    const ElfRelocation to = elf_relocation(p->cubin, p->bytes, p->section, place);
    p->inside = strcmp(to.symbol, p->kernel) == 0;
    p->address = take(b, 8) + (uint64_t)to.addend;
  }
  b->at = next;
}

static void run_standard(Program *p, Bytes *b, int operation) {
  switch (operation) {
    case 1:
      drop_row(p);
      return;
    case 2:
      p->address += take_uleb(b) * (uint64_t)p->step;
      return;
    case 3:
      p->line += take_sleb(b);
      return;
    case 4:
      p->file = take_uleb(b);
      return;
    case 8:
      p->address += (uint64_t)((255 - p->opcode_base) / p->line_range * p->step);
      return;
    case 9:
      p->address += take(b, 2);
      return;
    default:
      for (int i = 0; i < p->lengths[operation]; i++) take_uleb(b);
  }
}

static void run_program(Program *p, Bytes b) {
  start_sequence(p);
  while (b.at < b.end) {
    const int operation = *b.at++;
    if (operation == 0) {
      run_extended(p, &b);
    } else if (operation < p->opcode_base) {
      run_standard(p, &b, operation);
    } else {
      const int moved = operation - p->opcode_base;
      p->address += (uint64_t)(moved / p->line_range * p->step);
      p->line += p->line_base + moved % p->line_range;
      drop_row(p);
    }
  }
}

static void read_files(Program *p, Bytes *b) {
  while (b->at < b->end && *take_string(b)) {
  }
  p->n_files = 0;
  while (b->at < b->end) {
    const char *name = take_string(b);
    if (!*name) return;
    for (int i = 0; i < 3; i++) take_uleb(b);
    if (p->n_files < FILES_MAX) p->files[p->n_files++] = arena_strdup(p->arena, name);
  }
}

// One unit; its end. NULL when it is none.
static const unsigned char *run_unit(Program *p, Bytes b) {
  const uint64_t length = take(&b, 4);
  if (length == 0 || length > (uint64_t)(b.end - b.at)) return NULL;
  b.end = b.at + length;
  const int version = (int)take(&b, 2);
  const uint64_t header = take(&b, 4);
  if (version < 2 || version > 4 || header > (uint64_t)(b.end - b.at)) return NULL;
  const Bytes program = {b.at + header, b.end};
  p->step = (int)take(&b, 1);
  if (version == 4) take(&b, 1);
  take(&b, 1);
  p->line_base = (int8_t)take(&b, 1);
  p->line_range = (int)take(&b, 1);
  p->opcode_base = (int)take(&b, 1);
  for (int i = 1; i < p->opcode_base; i++) p->lengths[i] = (unsigned char)take(&b, 1);
  if (p->line_range == 0) return NULL;
  read_files(p, &b);
  run_program(p, program);
  return program.end;
}

LineTable line_table_read(Arena *arena, const void *cubin, size_t bytes, const char *section,
                          const char *kernel) {
  Bytes lines = elf_section(cubin, bytes, section);
  if (!lines.at) return (LineTable){.lack = LINES_NO_SECTION};
  Program *p = ARENA_NEW(arena, Program);
  *p = (Program){.arena = arena, .kernel = kernel, .cubin = cubin, .bytes = bytes};
  p->section = section;
  p->section_start = lines.at;
  bool is_read = true;
  while (is_read && lines.at < lines.end) {
    const unsigned char *end = run_unit(p, lines);
    is_read = end != NULL;
    if (end) lines.at = end;
  }
  if (p->table.n == 0) p->table.lack = is_read ? LINES_OF_OTHERS : LINES_OF_ANOTHER_FORMAT;
  return p->table;
}

const char *line_table_lack(const LineTable *table) {
  static const char *const says[] = {
      [LINES_FOUND] = "has lines",
      [LINES_NO_SECTION] = "has no table of lines",
      [LINES_OF_ANOTHER_FORMAT] = "has a table of lines in an unknown format",
      [LINES_OF_OTHERS] = "has a table of lines without this kernel",
  };
  return says[table->lack];
}

const LineRow *line_table_find(const LineTable *table, uint64_t address) {
  const LineRow *best = NULL;
  for (int i = 0; i < table->n; i++) {
    const LineRow *row = &table->rows[i];
    if (row->address > address) continue;
    if (!best || row->address > best->address) best = row;
  }
  return best;
}
