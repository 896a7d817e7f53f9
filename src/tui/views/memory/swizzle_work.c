// Slab, layouts and costs, each computed when it changes.
//
// Worked example: hgemm at the ldmatrix rung with the cursor on a <- A_s. The slab is A_s, 128 rows
// of 128 bytes, with two sites; "none" and "now" are the same layout there, 2048 wavefronts for 64
// executions. The solver's swizzle:3,4,3 becomes the trial: 256. Applied, the picture changes, the
// slab is walked again, "now" is the swizzle and the trial is gone.
#include <stdio.h>
#include <string.h>

#include "banks/layouts/layout_unit.h"
#include "banks/layouts/notation.h"
#include "base/str.h"
#include "base/whole.h"
#include "model/ir/buffer.h"
#include "model/ir/program.h"
#include "model/readings/place/described.h"
#include "tui/session/subject.h"
#include "tui/views/memory/swizzle.h"

void swizzle_init(void *state) {
  Swizzle *work = state;
  work->slab_arena = arena_new("slab");
  work->trial_arena = arena_new("trial layout");
  work->scratch = arena_new("solver");
}

void swizzle_done(void *state) {
  Swizzle *work = state;
  arena_free(work->slab_arena);
  arena_free(work->trial_arena);
  arena_free(work->scratch);
}

// ---- columns ------------------------------------------------------------------------------------

static void fill_column(Arena *arena, const SlabProblem *slab, const char *name,
                        const Layout *layout, SwizzleColumn *out) {
  *out = (SwizzleColumn){.name = name, .layout = layout, .legal = true};
  out->facts = layout_examine(arena, layout);
  if (!out->facts.bijective) return;
  SlabCost *cost = ARENA_ARRAY(arena, SlabCost, slab->problem.n_sites);
  for (int i = 0; i < slab->problem.n_sites; i++) {
    const SlabSite *site = &slab->problem.sites[i];
    cost[i] = slab_site_cost(site, layout);
    out->legal &= cost[i].legal;
    if (cost[i].known && cost[i].legal) out->total += (double)cost[i].wavefronts * site->weight;
  }
  out->cost = cost;
}

const SwizzleColumn *swizzle_after(const Swizzle *work) {
  const SwizzleColumn *trial = &work->column[SWIZZLE_TRIAL];
  return trial->layout ? trial : &work->column[SWIZZLE_NOW];
}

void swizzle_drop(Swizzle *work) {
  arena_reset(work->trial_arena);
  work->column[SWIZZLE_TRIAL] = (SwizzleColumn){0};
  work->error = NULL;
  work->solved = false;
}

// ---- the slab -----------------------------------------------------------------------------------

// The slab outlives the model it was walked in: undo and redo lead back to an equal schedule.
static void keep_names(Swizzle *work) {
  SlabSite *site = (SlabSite *)work->slab.problem.sites;
  work->slab.problem.name = arena_strdup(work->slab_arena, work->slab.problem.name);
  for (int i = 0; i < work->slab.problem.n_sites; i++)
    site[i].name = arena_strdup(work->slab_arena, site[i].name);
}

static void find_sites(Swizzle *work, const Session *session) {
  const Accesses all = session_accesses(session);
  work->at = ARENA_ARRAY(work->slab_arena, int, work->slab.problem.n_sites + 1);
  for (int i = 0; i < work->slab.problem.n_sites; i++)
    work->at[i] = (int)(work->slab.use[i].site - all.site);
}

// A slab that only descriptors read: the one that is chosen, and where no lane addresses shared
// memory the first of them. NULL: it is an access's turn.
static const Buffer *described_slab(const Swizzle *work, const Session *session, const Site *site) {
  if (session->at.subject || (site && !work->described)) return NULL;
  const DescribedSlabs slabs = described_slabs(session_model(session)->program);
  return slabs.n ? slabs.slab[max_int(work->described - 1, 0) % slabs.n] : NULL;
}

void swizzle_next_described(Swizzle *work, const Session *session) {
  const int n = described_slabs(session_model(session)->program).n;
  const bool any = session_slab_site(session) != NULL;
  if (!any && !work->described) work->described = 1;  // which is what is shown
  if (++work->described > n) work->described = any ? 0 : 1;
}

static void build(Swizzle *work, Session *session, const Site *site, const Buffer *described) {
  arena_reset(work->slab_arena);
  swizzle_drop(work);
  Diags diags = diags_new(work->slab_arena);
  work->why = NULL;
  work->built = described
                    ? slab_problem_build(work->slab_arena, session_model(session), described,
                                         &work->slab, &diags)
                    : session_slab_problem(work->slab_arena, session, site, &work->slab, &diags);
  if (!work->built) {
    work->why = diags.first->text;
    return;
  }
  keep_names(work);
  find_sites(work, session);
  fill_column(work->slab_arena, &work->slab, "none", work->slab.plain, &work->column[0]);
  fill_column(work->slab_arena, &work->slab, "now", work->slab.layout, &work->column[1]);
}

// A's layout of the same slab in place of "none"; a slab of another shape says nothing about this.
static void lay_beside_a(Swizzle *work, const Session *session) {
  const Model *a = session->doc.then.picture->model;
  const Buffer *buffer = program_buffer(a->program, work->role);
  SlabProblem slab;
  Diags diags = diags_new(work->slab_arena);
  if (!buffer || !slab_problem_build(work->slab_arena, a, buffer, &slab, &diags)) return;
  const LayoutSlab *of_a = &slab.problem.slab, *of_b = &work->slab.problem.slab;
  if (of_a->rows != of_b->rows || of_a->row_bytes != of_b->row_bytes ||
      of_a->elem_bytes != of_b->elem_bytes)
    return;
  work->beside_a = true;
  fill_column(work->slab_arena, &work->slab, "A's layout", slab.layout,
              &work->column[SWIZZLE_PLAIN]);
}

// The uses point at sites of the model they were built from; a model that is built anew has others.
static void renew_sites(Swizzle *work, const Session *session, const Buffer *slab) {
  const Accesses all = session_accesses(session);
  SlabUse *use = (SlabUse *)work->slab.use;
  for (int i = 0; i < work->slab.problem.n_sites; i++) use[i].site = &all.site[work->at[i]];
  work->slab.slab = slab;
}

static bool is_same(const Swizzle *work, const Session *session, const Buffer *slab) {
  const Subject *subject = session->at.subject;
  if (!work->built || work->generation != (subject ? subject->generation : 0)) return false;
  if (subject) return work->brought == subject->slab;
  const bool comparing = session_compares(session);
  const Schedule *a = comparing ? &session->doc.then.picture->model->schedule : &work->a;
  return work->role == slab->role && work->comparing == comparing &&
         schedule_same(&work->schedule, &session_model(session)->schedule) &&
         schedule_same(&work->a, a);
}

void swizzle_follow(Swizzle *work, Session *session) {
  const Site *site = session_slab_site(session);
  const Buffer *described = described_slab(work, session, site);
  const Buffer *slab = described ? described : site ? site->slab : NULL;
  if (!slab) {
    work->built = false;
    work->why = site ? "No array of this access is known." : session_accesses(session).none;
    return;
  }
  if (is_same(work, session, slab)) {
    renew_sites(work, session, slab);
    return;
  }
  const Subject *subject = session->at.subject;
  work->generation = subject ? subject->generation : 0;
  work->brought = subject ? subject->slab : -1;
  work->role = slab->role;
  work->schedule = session_model(session)->schedule;
  work->comparing = session_compares(session);
  if (work->comparing) work->a = session->doc.then.picture->model->schedule;
  work->beside_a = false;
  build(work, session, site, described);
  if (subject && subject->offer) swizzle_try(work, subject->offer);
  if (work->built && work->comparing) lay_beside_a(work, session);
}

// ---- trials -------------------------------------------------------------------------------------

static const char *say_clash(Arena *arena, const SwizzleColumn *column) {
  const LayoutSlab *slab = &column->layout->slab;
  int at[2][2];
  for (int i = 0; i < 2; i++) {
    at[i][0] = column->facts.clash[i] / slab->row_bytes;
    at[i][1] = column->facts.clash[i] % slab->row_bytes / slab->elem_bytes;
  }
  return arena_printf(
      arena, "not a bijection: row %d, col %d and row %d, col %d both lie at byte %d", at[0][0],
      at[0][1], at[1][0], at[1][1], column->layout->offset_of[column->facts.clash[0]]);
}

// Which access is taken apart, and by how much.
static const char *say_cut(const Swizzle *work, const SwizzleColumn *column) {
  const SolverProblem *problem = &work->slab.problem;
  int i = 0;
  while (i < problem->n_sites && column->cost[i].legal) i++;
  if (i == problem->n_sites) return NULL;
  return arena_printf(
      work->trial_arena, "%s moves %d bytes at a time, and only %d stay whole%s",
      work->slab.use[i].site->text, problem->sites[i].op->bytes, column->facts.whole_bytes,
      column->facts.whole_bytes >= problem->sites[i].op->bytes ? " and aligned" : "");
}

void swizzle_try(Swizzle *work, const char *text) {
  if (!work->built) return;
  swizzle_drop(work);
  Diags diags = diags_new(work->trial_arena);
  const Layout *layout = layout_parse(work->trial_arena, &work->slab.problem.slab, text, &diags);
  if (!layout) {
    const Diag *diag = diags.first;
    work->error = diag->nearest ? arena_printf(work->trial_arena, "%s; nearest: %s", diag->text,
                                               diag->nearest)
                                : diag->text;
    return;
  }
  const char *unit = layout_unit_phrase(work->trial_arena, layout);
  if (notation_is(text))  // shown, and made into knobs, as this program writes it
    layout = layout_parse(work->trial_arena, &layout->slab,
                          notation_canonical(work->trial_arena, layout), &diags);
  SwizzleColumn *trial = &work->column[SWIZZLE_TRIAL];
  fill_column(work->trial_arena, &work->slab, "trial", layout, trial);
  if (*unit) trial->unit = unit;
  if (!trial->facts.bijective)
    work->error = say_clash(work->trial_arena, trial);
  else if (!trial->legal)
    work->error = say_cut(work, trial);
}

void swizzle_solve(Swizzle *work) {
  if (!work->built) return;
  swizzle_drop(work);
  work->result = solver_solve(work->trial_arena, work->scratch, &work->slab.problem);
  arena_reset(work->scratch);
  work->solved = true;
  if (!work->result.found) return;
  Diags diags = diags_new(work->trial_arena);
  const Layout *layout =
      layout_parse(work->trial_arena, &work->slab.problem.slab, work->result.best.layout, &diags);
  fill_column(work->trial_arena, &work->slab, "best", layout, &work->column[SWIZZLE_TRIAL]);
}
