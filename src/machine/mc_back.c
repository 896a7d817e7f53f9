// A store → its thread's instructions → values that the PTX does not know → the first of them.
#include "machine/mc_back.h"

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

typedef struct Known {
  Arena *arena;
  uint32_t *slots;
  bool *used;
  int n, capacity;
  int warp, lane, block[3];
} Known;

static bool has(const Known *k, uint32_t value) {
  uint32_t at = value * 2654435761u % (uint32_t)k->capacity;
  while (k->used[at] && k->slots[at] != value) at = (at + 1) % (uint32_t)k->capacity;
  return k->used[at];
}

static void put(Known *k, uint32_t value);

static void grow(Known *k) {
  Known larger = *k;
  larger.capacity = 2 * k->capacity + 1024;
  larger.n = 0;
  larger.slots = ARENA_ARRAY(k->arena, uint32_t, larger.capacity);
  larger.used = ARENA_ARRAY(k->arena, bool, larger.capacity);
  for (int i = 0; i < k->capacity; i++)
    if (k->used[i]) put(&larger, k->slots[i]);
  *k = larger;
}

static void put(Known *k, uint32_t value) {
  if (2 * k->n >= k->capacity) grow(k);
  uint32_t at = value * 2654435761u % (uint32_t)k->capacity;
  while (k->used[at] && k->slots[at] != value) at = (at + 1) % (uint32_t)k->capacity;
  k->n += !k->used[at];
  k->used[at] = true;
  k->slots[at] = value;
}

static bool is_thread(const PtxWarp *w, int warp, int lane, const int block[3], uint32_t mask) {
  return w->index == warp && mask >> lane & 1 &&
         memcmp(w->block->index, block, sizeof w->block->index) == 0;
}

static void learn(void *self, const PtxMachine *m, PtxWarp *w, int pc, uint32_t mask) {
  Known *k = self;
  if (!is_thread(w, k->warp, k->lane, k->block, mask)) return;
  const PtxInst *i = &m->module->code[pc];
  for (int g = 0; g < i->n_groups; g++) {
    const PtxGroup *group = &i->groups[g];
    if (group->kind == PTX_GROUP_PRED) continue;
    for (int n = 0; n < group->n; n++) {
      const uint64_t value = ptx_lanes(m, w, group, n)[k->lane];
      put(k, (uint32_t)value);
      put(k, (uint32_t)(value >> 32));
    }
  }
}

// ---- one thread of the machine code -------------------------------------------------------------

typedef struct Event {
  int pc, n;
  int64_t when;
  int from[SOURCES];  // event that wrote it; NOBODY
  uint32_t read[SOURCES];
  uint32_t wrote[MC_REGISTERS_OF_ONE];
  int n_wrote;
  bool loads;
  uint64_t address;
  PtxSpace space;
} Event;

typedef struct Thread {
  Arena *arena;
  int warp, lane, block[3];
  int *last, n_registers;  // event by register; of predicates behind the registers
  uint32_t *held;          // value by register, in front of the instruction
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
  *e = (Event){.pc = pc, .when = when};
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
  if (!step || t->n >= EVENTS_MAX) return;
  if (!is_thread(w, t->warp, t->lane, t->block, once ? ~0u : mask)) return;
  const int index = t->n;
  Event *e = new_event(t, pc, m->executed);
  read_sources(t, e, step);
  note_address(t, e, step, w);
  note_results(t, e, index, step, w);
}

static Thread follow_thread(Arena *arena, McAgain *again, void *self, const Writer *w) {
  Thread t = {.arena = arena, .warp = w->warp, .lane = w->lane, .n_registers = MC_FRAME_T};
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
  grow(&k);
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

// Goes from an event to the last one whose values that it read are all right. *steps counts.
static int back_to_right(const Thread *t, const Known *known, int at, int *steps) {
  for (bool moved = true; moved;) {
    const Event *e = &t->events[at];
    moved = false;
    for (int n = 0; n < e->n && !moved; n++) {
      const bool wrong = e->from[n] >= 0 && !has(known, e->read[n]);
      if (!wrong) continue;
      at = e->from[n];
      moved = true;
      ++*steps;
    }
  }
  return at;
}

McFault mc_back(Arena *arena, McAgain *again, void *self, uint64_t address) {
  McFault out = {.pc = NOBODY};
  Writer w = writer_of(again, self, true, PTX_SPACE_GLOBAL, address, INT64_MAX);
  out.store_pc = w.pc;
  out.ptx_store_pc = writer_of(again, self, false, PTX_SPACE_GLOBAL, address, INT64_MAX).pc;
  for (int hop = 0; hop < HOPS && w.pc != NOBODY; hop++) {
    const Thread t = follow_thread(arena, again, self, &w);
    const Known known = learn_thread(arena, again, self, &w);
    int at = event_at(&t, w.pc, w.when);
    if (at == NOBODY) return out;
    at = back_to_right(&t, &known, at, &out.steps);
    const Event *e = &t.events[at];
    out.found = true;
    out.pc = e->pc;
    out.value = e->n_wrote ? e->wrote[0] : 0;
    out.thread = w.warp * PTX_LANES + w.lane;
    memcpy(out.block, w.block, sizeof out.block);
    // A load of a right address that brought a wrong value: whoever stored it there goes on.
    if (!e->loads || e->space != PTX_SPACE_SHARED) return out;
    w = writer_of(again, self, true, PTX_SPACE_SHARED, e->address, e->when);
  }
  return out;
}
