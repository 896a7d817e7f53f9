// fill, barrier, multiply → the next slab is on its way while this one is multiplied.
//
// Requires: stage (and double_buffer when copies are asynchronous). Ensures: a prologue in front of
// the k_o loop, and a body that starts the fetch of a later slab before it multiplies.
//
// Through registers, one slab ahead (PIPELINE_STAGES = 1): the loads of slab k_o + 1 are issued
// before the k_i loop and stored after it, so their latency hides behind the multiplies. With one
// slab a barrier stands on either side of the store, with a ring only after it.
//
// Through registers, two slabs ahead (PIPELINE_STAGES = 2, a ring of two or more): iteration k_o
// first stores slab k_o + 1, whose loads had all of iteration k_o - 1 to arrive, then issues the
// loads of slab k_o + 2, then multiplies. Nothing is pending when the barrier comes.
//
// By cp.async with a ring of S slabs: S - 1 slabs are in flight. Worked example, S = 3: the
// prologue commits slabs 0 and 1 and waits for slab 0; iteration k_o starts slab k_o + 2 into the
// slot that k_o - 1 left, multiplies, waits until at most one group is in flight (slab k_o + 1 has
// landed), and passes the barrier. A commit is made even where no slab is left to fetch, so that
// the count of groups stays right to the end. An operand that comes through registers beside one by
// cp.async is loaded where the copies are asked for, and stored behind the multiply: into the slot
// that everybody left at the barrier before.
//
// By TMA with a ring of S slabs: the prologue asks for slabs 0 … S - 2; iteration k_o asks for slab
// k_o + S - 1, into the slot that everybody left at the barrier before, waits for the bytes of its
// own, multiplies, and meets the others at the barrier.
#include "model/ir/find_op.h"
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/passes/passes.h"

bool pass_pipeline_wanted(const Schedule *schedule) {
  return schedule->value[KNOB_PIPELINE_STAGES] && schedule->value[KNOB_STAGE] != 0 &&
         !pass_warp_specialize_wanted(schedule);  // roles run ahead by themselves
}

static const KnobId knob = KNOB_PIPELINE_STAGES;

// The statements of k_o's body by their part.
typedef struct Parts {
  Stmt *load, *store, *multiply;  // cp.async: load = the copies, store = NULL but of the operand
                                  // that comes through registers
  bool async;
} Parts;

static void append(Stmt **list, Stmt *more) {
  stmt_insert(*list ? &stmt_last(*list)->next : list, more);
}

static Parts take_apart(const Product *product, Stmt *k_o) {
  Parts parts = {0};
  parts.async = stmt_find_op(k_o->body, OP_CP_COMMIT, ROLE_COUNT) != NULL;
  const ProductOperand *a = &product->operand[ATOM_A], *b = &product->operand[ATOM_B];
  const struct {
    OpKind kind;
    BufferRole role;
    bool store;
  } copies[] = {{OP_CP_ASYNC, a->slab, false}, {OP_CP_ASYNC, b->slab, false},
                {OP_LOAD, a->stage, false},    {OP_LOAD, b->stage, false},
                {OP_STORE, a->slab, true},     {OP_STORE, b->slab, true}};
  for (int i = 0; i < 6; i++) {
    Stmt **link = stmt_find_link(&k_o->body, copies[i].kind, copies[i].role);
    if (link) append(copies[i].store ? &parts.store : &parts.load, stmt_cut(link));
  }
  parts.multiply = stmt_cut(stmt_find_multiply(product, &k_o->body));
  return parts;
}

// `list` for slab k_o + ahead, where there is one; NULL when there never is, or no list.
static Stmt *if_ahead(Program *program, const Stmt *list, const Stmt *k_o, int64_t ahead) {
  Arena *arena = program->arena;
  const Expr *next = ex_add_const(arena, ex_var(arena, k_o->var), ahead);
  const Expr *some = ex_lt(arena, next, ex_const(arena, k_o->var->extent));
  if (!list || expr_is_const(some, 0)) return NULL;
  Var *var = program_var(program, "k_n", VAR_LET, TIER_SERIAL, k_o->var->extent);
  Stmt *body = stmt_let(program, knob, var, next);
  body->next = stmt_copy_for(program, list, k_o->var, ex_var(arena, var));
  return stmt_if(program, knob, some, body);
}

static Stmt *group_op(Program *program, OpKind kind, int64_t count) {
  return stmt_op(program, knob, (Op){.kind = kind, .groups = count});
}

// Slab `slab` from global memory into its slot, in front of the loop.
static void fill(Program *program, Stmt *k_o, Parts parts, const Expr *slab, Stmt **prologue) {
  append(prologue, stmt_copy_for(program, parts.load, k_o->var, slab));
  append(prologue, stmt_copy_for(program, parts.store, k_o->var, slab));
}

static void one_ahead(Program *program, const Product *product, Stmt *k_o, Parts parts,
                      int64_t slots, Stmt **prologue) {
  fill(program, k_o, parts, ex_const(program->arena, 0), prologue);
  append(prologue, slab_fence(program, product, knob));
  append(prologue, stmt_barrier(program, knob, "slab 0 is filled"));
  Stmt *body = NULL;
  append(&body, if_ahead(program, parts.load, k_o, 1));
  append(&body, parts.multiply);
  if (slots == 1) append(&body, stmt_barrier(program, knob, "the slab is read to the end"));
  append(&body, if_ahead(program, parts.store, k_o, 1));
  append(&body, slab_fence(program, product, knob));
  append(&body, stmt_barrier(program, knob, "the next slab is filled"));
  k_o->body = body;
}

static void two_ahead(Program *program, const Product *product, Stmt *k_o, Parts parts,
                      Stmt **prologue) {
  Arena *arena = program->arena;
  fill(program, k_o, parts, ex_const(arena, 0), prologue);
  if (k_o->var->extent > 1)
    append(prologue, stmt_copy_for(program, parts.load, k_o->var, ex_const(arena, 1)));
  append(prologue, slab_fence(program, product, knob));
  append(prologue, stmt_barrier(program, knob, "slab 0 is filled"));
  Stmt *body = NULL;
  append(&body, if_ahead(program, parts.store, k_o, 1));
  append(&body, if_ahead(program, parts.load, k_o, 2));
  append(&body, parts.multiply);
  append(&body, slab_fence(program, product, knob));
  append(&body, stmt_barrier(program, knob, "the next slab is filled, this one read to the end"));
  k_o->body = body;
}

static void by_cp_async(Program *program, const Product *product, Stmt *k_o, Parts parts,
                        int64_t slots, Stmt **prologue) {
  for (int64_t slab = 0; slab < slots - 1; slab++) {
    if (slab < k_o->var->extent)
      fill(program, k_o, parts, ex_const(program->arena, slab), prologue);
    append(prologue, group_op(program, OP_CP_COMMIT, 0));
  }
  append(prologue, group_op(program, OP_CP_WAIT, slots - 2));
  append(prologue, slab_fence(program, product, knob));
  append(prologue, stmt_barrier(program, knob, "slab 0 is filled"));
  Stmt *body = NULL;
  append(&body, if_ahead(program, parts.load, k_o, slots - 1));
  append(&body, group_op(program, OP_CP_COMMIT, 0));
  append(&body, parts.multiply);
  append(&body, if_ahead(program, parts.store, k_o, slots - 1));
  append(&body, group_op(program, OP_CP_WAIT, slots - 2));
  append(&body, slab_fence(program, product, knob));
  append(&body, stmt_barrier(program, knob, "the next slab is filled, this one read to the end"));
  k_o->body = body;
}

// Waits, multiplications and barriers stay as they are; only the requests move ahead. A block's
// first slots need no fence: no lane has read them before they are filled. The slots of a later
// tile do.
static void by_tma(Program *program, Stmt *k_o, int64_t slots, Stmt **prologue) {
  Stmt *ask = stmt_cut(stmt_find_link(&k_o->body, OP_TMA_LOAD, ROLE_COUNT));
  bool again = kernel_launch(program_main_kernel(program)).tiles;
  Stmt **link = again ? NULL : stmt_find_link(&ask->body, OP_FENCE_ASYNC, ROLE_COUNT);
  Stmt *fence = link ? stmt_cut(link) : NULL;
  for (int64_t slab = 0; slab < slots - 1 && slab < k_o->var->extent; slab++)
    append(prologue, stmt_copy_for(program, ask, k_o->var, ex_const(program->arena, slab)));
  stmt_insert(&ask->body, fence);  // NULL with wgmma
  stmt_insert(&k_o->body, if_ahead(program, ask, k_o, slots - 1));
}

// Each tile of a persistent block ends at a barrier with no copy under way, so the next may begin
// in slot 0 again: where no phase of an mbarrier counts on, slots stay digits of k_o alone.
static void restart_ring(Program *program, Stmt *k_o) {
  const Stmt *tiles = kernel_launch(program_main_kernel(program)).tiles;
  if (tiles) stmt_substitute(program, k_o->body, tile_turn(tiles), ex_const(program->arena, 0));
}

void pass_pipeline(Program *program, Product *product, const Schedule *schedule) {
  int64_t slots = schedule->value[KNOB_BUFFER_COUNT];
  Kernel *kernel = program_main_kernel(program);
  Stmt *k_o = program_slab_loop(program);
  Stmt *prologue = NULL;
  bool tma = pass_tma_wanted(schedule);
  if (!tma) restart_ring(program, k_o);
  Parts parts = tma ? (Parts){0} : take_apart(product, k_o);
  if (tma)
    by_tma(program, k_o, slots, &prologue);
  else if (parts.async)
    by_cp_async(program, product, k_o, parts, slots, &prologue);
  else if (schedule->value[KNOB_PIPELINE_STAGES] == 2 && slots > 1)
    two_ahead(program, product, k_o, parts, &prologue);
  else
    one_ahead(program, product, k_o, parts, slots, &prologue);
  // In front of the k_o loop, after the initialisation of acc.
  Stmt **link = &kernel_inner(kernel)->body;
  while (*link != k_o) link = &(*link)->next;
  stmt_insert(link, prologue);
}
