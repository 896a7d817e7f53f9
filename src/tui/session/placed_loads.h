// The copies in a schedule's loop over slabs, moved from place to place: the interpreter's word on
// each place, and the compiler's word on the kernel with the copy there.
//
//   PlacedLoads *placed = placed_loads_new(arena);
//   placed_loads_look(placed, &targets, &schedule);           another schedule: all is forgotten
//   while (placed_loads_try(placed, 0, LOAD_ANYWHERE)) …      a run of the interpreter each
//   while (placed_loads_next(placed, &copy, &place))          a safe place that was not asked
//   for
//     … placed_loads_plan(arena, placed, copy, place) …       to be compiled
//   placed_loads_take(placed, key, copy, place, &cubin, NULL);
//
// The interpreter runs a small problem, one block and its edges; the compiler gets the whole one,
// with its sizes as numbers in the text. The lines of the loop are the same in both.
#pragma once
#include "base/form.h"
#include "kernels/toolchain/nvrtc.h"
#include "model/interp/load_places.h"
#include "model/readings/model.h"

#define LOADS_NONE                                                                                 \
  "This loop over slabs has no copy that can be moved. Either no copy runs in the background, or " \
  "a producer starts it, or it is spread over the k-steps. attention/eager_kv has two that can "   \
  "be moved."

typedef enum PlacedState { PLACED_UNASKED, PLACED_ASKED, PLACED_KNOWN } PlacedState;

typedef struct PlacedCost {
  PlacedState state;
  const char *error;       // KNOWN: why the compiler has no numbers; NULL: it has
  KernelResources kernel;  // KNOWN: of the kernel that multiplies, without name and note
} PlacedCost;

typedef struct PlacedLoads {
  Arena *arena;
  const TargetTable *targets;
  uint64_t key;  // of the schedule; 0: none yet
  Schedule schedule, small;
  LoadPlaces *places;  // of the small problem; NULL: the schedule breaks a rule
  const char **text;   // [n_lines + 1] what each line does
  const Model *model;  // of the whole problem; NULL: not asked for yet
  LoadPlaces *whole;   // of its program
  PlacedCost cost[LOAD_COPIES_MAX][LOAD_LINES_MAX + 1];
} PlacedLoads;

PlacedLoads *placed_loads_new(Arena *arena);
void placed_loads_free(PlacedLoads *placed);  // NULL: nothing happens
// True: it is another schedule than the last time. Tries nothing.
bool placed_loads_look(PlacedLoads *placed, const TargetTable *targets, const Schedule *schedule);
bool placed_loads_are_none(const PlacedLoads *placed);  // no copy can be moved
// load_places_try().
bool placed_loads_try(PlacedLoads *placed, int copy, int place);

// A safe place with a cost that was not asked for; the places where copies stand come first. The
// caller that takes it says so by placed_loads_asked().
bool placed_loads_next(PlacedLoads *placed, int *copy, int *place);
void placed_loads_asked(PlacedLoads *placed, int copy, int place);
Plan *placed_loads_plan(Arena *arena, PlacedLoads *placed, int copy, int place);
// Files what was compiled for the schedule of that key, or why nothing was. The first answer holds;
// one for another schedule is dropped.
void placed_loads_take(PlacedLoads *placed, uint64_t key, int copy, int place,
                       const CompileResult *result, const char *error);
// Its numbers; NULL: they are not known.
const KernelResources *placed_loads_kernel(const PlacedLoads *placed, int copy, int place);
// A turn of the innermost loop that multiplies most and one of the loop around it, added up; no
// instructions: the compiler's code is not known so far.
CompiledLoop placed_loads_loop(const KernelResources *kernel);
// "202 registers, nothing spilled, 3104 instructions".
const char *placed_loads_cost_text(Arena *arena, const KernelResources *kernel);
extern const Form placed_loads_form;  // of PlacedLoads: each place, what was found and compiled
// The same through a writer.
