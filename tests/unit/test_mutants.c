// Programs of the rungs with one thing wrong: every mutant, and every breakage that a user can
// switch on, is noticed by the interpreter, by a finding or by a wrong cell.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "model/interp/breakage.h"
#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/readings/model.h"
#include "model/schedules/reduce.h"
#include "model/words/schedule_atom.h"
#include "property.h"
#include "stress.h"

Suite *suite_mutants(void);

// ---- mutants ------------------------------------------------------------------------------------

// A mutation changes one place of a program; `n` counts places, so n = 0, 1, 2, … visits them all
// and false says that there are no more. The text is what is printed when nothing was noticed.
typedef struct Mutant {
  Program *program;
  const Program *of;
  int n;  // places still to pass by
  const Stmt *at;
  char what[80];
} Mutant;

typedef void MutateStmt(Mutant *mutant, Stmt *stmt, Stmt **link);

static bool here(Mutant *mutant, const Stmt *stmt) {
  if (mutant->at || mutant->n-- > 0) return false;
  mutant->at = stmt;
  return true;
}

static void each_stmt(Mutant *mutant, Stmt **link, MutateStmt *mutate) {
  while (*link && !mutant->at) {
    Stmt *stmt = *link;
    mutate(mutant, stmt, link);
    if (stmt->body && !mutant->at) each_stmt(mutant, &stmt->body, mutate);
    link = &stmt->next;
  }
}

static void drop_op(Mutant *mutant, Stmt *stmt, Stmt **link) {
  // How many registers a warp has changes nothing of what it computes.
  bool harmless = stmt->op.kind == OP_REGS_GIVE || stmt->op.kind == OP_REGS_TAKE;
  if (stmt->kind != STMT_OP || harmless || !here(mutant, stmt)) return;
  snprintf(mutant->what, sizeof mutant->what, "%s of stmt %d left out", op_name(stmt->op.kind),
           stmt->id);
  *link = stmt->next;
}

static void shift_index(Mutant *mutant, Stmt *stmt, Stmt **link) {
  (void)link;
  Access *access[] = {&stmt->op.dst, &stmt->op.src, &stmt->op.src2};
  for (int i = 0; i < 3 && stmt->kind == STMT_OP; i++)
    for (int d = 0; access[i]->buffer && d < access[i]->buffer->rank; d++) {
      if (access[i]->buffer->dim[d] == 1 || !here(mutant, stmt)) continue;
      access[i]->idx[d] = ex_add_const(property_arena, access[i]->idx[d], stmt->op.width);
      snprintf(mutant->what, sizeof mutant->what, "%s of stmt %d: index %d of %s is off by %d",
               op_name(stmt->op.kind), stmt->id, d, access[i]->buffer->name, stmt->op.width);
    }
}

// An index that changes becomes its first value.
static void freeze_index(Mutant *mutant, Stmt *stmt, Stmt **link) {
  (void)link;
  Access *access[] = {&stmt->op.dst, &stmt->op.src, &stmt->op.src2};
  for (int i = 0; i < 3 && stmt->kind == STMT_OP; i++)
    for (int d = 0; access[i]->buffer && d < access[i]->buffer->rank; d++) {
      if (access[i]->idx[d]->op == EXPR_CONST || !here(mutant, stmt)) continue;
      access[i]->idx[d] = ex_const(property_arena, 0);
      snprintf(mutant->what, sizeof mutant->what, "%s of stmt %d: index %d of %s is always 0",
               op_name(stmt->op.kind), stmt->id, d, access[i]->buffer->name);
    }
}

static void wait_less(Mutant *mutant, Stmt *stmt, Stmt **link) {
  (void)link;
  if (stmt->kind != STMT_OP || stmt->op.kind != OP_CP_WAIT || !here(mutant, stmt)) return;
  stmt->op.groups++;
  snprintf(mutant->what, sizeof mutant->what, "wait of stmt %d leaves one more group", stmt->id);
}

static void drop_if(Mutant *mutant, Stmt *stmt, Stmt **link) {
  // A thread that loads too much into its own registers harms nobody, nor one that waits for bulk
  // groups of its own and has none, nor who comes by where the producers work: one thread of them
  // is asked for inside.
  bool alone = stmt->body && stmt->body->kind == STMT_OP;
  bool loads = alone && stmt->body->op.kind == OP_LOAD;
  OpKind kind = alone ? stmt->body->op.kind : OP_LOAD;
  bool waits = kind == OP_BULK_WAIT || kind == OP_BULK_READ;
  bool harmless = loads || waits || stmt_is_role(stmt, WORK_FETCHES);
  if (stmt->kind != STMT_IF || harmless || !here(mutant, stmt)) return;
  stmt_last(stmt->body)->next = stmt->next;
  *link = stmt->body;
  snprintf(mutant->what, sizeof mutant->what, "the condition of stmt %d always holds", stmt->id);
}

static void atomic_to_store(Mutant *mutant, Stmt *stmt, Stmt **link) {
  (void)link;
  if (stmt->kind != STMT_OP || stmt->op.kind != OP_ATOMIC_ADD || !here(mutant, stmt)) return;
  stmt->op.kind = OP_STORE;
  snprintf(mutant->what, sizeof mutant->what, "atomic_add of stmt %d is a store", stmt->id);
}

static void shorten_loop(Mutant *mutant, Stmt *stmt, Stmt **link) {
  (void)link;
  bool counts = stmt->kind == STMT_LOOP && stmt->var->extent > 1;
  if (!counts || !here(mutant, stmt)) return;
  Var *shorter = ARENA_NEW(property_arena, Var);
  *shorter = *stmt->var;
  shorter->extent--;
  stmt->var = shorter;  // the same id: expressions read it as before
  if (stmt->end) stmt->end = ex_add_const(property_arena, stmt->end, -1);
  snprintf(mutant->what, sizeof mutant->what, "the loop %d over %s stops one early", stmt->id,
           shorter->name);
}

static bool is_op(const Stmt *stmt, OpKind kind) {
  return stmt->kind == STMT_OP && stmt->op.kind == kind;
}

static void turn_trans(Mutant *mutant, Stmt *stmt, Stmt **link) {
  (void)link;
  if (!is_op(stmt, OP_LDMATRIX) || !here(mutant, stmt)) return;
  stmt->op.trans = !stmt->op.trans;
  snprintf(mutant->what, sizeof mutant->what, "ldmatrix of stmt %d: .trans is the other way",
           stmt->id);
}

// Every lane addresses its row of the next matrix.
static void next_matrix(Mutant *mutant, Stmt *stmt, Stmt **link) {
  (void)link;
  const Program *program = mutant->program;
  if (!is_op(stmt, OP_LDMATRIX) || !here(mutant, stmt)) return;
  const Expr *lane = ex_var(property_arena, program_product(program)->lane);
  const Expr *next = ex_mod(property_arena, ex_add_const(property_arena, lane, 8), 32);
  for (int d = 0; d < stmt->op.src.buffer->rank; d++)
    stmt->op.src.idx[d] =
        expr_substitute(property_arena, stmt->op.src.idx[d], program_product(program)->lane, next);
  snprintf(mutant->what, sizeof mutant->what, "ldmatrix of stmt %d: lanes address the next matrix",
           stmt->id);
}

static void swap_fragments(Mutant *mutant, Stmt *stmt, Stmt **link) {
  (void)link;
  Access *access[] = {&stmt->op.dst, &stmt->op.src, &stmt->op.src2};
  for (int i = 0; i < 3 && is_op(stmt, OP_MMA); i++) {
    int d = i == 0 ? 1 : access[i]->buffer->rank - 2;  // acc: along n; the atoms of a and b
    int64_t atoms = access[i]->buffer->dim[d];
    if (atoms == 1 || !here(mutant, stmt)) continue;
    access[i]->idx[d] =
        ex_mod(property_arena, ex_add_const(property_arena, access[i]->idx[d], 1), atoms);
    snprintf(mutant->what, sizeof mutant->what, "mma of stmt %d: the fragments of %s change places",
             stmt->id, access[i]->buffer->name);
  }
}

// One side of a slab does not know that it is permuted.
static void forget_layout(Mutant *mutant, Stmt *stmt, Stmt **link) {
  (void)link;
  Program *program = mutant->program;
  Access *access[] = {&stmt->op.dst, &stmt->op.src};
  for (int i = 0; i < 2 && stmt->kind == STMT_OP; i++) {
    const Buffer *slab = access[i]->buffer;
    if (!slab || !buffer_is_permuted(slab) || program->n_buffers == BUFFERS_MAX) continue;
    if (op_reads_tiles(stmt->op.kind))
      continue;  // its descriptor says the layout: breakage mode_off
    if (!here(mutant, stmt)) continue;
    Buffer *plain = program->buffer[program->n_buffers] = ARENA_NEW(property_arena, Buffer);
    *plain = *slab;
    plain->id = program->n_buffers++;
    plain->swizzle_bits = plain->n_xor = 0;
    access[i]->buffer = plain;
    snprintf(mutant->what, sizeof mutant->what, "%s of stmt %d does not know the layout of %s",
             op_name(stmt->op.kind), stmt->id, slab->name);
  }
}

static bool mutate(Mutant *mutant, MutateStmt *how, int n) {
  const Program *of = mutant->program;
  *mutant = (Mutant){.program = program_clone(property_arena, of), .of = of, .n = n};
  for (int k = 0; k < mutant->program->n_kernels && !mutant->at; k++)
    each_stmt(mutant, &mutant->program->kernel[k].body, how);
  return mutant->at != NULL;
}

// The rows of a slab one element closer together than they are long, the slab as short as that
// makes it: what a pad that is off by one does.
static bool shrink_rows(Mutant *mutant, int n) {
  Program *program = mutant->program = program_clone(property_arena, mutant->program);
  for (int i = 0; i < program->n_buffers; i++) {
    Buffer *slab = program->buffer[i];
    if (slab->space != SPACE_SHARED || n-- > 0) continue;
    int row = slab->rank - 2;
    if (slab->dim[row] == 1) return false;
    slab->stride[row] = slab->dim[row + 1] - 1;
    if (slab->rank == 3) slab->stride[0] = slab->dim[1] * slab->stride[1];
    program_place_shared(program);
    snprintf(mutant->what, sizeof mutant->what, "the rows of %s overlap", slab->name);
    return true;
  }
  return false;
}

// bases: of those made, that changed the base of a row's weights and nothing that anyone sees, or
// what is spare.
typedef struct Tally {
  int seen, made, noticed, bases;
} Tally;

static void look_for_base(Stmt *stmt, int depth, void *context) {
  (void)depth;
  const OpAction action = stmt->kind == STMT_OP ? op_facts(stmt->op.kind)->action : ACTION_SET;
  *(bool *)context |= action == ACTION_LARGER || action == ACTION_COMBINE || action == ACTION_POWER;
}

// A softmax is the same over any base that is no smaller than the row's largest score, so a fault
// in that score may leave every weight right; where it does not, the interpreter finds "range".
static bool makes_a_base(const Stmt *stmt) {
  bool found = false;
  const Stmt *next = stmt->kind == STMT_OP && stmt->op.kind == OP_LOAD ? stmt->next : NULL;
  look_for_base((Stmt *)stmt, 0, &found);
  if (stmt->body) stmt_walk(stmt->body, look_for_base, &found);
  return found ||
         (next && next->kind == STMT_OP && op_facts(next->op.kind)->action == ACTION_LARGER);
}

// Threads that fill slabs for tcgen05 meet behind that, and so do those that send a piece to C: of
// the barriers around their tensor memory some are there for programs whose threads do not.
static bool meets_again(const Schedule *schedule, const Stmt *stmt) {
  const bool meets = stmt->kind == STMT_OP && op_facts(stmt->op.kind)->action == ACTION_MEET;
  return meets && atom_is_of_thread(schedule_atom_row(schedule));
}

static bool is_over_blocks(const Stmt *stmt) {
  return stmt->kind == STMT_LOOP && stmt->var->tier == TIER_SERIAL_OUTER;
}

// Whether a statement of the list, or of a body in it, stands outside all loops over blocks.
static bool is_outside(const Stmt *list, int id) {
  for (; list; list = list->next) {
    const Stmt *inner = is_over_blocks(list) ? NULL : list->body;
    if (list->id == id || is_outside(inner, id)) return true;
  }
  return false;
}

// The first block of keys finds sums of rows that are 0 and largest scores of -inf, whichever row
// is asked, and 0 * rescale is 0: both are of use in later blocks alone. Where the first block has
// a text of its own, in front of the loop over blocks (overlap_products.c), nobody can miss them
// there.
static bool scales_nothing(const Program *program, const Stmt *stmt) {
  const Stmt *op = stmt;  // or what begins the loops over rows
  while (op->kind == STMT_LOOP && !is_over_blocks(op)) op = op->body;
  const bool scales = is_op(op, OP_MUL) && op->op.dst.buffer->role == ROLE_ROW_SUM;
  const bool begins = is_op(op, OP_CONVERT) && op->op.dst.buffer->role == ROLE_RESCALE;
  return (scales || begins) && is_outside(program->kernel[program->main_kernel].body, stmt->id);
}

static bool is_spare(const Schedule *schedule, const Mutant *mutant) {
  const Stmt *stmt = mutant->at;  // NULL: the rows of a slab
  return stmt &&
         (makes_a_base(stmt) || meets_again(schedule, stmt) || scales_nothing(mutant->of, stmt));
}

// Mutants of tensor-core programs take ten times as long, and neighbouring rungs share most of
// theirs: one in 41 is tried by CI, so that over the rungs each place of a program has its turn, a
// third of these by make test, and under stress one in six, unless GEMMVIEW_MUTANTS=all. Of those
// of fma one in nine, in three, or all. Of the kinds of rungs make test takes one in four, CI one
// in two, the long one all.
static bool is_tried(const Schedule *schedule, Tally *tally) {
  static const int one_in[3][2] = {{9, 123}, {3, 41}, {1, 6}};
  const int level = stress_is_on() + stress_is_whole();
  const char *wanted = getenv("GEMMVIEW_MUTANTS");
  bool all = wanted && strcmp(wanted, "all") == 0;
  return tally->seen++ % one_in[level][schedule->value[KNOB_ATOM_KIND] != 0] == 0 || all;
}

// Where the tiles of the last turn are cut, two clusters have two turns of the five that
// scaled_down leaves and cut the last; where consumers take turns, or a set of sums or a slab of C
// is to be used again, one block has all; else (0) any grid will do.
static int64_t grid_of(const Schedule *schedule) {
  if (schedule->value[KNOB_TAIL_SPLIT] > 1) return 2;
  return schedule->value[KNOB_ROLE_SCHEDULE] == ROLES_PINGPONG ||
         schedule->value[KNOB_ACC_BUFFERS] > 1 || schedule->value[KNOB_EPI_BUFFERS] > 1;
}

static bool is_noticed_on(const Schedule *schedule, const Program *program, int64_t grid) {
  InterpOptions options = {.seed = 3,
                           .runs = 1,
                           .max_findings = 1,
                           .stop_at_first = true,
                           .grid = grid,
                           .factor = schedule->value[KNOB_ALPHA] ? 2 : 1};
  return !interpret_check(property_arena, program, &options).ok;
}

// As many tiles as may be cut are cut by one cluster more: three have one turn and two tiles of
// five, and only then does the last block of `reduce` have something to add up.
static bool is_noticed(const Schedule *schedule, const Program *program) {
  const int64_t grid = grid_of(schedule);
  const bool cut = schedule->value[KNOB_TAIL_SPLIT] > 1;
  return is_noticed_on(schedule, program, grid) ||
         (cut && is_noticed_on(schedule, program, grid + 1));
}

static void try_mutant(const Schedule *schedule, const Mutant *mutant, Tally *tally) {
  if (!is_tried(schedule, tally)) return;
  tally->made++;
  if (is_noticed(schedule, mutant->program))
    tally->noticed++;
  else if (is_spare(schedule, mutant))
    tally->bases++;
  else
    printf("not noticed: %s in %s\n", mutant->what, schedule_text(property_data, schedule));
}

static void try_all(const Schedule *schedule, const Program *program, Tally *tally) {
  static MutateStmt *const ways[] = {drop_op,     shift_index,     freeze_index, wait_less,
                                     drop_if,     atomic_to_store, shorten_loop, turn_trans,
                                     next_matrix, swap_fragments,  forget_layout};
  Mutant mutant;
  for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
    for (int n = 0; mutant.program = (Program *)(uintptr_t)program, mutate(&mutant, ways[w], n);
         n++)
      try_mutant(schedule, &mutant, tally);
  for (int n = 0; mutant.program = (Program *)(uintptr_t)program, shrink_rows(&mutant, n); n++)
    try_mutant(schedule, &mutant, tally);
}

typedef struct Cap {
  KnobId knob;
  int64_t most;
} Cap;

// A rung's knobs on 64 threads and slabs of 8, or narrow with slabs of four atoms: its program,
// small enough to be run a hundred times.
static Schedule scaled_down(const Schedule *rung) {
  Schedule schedule = property_narrow(rung);
  int64_t *v = schedule.value;
  static const Cap fma[] = {{KNOB_BM, 8}, {KNOB_BN, 8},     {KNOB_FM, 8},     {KNOB_FN, 8},
                            {KNOB_BK, 8}, {KNOB_SPLITK, 2}, {KNOB_GROUP_M, 2}};
  static const Cap atom[] = {{KNOB_BK, 4}, {KNOB_SPLITK, 2}};
  const Cap *caps = v[KNOB_ATOM_KIND] ? atom : fma;
  size_t n_caps = v[KNOB_ATOM_KIND] ? sizeof atom / sizeof atom[0] : sizeof fma / sizeof fma[0];
  for (size_t i = 0; i < n_caps; i++)
    if (v[caps[i].knob] > caps[i].most) schedule_set(&schedule, caps[i].knob, caps[i].most);
  const KnobId walked = schedule_walked(&schedule);
  int64_t grain = schedule_grain(&schedule, walked), slab = schedule_tile(&schedule, walked);
  // A persistent cluster has a second tile, so that what is released behind the first is waited
  // for; where consumers take turns the first one has a second tile, behind two sets of sums or two
  // slabs of C there is a third, and where the tiles of the last turn are cut there are two full
  // turns of two in front of it.
  const bool cut = v[KNOB_TAIL_SPLIT] > 1;
  bool third = v[KNOB_ROLE_SCHEDULE] || v[KNOB_ACC_BUFFERS] > 1 || v[KNOB_EPI_BUFFERS] > 1;
  int64_t tiles = v[KNOB_PERSISTENT] ? v[KNOB_CLUSTER_M] * (cut ? 4 : 1 + third) : 1;
  const int64_t tile = schedule_tile(&schedule, KNOB_M);
  // The last tile has four rows; one that is cut, which no other stands for, lacks one.
  int64_t m = tiles * tile + (cut ? tile - 1 : 4);
  // A row of scores has a thread of its own: more of them than a block has threads.
  const bool rows = v[KNOB_PROGRAM] == COMPUTES_ATTENTION;
  if (rows && !v[KNOB_ATOM_KIND]) m = v[KNOB_BM] * v[KNOB_BN] + 4;
  // A thread's last copy of keys has rows that are there and rows that are not.
  const int64_t edge = rows ? 1 : grain < 4 ? 4 : grain;
  // Once round the ring; with roles one slab more, so that two slots are waited for again.
  // Keys end behind the last that a causal query sees, or its mask would be that of the edge too.
  int64_t slabs = v[KNOB_BUFFER_COUNT] + 1 + v[KNOB_WARP_SPECIALIZE] + v[KNOB_CAUSAL];
  // Every block of a cluster has a tile, or what only its second one does would be dead code.
  const int64_t n = v[KNOB_CLUSTER_N] * schedule_tile(&schedule, KNOB_N);
  schedule_resize(&schedule, m, n, slab * slabs - edge);
  return schedule;
}

static void mutate_rung(const Rung *rung, Seen **seen, Tally *tally) {
  Schedule schedule = scaled_down(&rung->schedule);
  const Model *model = model_build(property_arena, &property_targets, &schedule);
  ck_assert_msg(model->ok, "%s", diags_text(property_arena, &model->diags));
  if (!property_is_new(seen, model->program)) return;
  ck_assert_msg(!is_noticed(&schedule, model->program), "%s is wrong already", rung->name);
  try_all(&schedule, model->program, tally);
}

START_TEST(every_mutant_is_noticed) {
  EmbeddedList list = embed_list(property_data, "ladders/");
  Tally tally = {0, 0, 0, 0}, of_attention = tally, of_tensor = tally;
  Seen *seen = NULL, *kinds = NULL;
  int n_kinds = 0;
  for (int f = 0; f < list.count; f++) {
    const Ladder *ladder = property_read_ladder(list.paths[f]);
    for (int r = 0; r < ladder->n_rungs; r++) {
      arena_reset(property_arena);
      bool tried = !ladder->rung[r].not_built && property_is_new_kind(&kinds, &ladder->rung[r]);
      const Schedule *rung = &ladder->rung[r].schedule;
      bool rows = rung->value[KNOB_PROGRAM] == COMPUTES_ATTENTION;
      bool tensor = atom_is_of_thread(schedule_atom_row(rung));
      Tally *own = rows ? &of_attention : tensor ? &of_tensor : &tally;
      if (tried && stress_has_turn(n_kinds++, 4)) mutate_rung(&ladder->rung[r], &seen, own);
    }
  }
  ck_assert_int_gt(of_tensor.made, 0);
  tally.made += of_attention.made + of_tensor.made;
  tally.noticed += of_attention.noticed + of_tensor.noticed;
  printf("%d of %d mutants noticed, %d change nothing but a base\n", tally.noticed, tally.made,
         of_attention.bases);
  const int spare = of_attention.bases + of_tensor.bases;
  ck_assert_int_eq(tally.noticed + spare, tally.made);
  ck_assert_int_le(50 * of_tensor.bases, of_tensor.made + 50);
  ck_assert_int_le(20 * of_attention.bases, of_attention.made);
}
END_TEST

// ---- breakages ----------------------------------------------------------------------------------

#define SMALL "M=68,N=64,K=44,BM=8,BN=8,FM=4,FN=4,BK=8,STAGE=11,"
#define RING "BUFFER_COUNT=3,PIPELINE_STAGES=1,"
#define HALF                                                                                 \
  "M=80,N=64,K=256,ATOM_KIND=mma_m16n8k16_f16,WM=2,WN=2,FM=2,FN=4,BK=4,STAGE=11,LDMATRIX=1," \
  "SWIZZLE=3,"
#define TF32 \
  "M=80,N=64,K=68,ATOM_KIND=mma_m16n8k8_tf32,WM=2,WN=2,FM=2,FN=4,BK=2,STAGE=11,LDMATRIX=1,"

#define WGMMA \
  "M=80,N=64,K=208,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=32,FM=1,FN=2,BK=2,STAGE=11,SWIZZLE=2,"
#define TILES WGMMA "TMA=1,"
#define GROUPS WGMMA "TMA=1,BUFFER_COUNT=2,WARP_SPECIALIZE=1,"

#define GROUPS_OF_TILES GROUPS "PERSISTENT=1"
#define SCALED "TARGET=rtx5090,B_COL=1,M=32,N=32,K=512,WM=2,FN=4,BK=4,STAGE=11,"

static const struct {
  const char *state;
  BreakageId id;
  FindingKind kind;
  const char *says;
} broken[] = {
    {SMALL "PAD_SMEM=0", BREAK_FIRST_BARRIER, FINDING_RACE, "with no barrier between"},
    {SMALL "PAD_SMEM=0", BREAK_LAST_BARRIER, FINDING_RACE, "_s["},
    {SMALL "BUFFER_COUNT=2", BREAK_FIRST_BARRIER, FINDING_RACE, "with no barrier between"},
    {SMALL RING "VECTORIZE=1", BREAK_LAST_BARRIER, FINDING_RACE, "with no barrier between"},
    {SMALL RING "ASYNC_COPY=1", BREAK_WAIT, FINDING_MISSING_WAIT, "with no wait for that copy"},
    {SMALL RING "ASYNC_COPY=1", BREAK_LAX_WAIT, FINDING_MISSING_WAIT, "with no wait for that copy"},
    {SMALL "ASYNC_COPY=1", BREAK_WAIT, FINDING_MISSING_WAIT, "with no wait for that copy"},
    {SMALL RING "ASYNC_COPY=1", BREAK_PHASE, FINDING_RACE, "_s[0, "},
    {SMALL "BUFFER_COUNT=2", BREAK_PHASE, FINDING_RACE, "_s[0, "},
    {SMALL "PAD_SMEM=1", BREAK_PAD, FINDING_RACE, "with no barrier between"},
    {SMALL "SPLITK=3", BREAK_GUARDED_SPLIT, FINDING_RACE, "blocks of one kernel have no order"},
    {SMALL "SPLITK=3", BREAK_ZERO, FINDING_UNWRITTEN_READ,
     "reads a place that was never written "
     "(atomic_add"},
    {SMALL "BUFFER_COUNT=2", BREAK_LAST_SLAB, FINDING_COUNT, NULL},
    {HALF "EPILOGUE=0", BREAK_FIRST_BARRIER, FINDING_RACE, "reads (ldmatrix"},
    {HALF "EPILOGUE=1", BREAK_LAST_BARRIER, FINDING_RACE, "C_s["},
    {HALF "ASYNC_COPY=1," RING "FRAG_BUFFER=2", BREAK_WAIT, FINDING_MISSING_WAIT,
     "reads (ldmatrix"},
    {HALF "ASYNC_COPY=1," RING, BREAK_LAX_WAIT, FINDING_MISSING_WAIT, "with no wait for that copy"},
    {HALF "ASYNC_COPY=1," RING, BREAK_WAIT, FINDING_ABANDONED_COPY, "ends without a wait"},
    {HALF "ASYNC_COPY=1," RING, BREAK_PHASE, FINDING_RACE, "_s[0, "},
    {HALF "BUFFER_COUNT=1", BREAK_TRANS, FINDING_COUNT, NULL},
    {HALF "BUFFER_COUNT=1", BREAK_MATRIX, FINDING_COUNT, NULL},
    {HALF "BUFFER_COUNT=1", BREAK_LAYOUT, FINDING_COUNT, NULL},
    {HALF "BUFFER_COUNT=1", BREAK_FRAGMENTS, FINDING_COUNT, NULL},
    {HALF "BUFFER_COUNT=2", BREAK_LAST_SLAB, FINDING_COUNT, NULL},
    {TF32 "PAD_SMEM=4", BREAK_PAD, FINDING_MISALIGNED, "moves 16 bytes at byte"},
    {TF32 "TRANSPOSE_B=1,LAYOUT_A=xor:'col ^ (((row >> 1) & 3) << 2)'", BREAK_LAYOUT, FINDING_COUNT,
     NULL},
    {TF32 "TRANSPOSE_B=1,SWIZZLE=2", BREAK_MATRIX, FINDING_COUNT, NULL},
    {TF32 "SPLITK=2", BREAK_GUARDED_SPLIT, FINDING_RACE, "blocks of one kernel have no order"},
    {TF32 "SPLITK=2", BREAK_ZERO, FINDING_UNWRITTEN_READ,
     "reads a place that was never written "
     "(atomic_add"},
    {TILES "BUFFER_COUNT=1", BREAK_WG_WAIT, FINDING_MISSING_WAIT, "with no wait for its group"},
    {TILES "BUFFER_COUNT=1", BREAK_WG_WAIT_LAX, FINDING_MISSING_WAIT, "with no wait for its group"},
    {TILES "BUFFER_COUNT=1", BREAK_WG_FENCE, FINDING_MISSING_FENCE, "since its last wgmma.fence"},
    {TILES "BUFFER_COUNT=1", BREAK_WG_COMMIT, FINDING_MISSING_WAIT, "with no wait for its group"},
    {TILES "BUFFER_COUNT=1", BREAK_LBO_SBO_SWAPPED, FINDING_DESCRIPTOR, "but it lies"},
    {TILES "BUFFER_COUNT=1,B_COL=1", BREAK_LBO_SBO_SWAPPED, FINDING_DESCRIPTOR, "but it lies"},
    {TILES "BUFFER_COUNT=1", BREAK_MODE_OFF, FINDING_DESCRIPTOR, "as swizzled by none"},
    {TILES "BUFFER_COUNT=1", BREAK_TRANS_OFF, FINDING_DESCRIPTOR, "a tile that runs along K"},
    {WGMMA "BUFFER_COUNT=1", BREAK_FENCE, FINDING_RACE, "reads (wgmma"},
    {WGMMA "BUFFER_COUNT=2,ASYNC_COPY=1,PIPELINE_STAGES=1", BREAK_FENCE, FINDING_RACE,
     "reads (wgmma"},
    {WGMMA "BUFFER_COUNT=2,ASYNC_COPY=1,PIPELINE_STAGES=1", BREAK_WAIT, FINDING_MISSING_WAIT,
     "reads (wgmma"},
    {GROUPS "MMA_GROUPS=0", BREAK_WG_WAIT, FINDING_MISSING_WAIT, "with no wait for its group"},
    {GROUPS "MMA_GROUPS=0", BREAK_WG_WAIT_LAX, FINDING_MISSING_WAIT, "with no wait for its group"},
    {GROUPS "MMA_GROUPS=0", BREAK_RELEASE_EARLY, FINDING_RACE, "_s["},
    {GROUPS "MMA_GROUPS=0", BREAK_SUMS_KEPT, FINDING_UNWRITTEN_READ, "acc["},
    {GROUPS "MMA_GROUPS=0", BREAK_FULL_WAIT, FINDING_MISSING_WAIT, "reads (wgmma"},
    {GROUPS "MMA_GROUPS=1", BREAK_RELEASE_EARLY, FINDING_RACE, "_s["},
    {GROUPS "MMA_GROUPS=1", BREAK_WG_WAIT_LAX, FINDING_MISSING_WAIT, "with no wait for its group"},
    {GROUPS "MMA_GROUPS=1", BREAK_SUMS_EARLY, FINDING_MISSING_WAIT, "with no wait for its group"},
    {GROUPS "MMA_GROUPS=1", BREAK_ARRIVE, FINDING_DEADLOCK, "empty"},
    {GROUPS "A_REGS=1", BREAK_WG_FENCE, FINDING_MISSING_FENCE, "since its last wgmma.fence"},
    {GROUPS "A_REGS=1,LDMATRIX=1", BREAK_FENCE, FINDING_RACE, "_s["},
    {GROUPS_OF_TILES, BREAK_BLOCK_BARRIER, FINDING_DEADLOCK, ", which is at mbarrier.wait"},
    {GROUPS_OF_TILES, BREAK_TILE_KEPT, FINDING_DEADLOCK, "deadlock on full"},
    {GROUPS_OF_TILES, BREAK_FETCH_SHORT, FINDING_DEADLOCK, "deadlock on full"},
    {GROUPS_OF_TILES, BREAK_POOL_LATE, FINDING_OUT_OF_BOUNDS, "the launch asks for"},
    {SCALED "ATOM_KIND=mma_m16n8k32_mxf8,SCALE_WORDS=1", BREAK_SCALE_BYTE, FINDING_COUNT, NULL},
    {SCALED "ATOM_KIND=mma_m16n8k64_mxf4,SCALE_WORDS=1", BREAK_SCALE_BYTE, FINDING_COUNT, NULL},
    {SCALED "ATOM_KIND=mma_m16n8k32_mxf8", BREAK_SCALE_BYTE, FINDING_UNWRITTEN_READ, "sfa["},
    {SCALED "ATOM_KIND=mma_m16n8k32_mxf8,SCALE_WORDS=1", BREAK_SCALE_STALE, FINDING_COUNT, NULL},
    {SCALED "ATOM_KIND=mma_m16n8k64_nvfp4", BREAK_SCALE_STALE, FINDING_COUNT, NULL},
};
enum { N_BROKEN = sizeof broken / sizeof broken[0] };

static bool tells(const InterpCheck *check, FindingKind kind, const char *says) {
  for (int i = 0; i < check->n_findings; i++)
    if (check->finding[i].kind == kind && strstr(check->finding[i].text, says)) return true;
  return false;
}

START_TEST(breakages_are_told) {
  Schedule schedule = schedule_plain();
  Diags diags = diags_new(property_arena);
  ck_assert(schedule_parse(&schedule, broken[_i].state, &diags));
  const Model *model = model_build(property_arena, &property_targets, &schedule);
  ck_assert_msg(model->ok, "%s", diags_text(property_arena, &model->diags));
  ck_assert(property_computes(&schedule, "all passes", model->program, 1));
  const Program *program = program_break(property_arena, model->program, broken[_i].id);
  ck_assert_ptr_nonnull(program);
  InterpCheck check = interpret_check(property_arena, program, &(InterpOptions){.seed = 1});
  bool told = broken[_i].kind == FINDING_COUNT || tells(&check, broken[_i].kind, broken[_i].says);
  if (!told) property_tell(&schedule, breakage_name(broken[_i].id), &check);
  ck_assert(told);
  ck_assert(!check.ok);
}
END_TEST

START_TEST(what_is_not_there_cannot_be_broken) {
  Schedule schedule = schedule_plain();
  const Model *model = model_build(property_arena, &property_targets, &schedule);
  for (int id = 0; id < BREAK_COUNT; id++)
    ck_assert_ptr_null(program_break(property_arena, model->program, (BreakageId)id));
}
END_TEST

Suite *suite_mutants(void) {
  Suite *suite = suite_create("mutants");
  TCase *tc = tcase_create("mutants");
  tcase_add_checked_fixture(tc, property_setup, property_teardown);
  tcase_set_timeout(tc, 300);
  tcase_add_test(tc, every_mutant_is_noticed);
  stress_add_turns(tc, breakages_are_told, N_BROKEN, 9);
  tcase_add_test(tc, what_is_not_there_cannot_be_broken);
  suite_add_tcase(suite, tc);
  return suite;
}
