// The picture beside the time line: another state's, the same schedule without overlap, or what was
// measured.
#include "kernels/toolchain/emit_plan.h"
#include "model/readings/time/timeline_measured.h"
#include "model/schedules/sequential.h"
#include "tui/views/time/pipeline.h"

static void put_beside(PipelineOwn *own, const Model *model, const char *title) {
  const Timeline *timeline =
      timeline_run(own->arena, model, NULL, &(TimelineOptions){.pair = true});
  own->beside = pipeline_lanes(own->arena, timeline, false, false);
  own->beside.title = title;
}

// Stamps belong to a text; what was traced is held against this one's.
static void put_measured(Session *session, PipelineOwn *own) {
  const Picture *picture = session->doc.now.picture;
  const TracedBlock *traced = results_traced(&session->background.results, picture->key);
  Diags diags = diags_new(own->arena);
  if (!traced) return;
  const Timeline *timeline = timeline_measured(own->arena, picture->model->program,
                                               emit_traced(own->arena, picture->model),
                                               traced->result.warp, traced->result.n_warps, &diags);
  if (!timeline) own->no_beside = diags_text(own->arena, &diags);
  if (!timeline) return;
  own->beside = pipeline_lanes(own->arena, timeline, false, false);
  own->beside.title =
      arena_printf(own->arena, "measured here, %s", trace_where(own->arena, &traced->result));
}

void pipeline_make_beside(Session *session, PipelineOwn *own) {
  own->no_beside = NULL;
  if (session->doc.comparing) {
    put_beside(own, session->doc.then.picture->model,
               arena_printf(own->arena, "A %s", session->doc.then_name));
    return;
  }
  if (own->mode == PIPELINE_MEASURED) put_measured(session, own);
  if (own->mode != PIPELINE_SEQUENTIAL) return;
  Schedule alone = session->doc.now.pictured;
  const char *why;
  const char *change = schedule_sequential(own->arena, &session->doc.targets, &alone, &why);
  if (!change) {
    own->no_beside = why;
    return;
  }
  put_beside(own, model_build(own->arena, &session->doc.targets, &alone), change);
}
