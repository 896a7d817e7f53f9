// Integer expressions that a person types: "(lane % 8) * 128 + (lane / 8) * 16" for 32 addresses,
// "col ^ (((row >> 1) & 3) << 2)" for a layout.
//
// C's operators, precedence and 64-bit integers: ? : || && | ^ & == != < <= > >= << >> + - * / %
// and unary - + ~ !; decimal and 0x numbers (a trailing u or l is ignored), none of C's octal ones,
// which begin with a 0. Operations that C leaves undefined are errors here: overflow, division by
// zero, shifts by less than 0 or more than 62. Both arms of ?: are computed, but an error counts
// only in the arm that is taken.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

enum { FORMULA_TEXT_MAX = 1000, FORMULA_STACK_MAX = 64 };

typedef struct Formula Formula;

// Several names may mean one variable: "lane", "tid", "threadIdx.x".
typedef struct FormulaName {
  const char *name;
  int variable;  // index into the values given to formula_eval
} FormulaName;

// NULL after adding one diagnostic of rule "expression" that quotes the text and the column.
const Formula *formula_parse(Arena *arena, const char *text, const FormulaName *names, int n_names,
                             Diags *diags);

// False when the value is undefined for these variables; *why then says in a few words what
// happened ("divides by zero").
bool formula_eval(const Formula *formula, const int64_t *values, int64_t *out, const char **why);
