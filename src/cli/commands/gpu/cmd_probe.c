// gemmview probe: the clocks that accesses to shared memory take on the GPU at hand, beside the
// wavefronts that the bank model counts for them.
//
//   $ gemmview probe --op lds32 --addr 'lane * 128'
//   NVIDIA H200
//    # access                           wavefronts ideal ways  clocks  p10..p90     a wavefront
//      given                LDS                 32     1   32   32.01  32.00..32.03        1.00
//
//   gemmview probe -k STATE              every access of the schedule's kernel
//   gemmview probe -k STATE --site 3     one of them, by its number in gemmview resources
//   gemmview probe --ladder hgemm        every access of every rung; --ladder all: of every ladder
//
//   gemmview probe --registers           FFMA with chosen registers: the rule of register banks
//   gemmview probe --clock               the microbenchmarks of lab/clock: the facts of data/clock
//
// If several accesses are probed, those of one operation are ordered by both numbers. Exit
// status 1 when the orders disagree, 5 when an access could not be measured. An order that nothing
// could be seen of, as of counts that all lie under the operation's floor, is no disagreement.
#include <stdio.h>
#include <stdlib.h>

#include "banks/engine/bank_input.h"
#include "banks/engine/bank_text.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_model.h"
#include "cli/common/cli_probe.h"
#include "cli/common/documents.h"
#include "cli/common/tables/cli_ladder.h"
#include "cli/common/tables/cli_timing.h"
#include "kernels/device/gpu.h"
#include "kernels/device/probe/clock_probe.h"
#include "kernels/device/probe/register_probe.h"

typedef struct ProbeGiven {
  const char *op, *addr, *state, *ladder;
  OptionList worker;
  int site;
  bool json, registers, clock;
} ProbeGiven;

static const Option options[] = {
    OPTION_STATE(ProbeGiven),
    OPTION_JSON(ProbeGiven),
    OPTION_WORKER(ProbeGiven),
    {.name = "op", .kind = OPTION_KIND_TEXT, .offset = offsetof(ProbeGiven, op)},
    {.name = "addr", .kind = OPTION_KIND_TEXT, .offset = offsetof(ProbeGiven, addr)},
    {.name = "registers", .kind = OPTION_KIND_FLAG, .offset = offsetof(ProbeGiven, registers)},
    {.name = "clock", .kind = OPTION_KIND_FLAG, .offset = offsetof(ProbeGiven, clock)},
    {.name = "ladder", .kind = OPTION_KIND_TEXT, .offset = offsetof(ProbeGiven, ladder)},
    {.name = "site",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(ProbeGiven, site),
     .lo = 1,
     .hi = 1000},
};
enum { N_OPTIONS = sizeof options / sizeof options[0], OPS_MAX = 64 };

typedef struct Verdict {
  ProbeVerdict all;
  ProbeOrder order[OPS_MAX];  // by the operation's row
} Verdict;

// An operation of which something was measured.
typedef struct ProbedOperation {
  const BankOp *op;
  const ProbeOrder *order;
} ProbedOperation;

// ---- the accesses to probe ----------------------------------------------------------------------

static bool check_given(const ProbeGiven *given, Diags *diags) {
  if (!given->op != !given->addr)
    diag_add(diags, "usage", "--op and --addr belong together")->nearest =
        "--op lds32 --addr 'lane * 4'";
  if (given->op && (given->state || given->site))
    diag_add(diags, "usage", "give --op with --addr, or a schedule with -k");
  if (given->ladder && (given->op || given->state || given->site))
    diag_add(diags, "usage", "--ladder goes without -k, --site, --op and --addr");
  if (given->registers &&
      (given->op || given->state || given->site || given->ladder || given->worker.count))
    diag_add(diags, "usage", "--registers takes only --json besides");
  if (given->clock && (given->op || given->state || given->site || given->ladder ||
                       given->worker.count || given->registers))
    diag_add(diags, "usage", "--clock takes only --json besides");
  return diags->count == 0;
}

static void add_given(CliProbe *probe, const ProbeGiven *given, Diags *diags) {
  int64_t addr[BANK_LANES];
  const BankOp *op = bank_input_op(given->op, diags);
  if (op && bank_input_addresses(op, given->addr, addr, diags)) cli_probe_add(probe, op, addr);
}

static void add_state(CliProbe *probe, const ProbeGiven *given, CliWorker *worker,
                      const TargetTable *targets, Diags *diags) {
  Schedule schedule;
  if (!cli_schedule(given->state, &schedule, diags)) return;
  cli_worker_set_target(worker, targets, &schedule);
  const Model *model = cli_model_of(probe->arena, targets, &schedule, diags);
  if (!model || cli_probe_add_model(probe, NULL, model, given->site) > 0) return;
  diag_add(diags, "usage", "the kernel of this schedule has %d accesses to shared memory",
           model->n_sites)
      ->nearest =
      model->n_sites ? arena_printf(probe->arena, "--site %d", model->n_sites) : "STAGE=11";
}

static void add_ladders(CliProbe *probe, const char *name, CliWorker *worker,
                        const TargetTable *targets, Diags *diags) {
  const Ladder *one[2] = {NULL, NULL}, *const *ladders = one;
  if (str_equal(name, "all"))
    ladders = cli_ladders(probe->arena, diags);
  else
    one[0] = cli_ladder(probe->arena, name, diags);
  for (int i = 0; ladders && ladders[i]; i++)
    cli_probe_add_ladder(probe, worker, targets, ladders[i]);
}

static bool collect(CliProbe *probe, const ProbeGiven *given, CliWorker *worker, Diags *diags) {
  TargetTable *targets = ARENA_NEW(probe->arena, TargetTable);
  if (!cli_targets(probe->arena, targets, diags)) return false;
  cli_worker_take_device(worker, targets);
  if (given->ladder)
    add_ladders(probe, given->ladder, worker, targets, diags);
  else if (given->op)
    add_given(probe, given, diags);
  else
    add_state(probe, given, worker, targets, diags);
  return diags->count == 0;
}

// ---- text ---------------------------------------------------------------------------------------

static void print_count(const BankCount *count) {
  char bounds[32];
  if (count->known)
    printf("%10d %5d %4d ", count->wavefronts, count->ideal, count->ways);
  else
    printf("%10s %5s %4s ", bank_text_bounds(count->profiled, count->profiled_most, bounds), "-",
           "-");
}

static void print_access(const CliProbe *probe, const ShownAccess *shown) {
  const ProbeResult *result = probe->different[shown->different].result;
  if (shown->site)
    printf("%2d %-34s ", shown->site, shown->name);
  else
    printf("   %-20s %-13s ", shown->name, probe->different[shown->different].op->sass);
  print_count(&shown->count);
  if (!result || !result->ok) {
    printf("%s\n", result && result->error ? result->error : "not measured");
    return;
  }
  printf("%8.2f  %6.2f..%-6.2f", result->clocks, result->p10_clocks, result->p90_clocks);
  if (result->clocks_per_wavefront > 0) printf(" %9.2f", result->clocks_per_wavefront);
  putchar('\n');
}

static void print_accesses(const CliProbe *probe) {
  printf("%s\n%2s %-34s %10s %5s %4s %8s  %-14s %9s\n", probe->gpu ? probe->gpu : "unknown GPU",
         "#", "access", "wavefronts", "ideal", "ways", "clocks", "p10..p90", "each");
  const char *rung = NULL;
  for (int i = 0; i < probe->n_shown; i++) {
    const ShownAccess *shown = &probe->shown[i];
    if (shown->rung && (!rung || !str_equal(rung, shown->rung))) printf("%s\n", shown->rung);
    rung = shown->rung;
    print_access(probe, shown);
  }
}

// The pair that is most against the model, in words.
static void print_pair(const CliProbe *probe, const ProbeOrder *order) {
  if (order->many < 0) return;
  const DifferentAccess *few = &probe->different[order->few],
                        *many = &probe->different[order->many];
  printf("  %s: %d wavefronts, %.2f clocks; %s: %d wavefronts, %.2f clocks\n", few->first,
         few->result->wavefronts, few->result->clocks, many->first, many->result->wavefronts,
         many->result->clocks);
}

static const char *order_text(Arena *arena, const ProbeOrder *order) {
  static const char *const words[] = {[PROBE_UNJUDGED] = "could not be judged",
                                      [PROBE_ALIKE] = "alike",
                                      [PROBE_NOT_ALIKE] = "NOT alike"};
  const char *word = words[order->verdict];
  if (!order->n_hidden) return order->n_pairs ? word : "nothing to order";
  return arena_printf(arena, "%s, %d hidden below the floor of %.1f clocks", word, order->n_hidden,
                      order->clocks_lo);
}

static void print_order(const CliProbe *probe, const BankOp *op, const ProbeOrder *order) {
  if (order->n == 0) return;
  printf("%-14s %9d %7d..%-3d %8.2f..%-6.2f %9.2f %9d %5d %6d %7d %5d  %s\n", op->name, order->n,
         order->wavefronts_lo, order->wavefronts_hi, order->clocks_lo, order->clocks_hi,
         order->slope, order->n_with, order->n_tied, order->n_hidden, order->n_against,
         order->n_split, order_text(probe->arena, order));
  print_pair(probe, order);
}

static void print_verdict(const CliProbe *probe, const Verdict *verdict) {
  static const char *const words[] = {
      [PROBE_UNJUDGED] = "measured and predicted order could not be judged",
      [PROBE_ALIKE] = "measured and predicted order alike",
      [PROBE_NOT_ALIKE] = "measured and predicted do NOT order alike"};
  if (probe->n_different < 2) return;
  printf("\n%-14s %9s %12s %16s %9s %9s %5s %6s %7s %5s\n", "operation", "different", "wavefronts",
         "clocks", "each", "with", "tied", "hidden", "against", "split");
  for (int i = 0; i < banks_op_count(); i++) print_order(probe, banks_op_at(i), &verdict->order[i]);
  puts(
      "Pairs of accesses of one operation with different counts. with: the times are in the "
      "order of\n"
      "the counts. tied: equal within the noise. hidden: both counts lie below the fastest time "
      "measured.\n"
      "against: the times are in the other order. split: equal counts, more than half a "
      "wavefront apart.");
  if (probe->n_left_out)
    printf("%d rungs left out: not built, or not legal on this GPU\n", probe->n_left_out);
  puts(words[verdict->all]);
}

// ---- JSON ---------------------------------------------------------------------------------------

// The results of a probe, as they are printed.
typedef struct Probed {
  const CliProbe *probe;
  int status;
  const Verdict *verdict;
  int n_operations;
  const ProbedOperation *operation;
} Probed;

typedef struct ProbedRegisters {
  const char *gpu;
  int n;
  const RegisterProbeResult *result;
} ProbedRegisters;

typedef struct ProbedClock {
  const char *gpu;
  int n, n_facts;
  const ClockProbeResult *result;
  const ClockProbeFact *fact;
} ProbedClock;

static const DifferentAccess *different_of(const Probed *probed, const ShownAccess *shown) {
  return &probed->probe->different[shown->different];
}

#define FORM_FILE "cli/commands/forms/cmd_probe.form"
#include "base/form_make.h"

static void print_json(const CliProbe *probe, const Verdict *verdict, int status) {
  ProbedOperation operation[OPS_MAX];
  Probed probed = {probe, status, verdict, 0, operation};
  for (int i = 0; i < banks_op_count(); i++)
    if (verdict->order[i].n)
      operation[probed.n_operations++] = (ProbedOperation){banks_op_at(i), &verdict->order[i]};
  cli_print_document(probe->arena, &probe_form, &probed, &probed);
}

// ---- running ------------------------------------------------------------------------------------

// The probe's kernels are compiled where the GPU is.
static int need_tools(CliWorker *worker) {
  const int missing = cli_worker_need_gpu(worker);
  const WorkerMachine machine = cli_worker_machine(worker);
  if (missing || machine.can_compile) return missing;
  return cli_error(CLI_MISSING, "no compiler for the probe's kernels: %s", machine.nvrtc);
}

static int run(CliProbe *probe, const ProbeGiven *given, CliWorker *worker, Diags *diags) {
  if (!collect(probe, given, worker, diags)) return cli_fail(diags);
  int status = need_tools(worker);
  if (!status) status = cli_probe_run(probe, worker);
  if (status && status != CLI_BENCH) return status;
  Verdict *verdict = ARENA_NEW(probe->arena, Verdict);
  verdict->all = cli_probe_judge(probe, verdict->order);
  if (!status && verdict->all == PROBE_NOT_ALIKE) status = CLI_NO;
  if (given->json) {
    print_json(probe, verdict, status);
  } else {
    print_accesses(probe);
    print_verdict(probe, verdict);
  }
  return status;
}

// ---- registers ----------------------------------------------------------------------------------

static void print_registers(const char *gpu, const RegisterProbeResult *results, int n) {
  printf("%s\n%-42s %9s %9s  %s\n", gpu, "FFMA", "predicted", "clocks", "sources");
  for (int i = 0; i < n; i++) {
    const RegisterProbeResult *r = &results[i];
    if (r->error)
      printf("%-42s %s\n", r->name, r->error);
    else
      printf("%-42s %9.2f %9.2f  %s%s\n", r->name, r->predicted, r->clocks, r->text,
             r->fits ? "" : "  NOT as predicted");
  }
}

// In this process: the machine code is written here, and no cache of compilations may have it.
static int probe_registers(Arena *arena, bool json) {
  const char *why = NULL;
  Gpu *gpu = gpu_open(arena, 0, &why);
  if (!gpu) return cli_error(CLI_MISSING, "no GPU was found: %s", why);
  const int n = register_probe_count();
  RegisterProbeResult *results = ARENA_ARRAY(arena, RegisterProbeResult, n);
  int status = CLI_OK;
  for (int i = 0; i < n; i++) {
    results[i] = register_probe_run(arena, gpu, i);
    if (!results[i].fits && status == CLI_OK) status = CLI_NO;
    if (results[i].error) status = CLI_BENCH;
  }
  const char *name = arena_strdup(arena, gpu_info(gpu)->name);
  gpu_close(gpu);
  if (json)
    cli_print_document(arena, &probe_registers_form, &(ProbedRegisters){name, n, results}, NULL);
  else
    print_registers(name, results, n);
  return status;
}

// ---- the clock ----------------------------------------------------------------------------------

static void print_clock(const ProbedClock *probed) {
  printf("%s\n%-50s %5s %6s %9s %18s %9s\n", probed->gpu, "lab/clock", "warps", "blocks",
         "measured", "p10..p90", "played");
  for (int i = 0; i < probed->n; i++) {
    const ClockProbeResult *r = &probed->result[i];
    if (r->error) {
      printf("%-50s %s\n", r->what, r->error);
      continue;
    }
    printf("%-50s %5d %6d %9.2f %8.2f..%-8.2f ", r->what, r->warps, r->blocks, r->value, r->low,
           r->high);
    if (r->played >= 0) printf("%9.2f", r->played);
    printf("%s%s\n", str_equal(r->unit, "clocks") ? "" : "  bytes a clock",
           r->fits ? "" : "  NOT as played");
  }
  printf("\n%-50s %9s %9s\n", "numbers derived from them", "measured", "data/clock");
  for (int i = 0; i < probed->n_facts; i++)
    printf("%-50s %9.2f %9.2f\n", probed->fact[i].key, probed->fact[i].value, probed->fact[i].kept);
}

static int run_clock(Arena *arena, ClockProbe *probe, Gpu *gpu, bool json) {
  ClockProbeFact facts[CLOCK_PROBE_FACTS_MAX];
  const int n = clock_probe_count();
  ClockProbeResult *results = ARENA_ARRAY(arena, ClockProbeResult, n);
  int status = CLI_OK;
  for (int i = 0; i < n; i++) {
    results[i] = clock_probe_run(probe, i);
    if (results[i].error && !results[i].skipped) status = CLI_BENCH;
    if (!results[i].error && !results[i].fits && status == CLI_OK) status = CLI_NO;
  }
  const ProbedClock probed = {arena_strdup(arena, gpu_info(gpu)->name), n,
                              clock_probe_facts(probe, results, facts), results, facts};
  if (json)
    cli_print_document(arena, &probe_clock_form, &probed, NULL);
  else
    print_clock(&probed);
  return status;
}

static int probe_clock(Arena *arena, bool json) {
  const char *why = NULL;
  Diags diags = diags_new(arena);
  TargetTable targets;
  if (!cli_targets(arena, &targets, &diags)) return cli_fail(&diags);
  Gpu *gpu = gpu_open(arena, 0, &why);
  if (!gpu) return cli_error(CLI_MISSING, "no GPU was found: %s", why);
  ClockProbe *probe = clock_probe_open(arena, gpu, &targets);
  const int status = probe ? run_clock(arena, probe, gpu, json)
                           : cli_error(CLI_BENCH, "%s", str_sanitise(arena, gpu_error(gpu)));
  if (probe) clock_probe_close(probe);
  gpu_close(gpu);
  return status;
}

int cmd_probe(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  ProbeGiven given = {0};
  if (options_parse(options, N_OPTIONS, &given, &argc, argv, &diags) && argc > 1)
    diag_add(&diags, "usage", "probe takes no argument \"%s\"", str_sanitise(arena, argv[1]));
  if (diags.count || !check_given(&given, &diags)) return cli_fail(&diags);
  if (given.registers) return probe_registers(arena, given.json);
  if (given.clock) return probe_clock(arena, given.json);
  CliWorker *worker = cli_worker_open(arena, &given.worker, false, &diags);
  if (!worker) return cli_fail(&diags);
  CliProbe probe = {.arena = arena};
  const int status = run(&probe, &given, worker, &diags);
  cli_worker_close(worker);
  return status;
}
