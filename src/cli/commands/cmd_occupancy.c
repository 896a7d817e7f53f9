// gemmview occupancy: the blocks of a kernel that an SM holds, which step limits them, and the next
// value of each need with which more fit.
//
//   gemmview occupancy --regs 92 --threads 224 --smem 16384 --target a100
//
// The limits are those of `gemmview targets`. The exit status is 1 where no such block can be
// launched.
#include <stdio.h>

#include "base/whole.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "model/readings/cost/occupancy.h"

CommandRun cmd_occupancy;

enum { REGISTERS_MAX = 1024, THREADS_MAX = 1 << 16, SMEM_MAX = 1 << 24 };

typedef struct OccupancyOptions {
  int registers, threads, smem;
  const char *target;
  bool json;
} OccupancyOptions;

static const Option OPTIONS[] = {
    {.name = "regs",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(OccupancyOptions, registers),
     .hi = REGISTERS_MAX},
    {.name = "threads",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(OccupancyOptions, threads),
     .lo = 1,
     .hi = THREADS_MAX},
    {.name = "smem",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(OccupancyOptions, smem),
     .hi = SMEM_MAX},
    {.name = "target", .kind = OPTION_KIND_TEXT, .offset = offsetof(OccupancyOptions, target)},
    OPTION_JSON(OccupancyOptions),
};

// A step, and the value of its need with which more blocks fit.
typedef struct ShownStep {
  OccupancyStep step;
  int64_t blocks, next;  // next -1: none
  bool limits;
  Occupancy then;
} ShownStep;

typedef struct ShownOccupancy {
  const Target *target;
  BlockNeeds needs;
  Occupancy occupancy;
  int n_limiters;
  const char *limiter[OCCUPANCY_STEPS];
  ShownStep step[OCCUPANCY_STEPS];
} ShownOccupancy;

#define FORM_FILE "cli/commands/forms/cmd_occupancy.form"
#include "base/form_make.h"

static ShownOccupancy show(const Target *target, const BlockNeeds *needs) {
  ShownOccupancy out = {.target = target, .needs = *needs};
  out.occupancy = occupancy_of(target, needs);
  for (int i = 0; i < OCCUPANCY_STEPS; i++) {
    ShownStep *step = &out.step[i];
    *step = (ShownStep){.step = (OccupancyStep)i, .blocks = out.occupancy.step[i]};
    step->limits = occupancy_limits(&out.occupancy, step->step);
    step->next = occupancy_next(target, needs, step->step, &step->then);
    if (step->limits) out.limiter[out.n_limiters++] = occupancy_step_name(step->step);
  }
  return out;
}

static void print_step(const ShownStep *step) {
  static const char *const units[OCCUPANCY_STEPS] = {"registers", "bytes", "threads", ""};
  printf("  %-14s %4lld block%s%s", occupancy_step_name(step->step), (long long)step->blocks,
         step->blocks == 1 ? " " : "s", step->limits ? "  limits" : "");
  if (step->next >= 0)
    printf("%*swith %lld %s: %lld block%s", step->limits ? 2 : 10, "", (long long)step->next,
           units[step->step], (long long)step->then.blocks, plural_s(step->then.blocks));
  putchar('\n');
}

static void print_text(const ShownOccupancy *shown) {
  const Occupancy *occupancy = &shown->occupancy;
  printf("%s: %lld block%s on an SM, %lld of %d warps, %.1f %%\n", shown->target->name,
         (long long)occupancy->blocks, occupancy->blocks == 1 ? "" : "s",
         (long long)occupancy->warps, shown->target->max_warps_per_sm, 100 * occupancy->share);
  if (occupancy->illegal) printf("cannot be launched: %s\n", occupancy->illegal);
  for (int i = 0; i < OCCUPANCY_STEPS; i++) print_step(&shown->step[i]);
}

static const Target *read_target(Arena *arena, const OccupancyOptions *given, Diags *diags) {
  TargetTable table;
  if (!cli_targets(arena, &table, diags)) return NULL;
  if (!given->target)
    diag_add(diags, "usage", "--target is needed: gemmview targets lists them")->nearest =
        "--target h200";
  return given->target ? target_find(&table, given->target, diags) : NULL;
}

int cmd_occupancy(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  OccupancyOptions given = {.registers = -1};
  int n = (int)(sizeof OPTIONS / sizeof OPTIONS[0]);
  if (!options_parse(OPTIONS, n, &given, &argc, argv, &diags)) return cli_fail(&diags);
  if (argc > 1) diag_add(&diags, "usage", "occupancy takes only options");
  if (given.registers < 0 || given.threads < 1)
    diag_add(&diags, "usage", "--regs and --threads are needed")->nearest =
        "--regs 92 --threads 224";
  const Target *target = read_target(arena, &given, &diags);
  if (diags.count) return cli_fail(&diags);
  const BlockNeeds needs = {given.registers, given.threads, given.smem};
  const ShownOccupancy shown = show(target, &needs);
  if (given.json)
    cli_print_document(arena, &occupancy_form, &shown, NULL);
  else
    print_text(&shown);
  return shown.occupancy.illegal ? CLI_NO : CLI_OK;
}
