// The ports as bits ahead of the present clock, and the cache as one register for each slot and
// bank.
#include "clock/clock_banks.h"

#include "base/whole.h"
#include "sass/sass_access.h"
#include "sass/sass_eval.h"
#include "sass/sass_product.h"

void clock_banks_begin(ClockBanks *banks) {
  *banks = (ClockBanks){.kept_for = -1};
  for (int slot = 0; slot < SASS_SLOTS; slot++)
    for (int bank = 0; bank < CLOCK_BANKS; bank++) banks->warp[slot][bank] = -1;
}

static inline int bank_of(int number) { return (int)((unsigned)number % CLOCK_BANKS); }

static inline bool is_cached(const ClockBanks *banks, int warp, int slot, int number) {
  const int bank = bank_of(number);
  return banks->warp[slot][bank] == warp && banks->number[slot][bank] == number;
}

static inline bool is_repeated(const SassInst *inst, int slot) {
  for (int before = 0; before < slot; before++)
    if (inst->read[before] == inst->read[slot]) return true;
  return false;
}

static inline bool is_read(const ClockBanks *banks, int warp, const SassInst *inst, int slot) {
  const int number = inst->read[slot];
  return number != SASS_NO_REGISTER && !is_repeated(inst, slot) &&
         !is_cached(banks, warp, slot, number);
}

// The slots of a product's operands.
enum { B = 1, C = 2 };

// Clocks of both ports, for an operand of mma.sync.
static int clocks_of_operand(const ClockBanks *banks, int warp, const SassInst *inst, int slot) {
  const int number = inst->read[slot];
  if (number == SASS_NO_REGISTER) return 0;
  if (banks->kept_for == warp && banks->kept[slot] == number) return 0;
  return slot == C ? (sass_has_f16_sums(inst) ? 1 : 2) : sass_is_half_deep(inst) ? 1 : 2;
}

void clock_banks_needs(const ClockBanks *banks, int warp, const SassInst *inst,
                       int need[CLOCK_BANKS]) {
  const bool in_pairs = inst->opcode->pipe == SASS_PIPE_TENSOR;
  for (int bank = 0; bank < CLOCK_BANKS; bank++) need[bank] = 0;
  for (int slot = 0; slot < SASS_SLOTS; slot++) {
    for (int bank = 0; bank < CLOCK_BANKS && in_pairs; bank++)
      need[bank] += clocks_of_operand(banks, warp, inst, slot);
    if (!in_pairs && is_read(banks, warp, inst, slot)) need[bank_of(inst->read[slot])]++;
  }
}

// The first `need` free clocks of a port; 0 where there are not enough. A need of 0 takes no clock.
static inline bool find_clocks(uint64_t taken, int need, int window, uint64_t *clocks) {
  const int end = max_int(need, window);
  *clocks = 0;
  for (int i = 0; i < end && need > 0; i++)
    if (!(taken >> i & 1)) {
      *clocks |= UINT64_C(1) << i;
      need--;
    }
  return need == 0;
}

void clock_banks_keep(ClockBanks *banks, int warp, const SassInst *inst) {
  for (int slot = 0; slot < SASS_SLOTS; slot++) {
    const int number = inst->read[slot];
    if (number == SASS_NO_REGISTER) continue;
    const int bank = bank_of(number);
    banks->warp[slot][bank] = inst->reuse >> slot & 1 ? warp : -1;
    banks->number[slot][bank] = number;
  }
}

// Products do not read while an IMAD keeps the ports. (clock_banks.h; IMAD.WIDE: 4.1 to 5.8
// clocks.)
static void hold_products(ClockBanks *banks, const SassInst *inst,
                          const uint64_t clocks[CLOCK_BANKS]) {
  enum { WIDE = 0x025, CLOCKS = 2, WIDE_CLOCKS = 7 };
  const uint64_t reads = clocks[0] | clocks[1], first = reads ? reads & -reads : 1;
  const int n = inst->opcode->bits == WIDE ? WIDE_CLOCKS : CLOCKS;
  banks->heavy |= first * ((UINT64_C(1) << n) - 1);
}

static bool give_product(ClockBanks *banks, int warp, const SassInst *inst,
                         const int need[CLOCK_BANKS], int window) {
  enum { AT_ANY_TIME = 64 };
  uint64_t reads[CLOCK_BANKS];
  for (int bank = 0; bank < CLOCK_BANKS; bank++) {
    find_clocks(banks->taken[bank] | banks->heavy, need[bank], AT_ANY_TIME, &reads[bank]);
    if (reads[bank] >> window) return false;
  }
  for (int bank = 0; bank < CLOCK_BANKS; bank++) {
    banks->taken[bank] |= reads[bank];
    banks->product |= reads[bank];
  }
  banks->product_reads = max_int(need[0], need[1]);
  banks->product_weight = sass_has_f16_sums(inst) ? 0.25 : 1;
  banks->kept_for = warp;
  for (int slot = 0; slot < SASS_SLOTS; slot++)
    banks->kept[slot] = inst->reuse >> slot & 1 ? inst->read[slot] : SASS_NO_REGISTER;
  return true;
}

bool clock_banks_give(ClockBanks *banks, int warp, const SassInst *inst, int window) {
  int need[CLOCK_BANKS];
  uint64_t clocks[CLOCK_BANKS];
  clock_banks_needs(banks, warp, inst, need);
  if (inst->opcode->pipe == SASS_PIPE_TENSOR) {
    return give_product(banks, warp, inst, need, window);
  }
  // Behind a product it has a clock less. (lab/clock/sm.cu, two and four additions behind each
  // product, two warps of a scheduler on an H200: 14.5 and 18.3 clocks; else 12.5 and 15.9.)
  if (banks->product && window > 1) window--;
  for (int bank = 0; bank < CLOCK_BANKS; bank++)
    if (!find_clocks(banks->taken[bank], need[bank], window, &clocks[bank])) return false;
  for (int bank = 0; bank < CLOCK_BANKS; bank++) banks->taken[bank] |= clocks[bank];
  clock_banks_keep(banks, warp, inst);
  if (banks->kept_for != warp) banks->kept_for = -1;
  if (need[0] + need[1] > 0) banks->kept[B] = SASS_NO_REGISTER;
  if (inst->opcode->pipe == SASS_PIPE_FMA_HEAVY) hold_products(banks, inst, clocks);
  return true;
}

static void need_registers(const SassInst *inst, int at, int n, int need[CLOCK_BANKS]) {
  const int first = (int)sass_field(inst, at, 8);
  for (int i = 0; i < n && first < SASS_RZ; i++) need[bank_of(first + i)]++;
}

void clock_banks_access(const SassInst *inst, int need[CLOCK_BANKS]) {
  const bool is_far = inst->opcode->pipe == SASS_PIPE_FAR && !sass_is_local(inst);
  for (int bank = 0; bank < CLOCK_BANKS; bank++) need[bank] = 0;
  if (inst->opcode->kind == SASS_KIND_COMMIT) return;
  need_registers(inst, SASS_ADDRESS_AT, is_far ? 2 : 1, need);
  if (inst->opcode->kind == SASS_KIND_STORE)
    need_registers(inst, SASS_DATA_AT, (inst->bytes + 3) / 4, need);
  if (inst->opcode->kind == SASS_KIND_COPY) need_registers(inst, SASS_COPY_TO_AT, 1, need);
}

void clock_banks_read(ClockBanks *banks, const int need[CLOCK_BANKS], int64_t ago) {
  for (int bank = 0; bank < CLOCK_BANKS; bank++)
    for (int64_t i = ago; i < need[bank]; i++) {
      const uint64_t vacant = ~banks->taken[bank];
      banks->taken[bank] |= vacant & -vacant;
    }
}

void clock_banks_tick(ClockBanks *banks, int64_t clocks) {
  enum { BITS = 64 };
  banks->heavy = clocks < BITS ? banks->heavy >> clocks : 0;
  banks->product = clocks < BITS ? banks->product >> clocks : 0;
  for (int bank = 0; bank < CLOCK_BANKS; bank++)
    banks->taken[bank] = clocks < BITS ? banks->taken[bank] >> clocks : 0;
}

void clock_banks_forget(ClockBanks *banks, int number) {
  if (number == SASS_NO_REGISTER) return;
  for (int slot = 0; slot < SASS_SLOTS; slot++)
    if (banks->number[slot][number % CLOCK_BANKS] == number)
      banks->warp[slot][number % CLOCK_BANKS] = -1;
}

int clock_banks_cached(const ClockBanks *banks, int warp, const SassInst *inst) {
  int n = 0;
  for (int slot = 0; slot < SASS_SLOTS; slot++)
    n += inst->read[slot] != SASS_NO_REGISTER && is_cached(banks, warp, slot, inst->read[slot]);
  return n;
}

bool clock_banks_pair(const ClockBanks *banks, int warp, const SassInst *inst, int *one,
                      int *other) {
  for (int a = 0; a < SASS_SLOTS; a++)
    for (int b = a + 1; b < SASS_SLOTS; b++) {
      if (!is_read(banks, warp, inst, a) || !is_read(banks, warp, inst, b)) continue;
      if (inst->read[a] % CLOCK_BANKS != inst->read[b] % CLOCK_BANKS) continue;
      *one = inst->read[a];
      *other = inst->read[b];
      return true;
    }
  return false;
}
