// A site as data: the same keys wherever it is written.
#pragma once
#include "base/json.h"
#include "model/readings/model.h"

// Members of an object that the caller has opened. `number` is its place in program order (`site`
// is the same under its older name); wavefronts, ideal, conflicts and ways are of the form with the
// most clocks, `forms` has all of them, `written` what the program says. What has no count is null.
void site_put_json(JsonWriter *writer, const Site *site);
