// GROUP_M and GROUP_N are all there is to the order of blocks, both at 1 are row order; lists by
// place are the order of groups with another block for each tile.
#include "model/schedules/block_order.h"

#include "base/str.h"

enum { USUAL_GROUP = 8 };

static const KnobId groups[] = {KNOB_GROUP_M, KNOB_GROUP_N};

const char *block_order_toggle(Arena *arena, Schedule *schedule) {
  Str change = str_new(arena);
  const int64_t order = schedule->value[KNOB_TILE_ORDER];
  if (order != ORDER_GROUP && tile_order_is_grouped(order)) {
    schedule->value[KNOB_TILE_ORDER] = ORDER_GROUP;
    return arena_printf(arena, "%s=group", knob_table[KNOB_TILE_ORDER].name);
  }
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
