// State lines, and what a model makes of them: any bytes either give findings or a line that echoes
// to itself and a model that is built or explains why not.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli_model.h"
#include "model/readings/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const TargetTable *all_targets(void) {
  static TargetTable table;
  static Arena *keep;
  if (keep) return &table;
  keep = arena_new("targets");
  Diags diags = diags_new(keep);
  if (!cli_targets(keep, &table, &diags)) abort();
  return &table;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const TargetTable *targets = all_targets();
  Arena *arena = arena_new("fuzz");
  Diags diags = diags_new(arena);
  Schedule schedule = schedule_default(), again = schedule;
  char *text = arena_strndup(arena, (const char *)data, size);
  if (schedule_parse(&schedule, text, &diags)) {
    char *echo = schedule_text(arena, &schedule);
    if (!schedule_parse(&again, echo, &diags) || !schedule_same(&schedule, &again)) abort();
    const Model *model = model_build(arena, targets, &schedule);
    if (model->ok == (model->diags.count > 0)) abort();
  } else if (diags.count == 0) {
    abort();
  }
  arena_free(arena);
  return 0;
}
