// The members of a document about the clock's answer: what `gemmview why --json` and the view `why`
// have in common.
#pragma once
#include "base/form.h"
#include "kernels/toolchain/machine/clock_answer.h"

typedef struct ClockTold {
  const ClockAnswer *answer;
  bool what_if;  // it was asked for
} ClockTold;

extern const Form clocked_form;  // of ClockTold
