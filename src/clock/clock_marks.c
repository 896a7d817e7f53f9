// Code → marks: one warp alone goes over it, an instruction a clock, and takes its operands from
// the banks that the engine has, too (clock_banks.h).
#include "clock/clock_marks.h"

#include "base/str.h"
#include "base/whole.h"

enum { WARP = 0, WINDOW_CLOCKS = 3 };  // window: in which all reads of an instruction come

static bool is_ffma(const SassInst *inst) { return str_equal(inst->opcode->name, "FFMA"); }

static int most_of_one_bank(const ClockBanks *banks, const SassInst *inst) {
  int need[CLOCK_BANKS];
  clock_banks_needs(banks, WARP, inst, need);
  return max_int(need[0], need[1]);
}

static ClockBankMark mark_of(const ClockBanks *banks, const SassInst *inst, int clocks) {
  ClockBanks empty;
  clock_banks_begin(&empty);
  if (most_of_one_bank(&empty, inst) <= clocks) return BANK_MARK_NONE;
  return most_of_one_bank(banks, inst) <= clocks ? BANK_MARK_SPARED : BANK_MARK_CONFLICT;
}

static void count(ClockMarks *out, ClockBankMark mark, const ClockBanks *banks,
                  const SassInst *inst) {
  int need[CLOCK_BANKS];
  clock_banks_needs(banks, WARP, inst, need);
  out->n_ffma++;
  out->n_conflicts += mark == BANK_MARK_CONFLICT;
  out->n_spared += mark == BANK_MARK_SPARED;
  out->n_reused += clock_banks_cached(banks, WARP, inst);
  out->lost_most += max_int(0, max_int(need[0], need[1]) - out->clocks);
  for (int bank = 0; bank < CLOCK_BANKS; bank++) out->n_read[bank] += need[bank];
}

// It waits until all its reads fit into its window; another instruction takes no port.
static void issue(ClockMarks *out, ClockBanks *banks, const SassInst *inst, bool multiplies) {
  if (!multiplies) clock_banks_keep(banks, WARP, inst);
  while (multiplies && !clock_banks_give(banks, WARP, inst, WINDOW_CLOCKS)) {
    clock_banks_tick(banks, 1);
    out->lost_least++;
  }
  clock_banks_forget(banks, inst->written);
  clock_banks_tick(banks, multiplies ? out->clocks : 1);
}

static const bool *find_targets(Arena *arena, const SassCode *code) {
  bool *out = ARENA_ARRAY(arena, bool, code->n + 1);
  for (int i = 0; i < code->n; i++)
    if (code->inst[i].target >= 0 && code->inst[i].target < code->n)
      out[code->inst[i].target] = true;
  return out;
}

static void forget_all(ClockBanks *banks) {
  for (int slot = 0; slot < SASS_SLOTS; slot++)
    for (int bank = 0; bank < CLOCK_BANKS; bank++) banks->warp[slot][bank] = -1;
}

ClockMarks clock_marks(Arena *arena, const SassCode *code, const bool *forgets, int clocks) {
  ClockMarks out = {.clocks = clocks};
  ClockBankMark *mark = ARENA_ARRAY(arena, ClockBankMark, code->n + 1);
  ClockBankPair *pair = ARENA_ARRAY(arena, ClockBankPair, code->n + 1);
  ClockBanks banks;
  clock_banks_begin(&banks);
  if (!forgets) forgets = find_targets(arena, code);
  for (int i = 0; i < code->n; i++) {
    const SassInst *inst = &code->inst[i];
    const bool multiplies = is_ffma(inst);
    if (forgets[i]) forget_all(&banks);
    if (multiplies) {
      mark[i] = mark_of(&banks, inst, clocks);
      if (mark[i] == BANK_MARK_CONFLICT)
        clock_banks_pair(&banks, WARP, inst, &pair[i].one, &pair[i].other);
      count(&out, mark[i], &banks, inst);
    }
    issue(&out, &banks, inst, multiplies);
  }
  out.mark = mark;
  out.pair = pair;
  return out;
}
