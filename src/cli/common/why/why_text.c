// The screen of `gemmview why`: the total as a sum of causes, what would be if, and the
// instructions that cost most with what they wait for.
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "base/whole.h"
#include "cli/common/why/why.h"
#include "kernels/toolchain/machine/clock_words.h"
#include "sass/sass_text.h"

enum { ROWS = 16, BAR_CELLS = 28, TEXT_COLUMNS = 40 };

// ---- the total ----------------------------------------------------------------------------------

static void add_part(Str *out, const ClockPart *part) {
  str_printf(out, "%10.0f  %-16s %3.0f %%  ", part->clocks, part->word, 100 * part->share);
  for (int i = 0; i < (int)lround(part->share * BAR_CELLS); i++) str_add(out, "█");
  str_add(out, "\n");
}

static void print_parts(const Why *why, double total, double issued, const double *lost_to) {
  ClockPart part[CLOCK_PARTS_MAX];
  Str out = str_new(why->arena);
  const int n = clock_parts(total, issued, lost_to, part);
  for (int i = 0; i < n; i++) add_part(&out, &part[i]);
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
      str_printf(&out, "   %s: %s", clock_if_title(i), what->why_not);
    else if (what->clocks > 0)
      str_printf(&out, "   %s: %.0f (%+.0f %%)", clock_if_title(i), what->clocks,
                 100 * (now / what->clocks - 1));
  }
  if (out.length) printf("what if%s\n", out.text);
}

static void print_loop_head(const ClockAnswer *answer, const ClockedLoop *loop) {
  printf("loop 0x%x-0x%x, %d instructions, %.3g warps a scheduler", loop->loop.first * SASS_BYTES,
         loop->loop.last * SASS_BYTES, loop->loop.last - loop->loop.first + 1,
         clock_warps_a_scheduler(answer));
  if (loop->turns > 0) printf(", %.4g turns", loop->turns);
  putchar('\n');
}

// ---- instructions -------------------------------------------------------------------------------

static const ClockedLoop *main_loop(const Why *why) {
  return &why->answer->loop[why->answer->main];
}

// Behind a reason, of the instruction that is waited for.
static const char *place_of(const Why *why, int i) {
  const ClockAnswer *answer = why->answer;
  const int by = answer->blame[i];
  const bool named = by >= 0 && by < answer->code.n && answer->cause[i] != CLOCK_WAIT &&
                     answer->cause[i] != CLOCK_DISPATCH;
  return named ? clock_place(why->arena, answer, why->emission, by) : "";
}

static void print_instruction(const Why *why, int i) {
  const ClockAnswer *answer = why->answer;
  const SassInst *inst = &answer->code.inst[i];
  const SassControl control = sass_control(inst);
  printf("%6x  %5s %4s %c %c %7.1f  %-*.*s %s%s\n", i * SASS_BYTES, control.stall, control.wait,
         control.writes, control.reads, main_loop(why)->turn.lost[i], TEXT_COLUMNS, TEXT_COLUMNS,
         answer->text[i] ? answer->text[i] : "", clock_reason(why->arena, answer, i),
         place_of(why, i));
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
  printf("%10.0f  clocks from launch to end, %.0f to %.0f: ", clocks->value, clocks->low,
         clocks->high);
  const char *power = answer->power_share < 1 ? ", as tensor cores and power allow" : "";
  if (answer->tflops > 0)
    printf("%.3g TFLOP/s at %.0f MHz%s\n", answer->tflops, answer->mhz, power);
  else
    printf("%.4g us at %.0f MHz%s\n", clocks->value / answer->mhz, answer->mhz, power);
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

static int64_t volume(const int extent[3]) {
  int64_t n = 1;
  for (int d = 0; d < 3; d++) n *= max_int(1, extent[d]);
  return n;
}

ClockLaunch why_launch(const PtxLaunch *launch) {
  return (ClockLaunch){.blocks = volume(launch->grid),
                       .threads = (int)volume(launch->block),
                       .smem_bytes = launch->dynamic_smem};
}

void why_print(const Why *why) {
  const ClockAnswer *answer = why->answer;
  printf("%s%s%s, %s: %s\n", answer->kernel, *answer->kernel ? "  " : "", answer->target->name,
         answer->target->arch,
         answer->stand_in ? "a calibrated stand-in for the clock"
                          : "machine code, played clock by clock");
  if (why->note) printf("%s\n", why->note);
  if (answer->unchecked)
    printf("from published facts: no GPU of %s has been measured\n", answer->target->arch);
  if (answer->assumes_threads)
    printf("the code does not name its block size: played with %d threads\n", 32 * answer->warps);
  if (answer->no_clocks && !why->note) printf("%s\n", answer->no_clocks);
  print_kernel(why);
  if (answer->main < 0) return;
  const ClockedLoop *loop = &answer->loop[answer->main];
  print_loop_head(answer, loop);
  print_total(why, loop);
  print_ifs(why, loop->what_if, loop->clocks.value);
  print_instructions(why);
  print_other_loops(why);
  if (why->ncu) why_ncu_print(why->arena, why->ncu);
}
