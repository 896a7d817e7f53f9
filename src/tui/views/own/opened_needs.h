// The questions of a run before it can begin (`gemmview open --detail`, where it could not).
#pragma once
#include "base/arena.h"
#include "base/diag.h"

typedef struct OpenedNeeds {
  const char *sentence;                // what is missing or wrong
  const char *signature;               // of the kernel whose launch is wanted; NULL: a kernel is
  const char *options;                 // "--launch … --arg …", to be put right
  int n;                               // kernels to choose from
  const char **entry, **signature_of;  // [n]
} OpenedNeeds;

// NULL: the document is none of these.
const OpenedNeeds *opened_needs_read(Arena *arena, const char *json, size_t n);
