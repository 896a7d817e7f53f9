// The lines of the CUDA text that a row of the nest stands for.
//
// A row with a statement lights the lines of the statement and of everything inside it; a row of a
// hardware tier has no statement, so it lights the lines that make its index of blockIdx or
// threadIdx. Worked example: "k_i in 0..16" of the padded rung is lines 78 to 97, the loop's head,
// two loads and the multiply-adds, with their loops and comments; "THREAD 16×16 threads" is two
// lines, "const int m_t = threadIdx.x / 16" and its neighbour.
#include "tui/source.h"

#include <string.h>

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
