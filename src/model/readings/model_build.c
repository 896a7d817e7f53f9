// Knobs in, everything else out: one generation of the model.
//
// Order matters for the user: an unknown GPU is told first, then every rule about knobs, and only
// when all of those hold is there a program whose resources the remaining rules look at.
#include "model/readings/model.h"

#include "model/readings/cost/merge.h"
#include "model/readings/derive.h"
#include "model/readings/rules/rule.h"
#include "model/readings/time/waits.h"

static void set_sites(Model *model, Sites sites) {
  model->n_sites = sites.n;
  model->site = sites.site;
  model->totals = derive_totals(&sites);
  model->lines = sites.lines;
  model->copies = sites.copies;
}

const Model *model_build(Arena *arena, const TargetTable *targets, const Schedule *schedule) {
  Model *model = ARENA_NEW(arena, Model);
  model->schedule = *schedule;
  model->diags = diags_new(arena);
  model->target = target_find(targets, schedule->target, &model->diags);
  if (!model->target) return model;
  rules_check_knobs(schedule, model->target, &model->diags);
  if (model->diags.count) return model;
  model->pipeline = pipeline_run(arena, schedule);
  model->program = model->pipeline.stage[model->pipeline.n_stages - 1].program;
  model->resources = derive_resources(model->program, model->target);
  rules_check_program(model, &model->diags);
  if (model->diags.count) return model;
  Sites written = derive_sites(arena, model->program);
  MachineAccesses merged = merge_predict(arena, model->program, &written);
  set_sites(model, sites_executed(arena, &written, &merged, ACCESS_PREDICTED));
  model->text = program_print(arena, model->program);
  model->global = derive_globals(arena, model->program, model->n_sites + 1);
  model->traffic = derive_traffic(arena, model);
  model->waits = derive_waits(arena, model->program);
  model->ok = true;
  return model;
}

int model_site_number(const Model *model, const Stmt *stmt) {
  for (int i = 0; stmt && i < model->n_sites; i++)
    if (model->site[i].stmt == stmt) return model->site[i].number;
  for (int i = 0; stmt && i < model->global.n; i++)
    if (model->global.site[i].stmt == stmt) return model->global.site[i].number;
  return 0;
}

const Model *model_compiled(Arena *arena, const Model *model, int registers, int spill_bytes,
                            const MachineAccesses *machine) {
  Model *compiled = ARENA_NEW(arena, Model);
  *compiled = *model;
  if (registers >= 0)
    compiled->resources =
        resources_with_registers(&model->resources, model->target, registers, spill_bytes);
  if (machine) {
    Sites before = {model->n_sites, model->site, model->lines, model->copies};
    set_sites(compiled, sites_executed(arena, &before, machine, ACCESS_COMPILED));
  }
  compiled->traffic = derive_traffic(arena, compiled);
  return compiled;
}

const Model *model_as_written(Arena *arena, const Model *model) {
  Model *written = ARENA_NEW(arena, Model);
  Site *site = ARENA_ARRAY(arena, Site, model->n_sites);
  *written = *model;
  for (int i = 0; i < model->n_sites; i++) site[i] = *model->site[i].written;
  set_sites(written, (Sites){model->n_sites, site, model->lines, model->copies});
  return written;
}
