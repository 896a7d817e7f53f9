// State and knobs → points → cubins → a line each.
//
// Worked example, attention/eager_kv for an RTX 3090, 128 queries and 32 keys a block, Q kept in
// registers: 255 registers, a stack of 32 bytes, 44 of stores, 32 of loads, each instruction
// counted once. The article's kernel has 304, 356 and 324; claims with the same schedule bring that
// along.
#include "cli/common/tables/compile_table.h"

#include <stdio.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/cli_worker.h"
#include "cli/common/documents.h"
#include "cli/common/tables/sweep.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/lessons/claims.h"
#include "tui/session/session.h"

typedef struct TableGiven {
  const char *state, *ptxas_opt;
  OptionList knobs, worker;
  bool json, csv, places, clock;
} TableGiven;

static const Option options[] = {
    OPTION_STATE(TableGiven),
    OPTION_JSON(TableGiven),
    OPTION_CSV(TableGiven),
    OPTION_WORKER(TableGiven),
    {.name = "ptxas-opt", .kind = OPTION_KIND_TEXT, .offset = offsetof(TableGiven, ptxas_opt)},
    {.name = "knob", .kind = OPTION_KIND_LIST, .offset = offsetof(TableGiven, knobs)},
    {.name = "places", .kind = OPTION_KIND_FLAG, .offset = offsetof(TableGiven, places)},
    {.name = "compile", .kind = OPTION_KIND_FLAG, .offset = offsetof(TableGiven, clock)},
};

enum { POINTS_MAX = 64, FIGURES = 4 };

// The compiler's figures of a line, and the fact by which claims name each.
static const struct {
  const char *fact, *title;
  size_t offset;
} figures[FIGURES] = {
    {"compiled_registers", "regs", offsetof(KernelResources, registers)},
    {"compiled_stack", "stack", offsetof(KernelResources, stack_bytes)},
    {"compiled_spill_stores", "stores", offsetof(KernelResources, spill_store_bytes)},
    {"compiled_spill_loads", "loads", offsetof(KernelResources, spill_load_bytes)},
};

typedef struct Line {
  const Schedule *point;
  const Model *model;
  WorkerAnswer *answer;
  double claim[FIGURES];  // of an article; -1: none
} Line;

typedef struct Table {
  Arena *arena;
  const TableGiven *given;
  SweepAxes axes;
  int n;
  Line *line;
} Table;

bool compile_table_is_asked(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (str_equal(argv[i], "--knob") || str_starts(argv[i], "--knob=")) return true;
  return false;
}

// ---- where it spills ----------------------------------------------------------------------------

static bool is_any(const SpillCount *count) { return count->stores || count->loads; }

bool spills_are_any(const CompiledSpills *s) {
  return is_any(&s->before) || is_any(&s->loop) || is_any(&s->behind);
}

const char *spills_text(Arena *arena, const CompiledSpills *s) {
  return arena_printf(arena, "%d/%d in front of the loop, %d/%d in it, %d/%d behind it",
                      s->before.stores, s->before.loads, s->loop.stores, s->loop.loads,
                      s->behind.stores, s->behind.loads);
}

#define FORM_FILE "cli/common/tables/spills.form"
#include "base/form_make.h"

// ---- claims -------------------------------------------------------------------------------------

static void take_claim(Line *line, const char *fact, double value) {
  for (int i = 0; fact && i < FIGURES; i++)
    if (str_equal(fact, figures[i].fact)) line->claim[i] = value;
}

static void take_claims(Table *table, const ClaimList *list) {
  for (int r = 0; r < list->n; r++)
    for (int i = 0; i < table->n; i++) {
      const ClaimRow *row = &list->row[r];
      if (!schedule_same(&row->schedule, table->line[i].point)) continue;
      if (row->has_value) take_claim(&table->line[i], row->fact, row->value);
      for (int k = 0; k < row->n_beside; k++)
        take_claim(&table->line[i], row->beside[k].fact, row->beside[k].value);
    }
}

static bool find_claims(Table *table, Session *session, Diags *diags) {
  for (int i = 0; i < session->doc.n_ladders; i++) {
    const EmbeddedFile *file = embed_find(
        table->arena, arena_printf(table->arena, "claims/%s.json", session->doc.ladders[i]->name));
    if (!file) continue;
    const ClaimList *list = claims_read(table->arena, file->text, file->size, file->path,
                                        session_facts(session), diags);
    if (!list) return false;
    take_claims(table, list);
  }
  return true;
}

static bool has_claims(const Table *table) {
  for (int i = 0; i < table->n; i++)
    for (int k = 0; k < FIGURES; k++)
      if (table->line[i].claim[k] >= 0) return true;
  return false;
}

// ---- printing -----------------------------------------------------------------------------------

static const KernelResources *main_kernel_of(const Line *line) {
  const CompileResult *cubin = line->answer->cubin;
  const int kernel = line->model->program->main_kernel;
  return cubin && cubin->ok && kernel < cubin->n_kernels ? &cubin->kernels[kernel] : NULL;
}

static int figure(const KernelResources *kernel, int i) {
  return *(const int *)((const char *)kernel + figures[i].offset);
}

// "128 x 32": rows and columns of a block; of attention its queries and a block of keys.
static const char *shape_of(Arena *arena, const Line *line) {
  const Axis *axis = line->model->program->axis;
  return arena_printf(arena, "%lld x %lld", (long long)axis_tile(&axis[AXIS_M]),
                      (long long)axis_tile(&axis[AXIS_N]));
}

static const char *knobs_of(const Table *table, const Line *line, const char *between) {
  Str out = str_new(table->arena);
  for (int i = 0; i < table->axes.n; i++) {
    const KnobId knob = table->axes.axis[i].knob;
    str_printf(&out, "%s%s=%s", i ? between : "", knob_table[knob].name,
               knob_value_text(table->arena, line->point, knob));
  }
  return out.text;
}

static void print_claim(const Line *line) {
  bool any = false;
  for (int i = 0; i < FIGURES; i++) any |= line->claim[i] >= 0;
  for (int i = 0; any && i < FIGURES; i++)
    line->claim[i] < 0 ? printf(" %6s", "-") : printf(" %6.0f", line->claim[i]);
  if (!any) printf("%28s", "");
}

static void print_line(const Table *table, const Line *line, bool claims) {
  const KernelResources *kernel = main_kernel_of(line);
  printf("%-10s", shape_of(table->arena, line));
  for (int i = 0; i < FIGURES; i++)
    kernel ? printf(" %6d", figure(kernel, i)) : printf(" %6s", "-");
  if (claims) print_claim(line);
  printf("  %s", knobs_of(table, line, ","));
  if (kernel && spills_are_any(&kernel->spills))
    printf("; STL/LDL %s", spills_text(table->arena, &kernel->spills));
  if (!kernel) printf("; %s", line->answer->error);
  putchar('\n');
}

static void print_text(const Table *table) {
  const bool claims = has_claims(table);
  printf("%-10s", "");
  if (claims) printf(" %-27s %-27s", "compiled, registers and B", "by the article");
  printf(claims ? "\n%-10s" : "%s", claims ? "block" : "");
  for (int side = 0; side < 1 + claims; side++)
    for (int i = 0; i < FIGURES; i++) printf(" %6s", figures[i].title);
  puts("  knobs; instructions that spill, stores/loads");
  for (int i = 0; i < table->n; i++) print_line(table, &table->line[i], claims);
}

#define FORM_FILE "cli/common/tables/compile_table.form"
#include "base/form_make.h"

static void print_csv(const Table *table) {
  puts(
      "block,registers,stack,stores,loads,article_registers,article_stack,article_stores,"
      "article_loads,stl_before,ldl_before,stl_loop,ldl_loop,stl_behind,ldl_behind,state");
  for (int i = 0; i < table->n; i++) {
    const Line *line = &table->line[i];
    const KernelResources *kernel = main_kernel_of(line);
    printf("%s", shape_of(table->arena, line));
    for (int k = 0; k < FIGURES; k++) kernel ? printf(",%d", figure(kernel, k)) : printf(",");
    for (int k = 0; k < FIGURES; k++)
      line->claim[k] < 0 ? printf(",") : printf(",%.0f", line->claim[k]);
    const CompiledSpills none = {0}, *s = kernel ? &kernel->spills : &none;
    printf(",%d,%d,%d,%d,%d,%d,", s->before.stores, s->before.loads, s->loop.stores, s->loop.loads,
           s->behind.stores, s->behind.loads);
    cli_csv_text(schedule_text(table->arena, line->point), '\n');
  }
}

// ---- the command --------------------------------------------------------------------------------

static bool find_points(Table *table, TargetTable *targets, Diags *diags) {
  Schedule base;
  const TableGiven *given = table->given;
  if (!cli_schedule(given->state, &base, diags) || !cli_targets(table->arena, targets, diags))
    return false;
  for (int i = 0; i < given->knobs.count; i++)
    if (!sweep_add_axis(&table->axes, given->knobs.items[i], &base, diags)) return false;
  const int64_t product = sweep_product(&table->axes);
  if (product > POINTS_MAX) {
    diag_add(diags, "usage", "there are %lld points, at most %d are compiled", (long long)product,
             (int)POINTS_MAX);
    return false;
  }
  const SweepPoints points = sweep_points(table->arena, &table->axes, &base, targets);
  if (points.n_illegal)
    cli_error(0, "%d of %lld points are not legal; the first: %s", points.n_illegal,
              (long long)product, points.reason);
  if (points.n == 0) diag_add(diags, "usage", "no point is legal");
  table->n = points.n;
  table->line = ARENA_ARRAY(table->arena, Line, points.n);
  for (int i = 0; i < points.n; i++)
    table->line[i] = (Line){.point = &points.point[i], .claim = {-1, -1, -1, -1}};
  return points.n > 0;
}

static void ask(Table *table, const TargetTable *targets, CliWorker *worker, Line *line) {
  Arena *arena = table->arena;
  line->model = model_build(arena, targets, line->point);
  const Program *program = line->model->program;
  const Emission *emission = emit_model(arena, line->model, program);
  Plan *plan = plan_from_emission(arena, emission, program, line->model->target, "resources");
  plan->ptxas_opt = table->given->ptxas_opt;
  const ClientRequest request = {
      .kind = MESSAGE_COMPILE, .plan = plan, .want = "cubin", .keep = true};
  line->answer = cli_worker_submit(worker, &request, knobs_of(table, line, " "));
}

static int compile_all(Table *table, const TargetTable *targets, CliWorker *worker) {
  int status = CLI_OK;
  for (int i = 0; i < table->n; i++) ask(table, targets, worker, &table->line[i]);
  for (int i = 0; i < table->n; i++)
    if (!cli_worker_wait(worker, table->line[i].answer)) status = table->line[i].answer->status;
  if (status)
    cli_error(status, "%s",
              table->line[0].answer->error ? table->line[0].answer->error : "some did not compile");
  return status;
}

static bool claims_of(Table *table, Diags *diags) {
  Session *session = session_open(&(SessionOptions){0}, diags);
  const bool ok = session && find_claims(table, session, diags);
  if (session) session_close(session);
  return ok;
}

static int show(const Table *table, int status) {
  if (status == CLI_INTERRUPTED || status == CLI_MISSING) return status;
  if (table->given->json)
    cli_print_document(table->arena, &compile_table_form, table, NULL);
  else
    table->given->csv ? print_csv(table) : print_text(table);
  return status;
}

int compile_table_run(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  TableGiven given = {0};
  TargetTable targets;
  Table table = {.arena = arena, .given = &given};
  if (!options_parse(options, sizeof options / sizeof *options, &given, &argc, argv, &diags))
    return cli_fail(&diags);
  if (argc > 1) diag_add(&diags, "usage", "give a state with -k");
  if (given.json && given.csv) diag_add(&diags, "usage", "--json and --csv exclude each other");
  if (given.places) diag_add(&diags, "usage", "--knob and --places exclude each other");
  if (given.clock)
    diag_add(&diags, "usage", "--compile takes one state; gemmview sweep --compile takes several");
  option_check_ptxas_opt(given.ptxas_opt, &diags);
  if (diags.count || !find_points(&table, &targets, &diags) || !claims_of(&table, &diags))
    return cli_fail(&diags);
  CliWorker *worker = cli_worker_open(arena, &given.worker, false, &diags);
  if (!worker) return cli_fail(&diags);
  const int status = show(&table, compile_all(&table, &targets, worker));
  cli_worker_close(worker);
  return status;
}
