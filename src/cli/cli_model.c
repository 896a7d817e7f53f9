// State line → schedule → model, with every finding kept.
//
//   -k BM=1000,BN=32   →  the rule threads_fit and its nearest value, on stderr, exit status 2
#include "cli/cli_model.h"

#include "base/embed.h"
#include "base/nearest.h"
#include "base/str.h"

bool cli_schedule(const char *state, Schedule *schedule, Diags *diags) {
  *schedule = schedule_default();
  return !state || !*state || schedule_parse(schedule, state, diags);
}

bool cli_targets(Arena *arena, TargetTable *targets, Diags *diags) {
  const EmbeddedFile *file = embed_find(arena, "gpus.json");
  if (file) return targets_parse(arena, file->text, file->size, diags, targets);
  diag_add(diags, "target", "gpus.json is missing from the data folder");
  return false;
}

const Model *cli_model_of(Arena *arena, const TargetTable *targets, const Schedule *schedule,
                          Diags *diags) {
  const Model *model = model_build(arena, targets, schedule);
  if (model->ok) return model;
  for (const Diag *d = model->diags.first; d; d = d->next)
    diag_add(diags, d->rule, "%s", d->text)->nearest = d->nearest;
  return NULL;
}

const Model *cli_model(Arena *arena, const char *state, Diags *diags) {
  Schedule schedule;
  TargetTable *targets = ARENA_NEW(arena, TargetTable);
  if (!cli_schedule(state, &schedule, diags) || !cli_targets(arena, targets, diags)) return NULL;
  return cli_model_of(arena, targets, &schedule, diags);
}

int cli_find_stage(const Model *model, const char *pass, Diags *diags) {
  const Pipeline *pipeline = &model->pipeline;
  const char *names[sizeof pipeline->stage / sizeof *pipeline->stage];
  for (int i = 1; i < pipeline->n_stages; i++) {
    names[i - 1] = pipeline->stage[i].pass->name;
    if (str_equal(names[i - 1], pass)) return i;
  }
  Diag *diag = diag_add(diags, "pass", "no pass \"%s\" runs for this state",
                        str_sanitise(diags->arena, pass));
  diag->nearest = nearest_name(pass, names, pipeline->n_stages - 1);
  if (!diag->nearest) diag->nearest = names[0];
  return -1;
}
