// Rows of the table of launches → text.
#include "cli/record/record_run.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "capsule/capsule.h"
#include "cli/open/open_input.h"
#include "cli/open/open_request.h"
#include "ptx/module/ptx_module.h"

// "add<float>(float*, int)" of "_Z3addIfEvPT_i"; the name itself where nothing here takes it apart.
static const char *record_demangled(Arena *arena, const char *symbol) {
  typedef char *Demangle(const char *, char *, size_t *, int *);
  static Demangle *demangle;
  static bool asked;
  if (!asked) {
    asked = true;
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    if (library) demangle = (Demangle *)dlsym(library, "__cxa_demangle");
  }
  int status = 0;
  char *text = demangle ? demangle(symbol, NULL, NULL, &status) : NULL;
  const char *kept = str_line(arena, text ? text : symbol);
  free(text);
  return kept;
}

// Brackets inside of brackets are left out, and so are the parameters.
const char *record_short_name(Arena *arena, const char *name) {
  Str out = str_new(arena);
  int depth = 0;
  for (const char *at = name; *at; at++) {
    const bool opens = strchr("<({", *at), closes = strchr(">)}", *at) && depth > 0;
    if (*at == '(' && depth == 0 && !str_starts(at, "(anonymous namespace)")) break;
    if (closes) depth--;
    if (depth <= 1) str_add_char(&out, *at);
    if (opens && ++depth == 2) str_add(&out, "…");
  }
  return out.text;
}

static const char *extents(Arena *arena, const int32_t at[3]) {
  if (at[2] > 1) return arena_printf(arena, "%dx%dx%d", at[0], at[1], at[2]);
  if (at[1] > 1) return arena_printf(arena, "%dx%d", at[0], at[1]);
  return arena_printf(arena, "%d", at[0]);
}

static int by_times(const void *a, const void *b) {
  const OpenLaunch *x = a, *y = b;
  if (x->times != y->times) return (x->times < y->times) - (x->times > y->times);
  const int names = strcmp(x->kernel, y->kernel);
  return names ? names : (x->first > y->first) - (x->first < y->first);
}

const OpenLaunch *record_launches(Arena *arena, const RecordOutcome *outcome, int *n) {
  const SeenTable *seen = outcome->seen;
  OpenLaunch *out = ARENA_ARRAY(arena, OpenLaunch, SEEN_ROWS);
  *n = 0;
  for (int i = 0; seen && i < SEEN_ROWS; i++) {
    const SeenRow *row = &seen->rows[i];
    if (!row->taken) continue;
    OpenLaunch *l = &out[(*n)++];
    *l = (OpenLaunch){.kernel = str_line(arena, row->name),
                      .title = record_short_name(arena, record_demangled(arena, row->name)),
                      .note = row->note[0]   ? str_line(arena, row->note)
                              : row->has_ptx ? NULL
                                             : "its PTX was not found",
                      .smem = row->smem,
                      .times = (int64_t)row->count,
                      .first = (int64_t)row->first};
    memcpy(l->grid, row->grid, sizeof l->grid);
    memcpy(l->block, row->block, sizeof l->block);
    memcpy(l->cluster, row->cluster, sizeof l->cluster);
  }
  qsort(out, (size_t)*n, sizeof *out, by_times);
  return out;
}

void record_print_launches(Arena *arena, const RecordOutcome *outcome) {
  int n = 0;
  const OpenLaunch *row = record_launches(arena, outcome, &n);
  if (n == 0) return;
  fprintf(stderr, "%9s  %-14s %-10s %-8s %8s  %s\n", "launches", "grid", "block", "cluster", "smem",
          "kernel");
  for (const OpenLaunch *end = row + n; row < end; row++)
    fprintf(stderr, "%9" PRId64 "  %-14s %-10s %-8s %8d  %s%s%s\n", row->times,
            extents(arena, row->grid), extents(arena, row->block),
            row->cluster[0] ? extents(arena, row->cluster) : "-", row->smem, row->title,
            row->note ? ": " : "", row->note ? row->note : "");
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
          " bytes, contents of %" PRIu64 " of them%s%s\n",
          str_line(arena, path), record_demangled(arena, c->kernel), extents(arena, c->grid),
          extents(arena, c->block), n, c->n_memory, plural_s(c->n_memory), capsule_memory_bytes(c),
          contents, c->ended ? ", and the memory after the launch" : "",
          c->ptx.at ? "" : "; there is no PTX of the kernel");
}
