// The pipeline view as data: the estimated timeline event by event, what was left out of it, and
// what stands beside.
#include <math.h>

#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/stmt.h"
#include "tui/frame/view.h"
#include "tui/views/time/pipeline.h"

enum { JSON_EVENTS_MAX = 4096 };

static const Timeline *timeline_of(const Session *session) {
  const PipelineOwn *own = view_own(session, &pipeline_view);
  return own->now.timeline;
}

static const char *text_or_null(const char *text) { return *text ? text : NULL; }

static const char *symptoms(Arena *arena, const PipelineVerdict *verdict) {
  char *seen = ARENA_ARRAY(arena, char, SYMPTOMS_BYTES);
  return verdict->name ? breakage_symptoms(seen, verdict->id) : NULL;
}

static double clocks_beside(const PipelineOwn *own, bool measured) {
  const Timeline *beside = own->beside.timeline;
  return beside && beside->measured == measured ? beside->all_clocks : (double)NAN;
}

#define FORM_FILE "tui/views/time/pipeline_data.form"
#include "base/form_make.h"
