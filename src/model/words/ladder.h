// Ladders: ordered lists of schedules that tell a story, one rung after the other.
//
//   const Ladder *ladder = ladder_read(arena, file->text, file->size, "ladders/fp32.json", &diags);
//   const Rung *rung = &ladder->rung[ladder_find_rung(ladder, "double_buffer")];
//
// The file is one object:
//   {"name": "fp32", "title": "…", "source": "…", "place": 0, "rungs": [
//     {"name": "register_tile", "title": "register tile", "knobs": "BM=16,BN=16,FM=8,FN=8",
//      "line": "what it does, in our own words", "aside": false,
//      "claim": {"text": "5.2 times faster", "value": 275, "unit": "us", "gpu": "RTX 5090",
//                "source": "000"},
//      "not_built": "why it cannot run yet"}, …]}
// of which name, title, knobs and line must be there; of several ladders the one with the smallest
// "place" comes first, and each begins at its first rung. An aside is a side branch: it shows one
// thing on a problem of its own and the next rung does not build on it.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/form.h"
#include "model/words/knob.h"

// The claim of an article about a rung; never a number of ours.
typedef struct Claim {
  const char *text;  // the sentence
  bool has_value;    // the figure below it rests on, where there is one
  double value;
  const char *unit;    // "us", "TFLOP/s", "x", "%"
  const char *gpu;     // on which GPU it was seen, and of which problem: "B200, 4096^3"
  const char *source;  // which article
} Claim;

typedef struct Rung {
  const char *name;       // "register_tile": stable, for files and the command line
  const char *title;      // "register tile"
  const char *knobs;      // as in the file
  const char *state;      // the same to be typed elsewhere, with AUTO=0
  const char *line;       // what the step does, one or two sentences
  const char *not_built;  // NULL: it runs
  bool aside;
  const Claim *claim;  // NULL: none
  Schedule schedule;   // the knobs; what they leave out is off (AUTO=0)
} Rung;

typedef struct Ladder {
  const char *name, *title, *source;
  int place;  // among the ladders, the smallest first
  int n_rungs;
  const Rung *rung;
} Ladder;

// NULL when anything is wrong; the findings say what and where. `what` names the file.
const Ladder *ladder_read(Arena *arena, const char *text, size_t n, const char *what, Diags *diags);

// Finds a rung by its name ("double_buffer") or by its number from 0 ("7"); -1, with a finding of
// rule "rung" and the nearest one, when there is none. `diags` may be NULL.
int ladder_find_rung(const Ladder *ladder, const char *rung, Diags *diags);

// The rung that a rung builds on: the one before it on the main line, or, of an aside, the aside
// before it where that is of the same kind; -1: none.
int ladder_rung_before(const Ladder *ladder, int rung);

// Sorts ladders by their places; ladders of one place stay as they are.
void ladders_sort(const Ladder **ladders, int n);

// Whether what the rung says of itself holds for a schedule that was made of it: it multiplies by
// the same instruction and fetches by the same transport, and differs in a few knobs at most. The
// problem does not count: a story is told of the kernel.
bool rung_tells_of(const Rung *rung, const Schedule *schedule);

// The claim's speed: its figure, or where that is a time ("ms", "us") 2·M·N·K of the problem it was
// seen of, "4096^3" or "128 x 128 x 16384", by it. NaN: it tells neither.
double claim_tflops(const Claim *claim);

// The claim as it stands in the file, with its speed as "tflops".
extern const Form claim_form;  // of Claim
