// Attributes as compilers print them, read to a tree: MLIR's and Python's spelling of one thing.
//
//   #ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [1, 8], …}>}>
//   SliceLayout(dim=1, parent=BlockedLayout([1, 8], …))
//   #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
//
// An object has a name ("blocked", without what stands before its last dot) and items, each with a
// key or, where none is written, by its place. `#name` alone is what `alias` says it is.
#pragma once
#include "banks/layouts/notation_scan.h"

typedef enum AttrKind { ATTR_NUMBER, ATTR_WORD, ATTR_LIST, ATTR_OBJECT } AttrKind;

enum { ATTR_DEPTH_MAX = 12, ATTR_ITEMS_MAX = 64 };

typedef struct Attr {
  AttrKind kind;
  const char *key;   // NULL: by its place
  const char *name;  // of an object, or the word
  long long number;
  int n;
  const struct Attr *item;  // of an object or list
} Attr;

// The meaning of "#name": the text of its encoding; NULL where it is not known.
typedef struct AttrNames {
  const char *(*text_of)(const void *owner, const char *name);
  const void *owner;
} AttrNames;

// One attribute from where `scan` stands. NULL after a finding. `names` may be NULL.
const Attr *attr_scan(Scan *scan, const AttrNames *names);
// The whole text.
const Attr *attr_parse(Arena *arena, const char *text, const AttrNames *names, Diags *diags);

// The item with one of two keys, or the one at `place` that has no key (-1: none); NULL.
const Attr *attr_find(const Attr *object, const char *key, const char *other, int place);
