// State line → schedule → model, with every finding kept.
//
//   -k BM=1000,BN=32   →  the rule threads_fit and its nearest value, on stderr, exit status 2
//   -k hgemm/swizzle,BK=2   →  the rung's knobs, and BK as said
#include "cli/common/cli_model.h"

#include <stdio.h>
#include <string.h>

#include "base/embed.h"
#include "base/nearest.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/tables/cli_ladder.h"
#include "kernels/toolchain/gpu_name.h"
#include "model/passes/pass.h"
#include "model/words/device.h"

// A state line may begin with a rung: "hgemm/swizzle,BK=2" is ladder "hgemm", rung "swizzle", edits
// "BK=2". false when it does not: then it is edits alone.
typedef struct StateParts {
  const char *ladder, *rung, *edits;  // NULL: there are none
} StateParts;

static bool cli_split_state(Arena *arena, const char *state, StateParts *parts) {
  while (state && *state == ' ') state++;
  *parts = (StateParts){.edits = state};
  size_t n = state ? strcspn(state, ",=") : 0, name = state ? strcspn(state, "/") : 0;
  if (name >= n || state[n] == '=') return false;
  parts->ladder = arena_strndup(arena, state, name);
  parts->rung = arena_strndup(arena, state + name + 1, n - name - 1);
  parts->edits = state[n] ? state + n + 1 : NULL;
  return true;
}

void cli_take_rung(const char **state, const char **ladder, const char **rung, Diags *diags) {
  StateParts parts;
  if (!cli_split_state(diags->arena, *state, &parts)) return;
  if (*ladder || *rung)
    diag_add(diags, "usage", "the rung is given twice: by -k %s/%s, and by --ladder or --rung",
             parts.ladder, parts.rung);
  *state = parts.edits;
  *ladder = parts.ladder;
  *rung = parts.rung;
}

// The rung's schedule, below the edits.
static bool read_rung(const StateParts *parts, Schedule *schedule, Diags *diags) {
  const Ladder *ladder = cli_ladder(diags->arena, parts->ladder, diags);
  int rung = ladder ? ladder_find_rung(ladder, parts->rung, diags) : -1;
  if (rung >= 0) *schedule = ladder->rung[rung].schedule;
  return rung >= 0;
}

bool cli_schedule(const char *state, Schedule *schedule, Diags *diags) {
  StateParts parts;
  *schedule = schedule_default();
  if (cli_split_state(diags->arena, state, &parts) && !read_rung(&parts, schedule, diags))
    return false;
  return !parts.edits || !*parts.edits || schedule_parse(schedule, parts.edits, diags);
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
  diags_add_all(diags, &model->diags);
  return NULL;
}

void cli_note_gpu(Arena *arena, const TargetTable *targets, const Schedule *schedule) {
  Device device = {0};
  if (schedule_is_given(schedule, KNOB_TARGET)) return;
  snprintf(device.name, sizeof device.name, "%s", gpu_name_at_hand(arena));
  const Target *row = *device.name ? device_target(targets, &device) : NULL;
  const Target *read = target_find(targets, schedule->target, NULL);
  if (!*device.name || row == read) return;
  cli_error(0, "this is for %s; the GPU at hand is %s%s%s", schedule->target, device.name,
            row ? ": TARGET=" : ", which has no row in gpus.json", row ? row->id : "");
}

const Model *cli_model(Arena *arena, const char *state, Diags *diags) {
  Schedule schedule;
  TargetTable *targets = ARENA_NEW(arena, TargetTable);
  if (!cli_schedule(state, &schedule, diags) || !cli_targets(arena, targets, diags)) return NULL;
  cli_note_gpu(arena, targets, &schedule);
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
