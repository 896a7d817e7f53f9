// --every-order: whether a pipeline is right in every order, and how the answer is told.
//
//   verdict: found
//   root: consumer warp 0 waits for full[0] phase 0; …
//   cure: …
//   1  producer warp 8   arrives at full[0], expects 32768 bytes   full[0] phase 0
//
// Exit status: 0 proved; 1 found, of --strict bounded as well; else 0.
#pragma once
#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "model/schedules/every_turn.h"

typedef struct EveryGiven {
  const char *what;  // the document's name of what was searched: a state, a file
  bool json, strict;
  // The line of an event by its tag, 0: it has none, and its file; NULL: no lines are known.
  int (*line_of)(const void *context, int tag, const char **file);
  const void *context;
} EveryGiven;

// The question for a schedule, `breakage` put in first (BREAK_COUNT: none).
int cli_every_order(Arena *arena, const Schedule *schedule, BreakageId breakage,
                    const EveryGiven *given, Diags *diags);
// The same for a program as it is written down, with the turns that it has.
int cli_every_program(Arena *arena, const Program *program, const EveryGiven *given);
// The same for a search that has been made.
int cli_print_every(Arena *arena, const EveryTurn *every, const EveryGiven *given);
// "verdict: bounded", and why, where nothing could be searched.
int cli_print_unsearched(Arena *arena, const char *why, const EveryGiven *given);
