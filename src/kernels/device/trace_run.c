// Verified and timed by bench_run, then a run whose stamps are read.
//
// The pages are zeroed before that run, so a warp that wrote none is seen. Times leave as
// differences to the earliest of the block's warps: clock 4,801,223,018,334 → 0. The clock's rate
// comes from the warp that ran longest: (clock_end - clock_begin) / (ns_end - ns_begin), unknown
// below a microsecond, since %globaltimer may move in steps as long as that (PTX ISA, Special
// Registers).
#include "kernels/device/trace_run.h"

#include "base/str.h"
#include "base/whole.h"
#include "kernels/device/gpu.h"

enum { WARM_UPS = 3, NS_LEAST = 1000 };
static const double budget_s = 0.5;

static bool fail(Arena *arena, TraceResult *result, const char *error) {
  if (!result->error) result->error = str_sanitise(arena, error);
  return false;
}

// ---- timing -------------------------------------------------------------------------------------

static bool time_both(Arena *arena, Gpu *gpu, const BenchInput inputs[2],
                      const BenchOptions *options, TraceResult *result) {
  BenchOptions asked = *options;
  asked.no_reference = true;
  if (!(asked.budget_s > 0)) asked.budget_s = budget_s;
  result->bench = *bench_run(arena, gpu, inputs, 2, &asked);
  if (result->bench.ok) return true;
  for (int i = 0; i < result->bench.n_entries && !result->bench.error; i++)
    if (result->bench.entries[i].error) return fail(arena, result, result->bench.entries[i].error);
  return fail(arena, result,
              result->bench.error ? result->bench.error : "the timing did not come to its end");
}

// ---- pages --------------------------------------------------------------------------------------

static void take_warp(Arena *arena, const StampPage *page, const StampPage *earliest,
                      StampedWarp *warp) {
  const int n = page->written < STAMPS_EACH ? (int)page->written : STAMPS_EACH;
  Stamp *stamp = ARENA_ARRAY(arena, Stamp, n);
  for (int i = 0; i < n; i++)
    stamp[i] = (Stamp){page->stamp[i].clock - earliest->clock_begin, page->stamp[i].mark,
                       page->stamp[i].number};
  *warp = (StampedWarp){.ns_begin = (int64_t)(page->ns_begin - earliest->ns_begin),
                        .ns_end = (int64_t)(page->ns_end - earliest->ns_begin),
                        .clock_begin = page->clock_begin - earliest->clock_begin,
                        .clock_end = page->clock_end - earliest->clock_begin,
                        .lost = (int64_t)page->written - n,
                        .n = n,
                        .stamp = stamp};
}

static double rate_mhz(const TraceResult *result) {
  int64_t ns = 0, clocks = 0;
  for (int i = 0; i < result->n_warps; i++) {
    const StampedWarp *warp = &result->warp[i];
    if (warp->ns_end - warp->ns_begin <= ns) continue;
    ns = warp->ns_end - warp->ns_begin;
    clocks = warp->clock_end - warp->clock_begin;
  }
  return ns >= NS_LEAST ? 1000 * (double)clocks / (double)ns : 0;
}

static bool is_whole(const StampPage *page, int64_t block) {
  return page->clock_end >= page->clock_begin && page->ns_begin > 0 &&
         page->ns_end >= page->ns_begin && page->block == (uint32_t)block;
}

static bool take_pages(Arena *arena, const StampPage *page, int n, TraceResult *result) {
  const StampPage *earliest = page;
  StampedWarp *warp = ARENA_ARRAY(arena, StampedWarp, n);
  for (int i = 0; i < n; i++) {
    if (!is_whole(&page[i], result->block))
      return fail(arena, result,
                  arena_printf(arena, "warp %d of block %lld left no whole page of stamps", i,
                               (long long)result->block));
    if (page[i].clock_begin < earliest->clock_begin) earliest = &page[i];
  }
  for (int i = 0; i < n; i++) take_warp(arena, &page[i], earliest, &warp[i]);
  result->sm = (int)earliest->sm;
  result->warp = warp;
  result->n_warps = n;
  result->clock_mhz = rate_mhz(result);
  return true;
}

// ---- the run ------------------------------------------------------------------------------------

static bool launch_traced(Arena *arena, Gpu *gpu, GpuProgram *program, TraceResult *result) {
  for (int i = 0; i < WARM_UPS; i++)
    if (!gpu_launch(gpu, program)) return false;
  return problem_poison(gpu) && gpu_fill_bytes(gpu, &program->stamps, 0, false) &&
         gpu_launch(gpu, program) && gpu_wait(gpu) &&
         problem_compare(arena, gpu, program->plan, &result->verify);
}

static bool run_traced(Arena *arena, Gpu *gpu, GpuProgram *program, TraceResult *result) {
  const int n = (int)(program->stamps.bytes / (int64_t)sizeof(StampPage));
  if (n < 1 || n > TRACE_WARPS_MAX) return fail(arena, result, "this plan takes no stamps");
  if (!launch_traced(arena, gpu, program, result)) return fail(arena, result, gpu_error(gpu));
  if (!result->verify.ok) return fail(arena, result, verify_sentence(arena, &result->verify));
  StampPage *page = ARENA_ARRAY(arena, StampPage, n);
  if (!gpu_read(gpu, page, program->stamps.data, (size_t)n * sizeof *page))
    return fail(arena, result, gpu_error(gpu));
  return take_pages(arena, page, n, result);
}

TraceResult *trace_run(Arena *arena, Gpu *gpu, const BenchInput *traced, const BenchInput *plain,
                       const BenchOptions *options) {
  TraceResult *result = ARENA_NEW(arena, TraceResult);
  const BenchInput inputs[2] = {*traced, *plain};
  GpuProgram program = {0};
  *result = (TraceResult){.block = traced->plan->traced, .sm = -1};
  result->verify.first_row = result->verify.first_col = -1;
  if (!time_both(arena, gpu, inputs, options, result)) return result;
  if (!gpu_load(gpu, traced, &program)) {
    fail(arena, result, gpu_error(gpu));
    return result;
  }
  result->ok = run_traced(arena, gpu, &program, result);
  gpu_unload(gpu, &program);
  result->bench.poisoned = gpu_poisoned(gpu);
  return result;
}
