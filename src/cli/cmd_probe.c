// gemmview probe: the clocks that an access to shared memory takes on the GPU at hand, beside the
// wavefronts that the bank model counts for it.
//
//   $ gemmview probe --op lds32 --addr 'lane * 128'
//   NVIDIA H200
//   access                           op         wavefronts  clocks   p10..p90
//   given                            lds32              32   32.01   32.00..32.03
//
//   gemmview probe -k STATE              every access of the schedule's kernel
//   gemmview probe -k STATE --site 3     one of them, by its number in gemmview resources
//
// Runs in a process of its own. Exit status 5 when a probe fails.
#include <stdio.h>
#include <stdlib.h>

#include "banks/bank_input.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/cli_child.h"
#include "cli/cli_model.h"
#include "cli/cli_timing.h"
#include "kernels/probe.h"

typedef struct ProbeGiven {
  const char *op, *addr, *state;
  int site;
  bool json;
} ProbeGiven;

static const Option options[] = {
    OPTION_STATE(ProbeGiven),
    OPTION_JSON(ProbeGiven),
    {.name = "op", .kind = OPTION_KIND_TEXT, .offset = offsetof(ProbeGiven, op)},
    {.name = "addr", .kind = OPTION_KIND_TEXT, .offset = offsetof(ProbeGiven, addr)},
    {.name = "site",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(ProbeGiven, site),
     .lo = 1,
     .hi = 1000},
};
enum { N_OPTIONS = sizeof options / sizeof options[0], SITES_MAX = 64, SECONDS_MAX = 120 };

typedef struct ProbedAccess {
  const char *name;
  const BankOp *op;
  int64_t addr[BANK_LANES];
} ProbedAccess;

typedef struct Probe {
  Arena *arena;
  const ProbeGiven *given;
  int n;
  ProbedAccess access[SITES_MAX];
} Probe;

// ---- what is probed -----------------------------------------------------------------------------

static void take_sites(Probe *probe, const Model *model, Diags *diags) {
  for (int i = 0; i < model->n_sites && probe->n < SITES_MAX; i++) {
    const Site *site = &model->site[i];
    if (probe->given->site && site->number != probe->given->site) continue;
    ProbedAccess *access = &probe->access[probe->n++];
    *access = (ProbedAccess){.name = arena_printf(probe->arena, "%d  %s", site->number, site->text),
                             .op = site->op};
    for (int lane = 0; lane < BANK_LANES; lane++) access->addr[lane] = site->addr[lane];
  }
  if (probe->n) return;
  Diag *diag =
      diag_add(diags, "usage", "the kernel of this schedule has %d accesses to shared memory",
               model->n_sites);
  diag->nearest =
      model->n_sites ? arena_printf(probe->arena, "--site %d", model->n_sites) : "STAGE=11";
}

static bool prepare(Probe *probe, Diags *diags) {
  const ProbeGiven *given = probe->given;
  if (!given->op != !given->addr)
    diag_add(diags, "usage", "--op and --addr belong together")->nearest =
        "--op lds32 --addr 'lane * 4'";
  if (given->op && (given->state || given->site))
    diag_add(diags, "usage", "--op with --addr, or a schedule with -k: one of the two");
  if (diags->count) return false;
  if (!given->op) {
    const Model *model = cli_model(probe->arena, given->state, diags);
    if (model) take_sites(probe, model, diags);
    return diags->count == 0;
  }
  ProbedAccess *access = &probe->access[probe->n++];
  access->name = "given";
  access->op = bank_input_op(given->op, diags);
  return access->op && bank_input_addresses(access->op, given->addr, access->addr, diags);
}

// ---- printing -----------------------------------------------------------------------------------

static void print_text(const ProbedAccess *access, const ProbeResult *result) {
  char wavefronts[16] = "no count";
  if (result->wavefronts >= 0) snprintf(wavefronts, sizeof wavefronts, "%d", result->wavefronts);
  printf("%-32s %-10s %10s ", access->name, access->op->name, wavefronts);
  if (result->ok)
    printf("%8.2f   %.2f..%.2f\n", result->clocks, result->p10_clocks, result->p90_clocks);
  else
    printf("%s\n", result->error ? result->error : "not measured");
}

static void put_result(JsonWriter *w, Arena *arena, const ProbedAccess *access,
                       const ProbeResult *result) {
  Str text = str_new(arena);
  json_begin_object(w);
  json_member_string(w, "access", access->name);
  json_key(w, "addr");
  json_begin_array(w);
  for (int lane = 0; lane < BANK_LANES; lane++) json_put_int(w, access->addr[lane]);
  json_end_array(w);
  probe_result_write_json(&text, result);
  cli_put_json(w, arena, "probe", text.text);
  json_end_object(w);
}

static void print_json(const Probe *probe, ProbeResult **results) {
  Str out = str_new(probe->arena);
  JsonWriter w = json_writer(&out);
  json_begin_object(&w);
  json_member_string(&w, "schema", "gemmview/1");
  json_member_string(&w, "command", "probe");
  json_key(&w, "probes");
  json_begin_array(&w);
  for (int i = 0; i < probe->n; i++)
    if (results[i]) put_result(&w, probe->arena, &probe->access[i], results[i]);
  json_end_array(&w);
  json_end_object(&w);
  puts(out.text);
}

// ---- in the child -------------------------------------------------------------------------------

static bool run_probes(const Probe *probe, Gpu *gpu, ProbeResult **results) {
  bool ok = true;
  for (int i = 0; i < probe->n && !gpu_poisoned(gpu); i++) {
    results[i] = probe_run(probe->arena, gpu, probe->access[i].op, probe->access[i].addr);
    ok = ok && results[i]->ok;
    if (!probe->given->json) print_text(&probe->access[i], results[i]);
  }
  return ok && !gpu_poisoned(gpu);
}

static int run_in_child(void *context) {
  const Probe *probe = context;
  const char *why = NULL;
  ProbeResult *results[SITES_MAX] = {NULL};
  Gpu *gpu = gpu_open(probe->arena, 0, &why);
  if (!gpu) return cli_error(CLI_MISSING, "there is no GPU to probe: %s", why);
  if (!probe->given->json)
    printf("%s\n%-32s %-10s %10s %8s   %s\n", gpu_info(gpu)->name, "access", "op", "wavefronts",
           "clocks", "p10..p90");
  const bool ok = run_probes(probe, gpu, results);
  if (probe->given->json) print_json(probe, results);
  if (!gpu_poisoned(gpu)) gpu_close(gpu);
  return ok ? CLI_OK : CLI_BENCH;
}

int cmd_probe(int argc, char **argv) {
  Arena *arena = arena_new("probe");
  Diags diags = diags_new(arena);
  ProbeGiven given = {0};
  Probe *probe = ARENA_NEW(arena, Probe);
  probe->arena = arena;
  probe->given = &given;
  if (options_parse(options, N_OPTIONS, &given, &argc, argv, &diags) && argc > 1)
    diag_add(&diags, "usage", "probe takes no argument \"%s\"", str_sanitise(arena, argv[1]));
  const bool ready = diags.count == 0 && prepare(probe, &diags);
  int status = ready ? cli_in_child(run_in_child, probe, SECONDS_MAX) : cli_fail(&diags);
  arena_free(arena);
  return status;
}
