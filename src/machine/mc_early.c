// Events in the order of time → the first ones that made no value of the PTX.
//
//   shr.s32 %r33, %r2, 4;            5
//   SHF.R.S32.HI R33, RZ, 0x1004, R2     0, and nothing right is made of it: it is early
//   IADD3 R7, R33, R6, RZ            wrong, too, and later
#include "machine/mc_follow.h"

// A compiler may turn a comparison round.
static bool is_opposite(const McResult *r, const McEvent *e, const McPiece *p) {
  for (int i = 0; i < r->n; i++)
    if (p->is_pred && r->pieces[i].is_pred &&
        (r->mask == e->mask ? r->pieces[i].lanes == p->shifted : r->pieces[i].value != p->value))
      return true;
  return false;
}

// Whether the PTX has values for an event, and all that it wrote are other ones.
static bool is_wrong(const McKnown *k, const McEvent *e) {
  const McResult *result = NULL;
  if (e->valid || !e->n_wrote || !e->line) return false;
  if (mc_times_at(k, e->line, e->nth, &result) != e->times || !result || !result->n) return false;
  for (int p = 0; p < e->n_wrote; p++)
    if (mc_is_right(k, e, p) || is_opposite(result, e, &e->pieces[p])) return false;
  return true;
}

int mc_first_wrong(const McFollowed *t, const McKnown *k, int out[], int most) {
  int n = 0;
  for (int i = 0; i < t->n && n < most; i++) {
    bool known = false;
    for (int j = 0; j < n; j++) known |= out[j] == t->events[i].pc;
    if (!known && is_wrong(k, &t->events[i])) out[n++] = t->events[i].pc;
  }
  return n;
}
