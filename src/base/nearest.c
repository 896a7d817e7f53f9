// Edit distance with swaps of neighbours (the restricted Damerau form), three rows of a table.
//
//   "unrol" → "unroll" 1     "stagte" → "stage" 1     "h20" → "h200" 1, "h100" 2
//
// Names longer than NAME_MAX_LENGTH are no typing slips and are not compared at all.
#include "base/nearest.h"

#include <ctype.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"

enum { NAME_MAX_LENGTH = 64 };

static int fold(char c) { return tolower((unsigned char)c); }

int nearest_distance(const char *a, const char *b) {
  size_t na = strnlen(a, NAME_MAX_LENGTH + 1), nb = strnlen(b, NAME_MAX_LENGTH + 1);
  if (na > NAME_MAX_LENGTH || nb > NAME_MAX_LENGTH) return INT_MAX;
  int rows[3][NAME_MAX_LENGTH + 1];
  int *before = rows[0], *above = rows[1], *row = rows[2];
  for (size_t j = 0; j <= nb; j++) above[j] = (int)j;
  for (size_t i = 1; i <= na; i++) {
    row[0] = (int)i;
    for (size_t j = 1; j <= nb; j++) {
      int replaced = above[j - 1] + (fold(a[i - 1]) != fold(b[j - 1]));
      row[j] = min_int(replaced, 1 + min_int(above[j], row[j - 1]));
      if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) && fold(a[i - 2]) == fold(b[j - 1]))
        row[j] = min_int(row[j], before[j - 2] + 1);
    }
    int *oldest = before;
    before = above;
    above = row;
    row = oldest;
  }
  return above[nb];
}

const char *nearest_name(const char *text, const char *const *names, int n) {
  const char *best = NULL;
  int best_distance = INT_MAX;
  for (int i = 0; i < n; i++) {
    int distance = nearest_distance(text, names[i]);
    size_t longer = strlen(text) > strlen(names[i]) ? strlen(text) : strlen(names[i]);
    if (distance == INT_MAX || (size_t)distance > longer / 2 || distance >= best_distance) continue;
    best = names[i];
    best_distance = distance;
  }
  return best;
}

void diag_add_unknown(Diags *diags, const char *rule, const char *kind, const char *name,
                      const char *const *names, int n) {
  const char *nearest = nearest_name(name, names, n);
  Str all = str_new(diags->arena);
  for (int i = 0; i < n && !nearest; i++)
    str_printf(&all, "%s%s", i ? ", " : ": there are ", names[i]);
  diag_add(diags, rule, "there is no %s \"%s\"%s", kind, str_sanitise(diags->arena, name), all.text)
      ->nearest = nearest;
}
