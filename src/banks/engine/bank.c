// The bank rules, measured: lane addresses → phases → wavefronts.
//
// One idea carries all widths. An access of W bytes is aligned to W, so it covers whole "units" of
// max(4, W) bytes, and two lanes either ask for the same unit or for disjoint ones. The 128 bytes
// of a bank line are 128 / unit columns; a unit always lies in one column, and the words of a unit
// collide with exactly the words of the other units in that column. So the wavefronts of a phase
// are the most distinct units (for cp.async: the most lanes) that one column is asked for.
//
// The rules, as an H200's counters show them (data/facts/h200_wavefronts.jsonl has every
// measurement):
//   phases   all 32 lanes up to 4 bytes, half-warps for 8, quarter-warps for 16, eight rows for
//            each 8x8 matrix of ldmatrix and stmatrix (.trans changes nothing)
//   sharing  lanes on one word are served together, in loads and stores; cp.async does not share
//   merging  a load of 8 or 16 bytes in which every pair (l, l^1), or every pair (l, l^2), reads
//            one address runs its phases two by two; an inactive lane agrees with anything
//   bounds   cp.async of 16 bytes bypasses L1, and the pipe's own counter has none of it; the
//            profiler's has, between two bounds: bank_copy.c, which asks for the sources too
//
// Worked example: lds64 with address 8 * (lane / 2). Pairs (l, l^1) agree, so the two half-warps
// merge into one phase of 32 lanes; it asks for 16 units of 8 bytes, one in each of the 16 columns:
// 1 wavefront, ideal 1. With address 8 * lane nothing merges: 2 phases of 16 units, 2 wavefronts,
// ideal 2. With address 64 * lane the units fall in columns 0 and 8 only: 8 wavefronts for each
// half-warp, 16 in all, ideal 2, conflicts 14, 8 ways.
#include "banks/engine/bank.h"

#include <assert.h>
#include <string.h>

#include "banks/engine/bank_inside.h"

#define LDS(n, width, suffix, type, lanes, merges)                                       \
  {                                                                                      \
    .name = "lds" n, .sass = "LDS" suffix, .ptx = "ld.shared." type, .kind = BANK_LOAD,  \
    .bytes = width, .n_addresses = 32, .lanes_per_phase = lanes, .merges_pairs = merges, \
    .shares_words = true, .counted = true                                                \
  }
#define STS(n, width, suffix, type, lanes)                                               \
  {                                                                                      \
    .name = "sts" n, .sass = "STS" suffix, .ptx = "st.shared." type, .kind = BANK_STORE, \
    .bytes = width, .n_addresses = 32, .lanes_per_phase = lanes, .shares_words = true,   \
    .counted = true                                                                      \
  }
#define MATRIX(n, instruction, k, suffix, verb, form, matrices)                               \
  {                                                                                           \
    .name = n, .sass = instruction suffix, .ptx = verb ".sync.aligned.m8n8." form, .kind = k, \
    .bytes = 16, .n_addresses = 8 * (matrices), .lanes_per_phase = 8, .shares_words = true,   \
    .counted = true                                                                           \
  }
#define LDSM(form, suffix, ptx_form, matrices) \
  MATRIX("ldsm_" form, "LDSM.16.", BANK_LDMATRIX, suffix, "ldmatrix", ptx_form, matrices)
#define STSM(form, suffix, ptx_form, matrices) \
  MATRIX("stsm_" form, "STSM.16.", BANK_STMATRIX, suffix, "stmatrix", ptx_form, matrices)
#define CPASYNC(n, width, spelling, cache, lanes, known)                               \
  {                                                                                    \
    .name = "cpasync" n, .sass = spelling, .ptx = "cp.async." cache ".shared.global",  \
    .kind = BANK_CPASYNC, .bytes = width, .n_addresses = 32, .lanes_per_phase = lanes, \
    .counted = known                                                                   \
  }

static const BankOp OPS[] = {
    LDS("8", 1, ".U8", "u8", 32, false),
    LDS("16", 2, ".U16", "u16", 32, false),
    LDS("32", 4, "", "b32", 32, false),
    LDS("64", 8, ".64", "v2.b32", 16, true),
    LDS("128", 16, ".128", "v4.b32", 8, true),
    STS("8", 1, ".U8", "u8", 32),
    STS("16", 2, ".U16", "u16", 32),
    STS("32", 4, "", "b32", 32),
    STS("64", 8, ".64", "v2.b32", 16),
    STS("128", 16, ".128", "v4.b32", 8),
    LDSM("x1", "M88", "x1.shared.b16", 1),
    LDSM("x2", "M88.2", "x2.shared.b16", 2),
    LDSM("x4", "M88.4", "x4.shared.b16", 4),
    LDSM("x1t", "MT88", "x1.trans.shared.b16", 1),
    LDSM("x2t", "MT88.2", "x2.trans.shared.b16", 2),
    LDSM("x4t", "MT88.4", "x4.trans.shared.b16", 4),
    STSM("x1", "M88", "x1.shared.b16", 1),
    STSM("x2", "M88.2", "x2.shared.b16", 2),
    STSM("x4", "M88.4", "x4.shared.b16", 4),
    STSM("x1t", "MT88", "x1.trans.shared.b16", 1),
    STSM("x2t", "MT88.2", "x2.trans.shared.b16", 2),
    STSM("x4t", "MT88.4", "x4.trans.shared.b16", 4),
    CPASYNC("4", 4, "LDGSTS.E", "ca", 32, true),
    CPASYNC("8", 8, "LDGSTS.E.64", "ca", 16, true),
    CPASYNC("16", 16, "LDGSTS.E.BYPASS.128", "cg", 8, false),
    CPASYNC("16ca", 16, "LDGSTS.E.128", "ca", 8, true),
};

int banks_op_count(void) { return (int)(sizeof OPS / sizeof OPS[0]); }

const BankOp *banks_op_at(int index) {
  assert(index >= 0 && index < banks_op_count());
  return &OPS[index];
}

const BankOp *banks_op_find(const char *name) {
  for (int i = 0; i < banks_op_count(); i++)
    if (strcmp(OPS[i].name, name) == 0) return &OPS[i];
  return NULL;
}

const char *banks_phase_noun(const BankOp *op, int lanes) {
  if (op->kind == BANK_LDMATRIX || op->kind == BANK_STMATRIX) return "matrix";
  return lanes == 32 ? "whole warp" : lanes == 16 ? "half-warp" : "quarter-warp";
}

static int unit_shift(const BankOp *op) { return op->bytes <= 4 ? 2 : op->bytes == 8 ? 3 : 4; }

static bool pairs_agree(int distance, int shift, const int64_t addr[BANK_LANES]) {
  for (int lane = 0; lane < BANK_LANES; lane++) {
    int64_t mine = addr[lane], other = addr[lane ^ distance];
    if (mine >= 0 && other >= 0 && mine >> shift != other >> shift) return false;
  }
  return true;
}

int banks_merge_distance(const BankOp *op, const int64_t addr[BANK_LANES]) {
  if (!op->merges_pairs) return 0;
  int shift = unit_shift(op);
  return pairs_agree(1, shift, addr) ? 1 : pairs_agree(2, shift, addr) ? 2 : 0;
}

// The way this access is cut: which lanes go together and which bits of an address matter.
typedef struct Cut {
  int n_phases, lanes_per_phase;
  int unit_shift;  // log2 of the unit's bytes
  int n_columns;   // units in a bank line
} Cut;

static Cut cut_access(const BankOp *op, const int64_t addr[BANK_LANES]) {
  Cut cut = {.lanes_per_phase = op->lanes_per_phase};
  if (banks_merge_distance(op, addr)) cut.lanes_per_phase *= 2;
  cut.n_phases = op->n_addresses / cut.lanes_per_phase;
  cut.unit_shift = unit_shift(op);
  cut.n_columns = BANK_LINE_BYTES >> cut.unit_shift;
  return cut;
}

// The wavefronts of one phase: the most units (distinct ones, if `shares`) that one column is asked
// for; 0 when no lane is active. Each column keeps a chain of the lanes it must serve, so a lane is
// compared with the units of its own column only.
static int phase_wavefronts(const Cut *cut, bool shares, const int64_t *addr) {
  int8_t head[BANK_COUNT], next[BANK_LANES];
  uint8_t units[BANK_COUNT] = {0};
  memset(head, -1, sizeof head);
  int most = 0;
  for (int lane = 0; lane < cut->lanes_per_phase; lane++) {
    if (addr[lane] < 0) continue;
    int64_t unit = addr[lane] >> cut->unit_shift;
    int column = (int)(unit & (cut->n_columns - 1));
    int seen = shares ? head[column] : -1;
    while (seen >= 0 && addr[seen] >> cut->unit_shift != unit) seen = next[seen];
    if (seen >= 0) continue;
    next[lane] = head[column];
    head[column] = (int8_t)lane;
    if (++units[column] > most) most = units[column];
  }
  return most;
}

// The profiler's per-instruction counters take two phases for one only where they need one
// wavefront together. Measured with 472 loads of 8 and 16 bytes on an H200, where the pipe's own
// counter and the clock follow the pair merge alone (tests/data/h200_pairs.jsonl).
static int profiled_phase(const Cut *cut, const BankOp *op, const int64_t *addr, int wavefronts) {
  Cut half = *cut;
  if (cut->lanes_per_phase == op->lanes_per_phase || wavefronts <= 1) return wavefronts;
  half.lanes_per_phase = op->lanes_per_phase;
  return phase_wavefronts(&half, true, addr) +
         phase_wavefronts(&half, true, addr + half.lanes_per_phase);
}

static bool is_active(const int64_t *addr, int n) {
  for (int lane = 0; lane < n; lane++)
    if (addr[lane] >= 0) return true;
  return false;
}

// Two phases that they do not take for one have an ideal of their own each.
static int profiled_phases(const Cut *cut, const BankOp *op, const int64_t *addr, int wavefronts) {
  const int half = op->lanes_per_phase;
  if (cut->lanes_per_phase == half || wavefronts <= 1) return wavefronts > 0;
  return is_active(addr, half) + is_active(addr + half, half);
}

// Counted on an H200 (driver 580.159.04, 2026-11-23) of 216 STS.64 with some lanes left out: 16
// lanes of both half-warps have an ideal of 1.
static int store_ideal(const BankOp *op, const int64_t addr[BANK_LANES]) {
  int lanes = 0;
  for (int lane = 0; lane < BANK_LANES; lane++) lanes += addr[lane] >= 0;
  return (lanes * op->bytes + BANK_LINE_BYTES - 1) / BANK_LINE_BYTES;
}

BankCount banks_count(const BankOp *op, const int64_t addr[BANK_LANES]) {
  Cut cut = cut_access(op, addr);
  BankCount count = {
      .known = op->counted, .phases = cut.n_phases, .profiled = -1, .profiled_most = -1};
  if (!op->counted) {
    banks_bound_copy(addr, &count);
    return count;
  }
  count.profiled = 0;
  for (int phase = 0; phase < cut.n_phases; phase++) {
    int wavefronts = phase_wavefronts(&cut, op->shares_words, addr + phase * cut.lanes_per_phase);
    count.wavefronts += wavefronts;
    count.profiled += profiled_phase(&cut, op, addr + phase * cut.lanes_per_phase, wavefronts);
    count.ideal += wavefronts > 0;
    count.profiled_ideal +=
        profiled_phases(&cut, op, addr + phase * cut.lanes_per_phase, wavefronts);
    if (wavefronts > count.ways) count.ways = wavefronts;
  }
  count.conflicts = count.wavefronts - count.ideal;
  count.profiled_most = count.profiled;
  if (op->kind == BANK_STORE) count.profiled_ideal = store_ideal(op, addr);
  return count;
}

BankCount banks_count_copy(const BankOp *op, const int64_t addr[BANK_LANES],
                           const int64_t source[BANK_LANES]) {
  if (op->kind == BANK_CPASYNC && op->counted) return banks_copy_through_l1(op, addr, source);
  BankCount count = banks_count(op, addr);
  if (op->kind == BANK_CPASYNC) banks_copy_past_l1(op, addr, source, &count);
  return count;
}

static void clear_row(BankRow *row, int phase) {
  row->phase = phase;
  for (int bank = 0; bank < BANK_COUNT; bank++)
    row->cells[bank] = (BankCell){.lane = -1, .word = -1};
}

// Gives (lane, word) a place in the phase: the row where this word is served already, else the
// first row in which the bank is idle.
static void place_word(BankMap *map, BankPhase *phase, int lane, int bank, int64_t word) {
  int row = 0;
  for (; row < phase->words[bank]; row++) {
    BankCell *cell = &map->rows[phase->first_row + row].cells[bank];
    if (!map->op->shares_words || cell->word != word) continue;
    cell->lanes |= 1u << lane;
    return;
  }
  if (row == phase->wavefronts) {
    clear_row(&map->rows[phase->first_row + row], (int)(phase - map->phases));
    phase->wavefronts++;
    phase->worst_bank = bank;
  }
  map->rows[phase->first_row + row].cells[bank] =
      (BankCell){.lane = lane, .lanes = 1u << lane, .word = word};
  phase->words[bank]++;
}

static void place_lane(BankMap *map, BankPhase *phase, int lane, int64_t address) {
  int bytes = map->op->bytes;
  phase->active |= 1u << lane;
  if (address % bytes != 0) map->misaligned |= 1u << lane;
  int64_t first = (address - address % bytes) / BANK_WORD_BYTES;
  for (int64_t word = first; word < first + (bytes + 3) / BANK_WORD_BYTES; word++) {
    int bank = (int)(word % BANK_COUNT);
    map->word_of[lane][bank] = word;
    if (map->op->counted) place_word(map, phase, lane, bank, word);
  }
}

static void find_worst_bank(BankPhase *phase) {
  if (phase->wavefronts == 0) return;
  for (int bank = BANK_COUNT - 1; bank >= 0; bank--)
    if (phase->words[bank] == phase->wavefronts) phase->worst_bank = bank;
}

void banks_map(BankMap *map, const BankOp *op, const int64_t addr[BANK_LANES]) {
  Cut cut = cut_access(op, addr);
  *map = (BankMap){.op = op, .merge_distance = banks_merge_distance(op, addr)};
  map->count = banks_count(op, addr);
  memset(map->word_of, -1, sizeof map->word_of);
  for (int p = 0; p < cut.n_phases; p++) {
    BankPhase *phase = &map->phases[p];
    *phase = (BankPhase){.first_lane = p * cut.lanes_per_phase,
                         .n_lanes = cut.lanes_per_phase,
                         .first_row = map->n_rows,
                         .worst_bank = -1};
    for (int lane = phase->first_lane; lane < phase->first_lane + phase->n_lanes; lane++)
      if (addr[lane] >= 0) place_lane(map, phase, lane, addr[lane]);
    find_worst_bank(phase);
    map->n_rows += phase->wavefronts;
    map->active |= phase->active;
  }
  assert(map->n_rows == map->count.wavefronts);
}
