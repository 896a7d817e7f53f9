// A strict scan, then cJSON, then our own tree.
//
// json_scan.c refuses what the grammar refuses; cJSON then parses a text that is known to be good,
// and its tree is copied into the arena in the order of the text. The copy is where duplicate keys
// and overflowing numbers are found, since each value there has a line and a column:
//
//   {"sm": 1,\n "sm": 2}   →  gpus.json:2:8: sm: the key "sm" is here twice
//
// Lines count from 1, columns too, in characters. Nothing of cJSON outlives json_parse.
#include "base/json.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/die.h"
#include "base/json_scan.h"
#include "base/nearest.h"
#include "base/unicode.h"

// The largest whole number up to which every whole number is a double.
#define WHOLE_MAX 9007199254740992.0
enum { SHOWN_LENGTH_MAX = 40, TEXT_BYTES_MAX = 256 << 20 };

struct JsonValue {
  JsonKind kind;
  int line, column;
  const char *what;  // the document
  const JsonValue *parent;
  const char *key;  // in an object
  int index;        // in an array
  bool boolean;
  double number;
  const char *string;
  int count;
  JsonValue *items;
};

typedef struct Reader {
  Arena *arena;
  Diags *diags;
  const char *what;
  JsonScan scan;
  int next;  // the next of scan.starts
  size_t at;
  int line, column;  // of `at`
} Reader;

static void advance_to(Reader *r, size_t offset) {
  for (; r->at < offset; r->at++) {
    char c = r->scan.text[r->at];
    if (c == '\n') {
      r->line++;
      r->column = 1;
    } else if (!utf8_continues(c)) {
      r->column++;
    }
  }
}

static JsonKind kind_of(const cJSON *node) {
  switch (node->type & 0xFF) {
    case cJSON_False:
    case cJSON_True:
      return JSON_BOOL;
    case cJSON_Number:
      return JSON_NUMBER;
    case cJSON_String:
      return JSON_STRING;
    case cJSON_Array:
      return JSON_ARRAY;
    case cJSON_Object:
      return JSON_OBJECT;
    default:
      return JSON_NULL;
  }
}

static int compare_keys(const void *a, const void *b) {
  const JsonValue *left = *(const JsonValue *const *)a, *right = *(const JsonValue *const *)b;
  int order = strcmp(left->key, right->key);
  return order ? order : left->index - right->index;
}

static bool keys_differ(Reader *r, const JsonValue *object) {
  if (object->count < 2) return true;
  const JsonValue **sorted = ARENA_ARRAY(r->arena, const JsonValue *, object->count);
  for (int i = 0; i < object->count; i++) sorted[i] = &object->items[i];
  qsort(sorted, (size_t)object->count, sizeof *sorted, compare_keys);
  for (int i = 1; i < object->count; i++) {
    if (!str_equal(sorted[i - 1]->key, sorted[i]->key)) continue;
    json_diag(r->diags, sorted[i], "the key is given twice, first on line %d", sorted[i - 1]->line);
    return false;
  }
  return true;
}

static bool copy_value(Reader *r, const cJSON *node, JsonValue *value);

static bool copy_items(Reader *r, const cJSON *node, JsonValue *value) {
  for (const cJSON *c = node->child; c; c = c->next) value->count++;
  value->items = ARENA_ARRAY(r->arena, JsonValue, value->count);
  int i = 0;
  for (const cJSON *c = node->child; c; c = c->next, i++) {
    JsonValue *item = &value->items[i];
    item->parent = value;
    item->index = i;
    if (value->kind == JSON_OBJECT) item->key = arena_strdup(r->arena, c->string);
    if (!copy_value(r, c, item)) return false;
  }
  return value->kind != JSON_OBJECT || keys_differ(r, value);
}

static bool copy_value(Reader *r, const cJSON *node, JsonValue *value) {
  assert(r->next < r->scan.count);
  advance_to(r, r->scan.starts[r->next++]);
  value->what = r->what;
  value->line = r->line;
  value->column = r->column;
  value->kind = kind_of(node);
  if (value->kind == JSON_BOOL) value->boolean = (node->type & 0xFF) == cJSON_True;
  if (value->kind == JSON_STRING) value->string = arena_strdup(r->arena, node->valuestring);
  if (value->kind == JSON_NUMBER) {
    value->number = node->valuedouble;
    if (isfinite(value->number)) return true;
    json_diag(r->diags, value, "the number is too large for a double; at most 1.8e308");
    return false;
  }
  return value->kind < JSON_ARRAY || copy_items(r, node, value);
}

static const JsonValue *build_tree(Reader *r) {
  cJSON *tree = cJSON_ParseWithLength(r->scan.text, r->scan.n + 1);
  if (!tree) die("out of memory: a JSON text of %zu bytes", r->scan.n);
  JsonValue *root = ARENA_NEW(r->arena, JsonValue);
  bool good = copy_value(r, tree, root);
  cJSON_Delete(tree);
  return good ? root : NULL;
}

const JsonValue *json_parse(Arena *arena, const char *text, size_t n, Diags *diags,
                            const char *what) {
  Reader r = {
      .arena = arena, .diags = diags, .what = str_sanitise(arena, what), .line = 1, .column = 1};
  if (n > TEXT_BYTES_MAX) {
    diag_add(diags, "json", "%s: %zu bytes; at most %d are read", r.what, n, TEXT_BYTES_MAX);
    return NULL;
  }
  r.scan = (JsonScan){
      .arena = arena, .text = arena_strndup(arena, text, n), .n = n, .depth_max = JSON_DEPTH_MAX};
  if (json_scan(&r.scan)) return build_tree(&r);
  advance_to(&r, r.scan.at);
  diag_add(diags, "json", "%s:%d:%d: %s", r.what, r.line, r.column, r.scan.error);
  return NULL;
}

JsonKind json_kind(const JsonValue *value) { return value ? value->kind : JSON_NULL; }
bool json_is_null(const JsonValue *value) { return json_kind(value) == JSON_NULL; }
int json_count(const JsonValue *value) { return value ? value->count : 0; }

const JsonValue *json_at(const JsonValue *value, int index) {
  return value && index >= 0 && index < value->count ? &value->items[index] : NULL;
}

const char *json_key_at(const JsonValue *object, int index) {
  const JsonValue *item = json_at(object, index);
  return item ? item->key : NULL;
}

const JsonValue *json_object_get(const JsonValue *object, const char *key) {
  if (json_kind(object) != JSON_OBJECT) return NULL;
  for (int i = 0; i < object->count; i++)
    if (str_equal(object->items[i].key, key)) return &object->items[i];
  return NULL;
}

static void add_path(Str *out, const JsonValue *value) {
  if (!value->parent) return;
  add_path(out, value->parent);
  if (value->key)
    str_printf(out, "%s%s", out->length ? "." : "", str_sanitise(out->arena, value->key));
  else
    str_printf(out, "[%d]", value->index);
}

char *json_path(Arena *arena, const JsonValue *value) {
  Str out = str_new(arena);
  if (value) add_path(&out, value);
  return out.text;
}

Diag *json_diag(Diags *diags, const JsonValue *value, const char *format, ...) {
  assert(value);
  Str sentence = str_new(diags->arena);
  va_list args;
  va_start(args, format);
  str_vprintf(&sentence, format, args);
  va_end(args);
  const char *path = json_path(diags->arena, value);
  return diag_add(diags, "json", "%s:%d:%d: %s%s%s", value->what, value->line, value->column, path,
                  *path ? ": " : "", sentence.text);
}

// The value as a sentence shows it: "x", 3.5, null, an array.
static const char *shown(Arena *arena, const JsonValue *value) {
  Str out = str_new(arena);
  JsonWriter writer = json_writer(&out);
  if (value->kind == JSON_ARRAY) return "an array";
  if (value->kind == JSON_OBJECT) return "an object";
  json_put_value(&writer, value);
  if (out.length <= SHOWN_LENGTH_MAX) return out.text;
  return arena_printf(arena, "%.*s…", (int)utf8_cut(out.text, SHOWN_LENGTH_MAX), out.text);
}

static bool is_kind(const JsonValue *value, JsonKind kind, Diags *diags) {
  static const char *const names[] = {"null",     "true or false", "a number",
                                      "a string", "an array",      "an object"};
  if (!value) return false;
  if (value->kind == kind) return true;
  json_diag(diags, value, "%s is not %s", shown(diags->arena, value), names[kind]);
  return false;
}

bool json_read_bool(const JsonValue *value, bool *out, Diags *diags) {
  if (!is_kind(value, JSON_BOOL, diags)) return false;
  *out = value->boolean;
  return true;
}

bool json_read_double(const JsonValue *value, double *out, Diags *diags) {
  if (!is_kind(value, JSON_NUMBER, diags)) return false;
  *out = value->number;
  return true;
}

bool json_read_string(const JsonValue *value, const char **out, Diags *diags) {
  if (!is_kind(value, JSON_STRING, diags)) return false;
  *out = value->string;
  return true;
}

bool json_read_int64(const JsonValue *value, int64_t lo, int64_t hi, int64_t *out, Diags *diags) {
  if (!is_kind(value, JSON_NUMBER, diags)) return false;
  double number = value->number;
  Diag *diag = NULL;
  if (floor(number) != number || fabs(number) > WHOLE_MAX)
    diag = json_diag(diags, value, "%s is not a whole number from %lld to %lld",
                     shown(diags->arena, value), (long long)lo, (long long)hi);
  else if ((int64_t)number < lo || (int64_t)number > hi)
    diag = json_diag(diags, value, "%s is outside %lld to %lld", shown(diags->arena, value),
                     (long long)lo, (long long)hi);
  if (!diag) {
    *out = (int64_t)number;
    return true;
  }
  double nearest = number < (double)lo   ? (double)lo
                   : number > (double)hi ? (double)hi
                                         : round(number);
  diag->nearest = arena_printf(diags->arena, "%.0f", nearest);
  return false;
}

bool json_read_int(const JsonValue *value, int lo, int hi, int *out, Diags *diags) {
  int64_t wide;
  if (!json_read_int64(value, lo, hi, &wide, diags)) return false;
  *out = (int)wide;
  return true;
}

// The member, or NULL after saying that it is missing.
static const JsonValue *require(const JsonValue *object, const char *key, Diags *diags) {
  if (!object) return NULL;
  if (!is_kind(object, JSON_OBJECT, diags)) return NULL;
  const JsonValue *value = json_object_get(object, key);
  if (!json_is_null(value)) return value;
  if (value)
    json_diag(diags, value, "null, but a value is needed");
  else
    json_diag(diags, object, "the key \"%s\" is missing", key);
  return NULL;
}

// The member; NULL when absent or null.
static const JsonValue *optional(const JsonValue *object, const char *key) {
  const JsonValue *value = json_object_get(object, key);
  return json_is_null(value) ? NULL : value;
}

bool json_require_bool(const JsonValue *object, const char *key, bool *out, Diags *diags) {
  return json_read_bool(require(object, key, diags), out, diags);
}

bool json_require_int(const JsonValue *object, const char *key, int lo, int hi, int *out,
                      Diags *diags) {
  return json_read_int(require(object, key, diags), lo, hi, out, diags);
}

bool json_require_double(const JsonValue *object, const char *key, double *out, Diags *diags) {
  return json_read_double(require(object, key, diags), out, diags);
}

bool json_require_string(const JsonValue *object, const char *key, const char **out, Diags *diags) {
  return json_read_string(require(object, key, diags), out, diags);
}

const JsonValue *json_require_array(const JsonValue *object, const char *key, Diags *diags) {
  const JsonValue *value = require(object, key, diags);
  return is_kind(value, JSON_ARRAY, diags) ? value : NULL;
}

const JsonValue *json_require_object(const JsonValue *object, const char *key, Diags *diags) {
  const JsonValue *value = require(object, key, diags);
  return is_kind(value, JSON_OBJECT, diags) ? value : NULL;
}

bool json_optional_bool(const JsonValue *object, const char *key, bool *out, Diags *diags) {
  const JsonValue *value = optional(object, key);
  return !value || json_read_bool(value, out, diags);
}

bool json_optional_int(const JsonValue *object, const char *key, int lo, int hi, int *out,
                       Diags *diags) {
  const JsonValue *value = optional(object, key);
  return !value || json_read_int(value, lo, hi, out, diags);
}

bool json_optional_int64(const JsonValue *object, const char *key, int64_t lo, int64_t hi,
                         int64_t *out, Diags *diags) {
  const JsonValue *value = optional(object, key);
  return !value || json_read_int64(value, lo, hi, out, diags);
}

bool json_optional_string(const JsonValue *object, const char *key, const char **out,
                          Diags *diags) {
  const JsonValue *value = optional(object, key);
  return !value || json_read_string(value, out, diags);
}

bool json_check_keys(const JsonValue *object, const char *const *known, int n, Diags *diags) {
  bool good = true;
  for (int i = 0; i < json_count(object); i++) {
    const char *key = json_key_at(object, i);
    bool found = false;
    for (int k = 0; key && k < n && !found; k++) found = str_equal(key, known[k]);
    if (found) continue;
    good = false;
    Diag *diag = json_diag(diags, json_at(object, i), "unknown key");
    diag->nearest = key ? nearest_name(key, known, n) : NULL;
  }
  return good;
}

void json_put_value(JsonWriter *w, const JsonValue *value) {
  Diags none = diags_new(w->str->arena);
  bool truth = false;
  double number = 0;
  const char *text = NULL;
  JsonKind kind = json_kind(value);
  if (kind == JSON_NULL) json_put_null(w);
  if (kind == JSON_BOOL && json_read_bool(value, &truth, &none)) json_put_bool(w, truth);
  if (kind == JSON_NUMBER && json_read_double(value, &number, &none)) json_put_double(w, number);
  if (kind == JSON_STRING && json_read_string(value, &text, &none)) json_put_string(w, text);
  if (kind < JSON_ARRAY) return;
  if (kind == JSON_OBJECT)
    json_begin_object(w);
  else
    json_begin_array(w);
  for (int i = 0; i < json_count(value); i++) {
    if (kind == JSON_OBJECT) json_key(w, json_key_at(value, i));
    json_put_value(w, json_at(value, i));
  }
  if (kind == JSON_OBJECT)
    json_end_object(w);
  else
    json_end_array(w);
}
