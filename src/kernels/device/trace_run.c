// Verified and timed by bench_run, then a run whose stamps are read.
//
// The pages are zeroed before that run, so a warp that wrote none is seen. Times leave as
// differences to the earliest of the block's warps: clock 4,801,223,018,334 → 0. The clock's rate
// comes from the warp that ran longest: (clock_end - clock_begin) / (ns_end - ns_begin), unknown
// below a microsecond, since %globaltimer may move in steps as long as that (PTX ISA, Special
// Registers). Blocks of a cluster run on several SMs: one that began 300 ns after the first one
// begins at clock 0.3 · MHz.
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

// Page 0 and those behind it are of the cluster's first block, and so on.
typedef struct Pages {
  const StampPage *page;
  int n, each;  // of all blocks, of one
} Pages;

static bool is_whole(const StampPage *page, int64_t block) {
  return page->clock_end >= page->clock_begin && page->ns_begin > 0 &&
         page->ns_end >= page->ns_begin && page->block == (uint32_t)block;
}

static bool are_whole(Arena *arena, const Pages *pages, TraceResult *result) {
  for (int i = 0; i < pages->n; i++) {
    const int64_t block = result->block + i / pages->each;
    if (!is_whole(&pages->page[i], block))
      return fail(arena, result,
                  arena_printf(arena, "warp %d of block %lld wrote no complete page of stamps",
                               i % pages->each, (long long)block));
  }
  return true;
}

static double rate_mhz(const Pages *pages) {
  uint64_t ns = 0;
  int64_t clocks = 0;
  for (int i = 0; i < pages->n; i++) {
    const StampPage *page = &pages->page[i];
    if (page->ns_end - page->ns_begin <= ns) continue;
    ns = page->ns_end - page->ns_begin;
    clocks = page->clock_end - page->clock_begin;
  }
  return ns >= NS_LEAST ? 1000 * (double)clocks / (double)ns : 0;
}

// The warp of a block that began first, by the clock of its SM.
static const StampPage *first_of(const StampPage *page, int n) {
  const StampPage *first = page;
  for (int i = 1; i < n; i++)
    if (page[i].clock_begin < first->clock_begin) first = &page[i];
  return first;
}

static uint64_t first_ns(const Pages *pages) {
  uint64_t ns = pages->page->ns_begin;
  for (int i = 0; i < pages->n; i += pages->each) {
    const uint64_t begin = first_of(&pages->page[i], pages->each)->ns_begin;
    ns = begin < ns ? begin : ns;
  }
  return ns;
}

// A stamp has the low half of its clock, and lies less than 2^32 clocks behind the one before it.
static void take_warp(Arena *arena, const StampPage *page, int64_t clock_origin, uint64_t ns_origin,
                      StampedWarp *warp) {
  const int n = page->written < STAMPS_EACH ? (int)page->written : STAMPS_EACH;
  const uint32_t number_mask = (1u << STAMP_NUMBER_BITS) - 1;
  Stamp *stamp = ARENA_ARRAY(arena, Stamp, n);
  int64_t clock = page->clock_begin;
  for (int i = 0; i < n; i++) {
    const PackedStamp *packed = &page->stamp[i];
    clock += (uint32_t)(packed->clock - (uint32_t)clock);
    stamp[i] = (Stamp){clock - clock_origin, (int32_t)(packed->what >> STAMP_NUMBER_BITS),
                       (int32_t)(packed->what & number_mask)};
  }
  *warp = (StampedWarp){.sm = (int)page->sm,
                        .ns_begin = (int64_t)(page->ns_begin - ns_origin),
                        .ns_end = (int64_t)(page->ns_end - ns_origin),
                        .clock_begin = page->clock_begin - clock_origin,
                        .clock_end = page->clock_end - clock_origin,
                        .lost = (int64_t)page->written - n,
                        .n = n,
                        .stamp = stamp};
}

// Each SM has a clock of its own; what they have in common is %globaltimer.
static void take_block(Arena *arena, const Pages *pages, int first, uint64_t ns_origin,
                       const TraceResult *result, StampedWarp *warp) {
  const StampPage *page = &pages->page[first], *earliest = first_of(page, pages->each);
  const double late = (double)(earliest->ns_begin - ns_origin) * result->clock_mhz / 1000;
  for (int i = 0; i < pages->each; i++)
    take_warp(arena, &page[i], earliest->clock_begin - (int64_t)late, ns_origin, &warp[first + i]);
}

static bool take_pages(Arena *arena, const Pages *pages, TraceResult *result) {
  if (!are_whole(arena, pages, result)) return false;
  StampedWarp *warp = ARENA_ARRAY(arena, StampedWarp, pages->n);
  const uint64_t ns_origin = first_ns(pages);
  result->clock_mhz = rate_mhz(pages);
  for (int i = 0; i < pages->n; i += pages->each)
    take_block(arena, pages, i, ns_origin, result, warp);
  result->warp = warp;
  result->n_warps = pages->n;
  return true;
}

// ---- the run ------------------------------------------------------------------------------------

static bool launch_traced(Arena *arena, Gpu *gpu, GpuProgram *program, TraceResult *result) {
  for (int i = 0; i < WARM_UPS; i++)
    if (!gpu_launch(gpu, program)) return false;
  return problem_poison(gpu) && gpu_fill_bytes(gpu, &program->made[LAUNCH_STAMPS], 0, false) &&
         gpu_launch(gpu, program) && gpu_wait(gpu) &&
         problem_compare(arena, gpu, program->plan, &result->verify);
}

static bool run_traced(Arena *arena, Gpu *gpu, GpuProgram *program, TraceResult *result) {
  const int n = (int)(program->made[LAUNCH_STAMPS].bytes / (int64_t)sizeof(StampPage));
  if (n < 1 || n > TRACE_WARPS_MAX || program->traced_blocks < 1)
    return fail(arena, result, "this plan takes no stamps");
  if (!launch_traced(arena, gpu, program, result)) return fail(arena, result, gpu_error(gpu));
  if (!result->verify.ok) return fail(arena, result, verify_sentence(arena, &result->verify));
  StampPage *page = ARENA_ARRAY(arena, StampPage, n);
  if (!gpu_read(gpu, page, program->made[LAUNCH_STAMPS].data, (size_t)n * sizeof *page))
    return fail(arena, result, gpu_error(gpu));
  result->n_blocks = program->traced_blocks;
  result->block -= result->block % result->n_blocks;
  return take_pages(arena, &(Pages){page, n, n / result->n_blocks}, result);
}

TraceResult *trace_run(Arena *arena, Gpu *gpu, const BenchInput *traced, const BenchInput *plain,
                       const BenchOptions *options) {
  TraceResult *result = ARENA_NEW(arena, TraceResult);
  const BenchInput inputs[2] = {*traced, *plain};
  GpuProgram program = {0};
  *result = (TraceResult){.block = traced->plan->traced, .n_blocks = 1};
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

// ---- words --------------------------------------------------------------------------------------

const char *trace_where(Arena *arena, const TraceResult *result) {
  Str blocks = str_new(arena), sms = str_new(arena);
  const int n = result->n_blocks > 0 ? result->n_blocks : 1;
  for (int i = 0; i < n && i < result->n_warps; i++) {
    str_printf(&blocks, "%s%lld", i ? ", " : "", (long long)result->block + i);
    str_printf(&sms, "%s%d", i ? ", " : "", result->warp[result->n_warps / n * i].sm);
  }
  return arena_printf(arena, n > 1 ? "blocks %s on SMs %s" : "block %s on SM %s", blocks.text,
                      sms.text);
}
