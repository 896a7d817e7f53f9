// One move of an element (trace.h), and where the element is.
#pragma once
#include "model/ir/names.h"

// Rows and columns of the sums, and the depth, of one of the program's products. Attention:
// product 0 is S[i][j] with e = k, product 1 is O[i][j] with key k; the first head is looked at.
typedef struct TraceAt {
  int64_t i, j, k;
  int product;
} TraceAt;

// A place: an element of a buffer, its layout applied.
typedef struct TracePlace {
  const Buffer *buffer;
  int64_t offset;           // in elements from the start of the buffer
  int64_t index[RANK_MAX];  // as the program says it: "A_s[1, 35, 4]"
} TracePlace;

typedef struct TraceMove {
  const Stmt *stmt;
  TracePlace from, to;
  int thread;        // of the block: who moves it; of ldmatrix, who receives it
  int address_lane;  // LDMATRIX: the lane that gives the row's address; -1
  int64_t k_o;       // iteration of the loop over slabs; -1: outside of it
  int n_threads;     // of the block that make this move with this element (a broadcast, or warps)
} TraceMove;

// Where in the loop over slabs, or over k where nothing is staged, the product is computed, within
// the CTA's part. Attention goes through blocks of keys, which are columns of S and depth of O.
typedef struct TraceStep {
  int64_t iteration;  // that multiplies it
  int64_t inside;     // the place of k in the slab
  int64_t depth;      // of the slab along k
} TraceStep;
// False without such a loop.
bool trace_k_step(const Program *program, TraceAt at, TraceStep *step);
