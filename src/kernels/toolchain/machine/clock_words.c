// Words for causes, and sentences for instructions.
#include "kernels/toolchain/machine/clock_words.h"

#include "base/str.h"

static const char *const cause_words[CLOCK_CAUSE_COUNT] = {
    [CLOCK_SELECTED] = "issue",
    [CLOCK_NOT_SELECTED] = "another warp",
    [CLOCK_WAIT] = "fixed latency",
    [CLOCK_SHORT_SCOREBOARD] = "shared memory",
    [CLOCK_LONG_SCOREBOARD] = "global memory",
    [CLOCK_MATH_PIPE] = "busy pipe",
    [CLOCK_MIO] = "shared queue",
    [CLOCK_LG] = "global queue",
    [CLOCK_BARRIER] = "barrier",
    [CLOCK_DISPATCH] = "register banks",
    [CLOCK_GMMA] = "wgmma",
    [CLOCK_NO_INSTRUCTION] = "code lines",
};

const char *clock_cause_word(ClockCause cause) {
  return cause_words[cause] ? cause_words[cause] : clock_cause_name(cause);
}

const char *clock_if_title(int i) {
#define ROW(id, key, title) title,
  static const char *const titles[] = {CLOCK_IF_TABLE(ROW)};
#undef ROW
  return titles[i];
}

double clock_warps_a_scheduler(const ClockAnswer *answer) {
  return answer->warps * answer->blocks / 4.0;
}

// ---- a total ------------------------------------------------------------------------------------

static ClockPart part_of(ClockCause cause, double clocks, double total) {
  return (ClockPart){
      .cause = cause, .word = clock_cause_word(cause), .clocks = clocks, .share = clocks / total};
}

// The cause that costs most of those below `most`; -1: none costs enough to be named.
static int next_cause(double total, const double *lost_to, const bool *done) {
  int best = -1;
  for (int i = 0; i < CLOCK_CAUSE_COUNT; i++)
    if (!done[i] && lost_to[i] >= total / 200 && (best < 0 || lost_to[i] > lost_to[best])) best = i;
  return best;
}

int clock_parts(double total, double issued, const double *lost_to,
                ClockPart out[CLOCK_PARTS_MAX]) {
  bool done[CLOCK_CAUSE_COUNT] = {0};
  double left = total - issued;
  int n = 0, cause;
  if (!(total > 0)) return 0;
  out[n++] = part_of(CLOCK_SELECTED, issued, total);
  while ((cause = next_cause(total, lost_to, done)) >= 0) {
    done[cause] = true;
    left -= lost_to[cause];
    out[n++] = part_of((ClockCause)cause, lost_to[cause], total);
  }
  if (left < total / 200) return n;
  out[n] = part_of(CLOCK_MISC, left, total);
  out[n].is_rest = true;
  out[n++].word = "the rest";
  return n;
}

// ---- an instruction -----------------------------------------------------------------------------

static int line_of(const ClockAnswer *answer, int i) {
  return answer->line && answer->line[i] > 0 ? answer->line[i] : 0;
}

KnobId clock_knob(const ClockAnswer *answer, const Emission *emission, int i) {
  const int line = line_of(answer, i);
  return emission && line && line <= emission->n_lines ? emission->lines[line - 1].knob : KNOB_NONE;
}

const char *clock_place(Arena *arena, const ClockAnswer *answer, const Emission *emission, int i) {
  const int line = line_of(answer, i);
  const KnobId knob = clock_knob(answer, emission, i);
  if (!line) return "";
  return arena_printf(arena, " (line %d%s%s)", line, knob == KNOB_NONE ? "" : ", ",
                      knob == KNOB_NONE ? "" : knob_table[knob].name);
}

static const char *bank_reason(Arena *arena, const ClockAnswer *answer, int i) {
  const ClockBankPair *pair = &answer->marks.pair[i];
  return answer->marks.mark[i] == BANK_MARK_CONFLICT
             ? arena_printf(arena, "one register bank: R%d, R%d", pair->one, pair->other)
             : "a register bank is busy";
}

// The name of an instruction; of an opcode that no table has, "the instruction".
static const char *name_of(const ClockAnswer *answer, int i) {
  const char *name = answer->code.inst[i].opcode->name;
  return *name == '?' ? "the instruction" : name;
}

// WARPGROUP waits for the groups of wgmma, which the profiler counts as waiting at a barrier.
static bool waits_for_wgmma(const ClockAnswer *answer, int i) {
  return answer->cause[i] == CLOCK_BARRIER && str_equal(name_of(answer, i), "WARPGROUP");
}

const char *clock_reason(Arena *arena, const ClockAnswer *answer, int i) {
  const ClockCause cause = answer->cause[i];
  const int by = answer->blame[i];
  if (cause == CLOCK_DISPATCH) return bank_reason(arena, answer, i);
  if (waits_for_wgmma(answer, i)) return "waits for wgmma";
  if (by < 0 || by >= answer->code.n) return clock_cause_word(cause);
  if (cause == CLOCK_WAIT) return arena_printf(arena, "stall of %04x", by * SASS_BYTES);
  const char *verb = cause == CLOCK_SHORT_SCOREBOARD || cause == CLOCK_LONG_SCOREBOARD
                         ? "waits for"
                         : "queues behind";
  return arena_printf(arena, "%s %s at %04x", verb, name_of(answer, by), by * SASS_BYTES);
}

int clock_ahead(const SassLoop *loop, int from, int to) {
  const int length = loop->last - loop->first + 1;
  return ((to - from) % length + length) % length;
}
