// A CSV whose head may stand behind other lines: the first row that names both a line column and
// the wavefronts is it. Numbers may have commas between thousands.
#include "cli/open/open_ncu.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/open/open_input.h"

enum { FIELDS_MAX = 256 };

// Splits one line; quotes are taken off. The line's end.
static char *split(char *at, char **fields, int *n) {
  *n = 0;
  for (;;) {
    char *to = at;
    if (*n < FIELDS_MAX) fields[(*n)++] = at;
    bool quoted = false;
    for (; *at && (quoted || (*at != ',' && *at != '\n')); at++) {
      if (*at == '"' && quoted && at[1] == '"')
        *to++ = *at++;
      else if (*at == '"')
        quoted = !quoted;
      else if (*at != '\r')
        *to++ = *at;
    }
    const char end = *at;
    *to = '\0';
    if (end != ',') return end ? at + 1 : at;
    at++;
  }
}

typedef struct Columns {
  int line, file, wavefronts, ideal;
} Columns;

static int find_column(char **fields, int n, const char *const *names) {
  for (; *names; names++)
    for (int i = 0; i < n; i++)
      if (str_equal_fold(fields[i], *names)) return i;
  return -1;
}

static Columns read_head(char **fields, int n) {
  static const char *const line[] = {"#", "Line", "Line No", "# Line", "Line Number", NULL},
                           *const file[] = {"File", "File Name", "File Path", NULL},
                           *const wavefronts[] = {"L1 Wavefronts Shared",
                                                  "memory_l1_wavefronts_shared", NULL},
                           *const ideal[] = {"L1 Wavefronts Shared Ideal",
                                             "memory_l1_wavefronts_shared_ideal", NULL};
  return (Columns){find_column(fields, n, line), find_column(fields, n, file),
                   find_column(fields, n, wavefronts), find_column(fields, n, ideal)};
}

// −1 for what is no number.
static int64_t number(char **fields, int n, int column) {
  if (column < 0 || column >= n) return -1;
  int64_t value = 0;
  int digits = 0;
  for (const char *c = fields[column]; *c && *c != '.'; c++) {
    if (*c == ',' || *c == ' ') continue;
    if (*c < '0' || *c > '9' || ++digits > 17) return -1;
    value = value * 10 + (*c - '0');
  }
  return digits ? value : -1;
}

bool open_read_ncu(Arena *arena, const char *path, const OpenCounted **rows, int *n, Diags *diags) {
  size_t bytes = 0;
  char *at = open_read_file(arena, path, &bytes, diags);
  if (!at) return false;
  int lines = 1;
  for (const char *c = at; *c; c++) lines += *c == '\n';
  OpenCounted *counted = ARENA_ARRAY(arena, OpenCounted, lines);
  char *fields[FIELDS_MAX];
  Columns columns = {-1, -1, -1, -1};
  while (*at) {
    int k = 0;
    at = split(at, fields, &k);
    if (columns.line < 0 || columns.wavefronts < 0) {
      columns = read_head(fields, k);
      continue;
    }
    const int64_t line = number(fields, k, columns.line),
                  wavefronts = number(fields, k, columns.wavefronts);
    if (line <= 0 || line > INT32_MAX || wavefronts < 0) continue;
    const char *file = columns.file >= 0 && columns.file < k ? fields[columns.file] : "";
    counted[(*n)++] =
        (OpenCounted){ptx_base_name(file), (int)line, wavefronts, number(fields, k, columns.ideal)};
  }
  *rows = counted;
  if (columns.wavefronts < 0)
    diag_add(
        diags, "ncu",
        "%s: no row names both a line and \"L1 Wavefronts Shared\": the CSV of the source page "
        "is expected (ncu --page source --csv --print-source cuda)",
        str_sanitise(arena, path));
  return columns.wavefronts >= 0;
}
