// One side of `gemmview diff`: what the other commands say of a state, a source, a cubin or a
// capsule, as numbers of which less is better.
#pragma once
#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"

typedef enum DiffKind { DIFF_STATE, DIFF_SOURCE, DIFF_CUBIN, DIFF_CAPSULE } DiffKind;

typedef struct DiffMetric {
  const char *name;         // "wavefronts"
  double value, low, high;  // of clocks: the interval that holds them
  bool access;              // of one line or access: shown, and no verdict by itself
} DiffMetric;

enum { DIFF_METRICS_MAX = 512 };

typedef struct DiffSide {
  const char *text;  // as it was typed
  DiffKind kind;
  const char *target;   // what it runs on or was compiled for; "" not said
  const char *problem;  // M, N and K of a state; ""
  const char *slab;     // of a state: how the problem is cut; ""
  const char *failed;   // why there are no numbers; NULL
  const char *note;     // what is missing among them; NULL
  int n;
  DiffMetric metric[DIFF_METRICS_MAX];
} DiffSide;

// The question that both sides are asked.
typedef struct DiffAsk {
  int n_words;  // options that `open` or `why` take, handed on
  const char *const *words;
  int n_flags;  // what stands behind "--": the flags of nvcc
  const char *const *flags;
  const char *kernel;  // NULL
} DiffAsk;

const char *diff_side_kind(DiffKind kind);
DiffKind diff_side_kind_of(const char *text);
void diff_side_read(Arena *arena, const char *text, const DiffAsk *ask, DiffSide *out);
