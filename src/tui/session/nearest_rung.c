// Worked example: bf16 by TMA and roles with GROUP_M=4. The nearest rung of fp32 is 16 knobs away,
// of tf32 4, of hgemm one: it stands at "hgemm rung 14 TMA and roles, bf16 +1 edit".
#include "tui/session/nearest_rung.h"

Standing standing_of(const Ladder *const *ladders, int n_ladders, const Schedule *schedule) {
  Standing at = {ladders[0], 0, KNOB_COUNT + 1};
  for (int i = 0; i < n_ladders; i++)
    for (int rung = 0; rung < ladders[i]->n_rungs; rung++) {
      int edits = schedule_distance(&ladders[i]->rung[rung].schedule, schedule);
      if (edits < at.edits) at = (Standing){ladders[i], rung, edits};
    }
  return at;
}
