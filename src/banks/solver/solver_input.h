// Problems for the solver, as JSON:
//
//   {"name":"…","slab":{"rows":128,"row_bytes":64,"elem":4},
//    "sites":[{"name":"store B","op":"sts32","weight":1,"repeat":64,
//              "row":"4*lane + i%4","col":"i/4"}, …]}
//
// `weight` and `repeat` are 1 when they are left out. The built-in examples are texts of this form.
#pragma once
#include "banks/solver/solver.h"
#include "base/json.h"

typedef struct SolverExample {
  const char *name, *help, *text;
} SolverExample;

int solver_example_count(void);
const SolverExample *solver_example_at(int index);
// NULL after a diagnostic (rule "example") with the nearest name.
const SolverExample *solver_example_find(const char *name, Diags *diags);

// `what` names the text in messages. False after diagnostics.
bool solver_problem_read(Arena *arena, const char *text, size_t n, const char *what,
                         SolverProblem *out, Diags *diags);
