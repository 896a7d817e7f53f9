// The kernel that a view brought, else the picture of the schedule.
#include "tui/session/subject.h"

#include "model/readings/place/described.h"
#include "model/words/schedule_atom.h"

Accesses session_accesses(const Session *session) {
  if (session->at.subject) return session->at.subject->accesses;
  const Model *model = session_model(session);
  const DescribedSlabs slabs = described_slabs(model->program);
  return (Accesses){.n = model->n_sites,
                    .site = model->site,
                    .wavefronts = model->totals.wavefronts,
                    .per = "per slab",
                    .none = slabs.n ? described_sentence(session->frame, &slabs)
                                    : "This kernel does not touch shared memory."};
}

const BankMap *session_map(const Session *session, int i) {
  return session->at.subject ? &session->at.subject->map : &session->doc.now.picture->map[i];
}

int session_at(const Session *session) {
  return session->at.subject ? session->at.subject->at : session->at.site;
}

void session_choose(Session *session, int i) {
  if (session->at.subject)
    session->at.subject->choose(session, i);
  else
    session->at.site = i;
}

bool session_compares(const Session *session) {
  return session->doc.comparing && !session->at.subject;
}

AccessLayout session_layout(Arena *arena, const Session *session, const Side *side,
                            const Site *site) {
  if (session->at.subject) return session->at.subject->layout;
  Diags diags = diags_new(arena);
  const Schedule *schedule = &side->picture->model->schedule;
  return (AccessLayout){slab_layout_now(arena, schedule, site->slab, &diags),
                        slab_layout_text(arena, schedule, site->slab)};
}

SubjectAtom session_atom(Session *session) {
  SubjectAtom out = {.there = false};
  if (session->at.subject) return session->at.subject->atom(session);
  out.there = schedule_atom_is(&session->doc.now.schedule, &out.atom);
  return out;
}

bool session_slab_problem(Arena *arena, Session *session, const Site *site, SlabProblem *out,
                          Diags *diags) {
  if (session->at.subject) return session->at.subject->slab_problem(arena, session, out, diags);
  return slab_problem_build(arena, session_model(session), site->slab, out, diags);
}

const char *session_lay(Session *session, const Buffer *slab, const char *layout, Diags *diags) {
  if (session->at.subject) return session->at.subject->lay(session, layout, diags);
  const char *knobs =
      slab_layout_knobs(session->frame, session_model(session), slab, layout, diags);
  return knobs && session_set_text(session, knobs, diags) ? knobs : NULL;
}
