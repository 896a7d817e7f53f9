// State → places tried → a cubin for each safe one → a line each.
//
// The table is there without a compiler too: then its last columns are empty, stderr says why, and
// the exit status says that a tool is missing.
#include "cli/common/tables/place_table.h"

#include <stdio.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/documents.h"

typedef struct PlacesGiven {
  const char *state, *ptxas_opt;
  OptionList worker;
  bool json, places;
} PlacesGiven;

static const Option options[] = {
    OPTION_STATE(PlacesGiven),
    OPTION_JSON(PlacesGiven),
    OPTION_WORKER(PlacesGiven),
    {.name = "ptxas-opt", .kind = OPTION_KIND_TEXT, .offset = offsetof(PlacesGiven, ptxas_opt)},
    {.name = "places", .kind = OPTION_KIND_FLAG, .offset = offsetof(PlacesGiven, places)},
};

typedef struct PlaceTable {
  Arena *arena;
  const PlacesGiven *given;
  PlacedLoads *placed;
  const char *compiler;  // "NVRTC 13.0"; NULL: none answered
} PlaceTable;

bool place_table_is_asked(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (str_equal(argv[i], "--places")) return true;
  return false;
}

// ---- compiling ----------------------------------------------------------------------------------

typedef struct Asked {
  int copy, place;
  WorkerAnswer *answer;
} Asked;

static Asked ask(Arena *arena, CliWorker *worker, PlacedLoads *placed, int copy, int place,
                 const char *ptxas_opt) {
  Plan *plan = placed_loads_plan(arena, placed, copy, place);
  plan->ptxas_opt = ptxas_opt;
  const ClientRequest request = {
      .kind = MESSAGE_COMPILE, .plan = plan, .want = "cubin", .keep = true};
  placed_loads_asked(placed, copy, place);
  return (Asked){copy, place, cli_worker_submit(worker, &request, "compiling places")};
}

int cli_compile_places(Arena *arena, CliWorker *worker, PlacedLoads *placed, const char *ptxas_opt,
                       const char **compiler) {
  Asked asked[LOAD_COPIES_MAX * (LOAD_LINES_MAX + 1)];
  int copy, place, n = 0, status = CLI_OK;
  const char *error = NULL;
  while (placed_loads_next(placed, &copy, &place))
    asked[n++] = ask(arena, worker, placed, copy, place, ptxas_opt);
  for (int i = 0; i < n; i++) {
    WorkerAnswer *answer = asked[i].answer;
    if (!cli_worker_wait(worker, answer)) status = answer->status, error = answer->error;
    if (answer->cubin && compiler) *compiler = answer->cubin->compiler;
    placed_loads_take(placed, placed->key, asked[i].copy, asked[i].place, answer->cubin,
                      answer->error);
  }
  if (error) cli_error(status, "%s", error);
  return status;
}

// ---- printing -----------------------------------------------------------------------------------

static const char *verdict_word(const LoadCopy *copy, int place) {
  static const char *const words[] = {"untried", "safe", "unsafe"};
  const LoadVerdict verdict = copy->place[place].verdict;
  return verdict == LOAD_SAFE && copy->at == place ? "stands" : words[verdict];
}

static void print_place(const PlaceTable *table, int c, int place) {
  const KernelResources *kernel = placed_loads_kernel(table->placed, c, place);
  const CompiledLoop loop = kernel ? placed_loads_loop(kernel) : (CompiledLoop){0};
  printf("  %-7s", verdict_word(&table->placed->places->copy[c], place));
  if (kernel && kernel->instructions >= 0)
    printf(" %5d %8d %7d", kernel->registers, kernel->spill_store_bytes, kernel->instructions);
  else
    printf(" %5s %8s %7s", "-", "-", "-");
  if (loop.instructions)
    printf(" %8d %7.0f", loop.instructions, loop.near_clocks);
  else
    printf(" %8s %7s", "-", "-");
  printf("  %s\n", table->placed->text[place]);
}

static void print_text(const PlaceTable *table) {
  const LoadPlaces *places = table->placed->places;
  const Schedule *small = &table->placed->small;
  printf("tried with M=%lld, N=%lld, K=%lld; compiled for the whole problem: %s\n",
         (long long)small->value[KNOB_M], (long long)small->value[KNOB_N],
         (long long)small->value[KNOB_K], table->compiler ? table->compiler : "no compiler");
  for (int c = 0; c < places->n_copies; c++) {
    printf("\n%-9s %5s %8s %7s %8s %7s  %s\n", places->copy[c].slabs, "regs", "B spill", "instrs",
           "in loops", "clk", "the copy stands in front of");
    for (int p = 0; p <= places->n_lines; p++) print_place(table, c, p);
  }
  puts(
      "\nin loops: instructions of the innermost loop that multiplies and of the loop around it; "
      "clk: of one turn of each, by one warp alone");
}

#define FORM_FILE "cli/common/tables/place_table.form"
#include "base/form_make.h"

// ---- the command --------------------------------------------------------------------------------

static bool try_all(PlaceTable *table, const TargetTable *targets, const Schedule *schedule,
                    Diags *diags) {
  if (!cli_model_of(table->arena, targets, schedule, diags)) return false;
  table->placed = placed_loads_new(table->arena);
  placed_loads_look(table->placed, targets, schedule);
  while (placed_loads_try(table->placed, 0, LOAD_ANYWHERE)) {
  }
  if (!placed_loads_are_none(table->placed)) return true;
  diag_add(diags, "places", "%s", LOADS_NONE);
  return false;
}

static int run(PlaceTable *table, Diags *diags) {
  CliWorker *worker = cli_worker_open(table->arena, &table->given->worker, false, diags);
  if (!worker) return cli_fail(diags);
  const int status = cli_compile_places(table->arena, worker, table->placed,
                                        table->given->ptxas_opt, &table->compiler);
  if (status != CLI_INTERRUPTED && table->given->json)
    cli_print_document(table->arena, &resources_places_form, table, NULL);
  if (status != CLI_INTERRUPTED && !table->given->json) print_text(table);
  cli_worker_close(worker);
  return status;
}

int place_table_run(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  PlacesGiven given = {0};
  TargetTable targets;
  Schedule schedule;
  PlaceTable table = {.arena = arena, .given = &given};
  if (!options_parse(options, sizeof options / sizeof *options, &given, &argc, argv, &diags))
    return cli_fail(&diags);
  if (argc > 1) diag_add(&diags, "usage", "give a state with -k");
  option_check_ptxas_opt(given.ptxas_opt, &diags);
  const bool ok = !diags.count && cli_schedule(given.state, &schedule, &diags) &&
                  cli_targets(arena, &targets, &diags) &&
                  try_all(&table, &targets, &schedule, &diags);
  const int status = ok ? run(&table, &diags) : cli_fail(&diags);
  placed_loads_free(table.placed);
  return status;
}
