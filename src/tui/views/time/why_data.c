// The why view as data: the members of `gemmview why --json`, and the chart.
#include "kernels/toolchain/machine/clock_form.h"
#include "tui/views/time/why_frame.h"

static const ClockTold *told_of(Arena *arena, const WhyFrame *frame) {
  ClockTold *told = ARENA_NEW(arena, ClockTold);
  *told = (ClockTold){frame->answer, frame->loop != NULL};
  return told;
}

const void *why_data(Session *session) { return session->prepared; }

#define FORM_FILE "tui/views/time/view_why.form"
#include "base/form_make.h"
