// The order of a program's accesses → what each barrier of the block is for.
//
// The statements of the main kernel are walked in their order, bodies of loops three times: what
// one turn reads, the barrier of the next may guard, and the turn behind that one overwrites in a
// ring. A write is made known by the barrier that comes first behind it, and that barrier is for
// every read that comes later; a read is over for others by the barrier that comes first behind it,
// and that one is for the next write to the same bytes, be it another slab's that lies there (the
// epilogue's, over A and B).
//
// Roles are walked each for itself, from what was known in front of them: they meet at mbarriers.
#include "model/readings/time/barrier_use.h"

#include <string.h>

#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"

enum { TURNS = 3 };

// By buffer: accesses that no barrier has followed yet, and the barrier that has followed the last
// of those before.
typedef struct Known {
  bool written[BUFFERS_MAX], read[BUFFERS_MAX];
  BarrierUse *after_write[BUFFERS_MAX], *after_read[BUFFERS_MAX];
} Known;

typedef struct Walk {
  const Program *program;
  BarrierUses *uses;
  Known known;
} Walk;

// In the order in which the program declares them.
static void add(const Buffer **list, int *n, const Buffer *buffer) {
  int at = 0;
  while (at < *n && list[at]->id < buffer->id) at++;
  if ((at < *n && list[at] == buffer) || *n == BARRIER_BUFFERS_MAX) return;
  memmove(list + at + 1, list + at, (size_t)(*n - at) * sizeof *list);
  list[at] = buffer;
  ++*n;
}

static bool is_slab(const Buffer *buffer) { return buffer && buffer->space == SPACE_SHARED; }

static bool lie_over_each_other(const Buffer *a, const Buffer *b) {
  return a->offset_bytes < b->offset_bytes + buffer_bytes(b) &&
         b->offset_bytes < a->offset_bytes + buffer_bytes(a);
}

static void note_read(Walk *walk, const Buffer *slab) {
  Known *known = &walk->known;
  BarrierUse *filled = known->after_write[slab->id];
  if (filled) add(filled->filled, &filled->n_filled, slab);
  known->read[slab->id] = true;
}

static void note_write(Walk *walk, const Buffer *slab) {
  Known *known = &walk->known;
  for (int i = 0; i < walk->program->n_buffers; i++) {
    const Buffer *there = walk->program->buffer[i];
    BarrierUse *left = known->after_read[i];
    if (!left || !is_slab(there) || !lie_over_each_other(there, slab)) continue;
    add(left->left, &left->n_left, there);
    known->after_read[i] = NULL;
  }
  known->written[slab->id] = true;
}

static BarrierUse *use_of(BarrierUses *uses, const Stmt *barrier) {
  for (int i = 0; i < uses->n; i++)
    if (uses->use[i].barrier == barrier) return &uses->use[i];
  if (uses->n == BARRIERS_MAX) return NULL;
  uses->use[uses->n] = (BarrierUse){.barrier = barrier};
  return &uses->use[uses->n++];
}

static void note_barrier(Walk *walk, const Stmt *barrier) {
  BarrierUse *use = use_of(walk->uses, barrier);
  Known *known = &walk->known;
  for (int i = 0; use && i < walk->program->n_buffers; i++) {
    if (known->written[i]) known->after_write[i] = use;
    if (known->read[i]) known->after_read[i] = use;
    known->written[i] = known->read[i] = false;
  }
}

// For all threads of the block, or of a role.
static bool is_barrier(const Op *op) {
  const OpFacts *facts = op_facts(op->kind);
  return facts->action == ACTION_MEET && facts->scope == SCOPE_BLOCK && op->threads != LANES;
}

static bool has_barrier(const Stmt *list) {
  for (const Stmt *stmt = list; stmt; stmt = stmt->next)
    if (stmt->body ? has_barrier(stmt->body) : stmt->kind == STMT_OP && is_barrier(&stmt->op))
      return true;
  return false;
}

static void walk_op(Walk *walk, const Stmt *stmt) {
  const Op *op = &stmt->op;
  if (is_barrier(op)) {
    note_barrier(walk, stmt);
    return;
  }
  if (is_slab(op->src.buffer)) note_read(walk, op->src.buffer);
  if (is_slab(op->src2.buffer)) note_read(walk, op->src2.buffer);
  if (is_slab(op->dst.buffer)) note_write(walk, op->dst.buffer);
}

static bool has_turns(const Stmt *stmt) {
  return stmt->kind == STMT_LOOP && !tier_is_hardware(stmt->var->tier);
}

static void walk_list(Walk *walk, const Stmt *list);

static void walk_role(Walk *walk, const Stmt *role) {
  const Known before = walk->known;
  walk_list(walk, role->body);
  walk->known = before;
}

static void walk_list(Walk *walk, const Stmt *list) {
  for (const Stmt *stmt = list; stmt; stmt = stmt->next) {
    if (stmt->kind == STMT_OP) walk_op(walk, stmt);
    if (stmt->role) walk_role(walk, stmt);
    if (!stmt->body || stmt->role) continue;
    const int turns = has_turns(stmt) && has_barrier(stmt->body) ? TURNS : 1;
    for (int turn = 0; turn < turns; turn++) walk_list(walk, stmt->body);
  }
}

BarrierUses barrier_uses(const Program *program) {
  BarrierUses uses = {0};
  Walk walk = {.program = program, .uses = &uses};
  walk_list(&walk, program_main(program)->body);
  return uses;
}

const BarrierUse *barrier_use_of(const BarrierUses *uses, const Stmt *stmt) {
  for (int i = 0; i < uses->n; i++)
    if (uses->use[i].barrier == stmt) return &uses->use[i];
  return NULL;
}

// "K_s", "A_s and B_s", "Q_s, K_s and V_s"
static void add_names(Str *out, const Buffer *const *list, int n) {
  for (int i = 0; i < n; i++)
    str_printf(out, "%s%s", i == 0 ? "" : i == n - 1 ? " and " : ", ", list[i]->name);
}

static void add_clause(Str *out, const Buffer *const *list, int n, const char *what) {
  const bool second = out->length > 0;
  if (n == 0) return;
  if (second) str_add(out, ", ");
  add_names(out, list, n);
  str_printf(out, "%s %s", second ? "" : n == 1 ? " is" : " are", what);
}

const char *barrier_use_text(Arena *arena, const BarrierUse *use) {
  Str out = str_new(arena);
  if (!use) return NULL;
  add_clause(&out, use->filled, use->n_filled, "filled");
  add_clause(&out, use->left, use->n_left, "read to the end");
  return out.text;
}
