// cp.async, from both ends: source addresses and slab addresses → wavefronts.
//
// Copies of 4 and 8 bytes, and those of 16 that say .ca, come through L1, whose data lies in the
// same 32 banks, and lanes on one word do not share it. Each bank of L1 hands out its words in the
// order of the lanes, one a wavefront, and only when the bank that the word goes to takes no other
// one: a lane that has to wait holds up those behind it. So a phase takes at least as many
// wavefronts as the most lanes that one bank of either side is asked for. No counted phase takes
// more than those of both sides together less one: that is the number when every lane waits for all
// that share its source bank and for all that share its slab bank. Of the 588 copies of a kernel
// with all three sizes, an H200 counted just these (driver 580.159.04, 2026-11-23).
//
// Copies of 16 bytes (.cg) bypass L1: their sectors are written as they come from L2, and the
// pipe's counters do not see them. The profiler's per-instruction ones do. One wavefront takes what
// comes from one 128-byte line, goes to one line of the slab, and is moved by the same distance
// modulo 64 bytes; whole sectors of 32 bytes apart from even and odd halves, and each half once. If
// lanes copy to the same 16 bytes, the first is written. That is the least: sectors that come late
// are written on their own, so a kernel can make one wavefront for each piece of 16 bytes
// written.
//
// Measured on an H200 (driver 580.159.04, 2026-11-22): tests/data/h200_copies.jsonl. Of 912 copies
// through L1 the order gives 873 and is never too high, and all lie within the bounds; of 222 past
// it the rule gives 220, the others make one more. In whole kernels (h200_schedules.jsonl) both
// bounds hold for all 40 that have copies.
//
// Worked example, rows of 64 bytes copied to rows of 80: the second row moves by 16 bytes more than
// the first, so its sectors are split into halves: 15 wavefronts for 32 lanes instead of 4.
// Another, eight rows of four words from eight lines whose rows begin in the same bank, each row to
// one bank of its own: 8 lanes for each source bank, 4 for each slab bank, and the second source
// bank can only begin when the first is through with the first row: 8 + 3 = 11 wavefronts.
#include "banks/engine/bank_inside.h"

enum { LINE = BANK_LINE_BYTES, SECTOR_BYTES = 32, HALF_BYTES = 16, MOVE_BYTES = 64 };

typedef enum Piece { WHOLE, EVEN_HALF, ODD_HALF } Piece;

// The facts that lanes written together have in common. A half sector that several of them read is
// written once for each: `again` counts the lanes that read it before.
typedef struct Write {
  int64_t from_line, to_line, moved;
  Piece piece;
  int64_t from, again;
} Write;

// Whether a lane copies the bytes at `from` to `to`.
static bool copies(const int64_t *addr, const int64_t *source, int64_t to, int64_t from) {
  for (int lane = 0; lane < BANK_LANES; lane++)
    if (addr[lane] == to) return source[lane] == from;  // the first one is written
  return false;
}

static bool is_written(const int64_t *addr, int lane) {
  for (int before = 0; before < lane; before++)
    if (addr[before] == addr[lane]) return false;
  return addr[lane] >= 0;
}

static Write write_of(const int64_t *addr, const int64_t *source, int lane) {
  int64_t to = addr[lane], from = source[lane];
  bool whole = copies(addr, source, to ^ HALF_BYTES, from ^ HALF_BYTES);
  // Within a whole sector the halves may change places: a swizzle does that for nothing.
  int64_t grain = whole ? SECTOR_BYTES : HALF_BYTES;
  int64_t moved = (to / grain * grain - from / grain * grain) % MOVE_BYTES;
  if (moved < 0) moved += MOVE_BYTES;
  Piece half = from % SECTOR_BYTES < HALF_BYTES ? EVEN_HALF : ODD_HALF;
  return (Write){from / LINE, to / LINE, moved, whole ? WHOLE : half, from, 0};
}

static bool same_but_again(const Write *a, const Write *b) {
  return a->from_line == b->from_line && a->to_line == b->to_line && a->moved == b->moved &&
         a->piece == b->piece;
}

typedef struct Range {
  int least, most;
} Range;

static Range past_l1(const int64_t *addr, const int64_t *source) {
  Write write[BANK_LANES];
  int n = 0;
  Range range = {0};
  for (int lane = 0; lane < BANK_LANES; lane++) {
    if (!is_written(addr, lane)) continue;
    Write *mine = &write[n];
    *mine = write_of(addr, source, lane);
    for (int i = 0; i < n; i++)
      mine->again += same_but_again(&write[i], mine) && write[i].from == mine->from;
    bool joins = false;
    for (int i = 0; i < n; i++)
      joins = joins || (same_but_again(&write[i], mine) && write[i].again == mine->again);
    range.least += !joins;
    n++;
  }
  range.most = n;
  return range;
}

// Whatever the sources: no wavefront goes to two lines of the slab.
void banks_bound_copy(const int64_t addr[BANK_LANES], BankCount *count) {
  count->profiled = count->profiled_most = 0;
  for (int lane = 0; lane < BANK_LANES; lane++) {
    if (!is_written(addr, lane)) continue;
    bool joins = false;
    for (int before = 0; before < lane; before++)
      joins |= addr[before] >= 0 && addr[before] / LINE == addr[lane] / LINE;
    count->profiled += !joins;
    count->profiled_most++;
  }
}

// ---- through L1 ---------------------------------------------------------------------------------

// The lanes of one phase that take part, by the columns of banks at either end.
typedef struct Phase {
  int n;
  int to[BANK_LANES], from[BANK_LANES];
} Phase;

static Phase phase_of(const BankOp *op, const int64_t *addr, const int64_t *source) {
  Phase phase = {0};
  for (int lane = 0; lane < op->lanes_per_phase; lane++) {
    if (addr[lane] < 0) continue;
    phase.to[phase.n] = (int)(addr[lane] / op->bytes % (LINE / op->bytes));
    phase.from[phase.n++] = (int)(source[lane] / op->bytes % (LINE / op->bytes));
  }
  return phase;
}

// The most lanes that one column is asked for.
static int most_lanes(const int *column, int n) {
  int asked[BANK_COUNT] = {0}, most = 0;
  for (int lane = 0; lane < n; lane++)
    if (++asked[column[lane]] > most) most = asked[column[lane]];
  return most;
}

// Serves one wavefront: the lanes that are left go on, in their order. Returns their number.
static int serve(Phase *phase) {
  uint32_t taken = 0, waits = 0;  // slab columns, source columns
  int left = 0;
  for (int lane = 0; lane < phase->n; lane++) {
    const uint32_t to = 1u << phase->to[lane], from = 1u << phase->from[lane];
    const bool goes = !(waits & from) && !(taken & to);
    waits |= from;  // served, or held up: no lane behind it may pass
    if (goes) {
      taken |= to;
      continue;
    }
    phase->to[left] = phase->to[lane];
    phase->from[left++] = phase->from[lane];
  }
  phase->n = left;
  return left;
}

static int wavefronts_in_order(Phase phase) {
  int wavefronts = phase.n > 0;
  while (phase.n > 0 && serve(&phase) > 0) wavefronts++;
  return wavefronts;
}

BankCount banks_copy_through_l1(const BankOp *op, const int64_t addr[BANK_LANES],
                                const int64_t source[BANK_LANES]) {
  BankCount count = {.known = true, .phases = BANK_LANES / op->lanes_per_phase};
  for (int first = 0; first < BANK_LANES; first += op->lanes_per_phase) {
    const Phase phase = phase_of(op, addr + first, source + first);
    const int wavefronts = wavefronts_in_order(phase);
    count.wavefronts += wavefronts;
    count.ideal += wavefronts > 0;
    const int shared = most_lanes(phase.to, phase.n) + most_lanes(phase.from, phase.n) - 1;
    count.profiled_most += phase.n && shared > wavefronts ? shared : wavefronts;
    if (wavefronts > count.ways) count.ways = wavefronts;
  }
  count.conflicts = count.wavefronts - count.ideal;
  count.profiled = count.wavefronts;
  count.profiled_ideal = count.ideal;
  return count;
}

void banks_copy_past_l1(const BankOp *op, const int64_t addr[BANK_LANES],
                        const int64_t source[BANK_LANES], BankCount *count) {
  const Range range = past_l1(addr, source);
  count->profiled = range.least;
  count->profiled_most = range.most;
  for (int first = 0; first < BANK_LANES; first += op->lanes_per_phase)
    count->ideal += phase_of(op, addr + first, source + first).n > 0;
  count->profiled_ideal = count->ideal;
}
