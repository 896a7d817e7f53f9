// The results that cross the worker's pipe, as JSON objects: the unit is in the key, unknown is
// null, never NaN. Of the cubin only the code of its kernels travels, and where it is asked for.
#pragma once
#include "base/arena.h"
#include "base/diag.h"
#include "base/record_json.h"
#include "base/str.h"
#include "kernels/device/bench.h"
#include "kernels/device/trace_run.h"
#include "kernels/toolchain/machine/clock_number.h"
#include "kernels/toolchain/machine/kernel_text.h"
#include "kernels/toolchain/machine/sass.h"
#include "kernels/toolchain/nvrtc.h"

// All that the writers write, member by member: for documents that have a result in them.
extern const Record bench_result_record, sass_result_record;

void compile_result_write_json(Str *out, const CompileResult *result);
void bench_result_write_json(Str *out, const BenchResult *result);
void trace_result_write_json(Str *out, const TraceResult *result);
void sass_result_write_json(Str *out, const SassResult *result);
void kernel_texts_write_json(Str *out, const KernelTexts *texts);
void clock_number_write_json(Str *out, const ClockNumber *number);

// NULL and the findings when the text is not what the writer writes.
CompileResult *compile_result_read_json(Arena *arena, const char *text, Diags *diags);
BenchResult *bench_result_read_json(Arena *arena, const char *text, Diags *diags);
// Only the owner of the text can say whether its marks are places of the text (measured.h).
TraceResult *trace_result_read_json(Arena *arena, const char *text, Diags *diags);
SassResult *sass_result_read_json(Arena *arena, const char *text, Diags *diags);
KernelTexts *kernel_texts_read_json(Arena *arena, const char *text, Diags *diags);
ClockNumber *clock_number_read_json(Arena *arena, const char *text, Diags *diags);
