// A struct with a member of every kind, as JSON and as a row of SQL: tests/golden/told/records.txt
// has what is written of values at the edges of each kind, and what is read, or refused, where each
// member is left out, doubled, or holds each of a list of values.
#include <check.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "base/record_json.h"
#include "base/record_sql.h"
#include "base/str.h"
#include "golden.h"

Suite *suite_told_records(void);

enum { ITEMS_MAX = 3 };
typedef enum Colour { RED, GREEN, BLUE, COLOURS } Colour;
static const char *const colours[] = {"red", "green", "blue"};

typedef struct Point {
  int x;
  double y;
} Point;

typedef struct Plain {
  int whole, count;
  int64_t wide;
  double real, measure, positive;
  const char *text, *maybe_text;
  int code;
} Plain;

typedef struct Nested {
  bool yes;
  double finite;
  Colour colour;
  Point point;
  int ints[2];
  int64_t wides[2];
  int n_colours, n_array, n_list, n_counts;
  Colour some[ITEMS_MAX];
  Point array[ITEMS_MAX];
  const Point *list;
  const uint32_t *counts;
  double lacking;
} Nested;

// 7 is "seven"; 0 has no word.
static const char *write_code(Arena *arena, const void *from) {
  const int value = *(const int *)from;
  return value == 7 ? "seven" : value ? arena_printf(arena, "number %d", value) : NULL;
}
static void read_code(const char *text, void *to) { *(int *)to = str_equal(text, "seven") ? 7 : 1; }
static const RecordCode code = {write_code, read_code};

static const RecordField point_fields[] = {RECORD_FIELD(Point, x, RECORD_INT),
                                           RECORD_FIELD(Point, y, RECORD_DOUBLE)};
static const Record point_record = RECORD_OF(Point, point_fields);

static const RecordField plain_fields[] = {
    RECORD_FIELD(Plain, whole, RECORD_INT),
    RECORD_FIELD(Plain, count, RECORD_COUNT),
    {.key = "wide", .kind = RECORD_INT64, .offset = offsetof(Plain, wide), .since = 2},
    RECORD_FIELD(Plain, real, RECORD_DOUBLE),
    RECORD_FIELD(Plain, measure, RECORD_MEASURE),
    RECORD_FIELD(Plain, positive, RECORD_POSITIVE),
    RECORD_FIELD(Plain, text, RECORD_TEXT),
    {.key = "maybe_text",
     .kind = RECORD_MAYBE_TEXT,
     .offset = offsetof(Plain, maybe_text),
     .since = 3},
    {.key = "code",
     .kind = RECORD_CODE,
     .offset = offsetof(Plain, code),
     .code = &code,
     .since = 3},
};
static const Record plain_record = RECORD_OF(Plain, plain_fields);

static const RecordField nested_fields[] = {
    RECORD_FIELD(Nested, yes, RECORD_BOOL),
    RECORD_FIELD(Nested, finite, RECORD_FINITE),
    {.key = "colour",
     .kind = RECORD_CHOICE,
     .offset = offsetof(Nested, colour),
     .names = colours,
     .n_names = COLOURS},
    RECORD_STRUCT(Nested, point, point_record),
    {.key = "ints", .kind = RECORD_INTS, .offset = offsetof(Nested, ints), .max = 2},
    {.key = "wides", .kind = RECORD_INT64S, .offset = offsetof(Nested, wides), .max = 2},
    {.key = "some",
     .kind = RECORD_CHOICES,
     .offset = offsetof(Nested, some),
     .count_offset = offsetof(Nested, n_colours),
     .max = ITEMS_MAX,
     .names = colours,
     .n_names = COLOURS},
    RECORD_MANY(Nested, RECORD_ARRAY, "array", array, n_array, ITEMS_MAX, &point_record),
    RECORD_MANY(Nested, RECORD_LIST, "list", list, n_list, ITEMS_MAX, &point_record),
    RECORD_MANY(Nested, RECORD_UINT32S, "counts", counts, n_counts, ITEMS_MAX, NULL),
    {.key = "lacking",
     .kind = RECORD_MEASURE,
     .offset = offsetof(Nested, lacking),
     .may_lack = true},
};
static const Record nested_record = RECORD_OF(Nested, nested_fields);

static const char plain_text[] =
    "{\"whole\":-5,\"count\":4,\"wide\":12345678901,\"real\":0.5,\"measure\":0.25,"
    "\"positive\":1.5,\"text\":\"a\",\"maybe_text\":\"b\",\"code\":\"seven\"}";
static const char nested_text[] =
    "{\"yes\":true,\"finite\":2.5,\"colour\":\"green\",\"point\":{\"x\":1,\"y\":2},"
    "\"ints\":[3,4],\"wides\":[5,6],\"some\":[\"blue\",\"red\"],\"array\":[{\"x\":7,\"y\":8}],"
    "\"list\":[{\"x\":9,\"y\":10},{\"x\":11,\"y\":12}],\"counts\":[13,14,15],\"lacking\":16}";

static const char *const values[] = {
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1",
    "0.5",
    "-0.5",
    "1e300",
    "-1e301",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "9007199254740992",
    "9007199254740993",
    "-9007199254740992",
    "-9007199254740994",
    "\"\"",
    "\"red\"",
    "\"grey\"",
    "\"seven\"",
    "\"two\\nlines\"",
    "[]",
    "[1]",
    "[1,-2]",
    "[0,9007199254740993]",
    "[1,2,3]",
    "[1,2,3,4]",
    "[\"red\"]",
    "[\"red\",\"grey\",\"blue\"]",
    "[\"red\",\"red\",\"red\",\"red\"]",
    "{}",
    "{\"x\":1,\"y\":2}",
    "{\"x\":1,\"y\":2,\"z\":3}",
    "[{\"x\":1,\"y\":2}]",
    "[{\"x\":1,\"y\":2},{\"x\":3}]",
    "[{\"x\":1,\"y\":2},{\"x\":3,\"y\":4},{\"x\":5,\"y\":6},{\"x\":7,\"y\":8}]",
};

static void tell_written(Str *out, const Record *record, const void *from) {
  JsonWriter writer = json_writer(out);
  record_write(&writer, record, from);
}

static void tell_read(Arena *arena, Str *out, const Record *record, const char *label,
                      const char *text) {
  Diags diags = diags_new(arena);
  const void *to = record_read_text(arena, text, "told", record, &diags);
  str_printf(out, "  %s: ", label);
  if (to) tell_written(out, record, to);
  for (const Diag *d = diags.first; d; d = d->next) str_printf(out, " %s;", d->text);
  str_add(out, "\n");
}

// The text of a member in a text of one line, up to the next member's key.
static const char *end_of(const char *text, const Record *record, int field) {
  const char *next = NULL;
  if (field + 1 < record->n) {
    Arena *arena = arena_new("key");
    next = strstr(text, arena_printf(arena, ",\"%s\":", record->fields[field + 1].key));
    arena_free(arena);
  }
  return next ? next : text + strlen(text) - 1;
}

// Each member left out, and with each of the values.
static void tell_changes(Arena *arena, Str *out, const Record *record, const char *text) {
  tell_read(arena, out, record, "as it is", text);
  tell_read(arena, out, record, "no object", "[1]");
  tell_read(arena, out, record, "one more", arena_printf(arena, "{\"more\":1,%s", text + 1));
  for (int i = 0; i < record->n; i++) {
    const char *key = record->fields[i].key;
    const char *at = strstr(text, arena_printf(arena, "\"%s\":", key));
    const char *begin = at + strlen(key) + 3, *end = end_of(begin, record, i);
    const int before = (int)(at - text);
    const bool is_last = *end == '}';
    tell_read(arena, out, record, arena_printf(arena, "without %s", key),
              arena_printf(arena, "%.*s%s", is_last ? before - 1 : before, text, end + !is_last));
    for (size_t v = 0; v < sizeof values / sizeof *values; v++)
      tell_read(arena, out, record, arena_printf(arena, "%s %s", key, values[v]),
                arena_printf(arena, "%.*s%s%s", (int)(begin - text), text, values[v], end));
  }
}

static Plain plain_of(double value) {
  const bool is_number = isfinite(value) && fabs(value) < 1e9;
  const int whole = is_number ? (int)value : 0;
  return (Plain){.whole = whole,
                 .count = whole,
                 .wide = whole * INT64_C(1000003),
                 .real = value,
                 .measure = value,
                 .positive = value,
                 .text = whole ? "text" : "",
                 .maybe_text = whole ? "maybe" : NULL,
                 .code = whole};
}

static void tell_row(Arena *arena, Str *out, sqlite3 *db, const Plain *plain) {
  sqlite3_stmt *query = NULL;
  Plain read = {0};
  const char *put =
      arena_printf(arena, "INSERT INTO t (%s) VALUES (%s)", record_sql_names(arena, &plain_record),
                   record_sql_marks(arena, &plain_record));
  ck_assert_int_eq(sqlite3_exec(db, "DELETE FROM t", NULL, NULL, NULL), SQLITE_OK);
  ck_assert_int_eq(sqlite3_prepare_v2(db, put, -1, &query, NULL), SQLITE_OK);
  record_sql_bind(arena, query, 1, &plain_record, plain);
  str_printf(out, "  stored: %s;", sqlite3_step(query) == SQLITE_DONE ? "yes" : sqlite3_errmsg(db));
  sqlite3_finalize(query);
  const char *get =
      arena_printf(arena, "SELECT 1, %s FROM t", record_sql_names(arena, &plain_record));
  ck_assert_int_eq(sqlite3_prepare_v2(db, get, -1, &query, NULL), SQLITE_OK);
  if (sqlite3_step(query) == SQLITE_ROW) {
    record_sql_read(arena, query, 1, &plain_record, &read);
    for (int i = 1; i <= plain_record.n; i++)
      str_printf(out, " %s",
                 sqlite3_column_type(query, i) == SQLITE_NULL
                     ? "NULL"
                     : (const char *)sqlite3_column_text(query, i));
    str_printf(out, "; read: %d %d %lld %g %g %g %s %s %d", read.whole, read.count,
               (long long)read.wide, read.real, read.measure, read.positive,
               read.text ? read.text : "none", read.maybe_text ? read.maybe_text : "none",
               read.code);
  }
  sqlite3_finalize(query);
  str_add(out, "\n");
}

// A row with this value in each column, as another program may have written it.
static void tell_foreign_row(Arena *arena, Str *out, sqlite3 *db, const char *value) {
  sqlite3_stmt *query = NULL;
  Plain read = {0};
  const char *get = arena_printf(arena, "SELECT %s,%s,%s,%s,%s,%s,%s,%s,%s", value, value, value,
                                 value, value, value, value, value, value);
  ck_assert_int_eq(sqlite3_prepare_v2(db, get, -1, &query, NULL), SQLITE_OK);
  ck_assert_int_eq(sqlite3_step(query), SQLITE_ROW);
  record_sql_read(arena, query, 0, &plain_record, &read);
  str_printf(out, "  %s is read: %d %d %lld %g %g %g %s %s %d\n", value, read.whole, read.count,
             (long long)read.wide, read.real, read.measure, read.positive,
             read.text ? read.text : "none", read.maybe_text ? read.maybe_text : "none", read.code);
  sqlite3_finalize(query);
}

static void tell_sql(Arena *arena, Str *out) {
  static const double numbers[] = {0, 1, -1, 7, 0.25, -0.5, 1e300, 9.9e299, 1e301, NAN};
  static const char *const foreign[] = {"NULL",       "0",          "-1",     "5",
                                        "2147483647", "2147483648", "0.5",    "-0.5",
                                        "1e300",      "9.9e299",    "'a\nb'", "'seven'"};
  sqlite3 *db = NULL;
  ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
  for (int version = 0; version < 5; version++)
    str_printf(out, "version %d: %s; added: %s\n", version,
               record_sql_columns(arena, &plain_record, version),
               record_sql_added(arena, &plain_record, version, "t"));
  const char *create =
      arena_printf(arena, "CREATE TABLE t (%s)", record_sql_columns(arena, &plain_record, 9));
  ck_assert_int_eq(sqlite3_exec(db, create, NULL, NULL, NULL), SQLITE_OK);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    const Plain plain = plain_of(numbers[i]);
    str_printf(out, "%g\n", numbers[i]);
    tell_row(arena, out, db, &plain);
  }
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
    tell_foreign_row(arena, out, db, foreign[i]);
  sqlite3_close(db);
}

START_TEST(records_are_as_reviewed) {
  static const double numbers[] = {0, -0.5, -1, 1, 0.5, 1e300, INFINITY, -INFINITY, NAN};
  Arena *arena = arena_new("records");
  Str out = str_new(arena);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    const Plain plain = plain_of(numbers[i]);
    const Nested nested = {.finite = numbers[i], .lacking = numbers[i], .point.x = (int)i};
    if (isfinite(plain.real)) tell_written(&out, &plain_record, &plain);
    tell_written(&out, &nested_record, &nested);
    str_add(&out, "\n");
  }
  tell_changes(arena, &out, &plain_record, plain_text);
  tell_changes(arena, &out, &nested_record, nested_text);
  tell_sql(arena, &out);
  golden_check("told/records.txt", out.text);
  arena_free(arena);
}
END_TEST

Suite *suite_told_records(void) {
  Suite *suite = suite_create("told_records");
  TCase *tcase = tcase_create("records");
  tcase_add_test(tcase, records_are_as_reviewed);
  suite_add_tcase(suite, tcase);
  return suite;
}
