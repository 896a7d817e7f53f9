// Tells what an operation is on a time line: a letter of the pipeline's picture, estimated or
// measured.
#pragma once
#include "model/ir/names.h"

// Tells what happens in an event. One row each: enum, the word it is shown by, its letter in a
// picture.
#define TIMELINE_KIND_TABLE(X)                                                  \
  X(COPY, "copy", "c")         /* elements of A or B come from global memory */ \
  X(WRITE, "write", "w")       /* registers go to shared memory */              \
  X(READ, "read", "r")         /* shared memory is read into registers */       \
  X(MULTIPLY, "multiply", "m") /* the warp multiplies and adds */               \
  X(POWER, "exp2", "e")        /* weights of a softmax */                       \
  X(STORE, "store", "s")       /* results go to global memory */                \
  X(WAIT, "wait", "-")         /* for an mbarrier, for copies, for registers */ \
  X(MEET, "barrier", "-")      /* for others at a barrier */                    \
  X(SIGNAL, "signal", "!")     /* to an mbarrier; a group is closed; a fence */

typedef enum TimelineKind {
#define X(id, name, letter) TIMELINE_##id,
  TIMELINE_KIND_TABLE(X)
#undef X
      TIMELINE_KINDS
} TimelineKind;

const char *timeline_kind_name(TimelineKind kind);
const char *timeline_kind_letter(TimelineKind kind);

// TIMELINE_KINDS: its time is too short to be shown (registers are set, scaled or added up).
TimelineKind timeline_kind_of(const Op *op);
// A wait at an mbarrier, a group's or registers', or the meeting at a barrier.
bool timeline_kind_waits(TimelineKind kind);
