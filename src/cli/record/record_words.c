// The table of launches, and what a capsule holds → text.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/open/launches/open_launches.h"
#include "cli/open/open_input.h"
#include "cli/record/record_run.h"

// The fields of SeenRow end in a 0: read_seen() sees to it.
static CapsuleLaunch launch_of(Arena *arena, const SeenRow *row) {
  enum { NANO = 1000000 };
  CapsuleLaunch l = {.kernel = arena_strdup(arena, row->name),
                     .note = row->note[0]   ? arena_strdup(arena, row->note)
                             : row->has_ptx ? NULL
                                            : "its PTX was not found",
                     .smem = (uint64_t)row->smem,
                     .times = row->count,
                     .first = row->first,
                     .timed = row->timed,
                     .nano = (uint64_t)(row->ms * NANO)};
  memcpy(l.grid, row->grid, sizeof l.grid);
  memcpy(l.block, row->block, sizeof l.block);
  memcpy(l.cluster, row->cluster, sizeof l.cluster);
  return l;
}

const CapsuleLaunch *record_seen_launches(Arena *arena, const SeenTable *seen, int *n) {
  CapsuleLaunch *out = ARENA_ARRAY(arena, CapsuleLaunch, SEEN_ROWS);
  *n = 0;
  for (int i = 0; seen && i < SEEN_ROWS; i++)
    if (seen->rows[i].taken && seen->rows[i].count > 0)
      out[(*n)++] = launch_of(arena, &seen->rows[i]);
  return out;
}

const OpenLaunch *record_launches(Arena *arena, const RecordOutcome *outcome, int *n) {
  const CapsuleLaunch *launches = record_seen_launches(arena, outcome->seen, n);
  return open_launches(arena, launches, *n);
}

void record_print_launches(Arena *arena, const RecordOutcome *outcome) {
  int n = 0;
  const OpenLaunch *row = record_launches(arena, outcome, &n);
  open_print_launches(arena, stderr, row, n);
}

void record_print_capsule(Arena *arena, const char *path) {
  Diags diags = diags_new(arena);
  size_t n = 0;
  const char *bytes = open_read_file(arena, path, &n, &diags);
  const Capsule *c = bytes ? capsule_read(arena, bytes, n, path, &diags) : NULL;
  if (!c) return;
  uint64_t contents = 0;
  for (int i = 0; i < c->n_memory; i++)
    for (int r = 0; r < c->memory[i].n_before; r++)
      if (c->memory[i].before[r].content == CAPSULE_BYTES) contents += c->memory[i].before[r].n;
  fprintf(stderr,
          "gemmview: %s: %s, grid %s, block %s; %zu bytes: %d allocation%s of %" PRIu64
          " bytes, contents of %" PRIu64 " of them%s%s%s\n",
          str_line(arena, path), open_demangled(arena, c->kernel), open_extents(arena, c->grid),
          open_extents(arena, c->block), n, c->n_memory, plural_s(c->n_memory),
          capsule_memory_bytes(c), contents, c->ended ? ", and the memory after the launch" : "",
          c->goes_on ? "; the block goes on beyond them" : "",
          c->ptx.at ? "" : "; there is no PTX of the kernel");
}
