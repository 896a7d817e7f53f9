// Facts about the run: accesses as written and as executed, their effect on a whole kernel, and the
// counters of a GPU.
//
// Worked example, four cells of B read one by one from a slab row whose length is a multiple of
// four: `joined b<-B_s` 4, `written_wavefronts b<-B_s` 4 for each of them, `wavefronts b<-B_s` 4
// for the one LDS.128 that they become.
#include "model/ir/rewrite.h"
#include "model/ir/stmt.h"
#include "model/lessons/fact_compute.h"

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

bool fact_instruction(const FactScene *scene, const FactArgs *args, FactValue *value,
                      Diags *diags) {
  const Site *site = fact_find_site(scene, args->word[0], diags);
  if (site) value->word = site->op->sass;
  return site != NULL;
}

bool fact_written_instruction(const FactScene *scene, const FactArgs *args, FactValue *value,
                              Diags *diags) {
  const Site *site = fact_find_site(scene, args->word[0], diags);
  if (site) value->word = site->written->op->sass;
  return site != NULL;
}

// ---- the whole kernel ---------------------------------------------------------------------------

// Per slab, as the profiler's per-instruction counters have them.
static double reads(const Site *site) {
  bool is_read = site->op->kind == BANK_LOAD || site->op->kind == BANK_LDMATRIX;
  return is_read ? site->profiled : 0;
}
static double written_reads(const Site *site) { return reads(site->written); }
static double copies(const Site *site) {
  return site->op->kind == BANK_CPASYNC ? site->profiled : 0;
}

// Sums the wavefronts of all blocks and slabs.
static double of_kernel(const Model *model, double (*wavefronts)(const Site *site)) {
  const Stmt *k_o = program_slab_loop(model->program);
  double sum = 0;
  for (int i = 0; i < model->n_sites; i++) sum += wavefronts(&model->site[i]);
  return sum * (k_o ? (double)k_o->var->extent : 0) * (double)model->resources.n_blocks;
}

#define KERNEL_FACT(name, wavefronts)                                                              \
  bool fact_##name(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) { \
    (void)args, (void)diags;                                                                       \
    value->number = of_kernel(scene->model, wavefronts);                                           \
    return true;                                                                                   \
  }
KERNEL_FACT(kernel_lds, reads)
KERNEL_FACT(written_lds, written_reads)
KERNEL_FACT(kernel_ldgsts, copies)

// ---- counters -----------------------------------------------------------------------------------

static bool find_count(const FactScene *scene, const char *name, FactCount *count, Diags *diags) {
  const FactWorld *world = scene->world;
  const Schedule *schedule = &scene->model->schedule;
  if (world->counted && world->counted(world->counters, schedule, name, count)) return true;
  diag_add(diags, "record", "%s was not counted", schedule_text(scene->arena, schedule));
  return false;
}

#define COUNTER_FACT(fact, name)                                                                   \
  bool fact_##fact(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) { \
    FactCount count;                                                                               \
    (void)args;                                                                                    \
    if (!find_count(scene, name, &count, diags)) return false;                                     \
    value->number = count.number;                                                                  \
    return true;                                                                                   \
  }
COUNTER_FACT(counted_lds, "wavefronts_lds")
COUNTER_FACT(counted_ldgsts, "wavefronts_ldgsts")
COUNTER_FACT(counted_us, "time_us")
COUNTER_FACT(compiled_registers, "registers")
COUNTER_FACT(compiled_stack, "stack_bytes")
COUNTER_FACT(compiled_lane_loops, "lane_loops")
COUNTER_FACT(compiled_spill_stores, "spill_store_bytes")
COUNTER_FACT(compiled_spill_loads, "spill_load_bytes")
COUNTER_FACT(compiled_spills, "spill_instructions")
COUNTER_FACT(compiled_loop_spills, "loop_spill_instructions")

bool fact_stalled(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) {
  FactCount count;
  const char *name = arena_printf(scene->arena, "stall_%s_percent", args->word[0]);
  if (!find_count(scene, name, &count, diags)) return false;
  value->number = count.number;
  return true;
}

// A figure of the kernel with a copy at another place: "place_K_s_18_registers".
#define PLACED_FACT(fact, figure)                                                                  \
  bool fact_##fact(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) { \
    FactCount count;                                                                               \
    const char *name =                                                                             \
        arena_printf(scene->arena, "place_%s_%s_" figure, args->word[0], args->word[1]);           \
    if (!find_count(scene, name, &count, diags)) return false;                                     \
    value->number = count.number;                                                                  \
    return true;                                                                                   \
  }
PLACED_FACT(placed_registers, "registers")
PLACED_FACT(placed_spill_stores, "spill_store_bytes")
PLACED_FACT(placed_instructions, "instructions")

// "NVIDIA H200, 2026-11-22": of the number that such a line always has.
#define COUNTED_BY_FACT(fact, name)                                                                \
  bool fact_##fact(const FactScene *scene, const FactArgs *args, FactValue *value, Diags *diags) { \
    FactCount count;                                                                               \
    (void)args;                                                                                    \
    if (!find_count(scene, name, &count, diags)) return false;                                     \
    value->word = arena_printf(scene->arena, "%s, %.10s", count.by, count.date);                   \
    return true;                                                                                   \
  }
COUNTED_BY_FACT(counted_on, "time_us")
COUNTED_BY_FACT(compiled_by, "registers")
COUNTED_BY_FACT(stalled_on, "stall_long_scoreboard_percent")
