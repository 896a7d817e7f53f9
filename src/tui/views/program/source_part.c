// The lines of the CUDA text that a row of the nest stands for.
//
// A row with a statement lights the lines of the statement and of everything inside it; a row of a
// hardware tier has no statement, so it lights the lines that make its index of blockIdx or
// threadIdx. Worked example: "k_i in 0..16" of the padded rung is lines 78 to 97, the loop's head,
// two loads and the multiply-adds, with their loops and comments; "THREAD 16×16 threads" is two
// lines, "const int m_t = threadIdx.x / 16" and its neighbour.
#include "tui/views/program/source.h"

#include <string.h>

#include "base/str.h"
#include "model/ir/stmt.h"

static bool tier_is_of(NestGroup group, Tier tier) {
  if (group == NEST_BLOCK) return tier == TIER_BLOCK || tier == TIER_CLUSTER;
  if (group == NEST_WARP) return tier == TIER_WARP;
  return group == NEST_THREAD && tier == TIER_THREAD;
}

static bool list_holds(const Stmt *list, const Stmt *stmt);

bool source_stmt_holds(const Stmt *outer, const Stmt *stmt) {
  if (!outer || !stmt) return false;
  bool nests = outer->kind == STMT_LOOP || outer->kind == STMT_IF;
  return outer == stmt || (nests && list_holds(outer->body, stmt));
}

static bool list_holds(const Stmt *list, const Stmt *stmt) {
  for (; list; list = list->next)
    if (source_stmt_holds(list, stmt)) return true;
  return false;
}

static bool is_of(const NestRow *row, const SourceLine *line) {
  if (!line->stmt) return false;
  if (row->stmt) return source_stmt_holds(row->stmt, line->stmt);
  return line->stmt->kind == STMT_LOOP && tier_is_of(row->group, line->stmt->var->tier);
}

static bool is_blank(const SourceLine *line) {
  return !line->text || !line->text[strspn(line->text, " ")];
}

int source_first_of(const Source *source, const NestRow *row) {
  for (int i = 0; i < source->n_lines; i++)
    if (is_of(row, &source->line[i]) && !is_blank(&source->line[i])) return i;
  return -1;
}

SourcePart source_part(Session *session, const NestRow *row) {
  SourcePart part = {.first = -1, .last = -1};
  Source *source = ARENA_NEW(session->frame, Source);
  source_list_cuda(session, source);
  part.n_all = source->n_lines;
  part.line = ARENA_ARRAY(session->frame, SourceLine, source->n_lines + 1);
  for (int i = 0; i < source->n_lines; i++) {
    if (!is_of(row, &source->line[i]) || is_blank(&source->line[i])) continue;
    part.line[part.n++] = source->line[i];
    if (part.first < 0) part.first = i + 1;
    part.last = i + 1;
  }
  return part;
}

// ---- the kernel ---------------------------------------------------------------------------------

static bool is_loop_of(const SourceLine *line, Tier tier) {
  return line->stmt && line->stmt->kind == STMT_LOOP && line->stmt->var->tier == tier;
}

// The loop over slabs; over k alone where nothing is staged.
static int find_loop(const Source *source) {
  static const Tier tiers[] = {TIER_SERIAL_OUTER, TIER_SERIAL};
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < source->n_lines; i++)
      if (is_loop_of(&source->line[i], tiers[t]) && !is_blank(&source->line[i])) return i;
  return 0;
}

static bool begins(const SourceLine *line, const char *text) {
  return line->text && str_starts(line->text, text);
}

SourceKernel source_kernel(Session *session) {
  Source *source = ARENA_NEW(session->frame, Source);
  source_list_cuda(session, source);
  const int loop = find_loop(source);
  int first = loop, end = loop;
  while (first > 0 && !begins(&source->line[first], "extern \"C\"")) first--;
  while (end < source->n_lines && !begins(&source->line[end], "}")) end++;
  if (end < source->n_lines) end++;
  return (SourceKernel){.part = {.n = end - first,
                                 .n_all = source->n_lines,
                                 .first = first + 1,
                                 .last = end,
                                 .line = source->line + first},
                        .loop = loop - first};
}

int source_kernel_first(const SourceKernel *kernel, int rows) {
  int last = kernel->part.n - rows;  // to begin with where the end is to be seen
  if (last < 0) last = 0;
  return last < kernel->loop ? last : kernel->loop;
}
