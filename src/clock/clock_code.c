// The code that a scheduler has at hand: a cache of lines of 128 bytes, some ways a set, where the
// line that was asked for longest ago gives way. A warp that comes to a line asks for it and for
// the next one. It stands until its own line has come, and its scheduler goes on with another warp.
//
//   FADD … FADD of 40 KB, one warp: a line is asked for 28.6 clocks before it comes; meanwhile the
//   warp waits for the line before, and issues its 8 instructions: 18.3 clocks a line
//   two warps, the same lines: 16 clocks to issue, and hardly any to wait
//
// (lab/clock/code.cu on an H200: loops of up to 31 KB take no clock for their lines, of 40 KB and
// more 10.3 for each of a single warp, 2 for each of two; of four, which fall out of step, 13.)
//
// The first time that a line is asked for costs nothing here: code_line_clocks has that.
#include "clock/clock_engine.h"

#include <math.h>

#include "base/whole.h"

enum { LINE = 128 / SASS_BYTES };

static int sets_of(const ClockMachine *m) {
  return max_int(1, min_int(m->code_lines / m->code_ways, ENGINE_CODE_SETS));
}

// Puts the line in front of its set; whether it was there. The ways are in the order of their use.
static bool look_up(const ClockMachine *m, EngineCode *code, int line) {
  const int ways = min_int(m->code_ways, ENGINE_CODE_WAYS);
  int *way = code->line[line % sets_of(m)], at = 0;
  while (at < ways - 1 && way[at] != line + 1) at++;
  const bool found = way[at] == line + 1;
  for (; at > 0; at--) way[at] = way[at - 1];
  way[0] = line + 1;
  return found;
}

// Has the line sent, unless the scheduler has it or sees it for the first time.
static void ask_for(Engine *e, EngineScheduler *s, int line) {
  EngineCode *code = &s->code;
  const bool is_near = look_up(e->machine, code, line);
  if (!is_near && code->seen[line]) {
    const double from = fmax((double)e->now, e->code_free);
    e->code_free = from + e->machine->code_port_clocks;
    code->comes[line] = from + e->machine->code_fetch_clocks;
  }
  code->seen[line] = true;
}

static int64_t first_clocks(Engine *e, bool *fetched) {
  if (!e->in->cold || *fetched) return 0;
  *fetched = true;
  e->code_owed += e->machine->code_line_clocks;
  const int64_t clocks = (int64_t)e->code_owed;
  e->code_owed -= (double)clocks;
  return clocks;
}

void engine_fetch_line(Engine *e, EngineScheduler *s, EngineWarp *w, int from) {
  const int line = w->pc / LINE;
  if (from / LINE == line) return;
  ask_for(e, s, line);
  const double rest = s->code.comes[line] - (double)e->now;
  const int64_t clocks =
      first_clocks(e, &e->fetched[line]) + (rest > 0 ? (int64_t)(rest + 0.5) : 0);
  if ((line + 1) * LINE < e->in->code->n) ask_for(e, s, line + 1);
  if (clocks) w->ready = w->coming = max64(w->ready, e->now) + clocks;
}
