// Launch, run again → events of a thread → which of them made a value that the PTX has.
#include "machine/mc_follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "machine/mc_cubin.h"

enum { EVENTS_MAX = 1 << 20 };

static bool is_thread(const PtxWarp *w, const McThread *t, uint32_t mask) {
  return w->index == t->warp && mask >> t->lane & 1 &&
         memcmp(w->block->index, t->block, sizeof w->block->index) == 0;
}

static void *grown(Arena *arena, const void *old, int n, int *capacity, size_t size) {
  if (n < *capacity) return NULL;
  *capacity = 2 * *capacity + 512;
  void *larger = arena_alloc(arena, size * (size_t)*capacity);
  if (n) memcpy(larger, old, size * (size_t)n);
  return larger;
}

static uint64_t hash_word(uint64_t hash, uint64_t word) {
  return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29;
}

static McPiece piece_of(const uint64_t *lanes, int shift, uint32_t mask, int lane) {
  McPiece p = {.value = (uint32_t)(lanes[lane] >> shift),
               .lanes = hash_word(HASH_START, mask),
               .shifted = hash_word(HASH_START, mask)};
  FOR_LANES(mask) {
    const uint32_t value = (uint32_t)(lanes[l] >> shift);
    p.lanes = hash_word(p.lanes, value);
    p.shifted = hash_word(p.shifted, value - MC_RESERVED_SHARED);
    p.varies |= value != p.value;
  }
  return p;
}

// A predicate's lanes; `shifted` gets the lanes of its opposite.
static McPiece piece_of_pred(uint32_t bits, uint32_t mask, int lane) {
  enum { OF_PREDICATE = 0x55 };
  const uint64_t start = hash_word(hash_word(HASH_START, OF_PREDICATE), mask);
  return (McPiece){.value = bits >> lane & 1,
                   .lanes = hash_word(start, bits & mask),
                   .shifted = hash_word(start, ~bits & mask),
                   .varies = (bits & mask) != 0 && (bits & mask) != mask};
}

// ---- the PTX ------------------------------------------------------------------------------------

static void learn_group(McKnown *k, const PtxMachine *m, PtxWarp *w, const PtxGroup *g,
                        McResult *r) {
  const int lane = k->thread.lane;
  if (g->kind == PTX_GROUP_PRED && g->written && g->n && r->n < MC_PIECES)
    r->pieces[r->n++] = piece_of_pred(ptx_pred(m, w, g), r->mask, lane);
  if (g->kind != PTX_GROUP_VALUE) return;
  for (int n = 0; n < g->n && !g->written && r->n_read < MC_PIECES; n++)
    r->read[r->n_read++] = piece_of(ptx_lanes(m, w, g, n), 0, r->mask, lane);
  for (int n = 0; n < g->n && g->written && r->n + 1 < MC_PIECES; n++) {
    const uint64_t *lanes = ptx_lanes(m, w, g, n);
    r->pieces[r->n++] = piece_of(lanes, 0, r->mask, lane);
    if (ptx_reg_bits(m, w, g, n) > 32) r->pieces[r->n++] = piece_of(lanes, 32, r->mask, lane);
  }
}

static void learn(void *self, const PtxMachine *m, PtxWarp *w, int pc, uint32_t mask) {
  McKnown *k = self;
  if (k->n >= EVENTS_MAX || !is_thread(w, &k->thread, mask)) return;
  const PtxInst *i = &m->module->code[pc];
  McResult result = {.line = i->line, .mask = mask, .when = m->executed};
  for (int g = 0; g < i->n_groups; g++) learn_group(k, m, w, &i->groups[g], &result);
  learn_group(k, m, w, &i->pair, &result);
  void *larger = grown(k->arena, k->results, k->n, &k->capacity, sizeof result);
  if (larger) k->results = larger;
  k->results[k->n++] = result;
}

static void learn_touch(void *self, const PtxAccess *access) {
  McKnown *k = self;
  const int lane = k->thread.lane;
  // The block is not told: an address that another block's thread touches is known, too.
  if (access->warp != k->thread.warp || !(access->mask >> lane & 1)) return;
  if (k->n_touches >= EVENTS_MAX) return;
  void *larger = grown(k->arena, k->touches, k->n_touches, &k->cap_touches, sizeof *k->touches);
  if (larger) k->touches = larger;
  k->touches[k->n_touches++] =
      (McTouch){access->inst->line, 0, access->is_store, (uint64_t)access->addr[lane]};
}

static int by_number(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static bool is_counted(const McResult *r) { return r->n || r->n_read; }

static void sort_by_line(McKnown *k) {
  for (int i = 0; i < k->n; i++)
    if (k->results[i].line >= k->n_lines) k->n_lines = k->results[i].line + 1;
  k->count = ARENA_ARRAY(k->arena, int, k->n_lines + 1);
  k->first = ARENA_ARRAY(k->arena, int, k->n_lines + 1);
  k->came = ARENA_ARRAY(k->arena, bool, k->n_lines + 1);
  k->order = ARENA_ARRAY(k->arena, int, k->n + 1);
  for (int i = 0; i < k->n; i++) {
    k->came[k->results[i].line] = true;
    k->count[k->results[i].line] += is_counted(&k->results[i]);
  }
  for (int line = 0; line < k->n_lines; line++)
    k->first[line + 1] = k->first[line] + k->count[line];
  k->touched = ARENA_ARRAY(k->arena, int, k->n_lines + 1);
  for (int i = 0; i < k->n_touches; i++)
    if (k->touches[i].line < k->n_lines) k->touches[i].nth = k->touched[k->touches[i].line]++;
  int *next = ARENA_ARRAY(k->arena, int, k->n_lines + 1);
  for (int i = 0; i < k->n; i++) {
    const int line = k->results[i].line;
    if (is_counted(&k->results[i])) k->order[k->first[line] + next[line]++] = i;
  }
}

McKnown mc_learn(Arena *arena, McAgain *again, void *self, const McThread *thread) {
  McKnown k = {.arena = arena, .thread = *thread};
  again(self, false, learn, learn_touch, &k);
  k.seen = ARENA_ARRAY(arena, uint64_t, k.n * MC_PIECES + 1);
  for (int i = 0; i < k.n; i++)
    for (int p = 0; p < k.results[i].n; p++) k.seen[k.n_seen++] = k.results[i].pieces[p].lanes;
  sort_by_line(&k);
  if (k.n_seen) qsort(k.seen, (size_t)k.n_seen, sizeof *k.seen, by_number);
  return k;
}

int mc_times_at(const McKnown *k, int line, int nth, const McResult **out) {
  *out = NULL;
  if (line < 0 || line >= k->n_lines) return 0;
  if (nth < k->count[line]) *out = &k->results[k->order[k->first[line] + nth]];
  return k->count[line];
}

bool mc_comes_by(const McKnown *k, int line) {
  return line >= 0 && line < k->n_lines && k->came[line];
}

// ---- the machine code ---------------------------------------------------------------------------

static void read_register(const McFollowed *t, McEvent *e, PtxArg arg);

// Numbers and words of constant banks stand where predicates are kept.
static void read_word(const McFollowed *t, McEvent *e, PtxArg arg) {
  if (arg < MC_FRAME_T) read_register(t, e, arg);
}

static void read_register(const McFollowed *t, McEvent *e, PtxArg arg) {
  if (arg < 0 || arg >= MC_FOLLOWED || e->n == MC_SOURCES) return;
  e->from[e->n] = t->last[arg];
  e->reg[e->n] = arg;
  e->read[e->n++] = t->held[arg];
}

static bool is_place(McGatherKind kind) {
  return kind == MC_GATHER_ADDRESS || kind == MC_GATHER_SHARED;
}

static void read_sources(const McFollowed *t, McEvent *e, const McStep *step) {
  for (int n = 0; n < step->n; n++) {
    const McOperand *o = &step->operands[n];
    if (!o->present || !o->letter || strchr("dpatkcixjbv", o->letter)) continue;
    if (o->letter == 'q') {
      if (o->arg[0] != MC_PT && o->arg[0] != MC_FRAME_UP + MC_PT)
        read_register(t, e, MC_FRAME_T + o->arg[0]);
      continue;
    }
    for (int k = 0; k < o->n; k++) read_word(t, e, o->arg[k]);
  }
  e->n_data = e->n;
  for (int g = 0; g < step->n_gathers; g++) {
    const McGather *gather = &step->gathers[g];
    if (!is_place(gather->kind)) continue;
    const PtxArg args[] = {gather->low, gather->high, gather->uniform, gather->uniform_high};
    for (int k = 0; k < 4; k++) read_word(t, e, args[k]);
  }
}

static void note_address(const McFollowed *t, McEvent *e, const McStep *step, PtxWarp *w) {
  for (int g = 0; g < step->n_gathers; g++) {
    const McGather *gather = &step->gathers[g];
    if (!is_place(gather->kind)) continue;
    e->loads = step->op->operands[0] == 'd';
    e->stores = !e->loads;
    e->space = gather->kind == MC_GATHER_SHARED ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
    e->address = mc_lanes(w, MC_FRAME_T + gather->t)[t->thread.lane];
  }
}

static void wrote(McFollowed *t, McEvent *e, int index, PtxArg reg, McPiece piece) {
  t->last[reg] = index;
  t->held[reg] = piece.value;
  if (e->n_wrote == MC_PIECES) return;
  e->wrote[e->n_wrote] = reg;
  e->pieces[e->n_wrote++] = piece;
}

static void note_results(McFollowed *t, McEvent *e, int index, const McStep *step, PtxWarp *w) {
  for (int n = 0; n < step->n; n++) {
    const McOperand *o = &step->operands[n];
    if (!o->present) continue;
    if (o->letter == 'p' && o->arg[0] != MC_PT && o->arg[0] != MC_FRAME_UP + MC_PT)
      wrote(t, e, index, MC_FRAME_T + o->arg[0],
            piece_of_pred(w->frame_preds[o->arg[0]], e->mask, t->thread.lane));
    for (int k = 0; k < o->n && o->letter == 'd'; k++)
      if (o->arg[k] >= 0 && o->arg[k] < MC_FRAME_T)
        wrote(t, e, index, o->arg[k], piece_of(mc_lanes(w, o->arg[k]), 0, e->mask, t->thread.lane));
  }
}

static void record(void *self, const PtxMachine *m, PtxWarp *w, int pc, uint32_t mask) {
  McFollowed *t = self;
  const McStep *step = m->module->code[pc].machine;
  t->code = m->module->code;
  if (!step || t->n >= EVENTS_MAX) return;
  if (!is_thread(w, &t->thread, step->is_uniform ? ~0u : mask)) return;
  const int index = t->n;
  void *larger = grown(t->arena, t->events, t->n, &t->capacity, sizeof *t->events);
  if (larger) t->events = larger;
  McEvent *e = &t->events[t->n++];
  *e = (McEvent){.pc = pc,
                 .name = step->op->name,
                 .when = m->executed,
                 .mask = step->is_uniform ? ~0u : mask,
                 .line = pc < t->n_code ? t->line[pc] : 0};
  read_sources(t, e, step);
  note_address(t, e, step, w);
  note_results(t, e, index, step, w);
}

McFollowed mc_follow_thread(Arena *arena, McAgain *again, void *self, const McThread *thread,
                            const int *line, int n_code) {
  McFollowed t = {.arena = arena, .thread = *thread, .line = line, .n_code = n_code};
  t.last = ARENA_ARRAY(arena, int, MC_FOLLOWED);
  t.held = ARENA_ARRAY(arena, uint32_t, MC_FOLLOWED);
  for (int i = 0; i < MC_FOLLOWED; i++) t.last[i] = MC_NOBODY;
  again(self, true, record, NULL, &t);
  return t;
}

// ---- right values -------------------------------------------------------------------------------

static void count_times(McFollowed *t) {
  int n_lines = 0;
  for (int i = 0; i < t->n; i++)
    if (t->events[i].line >= n_lines) n_lines = t->events[i].line + 1;
  int *times = ARENA_ARRAY(t->arena, int, n_lines + 1);
  for (int i = 0; i < t->n; i++) {
    McEvent *e = &t->events[i];
    e->nth = times[e->line];
    times[e->line] += e->n_wrote || e->stores;
  }
  for (int i = 0; i < t->n; i++) t->events[i].times = times[t->events[i].line];
}

// Whether an instruction's line has one instruction of each: floats, which no compiler rearranges.
static bool is_of_floats(const McEvent *e) {
  static const char *const names[] = {"FFMA", "FADD", "FMUL", "HMMA", "HFMA2", "IMMA", "DFMA"};
  const char *name = e->name;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

static bool is_seen(const McKnown *k, uint64_t lanes) {
  return k->n_seen && bsearch(&lanes, k->seen, (size_t)k->n_seen, sizeof lanes, by_number);
}

static bool has_value(const McResult *r, uint32_t value) {
  for (int i = 0; i < r->n; i++)
    if (r->pieces[i].value == value) return true;
  return false;
}

static bool is_anywhere(const McKnown *k, uint32_t value) {
  for (int i = 0; i < k->n; i++)
    if (has_value(&k->results[i], value)) return true;
  return value == 0;
}

static bool has_lanes(const McResult *r, const McPiece *p) {
  for (int i = 0; i < r->n; i++)
    if (r->pieces[i].lanes == p->lanes || r->pieces[i].lanes == p->shifted) return true;
  return false;
}

// Whether the PTX has results of these very lanes: a value that it does not have is wrong then, or
// one that only the machine code has on its way.
static bool has_mask(const McKnown *k, uint32_t mask) {
  for (int i = 0; i < k->n; i++)
    if (k->results[i].mask == mask) return true;
  return false;
}

static const McResult *same_time(const McKnown *k, const McEvent *e) {
  const McResult *result = NULL;
  return e->line && mc_times_at(k, e->line, e->nth, &result) == e->times ? result : NULL;
}

static bool has_piece(const McResult *r, const McEvent *e, const McPiece *p) {
  return r->mask == e->mask ? has_lanes(r, p) : has_value(r, p->value);
}

bool mc_is_own(const McKnown *k, const McEvent *e, int piece) {
  const McResult *result = same_time(k, e);
  return result && has_piece(result, e, &e->pieces[piece]);
}

bool mc_is_exact(const McKnown *k, const McEvent *e) {
  const McResult *result = same_time(k, e);
  bool exact = result && e->n_wrote, varies = false;
  for (int p = 0; exact && p < e->n_wrote; p++) {
    exact = has_piece(result, e, &e->pieces[p]);
    varies |= e->pieces[p].varies;
  }
  return exact && (varies || is_of_floats(e));
}

bool mc_is_right(const McKnown *k, const McEvent *e, int piece) {
  const McPiece *p = &e->pieces[piece];
  const McResult *result = same_time(k, e);
  // A compiler may make the value of another line here; then a later instruction makes it right.
  if (result) return has_piece(result, e, p);
  if (is_seen(k, p->lanes) || is_seen(k, p->shifted)) return true;
  if (e->wrote[piece] >= MC_FRAME_T || has_mask(k, e->mask)) return false;
  return is_anywhere(k, p->value) || is_anywhere(k, p->value - MC_RESERVED_SHARED);
}

bool mc_is_place_right(const McKnown *k, const McEvent *e) {
  bool is_known = false;
  for (int i = 0; i < k->n_touches; i++) {
    if (k->touches[i].line != e->line || e->line >= k->n_lines) continue;
    is_known = true;
    if (k->touched[e->line] == e->times && k->touches[i].nth != e->nth) continue;
    if (k->touches[i].address == e->address ||
        k->touches[i].address == e->address - MC_RESERVED_SHARED)
      return true;
  }
  return !is_known;
}

bool mc_place(const McKnown *k, const McEvent *e, uint64_t *address) {
  if (!e->line || e->line >= k->n_lines || k->touched[e->line] != e->times) return false;
  for (int i = 0; i < k->n_touches; i++)
    if (k->touches[i].line == e->line && k->touches[i].nth == e->nth) {
      *address = k->touches[i].address;
      return true;
    }
  return false;
}

// A store of what the PTX stores there.
static bool stores_right(const McFollowed *t, const McKnown *k, const McEvent *e) {
  const McResult *result = same_time(k, e);
  if (!e->stores || !result) return false;
  for (int n = 0; n < e->n_data; n++) {
    bool found = false;
    for (int r = 0; r < result->n_read; r++) found |= result->read[r].value == e->read[n];
    if (!found) return false;
  }
  (void)t;
  return true;
}

void mc_validate(McFollowed *t, const McKnown *k) {
  count_times(t);
  for (int i = t->n - 1; i >= 0; i--) {
    McEvent *e = &t->events[i];
    const bool memory = e->loads || e->stores, place = memory && mc_is_place_right(k, e);
    const bool exact = mc_is_exact(k, e) || stores_right(t, k, e);
    e->valid |= mc_is_exact(k, e);
    for (int n = 0; n < e->n; n++) {
      if (e->from[n] < 0) continue;
      McEvent *from = &t->events[e->from[n]];
      for (int p = 0; p < from->n_wrote; p++)
        if (from->wrote[p] == e->reg[n]) from->is_read |= 1u << p;
      from->valid |= n < e->n_data ? exact || (e->valid && !memory) : place && k->touched[e->line];
    }
  }
}
