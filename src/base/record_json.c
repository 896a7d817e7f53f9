// A table of fields walked in two directions.
//
// A field knows where its value lies (offset), what it is (kind) and, for lists, where their length
// lies. Writing appends the members in the table's order; reading asks for each key and checks that
// no other is there. Worked example, the table of record_json.h on a Timing of {.median_ns = 1500}:
//
//   {"median_ns":1500,"min_ns":null, …}      min_ns was 0, which RECORD_POSITIVE calls not known
//
// A length read from outside is bounded by the field's `max` before anything is allocated for it.
#include "base/record_json.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { KEYS_MAX = 40 };
static const int64_t whole_max = INT64_C(1) << 53;

typedef struct Place {
  Arena *arena;
  const RecordField *field;
  char *base;  // of the struct
  Diags *diags;
} Place;

static int count_of(const RecordField *field, const char *base) {
  int count;
  memcpy(&count, base + field->count_offset, sizeof count);
  return count;
}

static void write_list(JsonWriter *w, const RecordField *field, const char *base) {
  const char *items = base + field->offset;
  if (field->kind == RECORD_LIST) memcpy(&items, base + field->offset, sizeof items);
  json_begin_array(w);
  for (int i = 0; i < count_of(field, base); i++)
    record_write(w, field->record, items + (size_t)i * field->record->bytes);
  json_end_array(w);
}

static void write_numbers(JsonWriter *w, const RecordField *field, const char *base) {
  const char *at = base + field->offset;
  const uint32_t *counts = NULL;
  bool listed = field->kind == RECORD_UINT32S || field->kind == RECORD_CHOICES;
  int n = listed ? count_of(field, base) : field->max;
  if (field->kind == RECORD_UINT32S) memcpy(&counts, at, sizeof counts);
  json_begin_array(w);
  for (int i = 0; i < n; i++) {
    if (counts) json_put_int(w, counts[i]);
    if (field->kind == RECORD_INTS) json_put_int(w, ((const int *)(const void *)at)[i]);
    if (field->kind == RECORD_INT64S) json_put_int(w, ((const int64_t *)(const void *)at)[i]);
    if (field->kind == RECORD_CHOICES)
      json_put_string(w, field->names[((const int *)(const void *)at)[i]]);
  }
  json_end_array(w);
}

static void write_double(JsonWriter *w, RecordKind kind, double value) {
  bool unknown =
      (kind == RECORD_MEASURE && !(value >= 0)) || (kind == RECORD_POSITIVE && !(value > 0));
  if (unknown)
    json_put_null(w);
  else
    json_put_double(w, value);
}

static void write_code(JsonWriter *w, const RecordField *field, const void *at) {
  Arena *scratch = arena_new("code");
  json_put_string(w, field->code->write(scratch, at));
  arena_free(scratch);
}

static void write_field(JsonWriter *w, const RecordField *field, const char *base) {
  const void *at = base + field->offset;
  json_key(w, field->key);
  switch (field->kind) {
    case RECORD_BOOL:
      json_put_bool(w, *(const bool *)at);
      break;
    case RECORD_INT:
      json_put_int(w, *(const int *)at);
      break;
    case RECORD_COUNT:
      if (*(const int *)at < 0)
        json_put_null(w);
      else
        json_put_int(w, *(const int *)at);
      break;
    case RECORD_INT64:
      json_put_int(w, *(const int64_t *)at);
      break;
    case RECORD_DOUBLE:
    case RECORD_FINITE:
    case RECORD_MEASURE:
    case RECORD_POSITIVE:
      write_double(w, field->kind, *(const double *)at);
      break;
    case RECORD_TEXT:
    case RECORD_MAYBE_TEXT:
      json_put_string(w, *(const char *const *)at);
      break;
    case RECORD_CHOICE:
      json_put_string(w, field->names[*(const int *)at]);
      break;
    case RECORD_CODE:
      write_code(w, field, at);
      break;
    case RECORD_OBJECT:
      record_write(w, field->record, at);
      break;
    case RECORD_INTS:
    case RECORD_INT64S:
    case RECORD_CHOICES:
    case RECORD_UINT32S:
      write_numbers(w, field, base);
      break;
    case RECORD_ARRAY:
    case RECORD_LIST:
      write_list(w, field, base);
      break;
  }
}

void record_write(JsonWriter *writer, const Record *record, const void *from) {
  json_begin_object(writer);
  for (int i = 0; i < record->n; i++) write_field(writer, &record->fields[i], from);
  json_end_object(writer);
}

void record_write_text(Str *out, const Record *record, const void *from) {
  JsonWriter writer = json_writer(out);
  record_write(&writer, record, from);
}

static void read_choice(const Place *place, const JsonValue *value, int *to) {
  const char *name = "";
  if (!json_read_string(value, &name, place->diags)) return;
  for (int i = 0; i < place->field->n_names; i++)
    if (str_equal(name, place->field->names[i])) {
      *to = i;
      return;
    }
  Str choices = str_new(place->arena);
  for (int i = 0; i < place->field->n_names; i++)
    str_printf(&choices, "%s%s", i ? ", " : "", place->field->names[i]);
  json_diag(place->diags, value, "expected one of %s", choices.text);
}

// The length of a list, or −1 with a finding.
static int read_length(const Place *place, const JsonValue *array, bool exactly) {
  int n = json_count(array), max = place->field->max;
  bool fits = json_kind(array) == JSON_ARRAY && (exactly ? n == max : n <= max);
  if (!fits)
    json_diag(place->diags, array, "expected an array of %s%d", exactly ? "" : "at most ", max);
  return fits ? n : -1;
}

static void read_numbers(const Place *place, const JsonValue *array) {
  const RecordField *field = place->field;
  bool listed = field->kind == RECORD_UINT32S || field->kind == RECORD_CHOICES;
  int n = read_length(place, array, !listed);
  if (n < 0) return;
  void *at = place->base + field->offset;
  if (listed) memcpy(place->base + field->count_offset, &n, sizeof n);
  uint32_t *counts =
      field->kind == RECORD_UINT32S && n > 0 ? ARENA_ARRAY(place->arena, uint32_t, n) : NULL;
  if (field->kind == RECORD_UINT32S) memcpy(at, &counts, sizeof counts);
  for (int i = 0; i < n; i++) {
    const JsonValue *item = json_at(array, i);
    int64_t count = 0;
    if (counts && json_read_int64(item, 0, UINT32_MAX, &count, place->diags))
      counts[i] = (uint32_t)count;
    if (field->kind == RECORD_INTS)
      json_read_int(item, INT32_MIN, INT32_MAX, (int *)at + i, place->diags);
    if (field->kind == RECORD_INT64S)
      json_read_int64(item, -whole_max, whole_max, (int64_t *)at + i, place->diags);
    if (field->kind == RECORD_CHOICES) read_choice(place, item, (int *)at + i);
  }
}

static bool read_record(Arena *arena, const JsonValue *object, const Record *record, void *to,
                        Diags *diags);

static void read_list(const Place *place, const JsonValue *array) {
  const RecordField *field = place->field;
  int n = read_length(place, array, false);
  if (n < 0) return;
  char *items = place->base + field->offset;
  if (field->kind == RECORD_LIST) {
    items = arena_alloc(place->arena, (size_t)n * field->record->bytes);
    memcpy(place->base + field->offset, &items, sizeof items);
  }
  memcpy(place->base + field->count_offset, &n, sizeof n);
  for (int i = 0; i < n; i++)
    read_record(place->arena, json_at(array, i), field->record,
                items + (size_t)i * field->record->bytes, place->diags);
}

static void read_maybe(const Place *place, const JsonValue *value) {
  void *at = place->base + place->field->offset;
  RecordKind kind = place->field->kind;
  bool unknown = json_is_null(value);
  if (kind == RECORD_COUNT) {
    *(int *)at = -1;
    if (!unknown) json_read_int(value, 0, INT32_MAX, at, place->diags);
  } else if (kind == RECORD_MAYBE_TEXT) {
    if (!unknown) json_read_string(value, at, place->diags);
  } else if (kind == RECORD_CODE) {
    const char *text = NULL;
    if (!unknown && json_read_string(value, &text, place->diags))
      place->field->code->read(text, at);
  } else {
    *(double *)at = kind == RECORD_MEASURE ? -1 : kind == RECORD_FINITE ? NAN : 0;
    if (!unknown) json_read_double(value, at, place->diags);
  }
}

static void read_field(const Place *place, const JsonValue *value) {
  void *at = place->base + place->field->offset;
  switch (place->field->kind) {
    case RECORD_BOOL:
      json_read_bool(value, at, place->diags);
      break;
    case RECORD_INT:
      json_read_int(value, INT32_MIN, INT32_MAX, at, place->diags);
      break;
    case RECORD_INT64:
      json_read_int64(value, -whole_max, whole_max, at, place->diags);
      break;
    case RECORD_DOUBLE:
      json_read_double(value, at, place->diags);
      break;
    case RECORD_COUNT:
    case RECORD_FINITE:
    case RECORD_MEASURE:
    case RECORD_POSITIVE:
    case RECORD_MAYBE_TEXT:
    case RECORD_CODE:
      read_maybe(place, value);
      break;
    case RECORD_TEXT:
      json_read_string(value, at, place->diags);
      break;
    case RECORD_CHOICE:
      read_choice(place, value, at);
      break;
    case RECORD_OBJECT:
      read_record(place->arena, value, place->field->record, at, place->diags);
      break;
    case RECORD_INTS:
    case RECORD_INT64S:
    case RECORD_CHOICES:
    case RECORD_UINT32S:
      read_numbers(place, value);
      break;
    case RECORD_ARRAY:
    case RECORD_LIST:
      read_list(place, value);
      break;
  }
}

// Fills `to` (zeroed before); false when there were findings.
static bool read_record(Arena *arena, const JsonValue *object, const Record *record, void *to,
                        Diags *diags) {
  int before = diags->count;
  const char *keys[KEYS_MAX];
  memset(to, 0, record->bytes);
  if (json_kind(object) != JSON_OBJECT) {
    json_diag(diags, object, "expected an object");
    return false;
  }
  assert(record->n <= KEYS_MAX);
  for (int i = 0; i < record->n; i++) keys[i] = record->fields[i].key;
  json_check_keys(object, keys, record->n, diags);
  for (int i = 0; i < record->n; i++) {
    Place place = {arena, &record->fields[i], to, diags};
    const JsonValue *value = json_object_get(object, record->fields[i].key);
    if (value)
      read_field(&place, value);
    else if (record->fields[i].may_lack && record->fields[i].kind == RECORD_MEASURE)
      *(double *)(void *)((char *)to + record->fields[i].offset) = -1;
    else
      json_diag(diags, object, "\"%s\" is missing", record->fields[i].key);
  }
  return diags->count == before;
}

void *record_read_text(Arena *arena, const char *text, const char *what, const Record *record,
                       Diags *diags) {
  const JsonValue *root = json_parse(arena, text, strlen(text), diags, what);
  if (!root) return NULL;
  void *to = arena_alloc(arena, record->bytes);
  return read_record(arena, root, record, to, diags) ? to : NULL;
}
