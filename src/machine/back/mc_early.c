// Events in the order of time → the first ones that made no value of the PTX.
//
//   shr.s32 %r33, %r2, 4;            5
//   SHF.R.S32.HI R33, RZ, 0x1004, R2     0, and nothing right is made of it: it is early
//   IADD3 R7, R33, R6, RZ            wrong, too, and later
//
// A line that became several instructions gives no value to each of them. Where it has one that no
// instruction of the thread makes, or only half of one, those of the line with values of their own
// are early, too:
//
//   add.s64 %rd3, %rd1, %rd2;        IADD3 R4, P0, R8, R10, RZ      the lower word: right
//                                    IADD3.X R5, R9, ~R11, RZ, P0   the upper one is not
#include "machine/back/mc_follow.h"

#include <stdlib.h>
#include <string.h>

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

// All that a thread wrote, sorted.
typedef struct Made {
  uint64_t *lanes;
  int n;
} Made;

static int by_number(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static Made made_by(Arena *arena, const McFollowed *t) {
  Made out = {ARENA_ARRAY(arena, uint64_t, t->n * MC_PIECES + 1), 0};
  for (int i = 0; i < t->n; i++)
    for (int p = 0; p < t->events[i].n_wrote; p++)
      out.lanes[out.n++] = t->events[i].pieces[p].lanes;
  qsort(out.lanes, (size_t)out.n, sizeof *out.lanes, by_number);
  return out;
}

static bool is_made(const Made *made, const McPiece *p) {
  return bsearch(&p->lanes, made->lanes, (size_t)made->n, sizeof *made->lanes, by_number);
}

static bool is_one_of(const McEvent *e, const McPiece *value) {
  for (int p = 0; p < e->n_wrote; p++)
    if (e->pieces[p].lanes == value->lanes || e->pieces[p].lanes == value->shifted ||
        e->pieces[p].shifted == value->lanes)
      return true;
  return false;
}

// Whether one of the events beside this one, of as many for one instruction of the PTX, made a
// value.
static bool is_made_beside(const McFollowed *t, const McEvent *e, int of_one,
                           const McPiece *value) {
  enum { NEAR = 256 };
  const int at = (int)(e - t->events);
  for (int i = at - NEAR; i < at + NEAR; i++) {
    const McEvent *f = i < 0 || i >= t->n ? e : &t->events[i];
    if (f->line == e->line && f->times == e->times && f->nth / of_one == e->nth / of_one &&
        is_one_of(f, value))
      return true;
  }
  return false;
}

// Whether an event is of a few for one instruction of the PTX and has none of its values, while one
// of those is made nowhere, or other ones are made beside it: half of 64 bits.
static bool is_part_of_lost(const McFollowed *t, const McKnown *k, const Made *made,
                            const McEvent *e) {
  enum { FEW = 4 };
  const McResult *r = NULL;
  const int in_ptx = e->n_wrote && e->line ? mc_times_at(k, e->line, 0, &r) : 0;
  if (!in_ptx || e->times <= in_ptx || e->times % in_ptx || e->times / in_ptx > FEW) return false;
  const int of_one = e->times / in_ptx;
  mc_times_at(k, e->line, e->nth / of_one, &r);
  if (!r || r->mask != e->mask) return false;
  bool is_lost = false, has_half = false, lacks_half = false;
  for (int i = 0; i < r->n; i++) {
    if (is_one_of(e, &r->pieces[i])) return false;
    if (r->pieces[i].is_pred) continue;
    const bool is_beside = is_made_beside(t, e, of_one, &r->pieces[i]);
    is_lost |= !is_made(made, &r->pieces[i]);
    has_half |= is_beside;
    lacks_half |= !is_beside;
  }
  return is_lost || (has_half && lacks_half);
}

// Whether it reads no register: of several instructions of a line it makes none of its values.
static bool has_no_source(const McEvent *e) {
  bool has_source = e->loads;
  for (int n = 0; n < e->n; n++) has_source |= e->from[n] >= 0;
  return !has_source;
}

// A number or a register that is moved for an instruction of the line, whose value the line has;
// what the PTX moves there, too, is its own.
static bool is_moved_for(const McFollowed *t, const McKnown *k, const McEvent *e) {
  const McResult *result = NULL;
  mc_times_at(k, e->line, 0, &result);
  const McStep *step = t->code[e->pc].machine;
  const bool moves = has_no_source(e) || strcmp(e->name, "MOV") == 0 || mc_has(step, MC_W_MOV);
  return moves && result && result->n_read > 0 && result->name && strcmp(result->name, "mov") != 0;
}

int mc_first_wrong(const McFollowed *t, const McKnown *k, int out[], int most) {
  Arena *arena = arena_new("made");
  const Made made = made_by(arena, t);
  int n = 0;
  for (int i = 0; i < t->n && n < most; i++) {
    const McEvent *e = &t->events[i];
    bool known = false;
    for (int j = 0; j < n; j++) known |= t->events[out[j]].pc == e->pc;
    if (known || is_moved_for(t, k, e)) continue;
    if (is_wrong(k, e) || (!has_no_source(e) && is_part_of_lost(t, k, &made, e))) out[n++] = i;
  }
  arena_free(arena);
  return n;
}
