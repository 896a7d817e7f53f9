// Events of a thread and the PTX's results → sources that are right, makers of values that are not.
//
//   FFMA R9, R4, R6, R9      the PTX multiplies R4 with what stands in R7 here: R6 is wrong, and
//   who
//                            wrote R7 made the value that is missing
#include "machine/back/mc_source.h"

#include "machine/mc_cubin.h"
#include "machine/mc_flow.h"

// Whether a register that this instruction writes is never read, however often it comes by.
static bool is_never_read(const McWay *w, const McEvent *e) {
  unsigned read = 0;
  bool has_register = false;
  for (int p = 0; p < e->n_wrote; p++) has_register |= e->wrote[p] < MC_FRAME_UR;
  for (int i = 0; i < w->t.n; i++)
    if (w->t.events[i].pc == e->pc) read |= w->t.events[i].is_read;
  for (int p = 0; p < e->n_wrote; p++)
    if (e->wrote[p] >= MC_FRAME_UR) read |= 1u << p;
  return has_register && read != (1u << e->n_wrote) - 1;
}

int mc_dead_before(const McWay *w, int at) {
  const int stack = 0;  // the first instruction sets up the stack, which may have no user
  for (int i = at - 1; i >= 0; i--) {
    const McEvent *e = &w->t.events[i];
    if (e->n_wrote && e->pc != stack && is_never_read(w, e)) return e->pc;
  }
  return MC_NOBODY;
}

static bool is_same(const McPiece *a, uint32_t mask, const McPiece *b, uint32_t other) {
  return mask == other ? a->lanes == b->lanes : a->value == b->value;
}

static bool made(const McEvent *e, const McResult *result, const McPiece *value) {
  for (int p = 0; p < e->n_wrote; p++)
    if (is_same(&e->pieces[p], e->mask, value, result->mask)) return true;
  return false;
}

// The value of one register of an event.
static bool made_in(const McEvent *e, PtxArg reg, const McResult *result, const McPiece *value) {
  for (int p = 0; p < e->n_wrote; p++)
    if (e->wrote[p] == reg && is_same(&e->pieces[p], e->mask, value, result->mask)) return true;
  return false;
}

static bool reads(const McWay *w, const McEvent *e, const McResult *result, const McPiece *value) {
  for (int n = 0; n < e->n; n++)
    if (e->from[n] < 0 ? e->read[n] == value->value
                       : made_in(&w->t.events[e->from[n]], e->reg[n], result, value))
      return true;
  return false;
}

// The instruction that took the nth source's register from another one that wrote it; MC_NOBODY.
static int taker_from(const McWay *w, const McEvent *e, int n, int maker) {
  const McEvent *m = &w->t.events[maker];
  for (int p = 0; p < m->n_wrote; p++)
    if (e->reg[n] == m->wrote[p] && e->from[n] > maker) return w->t.events[e->from[n]].pc;
  return MC_NOBODY;
}

int mc_maker_of_missing(const McWay *w, int at, bool is_plain) {
  const McEvent *e = &w->t.events[at];
  const McResult *result;
  if (!e->line || mc_times_at(&w->known, e->line, e->nth, &result) != e->times || !result)
    return MC_NOBODY;
  for (int r = 0; r < result->n_read; r++) {
    if (reads(w, e, result, &result->read[r]) || !(is_plain || result->read[r].varies)) continue;
    for (int i = at - 1; i >= 0; i--) {
      const McEvent *maker = &w->t.events[i];
      if (!made(maker, result, &result->read[r])) continue;
      int taker = MC_NOBODY;
      for (int n = 0; n < e->n && taker == MC_NOBODY; n++) taker = taker_from(w, e, n, i);
      return taker != MC_NOBODY ? taker : maker->pc;
    }
  }
  return MC_NOBODY;
}

int mc_misdirected_source(const McWay *w, int at) {
  const McEvent *e = &w->t.events[at];
  for (int n = 0; n < e->n; n++) {
    if (e->from[n] < 0) continue;
    const McEvent *f = &w->t.events[e->from[n]];
    for (int i = e->from[n] + 1; i < w->t.n; i++) {
      const McResult *result;
      const McEvent *reader = &w->t.events[i];
      if (!reader->stands || i == at ||
          mc_times_at(&w->known, reader->line, reader->nth, &result) != reader->times || !result)
        continue;
      for (int r = 0; r < result->n_read; r++) {
        if (!result->read[r].varies || !made(f, result, &result->read[r])) continue;
        if (reads(w, reader, result, &result->read[r])) return MC_NOBODY;
        return f->pc;
      }
    }
  }
  return MC_NOBODY;
}

bool mc_is_untold(const McWay *w, const McEvent *e) {
  const McResult *result;
  return mc_times_at(&w->known, e->line, e->nth, &result) != e->times;
}

int mc_untold_source(const McWay *w, int at) {
  const McEvent *e = &w->t.events[at];
  for (int n = 0; n < e->n; n++) {
    const McEvent *f = e->from[n] < 0 ? NULL : &w->t.events[e->from[n]];
    if (f && !f->valid && mc_is_untold(w, f)) return f->pc;
  }
  return MC_NOBODY;
}

// Whether the PTX reads a value in a line, whenever it comes by.
static bool is_read_in(const McKnown *k, int line, const McPiece *value, uint32_t mask) {
  const McResult *r;
  for (int nth = 0; nth < mc_times_at(k, line, nth, &r); nth++)
    for (int i = 0; i < r->n_read; i++)
      if (is_same(value, mask, &r->read[i], r->mask)) return true;
  return false;
}

int mc_strange_source(const McWay *w, int at) {
  const McEvent *e = &w->t.events[at];
  for (int n = 0; n < e->n; n++) {
    const McEvent *f = e->from[n] < 0 ? NULL : &w->t.events[e->from[n]];
    for (int p = 0; f && mc_is_told(&w->known, f) && p < f->n_wrote; p++)
      if (f->wrote[p] == e->reg[n] && mc_is_own(&w->known, f, p) &&
          !is_read_in(&w->known, e->line, &f->pieces[p], f->mask))
        return f->pc;
  }
  return MC_NOBODY;
}

int mc_maker_of_place(const McWay *w, int at) {
  const McEvent *e = &w->t.events[at];
  uint64_t address = 0;
  if ((!e->loads && !e->stores) || !mc_place(&w->known, e, &address)) return MC_NOBODY;
  if (e->space == PTX_SPACE_SHARED) address += MC_RESERVED_SHARED;
  const uint32_t by = (uint32_t)(address - e->address);
  for (int n = e->n_data; by && n < e->n; n++)
    for (int i = at - 1; i >= 0; i--)
      for (int p = 0; p < w->t.events[i].n_wrote; p++) {
        if (w->t.events[i].wrote[p] >= MC_FRAME_T ||
            w->t.events[i].pieces[p].value != e->read[n] + by)
          continue;
        const int taker = taker_from(w, e, n, i);
        return taker != MC_NOBODY ? taker : w->t.events[i].pc;
      }
  return MC_NOBODY;
}

// Whether a store has a right value in the register beside this one: then it has the right
// registers.
static bool is_in_right_row(const McWay *w, const McEvent *e, int n) {
  for (int k = 0; e->stores && k < e->n_data; k++) {
    const bool beside = e->reg[k] == e->reg[n] + 1 || e->reg[k] == e->reg[n] - 1;
    const McEvent *f = e->from[k] < 0 ? NULL : &w->t.events[e->from[k]];
    for (int p = 0; beside && f && p < f->n_wrote; p++)
      if (f->wrote[p] == e->reg[k] && mc_reading(&w->known, e, f, p) == MC_READS_RIGHT) return true;
  }
  return false;
}

// Whether a value that the PTX does not read here is right for what it is: then the instruction
// reads a wrong register, or the value that it lacks stands in one.
static bool is_other_right(const McWay *w, const McEvent *e, int n, const McEvent *f, int p) {
  if (mc_is_told(&w->known, f)) return mc_is_own(&w->known, f, p);
  if (is_in_right_row(w, e, n)) return false;
  return (f->pieces[p].varies && mc_is_right(&w->known, f, p)) ||
         mc_maker_of_missing(w, (int)(e - w->t.events), mc_is_own(&w->known, f, p)) != MC_NOBODY;
}

bool mc_is_source_right(const McWay *w, const McEvent *e, int n) {
  const int from = e->from[n];
  if (from < 0) return true;
  const McEvent *f = &w->t.events[from];
  if (f->loads_words && !mc_is_place_right(&w->known, f)) return false;
  for (int p = 0; p < f->n_wrote; p++) {
    if (f->wrote[p] != e->reg[n]) continue;
    if (mc_is_load_known(f, p) && !mc_is_right(&w->known, f, p)) return false;
    const McReading reading = n < e->n_data ? mc_reading(&w->known, e, f, p) : MC_READS_UNKNOWN;
    if (reading == MC_READS_WRONG) return is_other_right(w, e, n, f, p);
    if (reading == MC_READS_RIGHT) return true;
    return f->valid || (n >= e->n_data ? mc_is_own(&w->known, f, p) : mc_is_right(&w->known, f, p));
  }
  return true;
}

// Whether a branch went past an instruction on the way to an event.
static bool is_jumped_over(const McWay *w, const McEvent *e, int pc) {
  const int at = (int)(e - w->t.events);
  int before = 0;
  const int branch = mc_last_branch(&w->t, at, &before);
  return branch != MC_NOBODY && branch < pc && before < at && w->t.events[before].pc == branch &&
         w->t.events[before + 1].pc > pc;
}

// The last instruction that may stand between the writer of a register and its reader: where a loop
// went round between them, the farthest that the thread went.
static int last_between(const McWay *w, const McEvent *e, int writer) {
  int last = e->pc - 1;
  for (int i = writer; i >= 0 && w->t.events[writer].pc >= e->pc && &w->t.events[i] < e; i++)
    if (w->t.events[i].pc > last) last = w->t.events[i].pc;
  return last;
}

int mc_left_out(const McWay *w, const McEvent *e, int n) {
  const int from = e->from[n] < 0 ? -1 : w->t.events[e->from[n]].pc;
  for (int pc = last_between(w, e, e->from[n]); pc > from; pc--) {
    const PtxInst *i = &w->t.code[pc];
    if (!i->machine || !mc_writes_register(i->machine, e->reg[n])) continue;
    if (i->guard == PTX_PRED_TRUE && !is_jumped_over(w, e, pc)) continue;
    bool ran = false;
    for (int k = 0; k < w->t.n && !ran; k++) ran = w->t.events[k].pc == pc;
    const McResult *result;  // a line without one, such as a routine's, tells of nobody
    // A branch between two ways to make the value of one line, such as a division's, is no fault.
    if (from >= 0 && pc < w->t.n_code && w->t.line[pc] == w->t.line[from]) continue;
    if (!ran && pc < w->t.n_code && mc_times_at(&w->known, w->t.line[pc], 0, &result)) return pc;
  }
  return MC_NOBODY;
}
