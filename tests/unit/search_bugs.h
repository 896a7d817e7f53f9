// Published bugs of pipelines, rebuilt from their descriptions as programs of events.
#pragma once
#include "order/search.h"

typedef struct SearchBug {
  Search *(*make)(Arena *arena, bool cured);
  SearchFault fault;
  const char *root, *cure;  // parts of what is said of it
} SearchBug;

extern const SearchBug search_bugs[];
extern const int search_bugs_count;

// The bug of GiMMiK's pull request 23 with what that puts in its place.
Search *search_bug_work_ring(Arena *arena);
