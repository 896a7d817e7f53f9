// The memory view as data: bytes of each buffer, mbarriers, columns, CTAs.
#include <string.h>

#include "model/ir/buffer.h"
#include "model/ir/op.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "tui/views/memory/chip.h"

enum { TURN_NUMBERS = 3 };

static const int64_t *turn_numbers(Arena *arena, const OnChip *chip) {
  int64_t *number = ARENA_ARRAY(arena, int64_t, chip->n_turns * TURN_NUMBERS + 1);
  for (int i = 0; i < chip->n_turns; i++) {
    const ChipTurn *turn = &chip->turn[i];
    const int64_t three[TURN_NUMBERS] = {turn->slot, turn->full_phase, turn->empty_phase};
    memcpy(number + i * TURN_NUMBERS, three, sizeof three);
  }
  return number;
}

#define FORM_FILE "tui/views/memory/chip_data.form"
#include "base/form_make.h"
