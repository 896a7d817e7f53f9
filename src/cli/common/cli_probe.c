// From schedules to measurements and to a verdict.
//
// Rungs share most of their accesses: fp32, hgemm and tf32 have some 200 sites, which are 50
// different accesses. Only those are compiled and timed, eight at a turn, so that others who wait
// for the GPU wait a second or two. The verdict counts different accesses too: a pair that occurs
// in ten rungs is one pair.
#include "cli/common/cli_probe.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"

enum { EACH_TURN = 8 };

// ---- collecting ---------------------------------------------------------------------------------

static void make_room(CliProbe *probe) {
  if (probe->n_shown < probe->capacity) return;
  const int capacity = probe->capacity ? 2 * probe->capacity : 64;
  ShownAccess *shown = ARENA_ARRAY(probe->arena, ShownAccess, capacity);
  DifferentAccess *different = ARENA_ARRAY(probe->arena, DifferentAccess, capacity);
  if (probe->n_shown) memcpy(shown, probe->shown, sizeof *shown * (size_t)probe->n_shown);
  if (probe->n_different)
    memcpy(different, probe->different, sizeof *different * (size_t)probe->n_different);
  probe->shown = shown;
  probe->different = different;
  probe->capacity = capacity;
}

static int find_different(CliProbe *probe, const BankOp *op, const int64_t *addr,
                          const char *first) {
  for (int i = 0; i < probe->n_different; i++) {
    const DifferentAccess *other = &probe->different[i];
    if (other->op == op && probe_same(op, other->addr, addr)) return i;
  }
  int64_t *copy = ARENA_ARRAY(probe->arena, int64_t, BANK_LANES);
  memcpy(copy, addr, sizeof *copy * BANK_LANES);
  probe->different[probe->n_different] = (DifferentAccess){.op = op, .addr = copy, .first = first};
  return probe->n_different++;
}

void cli_probe_add(CliProbe *probe, const BankOp *op, const int64_t addr[BANK_LANES]) {
  make_room(probe);
  probe->shown[probe->n_shown++] = (ShownAccess){
      .name = "given",
      .count = banks_count(op, addr),
      .different = find_different(probe, op, addr, "given"),
  };
}

static void add_site(CliProbe *probe, const char *rung, const Site *site) {
  make_room(probe);
  const char *first =
      arena_printf(probe->arena, "%s%ssite %d", rung ? rung : "", rung ? ", " : "", site->number);
  probe->shown[probe->n_shown++] = (ShownAccess){
      .rung = rung,
      .site = site->number,
      .name = arena_strdup(probe->arena, site->text),
      // The probe copies from sources of its own.
      .count = banks_count(site->op, site->addr),
      .different = find_different(probe, site->op, site->addr, first),
  };
}

int cli_probe_add_model(CliProbe *probe, const char *rung, const Model *model, int site) {
  const int before = probe->n_shown;
  for (int i = 0; i < model->n_sites; i++)
    if (!site || model->site[i].number == site) add_site(probe, rung, &model->site[i]);
  return probe->n_shown - before;
}

static void add_rung(CliProbe *probe, CliWorker *worker, const TargetTable *targets,
                     const char *name, const Rung *rung) {
  Arena *scratch = arena_new("probed rung");
  Diags unused = diags_new(scratch);
  Schedule schedule = rung->schedule;
  cli_worker_set_target(worker, targets, &schedule);
  const Model *model = rung->not_built ? NULL : cli_model_of(scratch, targets, &schedule, &unused);
  if (model)
    cli_probe_add_model(probe, name, model, 0);
  else
    probe->n_left_out++;
  arena_free(scratch);
}

void cli_probe_add_ladder(CliProbe *probe, CliWorker *worker, const TargetTable *targets,
                          const Ladder *ladder) {
  for (int i = 0; i < ladder->n_rungs; i++) {
    const Rung *rung = &ladder->rung[i];
    add_rung(probe, worker, targets, arena_printf(probe->arena, "%s %s", ladder->name, rung->name),
             rung);
  }
}

// ---- measuring ----------------------------------------------------------------------------------

static WorkerAnswer *ask(CliProbe *probe, CliWorker *worker, int from, int n) {
  ProbeAccess access[EACH_TURN];
  const ProbeRequest request = {.n = n, .access = access};
  for (int i = 0; i < n; i++) {
    access[i].op = probe->different[from + i].op->name;
    memcpy(access[i].addr, probe->different[from + i].addr, sizeof access[i].addr);
  }
  const ClientRequest asked = {.kind = MESSAGE_PROBE, .probe = &request};
  return cli_worker_submit(
      worker, &asked,
      arena_printf(probe->arena, "access %d to %d of %d", from + 1, from + n, probe->n_different));
}

// A worker that measured other accesses than those it was asked for is not believed.
static int take(CliProbe *probe, const ProbeResults *results, int from, int n) {
  int status = CLI_OK;
  if (!results || results->n != n) return cli_error(CLI_BENCH, "the worker did not measure all");
  for (int i = 0; i < n; i++) {
    DifferentAccess *different = &probe->different[from + i];
    const ProbeResult *result = &results->result[i];
    if (!str_equal(result->op, different->op->name))
      return cli_error(CLI_BENCH, "the worker measured %s, not %s", result->op,
                       different->op->name);
    different->result = result;
    if (result->gpu) probe->gpu = result->gpu;
    if (result->ok) continue;
    status = cli_error(CLI_BENCH, "%s: %s", different->first,
                       result->error ? result->error : "not measured");
  }
  return status;
}

int cli_probe_run(CliProbe *probe, CliWorker *worker) {
  int status = CLI_OK;
  for (int from = 0; from < probe->n_different; from += EACH_TURN) {
    const int left = probe->n_different - from, n = left < EACH_TURN ? left : EACH_TURN;
    WorkerAnswer *answer = ask(probe, worker, from, n);
    if (!cli_worker_wait(worker, answer)) return cli_error(answer->status, "%s", answer->error);
    const int its = take(probe, answer->probe, from, n);
    if (its) status = its;
  }
  return status;
}

ProbeVerdict cli_probe_judge(const CliProbe *probe, ProbeOrder *orders) {
  const ProbeResult **results =
      ARENA_ARRAY(probe->arena, const ProbeResult *, probe->n_different + 1);
  for (int i = 0; i < probe->n_different; i++) results[i] = probe->different[i].result;
  for (int i = 0; i < banks_op_count(); i++)
    orders[i] = probe_order(results, probe->n_different, banks_op_at(i)->name);
  return probe_verdict(orders, banks_op_count());
}
