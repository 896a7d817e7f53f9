#include "clock_hand.h"

#include <check.h>

#include "base/embed.h"

const ClockMachine *clock_hand_machine(Arena *arena) {
  ClockMachine *machine = ARENA_NEW(arena, ClockMachine);
  Diags diags = diags_new(arena);
  const EmbeddedFile *file = embed_find(arena, "clock/sm_90.json");
  const JsonValue *root = json_parse(arena, file->text, file->size, &diags, "sm_90.json");
  ck_assert_msg(root && clock_machine_read(root, machine, &diags), "%s", diags_text(arena, &diags));
  return machine;
}

SassInst clock_hand_inst(Arena *arena, const char *name, SassPipe pipe, SassKind kind, int stall) {
  enum { NONE = SASS_NO_REGISTER, NO_SCOREBOARD = 7, ALWAYS = 7 };
  SassOpcode *row = ARENA_NEW(arena, SassOpcode);
  *row = (SassOpcode){.name = name, .pipe = pipe, .kind = kind};
  return (SassInst){.opcode = row,
                    .written = NONE,
                    .read = {NONE, NONE, NONE},
                    .stall = stall,
                    .writes_scoreboard = NO_SCOREBOARD,
                    .reads_scoreboard = NO_SCOREBOARD,
                    .guard = ALWAYS,
                    .target = SASS_NO_TARGET};
}
