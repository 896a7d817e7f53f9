// The fields of a recorded document, once, for writing and reading (record.h walks them).
//
// Clocks are kept as a sentence that grows with every run of a ladder:
//   "SM 1980 MHz" + a run at 1755 MHz  →  "SM 1755 to 1980 MHz, throttled: power cap"
#include "kernels/device/history/recorded.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "kernels/toolchain/json_fields.h"

#define ROW(NAME, KIND) \
  { .key = #NAME, .kind = KIND, .offset = offsetof(RecordedRow, NAME) }
#define HEAD(NAME, KIND) \
  { .key = #NAME, .kind = KIND, .offset = offsetof(Recorded, NAME) }

static const RecordField row_fields[] = {
    ROW(rung, RECORD_MAYBE_TEXT),
    ROW(state, RECORD_TEXT),
    ROW(m, RECORD_INT64),
    ROW(n, RECORD_INT64),
    ROW(k, RECORD_INT64),
    ROW(verified, RECORD_BOOL),
    ROW(error, RECORD_MAYBE_TEXT),
    ROW(time_ns, RECORD_POSITIVE),
    ROW(p10_ns, RECORD_POSITIVE),
    ROW(p90_ns, RECORD_POSITIVE),
    ROW(tflops, RECORD_POSITIVE),
    ROW(cublas_time_ns, RECORD_POSITIVE),
    ROW(cublas_tflops, RECORD_POSITIVE),
    ROW(cublas_row, RECORD_MAYBE_TEXT),
    ROW(ratio, RECORD_POSITIVE),
    ROW(ratio_min, RECORD_POSITIVE),
    ROW(ratio_max, RECORD_POSITIVE),
    ROW(spread, RECORD_MEASURE),
    ROW(samples, RECORD_INT),
    ROW(registers, RECORD_COUNT),
    ROW(spill_bytes, RECORD_COUNT),
    ROW(local_bytes, RECORD_COUNT),
    ROW(blocks_per_sm, RECORD_COUNT),
    ROW(occupancy, RECORD_MEASURE),
    ROW(predicted_tflops, RECORD_POSITIVE),
    ROW(limit, RECORD_MAYBE_TEXT),
};
static const Record row_record = {row_fields, sizeof row_fields / sizeof *row_fields,
                                  sizeof(RecordedRow)};

static const RecordField document_fields[] = {
    HEAD(schema, RECORD_TEXT),
    HEAD(kind, RECORD_TEXT),
    HEAD(ladder, RECORD_MAYBE_TEXT),
    HEAD(gpu, RECORD_MAYBE_TEXT),
    HEAD(driver, RECORD_MAYBE_TEXT),
    HEAD(cuda, RECORD_MAYBE_TEXT),
    HEAD(cublas, RECORD_MAYBE_TEXT),
    HEAD(date, RECORD_MAYBE_TEXT),
    HEAD(clocks, RECORD_MAYBE_TEXT),
    HEAD(hot, RECORD_BOOL),
    HEAD(method, RECORD_MAYBE_TEXT),
    {.key = "rows",
     .kind = RECORD_LIST,
     .offset = offsetof(Recorded, rows),
     .record = &row_record,
     .count_offset = offsetof(Recorded, n_rows),
     .max = RECORDED_ROWS_MAX},
};
static const Record document_record = {
    document_fields, sizeof document_fields / sizeof *document_fields, sizeof(Recorded)};

void recorded_write_json(Str *out, const Recorded *recorded) {
  JsonWriter writer = json_writer(out);
  record_write(&writer, &document_record, recorded);
}

void recorded_row_write_json(Str *out, const RecordedRow *row) {
  JsonWriter writer = json_writer(out);
  record_write(&writer, &row_record, row);
}

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
