// Facts about what runs: how accesses were written and how they are executed, what that makes of a
// whole kernel, and what a GPU's counters said of it.
//
// Worked example, four cells of B read one by one from a slab row whose length is a multiple of
// four: `joined b<-B_s` 4, `written_wavefronts b<-B_s` 4 for each of them, `wavefronts b<-B_s` 4
// for the one LDS.128 that they become.
#include "model/fact_compute.h"
#include "model/rewrite.h"

// ---- one access ---------------------------------------------------------------------------------

#define FORM_FACT(name, expression)                                                                \
  bool fact_##name(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) { \
    const Site *site = fact_counted_site(scene, args, diags);                                      \
    if (!site) return false;                                                                       \
    value->number = (double)(expression);                                                          \
    return true;                                                                                   \
  }
FORM_FACT(joined, site->form[0].op->bytes / site->written->op->bytes)
FORM_FACT(written_wavefronts, site->written->count.wavefronts)
FORM_FACT(written_ways, site->written->count.ways)

bool fact_written(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  const Site *site = fact_find_site(scene, args->word[0], diags);
  if (site) value->word = site->written->text;
  return site != NULL;
}

// ---- the whole kernel ---------------------------------------------------------------------------

static bool reads(const Site *site) {
  return site->op->kind == BANK_LOAD || site->op->kind == BANK_LDMATRIX;
}
static bool copies(const Site *site) { return site->op->kind == BANK_CPASYNC; }

// Of all blocks and slabs, as the profiler's per-instruction counters have them.
static double of_kernel(const Model *model, bool (*counts)(const Site *site)) {
  const Stmt *k_o = slab_loop(model->program);
  double sum = 0;
  for (int i = 0; i < model->n_sites; i++)
    if (counts(&model->site[i])) sum += model->site[i].profiled;
  return sum * (k_o ? (double)k_o->var->extent : 0) * (double)model->resources.n_blocks;
}

bool fact_kernel_lds(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  (void)args, (void)diags;
  value->number = of_kernel(scene->model, reads);
  return true;
}

bool fact_kernel_ldgsts(const FactScene *scene, const FactArgs *args, FactValue *value,
                        Diags *diags) {
  (void)args, (void)diags;
  value->number = of_kernel(scene->model, copies);
  return true;
}

// ---- counters -----------------------------------------------------------------------------------

static bool find_counters(const FactScene *scene, FactCounters *counters, Diags *diags) {
  const FactWorld *world = scene->world;
  const Schedule *schedule = &scene->model->schedule;
  if (world->counted && world->counted(world->counters, schedule, counters)) return true;
  diag_add(diags, "record", "nothing was counted of %s", schedule_text(scene->arena, schedule));
  return false;
}

#define COUNTER_FACT(name, field)                                                                  \
  bool fact_##name(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) { \
    FactCounters counters;                                                                         \
    (void)args;                                                                                    \
    if (!find_counters(scene, &counters, diags)) return false;                                     \
    value->number = counters.field;                                                                \
    return true;                                                                                   \
  }
COUNTER_FACT(counted_lds, wavefronts_lds)
COUNTER_FACT(counted_ldgsts, wavefronts_ldgsts)
COUNTER_FACT(counted_us, time_us)

bool fact_counted_on(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  FactCounters counters;
  (void)args;
  if (!find_counters(scene, &counters, diags)) return false;
  value->word = arena_printf(scene->arena, "%s, %.10s", counters.gpu, counters.date);
  return true;
}
