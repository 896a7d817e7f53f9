// What a state leaves out: the one rule, the articles' own strings, and that ladders and records
// say for ever what they said.
#include <check.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "kernels/device/history/recorded.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/readings/model.h"
#include "model/schedules/random_schedule.h"
#include "model/words/ladder.h"
#include "property.h"

#define ARTICLE "BM=8,BN=32,FM=26,FN=4,BK=32,SPLITK=1,"
#define FP16 "TMA=1,ATOM_KIND=mma_m16n8k16_f16,BK=2,"

static Diags diags;

static void setup(void) {
  property_setup();
  diags = diags_new(property_data);
}

static Schedule parse(const char *text) {
  Schedule schedule = schedule_default();
  ck_assert_msg(schedule_parse(&schedule, text, &diags), "%s: %s", text,
                diags_text(property_data, &diags));
  return schedule;
}

static const Rung *rung_of(const char *ladder, const char *name) {
  const Ladder *read =
      property_read_ladder(str_equal(ladder, "fp32") ? "ladders/fp32.json" : "ladders/fp16.json");
  int rung = ladder_find_rung(read, name, NULL);
  ck_assert_msg(rung >= 0, "%s/%s", ladder, name);
  return &read->rung[rung];
}

// ---- the articles -------------------------------------------------------------------------------

static const struct {
  const char *state, *ladder, *rung;
} strings[] = {
    {ARTICLE "STAGE=00", "fp32", "gmem_26x4"},
    {ARTICLE "STAGE=11,TMA=0,ASYNC_COPY=0,PIPELINE_STAGES=0", "fp32", "staged_26x4"},
    {ARTICLE "STAGE=11,TMA=0,PIPELINE_STAGES=0", "fp32", "pad_cells"},
    {ARTICLE "STAGE=11,TMA=0,PIPELINE_STAGES=0,PAD_SMEM=0", "fp32", "cp_async_26x4"},
    {ARTICLE "STAGE=11,TMA=0,PIPELINE_STAGES=0,PAD_CELLS=1,PAD_OPERANDS=01", "fp32", "pad_cells"},
    {ARTICLE "STAGE=11,TMA=1,PIPELINE_STAGES=0", "fp32", "tma_26x4"},
    {ARTICLE "STAGE=11,TMA=1", "fp32", "tma_pipelined_26x4"},
    {ARTICLE "TMA=1,STAGE=11", "fp32", "tma_pipelined_26x4"},
    {"BM=8,BN=32,FM=1,FN=1,BK=32,SPLITK=1,TMA=1,STAGE=11", "fp32", "one_cell"},
    {FP16 "WM=1,WN=4,FM=4,FN=2,BUFFER_COUNT=2,WARP_SPECIALIZE=1,SPLITK=1", "fp16", "roles"},
    {FP16 "WM=2,WN=4,FM=4,FN=4,BUFFER_COUNT=3", "fp16", "no_roles"},
};

START_TEST(the_articles_strings_are_their_rungs) {
  Schedule schedule = parse(strings[_i].state);
  const Rung *rung = rung_of(strings[_i].ladder, strings[_i].rung);
  ck_assert_msg(schedule_same(&schedule, &rung->schedule), "%s\n%s",
                schedule_record_text(property_data, &schedule),
                schedule_text(property_data, &rung->schedule));
  const Model *model = model_build(property_data, &property_targets, &schedule);
  ck_assert_msg(model->ok, "%s", diags_text(property_data, &model->diags));
}
END_TEST

static Resources resources_of(const char *state) {
  Schedule schedule = parse(state);
  const Model *model = model_build(property_data, &property_targets, &schedule);
  ck_assert_msg(model->ok, "%s: %s", state, diags_text(property_data, &model->diags));
  return model->resources;
}

// 84 KiB, 160 blocks, 17 %; 160 threads; 20 KiB and 67 % with a ring of four, 10 with one of two.
// Each mbarrier takes 8 bytes.
START_TEST(the_articles_figures) {
  Resources r = resources_of(ARTICLE "STAGE=11,TMA=1,M=2048,N=2048,K=2048,TARGET=rtx5090");
  ck_assert_int_eq(r.smem_bytes, 84 * 1024 + 2 * 8);
  ck_assert_int_eq(r.n_blocks, 160);
  ck_assert_double_eq_tol(r.occupancy, 1.0 / 6, 1e-9);
  r = resources_of(FP16 "WM=1,WN=4,FM=4,FN=2,BUFFER_COUNT=2,WARP_SPECIALIZE=1,SPLITK=1");
  ck_assert_int_eq(r.n_threads, 160);
  ck_assert_int_eq(r.smem_bytes, 16 * 1024 + 4 * 8);
  ck_assert_int_eq(r.producer_registers, 0);
  const char *cell = "BM=8,BN=32,FM=1,FN=1,BK=32,TMA=1,STAGE=11,TARGET=rtx5090,M=2048,N=2048,";
  ck_assert_int_eq(resources_of(cell).smem_bytes, 10 * 1024 + 2 * 8);
  r = resources_of(arena_printf(property_data, "%sBUFFER_COUNT=4", cell));
  ck_assert_int_eq(r.smem_bytes, 20 * 1024 + 4 * 8);
  ck_assert_double_eq_tol(r.occupancy, 2.0 / 3, 1e-9);
  ck_assert_str_eq(r.limiter, "shared memory");
}
END_TEST

static const Stmt *find_role(const Stmt *list, RoleWork work) {
  for (; list; list = list->next) {
    const Stmt *inner = stmt_is_role(list, work) ? list : find_role(list->body, work);
    if (inner) return inner;
  }
  return NULL;
}

// Why setmaxnreg is left out stands at the producer; where it is there, nothing is said.
START_TEST(one_producer_warp_says_why_it_moves_no_registers) {
  const char *roles = FP16 "WM=4,WN=2,FM=2,FN=2,BUFFER_COUNT=2,WARP_SPECIALIZE=1,M=128,N=32,K=96";
  for (int warps = 0; warps <= 4; warps++) {
    Schedule schedule = parse(arena_printf(property_data, "%s,PRODUCER_WARPS=%d", roles, warps));
    const Model *model = model_build(property_data, &property_targets, &schedule);
    ck_assert(model->ok);
    const Stmt *role = find_role(program_main(model->program)->body, WORK_FETCHES);
    bool whole = warps == 0 || warps == 4;
    ck_assert_int_eq(model->resources.n_threads, 256 + 32 * (warps ? warps : 4));
    ck_assert_int_eq(model->resources.producer_registers, whole ? 40 : 0);
    ck_assert_int_eq(strstr(role->note, "setmaxnreg") != NULL, !whole);
    ck_assert(property_computes(&schedule, "all", model->program, 1));
  }
}
END_TEST

// ---- the rule -----------------------------------------------------------------------------------

static const struct {
  const char *state, *follows;  // the knobs that are on though they were left out
} rules[] = {
    {"", ""},
    {"BM=16,BN=16,FM=8,FN=8,BK=16", ""},
    {"STAGE=00", "VECTORIZE=1,INTERLEAVE_LOADS=1,GROUP_M=8"},
    {"STAGE=auto", ""},
    {"STAGE=00,GROUP_N=8", "VECTORIZE=1,INTERLEAVE_LOADS=1"},
    {"STAGE=00,GROUP_M=auto,GROUP_N=1", "VECTORIZE=1,INTERLEAVE_LOADS=1,GROUP_M=8"},
    {"STAGE=10,GROUP_M=1",
     "VECTORIZE=1,BUFFER_COUNT=2,PIPELINE_STAGES=1,ASYNC_COPY=1,INTERLEAVE_LOADS=1,UNROLL_K=16"},
    {"STAGE=11,BUFFER_COUNT=1",
     "VECTORIZE=1,ASYNC_COPY=1,INTERLEAVE_LOADS=1,GROUP_M=8,UNROLL_K=16"},
    // Copies through registers are not pipelined unasked.
    {"STAGE=11,TARGET=sm_75",
     "VECTORIZE=1,BUFFER_COUNT=2,INTERLEAVE_LOADS=1,GROUP_M=8,UNROLL_K=16"},
    // The article's toy, whose listing has A padded and B not.
    {"STAGE=11,TARGET=sm_70,FM=2,FN=2",
     "VECTORIZE=1,BUFFER_COUNT=2,INTERLEAVE_LOADS=1,GROUP_M=8,UNROLL_K=16,PAD_CELLS=1,PAD_OPERANDS="
     "10"},
    {"STAGE=01,FM=2,FN=2",
     "VECTORIZE=1,BUFFER_COUNT=2,PIPELINE_STAGES=1,ASYNC_COPY=1,INTERLEAVE_LOADS=1,GROUP_M=8,"
     "UNROLL_"
     "K=16"},
    {"STAGE=11,TARGET=sm_70,FM=2,FN=2,PAD_CELLS=2",
     "VECTORIZE=1,BUFFER_COUNT=2,INTERLEAVE_LOADS=1,GROUP_M=8,UNROLL_K=16"},
    {"STAGE=11,TARGET=sm_70,FM=16,FN=16,BK=32,TRANSPOSE_A=1",
     "VECTORIZE=1,BUFFER_COUNT=2,INTERLEAVE_LOADS=1,GROUP_M=8"},
    {"TMA=1,VECTORIZE=0", "STAGE=11"},
    {"AUTO=1,TMA=1,VECTORIZE=0,INTERLEAVE_LOADS=0",
     "STAGE=11,BUFFER_COUNT=2,PIPELINE_STAGES=1,GROUP_M=8,UNROLL_K=16"},
    {"WARP_SPECIALIZE=1",
     "STAGE=11,VECTORIZE=1,BUFFER_COUNT=2,TMA=1,INTERLEAVE_LOADS=1,GROUP_M=8,PRODUCER_WARPS=1,"
     "UNROLL_"
     "K=16"},
    {"ATOM_KIND=mma_m16n8k16_f16", "GROUP_M=8"},
    {"ATOM_KIND=mma_m16n8k16_f16,STAGE=11,BK=4,FN=8",
     "SWIZZLE=3,LDMATRIX=1,BUFFER_COUNT=2,PIPELINE_STAGES=1,ASYNC_COPY=1,GROUP_M=8"},
    {"ATOM_KIND=mma_m16n8k16_f16,STAGE=11,BK=4,FN=8,PAD_SMEM=8",
     "LDMATRIX=1,BUFFER_COUNT=2,PIPELINE_STAGES=1,ASYNC_COPY=1,GROUP_M=8"},
    {"ATOM_KIND=mma_m8n8k4_f64,STAGE=11,BK=4",
     "BUFFER_COUNT=2,PIPELINE_STAGES=1,ASYNC_COPY=1,GROUP_M=8"},
    {"ATOM_KIND=tcgen05_m128n256k16_f16,TARGET=b200,BK=4,B_COL=1,WARP_SPECIALIZE=1",
     "STAGE=11,SWIZZLE=3,BUFFER_COUNT=2,TMA=1,GROUP_M=8,PRODUCER_WARPS=1"},
    {"AUTO=0,STAGE=11", ""},
    {"AUTO=0,TMA=1", "STAGE=11"},
    {"AUTO=0,STAGE=11,BUFFER_COUNT=auto,PIPELINE_STAGES=auto,ASYNC_COPY=auto",
     "BUFFER_COUNT=2,PIPELINE_STAGES=1,ASYNC_COPY=1"},
};

static bool is_typed(const Schedule *schedule, KnobId knob) {
  for (int i = 0; i < schedule->n_given; i++)
    if (schedule->given[i] == knob) return !schedule->automatic[knob];
  return false;
}

START_TEST(the_rule) {
  Schedule schedule = parse(rules[_i].state);
  Str follows = str_new(property_data);
  for (int i = 0; i < KNOB_COUNT; i++) {
    bool off = schedule.value[i] == knob_table[i].value || i == KNOB_DTYPE || i == KNOB_AUTO;
    if (off || is_typed(&schedule, (KnobId)i)) continue;
    str_printf(&follows, "%s%s=%s", follows.length ? "," : "", knob_table[i].name,
               knob_value_text(property_data, &schedule, (KnobId)i));
    if (i != KNOB_STAGE) ck_assert(knob_is_auto(&schedule, (KnobId)i));
    ck_assert_ptr_nonnull(knob_auto_text((KnobId)i));
  }
  // In the order of the table, whatever that is.
  Schedule expected = schedule_plain(), found = schedule_plain();
  ck_assert(schedule_parse(&expected, rules[_i].follows, &diags));
  ck_assert(schedule_parse(&found, follows.text, &diags));
  ck_assert_msg(schedule_same(&expected, &found), "%s: %s", rules[_i].state, follows.text);
}
END_TEST

START_TEST(auto_is_typed_and_echoed) {
  Schedule schedule = parse("STAGE=11,BUFFER_COUNT=3");
  ck_assert(schedule_parse(&schedule, "buffers=AUTO,FM=auto,TARGET=auto,LAYOUT_A=auto", &diags));
  ck_assert_str_eq(schedule_text(property_data, &schedule),
                   "STAGE=11,BUFFER_COUNT=auto,FM=auto,TARGET=auto,LAYOUT_A=auto");
  ck_assert_int_eq(schedule.value[KNOB_BUFFER_COUNT], 2);
  ck_assert_str_eq(schedule.target, "h200");
  ck_assert(knob_is_auto(&schedule, KNOB_BUFFER_COUNT) && !knob_is_auto(&schedule, KNOB_FM));
  schedule_set(&schedule, KNOB_STAGE, 0);
  ck_assert_int_eq(schedule.value[KNOB_BUFFER_COUNT], 1);
  schedule_set(&schedule, KNOB_BUFFER_COUNT, 2);
  ck_assert(!knob_is_auto(&schedule, KNOB_BUFFER_COUNT));
  schedule = parse("ATOM_KIND=mma_m16n8k8_tf32,DTYPE=auto");
  ck_assert_str_eq(knob_value_text(property_data, &schedule, KNOB_DTYPE), "tf32");
}
END_TEST

// Off and on again; that nothing but AUTO differs still counts as another thing to say.
START_TEST(the_switch_goes_both_ways) {
  Schedule on = parse(ARTICLE "STAGE=11,TMA=1"), off = on;
  schedule_set(&off, KNOB_AUTO, 0);
  ck_assert_int_eq(off.value[KNOB_BUFFER_COUNT], 1);
  ck_assert_int_eq(off.value[KNOB_GROUP_M], 1);
  ck_assert(schedule_parse(&off, "AUTO=1", &diags));
  ck_assert(schedule_same(&on, &off));
  Schedule plain = parse("BM=8"), pinned = parse("AUTO=0,BM=8");
  ck_assert(schedule_same(&plain, &pinned) && !schedule_says_same(&plain, &pinned));
  ck_assert_int_eq(schedule_distance(&plain, &pinned), 0);
}
END_TEST

// Which GPUs are older than cp.async the schedule knows by name; gpus.json is the authority.
START_TEST(cp_async_is_on_where_the_gpu_has_it) {
  for (int i = 0; i < property_targets.count; i++) {
    const Target *target = &property_targets.targets[i];
    const char *names[] = {target->id, target->arch};
    for (int n = 0; n < 2; n++) {
      Schedule schedule = parse(arena_printf(property_data, "STAGE=11,TARGET=%s", names[n]));
      ck_assert_msg((schedule.value[KNOB_ASYNC_COPY] != 0) == target->has_cp_async, "%s", names[n]);
      ck_assert(model_build(property_data, &property_targets, &schedule)->ok);
    }
  }
}
END_TEST

// What is left out of a legal schedule never makes it illegal, but for the ring's shared memory,
// for an unrolled ring of a persistent kernel, which must divide a tile's slabs, and for the panels
// that a cluster shares, which follow from SWIZZLE; and computes the same.
START_TEST(gaps_of_legal_schedules_are_legal) {
  enum { SCHEDULES = 60 };
  const RandomLimits limits = {.extent_max = 48, .fma_max = 60000};
  uint64_t state = property_seed();
  int n_on = 0;
  for (int i = 0; i < SCHEDULES; i++) {
    arena_reset(property_arena);
    Schedule drawn =
        schedule_random(property_arena, &property_targets, "h200", &limits, &state, NULL);
    Schedule schedule = drawn;
    static const KnobId freed[] = {KNOB_BUFFER_COUNT,     KNOB_ASYNC_COPY, KNOB_PIPELINE_STAGES,
                                   KNOB_INTERLEAVE_LOADS, KNOB_GROUP_M,    KNOB_PRODUCER_WARPS,
                                   KNOB_LDMATRIX,         KNOB_SWIZZLE,    KNOB_VECTORIZE};
    for (size_t k = 0; k < sizeof freed / sizeof *freed; k++)
      ck_assert(schedule_parse(
          &schedule, arena_printf(property_arena, "%s=auto", knob_table[freed[k]].name), &diags));
    const Model *model = model_build(property_arena, &property_targets, &schedule);
    const char *rule = model->ok ? "" : model->diags.first->rule;
    bool expected = model->ok || str_equal(rule, "smem_fits") ||
                    str_equal(rule, "ring_persistent") || str_starts(rule, "typed_layout") ||
                    str_starts(rule, "multicast_divides");
    ck_assert_msg(expected, "%s: %s", schedule_text(property_arena, &schedule),
                  diags_text(property_arena, &model->diags));
    if (!model->ok) continue;
    n_on += schedule.value[KNOB_BUFFER_COUNT] > 1;
    ck_assert(property_computes(&schedule, "all", model->program, 1));
  }
  ck_assert_int_gt(n_on, SCHEDULES / 5);
}
END_TEST

// ---- pins ---------------------------------------------------------------------------------------

// The knob string as it has always been read: what it does not name has the default of the table.
static Schedule read_by_hand(const char *knobs, const Schedule *read) {
  Schedule schedule = schedule_plain();
  ck_assert(schedule_parse(&schedule, knobs, &diags));
  for (int i = 0; i < KNOB_COUNT; i++) {
    bool implied = i == KNOB_DTYPE || i == KNOB_STAGE || i == KNOB_AUTO;
    if (!is_typed(read, (KnobId)i) && !implied)
      ck_assert_msg(read->value[i] == knob_table[i].value, "%s: %s is on", knobs,
                    knob_table[i].name);
  }
  return schedule;
}

static void check_pins(const Schedule *schedule) {
  ck_assert_int_eq(schedule->value[KNOB_AUTO], 0);
  const char *text = schedule_text(property_data, schedule);
  Schedule pasted = parse(text), record = parse(schedule_record_text(property_data, schedule));
  ck_assert_msg(schedule_says_same(&pasted, schedule), "%s", text);
  ck_assert_msg(schedule_same(&record, schedule), "%s", text);
}

// Whose state reads the same as a record: a kernel's text may say either.
START_TEST(a_rungs_record_is_its_state) {
  const Rung *roles = rung_of("fp16", "roles");
  ck_assert_str_eq(schedule_record_text(property_data, &roles->schedule), roles->state);
}
END_TEST

START_TEST(rungs_are_pinned) {
  EmbeddedList list = embed_list(property_data, "ladders/");
  for (int i = 0; i < list.count; i++) {
    const Ladder *ladder = property_read_ladder(list.paths[i]);
    for (int r = 0; r < ladder->n_rungs; r++) {
      Schedule by_hand = read_by_hand(ladder->rung[r].knobs, &ladder->rung[r].schedule);
      ck_assert(schedule_same(&by_hand, &ladder->rung[r].schedule));
      check_pins(&ladder->rung[r].schedule);
    }
  }
}
END_TEST

START_TEST(records_are_pinned) {
  EmbeddedList list = embed_list(property_data, "results/");
  int n = 0;
  for (int i = 0; i < list.count; i++) {
    const EmbeddedFile *file = embed_find(property_data, list.paths[i]);
    const Recorded *recorded =
        recorded_read_json(property_data, file->text, file->size, file->path, &diags);
    for (int r = 0; r < recorded->n_rows; r++, n++) {
      Schedule schedule = schedule_plain();
      ck_assert(schedule_parse(&schedule, recorded->rows[r].state, &diags));
      read_by_hand(recorded->rows[r].state, &schedule);
      check_pins(&schedule);
    }
  }
  ck_assert_int_gt(n, 100);
}
END_TEST

// Rungs change; what was timed before keeps its state and loses the name of a rung that it no
// longer is the kernel of.
START_TEST(a_record_of_a_rung_is_of_the_rungs_kernel) {
  EmbeddedList list = embed_list(property_data, "results/");
  int n = 0;
  for (int i = 0; i < list.count; i++) {
    const EmbeddedFile *file = embed_find(property_data, list.paths[i]);
    const Recorded *recorded =
        recorded_read_json(property_data, file->text, file->size, file->path, &diags);
    const Ladder *ladder =
        property_read_ladder(arena_printf(property_data, "ladders/%s.json", recorded->ladder));
    for (int r = 0; r < recorded->n_rows; r++) {
      const RecordedRow *row = &recorded->rows[r];
      if (!row->rung) continue;
      int rung = ladder_find_rung(ladder, row->rung, &diags);
      ck_assert_msg(rung >= 0, "%s: %s", list.paths[i], row->rung);
      Schedule now = ladder->rung[rung].schedule, then = schedule_plain();
      ck_assert(schedule_parse(&then, row->state, &diags));
      const KnobId problem[] = {KNOB_M, KNOB_N, KNOB_K, KNOB_HEADS};
      for (size_t k = 0; k < sizeof problem / sizeof *problem; k++)
        schedule_set(&now, problem[k], then.value[problem[k]]);
      memcpy(now.target, then.target, sizeof now.target);  // on the GPU that its state names
      ck_assert_msg(schedule_same(&now, &then), "%s: %s was timed as %s", list.paths[i], row->rung,
                    row->state);
      n++;
    }
  }
  ck_assert_int_gt(n, 100);
}
END_TEST

// A record says all that is on: whoever reads it, with or without the rule, reads the same kernel.
START_TEST(what_is_recorded_needs_no_rule) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    Schedule schedule = parse(rules[i].state);
    const char *record = schedule_record_text(property_data, &schedule);
    ck_assert(str_starts(record, "AUTO=0") && !strstr(record, "auto"));
    Schedule typed = parse(record), read = schedule_plain();
    ck_assert(schedule_parse(&read, record, &diags));
    ck_assert_msg(schedule_same(&typed, &schedule) && schedule_same(&read, &schedule), "%s: %s",
                  rules[i].state, record);
  }
}
END_TEST

// A far state has no rung's story.
START_TEST(stories_hold_near_their_rungs) {
  const Rung *rung = rung_of("fp32", "padded");
  static const struct {
    const char *edits;
    bool near;
  } edits[] = {{"M=512,N=512,TARGET=a100", true},
               {"BK=8,FM=4,GROUP_M=8", true},
               {"BK=8,FM=4,GROUP_M=8,PAD_SMEM=2", false},
               {"STAGE=10", false},
               {"TMA=1", false},
               {"ATOM_KIND=mma_m16n8k16_f16", false}};
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    Schedule schedule = rung->schedule;
    ck_assert(schedule_parse(&schedule, edits[i].edits, &diags));
    ck_assert_msg(rung_tells_of(rung, &schedule) == edits[i].near, "%s", edits[i].edits);
  }
}
END_TEST

Suite *suite_auto(void);
Suite *suite_auto(void) {
  Suite *suite = suite_create("auto");
  TCase *tcase = tcase_create("auto");
  tcase_set_timeout(tcase, 300);
  tcase_add_checked_fixture(tcase, setup, property_teardown);
  tcase_add_loop_test(tcase, the_articles_strings_are_their_rungs, 0,
                      sizeof strings / sizeof *strings);
  tcase_add_test(tcase, the_articles_figures);
  tcase_add_test(tcase, one_producer_warp_says_why_it_moves_no_registers);
  tcase_add_loop_test(tcase, the_rule, 0, sizeof rules / sizeof *rules);
  tcase_add_test(tcase, auto_is_typed_and_echoed);
  tcase_add_test(tcase, the_switch_goes_both_ways);
  tcase_add_test(tcase, cp_async_is_on_where_the_gpu_has_it);
  tcase_add_test(tcase, gaps_of_legal_schedules_are_legal);
  tcase_add_test(tcase, a_rungs_record_is_its_state);
  tcase_add_test(tcase, rungs_are_pinned);
  tcase_add_test(tcase, records_are_pinned);
  tcase_add_test(tcase, a_record_of_a_rung_is_of_the_rungs_kernel);
  tcase_add_test(tcase, what_is_recorded_needs_no_rule);
  tcase_add_test(tcase, stories_hold_near_their_rungs);
  suite_add_tcase(suite, tcase);
  return suite;
}
