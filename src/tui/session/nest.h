// The loop nest in one line per thought: what a screen of 24 rows can show of a program.
//
// Hardware loops become one row for each tier, loops over registers fold into the statement they
// repeat, a copy through registers is one row, and every shared-memory access names its site:
//
//   BLOCK   1024 blocks of 128x128
//   THREAD  16x16 threads
//   REG     acc[8x8] = 0
//   SERIAL  k_o in 0..256
//             A_s <- A             site 1
//             barrier
//   STAGE     k_i in 0..16
//               a[8] <- A_s        site 3
//   ATOM        acc[8x8] += a*b
//           C <- acc[8x8]
//
// Warp roles and copies by TMA, short here, longer where there is room:
//   WARP    role producer                role producer: 40 registers, one thread
//   SERIAL  k_o in 0..64
//             wait empty                 wait empty[slot] phase
//             expect 49152 B             expect full[slot] 49152 B
//             A_s <- tma A
#pragma once
#include "base/arena.h"
#include "model/readings/model.h"

typedef enum NestGroup {
  NEST_KERNEL,  // the name of a kernel, where there are several
  NEST_BLOCK,
  NEST_WARP,
  NEST_THREAD,
  NEST_REGISTER,
  NEST_ATOM,
  NEST_SERIAL,
  NEST_STAGE,
  NEST_GROUP_COUNT,
} NestGroup;

const char *nest_group_name(NestGroup group);  // "BLOCK", "REG", …
// The group under which knobs of this heading (Knob.tier) stand; NEST_GROUP_COUNT when none.
NestGroup nest_group_of_knobs(const char *tier);

typedef struct NestRow {
  NestGroup group;
  int depth;
  const char *text;
  const char *wide;   // what it says where there is room for it; NULL: the same
  const char *tight;  // what it says where there is none for `text`; NULL: the same, cut
  const Stmt *stmt;   // the statement it stands for; NULL for kernels and tiers
  const char *note;   // why it is there; NULL: no reason given
  int kernel;
  KnobId knob;   // the knob that put it there, KNOB_NONE for the naive nest
  KnobId seat;   // the knob that is turned here and nowhere else; KNOB_NONE: no such
  int site;      // number of the access to shared or global memory it makes, 0 = none
  bool changed;  // it was not there, or read otherwise, before the last change
} NestRow;

typedef struct Nest {
  int n_rows;
  NestRow *row;
} Nest;

// `ascii`: copies are written "A_s<-A", for an arrow has no one-character stand-in that reads as
// one.
Nest nest_build(Arena *arena, const Model *model, bool ascii);
// The same rows out of the full listing: every statement with its indices, declarations left out.
Nest nest_listing(Arena *arena, const Model *model);
// One sentence; of mbarriers and boxes by the mbarrier that the operation names.
const char *nest_op_help(const Op *op);
// Marks the rows of `nest` that `before` does not have in this order.
void nest_mark_changes(Arena *arena, Nest *nest, const Nest *before);
