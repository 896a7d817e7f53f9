// Facts about a few instructions, played as a loop by the clock (clock/clock_loop.h): a lesson
// writes them in a line (sass/sass_line.h), and no answer stands in its file.
//
// Worked example: 16*FFMA(R20,R4,R8,RZ) reads R4 and R8 from the even bank each time. One warp of a
// scheduler takes 32 clocks a turn, of which 16 are lost to the banks.
#include <math.h>

#include "base/nearest.h"
#include "base/str.h"
#include "clock/clock_loop.h"
#include "model/lessons/fact_compute.h"
#include "sass/sass_line.h"

enum { WARPS_MAX = 16, LINE_CLOCKS = 4 };

// CODE WARPS: the warps of one scheduler.
static bool play(const FactScene *scene, const FactArgs *args, ClockTurn *out, Diags *diags) {
  SassCode code;
  const char *why;
  int64_t warps;
  ClockMachine *machine = ARENA_NEW(scene->arena, ClockMachine);
  if (!scene->world->clock || !scene->world->clock(scene->arena, scene->model->target, machine)) {
    diag_add(diags, "fact", "no clock facts are known of %s", scene->model->target->name);
    return false;
  }
  if (!sass_line_read(scene->arena, args->word[0], &code, &why)) {
    diag_add(diags, "fact", "instructions: %s", why);
    return false;
  }
  if (!fact_int(args->word[1], 1, WARPS_MAX, "warps of a scheduler", &warps, diags)) return false;
  double *wavefronts = ARENA_ARRAY(scene->arena, double, code.n);
  for (int i = 0; i < code.n; i++)
    wavefronts[i] = code.inst[i].opcode->pipe == SASS_PIPE_SHARED ? LINE_CLOCKS : 0;
  const ClockLoop loop = {.machine = machine,
                          .code = &code,
                          .loop = {0, code.n - 1},
                          .wavefronts = wavefronts,
                          .far_bytes = ARENA_ARRAY(scene->arena, double, code.n),
                          .warps = (int)warps * machine->schedulers,
                          .blocks = 1};
  *out = clock_play(scene->arena, &loop);
  if (out->clocks > 0) return true;
  diag_add(diags, "fact", "the loop does not come to its end");
  return false;
}

bool fact_played_clocks(const FactScene *scene, const FactArgs *args, FactValue *value,
                        Diags *diags) {
  ClockTurn turn;
  if (!play(scene, args, &turn, diags)) return false;
  value->number = round(turn.clocks);
  return true;
}

bool fact_played_lost(const FactScene *scene, const FactArgs *args, FactValue *value,
                      Diags *diags) {
  ClockTurn turn;
  if (!play(scene, args, &turn, diags)) return false;
  value->number = round(turn.clocks - turn.issued);
  return true;
}

// The cause that takes most of the lost clocks, as the profiler calls it.
bool fact_played_cause(const FactScene *scene, const FactArgs *args, FactValue *value,
                       Diags *diags) {
  const char **words = ARENA_ARRAY(scene->arena, const char *, CLOCK_CAUSE_COUNT + 1);
  ClockTurn turn;
  int best = CLOCK_WAIT;
  if (!play(scene, args, &turn, diags)) return false;
  for (int i = CLOCK_WAIT; i <= CLOCK_DISPATCH; i++) {
    words[i - CLOCK_WAIT] = clock_cause_name((ClockCause)i);
    if (turn.lost_to[i] > turn.lost_to[best]) best = i;
  }
  value->words = words;
  value->word = clock_cause_name((ClockCause)best);
  return true;
}
