// Steps → coefficients, each checked against every step.
//
// A bit's coefficient is the difference between two threads that differ in this bit alone, met in
// the same turn. Without these parts, all threads of a turn must have one number left. The numbers
// of turns 0, 1, 2 … are then taken apart digit by digit, the fastest first.
//
// Worked example: addresses 0 4 8 12, 0 4 8 12, 64 68 … of one thread: steps of 4 four times, so a
// digit n % 4. The rest, 0 0 64 64, repeats twice: n / 4 % 2 adds nothing; then 64 * (n / 8).
#include "ptx/record/fit.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/str.h"
#include "base/whole.h"
#include "ptx/record/record_inside.h"

enum { THREADS_MAX = 1024, TURNS_MAX = 1024 };

typedef struct Fitter {
  Fit *fit;
  const int *block;
  const PtxSite *site;
  int64_t *at;    // [THREADS_MAX] of one turn; -1: unknown
  int64_t *left;  // [TURNS_MAX] the address less the thread's part; -1: unknown
  int n_turns;
} Fitter;

static int64_t join(const Fit *fit, int64_t a, int64_t b) { return fit->is_xor ? a ^ b : a + b; }
static int64_t part(const Fit *fit, int64_t a, int64_t b) { return fit->is_xor ? a ^ b : a - b; }

static void coordinates(const int block[3], int thread, int out[3]) {
  out[0] = thread % block[0];
  out[1] = thread / block[0] % block[1];
  out[2] = thread / block[0] / block[1];
}

static int64_t of_thread(const Fit *fit, const int block[3], int thread) {
  int c[3];
  int64_t sum = 0;
  coordinates(block, thread, c);
  for (int d = 0; d < 3; d++)
    for (int b = 0; b < fit->n_bits[d]; b++)
      if (c[d] >> b & 1) sum = join(fit, sum, fit->bit[d][b]);
  return sum;
}

// ---- threads ------------------------------------------------------------------------------------

static void take_turn(Fitter *f, int64_t turn) {
  for (int t = 0; t < THREADS_MAX; t++) f->at[t] = -1;
  for (const PtxStep *s = f->site->steps; s; s = s->next)
    for (int lane = 0; s->turn == turn && lane < 32; lane++)
      if (s->warp * 32 + lane < THREADS_MAX) f->at[s->warp * 32 + lane] = s->addr[lane];
}

static void take_bits(Fitter *f, bool known[3][FIT_BITS]) {
  const int n = f->block[0] * f->block[1] * f->block[2];
  for (int d = 0, stride = 1; d < 3; stride *= f->block[d++])
    for (int b = 0; b < f->fit->n_bits[d]; b++)
      for (int t = 0; t < n && t < THREADS_MAX && !known[d][b]; t++) {
        int c[3];
        coordinates(f->block, t, c);
        const int other = t + (stride << b);
        if (c[d] >> b & 1 || c[d] + (1 << b) >= f->block[d] || other >= THREADS_MAX) continue;
        if (f->at[t] < 0 || f->at[other] < 0) continue;
        f->fit->bit[d][b] = part(f->fit, f->at[other], f->at[t]);
        known[d][b] = true;
      }
}

// Tells what each turn has beyond the threads' parts; false where two threads disagree.
static bool take_turns(Fitter *f) {
  for (int i = 0; i < TURNS_MAX; i++) f->left[i] = INT64_MIN;
  for (const PtxStep *s = f->site->steps; s; s = s->next)
    for (int lane = 0; lane < 32; lane++) {
      if (s->addr[lane] < 0 || s->turn >= TURNS_MAX) continue;
      const int64_t left =
          part(f->fit, s->addr[lane], of_thread(f->fit, f->block, s->warp * 32 + lane));
      if (f->left[s->turn] != INT64_MIN && f->left[s->turn] != left) return false;
      f->left[s->turn] = left;
      f->n_turns = max_int(f->n_turns, (int)s->turn + 1);
    }
  for (int i = 0; i < f->n_turns; i++)
    if (f->left[i] == INT64_MIN) return false;
  return f->n_turns > 0;
}

// ---- turns --------------------------------------------------------------------------------------

// A ring that does not begin at its first slot: 8192, 0, 4096, 8192, 0 … is 4096 * ((n + 2) % 3).
static bool take_ring(Fitter *f) {
  Fit *fit = f->fit;
  const int64_t *g = f->left;
  int count = 2, first = 0;
  for (bool again = false; !again && count < f->n_turns; count += !again) {
    again = true;
    for (int i = count; i < f->n_turns; i++) again &= g[i] == g[i - count];
  }
  if (count >= f->n_turns) return false;
  for (int i = 1; i < count; i++)
    if (g[i] < g[first]) first = i;
  const int64_t step = part(fit, g[(first + 1) % count], g[first]);
  if (step == 0) return false;
  for (int i = 0; i < count; i++)
    if (part(fit, g[(first + i) % count], g[first]) != step * i) return false;
  fit->base = g[first];
  fit->digit[fit->n_digits++] = (FitDigit){step, 1, count, (count - first) % count};
  return true;
}

static bool take_digits(Fitter *f) {
  Fit *fit = f->fit;
  int64_t *g = f->left, every = 1;
  int n = f->n_turns;
  fit->base = g[0];
  while (n > 1) {
    const int64_t step = part(fit, g[1], g[0]);
    int run = 1;
    while (run < n && !fit->is_xor && g[run] - g[0] == step * run) run++;
    if (fit->is_xor)
      for (run = 2; run < n && part(fit, g[run], g[0]) == step * run;) run++;
    for (int i = 0; i < n; i++)
      if (part(fit, g[i], g[i / run * run]) != step * (i % run)) return false;
    if (fit->n_digits == FIT_DIGITS) return false;
    if (step) fit->digit[fit->n_digits++] = (FitDigit){step, every, run < n ? run : 0, 0};
    every *= run;
    const int blocks = (int)ceil_div(n, run);
    for (int i = 0; i < blocks; i++) g[i] = g[i * run];
    n = blocks;
  }
  return true;
}

static bool try_fit(Fitter *f, bool is_xor) {
  bool known[3][FIT_BITS] = {0};
  Fit *fit = f->fit;
  *fit = (Fit){.is_xor = is_xor};
  f->n_turns = 0;
  for (int d = 0; d < 3; d++) fit->n_bits[d] = min_int(log2_up(f->block[d]), FIT_BITS);
  for (int64_t turn = 0; turn < 4; turn++) {
    take_turn(f, turn);
    take_bits(f, known);
  }
  if (!take_turns(f)) {
    fit->why = "the addresses are not a sum or XOR of bits of the thread's index";
    return false;
  }
  fit->lanes = true;
  if (!take_ring(f) && !take_digits(f)) {
    fit->why = "the addresses do not move in equal steps from one execution to the next";
    return false;
  }
  return fit->ok = true;
}

Fit ptx_fit(Arena *arena, const PtxRecord *record, const PtxSite *site) {
  Fit sum, xor;
  Fitter f = {.fit = &sum, .block = record->launch.block, .site = site};
  f.at = ARENA_ARRAY(arena, int64_t, THREADS_MAX);
  f.left = ARENA_ARRAY(arena, int64_t, TURNS_MAX);
  if (try_fit(&f, false)) return sum;
  f.fit = &xor;
  // If two fail, the one that came further says why.
  return try_fit(&f, true) || (xor.lanes && !sum.lanes) ? xor : sum;
}

// ---- text ---------------------------------------------------------------------------------------

static void add_term(Str *out, const Fit *fit, int64_t factor, const char *what) {
  if (out->length > 0) str_add(out, fit->is_xor ? " ^ " : factor < 0 ? " - " : " + ");
  if (out->length == 0 && factor < 0) str_add(out, "-");
  if (factor == 1 || factor == -1)
    str_add(out, what);
  else
    str_printf(out, "%" PRId64 "*%s", factor < 0 ? -factor : factor, what);
}

// Whether a factor times the bits is what their XOR is: the copies do not meet.
static bool is_product(int64_t factor, int bits) {
  for (int64_t x = 0; x < INT64_C(1) << bits; x++) {
    int64_t sum = 0;
    for (int b = 0; b < bits; b++)
      if (x >> b & 1) sum ^= factor << b;
    if (sum != factor * x) return false;
  }
  return true;
}

static void add_bits(Str *out, const Fit *fit, Arena *arena, int d) {
  static const char *const names[] = {"tid.x", "tid.y", "tid.z"};
  const int64_t *bit = fit->bit[d];
  for (int first = 0, end; first < fit->n_bits[d]; first = end) {
    end = first + 1;
    if (bit[first] == 0) continue;
    while (end < fit->n_bits[d] && bit[end] == 2 * bit[end - 1] &&
           (!fit->is_xor || is_product(bit[first], end - first + 1)))
      end++;
    const char *what = names[d];
    if (first) what = arena_printf(arena, "%s / %d", what, 1 << first);
    if (end < fit->n_bits[d]) what = arena_printf(arena, "%s %% %d", what, 1 << (end - first));
    if (first || end < fit->n_bits[d]) what = arena_printf(arena, "(%s)", what);
    add_term(out, fit, bit[first], what);
  }
}

static void add_digit(Str *out, const Fit *fit, Arena *arena, const FitDigit *digit) {
  const char *what = "n";
  if (digit->every > 1) what = arena_printf(arena, "n / %" PRId64, digit->every);
  if (digit->shift) what = arena_printf(arena, "(n + %" PRId64 ")", digit->shift);
  if (digit->count) what = arena_printf(arena, "%s %% %" PRId64, what, digit->count);
  if (digit->every > 1 || digit->count) what = arena_printf(arena, "(%s)", what);
  add_term(out, fit, digit->step, what);
}

// "4*tid.x + 128*(n % 8)" of a fit that is ok; `less` is taken off its base.
static const char *ptx_fit_text(Arena *arena, const Fit *fit, int64_t less) {
  Str out = str_new(arena);
  for (int d = 0; d < 3; d++) add_bits(&out, fit, arena, d);
  for (int i = 0; i < fit->n_digits; i++) add_digit(&out, fit, arena, &fit->digit[i]);
  const int64_t base = fit->base - less;
  if (base || out.length == 0) {
    if (out.length) str_add(&out, fit->is_xor ? " ^ " : base < 0 ? " - " : " + ");
    str_printf(&out, "%" PRId64, out.length && base < 0 && !fit->is_xor ? -base : base);
  }
  return out.text;
}

const char *ptx_record_formula(Arena *arena, const PtxRecord *record, const PtxSite *site,
                               int64_t base, const char **why) {
  const Fit fit = ptx_fit(arena, record, site);
  *why = fit.why;
  if (!fit.ok) return NULL;
  if (base == PTX_OWN_BASE) return ptx_fit_text(arena, &fit, fit.base);
  // An XOR with a base that the array does not begin a power of two at would be no difference.
  const bool parts = !fit.is_xor || (fit.base & base) == base;
  return ptx_fit_text(arena, &fit, parts ? base : 0);
}
