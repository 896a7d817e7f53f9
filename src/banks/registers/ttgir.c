// A scan for aliases and types, line by line; the rest of MLIR is not read.
//
// Strings are skipped, so that a location named "tensor<" is none. An operation that changes a
// layout has its two types at the end of its line: the last two that stand there.
#include "banks/registers/ttgir.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"

enum { ALIASES_MAX = 4096, USES_MAX = 8192, MOVES_MAX = 8192 };

static const char *const MOVES[] = {"ttg.convert_layout",        "ttg.local_load",
                                    "ttg.local_store",           "ttg.local_alloc",
                                    "triton_gpu.convert_layout", "triton_gpu.local_load",
                                    "triton_gpu.local_store",    "triton_gpu.local_alloc"};
enum { N_MOVES = sizeof MOVES / sizeof MOVES[0] };

static const char *text_of(const void *owner, const char *name) {
  const Ttgir *ttgir = owner;
  for (int i = 0; i < ttgir->n_aliases; i++)
    if (str_equal(ttgir->alias[i].name, name)) return ttgir->alias[i].text;
  return NULL;
}

// ---- one line -----------------------------------------------------------------------------------

static bool take_alias(Arena *arena, const char *line, size_t length, int number, Ttgir *out) {
  size_t n = 1;
  if (line[0] != '#') return false;
  while (n < length && (isalnum((unsigned char)line[n]) || line[n] == '_')) n++;
  const char *name = arena_strndup(arena, line + 1, n - 1);
  while (n < length && line[n] == ' ') n++;
  if (n == length || line[n] != '=' || out->n_aliases == ALIASES_MAX) return false;
  n++;
  while (n < length && line[n] == ' ') n++;
  const char *text = arena_strndup(arena, line + n, length - n);
  // A location, or the name of a memory.
  if (text[0] != '#' || !strchr(text, '<')) return true;
  out->alias[out->n_aliases++] = (TtgirAlias){name, text, number};
  return true;
}

// The end of "<…>" from its "<" on; NULL: it does not end in the line.
static const char *closing(const char *open, const char *end) {
  int depth = 0;
  for (const char *at = open; at < end; at++) {
    depth += *at == '<';
    depth -= *at == '>' && at[-1] != '-';
    if (depth == 0) return at;
  }
  return NULL;
}

// "…, #smem, mutable, 128x32>": the last part of a view says of what it is one.
static void scan_whole(Arena *arena, const char *rest, TensorShape *out) {
  Diags unused = diags_new(arena);
  const char *last = strrchr(rest, ',');
  if (!last) return;
  last += 1 + strspn(last + 1, " ");
  const char *text = arena_strndup(arena, last, strcspn(last, ">"));
  TensorShape shape;
  if (isdigit((unsigned char)text[0]) && tensor_shape_parse(text, &shape, &unused)) *out = shape;
}

static bool scan_use(Arena *arena, const char *text, bool memory, TtgirUse *out) {
  Diags unused = diags_new(arena);
  Scan scan = scan_new(arena, strchr(text, '<') + 1, &unused);
  *out = (TtgirUse){.text = text, .memory = memory};
  if (!tensor_type_scan(&scan, &out->type) || !scan_take(&scan, ",")) return false;
  const char *begin = scan.at + strspn(scan.at, " ");
  int depth = 0;
  size_t n = 0;
  for (; begin[n]; n++) {
    depth += strchr("<[({", begin[n]) != NULL;
    if (strchr(">])}", begin[n]) && --depth < 0) break;
    if (begin[n] == ',' && depth == 0) break;
  }
  out->encoding = arena_strndup(arena, begin, n);
  if (memory) scan_whole(arena, begin + n, &out->whole);
  return begin[0] == '#';
}

// The use "<…>", a new one where there is none; -1: it is none, or there are too many.
static int find_use(Arena *arena, const char *begin, const char *end, bool memory, int line,
                    Ttgir *out) {
  const char *text =
      arena_printf(arena, "%s%.*s", memory ? "memdesc" : "tensor", (int)(end - begin) + 1, begin);
  for (int i = 0; i < out->n_uses; i++)
    if (str_equal(out->use[i].text, text)) {
      out->use[i].count++;
      return i;
    }
  TtgirUse use;
  if (out->n_uses == USES_MAX || !scan_use(arena, text, memory, &use)) return -1;
  use.count = 1;
  use.line = line;
  out->use[out->n_uses] = use;
  return out->n_uses++;
}

static void add_move(Ttgir *out, const char *op, int from, int to, int line) {
  for (int i = 0; i < out->n_moves; i++) {
    TtgirMove *move = &out->move[i];
    if (move->op == op && move->from == from && move->to == to) {
      move->count++;
      return;
    }
  }
  if (out->n_moves < MOVES_MAX) out->move[out->n_moves++] = (TtgirMove){op, from, to, line, 1};
}

static const char *move_of(const char *line, size_t length) {
  for (int i = 0; i < N_MOVES; i++) {
    const char *at = memmem(line, length, MOVES[i], strlen(MOVES[i]));
    if (at && !isalnum((unsigned char)at[strlen(MOVES[i])]) && at[strlen(MOVES[i])] != '_')
      return MOVES[i];
  }
  return NULL;
}

static void take_types(Arena *arena, const char *line, const char *end, int number, Ttgir *out) {
  int last[2] = {-1, -1};
  bool quoted = false;
  for (const char *at = line; at < end; at++) {
    quoted ^= *at == '"';
    if (quoted || *at != '<') continue;
    const bool tensor = at - line >= 6 && !memcmp(at - 6, "tensor", 6);
    const bool short_form = at > line && at[-1] == ' ' && isdigit((unsigned char)at[1]);
    const bool memory = short_form || (at - line >= 7 && !memcmp(at - 7, "memdesc", 7));
    const char *stop = tensor || memory ? closing(at, end) : NULL;
    if (!stop) continue;
    const int use = find_use(arena, at, stop, memory, number, out);
    if (use < 0) continue;
    last[0] = last[1];
    last[1] = use;
    at = stop;
  }
  const char *op = last[0] >= 0 ? move_of(line, (size_t)(end - line)) : NULL;
  if (op) add_move(out, op, last[0], last[1], number);
}

const Ttgir *ttgir_read(Arena *arena, const char *text, Diags *diags) {
  Ttgir *out = ARENA_NEW(arena, Ttgir);
  *out = (Ttgir){.alias = ARENA_ARRAY(arena, TtgirAlias, ALIASES_MAX),
                 .use = ARENA_ARRAY(arena, TtgirUse, USES_MAX),
                 .move = ARENA_ARRAY(arena, TtgirMove, MOVES_MAX)};
  out->names = (AttrNames){text_of, out};
  int number = 1;
  for (const char *line = text; *line; number++) {
    const size_t length = strcspn(line, "\n");
    if (!take_alias(arena, line, length, number, out))
      take_types(arena, line, line + length, number, out);
    line += length + (line[length] == '\n');
  }
  if (out->n_aliases || out->n_uses) return out;
  diag_add(diags, "ttgir", "no layout and no tensor with one stands in this file");
  return NULL;
}
