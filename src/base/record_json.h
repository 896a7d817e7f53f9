// Structs as JSON objects, by one table of fields for both directions.
//
//   static const RecordField timing_fields[] = {
//       {"median_ns", RECORD_POSITIVE, offsetof(Timing, median_ns)}, …};
//   const Record timing_record = {timing_fields, n, sizeof(Timing)};
//
// Reading is strict: every key must be there, no other key may be, and a value of the wrong kind is
// a finding of rule "json". An unknown value is null in the text and the kind's own mark in memory.
#pragma once
#include <stddef.h>

#include "base/arena.h"
#include "base/json.h"

typedef enum RecordKind {
  RECORD_BOOL,
  RECORD_INT,                             // int
  RECORD_COUNT,                           // int; −1 is null
  RECORD_INT64,                           // int64_t, |value| <= 2^53
  RECORD_DOUBLE,                          // finite
  RECORD_FINITE,                          // double; NaN and infinities are null, null is NaN
  RECORD_MEASURE,                         // double; anything below 0 is null, null is −1
  RECORD_POSITIVE,                        // double; anything but > 0 is null, null is 0
  RECORD_TEXT,                            // const char *, never NULL
  RECORD_MAYBE_TEXT,                      // const char *, NULL is null
  RECORD_MAYBE_WORD = RECORD_MAYBE_TEXT,  // the same, of ours: bare in CSV (base/form.h)
  RECORD_CHOICE,                          // an enum, by its name in names[max]
  RECORD_CODE,                            // a value that `code` writes as one text; NULL is null
  RECORD_OBJECT,                          // a struct inside this one, by `record`
  RECORD_INTS,                            // int[max], all of them
  RECORD_INT64S,                          // int64_t[max], all of them
  RECORD_CHOICES,  // an enum array inside, `max` long, the count (int) at count_offset
  RECORD_ARRAY,    // a struct array inside, likewise
  RECORD_LIST,     // const T *: structs in the arena, the count at count_offset, at most `max`
  RECORD_UINT32S,  // const uint32_t *: likewise
} RecordKind;

typedef struct Record Record;

typedef struct RecordCode {
  const char *(*write)(Arena *arena, const void *from);  // NULL: there is nothing to say
  void (*read)(const char *text, void *to);              // `to` is zeroed before
} RecordCode;

typedef struct RecordField {
  const char *key;
  RecordKind kind;
  size_t offset;
  const Record *record;
  size_t count_offset;
  int max;
  const char *const *names;
  int n_names;
  const char *help;
  const RecordCode *code;
  int since;      // version of a file that first had the member (record_sql.h)
  bool may_lack;  // a MEASURE that older texts do not have: it is not known
} RecordField;

struct Record {
  const RecordField *fields;
  int n;
  size_t bytes;
};

// Rows of such tables: RECORD_FIELD(Timing, median_ns, RECORD_POSITIVE) is the field above. What
// the member means may stand behind, for the JSON Schema of a document that has it (base/form.h).
#define RECORD_FIELD(T, NAME, KIND, ...) \
  { .key = #NAME, .kind = KIND, .offset = offsetof(T, NAME), .help = "" __VA_ARGS__ }
#define RECORD_STRUCT(T, NAME, RECORD, ...)                                                \
  {                                                                                        \
    .key = #NAME, .kind = RECORD_OBJECT, .offset = offsetof(T, NAME), .record = &(RECORD), \
    .help = "" __VA_ARGS__                                                                 \
  }
// `ITEMS`, which the text calls `KEY`, of which there are `COUNT`, at most `MAX`.
#define RECORD_MANY(T, KIND, KEY, ITEMS, COUNT, MAX, RECORD, ...)               \
  {                                                                             \
    .key = KEY, .kind = KIND, .offset = offsetof(T, ITEMS), .record = (RECORD), \
    .count_offset = offsetof(T, COUNT), .max = MAX, .help = "" __VA_ARGS__      \
  }
#define RECORD_OF(T, FIELDS) \
  { FIELDS, sizeof FIELDS / sizeof *FIELDS, sizeof(T) }

void record_write(JsonWriter *writer, const Record *record, const void *from);
// The same as a text of its own.
void record_write_text(Str *out, const Record *record, const void *from);
// Fills a struct of the record from a text; NULL when there were findings. `what` names the
// document.
void *record_read_text(Arena *arena, const char *text, const char *what, const Record *record,
                       Diags *diags);
