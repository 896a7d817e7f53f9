// Members of a form as cells of CSV, by their names.
//
// Worked example, the form of form.h on a slice of {.first = 0, .bytes = 8192}:
//
//   form_csv_row(stdout, arena, &slice_form, "bytes,first", &slice, NULL)      8192,0
//
// A text is a cell in quotes that no spreadsheet takes for a formula (base/foreign.h), a word of
// ours stands bare. Lists and objects are no cells.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/foreign.h"
#include "base/form.h"

static const FormField *find(Arena *arena, const Form *form, const char *key, const void *it,
                             const void *up, const void *in, FormValue *value) {
  FormValue values[FORM_FIELDS_MAX];
  form->values(arena, it, up, in, values);
  for (int i = 0; i < form->n; i++) {
    const FormField *field = &form->field[i], *found = NULL;
    if (field->kind == FORM_MEMBERS && values[i].at)
      found = find(arena, field->form, key, values[i].at, it, in, value);
    if (found) return found;
    if (!field->key || strcmp(field->key, key) != 0) continue;
    *value = values[i];
    return field;
  }
  return NULL;
}

const FormField *form_find(Arena *arena, const Form *form, const char *key, const void *it,
                           const void *in, FormValue *value) {
  return find(arena, form, key, it, NULL, in, value);
}

static void write_number(FILE *file, const FormField *field, const FormValue *value) {
  if (value->is_null || value->is_absent) return;
  if (field->kind == FORM_BOOL) fputc(value->yes ? '1' : '0', file);
  if (field->kind == FORM_INT) fprintf(file, "%lld", (long long)value->whole);
  if (field->kind == FORM_NUM && isfinite(value->number)) fprintf(file, "%.10g", value->number);
}

static void write_cell(FILE *file, const FormField *field, const FormValue *value, char after) {
  const char *text = value->is_null || value->is_absent ? NULL : value->text;
  switch (field->kind) {
    case FORM_TEXT:
      return foreign_cell(file, text, after);
    case FORM_WORD:
      fputs(text ? text : "", file);
      break;
    case FORM_BOOL:
    case FORM_INT:
    case FORM_NUM:
      write_number(file, field, value);
      break;
    default:
      assert(false && "a cell");
  }
  fputc(after, file);
}

void form_csv_heading(FILE *file, const char *columns) { fprintf(file, "%s\n", columns); }

void form_csv_row(FILE *file, Arena *arena, const Form *form, const char *columns, const void *it,
                  const void *in) {
  for (const char *at = columns; *at;) {
    const size_t n = strcspn(at, ",");
    FormValue value;
    const FormField *field = form_find(arena, form, arena_strndup(arena, at, n), it, in, &value);
    assert(field);
    write_cell(file, field, &value, at[n] ? ',' : '\n');
    at += n + (at[n] == ',');
  }
}
