// Worked example, eight floats of b that the assembler reads as two LDS.128:
//
//   {"number":4,"text":"b <- B_s  LDS.128","op":"lds128","wavefronts":4,…,"accesses":"compiled",
//    "forms":[{"op":"lds128","executions_per_slab":32,"wavefronts":4,"ideal":4}],
//    "written":{"op":"lds32","executions_per_slab":128,"wavefronts":1,"ideal":1}}
#include "model/readings/cost/site_json.h"

#include <math.h>

#include "model/ir/buffer.h"
#include "model/ir/stmt.h"

static int limiter_count(const Resources *resources) {
  int n = 0;
  while (resources->limiters[n]) n++;
  return n;
}

// [n_sites] without measured clocks.
static const SiteSaid *sites_said(Arena *arena, const Model *model) {
  SiteSaid *said = ARENA_ARRAY(arena, SiteSaid, model->n_sites);
  for (int i = 0; i < model->n_sites; i++) said[i] = (SiteSaid){&model->site[i], NAN};
  return said;
}

#define FORM_FILE "model/readings/cost/site_json.form"
#include "base/form_make.h"
