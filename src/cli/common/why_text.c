// The screen of `gemmview why`: the total as a sum of causes, what would be if, and the
// instructions that cost most with what they wait for.
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "base/whole.h"
#include "cli/common/why.h"

enum { ROWS = 16, BAR_CELLS = 28, TEXT_COLUMNS = 40 };

// ---- words --------------------------------------------------------------------------------------

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
};

static const char *cause_word(ClockCause cause) {
  return cause_words[cause] ? cause_words[cause] : clock_cause_name(cause);
}

static const char *if_title(int i) {
#define ROW(id, key, title) title,
  static const char *const titles[] = {CLOCK_IF_TABLE(ROW)};
#undef ROW
  return titles[i];
}

const char *why_same_bank(Arena *arena, const SassInst *inst) {
  for (int a = 0; a < SASS_SLOTS; a++)
    for (int b = a + 1; b < SASS_SLOTS; b++) {
      const int one = inst->read[a], other = inst->read[b];
      if (one == SASS_NO_REGISTER || other == SASS_NO_REGISTER || one == other) continue;
      if (one % 2 == other % 2) return arena_printf(arena, "R%d, R%d", one, other);
    }
  return "";
}

// ---- the total ----------------------------------------------------------------------------------

static void add_part(Str *out, const char *word, double clocks, double total) {
  const double share = clocks / total;
  str_printf(out, "%10.0f  %-16s %3.0f %%  ", clocks, word, 100 * share);
  for (int i = 0; i < (int)lround(share * BAR_CELLS); i++) str_add(out, "█");
  str_add(out, "\n");
}

// The causes from the one that costs most on; what rounds to nothing is left out. What is left of
// the total is the launch, and clocks in which a scheduler has no warp.
static void print_parts(const Why *why, double total, double issued, const double *lost_to) {
  Str out = str_new(why->arena);
  bool done[CLOCK_CAUSE_COUNT] = {0};
  double left = total - issued;
  add_part(&out, cause_word(CLOCK_SELECTED), issued, total);
  for (;;) {
    int best = -1;
    for (int i = 0; i < CLOCK_CAUSE_COUNT; i++)
      if (!done[i] && lost_to[i] >= total / 200 && (best < 0 || lost_to[i] > lost_to[best]))
        best = i;
    if (best < 0) break;
    done[best] = true;
    left -= lost_to[best];
    add_part(&out, cause_word((ClockCause)best), lost_to[best], total);
  }
  if (left >= total / 200) add_part(&out, "the rest", left, total);
  fputs(out.text, stdout);
}

static void print_total(const Why *why, const ClockedLoop *loop) {
  printf("%10.0f  clocks a turn, %.0f to %.0f:\n", loop->clocks.value, loop->clocks.low,
         loop->clocks.high);
  print_parts(why, loop->clocks.value, loop->turn.issued, loop->turn.lost_to);
}

static void print_ifs(const Why *why, const ClockIf *what_if, double now) {
  Str out = str_new(why->arena);
  for (int i = 0; i < CLOCK_IFS; i++) {
    const ClockIf *what = &what_if[i];
    if (what->why_not)
      str_printf(&out, "   %s: %s", if_title(i), what->why_not);
    else if (what->clocks > 0)
      str_printf(&out, "   %s: %.0f (%+.0f %%)", if_title(i), what->clocks,
                 100 * (now / what->clocks - 1));
  }
  if (out.length) printf("what if%s\n", out.text);
}

static double warps_a_scheduler(const ClockAnswer *answer) {
  return answer->warps * answer->blocks / 4.0;
}

static void print_loop_head(const ClockAnswer *answer, const ClockedLoop *loop) {
  printf("loop 0x%x-0x%x, %d instructions, %.3g warps a scheduler", loop->loop.first * SASS_BYTES,
         loop->loop.last * SASS_BYTES, loop->loop.last - loop->loop.first + 1,
         warps_a_scheduler(answer));
  if (loop->turns > 0) printf(", %.4g turns", loop->turns);
  putchar('\n');
}

// ---- instructions -------------------------------------------------------------------------------

static char board(int scoreboard) {
  return scoreboard < SASS_SCOREBOARDS ? (char)('0' + scoreboard) : '-';
}

static const char *mask(Arena *arena, unsigned wait) {
  Str out = str_new(arena);
  for (int i = 0; i < SASS_SCOREBOARDS; i++)
    if (wait >> i & 1) str_add_char(&out, (char)('0' + i));
  return out.length ? out.text : ".";
}

static const char *place(const Why *why, int i) {
  const ClockAnswer *answer = why->answer;
  const int line = answer->line ? answer->line[i] : 0;
  if (line <= 0) return "";
  const bool known = why->emission && line <= why->emission->n_lines;
  const KnobId knob = known ? why->emission->lines[line - 1].knob : KNOB_NONE;
  return arena_printf(why->arena, " (line %d%s%s)", line, knob == KNOB_NONE ? "" : ", ",
                      knob == KNOB_NONE ? "" : knob_table[knob].name);
}

// Why the instruction costs, in a few words, and by whose fault.
static const char *reason(const Why *why, int i) {
  const ClockAnswer *answer = why->answer;
  const ClockCause cause = answer->cause[i];
  const int by = answer->blame[i];
  if (cause == CLOCK_DISPATCH)
    return arena_printf(why->arena, "one register bank: %s",
                        why_same_bank(why->arena, &answer->code.inst[i]));
  if (by < 0 || by >= answer->code.n) return cause_word(cause);
  if (cause == CLOCK_WAIT) return arena_printf(why->arena, "stall of %04x", by * SASS_BYTES);
  const char *verb = cause == CLOCK_SHORT_SCOREBOARD || cause == CLOCK_LONG_SCOREBOARD
                         ? "waits for"
                         : "queues behind";
  return arena_printf(why->arena, "%s %s at %04x%s", verb, answer->code.inst[by].opcode->name,
                      by * SASS_BYTES, place(why, by));
}

static const ClockedLoop *main_loop(const Why *why) {
  return &why->answer->loop[why->answer->main];
}

static void print_instruction(const Why *why, int i) {
  const ClockAnswer *answer = why->answer;
  const SassInst *inst = &answer->code.inst[i];
  printf("%6x  %5d %4s %c %c %7.1f  %-*.*s %s\n", i * SASS_BYTES, inst->stall,
         mask(why->arena, inst->wait), board(inst->writes_scoreboard),
         board(inst->reads_scoreboard), main_loop(why)->turn.lost[i], TEXT_COLUMNS, TEXT_COLUMNS,
         answer->text[i] ? answer->text[i] : "", reason(why, i));
}

// The costliest instructions of the loop, in the order of the code.
static void print_instructions(const Why *why) {
  const ClockedLoop *loop = main_loop(why);
  const double *lost = loop->turn.lost;
  bool *shown = ARENA_ARRAY(why->arena, bool, why->answer->code.n + 1);
  for (int n = 0; n < ROWS; n++) {
    int best = -1;
    for (int i = loop->loop.first; i <= loop->loop.last; i++)
      if (!shown[i] && lost[i] >= 0.05 && (best < 0 || lost[i] > lost[best])) best = i;
    if (best < 0) break;
    shown[best] = true;
  }
  printf("\n    pc  stall wait w r    lost  %-*s why\n", TEXT_COLUMNS, "instruction");
  for (int i = loop->loop.first; i <= loop->loop.last; i++)
    if (shown[i]) print_instruction(why, i);
}

// ---- all of it ----------------------------------------------------------------------------------

static void print_kernel(const Why *why) {
  const ClockAnswer *answer = why->answer;
  const ClockSpan *clocks = &answer->clocks;
  if (clocks->value < 0) return;
  printf("%10.0f  clocks from launch to end, %.0f to %.0f: %.3g TFLOP/s at %.0f MHz%s\n",
         clocks->value, clocks->low, clocks->high, answer->tflops, answer->mhz,
         answer->power_share < 1 ? ", which power leaves" : "");
  if (answer->others > 0) printf("%10.0f  clocks of the kernels beside it\n", answer->others);
  if (answer->stand_in) return;
  print_parts(why, clocks->value, answer->issued, answer->lost_to);
  print_ifs(why, answer->what_if, clocks->value);
}

static void print_other_loops(const Why *why) {
  const ClockAnswer *answer = why->answer;
  for (int i = 0; i < answer->n_loops; i++) {
    const ClockedLoop *loop = &answer->loop[i];
    if (i == answer->main || !(loop->clocks.value > 0)) continue;
    putchar('\n');
    print_loop_head(answer, loop);
    print_total(why, loop);
    print_ifs(why, loop->what_if, loop->clocks.value);
  }
}

void why_print(const Why *why) {
  const ClockAnswer *answer = why->answer;
  printf("%s%s%s, %s: %s\n", answer->kernel, *answer->kernel ? "  " : "", answer->target->name,
         answer->target->arch,
         answer->stand_in ? "a calibrated stand-in, nothing was played"
                          : "machine code, played clock by clock");
  if (why->note) printf("%s\n", why->note);
  if (answer->assumes_threads)
    printf("the code declares no block size: played with %d threads\n", 32 * answer->warps);
  print_kernel(why);
  if (answer->main < 0) return;
  const ClockedLoop *loop = &answer->loop[answer->main];
  print_loop_head(answer, loop);
  print_total(why, loop);
  print_ifs(why, loop->what_if, loop->clocks.value);
  print_instructions(why);
  print_other_loops(why);
}
