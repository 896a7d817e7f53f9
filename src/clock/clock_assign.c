// For each register that is free to go: how many FFMA of the loop would gain, if it lay in the
// other bank. Those that gain most are exchanged with those of the other bank; then everything is
// counted again, for an exchange moves what the caches hold. It goes on while that gets better.
#include "clock/clock_assign.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"

enum { REGISTERS = 256, ROUNDS = 6 };

typedef struct Wish {
  int number, gain;
} Wish;

static bool is_ffma(const SassInst *inst) { return str_equal(inst->opcode->name, "FFMA"); }

static bool names(const SassInst *inst, int number) {
  for (int slot = 0; slot < SASS_SLOTS; slot++)
    if (inst->read[slot] == number) return true;
  return inst->written == number;
}

// ---- which registers are free to go -------------------------------------------------------------

// Registers that the loop names in FFMA alone. An instruction that is wide names those behind the
// first one, too.
static void find_free(const SassCode *code, const SassLoop *loop, bool is_free[REGISTERS]) {
  enum { WIDEST = 4 };
  bool other[REGISTERS + WIDEST] = {0};
  memset(is_free, 0, REGISTERS * sizeof *is_free);
  for (int i = loop->first; i <= loop->last; i++) {
    const SassInst *inst = &code->inst[i];
    const int named[] = {inst->written, inst->read[0], inst->read[1], inst->read[2]};
    for (int k = 0; k < 4; k++) {
      if (named[k] < 0 || named[k] >= REGISTERS) continue;
      if (is_ffma(inst)) is_free[named[k]] = true;
      for (int w = 0; w < WIDEST && !is_ffma(inst); w++) other[named[k] + w] = true;
    }
  }
  for (int i = 0; i < REGISTERS; i++) is_free[i] &= !other[i];
}

static bool is_wide(const SassInst *inst) {
  return inst->bytes > 4 || inst->opcode->pipe == SASS_PIPE_TENSOR ||
         inst->opcode->pipe == SASS_PIPE_GROUP || inst->opcode->pipe == SASS_PIPE_DOUBLE;
}

static bool is_wide_outside(const SassCode *code, const SassLoop *loop, int number) {
  for (int i = 0; i < code->n; i++)
    for (int back = 0; back < 4 && (i < loop->first || i > loop->last); back++)
      if (is_wide(&code->inst[i]) && names(&code->inst[i], number - back)) return true;
  return false;
}

// ---- what an exchange gains ---------------------------------------------------------------------

static int conflicts_in(const ClockMarks *marks, const SassLoop *loop) {
  int n = 0;
  for (int i = loop->first; i <= loop->last; i++) n += marks->mark[i] == BANK_MARK_CONFLICT;
  return n;
}

static int fullest(const int need[CLOCK_BANKS]) { return max_int(need[0], need[1]); }

// Goes over the loop with the caches as they are.
static void count_gains(const SassCode *code, const SassLoop *loop, const bool is_free[REGISTERS],
                        int clocks, int gain[REGISTERS]) {
  ClockBanks banks;
  clock_banks_begin(&banks);
  memset(gain, 0, REGISTERS * sizeof *gain);
  for (int i = loop->first; i <= loop->last; i++) {
    const SassInst *inst = &code->inst[i];
    int need[CLOCK_BANKS];
    clock_banks_needs(&banks, 0, inst, need);
    for (int slot = 0; slot < SASS_SLOTS && is_ffma(inst); slot++) {
      const int number = inst->read[slot];
      if (number < 0 || number >= REGISTERS || !is_free[number]) continue;
      int other[CLOCK_BANKS] = {need[0], need[1]};
      other[number % CLOCK_BANKS]--;
      other[(number + 1) % CLOCK_BANKS]++;
      gain[number] += (fullest(need) > clocks) - (fullest(other) > clocks);
    }
    clock_banks_keep(&banks, 0, inst);
    clock_banks_forget(&banks, inst->written);
  }
}

static int by_gain(const void *a, const void *b) {
  const Wish *x = a, *y = b;
  return x->gain != y->gain ? y->gain - x->gain : x->number - y->number;
}

// The registers of a bank, those that gain most by leaving it in front.
static int list_wishes(const bool is_free[REGISTERS], const int gain[REGISTERS], int bank,
                       Wish out[REGISTERS]) {
  int n = 0;
  for (int i = bank; i < REGISTERS; i += CLOCK_BANKS)
    if (is_free[i]) out[n++] = (Wish){i, gain[i]};
  qsort(out, (size_t)n, sizeof *out, by_gain);
  return n;
}

// ---- exchanging ---------------------------------------------------------------------------------

int clock_assigned(const ClockAssignment *assignment, int number) {
  for (int i = 0; i < assignment->n; i++) {
    const ClockBankPair *pair = &assignment->exchange[i];
    if (pair->one == number) return pair->other;
    if (pair->other == number) return pair->one;
  }
  return number;
}

static SassCode renamed(Arena *arena, const SassCode *code, const ClockAssignment *assignment) {
  SassInst *inst = ARENA_ARRAY(arena, SassInst, code->n + 1);
  for (int i = 0; i < code->n; i++) {
    inst[i] = code->inst[i];
    inst[i].written = clock_assigned(assignment, inst[i].written);
    for (int slot = 0; slot < SASS_SLOTS; slot++)
      inst[i].read[slot] = clock_assigned(assignment, inst[i].read[slot]);
  }
  return (SassCode){code->n, inst};
}

// Those of both banks that gain most are exchanged while the two together do; who was exchanged
// stays.
static bool exchange_some(const SassCode *code, const SassLoop *loop, bool is_free[REGISTERS],
                          int clocks, ClockAssignment *out) {
  Wish even[REGISTERS], odd[REGISTERS];
  int gain[REGISTERS];
  count_gains(code, loop, is_free, clocks, gain);
  const int n = min_int(list_wishes(is_free, gain, 0, even), list_wishes(is_free, gain, 1, odd)),
            before = out->n;
  for (int i = 0; i < n && out->n < CLOCK_EXCHANGES_MAX; i++) {
    if (even[i].gain + odd[i].gain <= 0) break;
    out->exchange[out->n++] = (ClockBankPair){even[i].number, odd[i].number};
    is_free[even[i].number] = is_free[odd[i].number] = false;
  }
  return out->n > before;
}

ClockAssignment clock_assign(Arena *arena, const SassCode *code, const SassLoop *loop, int clocks) {
  bool is_free[REGISTERS];
  ClockMarks marks = clock_marks(arena, code, NULL, clocks);
  const int before = conflicts_in(&marks, loop);
  ClockAssignment best = {.before = before, .after = before, .code = *code}, next = best;
  find_free(code, loop, is_free);
  for (int i = 0; i < ROUNDS && exchange_some(&next.code, loop, is_free, clocks, &next); i++) {
    next.code = renamed(arena, code, &next);
    marks = clock_marks(arena, &next.code, NULL, clocks);
    next.after = conflicts_in(&marks, loop);
    if (next.after >= best.after) break;
    best = next;
  }
  for (int i = 0; i < best.n; i++)
    best.moves += is_wide_outside(code, loop, best.exchange[i].one) +
                  is_wide_outside(code, loop, best.exchange[i].other);
  return best;
}
