// Lanes by banks: the longest queue is the count.
#include "banks/engine/bank_atomic.h"

static int queue_at(BankAtomic atomic, const int64_t addr[BANK_LANES], int bank) {
  int64_t words[BANK_LANES];
  int n = 0;
  for (int lane = 0; lane < BANK_LANES; lane++) {
    const int64_t word = addr[lane] / BANK_WORD_BYTES;
    if (addr[lane] < 0 || word % BANK_COUNT != bank) continue;
    bool seen = false;
    for (int k = 0; atomic == BANK_ATOMIC_INCREMENT && k < n; k++) seen |= words[k] == word;
    if (!seen) words[n++] = word;
  }
  return n;
}

BankCount banks_count_atomic(BankAtomic atomic, const int64_t addr[BANK_LANES]) {
  BankCount count = {.known = true, .phases = 1, .ideal = 1};
  for (int bank = 0; bank < BANK_COUNT; bank++) {
    const int queue = queue_at(atomic, addr, bank);
    if (queue > count.wavefronts) count.wavefronts = queue;
  }
  // Both passes of a swap are ideal to the profiler (counted on an H200, 2026-11-23).
  if (atomic == BANK_ATOMIC_SWAP) count.wavefronts *= 2;
  count.profiled_ideal = atomic == BANK_ATOMIC_SWAP ? 2 : 1;
  count.ways = count.profiled = count.profiled_most = count.wavefronts;
  return count;
}
