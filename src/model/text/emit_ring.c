#include "model/text/emit_parts.h"

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/ring.h"
#include "model/ir/stmt.h"
#include "model/text/emit_op.h"

// ---- what stands in a loop ----------------------------------------------------------------------

typedef struct Search {
  const Expr *wanted;
  bool found;
} Search;

static bool contains(const Expr *expr, const Expr *wanted) {
  if (!expr) return false;
  return expr_equal(expr, wanted) || contains(expr->a, wanted) || contains(expr->b, wanted) ||
         contains(expr->c, wanted);
}

static void search_one(const Expr **expr, void *context) {
  Search *search = context;
  search->found |= contains(*expr, search->wanted);
}

static void search_stmt(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Op op = stmt->op;
  if (stmt->kind == STMT_OP) op_each_expr(&op, search_one, context);
}

static bool stands_in(const Stmt *list, const Expr *wanted) {
  Search search = {wanted, false};
  stmt_walk((Stmt *)(uintptr_t)list, search_stmt, &search);
  return search.found;
}

// ---- the text of it -----------------------------------------------------------------------------

static void add(EmitRing *ring, const Expr *number, const char *text) {
  if (ring->n < EMIT_RING_MAX) ring->term[ring->n++] = (EmitRingTerm){number, text};
}

// The slot of the slab that is `ahead` of the loop's, by which the ring's slots come round.
static const char *print_slot(Arena *arena, int64_t slots, int64_t ahead) {
  ahead = (ahead % slots + slots) % slots;
  if (ahead == 0) return "slot";
  long long over = (long long)(slots - ahead);
  if (over == 1) return arena_printf(arena, "(slot == 0 ? %lld : slot - 1)", (long long)ahead);
  return arena_printf(arena, "(slot < %lld ? slot + %lld : slot - %lld)", over, (long long)ahead,
                      over);
}

// Numbers bound inside of the loop that run a fixed number of slabs ahead of it, and their slots.
static void add_lets(Emitter *emitter, EmitRing *ring, const Stmt *list, const Var *k_o,
                     const Expr *slot) {
  Arena *arena = emitter->arena;
  for (; list; list = list->next) {
    add_lets(emitter, ring, list->body, k_o, slot);
    const Expr *at = list->kind == STMT_LET ? list->expr : NULL;
    bool ahead = at && at->op == EXPR_ADD && at->b->op == EXPR_CONST && at->a->op == EXPR_VAR &&
                 at->a->var == k_o;
    if (ahead)
      add(ring, expr_substitute(arena, slot, k_o, ex_var(arena, list->var)),
          print_slot(arena, ring->slots, at->b->value));
  }
}

static void add_phase(EmitRing *ring, const Stmt *loop, const Expr *phase, const char *name) {
  if (!stands_in(loop->body, phase)) return;
  ring->phase[ring->n_phases++] = name;
  add(ring, phase, name);
}

static void declare(Emitter *emitter, const EmitRing *ring, const Var *k_o) {
  Str line = str_new(emitter->arena);
  for (int i = 0; i < ring->n; i++) {
    const EmitRingTerm *term = &ring->term[i];
    if (i > ring->n_phases) break;  // the slot and its phases stand first
    const Expr *first =
        expr_substitute(emitter->arena, term->number, k_o, ex_const(emitter->arena, 0));
    str_printf(&line, "%s%s = %s", i ? ", " : "", term->text, emit_condition(emitter, first));
  }
  emitter_line(emitter, "int %s;  // of the ring, counted along", line.text);
}

// Where one warp fetches and others multiply, a slot's release and the copy into it are apart.
static bool has_ring(const Program *program, const Stmt *loop) {
  const Buffer *full = program_buffer(program, ROLE_FULL);
  return full && program_buffer(program, ROLE_EMPTY) && loop->var->tier == TIER_SERIAL_OUTER &&
         loop->unroll == 0 && !is_power_of_two(full->dim[0]);
}

const EmitRing *emit_ring_begin(Emitter *emitter, const Stmt *loop) {
  const Program *program = emitter->program;
  if (emitter->symbols.ring || !has_ring(program, loop)) return NULL;
  EmitRing *ring = ARENA_NEW(emitter->arena, EmitRing);
  const int64_t slots = ring->slots = program_buffer(program, ROLE_FULL)->dim[0];
  const Expr *counter = slab_counter(program, loop->var);
  const Expr *slot = ring_slot(program, counter, slots);
  add(ring, slot, "slot");
  add_phase(ring, loop, ring_full_phase(program, counter, slots), "full_phase");
  add_phase(ring, loop, ring_empty_phase(program, counter, slots), "empty_phase");
  if (ring->n_phases == 0) return NULL;
  add_lets(emitter, ring, loop->body, loop->var, slot);
  declare(emitter, ring, loop->var);
  emitter->symbols.ring = ring;
  return ring;
}

void emit_ring_end(Emitter *emitter, const EmitRing *ring) {
  emitter_line(emitter, "if (++slot == %lld) {", (long long)ring->slots);
  emitter->depth++;
  emitter_line(emitter, "slot = 0;");
  for (int i = 0; i < ring->n_phases; i++) emitter_line(emitter, "%s ^= 1;", ring->phase[i]);
  emitter->depth--;
  emitter_line(emitter, "}");
  emitter->symbols.ring = NULL;
}
