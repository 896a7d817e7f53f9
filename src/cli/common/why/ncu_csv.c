// Text → rows, their fields in the order of the columns that were asked for.
#include "cli/common/why/ncu_csv.h"

#include <string.h>

#include "base/str.h"

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

static int find_column(char **fields, int n, const char *const *names) {
  for (; *names; names++)
    for (int i = 0; i < n; i++)
      if (str_equal_fold(fields[i], *names)) return i;
  return -1;
}

// All that divides the fields is known from the head, and with it the decimal sign.
static bool read_head(Arena *arena, const char *line, const NcuColumn *columns, int n,
                      NcuTable *table, int *at) {
  static const char dividers[] = ",;\t";
  char *fields[FIELDS_MAX];
  int n_fields = 0;
  for (const char *d = dividers; *d; d++) {
    bool all = true;
    split(arena_strdup(arena, line), *d, fields, &n_fields);
    for (int i = 0; i < n; i++) {
      at[i] = find_column(fields, n_fields, columns[i].names);
      table->has[i] = at[i] >= 0;
      all &= table->has[i] || !columns[i].needed;
    }
    table->divider = *d;
    if (all) return true;
  }
  return false;
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

NcuTable ncu_table_read(Arena *arena, const char *text, const NcuColumn *columns, int n) {
  NcuTable out = {0};
  int lines = 1, at[NCU_COLUMNS_MAX] = {0};
  if (str_starts(text, "\xEF\xBB\xBF")) text += 3;
  for (const char *c = text; *c; c++) lines += *c == '\n';
  NcuRow *row = ARENA_ARRAY(arena, NcuRow, lines);
  for (char *line; (line = next_line(arena, &text));) {
    char *fields[FIELDS_MAX];
    int k = 0;
    if (!out.found) {
      out.found = read_head(arena, line, columns, n, &out, at);
      continue;
    }
    split(line, out.divider, fields, &k);
    for (int i = 0; i < n; i++)
      if (at[i] >= 0 && at[i] < k) row[out.n].field[i] = fields[at[i]];
    out.n++;
  }
  out.row = row;
  return out;
}

// The end of a blank, an apostrophe or a no-break space (U+00A0, U+202F) between thousands.
static const char *skip_space(const char *c) {
  static const char *const spaces[] = {" ", "'", "\xC2\xA0", "\xE2\x80\xAF"};
  for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
    if (str_starts(c, spaces[i])) return c + strlen(spaces[i]);
  return c;
}

int64_t ncu_number(const NcuTable *table, const NcuRow *row, int column) {
  const char decimal = table->divider == ';' ? ',' : '.',
             between = table->divider == ';' ? '.' : ',';
  int64_t value = 0;
  int digits = 0;
  if (!row->field[column]) return -1;
  for (const char *c = row->field[column]; *c && *c != decimal; c++) {
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
