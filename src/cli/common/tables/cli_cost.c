// LIMIT and SITES as text and as JSON.
//
//   estimated LIMIT: shared; per slab of one block: shared 6272 clk > fma 2048 clk > L2 516 clk > …
//   estimated roofline: 21.2 TFLOP/s; FLOP per byte of L2 32, of DRAM 334
//   …
//   site                             op         wavefronts  ideal conflicts  ways   times/slab
//   1  A_s <- r_a  STS               sts32               1      1         0     1            8
#include "cli/common/tables/cli_cost.h"

#include <math.h>
#include <stdio.h>

#include "banks/engine/bank_text.h"
#include "model/readings/cost/estimate.h"
#include "model/readings/cost/merge.h"
#include "model/readings/cost/site_json.h"
#include "model/readings/place/described.h"

// ---- traffic ------------------------------------------------------------------------------------

// Most first; unknown values (below 0 or NaN) last.
static int sort_units(const Model *model, TrafficUnit *unit) {
  TrafficUnit all[TRAFFIC_UNITS];
  const int n = traffic_units(&model->traffic, program_atom(model->program) != NULL, all);
  for (int i = 0; i < n; i++) {
    int at = i;
    for (; at > 0 && !(unit[at - 1].clocks >= all[i].clocks); at--) unit[at] = unit[at - 1];
    unit[at] = all[i];
  }
  return n;
}

static const char *number(Arena *arena, double value) {
  return value >= 0 && isfinite(value) ? arena_printf(arena, "%.3g", value) : "unknown";
}

static const char *clocks(Arena *arena, double value) {
  return value >= 0 && isfinite(value) ? arena_printf(arena, "%.0f clk", value) : "unknown";
}

void cli_print_traffic(Arena *arena, const Model *model) {
  const Traffic *t = &model->traffic;
  TrafficUnit unit[TRAFFIC_UNITS];
  const int n = sort_units(model, unit);
  printf("estimated LIMIT: %s; per slab of one block",
         traffic_power_limits(t) ? t->limit : unit[0].title);
  for (int i = 0; i < n; i++)
    printf("%s %s %s", i ? " >" : ":", unit[i].title, clocks(arena, unit[i].clocks));
  printf("\nestimated roofline: %s TFLOP/s; FLOP per byte of L2 %s, of DRAM %s\n",
         number(arena, t->roofline_tflops), number(arena, t->flop_per_l2_byte),
         number(arena, t->flop_per_dram_byte));
  const char *reasons = estimate_roofline_reasons(arena, model);
  if (*reasons) printf("estimated so because: %s\n", reasons);
  if (t->power_tflops >= 0)
    printf("estimated power: the board allows %s TFLOP/s\n", number(arena, t->power_tflops));
  if (t->between_us > 0)
    printf("estimated pauses: %s us of the launch store sums while the multipliers are idle\n",
           number(arena, t->between_us));
  printf("estimated traffic: L2 %s GB, of which %s %% hit, DRAM %s GB",
         number(arena, t->l2_bytes / 1e9), number(arena, 100 * t->l2_hit),
         number(arena, t->dram_bytes / 1e9));
  if (t->loads_per_fma >= 0) printf("; loads per multiply-add %s", number(arena, t->loads_per_fma));
  putchar('\n');
}

// ---- sites --------------------------------------------------------------------------------------

// The profiler's counters have what the pipe's do not, and not always the same.
static void print_copies(Arena *arena, const Model *model) {
  double least = 0, most = 0;
  for (int i = 0; i < model->n_sites; i++) {
    if (model->site[i].op->kind != BANK_CPASYNC) continue;
    least += model->site[i].profiled;
    most += model->site[i].profiled_most;
  }
  if (!(most > 0)) return;
  printf(
      "cp.async: %.0f wavefronts per slab by the profiler's counters%s\n", least,
      most > least ? arena_printf(arena, " at least, at most %.0f as its data arrives", most) : "");
}

// The pipe's counter and the per-instruction one differ where phases of a load merge and still
// conflict (bank.h).
static void print_profiled(const Model *model) {
  double pipe = 0, profiled = 0;
  for (int i = 0; i < model->n_sites; i++) {
    const Site *site = &model->site[i];
    if (!site->count.known) continue;
    pipe += site->clocks;
    profiled += site->profiled;
  }
  if (profiled > pipe)
    printf(
        "%.6g wavefronts per slab; the profiler counts %.6g: it counts merged phases of a load "
        "that conflict as if they were not merged\n",
        pipe, profiled);
}

static void print_certainty(const Model *model) {
  for (int i = 0; i < model->n_sites; i++) {
    if (model->site[i].word != ACCESS_PREDICTED) continue;
    printf(
        "widths are predicted, not compiled: counts were right in %d of %d random schedules "
        "(H200)\n",
        (int)MERGE_RIGHT, (int)MERGE_COUNTED);
    return;
  }
}

// One width at which a site is executed: "1  a <- A_s  LDS.128  lds128  2 …  208", and below it the
// 12 reads that stay single.
static void print_form(const char *site, const SiteForm *form) {
  const BankCount *count = &form->count;
  char bounds[32];
  printf("%-32s %-10s ", site, form->op->name);
  if (count->known)
    printf("%10d %6d %9d %5d", count->wavefronts, count->ideal, count->conflicts, count->ways);
  else
    printf("%10s %6d %9s %5s", bank_text_bounds(count->profiled, count->profiled_most, bounds),
           count->ideal, "-", "-");
  printf(" %12g\n", form->executions);
}

void cli_print_sites(Arena *arena, const Model *model) {
  if (model->n_sites == 0) {
    const DescribedSlabs slabs = described_slabs(model->program);
    puts(slabs.n ? described_sentence(arena, &slabs) : "no access to shared memory");
    return;
  }
  printf("%-32s %-10s %10s %6s %9s %5s %12s\n", "site", "op", "wavefronts", "ideal", "conflicts",
         "ways", "times/slab");
  for (int i = 0; i < model->n_sites; i++) {
    const Site *site = &model->site[i];
    for (int k = 0; k < site->n_forms; k++)
      print_form(k ? "" : arena_printf(arena, "%d  %s", site->number, site->text), &site->form[k]);
  }
  print_copies(arena, model);
  print_profiled(model);
  print_certainty(model);
}

static void print_global(Arena *arena, const GlobalSite *site) {
  printf("%-40s ", arena_printf(arena, "%d  %s", site->number, site->text));
  if (!site->count.known) {
    printf("%8s %6s %6s %11s %11s\n", "no count", "-", "-", "-", "-");
    return;
  }
  printf("%8d %6d %6d %11.0f %11.0f\n", site->count.sectors, site->count.ideal, site->count.lines,
         site->requests, site->sectors);
}

void cli_print_globals(Arena *arena, const Model *model) {
  printf("%-40s %8s %6s %6s %11s %11s\n", "global memory, sectors of 32 B", "sectors", "ideal",
         "lines", "requests/CTA", "sectors/CTA");
  for (int i = 0; i < model->global.n; i++) print_global(arena, &model->global.site[i]);
}
