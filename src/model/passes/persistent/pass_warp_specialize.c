// every warp fetches and multiplies → a producer that only fetches, consumers that only multiply.
//
// Requires: tma, a ring of two slabs or more. Ensures: behind the threads of the tile stand
// PRODUCER_WARPS producers, of which one thread runs a k_o loop of its own; empty[slot] is arrived
// at by every consumer warp that has read the slot to the end. No barrier of the block is left in
// the loop: a warp that is ahead goes on as long as there are slots.
//
// Sums in tensor memory are asked for by one thread and read by others, three roles in all:
// tensor_roles.c makes those.
//
// In a persistent kernel each role goes through the block's list of tiles by itself. With
// ROLE_SCHEDULE=pingpong there are twice the consumers, which take its tiles by turns
// (take_turns.c).
//
// Worked example, ring of three, eight consumer warps:
//   producer   wait empty[s] phase (k_o / 3 + 1) % 2    phase 1 of a new mbarrier counts as ended,
//              fence, expect full[s], boxes of k_o      so the first three slots are free at once
//   consumer   wait full[s] phase k_o / 3 % 2, multiply, arrive empty[s]      8 end a phase
//
// Registers: each thread starts with the same number, 65,536 / 384 = 170, of which the assembler
// makes 168, too few for a 64 × 64 tile of a warp. The producers give all but 40 back, and the
// consumers take (384 · 168 - 128 · 40) / 256 = 232. Registers that are taken must have been given
// out at the start: with 640 threads that is 640 · 96, and to take (65,536 - 128 · 40) / 512 would
// be to wait for ever. setmaxnreg (PTX ISA, 9.7.19.5) works for whole warpgroups, and is left out
// where a role is none, as with one producer warp of the article's 160 threads, or the start has
// enough.
#include "model/ir/buffer.h"
#include "model/ir/find_op.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/persistent/role_parts.h"
#include "model/passes/persistent/take_turns.h"
#include "model/passes/tensor/tensor_roles.h"
#include "model/words/schedule_atom.h"

static const KnobId knob = KNOB_WARP_SPECIALIZE;

enum {
  REGISTERS_OF_PRODUCER = 40,
  REGISTERS_MAX = 240,  // of a consumer; the address space of an instruction ends at 255
  REGISTER_STEP = 8,
};

bool pass_warp_specialize_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_WARP_SPECIALIZE] && pass_tma_wanted(schedule);
}

int64_t pass_producers(const Schedule *schedule, int64_t consumers) {
  int64_t warps = schedule->value[KNOB_PRODUCER_WARPS];
  if (warps) return warps * LANES;
  if (pass_askers(schedule, consumers)) return LANES;
  return consumers % WARPGROUP ? LANES : WARPGROUP;
}

int64_t pass_askers(const Schedule *schedule, int64_t writers) {
  return atom_is_of_thread(schedule_atom_row(schedule)) ? tensor_askers(writers) : 0;
}

static int64_t producer_registers(const Schedule *schedule) {
  int64_t said = schedule->value[KNOB_PRODUCER_REGS];
  return said ? said : REGISTERS_OF_PRODUCER;
}

int64_t pass_consumer_registers(const Schedule *schedule, int64_t consumers, int64_t producers) {
  int64_t start =
      program_start_registers(consumers + producers, (int)schedule->value[KNOB_MIN_BLOCKS]);
  int64_t given = start * (consumers + producers);
  int64_t left = (given - producers * producer_registers(schedule)) / consumers;
  if (left > REGISTERS_MAX) left = REGISTERS_MAX;
  left -= left % REGISTER_STEP;
  bool groups = consumers % WARPGROUP == 0 && producers % WARPGROUP == 0;
  return groups && left > start ? left : 0;
}

static Stmt *registers(Program *program, OpKind kind, int64_t count) {
  return count ? stmt_op(program, knob, (Op){.kind = kind, .registers = count}) : NULL;
}

// The common loop without the fetch of a slab (ROLE_COUNT: of all of them) and the barrier behind
// it, and with an arrival behind the product that reads it. Returns what the producer does: waits
// for an empty slot, and fetches.
static Stmt *take_fetch(Program *program, const Product *product, Stmt *k_o, BufferRole slab,
                        Buffer *empty) {
  Stmt **link = stmt_find_link(&k_o->body, OP_TMA_LOAD, slab);
  Stmt *fetch = role_asked(link);
  stmt_cut(stmt_find_link(link, OP_BARRIER, ROLE_COUNT));
  const int64_t slots = empty->dim[0];
  const Expr *counter = slab_counter(program, k_o->var);
  const Access slot = access1(empty, ring_slot(program, counter, slots));
  Op wait = {.kind = OP_MBAR_WAIT, .dst = slot, .phase = ring_empty_phase(program, counter, slots)};
  Op arrive = {.kind = OP_MBAR_ARRIVE, .dst = slot};
  stmt_insert(&(*stmt_find_multiply(product, &k_o->body))->next, stmt_op(program, knob, arrive));
  return stmt_list(stmt_op(program, knob, wait), fetch, NULL);
}

static const char *note_of_producer(int64_t producers) {
  return producers % WARPGROUP
             ? "the producer only fetches; no setmaxnreg, which needs whole warpgroups"
             : "the producer only fetches";
}

// All fetches for a tile. Slabs of fused products are filled and emptied one by one, each with
// mbarriers of its own; a slab that is fetched once stands in front of the loop.
static Stmt *take_fetches(Program *program, const Product *product, Stmt *k_o, int64_t slots,
                          int64_t arrivals) {
  if (program->n_products == 1) {
    Buffer *empty = role_mbarriers(program, "empty", ROLE_EMPTY, slots, arrivals);
    return role_slabs(program, k_o, take_fetch(program, product, k_o, ROLE_COUNT, empty));
  }
  Stmt *fetches = NULL;
  for (int i = 0; i < program->n_products; i++) {
    const Product *reader = &program->product[i];
    const Buffer *slab = operand_slab(program, reader, ATOM_B);
    Buffer *empty = role_mbarriers(program, tma_mbarriers_name(program, "empty", slab), ROLE_EMPTY,
                                   slots, arrivals);
    stmt_insert(fetches ? &stmt_last(fetches)->next : &fetches,
                take_fetch(program, reader, k_o, slab->role, empty));
  }
  Stmt **once =
      stmt_find_link(&kernel_inner(program_main_kernel(program))->body, OP_TMA_LOAD, ROLE_COUNT);
  return stmt_list(role_asked(once), role_slabs(program, k_o, fetches), NULL);
}

static void give_roles(Program *program, const Product *product, const Schedule *schedule) {
  Arena *arena = program->arena;
  Kernel *kernel = program_main_kernel(program);
  int64_t slots = schedule->value[KNOB_BUFFER_COUNT], readers = kernel_launch(kernel).n_threads;
  const Var *by_turns = pass_pingpong_wanted(schedule) ? turns_add_consumers(program) : NULL;
  Stmt *block = kernel_block(kernel), *k_o = program_slab_loop(program);
  int64_t consumers = kernel_launch(kernel).n_threads;
  int64_t producers = pass_producers(schedule, consumers);
  int64_t mine = pass_consumer_registers(schedule, consumers, producers);
  // All that is taken and given adds up to what the launch bounds leave a thread at the start.
  if (mine) kernel->min_blocks = (int)max64(1, schedule->value[KNOB_MIN_BLOCKS]);
  role_count_threads(program, consumers + producers);
  Stmt *fetches = take_fetches(program, product, k_o, slots, readers / LANES);

  const Expr *limit = ex_const(arena, consumers), *last = ex_const(arena, consumers - 1);
  const Stmt *tiles = kernel_launch(kernel).tiles;
  Stmt *loop = stmt_if(program, knob, role_is_thread(program, consumers),
                       role_tiles(program, tiles, fetches));
  WarpRole produces = {"producer", WORK_FETCHES, consumers, producers,
                       mine ? producer_registers(schedule) : 0};
  WarpRole multiplies = {"consumer", WORK_MULTIPLIES, 0, consumers, mine};
  Stmt *give = registers(program, OP_REGS_GIVE, produces.registers);
  Stmt *take = registers(program, OP_REGS_TAKE, multiplies.registers);
  Stmt *barrier = block->body->next, *rest = barrier->next;
  Stmt *producer = role_new(program, produces, ex_lt(arena, last, role_thread(program)),
                            give ? stmt_list(give, loop, NULL) : loop, note_of_producer(producers));
  Stmt *consumer =
      role_new(program, multiplies, ex_lt(arena, role_thread(program), limit),
               take ? stmt_list(take, rest, NULL) : rest, "the consumers only multiply");
  barrier->next = stmt_list(producer, consumer, NULL);
  if (by_turns) take_turns(program, by_turns, readers / LANES);
}

void pass_warp_specialize(Program *program, Product *product, const Schedule *schedule) {
  if (atom_is_of_thread(product->atom))
    tensor_roles(program, product, schedule);
  else
    give_roles(program, product, schedule);
}
