// Lists of tiles that clusters claim: each is run once, whatever map of SMs the launch has; who
// runs next to whom is the launch's to say.
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "compile_once.h"
#include "emit_cases.h"
#include "fake_cuda.h"
#include "features/gpc/model/deal_lists.h"
#include "kernels/device/gpu.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/nvrtc.h"
#include "model/interp/breakage.h"
#include "model/ir/program.h"
#include "model/ir/role.h"
#include "property.h"
#include "stress.h"

Suite *suite_work_lists(void);

// ---- programs -----------------------------------------------------------------------------------

#define GPC "TMA=1,STAGE=11,WARP_SPECIALIZE=1,PERSISTENT=1,TILE_ORDER=gpc,"
#define FMA "M=50,N=68,K=24,BM=8,BN=8,FM=2,FN=2,BK=8," GPC
#define HALF "M=70,N=72,K=96,ATOM_KIND=mma_m16n8k16_f16,WM=1,WN=2,FM=2,FN=2,BK=2," GPC
#define WGMMA                                                                                     \
  "M=330,N=200,K=136,ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=32,WM=2,BK=4,MMA_GROUPS=1,SWIZZLE=2," \
  "BUFFER_COUNT=2," GPC
#define PAIR "MULTICAST=1,CLUSTER_M=2,"

static const char *const shapes[] = {
    FMA "BUFFER_COUNT=2",
    FMA "BUFFER_COUNT=3,GROUP_N=3",
    FMA "BUFFER_COUNT=2,SPLITK=2,ATOMIC_FREE_SPLITK=1,GROUP_M=2",
    FMA PAIR "BUFFER_COUNT=2,GROUP_N=2,B_COL=1",
    HALF "BUFFER_COUNT=2,EPILOGUE=1,GROUP_M=2,GROUP_N=2",
    HALF "BUFFER_COUNT=3,MULTICAST=1,CLUSTER_N=2,LDMATRIX=1,SWIZZLE=1",
    WGMMA "GROUP_N=8",
    WGMMA PAIR "GROUP_N=4,EPILOGUE=1,TMA_STORE=1,STMATRIX=1",
    WGMMA "MULTICAST=1,CLUSTER_N=2,GROUP_M=2,EPILOGUE=1,TMA_STORE=1",
    HALF "BUFFER_COUNT=2,MULTICAST=1,CLUSTER_N=2,GROUP_M=2,TAIL_SPLIT=3,SERPENTINE_K=1",
    WGMMA PAIR "GROUP_N=4,EPILOGUE=1,TMA_STORE=1,STMATRIX=1,TAIL_SPLIT=3",
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

static const Model *built(const char *state) {
  Schedule schedule = property_read_state(state);
  return property_built(&schedule);
}

// Each run draws a grid, how many lists have tiles, and the list that each SM prefers.
START_TEST(every_map_of_sms_computes_the_nest) {
  const Model *model = built(shapes[_i]);
  ck_assert_ptr_nonnull(program_buffer(model->program, ROLE_LIST));
  const int runs = model->schedule.value[KNOB_ATOM_KIND] && !stress_is_on() ? 4 : 12;
  ck_assert(property_computes(&model->schedule, "all passes", model->program, runs));
}
END_TEST

static const BreakageId faults[] = {BREAK_CLAIM_NOT_ATOMIC, BREAK_EPOCH_MISSING,
                                    BREAK_FIRST_BARRIER, BREAK_NO_CLUSTER_START};
enum { N_FAULTS = sizeof faults / sizeof faults[0] };

START_TEST(a_fault_of_the_claim_is_found) {
  const Program *program = built(shapes[_i])->program;
  int broken_ones = 0;
  for (int f = 0; f < N_FAULTS; f++) {
    const Program *broken = program_break(property_arena, program, faults[f]);
    broken_ones += broken != NULL;
    if (!broken) continue;
    InterpOptions options = {.seed = 1, .runs = 4, .stop_at_first = true};
    InterpCheck check = interpret_check(property_arena, broken, &options);
    ck_assert_msg(!check.ok, "%s: %s", breakage_name(faults[f]), shapes[_i]);
  }
  ck_assert_int_ge(broken_ones, 3);
}
END_TEST

// Two clusters that have one list, and a launch that finds all lists taken.
START_TEST(what_is_said_names_the_fault) {
  const Program *program = built(shapes[0])->program;
  const Program *loose = program_break(property_arena, program, BREAK_CLAIM_NOT_ATOMIC);
  const Program *stale = program_break(property_arena, program, BREAK_EPOCH_MISSING);
  const InterpOptions options = {.seed = 1};
  InterpCheck check = interpret_check(property_arena, loose, &options);
  ck_assert_int_eq(check.finding[0].kind, FINDING_RACE);
  check = interpret_check(property_arena, stale, &options);
  ck_assert_int_eq(check.finding[0].kind, FINDING_DEADLOCK);
  ck_assert_ptr_nonnull(strstr(check.finding[0].text, "in epoch 1"));
  ck_assert(interpret(property_arena, stale, &options)->n_findings == 0);  // one launch is right
}
END_TEST

START_TEST(it_is_read_back_as_it_was_printed) {
  const Program *program = built(shapes[_i])->program;
  property_read_back(program);
  property_read_back(program_break(property_arena, program, BREAK_CLAIM_NOT_ATOMIC));
  property_read_back(program_break(property_arena, program, BREAK_EPOCH_MISSING));
}
END_TEST

static const char *const archs[] = {"sm_90a", "sm_100a"};

START_TEST(it_compiles_without_a_warning) {
  for (int a = 0; a < (strstr(shapes[_i], "wgmma") ? 1 : 2); a++) {
    const Model *model = built(arena_printf(property_arena, "%s,TARGET=%s", shapes[_i], archs[a]));
    const Plan *plan = plan_from_model(property_arena, model, NULL);
    Diags diags = diags_new(property_arena);
    ck_assert_msg(plan_check(plan, &diags), "%s", diags_text(property_arena, &diags));
    const CompileResult *compiled = compile_once(property_arena, plan, COMPILE_BOTH);
    ck_assert_msg(compiled->ok && !strstr(compiled->log, "warning"), "%s: %.200s\n%.1000s",
                  shapes[_i], compiled->ok ? "" : compiled->error, compiled->log);
  }
}
END_TEST

static const struct {
  const char *state, *rule, *nearest;
} refused[] = {
    {"TILE_ORDER=gpc,BM=16,BN=16,FM=4,FN=4,TMA=1,WARP_SPECIALIZE=1,BUFFER_COUNT=2",
     "order_persistent", "PERSISTENT=1"},
    {"PERSISTENT=1,TILE_ORDER=gpc,BM=16,BN=16,FM=4,FN=4,TMA=1,BUFFER_COUNT=2", "gpc_roles",
     "WARP_SPECIALIZE=1"},
    {"PERSISTENT=1,TILE_ORDER=gpc,BM=16,BN=16,FM=4,FN=4,TMA=1,WARP_SPECIALIZE=1,BUFFER_COUNT=2,"
     "CLUSTER_M=2",
     "gpc_cluster", "MULTICAST=1"},
};
enum { N_REFUSED = sizeof refused / sizeof refused[0] };

START_TEST(what_is_not_legal_says_why) {
  ck_assert_int_eq(property_refusals(refused[_i].state, refused[_i].rule, refused[_i].nearest), 1);
}
END_TEST

// ---- tables -------------------------------------------------------------------------------------

// SMs are dealt out to places in pairs, as TPCs are; `sizes` end with 0.
static PlaceMap map_of(const int *sizes) {
  int set[PLACES_SMS], left[16], n = 0, all = 0;
  for (; sizes[n]; n++) all += left[n] = sizes[n];
  for (int sm = 0; sm < PLACES_SMS; sm++) set[sm] = -1;
  for (int sm = 0, place = 0; sm < all; place = (place + 1) % n) {
    for (int i = 0; i < 2 && left[place]; i++, left[place]--) set[sm++] = place;
  }
  PlaceMap map;
  places_from_sets(set, &map);
  return map;
}

static const int h200[] = {16, 16, 16, 18, 16, 16, 16, 18, 0};

// Another chip of the same name: TPCs that no cluster of more than two reaches.
static const int in_pieces[] = {8, 16, 16, 16, 16, 16, 18, 18, 2, 2, 2, 2, 0};

static int place_of(const PlaceMap *map, int i) {
  int place = 0;
  while (place + 1 < map->n_places && i >= map->first[place + 1]) place++;
  return place;
}

START_TEST(neighbouring_lists_are_of_one_place) {
  const PlaceMap map = map_of(_i ? in_pieces : h200);
  const ListShape shape = {.tiles = 1024, .clusters = 66, .cluster = 2, .blocks = 1};
  ListTable table;
  ck_assert_int_eq(map.n_sms, 132);
  ck_assert_int_eq(map.n_places, _i ? 12 : 8);
  deal_lists(&map, &shape, &table);
  ck_assert_int_eq(table.lists, 64);
  int seen[66] = {0}, place[66];
  for (int i = 0; i < map.n_sms; i++) {
    const int list = table.of_sm[map.sm[i]];
    ck_assert(list >= 0 && list < 66);
    if (seen[list]++) ck_assert(list >= 64 || place[list] == place_of(&map, i));
    place[list] = place_of(&map, i);
  }
  for (int list = 0; list < 66; list++) ck_assert_int_eq(seen[list], 2);  // SMs of a cluster
  for (int list = 0; list < 56; list++) ck_assert_int_eq(place[list], place[list / 8 * 8]);
}
END_TEST

// A list for every cluster where whole groups would take a turn more, unless turns are many.
START_TEST(next_to_no_turn_is_lost) {
  const PlaceMap map = map_of(h200);
  for (int tiles = 1; tiles < 6000; tiles++) {
    const int clusters = tiles < 66 ? tiles : 66;
    ListShape shape = {.tiles = tiles, .clusters = clusters, .cluster = 2, .blocks = 1};
    ListTable table;
    deal_lists(&map, &shape, &table);
    ck_assert(table.lists >= 1 && table.lists <= clusters);
    const int turns = (tiles - 1) / clusters + 1;
    ck_assert_int_le((tiles - 1) / table.lists + 1, turns + turns / 24);
    if (tiles == 2752 || tiles == 4096) ck_assert_int_eq(table.lists, 64);  // 42 and 63 turns
    for (int i = 0; i < map.n_sms; i++)
      ck_assert(table.of_sm[map.sm[i]] >= 0 && table.of_sm[map.sm[i]] < clusters);
  }
}
END_TEST

// Whatever the map is: SMs alone, one place, several blocks on an SM.
START_TEST(every_list_is_in_range) {
  static const int one[] = {7, 0}, odd[] = {1, 3, 5, 2, 0};
  static const int *const maps[] = {one, odd, h200};
  for (int m = 0; m < 3; m++)
    for (int cluster = 1; cluster <= 4; cluster *= 2)
      for (int blocks = 1; blocks <= 3; blocks++) {
        const PlaceMap map = map_of(maps[m]);
        const int clusters = map.n_sms * blocks / cluster;
        const ListShape shape = {1000, clusters, cluster, blocks};
        ListTable table;
        deal_lists(&map, &shape, &table);
        ck_assert(table.lists >= 1 && table.lists <= clusters);
        for (int sm = 0; sm < PLACES_SMS; sm++)
          ck_assert(table.of_sm[sm] >= 0 && table.of_sm[sm] < clusters);
      }
}
END_TEST

// ---- launches -----------------------------------------------------------------------------------

// What the fake device is: places of an H200, and blocks that run where clusters fit.
static int sm_in_place[8][18], probes;
enum { CLUSTERS = 132, LISTS = 128 };
static int taken[CLUSTERS];
static unsigned last_epoch;

static void fake_places(void **parameters) {
  int *sm = (int *)(uintptr_t) * (CuDevicePtr *)parameters[0];
  const int cluster = 8 - probes++, blocks = 2 * 132 / cluster * cluster;
  for (int i = 0, place = 0, at = 0; i < blocks; i += cluster) {
    while (at + cluster > h200[place]) place = (place + 1) % 8, at = 0;
    for (int b = 0; b < cluster; b++) sm[i + b] = sm_in_place[place][at++];
  }
}

// The claims of 132 clusters of two blocks, one on each SM, by the kernel's own rule.
static void fake_listed(void **parameters) {
  const int *places = (const int *)(uintptr_t) * (CuDevicePtr *)parameters[1];
  unsigned *claims = (unsigned *)(uintptr_t) * (CuDevicePtr *)parameters[2];
  const unsigned epoch = *(unsigned *)parameters[3];
  ck_assert_int_eq(*(int *)parameters[4], LISTS);
  last_epoch = epoch;
  for (int place = 0; place < 8; place++)
    for (int i = 0; i < h200[place]; i++) {
      int list = places[sm_in_place[place][i]];
      while (claims[list] >= epoch) list = (list + 1) % CLUSTERS;
      claims[list] = epoch;
      ck_assert(list >= LISTS || list / 16 == place);
      taken[list]++;
    }
}

static Plan *plan_of_lists(Arena *arena) {
  Plan *plan = ARENA_NEW(arena, Plan);
  *plan = (Plan){.cuda = "text",
                 .arch = "sm_90a",
                 .m = 16,
                 .n = 16,
                 .k = 16,
                 .n_kernels = 1,
                 .kernels = {{.name = "listed",
                              .grid = {2048, 1, 1},
                              .persistent = true,
                              .cluster = {2, 1, 1},
                              .block = {1024, 1, 1},
                              .n_args = 5,
                              .args = {PLAN_ARG_C, PLAN_ARG_PLACES, PLAN_ARG_CLAIMS, PLAN_ARG_EPOCH,
                                       PLAN_ARG_LISTS}}}};
  return plan;
}

static void start_fake(void) {
  const PlaceMap map = map_of(h200);
  probes = 0;
  memset(taken, 0, sizeof taken);
  for (int place = 0; place < 8; place++)
    for (int i = 0; i < h200[place]; i++) sm_in_place[place][i] = map.sm[map.first[place] + i];
  fake_cuda_install();
  fake_cuda_add_kernel("places", fake_places);
  fake_cuda_add_kernel("listed", fake_listed);
  fake_cuda_set_attribute(CU_DEVICE_MULTIPROCESSOR_COUNT, 132);
  fake_cuda_set_types(PLAN_F32, PLAN_F32);
}

static void load_and_launch(Gpu *gpu, const Plan *plan, int launches) {
  static const unsigned char cubin[] = "\177ELF";
  const BenchInput input = {plan, cubin, sizeof cubin, NULL};
  GpuProgram program;
  bool ok = problem_prepare(gpu, plan, 1) && gpu_load(gpu, &input, &program);
  for (int i = 0; ok && i < launches; i++) ok = gpu_launch(gpu, &program);
  ck_assert_msg(ok, "%s", gpu_error(gpu));
  gpu_unload(gpu, &program);
}

// The map is probed once for all programs of a device; each launch has an epoch of its own, in
// which every list is taken once, by a cluster of its place.
START_TEST(a_launch_brings_its_tables) {
  const char *error = NULL;
  start_fake();
  const Plan *plan = plan_of_lists(property_arena);
  Gpu *gpu = gpu_open(property_arena, 0, &error);
  ck_assert_msg(gpu != NULL, "%s", error);
  load_and_launch(gpu, plan, 3);
  load_and_launch(gpu, plan, 2);
  ck_assert_int_eq(probes, 7);
  ck_assert_int_eq(gpu->places.n_places, 8);
  ck_assert_int_eq(gpu->places.n_sms, 132);
  ck_assert_uint_eq(last_epoch, 5);
  for (int list = 0; list < CLUSTERS; list++) ck_assert_int_eq(taken[list], 5);
  gpu_close(gpu);
  ck_assert_int_eq(fake_cuda_live(), 0);
  fake_cuda_remove();
}
END_TEST

// A device without clusters is one place.
START_TEST(without_clusters_all_sms_are_neighbours) {
  const char *error = NULL;
  start_fake();
  fake_cuda_set_attribute(CU_DEVICE_CAPABILITY_MAJOR, 8);
  Gpu *gpu = gpu_open(property_arena, 0, &error);
  ck_assert_msg(gpu != NULL && gpu_find_places(gpu), "%s", error ? error : gpu_error(gpu));
  ck_assert_int_eq(probes, 0);
  ck_assert_int_eq(gpu->places.n_places, 1);
  ck_assert_int_eq(gpu->places.n_sms, 132);
  gpu_close(gpu);
  fake_cuda_remove();
}
END_TEST

Suite *suite_work_lists(void) {
  Suite *suite = suite_create("work_lists");
  TCase *tcase = tcase_create("work_lists");
  tcase_set_timeout(tcase, 300);
  tcase_add_checked_fixture(tcase, property_setup, property_teardown);
  stress_add_turns(tcase, every_map_of_sms_computes_the_nest, N_SHAPES, 9);
  stress_add_turns(tcase, a_fault_of_the_claim_is_found, N_SHAPES, 9);
  tcase_add_test(tcase, what_is_said_names_the_fault);
  stress_add_turns(tcase, it_is_read_back_as_it_was_printed, N_SHAPES, 12);
  stress_add_turns(tcase, it_compiles_without_a_warning, N_SHAPES, 12);
  tcase_add_loop_test(tcase, what_is_not_legal_says_why, 0, N_REFUSED);
  tcase_add_loop_test(tcase, neighbouring_lists_are_of_one_place, 0, 2);
  tcase_add_test(tcase, next_to_no_turn_is_lost);
  tcase_add_test(tcase, every_list_is_in_range);
  tcase_add_test(tcase, a_launch_brings_its_tables);
  tcase_add_test(tcase, without_clusters_all_sms_are_neighbours);
  suite_add_tcase(suite, tcase);
  return suite;
}
