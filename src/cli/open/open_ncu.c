// A CSV whose head may stand behind other lines: the first row that names both a line column and
// the wavefronts is it, in whatever order.
//
// Fields are divided by commas, or as spreadsheets of other languages save them by semicolons or
// tabs. Where the semicolon divides, the comma is the decimal sign and the dot stands between
// thousands: "12.288" is there what "12,288" is elsewhere.
#include "cli/open/open_ncu.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/open/open_input.h"

enum { FIELDS_MAX = 256 };

// Splits a copy of one line; quotes are taken off.
static void split(char *at, char divider, char **fields, int *n) {
  *n = 0;
  for (;;) {
    char *to = at;
    if (*n < FIELDS_MAX) fields[(*n)++] = at;
    bool quoted = false;
    for (; *at && (quoted || *at != divider); at++) {
      if (*at == '"' && quoted && at[1] == '"')
        *to++ = *at++;
      else if (*at == '"')
        quoted = !quoted;
      else if (*at != '\r')
        *to++ = *at;
    }
    const char end = *at;
    *to = '\0';
    if (!end) return;
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

static Columns find_columns(char **fields, int n) {
  static const char *const line[] = {"#", "Line", "Line No", "# Line", "Line Number", NULL},
                           *const file[] = {"File", "File Name", "File Path", NULL},
                           *const wavefronts[] = {"L1 Wavefronts Shared",
                                                  "memory_l1_wavefronts_shared", NULL},
                           *const ideal[] = {"L1 Wavefronts Shared Ideal",
                                             "memory_l1_wavefronts_shared_ideal", NULL};
  return (Columns){find_column(fields, n, line), find_column(fields, n, file),
                   find_column(fields, n, wavefronts), find_column(fields, n, ideal)};
}

// What divides the fields is known from the head, and with it the decimal sign.
static bool read_head(Arena *arena, const char *line, char *divider, Columns *columns) {
  static const char dividers[] = ",;\t";
  char *fields[FIELDS_MAX];
  int n = 0;
  for (const char *d = dividers; *d; d++) {
    split(arena_strdup(arena, line), *d, fields, &n);
    *columns = find_columns(fields, n);
    *divider = *d;
    if (columns->line >= 0 && columns->wavefronts >= 0) return true;
  }
  return false;
}

// The end of a blank, an apostrophe or a no-break space (U+00A0, U+202F) between thousands.
static const char *skip_space(const char *c) {
  static const char *const spaces[] = {" ", "'", "\xC2\xA0", "\xE2\x80\xAF"};
  for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
    if (str_starts(c, spaces[i])) return c + strlen(spaces[i]);
  return c;
}

// −1 for what is no number. Counts are whole: what stands behind the decimal sign is nothing.
static int64_t number(char **fields, int n, int column, char divider) {
  if (column < 0 || column >= n) return -1;
  const char decimal = divider == ';' ? ',' : '.', between = divider == ';' ? '.' : ',';
  int64_t value = 0;
  int digits = 0;
  for (const char *c = fields[column]; *c && *c != decimal; c++) {
    const char *next = skip_space(c);
    if (next != c) {
      c = next - 1;
      continue;
    }
    if (*c == between) continue;
    if (*c < '0' || *c > '9' || ++digits > 17) return -1;
    value = value * 10 + (*c - '0');
  }
  return digits ? value : -1;
}

// The next line without its end; NULL behind the last. A quoted field may go on in the next one.
static char *next_line(Arena *arena, const char **at) {
  if (!**at) return NULL;
  const char *begin = *at;
  bool quoted = false;
  for (; **at && (quoted || **at != '\n'); ++*at) quoted ^= **at == '"';
  char *line = arena_strndup(arena, begin, (size_t)(*at - begin));
  *at += **at == '\n';
  return line;
}

static const char *source_page =
    "the CSV of the source page is expected (ncu --page source --csv --print-source cuda)";

bool open_read_ncu(Arena *arena, const char *path, const OpenCounted **rows, int *n, Diags *diags) {
  size_t bytes = 0;
  const char *at = open_read_given(arena, path, &bytes, diags);
  if (!at) return false;
  if (str_starts(at, "\xEF\xBB\xBF")) at += 3;
  int lines = 1, k = 0;
  for (const char *c = at; *c; c++) lines += *c == '\n';
  OpenCounted *counted = ARENA_ARRAY(arena, OpenCounted, lines);
  char *fields[FIELDS_MAX], divider = ',';
  Columns columns;
  bool head = false;
  for (char *text; (text = next_line(arena, &at));) {
    if (!head) {
      head = read_head(arena, text, &divider, &columns);
      continue;
    }
    split(text, divider, fields, &k);
    const int64_t line = number(fields, k, columns.line, divider),
                  wavefronts = number(fields, k, columns.wavefronts, divider);
    if (line <= 0 || line > INT32_MAX || wavefronts < 0) continue;
    const char *file = columns.file >= 0 && columns.file < k ? fields[columns.file] : "";
    counted[(*n)++] = (OpenCounted){ptx_base_name(file), (int)line, wavefronts,
                                    number(fields, k, columns.ideal, divider)};
  }
  *rows = counted;
  const char *name = str_sanitise(arena, path);
  if (!head)
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
      "%s: none of its %d lines accessed shared memory here: its first is %s%sline %d, the first "
      "here %s line %d",
      str_sanitise(r->arena, path), r->n_counted, str_sanitise(r->arena, there->file),
      *there->file ? " " : "", there->line, str_sanitise(r->arena, first->file), first->line);
  return false;
}
