// Models of all ladders' rungs, for the tests of what is emitted from them.
#pragma once
#include "model/readings/model.h"
#include "model/words/ladder.h"

enum { EMIT_CASES_MAX = 192 };

typedef struct EmitCase {
  const char *name;  // "fp32_padded"
  const Rung *rung;
} EmitCase;

typedef struct EmitCases {
  Arena *arena;
  int n;
  EmitCase rung[EMIT_CASES_MAX];
  TargetTable targets;
} EmitCases;

// The ladders and the table of GPUs; a fault in them fails the running test.
EmitCases emit_cases(Arena *arena);

// Of the rung as it stands, or for a problem and a target of the caller's; NULL for a rung that is
// not built.
const Model *emit_case(const EmitCases *cases, int rung);
// Whether its own target alone has the rung's atom, tcgen05 or a block-scaled one: it stays there.
bool emit_case_has_own_target(const EmitCases *cases, int rung);
const Model *emit_case_on(const EmitCases *cases, int rung, int m, int n, int k,
                          const char *target);

// Of a state line, which must be legal.
const Model *emit_state(const EmitCases *cases, const char *state);
// The same; NULL when a rule is broken.
const Model *emit_state_if_legal(const EmitCases *cases, const char *state);
