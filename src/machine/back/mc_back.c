// A store → its thread's events → values that the PTX does not know → the first of them.
#include "machine/back/mc_back.h"

#include <string.h>

#include "machine/back/mc_past.h"
#include "machine/back/mc_source.h"
#include "machine/back/mc_writer.h"
#include "machine/mc_cubin.h"
#include "machine/mc_flow.h"

enum { HOPS = 16, NOBODY = MC_NOBODY };

// ---- the way back -------------------------------------------------------------------------------

typedef struct McBack {
  Arena *arena;
  McAgain *again;
  void *self;
  const int *line;
  int n_code;
  bool is_cut;  // the machine code was stopped
  McFault out;
} Back;

typedef McWay Way;

enum { OF_ONE = 4 };  // early values of a thread

// The first wrong values of a thread stand in front of those of threads that were followed before:
// those threads read what this one stored.
static void note_early(Back *b, const Way *way) {
  McFault *out = &b->out;
  int now[MC_EARLY_MAX + OF_ONE];
  int n = way->t.n ? mc_first_wrong(&way->t, &way->known, now, OF_ONE) : 0;
  const int own = n;
  if (own) out->early_thread = way->t.thread;
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

// Events of a thread beside the PTX's: one that has more goes round for ever, or nearly.
static int most_events(const McKnown *known) {
  enum { TIMES = 16, SLACK = 1 << 16 };
  return known->n < (MC_EVENTS_MAX - SLACK) / TIMES ? TIMES * known->n + SLACK : MC_EVENTS_MAX;
}

static Way follow(Back *b, const McThread *thread) {
  Way way = {.back = b, .known = mc_learn(b->arena, b->again, b->self, thread)};
  way.t = mc_follow_thread(b->arena, b->again, b->self, thread, b->line, b->n_code,
                           most_events(&way.known));
  way.t.is_cut = b->is_cut;
  if (way.t.n) mc_validate(&way.t, &way.known);
  note_early(b, &way);
  return way;
}

bool mc_is_early(Arena *arena, McAgain *again, void *self, const int *line, int n_code,
                 const McFault *fault) {
  Back b = {.arena = arena, .again = again, .self = self, .line = line, .n_code = n_code};
  follow(&b, &fault->early_thread);
  for (int i = 0; i < b.out.n_early; i++)
    if (b.out.early[i] == fault->early[0]) return true;
  return false;
}

// The event of this thread that stored; NOBODY when there is none.
static int event_at(const McFollowed *t, int pc, int64_t when) {
  for (int i = t->n - 1; i >= 0; i--)
    if (t->events[i].pc == pc && t->events[i].when == when) return i;
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

// A proof tries what an event was made by, too.
static void put_made_by(Way *w, int event) {
  McFault *out = &w->back->out;
  put_beside(w, event);
  out->n_slice = mc_slice(&w->t, event, out->slice, out->n_slice, MC_SLICE_MAX);
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
  put_made_by(w, event);
}

static void back_from_event(Way *w, int at, bool by_place, int hop);

static bool has_wrong_source(const Way *w, int at) {
  const McEvent *e = &w->t.events[at];
  for (int n = 0; n < e->n; n++)
    if (!mc_is_source_right(w, e, n)) return true;
  return false;
}

// The branch by which a thread came to where the PTX's never is, and the event in front of which it
// did; `pc`: there is none.
static int branch_to(const Way *w, int pc, int *before) {
  int at = *before, front = at;
  while (at > 0 && at < w->t.n && w->t.events[at].pc == pc && w->t.events[at - 1].line &&
         !mc_comes_by(&w->known, w->t.events[at - 1].line))
    pc = w->t.events[--at].pc;
  const int branch = at < w->t.n ? mc_last_branch(&w->t, at, &front) : NOBODY;
  if (branch != NOBODY) *before = front;
  return branch;
}

// The guard of an instruction has the wrong value, or is the wrong one; of one without a guard, the
// branch that went there.
static void back_from_guard(Way *w, int pc, int before, int hop) {
  come_by(w->back, pc);
  const int branch = w->t.code[pc].guard < 0 ? branch_to(w, pc, &before) : NOBODY;
  if (branch != NOBODY) come_by(w->back, pc = branch);
  const PtxInst *i = &w->t.code[pc];
  const int writer = i->guard < 0 ? NOBODY : mc_last_writer(&w->t, MC_FRAME_T + i->guard, before);
  bool right = writer == NOBODY || w->t.events[writer].valid;
  for (int p = 0; !right && p < w->t.events[writer].n_wrote; p++)
    if (w->t.events[writer].wrote[p] == MC_FRAME_T + i->guard)
      right = mc_is_right(&w->known, &w->t.events[writer], p);
  // Many predicates are true in all lanes: the numbers that it compares tell more.
  right = right && (writer == NOBODY || !has_wrong_source(w, writer));
  const int dead = mc_dead_predicate(w->t.code, w->back->n_code, pc),
            astray = writer == NOBODY ? NOBODY : mc_misdirected_source(w, writer);
  if (astray != NOBODY) {
    put(w, astray, w->t.events[writer].pc, NOBODY);
    return;
  }
  if (!right && dead == NOBODY) {
    back_from_event(w, writer, false, hop);
    return;
  }
  // A result of the guard's own predicate is lost to who wrote it since.
  const bool is_taken = dead != NOBODY && writer != NOBODY && w->t.events[writer].pc != dead &&
                        mc_writes_register(w->t.code[dead].machine, MC_FRAME_T + i->guard);
  const int or_pc = dead != NOBODY && !is_taken ? dead
                    : writer == NOBODY          ? NOBODY
                                                : w->t.events[writer].pc;
  put(w, pc, or_pc, NOBODY);
  if (writer != NOBODY) put_made_by(w, writer);
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
static McWriter ptx_writer(const Way *w, const McEvent *e, uint64_t place) {
  const McResult *result = NULL;
  McWriter out = {.pc = NOBODY};
  if (!e->line || mc_times_at(&w->known, e->line, e->nth, &result) != e->times || !result)
    return out;
  out = mc_writer_of(w->back->again, w->back->self, false, PTX_SPACE_SHARED,
                     place - MC_RESERVED_SHARED, result->when);
  return out;
}

static bool is_stored_by(const McEvent *f, const McEvent *e, uint64_t place, int line) {
  return f->stores && f->line == line && f->space == e->space &&
         place - f->address < (uint64_t)(4 * (f->n_data ? f->n_data : 1));
}

// A store of what the PTX stores that came behind the load, or that another one took the place of
// in front of it: the reader, or the other one's thread, should have waited.
static bool back_to_wait(Way *w, int at, uint64_t place, const McWriter *ptx, const McWriter *last,
                         int hop) {
  const McEvent *e = &w->t.events[at];
  const Way other = follow(w->back, &ptx->thread);
  int early = NOBODY, late = NOBODY;
  for (int i = 0; i < other.t.n; i++) {
    const McEvent *f = &other.t.events[i];
    if (!is_stored_by(f, e, place, ptx->line) || !mc_is_place_right(&other.known, f)) continue;
    *(f->when < e->when ? &early : &late) = i;
  }
  int wait = NOBODY, from = NOBODY;
  if (early == NOBODY && late != NOBODY) {
    wait = mc_last_wait(&w->t, at);
    from = other.t.events[late].pc;
  } else if (early != NOBODY && last->pc != NOBODY && hop < HOPS) {
    const Way over = follow(w->back, &last->thread);
    const int store = event_at(&over.t, last->pc, last->when);
    if (store != NOBODY && last->when > other.t.events[early].when)
      wait = mc_last_wait(&over.t, store);
    from = last->pc;
  }
  if (wait != NOBODY) put(w, wait, from, at);
  return wait != NOBODY;
}

static bool back_from_place(Way *w, int at, uint64_t place, int hop) {
  const McEvent *e = &w->t.events[at];
  const McWriter next = mc_writer_of(w->back->again, w->back->self, true, PTX_SPACE_SHARED, place,
                                     e->when),
                 ptx = ptx_writer(w, e, place);
  const bool other =
      ptx.pc != NOBODY && (next.pc == NOBODY || !is_same_store(w->back, &next, &ptx));
  const bool misplaced = other && next.pc != NOBODY && is_misplaced(w->back, &next);
  if (other && !misplaced && back_to_wait(w, at, place, &ptx, &next, hop)) return true;
  if (other && !misplaced && back_from_missing(w->back, &ptx, hop + 1)) return true;
  if (next.pc == NOBODY) return false;
  if (back_in_thread(w->back, &next, hop + 1)) return true;
  come_by(w->back, next.pc);  // it may have stored too little of what is right
  return false;
}

// The first register of a load that the PTX does not have, of this thread or else of its warp; 0:
// none is known.
static int wrong_piece(const Way *w, const McEvent *e) {
  const int word = mc_wrong_word(&w->known, e);
  if (word != NOBODY) return word;
  for (int p = 0; p < e->n_wrote; p++)
    if (!mc_is_right(&w->known, e, p)) return p;
  return 0;
}

// A load of a right place: the thread that stored there, if that was wrong; else the one that
// should have stored, or who should have waited.
static bool back_through_memory(Way *w, int at, int hop) {
  const McEvent *e = &w->t.events[at];
  if (e->space != PTX_SPACE_SHARED || hop >= HOPS) return false;
  uint64_t places[MC_PLACES];
  const int n = mc_loaded_places(&w->t, e, wrong_piece(w, e), places);
  for (int i = 0; i < n; i++)
    if (back_from_place(w, at, places[i], hop)) return true;
  return false;
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
    if (mc_is_source_right(w, e, n) || w->t.events[e->from[n]].presumed) continue;
    const McEvent *f = &w->t.events[e->from[n]];
    if (first == NOBODY) first = n;
    for (int p = 0; p < f->n_wrote; p++)
      if (f->wrote[p] == e->reg[n] && !mc_is_right(&w->known, f, p)) return n;
  }
  return first;
}

// Whether all that it was made of is right, and no source only passed by.
static bool is_made_of_right(const Way *w, int at) {
  const McEvent *e = &w->t.events[at];
  for (int n = 0; n < e->n; n++)
    if (e->from[n] >= 0 && w->t.events[e->from[n]].presumed) return false;
  return !has_wrong_source(w, at);
}

typedef struct Step {
  int at, reader;
  bool by_place, done;  // done: the way went on elsewhere
} Step;

// The event in front of which a thread last came by an instruction that it did not run, up to one.
static int passed_by(const Way *w, int pc, int until) {
  for (int i = until < w->t.n ? until : w->t.n - 1; i > 0; i--)
    if (w->t.events[i - 1].pc < pc && w->t.events[i].pc > pc) return i;
  return until;
}

// As far back as sources are wrong.
static Step back_to_right(Way *w, int at, bool by_place, int hop) {
  Step s = {at, NOBODY, by_place, false};
  for (bool moved = true; moved;) {
    const McEvent *e = &w->t.events[s.at];
    const bool place = s.by_place || (e->loads && !mc_is_place_right(&w->known, e));
    moved = false;
    come_by(w->back, e->pc);
    s.done = (e->loads && !s.by_place && back_in_lane(w, s.at, hop)) ||
             (e->loads && !place && back_through_memory(w, s.at, hop));
    if (s.done) return s;
    const int first = place ? e->n_data : 0, end = place || e->loads ? e->n : e->n_data;
    const int wrong = wrong_source(w, e, first, end);
    for (int n = first; n < end && (wrong == NOBODY || n <= wrong); n++) {
      const int skipped = mc_left_out(w, e, n);
      if (skipped == NOBODY) continue;
      back_from_guard(w, skipped, passed_by(w, skipped, s.at), hop);
      s.done = true;
      return s;
    }
    if (wrong != NOBODY) {
      s.at = e->from[wrong];
      s.reader = e->pc;
      moved = true;
      w->back->out.steps++;
    }
    s.by_place = false;
  }
  return s;
}

// One step of several that a PTX instruction became, made of what is right: it may be right, and
// another source of an instruction behind it wrong. Where all ways end so, the first one counts.
//
//   MUFU.RCP R15, R8            R8 is right; div.rn has no value of this
//   FFMA R13, R16, R15, RZ      R16 is wrong
static Step back_past_steps(Way *w, int at, bool by_place, int hop) {
  enum { WAYS = 24 };
  Step first = {.at = NOBODY};
  const int steps = w->back->out.steps;
  for (int i = 0; i < WAYS; i++) {
    const Step s = back_to_right(w, at, by_place, hop);
    McEvent *e = &w->t.events[s.at];
    w->back->out.is_step = false;
    if (s.done || (!mc_is_untold(w, e) && is_made_of_right(w, s.at))) return s;
    if (first.at == NOBODY) first = s;
    e->presumed = true;
    if (s.at == at) break;
  }
  w->back->out.steps = steps;
  w->back->out.is_step = true;
  for (int i = 0; i < w->t.n; i++) w->t.events[i].presumed = false;
  return back_to_right(w, at, by_place, hop);
}

static bool is_wrong_alone(const Way *w, int at) {
  const McEvent *e = &w->t.events[at];
  for (int p = 0; p < e->n_wrote; p++)
    if (mc_is_own(&w->known, e, p)) return false;
  return !e->valid && !has_wrong_source(w, at);
}

// The first time that an instruction was wrong in this way: what a loop's first turn made, and was
// lost, its later ones do not make.
static int first_time(const Way *w, int at) {
  const McEvent *e = &w->t.events[at];
  for (int i = 0; i < at && e->stands; i++)
    if (w->t.events[i].pc == e->pc && w->t.events[i].stands && is_wrong_alone(w, i)) return i;
  return at;
}

static void back_from_event(Way *w, int from, bool by_place, int hop) {
  const Step step = back_past_steps(w, from, by_place, hop);
  if (step.done) return;
  const int at = first_time(w, step.at);
  if (!w->turned) {
    w->turned = true;
    const int turn = mc_wrong_turn(w->back->arena, &w->t, &w->known);
    if (turn != NOBODY && turn < at) {
      back_from_event(w, turn, false, hop);
      return;
    }
  }
  const McEvent *e = &w->t.events[at];
  const int astray = mc_misdirected_source(w, at);
  if (astray != NOBODY) {
    put(w, astray, e->pc, at);
    return;
  }
  int or_pc = mc_maker_of_place(w, at);
  if (or_pc == NOBODY) or_pc = mc_maker_of_missing(w, at, true);
  if (or_pc == NOBODY) or_pc = mc_untold_source(w, at);
  if (or_pc == NOBODY) or_pc = mc_strange_source(w, at);
  if (or_pc == NOBODY && mc_is_untold(w, e)) or_pc = step.reader;
  if (or_pc == NOBODY) or_pc = mc_dead_before(w, at);
  if (or_pc == NOBODY && (e->loads || e->stores) && e->n > e->n_data && e->from[e->n_data] >= 0)
    or_pc = w->t.events[e->from[e->n_data]].pc;
  put(w, w->t.events[at].pc, or_pc, at);
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
    back_from_guard(&w, pc, passed_by(&w, pc, w.t.n), hop);
    return true;
  }
  for (int pc = 0; pc < b->n_code; pc++) {
    bool ran = b->line[pc] != line || !w.t.code[pc].machine;
    for (int k = 0; k < w.t.n && !ran; k++) ran = w.t.events[k].pc == pc;
    const int branch = ran ? NOBODY : mc_past(&w, pc, ptx->when);
    if (branch == NOBODY) continue;
    back_from_guard(&w, w.t.events[branch].pc, branch, hop);
    return true;
  }
  const int narrow = mc_store_below(&w, line, ptx);
  if (narrow != NOBODY) {
    put(&w, w.t.events[narrow].pc, NOBODY, narrow);
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
    right &= mc_is_source_right(&w, e, n) && mc_left_out(&w, e, n) == NOBODY;
  if (right && mc_maker_of_missing(&w, store, true) == NOBODY && hop) return false;
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

static bool is_wrong_in(const Way *w, const McEvent *e, PtxArg reg) {
  for (int p = 0; !e->valid && p < e->n_wrote; p++)
    if (e->wrote[p] == reg && !mc_is_right(&w->known, e, p)) return true;
  return false;
}

// From an instruction that the thread came to and did not carry out: it reads what is wrong, or not
// known, and then most likely its first register.
static void back_from_reading(Way *w, int pc) {
  PtxArg regs[MC_FLOW_SOURCES];
  const int n = w->t.code ? mc_flow_reads(&w->t.code[pc], regs) : 0;
  int first = NOBODY, wrong = NOBODY;
  for (int i = 0; i < n && wrong == NOBODY; i++) {
    const int writer = mc_last_writer(&w->t, regs[i], w->t.n);
    if (writer == NOBODY) continue;
    if (first == NOBODY && regs[i] < MC_FRAME_T) first = writer;
    if (is_wrong_in(w, &w->t.events[writer], regs[i])) wrong = writer;
  }
  come_by(w->back, pc);
  if (wrong != NOBODY)
    back_from_event(w, wrong, false, 0);
  else if (first != NOBODY)
    put(w, w->t.events[first].pc, pc, first);
}

// Whether a thread makes an access more often than the PTX's does: a loop did not end.
static bool is_once_too_often(const Way *w, int at) {
  const McEvent *e = &w->t.events[at];
  if (!e->line || e->line >= w->known.n_lines || (!e->loads && !e->stores)) return false;
  int n = 0;
  for (int i = 0; i <= at; i++) {
    const McEvent *f = &w->t.events[i];
    if (f->line == e->line && (f->loads || f->stores) && f->pc != e->pc) return false;
    n += f->pc == e->pc;
  }
  return w->known.touched[e->line] > 0 && n > w->known.touched[e->line];
}

McFault mc_back_round(Arena *arena, McAgain *again, void *self, const int *line, int n_code) {
  Back b = {.arena = arena, .again = again, .self = self, .line = line, .n_code = n_code};
  b.is_cut = true;
  b.out = (McFault){.pc = NOBODY, .or_pc = NOBODY, .store_pc = NOBODY, .ptx_store_pc = NOBODY};
  const McThread of = mc_last_thread(again, self);
  int before = 0;
  if (of.warp < 0) return b.out;
  Way w = follow(&b, &of);
  const int branch = mc_endless(&w.t, &before);
  if (branch == NOBODY) return b.out;
  const int guard = w.t.code[branch].guard,
            writer = guard < 0 ? NOBODY : mc_last_writer(&w.t, MC_FRAME_T + guard, before);
  come_by(&b, branch);
  if (writer == NOBODY)
    back_from_guard(&w, branch, before, 0);
  else
    back_from_event(&w, writer, false, 0);
  const int more = writer == NOBODY ? NOBODY : mc_once_more(&w, writer);
  if (more != NOBODY) b.out.symptom = mc_symptom_of(&of, &w.t.events[more]);
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
  if (at < 0) {
    back_from_reading(&w, pc);
    return b.out;
  }
  int before = at;
  const int branch = is_once_too_often(&w, at) ? mc_last_branch(&w.t, at, &before) : NOBODY;
  if (branch != NOBODY)
    back_from_guard(&w, branch, before, 0);
  else if (w.t.events[at].line && !mc_comes_by(&w.known, w.t.events[at].line))
    back_from_guard(&w, pc, at, 0);
  else
    back_from_event(&w, at, true, 0);
  return b.out;
}
