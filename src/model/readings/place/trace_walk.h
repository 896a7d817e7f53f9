// One walk of the tracer (trace.c): it finds the first or the last touch of a place.
//
//   TraceWalk walk = trace_walk_new(arena, program, cta, at);
//   TraceQuery query = {.buffer = a, .offset = 21, .wanted = TRACE_READS, .which = TRACE_FIRST,
//                       .thread = -1, .after = -1, .before = INT64_MAX, .prefer = -1};
//   TraceTouch touch = trace_look_for(&walk, &query);        touch.found, .time, .move
#pragma once
#include "model/ir/launch.h"
#include "model/ir/program.h"
#include "model/ir/rewrite.h"
#include "model/readings/place/trace_move.h"

// One operand of one operation touches the place that the walk looks for.
typedef struct TraceTouch {
  int64_t time;
  bool found;
  TraceMove move;
} TraceTouch;

typedef enum TraceWanted { TRACE_READS, TRACE_WRITES } TraceWanted;
typedef enum TraceWhich { TRACE_FIRST, TRACE_LAST } TraceWhich;

// The touch that a walk looks for.
typedef struct TraceQuery {
  const Buffer *buffer;
  int64_t offset;
  TraceWanted wanted;
  TraceWhich which;
  int thread;             // -1: any; registers are a thread's own
  const Buffer *into;     // that the operation writes; NULL: any
  int64_t after, before;  // times, exclusive
  int prefer;             // a touch by this thread, then one of its warp, before all others; -1
} TraceQuery;

typedef struct TraceWalk {
  Arena *arena;
  const Program *program;
  Launch launch;
  int64_t cta;
  const Stmt *k_loop;         // over slabs, or over k; NULL: none
  int64_t k_from, k_to;       // its iterations that are walked
  int64_t slots;              // of the ring that a producer fills; 0: there is none
  int64_t roles_at, loop_at;  // when the roles part, and when the consumers' loop begins
  int64_t *size;              // [statement] operations that one execution passes
  const Expr **offset;        // [statement][2] of dst and src, made when first needed
  const Expr **guard;         // [statement][2], the same
  // The point that the walk has come to:
  int warp;
  int64_t time, k_o;
  int64_t *env;  // [n_vars][32]
  // The touch that it looks for, and the best so far:
  const TraceQuery *query;
  bool *near;  // [statement] whether the query's buffer occurs in it
  TraceTouch best;
  int n_touching;  // threads with a touch of the best one's statement and time
} TraceWalk;

// A walk through the main kernel for one CTA. It sees the iterations of the loop over slabs around
// the one that computes the product.
TraceWalk trace_walk_new(Arena *arena, const Program *program, int64_t cta, TraceAt at);
// The touch that `query` asks for; `found` is false when there is none.
TraceTouch trace_look_for(TraceWalk *walk, const TraceQuery *query);
