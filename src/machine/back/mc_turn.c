// Comparisons of a thread, beside those of the PTX's line → the first that is wrong.
//
// A loop that goes once too often leaves all counts of its lines wrong, so that nothing in it can
// be told by how often the thread came by. Its comparison is right up to there:
//
//   setp.lt.s32 %p1, %r5, %r9;      1 1 1 0
//   ISETP.GE.AND P0, PT, R5, R9, PT      0 0 0 0 1      the opposite three times, then the same
//
// A compiler may turn a comparison round, always or never: the fewer are wrong.
#include "machine/back/mc_follow.h"

typedef struct Line {
  int pc, n, same, opposite;  // pc: of its comparison; -1: none yet
  bool several;               // comparisons stand in different places
  int sums, stores;
} Line;

// A comparison of numbers: it writes predicates alone and reads none.
static bool is_comparison(const McEvent *e) {
  bool is = e->n_wrote > 0 && e->line > 0;
  for (int p = 0; p < e->n_wrote; p++) is &= e->wrote[p] >= MC_FRAME_T;
  for (int n = 0; n < e->n; n++) is &= e->reg[n] < MC_FRAME_T;
  return is;
}

// The PTX's piece at the nth time of a comparison's line, for the same lanes; NULL.
static const McPiece *in_ptx(const McKnown *k, const McEvent *e, int nth) {
  const McResult *result = NULL;
  mc_times_at(k, e->line, nth, &result);
  return result && result->n && result->mask == e->mask ? &result->pieces[0] : NULL;
}

static bool is_opposite(const McEvent *e, const McPiece *ptx) {
  return e->pieces[0].shifted == ptx->lanes;
}

static bool is_same(const McEvent *e, const McPiece *ptx) {
  return e->pieces[0].lanes == ptx->lanes;
}

static void look_at(const McKnown *k, const McEvent *e, Line *line) {
  line->sums += e->is_sum && e->n_wrote;
  line->stores += e->stores;
  if (!is_comparison(e)) return;
  line->several |= line->pc >= 0 && line->pc != e->pc;
  line->pc = e->pc;
  const McPiece *ptx = in_ptx(k, e, line->n++);
  if (!ptx) return;
  line->same += is_same(e, ptx);
  line->opposite += is_opposite(e, ptx);
}

// Whether it makes a sum, or stores, more or less often than the PTX does; a thread that was
// stopped does less often what it did not come to.
static bool goes_astray(const McFollowed *t, const McKnown *k, const Line *lines, int n_lines) {
  for (int i = 1; i < n_lines; i++) {
    const McResult *ignored;
    const int times = mc_times_at(k, i, 0, &ignored), n = lines[i].sums + lines[i].stores;
    if (n && times && (t->is_cut ? n > times : n != times)) return true;
  }
  return false;
}

static bool is_wrong(const McKnown *k, const McEvent *e, Line *line) {
  const McPiece *ptx = in_ptx(k, e, line->n++);
  if (!ptx || line->several) return false;
  if (!is_same(e, ptx) && !is_opposite(e, ptx)) return true;
  return line->same > line->opposite ? !is_same(e, ptx)
                                     : line->opposite > line->same && !is_opposite(e, ptx);
}

int mc_wrong_turn(Arena *arena, const McFollowed *t, const McKnown *k) {
  int n_lines = 0;
  for (int i = 0; i < t->n; i++)
    if (t->events[i].line >= n_lines) n_lines = t->events[i].line + 1;
  Line *lines = ARENA_ARRAY(arena, Line, n_lines + 1);
  for (int i = 0; i < n_lines; i++) lines[i].pc = MC_NOBODY;
  for (int i = 0; i < t->n; i++) look_at(k, &t->events[i], &lines[t->events[i].line]);
  if (!goes_astray(t, k, lines, n_lines)) return MC_NOBODY;
  for (int i = 0; i < n_lines; i++) lines[i].n = 0;
  for (int i = 0; i < t->n; i++)
    if (is_comparison(&t->events[i]) && is_wrong(k, &t->events[i], &lines[t->events[i].line]))
      return i;
  return MC_NOBODY;
}
