// Loops of machine code as a line of text: ten numbers, the inner loop's five and the outer one's.
//
//   multiplies instructions spills near_clocks far_clocks   "16 73 0 302 1602 0 0 0 0 0"
#include "model/readings/cost/compiled_code.h"

#include <stdio.h>

#include "base/str.h"

static void put_loop(Str *out, const CompiledLoop *loop) {
  str_printf(out, "%s%d %d %d %.17g %.17g", out->length ? " " : "", loop->multiplies,
             loop->instructions, loop->spills, loop->near_clocks, loop->far_clocks);
}

const char *compiled_code_text(Arena *arena, const CompiledCode *code) {
  Str out = str_new(arena);
  put_loop(&out, &code->inner);
  put_loop(&out, &code->outer);
  return out.text;
}

static bool is_likely(const CompiledLoop *loop) {
  static const double most = 1e9;
  return loop->multiplies >= 0 && 2 * loop->instructions >= loop->multiplies && loop->spills >= 0 &&
         loop->near_clocks >= 0 && loop->far_clocks >= loop->near_clocks && loop->far_clocks < most;
}

bool compiled_code_read(const char *text, CompiledCode *out) {
  int n = 0;
  CompiledLoop *in = &out->inner, *around = &out->outer;
  const int got =
      sscanf(text, "%d %d %d %lf %lf %d %d %d %lf %lf%n", &in->multiplies, &in->instructions,
             &in->spills, &in->near_clocks, &in->far_clocks, &around->multiplies,
             &around->instructions, &around->spills, &around->near_clocks, &around->far_clocks, &n);
  const bool good = got == 10 && text[n] == '\0' && is_likely(in) && is_likely(around);
  if (!good) *out = (CompiledCode){{0}, {0}};
  return good;
}
