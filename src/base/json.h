// JSON, read strictly and written on one line.
//
// Reading turns a text into a const tree in an arena, or into one diagnostic of rule "json" that
// names the document, line and column. Refused, beyond what the grammar refuses: duplicate keys,
// bytes after the document, ill-formed UTF-8, NUL (raw or escaped), a byte order mark, lone
// surrogates, numbers that overflow a double, nesting deeper than JSON_DEPTH_MAX. Keys are
// case-sensitive.
//
//   const JsonValue *root = json_parse(arena, text, n, &diags, "gpus.json");
//   int sms = 0;
//   if (root && json_require_int(root, "sm_count", 1, 1024, &sms, &diags)) …
//
// Getters add a diagnostic of rule "json" such as
//   gpus.json:12:5: gpus[3].sm_count: "x" is not a number
// and return false; they never touch *out then. NULL may be passed wherever a value is expected: a
// missing parent was reported when it was asked for, so its members stay silent.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

enum { JSON_DEPTH_MAX = 64 };

typedef enum JsonKind {
  JSON_NULL,
  JSON_BOOL,
  JSON_NUMBER,
  JSON_STRING,
  JSON_ARRAY,
  JSON_OBJECT,
} JsonKind;

typedef struct JsonValue JsonValue;

// `what` names the document in messages ("gpus.json", "reply"); it is copied. `text` need not be
// terminated and may be released after the call. NULL after adding one diagnostic.
const JsonValue *json_parse(Arena *arena, const char *text, size_t n, Diags *diags,
                            const char *what);

JsonKind json_kind(const JsonValue *value);  // JSON_NULL for NULL
bool json_is_null(const JsonValue *value);   // true for NULL and for null

// Elements of an array, members of an object; 0 for everything else.
int json_count(const JsonValue *value);
const JsonValue *json_at(const JsonValue *value, int index);  // NULL when there is none
const char *json_key_at(const JsonValue *object, int index);  // NULL when there is none
const JsonValue *json_object_get(const JsonValue *object, const char *key);  // NULL when absent

// "gpus[3].sm_count"; "" for the document itself.
char *json_path(Arena *arena, const JsonValue *value);
// Adds "gpus.json:12:5: gpus[3].sm_count: <sentence>": for rules of the caller's own.
Diag *json_diag(Diags *diags, const JsonValue *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Reads one value and checks its type and range. An int must be whole and within lo … hi; the
// diagnostic carries the nearest end of the range.
bool json_read_bool(const JsonValue *value, bool *out, Diags *diags);
bool json_read_int(const JsonValue *value, int lo, int hi, int *out, Diags *diags);
bool json_read_int64(const JsonValue *value, int64_t lo, int64_t hi, int64_t *out, Diags *diags);
bool json_read_double(const JsonValue *value, double *out, Diags *diags);
bool json_read_string(const JsonValue *value, const char **out, Diags *diags);

// A member that must be there: absent and null are diagnostics.
bool json_require_bool(const JsonValue *object, const char *key, bool *out, Diags *diags);
bool json_require_int(const JsonValue *object, const char *key, int lo, int hi, int *out,
                      Diags *diags);
bool json_require_double(const JsonValue *object, const char *key, double *out, Diags *diags);
bool json_require_string(const JsonValue *object, const char *key, const char **out, Diags *diags);
const JsonValue *json_require_array(const JsonValue *object, const char *key, Diags *diags);
const JsonValue *json_require_object(const JsonValue *object, const char *key, Diags *diags);

// A member that may be absent or null: then *out keeps its default and true is returned; false only
// when it is there and wrong.
bool json_optional_bool(const JsonValue *object, const char *key, bool *out, Diags *diags);
bool json_optional_int(const JsonValue *object, const char *key, int lo, int hi, int *out,
                       Diags *diags);
bool json_optional_int64(const JsonValue *object, const char *key, int64_t lo, int64_t hi,
                         int64_t *out, Diags *diags);
bool json_optional_string(const JsonValue *object, const char *key, const char **out, Diags *diags);

// A diagnostic with the nearest known key for every member whose key is not one of the `n` in
// `known`; true when there is none.
bool json_check_keys(const JsonValue *object, const char *const *known, int n, Diags *diags);

// Writing: one line without blanks, appended to a Str. Commas and colons take care of themselves;
// calling out of order (a value where a key must come) is an assertion.
//
//   JsonWriter w = json_writer(&out);
//   json_begin_object(&w);
//   json_key(&w, "ways");  json_put_int(&w, 4);      or   json_member_int(&w, "ways", 4);
//   json_end_object(&w);                             out.text: {"ways":4}
typedef struct JsonWriter {
  Str *str;
  int depth;
  bool after_key;
  unsigned char kind[JSON_DEPTH_MAX];  // JSON_ARRAY or JSON_OBJECT at each open level
  bool filled[JSON_DEPTH_MAX];         // something was written at that level
} JsonWriter;

JsonWriter json_writer(Str *str);
// The text of the member "schema" of every document.
#define JSON_DOCUMENT_SCHEMA "gemmview/1"
// The object that a whole document is: its first member says the schema that it keeps to.
void json_begin_document(JsonWriter *writer);
void json_begin_object(JsonWriter *writer);
void json_end_object(JsonWriter *writer);
void json_begin_array(JsonWriter *writer);
void json_end_array(JsonWriter *writer);
void json_key(JsonWriter *writer, const char *key);

// Ill-formed UTF-8 becomes U+FFFD; controls, DEL and C1 are escaped; a NULL string is null.
void json_put_string(JsonWriter *writer, const char *text);
void json_put_int(JsonWriter *writer, int64_t value);
// The shortest text that reads back as the same double; NaN and infinities are null.
void json_put_double(JsonWriter *writer, double value);
void json_put_bool(JsonWriter *writer, bool value);
void json_put_null(JsonWriter *writer);
// A value that was parsed before, rewritten on one line.
void json_put_value(JsonWriter *writer, const JsonValue *value);

void json_member_string(JsonWriter *writer, const char *key, const char *text);
void json_member_int(JsonWriter *writer, const char *key, int64_t value);
void json_member_double(JsonWriter *writer, const char *key, double value);
void json_member_bool(JsonWriter *writer, const char *key, bool value);
