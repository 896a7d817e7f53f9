// The nearest of a set of names: what "did you mean" says for knobs, keys, GPUs, views and
// commands.
#pragma once
#include "base/diag.h"

// The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`;
// ASCII case is ignored.
int nearest_distance(const char *a, const char *b);

// The name in names[0..n) with the least distance to `text` (the first of equals), or NULL when all
// are farther than half of the longer one's length: no guess is better than a wild one.
const char *nearest_name(const char *text, const char *const *names, int n);

// "there is no view "bank"", with the nearest of the names; where none is near, with all of them:
// "there is no view "xyz": there are explore, loops, …".
void diag_add_unknown(Diags *diags, const char *rule, const char *kind, const char *name,
                      const char *const *names, int n);
