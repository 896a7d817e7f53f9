// A table for people, of objects that have a form (base/form.h): a column names a member.
//
//   static const TextColumn columns[] = {{"id", "target", .least = 15},
//                                        {"boost_mhz", "MHz", "boost", .least = 6, .right = true}};
//
//   target             MHz
//                    boost
//   h200              1980
//
// A column is as wide as its widest cell. What is not known is a dash.
#pragma once
#include "base/form.h"

typedef struct TextColumn {
  const char *key;                                    // of the form; NULL: `text` says it
  const char *heading;                                // in front of all rows
  const char *unit;                                   // under the headings, where a column has one
  int least;                                          // columns of the terminal
  bool right;                                         // the cells end under each other
  const char *(*text)(Arena *arena, const void *it);  // NULL: the member as it is
} TextColumn;

// All columns of a list.
#define TEXT_COLUMNS(list) (list), (int)(sizeof(list) / sizeof *(list))

typedef struct TextTable {
  const Form *form;
  const TextColumn *column;
  int n_columns;
  const char *gap;  // between columns
} TextTable;

// `n` objects of `bytes` bytes each, and `in` as form_write takes it.
void text_table_print(Arena *arena, const TextTable *table, const void *items, size_t bytes, int n,
                      const void *in);
