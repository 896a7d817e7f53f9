// GROUP_M and GROUP_N are all there is to the order of blocks; both at 1 are row order.
#include "model/schedules/block_order.h"

#include "base/str.h"

enum { USUAL_GROUP = 8 };

static const KnobId groups[] = {KNOB_GROUP_M, KNOB_GROUP_N};

const char *block_order_toggle(Arena *arena, Schedule *schedule) {
  Str change = str_new(arena);
  for (int i = 0; i < 2; i++) {
    if (schedule->value[groups[i]] == 1) continue;
    schedule->value[groups[i]] = 1;
    str_printf(&change, "%s%s=1", change.length ? "," : "", knob_table[groups[i]].name);
  }
  if (change.length) return change.text;
  schedule->value[groups[0]] = USUAL_GROUP;
  str_printf(&change, "%s=%d", knob_table[groups[0]].name, USUAL_GROUP);
  return change.text;
}
