// State line → schedule → model, with every finding kept.
//
//   -k BM=1000,BN=32   →  the rule threads_fit and its nearest value, on stderr, exit status 2
#include "cli/cli_model.h"

#include "base/embed.h"
#include "base/nearest.h"
#include "base/str.h"
#include "model/pass.h"

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

// A pass that this state does not want is told from one that does not exist.
static void report_stage(const Pipeline *pipeline, const char *pass, Diags *diags) {
  Str ran = str_new(diags->arena);
  const char **names = ARENA_ARRAY(diags->arena, const char *, pass_count);
  const Pass *idle = NULL;
  for (int i = 1; i < pipeline->n_stages; i++)
    str_printf(&ran, "%s%s", i > 1 ? ", " : "", pipeline->stage[i].pass->name);
  for (int i = 0; i < pass_count; i++) {
    names[i] = pass_table[i].name;
    if (str_equal(names[i], pass)) idle = &pass_table[i];
  }
  const char *shown = str_sanitise(diags->arena, pass);
  const char *here = ran.length ? ran.text : "none";
  Diag *diag =
      idle ? diag_add(diags, "pass",
                      "the pass %s does nothing for this state: see %s; passes that run here: %s",
                      shown, idle->knobs, here)
           : diag_add(diags, "pass", "there is no pass \"%s\"; passes that run here: %s", shown,
                      here);
  diag->nearest = idle ? NULL : nearest_name(pass, names, pass_count);
}

int cli_find_stage(const Model *model, const char *pass, Diags *diags) {
  const Pipeline *pipeline = &model->pipeline;
  for (int i = 1; i < pipeline->n_stages; i++)
    if (str_equal(pipeline->stage[i].pass->name, pass)) return i;
  report_stage(pipeline, pass, diags);
  return -1;
}
