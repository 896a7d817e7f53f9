// An access as data: the same keys wherever it is written.
//
//   {"number":4,"site":4,"text":"b <- B_s  LDS.128",…,"addr_bytes":[0,…],"addr":[0,…]}
//
// Two keys are older names, kept for a version beside those that replace them: `site` is `number`,
// `addr` is `addr_bytes`.
#pragma once
#include "base/form.h"
#include "model/readings/model.h"

typedef struct SiteSaid {
  const Site *site;
  double clocks_measured;  // of one access on the GPU at hand; NaN: not timed
} SiteSaid;

// An access to shared memory. `number` is its place in program order; wavefronts, ideal, conflicts
// and ways are of the form with the most clocks, `forms` has all of them, `written` what the
// program says. An access without a count has null.
extern const Form site_form;          // of SiteSaid
extern const Form sites_form;         // of Model: "sites", all of them, nothing measured
extern const Form global_sites_form;  // of Model: "global_sites", the accesses to global memory
extern const Form limiters_form;      // of Resources: "limiters", all that keep a block off an SM
