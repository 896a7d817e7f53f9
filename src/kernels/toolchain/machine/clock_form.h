// The members of a document about the clock's answer: what `gemmview why --json` and the view `why`
// have in common.
#pragma once
#include "base/form.h"
#include "kernels/toolchain/machine/clock_answer.h"

typedef struct ClockTold {
  const ClockAnswer *answer;
  bool what_if;  // it was asked for
} ClockTold;

extern const Form clocked_form;              // of ClockTold
extern const Form clock_window_form;         // of ClockWindow
extern const Form register_assignment_form;  // of ClockAssignment
// All that is needed to show it elsewhere: clock_read.h makes an answer of it again.
extern const Form clock_whole_form;  // of ClockTold
