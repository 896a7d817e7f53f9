// The clock's answer, read from a document that another process wrote (clock_whole_form).
//
//   const ClockAnswer *answer = clock_read(arena, value, &targets, &diags);    NULL after findings
//
// Every number that is an index is checked here, so that nobody who draws has to.
#pragma once
#include "base/json.h"
#include "kernels/toolchain/machine/clock_answer.h"

const ClockAnswer *clock_read(Arena *arena, const JsonValue *value, const TargetTable *targets,
                              Diags *diags);
