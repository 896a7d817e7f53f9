// Breakages: deliberate faults to switch on and see what they do.
//
//   const Program *broken = program_break(arena, model->program, BREAK_PHASE);
//   if (broken) interpret(arena, broken, &options)  →  race on A_s[0, 3, 5]: …
#pragma once
#include "model/ir/names.h"

// The symptoms of a fault on a GPU. One row each: enum, the word it is shown by, what it means.
#define SYMPTOM_TABLE(X)                                                                           \
  X(HANGS, "hangs",                                                                                \
    "the launch does not end; a driver's watchdog may end it after seconds: \"unspecified launch " \
    "failure\"")                                                                                   \
  X(FAILS, "fails",                                                                                \
    "the launch fails at once, with an XID in the system's log; the context is lost, and later "   \
    "calls such as torch.randn fail too")                                                          \
  X(STRIPES, "stripes",                                                                            \
    "whole stripes of 128 rows are wrong: a handoff between warpgroups slipped")                   \
  X(ZEROS, "zeros", "zeros, or only half of C is right: a descriptor finds other elements")        \
  X(WRONG, "wrong", "the same cells are wrong in every run")                                       \
  X(SOMETIMES, "sometimes", "wrong cells, different in each run, or none in a large problem")      \
  X(NOTHING, "nothing", "nothing: C is right, although a rule of the PTX ISA is broken")

typedef enum Symptom {
#define X(id, name, help) SYMPTOM_##id,
  SYMPTOM_TABLE(X)
#undef X
      SYMPTOM_COUNT
} Symptom;

enum {
#define X(id, name, help) SEEN_##id = 1 << SYMPTOM_##id,
  SYMPTOM_TABLE(X)
#undef X
};

const char *symptom_name(Symptom symptom);
const char *symptom_help(Symptom symptom);
// SYMPTOM_COUNT: no symptom has that name.
Symptom symptom_find(const char *name);

typedef enum BreakageId {
#define BREAKAGE(id, name, seen, help) BREAK_##id,
#include "model/interp/breakage.def"
  BREAK_COUNT
} BreakageId;

const char *breakage_name(BreakageId id);
BreakageId breakage_find(const char *name);  // BREAK_COUNT: none is called so
const char *breakage_help(BreakageId id);
// Why it may do no harm to a program; NULL: its row says nothing of that.
const char *breakage_spared(BreakageId id);
unsigned breakage_seen(BreakageId id);  // SEEN_… of all its symptoms
// "hangs, sometimes": the names of its symptoms, in the order of their table.
enum { SYMPTOMS_BYTES = 80 };
const char *breakage_symptoms(char out[SYMPTOMS_BYTES], BreakageId id);

// A broken copy; NULL when the program has nothing of that kind to break.
Program *program_break(Arena *arena, const Program *program, BreakageId id);
