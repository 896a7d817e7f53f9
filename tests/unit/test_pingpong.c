// Consumers that take the tiles of a persistent block by turns: right whatever the grid, in order,
// and with the writing of one tile under the multiplications of the next.
#include <check.h>
#include <string.h>

#include "compile_once.h"
#include "golden.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/interp/breakage.h"
#include "model/ir/find_op.h"
#include "model/ir/launch.h"
#include "model/ir/notation/print.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/readings/rules/rule.h"
#include "model/readings/time/timeline.h"
#include "model/schedules/random_schedule.h"
#include "model/schedules/reduce.h"
#include "property.h"
#include "stress.h"

Suite *suite_pingpong(void);

// ---- shapes -------------------------------------------------------------------------------------

#define TURNS                                                                        \
  "ATOM_KIND=wgmma_m64n256k16_bf16,BK=2,STAGE=11,SWIZZLE=2,TMA=1,WARP_SPECIALIZE=1," \
  "PERSISTENT=1,ROLE_SCHEDULE=pingpong,"
#define NARROW TURNS "ATOM_N=32,FN=2,"  // a tile of 64 x 64
#define WIDE                                                                          \
  "ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=128,FM=2,BK=4,STAGE=11,TMA=1,SWIZZLE=3,"    \
  "BUFFER_COUNT=6,WARP_SPECIALIZE=1,GROUP_M=8,PERSISTENT=1,MMA_GROUPS=1,CLUSTER_M=2," \
  "CLUSTER_N=2,MULTICAST=1,EPILOGUE=1,TMA_STORE=1,STMATRIX=1,M=16384,N=16384,K=512,"
#define BY_TMA "EPILOGUE=1,TMA_STORE=1,"

// M and N of five tiles or more, the last row and column of them cut.
static const char *const shapes[] = {
    NARROW "M=200,N=120,BUFFER_COUNT=2",
    NARROW "M=200,N=120,BUFFER_COUNT=3,MMA_GROUPS=1,GROUP_M=2",
    NARROW "M=200,N=120,BUFFER_COUNT=4,MMA_GROUPS=1,TILE_ORDER=hilbert," BY_TMA "STMATRIX=1",
    NARROW "M=200,N=120,BUFFER_COUNT=3,MMA_GROUPS=1," BY_TMA "EPI_BUFFERS=2,EPI_N=16",
    TURNS "M=200,N=120,ATOM_N=24,BUFFER_COUNT=3,MMA_GROUPS=1,B_COL=1," BY_TMA
          "EPI_BUFFERS=2,EPI_N=8",
    TURNS "M=300,N=120,ATOM_N=32,WM=2,FM=1,BUFFER_COUNT=2,MMA_GROUPS=1," BY_TMA "STMATRIX=1",
    TURNS "M=200,N=120,ATOM_N=32,WN=2,BUFFER_COUNT=2,A_REGS=1,LDMATRIX=1",
    NARROW "M=200,N=120,BUFFER_COUNT=3,MMA_GROUPS=1,CLUSTER_M=2,MULTICAST=1," BY_TMA "STMATRIX=1",
    NARROW "M=200,N=248,BUFFER_COUNT=3,MMA_GROUPS=1,CLUSTER_N=2,MULTICAST=1,TILE_ORDER=gpc",
    NARROW "M=200,N=120,BUFFER_COUNT=3,TILE_ORDER=gpc,GROUP_N=2",
    NARROW "M=136,N=120,BUFFER_COUNT=3,MMA_GROUPS=1,SPLITK=2,ATOMIC_FREE_SPLITK=1",
    NARROW "M=200,N=120,BUFFER_COUNT=2,TAIL_SPLIT=2",
    NARROW "M=200,N=120,BUFFER_COUNT=4,MMA_GROUPS=1,TILE_ORDER=hilbert,TAIL_SPLIT=4," BY_TMA,
    NARROW
    "M=200,N=248,BUFFER_COUNT=3,MMA_GROUPS=1,CLUSTER_N=2,MULTICAST=1,TILE_ORDER=gpc,"
    "TAIL_SPLIT=2,SERPENTINE_K=1",
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

// 7 and 4 slabs: those of two tiles go round most of the rings an odd number of times, or not
// evenly; 1: a tile that is over as soon as it has begun.
static const int slab_counts[] = {7, 4, 1};
enum { N_COUNTS = sizeof slab_counts / sizeof slab_counts[0] };

static Schedule of_slabs(const char *state, int slabs) {
  Schedule schedule = property_read_state(state);
  schedule_set(&schedule, KNOB_K, slabs * schedule_tile(&schedule, KNOB_K) - (slabs > 1 ? 8 : 0));
  return schedule;
}

// Of the earlier passes each in one shape of three: all in `make stress`.
START_TEST(every_shape_computes_the_nest_after_every_pass) {
  for (int i = 0; i < N_COUNTS; i++) {
    Schedule schedule = of_slabs(shapes[_i], slab_counts[i]);
    if (schedule.value[KNOB_TAIL_SPLIT] > slab_counts[i]) continue;  // rule tail_slabs
    const Pipeline *pipeline = &property_built(&schedule)->pipeline;
    for (int s = pipeline->n_stages - 1; s > 0; s--) {
      if (s < pipeline->n_stages - 1 && slab_counts[i] != 4) break;
      if (!program_buffer(pipeline->stage[s].program, ROLE_ORDER)) break;
      if (s < pipeline->n_stages - 1 && !stress_has_turn(s + _i, 15)) continue;
      ck_assert(property_computes(&schedule, pipeline->stage[s].pass->name,
                                  pipeline->stage[s].program, 2));
    }
  }
}
END_TEST

// From one block with all tiles to one for each, of which the second consumer has none.
START_TEST(any_grid_will_do) {
  Schedule schedule = of_slabs(shapes[_i], 4);
  const Program *program = property_built(&schedule)->program;
  Launch launch = kernel_launch(program_main(program));
  for (int64_t grid = 1; grid < launch.n_blocks / launch.cluster; grid += stress_is_on() ? 2 : 6)
    ck_assert(property_computes_on(program, grid));
  ck_assert(property_computes_on(program, launch.n_blocks / launch.cluster));
}
END_TEST

START_TEST(it_is_read_back_as_it_was_printed) {
  Schedule schedule = of_slabs(shapes[_i], 4);
  ck_assert(property_computes_on(property_read_back(property_built(&schedule)->program), 2));
}
END_TEST

// Those of one atom for each thread, and of two in slabs of four steps; of smaller ones the
// assembler says the same as of cooperative consumers.
static const char *const compiled[] = {
    WIDE "ROLE_SCHEDULE=pingpong",
    TURNS "ATOM_N=64,BUFFER_COUNT=2,M=200,N=120,K=120",
    TURNS
    "ATOM_N=256,BUFFER_COUNT=8,MMA_GROUPS=1,CLUSTER_M=2,MULTICAST=1,"
    "TILE_ORDER=gpc,EPILOGUE=1,TMA_STORE=1,STMATRIX=1",
    TURNS "ATOM_N=64,BUFFER_COUNT=4,MMA_GROUPS=1,TILE_ORDER=hilbert," BY_TMA "EPI_BUFFERS=2",
    TURNS "ATOM_N=128,WM=2,BUFFER_COUNT=4,MMA_GROUPS=1,SPLITK=2,ATOMIC_FREE_SPLITK=1",
};
enum { N_COMPILED = sizeof compiled / sizeof compiled[0] };

START_TEST(it_is_compiled_as_it_is_meant) {
  Schedule schedule = property_read_state(compiled[_i]);
  const Plan *plan = plan_from_model(property_arena, property_built(&schedule), NULL);
  const CompileResult *result = compile_once(property_arena, plan, COMPILE_BOTH);
  ck_assert_msg(result->ok, "%s: %.300s\n%.1000s", compiled[_i], result->error, result->log);
  ck_assert_msg(!strstr(result->log, "warning"), "%s: %.1000s", compiled[_i], result->log);
  for (int i = 0; i < result->n_kernels; i++) {
    const KernelResources *kernel = &result->kernels[i];
    ck_assert_msg(!kernel->note, "%s: %s", compiled[_i], kernel->note);
    ck_assert_int_eq(kernel->spill_store_bytes, 0);
  }
}
END_TEST

START_TEST(the_program_of_a_small_state) {
  Schedule schedule = of_slabs(shapes[2], 4);
  golden_check("ir/pingpong.txt",
               program_text_full(property_arena, property_built(&schedule)->program));
}
END_TEST

// ---- faults -------------------------------------------------------------------------------------

static const struct {
  BreakageId id;
  FindingKind kind;
} faults[] = {
    {BREAK_ORDER_WAIT, FINDING_DEADLOCK},         {BREAK_OWN_SLABS, FINDING_RACE},
    {BREAK_RING_RESTARTS_PER_TILE, FINDING_RACE}, {BREAK_ARRIVE, FINDING_DEADLOCK},
    {BREAK_FEWER_ARRIVALS, FINDING_RACE},         {BREAK_EMPTY_WAIT, FINDING_RACE},
};
enum { N_FAULTS = sizeof faults / sizeof faults[0] };

START_TEST(faults_are_told) {
  Schedule schedule = of_slabs(shapes[1], 7);
  const Program *program = property_built(&schedule)->program;
  const Program *broken = program_break(property_arena, program, faults[_i].id);
  ck_assert_ptr_nonnull(broken);
  InterpCheck check = interpret_check(property_arena, broken, &(InterpOptions){.grid = 1});
  bool told = false;
  for (int i = 0; i < check.n_findings; i++) told |= check.finding[i].kind == faults[_i].kind;
  if (!told) property_tell(&schedule, breakage_name(faults[_i].id), &check);
  ck_assert(told);
}
END_TEST

// A consumer whom nobody lets begin; where each block has one tile, nobody waits to begin.
START_TEST(an_arrival_that_is_left_out_is_waited_for) {
  Schedule schedule = of_slabs(shapes[1], 4);
  Program *program = program_clone(property_arena, property_built(&schedule)->program);
  stmt_cut(stmt_find_link(&kernel_inner(program_main_kernel(program))->body, OP_MBAR_ARRIVE,
                          ROLE_ORDER));
  InterpCheck check = interpret_check(property_arena, program, &(InterpOptions){.grid = 1});
  bool told = false;
  for (int i = 0; i < check.n_findings; i++)
    told |= check.finding[i].kind == FINDING_DEADLOCK && strstr(check.finding[i].text, "order[");
  ck_assert(told);
  Launch launch = kernel_launch(program_main(program));
  ck_assert(property_computes_on(program, launch.n_blocks));
}
END_TEST

// Where the slabs of two tiles go round the ring an even number of times the count of one's own
// comes to the same, but where they do not it is noticed: see faults_are_told.
START_TEST(two_tiles_of_whole_rounds_count_alike) {
  Schedule schedule = of_slabs(shapes[0], 4);  // 8 slabs: four rounds of a ring of two
  const Program *broken =
      program_break(property_arena, property_built(&schedule)->program, BREAK_OWN_SLABS);
  ck_assert(!broken || property_computes_on(broken, 1));
}
END_TEST

// ---- time ---------------------------------------------------------------------------------------

static int consumer_of(const TimelineEvent *event) { return event->warp / 4; }

// The wgmmas of the two never alternate but from tile to tile, and boxes of one leave while those
// of the other are under way.
START_TEST(one_writes_while_the_other_multiplies) {
  Schedule schedule = property_read_state(WIDE "ROLE_SCHEDULE=pingpong");
  const Timeline *timeline =
      timeline_run(property_arena, property_built(&schedule), NULL, &(TimelineOptions){0});
  ck_assert_int_eq(timeline->n_stuck, 0);
  int changes = 0, under = 0, multiplies = 0;
  const TimelineEvent *last[2] = {NULL, NULL}, *before = NULL;
  for (int i = 0; i < timeline->n_events; i++) {
    const TimelineEvent *e = &timeline->event[i];
    int c = consumer_of(e);
    if (c > 1) continue;
    if (e->kind == TIMELINE_MULTIPLY) {
      changes += before && consumer_of(before) != c;
      before = last[c] = e;
      multiplies++;
    }
    const TimelineEvent *other = last[1 - c];
    under += e->kind == TIMELINE_WRITE && other && last[c] && other->begin > last[c]->begin;
  }
  const int slabs = 512 / 64, warps = 4, tiles = multiplies / (slabs * warps);
  ck_assert_int_ge(tiles, 8);
  ck_assert_int_eq(changes, tiles - 1);
  ck_assert_int_ge(under, tiles);
}
END_TEST

// The same tile, by one consumer who writes it before it goes on.
START_TEST(the_pause_between_tiles_is_gone) {
  const char *const states[] = {WIDE "ROLE_SCHEDULE=cooperative", WIDE "ROLE_SCHEDULE=pingpong"};
  double clocks[2];
  for (int i = 0; i < 2; i++) {
    Schedule schedule = property_read_state(states[i]);
    clocks[i] = timeline_run(property_arena, property_built(&schedule), NULL, &(TimelineOptions){0})
                    ->all_clocks;
  }
  ck_assert_msg(clocks[1] < 0.9 * clocks[0], "%g clocks, and %g by turns", clocks[0], clocks[1]);
}
END_TEST

// ---- random schedules ---------------------------------------------------------------------------

START_TEST(random_schedules_take_turns) {
  enum { WANTED = 6, DRAWS = 4000 };
  const RandomLimits limits = {.extent_max = 200, .fma_max = 400000};
  uint64_t state = property_seed() + 11;
  int got = 0;
  for (int i = 0; i < DRAWS && got < WANTED; i++) {
    arena_reset(property_arena);
    Schedule schedule =
        schedule_random(property_arena, &property_targets, "h200", &limits, &state, NULL);
    if (schedule.value[KNOB_ROLE_SCHEDULE] != ROLES_PINGPONG) continue;
    got++;
    const Program *program = property_built(&schedule)->program;
    ck_assert_ptr_nonnull(program_buffer(program, ROLE_ORDER));
    ck_assert(property_computes(&schedule, "all passes", program, 2));
  }
  ck_assert_int_eq(got, WANTED);
}
END_TEST

// ---- rules --------------------------------------------------------------------------------------

#define RULED "ATOM_N=32,BK=2,STAGE=11,SWIZZLE=2,ROLE_SCHEDULE=pingpong,"
#define GROUP "ATOM_KIND=wgmma_m64n256k16_bf16," RULED

static const struct {
  const char *state, *rule, *nearest;
} refused[] = {
    {GROUP "TMA=1,PERSISTENT=1,BUFFER_COUNT=2", "pingpong_roles", "WARP_SPECIALIZE=1"},
    {GROUP "TMA=1,WARP_SPECIALIZE=1,BUFFER_COUNT=2", "pingpong_persistent", "PERSISTENT=1"},
    {"ATOM_KIND=mma_m16n8k16_bf16,FN=4,BK=2,STAGE=11,TMA=1,WARP_SPECIALIZE=1,PERSISTENT=1,"
     "BUFFER_COUNT=2,ROLE_SCHEDULE=pingpong",
     "pingpong_atom", "ROLE_SCHEDULE=cooperative"},
    {GROUP "TMA=1,WARP_SPECIALIZE=1,PERSISTENT=1,BUFFER_COUNT=2,EPILOGUE=1", "pingpong_epilogue",
     "TMA_STORE=1"},
    {TURNS "ATOM_N=144,WM=2,BUFFER_COUNT=2,B_COL=1", "wgmma_registers", "ATOM_N=136"},
};
enum { N_REFUSED = sizeof refused / sizeof refused[0] };

START_TEST(what_is_not_legal_says_why) {
  property_refusals(refused[_i].state, refused[_i].rule, refused[_i].nearest);
}
END_TEST

Suite *suite_pingpong(void) {
  Suite *suite = suite_create("pingpong");
  TCase *tcase = tcase_create("pingpong");
  tcase_set_timeout(tcase, 600);
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  stress_add_turns(tcase, every_shape_computes_the_nest_after_every_pass, N_SHAPES, 9);
  stress_add_turns(tcase, any_grid_will_do, N_SHAPES, 12);
  stress_add_turns(tcase, it_is_read_back_as_it_was_printed, N_SHAPES, 12);
  stress_add_turns(tcase, it_is_compiled_as_it_is_meant, N_COMPILED, 9);
  tcase_add_test(tcase, the_program_of_a_small_state);
  stress_add_turns(tcase, faults_are_told, N_FAULTS, 6);
  tcase_add_test(tcase, an_arrival_that_is_left_out_is_waited_for);
  tcase_add_test(tcase, two_tiles_of_whole_rounds_count_alike);
  tcase_add_test(tcase, one_writes_while_the_other_multiplies);
  tcase_add_test(tcase, the_pause_between_tiles_is_gone);
  tcase_add_test(tcase, random_schedules_take_turns);
  tcase_add_loop_test(tcase, what_is_not_legal_says_why, 0, N_REFUSED);
  suite_add_tcase(suite, tcase);
  return suite;
}
