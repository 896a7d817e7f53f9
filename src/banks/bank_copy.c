// cp.async, from both ends: source addresses and slab addresses → wavefronts.
//
// Copies of 4 and 8 bytes (.ca) come through L1, whose data lies in the same 32 banks: a phase
// takes as many wavefronts as the most lanes that one bank of either side is asked for, and lanes
// on one word do not share it. Copies of 16 bytes (.cg) bypass L1: their sectors are written as
// they come from L2, and the pipe's counters do not see them. The profiler's per-instruction ones
// do. One wavefront takes what comes from one 128-byte line, goes to one line of the slab, and is
// moved by the same distance modulo 64 bytes; whole sectors of 32 bytes apart from even and odd
// halves.
//
// Measured on an H200 (driver 580.159.04, 2026-11-22): tests/data/h200_copies.jsonl. The rules give
// every count where lanes neither read nor write the same bytes, but for patterns in which both
// sides of an L1 copy conflict in different lanes: there the larger one is the least it can be.
//
// Worked example, rows of 64 bytes copied to rows of 80: the second row moves by 16 bytes more than
// the first, so its sectors are split into halves: 15 wavefronts for 32 lanes instead of 4.
#include "banks/bank.h"

enum { LINE = BANK_LINE_BYTES, SECTOR_BYTES = 32, HALF_BYTES = 16, MOVE_BYTES = 64 };

typedef enum Piece { WHOLE, EVEN_HALF, ODD_HALF } Piece;

// What lanes have in common that are written together.
typedef struct Write {
  int64_t from_line, to_line, moved;
  Piece piece;
} Write;

static bool copies(const int64_t *addr, const int64_t *source, int64_t to, int64_t from) {
  for (int lane = 0; lane < BANK_LANES; lane++)
    if (addr[lane] == to && source[lane] == from) return true;
  return false;
}

static Write write_of(const int64_t *addr, const int64_t *source, int lane) {
  int64_t to = addr[lane], from = source[lane];
  bool whole = copies(addr, source, to ^ HALF_BYTES, from ^ HALF_BYTES);
  // Within a whole sector the halves may change places: a swizzle does that for nothing.
  int64_t grain = whole ? SECTOR_BYTES : HALF_BYTES;
  int64_t moved = (to / grain * grain - from / grain * grain) % MOVE_BYTES;
  if (moved < 0) moved += MOVE_BYTES;
  Piece half = from % SECTOR_BYTES < HALF_BYTES ? EVEN_HALF : ODD_HALF;
  return (Write){from / LINE, to / LINE, moved, whole ? WHOLE : half};
}

static bool same(const Write *a, const Write *b) {
  return a->from_line == b->from_line && a->to_line == b->to_line && a->moved == b->moved &&
         a->piece == b->piece;
}

static int bypassing_writes(const int64_t *addr, const int64_t *source) {
  Write seen[BANK_LANES];
  int n = 0;
  for (int lane = 0; lane < BANK_LANES; lane++) {
    if (addr[lane] < 0) continue;
    Write write = write_of(addr, source, lane);
    int at = 0;
    while (at < n && !same(&seen[at], &write)) at++;
    if (at == n) seen[n++] = write;
  }
  return n;
}

// The most lanes of one phase that one bank is asked for.
static int most_lanes(const int64_t *addr, const int64_t *active, int n_lanes, int bytes) {
  int asked[BANK_COUNT] = {0}, most = 0, n_columns = LINE / bytes;
  for (int lane = 0; lane < n_lanes; lane++) {
    if (active[lane] < 0) continue;
    int column = (int)(addr[lane] / bytes % n_columns);
    if (++asked[column] > most) most = asked[column];
  }
  return most;
}

static BankCount through_l1(const BankOp *op, const int64_t *addr, const int64_t *source) {
  BankCount count = {.known = true, .phases = BANK_LANES / op->lanes_per_phase};
  for (int first = 0; first < BANK_LANES; first += op->lanes_per_phase) {
    int to = most_lanes(addr + first, addr + first, op->lanes_per_phase, op->bytes);
    int from = most_lanes(source + first, addr + first, op->lanes_per_phase, op->bytes);
    int wavefronts = to > from ? to : from;
    count.wavefronts += wavefronts;
    count.ideal += wavefronts > 0;
    if (wavefronts > count.ways) count.ways = wavefronts;
  }
  count.conflicts = count.wavefronts - count.ideal;
  count.profiled = count.wavefronts;
  return count;
}

BankCount banks_count_copy(const BankOp *op, const int64_t addr[BANK_LANES],
                           const int64_t source[BANK_LANES]) {
  if (op->kind != BANK_CPASYNC) return banks_count(op, addr);
  if (op->counted) return through_l1(op, addr, source);
  BankCount count = banks_count(op, addr);
  count.profiled = bypassing_writes(addr, source);
  for (int first = 0; first < BANK_LANES; first += op->lanes_per_phase)
    count.ideal += most_lanes(addr + first, addr + first, op->lanes_per_phase, op->bytes) > 0;
  return count;
}
