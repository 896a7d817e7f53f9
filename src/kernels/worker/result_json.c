// The fields of every result, once, for writing and reading (base/record_json.h walks them).
//
// A table's order is the order in the text, made for people who read it with jq: first whether it
// went well, then what was measured, then how. Example, cut short:
//
//   {"ok":true,"error":null,"poisoned":false,"cancelled":false,"entries":[{"label":"fp32 rung 7",
//    "ok":true,…,"time":{"median_ns":3120000,…,"n_samples":64,…},"tflops":44.1,"ratio":0.86}],…}
#include "kernels/worker/result_json.h"

#include <stddef.h>

#include "base/record_json.h"

enum { SASS_LINES_MAX = 200000, SASS_COUNTS_MAX = 20000 };
_Static_assert(sizeof(size_t) == sizeof(int64_t), "sizes travel as int64");

static const RecordField loop_fields[] = {
    RECORD_FIELD(CompiledLoop, multiplies, RECORD_INT),
    RECORD_FIELD(CompiledLoop, instructions, RECORD_INT),
    RECORD_FIELD(CompiledLoop, spills, RECORD_INT),
    RECORD_FIELD(CompiledLoop, near_clocks, RECORD_DOUBLE),
    RECORD_FIELD(CompiledLoop, far_clocks, RECORD_DOUBLE),
};
static const Record loop_record = RECORD_OF(CompiledLoop, loop_fields);

static const RecordField code_fields[] = {
    RECORD_STRUCT(CompiledCode, inner, loop_record),
    RECORD_STRUCT(CompiledCode, outer, loop_record),
};
static const Record code_record = RECORD_OF(CompiledCode, code_fields);

static const RecordField spill_count_fields[] = {
    RECORD_FIELD(SpillCount, stores, RECORD_INT),
    RECORD_FIELD(SpillCount, loads, RECORD_INT),
};
static const Record spill_count_record = RECORD_OF(SpillCount, spill_count_fields);

static const RecordField spills_fields[] = {
    RECORD_STRUCT(CompiledSpills, before, spill_count_record),
    RECORD_STRUCT(CompiledSpills, loop, spill_count_record),
    RECORD_STRUCT(CompiledSpills, behind, spill_count_record),
};
static const Record spills_record = RECORD_OF(CompiledSpills, spills_fields);

static const RecordField resources_fields[] = {
    RECORD_FIELD(KernelResources, name, RECORD_TEXT),
    RECORD_FIELD(KernelResources, registers, RECORD_COUNT),
    RECORD_FIELD(KernelResources, smem_bytes, RECORD_COUNT),
    RECORD_FIELD(KernelResources, stack_bytes, RECORD_COUNT),
    RECORD_FIELD(KernelResources, spill_store_bytes, RECORD_COUNT),
    RECORD_FIELD(KernelResources, spill_load_bytes, RECORD_COUNT),
    RECORD_FIELD(KernelResources, constant_bytes, RECORD_COUNT),
    RECORD_FIELD(KernelResources, n_barriers, RECORD_COUNT),
    RECORD_FIELD(KernelResources, note, RECORD_MAYBE_TEXT),
    RECORD_STRUCT(KernelResources, code, code_record),
    RECORD_STRUCT(KernelResources, spills, spills_record),
    RECORD_FIELD(KernelResources, instructions, RECORD_COUNT),
};
static const Record resources_record = RECORD_OF(KernelResources, resources_fields);

static const RecordField compile_fields[] = {
    RECORD_FIELD(CompileResult, ok, RECORD_BOOL),
    RECORD_FIELD(CompileResult, error, RECORD_MAYBE_TEXT),
    RECORD_FIELD(CompileResult, failed, RECORD_MAYBE_TEXT),
    RECORD_FIELD(CompileResult, log, RECORD_TEXT),
    RECORD_FIELD(CompileResult, compiler, RECORD_MAYBE_TEXT),
    RECORD_FIELD(CompileResult, ptx_ms, RECORD_MEASURE),
    RECORD_FIELD(CompileResult, cubin_ms, RECORD_MEASURE),
    RECORD_FIELD(CompileResult, ptx_bytes, RECORD_INT64),
    RECORD_FIELD(CompileResult, cubin_bytes, RECORD_INT64),
    RECORD_MANY(CompileResult, RECORD_ARRAY, "kernels", kernels, n_kernels, PLAN_MAX_KERNELS,
                &resources_record),
    RECORD_FIELD(CompileResult, ptx, RECORD_MAYBE_TEXT),
};
static const Record compile_record = RECORD_OF(CompileResult, compile_fields);

static const RecordField verify_fields[] = {
    RECORD_FIELD(VerifyResult, ran, RECORD_BOOL, "C was compared with the right result"),
    RECORD_FIELD(VerifyResult, ok, RECORD_BOOL, "every cell was right"),
    RECORD_FIELD(VerifyResult, tolerance, RECORD_DOUBLE,
                 "bounds are this times the product of the absolute values of A and B"),
    RECORD_FIELD(VerifyResult, worst, RECORD_MEASURE,
                 "largest error of a cell over its bound; null: there is no number"),
    RECORD_FIELD(VerifyResult, error, RECORD_MEASURE,
                 "largest error of a cell over the product of the absolute values of A and B"),
    RECORD_FIELD(VerifyResult, rms, RECORD_MEASURE, "root mean square of these errors"),
    RECORD_FIELD(VerifyResult, n_cells, RECORD_INT64, "cells that were compared"),
    RECORD_FIELD(VerifyResult, n_wrong, RECORD_INT64, "cells that are wrong"),
    RECORD_FIELD(VerifyResult, n_unwritten, RECORD_INT64, "cells that were never written"),
    RECORD_FIELD(VerifyResult, n_outside, RECORD_INT64,
                 "words beside C in memory that were written"),
    RECORD_FIELD(VerifyResult, first_row, RECORD_INT64, "row of the first wrong cell"),
    RECORD_FIELD(VerifyResult, first_col, RECORD_INT64, "column of the first wrong cell"),
    RECORD_FIELD(VerifyResult, first_got, RECORD_FINITE, "its value; null: not a number"),
    RECORD_FIELD(VerifyResult, first_expected, RECORD_DOUBLE, "the right value"),
    RECORD_FIELD(VerifyResult, first_bound, RECORD_DOUBLE, "its allowed error"),
    RECORD_FIELD(VerifyResult, map_rows, RECORD_INT, "rows of the map of wrong cells"),
    RECORD_FIELD(VerifyResult, map_cols, RECORD_INT, "columns of the map"),
    RECORD_FIELD(VerifyResult, map_tile_m, RECORD_INT64, "rows of C of a cell of the map"),
    RECORD_FIELD(VerifyResult, map_tile_n, RECORD_INT64, "columns of C of a cell of the map"),
    RECORD_MANY(VerifyResult, RECORD_UINT32S, "map", map, n_map, VERIFY_MAP_MAX *VERIFY_MAP_MAX,
                NULL, "wrong cells of each rectangle, row by row"),
};
static const Record verify_record = RECORD_OF(VerifyResult, verify_fields);

static const RecordField timing_fields[] = {
    RECORD_FIELD(Timing, median_ns, RECORD_POSITIVE, "median, in nanoseconds"),
    RECORD_FIELD(Timing, min_ns, RECORD_POSITIVE, "least, in nanoseconds"),
    RECORD_FIELD(Timing, p10_ns, RECORD_POSITIVE, "tenth percentile, in nanoseconds"),
    RECORD_FIELD(Timing, p25_ns, RECORD_POSITIVE, "first quartile, in nanoseconds"),
    RECORD_FIELD(Timing, p75_ns, RECORD_POSITIVE, "third quartile, in nanoseconds"),
    RECORD_FIELD(Timing, p90_ns, RECORD_POSITIVE, "ninetieth percentile, in nanoseconds"),
    RECORD_FIELD(Timing, n_samples, RECORD_INT, "number of times taken"),
    RECORD_FIELD(Timing, launches_per_sample, RECORD_INT, "launches that share a time"),
};
static const Record timing_record = RECORD_OF(Timing, timing_fields);

static const RecordField state_fields[] = {
    RECORD_FIELD(GpuState, known, RECORD_BOOL, "the driver was asked and answered"),
    RECORD_FIELD(GpuState, sm_mhz, RECORD_COUNT, "clock of the SMs, in MHz"),
    RECORD_FIELD(GpuState, memory_mhz, RECORD_COUNT, "clock of the memory, in MHz"),
    RECORD_FIELD(GpuState, temperature_c, RECORD_COUNT, "temperature, in degrees Celsius"),
    RECORD_FIELD(GpuState, power_w, RECORD_MEASURE, "power, in watts"),
    RECORD_FIELD(GpuState, throttle_reasons, RECORD_INT64, "reasons for low clocks, bits of NVML"),
    RECORD_FIELD(GpuState, throttled, RECORD_BOOL, "clocks are reduced"),
    RECORD_FIELD(GpuState, throttle_text, RECORD_MAYBE_TEXT, "the reason, in words"),
};
static const Record state_record = RECORD_OF(GpuState, state_fields);

static const RecordField entry_fields[] = {
    RECORD_FIELD(BenchEntry, label, RECORD_MAYBE_TEXT, "its name"),
    RECORD_FIELD(BenchEntry, ok, RECORD_BOOL, "it is correct and was timed"),
    RECORD_FIELD(BenchEntry, error, RECORD_MAYBE_TEXT, "the reason why not"),
    RECORD_STRUCT(BenchEntry, verify, verify_record, "the comparison of C"),
    RECORD_STRUCT(BenchEntry, time, timing_record, "times of a launch"),
    RECORD_FIELD(BenchEntry, tflops, RECORD_POSITIVE, "speed in TFLOP/s"),
    RECORD_FIELD(BenchEntry, ratio, RECORD_POSITIVE, "speed as a share of the reference library's"),
    RECORD_FIELD(BenchEntry, ratio_min, RECORD_POSITIVE, "the lowest such share of a round"),
    RECORD_FIELD(BenchEntry, ratio_max, RECORD_POSITIVE, "the highest such share of a round"),
    RECORD_FIELD(BenchEntry, blocks_per_sm, RECORD_COUNT,
                 "blocks that one SM holds at a time, by the driver"),
    RECORD_FIELD(BenchEntry, registers, RECORD_COUNT, "registers of a thread, by the driver"),
    RECORD_FIELD(BenchEntry, local_bytes, RECORD_COUNT,
                 "bytes of local memory of a thread, by the driver"),
};
static const Record entry_record = RECORD_OF(BenchEntry, entry_fields);

static const RecordField reference_fields[] = {
    RECORD_FIELD(BenchReference, ok, RECORD_BOOL, "it is correct and was timed"),
    RECORD_FIELD(BenchReference, error, RECORD_MAYBE_TEXT, "the reason why not"),
    RECORD_FIELD(BenchReference, name, RECORD_MAYBE_TEXT, "the kernel that the library ran"),
    RECORD_FIELD(BenchReference, library, RECORD_MAYBE_TEXT, "the library and its version"),
    RECORD_FIELD(BenchReference, n_candidates, RECORD_INT, "kernels of it that were tried"),
    RECORD_STRUCT(BenchReference, verify, verify_record, "the comparison of its C"),
    RECORD_STRUCT(BenchReference, time, timing_record, "times of a launch"),
    RECORD_FIELD(BenchReference, tflops, RECORD_POSITIVE, "speed in TFLOP/s"),
};
static const Record reference_record = RECORD_OF(BenchReference, reference_fields);

static const RecordField bench_fields[] = {
    RECORD_FIELD(BenchResult, ok, RECORD_BOOL, "all went well"),
    RECORD_FIELD(BenchResult, error, RECORD_MAYBE_TEXT, "the reason why not"),
    RECORD_FIELD(BenchResult, poisoned, RECORD_BOOL, "the context of the GPU was lost"),
    RECORD_FIELD(BenchResult, cancelled, RECORD_BOOL, "it was called off"),
    RECORD_MANY(BenchResult, RECORD_ARRAY, "entries", entries, n_entries, BENCH_MAX_PLANS,
                &entry_record, "the kernels that were timed"),
    RECORD_STRUCT(BenchResult, reference, reference_record,
                  "the reference library in the same run"),
    RECORD_STRUCT(BenchResult, before, state_record, "the GPU before"),
    RECORD_STRUCT(BenchResult, after, state_record, "the GPU after"),
    RECORD_FIELD(BenchResult, l2_flushed, RECORD_BOOL, "L2 was flushed before each launch"),
    RECORD_FIELD(BenchResult, hot, RECORD_BOOL,
                 "timed in turns with the reference, launches back to back"),
    RECORD_FIELD(BenchResult, verify_ms, RECORD_MEASURE,
                 "milliseconds that the comparison took, on the wall clock"),
    RECORD_FIELD(BenchResult, total_ms, RECORD_MEASURE, "milliseconds in all, on the wall clock"),
    RECORD_FIELD(BenchResult, seed, RECORD_INT64, "the seed of the inputs"),
    RECORD_FIELD(BenchResult, m, RECORD_INT64, "rows of C"),
    RECORD_FIELD(BenchResult, n, RECORD_INT64, "columns of C"),
    RECORD_FIELD(BenchResult, k, RECORD_INT64, "terms of a sum"),
    RECORD_FIELD(BenchResult, gpu, RECORD_MAYBE_TEXT, "the GPU, as its driver names it"),
    RECORD_FIELD(BenchResult, gpu_uuid, RECORD_MAYBE_TEXT, "the UUID of that GPU"),
    RECORD_FIELD(BenchResult, driver, RECORD_MAYBE_TEXT, "version of the driver"),
    RECORD_FIELD(BenchResult, cuda, RECORD_MAYBE_TEXT, "version of CUDA"),
    RECORD_FIELD(BenchResult, date, RECORD_MAYBE_TEXT, "when, in UTC"),
    RECORD_FIELD(BenchResult, method, RECORD_MAYBE_TEXT, "the method of timing, in words"),
};
const Record bench_result_record = RECORD_OF(BenchResult, bench_fields);

static const RecordField stamp_fields[] = {
    RECORD_FIELD(Stamp, clock, RECORD_INT64),
    RECORD_FIELD(Stamp, mark, RECORD_INT),
    RECORD_FIELD(Stamp, number, RECORD_INT),
};
static const Record stamp_record = RECORD_OF(Stamp, stamp_fields);

static const RecordField trace_warp_fields[] = {
    RECORD_FIELD(StampedWarp, sm, RECORD_INT),
    RECORD_FIELD(StampedWarp, ns_begin, RECORD_INT64),
    RECORD_FIELD(StampedWarp, ns_end, RECORD_INT64),
    RECORD_FIELD(StampedWarp, clock_begin, RECORD_INT64),
    RECORD_FIELD(StampedWarp, clock_end, RECORD_INT64),
    RECORD_FIELD(StampedWarp, lost, RECORD_INT64),
    RECORD_MANY(StampedWarp, RECORD_LIST, "stamps", stamp, n, STAMPS_EACH, &stamp_record),
};
static const Record trace_warp_record = RECORD_OF(StampedWarp, trace_warp_fields);

static const RecordField trace_fields[] = {
    RECORD_FIELD(TraceResult, ok, RECORD_BOOL),
    RECORD_FIELD(TraceResult, error, RECORD_MAYBE_TEXT),
    RECORD_STRUCT(TraceResult, bench, bench_result_record),
    RECORD_STRUCT(TraceResult, verify, verify_record),
    RECORD_FIELD(TraceResult, block, RECORD_INT64),
    RECORD_FIELD(TraceResult, n_blocks, RECORD_INT),
    RECORD_FIELD(TraceResult, clock_mhz, RECORD_POSITIVE),
    RECORD_MANY(TraceResult, RECORD_LIST, "warps", warp, n_warps, TRACE_WARPS_MAX,
                &trace_warp_record),
};
static const Record trace_record = RECORD_OF(TraceResult, trace_fields);

static const RecordField sass_line_fields[] = {
    RECORD_FIELD(SassLine, kernel, RECORD_TEXT, "the kernel of the instruction"),
    RECORD_FIELD(SassLine, text, RECORD_TEXT, "the instruction"),
    RECORD_FIELD(SassLine, opcode, RECORD_MAYBE_TEXT,
                 "its name; null: the line is not an "
                 "instruction"),
    RECORD_FIELD(SassLine, address, RECORD_COUNT, "its address in the kernel"),
    RECORD_FIELD(SassLine, cuda_line, RECORD_COUNT, "its line in gemmview cuda; null: not known"),
    RECORD_FIELD(SassLine, live_registers, RECORD_COUNT, "registers that hold a value there"),
};
static const Record sass_line_record = RECORD_OF(SassLine, sass_line_fields);

static const RecordField sass_count_fields[] = {
    RECORD_FIELD(SassCount, kernel, RECORD_TEXT, "the kernel"),
    RECORD_FIELD(SassCount, opcode, RECORD_TEXT, "the instruction"),
    RECORD_FIELD(SassCount, count, RECORD_INT, "how often it occurs"),
};
static const Record sass_count_record = RECORD_OF(SassCount, sass_count_fields);

static const RecordField sass_fields[] = {
    RECORD_FIELD(SassResult, ok, RECORD_BOOL, "it was disassembled"),
    RECORD_FIELD(SassResult, error, RECORD_MAYBE_TEXT, "the reason why not"),
    RECORD_FIELD(SassResult, tool, RECORD_MAYBE_TEXT, "the disassembler"),
    RECORD_MANY(SassResult, RECORD_LIST, "counts", counts, n_counts, SASS_COUNTS_MAX,
                &sass_count_record, "instructions of each kernel, counted"),
    RECORD_MANY(SassResult, RECORD_LIST, "lines", lines, n_lines, SASS_LINES_MAX, &sass_line_record,
                "the lines"),
};
const Record sass_result_record = RECORD_OF(SassResult, sass_fields);

static const RecordField kernel_text_fields[] = {
    RECORD_FIELD(KernelText, name, RECORD_TEXT),
    RECORD_FIELD(KernelText, hex, RECORD_TEXT),
};
static const Record kernel_text_record = RECORD_OF(KernelText, kernel_text_fields);

static const RecordField kernel_texts_fields[] = {
    RECORD_MANY(KernelTexts, RECORD_ARRAY, "kernels", kernels, n_kernels, PLAN_MAX_KERNELS,
                &kernel_text_record),
};
static const Record kernel_texts_record = RECORD_OF(KernelTexts, kernel_texts_fields);

static const RecordField speed_fields[] = {
    RECORD_FIELD(ClockedSpeed, tflops, RECORD_POSITIVE),
    RECORD_FIELD(ClockedSpeed, low, RECORD_POSITIVE),
    RECORD_FIELD(ClockedSpeed, high, RECORD_POSITIVE),
    RECORD_FIELD(ClockedSpeed, unchecked, RECORD_BOOL),
};
static const Record speed_record = RECORD_OF(ClockedSpeed, speed_fields);

static const RecordField clock_number_fields[] = {
    RECORD_FIELD(ClockNumber, why_not, RECORD_MAYBE_TEXT),
    RECORD_STRUCT(ClockNumber, speed, speed_record),
    RECORD_FIELD(ClockNumber, clocks, RECORD_POSITIVE),
    RECORD_FIELD(ClockNumber, mhz, RECORD_POSITIVE),
};
static const Record clock_number_record = RECORD_OF(ClockNumber, clock_number_fields);

void compile_result_write_json(Str *out, const CompileResult *result) {
  record_write_text(out, &compile_record, result);
}
void bench_result_write_json(Str *out, const BenchResult *result) {
  record_write_text(out, &bench_result_record, result);
}
void trace_result_write_json(Str *out, const TraceResult *result) {
  record_write_text(out, &trace_record, result);
}
void sass_result_write_json(Str *out, const SassResult *result) {
  record_write_text(out, &sass_result_record, result);
}
void kernel_texts_write_json(Str *out, const KernelTexts *texts) {
  record_write_text(out, &kernel_texts_record, texts);
}

void clock_number_write_json(Str *out, const ClockNumber *number) {
  record_write_text(out, &clock_number_record, number);
}

CompileResult *compile_result_read_json(Arena *arena, const char *text, Diags *diags) {
  return record_read_text(arena, text, "compile result", &compile_record, diags);
}
BenchResult *bench_result_read_json(Arena *arena, const char *text, Diags *diags) {
  return record_read_text(arena, text, "benchmark result", &bench_result_record, diags);
}
TraceResult *trace_result_read_json(Arena *arena, const char *text, Diags *diags) {
  return record_read_text(arena, text, "trace", &trace_record, diags);
}
SassResult *sass_result_read_json(Arena *arena, const char *text, Diags *diags) {
  return record_read_text(arena, text, "sass result", &sass_result_record, diags);
}
ClockNumber *clock_number_read_json(Arena *arena, const char *text, Diags *diags) {
  return record_read_text(arena, text, "clock", &clock_number_record, diags);
}
KernelTexts *kernel_texts_read_json(Arena *arena, const char *text, Diags *diags) {
  return record_read_text(arena, text, "machine code", &kernel_texts_record, diags);
}
