// The array of the access under the cursor as a slab for view `swizzle`.
//
// Its accesses are the recorded ones: a row for the patterns of one line that came equally often.
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "tui/views/own/own_subject.h"
#include "tui/views/own/own_work.h"

// Recorded sites of the array, and where each stands among the accesses.
static int sites_of(Arena *arena, const Opened *opened, int array, RecordedSite **sites, int **at) {
  int n = 0, listed = 0;
  *sites = ARENA_ARRAY(arena, RecordedSite, opened->n_sites + 1);
  *at = ARENA_ARRAY(arena, int, opened->n_sites + 1);
  for (int i = 0; i < opened->n_sites; i++) {
    const OpenedSite *site = &opened->sites[i];
    if (!own_is_listed(site)) continue;
    if (site->array == array) {
      (*sites)[n] = site->recorded;
      (*at)[n++] = listed;
    }
    listed++;
  }
  return n;
}

bool own_slab_problem(Arena *arena, Session *session, SlabProblem *out, Diags *diags) {
  const OwnFrame *frame = own_look(session);
  const int array = session->at.subject->slab;
  const OpenedArray *from = &frame->opened->arrays[array];
  RecordedSite *sites;
  int *at, of[SOLVER_SITES_MAX];
  const int n = sites_of(arena, frame->opened, array, &sites, &at);
  *out = (SlabProblem){.slab = own_buffer(arena, from, array), .layout_text = "none"};
  if (!recorded_problem(arena, &from->at, out->slab->name, sites, n, &out->problem, of, diags))
    return false;
  SlabUse *use = ARENA_ARRAY(arena, SlabUse, out->problem.n_sites + 1);
  for (int i = 0; i < out->problem.n_sites; i++) {
    const SlabSite *site = &out->problem.sites[i];
    use[i] = (SlabUse){.site = &session->at.subject->accesses.site[at[of[i]]],
                       .executions = (int64_t)site->repeat * site->weight};
  }
  out->use = use;
  out->elements = arena_printf(arena, "%d B each%s", from->at.elem_bytes,
                               from->at.has_rows ? "" : ", rows not known");
  out->plain = out->layout = layout_parse(arena, &out->problem.slab, "none", diags);
  return out->plain != NULL;
}

const char *own_lay(Session *session, const char *layout, Diags *diags) {
  OwnWork *work = own_work(session);
  if (own_trial_set(work, session->at.subject->slab, layout))
    return arena_printf(session->frame, "on trial; write %s", work->trial.write);
  diag_add(diags, "layout", "%s", work->error);
  work->error[0] = '\0';
  return NULL;
}
