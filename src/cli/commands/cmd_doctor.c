// gemmview doctor: what this machine has of what the program can use, and what follows where
// something is missing.
//
// One row per finding: what, whether it was found, where or why not, and the consequence. The
// libraries are opened here; the GPU is asked for its name and limits by a worker, as in the
// explorer, so a driver that hangs does not hang this, and no timing is disturbed.
//
//   NVRTC      ok       /usr/local/cuda/lib64/libnvrtc.so.13
//   nvdisasm   missing  not on PATH: no SASS; PTX and register counts are there
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/embed.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/cli_worker.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "kernels/device/history/history.h"
#include "kernels/device/history/history_file.h"
#include "kernels/device/nvml.h"
#include "kernels/toolchain/cache.h"
#include "kernels/toolchain/dl.h"
#include "kernels/toolchain/machine/sass.h"

enum { FINDINGS_MAX = 32 };

typedef struct Finding {
  const char *what, *detail, *consequence;
  bool found;
} Finding;

typedef struct Report {
  Arena *arena;
  Finding findings[FINDINGS_MAX];
  int count;
} Report;

typedef struct DoctorOptions {
  bool json;
  OptionList worker;
} DoctorOptions;

static const Option options[] = {OPTION_JSON(DoctorOptions), OPTION_WORKER(DoctorOptions)};

static void add(Report *r, const char *what, bool found, const char *detail,
                const char *consequence) {
  if (r->count < FINDINGS_MAX)
    r->findings[r->count++] = (Finding){what, detail, consequence, found};
}

static void check_libraries(Report *r) {
  static const char *const without[DL_N] = {
      [DL_CUDA] = "no kernel runs here; recorded results replace measured ones",
      [DL_NVRTC] = "no PTX, registers or spills; the CUDA text is still shown",
      [DL_CUBLAS] = "kernels are timed without cuBLAS beside them",
      [DL_CUBLASLT] = "the reference is cublasGemmEx alone",
      [DL_NVML] = "clocks and throttle reasons are unknown; timings are marked less certain",
  };
  for (int i = 0; i < DL_N; i++) {
    DlStatus status = dl_status((DlLibrary)i);
    add(r, status.name, status.path != NULL, status.path ? status.path : status.error, without[i]);
  }
  const char *driver = nvml_driver_version(r->arena);
  add(r, "driver", driver != NULL, driver ? driver : "NVML reports none",
      "kernels are compiled but not run here");
  const char *tool = sass_find_tool(r->arena);
  add(r, "nvdisasm", tool != NULL, tool ? tool : "not on PATH nor in a toolkit that was found",
      "no SASS; PTX and register counts are there");
}

// If the driver and the table disagree, the explorer and all that measures go by the driver.
static void check_row(Report *r, const Device *device) {
  Diags diags = diags_new(r->arena);
  TargetTable table;
  if (!cli_targets(r->arena, &table, &diags)) return;
  const DeviceWord word = device_apply(r->arena, device, &table);
  const Target *row = word.row;
  add(r, "its row", row != NULL,
      row ? arena_printf(r->arena, "%s, %s (%s)", row->id, row->name, row->arch)
          : "gpus.json has no row for it",
      "the default h200 is assumed everywhere");
  for (int i = 0; i < word.n; i++)
    add(r, "row differs", false, device_difference_text(r->arena, row, &word.differs[i]),
        "the explorer and commands that measure use the driver's numbers; other commands use the "
        "row");
}

static void check_gpu(Report *r, const DoctorOptions *given) {
  Diags diags = diags_new(r->arena);
  CliWorker *worker = cli_worker_open(r->arena, &given->worker, false, &diags);
  WorkerMachine machine = {.gpu = "", .gpu_error = diags.first ? diags.first->text : ""};
  if (worker) machine = cli_worker_machine(worker);
  add(r, "GPU", *machine.gpu, *machine.gpu ? machine.gpu : machine.gpu_error,
      "nothing is timed here; results recorded on an H200 replace times");
  if (*machine.gpu) check_row(r, &machine.device);
  if (worker) cli_worker_close(worker);
}

static void check_terminal(Report *r) {
  const char *term = getenv("TERM");
  add(r, "TERM", term && *term, term && *term ? str_sanitise(r->arena, term) : "not set",
      "the explorer uses xterm-256color");
  struct winsize size = {0};
  bool is_terminal = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  bool fits = is_terminal && size.ws_col >= 80 && size.ws_row >= 24;
  add(r, "screen", fits || !is_terminal,
      is_terminal ? arena_printf(r->arena, "%d x %d", size.ws_col, size.ws_row)
                  : "standard output is not a terminal",
      "below 80 x 24 views leave out parts; below 40 x 12 they only ask for a larger window");
  const char *codeset = nl_langinfo(CODESET);
  add(r, "UTF-8", str_equal_fold(codeset, "UTF-8"), codeset,
      "screens are drawn in ASCII; LANG=C.UTF-8 gives lines and blocks");
}

// Where it is, and what became of those before it.
static const char *history_words(Arena *arena, const char *path) {
  const char *last = NULL;
  const int n = history_file_count_aside(arena, path, &last);
  const char *shown = str_sanitise(arena, path);
  if (n == 0) return shown;
  return arena_printf(arena, "%s; damaged and put aside beside it: %s%s", shown, last,
                      n > 1 ? arena_printf(arena, " and %d before it", n - 1) : "");
}

static void check_files(Report *r) {
  const char *folder = getenv("GEMMVIEW_DATA");
  if (folder && *folder)
    add(r, "GEMMVIEW_DATA", access(folder, R_OK | X_OK) == 0, str_sanitise(r->arena, folder),
        "the embedded data files are used");
  Diags diags = diags_new(r->arena);
  TargetTable table;
  bool read = cli_targets(r->arena, &table, &diags);
  add(r, "gpus.json", read,
      read ? arena_printf(r->arena, "%d GPUs", table.count) : diags.first->text,
      "commands that need a GPU's limits do not work");
  const char *cache = cache_folder(r->arena);
  add(r, "cache", cache != NULL, cache ? str_sanitise(r->arena, cache) : "no folder to write to",
      "every kernel is compiled again each time");
  diags = diags_new(r->arena);
  History *history = history_open(r->arena, NULL, &diags);
  add(r, "history", history != NULL,
      history ? history_words(r->arena, history_path(history)) : diags.first->text,
      "timings are not kept, and not shared in a class");
  history_close(history);
}

static void print_text(const Report *r) {
  for (int i = 0; i < r->count; i++) {
    const Finding *f = &r->findings[i];
    printf("%-14s %-8s %s\n", f->what, f->found ? "ok" : "missing", f->detail);
    if (!f->found) printf("%-14s %-8s so: %s\n", "", "", f->consequence);
  }
}

#define FORM_FILE "cli/commands/forms/cmd_doctor.form"
#include "base/form_make.h"

int cmd_doctor(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  DoctorOptions given = {0};
  if (!options_parse(options, sizeof options / sizeof *options, &given, &argc, argv, &diags))
    return cli_fail(&diags);
  if (argc > 1) return cli_error(CLI_USAGE, "doctor takes no argument: \"%s\"", argv[1]);
  Report report = {.arena = arena};
  check_libraries(&report);
  check_gpu(&report, &given);
  check_terminal(&report);
  check_files(&report);
  if (given.json)
    cli_print_document(arena, &doctor_form, &report, NULL);
  else
    print_text(&report);
  return CLI_OK;
}
