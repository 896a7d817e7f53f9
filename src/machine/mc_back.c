// A store → its thread's instructions → values that the PTX does not know → the first of them.
#include "machine/mc_back.h"

#include "machine/mc_cubin.h"
#include "machine/mc_run.h"

enum { SOURCES = 12, HOPS = 16, EVENTS_MAX = 1 << 22, NOBODY = -1 };

// ---- who stored ---------------------------------------------------------------------------------

typedef struct Writer {
  PtxSpace space;
  uint64_t address;
  int64_t before;  // lane instructions so far
  const PtxMachine *machine;
  int pc, warp, lane;
  int64_t when;
  int block[3];
} Writer;

static void note_writer(void *self, const PtxAccess *access) {
  Writer *w = self;
  const PtxMachine *m = w->machine;
  if (!access->is_store || !m || m->executed > w->before) return;
  if ((access->space == PTX_SPACE_SHARED) != (w->space == PTX_SPACE_SHARED)) return;
  FOR_LANES(access->mask) {
    const uint64_t from = (uint64_t)access->addr[l];
    if (w->address - from >= (uint64_t)access->bytes) continue;
    w->pc = access->pc;
    w->warp = access->rank * m->block_warps + access->warp;
    w->lane = (int)l;
    w->when = m->executed;
    memcpy(w->block, m->blocks[access->rank].index, sizeof w->block);
  }
}

// Learns which machine it is about: a sink is not told.
static void note_machine(void *self, const PtxMachine *m, PtxWarp *w, int pc, uint32_t mask) {
  (void)w, (void)pc, (void)mask;
  ((Writer *)self)->machine = m;
}

static Writer writer_of(McAgain *again, void *self, bool machine_code, PtxSpace space,
                        uint64_t address, int64_t before) {
  Writer w = {.space = space, .address = address, .before = before, .pc = NOBODY};
  if (!again(self, machine_code, note_machine, note_writer, &w)) w.pc = NOBODY;
  return w;
}

// ---- values of the PTX --------------------------------------------------------------------------

enum { PIECES = 8 };

// The values that an instruction wrote and read, in words of 32 bits.
typedef struct Result {
  int line, n, n_read;
  uint32_t pieces[PIECES], read[PIECES];
} Result;

typedef struct Known {
  Arena *arena;
  Result *results;  // in the order of the thread, by line behind the run
  int n, capacity;
  int warp, lane, block[3];
} Known;

static void keep(Known *k, const Result *result) {
  if (k->n == k->capacity) {
    const int capacity = 2 * k->capacity + 1024;
    Result *larger = ARENA_ARRAY(k->arena, Result, capacity);
    if (k->n) memcpy(larger, k->results, sizeof *larger * (size_t)k->n);
    k->results = larger;
    k->capacity = capacity;
  }
  k->results[k->n++] = *result;
}

static bool is_piece(const Result *r, uint32_t value) {
  for (int i = 0; i < r->n; i++)
    if (r->pieces[i] == value) return true;
  return false;
}

static bool is_thread(const PtxWarp *w, int warp, int lane, const int block[3], uint32_t mask) {
  return w->index == warp && mask >> lane & 1 &&
         memcmp(w->block->index, block, sizeof w->block->index) == 0;
}

// A value that is read is asked for behind the instruction: where that wrote the same register, it
// is lost.
static uint64_t read_before(const PtxMachine *m, PtxWarp *w, const Known *k, const PtxGroup *group,
                            int n) {
  return ptx_lanes(m, w, group, n)[k->lane];
}

static void learn(void *self, const PtxMachine *m, PtxWarp *w, int pc, uint32_t mask) {
  Known *k = self;
  if (k->n >= EVENTS_MAX || !is_thread(w, k->warp, k->lane, k->block, mask)) return;
  const PtxInst *i = &m->module->code[pc];
  Result result = {.line = i->line};
  for (int g = 0; g < i->n_groups; g++) {
    const PtxGroup *group = &i->groups[g];
    if (group->kind != PTX_GROUP_VALUE) continue;
    for (int n = 0; n < group->n && !group->written && result.n_read < PIECES; n++)
      result.read[result.n_read++] = (uint32_t)read_before(m, w, k, group, n);
    for (int n = 0; n < group->n && group->written && result.n + 1 < PIECES; n++) {
      const uint64_t value = ptx_lanes(m, w, group, n)[k->lane];
      result.pieces[result.n++] = (uint32_t)value;
      if (ptx_reg_bits(m, w, group, n) > 32) result.pieces[result.n++] = (uint32_t)(value >> 32);
    }
  }
  if (result.n) keep(k, &result);
}

// How often the thread came by a line, and the nth time; NULL: not so often.
static int times_at(const Known *k, int line, int nth, const Result **out) {
  int times = 0;
  *out = NULL;
  for (int i = 0; i < k->n; i++) {
    if (k->results[i].line != line) continue;
    if (times++ == nth) *out = &k->results[i];
  }
  return times;
}

static bool is_anywhere(const Known *k, uint32_t value) {
  for (int i = 0; i < k->n; i++)
    if (is_piece(&k->results[i], value)) return true;
  return value == 0;
}

// ---- one thread of the machine code -------------------------------------------------------------

typedef struct Event {
  int pc, n;
  int64_t when;
  int from[SOURCES];  // event that wrote it; NOBODY
  uint32_t read[SOURCES];
  uint32_t wrote[MC_REGISTERS_OF_ONE];
  int n_wrote, n_data;  // the first n_data that it read are no addresses
  int line;             // of the PTX
  bool loads;
  uint64_t address;
  PtxSpace space;
} Event;

typedef struct Thread {
  Arena *arena;
  int warp, lane, block[3];
  int *last, n_registers;  // event by register; of predicates behind the registers
  uint32_t *held;          // value by register, in front of the instruction
  const int *line;         // of the PTX, by instruction
  const PtxInst *code;
  int n_code;
  Event *events;
  int n, capacity;
} Thread;

static Event *new_event(Thread *t, int pc, int64_t when) {
  if (t->n == t->capacity) {
    const int capacity = 2 * t->capacity + 1024;
    Event *larger = ARENA_ARRAY(t->arena, Event, capacity);
    if (t->n) memcpy(larger, t->events, sizeof *larger * (size_t)t->n);
    t->events = larger;
    t->capacity = capacity;
  }
  Event *e = &t->events[t->n++];
  *e = (Event){.pc = pc, .when = when, .line = pc < t->n_code ? t->line[pc] : 0};
  return e;
}

static void read_register(const Thread *t, Event *e, PtxArg arg) {
  if (arg < 0 || arg >= t->n_registers || e->n == SOURCES) return;
  e->from[e->n] = t->last[arg];
  e->read[e->n++] = t->held[arg];
}

static void read_sources(const Thread *t, Event *e, const McStep *step) {
  for (int n = 0; n < step->n; n++) {
    const McOperand *o = &step->operands[n];
    if (!o->present || !o->letter || strchr("dpqatkcixjb", o->letter)) continue;
    for (int k = 0; k < o->n; k++) read_register(t, e, o->arg[k]);
  }
  e->n_data = e->n;
  for (int g = 0; g < step->n_gathers; g++) {
    const McGather *gather = &step->gathers[g];
    if (gather->kind != MC_GATHER_ADDRESS && gather->kind != MC_GATHER_SHARED) continue;
    const PtxArg args[] = {gather->low, gather->high, gather->uniform, gather->uniform_high};
    for (int k = 0; k < 4; k++) read_register(t, e, args[k]);
  }
}

static void note_address(const Thread *t, Event *e, const McStep *step, PtxWarp *w) {
  for (int g = 0; g < step->n_gathers; g++) {
    const McGather *gather = &step->gathers[g];
    if (gather->kind != MC_GATHER_ADDRESS && gather->kind != MC_GATHER_SHARED) continue;
    e->loads = step->op->operands[0] == 'd';
    e->space = gather->kind == MC_GATHER_SHARED ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
    e->address = mc_lanes(w, MC_FRAME_T + gather->t)[t->lane];
  }
}

static void note_results(Thread *t, Event *e, int index, const McStep *step, PtxWarp *w) {
  for (int n = 0; n < step->n; n++) {
    const McOperand *o = &step->operands[n];
    if (!o->present || o->letter != 'd') continue;
    for (int k = 0; k < o->n; k++) {
      if (o->arg[k] < 0 || o->arg[k] >= t->n_registers) continue;
      const uint32_t value = (uint32_t)mc_lanes(w, o->arg[k])[t->lane];
      if (e->n_wrote < MC_REGISTERS_OF_ONE) e->wrote[e->n_wrote++] = value;
      t->last[o->arg[k]] = index;
      t->held[o->arg[k]] = value;
    }
  }
}

static void record(void *self, const PtxMachine *m, PtxWarp *w, int pc, uint32_t mask) {
  Thread *t = self;
  const McStep *step = m->module->code[pc].machine;
  const bool once = step && step->is_uniform;
  t->code = m->module->code;
  if (!step || t->n >= EVENTS_MAX) return;
  if (!is_thread(w, t->warp, t->lane, t->block, once ? ~0u : mask)) return;
  const int index = t->n;
  Event *e = new_event(t, pc, m->executed);
  read_sources(t, e, step);
  note_address(t, e, step, w);
  note_results(t, e, index, step, w);
}

static Thread follow_thread(Arena *arena, McAgain *again, void *self, const Writer *w,
                            const int *line, int n_code) {
  Thread t = {.arena = arena,
              .warp = w->warp,
              .lane = w->lane,
              .line = line,
              .n_code = n_code,
              .n_registers = MC_FRAME_T};
  memcpy(t.block, w->block, sizeof t.block);
  t.last = ARENA_ARRAY(arena, int, t.n_registers);
  t.held = ARENA_ARRAY(arena, uint32_t, t.n_registers);
  for (int i = 0; i < t.n_registers; i++) t.last[i] = NOBODY;
  again(self, true, record, NULL, &t);
  return t;
}

static Known learn_thread(Arena *arena, McAgain *again, void *self, const Writer *w) {
  Known k = {.arena = arena, .warp = w->warp, .lane = w->lane};
  memcpy(k.block, w->block, sizeof k.block);
  again(self, false, learn, NULL, &k);
  return k;
}

// ---- the way back -------------------------------------------------------------------------------

// The event of this thread that stored; NOBODY.
static int event_at(const Thread *t, int pc, int64_t when) {
  for (int i = t->n - 1; i >= 0; i--)
    if (t->events[i].pc == pc && t->events[i].when == when) return i;
  return NOBODY;
}

// Which time of its line an event is, and how often the thread comes by.
static int times_of(const Thread *t, int at, int *nth) {
  int times = 0;
  for (int i = 0; i < t->n; i++) {
    if (t->events[i].line != t->events[at].line || !t->events[i].n_wrote) continue;
    if (i == at) *nth = times;
    times++;
  }
  return times;
}

// Whether an instruction's line has one instruction of each: floats, which no compiler rearranges.
static bool is_of_floats(const Thread *t, int at) {
  static const char *const names[] = {"FFMA", "FADD", "FMUL", "HMMA", "HFMA2", "IMMA", "DFMA"};
  const char *name = t->code[t->events[at].pc].machine->op->name;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

// Whether the PTX has the value that an event wrote.
static bool is_right(const Thread *t, const Known *k, int at, uint32_t value) {
  const Event *e = &t->events[at];
  const Result *result;
  int nth = 0;
  const int times = e->line ? times_of(t, at, &nth) : 0;
  const bool one_for_one = e->line && times_at(k, e->line, nth, &result) == times;
  if (one_for_one && is_piece(result, value)) return true;
  // A float is the value of its own line or wrong: no compiler rearranges floats.
  if (one_for_one && is_of_floats(t, at)) return false;
  return is_anywhere(k, value) || is_anywhere(k, value - MC_RESERVED_SHARED);
}

// Goes from an event to the last one whose values that it read are all right; of a load, what it
// brought is looked for first, its address where `addresses` says so. *steps counts.
static int back_to_right(const Thread *t, const Known *known, int at, bool addresses, int *steps) {
  for (bool moved = true; moved;) {
    const Event *e = &t->events[at];
    moved = false;
    for (int n = 0; n < (addresses ? e->n : e->n_data) && !moved; n++) {
      if (e->from[n] < 0 || is_right(t, known, e->from[n], e->read[n])) continue;
      at = e->from[n];
      moved = true;
      ++*steps;
    }
  }
  return at;
}

typedef struct Back {
  Arena *arena;
  McAgain *again;
  void *self;
  const int *line;
  int n_code;
  McFault out;
} Back;

// The instruction that made a value which the PTX reads here and this one does not: it may have put
// it into another register.
static int maker_of_missing(const Thread *t, const Known *k, int at) {
  const Event *e = &t->events[at];
  const Result *result;
  int nth = 0;
  const int times = e->line ? times_of(t, at, &nth) : 0;
  if (!e->line || times_at(k, e->line, nth, &result) != times || !result) return NOBODY;
  for (int r = 0; r < result->n_read; r++) {
    bool is_read = false;
    for (int n = 0; n < e->n; n++) is_read |= e->read[n] == result->read[r];
    for (int i = at - 1; i >= 0 && !is_read; i--)
      for (int n = 0; n < t->events[i].n_wrote; n++)
        if (t->events[i].wrote[n] == result->read[r]) return t->events[i].pc;
  }
  return NOBODY;
}

static void put_fault(Back *b, const Thread *t, const Known *k, int at) {
  b->out.or_pc = maker_of_missing(t, k, at);
  const Event *e = &t->events[at];
  b->out.found = true;
  b->out.pc = e->pc;
  b->out.value = e->n_wrote ? e->wrote[0] : 0;
  b->out.thread = t->warp * PTX_LANES + t->lane;
  memcpy(b->out.block, t->block, sizeof b->out.block);
}

// Follows the thread that stored to the first wrong value of its own; false: the store and all that
// it read is right. A load that brought a wrong value goes on with whoever stored it; where that is
// right, the address was wrong.
static bool back_in_thread(Back *b, const Writer *w, int hop) {
  const Thread t = follow_thread(b->arena, b->again, b->self, w, b->line, b->n_code);
  const Known known = learn_thread(b->arena, b->again, b->self, w);
  const int store = event_at(&t, w->pc, w->when);
  if (store == NOBODY || hop == HOPS) return false;
  const int before = b->out.steps;
  const int at = back_to_right(&t, &known, store, false, &b->out.steps);
  const Event *e = &t.events[at];
  if (e->loads && e->space == PTX_SPACE_SHARED) {
    const Writer next = writer_of(b->again, b->self, true, PTX_SPACE_SHARED, e->address, e->when);
    if (next.pc != NOBODY && back_in_thread(b, &next, hop + 1)) return true;
    put_fault(b, &t, &known, back_to_right(&t, &known, at, true, &b->out.steps));
    return true;
  }
  if (at == store && b->out.steps == before && hop) return false;
  put_fault(b, &t, &known,
            e->loads || at == store ? back_to_right(&t, &known, at, true, &b->out.steps) : at);
  return true;
}

McFault mc_back(Arena *arena, McAgain *again, void *self, const int *line, int n_code,
                uint64_t address) {
  Back b = {.arena = arena, .again = again, .self = self, .line = line, .n_code = n_code};
  const Writer w = writer_of(again, self, true, PTX_SPACE_GLOBAL, address, INT64_MAX);
  b.out.pc = b.out.or_pc = NOBODY;
  b.out.store_pc = w.pc;
  b.out.ptx_store_pc = writer_of(again, self, false, PTX_SPACE_GLOBAL, address, INT64_MAX).pc;
  if (w.pc != NOBODY) back_in_thread(&b, &w, 0);
  return b.out;
}

McFault mc_back_from(Arena *arena, McAgain *again, void *self, const int *line, int n_code, int pc,
                     int thread, const int block[3]) {
  Back b = {.arena = arena, .again = again, .self = self, .line = line, .n_code = n_code};
  b.out = (McFault){.pc = NOBODY, .or_pc = NOBODY, .store_pc = pc, .ptx_store_pc = NOBODY};
  Writer w = {.pc = pc, .warp = thread / PTX_LANES, .lane = thread % PTX_LANES};
  memcpy(w.block, block, sizeof w.block);
  const Thread t = follow_thread(arena, again, self, &w, line, n_code);
  const Known known = learn_thread(arena, again, self, &w);
  int at = t.n - 1;
  while (at >= 0 && t.events[at].pc != pc) at--;
  if (at >= 0) put_fault(&b, &t, &known, back_to_right(&t, &known, at, true, &b.out.steps));
  return b.out;
}
