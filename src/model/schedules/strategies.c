// The orders in which a slab's fragments may be read: each row is a schedule near the one at hand,
// built and read by the same pipeline and steps.
#include "model/schedules/strategies.h"

#include "base/str.h"
#include "model/passes/pass.h"
#include "model/readings/derive.h"
#include "model/readings/rules/knob_use.h"
#include "model/readings/rules/rule.h"

typedef struct StrategyRow {
  const char *name;
  int64_t order, interleave, buffer;
} StrategyRow;

static const StrategyRow rows[STRATEGIES_MAX] = {
    {"along K, a k-step at a time", 0, 0, 1},      {"along K, A just before its use", 0, 1, 1},
    {"along K, a k-step ahead", 0, 0, 2},          {"the whole slab up front", 1, 0, 1},
    {"A row by row, B column by column", 2, 0, 1},
};

static Schedule with(const Schedule *schedule, const StrategyRow *row) {
  Schedule tried = *schedule;
  if (knob_is_used(KNOB_FRAG_ORDER, schedule)) tried.value[KNOB_FRAG_ORDER] = row->order;
  tried.value[KNOB_INTERLEAVE_LOADS] = row->interleave;
  tried.value[KNOB_FRAG_BUFFER] = row->buffer;
  if (row->order) tried.value[KNOB_COPY_STEPS] = 0;
  return tried;
}

static const char *strategy_knobs(Arena *arena, const Schedule *schedule, const StrategyRow *row) {
  Str out = str_new(arena);
  if (knob_is_used(KNOB_FRAG_ORDER, schedule))
    str_printf(&out, "FRAG_ORDER=%lld,", (long long)row->order);
  str_printf(&out, "INTERLEAVE_LOADS=%lld,FRAG_BUFFER=%lld", (long long)row->interleave,
             (long long)row->buffer);
  if (row->order && schedule->value[KNOB_COPY_STEPS]) str_add(&out, ",COPY_STEPS=0");
  return out.text;
}

static Strategy try_row(Arena *arena, const Model *model, const StrategyRow *row) {
  Strategy strategy = {.name = row->name};
  strategy.knobs = strategy_knobs(arena, &model->schedule, row);
  Schedule tried = with(&model->schedule, row);
  const Schedule now = model->schedule;
  strategy.now =
      now.value[KNOB_FRAG_BUFFER] == row->buffer &&
      tried.value[KNOB_FRAG_ORDER] == now.value[KNOB_FRAG_ORDER] &&
      (row->order || row->buffer == 2 || now.value[KNOB_INTERLEAVE_LOADS] == row->interleave);
  Diags diags = diags_new(arena);
  rules_check_knobs(&tried, model->target, &diags);
  if (diags.count) {
    strategy.why = diags.first->text;
    return strategy;
  }
  Pipeline pipeline = pipeline_run(arena, &tried);
  const Program *program = pipeline.stage[pipeline.n_stages - 1].program;
  strategy.steps = derive_steps(arena, program);
  strategy.n_registers = derive_resources(program, model->target).n_needed;
  return strategy;
}

int derive_strategies(Arena *arena, const Model *model, Strategy out[STRATEGIES_MAX]) {
  int n = 0;
  if (!model->ok || model->schedule.value[KNOB_STAGE] == 0) return 0;
  const Atom *atom = program_atom(model->program);
  if (atom && atom_reads_tiles(atom))
    return 0;  // tiles are read where they lie, so there is no order to choose
  for (int i = 0; i < STRATEGIES_MAX; i++) {
    if (rows[i].order && !knob_is_used(KNOB_FRAG_ORDER, &model->schedule)) continue;
    out[n++] = try_row(arena, model, &rows[i]);
  }
  return n;
}
