// All consumers work on one tile → two consumers have one each, by turns (CUTLASS: KernelTma
// WarpSpecializedPingpong).
//
// Requires: persistent, an atom of a warpgroup, slabs by TMA and a producer. Ensures: consumer c of
// two has the tiles of the block whose turn is c modulo 2; it multiplies when the one before is
// multiplied, and writes its tile to C while the other multiplies. Preserves: the ring. The
// producer asks for tile after tile, and the number of a slab, turn · slabs + k_o, counts those of
// the other consumer too, so that slot and phases follow as before. A slot is released by the one
// consumer that read it.
//
// The turns to multiply: order[turn % 2] has a phase for every other tile, which ends when each
// warp of its consumer has asked for all of its products. The consumer of a turn waits for the tile
// before. As in a ring of two slots (ring.h) that is what slot turn + 1 is to be empty of. One
// mbarrier with a phase for each tile would not do: a warp that is ahead of its consumer would come
// to its next tile, two phases on, while the phase of its last one is under way, and take its bit
// for ended.
//
// The order is more than a question of speed. A wait knows the phase of full by one bit, and a
// consumer that came to it a ring too early would take a phase of the other's slabs for its own.
//
// Worked example, 5 tiles in a block's list:
//   consumer 0   multiply 0 | write 0    | multiply 2 | write 2    | multiply 4 | write 4
//   consumer 1              | multiply 1 | write 1    | multiply 3 | write 3
//   ends          order[0], 0  order[1], 0  order[0], 1  order[1], 1
#include "model/passes/persistent/take_turns.h"

#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/words/schedule_atom.h"

static const KnobId knob = KNOB_ROLE_SCHEDULE;

enum { CONSUMERS = 2 };

bool pass_pingpong_wanted(const Schedule *schedule) {
  const Atom *atom = schedule_atom_row(schedule);
  return schedule->value[knob] == ROLES_PINGPONG && atom && atom_is_of_warpgroup(atom) &&
         pass_warp_specialize_wanted(schedule) && pass_persistent_wanted(schedule);
}

int64_t pass_tiles_at_once(const Schedule *schedule) {
  return pass_pingpong_wanted(schedule) ? CONSUMERS : 1;
}

const Var *turns_add_consumers(Program *program) {
  Kernel *kernel = program_main_kernel(program);
  Var *consumer = program_var(program, "c", VAR_LOOP, TIER_WARP, CONSUMERS);
  Var *thread = program_var(program, program->thread->name, VAR_THREAD, TIER_THREAD,
                            CONSUMERS * program->thread->extent);
  stmt_substitute(program, kernel->body, program->thread, ex_var(program->arena, thread));
  program->thread = thread;
  Stmt **link = &kernel->body;
  while ((*link)->kind == STMT_LET || (*link)->var->tier == TIER_CLUSTER)
    link = (*link)->kind == STMT_LET ? &(*link)->next : &(*link)->body;
  *link = stmt_loop(program, knob, consumer, *link);
  return consumer;
}

// Around the loop over slabs: the consumer of the turn before has asked for its products, and so
// has this one.
static void in_order(Program *program, Stmt **k_o, Buffer *order, const Expr *turn) {
  const Expr *next = ex_add_const(program->arena, turn, 1);
  Op wait = {.kind = OP_MBAR_WAIT,
             .dst = access1(order, ring_slot(program, next, CONSUMERS)),
             .phase = ring_empty_phase(program, next, CONSUMERS)};
  Op arrive = {.kind = OP_MBAR_ARRIVE, .dst = access1(order, ring_slot(program, turn, CONSUMERS))};
  stmt_insert(&(*k_o)->next, stmt_op(program, knob, arrive));
  stmt_insert(k_o, stmt_op(program, knob, wait));
}

void take_turns(Program *program, const Var *consumer, int64_t warps) {
  Arena *arena = program->arena;
  Kernel *kernel = program_main_kernel(program);
  int64_t consumers = CONSUMERS;
  Buffer *order =
      program_new_buffer(program, "order", SPACE_BARRIER, ROLE_ORDER, 1, &consumers, knob);
  Stmt *of_one_thread = kernel_block(kernel)->body;
  tma_add_inits(of_one_thread, tma_build_inits(program, order, warps, knob));

  Stmt *tiles = kernel_tiles(kernel), **body = &tiles->body;
  while ((*body)->kind == STMT_LET) body = &(*body)->next;
  Stmt **k_o = body;
  while (*k_o != program_slab_loop(program)) k_o = &(*k_o)->next;
  const Expr *turn = ex_var(arena, tile_turn(tiles));
  in_order(program, k_o, order, turn);
  const Expr *own =
      ex_binary(arena, EXPR_EQ, ex_mod(arena, turn, CONSUMERS), ex_var(arena, consumer));
  *body = stmt_if(program, knob, own, *body);
  (*body)->note = "the consumers take the block's tiles by turns";
}
