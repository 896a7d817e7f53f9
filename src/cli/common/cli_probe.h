// The accesses that gemmview probe times: where they come from, each different one measured once.
//
//   CliProbe probe = {.arena = arena};
//   cli_probe_add_model(&probe, NULL, model, 0);
//   int status = cli_probe_run(&probe, worker);       probe.shown[i].different->result
#pragma once
#include "cli/common/cli_worker.h"
#include "kernels/device/probe/probe_order.h"
#include "model/words/ladder.h"

// One access as the banks see it; several sites may ask the same of them.
typedef struct DifferentAccess {
  const BankOp *op;
  const int64_t *addr;        // [BANK_LANES]
  const char *first;          // where it was met first: "swizzle, site 3"
  const ProbeResult *result;  // NULL: not measured
} DifferentAccess;

// One access as the user knows it.
typedef struct ShownAccess {
  const char *rung;  // "hgemm swizzle"; NULL: there is no ladder
  int site;          // 0: given by its addresses
  const char *name;  // "a <- A_s  LDSM.16.M88.4"
  BankCount count;
  int different;  // index
} ShownAccess;

typedef struct CliProbe {
  Arena *arena;
  int n_shown, n_different, capacity;
  ShownAccess *shown;
  DifferentAccess *different;
  int n_left_out;  // rungs that are not built, or not legal on this GPU
  const char *gpu;
} CliProbe;

void cli_probe_add(CliProbe *probe, const BankOp *op, const int64_t addr[BANK_LANES]);
// Every site of the main kernel, or the one with this number (0: all); returns how many.
int cli_probe_add_model(CliProbe *probe, const char *rung, const Model *model, int site);
// Every rung that is built and legal on the target of the worker.
void cli_probe_add_ladder(CliProbe *probe, CliWorker *worker, const TargetTable *targets,
                          const Ladder *ladder);

// Measures all of them, some at a turn. CLI_OK, or the status of what went wrong, told on stderr:
// CLI_BENCH when an access could not be measured.
int cli_probe_run(CliProbe *probe, CliWorker *worker);

// How measurement and prediction order, over all operations; orders[i] is that of operation
// banks_op_at(i).
ProbeVerdict cli_probe_judge(const CliProbe *probe, ProbeOrder *orders);
