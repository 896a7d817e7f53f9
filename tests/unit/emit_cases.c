#include "emit_cases.h"

#include <check.h>
#include <stdio.h>

#include "base/embed.h"
#include "base/whole.h"
#include "model/schedules/reduce.h"
#include "model/words/schedule_atom.h"
#include "property.h"

static void add_ladder(EmitCases *cases, const char *path) {
  const Ladder *ladder = property_read_ladder(path);
  for (int i = 0; i < ladder->n_rungs; i++) {
    const Rung *rung = &ladder->rung[i];
    ck_assert_int_lt(cases->n, EMIT_CASES_MAX);
    cases->rung[cases->n++] =
        (EmitCase){arena_printf(cases->arena, "%s_%s", ladder->name, rung->name), rung};
  }
}

EmitCases emit_cases(Arena *arena) {
  EmitCases cases = {.arena = arena, .targets = *property_gpus()};
  const EmbeddedList ladders = embed_list(arena, "ladders/");
  for (int i = 0; i < ladders.count; i++) add_ladder(&cases, ladders.paths[i]);
  return cases;
}

static const Model *build(const EmitCases *cases, const Schedule *schedule, const char *what) {
  const Model *model = model_build(cases->arena, &cases->targets, schedule);
  ck_assert_msg(model->ok, "%s: %s", what, diags_text(cases->arena, &model->diags));
  return model;
}

bool emit_case_has_own_target(const EmitCases *cases, int rung) {
  const Atom *atom = schedule_atom_row(&cases->rung[rung].rung->schedule);
  return atom_is_of_thread(atom) || (atom && atom_scales(atom));
}

const Model *emit_case(const EmitCases *cases, int rung) {
  const Rung *r = cases->rung[rung].rung;
  return r->not_built ? NULL : build(cases, &r->schedule, r->name);
}

const Model *emit_case_on(const EmitCases *cases, int rung, int m, int n, int k,
                          const char *target) {
  const Rung *r = cases->rung[rung].rung;
  if (r->not_built) return NULL;
  Schedule schedule = property_of_two_heads(&r->schedule);
  // A short k has few slabs; as many splits as it allows.
  int64_t slabs = (k + schedule.value[KNOB_BK] - 1) / schedule.value[KNOB_BK];
  if (schedule.value[KNOB_SPLITK] > slabs) schedule_set(&schedule, KNOB_SPLITK, slabs);
  // And as many parts of a last tile as have slabs (rule tail_slabs); those of atoms are deeper.
  int64_t parts = schedule.value[KNOB_TAIL_SPLIT];
  slabs = ceil_div(k, schedule_tile(&schedule, KNOB_K));
  while ((parts - 1) * ceil_div(slabs, parts) >= slabs) parts--;
  schedule_set(&schedule, KNOB_TAIL_SPLIT, parts);
  schedule_resize(&schedule, m, n, k);
  // Atoms that the target has not stay with the rung's own.
  if (!emit_case_has_own_target(cases, rung))
    snprintf(schedule.target, sizeof schedule.target, "%s", target);
  return build(cases, &schedule, r->name);
}

static const Model *build_state(const EmitCases *cases, const char *state) {
  Schedule schedule = schedule_plain();
  Diags diags = diags_new(cases->arena);
  ck_assert_msg(schedule_parse(&schedule, state, &diags), "%s", diags_text(cases->arena, &diags));
  return model_build(cases->arena, &cases->targets, &schedule);
}

const Model *emit_state(const EmitCases *cases, const char *state) {
  const Model *model = build_state(cases, state);
  ck_assert_msg(model->ok, "%s: %s", state, diags_text(cases->arena, &model->diags));
  return model;
}

const Model *emit_state_if_legal(const EmitCases *cases, const char *state) {
  const Model *model = build_state(cases, state);
  return model->ok ? model : NULL;
}
