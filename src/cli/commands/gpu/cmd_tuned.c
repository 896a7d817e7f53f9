// gemmview tuned: the best kernel that this machine's history has of each problem on each GPU, and
// what searches there found the rooflines to be.
//
//   when                  who       TFLOP/s  cuBLAS  GPU          state
//   2026-11-23T13:54:03Z  ana         52.90   1.010  NVIDIA H200  AUTO=0,M=4096,N=4096,…
//
//   GPU          family    points  off by  order  factors (1: the data sheet)
//   NVIDIA H200  fma          800    12 %   0.94  fma=1.02 mma=1 …
//
// --header DIR writes the kernels of one GPU as a library with a C header (export_library.h).
//
// Right ones only, by their time, whatever stood beside them (history_best).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/disk.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "cli/common/tables/cli_factors.h"
#include "cli/common/tables/history_rows.h"
#include "kernels/device/timing.h"
#include "kernels/toolchain/export/export_inside.h"
#include "kernels/toolchain/export/export_library.h"
#include "model/ir/program.h"
#include "model/words/device.h"

enum { ROWS_MAX = 100000, FITS_MAX = 64 * CALIBRATION_FAMILIES };

typedef struct TunedOptions {
  bool json, csv, calibrations;
  const char *header, *gpu;
} TunedOptions;

static const Option options[] = {
    OPTION_JSON(TunedOptions),
    OPTION_CSV(TunedOptions),
    {.name = "header", .kind = OPTION_KIND_TEXT, .offset = offsetof(TunedOptions, header)},
    {.name = "gpu", .kind = OPTION_KIND_TEXT, .offset = offsetof(TunedOptions, gpu)},
    {.name = "calibrations",
     .kind = OPTION_KIND_FLAG,
     .offset = offsetof(TunedOptions, calibrations)},
};

// ---- calibrations -------------------------------------------------------------------------------

static const char *date_of(Arena *arena, const HistoryCalibration *row) {
  return history_date(arena, &(HistoryRow){.when_unix = row->when_unix});
}

static void print_fits(Arena *arena, const HistoryCalibration *rows, int n) {
  if (n == 0) puts("no search here has enough times to fit a roofline");
  if (n) printf("%-32s %-20s %6s %7s %6s\n", "GPU", "family", "points", "off by", "order");
  for (int i = 0; i < n; i++) {
    const Calibration *fit = &rows[i].fit;
    printf("%-32s %-20s %6d %5.0f %% %6.2f\n", str_sanitise(arena, rows[i].gpu),
           calibration_family_name(rows[i].family), fit->n, 100 * (exp(fit->error) - 1),
           fit->order);
    cli_print_factors(fit);
  }
  if (n) puts("factors: 2 = twice the time of the data sheet; unmoved limits are left out");
}

typedef struct TunedFits {
  int n;
  const HistoryCalibration *row;
} TunedFits;

#define FORM_FILE "cli/commands/forms/cmd_tuned.form"
#include "base/form_make.h"

static int show_calibrations(Arena *arena, bool json) {
  History *history = history_opened(arena);
  if (!history) return CLI_MISSING;
  HistoryCalibration *rows = ARENA_ARRAY(arena, HistoryCalibration, FITS_MAX);
  const int n = history_calibrations(history, arena, NULL, rows, FITS_MAX);
  const char *failure = history_failure(history);
  if (json)
    cli_print_document(arena, &tuned_calibrations_form, &(TunedFits){n, rows}, NULL);
  else
    print_fits(arena, rows, n);
  history_close(history);
  return failure ? cli_error(CLI_MISSING, "the history: %s", failure) : CLI_OK;
}

// ---- the library --------------------------------------------------------------------------------

// Whether the row's kernel belongs to the library; its model then. A state that is no longer legal
// is told of. Attention has no place in a library of products, and factors have none in its calls.
static const Model *model_of_row(Arena *arena, const TargetTable *targets, const HistoryRow *row) {
  Diags diags = diags_new(arena);
  Device device = {0};
  Schedule schedule = schedule_plain();
  snprintf(device.name, sizeof device.name, "%s", row->gpu);
  const Target *target = device_target(targets, &device);
  if (!target || !schedule_parse(&schedule, row->state, &diags)) return NULL;
  device_take_target(targets, target, &schedule);
  const Model *model = model_build(arena, targets, &schedule);
  const Problem *problem = model->ok ? &model->program->problem : NULL;
  const bool product = problem && problem->kind == PROBLEM_MATMUL;
  return product && !dtype_is_scaled(problem->dtype) ? model : NULL;
}

// The GPU with the wanted kernels goes to *out; else the reason is said why there is none.
static int only_gpu(Arena *arena, const char *asked, const HistoryRow *rows, int n,
                    const char **out) {
  const char *found = NULL;
  for (int i = 0; i < n; i++) {
    if (asked && !strstr(rows[i].gpu, asked)) continue;
    if (found && !str_equal(found, rows[i].gpu))
      return cli_error(CLI_USAGE, "the history has kernels of %s and of %s: choose one with --gpu",
                       str_sanitise(arena, found), str_sanitise(arena, rows[i].gpu));
    found = rows[i].gpu;
  }
  *out = found;
  return found
             ? CLI_OK
             : cli_error(CLI_MISSING, "no correct kernel was timed here yet%s%s",
                         asked ? " on a GPU called " : "", asked ? str_sanitise(arena, asked) : "");
}

static int write_library(Arena *arena, const char *folder, const char *gpu,
                         const LibraryKernel *kernels, int n, int n_left_out) {
  if (n == 0) return cli_error(CLI_MISSING, "no kernel of a product was timed on %s", gpu);
  if (!disk_make_folders(arena_printf(arena, "%s/x", folder)))
    return cli_error(CLI_MISSING, "%s cannot be made", str_sanitise(arena, folder));
  const LibraryFile *files = export_library(arena, gpu, kernels, n);
  for (int i = 0; i < n + 2; i++) {
    const int status =
        cli_write(arena, arena_printf(arena, "%s/%s", folder, files[i].name), files[i].text);
    if (status != CLI_OK) return status;
  }
  printf("%d kernel%s of %s in %s", n, plural_s(n), gpu, str_sanitise(arena, folder));
  if (n_left_out) printf("; %d left out: attention, or no longer legal", n_left_out);
  printf("\nnvcc -O3 %s -lib -o libgemm_tuned.a *.cu\n",
         export_arch_flags(arena, kernels[0].model->target));
  return CLI_OK;
}

static int write_header(Arena *arena, const TunedOptions *given, Diags *diags) {
  TargetTable targets;
  History *history = history_opened(arena);
  if (!history) return CLI_MISSING;
  HistoryRow *rows = ARENA_ARRAY(arena, HistoryRow, ROWS_MAX);
  const int n_rows = history_best(history, arena, rows, ROWS_MAX);
  history_close(history);
  const char *gpu = NULL;
  const int status = only_gpu(arena, given->gpu, rows, n_rows, &gpu);
  if (status != CLI_OK) return status;
  if (!cli_targets(arena, &targets, diags)) return cli_fail(diags);
  LibraryKernel *kernels = ARENA_ARRAY(arena, LibraryKernel, n_rows + 1);
  int n = 0, n_left_out = 0;
  const char *said = gpu;
  for (int i = 0; i < n_rows; i++) {
    if (!str_equal(rows[i].gpu, gpu)) continue;
    if (timing_is_simulated(rows[i].method)) said = history_gpu(arena, &rows[i]);
    const Model *model = model_of_row(arena, &targets, &rows[i]);
    if (model)
      kernels[n++] = (LibraryKernel){model, rows[i].time_ns, rows[i].cublas_time_ns,
                                     history_date(arena, &rows[i])};
    n_left_out += !model;
  }
  return write_library(arena, given->header, str_sanitise(arena, said), kernels, n, n_left_out);
}

// ---- the command --------------------------------------------------------------------------------

int cmd_tuned(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  TunedOptions given = {0};
  const int n_options = sizeof options / sizeof options[0];
  if (!options_parse(options, n_options, &given, &argc, argv, &diags)) return cli_fail(&diags);
  if (argc > 1)
    return cli_error(CLI_USAGE, "\"%s\": gemmview tuned takes only options",
                     str_sanitise(arena, argv[1]));
  if (given.calibrations && given.csv)
    return cli_error(CLI_USAGE, "--calibrations are written as text or with --json");
  if (given.gpu && !given.header)
    return cli_error(CLI_USAGE, "--gpu goes with --header: it names the GPU");
  if (given.header && (given.calibrations || given.json || given.csv))
    return cli_error(CLI_USAGE, "--header writes files: leave out --json and --csv");
  if (given.header) return write_header(arena, &given, &diags);
  if (given.calibrations) return show_calibrations(arena, given.json);
  return history_rows_print(
      arena, &(HistoryRowsAsked){"tuned", history_best, "no correct kernel was timed here yet",
                                 ROWS_MAX, given.json, given.csv});
}
