// Launches of a program → rows of a table, or of JSON.
//
//   launches   us each  grid           block      cluster      smem  kernel
//         40      12.3  1200           256        2               0  add<float>
#include "cli/open/launches/open_launches.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

const char *open_demangled(Arena *arena, const char *symbol) {
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
const char *open_short_name(Arena *arena, const char *name) {
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

const char *open_extents(Arena *arena, const int at[3]) {
  if (at[2] > 1) return arena_printf(arena, "%dx%dx%d", at[0], at[1], at[2]);
  if (at[1] > 1) return arena_printf(arena, "%dx%d", at[0], at[1]);
  return arena_printf(arena, "%d", at[0]);
}

// ---- rows ---------------------------------------------------------------------------------------

static OpenLaunch row_of(Arena *arena, const CapsuleLaunch *l) {
  enum { NANO = 1000 };
  OpenLaunch row = {.kernel = str_line(arena, l->kernel),
                    .name = open_demangled(arena, l->kernel),
                    .note = l->note ? str_line(arena, l->note) : NULL,
                    .smem = (int)l->smem,
                    .times = (int64_t)l->times,
                    .first = (int64_t)l->first,
                    .us = l->timed ? (double)l->nano / (double)l->timed / NANO : (double)NAN};
  row.title = open_short_name(arena, row.name);
  memcpy(row.grid, l->grid, sizeof row.grid);
  memcpy(row.block, l->block, sizeof row.block);
  memcpy(row.cluster, l->cluster, sizeof row.cluster);
  return row;
}

static int by_times(const void *a, const void *b) {
  const OpenLaunch *x = a, *y = b;
  if (x->times != y->times) return (x->times < y->times) - (x->times > y->times);
  const int names = strcmp(x->kernel, y->kernel);
  return names ? names : (x->first > y->first) - (x->first < y->first);
}

OpenLaunch *open_launches(Arena *arena, const CapsuleLaunch *launches, int n) {
  OpenLaunch *out = ARENA_ARRAY(arena, OpenLaunch, n + 1);
  for (int i = 0; i < n; i++) out[i] = row_of(arena, &launches[i]);
  qsort(out, (size_t)n, sizeof *out, by_times);
  return out;
}

const OpenLaunch *open_capsule_launches(Arena *arena, const Capsule *c, int *n) {
  OpenLaunch *out = open_launches(arena, c->launches, c->n_launches);
  *n = c->n_launches;
  const char *kernel = str_line(arena, c->kernel);
  for (OpenLaunch *l = out; l < out + *n; l++)
    l->held = str_equal(l->kernel, kernel) && memcmp(l->grid, c->grid, sizeof l->grid) == 0 &&
              memcmp(l->block, c->block, sizeof l->block) == 0 &&
              memcmp(l->cluster, c->cluster, sizeof l->cluster) == 0 &&
              (uint64_t)l->smem == c->smem;
  return out;
}

// ---- the table ----------------------------------------------------------------------------------

static const char *time_text(Arena *arena, double us) {
  return isnan(us) ? "-" : arena_printf(arena, us < 1000 ? "%.1f" : "%.0f", us);
}

// A kernel of many templates: two rows with one title would say nothing of what sets them apart.
static const char *title_of(Arena *arena, const OpenLaunch *of, const OpenLaunch *launch, int n) {
  for (const OpenLaunch *l = launch; l < launch + n; l++) {
    if (!str_equal(l->title, of->title) || str_equal(l->kernel, of->kernel)) continue;
    const char *end = strrchr(of->name, '(');
    return end ? arena_strndup(arena, of->name, (size_t)(end - of->name)) : of->name;
  }
  return of->title;
}

void open_print_launches(Arena *arena, FILE *out, const OpenLaunch *launch, int n) {
  bool timed = false, held = false;
  for (int i = 0; i < n; i++) timed |= !isnan(launch[i].us), held |= launch[i].held;
  if (n == 0) return;
  fprintf(out, "%s%9s  ", held ? "  " : "", "launches");
  if (timed) fprintf(out, "%8s  ", "us each");
  fprintf(out, "%-14s %-10s %-8s %8s  %s\n", "grid", "block", "cluster", "smem", "kernel");
  for (const OpenLaunch *row = launch; row < launch + n; row++) {
    if (held) fprintf(out, "%s", row->held ? "> " : "  ");
    fprintf(out, "%9" PRId64 "  ", row->times);
    if (timed) fprintf(out, "%8s  ", time_text(arena, row->us));
    fprintf(out, "%-14s %-10s %-8s %8d  %s%s%s\n", open_extents(arena, row->grid),
            open_extents(arena, row->block),
            row->cluster[0] ? open_extents(arena, row->cluster) : "-", row->smem,
            title_of(arena, row, launch, n), row->note ? ": " : "", row->note ? row->note : "");
  }
}

#define FORM_FILE "cli/open/launches/open_launches.form"
#include "base/form_make.h"
