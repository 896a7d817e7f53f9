// The functions behind the rows of fact.def, and what they share.
#pragma once
#include "model/lessons/fact.h"

#define FACT(name, arguments, unit, kind, origin, help) FactCompute fact_##name;
#include "model/lessons/fact.def"

// A whole number within lo … hi; false after a finding that calls it `what`.
bool fact_int(const char *text, int64_t lo, int64_t hi, const char *what, int64_t *out,
              Diags *diags);
// The access to shared memory that `text` names; NULL after a finding with the nearest one.
const Site *fact_find_site(const FactScene *scene, const char *text, Diags *diags);
// The first argument's, where its wavefronts have a count; NULL after a finding.
const Site *fact_counted_site(const FactScene *scene, const FactArgs *args, Diags *diags);
