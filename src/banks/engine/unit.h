// The types of elements by name, with their sizes in bytes.
#pragma once
#include "base/diag.h"

typedef struct Unit {
  const char *name;
  int bytes;
} Unit;

extern const Unit unit_table[];
extern const int unit_count;

int unit_find(const char *name);  // its row; -1: there is none
// Its bytes; 0 after a finding of rule "unit" with the nearest name.
int unit_bytes(const char *name, Diags *diags);
