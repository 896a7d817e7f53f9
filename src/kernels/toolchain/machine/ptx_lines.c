// Keeps the lines of NVRTC's PTX that a reader wants to see.
//
// With line information every instruction follows a .loc, and what was inlined names its call:
//   .loc 1 10 3, function_name $L__info_string0, inlined_at 1 104 7
//       ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%rd8];      →  line 104, ld.shared.v4.f32
// A .loc without inlined_at is the line itself. Deeper calls follow as further .loc lines of their
// own label; the outermost line is what the last inlined_at of the chain says, and with the
// prelude's one level of inlining that is the first. Line 0 means that the compiler knows none.
//
// Left out: .loc, .file, the .section blocks of debug data at the end, empty lines and the
// heading's comments. What remains is code, labels, declarations.
#include "kernels/toolchain/machine/ptx_lines.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

typedef struct Reader {
  Arena *arena;
  PtxLine *line;
  int n, capacity;
  int cuda_line;
  int n_open;  // braces of a .section that is being skipped; −1: its brace is still to come
  bool in_section;
} Reader;

static void add_line(Reader *reader, PtxLine line) {
  if (reader->n == reader->capacity) {
    reader->capacity = reader->capacity ? reader->capacity * 2 : 256;
    PtxLine *larger = ARENA_ARRAY(reader->arena, PtxLine, reader->capacity);
    if (reader->n) memcpy(larger, reader->line, sizeof *larger * (size_t)reader->n);
    reader->line = larger;
  }
  reader->line[reader->n++] = line;
}

static void read_location(Reader *reader, const char *text) {
  const char *call = strstr(text, "inlined_at");
  int file = 0, line = 0;
  const char *numbers = call ? call + strlen("inlined_at") : text + strlen(".loc");
  bool known = sscanf(numbers, "%d %d", &file, &line) == 2 && line > 0;
  reader->cuda_line = known ? line : -1;
}

// Whether the line belongs to a block of debug data.
static bool skip_section(Reader *reader, const char *text) {
  if (str_starts(text, ".section")) {
    reader->in_section = true;
    reader->n_open = 0;
  }
  if (!reader->in_section) return false;
  for (const char *c = text; *c; c++) {
    if (*c == '{') reader->n_open++;
    if (*c == '}' && --reader->n_open == 0) reader->in_section = false;
  }
  return true;
}

// "@%p1 bra $L" → "bra"; NULL where no instruction starts.
static const char *read_opcode(Arena *arena, const char *text) {
  if (*text == '@') {
    while (*text && !isspace((unsigned char)*text)) text++;
    while (isspace((unsigned char)*text)) text++;
  }
  size_t n = 0;
  while (isalnum((unsigned char)text[n]) || strchr("._:", text[n] ? text[n] : ' ')) n++;
  bool is_label = n > 0 && text[n - 1] == ':';
  if (n == 0 || is_label || !islower((unsigned char)*text)) return NULL;
  return arena_strndup(arena, text, n);
}

static const char *untabbed(Arena *arena, const char *text, int depth) {
  Str out = str_new(arena);
  str_add_repeat(&out, ' ', depth * 2);
  for (; *text; text++) {
    bool blank = isspace((unsigned char)*text);
    if (!blank || (text[1] && !isspace((unsigned char)text[1])))
      str_add_char(&out, blank ? ' ' : *text);
  }
  return str_sanitise(arena, out.text);
}

static bool is_noise(const char *text) {
  return !*text || str_starts(text, "//") || str_starts(text, ".file");
}

static void read_line(Reader *reader, const char *raw) {
  bool indented = isspace((unsigned char)*raw);
  while (isspace((unsigned char)*raw)) raw++;
  if (str_starts(raw, ".loc")) {
    read_location(reader, raw);
  } else if (!is_noise(raw) && !skip_section(reader, raw)) {
    const char *opcode = indented ? read_opcode(reader->arena, raw) : NULL;
    PtxLine line = {untabbed(reader->arena, raw, indented), opcode,
                    opcode ? reader->cuda_line : -1};
    add_line(reader, line);
  }
}

static int by_opcode(const void *a, const void *b) {
  const PtxCount *x = a, *y = b;
  return strcmp(x->opcode, y->opcode);
}

static int by_count(const void *a, const void *b) {
  const PtxCount *x = a, *y = b;
  return x->count != y->count ? y->count - x->count : by_opcode(a, b);
}

static void count_opcodes(Arena *arena, PtxListing *listing) {
  PtxCount *count = ARENA_ARRAY(arena, PtxCount, listing->n_lines + 1);
  int n_opcodes = 0, n = 0;
  for (int i = 0; i < listing->n_lines; i++)
    if (listing->lines[i].opcode) count[n_opcodes++] = (PtxCount){listing->lines[i].opcode, 1};
  qsort(count, (size_t)n_opcodes, sizeof *count, by_opcode);
  for (int i = 0; i < n_opcodes; i++) {
    if (n > 0 && strcmp(count[n - 1].opcode, count[i].opcode) == 0)
      count[n - 1].count++;
    else
      count[n++] = count[i];
  }
  qsort(count, (size_t)n, sizeof *count, by_count);
  listing->n_counts = n;
  listing->counts = count;
}

const PtxListing *ptx_read(Arena *arena, const char *ptx) {
  Reader reader = {.arena = arena, .cuda_line = -1};
  while (*ptx) {
    size_t n = strcspn(ptx, "\n");
    read_line(&reader, arena_strndup(arena, ptx, n));
    ptx += n + (ptx[n] == '\n');
  }
  PtxListing *listing = ARENA_NEW(arena, PtxListing);
  listing->n_lines = reader.n;
  listing->lines = reader.line;
  count_opcodes(arena, listing);
  return listing;
}

const PtxListing *ptx_list(Arena *arena, PtxLine *lines, int n) {
  PtxListing *listing = ARENA_NEW(arena, PtxListing);
  for (int i = 0; i < n; i++) lines[i].opcode = read_opcode(arena, lines[i].text);
  listing->n_lines = n;
  listing->lines = lines;
  count_opcodes(arena, listing);
  return listing;
}
