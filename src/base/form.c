// A form's table, walked.
//
// The values of all members are looked up first, in the order of the table; then each is written by
// its kind. Worked example, the form of form.h on a slice of {.first = 0, .bytes = 8192}:
//
//   values   {.whole = 0}, {.whole = 8192}      ->      {"first":0,"bytes":8192}
#include "base/form.h"

#include <assert.h>
#include <string.h>

static double number_at(const FormValue *value, int i) {
  switch (value->numbers) {
    case FORM_OF_NONE:
      return 0;
    case FORM_OF_INT:
      return ((const int *)value->at)[i];
    case FORM_OF_INT64:
      return (double)((const int64_t *)value->at)[i];
    case FORM_OF_UINT32:
      return ((const uint32_t *)value->at)[i];
    case FORM_OF_UINT8:
      return ((const uint8_t *)value->at)[i];
    case FORM_OF_BOOL:
      return ((const bool *)value->at)[i];
    case FORM_OF_DOUBLE:
      return ((const double *)value->at)[i];
  }
  return 0;
}

static void write_number(JsonWriter *w, const FormValue *value, int i) {
  if (value->numbers == FORM_OF_DOUBLE)
    json_put_double(w, number_at(value, i));
  else if (value->numbers == FORM_OF_INT64)
    json_put_int(w, ((const int64_t *)value->at)[i]);
  else
    json_put_int(w, (int64_t)number_at(value, i));
}

static void write_numbers(JsonWriter *w, const FormValue *value, int from, int n) {
  json_begin_array(w);
  for (int i = 0; i < n; i++) write_number(w, value, from + i);
  json_end_array(w);
}

static void write_grid(JsonWriter *w, const FormValue *value) {
  json_begin_array(w);
  for (int i = 0; i < value->n; i++) write_numbers(w, value, i * value->columns, value->columns);
  json_end_array(w);
}

static void write_counts(JsonWriter *w, const FormValue *value) {
  json_begin_object(w);
  for (int i = 0; i < value->n; i++) {
    json_key(w, value->name(i));
    write_number(w, value, i);
  }
  json_end_object(w);
}

static void write_texts(JsonWriter *w, const FormValue *value) {
  json_begin_array(w);
  for (int i = 0; i < value->n; i++) json_put_string(w, ((const char *const *)value->at)[i]);
  json_end_array(w);
}

typedef struct Walk {
  JsonWriter *w;
  Arena *arena;
  const void *it, *in;
} Walk;

static void write_list(const Walk *walk, const FormField *field, const FormValue *value) {
  json_begin_array(walk->w);
  for (int i = 0; i < value->n; i++) {
    const char *at = (const char *)value->at + (size_t)i * value->bytes;
    const void *item = at;
    if (field->kind == FORM_REFS) memcpy(&item, at, sizeof item);
    form_write(walk->w, walk->arena, field->form, item, walk->in);
  }
  json_end_array(walk->w);
}

static void write_value(const Walk *walk, const FormField *field, const FormValue *value) {
  JsonWriter *w = walk->w;
  switch (field->kind) {
    case FORM_BOOL:
      return json_put_bool(w, value->yes);
    case FORM_INT:
      return json_put_int(w, value->whole);
    case FORM_NUM:
      return json_put_double(w, value->number);
    case FORM_TEXT:
      return json_put_string(w, value->text);
    case FORM_NUMBERS:
      return write_numbers(w, value, 0, value->n);
    case FORM_TEXTS:
      return write_texts(w, value);
    case FORM_GRID:
      return write_grid(w, value);
    case FORM_COUNTS:
      return write_counts(w, value);
    case FORM_OBJECT:
    case FORM_MEMBERS:
      return form_write(w, walk->arena, field->form, value->at, walk->in);
    case FORM_LIST:
    case FORM_REFS:
      return write_list(walk, field, value);
    case FORM_RAW:
      return value->write(w, walk->it, walk->in, walk->arena);
  }
}

static void look_up(Arena *arena, const Form *form, const void *it, const void *in,
                    FormValue *value) {
  assert(form->n <= FORM_FIELDS_MAX);
  form->values(arena, it, in, value);
}

void form_members(JsonWriter *writer, Arena *arena, const Form *form, const void *it,
                  const void *in) {
  FormValue values[FORM_FIELDS_MAX];
  const Walk walk = {writer, arena, it, in};
  look_up(arena, form, it, in, values);
  for (int i = 0; i < form->n; i++) {
    const FormField *field = &form->field[i];
    const FormValue *value = &values[i];
    if (field->kind == FORM_MEMBERS && value->at)
      form_members(writer, arena, field->form, value->at, in);
    if (field->kind == FORM_MEMBERS || value->is_absent) continue;
    json_key(writer, field->key);
    if (value->is_null)
      json_put_null(writer);
    else
      write_value(&walk, field, value);
  }
}

void form_write(JsonWriter *writer, Arena *arena, const Form *form, const void *it,
                const void *in) {
  if (!it) return json_put_null(writer);
  json_begin_object(writer);
  form_members(writer, arena, form, it, in);
  json_end_object(writer);
}

char *form_document(Arena *arena, const Form *form, const void *it, const void *in) {
  Str out = str_new(arena);
  JsonWriter writer = json_writer(&out);
  json_begin_document(&writer);
  form_members(&writer, arena, form, it, in);
  json_end_object(&writer);
  str_add_char(&out, '\n');
  return out.text;
}
