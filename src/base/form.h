// Forms: what an object says to other programs, declared once. JSON and its JSON Schema follow.
//
// A form stands in a file NAME.form, a row for each member, and is made by form_make.h:
//
//   FORM(slice, ChipSlice, "what a CTA fetches of an operand")
//   INT(first, "first row, or column", it->first)
//   INT(bytes, "bytes", it->bytes)
//   END(slice)
//
//   form_write(&writer, arena, &slice_form, &chip->slice, NULL)       {"first":0,"bytes":8192}
//   form_schema(&writer, &slice_form) {"type":"object","properties":{"first":{"type":"integer",…
//
// `it` is the object, `in` what form_write was given beside it (the document, where a member needs
// more than its own object), `arena` a place for texts made on the way. A member's row names the
// kind of its value:
//
// clang-format off
//   INT NUM BOOL TEXT (key, help, value)                never null
//   WORD (key, help, value)                             a text that is a word of ours: bare in CSV
//   MAYBE_NUM MAYBE_TEXT MAYBE_WORD (key, help, value)  null where it is NaN or infinite; NULL
//   OF_KIND (kind, key, help, value)                    null by a kind of base/record_json.h
//   MAYBE_INT MAYBE_BOOL (key, help, known, value)      null where `known` is false
//   WHEN_INT WHEN_NUM WHEN_BOOL WHEN_TEXT (key, help, when, value)    no such key where `when` is not
//   INTS NUMS TEXTS (key, help, items, n)               an array
//   MAYBE_INTS (key, help, known, items, n)             null where `known` is false
//   WHEN_INTS WHEN_TEXTS (key, help, when, items, n)    no such key where `when` is not
//   GRID (key, help, items, rows, columns)              an array of arrays of numbers
//   WHEN_GRID (key, help, when, items, rows, columns)
//   COUNTS (key, help, name, items, n)                  an object {name(i): items[i]}
//   MAYBE_COUNTS (key, help, known, name, items, n)      null where `known` is false
//   PAIRS (key, help, items, n)                         an object of texts; items: FormPair *
//   OBJECT MAYBE_OBJECT (key, help, form, object)       a form of its own; null where it is NULL
//   WHEN_OBJECT (key, help, when, form, object)
//   RECORD MAYBE_RECORD (key, help, record, object)     members of a table (base/record_json.h)
//   WHEN_RECORD (key, help, when, record, object)
//   LIST (key, help, form, items, n)                    an array of objects; items: T *
//   REFS (key, help, form, items, n)                    the same; items: T **, NULL ones left out
//   WHEN_LIST WHEN_REFS (key, help, when, form, items, n)
//   KEYED (key, help, name, form, items, n)             an object {name(&items[i]): items[i]}
//   MEMBERS (form, object)                              members of another form, in this very object
//   WHEN_MEMBERS (form, object)                         the same; none where it is NULL
//   IN (type, name)                                     first row: `in`, as what it is
//   UP (type, name)                                     likewise: the object that has this one
//   LET (declaration)                                   a name for the rows below: LET(int n = it->n)
//   RAW (key, help, write)                              what no form can say: write(w, it, in, arena)
// clang-format on
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/record_json.h"

typedef struct Form Form;

typedef enum FormKind {
  FORM_BOOL,
  FORM_INT,
  FORM_NUM,
  FORM_TEXT,
  FORM_WORD,
  FORM_NUMBERS,
  FORM_TEXTS,
  FORM_GRID,
  FORM_COUNTS,
  FORM_PAIRS,
  FORM_OBJECT,
  FORM_RECORD,
  FORM_LIST,
  FORM_REFS,
  FORM_KEYED,
  FORM_MEMBERS,
  FORM_RAW,
} FormKind;

// Whether a member is always there, may be null, or may be left out.
typedef enum FormPresence { FORM_ALWAYS, FORM_MAYBE, FORM_WHEN } FormPresence;

// How the elements of an array of numbers lie in memory.
typedef enum FormNumbers {
  FORM_OF_NONE,
  FORM_OF_INT,
  FORM_OF_INT64,
  FORM_OF_UINT32,
  FORM_OF_UINT8,
  FORM_OF_INT8,
  FORM_OF_BOOL,
  FORM_OF_DOUBLE,
} FormNumbers;

typedef const char *FormName(int i);
typedef const char *FormKey(const void *item);
typedef struct FormPair {
  const char *key, *text;
} FormPair;
typedef void FormRaw(JsonWriter *writer, const void *it, const void *in, Arena *arena);

typedef struct FormValue {
  bool is_null, is_absent;
  union {
    bool yes;
    int64_t whole;
    double number;
    const char *text;
    FormRaw *write;
    struct {
      const void *at;
      union {
        FormName *name;     // of COUNTS
        FormKey *key_name;  // of KEYED
      };
      int n, columns;
      size_t bytes;  // of an element
      FormNumbers numbers;
    };
  };
} FormValue;

typedef struct FormField {
  const char *key;  // NULL: the members of `form`, in place
  FormKind kind;
  FormPresence presence;
  const Form *form;
  bool whole;  // numbers of an array are integers
  const char *help;
  const Record *record;
} FormField;

struct Form {
  const char *name, *help;
  const FormField *field;
  int n;
  void (*values)(Arena *arena, const void *it, const void *up, const void *in, FormValue *value);
};

enum { FORM_FIELDS_MAX = 128 };

// The object with its braces; null where `it` is NULL.
void form_write(JsonWriter *writer, Arena *arena, const Form *form, const void *it, const void *in);
// {"schema":"gemmview/1", members}: a whole document; the other one with the end of the line.
void form_write_document(JsonWriter *writer, Arena *arena, const Form *form, const void *it,
                         const void *in);
char *form_document(Arena *arena, const Form *form, const void *it, const void *in);
// A member by its name, of the form or of those in it, with its value; NULL: there is none.
const FormField *form_find(Arena *arena, const Form *form, const char *key, const void *it,
                           const void *in, FormValue *value);
// Lines of CSV: the members that `columns` names ("when,user,gpu"), of the form or of those in it.
// An unknown value is an empty cell, true is 1.
void form_csv_heading(FILE *file, const char *columns);
void form_csv_row(FILE *file, Arena *arena, const Form *form, const char *columns, const void *it,
                  const void *in);
// JSON Schema, draft 2020-12, of what form_write writes; of form_document if `is_document`.
void form_schema(JsonWriter *writer, const Form *form, bool is_document);
