// Makes the forms of the file that FORM_FILE names: read twice, once for the functions that look
// values up, once for the tables of members. No `#pragma once`: a file may make several.
//
//   #define FORM_FILE "tui/views/memory/chip.form"
//   #include "base/form_make.h"
//
// FORM makes `static const Form NAME_form`; PUBLIC_FORM one that a header declares.
#include <math.h>

#include "base/form.h"

#define FORM_NUMBERS_OF(items)       \
  _Generic((items)[0], int           \
           : FORM_OF_INT, int64_t    \
           : FORM_OF_INT64, uint32_t \
           : FORM_OF_UINT32, uint8_t \
           : FORM_OF_UINT8, int8_t   \
           : FORM_OF_INT8, bool      \
           : FORM_OF_BOOL, double    \
           : FORM_OF_DOUBLE)

// A member by a kind of record_json.h, whose mark for "not known" is null.
#define OF_KIND(kind, key, help, value) OF_##kind(key, help, value)
#define OF_BOOL BOOL
#define OF_TEXT TEXT
#define OF_MAYBE_TEXT MAYBE_TEXT
#define OF_MAYBE_WORD MAYBE_WORD
#define OF_INT INT
#define OF_INT64 INT
#define OF_COUNT(key, help, value) MAYBE_INT(key, help, (value) >= 0, value)
#define OF_MEASURE(key, help, value) MAYBE_NUM(key, help, (value) >= 0 ? (value) : (double)NAN)
#define OF_POSITIVE(key, help, value) MAYBE_NUM(key, help, (value) > 0 ? (value) : (double)NAN)

// ---- values -------------------------------------------------------------------------------------

#define FORM(name, type, help)                                                                 \
  static void name##_values(Arena *arena, const void *from, const void *above, const void *in, \
                            FormValue *value) {                                                \
    const type *it = from;                                                                     \
    (void)arena;                                                                               \
    (void)above;                                                                               \
    (void)in;                                                                                  \
    (void)it;
#define PUBLIC_FORM FORM
#define IN(type, name) const type *name = in;
#define UP(type, name) const type *name = above;
#define LET(...) __VA_ARGS__;
#define END(name) }
#define END_PUBLIC(name) }

#define INT(key, help, ...) *value++ = (FormValue){.whole = (int64_t)(__VA_ARGS__)};
#define NUM(key, help, ...) *value++ = (FormValue){.number = (double)(__VA_ARGS__)};
#define BOOL(key, help, ...) *value++ = (FormValue){.yes = (__VA_ARGS__)};
#define TEXT(key, help, ...) *value++ = (FormValue){.text = (__VA_ARGS__)};
#define WORD TEXT
#define MAYBE_NUM NUM
#define MAYBE_TEXT TEXT
#define MAYBE_WORD TEXT
#define MAYBE_INT(key, help, known, ...) \
  *value++ = (known) ? (FormValue){.whole = (int64_t)(__VA_ARGS__)} : (FormValue){.is_null = true};
#define MAYBE_BOOL(key, help, known, ...) \
  *value++ = (known) ? (FormValue){.yes = (__VA_ARGS__)} : (FormValue){.is_null = true};
#define WHEN_INT(key, help, when, ...) \
  *value++ = (when) ? (FormValue){.whole = (int64_t)(__VA_ARGS__)} : (FormValue){.is_absent = true};
#define WHEN_NUM(key, help, when, ...) \
  *value++ = (when) ? (FormValue){.number = (double)(__VA_ARGS__)} : (FormValue){.is_absent = true};
#define WHEN_BOOL(key, help, when, ...) \
  *value++ = (when) ? (FormValue){.yes = (__VA_ARGS__)} : (FormValue){.is_absent = true};
#define WHEN_TEXT(key, help, when, ...) \
  *value++ = (when) ? (FormValue){.text = (__VA_ARGS__)} : (FormValue){.is_absent = true};
#define INTS(key, help, items, count)              \
  *value++ = (FormValue){.at = (items),            \
                         .n = (int)(count),        \
                         .bytes = sizeof *(items), \
                         .numbers = FORM_NUMBERS_OF(items)};
#define NUMS INTS
#define MAYBE_INTS(key, help, known, items, count)                    \
  *value++ = (known) ? (FormValue){.at = (items),                     \
                                   .n = (int)(count),                 \
                                   .bytes = sizeof *(items),          \
                                   .numbers = FORM_NUMBERS_OF(items)} \
                     : (FormValue){.is_null = true};
#define WHEN_INTS(key, help, when, items, count)                     \
  *value++ = (when) ? (FormValue){.at = (items),                     \
                                  .n = (int)(count),                 \
                                  .bytes = sizeof *(items),          \
                                  .numbers = FORM_NUMBERS_OF(items)} \
                    : (FormValue){.is_absent = true};
#define WHEN_TEXTS(key, help, when, items, count) \
  *value++ =                                      \
      (when) ? (FormValue){.at = (items), .n = (int)(count)} : (FormValue){.is_absent = true};
#define TEXTS(key, help, items, count) *value++ = (FormValue){.at = (items), .n = (int)(count)};
#define GRID(key, help, items, rows, column_count)       \
  *value++ = (FormValue){.at = (items),                  \
                         .n = (int)(rows),               \
                         .columns = (int)(column_count), \
                         .bytes = sizeof *(items),       \
                         .numbers = FORM_NUMBERS_OF(items)};
#define WHEN_GRID(key, help, when, items, rows, column_count)        \
  *value++ = (when) ? (FormValue){.at = (items),                     \
                                  .n = (int)(rows),                  \
                                  .columns = (int)(column_count),    \
                                  .bytes = sizeof *(items),          \
                                  .numbers = FORM_NUMBERS_OF(items)} \
                    : (FormValue){.is_absent = true};
#define MAYBE_COUNTS(key, help, known, name_of, items, count) \
  *value++ = (FormValue){.is_null = !(known),                 \
                         .at = (items),                       \
                         .name = (name_of),                   \
                         .n = (int)(count),                   \
                         .bytes = sizeof *(items),            \
                         .numbers = FORM_NUMBERS_OF(items)};
#define COUNTS(key, help, name_of, items, count)   \
  *value++ = (FormValue){.at = (items),            \
                         .name = (name_of),        \
                         .n = (int)(count),        \
                         .bytes = sizeof *(items), \
                         .numbers = FORM_NUMBERS_OF(items)};
#define PAIRS(key, help, items, count) *value++ = (FormValue){.at = (items), .n = (int)(count)};
#define OBJECT(key, help, form, ...) *value++ = (FormValue){.at = (__VA_ARGS__)};
#define MAYBE_OBJECT OBJECT
#define RECORD OBJECT
#define MAYBE_RECORD OBJECT
#define WHEN_RECORD WHEN_OBJECT
#define WHEN_OBJECT(key, help, when, form, ...) \
  *value++ = (when) ? (FormValue){.at = (__VA_ARGS__)} : (FormValue){.is_absent = true};
#define LIST(key, help, form, items, count) \
  *value++ = (FormValue){.at = (items), .n = (int)(count), .bytes = sizeof *(items)};
#define REFS LIST
#define WHEN_LIST(key, help, when, form, items, count)                                        \
  *value++ = (when) ? (FormValue){.at = (items), .n = (int)(count), .bytes = sizeof *(items)} \
                    : (FormValue){.is_absent = true};
#define WHEN_REFS WHEN_LIST
#define KEYED(key, help, name_of, form, items, count) \
  *value++ = (FormValue){                             \
      .at = (items), .key_name = (name_of), .n = (int)(count), .bytes = sizeof *(items)};
#define MEMBERS(form, ...) *value++ = (FormValue){.at = (__VA_ARGS__)};
#define WHEN_MEMBERS MEMBERS
#define RAW(key, help, function) *value++ = (FormValue){.write = (function)};

#include FORM_FILE

#include "base/form_unmake.h"

// ---- tables -------------------------------------------------------------------------------------

#define FORM(name, type, says)                 \
  static const char name##_form_help[] = says; \
  static const FormField name##_fields[] = {
#define PUBLIC_FORM FORM
#define IN(type, name)
#define UP(type, name)
#define LET(...)
#define FORM_TABLE(name)                                                                         \
  {                                                                                              \
#name, name##_form_help, name##_fields, (int)(sizeof name##_fields / sizeof *name##_fields), \
        name##_values                                                                            \
  }
#define END(name) \
  }               \
  ;               \
  static const Form name##_form = FORM_TABLE(name);
#define END_PUBLIC(name) \
  }                      \
  ;                      \
  const Form name##_form = FORM_TABLE(name);
#define FORM_ROW(key, kind, presence, of, are_whole, help) \
  {#key, FORM_##kind, FORM_##presence, of, are_whole, help, NULL},
#define FORM_RECORD_ROW(key, presence, of, help) \
  {#key, FORM_RECORD, FORM_##presence, NULL, false, help, &of},

#define INT(key, help, ...) FORM_ROW(key, INT, ALWAYS, NULL, true, help)
#define NUM(key, help, ...) FORM_ROW(key, NUM, ALWAYS, NULL, false, help)
#define BOOL(key, help, ...) FORM_ROW(key, BOOL, ALWAYS, NULL, false, help)
#define TEXT(key, help, ...) FORM_ROW(key, TEXT, ALWAYS, NULL, false, help)
#define WORD(key, help, ...) FORM_ROW(key, WORD, ALWAYS, NULL, false, help)
#define MAYBE_WORD(key, help, ...) FORM_ROW(key, WORD, MAYBE, NULL, false, help)
#define MAYBE_INT(key, help, ...) FORM_ROW(key, INT, MAYBE, NULL, true, help)
#define MAYBE_NUM(key, help, ...) FORM_ROW(key, NUM, MAYBE, NULL, false, help)
#define MAYBE_BOOL(key, help, ...) FORM_ROW(key, BOOL, MAYBE, NULL, false, help)
#define MAYBE_TEXT(key, help, ...) FORM_ROW(key, TEXT, MAYBE, NULL, false, help)
#define WHEN_INT(key, help, ...) FORM_ROW(key, INT, WHEN, NULL, true, help)
#define WHEN_NUM(key, help, ...) FORM_ROW(key, NUM, WHEN, NULL, false, help)
#define WHEN_BOOL(key, help, ...) FORM_ROW(key, BOOL, WHEN, NULL, false, help)
#define WHEN_TEXT(key, help, ...) FORM_ROW(key, TEXT, WHEN, NULL, false, help)
#define INTS(key, help, ...) FORM_ROW(key, NUMBERS, ALWAYS, NULL, true, help)
#define NUMS(key, help, ...) FORM_ROW(key, NUMBERS, ALWAYS, NULL, false, help)
#define MAYBE_INTS(key, help, ...) FORM_ROW(key, NUMBERS, MAYBE, NULL, true, help)
#define WHEN_INTS(key, help, ...) FORM_ROW(key, NUMBERS, WHEN, NULL, true, help)
#define WHEN_TEXTS(key, help, ...) FORM_ROW(key, TEXTS, WHEN, NULL, false, help)
#define TEXTS(key, help, ...) FORM_ROW(key, TEXTS, ALWAYS, NULL, false, help)
#define GRID(key, help, ...) FORM_ROW(key, GRID, ALWAYS, NULL, false, help)
#define WHEN_GRID(key, help, ...) FORM_ROW(key, GRID, WHEN, NULL, false, help)
#define COUNTS(key, help, ...) FORM_ROW(key, COUNTS, ALWAYS, NULL, false, help)
#define MAYBE_COUNTS(key, help, ...) FORM_ROW(key, COUNTS, MAYBE, NULL, false, help)
#define PAIRS(key, help, ...) FORM_ROW(key, PAIRS, ALWAYS, NULL, false, help)
#define OBJECT(key, help, form, ...) FORM_ROW(key, OBJECT, ALWAYS, &form, false, help)
#define MAYBE_OBJECT(key, help, form, ...) FORM_ROW(key, OBJECT, MAYBE, &form, false, help)
#define WHEN_OBJECT(key, help, when, form, ...) FORM_ROW(key, OBJECT, WHEN, &form, false, help)
#define RECORD(key, help, of, ...) FORM_RECORD_ROW(key, ALWAYS, of, help)
#define MAYBE_RECORD(key, help, of, ...) FORM_RECORD_ROW(key, MAYBE, of, help)
#define WHEN_RECORD(key, help, when, of, ...) FORM_RECORD_ROW(key, WHEN, of, help)
#define LIST(key, help, form, ...) FORM_ROW(key, LIST, ALWAYS, &form, false, help)
#define REFS(key, help, form, ...) FORM_ROW(key, REFS, ALWAYS, &form, false, help)
#define WHEN_LIST(key, help, when, form, ...) FORM_ROW(key, LIST, WHEN, &form, false, help)
#define WHEN_REFS(key, help, when, form, ...) FORM_ROW(key, REFS, WHEN, &form, false, help)
#define KEYED(key, help, name, form, ...) FORM_ROW(key, KEYED, ALWAYS, &form, false, help)
#define MEMBERS(form, ...) {NULL, FORM_MEMBERS, FORM_ALWAYS, &form, false, "", NULL},
#define WHEN_MEMBERS(form, ...) {NULL, FORM_MEMBERS, FORM_WHEN, &form, false, "", NULL},
#define RAW(key, help, ...) FORM_ROW(key, RAW, ALWAYS, NULL, false, help)

#include FORM_FILE

#include "base/form_unmake.h"
#undef OF_KIND
#undef OF_BOOL
#undef OF_TEXT
#undef OF_MAYBE_TEXT
#undef OF_MAYBE_WORD
#undef OF_INT
#undef OF_INT64
#undef OF_COUNT
#undef OF_MEASURE
#undef OF_POSITIVE
#undef FORM_FILE
#undef FORM_NUMBERS_OF
#undef FORM_TABLE
#undef FORM_ROW
#undef FORM_RECORD_ROW
