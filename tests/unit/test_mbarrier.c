// Copies by TMA and warps with roles: every shape of program that they take computes its nest at
// both ends of what the hardware may do, and every way to get their mbarriers wrong is told for
// what it is, or harms nobody and is not told.
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "model/interp/breakage.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/schedules/random_schedule.h"
#include "model/schedules/reduce.h"
#include "property.h"
#include "stress.h"

Suite *suite_mbarrier(void);

enum { N_SEEDS = 2 };

// ---- shapes -------------------------------------------------------------------------------------

#define FMA "M=20,N=20,BM=8,BN=8,FM=2,FN=4,BK=8,TMA=1,"
#define ONE_WARP "M=9,N=20,BM=4,BN=8,FM=2,FN=4,BK=8,STAGE=11,TMA=1,"
#define HALF "M=40,N=40,ATOM_KIND=mma_m16n8k16_f16,WM=1,WN=2,FM=2,FN=4,BK=2,TMA=1,"
#define TF32 "M=40,N=20,ATOM_KIND=mma_m16n8k8_tf32,WM=2,WN=1,FM=1,BK=4,TMA=1,"
#define S8 "M=24,N=16,ATOM_KIND=mma_m16n8k32_s8,WM=1,WN=2,FM=1,FN=2,BK=2,TMA=1,"
#define F64 "M=10,N=12,ATOM_KIND=mma_m8n8k4_f64,WM=2,WN=1,FM=1,FN=2,BK=4,TMA=1,"
#define ROLES "WARP_SPECIALIZE=1,"

// Each is tried with K of 1, 2, 3 and 7 slabs for each split, so that rings are not filled, filled,
// and gone round once or more.
static const char *const shapes[] = {
    FMA "STAGE=11,BUFFER_COUNT=1",
    FMA "STAGE=11,BUFFER_COUNT=2",
    FMA "STAGE=11,BUFFER_COUNT=2,PIPELINE_STAGES=1,FRAG_BUFFER=2",
    FMA "STAGE=10,BUFFER_COUNT=3,PIPELINE_STAGES=1",
    FMA "STAGE=01,BUFFER_COUNT=2,PIPELINE_STAGES=1,SWIZZLE=1",
    FMA "STAGE=11,BUFFER_COUNT=4,PIPELINE_STAGES=1,A_COL=1,SWIZZLE=1",
    FMA "STAGE=11,BUFFER_COUNT=3,B_COL=1,UNROLL_RING=1",
    FMA "STAGE=11,BUFFER_COUNT=2,PIPELINE_STAGES=2,SPLITK=2",
    FMA ROLES "STAGE=11,BUFFER_COUNT=2",
    FMA ROLES "STAGE=11,BUFFER_COUNT=2,SPLITK=2,ATOMIC_FREE_SPLITK=1,GROUP_M=2,MIN_BLOCKS=2",
    FMA ROLES "STAGE=11,BUFFER_COUNT=3,FRAG_BUFFER=2,VECTORIZE=1",
    FMA ROLES "STAGE=10,BUFFER_COUNT=2,PIPELINE_STAGES=1",
    FMA ROLES "STAGE=01,BUFFER_COUNT=4,SWIZZLE=1",
    FMA ROLES "STAGE=11,BUFFER_COUNT=2,A_COL=1,B_COL=1,FRAG_BUFFER=2,UNROLL_RING=1",
    FMA ROLES "STAGE=11,BUFFER_COUNT=2,LANES_M=8,CELL_GROUP=2,INTERLEAVE_LOADS=1",
    ONE_WARP "BUFFER_COUNT=2,PIPELINE_STAGES=1",
    ONE_WARP ROLES "BUFFER_COUNT=2",
    HALF "STAGE=11,BUFFER_COUNT=1,LDMATRIX=1,SWIZZLE=2",
    HALF "STAGE=11,BUFFER_COUNT=3,PIPELINE_STAGES=1,LDMATRIX=1,SWIZZLE=1,FRAG_BUFFER=2",
    HALF ROLES "STAGE=11,BUFFER_COUNT=2,LDMATRIX=1,SWIZZLE=2",
    HALF ROLES "STAGE=11,BUFFER_COUNT=3,LDMATRIX=1,SWIZZLE=1,FRAG_BUFFER=2",
    HALF ROLES "STAGE=11,BUFFER_COUNT=2,EPILOGUE=1,PIPELINE_STAGES=1,COPY_STEPS=2",
    HALF ROLES "STAGE=01,BUFFER_COUNT=2",
    HALF ROLES "STAGE=10,BUFFER_COUNT=4,A_COL=1",
    HALF ROLES "STAGE=11,BUFFER_COUNT=2,FRAG_ORDER=1,SERPENTINE=1,ALPHA=1",
    HALF ROLES "STAGE=11,BUFFER_COUNT=2,EPILOGUE=1,TMA_STORE=1,EPI_N=8",
    HALF ROLES "STAGE=11,BUFFER_COUNT=2,EPILOGUE=1,TMA_STORE=1,STMATRIX=1,EPI_N=16,EPI_BUFFERS=2",
    HALF "STAGE=11,BUFFER_COUNT=2,EPILOGUE=1,TMA_STORE=1,STMATRIX=1,ACC=f16",
    TF32 ROLES "FN=4,STAGE=11,BUFFER_COUNT=2,EPILOGUE=1,TMA_STORE=1,SPLITK=2",
    TF32 "FN=4,STAGE=11,BUFFER_COUNT=2,PIPELINE_STAGES=1",
    TF32 "FN=4,STAGE=11,BUFFER_COUNT=2,SWIZZLE=2",
    TF32 ROLES "FN=1,STAGE=11,BUFFER_COUNT=2,SWIZZLE=1",
    TF32 ROLES "FN=4,STAGE=11,BUFFER_COUNT=3,LDMATRIX=1,B_COL=1,SWIZZLE=2,FRAG_BUFFER=2",
    S8 ROLES "STAGE=11,BUFFER_COUNT=2,FRAG_BUFFER=2",
    F64 ROLES "STAGE=11,BUFFER_COUNT=2,FRAG_BUFFER=2",
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

// Of an odd number of slabs the last is cut: some boxes are partly and some wholly outside of the
// matrices, as N cuts the last panels of B.
static const int slab_counts[] = {1, 2, 3, 7};
enum { N_COUNTS = sizeof slab_counts / sizeof slab_counts[0] };

START_TEST(every_shape_computes_the_nest) {
  for (int i = 0; i < N_COUNTS; i++) {
    Schedule schedule = property_of_slabs(shapes[_i], slab_counts[i]);
    const Pipeline *pipeline = &property_built(&schedule)->pipeline;
    for (int s = pipeline->n_stages - 1; s > 0; s--) {
      const Pass *pass = pipeline->stage[s].pass;
      bool here = s == pipeline->n_stages - 1 || slab_counts[i] == 3;
      ck_assert(!here ||
                property_computes(&schedule, pass->name, pipeline->stage[s].program, N_SEEDS));
    }
  }
}
END_TEST

// What is just legal: boxes of 256 rows, slots of just 128 bytes, producers in the last places of a
// block, three blocks on an SM.
static const char *const brinks[] = {
    "M=260,N=20,K=36,BM=256,BN=2,FM=1,FN=8,BK=32,STAGE=11,TMA=1",
    "M=9,N=36,K=20,BM=1,BN=32,FM=8,FN=1,BK=4,STAGE=11,TMA=1",
    "M=70,N=68,K=36,BM=31,BN=32,FM=2,FN=2,BK=16,BUFFER_COUNT=2," ROLES "STAGE=11,TMA=1",
    "M=70,N=68,K=36,BM=28,BN=32,FM=2,FN=2,BK=16,BUFFER_COUNT=2," ROLES "STAGE=11,TMA=1",
    "M=20,N=68,K=36,BM=8,BN=32,FM=2,FN=2,BK=16,BUFFER_COUNT=2," ROLES "STAGE=11,TMA=1,MIN_BLOCKS=3",
    "M=20,N=20,K=36,BM=8,BN=16,FM=2,FN=2,BK=16,BUFFER_COUNT=2," ROLES "STAGE=11,TMA=1,MIN_BLOCKS=2",
};
enum { N_BRINKS = sizeof brinks / sizeof brinks[0] };

START_TEST(what_is_just_legal_computes_the_nest) {
  Schedule schedule = schedule_plain();
  Diags diags = diags_new(property_arena);
  ck_assert(schedule_parse(&schedule, brinks[_i], &diags));
  const Pipeline *pipeline = &property_built(&schedule)->pipeline;
  for (int s = pipeline->n_stages - 1; pipeline->stage[s].program->any_thread; s--)
    ck_assert(
        property_computes(&schedule, pipeline->stage[s].pass->name, pipeline->stage[s].program, 1));
  ck_assert(property_computes(&schedule, "all passes", property_built(&schedule)->program, 1));
}
END_TEST

// ---- boxes --------------------------------------------------------------------------------------

// What a tensor map can say (CUDA driver API, cuTensorMapEncodeTiled): sides of at most 256, rows
// of whole 16 bytes, and rows of just 16 << B bytes under Swizzle<B,4,3>, whose pattern takes eight
// of them; slots and panels begin where that does, or at multiples of 128 bytes.
static bool box_is_possible(const Op *op) {
  const Buffer *slab = op_box_shared(op)->buffer;
  int64_t bytes = dtype_bytes(slab->type), row = op->box[1] * bytes, pattern = 128;
  if (op->box[0] > 256 || op->box[1] > 256 || row % 16) return false;
  if (slab->stride[slab->rank - 2] * bytes != row) return false;
  if (buffer_is_permuted(slab)) {
    if (slab->n_xor || slab->swizzle_base != 4 || slab->swizzle_shift != 3) return false;
    if (row != 16 << slab->swizzle_bits) return false;
    pattern = 8 * row;
  }
  bool aligned = slab->offset_bytes % pattern == 0;
  for (int d = 0; d < slab->rank - 2; d++)
    aligned = aligned && (slab->dim[d] == 1 || slab->stride[d] * bytes % pattern == 0);
  return aligned;
}

static void check_boxes(const Schedule *schedule, const Program *program) {
  static const BufferRole operands[] = {ROLE_A, ROLE_B, ROLE_C};
  for (int i = 0; i < 3; i++) {
    const Op *op = program_tma(program, operands[i]);
    if (op && !box_is_possible(op))
      ck_abort_msg("%s of %s", op_box_shared(op)->buffer->name,
                   schedule_text(property_arena, schedule));
  }
}

START_TEST(boxes_are_what_a_tensor_map_can_say) {
  for (int i = 0; i < N_SHAPES; i++) {
    Schedule schedule = property_of_slabs(shapes[i], 2);
    check_boxes(&schedule, property_built(&schedule)->program);
  }
  const RandomLimits limits = {.extent_max = 200, .fma_max = 400000};
  uint64_t state = property_seed();
  int by_tma = 0, tries = 0;
  for (; by_tma < 150 && tries < 2000; tries++) {
    arena_reset(property_arena);
    Schedule schedule =
        schedule_random(property_arena, &property_targets, "h200", &limits, &state, NULL);
    if (!schedule.value[KNOB_TMA]) continue;
    check_boxes(&schedule, property_built(&schedule)->program);
    by_tma++;
  }
  ck_assert_int_eq(by_tma, 150);
}
END_TEST

// ---- faults -------------------------------------------------------------------------------------

#define BIT(kind) (1u << FINDING_##kind)
// Harms nobody before a slot of the ring is used again; or only where that is at once, since the
// barrier of the slab between hands a fence on to all threads.
// Or only where a slot of C_s is used again, of which a warp fills two or more.
enum { ALWAYS, GOING_ROUND, AT_ONCE, SLOT_AGAIN };

static const struct {
  BreakageId id;
  int harms;
  unsigned kinds;  // what may be found: one of these at least
} faults[] = {
    {BREAK_FULL_WAIT, ALWAYS, BIT(RACE) | BIT(MISSING_WAIT) | BIT(UNWRITTEN_READ)},
    {BREAK_FULL_PHASE, GOING_ROUND, BIT(RACE) | BIT(MISSING_WAIT) | BIT(DEADLOCK)},
    {BREAK_SLOT_AFTER, ALWAYS, BIT(RACE) | BIT(MISSING_WAIT) | BIT(DEADLOCK)},
    {BREAK_SLOT_BEFORE, ALWAYS, BIT(RACE) | BIT(MISSING_WAIT) | BIT(DEADLOCK)},
    {BREAK_MORE_BYTES, ALWAYS, BIT(DEADLOCK)},
    {BREAK_FEWER_BYTES, ALWAYS, BIT(RACE) | BIT(MISSING_WAIT) | BIT(DEADLOCK)},
    {BREAK_ALL_ASK, ALWAYS, BIT(DIVERGENCE)},
    {BREAK_INIT_FENCE, ALWAYS, BIT(MISSING_FENCE)},
    {BREAK_EMPTY_WAIT, GOING_ROUND, BIT(RACE)},
    {BREAK_EMPTY_PHASE, ALWAYS, BIT(DEADLOCK)},
    {BREAK_ARRIVE, GOING_ROUND, BIT(DEADLOCK)},
    {BREAK_MORE_ARRIVALS, GOING_ROUND, BIT(DEADLOCK)},
    {BREAK_FEWER_ARRIVALS, GOING_ROUND, BIT(RACE) | BIT(DEADLOCK)},
    {BREAK_SILENT_WARP, GOING_ROUND, BIT(RACE) | BIT(DEADLOCK)},
    {BREAK_MIDDLE_WAIT, ALWAYS,
     BIT(RACE) | BIT(MISSING_WAIT) | BIT(UNWRITTEN_READ) | BIT(DEADLOCK)},
    {BREAK_WAIT_AGAIN, GOING_ROUND, BIT(DEADLOCK)},
    {BREAK_FEW_MEET, ALWAYS, BIT(RACE)},
    {BREAK_FIRST_BARRIER, ALWAYS, BIT(RACE) | BIT(UNWRITTEN_READ)},
    {BREAK_FENCE, GOING_ROUND, BIT(RACE)},
    {BREAK_EARLY_FENCE, GOING_ROUND, BIT(RACE)},
    {BREAK_OTHER_FENCE, AT_ONCE, BIT(RACE)},
    {BREAK_STORE_FENCE, ALWAYS, BIT(RACE)},
    {BREAK_STORE_WAIT_READ, SLOT_AGAIN, BIT(RACE)},
    {BREAK_STORE_WAIT, ALWAYS, BIT(ABANDONED_COPY)},
};
enum { N_FAULTS = sizeof faults / sizeof faults[0] };

// Rows of atoms, each in pieces.
static bool uses_slot_again(const Schedule *schedule) {
  const int64_t *v = schedule->value;
  int64_t columns = v[KNOB_FN] * 8, pieces = v[KNOB_EPI_N] ? columns / v[KNOB_EPI_N] : 1;
  return v[KNOB_FM] * pieces > v[KNOB_EPI_BUFFERS];
}

static unsigned found(const Program *program, uint64_t seed, InterpAsync async) {
  InterpOptions options = {.seed = seed, .async = async};
  const InterpResult *result = interpret(property_arena, program, &options);
  unsigned kinds = 0;
  for (int i = 0; i < result->n_findings; i++) kinds |= 1u << result->finding[i].kind;
  return kinds;
}

static void must_find(const Schedule *schedule, const Program *broken, int fault, bool harmed,
                      uint64_t n_seeds) {
  unsigned kinds = faults[fault].kinds;
  for (uint64_t seed = 0; seed < n_seeds; seed++)
    for (InterpAsync async = INTERP_EARLY; async <= INTERP_LATE; async++) {
      unsigned is = found(broken, seed, async);
      ck_assert_msg(harmed ? (is & kinds) != 0 : is == 0, "%s, seed %d, %s: %x of %s",
                    breakage_name(faults[fault].id), (int)seed, async ? "late" : "early", is,
                    schedule_text(property_arena, schedule));
    }
}

START_TEST(every_fault_is_told) {
  for (int i = 0; i < N_COUNTS; i++) {
    Schedule schedule = property_of_slabs(shapes[_i], slab_counts[i]);
    const Model *model = property_built(&schedule);
    for (int f = 0; f < N_FAULTS; f++) {
      const Program *broken = program_break(property_arena, model->program, faults[f].id);
      bool round = slab_counts[i] > schedule.value[KNOB_BUFFER_COUNT];
      bool at_once = schedule.value[KNOB_BUFFER_COUNT] == 1 || schedule.value[KNOB_PIPELINE_STAGES];
      bool harmed = faults[f].harms == ALWAYS || (round && (faults[f].harms != AT_ONCE || at_once));
      if (faults[f].harms == SLOT_AGAIN) harmed = uses_slot_again(&schedule);
      if (broken) must_find(&schedule, broken, f, harmed, slab_counts[i] == 7 ? N_SEEDS : 1);
    }
    arena_reset(property_arena);
  }
}
END_TEST

// Without roles, the barrier at the end of the loop keeps slots from being asked for too early.
START_TEST(a_lost_barrier_is_an_early_overwrite) {
  Schedule schedule = property_of_slabs(shapes[_i], 5);
  const Program *program = property_built(&schedule)->program;
  if (schedule.value[KNOB_WARP_SPECIALIZE]) return;
  const Program *broken = program_break(property_arena, program, BREAK_LAST_BARRIER);
  for (InterpAsync async = INTERP_EARLY; async <= INTERP_LATE; async++)
    ck_assert_msg(found(broken, 1, async) & BIT(RACE), "%s", shapes[_i]);
}
END_TEST

// ---- what is said -------------------------------------------------------------------------------

#define RING3 "M=20,N=20,BM=16,BN=8,FM=2,FN=4,BK=8,TMA=1,WARP_SPECIALIZE=1,STAGE=11,BUFFER_COUNT=3"
static const struct {
  BreakageId id;
  const char *says;
} sentences[] = {
    {BREAK_FULL_WAIT, "with no wait for that copy between"},
    {BREAK_FULL_WAIT, "what the memory accelerator copies into (tma"},
    {BREAK_FULL_WAIT, "with no wait for its mbarrier between"},
    {BREAK_FEWER_BYTES, "with no wait for its mbarrier between"},
    {BREAK_SLOT_AFTER, "what the memory accelerator copies into (tma"},
    {BREAK_MORE_BYTES,
     "deadlock on full[0]: warps 0-3 wait for a phase of bit 0 to end; phase 0 is "
     "under way, with 0 of 1 arrivals missing and 1024 bytes to come"},
    {BREAK_EMPTY_PHASE,
     "deadlock on empty[0]: warp 4 waits for a phase of bit 0 to end; phase 0 "
     "is under way, with 4 of 4 arrivals missing and 0 bytes to come"},
    {BREAK_ARRIVE,
     "deadlock on empty[0]: warp 4 waits for a phase of bit 0 to end; phase 0 is "
     "under way, with 4 of 4 arrivals missing and 0 bytes to come"},
    {BREAK_MORE_ARRIVALS, "with 1 of 5 arrivals missing and 0 bytes to come"},
    {BREAK_FEWER_ARRIVALS, "race on A_s[0, "},
    {BREAK_SILENT_WARP, "race on A_s[0, "},
    {BREAK_MIDDLE_WAIT, "with no wait for its mbarrier between"},
    {BREAK_WAIT_AGAIN,
     "deadlock on full[0]: warp 0 may come late: the phase that it waits for and the next "
     "one have ended"},
    {BREAK_ALL_ASK,
     "does this together with other threads; one thread must do it alone (mbarrier.expect"},
    {BREAK_FIRST_BARRIER, "uses an mbarrier"},
    {BREAK_FENCE, "with no fence for copies by TMA between"},
    {BREAK_EARLY_FENCE, "with no fence for copies by TMA between"},
};
enum { N_SENTENCES = sizeof sentences / sizeof sentences[0] };

START_TEST(faults_are_told_in_words) {
  Schedule schedule = property_of_slabs(RING3, 5);
  const Program *program = property_built(&schedule)->program;
  const Program *broken = program_break(property_arena, program, sentences[_i].id);
  ck_assert_ptr_nonnull(broken);
  InterpCheck check =
      interpret_check(property_arena, broken, &(InterpOptions){.seed = 1, .runs = 8});
  bool told = false;
  for (int i = 0; i < check.n_findings; i++)
    told = told || strstr(check.finding[i].text, sentences[_i].says);
  if (!told) property_tell(&schedule, sentences[_i].says, &check);
  ck_assert(told);
}
END_TEST

// The same of boxes bound for C, in pieces of 8 columns that share one slot.
static const struct {
  BreakageId id;
  const char *says;
} stores[] = {
    {BREAK_STORE_FENCE, "copies out of (tma.store"},
    {BREAK_STORE_FENCE, "with no fence for copies by TMA between"},
    {BREAK_STORE_WAIT_READ, "what the memory accelerator copies out of (tma.store"},
    {BREAK_STORE_WAIT_READ, "with no wait until that copy has read it between"},
    {BREAK_STORE_WAIT, "ends without a wait until its box has been read (tma.store"},
    {BREAK_LAST_BARRIER, "with no barrier between"},
};
enum { N_STORES = sizeof stores / sizeof stores[0] };

START_TEST(faults_of_stores_are_told_in_words) {
  Schedule schedule =
      property_of_slabs(HALF ROLES "STAGE=11,BUFFER_COUNT=2,EPILOGUE=1,TMA_STORE=1,EPI_N=8", 2);
  const Program *program = property_built(&schedule)->program;
  const Program *broken = program_break(property_arena, program, stores[_i].id);
  ck_assert_ptr_nonnull(broken);
  InterpCheck check = interpret_check(property_arena, broken, &(InterpOptions){.seed = 1});
  bool told = false;
  for (int i = 0; i < check.n_findings; i++)
    told = told || strstr(check.finding[i].text, stores[_i].says);
  if (!told) property_tell(&schedule, stores[_i].says, &check);
  ck_assert(told);
}
END_TEST

// Producers and consumers of 256, 384 and 512 threads share what the block started with to the last
// step of 8: no more can be taken, or somebody waits for ever.
START_TEST(no_more_registers_are_taken_than_given_back) {
  static const struct {
    const char *tile, *says;
  } blocks[] = {{"BM=16,BN=16,", "waits for 240 registers in each thread and has 168"},
                {"BM=24,BN=16,", "waits for 160 registers in each thread and has 128"},
                {"BM=32,BN=16,", "waits for 112 registers in each thread and has 96"}};
  const char *state = arena_printf(
      property_arena, "M=70,N=68,K=36,%sFM=2,FN=2,BK=16,TMA=1,BUFFER_COUNT=2," ROLES "STAGE=11",
      blocks[_i].tile);
  Schedule schedule = schedule_plain();
  Diags diags = diags_new(property_arena);
  ck_assert(schedule_parse(&schedule, state, &diags));
  const Program *program = property_built(&schedule)->program;
  ck_assert(property_computes(&schedule, "all passes", program, 1));
  const Program *broken = program_break(property_arena, program, BREAK_MORE_REGISTERS);
  ck_assert_ptr_nonnull(broken);
  const InterpResult *result = interpret(property_arena, broken, &(InterpOptions){.seed = 1});
  ck_assert(!result->finished && result->n_findings > 0);
  bool told = false;
  for (int i = 0; i < result->n_findings; i++)
    told = told || strstr(result->finding[i].text, blocks[_i].says);
  ck_assert_msg(told, "%s", result->finding[0].text);
}
END_TEST

START_TEST(a_ring_that_is_not_gone_round_has_no_second_phase) {
  Schedule schedule = property_of_slabs(RING3, 3);
  ck_assert_ptr_null(
      program_break(property_arena, property_built(&schedule)->program, BREAK_FULL_PHASE));
  schedule = property_of_slabs(FMA "STAGE=11", 3);
  ck_assert_ptr_null(
      program_break(property_arena, property_built(&schedule)->program, BREAK_SLOT_AFTER));
  ck_assert_ptr_null(
      program_break(property_arena, property_built(&schedule)->program, BREAK_ARRIVE));
}
END_TEST

Suite *suite_mbarrier(void) {
  Suite *suite = suite_create("mbarrier");
  TCase *tc = tcase_create("mbarrier");
  tcase_add_checked_fixture(tc, property_setup, property_teardown);
  tcase_set_timeout(tc, 120);
  stress_add_turns(tc, every_shape_computes_the_nest, N_SHAPES, 9);
  tcase_add_loop_test(tc, no_more_registers_are_taken_than_given_back, 0, 3);
  stress_add_turns(tc, what_is_just_legal_computes_the_nest, N_BRINKS, 6);
  tcase_add_test(tc, boxes_are_what_a_tensor_map_can_say);
  stress_add_turns(tc, every_fault_is_told, N_SHAPES, 12);
  stress_add_turns(tc, a_lost_barrier_is_an_early_overwrite, N_SHAPES, 9);
  tcase_add_loop_test(tc, faults_are_told_in_words, 0, N_SENTENCES);
  tcase_add_loop_test(tc, faults_of_stores_are_told_in_words, 0, N_STORES);
  tcase_add_test(tc, a_ring_that_is_not_gone_round_has_no_second_phase);
  suite_add_tcase(suite, tc);
  return suite;
}
