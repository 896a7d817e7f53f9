// A request with the state that the text was written from, and words for what comes back.
#include "cli/common/cli_clock.h"

#include "base/str.h"
#include "cli/common/cli_model.h"
#include "kernels/device/history/history.h"
#include "model/words/device.h"

// As long as a typed command may wait for the compiler.
enum { DEADLINE_MS = 120000 };

WorkerAnswer *cli_clock_submit(CliWorker *worker, Arena *arena, const Model *model,
                               const Plan *plan, const char *label) {
  const WorkerMachine machine = cli_worker_machine(worker);
  const ClientRequest request = {.kind = MESSAGE_COMPILE,
                                 .plan = plan,
                                 .want = "cubin,clock",
                                 .state = schedule_record_text(arena, &model->schedule),
                                 .device = &machine.device,
                                 .keep = true,
                                 .deadline_ms = DEADLINE_MS};
  return cli_worker_submit(worker, &request, label);
}

Estimate cli_clock_estimate(const Calibration *fits, const Model *model,
                            const WorkerAnswer *answer) {
  const ClockNumber *number = answer ? answer->clock : NULL;
  return number && !number->why_not ? estimate_clocked(&number->speed) : estimate_of(fits, model);
}

const Calibration *cli_fits(CliWorker *worker, Arena *arena, const Target *target) {
  const WorkerMachine machine = cli_worker_machine(worker);
  TargetTable targets;
  Diags diags = diags_new(arena);
  if (!*machine.device.name || !cli_targets(arena, &targets, &diags)) return NULL;
  const Target *row = device_target(&targets, &machine.device);
  if (!row || !str_equal(row->id, target->id)) return NULL;
  History *history = history_open(arena, NULL, &diags);
  if (!history) return NULL;
  HistoryCalibration rows[CALIBRATION_FAMILIES];
  const int n =
      history_calibrations(history, arena, machine.device.name, rows, CALIBRATION_FAMILIES);
  history_close(history);
  return n > 0 ? history_fits(arena, rows, n, machine.device.name) : NULL;
}

const char *cli_estimate_text(Arena *arena, const Estimate *estimate) {
  char said[ESTIMATE_SAID_BYTES];
  if (!(estimate->tflops > 0)) return "unknown";
  return arena_printf(arena, "%s %.3g TFLOP/s %s", estimate_word(estimate), estimate->tflops,
                      estimate_said(said, estimate, false));
}

const char *cli_estimate_cell(Arena *arena, const Estimate *estimate) {
  if (!(estimate->tflops > 0)) return "-";
  return arena_printf(arena, "%s%.1f", estimate->by == ESTIMATE_CLOCK ? "" : "~", estimate->tflops);
}
