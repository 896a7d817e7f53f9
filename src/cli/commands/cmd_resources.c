// gemmview resources: what a block takes of an SM, estimated by the model and, where there is a
// compiler, as ptxas reports it. No GPU is needed.
//
//   $ gemmview resources -k FM=8,FN=8,STAGE=11
//   matmul                       model   compiled
//   registers per thread           108         96
//   spilled                          -        0 B
//   …
//   shared memory per block    16384 B    16384 B
//
// With --knob a table of what the compiler gives to each point of a product of knobs, beside what
// an article has of it (cli/common/tables/compile_table.h). With --places what the compiler gives
// to each place of a copy (cli/common/tables/place_table.h).
#include <stdio.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_clock.h"
#include "cli/common/cli_compile.h"
#include "cli/common/documents.h"
#include "cli/common/tables/cli_cost.h"
#include "cli/common/tables/cli_steps.h"
#include "cli/common/tables/compile_table.h"
#include "cli/common/tables/place_table.h"
#include "model/ir/program.h"
#include "model/readings/cost/cost_form.h"
#include "model/readings/cost/site_json.h"
#include "model/schedules/sum_error.h"

static const KernelResources *compiled_kernel(const Compiled *c, int kernel) {
  const CompileResult *cubin = c->answer->cubin;
  return cubin && cubin->ok && kernel < cubin->n_kernels ? &cubin->kernels[kernel] : NULL;
}

// "16384 B"; a number below 0 is not known.
static const char *amount(Arena *arena, int64_t number, const char *unit) {
  if (number < 0) return "-";
  return arena_printf(arena, "%lld%s%s", (long long)number, *unit ? " " : "", unit);
}

static void row(Arena *arena, const char *what, int64_t model, int64_t compiled, const char *unit) {
  printf("%-24s %10s %10s\n", what, amount(arena, model, unit), amount(arena, compiled, unit));
}

static int64_t dynamic_or(const EmitKernel *facts, const KernelResources *k) {
  return k ? k->smem_bytes + facts->dynamic_smem_bytes : -1;
}

// "  by instructions   1 STL 1 LDL in front of the loop, 0 and 3 in it, 0 and 0 behind".
static void print_spills(Arena *arena, const KernelResources *k) {
  if (k && spills_are_any(&k->spills)) printf("  STL, LDL %s\n", spills_text(arena, &k->spills));
}

static void print_kernel(const Compiled *c, int i) {
  const EmitKernel *facts = &c->emission->kernel[i];
  const KernelResources *k = compiled_kernel(c, i);
  const Resources *r = &c->model->resources;
  bool is_main = i == c->model->program->main_kernel;
  printf("%s%-24s %10s %10s\n", i ? "\n" : "", facts->name, "model", "compiled");
  row(c->arena, "registers per thread", is_main ? r->n_registers : -1, k ? k->registers : -1, "");
  if (is_main && r->consumer_registers) {
    row(c->arena, "  left to a consumer", r->consumer_registers, -1, "");
    row(c->arena, "  left to a producer", r->producer_registers, -1, "");
  }
  row(c->arena, "spilled", -1, k ? k->spill_store_bytes : -1, "B");
  print_spills(c->arena, k);
  row(c->arena, "stack", -1, k ? k->stack_bytes : -1, "B");
  row(c->arena, "shared memory per block", facts->smem_bytes, dynamic_or(facts, k), "B");
  row(c->arena, "threads per block", facts->n_threads, facts->n_threads, "");
  row(c->arena, facts->persistent ? "tiles" : "blocks", facts->n_blocks, facts->n_blocks, "");
  if (facts->cluster > 1) {
    row(c->arena, "blocks per cluster", facts->cluster, facts->cluster, "");
    printf(
        "the number of active clusters is not known: it depends on the GPCs, and only the driver "
        "of the GPU tells it\n");
  }
  if (k && k->note) printf("%s\n", k->note);
}

static void print_fit(const Model *model, const char *by) {
  const Resources *r = &model->resources;
  char limiters[LIMITERS_BYTES];
  printf("%-9s %d block%s per SM, limited by %s; %.1f %% of the warps of %s; %.2f waves\n", by,
         r->blocks_per_sm, plural_s(r->blocks_per_sm), resources_limiters(limiters, r),
         100 * r->occupancy, model->target->name, r->waves);
}

// For a split product; the error of its sums is its reason.
static void print_sum_errors(Arena *arena, const Schedule *schedule) {
  static const char *const data[] = {"normal", "positive"};
  const SumErrors both = sum_errors(arena, schedule);
  for (int i = 0; i < 2; i++)
    printf(
        "simulated error, %s data: %.2g of |A| |B| (root of the mean square of %d sums), fp32 "
        "multiply-adds %.2g\n",
        data[i], both.sums[i].rms, both.sums[i].cells, both.fma[i].rms);
}

// Numbers that follow from registers go by the compiler's count if it is known, as in the explorer.
static void print_text(const Compiled *c) {
  const KernelResources *k = compiled_kernel(c, c->model->program->main_kernel);
  const Model *model = cli_compiled_model(c);
  for (int i = 0; i < c->emission->n_kernels; i++) print_kernel(c, i);
  putchar('\n');
  print_fit(c->model, "model:");
  if (k) print_fit(model, "compiled:");
  const Estimate estimate = cli_clock_estimate(c->fits, c->model, c->answer);
  printf("expected speed: %s\n", cli_estimate_text(c->arena, &estimate));
  cli_print_traffic(c->arena, model);
  if (model->program->problem.split) print_sum_errors(c->arena, &model->schedule);
  putchar('\n');
  cli_print_sites(c->arena, model);
  cli_print_globals(c->arena, c->model);
  cli_print_steps(c->arena, c->model);
}

// A kernel beside what the compiler says of it.
typedef struct ResourcesKernel {
  const EmitKernel *facts;
  const KernelResources *k;  // NULL: nothing
} ResourcesKernel;

typedef struct ResourcesShown {
  const Compiled *c;
  const Model *model;  // with what the compiler says
  Estimate estimate;
  CliSteps steps;
  bool is_split;
  SumErrors sums;  // of a split product
  int n_kernels;
  ResourcesKernel *kernel;
} ResourcesShown;

#define FORM_FILE "cli/commands/forms/cmd_resources.form"
#include "base/form_make.h"

static void print_json(const Compiled *c) {
  const int n = c->emission->n_kernels;
  ResourcesShown shown = {.c = c, .model = cli_compiled_model(c), .n_kernels = n};
  shown.estimate = cli_clock_estimate(c->fits, c->model, c->answer);
  shown.steps = cli_steps(c->arena, c->model);
  shown.is_split = c->model->program->problem.split != SPLIT_NONE;
  if (shown.is_split) shown.sums = sum_errors(c->arena, &c->model->schedule);
  shown.kernel = ARENA_ARRAY(c->arena, ResourcesKernel, n);
  for (int i = 0; i < n; i++)
    shown.kernel[i] = (ResourcesKernel){&c->emission->kernel[i], compiled_kernel(c, i)};
  cli_print_document(c->arena, &resources_form, &shown, NULL);
}

static void show(const Compiled *c) {
  if (c->given->json)
    print_json(c);
  else
    print_text(c);
}

CommandRun cmd_resources;
int cmd_resources(Arena *arena, int argc, char **argv) {
  static const CompileCommand command = {.name = "resources",
                                         .want = "cubin,sass",
                                         .want_clock = "cubin,clock,sass",
                                         .shows_failure = true,
                                         .show = show};
  if (compile_table_is_asked(argc, argv)) return compile_table_run(arena, argc, argv);
  if (place_table_is_asked(argc, argv)) return place_table_run(arena, argc, argv);
  return cli_compile_run(&command, arena, argc, argv);
}
