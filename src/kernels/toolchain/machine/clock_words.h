// The clock's answer in words: causes, what-ifs, and the instruction to blame for another's clocks.
// The command `why` and the view of that name say the same.
#pragma once
#include "kernels/toolchain/machine/clock_answer.h"

const char *clock_cause_word(ClockCause cause);  // "register banks"
const char *clock_if_title(int i);               // "register banks free"

// A part of a total: a cause, or the rest.
typedef struct ClockPart {
  ClockCause cause;
  bool is_rest;
  const char *word;
  double clocks, share;  // of the total
} ClockPart;

enum { CLOCK_PARTS_MAX = CLOCK_CAUSE_COUNT + 2 };

// The issued clocks, then the causes from the one that costs most on, then the rest. Parts of less
// than half a percent go into the rest, so that the sum is the total. Returns their number.
int clock_parts(double total, double issued, const double *lost_to, ClockPart out[CLOCK_PARTS_MAX]);

// The reason of instruction i's cost, in a few words, and the one to blame: "waits for LDS at
// 14f0".
const char *clock_reason(Arena *arena, const ClockAnswer *answer, int i);
// " (line 108, VECTORIZE)" of an instruction; "" where no line is known. `emission`: of a schedule;
// NULL.
const char *clock_place(Arena *arena, const ClockAnswer *answer, const Emission *emission, int i);
// The knob that put the instruction's CUDA line there; KNOB_NONE.
KnobId clock_knob(const ClockAnswer *answer, const Emission *emission, int i);
// Instructions of the loop between `from` and the next `to`: how far ahead something is asked for.
int clock_ahead(const SassLoop *loop, int from, int to);
// The warps of a scheduler.
double clock_warps_a_scheduler(const ClockAnswer *answer);
