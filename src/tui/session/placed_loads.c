// Schedule → one block of it, tried at every place by the interpreter → the places that are safe,
// of the whole problem, as plans for the compiler.
//
// Worked example, attention/eager_kv: V has 13 safe places and K two. The kernel with V in front of
// the multiplications is a plan of its own, as is each other one; where both stand already they are
// the same text, and the compiler's cache answers the second time.
#include "tui/session/placed_loads.h"

#include "base/str.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/ir/notation/print.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/schedules/reduce.h"
#include "model/text/emit.h"

// ---- what each line does ------------------------------------------------------------------------

typedef struct Says {
  Arena *arena;
  const Program *program;
  Str text;
  const char *last;
} Says;

static void say_once(Says *said, const char *text) {
  if (!text || (said->last && str_equal(said->last, text))) return;
  str_printf(&said->text, "%s%s", said->text.length ? "; " : "", text);
  said->last = text;
}

static void say_op(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Says *said = context;
  if (stmt->kind == STMT_OP) say_once(said, emit_says(said->arena, said->program, stmt));
}

static const char *printed(const ProgramText *text, const Stmt *stmt) {
  for (int i = 0; i < text->n_lines; i++)
    if (text->line[i].stmt && text->line[i].stmt->id == stmt->id) return text->line[i].text;
  return "";
}

// Its own remark, the remarks of its body, or the statement as the nest writes it. A wait or a
// barrier has both.
static const char *text_of(Arena *arena, const Program *program, const ProgramText *text,
                           const Stmt *stmt) {
  Says said = {.arena = arena, .program = program, .text = str_new(arena)};
  if (stmt->kind == STMT_OP && stmt->note)
    return arena_printf(arena, "%s: %s", printed(text, stmt), stmt->note);
  say_once(&said, emit_says(arena, program, stmt));
  if (stmt->body) stmt_walk(stmt->body, say_op, &said);
  if (said.text.length) return said.text.text;
  while (stmt->body && stmt->kind != STMT_OP) stmt = stmt->body;
  return printed(text, stmt);
}

// ---- looking and trying -------------------------------------------------------------------------

PlacedLoads *placed_loads_new(Arena *arena) {
  PlacedLoads *placed = ARENA_NEW(arena, PlacedLoads);
  *placed = (PlacedLoads){.arena = arena_new("places")};
  return placed;
}

void placed_loads_free(PlacedLoads *placed) {
  if (placed) arena_free(placed->arena);
}

// A tile, and with it the edge that the problem has.
static int64_t tile_and_edge(int64_t extent, int64_t tile) {
  return extent < tile ? extent : tile + extent % tile;
}

// One block of the same kernel, with enough slabs to show every fault. Edges stay: they are lines
// of the loop, such as keys that are hidden.
static Schedule one_block(const Schedule *schedule) {
  Schedule small = *schedule;
  const KnobId walked = schedule_walked(schedule);
  const int64_t slab = schedule_tile(schedule, walked), edge = schedule->value[walked] % slab,
                n_slabs = schedule_slabs_to_see(schedule);
  schedule_set(&small, KNOB_HEADS, 1);
  schedule_resize(&small, tile_and_edge(schedule->value[KNOB_M], schedule_tile(schedule, KNOB_M)),
                  tile_and_edge(schedule->value[KNOB_N], schedule_tile(schedule, KNOB_N)),
                  slab * n_slabs - (edge ? slab - edge : 0));
  return small;
}

static void read_lines(PlacedLoads *placed, const Program *program) {
  placed->places = load_places_new(placed->arena, program);
  const int n = placed->places->n_lines;
  const ProgramText text = program_print(placed->arena, program);
  placed->text = ARENA_ARRAY(placed->arena, const char *, n + 1);
  for (int i = 0; i < n; i++)
    placed->text[i] = text_of(placed->arena, program, &text, placed->places->line[i]);
  placed->text[n] = "the end of the turn";
}

bool placed_loads_look(PlacedLoads *placed, const TargetTable *targets, const Schedule *schedule) {
  const uint64_t key = schedule_identity(schedule);
  if (placed->key == key) return false;
  arena_reset(placed->arena);
  *placed =
      (PlacedLoads){.arena = placed->arena, .targets = targets, .key = key, .schedule = *schedule};
  placed->small = one_block(schedule);
  const Model *model = model_build(placed->arena, targets, &placed->small);
  if (model->ok) read_lines(placed, model->program);
  return true;
}

bool placed_loads_are_none(const PlacedLoads *placed) {
  return !placed->places || !placed->places->n_copies;
}

bool placed_loads_try(PlacedLoads *placed, int copy, int place) {
  return !placed_loads_are_none(placed) && load_places_try(placed->places, copy, place);
}

// ---- compiling ----------------------------------------------------------------------------------

static bool is_same(const LoadPlaces *a, const LoadPlaces *b) {
  bool same = a->n_lines == b->n_lines && a->n_copies == b->n_copies;
  for (int i = 0; same && i < a->n_copies; i++)
    same = a->copy[i].at == b->copy[i].at && a->copy[i].n == b->copy[i].n;
  return same;
}

static bool is_due(const PlacedLoads *placed, int copy, int place) {
  return placed->places->copy[copy].place[place].verdict == LOAD_SAFE &&
         placed->cost[copy][place].state == PLACED_UNASKED;
}

static bool find_due(const PlacedLoads *placed, int *copy, int *place) {
  const LoadPlaces *places = placed->places;
  for (*copy = 0; *copy < places->n_copies; (*copy)++)
    if (is_due(placed, *copy, *place = places->copy[*copy].at)) return true;
  for (*copy = 0; *copy < places->n_copies; (*copy)++)
    for (*place = 0; *place <= places->n_lines; (*place)++)
      if (is_due(placed, *copy, *place)) return true;
  return false;
}

static void build_whole(PlacedLoads *placed) {
  if (placed->model) return;
  placed->model = model_build(placed->arena, placed->targets, &placed->schedule);
  placed->whole = load_places_new(placed->arena, placed->model->program);
}

bool placed_loads_next(PlacedLoads *placed, int *copy, int *place) {
  if (placed_loads_are_none(placed) || !find_due(placed, copy, place)) return false;
  build_whole(placed);
  if (is_same(placed->places, placed->whole)) return true;
  do
    placed->cost[*copy][*place] =
        (PlacedCost){PLACED_KNOWN, .error =
                                       "the loop of the whole problem has other lines than "
                                       "this one"};
  while (find_due(placed, copy, place));
  return false;
}

void placed_loads_asked(PlacedLoads *placed, int copy, int place) {
  placed->cost[copy][place].state = PLACED_ASKED;
}

Plan *placed_loads_plan(Arena *arena, PlacedLoads *placed, int copy, int place) {
  build_whole(placed);
  const Program *moved = load_places_move(arena, placed->whole, copy, place);
  const Emission *emission = emit_model(arena, placed->model, moved);
  return plan_from_emission(arena, emission, moved, placed->model->target, "a copy moved");
}

void placed_loads_take(PlacedLoads *placed, uint64_t key, int copy, int place,
                       const CompileResult *result, const char *error) {
  PlacedCost *cost = &placed->cost[copy][place];
  if (key != placed->key || cost->state == PLACED_KNOWN) return;
  *cost = (PlacedCost){.state = PLACED_KNOWN};
  const int kernel = placed->model->program->main_kernel;
  if (result && result->ok && kernel < result->n_kernels) {
    cost->kernel = result->kernels[kernel];
    cost->kernel.name = cost->kernel.note = NULL;
  } else {
    cost->error = str_sanitise(placed->arena, error ? error : "the compiler reported no numbers");
  }
}

const KernelResources *placed_loads_kernel(const PlacedLoads *placed, int copy, int place) {
  const PlacedCost *cost = &placed->cost[copy][place];
  return cost->state == PLACED_KNOWN && !cost->error ? &cost->kernel : NULL;
}

CompiledLoop placed_loads_loop(const KernelResources *kernel) {
  const CompiledLoop *inner = &kernel->code.inner, *outer = &kernel->code.outer;
  return (CompiledLoop){.multiplies = inner->multiplies + outer->multiplies,
                        .instructions = inner->instructions + outer->instructions,
                        .spills = inner->spills + outer->spills,
                        .near_clocks = inner->near_clocks + outer->near_clocks,
                        .far_clocks = inner->far_clocks + outer->far_clocks};
}

const char *placed_loads_cost_text(Arena *arena, const KernelResources *kernel) {
  const int spilled = kernel->spill_store_bytes;
  const char *spills =
      spilled > 0 ? arena_printf(arena, "%d B spilled", spilled) : "nothing spilled";
  return arena_printf(arena, "%d registers, %s, %d instructions", kernel->registers, spills,
                      kernel->instructions);
}

// ---- data ---------------------------------------------------------------------------------------

static const char *verdict_name(LoadVerdict verdict) {
  static const char *const words[] = {"untried", "safe", "unsafe"};
  return words[verdict];
}

typedef struct PlaceSaid {
  const PlacedLoads *placed;
  int copy, place;
} PlaceSaid;

static const PlaceSaid *places_said(Arena *arena, const PlacedLoads *placed, const LoadCopy *copy) {
  const int n = placed->places->n_lines + 1, index = (int)(copy - placed->places->copy);
  PlaceSaid *said = ARENA_ARRAY(arena, PlaceSaid, n);
  for (int i = 0; i < n; i++) said[i] = (PlaceSaid){placed, index, i};
  return said;
}

#define FORM_FILE "tui/session/placed_loads.form"
#include "base/form_make.h"
