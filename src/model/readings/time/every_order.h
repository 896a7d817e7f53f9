// A program → its synchronising events, for the search over all orders (order/search.h).
//
//   EveryOrder every = every_order_program(arena, program, 1);
//   SearchResult result = search_run(every.search, &(SearchOptions){0});
//
// The main kernel is walked as it runs, warp after warp of one cluster, with every turn and every
// tile of the first of `grid` clusters; values are left out, for no branch of a schedule depends on
// one. What a warp does between two events that order is one event. Events are tagged with their
// statement's id.
//
// Memory is shared memory, tensor memory, and the registers that wgmma writes in the background; of
// global memory nothing is asked, whose cells a block writes once.
#pragma once
#include "model/ir/names.h"
#include "order/search.h"

typedef struct EveryOrder {
  Search *search;
  const char *fault;  // why there is none, a sentence; NULL: there is
  int n_left_out;
  const char *left_out[4];
} EveryOrder;

EveryOrder every_order_program(Arena *arena, const Program *program, int64_t grid);
