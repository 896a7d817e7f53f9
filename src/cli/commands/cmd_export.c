// gemmview export: a standalone .cu with a main() that checks itself and times itself.
//
//   gemmview export -k BM=16,BN=16,FM=8,FN=8 -o matmul.cu
//   nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o matmul matmul.cu && ./matmul
//
// --break NAME puts a fault in. --witness searches all orders for the shortest that does harm, and
// exports the run that it was found in, of few slabs, one cluster that has all tiles, and with the
// warps asleep that search_delays() names: on a GPU it hangs, or its check fails.
#include <errno.h>
#include <stdio.h>

#include "base/nearest.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/options.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/export/export_cu.h"
#include "model/interp/breakage.h"
#include "model/schedules/every_turn.h"

typedef struct ExportOptions {
  const char *state, *output, *breakage;
  bool witness;
} ExportOptions;

static const Option options[] = {
    OPTION_STATE(ExportOptions),
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_KIND_TEXT,
     .offset = offsetof(ExportOptions, output)},
    {.name = "break", .kind = OPTION_KIND_TEXT, .offset = offsetof(ExportOptions, breakage)},
    {.name = "witness", .kind = OPTION_KIND_FLAG, .offset = offsetof(ExportOptions, witness)},
};

enum { DELAYS_MAX = 32 };

static int put_out(Arena *arena, const ExportOptions *given, const char *text) {
  if (given->output && !str_equal(given->output, "-")) return cli_write(arena, given->output, text);
  fputs(text, stdout);
  return CLI_OK;
}

// The warps that come last in the witness, each in front of what it has not done.
static int find_delays(const EveryTurn *every, EmitDelay *out) {
  SearchStep at[DELAYS_MAX];
  const Search *s = every->search;
  const int n = search_delays(s, &every->result, at, DELAYS_MAX);
  int warps = 0;  // of a block; agents come behind the warps of all
  while (warps < s->n_processes && s->process[warps].rank == 0 && !s->process[warps].agent) warps++;
  for (int i = 0; i < n; i++) {
    const int p = at[i].process, tag = search_event(s, p, at[i].at)->tag;
    out[i] = (EmitDelay){
        .stmt = tag, .rank = s->ranks > 1 ? s->process[p].rank : -1, .warp = p % warps, .time = 1};
    for (int k = 0; k < at[i].at; k++) out[i].time += search_event(s, p, k)->tag == tag;
  }
  return n;
}

static int export_witness(Arena *arena, const ExportOptions *given, const Schedule *schedule,
                          BreakageId breakage, Diags *diags) {
  TargetTable targets;
  if (!cli_targets(arena, &targets, diags)) return cli_fail(diags);
  EveryTurn every = every_turn_search(&targets, schedule, breakage, &(SearchOptions){0});
  if (every.fault || every.result.verdict != SEARCH_FOUND) {
    const char *why = every.fault ? every.fault : "no order that does harm was found";
    const int status = cli_error(CLI_NO, "--witness: %s", why);
    every_turn_free(&every);
    return status;
  }
  EmitDelay delay[DELAYS_MAX];
  const Model *run = model_build(arena, &targets, &every.run);
  EmitOptions how = plan_emit_options(arena, run);
  how.delay = delay;
  how.n_delays = find_delays(&every, delay);
  how.clusters = 1;  // as was searched: it has all tiles
  const Emission *emission = emit_cuda(arena, every.program, &how);
  const int n = how.n_delays;
  const char *sleep =
      n ? arena_printf(arena, "%d sleep%s so that this comes about", n, n == 1 ? "s" : "")
        : "no warp has to sleep for it";
  const char *text = arena_printf(arena, "%s\n// %s: %s\n// Warps: %s.\n",
                                  export_cu(arena, emission, every.program, run->target),
                                  search_fault_name(every.result.fault), every.result.root, sleep);
  every_turn_free(&every);
  return put_out(arena, given, text);
}

static BreakageId breakage_of(const ExportOptions *given, Diags *diags) {
  const char *names[BREAK_COUNT];
  for (int id = 0; id < BREAK_COUNT; id++) {
    names[id] = breakage_name((BreakageId)id);
    if (given->breakage && str_equal(names[id], given->breakage)) return (BreakageId)id;
  }
  if (given->breakage)
    diag_add_unknown(diags, "break", "breakage", given->breakage, names, BREAK_COUNT);
  return BREAK_COUNT;
}

int cmd_export(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  ExportOptions given = {0};
  int n_options = sizeof options / sizeof options[0];
  if (!options_parse(options, n_options, &given, &argc, argv, &diags)) return cli_fail(&diags);
  if (argc > 1)
    return cli_error(CLI_USAGE, "\"%s\" is not an option of export; give a state with -k: -k %s",
                     argv[1], argv[1]);
  const Model *model = cli_model(arena, given.state, &diags);
  const BreakageId breakage = breakage_of(&given, &diags);
  if (!model || diags.count) return cli_fail(&diags);
  if (given.witness) return export_witness(arena, &given, &model->schedule, breakage, &diags);
  const Program *program =
      breakage < BREAK_COUNT ? program_break(arena, model->program, breakage) : model->program;
  if (!program)
    return cli_error(CLI_NO, "%s: %s: this program has nothing that it could break", given.breakage,
                     breakage_help(breakage));
  const Emission *emission = emit_model(arena, model, program);
  return put_out(arena, &given, export_cu(arena, emission, program, model->target));
}
