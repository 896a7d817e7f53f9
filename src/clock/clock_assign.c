// Each register that is free to go counts the FFMA of the loop that would gain if it lay in the
// other bank. The registers that gain most change places with those of the other bank that gain
// most. Then everything is counted again, for an exchange moves the contents of the caches. It goes
// on while that gets better.
#include "clock/clock_assign.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"

enum { REGISTERS = CLOCK_REGISTERS, ROUNDS = 16 };

typedef struct Wish {
  int number, gain;
} Wish;

static bool is_ffma(const SassInst *inst) { return str_equal(inst->opcode->name, "FFMA"); }

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

// Registers that wide instructions outside the loop name.
static void find_wide(const SassCode *code, const SassLoop *loop, bool wide[REGISTERS + 4]) {
  for (int i = 0; i < code->n; i++) {
    const SassInst *inst = &code->inst[i];
    const int named[] = {inst->written, inst->read[0], inst->read[1], inst->read[2]};
    if ((i >= loop->first && i <= loop->last) || !is_wide(inst)) continue;
    for (int k = 0; k < 4; k++)
      for (int w = 0; w < 4 && named[k] >= 0 && named[k] < REGISTERS; w++)
        wide[named[k] + w] = true;
  }
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
  const bool known = number >= 0 && number < REGISTERS && assignment->n;
  return known ? assignment->to[number] : number;
}

static void exchange(ClockAssignment *out, int one, int other) {
  if (!out->n)
    for (int i = 0; i < REGISTERS; i++) out->to[i] = (short)i;
  out->exchange[out->n++] = (ClockBankPair){one, other};
  out->to[one] = (short)other;
  out->to[other] = (short)one;
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

// Registers that an FFMA reads together: where one of them goes, the others' gains are old.
typedef struct Together {
  bool with[REGISTERS][REGISTERS];
} Together;

static Together *find_together(Arena *arena, const SassCode *code, const SassLoop *loop) {
  Together *out = ARENA_NEW(arena, Together);
  for (int i = loop->first; i <= loop->last; i++) {
    const int *read = code->inst[i].read;
    for (int a = 0; a < SASS_SLOTS && is_ffma(&code->inst[i]); a++)
      for (int b = 0; b < SASS_SLOTS; b++)
        if (read[a] >= 0 && read[b] >= 0 && read[a] < REGISTERS && read[b] < REGISTERS)
          out->with[read[a]][read[b]] |= a != b;
  }
  return out;
}

static void settle(const Together *together, int number, bool settled[REGISTERS]) {
  for (int i = 0; i < REGISTERS; i++) settled[i] |= i == number || together->with[number][i];
}

// The first wish from *at on with a gain that still holds; NULL: there is none.
static const Wish *next_wish(const Wish *wish, int n, int *at, const bool settled[REGISTERS]) {
  while (*at < n && settled[wish[*at].number]) ++*at;
  return *at < n ? &wish[*at] : NULL;
}

// Exchanges the registers of both banks that gain most, while the two together gain; a register
// that was exchanged stays. Registers have the numbers that they have by now.
static bool exchange_some(Arena *arena, const SassLoop *loop, bool is_free[REGISTERS], int clocks,
                          ClockAssignment *out) {
  const SassCode *code = &out->code;
  const Together *together = find_together(arena, code, loop);
  Wish even[REGISTERS], odd[REGISTERS];
  int gain[REGISTERS], at_even = 0, at_odd = 0;
  bool settled[REGISTERS] = {0};
  count_gains(code, loop, is_free, clocks, gain);
  const int n_even = list_wishes(is_free, gain, 0, even),
            n_odd = list_wishes(is_free, gain, 1, odd), before = out->n;
  while (out->n < CLOCK_EXCHANGES_MAX) {
    const Wish *one = next_wish(even, n_even, &at_even, settled),
               *other = next_wish(odd, n_odd, &at_odd, settled);
    if (!one || !other || one->gain + other->gain <= 0) break;
    exchange(out, one->number, other->number);
    is_free[one->number] = is_free[other->number] = false;
    settle(together, one->number, settled);
    settle(together, other->number, settled);
  }
  return out->n > before;
}

ClockAssignment clock_assign(Arena *arena, const SassCode *code, const SassLoop *loop, int clocks) {
  bool is_free[REGISTERS];
  ClockMarks marks = clock_marks(arena, code, NULL, clocks);
  const int before = conflicts_in(&marks, loop);
  ClockAssignment best = {.before = before, .after = before, .code = *code}, next = best;
  find_free(code, loop, is_free);
  for (int i = 0; i < ROUNDS && exchange_some(arena, loop, is_free, clocks, &next); i++) {
    next.code = renamed(arena, code, &next);
    marks = clock_marks(arena, &next.code, NULL, clocks);
    next.after = conflicts_in(&marks, loop);
    if (next.after >= best.after) break;
    best = next;
  }
  bool wide[REGISTERS + 4] = {0};
  find_wide(code, loop, wide);
  for (int i = 0; i < best.n; i++)
    best.moves += wide[best.exchange[i].one] + wide[best.exchange[i].other];
  return best;
}

bool clock_assign_moves(const ClockAssignment *assignment, const SassInst *inst,
                        ClockBankPair *out) {
  for (int slot = 0; slot < SASS_SLOTS; slot++) {
    const int number = inst->read[slot], to = clock_assigned(assignment, number);
    if (to == number) continue;
    *out = (ClockBankPair){number, to};
    return true;
  }
  return false;
}
