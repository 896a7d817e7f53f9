// Models of the fp32 ladder's rungs, for the tests of what is emitted from them.
#pragma once
#include "model/ladder.h"
#include "model/model.h"

typedef struct EmitCases {
  Arena *arena;
  const Ladder *ladder;
  TargetTable targets;
} EmitCases;

// Reads the ladder and the table of GPUs; a fault fails the running test.
EmitCases emit_cases(Arena *arena);

// Of the rung as it stands, or for a problem and a target of the caller's; NULL for a rung that is
// not built.
const Model *emit_case(const EmitCases *cases, int rung);
const Model *emit_case_on(const EmitCases *cases, int rung, int m, int n, int k,
                          const char *target);

// Of a state line, which must be legal.
const Model *emit_state(const EmitCases *cases, const char *state);
