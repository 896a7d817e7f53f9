// See property.h.
#include "property.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/whole.h"
#include "model/ir/notation/parse.h"
#include "model/ir/notation/print.h"
#include "model/ir/program.h"
#include "model/schedules/reduce.h"
#include "model/words/fragment.h"
#include "model/words/schedule_atom.h"

static const uint64_t default_seed = 20250607;

Arena *property_data, *property_arena;
static Arena *of_a_run;  // what one run took, the next one takes again
TargetTable property_targets;

// ---- files, which a process reads once ----------------------------------------------------------

static Arena *of_files(void) {
  static Arena *arena;
  if (!arena) arena = arena_new("test property files");
  return arena;
}

const TargetTable *property_gpus(void) {
  static TargetTable targets;
  if (targets.count) return &targets;
  const EmbeddedFile *file = embed_find(of_files(), "gpus.json");
  Diags diags = diags_new(of_files());
  ck_assert_ptr_nonnull(file);
  ck_assert(targets_parse(of_files(), file->text, file->size, &diags, &targets));
  return &targets;
}

const Ladder *property_read_ladder(const char *path) {
  enum { LADDERS_MAX = 32 };
  static struct {
    const char *path;
    const Ladder *ladder;
  } known[LADDERS_MAX];
  static int n;
  for (int i = 0; i < n; i++)
    if (strcmp(known[i].path, path) == 0) return known[i].ladder;
  const char *its_path = arena_strdup(of_files(), path);
  const EmbeddedFile *file = embed_find(of_files(), its_path);
  Diags diags = diags_new(of_files());
  ck_assert_msg(file && n < LADDERS_MAX, "%s", path);
  const Ladder *ladder = ladder_read(of_files(), file->text, file->size, its_path, &diags);
  ck_assert_msg(ladder != NULL, "%s", diags_text(of_files(), &diags));
  known[n].path = its_path;
  known[n++].ladder = ladder;
  return ladder;
}

const Ladder *property_ladder(const char *name) {
  char path[64];
  snprintf(path, sizeof path, "ladders/%s.json", name);
  return property_read_ladder(path);
}

// ---- the fixture --------------------------------------------------------------------------------

void property_setup(void) {
  property_data = arena_new("test property data");
  property_arena = arena_new("test property");
  of_a_run = arena_new("test property runs");
  property_targets = *property_gpus();
}

void property_teardown(void) {
  arena_free(of_a_run);
  arena_free(property_arena);
  arena_free(property_data);
}

uint64_t property_seed(void) {
  const char *given = getenv("GEMMVIEW_SEED");
  return given ? strtoull(given, NULL, 10) : default_seed;
}

const Model *property_rung(const char *name, const char *rung, const char *knobs) {
  const Ladder *ladder = property_ladder(name);
  const int index = ladder_find_rung(ladder, rung, NULL);
  Diags diags = diags_new(property_arena);
  ck_assert_int_ge(index, 0);
  Schedule schedule = ladder->rung[index].schedule;
  ck_assert_msg(schedule_parse(&schedule, knobs, &diags), "%s", diags_text(property_arena, &diags));
  return property_built(&schedule);
}

struct Seen {
  const char *text;
  struct Seen *next;
};

bool property_is_new(Seen **seen, const Program *program) {
  const Problem *problem = &program->problem;
  return property_is_new_text(
      seen, arena_printf(property_data, "%lld %lld %lld\n%s", (long long)problem->m,
                         (long long)problem->n, (long long)problem->k,
                         program_text(property_arena, program)));
}

bool property_is_new_text(Seen **seen, const char *text) {
  for (const Seen *s = *seen; s; s = s->next)
    if (strcmp(s->text, text) == 0) return false;
  Seen *first = ARENA_NEW(property_data, Seen);
  *first = (Seen){text, *seen};
  *seen = first;
  return true;
}

bool property_is_new_kind(Seen **kinds, const Rung *rung) {
  Schedule schedule = rung->schedule;
  const Atom *atom = atom_find_knob(knob_enum_text(KNOB_ATOM_KIND, schedule.value[KNOB_ATOM_KIND]));
  static const KnobId types[] = {KNOB_ATOM_KIND, KNOB_DTYPE, KNOB_ACC};
  for (int i = 0; i < 3; i++) schedule_set(&schedule, types[i], 0);
  return property_is_new_text(kinds, arena_printf(property_data, "%d %s", atom ? atom->bits : 0,
                                                  schedule_text(property_data, &schedule)));
}

Schedule property_of_two_heads(const Schedule *rung) {
  Schedule schedule = *rung;
  if (schedule.value[KNOB_HEADS] > 2) schedule_set(&schedule, KNOB_HEADS, 2);
  return schedule;
}

Schedule property_narrow(const Schedule *rung) {
  static const struct {
    KnobId knob;
    int64_t most;
  } caps[] = {{KNOB_WM, 2},      {KNOB_WN, 2},     {KNOB_FM, 2},      {KNOB_FN, 4},
              {KNOB_ATOM_N, 64}, {KNOB_EPI_N, 64}, {KNOB_GROUP_M, 2}, {KNOB_TAIL_SPLIT, 2}};
  Schedule schedule = property_of_two_heads(rung);
  const Atom *atom = schedule_atom_row(rung);
  const bool tiles = atom_is_of_thread(atom) && atom_scales(atom);
  for (size_t i = 0; i < sizeof caps / sizeof caps[0] && rung->value[KNOB_ATOM_KIND]; i++)
    if (schedule.value[caps[i].knob] > caps[i].most)
      schedule_set(&schedule, caps[i].knob, caps[i].most);
  if (tiles) schedule_set(&schedule, KNOB_ATOM_N, FACTOR_ROWS);  // of a tile of factors
  return schedule;
}

// ---- states -------------------------------------------------------------------------------------

Schedule property_read_state(const char *state) {
  Schedule schedule = schedule_plain();
  Diags diags = diags_new(property_arena);
  ck_assert_msg(schedule_parse(&schedule, state, &diags), "%s: %s", state,
                diags_text(property_arena, &diags));
  return schedule;
}

Schedule property_of_slabs(const char *state, int slabs) {
  Schedule schedule = property_read_state(state);
  int64_t of_all_splits = schedule_tile(&schedule, KNOB_K);
  int64_t depth = of_all_splits / schedule.value[KNOB_SPLITK];
  int64_t grain = max64(schedule_grain(&schedule, KNOB_K), 4);
  schedule_set(&schedule, KNOB_K, slabs * of_all_splits - (slabs % 2 ? depth - grain : 0));
  return schedule;
}

const Model *property_built(const Schedule *schedule) {
  const Model *model = model_build(property_arena, &property_targets, schedule);
  ck_assert_msg(model->ok, "%s\n%s", schedule_text(property_arena, schedule),
                diags_text(property_arena, &model->diags));
  return model;
}

const Program *property_read_back(const Program *program) {
  const char *text = program_text_full(property_arena, program);
  Diags diags = diags_new(property_arena);
  const Program *read = program_parse(property_arena, text, strlen(text), "printed", &diags);
  ck_assert_msg(read != NULL, "%.300s", diags_text(property_arena, &diags));
  ck_assert_str_eq(program_text_full(property_arena, read), text);
  return read;
}

int property_refusals(const char *state, const char *rule, const char *nearest) {
  Schedule schedule = property_read_state(state);
  const Model *model = model_build(property_arena, &property_targets, &schedule);
  ck_assert_int_ge(model->diags.count, 1);
  ck_assert_str_eq(model->diags.first->rule, rule);
  ck_assert_str_eq(model->diags.first->nearest, nearest);
  return model->diags.count;
}

// ---- what is computed ---------------------------------------------------------------------------

static InterpCheck check_program(const Program *program, const InterpOptions *options) {
  arena_reset(of_a_run);
  return interpret_check(of_a_run, program, options);
}

bool property_computes_on(const Program *program, int64_t grid) {
  InterpOptions options = {.seed = (uint64_t)grid, .runs = 1, .grid = grid};
  InterpCheck check = check_program(program, &options);
  if (!check.ok && check.n_findings) printf("grid %d: %s\n", (int)grid, check.finding[0].text);
  return check.ok;
}

void property_tell(const Schedule *schedule, const char *after, const InterpCheck *check) {
  printf("%s\n  after %s:\n", schedule_text(property_arena, schedule), after);
  for (int i = 0; i < check->n_findings; i++) printf("  %s\n", check->finding[i].text);
  if (check->n_wrong)
    printf("  %lld wrong cells, first C[%lld, %lld] = %g, expected %g\n", (long long)check->n_wrong,
           (long long)check->wrong_row, (long long)check->wrong_column, check->wrong_got,
           check->wrong_expected);
}

bool property_computes(const Schedule *schedule, const char *after, const Program *program,
                       int runs) {
  InterpOptions options = {.seed = property_seed(), .runs = runs};
  InterpCheck check = check_program(program, &options);
  if (!check.ok) property_tell(schedule, after, &check);
  return check.ok;
}
