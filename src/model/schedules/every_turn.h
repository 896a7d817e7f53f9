// Every order of a schedule, whatever its trip counts.
//
//   EveryTurn every = every_turn_search(&targets, &schedule, BREAK_COUNT, &(SearchOptions){0});
//   every.result.verdict       proved for all numbers of slabs and tiles
//   every_turn_free(&every);
//
// The kernel is searched (order/search.h) with 1 … 2·S + 2 slabs of a ring of S slots, with a last
// slab that is cut, and with enough tiles for one block to show every fault from one tile to the
// next. That holds for every number of slabs:
//
//   no warp gets ahead    a slot is filled again only when its readers have arrived, so that where
//                         2·S + 2 turns are sound no warp is more than S turns ahead of another
//   turns come back       2·S turns on, every slot and every phase bit is the same: the lists of
//                         events for 4·S + 2 slabs are the lists for 2·S + 2 with one period put in
//                         (compared event by event, else the verdict is no more than "bounded")
//
// So the state behind turn t is the state behind turn t + 2·S: whatever a longer run can do from
// there on, one of the short runs has done.
#pragma once
#include "model/interp/breakage.h"
#include "model/ir/names.h"
#include "model/words/knob.h"
#include "model/words/target.h"
#include "order/search.h"

enum { EVERY_LEFT_OUT = 16 };

typedef struct EveryTurn {
  Arena *arena;          // of the search that is told of
  const Search *search;  // NULL: `fault`
  const char *fault;     // why nothing was searched, a sentence
  const Program *program;
  Schedule run;         // found: with these extents; else the largest
  SearchResult result;  // found: of that run; else verdict and states of all
  int64_t slots, turns, tiles, runs;
  const char *spared;  // proved with a breakage: why it does no harm
  int bounded;         // runs that there was no room for
  int n_left_out;
  const char *left_out[EVERY_LEFT_OUT];
} EveryTurn;

// `breakage`: put in first; BREAK_COUNT: none.
EveryTurn every_turn_search(const TargetTable *targets, const Schedule *schedule,
                            BreakageId breakage, const SearchOptions *options);
// The fewest slabs of which every part of a tile that is cut along K has one.
int64_t every_turn_least_slabs(const Schedule *schedule);
// The schedule with `slabs` slabs, and a row of `tiles` tiles of a cluster.
Schedule every_turn_schedule(const Schedule *schedule, int64_t slabs, int64_t tiles);
void every_turn_free(EveryTurn *every);
