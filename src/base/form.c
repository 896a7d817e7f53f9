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
    case FORM_OF_INT8:
      return ((const int8_t *)value->at)[i];
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

static void write_pairs(JsonWriter *w, const FormValue *value) {
  const FormPair *pair = value->at;
  json_begin_object(w);
  for (int i = 0; i < value->n; i++) json_member_string(w, pair[i].key, pair[i].text);
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
  const void *in;
} Walk;

static void write_members(const Walk *walk, const Form *form, const void *it, const void *up);

static void write_object(const Walk *walk, const Form *form, const void *it, const void *up) {
  if (!it) return json_put_null(walk->w);
  json_begin_object(walk->w);
  write_members(walk, form, it, up);
  json_end_object(walk->w);
}

static void write_list(const Walk *walk, const FormField *field, const FormValue *value,
                       const void *up) {
  json_begin_array(walk->w);
  for (int i = 0; i < value->n; i++) {
    const char *at = (const char *)value->at + (size_t)i * value->bytes;
    const void *item = at;
    if (field->kind == FORM_REFS) memcpy(&item, at, sizeof item);
    if (item) write_object(walk, field->form, item, up);
  }
  json_end_array(walk->w);
}

static void write_keyed(const Walk *walk, const FormField *field, const FormValue *value,
                        const void *up) {
  json_begin_object(walk->w);
  for (int i = 0; i < value->n; i++) {
    const char *item = (const char *)value->at + (size_t)i * value->bytes;
    json_key(walk->w, value->key_name(item));
    write_object(walk, field->form, item, up);
  }
  json_end_object(walk->w);
}

// `it`: the object that has the member.
static void write_value(const Walk *walk, const FormField *field, const FormValue *value,
                        const void *it) {
  JsonWriter *w = walk->w;
  switch (field->kind) {
    case FORM_BOOL:
      return json_put_bool(w, value->yes);
    case FORM_INT:
      return json_put_int(w, value->whole);
    case FORM_NUM:
      return json_put_double(w, value->number);
    case FORM_TEXT:
    case FORM_WORD:
      return json_put_string(w, value->text);
    case FORM_NUMBERS:
      return write_numbers(w, value, 0, value->n);
    case FORM_TEXTS:
      return write_texts(w, value);
    case FORM_GRID:
      return write_grid(w, value);
    case FORM_COUNTS:
      return write_counts(w, value);
    case FORM_PAIRS:
      return write_pairs(w, value);
    case FORM_KEYED:
      return write_keyed(walk, field, value, it);
    case FORM_OBJECT:
    case FORM_MEMBERS:
      return write_object(walk, field->form, value->at, it);
    case FORM_RECORD:
      return value->at ? record_write(w, field->record, value->at) : json_put_null(w);
    case FORM_LIST:
    case FORM_REFS:
      return write_list(walk, field, value, it);
    case FORM_RAW:
      return value->write(w, it, walk->in, walk->arena);
  }
}

static void write_member(const Walk *walk, const FormField *field, const FormValue *value,
                         const void *it) {
  if (field->kind == FORM_MEMBERS) {
    if (value->at) write_members(walk, field->form, value->at, it);
    return;
  }
  if (value->is_absent) return;
  json_key(walk->w, field->key);
  if (value->is_null)
    json_put_null(walk->w);
  else
    write_value(walk, field, value, it);
}

static void write_members(const Walk *walk, const Form *form, const void *it, const void *up) {
  FormValue values[FORM_FIELDS_MAX];
  assert(form->n <= FORM_FIELDS_MAX);
  form->values(walk->arena, it, up, walk->in, values);
  for (int i = 0; i < form->n; i++) write_member(walk, &form->field[i], &values[i], it);
}

// Its members, into the object that is open.
static void form_members(JsonWriter *writer, Arena *arena, const Form *form, const void *it,
                         const void *in) {
  const Walk walk = {writer, arena, in};
  write_members(&walk, form, it, NULL);
}

void form_write(JsonWriter *writer, Arena *arena, const Form *form, const void *it,
                const void *in) {
  const Walk walk = {writer, arena, in};
  write_object(&walk, form, it, NULL);
}

void form_write_document(JsonWriter *writer, Arena *arena, const Form *form, const void *it,
                         const void *in) {
  json_begin_document(writer);
  form_members(writer, arena, form, it, in);
  json_end_object(writer);
}

char *form_document(Arena *arena, const Form *form, const void *it, const void *in) {
  Str out = str_new(arena);
  JsonWriter writer = json_writer(&out);
  form_write_document(&writer, arena, form, it, in);
  str_add_char(&out, '\n');
  return out.text;
}
