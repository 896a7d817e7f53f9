#include "emit_cases.h"

#include <check.h>
#include <stdio.h>

#include "base/embed.h"

EmitCases emit_cases(Arena *arena) {
  EmitCases cases = {.arena = arena};
  Diags diags = diags_new(arena);
  const EmbeddedFile *gpus = embed_find(arena, "gpus.json");
  const EmbeddedFile *ladder = embed_find(arena, "ladders/fp32.json");
  ck_assert(targets_parse(arena, gpus->text, gpus->size, &diags, &cases.targets));
  cases.ladder = ladder_read(arena, ladder->text, ladder->size, ladder->path, &diags);
  ck_assert_msg(cases.ladder != NULL, "%s", diags_text(arena, &diags));
  return cases;
}

static const Model *build(const EmitCases *cases, const Schedule *schedule, const char *what) {
  const Model *model = model_build(cases->arena, &cases->targets, schedule);
  ck_assert_msg(model->ok, "%s: %s", what, diags_text(cases->arena, &model->diags));
  return model;
}

const Model *emit_case(const EmitCases *cases, int rung) {
  const Rung *r = &cases->ladder->rung[rung];
  return r->not_built ? NULL : build(cases, &r->schedule, r->name);
}

const Model *emit_case_on(const EmitCases *cases, int rung, int m, int n, int k,
                          const char *target) {
  const Rung *r = &cases->ladder->rung[rung];
  if (r->not_built) return NULL;
  Schedule schedule = r->schedule;
  // A short k has few slabs; as many splits as it allows.
  int64_t slabs = (k + schedule.value[KNOB_BK] - 1) / schedule.value[KNOB_BK];
  if (schedule.value[KNOB_SPLITK] > slabs) schedule_set(&schedule, KNOB_SPLITK, slabs);
  schedule_set(&schedule, KNOB_M, m);
  schedule_set(&schedule, KNOB_N, n);
  schedule_set(&schedule, KNOB_K, k);
  snprintf(schedule.target, sizeof schedule.target, "%s", target);
  return build(cases, &schedule, r->name);
}

const Model *emit_state(const EmitCases *cases, const char *state) {
  Schedule schedule = schedule_default();
  Diags diags = diags_new(cases->arena);
  ck_assert_msg(schedule_parse(&schedule, state, &diags), "%s", diags_text(cases->arena, &diags));
  return build(cases, &schedule, state);
}
