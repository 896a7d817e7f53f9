// Launch, run again → events of a thread → which of them made a value that the PTX has.
#include "machine/back/mc_follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "machine/mc_cubin.h"

enum { SHARED_MOST = 1 << 18 };

bool mc_is_thread(const PtxWarp *w, const McThread *t, uint32_t mask) {
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

// Most have one or two.
static McPiece *kept(Arena *arena, const McPiece *pieces, int n) {
  return n ? memcpy(arena_alloc(arena, sizeof *pieces * (size_t)n), pieces,
                    sizeof *pieces * (size_t)n)
           : NULL;
}

static const uint32_t sign_bit = UINT32_C(1) << 31;

static uint64_t hash_word(uint64_t hash, uint64_t word) {
  return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29;
}

static McPiece piece_of(const uint64_t *lanes, int shift, uint32_t mask, int lane) {
  bool is_place = true;  // in shared memory
  McPiece p = {.value = (uint32_t)(lanes[lane] >> shift),
               .lanes = hash_word(HASH_START, mask),
               .shifted = hash_word(HASH_START, mask),
               .turned = hash_word(HASH_START, mask)};
  FOR_LANES(mask) {
    const uint32_t value = (uint32_t)(lanes[l] >> shift);
    p.lanes = hash_word(p.lanes, value);
    p.turned = hash_word(p.turned, value ^ sign_bit);
    is_place &= value >= MC_RESERVED_SHARED && value < SHARED_MOST;
    p.shifted = hash_word(p.shifted, value - MC_RESERVED_SHARED);
    p.varies |= value != p.value;
  }
  if (!is_place) p.shifted = p.lanes;
  return p;
}

// A predicate's lanes; `shifted` gets the lanes of its opposite.
static McPiece piece_of_pred(uint32_t bits, uint32_t mask, int lane) {
  enum { OF_PREDICATE = 0x55 };
  const uint64_t start = hash_word(hash_word(HASH_START, OF_PREDICATE), mask);
  return (McPiece){.value = bits >> lane & 1,
                   .lanes = hash_word(start, bits & mask),
                   .shifted = hash_word(start, ~bits & mask),
                   .is_pred = true,
                   .varies = (bits & mask) != 0 && (bits & mask) != mask};
}

McPiece mc_piece(PtxWarp *w, PtxArg reg, uint32_t mask, int lane) {
  if (reg >= MC_FRAME_T) return piece_of_pred(w->frame_preds[reg - MC_FRAME_T], mask, lane);
  return piece_of(mc_lanes(w, reg), 0, mask, lane);
}

// ---- the PTX ------------------------------------------------------------------------------------

// A register that the instruction writes has its new value by now: what was read is not known.
static bool is_written(const PtxMachine *m, const PtxInst *i, PtxArg arg) {
  for (int g = 0; g < i->n_groups; g++)
    for (int n = 0; n < i->groups[g].n; n++)
      if (i->groups[g].written && i->groups[g].kind == PTX_GROUP_VALUE &&
          m->module->args[i->groups[g].at + n] == arg)
        return true;
  return false;
}

static void learn_group(McKnown *k, const PtxMachine *m, PtxWarp *w, const PtxInst *i,
                        const PtxGroup *g, McResult *r) {
  const int lane = k->thread.lane;
  if (g->kind == PTX_GROUP_PRED && g->written && g->n && r->n < MC_PIECES)
    r->pieces[r->n++] = piece_of_pred(ptx_pred(m, w, g), r->mask, lane);
  if (g->kind != PTX_GROUP_VALUE) return;
  for (int n = 0; n < g->n && !g->written && r->n_read < MC_PIECES; n++)
    if (!is_written(m, i, m->module->args[g->at + n]))
      r->read[r->n_read++] = piece_of(ptx_lanes(m, w, g, n), 0, r->mask, lane);
  for (int n = 0; n < g->n && g->written && r->n + 1 < MC_PIECES; n++) {
    const uint64_t *lanes = ptx_lanes(m, w, g, n);
    r->pieces[r->n++] = piece_of(lanes, 0, r->mask, lane);
    if (ptx_reg_bits(m, w, g, n) > 32) r->pieces[r->n++] = piece_of(lanes, 32, r->mask, lane);
  }
}

static void learn(void *self, const PtxMachine *m, PtxWarp *w, int pc, uint32_t mask) {
  McKnown *k = self;
  const int touch = k->touch;
  k->touch = MC_NOBODY;
  if (k->n >= MC_EVENTS_MAX || !mc_is_thread(w, &k->thread, mask)) return;
  const PtxInst *i = &m->module->code[pc];
  McPiece pieces[MC_PIECES], read[MC_PIECES];
  McResult result = {.line = i->line,
                     .mask = mask,
                     .when = m->executed,
                     .touch = touch,
                     .pieces = pieces,
                     .read = read};
  result.name = i->row ? i->row->name : NULL;
  for (int g = 0; g < i->n_groups; g++) learn_group(k, m, w, i, &i->groups[g], &result);
  learn_group(k, m, w, i, &i->pair, &result);
  result.pieces = kept(k->arena, pieces, result.n);
  result.read = kept(k->arena, read, result.n_read);
  void *larger = grown(k->arena, k->results, k->n, &k->capacity, sizeof result);
  if (larger) k->results = larger;
  k->results[k->n++] = result;
}

static void learn_touch(void *self, const PtxAccess *access) {
  McKnown *k = self;
  const int lane = k->thread.lane;
  const bool is_source = ptx_meant(access->inst)->run == run_cp_async && !access->is_store;
  // The block is not told: an address that another block's thread touches is known, too.
  if (access->warp != k->thread.warp || !(access->mask >> lane & 1)) return;
  if (k->n_touches >= MC_EVENTS_MAX) return;
  if (is_source) {
    if (k->touch >= 0) k->touches[k->touch].source = (uint64_t)access->addr[lane];
    return;
  }
  void *larger = grown(k->arena, k->touches, k->n_touches, &k->cap_touches, sizeof *k->touches);
  if (larger) k->touches = larger;
  k->touch = k->n_touches;
  k->touches[k->n_touches++] = (McTouch){.line = access->inst->line,
                                         .is_store = access->is_store,
                                         .bytes = access->bytes,
                                         .address = (uint64_t)access->addr[lane]};
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
  McKnown k = {.arena = arena, .thread = *thread, .touch = MC_NOBODY};
  again(self, false, learn, learn_touch, &k);
  k.seen = ARENA_ARRAY(arena, uint64_t, k.n * MC_PIECES + 1);
  for (int i = 0; i < k.n; i++)
    for (int p = 0; p < k.results[i].n; p++) k.seen[k.n_seen++] = k.results[i].pieces[p].lanes;
  sort_by_line(&k);
  mc_learn_loads(&k);
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
    e->negates |= o->flip != 0;
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

static void note_address(McFollowed *t, McEvent *e, const McStep *step, PtxWarp *w) {
  for (int g = 0; g < step->n_gathers; g++) {
    const McGather *gather = &step->gathers[g];
    if (!is_place(gather->kind)) continue;
    const uint64_t *lanes = mc_lanes(w, MC_FRAME_T + gather->t);
    if (e->stores) {  // a copy's second one
      e->source = lanes[t->thread.lane];
      continue;
    }
    e->loads = step->op->operands[0] == 'd';
    e->stores = !e->loads;
    e->space = gather->kind == MC_GATHER_SHARED ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
    e->address = lanes[t->thread.lane];
    e->loads_words = e->loads && mc_loads_words(step);
    if (strcmp(step->op->name, "LDSM") != 0) continue;
    uint64_t *rows = arena_alloc(t->arena, sizeof *rows * PTX_LANES);
    memcpy(rows, lanes, sizeof *rows * PTX_LANES);
    e->rows = rows;
  }
}

static void wrote(McFollowed *t, McEvent *e, int index, PtxArg reg, PtxWarp *w) {
  const McPiece piece = mc_piece(w, reg, e->mask, t->thread.lane);
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
      wrote(t, e, index, MC_FRAME_T + o->arg[0], w);
    for (int k = 0; k < o->n && o->letter == 'd'; k++)
      if (o->arg[k] >= 0 && o->arg[k] < MC_FRAME_T) wrote(t, e, index, o->arg[k], w);
  }
}

static void record(void *self, const PtxMachine *m, PtxWarp *w, int pc, uint32_t mask) {
  McFollowed *t = self;
  const McStep *step = m->module->code[pc].machine;
  t->code = m->module->code;
  if (!step || t->n >= t->most) return;
  if (!mc_is_thread(w, &t->thread, step->is_uniform ? ~0u : mask)) return;
  const int index = t->n;
  void *larger = grown(t->arena, t->events, t->n, &t->capacity, sizeof *t->events);
  if (larger) t->events = larger;
  McPiece pieces[MC_PIECES];
  McEvent *e = &t->events[t->n++];
  *e = (McEvent){.pc = pc,
                 .pieces = pieces,
                 .name = step->op->name,
                 .when = m->executed,
                 .mask = step->is_uniform ? ~0u : mask,
                 .line = pc < t->n_code ? t->line[pc] : 0};
  read_sources(t, e, step);
  note_address(t, e, step, w);
  note_results(t, e, index, step, w);
  e->pieces = kept(t->arena, pieces, e->n_wrote);
}

McFollowed mc_follow_thread(Arena *arena, McAgain *again, void *self, const McThread *thread,
                            const int *line, int n_code, int most) {
  McFollowed t = {.arena = arena, .thread = *thread, .line = line, .n_code = n_code, .most = most};
  t.last = ARENA_ARRAY(arena, int, MC_FOLLOWED);
  t.held = ARENA_ARRAY(arena, uint32_t, MC_FOLLOWED);
  for (int i = 0; i < MC_FOLLOWED; i++) t.last[i] = MC_NOBODY;
  again(self, true, record, NULL, &t);
  return t;
}

// ---- right values -------------------------------------------------------------------------------

// One instruction for one of the PTX: floats, which no compiler rearranges, and accesses.
// `sources`: values that the PTX's instruction reads; 0: not looked at.
typedef struct McAlike {
  const char *name, *in_ptx;
  int sources;
  bool is_access;
} McAlike;

// As many as the event reads; any of them, of which some are numbers.
enum { ITS_DATA = -1, ITS_ANY = -2 };

static const McAlike *alike_of(const char *name) {
  static const McAlike rows[] = {{"FFMA", " fma mad ", 3, false},
                                 {"FADD", " add sub ", 2, false},
                                 {"FMUL", " mul ", 2, false},
                                 {"FMNMX", " min max ", 2, false},
                                 {"HMMA", " mma wmma ", ITS_DATA, false},
                                 {"IMMA", " mma wmma ", ITS_DATA, false},
                                 {"HFMA2", " fma add sub mul ", 0, false},
                                 {"DFMA", " fma mad ", 0, false},
                                 {"HADD2", " cvt add sub ", 0, false},
                                 {"SHFL", " shfl ", ITS_ANY, true},
                                 {"STS", " st ", ITS_DATA, true},
                                 {"STG", " st ", ITS_DATA, true},
                                 {"ST", " st ", ITS_DATA, true},
                                 {"LDS", " ld ", 0, true},
                                 {"LDG", " ld ", 0, true},
                                 {"LD", " ld ", 0, true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].name, name) == 0) return &rows[i];
  return NULL;
}

// Whether an instruction is the one that the PTX has in its line, by what it is.
static bool is_alike_to(const McEvent *e, const McResult *first) {
  const McAlike *row = alike_of(e->name);
  if (!row || !first || !first->name) return false;
  const char *at = strstr(row->in_ptx, first->name);
  return at && at[-1] == ' ' && at[strlen(first->name)] == ' ';
}

// A word of a constant bank is fetched for the instruction that has it as an operand in PTX.
static bool is_fetched(const McEvent *e) {
  return strcmp(e->name, "ULDC") == 0 || strcmp(e->name, "LDC") == 0;
}

// A line's instructions stand for those of the PTX by their order: those alike, where they are as
// many, else all but fetched words, else those.
typedef struct McTimes {
  int alike, others, fetched;
  int next[2];
  int pc;  // of the last one
  bool several;
} McTimes;

// A thread that was stopped came by less often.
static bool fits(const McFollowed *t, int n, int in_ptx) {
  return n == in_ptx || (t->is_cut && n < in_ptx);
}

static void count_times(McFollowed *t, const McKnown *k) {
  int n_lines = 0;
  for (int i = 0; i < t->n; i++)
    if (t->events[i].line >= n_lines) n_lines = t->events[i].line + 1;
  McTimes *lines = ARENA_ARRAY(t->arena, McTimes, n_lines + 1);
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < t->n; i++) {
      McEvent *e = &t->events[i];
      McTimes *line = &lines[e->line];
      const McResult *first;
      const int in_ptx = mc_times_at(k, e->line, 0, &first);
      const bool is_alike = is_alike_to(e, first), counts = e->n_wrote || e->stores;
      if (pass == 0) {
        *(is_alike ? &line->alike : is_fetched(e) ? &line->fetched : &line->others) += counts;
        if (!counts || is_fetched(e)) continue;
        line->several |= line->pc && line->pc != e->pc;
        line->pc = e->pc;
        continue;
      }
      const bool by_alike = line->alike && fits(t, line->alike, in_ptx);
      const int all = line->others + line->alike;
      const bool is_other = by_alike ? !is_alike : all && is_fetched(e);
      e->is_sum = is_alike && !alike_of(e->name)->is_access;
      e->stands = by_alike && is_alike;
      e->nth = line->next[is_other];
      line->next[is_other] += counts;
      e->times = is_other ? MC_NOBODY : by_alike ? line->alike : all ? all : line->fetched;
      if (t->is_cut && !is_other && (by_alike || !line->several) && e->times < in_ptx)
        e->times = in_ptx;
    }
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

// A predicate beside a value has no line of its own in PTX.
static bool is_untold(const McResult *r, const McPiece *p) {
  for (int i = 0; i < r->n; i++)
    if (r->pieces[i].is_pred) return false;
  return p->is_pred;
}

static bool has_piece(const McResult *r, const McEvent *e, const McPiece *p) {
  return r->mask == e->mask ? has_lanes(r, p) : has_value(r, p->value);
}

static bool is_read(const McPiece *read, const McPiece *value, bool same_lanes) {
  return same_lanes ? read->lanes == value->lanes : read->value == value->value;
}

static bool is_opposite_read(const McPiece *read, const McPiece *value, bool same_lanes) {
  return same_lanes ? read->lanes == value->turned : read->value == (value->value ^ sign_bit);
}

// A source may be the opposite of what the PTX reads where the instruction turns it round again, or
// the PTX subtracts, or two factors have the other sign.
static bool may_be_opposite(const McEvent *e, const McResult *result) {
  if (e->negates || strcmp(result->name, "sub") == 0) return true;
  int n = 0;
  for (int i = 0; i < e->n_data; i++)
    for (int r = 0; r < result->n_read; r++) n += result->read[r].value == (e->read[i] ^ sign_bit);
  return n > 1;
}

McReading mc_reading(const McKnown *k, const McEvent *e, const McEvent *from, int piece) {
  const McResult *result = e->stands ? same_time(k, e) : NULL;
  const McAlike *row = alike_of(e->name);
  const int sources = row && row->sources == ITS_DATA ? e->n_data : row ? row->sources : 0;
  if (!result || !sources || (sources != ITS_ANY && result->n_read != sources))
    return MC_READS_UNKNOWN;
  // x + x in place of x + y: the value is another source's where a shuffle did nothing.
  const uint32_t value = from->pieces[piece].value;
  int here = 0, in_ptx = 0;
  for (int n = 0; n < e->n_data; n++) here += e->read[n] == value;
  for (int r = 0; r < result->n_read; r++) in_ptx += result->read[r].value == value;
  if (in_ptx && here > in_ptx && !mc_is_right(k, from, piece)) return MC_READS_UNKNOWN;
  const bool opposite = may_be_opposite(e, result);
  const bool same_lanes = result->mask == from->mask;
  for (int r = 0; r < result->n_read; r++)
    if (is_read(&result->read[r], &from->pieces[piece], same_lanes) ||
        (opposite && is_opposite_read(&result->read[r], &from->pieces[piece], same_lanes)))
      return MC_READS_RIGHT;
  return MC_READS_WRONG;
}

bool mc_is_own(const McKnown *k, const McEvent *e, int piece) {
  const McResult *result = same_time(k, e);
  return result && has_piece(result, e, &e->pieces[piece]);
}

bool mc_is_told(const McKnown *k, const McEvent *e) {
  const McResult *result = e->stands ? same_time(k, e) : NULL;
  return result && result->n >= e->n_wrote;
}

bool mc_is_exact(const McKnown *k, const McEvent *e) {
  const McResult *result = same_time(k, e);
  bool exact = result && e->n_wrote, varies = false;
  for (int p = 0; exact && p < e->n_wrote; p++) {
    exact = has_piece(result, e, &e->pieces[p]);
    varies |= e->pieces[p].varies;
  }
  const McAlike *row = alike_of(e->name);
  return exact && (varies || (row && !row->is_access));
}

bool mc_is_right(const McKnown *k, const McEvent *e, int piece) {
  const McPiece *p = &e->pieces[piece];
  if (mc_is_load_known(e, piece)) return mc_is_load_right(k, e, piece);
  const McResult *result = same_time(k, e);
  // A compiler may make the value of another line here; then a later instruction makes it right.
  if (result && (has_piece(result, e, p) || is_untold(result, p))) return true;
  if (result && !(e->loads && result->n < e->n_wrote)) return false;
  if (is_seen(k, p->lanes) || is_seen(k, p->shifted)) return true;
  if (e->wrote[piece] >= MC_FRAME_T || has_mask(k, e->mask)) return false;
  return is_anywhere(k, p->value) || is_anywhere(k, p->value - MC_RESERVED_SHARED);
}

// One access may stand for several of the PTX: its line is that of one of them.
static uint64_t bytes_of(const McEvent *e) {
  const int registers = e->loads_words ? e->n_wrote : e->stores ? e->n_data : 1;
  return registers > 1 ? 4 * (uint64_t)registers : 1;
}

bool mc_is_place_right(const McKnown *k, const McEvent *e) {
  const uint64_t reserved = e->space == PTX_SPACE_SHARED ? MC_RESERVED_SHARED : 0;
  bool is_known = false;
  for (int i = 0; i < k->n_touches; i++) {
    if (k->touches[i].line != e->line || e->line >= k->n_lines) continue;
    is_known = true;
    if (k->touched[e->line] == e->times && k->touches[i].nth != e->nth) continue;
    if (e->source && k->touches[i].source && k->touches[i].source != e->source) continue;
    if (k->touches[i].address - (e->address - reserved) < bytes_of(e)) return true;
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

static int count_of(const uint32_t *values, int n, uint32_t value) {
  int times = 0;
  for (int i = 0; i < n; i++) times += values[i] == value;
  return times;
}

// A store of what the PTX stores there, each value as often.
static bool stores_right(const McKnown *k, const McEvent *e) {
  const McResult *result = same_time(k, e);
  if (!e->stores || !result) return false;
  uint32_t values[MC_PIECES];
  for (int r = 0; r < result->n_read; r++) values[r] = result->read[r].value;
  for (int n = 0; n < e->n_data; n++)
    if (count_of(e->read, e->n_data, e->read[n]) > count_of(values, result->n_read, e->read[n]))
      return false;
  return true;
}

void mc_validate(McFollowed *t, const McKnown *k) {
  count_times(t, k);
  mc_match_loads(t, k);
  for (int i = t->n - 1; i >= 0; i--) {
    McEvent *e = &t->events[i];
    const bool memory = e->loads || e->stores, place = memory && mc_is_place_right(k, e);
    const bool exact = mc_is_exact(k, e) || stores_right(k, e);
    e->valid |= mc_is_exact(k, e);
    for (int n = 0; n < e->n; n++) {
      if (e->from[n] < 0) continue;
      McEvent *from = &t->events[e->from[n]];
      bool wrong = false;
      for (int p = 0; p < from->n_wrote; p++)
        if (from->wrote[p] == e->reg[n]) {
          from->is_read |= 1u << p;
          wrong = n < e->n_data && mc_reading(k, e, from, p) == MC_READS_WRONG;
        }
      if (wrong) continue;
      from->valid |= n < e->n_data ? exact || (e->valid && !memory) : place && k->touched[e->line];
    }
  }
}
