// All cells first, then the width of each column, then the lines.
#include "cli/common/tables/text_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

// Text that others wrote cannot begin a line of its own.
static const char *one_line(Arena *arena, const char *text) {
  char *line = arena_strdup(arena, text);
  for (char *at = line; *at; at++)
    if (*at == '\n' || *at == '\t') *at = ' ';
  return line;
}

static const char *member_text(Arena *arena, const FormField *field, const FormValue *value) {
  if (value->is_null || value->is_absent) return "-";
  switch (field->kind) {
    case FORM_BOOL:
      return value->yes ? "yes" : "no";
    case FORM_INT:
      return arena_printf(arena, "%lld", (long long)value->whole);
    case FORM_NUM:
      return isfinite(value->number) ? arena_printf(arena, "%.10g", value->number) : "-";
    default:
      return value->text ? value->text : "-";
  }
}

static const char *cell(Arena *arena, const TextTable *table, const TextColumn *column,
                        const void *it, const void *in) {
  FormValue value;
  if (column->text) return one_line(arena, column->text(arena, it));
  const FormField *field = form_find(arena, table->form, column->key, it, in, &value);
  return one_line(arena, member_text(arena, field, &value));
}

static void print_line(const TextTable *table, const int *width, const char *const *cells) {
  for (int c = 0; c < table->n_columns; c++) {
    const bool last = c == table->n_columns - 1, right = table->column[c].right;
    printf("%s%*s", c ? table->gap : "", right ? width[c] : last ? 0 : -width[c], cells[c]);
  }
  putchar('\n');
}

static void print_headings(const TextTable *table, const int *width, const char **cells) {
  bool units = false;
  for (int c = 0; c < table->n_columns; c++) {
    cells[c] = table->column[c].heading;
    units |= table->column[c].unit != NULL;
  }
  print_line(table, width, cells);
  for (int c = 0; c < table->n_columns; c++)
    cells[c] = table->column[c].unit ? table->column[c].unit : "";
  if (units) print_line(table, width, cells);
}

void text_table_print(Arena *arena, const TextTable *table, const void *items, size_t bytes, int n,
                      const void *in) {
  const int n_columns = table->n_columns;
  const char **cells = ARENA_ARRAY(arena, const char *, (n + 1) * n_columns);
  int *width = ARENA_ARRAY(arena, int, n_columns);
  for (int c = 0; c < n_columns; c++) width[c] = table->column[c].least;
  for (int i = 0; i < n; i++)
    for (int c = 0; c < n_columns; c++) {
      const void *it = (const char *)items + (size_t)i * bytes;
      const char *text = cells[i * n_columns + c] = cell(arena, table, &table->column[c], it, in);
      if ((int)strlen(text) > width[c]) width[c] = (int)strlen(text);
    }
  print_headings(table, width, &cells[n * n_columns]);
  for (int i = 0; i < n; i++) print_line(table, width, &cells[i * n_columns]);
}
