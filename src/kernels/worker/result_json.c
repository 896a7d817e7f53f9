// The fields of every result, once, for writing and reading (record.h walks them).
//
// A table's order is the order in the text, made for people who read it with jq: first whether it
// went well, then what was measured, then how. Example, cut short:
//
//   {"ok":true,"error":null,"poisoned":false,"cancelled":false,"entries":[{"label":"fp32 rung 7",
//    "ok":true,…,"time":{"median_ns":3120000,…,"n_samples":64,…},"tflops":44.1,"ratio":0.86}],…}
#include "kernels/worker/result_json.h"

#include <stddef.h>

#include "kernels/toolchain/json_fields.h"

enum { SASS_LINES_MAX = 200000, SASS_COUNTS_MAX = 20000 };
_Static_assert(sizeof(size_t) == sizeof(int64_t), "sizes travel as int64");

#define FIELD(T, NAME, KIND) \
  { .key = #NAME, .kind = KIND, .offset = offsetof(T, NAME) }
#define OBJECT(T, NAME, RECORD_NAME) \
  { .key = #NAME, .kind = RECORD_OBJECT, .offset = offsetof(T, NAME), .record = &RECORD_NAME }
#define MANY(T, KIND, KEY, ITEMS, COUNT, MAX, RECORD_POINTER)                         \
  {                                                                                   \
    .key = KEY, .kind = KIND, .offset = offsetof(T, ITEMS), .record = RECORD_POINTER, \
    .count_offset = offsetof(T, COUNT), .max = MAX                                    \
  }
#define RECORD_OF(T, FIELDS) \
  { FIELDS, sizeof FIELDS / sizeof *FIELDS, sizeof(T) }

static const RecordField loop_fields[] = {
    FIELD(CompiledLoop, multiplies, RECORD_INT),    FIELD(CompiledLoop, instructions, RECORD_INT),
    FIELD(CompiledLoop, spills, RECORD_INT),        FIELD(CompiledLoop, near_clocks, RECORD_DOUBLE),
    FIELD(CompiledLoop, far_clocks, RECORD_DOUBLE),
};
static const Record loop_record = RECORD_OF(CompiledLoop, loop_fields);

static const RecordField code_fields[] = {
    OBJECT(CompiledCode, inner, loop_record),
    OBJECT(CompiledCode, outer, loop_record),
};
static const Record code_record = RECORD_OF(CompiledCode, code_fields);

static const RecordField spill_count_fields[] = {
    FIELD(SpillCount, stores, RECORD_INT),
    FIELD(SpillCount, loads, RECORD_INT),
};
static const Record spill_count_record = RECORD_OF(SpillCount, spill_count_fields);

static const RecordField spills_fields[] = {
    OBJECT(CompiledSpills, before, spill_count_record),
    OBJECT(CompiledSpills, loop, spill_count_record),
    OBJECT(CompiledSpills, behind, spill_count_record),
};
static const Record spills_record = RECORD_OF(CompiledSpills, spills_fields);

static const RecordField resources_fields[] = {
    FIELD(KernelResources, name, RECORD_TEXT),
    FIELD(KernelResources, registers, RECORD_COUNT),
    FIELD(KernelResources, smem_bytes, RECORD_COUNT),
    FIELD(KernelResources, stack_bytes, RECORD_COUNT),
    FIELD(KernelResources, spill_store_bytes, RECORD_COUNT),
    FIELD(KernelResources, spill_load_bytes, RECORD_COUNT),
    FIELD(KernelResources, constant_bytes, RECORD_COUNT),
    FIELD(KernelResources, n_barriers, RECORD_COUNT),
    FIELD(KernelResources, note, RECORD_MAYBE_TEXT),
    OBJECT(KernelResources, code, code_record),
    OBJECT(KernelResources, spills, spills_record),
    FIELD(KernelResources, instructions, RECORD_COUNT),
};
static const Record resources_record = RECORD_OF(KernelResources, resources_fields);

static const RecordField compile_fields[] = {
    FIELD(CompileResult, ok, RECORD_BOOL),
    FIELD(CompileResult, error, RECORD_MAYBE_TEXT),
    FIELD(CompileResult, failed, RECORD_MAYBE_TEXT),
    FIELD(CompileResult, log, RECORD_TEXT),
    FIELD(CompileResult, compiler, RECORD_MAYBE_TEXT),
    FIELD(CompileResult, ptx_ms, RECORD_MEASURE),
    FIELD(CompileResult, cubin_ms, RECORD_MEASURE),
    FIELD(CompileResult, ptx_bytes, RECORD_INT64),
    FIELD(CompileResult, cubin_bytes, RECORD_INT64),
    MANY(CompileResult, RECORD_ARRAY, "kernels", kernels, n_kernels, PLAN_MAX_KERNELS,
         &resources_record),
    FIELD(CompileResult, ptx, RECORD_MAYBE_TEXT),
};
static const Record compile_record = RECORD_OF(CompileResult, compile_fields);

static const RecordField verify_fields[] = {
    FIELD(VerifyResult, ran, RECORD_BOOL),
    FIELD(VerifyResult, ok, RECORD_BOOL),
    FIELD(VerifyResult, tolerance, RECORD_DOUBLE),
    FIELD(VerifyResult, worst, RECORD_MEASURE),
    FIELD(VerifyResult, n_cells, RECORD_INT64),
    FIELD(VerifyResult, n_wrong, RECORD_INT64),
    FIELD(VerifyResult, n_unwritten, RECORD_INT64),
    FIELD(VerifyResult, n_outside, RECORD_INT64),
    FIELD(VerifyResult, first_row, RECORD_INT64),
    FIELD(VerifyResult, first_col, RECORD_INT64),
    FIELD(VerifyResult, first_got, RECORD_FINITE),
    FIELD(VerifyResult, first_expected, RECORD_DOUBLE),
    FIELD(VerifyResult, first_bound, RECORD_DOUBLE),
    FIELD(VerifyResult, map_rows, RECORD_INT),
    FIELD(VerifyResult, map_cols, RECORD_INT),
    FIELD(VerifyResult, map_tile_m, RECORD_INT64),
    FIELD(VerifyResult, map_tile_n, RECORD_INT64),
    MANY(VerifyResult, RECORD_UINT32S, "map", map, n_map, VERIFY_MAP_MAX *VERIFY_MAP_MAX, NULL),
};
static const Record verify_record = RECORD_OF(VerifyResult, verify_fields);

static const RecordField timing_fields[] = {
    FIELD(Timing, median_ns, RECORD_POSITIVE), FIELD(Timing, min_ns, RECORD_POSITIVE),
    FIELD(Timing, p10_ns, RECORD_POSITIVE),    FIELD(Timing, p25_ns, RECORD_POSITIVE),
    FIELD(Timing, p75_ns, RECORD_POSITIVE),    FIELD(Timing, p90_ns, RECORD_POSITIVE),
    FIELD(Timing, n_samples, RECORD_INT),      FIELD(Timing, launches_per_sample, RECORD_INT),
};
static const Record timing_record = RECORD_OF(Timing, timing_fields);

static const RecordField state_fields[] = {
    FIELD(GpuState, known, RECORD_BOOL),       FIELD(GpuState, sm_mhz, RECORD_COUNT),
    FIELD(GpuState, memory_mhz, RECORD_COUNT), FIELD(GpuState, temperature_c, RECORD_COUNT),
    FIELD(GpuState, power_w, RECORD_MEASURE),  FIELD(GpuState, throttle_reasons, RECORD_INT64),
    FIELD(GpuState, throttled, RECORD_BOOL),   FIELD(GpuState, throttle_text, RECORD_MAYBE_TEXT),
};
static const Record state_record = RECORD_OF(GpuState, state_fields);

static const RecordField entry_fields[] = {
    FIELD(BenchEntry, label, RECORD_MAYBE_TEXT),   FIELD(BenchEntry, ok, RECORD_BOOL),
    FIELD(BenchEntry, error, RECORD_MAYBE_TEXT),   OBJECT(BenchEntry, verify, verify_record),
    OBJECT(BenchEntry, time, timing_record),       FIELD(BenchEntry, tflops, RECORD_POSITIVE),
    FIELD(BenchEntry, ratio, RECORD_POSITIVE),     FIELD(BenchEntry, ratio_min, RECORD_POSITIVE),
    FIELD(BenchEntry, ratio_max, RECORD_POSITIVE), FIELD(BenchEntry, blocks_per_sm, RECORD_COUNT),
    FIELD(BenchEntry, registers, RECORD_COUNT),    FIELD(BenchEntry, local_bytes, RECORD_COUNT),
};
static const Record entry_record = RECORD_OF(BenchEntry, entry_fields);

static const RecordField reference_fields[] = {
    FIELD(BenchReference, ok, RECORD_BOOL),
    FIELD(BenchReference, error, RECORD_MAYBE_TEXT),
    FIELD(BenchReference, name, RECORD_MAYBE_TEXT),
    FIELD(BenchReference, library, RECORD_MAYBE_TEXT),
    FIELD(BenchReference, n_candidates, RECORD_INT),
    OBJECT(BenchReference, verify, verify_record),
    OBJECT(BenchReference, time, timing_record),
    FIELD(BenchReference, tflops, RECORD_POSITIVE),
};
static const Record reference_record = RECORD_OF(BenchReference, reference_fields);

static const RecordField bench_fields[] = {
    FIELD(BenchResult, ok, RECORD_BOOL),
    FIELD(BenchResult, error, RECORD_MAYBE_TEXT),
    FIELD(BenchResult, poisoned, RECORD_BOOL),
    FIELD(BenchResult, cancelled, RECORD_BOOL),
    MANY(BenchResult, RECORD_ARRAY, "entries", entries, n_entries, BENCH_MAX_PLANS, &entry_record),
    OBJECT(BenchResult, reference, reference_record),
    OBJECT(BenchResult, before, state_record),
    OBJECT(BenchResult, after, state_record),
    FIELD(BenchResult, l2_flushed, RECORD_BOOL),
    FIELD(BenchResult, hot, RECORD_BOOL),
    FIELD(BenchResult, verify_ms, RECORD_MEASURE),
    FIELD(BenchResult, total_ms, RECORD_MEASURE),
    FIELD(BenchResult, seed, RECORD_INT64),
    FIELD(BenchResult, m, RECORD_INT64),
    FIELD(BenchResult, n, RECORD_INT64),
    FIELD(BenchResult, k, RECORD_INT64),
    FIELD(BenchResult, gpu, RECORD_MAYBE_TEXT),
    FIELD(BenchResult, gpu_uuid, RECORD_MAYBE_TEXT),
    FIELD(BenchResult, driver, RECORD_MAYBE_TEXT),
    FIELD(BenchResult, cuda, RECORD_MAYBE_TEXT),
    FIELD(BenchResult, date, RECORD_MAYBE_TEXT),
    FIELD(BenchResult, method, RECORD_MAYBE_TEXT),
};
static const Record bench_record = RECORD_OF(BenchResult, bench_fields);

static const RecordField stamp_fields[] = {
    FIELD(Stamp, clock, RECORD_INT64),
    FIELD(Stamp, mark, RECORD_INT),
    FIELD(Stamp, number, RECORD_INT),
};
static const Record stamp_record = RECORD_OF(Stamp, stamp_fields);

static const RecordField trace_warp_fields[] = {
    FIELD(StampedWarp, sm, RECORD_INT),
    FIELD(StampedWarp, ns_begin, RECORD_INT64),
    FIELD(StampedWarp, ns_end, RECORD_INT64),
    FIELD(StampedWarp, clock_begin, RECORD_INT64),
    FIELD(StampedWarp, clock_end, RECORD_INT64),
    FIELD(StampedWarp, lost, RECORD_INT64),
    MANY(StampedWarp, RECORD_LIST, "stamps", stamp, n, STAMPS_EACH, &stamp_record),
};
static const Record trace_warp_record = RECORD_OF(StampedWarp, trace_warp_fields);

static const RecordField trace_fields[] = {
    FIELD(TraceResult, ok, RECORD_BOOL),
    FIELD(TraceResult, error, RECORD_MAYBE_TEXT),
    OBJECT(TraceResult, bench, bench_record),
    OBJECT(TraceResult, verify, verify_record),
    FIELD(TraceResult, block, RECORD_INT64),
    FIELD(TraceResult, n_blocks, RECORD_INT),
    FIELD(TraceResult, clock_mhz, RECORD_POSITIVE),
    MANY(TraceResult, RECORD_LIST, "warps", warp, n_warps, TRACE_WARPS_MAX, &trace_warp_record),
};
static const Record trace_record = RECORD_OF(TraceResult, trace_fields);

static const RecordField sass_line_fields[] = {
    FIELD(SassLine, kernel, RECORD_TEXT),       FIELD(SassLine, text, RECORD_TEXT),
    FIELD(SassLine, opcode, RECORD_MAYBE_TEXT), FIELD(SassLine, address, RECORD_COUNT),
    FIELD(SassLine, cuda_line, RECORD_COUNT),   FIELD(SassLine, live_registers, RECORD_COUNT),
};
static const Record sass_line_record = RECORD_OF(SassLine, sass_line_fields);

static const RecordField sass_count_fields[] = {
    FIELD(SassCount, kernel, RECORD_TEXT),
    FIELD(SassCount, opcode, RECORD_TEXT),
    FIELD(SassCount, count, RECORD_INT),
};
static const Record sass_count_record = RECORD_OF(SassCount, sass_count_fields);

static const RecordField sass_fields[] = {
    FIELD(SassResult, ok, RECORD_BOOL),
    FIELD(SassResult, error, RECORD_MAYBE_TEXT),
    FIELD(SassResult, tool, RECORD_MAYBE_TEXT),
    MANY(SassResult, RECORD_LIST, "counts", counts, n_counts, SASS_COUNTS_MAX, &sass_count_record),
    MANY(SassResult, RECORD_LIST, "lines", lines, n_lines, SASS_LINES_MAX, &sass_line_record),
};
static const Record sass_record = RECORD_OF(SassResult, sass_fields);

static const RecordField kernel_text_fields[] = {
    FIELD(KernelText, name, RECORD_TEXT),
    FIELD(KernelText, hex, RECORD_TEXT),
};
static const Record kernel_text_record = RECORD_OF(KernelText, kernel_text_fields);

static const RecordField kernel_texts_fields[] = {
    MANY(KernelTexts, RECORD_ARRAY, "kernels", kernels, n_kernels, PLAN_MAX_KERNELS,
         &kernel_text_record),
};
static const Record kernel_texts_record = RECORD_OF(KernelTexts, kernel_texts_fields);

static const RecordField speed_fields[] = {
    FIELD(ClockedSpeed, tflops, RECORD_POSITIVE),
    FIELD(ClockedSpeed, low, RECORD_POSITIVE),
    FIELD(ClockedSpeed, high, RECORD_POSITIVE),
};
static const Record speed_record = RECORD_OF(ClockedSpeed, speed_fields);

static const RecordField clock_number_fields[] = {
    FIELD(ClockNumber, why_not, RECORD_MAYBE_TEXT),
    OBJECT(ClockNumber, speed, speed_record),
    FIELD(ClockNumber, clocks, RECORD_POSITIVE),
    FIELD(ClockNumber, mhz, RECORD_POSITIVE),
};
static const Record clock_number_record = RECORD_OF(ClockNumber, clock_number_fields);

static void write(Str *out, const Record *record, const void *from) {
  JsonWriter w = json_writer(out);
  record_write(&w, record, from);
}

void compile_result_write_json(Str *out, const CompileResult *result) {
  write(out, &compile_record, result);
}
void bench_result_write_json(Str *out, const BenchResult *result) {
  write(out, &bench_record, result);
}
void trace_result_write_json(Str *out, const TraceResult *result) {
  write(out, &trace_record, result);
}
void sass_result_write_json(Str *out, const SassResult *result) {
  write(out, &sass_record, result);
}
void kernel_texts_write_json(Str *out, const KernelTexts *texts) {
  write(out, &kernel_texts_record, texts);
}

void clock_number_write_json(Str *out, const ClockNumber *number) {
  write(out, &clock_number_record, number);
}

CompileResult *compile_result_read_json(Arena *arena, const char *text, Diags *diags) {
  return record_read_text(arena, text, "compile result", &compile_record, diags);
}
BenchResult *bench_result_read_json(Arena *arena, const char *text, Diags *diags) {
  return record_read_text(arena, text, "benchmark result", &bench_record, diags);
}
TraceResult *trace_result_read_json(Arena *arena, const char *text, Diags *diags) {
  return record_read_text(arena, text, "trace", &trace_record, diags);
}
SassResult *sass_result_read_json(Arena *arena, const char *text, Diags *diags) {
  return record_read_text(arena, text, "sass result", &sass_record, diags);
}
ClockNumber *clock_number_read_json(Arena *arena, const char *text, Diags *diags) {
  return record_read_text(arena, text, "clock", &clock_number_record, diags);
}
KernelTexts *kernel_texts_read_json(Arena *arena, const char *text, Diags *diags) {
  return record_read_text(arena, text, "machine code", &kernel_texts_record, diags);
}
