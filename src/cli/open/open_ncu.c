// The rows of a table of Nsight Compute (cli/common/why/ncu_csv.h) that have a line and a count.
#include "cli/open/open_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/common/why/ncu_csv.h"
#include "cli/open/open_input.h"

enum { LINE, FILE_NAME, WAVEFRONTS, IDEAL, COLUMNS };

static const char *const line_names[] = {"#", "Line", "Line No", "# Line", "Line Number", NULL},
                         *const file_names[] = {"File", "File Name", "File Path", NULL},
                         *const wavefront_names[] = {"L1 Wavefronts Shared",
                                                     "memory_l1_wavefronts_shared", NULL},
                         *const ideal_names[] = {"L1 Wavefronts Shared Ideal",
                                                 "memory_l1_wavefronts_shared_ideal", NULL};

static const NcuColumn columns[COLUMNS] = {[LINE] = {line_names, true},
                                           [FILE_NAME] = {file_names, false},
                                           [WAVEFRONTS] = {wavefront_names, true},
                                           [IDEAL] = {ideal_names, false}};

static const char *source_page =
    "expected the CSV of the source page (ncu --page source --csv --print-source cuda)";

bool open_read_ncu(Arena *arena, const char *path, const OpenCounted **rows, int *n, Diags *diags) {
  size_t bytes = 0;
  const char *at = open_read_given(arena, path, &bytes, diags);
  if (!at) return false;
  const NcuTable table = ncu_table_read(arena, at, columns, COLUMNS);
  OpenCounted *counted = ARENA_ARRAY(arena, OpenCounted, table.n + 1);
  for (int i = 0; i < table.n; i++) {
    const NcuRow *row = &table.row[i];
    const int64_t line = ncu_number(&table, row, LINE),
                  wavefronts = ncu_number(&table, row, WAVEFRONTS);
    if (line <= 0 || line > INT32_MAX || wavefronts < 0) continue;
    const char *file = row->field[FILE_NAME] ? row->field[FILE_NAME] : "";
    counted[(*n)++] =
        (OpenCounted){ptx_base_name(file), (int)line, wavefronts, ncu_number(&table, row, IDEAL)};
  }
  *rows = counted;
  const char *name = str_sanitise(arena, path);
  if (!table.found)
    diag_add(diags, "ncu", "%s: no row names both a line and \"L1 Wavefronts Shared\": %s", name,
             source_page);
  else if (*n == 0)
    diag_add(diags, "ncu", "%s: no row below its head has a line and a count: %s", name,
             source_page);
  return *n > 0;
}

const OpenCounted *open_counted_of(const OpenResult *r, const PtxLine *line) {
  for (int i = 0; i < r->n_counted; i++)
    if (r->counted[i].line == line->line &&
        (!r->counted[i].file[0] || str_equal(r->counted[i].file, line->file)))
      return &r->counted[i];
  return NULL;
}

bool open_ncu_is_of(const OpenResult *r, const char *path, Diags *diags) {
  const PtxLine *first = NULL;
  for (int i = 0; i < r->lines->n; i++) {
    const PtxLine *line = &r->lines->items[i];
    if (!line->shared) continue;
    if (open_counted_of(r, line)) return true;
    if (!first) first = line;
  }
  if (!first || r->n_counted == 0) return true;
  const OpenCounted *there = &r->counted[0];
  diag_add(
      diags, "ncu",
      "%s: none of its %d lines accessed shared memory here; its first line is %s%sline %d, the "
      "first here is %s line %d",
      str_sanitise(r->arena, path), r->n_counted, str_sanitise(r->arena, there->file),
      *there->file ? " " : "", there->line, str_sanitise(r->arena, first->file), first->line);
  return false;
}
