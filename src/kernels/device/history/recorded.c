// The fields of a recorded document, once, for writing and reading (base/record_json.h walks them).
//
// Clocks are kept as a sentence that grows with every run of a ladder:
//   "SM 1980 MHz" + a run at 1755 MHz  →  "SM 1755 to 1980 MHz, throttled: power cap"
#include "kernels/device/history/recorded.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/record_json.h"

static const RecordField row_fields[] = {
#define RECORDED_ROW(KIND, NAME, help) \
  {.key = #NAME, .kind = RECORD_##KIND, .offset = offsetof(RecordedRow, NAME)},
#define RECORDED_LATER(KIND, NAME, help) \
  {.key = #NAME, .kind = RECORD_##KIND, .offset = offsetof(RecordedRow, NAME), .may_lack = true},
#include "kernels/device/history/recorded.def"
#undef RECORDED_ROW
};
static const Record row_record = {row_fields, sizeof row_fields / sizeof *row_fields,
                                  sizeof(RecordedRow)};

static const RecordField document_fields[] = {
    {.key = "schema", .kind = RECORD_TEXT, .offset = offsetof(Recorded, schema)},
#define RECORDED_HEAD(KIND, NAME, help) \
  {.key = #NAME, .kind = RECORD_##KIND, .offset = offsetof(Recorded, NAME)},
#include "kernels/device/history/recorded.def"
#undef RECORDED_HEAD
    {.key = "rows",
     .kind = RECORD_LIST,
     .offset = offsetof(Recorded, rows),
     .record = &row_record,
     .count_offset = offsetof(Recorded, n_rows),
     .max = RECORDED_ROWS_MAX},
};
static const Record document_record = {
    document_fields, sizeof document_fields / sizeof *document_fields, sizeof(Recorded)};

#define FORM_FILE "kernels/device/history/recorded.form"
#include "base/form_make.h"

const Recorded *recorded_read_json(Arena *arena, const char *text, size_t n, const char *what,
                                   Diags *diags) {
  const char *terminated = arena_strndup(arena, text, n);
  Recorded *recorded = record_read_text(arena, terminated, what, &document_record, diags);
  if (!recorded || str_equal(recorded->schema, "gemmview/1")) return recorded;
  diag_add(diags, "json", "%s: the schema is \"%s\", not \"gemmview/1\"", what,
           str_sanitise(arena, recorded->schema));
  return NULL;
}

RecordedRow recorded_row(const BenchResult *result, int entry) {
  const BenchEntry *e = &result->entries[entry];
  const BenchReference *reference = &result->reference;
  RecordedRow row = {
      .m = result->m,
      .n = result->n,
      .k = result->k,
      .verified = e->verify.ran && e->verify.ok,
      .error = e->error ? e->error : result->error,
      .time_ns = e->time.median_ns,
      .p10_ns = e->time.p10_ns,
      .p90_ns = e->time.p90_ns,
      .tflops = e->tflops,
      .cublas_time_ns = reference->time.median_ns,
      .cublas_tflops = reference->tflops,
      .cublas_row = reference->name,
      .ratio = e->ratio,
      .ratio_min = e->ratio_min,
      .ratio_max = e->ratio_max,
      .error_this = e->verify.ran ? e->verify.error : -1,
      .rms_this = e->verify.ran ? e->verify.rms : -1,
      .error_cublas = reference->verify.ran ? reference->verify.error : -1,
      .rms_cublas = reference->verify.ran ? reference->verify.rms : -1,
      .spread = -1,
      .samples = e->time.n_samples,
      .registers = e->registers,
      .spill_bytes = -1,
      .local_bytes = e->local_bytes,
      .blocks_per_sm = e->blocks_per_sm,
      .occupancy = -1,
  };
  if (e->time.median_ns > 0) row.spread = (e->time.p75_ns - e->time.p25_ns) / e->time.median_ns;
  return row;
}

// ---- the heading --------------------------------------------------------------------------------

static void widen(int *lo, int *hi, int mhz) {
  if (mhz <= 0) return;
  if (*lo == 0 || mhz < *lo) *lo = mhz;
  if (mhz > *hi) *hi = mhz;
}

static const char *clocks_text(Arena *arena, const char *before, const BenchResult *result) {
  const GpuState *states[] = {&result->before, &result->after};
  int lo = 0, hi = 0;
  const char *reason = before ? strstr(before, "throttled: ") : NULL;
  reason = reason ? reason + strlen("throttled: ") : NULL;
  if (before && sscanf(before, "SM %d to %d", &lo, &hi) == 1) hi = lo;
  for (int i = 0; i < 2; i++) {
    if (!states[i]->known) continue;
    widen(&lo, &hi, states[i]->sm_mhz);
    if (states[i]->throttled && !reason) reason = states[i]->throttle_text;
  }
  if (lo == 0) return before;
  const char *range = lo == hi ? arena_printf(arena, "SM %d MHz", lo)
                               : arena_printf(arena, "SM %d to %d MHz", lo, hi);
  return reason ? arena_printf(arena, "%s, throttled: %s", range, reason) : range;
}

void recorded_add_header(Arena *arena, Recorded *recorded, const BenchResult *result) {
  recorded->gpu = result->gpu;
  recorded->driver = result->driver;
  recorded->cuda = result->cuda;
  recorded->date = result->date;
  recorded->method = result->method;
  recorded->hot = result->hot;
  if (result->reference.library) recorded->cublas = result->reference.library;
  recorded->clocks = clocks_text(arena, recorded->clocks, result);
}
