// Worked example, the body of attention's loop over blocks of keys:
//
//   statement     S_f = 0 | wait | barrier | V_s = cp.async | commit | read K | S_f += | …
//   line          0         1      2                                   3        4
//   copy 0                                   begin 3, n 2: at place 3
//
// Moved to place 1 its two statements stand in front of the wait, where other warps may still read
// the V of the block before.
#include "model/interp/load_places.h"

#include <stdlib.h>

#include "model/interp/interp.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"

// ---- what stands in the body --------------------------------------------------------------------

typedef struct Sorts {
  bool copies, others;
} Sorts;

// Signals, expected bytes and fences go with the copies; a wait or a barrier does not.
static void sort_op(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Sorts *sorts = context;
  if (stmt->kind != STMT_OP) return;
  const OpAction action = op_facts(stmt->op.kind)->action;
  const bool goes_along =
      action == ACTION_SIGNAL || action == ACTION_EXPECT || action == ACTION_FENCE;
  const bool copies = op_is_async_copy(stmt->op.kind);
  sorts->copies |= copies;
  sorts->others |= !copies && !goes_along;
}

static Sorts sorts_of(Stmt *stmt) {
  Sorts sorts = {false, false};
  if (stmt->kind == STMT_OP)
    sort_op(stmt, 0, &sorts);
  else
    stmt_walk(stmt->body, sort_op, &sorts);
  return sorts;
}

static bool only_copies(Stmt *stmt) {
  const Sorts sorts = sorts_of(stmt);
  return sorts.copies && !sorts.others;
}

static bool is_commit(const Stmt *stmt) {
  return stmt->kind == STMT_OP && op_facts(stmt->op.kind)->action == ACTION_SIGNAL &&
         op_ends_with_group(stmt->op.kind);
}

typedef struct Slabs {
  Str names;
  const Buffer *last;
} Slabs;

static void name_slab(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Slabs *slabs = context;
  if (stmt->kind != STMT_OP || !op_is_async_copy(stmt->op.kind)) return;
  const Buffer *slab = stmt->op.dst.buffer;
  if (slab == slabs->last) return;
  str_printf(&slabs->names, "%s%s", slabs->last ? ", " : "", slab->name);
  slabs->last = slab;
}

static const char *slabs_of(Arena *arena, Stmt *first, int n) {
  Slabs slabs = {.names = str_new(arena)};
  for (; n > 0; n--, first = first->next)
    if (first->kind == STMT_OP)
      name_slab(first, 0, &slabs);
    else
      stmt_walk(first->body, name_slab, &slabs);
  return slabs.names.text;
}

static int copy_length(Stmt *stmt) {
  int n = 0;
  for (; stmt && only_copies(stmt); stmt = stmt->next) n++;
  return n + (n && stmt && is_commit(stmt));
}

LoadPlaces *load_places_new(Arena *arena, const Program *program) {
  LoadPlaces *places = ARENA_NEW(arena, LoadPlaces);
  Stmt *loop = program_slab_loop(program);
  *places = (LoadPlaces){.arena = arena, .program = program};
  int index = 0;
  for (Stmt *stmt = loop ? loop->body : NULL; stmt && places->n_lines < LOAD_LINES_MAX;) {
    const int n = places->n_copies < LOAD_COPIES_MAX ? copy_length(stmt) : 0;
    if (n)
      places->copy[places->n_copies++] = (LoadCopy){
          .slabs = slabs_of(arena, stmt, n), .begin = index, .n = n, .at = places->n_lines};
    else
      places->line[places->n_lines++] = stmt;
    for (int i = n ? n : 1; i > 0; i--, index++) stmt = stmt->next;
  }
  return places;
}

// ---- moving -------------------------------------------------------------------------------------

static bool is_of(const LoadCopy *copy, int index) {
  return index >= copy->begin && index < copy->begin + copy->n;
}

static bool is_line(const LoadPlaces *places, int index) {
  for (int i = 0; i < places->n_copies; i++)
    if (is_of(&places->copy[i], index)) return false;
  return true;
}

static Stmt **append(Stmt **end, Stmt *stmt) {
  *end = stmt;
  return &stmt->next;
}

Program *load_places_move(Arena *arena, const LoadPlaces *places, int copy, int place) {
  Program *moved = program_clone(arena, places->program);
  const LoadCopy *what = &places->copy[copy];
  Stmt *loop = program_slab_loop(moved), *its = NULL, **its_end = &its, *rest = NULL,
       **rest_end = &rest;
  int index = 0, line = 0;
  for (Stmt *stmt = loop->body, *next; stmt; stmt = next, index++) {
    next = stmt->next;
    if (is_of(what, index))
      its_end = append(its_end, stmt);
    else
      rest_end = append(rest_end, stmt);
  }
  *its_end = *rest_end = NULL;
  Stmt **link = &rest;
  for (index = 0; *link; index++) {
    if (is_of(what, index)) continue;
    if (is_line(places, index) && line++ == place) break;
    link = &(*link)->next;
  }
  stmt_insert(link, its);
  loop->body = rest;
  return moved;
}

// ---- trying -------------------------------------------------------------------------------------

typedef struct Wanted {
  int id;
  bool found;
} Wanted;

static void find_id(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Wanted *wanted = context;
  wanted->found |= stmt->id == wanted->id;
}

// The line that a statement is of, or is in; -1: none, it is the copy's own or outside of the loop.
static int line_of(const LoadPlaces *places, const Stmt *stmt) {
  Wanted wanted = {stmt ? stmt->id : -1, false};
  for (int i = 0; i < places->n_lines && stmt; i++) {
    find_id((Stmt *)places->line[i], 0, &wanted);
    stmt_walk(places->line[i]->body, find_id, &wanted);
    if (wanted.found) return i;
  }
  return -1;
}

static int meets(const LoadPlaces *places, const Finding *finding) {
  const int who = finding ? line_of(places, finding->who.stmt) : -1;
  return who >= 0 || !finding ? who : line_of(places, finding->other.stmt);
}

static void try_place(LoadPlaces *places, int copy, int place) {
  LoadPlace *out = &places->copy[copy].place[place];
  Arena *scratch = arena_new("a copy moved");
  const InterpOptions options = {.seed = 1, .runs = 1};
  const InterpCheck check =
      interpret_check(scratch, load_places_move(scratch, places, copy, place), &options);
  const Finding *worst = interp_gravest(&check);
  out->verdict = check.ok ? LOAD_SAFE : LOAD_UNSAFE;
  out->meets = meets(places, worst);
  if (worst)
    out->text = arena_strdup(places->arena, worst->text);
  else if (!check.ok)
    out->text = arena_printf(places->arena, "%lld cells of C are wrong", (long long)check.n_wrong);
  arena_free(scratch);
}

// The untried place that is nearest to where its copy stands.
static bool find_untried(const LoadPlaces *places, int *copy, int *place) {
  int least = LOAD_LINES_MAX + 1;
  for (int c = 0; c < places->n_copies; c++)
    for (int p = 0; p <= places->n_lines; p++) {
      const int away = abs(p - places->copy[c].at);
      if (places->copy[c].place[p].verdict != LOAD_UNTRIED || away >= least) continue;
      least = away;
      *copy = c;
      *place = p;
    }
  return least <= LOAD_LINES_MAX;
}

bool load_places_try(LoadPlaces *places, int copy, int place) {
  if (place == LOAD_ANYWHERE && !find_untried(places, &copy, &place)) return false;
  if (places->copy[copy].place[place].verdict == LOAD_UNTRIED) try_place(places, copy, place);
  return true;
}
