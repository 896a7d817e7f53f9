// Worked example, a number that is not known: a clock of -1 is null.
#include "model/readings/cost/cost_form.h"

#include <math.h>

static double known(double value) { return value >= 0 ? value : (double)NAN; }

static int count_limiters(const Resources *r) {
  int n = 0;
  while (r->limiters[n]) n++;
  return n;
}

#define FORM_FILE "model/readings/cost/cost_form.form"
#include "base/form_make.h"
