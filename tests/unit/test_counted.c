// What an H200's counters said, kept in tests/data (its README.md has the method): whole kernels of
// random schedules, loads whose phases merge, copies from both ends. The model has to say the same.
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/json.h"
#include "cli_harness.h"
#include "compile_once.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/machine/counted.h"
#include "kernels/toolchain/machine/machine_code.h"
#include "kernels/toolchain/nvrtc.h"
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/readings/cost/merge.h"
#include "property.h"
#include "stress.h"

Suite *suite_counted(void);

enum {
  LINES_MAX = 2000,
  RUNGS_MAX = 256,
  COPIES = 1134,
  PAIRS = 472,
  SCHEDULES = 215,
  COPYING_SCHEDULES = 40,
  FIRST_SCHEDULES = 85,
  MORE_SCHEDULES = 38
};

typedef struct Lines {
  int n;
  const JsonValue *line[LINES_MAX];
} Lines;

static Lines read_lines(const char *path) {
  static char text[8192];
  Lines lines = {0};
  Diags diags = diags_new(property_data);
  FILE *file = fopen(path, "r");
  ck_assert_msg(file, "%s", path);
  while (fgets(text, sizeof text, file)) {
    ck_assert_int_lt(lines.n, LINES_MAX);
    const JsonValue *line = json_parse(property_data, text, strlen(text), &diags, path);
    ck_assert_msg(line, "%s", diags_text(property_data, &diags));
    lines.line[lines.n++] = line;
  }
  fclose(file);
  return lines;
}

static const char *word_of(const JsonValue *line, const char *key) {
  Diags diags = diags_new(property_data);
  const char *word = NULL;
  ck_assert_msg(json_require_string(line, key, &word, &diags), "%s",
                diags_text(property_data, &diags));
  return word;
}

static double number_of(const JsonValue *line, const char *key) {
  Diags diags = diags_new(property_data);
  double number = 0;
  ck_assert_msg(json_require_double(line, key, &number, &diags), "%s",
                diags_text(property_data, &diags));
  return number;
}

static void lanes_of(const JsonValue *line, const char *key, int64_t addr[BANK_LANES]) {
  Diags diags = diags_new(property_data);
  const JsonValue *array = json_require_array(line, key, &diags);
  ck_assert_int_eq(json_count(array), BANK_LANES);
  for (int lane = 0; lane < BANK_LANES; lane++)
    ck_assert(json_read_int64(json_at(array, lane), -1, 1 << 24, &addr[lane], &diags));
}

// ---- one access ---------------------------------------------------------------------------------

START_TEST(loads_that_merge_cost_what_the_pipe_and_the_profiler_counted) {
  Lines lines = read_lines("tests/data/h200_pairs.jsonl");
  int differ = 0;
  for (int i = 0; i < lines.n; i++) {
    int64_t addr[BANK_LANES];
    lanes_of(lines.line[i], "addr", addr);
    BankCount count = banks_count(banks_op_find(word_of(lines.line[i], "op")), addr);
    ck_assert_int_eq(count.wavefronts, (int)number_of(lines.line[i], "wavefronts"));
    ck_assert_int_eq(count.profiled, (int)number_of(lines.line[i], "profiled"));
    differ += count.wavefronts != count.profiled;
  }
  ck_assert_int_eq(lines.n, PAIRS);
  ck_assert_int_gt(differ, 0);
}
END_TEST

// "ca8", "ca16" and "cg16" as they are written in tests/data.
static const BankOp *copy_op(const char *name) {
  const bool wide = str_equal(name, "ca16");
  return banks_op_find(arena_printf(property_data, "cpasync%s%s", name + 2, wide ? "ca" : ""));
}

// How many lines the rule has exact, and the least of them that it has to.
typedef struct CopyTally {
  const char *op;
  int n, n_exact;
  int lines, exact;
} CopyTally;

// Whatever the order in which data arrives, the counters lie within the bounds.
static void tally_copy(const JsonValue *line, CopyTally *tally) {
  int64_t addr[BANK_LANES], source[BANK_LANES];
  const BankOp *op = copy_op(tally->op);
  lanes_of(line, "addr", addr);
  lanes_of(line, "source", source);
  int counted = (int)number_of(line, "wavefronts");
  BankCount count = banks_count_copy(op, addr, source);
  tally->lines++;
  tally->exact += count.profiled == counted;
  ck_assert_msg(count.profiled <= counted && counted <= count.profiled_most,
                "%s: %d counted, %d to %d said", tally->op, counted, count.profiled,
                count.profiled_most);
  ck_assert_msg(count.profiled == counted || count.profiled < count.profiled_most,
                "%s: %d counted, %d said for certain", tally->op, counted, count.profiled);
  if (op->counted) return;
  const BankCount alone = banks_count(op, addr);  // whatever the source
  ck_assert(alone.profiled <= count.profiled && alone.profiled_most == count.profiled_most);
}

START_TEST(copies_cost_what_was_counted) {
  Lines lines = read_lines("tests/data/h200_copies.jsonl");
  CopyTally tally[] = {{"ca4", 304, 291, 0, 0},
                       {"ca8", 304, 290, 0, 0},
                       {"ca16", 304, 290, 0, 0},
                       {"cg16", 222, 220, 0, 0}};
  int exact = 0;
  ck_assert_int_eq(lines.n, COPIES);
  for (int i = 0; i < lines.n; i++)
    for (int t = 0; t < 4; t++)
      if (!strcmp(word_of(lines.line[i], "op"), tally[t].op)) tally_copy(lines.line[i], &tally[t]);
  for (int t = 0; t < 4; t++) {
    ck_assert_int_eq(tally[t].lines, tally[t].n);
    ck_assert_msg(tally[t].exact >= tally[t].n_exact, "%s: %d", tally[t].op, tally[t].exact);
    exact += tally[t].exact;
  }
  ck_assert_int_eq(exact, 873 + 220);
}
END_TEST

// ---- whole kernels ------------------------------------------------------------------------------

static const Model *model_from(const Schedule *schedule) {
  const Model *model = model_build(property_arena, &property_targets, schedule);
  ck_assert_msg(model->ok, "%s: %s", schedule_text(property_arena, schedule),
                diags_text(property_arena, &model->diags));
  return model;
}

static const Model *model_of(const char *state) {
  Diags diags = diags_new(property_arena);
  Schedule schedule = schedule_plain();
  ck_assert_msg(schedule_parse(&schedule, state, &diags), "%s", state);
  return model_from(&schedule);
}

static bool has_compiler(void) {
  bool found;
  nvrtc_describe(property_arena, &found);
  return found && sass_find_tool(property_arena);
}

// The same with what its machine code says; itself where that says nothing.
static const Model *compiled(const Model *model) {
  const Emission *emission = emit_model(property_arena, model, model->program);
  const Plan *plan =
      plan_from_emission(property_arena, emission, model->program, model->target, "counted");
  const CompileResult *result = compile_once(property_arena, plan, COMPILE_CUBIN);
  ck_assert_msg(result->ok, "%s", result->error);
  const SassResult *sass = sass_disassemble(property_arena, result->cubin, result->cubin_bytes, 60);
  ck_assert_msg(sass->ok, "%s", sass->error);
  const MachineAccesses *machine = machine_accesses(property_arena, sass, emission, model);
  return model_compiled(property_arena, model, -1, -1, machine);
}

// LDS, STS and LDSM; the counters have copies in a sum of their own.
static double profiled(const Model *model) {
  double sum = 0;
  for (int i = 0; i < model->n_sites; i++)
    if (model->site[i].op->kind != BANK_CPASYNC) sum += model->site[i].profiled;
  return sum;
}

// `tell`: a difference is printed.
static bool says_what_was_counted(const JsonValue *line, const Model *model, bool tell) {
  double counted = number_of(line, "wavefronts_lds") + number_of(line, "wavefronts_sts") +
                   number_of(line, "wavefronts_ldsm");
  double said = profiled(model) * number_of(line, "blocks") * number_of(line, "slabs");
  bool same = fabs(said - counted) <= 0.005 * counted;
  if (!same && tell) printf("%s: %.0f said, %.0f counted\n", word_of(line, "state"), said, counted);
  return same;
}

// A C that leaves by way of shared memory is moved there once for each block, and counted beside
// the slabs.
static bool has_more_than_slabs(const Model *model) {
  return model->schedule.value[KNOB_EPILOGUE] != 0;
}

// `first`: of the first ones, with those that have more.
static int count_right(const char *path, int *n, int *first) {
  Lines lines = read_lines(path);
  int right = 0;
  for (int i = 0; i < lines.n; i++) {
    arena_reset(property_arena);
    const Model *model = model_of(word_of(lines.line[i], "state"));
    const bool is_right = says_what_was_counted(lines.line[i], model, stress_is_on());
    *first += i < FIRST_SCHEDULES && is_right;
    if (has_more_than_slabs(model)) continue;
    right += is_right;
    (*n)++;
  }
  return right;
}

// The note beside a predicted count says how often such counts were right; of the first schedules,
// too.
START_TEST(predictions_are_right_as_often_as_they_say) {
  int n = 0, first = 0, unused = 0;
  int right = count_right("tests/data/h200_schedules.jsonl", &n, &first);
  right += count_right("tests/data/h200_more_schedules.jsonl", &n, &unused);
  ck_assert_msg(100 * first >= 85 * FIRST_SCHEDULES, "%d of %d", first, FIRST_SCHEDULES);
  ck_assert_int_eq(n, MERGE_COUNTED);
  ck_assert_int_eq(right, MERGE_RIGHT);
}
END_TEST

// Text and JSON say it where there is no disassembler.
START_TEST(a_prediction_is_shown_with_its_share) {
  if (!cli_has_program()) return;
  static const char command[] =
      "resources -k AUTO=0,M=512,N=512,K=512,BM=16,BN=16,FM=8,FN=2,BK=8,STAGE=10,PAD_SMEM=4";
  setenv("GEMMVIEW_NVDISASM", "/nonexistent", 1);
  const CliRun text = cli_run(property_data, command),
               json = cli_run(property_data, arena_printf(property_data, "%s --json", command));
  unsetenv("GEMMVIEW_NVDISASM");
  const char *says =
      arena_printf(property_data, "counts were right in %d of %d random schedules (H200)",
                   (int)MERGE_RIGHT, (int)MERGE_COUNTED);
  ck_assert_msg(strstr(text.out, says), "%s", text.out);
  ck_assert_msg(strstr(json.out, "\"accesses\":\"predicted\",\"prediction_right_share\":0.84"),
                "%s", json.out);
}
END_TEST

// Every kernel's wavefronts by its machine code are the profiler's; those of an epilogue come on
// top.
START_TEST(more_compiled_accesses_cost_what_was_counted) {
  Lines lines = read_lines("tests/data/h200_more_schedules.jsonl");
  const int n = has_compiler() ? stress_count(stress_part(6, 3), lines.n) : 0;
  ck_assert_int_eq(lines.n, MORE_SCHEDULES);
  for (int i = 0; i < n; i++) {
    arena_reset(property_arena);
    const JsonValue *line = lines.line[i * lines.n / n];
    const Model *model = compiled(model_of(word_of(line, "state")));
    const double counted = number_of(line, "wavefronts_lds") + number_of(line, "wavefronts_sts") +
                           number_of(line, "wavefronts_ldsm");
    const double said = profiled(model) * number_of(line, "blocks") * number_of(line, "slabs");
    const bool more = has_more_than_slabs(model);
    ck_assert_msg(
        more ? said <= counted && counted < 1.06 * said : fabs(said - counted) <= 0.005 * counted,
        "%s: %.0f said, %.0f counted", word_of(line, "state"), said, counted);
  }
}
END_TEST

// Two kernels whose loads merge and conflict all the same: what the pipe takes is 0.917 and 0.529
// of what the profiler counted by instruction, and both numbers are said. An H200 counted 11,120
// and 1,088 a slab by instruction, 10,192 and 580 in the pipe (2026-11-27; 192 blocks of 32 slabs,
// 1,024 of 256).
START_TEST(two_counters_of_merged_loads_are_told_apart) {
  static const struct {
    const char *state;
    double pipe, profiled, share;
  } kernels[] = {
      {"AUTO=0,M=3072,N=1024,K=1024,BM=16,BN=32,FM=16,FN=2,BK=32,STAGE=11,VECTORIZE=1,TRANSPOSE_A="
       "1,"
       "PAD_SMEM=1,LANES_M=4,LANE_ORDER=1,FRAG_BUFFER=2,BUFFER_COUNT=2,PIPELINE_STAGES=1",
       10192, 11120, 0.917},
      {"AUTO=0,M=2048,N=2048,K=2048,BM=16,BN=16,FM=8,FN=2,BK=8,STAGE=10,PAD_SMEM=4,CELL_GROUP=4,"
       "LANES_M=4,LANE_ORDER=1,GROUP_M=8",
       576, 1088, 0.529}};
  for (int i = 0; has_compiler() && i < 2; i++) {
    const Model *model = compiled(model_of(kernels[i].state));
    double pipe = 0;
    for (int s = 0; s < model->n_sites; s++) pipe += model->site[s].clocks;
    ck_assert_double_eq_tol(pipe, kernels[i].pipe, 0.5);
    ck_assert_double_eq_tol(profiled(model), kernels[i].profiled, 0.5);
    ck_assert_double_eq_tol(pipe / profiled(model), kernels[i].share, 0.0005);
    if (!cli_has_program()) continue;
    const CliRun run =
        cli_run(property_data, arena_printf(property_data, "resources -k %s", kernels[i].state));
    ck_assert_msg(strstr(run.out, arena_printf(property_data, "the profiler counts %.6g",
                                               kernels[i].profiled)),
                  "%s", run.out);
  }
}
END_TEST

START_TEST(compiled_accesses_cost_what_was_counted) {
  Lines lines = read_lines("tests/data/h200_schedules.jsonl");
  int n = stress_count(stress_part(9, 3), lines.n), wrong = 0;
  ck_assert_int_eq(lines.n, SCHEDULES);
  if (!has_compiler()) return;
  for (int i = 0; i < n; i++) {
    arena_reset(property_arena);
    const JsonValue *line = lines.line[i * lines.n / n];
    wrong += !says_what_was_counted(line, compiled(model_of(word_of(line, "state"))), true);
  }
  ck_assert_msg(100 * wrong <= 2 * n, "%d of %d", wrong, n);
}
END_TEST

// Copies of a block and slab: no fewer than the least, no more than the most, of every schedule
// that has them. A ten-thousandth is the profiler's: blocks are averaged.
static bool copies_as_counted(const JsonValue *line, const Model *model) {
  const double slabs = number_of(line, "blocks") * number_of(line, "slabs");
  const double counted = number_of(line, "wavefronts_ldgsts") / slabs;
  double least = 0, most = 0;
  for (int i = 0; i < model->n_sites; i++) {
    if (model->site[i].op->kind != BANK_CPASYNC) continue;
    least += model->site[i].profiled;
    most += model->site[i].profiled_most;
  }
  ck_assert_msg(least <= counted && counted <= most, "%s: %.2f counted, %.0f to %.0f said",
                word_of(line, "state"), counted, least, most);
  const bool same = fabs(least - counted) <= 0.005 * counted;
  if (!same && stress_is_on())
    printf("%s: %.0f to %.0f said, %.2f counted\n", word_of(line, "state"), least, most, counted);
  return same;
}

START_TEST(copies_of_whole_kernels_lie_within_their_bounds) {
  Lines lines = read_lines("tests/data/h200_schedules.jsonl");
  int n = 0, exact = 0;
  for (int i = FIRST_SCHEDULES; i < lines.n; i++) {
    if (!(number_of(lines.line[i], "wavefronts_ldgsts") > 0)) continue;
    arena_reset(property_arena);
    n++;
    exact += copies_as_counted(lines.line[i], model_of(word_of(lines.line[i], "state")));
  }
  ck_assert_int_eq(n, COPYING_SCHEDULES);
  ck_assert_msg(exact >= 25, "%d of %d", exact, n);
}
END_TEST

// ---- what the program shows ---------------------------------------------------------------------

// A count that depends on the order of arrival is shown with both of its ends, one that does not
// alone.
START_TEST(copies_are_shown_with_their_bounds) {
  static const char *const shown[][2] = {
      {"BK=4,VECTORIZE=0,TRANSPOSE_A=1,PAD_SMEM=2,B_COL=1",
       "\ncp.async: 256 wavefronts per slab by the profiler's counters at least, at most 320 as "
       "its "
       "data arrives\n"},
      {"BK=32,VECTORIZE=0", "\ncp.async: 256 wavefronts per slab by the profiler's counters\n"}};
  static const char past_l1[] = "cpasync16     8 to 32      4";
  if (!cli_has_program()) return;
  for (int i = 0; i < 2; i++) {
    const CliRun run =
        cli_run(property_data,
                arena_printf(property_data,
                             "resources -k AUTO=0,M=512,N=512,K=64,BM=32,BN=16,FM=4,FN=8,STAGE=11,"
                             "BUFFER_COUNT=2,PIPELINE_STAGES=1,ASYNC_COPY=1,%s",
                             shown[i][0]));
    ck_assert_msg(strstr(run.out, shown[i][1]) != NULL, "%s%s", run.out, run.err);
  }
  const CliRun wide = cli_run(property_data, "resources -k fp32/8");
  ck_assert_msg(strstr(wide.out, past_l1) != NULL, "%s%s", wide.out, wide.err);
}
END_TEST

static const CountedKernels *read_counted(const char *text, Diags *diags) {
  return counted_read(property_data, text, strlen(text), "x.jsonl", diags);
}

// The counters that texts quote are those of the kernels that the model predicts.
START_TEST(kernels_that_are_quoted_make_what_was_counted) {
  const EmbeddedFile *file = embed_find(property_data, "facts/h200_kernels.jsonl");
  Diags diags = diags_new(property_data);
  const CountedKernels *counted = read_counted(file->text, &diags);
  ck_assert_msg(counted, "%s", diags_text(property_data, &diags));
  ck_assert_int_ge(counted->n, 2);
  for (int i = 0; i < counted->n; i++) {
    const CountedKernel *kernel = &counted->kernel[i];
    const Model *model = model_from(&kernel->schedule);
    const Stmt *k_o = program_slab_loop(model->program);
    double slabs = (double)k_o->var->extent * (double)model->resources.n_blocks, reads = 0;
    for (int s = 0; s < model->n_sites; s++)
      if (model->site[s].op->kind == BANK_LOAD) reads += model->site[s].profiled * slabs;
    Schedule elsewhere = kernel->schedule;
    double lds = 0;
    strcpy(elsewhere.target, "rtx5090");
    ck_assert_ptr_eq(counted_find(counted, &elsewhere, "wavefronts_lds", &lds), kernel);
    // Where the steps of a slab are written out the compiler leaves a few reads single.
    const double allowed = kernel->schedule.value[KNOB_UNROLL_K] > 1 ? 0.03 : 0.005;
    ck_assert_msg(fabs(reads - lds) <= allowed * lds, "%.0f, not %.0f", reads, lds);
    ck_assert_ptr_null(counted_find(counted, &elsewhere, "registers", &lds));
    elsewhere.value[KNOB_FM]++;
    ck_assert_ptr_null(counted_find(counted, &elsewhere, "wavefronts_lds", &lds));
  }
}
END_TEST

static bool has_number(const CountedKernel *kernel, const char *name) {
  for (int i = 0; i < kernel->n; i++)
    if (str_equal(kernel->number[i].name, name)) return true;
  return false;
}

static double number_named(const CountedKernel *kernel, const char *name) {
  for (int i = 0; i < kernel->n; i++)
    if (str_equal(kernel->number[i].name, name)) return kernel->number[i].value;
  ck_abort_msg("no %s", name);
}

// What claims quote of the compiler is what it says, where it is the one that was asked.
START_TEST(kernels_are_what_the_compiler_says) {
  const EmbeddedFile *file = embed_find(property_data, "facts/nvrtc_kernels.jsonl");
  Diags diags = diags_new(property_data);
  const CountedKernels *counted = read_counted(file->text, &diags);
  ck_assert_msg(counted, "%s", diags_text(property_data, &diags));
  const int n = has_compiler() ? stress_count(1, counted->n) : 0;
  for (int i = 0; i < n; i++) {
    const CountedKernel *kernel = &counted->kernel[i];
    if (has_number(kernel, "lane_loops")) continue;  // suite elect counts those
    if (!has_number(kernel, "registers")) continue;  // suite load_places moves copies
    const Model *model = model_from(&kernel->schedule);
    const Emission *emission = emit_model(property_arena, model, model->program);
    const Plan *plan =
        plan_from_emission(property_arena, emission, model->program, model->target, "counted");
    const CompileResult *result = compile_once(property_arena, plan, COMPILE_CUBIN);
    ck_assert_msg(result->ok, "%s", result->error);
    if (!str_equal(result->compiler, kernel->compiler)) continue;
    const KernelResources *is = &result->kernels[0];
    ck_assert_int_eq(is->registers, (int)number_named(kernel, "registers"));
    ck_assert_int_eq(is->stack_bytes, (int)number_named(kernel, "stack_bytes"));
    ck_assert_int_eq(is->spill_store_bytes, (int)number_named(kernel, "spill_store_bytes"));
    ck_assert_int_eq(is->spill_load_bytes, (int)number_named(kernel, "spill_load_bytes"));
    const SpillCount *in = &is->spills.loop, *before = &is->spills.before,
                     *behind = &is->spills.behind;
    ck_assert_int_eq(in->stores + in->loads, (int)number_named(kernel, "loop_spill_instructions"));
    ck_assert_int_eq(
        in->stores + in->loads + before->stores + before->loads + behind->stores + behind->loads,
        (int)number_named(kernel, "spill_instructions"));
  }
}
END_TEST

START_TEST(a_broken_line_of_counters_is_told) {
  static const char *const lines[][2] = {
      {"{\"state\":\"BM=8\"}\n", "gpu"},
      {"\n{", "x.jsonl"},
      {"{\"state\":\"BM=8\",\"compiler\":\"c\",\"date\":\"d\",\"method\":\"m\"}", "number"},
      {"{\"state\":\"BMM=8\",\"gpu\":\"g\",\"driver\":\"d\",\"date\":\"d\",\"method\":\"m\","
       "\"wavefronts_lds\":1,\"wavefronts_ldgsts\":1,\"time_us\":1}",
       "BMM"}};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    Diags diags = diags_new(property_data);
    ck_assert_ptr_null(read_counted(lines[i][0], &diags));
    ck_assert_ptr_nonnull(strstr(diags_text(property_data, &diags), lines[i][1]));
  }
  Diags diags = diags_new(property_data);
  ck_assert_int_eq(read_counted("", &diags)->n, 0);
}
END_TEST

static void check_prediction(const Rung *rung) {
  const Model *model = model_from(&rung->schedule), *machine = compiled(model);
  for (int i = 0; i < model->n_sites; i++) {
    const Site *said = &model->site[i], *runs = &machine->site[i];
    // Where all steps are written out the compiler has room to read some values a second time: 12
    // words beside the 208 wide reads of the article's final kernel, for sm_90.
    const bool free = rung->schedule.value[KNOB_UNROLL_K] >= rung->schedule.value[KNOB_BK];
    const bool again = free && runs->profiled > said->profiled;
    if (again && runs->profiled < 1.05 * said->profiled) continue;
    ck_assert_msg(fabs(said->profiled - runs->profiled) < 0.5, "%s, %s: %s but %s", rung->name,
                  said->text, site_forms_text(property_arena, said),
                  site_forms_text(property_arena, runs));
    ck_assert_int_eq(said->n_forms, runs->n_forms);
  }
}

START_TEST(what_is_predicted_of_a_rung_is_compiled) {
  const Rung *rungs[RUNGS_MAX];
  int n_rungs = 0;
  if (!has_compiler()) return;
  EmbeddedList files = embed_list(property_data, "ladders/");
  for (int i = 0; i < files.count; i++) {
    const Ladder *ladder = property_read_ladder(files.paths[i]);
    for (int r = 0; r < ladder->n_rungs; r++)
      if (!ladder->rung[r].not_built && n_rungs < RUNGS_MAX) rungs[n_rungs++] = &ladder->rung[r];
  }
  int n = stress_count(stress_part(6, 3), n_rungs);
  for (int i = 0; i < n; i++) {
    arena_reset(property_arena);
    check_prediction(rungs[i * n_rungs / n]);
  }
}
END_TEST

Suite *suite_counted(void) {
  Suite *suite = suite_create("counted");
  TCase *tests = tcase_create("counted");
  tcase_set_timeout(tests, stress_is_on() ? 3600 : 120);
  tcase_add_checked_fixture(tests, property_setup, property_teardown);
  tcase_add_test(tests, loads_that_merge_cost_what_the_pipe_and_the_profiler_counted);
  tcase_add_test(tests, copies_cost_what_was_counted);
  tcase_add_test(tests, predictions_are_right_as_often_as_they_say);
  tcase_add_test(tests, a_prediction_is_shown_with_its_share);
  tcase_add_test(tests, more_compiled_accesses_cost_what_was_counted);
  tcase_add_test(tests, two_counters_of_merged_loads_are_told_apart);
  tcase_add_test(tests, compiled_accesses_cost_what_was_counted);
  tcase_add_test(tests, copies_of_whole_kernels_lie_within_their_bounds);
  tcase_add_test(tests, copies_are_shown_with_their_bounds);
  tcase_add_test(tests, kernels_that_are_quoted_make_what_was_counted);
  tcase_add_test(tests, kernels_are_what_the_compiler_says);
  tcase_add_test(tests, a_broken_line_of_counters_is_told);
  tcase_add_test(tests, what_is_predicted_of_a_rung_is_compiled);
  suite_add_tcase(suite, tests);
  return suite;
}
