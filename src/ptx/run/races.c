// Remembers which warps touched a byte of shared memory, and tells whether something lies between
// two touches.
//
// Every byte remembers its last writer and its last two readers. A touch by another warp happened
// before now when this warp's clock of that warp has come to it: barriers and mbarriers carry
// clocks from those who arrive to those who wait. Between lanes of one warp a touch is over once
// its lane has come to a barrier of the warp or the block since. Two readers are enough: the writer
// itself may be one, and if any other reader is not ordered, so is, of those that came after the
// last barrier, the last one that is not the writer.
//
//   warp 0 writes at its clock 3, arrives at a barrier (which takes clock 3 along; warp 0 goes on
//   with 4), warp 1 leaves the barrier with clock[0] = 3: ordered. A write at 4 would not be.
#include "ptx/run/run.h"

void ptx_clock_join(uint32_t *into, const uint32_t *from, int n) {
  for (int i = 0; i < n; i++)
    if (from[i] > into[i]) into[i] = from[i];
}

typedef struct Toucher {
  PtxMachine *m;
  PtxWarp *w;
  int lane, thread;
  int64_t offset;
} Toucher;

static void tell(const Toucher *by, PtxFindingKind kind, const PtxTouch *other) {
  PtxFinding *finding = ptx_find(by->m, by->w, kind, by->w->pc, other->pc, 1u << by->lane);
  if (finding->count > 1) return;
  finding->thread = by->thread;
  finding->other_thread = other->thread;
  finding->address = (uint64_t)by->offset;
  finding->space = PTX_SPACE_SHARED;
  finding->bytes = 1;
}

// Whether a wgmma may still read; otherwise the clock at which it was waited for.
static bool is_multiplied(const PtxWarp *owner, const PtxTouch *t, uint32_t *clock) {
  if ((int32_t)(owner->products_done - t->group) <= 0) return true;
  if (owner->products - t->group < PTX_GROUPS_KEPT)
    *clock = owner->products_clock[t->group % PTX_GROUPS_KEPT];
  return false;
}

// The same of any touch: a copy may be on its way, too.
static bool on_its_way(const PtxMachine *m, const PtxTouch *t, uint32_t *clock) {
  *clock = t->clock;
  const PtxWarp *owner = &m->warps[t->thread / PTX_LANES];
  if (t->is_product) return is_multiplied(owner, t, clock);
  if (!t->is_async) return false;
  const int lane = t->thread % PTX_LANES;
  if ((int32_t)(owner->groups_done[lane] - t->group) <= 0) return true;
  if (owner->groups[lane] - t->group < PTX_GROUPS_KEPT)
    *clock = owner->done_clock[lane][t->group % PTX_GROUPS_KEPT];
  return false;
}

static bool is_ordered(const Toucher *by, const PtxTouch *t, uint32_t clock) {
  if (t->thread == by->thread) return true;
  const int other = t->thread / PTX_LANES;
  if (other == by->w->index && t->is_product) return true;
  if (other == by->w->index) return by->w->lane_epoch[t->thread % PTX_LANES] > t->epoch;
  return by->w->clock[other] >= clock;
}

// Holds a touch against an earlier one; true when it is fine.
static bool check(const Toucher *by, const PtxTouch *earlier, bool same_value) {
  if (earlier->clock == 0) return true;
  uint32_t clock;
  if (on_its_way(by->m, earlier, &clock)) {
    tell(by, PTX_FINDING_MISSING_WAIT, earlier);
    return false;
  }
  if (same_value || is_ordered(by, earlier, clock)) return true;
  tell(by, PTX_FINDING_RACE, earlier);
  return false;
}

static void note_read(PtxShadow *shadow, const PtxTouch *now) {
  if (shadow->read.thread != now->thread || shadow->read.clock == 0)
    shadow->other_read = shadow->read;
  shadow->read = *now;
}

static void touch_byte(Toucher *by, PtxShadow *shadow, const PtxTouch *now, PtxTouchKind kind,
                       bool same_value) {
  if (kind == PTX_READS || kind == PTX_MULTIPLIES) {
    check(by, &shadow->write, false);
    note_read(shadow, now);
    return;
  }
  if (!(kind == PTX_ATOMIC && shadow->write.is_atomic)) check(by, &shadow->write, same_value);
  if (check(by, &shadow->read, same_value)) check(by, &shadow->other_read, same_value);
  shadow->write = *now;
  shadow->read.clock = shadow->other_read.clock = 0;
}

void ptx_touch(PtxMachine *m, PtxWarp *w, int lane, int64_t offset, int bytes, PtxTouchKind kind,
               const unsigned char *values) {
  Toucher by = {m, w, lane, ptx_thread(w, lane), offset};
  const PtxTouch now = {.clock = w->clock[w->index],
                        .epoch = w->lane_epoch[lane],
                        .pc = w->pc,
                        .thread = (uint16_t)by.thread,
                        .is_async = kind == PTX_COPIES,
                        .is_atomic = kind == PTX_ATOMIC,
                        .is_product = kind == PTX_MULTIPLIES,
                        .group = kind == PTX_MULTIPLIES ? w->products : w->groups[lane]};
  for (int byte = 0; byte < bytes; byte++, by.offset++) {
    const bool same = values && m->shared.bytes[by.offset] == values[byte];
    touch_byte(&by, &m->shadow[by.offset], &now, kind, same);
  }
}
