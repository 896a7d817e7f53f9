// Effects of an issued instruction: queues, pipes, L2, copies, mbarriers, wgmma.
#include <math.h>
#include <string.h>

#include "base/whole.h"
#include "clock/clock_engine.h"
#include "sass/sass_access.h"
#include "sass/sass_product.h"

enum { DMMA = 0x03f };

// The XU has a queue in front of it, so that an instruction for it keeps nothing busy.
int engine_pipe_clocks(const ClockMachine *machine, const SassInst *inst) {
  if (inst->opcode->pipe == SASS_PIPE_XU) return 1;
  const int clocks = sass_is_half_deep(inst)      ? machine->tensor_half_clocks
                     : inst->opcode->bits == DMMA ? machine->tensor_double_clocks
                                                  : machine->pipe_clocks[inst->opcode->pipe];
  return sass_has_f16_sums(inst) ? max_int(1, (int)(clocks * machine->f16_sums_share)) : clocks;
}

static double latency(const Engine *e, double clocks) { return e->in->loads_are_near ? 1 : clocks; }

// ---- scoreboards --------------------------------------------------------------------------------

static int new_due(Engine *e) {
  const int slot = e->free_due;
  if (slot < 0) return e->n_due < ENGINE_DUE_MAX ? e->n_due++ : -1;
  e->free_due = e->due[slot].next;
  return slot;
}

static void close_at(Engine *e, int warp, int scoreboard, double at) {
  EngineWarp *w = &e->warp[warp];
  int64_t when = (int64_t)(at + 0.5);
  when = max64(when, max64(e->now + 1, w->back[scoreboard]));
  when = min64(when, e->now + ENGINE_WHEEL - 1);
  const int slot = new_due(e);
  if (slot < 0) return;
  int *head = &e->wheel[when % ENGINE_WHEEL];
  e->due[slot] = (EngineDue){warp, w->block, scoreboard, *head};
  e->due_at[when % ENGINE_WHEEL / 64] |= UINT64_C(1) << when % 64;
  *head = slot;
  w->back[scoreboard] = when;
}

static void count_open(EngineWarp *w, int scoreboard, int by) {
  const unsigned bit = 1u << scoreboard;
  w->open[scoreboard] += by;
  w->is_open = w->open[scoreboard] ? w->is_open | bit : w->is_open & ~bit;
}

static void note_open(Engine *e, int warp, int scoreboard, ClockCause reason) {
  EngineWarp *w = &e->warp[warp];
  count_open(w, scoreboard, 1);
  w->reason[scoreboard] = reason;
  w->opener[scoreboard] = w->pc;
}

static void engine_open(Engine *e, int warp, int scoreboard, double at, ClockCause reason) {
  if (scoreboard >= SASS_SCOREBOARDS) return;
  note_open(e, warp, scoreboard, reason);
  close_at(e, warp, scoreboard, at);
}

// ---- mbarriers ----------------------------------------------------------------------------------

static EngineMbarrier *mbarrier_at(EngineBlock *block, uint32_t address) {
  enum { OWN = 0xFFFFFF };  // without the rank of a block of the cluster: all do the same
  EngineMbarrier *vacant = NULL;
  for (int i = 0; i < ENGINE_MBARRIERS; i++) {
    EngineMbarrier *one = &block->mbarrier[i];
    if (one->is_there && one->address == (address & OWN)) return one;
    if (!one->is_there && !vacant) vacant = one;
  }
  if (!vacant) return &block->mbarrier[0];
  *vacant = (EngineMbarrier){.address = address & OWN, .is_there = true, .count = 1};
  return vacant;
}

// A warp that asks too early hears so after a while and asks again: whatever the kind of wait, what
// it waits for is seen at a multiple of that. (lab/clock: copies of 8 to 64 rows by TMA are seen
// after 592 clocks, of 128 rows after 742, of 256 after 892.)
static int64_t next_ask(const Engine *e, int64_t since) {
  const int64_t each = max64(1, (int64_t)e->machine->mbarrier_ask_clocks);
  return since + ceil_div(max64(0, e->now - since), each) * each;
}

static void end_phase_if(Engine *e, EngineMbarrier *one) {
  if (one->arrived < one->count || one->bytes > 0.5) return;
  one->phase++;
  one->arrived -= one->count;
  one->bytes = 0;
  for (int i = 0; i < one->n_waiters; i++)
    close_at(e, one->waiter[i].warp, one->waiter[i].scoreboard,
             (double)next_ask(e, one->waiter[i].since) + e->machine->mbarrier_clocks);
  one->n_waiters = 0;
}

// SYNCS: it initialises, asks for a phase, or arrives and may expect bytes.
static void use_mbarrier(Engine *e, int warp, const SassInst *inst, const SassEvent *event) {
  enum { INITIALISES = 0x1b2, ASKS = 2, COUNT_AT = 1, FULL = 0x100000, PARITY = 31 };
  EngineMbarrier *one = mbarrier_at(&e->block[warp / e->in->warps], event->address);
  if (inst->opcode->bits == INITIALISES) {
    *one = (EngineMbarrier){.address = one->address, .is_there = true};
    one->count = max_int(1, (int)(FULL - (event->value >> COUNT_AT)));
    return;
  }
  if (inst->form != ASKS) {
    one->arrived += max_int(1, event->lanes);
    one->bytes += event->value;
    end_phase_if(e, one);
    return;
  }
  if (inst->writes_scoreboard >= SASS_SCOREBOARDS) return;
  const bool waits = (uint32_t)(one->phase & 1) == event->value >> PARITY;
  note_open(e, warp, inst->writes_scoreboard, CLOCK_LONG_SCOREBOARD);
  if (waits && one->n_waiters < ENGINE_WAITERS) {
    one->waiter[one->n_waiters].warp = warp;
    one->waiter[one->n_waiters].since = e->now;
    one->waiter[one->n_waiters++].scoreboard = inst->writes_scoreboard;
  } else
    close_at(e, warp, inst->writes_scoreboard, (double)e->now + e->machine->mbarrier_clocks);
}

static void land(Engine *e, const EngineLanding *what) {
  EngineMbarrier *one = mbarrier_at(&e->block[what->block], what->address);
  one->bytes -= what->bytes;
  end_phase_if(e, one);
}

static void let_land(Engine *e) {
  for (int i = 0; i < e->n_landings;)
    if (e->landing[i].at <= e->now) {
      const EngineLanding what = e->landing[i];
      e->landing[i] = e->landing[--e->n_landings];
      land(e, &what);
    } else
      i++;
}

void engine_let_happen(Engine *e) {
  int *head = &e->wheel[e->now % ENGINE_WHEEL];
  e->due_at[e->now % ENGINE_WHEEL / 64] &= ~(UINT64_C(1) << e->now % 64);
  while (*head >= 0) {
    const int slot = *head;
    EngineDue *due = &e->due[slot];
    // A scoreboard that a block left open when it ended is none of the next block's.
    if (e->warp[due->warp].block == due->block) {
      count_open(&e->warp[due->warp], due->scoreboard, -1);
      engine_wake(e, due->warp);
    }
    *head = due->next;
    due->next = e->free_due;
    e->free_due = slot;
  }
  if (e->n_landings) let_land(e);
}

// ---- far memory ---------------------------------------------------------------------------------

// The share of an instruction's executions at L2 that ask for bytes which the warp has not fetched
// yet, and whose neighbour sector it has not fetched either. Every box counts.
static double new_share(const Engine *e, int pc) {
  const bool is_box = e->in->code->inst[pc].opcode->pipe == SASS_PIPE_CONTROL;
  if (is_box || !e->in->new_share) return 1;
  return e->in->far_share[pc] > 0 ? fmin(1, e->in->new_share[pc] / e->in->far_share[pc]) : 0;
}

// Whether another of so many executions is due: a part of them, at equal distances.
static bool is_due(double *owed, double share) {
  *owed += share;
  if (*owed < 1) return false;
  *owed -= 1;
  return true;
}

static bool is_first(const Engine *e) { return e->new_loads < e->in->missed.loads; }

// Whether a request of the first blocks asks for bytes that nobody has fetched and that L2 has not.
static bool is_cold(Engine *e, int pc) {
  if (!is_first(e) || !is_due(&e->new_owed[pc], new_share(e, pc))) return false;
  e->new_loads++;
  return is_due(&e->dram_owed[pc], e->in->missed.first);
}

// Data from DRAM are farther away: of what the first blocks ask for those that L2 has not, and of
// others as much as it has no room for.
static double far_latency(const Engine *e, int pc, bool cold) {
  const ClockMachine *m = e->machine;
  if (cold) return latency(e, m->cold_clocks);
  const double share = is_first(e) ? 0 : e->in->missed.later * new_share(e, pc);
  return latency(e, m->far_clocks + share * (m->dram_clocks - m->far_clocks));
}

// Bytes in a clock between L2 and this SM: `all` while every SM asks as much, `most` at best.
static double share_of_l2(const Engine *e, double all, double most) {
  return fmin(most, all * fmax(1, e->in->alone) * e->tail);
}

// Bytes in a clock, `rate` where everybody asks for something else. What blocks in step ask for is
// sent for once, as fast as the port takes it that two SMs share.
static double rate_of(const Engine *e, int warp, double rate) {
  const bool in_step = e->block[warp / e->in->warps].in_step;
  if (!in_step || !(e->in->sent_share > 0)) return rate;
  return fmax(rate, fmin(rate / e->in->sent_share, e->machine->far_most_bytes / 2));
}

// When DRAM has given what L2 does not have.
static double take_from_dram(Engine *e, double from, double bytes) {
  if (!(e->in->dram_bytes > 0)) return from;
  if (e->dram_free < from) e->dram_free = from;
  e->dram_free += bytes / e->in->dram_bytes;
  return e->dram_free;
}

// The bytes that an instruction asks L2 for.
typedef struct Asked {
  int warp, pc;
  bool cold;
} Asked;

static double take_from_l2(Engine *e, const Asked *asked, double from, double bytes, double rate) {
  if (e->far_free < from) e->far_free = from;
  e->far_free += bytes / rate_of(e, asked->warp, rate);
  const double given = asked->cold ? take_from_dram(e, from, bytes) : from;
  return fmax(e->far_free, given) + far_latency(e, asked->pc, asked->cold);
}

// The part of a row that lies in a line is asked of L2 at once, which answers all SMs in turn.
static double row_clocks(const Engine *e, const ClockBox *box) {
  enum { SECTOR = 32, LINE = 128 };
  const ClockMachine *m = e->machine;
  const bool is_half = box->bytes < box->rows * SECTOR;
  const double rows = is_half ? box->rows : fmax(box->rows, box->bytes / LINE),
               each = is_half ? m->half_row_clocks : m->row_clocks;
  return rows * fmax(1, each / e->tail);
}

static void copy_box(Engine *e, int warp, int pc, const SassEvent *event) {
  const ClockMachine *m = e->machine;
  const ClockBox box = e->in->box ? e->in->box[pc] : (ClockBox){0, 0};
  if (e->tma_free < (double)e->now) e->tma_free = (double)e->now;
  const double from = e->tma_free;
  e->tma_free += m->box_clocks + row_clocks(e, &box);
  const Asked asked = {warp, pc, is_cold(e, pc)};
  const double bytes = fmin(m->far_most_bytes, m->box_bytes * e->tail);
  const double there =
      fmax(take_from_l2(e, &asked, from, box.bytes, bytes), e->tma_free + m->far_clocks) +
      latency(e, m->tma_clocks);
  const EngineLanding what = {(int64_t)there, warp / e->in->warps, event->address, box.bytes};
  if (e->n_landings < ENGINE_LANDINGS)
    e->landing[e->n_landings++] = what;
  else
    land(e, &what);
}

// ---- the queue of shared and global memory ------------------------------------------------------

static bool is_store(const SassInst *inst) { return inst->opcode->kind == SASS_KIND_STORE; }

static bool is_load(const SassInst *inst) {
  return inst->opcode->kind == SASS_KIND_LOAD || inst->opcode->kind == SASS_KIND_COPY;
}

// Where a part of the executions finds its lines in L1, the others go to L2 at equal distances.
static bool goes_far(Engine *e, int pc) {
  return e->in->far_bytes[pc] > 0 && is_due(&e->owed[pc], e->in->far_share[pc]);
}

static double first_share(const Engine *e, int pc) {
  const double share = e->in->first_share ? e->in->first_share[pc] : 1;
  return share > 0 ? share : 1;
}

// Whether another warp of the block has asked L2 in this turn for what this warp loads; `back`:
// when that has come.
static bool was_asked(Engine *e, int warp, int pc, double *back) {
  const double first = first_share(e, pc);
  if (first >= 1) return false;
  const int n = e->in->code->n, asking = max_int(1, (int)ceil(first * e->in->warps - 1e-6));
  EngineFetch *fetch = &e->fetch[warp / e->in->warps * n + pc];
  const int turn = ++e->came[warp * n + pc];
  *back = 0;
  if (turn < fetch->turn) return true;
  if (turn > fetch->turn) *fetch = (EngineFetch){.turn = turn};
  *back = fetch->back;
  return fetch->asked++ >= asking;
}

static void note_asked(Engine *e, int warp, int pc, double back) {
  EngineFetch *fetch = &e->fetch[warp / e->in->warps * e->in->code->n + pc];
  if (back > fetch->back) fetch->back = back;
}

// A load goes to L1, and to L2 where that has not what it asks for.
static double load_far(Engine *e, int warp, int pc, double leaves) {
  const ClockMachine *m = e->machine;
  const bool local = sass_is_local(&e->in->code->inst[pc]);
  const double near = leaves + latency(e, local ? m->local_clocks : m->near_clocks);
  double back = 0;
  if (!goes_far(e, pc)) return near;
  if (was_asked(e, warp, pc, &back)) return fmax(near, back);
  const Asked asked = {warp, pc, is_cold(e, pc)};
  back = take_from_l2(e, &asked, leaves,
                      e->in->far_bytes[pc] / e->in->far_share[pc] / first_share(e, pc),
                      share_of_l2(e, m->far_bytes, m->far_most_bytes));
  note_asked(e, warp, pc, back);
  return back;
}

// Clocks that an instruction keeps the way between its scheduler and the shared pipe busy: half a
// wavefront goes there in one, or a register of a lane. Stores bring their data along, LDGSTS two
// addresses. (lab/clock/ports.cu: STS.128 every 10 clocks, LDGSTS every 6.)
static int port_clocks(const Engine *e, int pc, double wavefronts) {
  const SassInst *inst = &e->in->code->inst[pc];
  const double registers = is_store(inst)                         ? 1 + inst->bytes / 4.0
                           : inst->opcode->kind == SASS_KIND_COPY ? 3
                                                                  : wavefronts;
  return (int)(e->machine->queue_clocks * fmax(1, registers));
}

static void enter_queue(EngineScheduler *s, double leaves, int pc, bool far) {
  const int at = (s->oldest + s->n_queued) % CLOCK_QUEUE_MAX;
  s->leaves[at] = (int64_t)leaves;
  s->queued[at] = pc;
  if (s->n_queued == CLOCK_QUEUE_MAX) return;
  s->n_queued++;
  s->n_far += far;
}

// Where so much waits to be written that L2 takes no more, a spilled value that is stored holds up
// all that comes behind it on the way to L1 and to shared memory; other stores are not issued. (Of
// three counted kernels that spill, an H200 waits 5.9 to 30 clocks an instruction for loads and 0.1
// to 0.9 in lg_throttle; one of them waits 1.75 for shared memory, which it hardly asks.)
static double wait_for_stores(const Engine *e, double leaves) {
  return fmax(leaves, e->store_free - e->machine->store_queue_clocks);
}

// Copies of 16 bytes are written past the shared pipe, and L1 looks up one of their lines a clock.
// (lab/clock/copies.cu: beside LDSM that keep the pipe busy, eight copies cost 0.5 clocks, whatever
// banks they go to; sixteen whose rows have 32 bytes take 14 clocks each.)
static bool is_past_pipe(const SassInst *inst) {
  return inst->opcode->kind == SASS_KIND_COPY && inst->bytes >= 16;
}

// Clocks from one product of mma.sync to the next, as the last ones came.
static double gap_of_products(const Engine *e, const EngineScheduler *s) {
  return (double)max64(1, max64(s->product_at - s->product_before, e->now - s->product_at));
}

// While products of mma.sync come, one of them reads between any two registers that an access asks
// for; where they come more seldom than they could, in a part of the cases. (LDGSTS behind one
// another in attention kernels on an H200, with products of two other warps: 10.5 clocks each, a
// product's 6 and their own 5; without products they take 6. One LDSM behind each product,
// mma_ldsm1 of lab/clock/sm.cu: 10.75 clocks for both.)
static double reads_between(const Engine *e, const EngineScheduler *s) {
  const double reads = e->in->banks_are_free ? 0 : s->banks.product_reads;
  return reads * fmin(1, reads / gap_of_products(e, s));
}

// So it is between any two accesses of a queue.
static double wait_for_product(const Engine *e, const EngineScheduler *s) {
  return s->queue_free > e->now ? reads_between(e, s) : 0;
}

// Clocks in which the shared pipe stands still for an access that finds the ports taken: where
// those of another scheduler are taken, too, nothing else can go. (lab/clock/taken.cu on an H200, a
// product of 6 clocks and LDS on each scheduler: two of them 10.0 clocks, three 13.4, where the
// pipe takes 8 and 12; an LDS.128 behind every second one 8.5, 8; behind each 16.2, 16. With f16
// sums two LDS 8.6. Two schedulers alone lose nothing.)
static double lost_to_product(const Engine *e, const EngineScheduler *s, double wavefronts) {
  if (!(wavefronts > 0) || e->in->banks_are_free) return 0;
  const double part = fmin(1, e->machine->pipe_clocks[SASS_PIPE_TENSOR] / gap_of_products(e, s));
  return e->machine->product_stall_clocks * s->banks.product_weight * part * part;
}

// Clocks of the shared pipe for an access. A load that no lane carries out, such as ptxas puts in
// front of a copy, takes a third more than another with one wavefront. (lab/clock/entries.cu.)
static double pipe_clocks(const Engine *e, const SassInst *inst, double wavefronts) {
  const bool is_idle = inst->guard == SASS_ALWAYS && inst->guard_is_not;
  return is_idle ? fmin(wavefronts, 1) * e->machine->idle_load_clocks : wavefronts;
}

// A copy of 16 bytes has no wavefronts, but the pipe takes in nothing else while it takes in the
// two addresses of its lanes, and stands still while a product reads between them. LDGDEPBAR, which
// ends a group of copies, is taken in as they are. (lab/clock/entries.cu.)
static void take_in(Engine *e, const EngineScheduler *s, const SassInst *inst, double clocks) {
  const bool is_past = is_past_pipe(inst), ends = inst->opcode->kind == SASS_KIND_COMMIT;
  const double lost =
      is_past ? reads_between(e, s) * s->banks.product_weight : lost_to_product(e, s, clocks);
  e->entry_free += (is_past || ends ? e->machine->copy_entry_clocks : fmin(1, clocks)) + lost;
  e->shared_free += (is_past ? 0 : clocks) + lost;
}

// The clock at which an instruction leaves the queue. The shared pipe takes in one access a clock
// and one wavefront a clock; what goes past it waits for those in front of it to be taken in alone.
static double leave_queue(Engine *e, EngineScheduler *s, const SassInst *inst, double wavefronts) {
  double leaves = (double)max64(e->now, s->queue_free) + wait_for_product(e, s);
  if (e->entry_free < (double)e->now) e->entry_free = (double)e->now;
  if (e->shared_free < (double)e->now) e->shared_free = (double)e->now;
  leaves = fmax(leaves, e->entry_free);
  if (is_past_pipe(inst)) {
    leaves = fmax(leaves, e->lookups_free);
    e->lookups_free = leaves + wavefronts;
  } else
    leaves = fmax(leaves, e->shared_free);
  if (is_store(inst) && sass_is_local(inst)) e->shared_free = leaves = wait_for_stores(e, leaves);
  take_in(e, s, inst, pipe_clocks(e, inst, wavefronts));
  return leaves;
}

// When the result of an instruction that goes through the queue is there, and in `read` when its
// registers have been read: shared memory takes a clock for each wavefront, L1 one for each line,
// L2 a fixed number of bytes a clock, and all answer in order. The shared pipe is never idle while
// a scheduler has something for it.
static double queue_up(Engine *e, EngineScheduler *s, int warp, double *read) {
  const ClockMachine *m = e->machine;
  const int pc = e->warp[warp].pc;
  const SassInst *inst = &e->in->code->inst[pc];
  const bool far = inst->opcode->pipe == SASS_PIPE_FAR;
  const double wavefronts = far ? e->in->lines[pc] : e->in->wavefronts[pc];
  const double leaves = leave_queue(e, s, inst, wavefronts);
  const int port = port_clocks(e, pc, wavefronts);
  s->queue_free = (int64_t)leaves + port;
  enter_queue(s, leaves, pc, far);
  *read = leaves + m->source_clocks + (is_store(inst) ? port - m->queue_clocks : 0);
  if (!far) return leaves + port - m->queue_clocks + latency(e, m->shared_clocks);
  if (is_load(inst)) return load_far(e, warp, pc, leaves);
  if (e->store_free < leaves) e->store_free = leaves;
  e->store_free += e->in->far_bytes[pc] / share_of_l2(e, m->store_bytes, m->store_most_bytes);
  return e->store_free;
}

// ---- barriers -----------------------------------------------------------------------------------

// The last warp that arrives lets all of them go on. Warps that wait for another number stay; a
// warp that only arrives does not wait.
static void arrive(Engine *e, int warp, const SassInst *inst, const SassEvent *event) {
  const int slot = warp / e->in->warps, first = slot * e->in->warps;
  EngineBlock *block = &e->block[slot];
  const int number = event ? (int)(event->address % ENGINE_BARRIERS) : 0;
  const int wanted = event && event->value ? (int)event->value / SASS_LANES : block->n_live;
  EngineWarp *w = &e->warp[warp];
  w->waits = !sass_only_arrives(inst);
  w->barrier = number;
  if (e->barrier_free < (double)e->now) e->barrier_free = (double)e->now;
  e->barrier_free += e->machine->arrival_clocks;
  if (++block->arrived[number] < wanted) return;
  block->arrived[number] = 0;
  const int64_t ready = (int64_t)(e->barrier_free + e->machine->barrier_clocks);
  for (int i = first; i < first + e->in->warps; i++)
    if (e->warp[i].waits && e->warp[i].barrier == number) {
      e->warp[i].waits = false;
      e->warp[i].let_go = ready;
      engine_wake(e, i);
    }
}

// ---- all of them --------------------------------------------------------------------------------

static const SassEvent *next_event(EngineWarp *w) {
  const bool is_there = w->event < w->way->n_events && w->way->event[w->event].at == w->pc;
  return is_there ? &w->way->event[w->event++] : NULL;
}

static ClockCause reason_of(const SassInst *inst) {
  return inst->opcode->pipe == SASS_PIPE_FAR ? CLOCK_LONG_SCOREBOARD : CLOCK_SHORT_SCOREBOARD;
}

static void order(Engine *e, int warp, const SassInst *inst) {
  EngineWarp *w = &e->warp[warp];
  const SassEvent *event = next_event(w);
  if (!event && w->way->told) return;
  if (inst->opcode->kind == SASS_KIND_BARRIER) arrive(e, warp, inst, event);
  if (!event) return;
  if (inst->opcode->kind == SASS_KIND_MBARRIER) use_mbarrier(e, warp, inst, event);
  if (inst->opcode->kind == SASS_KIND_COPY) copy_box(e, warp, w->pc, event);
}

void engine_carry_out(Engine *e, EngineScheduler *s, int warp) {
  EngineWarp *w = &e->warp[warp];
  const SassInst *inst = &e->in->code->inst[w->pc];
  const SassKind kind = inst->opcode->kind;
  const bool queued = engine_is_queued(inst) && kind != SASS_KIND_MBARRIER,
             copies = kind == SASS_KIND_COPY && inst->opcode->pipe == SASS_PIPE_FAR,
             asks = kind == SASS_KIND_MBARRIER && inst->form == 2;
  double back = (double)e->now + e->machine->unit_clocks,
         read = (double)e->now + e->machine->source_clocks;
  if (inst->opcode->pipe == SASS_PIPE_XU) {
    const double taken = fmax((double)e->now, s->unit_free);
    s->unit_free = taken + engine_unit_clocks(e, s);
    back = taken + e->machine->unit_clocks;
  }
  if (queued) back = queue_up(e, s, warp, &read);
  if (copies) {
    e->shared_free += e->in->wavefronts[w->pc] * e->machine->copy_clocks;
    if (back > w->copied) w->copied = back;
  }
  if (kind == SASS_KIND_COMMIT) back = w->copied;
  if (!asks)
    engine_open(e, warp, inst->writes_scoreboard, back,
                kind == SASS_KIND_COMMIT ? CLOCK_LONG_SCOREBOARD : reason_of(inst));
  engine_open(e, warp, inst->reads_scoreboard, read, reason_of(inst));
  if (inst->opcode->pipe == SASS_PIPE_GROUP) engine_multiply_group(e, s, warp, inst);
  engine_take_ports(e, s, inst);
  if (kind == SASS_KIND_BARRIER || kind == SASS_KIND_MBARRIER ||
      (kind == SASS_KIND_COPY && inst->opcode->pipe == SASS_PIPE_CONTROL))
    order(e, warp, inst);
}
