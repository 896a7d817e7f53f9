// A wait behind every atom → one group of wgmma for each slab, and one slab's group in flight.
//
// Requires: stage, an atom of a warpgroup. Ensures: one fence in front of k_i, one commit and one
// wait behind it, and the steps unrolled whole, whatever UNROLL_K says: in front of those that stay
// in a loop the assembler puts a fence of its own (C7519), and where warps have roles it may wait
// behind each wgmma (C7520). The first step of the first slab begins the sums (scale-d is 0), so
// that no registers are set to 0 before it: of 128 sums, 64 instructions a tile (CS2R, nvcc 13.0,
// sm_90a). With A_REGS all fragments of the slab are read in front of the fence, each into
// registers of its own: to load one between two wgmmas would make the assembler serialize them
// (C7519). With MMA_GROUPS=1 the wait leaves the slab's own group in flight and the slot of the
// slab before is released; behind the loop a last wait, and the last slot goes too.
//
// Worked example, a ring of four, MMA_GROUPS=1:
//   wait full[k_o % 4]; fence; wgmma …; commit; wait until 1 in flight
//   if 0 < k_o: arrive empty[(k_o - 1) % 4]       while this slab is still multiplied
//   behind the loop: wait until 0 in flight; of a persistent block arrive empty[last % 4]
// Where consumers take tiles by turns, the next one begins in front of that last wait: its wgmmas
// stand behind this slab's in the tensor core's queue.
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/attention/asking_turns.h"
#include "model/passes/passes.h"
#include "model/words/schedule_atom.h"

static const KnobId knob = KNOB_MMA_GROUPS;

bool pass_mma_groups_wanted(const Schedule *schedule) {
  const Atom *atom = schedule_atom_row(schedule);
  return atom && atom_is_of_warpgroup(atom) && schedule->value[KNOB_STAGE] != 0;
}

// A set of the fragments of A for each step of the slab, all read by a loop in front of k_i's.
static Stmt *read_ahead(Program *program, const Product *product, Stmt *k_i) {
  Buffer *fragment = program_buffer(program, product->operand[ATOM_A].registers);
  Stmt *read = fragment ? stmt_cut(stmt_find_read(product, ATOM_A, &k_i->body)) : NULL;
  if (!read) return NULL;
  const int64_t steps = k_i->var->extent;
  fragment_add_sets(fragment, steps);
  Var *step = program_var(program, "k_r", VAR_LOOP, TIER_REGISTER, steps);
  stmt_substitute(program, read, k_i->var, ex_var(program->arena, step));
  fragment_index_sets(read, fragment, ex_var(program->arena, step));
  fragment_index_sets(k_i->body, fragment, ex_var(program->arena, k_i->var));
  return stmt_wrap_register(program, KNOB_A_REGS, step, read);
}

// Fence, commit and wait of one step, around the steps of a slab.
static Stmt *around_slab(Program *program, const Product *product, Stmt *k_o) {
  Stmt **link = stmt_find_multiply(product, &k_o->body), *k_i = *link;
  Stmt *fence = stmt_cut(stmt_find_link(&k_i->body, OP_WG_FENCE, ROLE_COUNT));
  Stmt *commit = stmt_cut(stmt_find_link(&k_i->body, OP_WG_COMMIT, ROLE_COUNT));
  Stmt *wait = stmt_cut(stmt_find_link(&k_i->body, OP_WG_WAIT, ROLE_COUNT));
  Stmt *reads = read_ahead(program, product, k_i);
  k_i->unroll = UNROLL_FULL;
  stmt_insert(&k_i->next, stmt_list(commit, wait, NULL));
  stmt_insert(link, reads ? stmt_list(reads, fence, NULL) : fence);
  fence->knob = commit->knob = wait->knob = knob;
  return wait;
}

Stmt *groups_release_before(Program *program, Stmt *arrive, const Stmt *k_o) {
  Arena *arena = program->arena;
  Var *before = program_var(program, "k_p", VAR_LET, TIER_SERIAL, k_o->var->extent);
  const Expr *some = ex_lt(arena, ex_const(arena, 0), ex_var(arena, k_o->var));
  Stmt *let = stmt_let(program, knob, before, ex_add_const(arena, ex_var(arena, k_o->var), -1));
  stmt_substitute(program, arrive, k_o->var, ex_var(arena, before));
  let->next = arrive;
  Stmt *release = stmt_if(program, knob, some, let);
  release->note = "the slab before is multiplied: its slot is free";
  return release;
}

static Stmt *last_release(Program *program, const Stmt *arrive, const Stmt *k_o) {
  Stmt *last = stmt_copy_list(program, arrive);
  const Expr *slab = ex_add_const(program->arena, stmt_loop_end(program->arena, k_o), -1);
  stmt_substitute(program, last, k_o->var, slab);
  return last;
}

// Behind the loop; a consumer that takes tiles by turns lets the next one begin first.
static Stmt **after_slabs(Stmt *k_o) {
  Stmt *next = k_o->next;
  bool lets_begin = next && next->kind == STMT_OP && next->op.dst.buffer &&
                    next->op.dst.buffer->role == ROLE_ORDER;
  return lets_begin ? &next->next : &k_o->next;
}

static void leave_in_flight(Program *program, Stmt *k_o, Stmt *wait) {
  Stmt **link = stmt_find_link(&k_o->body, OP_MBAR_ARRIVE, ROLE_EMPTY), *arrive = stmt_cut(link);
  Stmt *drained = stmt_op(program, knob, (Op){.kind = OP_WG_WAIT});
  drained->note = "the sums are complete";
  stmt_insert(after_slabs(k_o), drained);
  if (kernel_launch(program_main_kernel(program)).tiles)  // the producer goes on with the next tile
    stmt_insert(&drained->next, last_release(program, arrive, k_o));
  stmt_insert(link, groups_release_before(program, arrive, k_o));
  wait->op.groups = 1;
}

// The sums of a tile begin with its first products: no statement sets their registers. Scores begin
// with each block of keys. Sums of a later product that are rescaled between the blocks are set to
// 0 in front of them.
static void begin_sums(Program *program, const Product *product, Stmt *k_o) {
  Arena *arena = program->arena;
  const bool fused = program->n_products > 1;
  BufferRole sums = product->operand[ATOM_C].registers;
  if (product != &program->product[0]) return;
  Stmt *k_i = *stmt_find_multiply(product, &k_o->body);
  const Expr *step = ex_var(arena, k_i->var);
  if (!fused) step = ex_add(arena, ex_var(arena, k_o->var), step);
  stmt_find_op(k_i, OP_WGMMA, sums)->op.scale_d = ex_lt(arena, ex_const(arena, 0), step);
  Stmt **list = fused ? &k_o->body : &kernel_inner(program_main_kernel(program))->body;
  stmt_cut(stmt_find_link(list, OP_INIT, sums));
}

void pass_mma_groups(Program *program, Product *product, const Schedule *schedule) {
  Stmt *k_o = program_slab_loop(program), *wait = around_slab(program, product, k_o);
  begin_sums(program, product, k_o);
  if (program->n_products > 1) {
    if (product == &program->product[0]) return;
    if (schedule->value[knob])
      overlap_products(program, schedule);
    else
      ask_for_scores_in_turns(program, k_o, schedule);
    return;
  }
  if (schedule->value[knob]) leave_in_flight(program, k_o, wait);
}
