// load to registers, store to shared → one thread asks for the slab, an mbarrier counts it in.
//
// Requires: stage, no pad and no transposed slab, an arch with TMA. Ensures: an mbarrier full[slot]
// for each slot of the ring, initialised by thread 0 in front of everything; in k_o's body one
// thread fences, expects the slab's bytes and issues its boxes, all threads wait for the phase of
// full[slot] that the slab ends, multiply, and meet at a barrier. The staging registers go.
//
// Worked example, A 128 × 64 and B 64 × 256 of f16 in a ring of three, SWIZZLE=3:
//   if tid == 0: fence; expect full[k_o % 3] 49152 B; one box of A, four panels of B
//   wait full[k_o % 3] phase k_o / 3 % 2     slabs 0, 1, 2 end phase 0; 3, 4, 5 phase 1; 6 phase 0
//   …
// Why the fence: a copy by TMA does not queue up behind reads as a store does. A barrier says that
// the reads of a slab were issued; those that still wait for a bank may come after the bytes of the
// next one. H200, f16, unswizzled slabs in a ring of two: without it every run had wrong cells.
// Why one, by the thread that asks: it covers all that this thread knows to be over, its own or not
// (PTX ISA, 8.10: a proxy fence anywhere along the path), and no reader waits for its own reads.
// `gemmview selftest --gpu --only order` shows that it waits for the queues of the whole SM.
//
// wgmma reads through the same proxy as the copies, and a wait for it says that it has read: then
// there is no fence, but for an A that lanes read.
//
// No thread computes an address, no lane holds a value, and edges need no guard: what a box finds
// outside of the matrix is zero, and its bytes count like the others.
//
// Fused products, whose slabs come at different times, have an mbarrier for each: full_q, full_k
// and full_v. Their barriers stay, one in front of each product: they say that the other product's
// slab is read to the end.
#include <ctype.h>

#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/tensor/tensor_factors.h"

static const KnobId knob = KNOB_TMA;

bool pass_tma_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_TMA] && schedule->value[KNOB_STAGE] != 0;
}

// Guards a list so that a single thread runs it.
static Stmt *by_one_thread(Program *program, Stmt *list) {
  Arena *arena = program->arena;
  const Expr *first = ex_binary(arena, EXPR_EQ, ex_var(arena, program->thread), ex_const(arena, 0));
  return stmt_if(program, knob, first, list);
}

const char *tma_mbarriers_name(Program *program, const char *what, const Buffer *slab) {
  return arena_printf(program->arena, "%s_%c", what, tolower((unsigned char)slab->name[0]));
}

Stmt *tma_build_inits(Program *program, Buffer *mbarriers, int64_t arrivals, KnobId by) {
  Var *i = program_var(program, "i", VAR_LOOP, TIER_REGISTER, mbarriers->dim[0]);
  Access at = access1(mbarriers, ex_var(program->arena, i));
  Op op = {.kind = OP_MBAR_INIT, .dst = at, .arrivals = arrivals};
  return stmt_wrap_register(program, by, i, stmt_op(program, by, op));
}

void tma_add_inits(Stmt *of_one_thread, Stmt *inits) {
  Stmt **link = &of_one_thread->body;
  while (*link && (*link)->op.kind != OP_MBAR_FENCE) link = &(*link)->next;
  stmt_insert(link, inits);
}

Stmt *tma_fence_inits(Program *program, KnobId by) {
  Stmt *fence = stmt_op(program, by, (Op){.kind = OP_MBAR_FENCE});
  fence->note = "they are initialised for the cluster, and for what arrives in the background";
  return fence;
}

// Stands in front of everything: each barrier awaits the one arrival that says the number of bytes
// to come. Where sums have mbarriers too, theirs are initialised next, and one fence stands behind
// all.
static void initialise(Program *program) {
  Stmt *inits = NULL, **end = &inits;
  for (int i = 0; i < program->n_buffers; i++) {
    if (program->buffer[i]->role != ROLE_FULL) continue;
    *end = tma_build_inits(program, program->buffer[i], 1, knob);
    end = &(*end)->next;
  }
  // Where tensor memory is allocated a fence and a barrier stand behind that.
  const bool met = program_buffer(program, ROLE_ACC_FULL);
  if (!met) *end = tma_fence_inits(program, knob);
  Stmt *init = by_one_thread(program, inits);
  init->note = "a phase of full ends when a slab's bytes have come";
  Stmt *all =
      met ? init : stmt_list(init, stmt_barrier(program, knob, "the mbarriers are there"), NULL);
  stmt_insert(&kernel_block(program_main_kernel(program))->body, all);
}

// One thread, behind a fence if there is one to be, expects the bytes and asks for the boxes.
static Stmt *ask(Program *program, Stmt *fence, Access full, int64_t bytes, Stmt *boxes) {
  Stmt *expect = stmt_op(program, knob, (Op){.kind = OP_MBAR_EXPECT, .dst = full, .bytes = bytes});
  Stmt *asked = stmt_list(expect, boxes, NULL);
  return by_one_thread(program, fence ? stmt_list(fence, asked, NULL) : asked);
}

static Stmt *fence_reads(Program *program) {
  Stmt *fence = stmt_op(program, knob, (Op){.kind = OP_FENCE_ASYNC});
  fence->note = "reads of the slot that still wait for a bank come before the copies";
  return fence;
}

// Fence, expect, then the boxes of both slabs; cuts what carried them before.
static Stmt *issue(Program *program, const Product *product, Stmt *k_o, Access full) {
  Stmt *boxes = NULL, *fence = NULL;
  int64_t bytes = 0;
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    const Buffer *slab = operand_slab(program, product, operand);
    if (!slab) continue;
    stmt_cut(stmt_find_link(&k_o->body, OP_LOAD, product->operand[operand].stage));
    stmt_cut(stmt_find_link(&k_o->body, OP_STORE, slab->role));
    stmt_insert(boxes ? &stmt_last(boxes)->next : &boxes,
                slab_build_boxes(program, product, operand, full, knob));
    bytes += buffer_bytes(slab) / full.buffer->dim[0];
  }
  for (int operand = ATOM_A; operand <= ATOM_B && tensor_has_factors(product); operand++) {
    Stmt *factors = tensor_factor_boxes(program, product, operand, k_o, full, knob);
    stmt_insert(&stmt_last(boxes)->next, factors);
    const BufferRole slab = product->operand[ATOM_SFA + operand].slab;
    bytes += buffer_bytes(program_buffer(program, slab)) / full.buffer->dim[0];
  }
  if (!slabs_are_tiles(product) || program_buffer(program, product->operand[ATOM_A].registers))
    fence = fence_reads(program);
  Stmt *all = ask(program, fence, full, bytes, boxes);
  all->note = "one thread asks for the slabs";
  return all;
}

// ---- fused products -----------------------------------------------------------------------------

static int64_t slots_of(const Buffer *slab) { return buffer_is_ring(slab) ? slab->dim[0] : 1; }

// `walk`: counts the blocks that fill the slab; NULL: it is filled once.
static Access full_of(Program *program, const Buffer *slab, const Var *walk) {
  Arena *arena = program->arena;
  const int64_t slots = slots_of(slab);
  Buffer *full = program_new_buffer(program, tma_mbarriers_name(program, "full", slab),
                                    SPACE_BARRIER, ROLE_FULL, 1, &slots, knob);
  return access1(full, walk ? ring_slot(program, ex_var(arena, walk), slots) : ex_const(arena, 0));
}

// The copy of one slab, wherever it stands; a wait for its bytes behind the barrier that follows.
static void issue_alone(Program *program, const Product *product, int operand, Stmt **list,
                        const Var *walk) {
  Arena *arena = program->arena;
  const Buffer *slab = operand_slab(program, product, operand);
  Stmt **load = stmt_find_link(list, OP_LOAD, product->operand[operand].stage);
  const Access full = full_of(program, slab, walk);
  const int64_t slots = slots_of(slab);
  Stmt *boxes = slab_build_boxes(program, product, operand, full, knob);
  Stmt *fence = walk && !slabs_are_tiles(product) ? fence_reads(program) : NULL;
  Stmt *asks = ask(program, fence, full, buffer_bytes(slab) / slots, boxes);
  asks->note = arena_printf(arena, "one thread asks for the slab of %c", slab->name[0]);
  const Expr *phase =
      walk ? ring_full_phase(program, ex_var(arena, walk), slots) : ex_const(arena, 0);
  Stmt *wait = stmt_op(program, knob, (Op){.kind = OP_MBAR_WAIT, .dst = full, .phase = phase});
  stmt_cut(load);
  stmt_cut(stmt_find_link(list, OP_STORE, slab->role));
  stmt_insert(load, asks);
  Stmt **behind = &asks->next;
  if (walk) {
    Stmt *read = *stmt_find_link(behind, OP_BARRIER, ROLE_COUNT);
    read->note = "the other slab is read to the end";
    behind = &read->next;
  }
  stmt_insert(behind, wait);
}

static void tma_block(Program *program, const Product *product) {
  Stmt *walk = program_slab_loop(program),
       **outside = &kernel_inner(program_main_kernel(program))->body;
  for (int operand = ATOM_A; operand <= ATOM_B; operand++) {
    if (!operand_slab(program, product, operand)) continue;
    const bool inside = stmt_find_op(walk->body, OP_LOAD, product->operand[operand].stage);
    issue_alone(program, product, operand, inside ? &walk->body : outside,
                inside ? walk->var : NULL);
  }
  if (slabs_are_tiles(product))  // it was for what threads stored
    stmt_cut(stmt_find_link(&walk->body, OP_FENCE_ASYNC, ROLE_COUNT));
  slab_drop_staging(program, product);
  if (product == &program->product[program->n_products - 1]) initialise(program);
}

// ---- one product --------------------------------------------------------------------------------

void pass_tma(Program *program, Product *product, const Schedule *schedule) {
  if (program->n_products > 1) {
    tma_block(program, product);
    return;
  }
  Stmt *k_o = program_slab_loop(program);
  int64_t slots = schedule->value[KNOB_BUFFER_COUNT];
  Buffer *full = program_new_buffer(program, "full", SPACE_BARRIER, ROLE_FULL, 1, &slots, knob);
  const Expr *slab = slab_counter(program, k_o->var);
  Access at = access1(full, ring_slot(program, slab, slots));
  Op wait = {.kind = OP_MBAR_WAIT, .dst = at, .phase = ring_full_phase(program, slab, slots)};
  Stmt *fetch = stmt_list(issue(program, product, k_o, at), stmt_op(program, knob, wait), NULL);
  Stmt **filled = stmt_find_link(&k_o->body, OP_BARRIER, ROLE_COUNT);
  stmt_cut(filled);
  stmt_insert(filled, fetch);
  Stmt **fence = stmt_find_link(&k_o->body, OP_FENCE_ASYNC, ROLE_COUNT);
  if (slabs_are_tiles(product)) stmt_cut(fence);  // it was for what threads stored
  // The barrier at the end, which a ring of slabs had made superfluous: a wait for bytes does not
  // say that the other threads have left the slot that is asked for next.
  if (slots > 1)
    stmt_insert(&stmt_last(k_o->body)->next,
                stmt_barrier(program, knob, "the slab is read to the end"));
  slab_drop_staging(program, product);
  initialise(program);
}
