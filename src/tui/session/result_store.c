// A list of timings and a ring of compilations.
//
// Timings are few (a ladder has some twenty rungs), so they are scanned. Worked example: the
// recorded file has rung 8 at BUFFER_COUNT=2 and the user sets PAD_SMEM to 8. results_find() gives
// NULL, results_nearest() gives rung 8 at distance 1, and the screen says "no record; rung 8 is 1
// knob off" without its number in the place of ours.
//
// Texts of a compilation live in the entry's own arena, which is emptied when the entry is taken
// for another state.
#include "tui/session/result_store.h"

#include <math.h>

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "kernels/device/history/recorded.h"
#include "kernels/device/timing.h"
#include "model/words/ladder.h"
#include "tui/session/picture.h"

const char *origin_name(Origin origin) {
  static const char *const names[] = {
      [ORIGIN_NONE] = "no number",     [ORIGIN_CLAIM] = "claimed",
      [ORIGIN_ESTIMATED] = "estimate", [ORIGIN_COMPILED] = "counted by the compiler",
      [ORIGIN_RECORDED] = "recorded",  [ORIGIN_MEASURED] = "measured here",
  };
  return names[origin];
}

void results_init(Results *results, Arena *arena) {
  *results = (Results){.arena = arena,
                       .timed = ARENA_ARRAY(arena, Timed, RESULTS_TIMED_MAX),
                       .clocked = ARENA_ARRAY(arena, Clocked, RESULTS_CLOCKED_MAX),
                       .traced = ARENA_NEW(arena, TracedBlock),
                       .compiled = ARENA_ARRAY(arena, Compiled, RESULTS_COMPILED_MAX),
                       .probed = ARENA_ARRAY(arena, Probed, RESULTS_PROBED_MAX)};
}

void results_free(Results *results) {
  if (results->past_arena) arena_free(results->past_arena);
  if (results->best_arena) arena_free(results->best_arena);
  results->past_arena = results->best_arena = NULL;
  if (results->traced->arena) arena_free(results->traced->arena);
  *results->traced = (TracedBlock){0};
  for (int i = 0; i < results->n_compiled; i++) arena_free(results->compiled[i].arena);
  results->n_compiled = 0;
}

// ---- recorded -----------------------------------------------------------------------------------

static void add_row(Results *results, const Recorded *recorded, const RecordedRow *row,
                    Diags *diags) {
  Timed timed = {
      .schedule = schedule_plain(),
      .origin = ORIGIN_RECORDED,
      .ok = row->time_ns > 0,
      .error = row->error,
      .time_ns = row->time_ns,
      .p10_ns = row->p10_ns,
      .p90_ns = row->p90_ns,
      .tflops = row->tflops,
      .ratio = row->ratio,
      .reference_tflops = row->cublas_tflops,
      .rms = fmax(row->rms_this, 0),
      .reference_rms = fmax(row->rms_cublas, 0),
      .registers = row->registers,
      .spill_bytes = row->spill_bytes,
      .gpu = recorded->gpu,
      .driver = recorded->driver,
      .cuda = recorded->cuda,
      .date = recorded->date,
      .method = recorded->method,
      .turns = timing_turns_said(recorded->method),
      .reference = row->cublas_row,
  };
  if (schedule_parse(&timed.schedule, row->state, diags) && results->n_timed < RESULTS_TIMED_MAX)
    results->timed[results->n_timed++] = timed;
}

bool results_load(Results *results, const char *text, size_t n, const char *what, Diags *diags) {
  int before = diags->count;
  const Recorded *recorded = recorded_read_json(results->arena, text, n, what, diags);
  for (int i = 0; recorded && i < recorded->n_rows; i++)
    add_row(results, recorded, &recorded->rows[i], diags);
  return diags->count == before;
}

// ---- measured here ------------------------------------------------------------------------------

static const char *keep(Arena *arena, const char *text) {
  return text ? str_sanitise(arena, text) : NULL;
}

static Timed *place_for(Results *results, const Schedule *schedule) {
  for (int i = 0; i < results->n_timed; i++) {
    Timed *timed = &results->timed[i];
    if (timed->origin == ORIGIN_MEASURED && schedule_same(&timed->schedule, schedule)) return timed;
  }
  if (results->n_timed < RESULTS_TIMED_MAX) return &results->timed[results->n_timed++];
  return &results->timed[RESULTS_TIMED_MAX - 1];
}

// The map is kept, the rest of a benchmark's memory goes.
static const VerifyResult *keep_failure(Arena *arena, const VerifyResult *verify) {
  if (!verify->ran || verify->ok) return NULL;
  VerifyResult *copy = ARENA_NEW(arena, VerifyResult);
  *copy = *verify;
  uint32_t *map = ARENA_ARRAY(arena, uint32_t, verify->n_map);
  for (int i = 0; i < verify->n_map; i++) map[i] = verify->map[i];
  copy->map = map;
  return copy;
}

static const char *note_of(Arena *arena, const BenchResult *bench) {
  const GpuState *state = bench->after.throttled ? &bench->after : &bench->before;
  if (!state->throttled || !state->throttle_text) return NULL;
  return arena_printf(arena, "throttled: %s", str_sanitise(arena, state->throttle_text));
}

void results_add_bench(Results *results, const Schedule *schedule, const BenchEntry *entry,
                       const BenchResult *bench) {
  Arena *arena = results->arena;
  Timed *timed = place_for(results, schedule);
  *timed = (Timed){
      .schedule = *schedule,
      .origin = ORIGIN_MEASURED,
      .ok = entry->ok && entry->time.median_ns > 0,
      .error = keep(arena, entry->error ? entry->error : bench->error),
      .time_ns = entry->time.median_ns,
      .p10_ns = entry->time.p10_ns,
      .p90_ns = entry->time.p90_ns,
      .tflops = entry->tflops,
      .ratio = entry->ratio,
      .reference_tflops = bench->reference.tflops,
      .rms = entry->verify.ran ? entry->verify.rms : 0,
      .reference_rms = bench->reference.verify.ran ? bench->reference.verify.rms : 0,
      .registers = entry->registers,
      .spill_bytes = -1,  // the driver knows of local memory only
      .gpu = keep(arena, bench->gpu),
      .driver = keep(arena, bench->driver),
      .cuda = keep(arena, bench->cuda),
      .date = keep(arena, bench->date),
      .method = keep(arena, bench->method),
      .turns = timing_turns_said(bench->method),
      .simulated = timing_is_simulated(bench->method),
      .reference = keep(arena, bench->reference.name),
      .verify = keep_failure(arena, &entry->verify),
      .note = note_of(arena, bench),
  };
}

// ---- the history --------------------------------------------------------------------------------

void results_add_shared(Results *results, const Schedule *schedule, const HistoryRow *row) {
  Arena *arena = results->arena;
  Timed *timed = place_for(results, schedule);
  const double ratio = history_ratio(row);
  *timed = (Timed){
      .schedule = *schedule,
      .origin = ORIGIN_MEASURED,
      .ok = row->time_ns > 0,
      .time_ns = row->time_ns,
      .tflops = row->tflops,
      .ratio = ratio,
      .reference_tflops = ratio > 0 ? row->tflops / ratio : 0,
      .registers = -1,
      .spill_bytes = -1,
      .gpu = keep(arena, row->gpu),
      .driver = keep(arena, row->driver),
      .date = history_date(arena, row),
      .method = keep(arena, row->method),
      .turns = timing_turns_said(row->method),
      .simulated = timing_is_simulated(row->method),
      .by = keep(arena, row->user),
  };
}

static HistoryRow keep_row(Arena *arena, const HistoryRow *from) {
  HistoryRow row = *from;
  const char **const texts[] = {&row.user,  &row.host,   &row.gpu,    &row.gpu_uuid,  &row.driver,
                                &row.state, &row.method, &row.status, &row.text_hash, &row.problem};
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
    *texts[t] = str_sanitise(arena, *texts[t]);
  return row;
}

void results_set_past(Results *results, const HistoryRow *rows, int n) {
  if (!results->past_arena) results->past_arena = arena_new("past");
  Arena *arena = results->past_arena;
  arena_reset(arena);
  results->past_known = true;
  results->n_past = n;
  results->past = ARENA_ARRAY(arena, HistoryRow, n + 1);
  for (int i = 0; i < n; i++) results->past[i] = keep_row(arena, &rows[i]);
}

void results_set_best(Results *results, const HistoryRow *row, const Schedule *schedule) {
  if (!results->best_arena) results->best_arena = arena_new("best");
  arena_reset(results->best_arena);
  results->best = NULL;
  if (!row) return;
  results->best = ARENA_NEW(results->best_arena, HistoryRow);
  *results->best = keep_row(results->best_arena, row);
  results->best_schedule = ARENA_NEW(results->best_arena, Schedule);
  *results->best_schedule = *schedule;
}

// ---- finding ------------------------------------------------------------------------------------

const char *results_said(const Timed *timed) {
  return timed->simulated ? "simulated" : origin_name(timed->origin);
}

const Timed *results_find(const Results *results, const Schedule *schedule) {
  const Timed *found = NULL;
  for (int i = 0; i < results->n_timed; i++) {
    const Timed *timed = &results->timed[i];
    if ((!found || timed->origin > found->origin) && schedule_same(&timed->schedule, schedule))
      found = timed;
  }
  return found;
}

const Timed *results_find_elsewhere(const Results *results, const Schedule *schedule) {
  const Timed *found = NULL;
  for (int i = 0; i < results->n_timed; i++) {
    const Timed *timed = &results->timed[i];
    bool only_target = schedule_distance(&timed->schedule, schedule) == 1 &&
                       schedule_differs(&timed->schedule, schedule, KNOB_TARGET);
    if (only_target && (!found || timed->origin > found->origin)) found = timed;
  }
  return found;
}

const Timed *results_nearest(const Results *results, const Schedule *schedule, int *distance) {
  const Timed *nearest = NULL;
  *distance = KNOB_COUNT + 1;
  for (int i = 0; i < results->n_timed; i++) {
    const Timed *timed = &results->timed[i];
    int d = schedule_distance(&timed->schedule, schedule);
    if (!timed->ok || d >= *distance || !schedule_same_problem(&timed->schedule, schedule))
      continue;
    nearest = timed;
    *distance = d;
  }
  return nearest;
}

// ---- single accesses ----------------------------------------------------------------------------

static int find_probed(const Results *results, const BankOp *op, const int64_t *addr) {
  for (int i = 0; i < results->n_probed; i++)
    if (results->probed[i].op == op && probe_same(op, results->probed[i].addr, addr)) return i;
  return -1;
}

void results_add_probe(Results *results, const ProbeAccess *access, const ProbeResult *result) {
  const BankOp *op = banks_op_find(access->op);
  int at = find_probed(results, op, access->addr);
  if (at < 0) {
    at = results->next_probed;
    results->next_probed = (at + 1) % RESULTS_PROBED_MAX;
    if (results->n_probed < RESULTS_PROBED_MAX) results->n_probed++;
  }
  Probed *probed = &results->probed[at];
  *probed = (Probed){.op = op,
                     .clocks = result->clocks,
                     .p10_clocks = result->p10_clocks,
                     .p90_clocks = result->p90_clocks};
  memcpy(probed->addr, access->addr, sizeof probed->addr);
  snprintf(probed->gpu, sizeof probed->gpu, "%s", result->gpu ? result->gpu : "");
}

const Probed *results_probed(const Results *results, const BankOp *op,
                             const int64_t addr[BANK_LANES]) {
  const int at = find_probed(results, op, addr);
  return at < 0 ? NULL : &results->probed[at];
}

// ---- the clock ----------------------------------------------------------------------------------

static Clocked *find_clocked(const Results *results, uint64_t key) {
  for (int i = 0; i < results->n_clocked; i++)
    if (results->clocked[i].key == key) return &results->clocked[i];
  return NULL;
}

void results_add_clock(Results *results, uint64_t key, const ClockedSpeed *speed) {
  Clocked *clocked = find_clocked(results, key);
  if (!clocked) {
    clocked = &results->clocked[results->next_clocked];
    results->next_clocked = (results->next_clocked + 1) % RESULTS_CLOCKED_MAX;
    if (results->n_clocked < RESULTS_CLOCKED_MAX) results->n_clocked++;
  }
  *clocked = (Clocked){.key = key, .known = speed != NULL};
  if (speed) clocked->speed = *speed;
}

void results_forget_clocks(Results *results) { results->n_clocked = results->next_clocked = 0; }

const Clocked *results_clocked(const Results *results, uint64_t key) {
  return find_clocked(results, key);
}

Estimate results_estimate(const Results *results, uint64_t key, const Estimate *stand_in) {
  const Clocked *clocked = find_clocked(results, key);
  return clocked && clocked->known ? estimate_clocked(&clocked->speed) : *stand_in;
}

// ---- traces -------------------------------------------------------------------------------------

void results_add_trace(Results *results, uint64_t key, const TraceResult *result) {
  TracedBlock *traced = results->traced;
  if (!traced->arena) traced->arena = arena_new("traced");
  arena_reset(traced->arena);
  StampedWarp *warp = ARENA_ARRAY(traced->arena, StampedWarp, result->n_warps);
  for (int i = 0; i < result->n_warps; i++) {
    const StampedWarp *from = &result->warp[i];
    Stamp *stamp = ARENA_ARRAY(traced->arena, Stamp, from->n);
    for (int k = 0; k < from->n; k++) stamp[k] = from->stamp[k];
    warp[i] = *from;
    warp[i].stamp = stamp;
  }
  traced->key = key;
  traced->serial++;
  traced->result = (TraceResult){.ok = result->ok,
                                 .block = result->block,
                                 .n_blocks = result->n_blocks,
                                 .clock_mhz = result->clock_mhz,
                                 .n_warps = result->n_warps,
                                 .warp = warp};
}

const TracedBlock *results_traced(const Results *results, uint64_t key) {
  return results->traced->serial && results->traced->key == key ? results->traced : NULL;
}

// ---- compilations -------------------------------------------------------------------------------

const Compiled *results_compiled(const Results *results, uint64_t key) {
  for (int i = 0; i < results->n_compiled; i++)
    if (results->compiled[i].key == key) return &results->compiled[i];
  return NULL;
}

Counted results_counted(const Results *results, const Schedule *schedule) {
  const Compiled *compiled = results_compiled(results, schedule_identity(schedule));
  if (compiled && compiled->registers >= 0)
    return (Counted){compiled->registers, compiled->spill_bytes, ORIGIN_COMPILED, compiled->note};
  const Timed *timed = results_find(results, schedule);
  if (timed && timed->registers >= 0)
    return (Counted){timed->registers, timed->spill_bytes, timed->origin, NULL};
  return (Counted){-1, -1, ORIGIN_ESTIMATED, NULL};
}

Compiled *results_begin_compile(Results *results, uint64_t key) {
  for (int i = 0; i < results->n_compiled; i++)
    if (results->compiled[i].key == key) return &results->compiled[i];
  int at = results->next_compiled;
  results->next_compiled = (at + 1) % RESULTS_COMPILED_MAX;
  Arena *arena = results->compiled[at].arena;
  if (at < results->n_compiled)
    arena_reset(arena);
  else
    arena = arena_new("compiled"), results->n_compiled++;
  results->compiled[at] = (Compiled){.key = key,
                                     .arena = arena,
                                     .ptx_ms = -1,
                                     .cubin_ms = -1,
                                     .registers = -1,
                                     .spill_bytes = -1,
                                     .smem_bytes = -1};
  return &results->compiled[at];
}

static void keep_kernels(Compiled *compiled, const CompileResult *result) {
  KernelResources *kernel = ARENA_ARRAY(compiled->arena, KernelResources, result->n_kernels);
  for (int i = 0; i < result->n_kernels; i++) {
    kernel[i] = result->kernels[i];
    kernel[i].name = kernel[i].note = NULL;
  }
  compiled->n_kernels = result->n_kernels;
  compiled->kernel = kernel;
}

void results_add_compile(Compiled *compiled, const CompileResult *result) {
  if (result->n_kernels) keep_kernels(compiled, result);
  if (result->error) compiled->error = keep(compiled->arena, result->error);
  if (result->compiler) compiled->compiler = keep(compiled->arena, result->compiler);
  if (result->ptx_ms >= 0) compiled->ptx_ms = result->ptx_ms;
  if (result->cubin_ms >= 0) compiled->cubin_ms = result->cubin_ms;
  if (result->ptx && !compiled->ptx) {
    compiled->ptx = keep(compiled->arena, result->ptx);
    compiled->listing = ptx_read(compiled->arena, compiled->ptx);
  }
  for (int i = 0; i < result->n_kernels; i++) {
    const KernelResources *kernel = &result->kernels[i];
    if (kernel->note) compiled->note = keep(compiled->arena, kernel->note);
    if (kernel->registers <= compiled->registers) continue;
    compiled->registers = kernel->registers;
    compiled->spill_bytes = kernel->spill_store_bytes;
    compiled->smem_bytes = kernel->smem_bytes;
  }
}

const SassResult *results_copy_sass(Arena *arena, const SassResult *sass) {
  SassResult *copy = ARENA_NEW(arena, SassResult);
  *copy = *sass;
  copy->error = keep(arena, sass->error);
  copy->tool = keep(arena, sass->tool);
  SassLine *line = ARENA_ARRAY(arena, SassLine, sass->n_lines);
  for (int i = 0; i < sass->n_lines; i++) {
    const SassLine *from = &sass->lines[i];
    line[i] = *from;
    line[i].kernel = keep(arena, from->kernel);
    line[i].text = keep(arena, from->text);
    line[i].opcode = keep(arena, from->opcode);
  }
  SassCount *count = ARENA_ARRAY(arena, SassCount, sass->n_counts);
  for (int i = 0; i < sass->n_counts; i++) {
    count[i] = sass->counts[i];
    count[i].kernel = keep(arena, count[i].kernel);
    count[i].opcode = keep(arena, count[i].opcode);
  }
  copy->lines = line;
  copy->counts = count;
  return copy;
}

const KernelTexts *results_copy_code(Arena *arena, const KernelTexts *code) {
  KernelTexts *copy = ARENA_NEW(arena, KernelTexts);
  *copy = *code;
  for (int i = 0; i < code->n_kernels; i++)
    copy->kernels[i] =
        (KernelText){keep(arena, code->kernels[i].name), arena_strdup(arena, code->kernels[i].hex)};
  return copy;
}

void results_add_sass(Compiled *compiled, const SassResult *sass) {
  compiled->sass = results_copy_sass(compiled->arena, sass);
}

void results_add_code(Compiled *compiled, const KernelTexts *code) {
  Arena *arena = compiled->arena;
  ElfBytes *bytes = ARENA_ARRAY(arena, ElfBytes, code->n_kernels + 1);
  for (int i = 0; i < code->n_kernels; i++)
    bytes[i] = kernel_text_bytes(arena, code, code->kernels[i].name);
  compiled->code = results_copy_code(arena, code);
  compiled->bytes = bytes;
}

SassCode results_decode(Arena *arena, const Compiled *compiled, const char *kernel, int sm) {
  for (int i = 0; compiled->code && i < compiled->code->n_kernels; i++) {
    const ElfBytes bytes = compiled->bytes[i];
    if (str_equal(compiled->code->kernels[i].name, kernel) && bytes.at)
      return sass_decode(arena, bytes.at, (size_t)(bytes.end - bytes.at), sm);
  }
  return (SassCode){0};
}
