// One slab → a ring of BUFFER_COUNT slabs.
//
// Requires: stage. Ensures: slabs are [slots][…][…], every access goes to slot k_o mod
// BUFFER_COUNT, and the barrier after the k_i loop is gone. Preserves: the order of fills and
// reads.
//
// Among fused products Q, which is filled in front of the loop, has no ring, and the barriers stay
// for the passes that come: a producer's (rule attention_ring).
//
// Worked example, two slots: slab k_o is read from slot k_o mod 2 while a fast thread may already
// fill the other one for k_o + 1. It cannot run two slabs ahead: the barrier after the fill of
// k_o + 1 is passed only when everybody has finished reading k_o.
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

bool pass_double_buffer_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_BUFFER_COUNT] > 1 && schedule->value[KNOB_STAGE] != 0;
}

// Each slot starts at a multiple of 16 bytes, whatever the pad: a slab of one row may have been
// read 16 bytes at a time because its only row starts at 0.
static int64_t slot_elements(const Buffer *slab) {
  return (slab->dim[0] * slab->stride[0] + 3) / 4 * 4;
}

static void add_ring(Buffer *slab, int64_t slots) {
  int64_t elements = slot_elements(slab);
  for (int d = slab->rank; d > 0; d--) {
    slab->dim[d] = slab->dim[d - 1];
    slab->stride[d] = slab->stride[d - 1];
  }
  slab->dim[0] = slots;
  slab->stride[0] = elements;
  slab->rank++;
  slab->knob = KNOB_BUFFER_COUNT;
}

typedef struct Ring {
  const Buffer *slab;
  const Expr *slot;
} Ring;

static void index_ring(Access *access, Stmt *stmt, void *context) {
  (void)stmt;
  const Ring *ring = context;
  if (access->buffer != ring->slab) return;
  for (int d = access->buffer->rank - 1; d > 0; d--) access->idx[d] = access->idx[d - 1];
  access->idx[0] = ring->slot;
}

void pass_double_buffer(Program *program, Product *product, const Schedule *schedule) {
  int64_t slots = schedule->value[KNOB_BUFFER_COUNT];
  Stmt *k_o = program_slab_loop(program);
  const Expr *slot = ring_slot(program, slab_counter(program, k_o->var), slots);
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    Ring ring = {operand_slab(program, product, operand), slot};
    if (!ring.slab || !stmt_find_op(k_o->body, OP_STORE, ring.slab->role)) continue;
    add_ring(operand_slab(program, product, operand), slots);
    stmt_each_access(k_o->body, index_ring, &ring);
  }
  if (program->n_products > 1) return;
  Stmt **first = stmt_find_link(&k_o->body, OP_BARRIER, ROLE_COUNT);
  stmt_cut(stmt_find_link(&(*first)->next, OP_BARRIER, ROLE_COUNT));
}
