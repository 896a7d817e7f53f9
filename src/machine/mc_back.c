// A store → its thread's events → values that the PTX does not know → the first of them.
#include "machine/mc_back.h"

#include <string.h>

#include "machine/mc_cubin.h"
#include "machine/mc_flow.h"
#include "machine/mc_writer.h"

enum { HOPS = 16, NOBODY = MC_NOBODY };

// ---- the way back -------------------------------------------------------------------------------

typedef struct Back {
  Arena *arena;
  McAgain *again;
  void *self;
  const int *line;
  int n_code;
  bool is_cut;  // the machine code was stopped
  McFault out;
} Back;

typedef struct Way {
  Back *back;
  McFollowed t;
  McKnown known;
  bool turned;  // a wrong turn was looked for
} Way;

// The first wrong values of a thread stand in front of those of threads that were followed before:
// those threads read what this one stored.
static void note_early(Back *b, const Way *way) {
  enum { OF_ONE = 4 };
  McFault *out = &b->out;
  int now[MC_EARLY_MAX + OF_ONE];
  int n = way->t.n ? mc_first_wrong(&way->t, &way->known, now, OF_ONE) : 0;
  const int own = n;
  if (n) out->n_slice = mc_slice(&way->t, now[0], out->slice, 0, MC_SLICE_MAX / 2);
  for (int k = 0; k < own; k++) now[k] = way->t.events[now[k]].pc;
  for (int i = 0; i < out->n_early; i++) {
    bool known = false;
    for (int k = 0; k < own; k++) known |= now[k] == out->early[i];
    if (!known) now[n++] = out->early[i];
  }
  out->n_early = n < MC_EARLY_MAX ? n : MC_EARLY_MAX;
  memcpy(out->early, now, sizeof *now * (size_t)out->n_early);
}

static Way follow(Back *b, const McThread *thread) {
  Way way = {.back = b,
             .t = mc_follow_thread(b->arena, b->again, b->self, thread, b->line, b->n_code),
             .known = mc_learn(b->arena, b->again, b->self, thread)};
  way.t.is_cut = b->is_cut;
  if (way.t.n) mc_validate(&way.t, &way.known);
  note_early(b, &way);
  return way;
}

// The event of this thread that stored; NOBODY when there is none.
static int event_at(const McFollowed *t, int pc, int64_t when) {
  for (int i = t->n - 1; i >= 0; i--)
    if (t->events[i].pc == pc && t->events[i].when == when) return i;
  return NOBODY;
}

static int maker_of_missing(const Way *w, int at, bool is_plain);
static int misdirected_source(const Way *w, int at);

// Whether a store has a right value in the register beside this one: then it has the right
// registers.
static bool is_in_right_row(const Way *w, const McEvent *e, int n) {
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
static bool is_other_right(const Way *w, const McEvent *e, int n, const McEvent *f, int p) {
  if (mc_is_told(&w->known, f)) return mc_is_own(&w->known, f, p);
  if (is_in_right_row(w, e, n)) return false;
  return (f->pieces[p].varies && mc_is_right(&w->known, f, p)) ||
         maker_of_missing(w, (int)(e - w->t.events), mc_is_own(&w->known, f, p)) != NOBODY;
}

// Whether a source is the value of an event that is right.
static bool is_source_right(const Way *w, const McEvent *e, int n) {
  const int from = e->from[n];
  if (from < 0) return true;
  const McEvent *f = &w->t.events[from];
  for (int p = 0; p < f->n_wrote; p++) {
    if (f->wrote[p] != e->reg[n]) continue;
    const McReading reading = n < e->n_data ? mc_reading(&w->known, e, f, p) : MC_READS_UNKNOWN;
    if (reading == MC_READS_WRONG) return is_other_right(w, e, n, f, p);
    if (reading == MC_READS_RIGHT) return true;
    return f->valid || (n >= e->n_data ? mc_is_own(&w->known, f, p) : mc_is_right(&w->known, f, p));
  }
  return true;
}

// An instruction with a guard that would have written the register in between. It did not write
// here, and the PTX did; NOBODY when there is none.
static int left_out(const Way *w, const McEvent *e, int n) {
  const int from = e->from[n] < 0 ? -1 : w->t.events[e->from[n]].pc;
  for (int pc = e->pc - 1; pc > from; pc--) {
    const PtxInst *i = &w->t.code[pc];
    if (!i->machine || i->guard == PTX_PRED_TRUE || !mc_writes_register(i->machine, e->reg[n]))
      continue;
    bool ran = false;
    for (int k = 0; k < w->t.n && !ran; k++) ran = w->t.events[k].pc == pc;
    if (!ran && pc < w->back->n_code && mc_comes_by(&w->known, w->back->line[pc])) return pc;
  }
  return NOBODY;
}

// The first ones make room for later ones, which are nearer to the fault.
static void come_by(Back *b, int pc) {
  McFault *out = &b->out;
  if (out->n_way && out->way[out->n_way - 1] == pc) return;
  if (out->n_way == MC_WAY_MAX)
    memmove(out->way, out->way + 1, sizeof *out->way * (size_t)--out->n_way);
  out->way[out->n_way++] = pc;
}

static void add_beside(McFault *out, int pc) {
  bool known = pc == out->pc || pc == out->or_pc;
  for (int i = 0; i < out->n_beside && !known; i++) known = out->beside[i] == pc;
  if (!known && out->n_beside < MC_BESIDE_MAX) out->beside[out->n_beside++] = pc;
}

static void put_beside(Way *w, int event) {
  const McEvent *e = &w->t.events[event];
  McFault *out = &w->back->out;
  for (int n = 0; n < e->n; n++)
    if (e->from[n] >= 0) add_beside(out, w->t.events[e->from[n]].pc);
  for (int pc = 0; e->line && pc < w->back->n_code; pc++)
    if (w->back->line[pc] == e->line) add_beside(out, pc);
}

static void put(Way *w, int pc, int or_pc, int event) {
  McFault *out = &w->back->out;
  out->found = true;
  out->pc = pc;
  out->or_pc = or_pc == pc ? NOBODY : or_pc;
  out->value = event >= 0 && w->t.events[event].n_wrote ? w->t.events[event].pieces[0].value : 0;
  out->thread = w->t.thread.warp * PTX_LANES + w->t.thread.lane;
  memcpy(out->block, w->t.thread.block, sizeof out->block);
  if (event < 0) return;
  out->symptom = mc_symptom_of(&w->t.thread, &w->t.events[event]);
  put_beside(w, event);
  out->n_slice = mc_slice(&w->t, event, out->slice, out->n_slice, MC_SLICE_MAX);
}

// Whether a register that this instruction writes is never read, however often it comes by.
static bool is_never_read(const Way *w, const McEvent *e) {
  unsigned read = 0;
  bool has_register = false;
  for (int p = 0; p < e->n_wrote; p++) has_register |= e->wrote[p] < MC_FRAME_UR;
  for (int i = 0; i < w->t.n; i++)
    if (w->t.events[i].pc == e->pc) read |= w->t.events[i].is_read;
  for (int p = 0; p < e->n_wrote; p++)
    if (e->wrote[p] >= MC_FRAME_UR) read |= 1u << p;
  return has_register && read != (1u << e->n_wrote) - 1;
}

// The last instruction in front of an event with a value that is never read: no compiler leaves
// one.
static int dead_before(const Way *w, int at) {
  const int stack = 0;  // the first instruction sets up the stack, which may have no user
  for (int i = at - 1; i >= 0; i--) {
    const McEvent *e = &w->t.events[i];
    if (e->n_wrote && e->pc != stack && is_never_read(w, e)) return e->pc;
  }
  return NOBODY;
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

static bool reads(const Way *w, const McEvent *e, const McResult *result, const McPiece *value) {
  for (int n = 0; n < e->n; n++)
    if (e->from[n] < 0 ? e->read[n] == value->value
                       : made_in(&w->t.events[e->from[n]], e->reg[n], result, value))
      return true;
  return false;
}

// The instruction that took the nth source's register from another one that wrote it; NOBODY.
static int taker_from(const Way *w, const McEvent *e, int n, int maker) {
  const McEvent *m = &w->t.events[maker];
  for (int p = 0; p < m->n_wrote; p++)
    if (e->reg[n] == m->wrote[p] && e->from[n] > maker) return w->t.events[e->from[n]].pc;
  return NOBODY;
}

// The instruction behind a value that the PTX reads here and this event does not: it put it into
// another register, or another one took the register from it. `is_plain`: a value that is the same
// in all lanes counts, too, which many instructions make.
static int maker_of_missing(const Way *w, int at, bool is_plain) {
  const McEvent *e = &w->t.events[at];
  const McResult *result;
  if (!e->line || mc_times_at(&w->known, e->line, e->nth, &result) != e->times || !result)
    return NOBODY;
  for (int r = 0; r < result->n_read; r++) {
    if (reads(w, e, result, &result->read[r]) || !(is_plain || result->read[r].varies)) continue;
    for (int i = at - 1; i >= 0; i--) {
      const McEvent *maker = &w->t.events[i];
      if (!made(maker, result, &result->read[r])) continue;
      int taker = NOBODY;
      for (int n = 0; n < e->n && taker == NOBODY; n++) taker = taker_from(w, e, n, i);
      return taker != NOBODY ? taker : maker->pc;
    }
  }
  return NOBODY;
}

// The instruction behind a source whose value the PTX reads elsewhere, where the machine code reads
// another one: it was written to a wrong register, and this event came by it.
static int misdirected_source(const Way *w, int at) {
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
        if (reads(w, reader, result, &result->read[r])) return NOBODY;
        return f->pc;
      }
    }
  }
  return NOBODY;
}

// Whether no line of the PTX tells of an event's values.
static bool is_untold(const Way *w, const McEvent *e) {
  const McResult *result;
  return mc_times_at(&w->known, e->line, e->nth, &result) != e->times;
}

// The instruction behind a source of which no line of the PTX tells, and no right value was made.
static int untold_source(const Way *w, int at) {
  const McEvent *e = &w->t.events[at];
  for (int n = 0; n < e->n; n++) {
    const McEvent *f = e->from[n] < 0 ? NULL : &w->t.events[e->from[n]];
    if (f && !f->valid && is_untold(w, f)) return f->pc;
  }
  return NOBODY;
}

// The instruction that made the address of the PTX, less what this event adds to its register; or
// the one that took the register from it.
static int maker_of_place(const Way *w, int at) {
  const McEvent *e = &w->t.events[at];
  uint64_t address = 0;
  if ((!e->loads && !e->stores) || !mc_place(&w->known, e, &address)) return NOBODY;
  if (e->space == PTX_SPACE_SHARED) address += MC_RESERVED_SHARED;
  const uint32_t by = (uint32_t)(address - e->address);
  for (int n = e->n_data; by && n < e->n; n++)
    for (int i = at - 1; i >= 0; i--)
      for (int p = 0; p < w->t.events[i].n_wrote; p++) {
        if (w->t.events[i].wrote[p] >= MC_FRAME_T ||
            w->t.events[i].pieces[p].value != e->read[n] + by)
          continue;
        const int taker = taker_from(w, e, n, i);
        return taker != NOBODY ? taker : w->t.events[i].pc;
      }
  return NOBODY;
}

static void back_from_event(Way *w, int at, bool by_place, int hop);

static bool has_wrong_source(const Way *w, int at) {
  const McEvent *e = &w->t.events[at];
  for (int n = 0; n < e->n; n++)
    if (!is_source_right(w, e, n)) return true;
  return false;
}

// The guard of an instruction has the wrong value, or is the wrong one.
static void back_from_guard(Way *w, int pc, int before, int hop) {
  const PtxInst *i = &w->t.code[pc];
  come_by(w->back, pc);
  const int writer = i->guard < 0 ? NOBODY : mc_last_writer(&w->t, MC_FRAME_T + i->guard, before);
  bool right = writer == NOBODY || w->t.events[writer].valid;
  for (int p = 0; !right && p < w->t.events[writer].n_wrote; p++)
    if (w->t.events[writer].wrote[p] == MC_FRAME_T + i->guard)
      right = mc_is_right(&w->known, &w->t.events[writer], p);
  // Many predicates are true in all lanes: the numbers that it compares tell more.
  right = right && (writer == NOBODY || !has_wrong_source(w, writer));
  const int dead = mc_dead_predicate(w->t.code, w->back->n_code, pc),
            astray = writer == NOBODY ? NOBODY : misdirected_source(w, writer);
  if (astray != NOBODY) {
    put(w, astray, w->t.events[writer].pc, NOBODY);
    return;
  }
  if (right || dead != NOBODY)
    put(w, pc, dead != NOBODY ? dead : writer == NOBODY ? NOBODY : w->t.events[writer].pc, NOBODY);
  else
    back_from_event(w, writer, false, hop);
}

static bool back_in_thread(Back *b, const McWriter *w, int hop);

static bool back_from_missing(Back *b, const McWriter *ptx, int hop);

static bool is_same_thread(const McThread *a, const McThread *b) {
  return a->warp == b->warp && a->lane == b->lane &&
         memcmp(a->block, b->block, sizeof a->block) == 0;
}

static bool is_same_store(const Back *b, const McWriter *machine, const McWriter *ptx) {
  const int line = machine->pc < b->n_code ? b->line[machine->pc] : 0;
  return is_same_thread(&machine->thread, &ptx->thread) && (!line || line == ptx->line);
}

// A store that the PTX's thread does not make, or not to this place.
static bool is_misplaced(Back *b, const McWriter *writer) {
  const Way w = follow(b, &writer->thread);
  const int store = event_at(&w.t, writer->pc, writer->when);
  if (store == NOBODY) return false;
  const McEvent *e = &w.t.events[store];
  return e->line && (!mc_comes_by(&w.known, e->line) || !mc_is_place_right(&w.known, e));
}

// The thread that stores, in the PTX, what this event loads.
static McWriter ptx_writer(const Way *w, const McEvent *e) {
  const McResult *result = NULL;
  McWriter out = {.pc = NOBODY};
  if (!e->line || mc_times_at(&w->known, e->line, e->nth, &result) != e->times || !result)
    return out;
  out = mc_writer_of(w->back->again, w->back->self, false, PTX_SPACE_SHARED,
                     e->address - MC_RESERVED_SHARED, result->when);
  return out;
}

// A load of a right place: the thread that stored there, if that was wrong; else the one that
// should have stored.
static bool back_through_memory(Way *w, int at, int hop) {
  const McEvent *e = &w->t.events[at];
  if (e->space != PTX_SPACE_SHARED || hop >= HOPS) return false;
  const McWriter next = mc_writer_of(w->back->again, w->back->self, true, PTX_SPACE_SHARED,
                                     e->address, e->when),
                 ptx = ptx_writer(w, e);
  const bool other =
      ptx.pc != NOBODY && (next.pc == NOBODY || !is_same_store(w->back, &next, &ptx));
  const bool misplaced = other && next.pc != NOBODY && is_misplaced(w->back, &next);
  if (other && !misplaced && back_from_missing(w->back, &ptx, hop + 1)) return true;
  return next.pc != NOBODY && back_in_thread(w->back, &next, hop + 1);
}

// Whether the way goes on with another lane of the warp.
static bool back_in_lane(Way *w, int at, int hop) {
  const McEvent *e = &w->t.events[at];
  const int lane = mc_wrong_lane(&w->known, e, w->back->again, w->back->self);
  if (lane == NOBODY || hop >= HOPS) return false;
  McThread thread = w->t.thread;
  thread.lane = lane;
  Way other = follow(w->back, &thread);
  const int there = event_at(&other.t, e->pc, e->when);
  if (there == NOBODY) return false;
  back_from_event(&other, there, false, hop + 1);
  return true;
}

// A source that is not right: one whose value the PTX never has goes before one that has no line.
static int wrong_source(const Way *w, const McEvent *e, int from, int to) {
  int first = NOBODY;
  for (int n = from; n < to; n++) {
    if (is_source_right(w, e, n)) continue;
    const McEvent *f = &w->t.events[e->from[n]];
    if (first == NOBODY) first = n;
    for (int p = 0; p < f->n_wrote; p++)
      if (f->wrote[p] == e->reg[n] && !mc_is_right(&w->known, f, p)) return n;
  }
  return first;
}

static void back_from_event(Way *w, int at, bool by_place, int hop) {
  int reader = NOBODY;
  for (bool moved = true; moved;) {
    const McEvent *e = &w->t.events[at];
    const bool place = by_place || (e->loads && !mc_is_place_right(&w->known, e));
    moved = false;
    come_by(w->back, e->pc);
    if (e->loads && !by_place && back_in_lane(w, at, hop)) return;
    if (e->loads && !place && back_through_memory(w, at, hop)) return;
    const int first = place ? e->n_data : 0, end = place || e->loads ? e->n : e->n_data;
    const int wrong = wrong_source(w, e, first, end);
    for (int n = first; n < end && (wrong == NOBODY || n <= wrong); n++) {
      const int skipped = left_out(w, e, n);
      if (skipped == NOBODY) continue;
      back_from_guard(w, skipped, at, hop);
      return;
    }
    if (wrong != NOBODY) {
      at = e->from[wrong];
      reader = e->pc;
      moved = true;
      w->back->out.steps++;
    }
    by_place = false;
  }
  if (!w->turned) {
    w->turned = true;
    const int turn = mc_wrong_turn(w->back->arena, &w->t, &w->known);
    if (turn != NOBODY && turn < at) {
      back_from_event(w, turn, false, hop);
      return;
    }
  }
  const McEvent *e = &w->t.events[at];
  const int astray = misdirected_source(w, at);
  if (astray != NOBODY) {
    put(w, astray, e->pc, at);
    return;
  }
  int or_pc = maker_of_place(w, at);
  if (or_pc == NOBODY) or_pc = maker_of_missing(w, at, true);
  if (or_pc == NOBODY) or_pc = untold_source(w, at);
  if (or_pc == NOBODY && is_untold(w, e)) or_pc = reader;
  if (or_pc == NOBODY) or_pc = dead_before(w, at);
  if (or_pc == NOBODY && (e->loads || e->stores) && e->n > e->n_data && e->from[e->n_data] >= 0)
    or_pc = w->t.events[e->from[e->n_data]].pc;
  put(w, w->t.events[at].pc, or_pc, at);
}

// The branch, or the end, that took a thread past an instruction; NOBODY.
static int past(const Way *w, int pc) {
  for (int i = w->t.n - 1; i >= 0; i--) {
    const PtxInst *inst = &w->t.code[w->t.events[i].pc];
    const char *name = w->t.events[i].name;
    if (inst->guard == PTX_PRED_TRUE || w->t.events[i].pc >= pc) continue;
    if (strcmp(name, "EXIT") == 0 || (strcmp(name, "BRA") == 0 && inst->target > pc)) return i;
  }
  return NOBODY;
}

// The event in front of which a thread last came by an instruction that it did not run.
static int passed_by(const Way *w, int pc) {
  for (int i = w->t.n - 1; i > 0; i--)
    if (w->t.events[i - 1].pc < pc && w->t.events[i].pc > pc) return i;
  return w->t.n;
}

// A store of this thread that the PTX makes and the machine code does not, or not there.
static bool back_from_missing(Back *b, const McWriter *ptx, int hop) {
  if (hop >= HOPS) return false;
  Way w = follow(b, &ptx->thread);
  if (!w.t.code) return false;
  const int line = ptx->line;
  for (int i = w.t.n - 1; i >= 0; i--) {
    const McEvent *e = &w.t.events[i];
    if (!e->stores || e->line != line || mc_is_place_right(&w.known, e)) continue;
    back_from_event(&w, i, true, hop);
    return true;
  }
  for (int pc = 0; pc < b->n_code; pc++) {
    const PtxInst *i = &w.t.code[pc];
    bool ran = false;
    if (b->line[pc] != line || !i->machine || i->guard == PTX_PRED_TRUE) continue;
    for (int k = 0; k < w.t.n && !ran; k++) ran = w.t.events[k].pc == pc;
    if (ran) continue;
    back_from_guard(&w, pc, passed_by(&w, pc), hop);
    return true;
  }
  for (int pc = 0; pc < b->n_code; pc++) {
    bool ran = b->line[pc] != line || !w.t.code[pc].machine;
    for (int k = 0; k < w.t.n && !ran; k++) ran = w.t.events[k].pc == pc;
    const int branch = ran ? NOBODY : past(&w, pc);
    if (branch == NOBODY) continue;
    back_from_guard(&w, w.t.events[branch].pc, branch, hop);
    return true;
  }
  // It went another way: by the first predicate that is wrong.
  for (int i = 0; i < w.t.n; i++)
    for (int p = 0; p < w.t.events[i].n_wrote; p++)
      if (w.t.events[i].wrote[p] >= MC_FRAME_T && !w.t.events[i].valid) {
        back_from_event(&w, i, false, hop);
        return true;
      }
  return false;
}

// Follows the thread that stored to the first wrong value of its own; false: the store and all that
// it read is right. A load that brought a wrong value goes on with the thread that stored it.
static bool back_in_thread(Back *b, const McWriter *writer, int hop) {
  Way w = follow(b, &writer->thread);
  const int store = event_at(&w.t, writer->pc, writer->when);
  if (store == NOBODY || hop == HOPS) return false;
  const McEvent *e = &w.t.events[store];
  if (e->line && !mc_comes_by(&w.known, e->line)) {
    back_from_guard(&w, e->pc, store, hop);
    return true;
  }
  if (!mc_is_place_right(&w.known, e)) {
    back_from_event(&w, store, true, hop);
    return true;
  }
  bool right = true;
  for (int n = 0; n < e->n_data; n++)
    right &= is_source_right(&w, e, n) && left_out(&w, e, n) == NOBODY;
  if (right && maker_of_missing(&w, store, true) == NOBODY && hop) return false;
  back_from_event(&w, store, false, hop);
  return true;
}

McFault mc_back(Arena *arena, McAgain *again, void *self, const int *line, int n_code,
                uint64_t address) {
  Back b = {.arena = arena, .again = again, .self = self, .line = line, .n_code = n_code};
  const McWriter w = mc_writer_of(again, self, true, PTX_SPACE_GLOBAL, address, INT64_MAX),
                 ptx = mc_writer_of(again, self, false, PTX_SPACE_GLOBAL, address, INT64_MAX);
  b.out = (McFault){.pc = NOBODY, .or_pc = NOBODY, .store_pc = w.pc, .ptx_store_pc = ptx.pc};
  const bool other = ptx.pc != NOBODY && (w.pc == NOBODY || !is_same_store(&b, &w, &ptx));
  const bool misplaced = other && w.pc != NOBODY && is_misplaced(&b, &w);
  if (other && !misplaced && back_from_missing(&b, &ptx, 0)) return b.out;
  if (w.pc != NOBODY) back_in_thread(&b, &w, 0);
  return b.out;
}

McFault mc_back_from(Arena *arena, McAgain *again, void *self, const int *line, int n_code, int pc,
                     int thread, const int block[3]) {
  Back b = {.arena = arena, .again = again, .self = self, .line = line, .n_code = n_code};
  b.is_cut = true;
  b.out = (McFault){.pc = NOBODY, .or_pc = NOBODY, .store_pc = pc, .ptx_store_pc = NOBODY};
  McThread of = {.warp = thread / PTX_LANES, .lane = thread % PTX_LANES};
  memcpy(of.block, block, sizeof of.block);
  Way w = follow(&b, &of);
  int at = w.t.n - 1;
  while (at >= 0 && w.t.events[at].pc != pc) at--;
  if (at < 0) return b.out;
  if (w.t.events[at].line && !mc_comes_by(&w.known, w.t.events[at].line))
    back_from_guard(&w, pc, at, 0);
  else
    back_from_event(&w, at, true, 0);
  return b.out;
}
