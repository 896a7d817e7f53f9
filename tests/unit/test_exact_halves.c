// Sums and products of halves against whole numbers: fma, add, sub and mul of f16 and of bf16 give
// what rounding the exact result once gives, also where the exact result is a hair beside the
// middle of two halves, and where f64 has no room for it.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/str.h"
#include "ptx_kernel.h"

Suite *suite_exact_halves(void);

typedef __int128 Wide;

// Digits behind the leading one, the exponent's bias; the exact results are multiples of 2^-SCALE.
typedef struct Half {
  const char *name;
  int digits, bias;
} Half;
static const Half halves[] = {{"f16", 10, 15}, {"bf16", 7, 127}};
enum { SCALE = 72, LANES = 32, ROUNDS = 10, RUNS = 12, LEAST = -20, SPREAD = 12 };

static uint64_t bits_of(const Half *h, bool minus, int exponent, int digits) {
  return (uint64_t)minus << 15 | (uint64_t)(exponent + h->bias) << h->digits | (uint64_t)digits;
}

// A half as a multiple of 2^-SCALE / 2.
static Wide scaled(const Half *h, uint64_t bits, int scale) {
  const int field = (int)(bits >> h->digits & (h->digits == 10 ? 31 : 255)),
            digits = (int)(bits & ((1u << h->digits) - 1));
  if (!field && !digits) return 0;
  const int exponent = (field ? field : 1) - h->bias - h->digits;
  const Wide value = (Wide)(field ? digits | 1 << h->digits : digits) << (exponent + scale);
  return bits >> 15 & 1 ? -value : value;
}

// The half that is nearest to value · 2^-scale, of two the even one.
static uint64_t rounded(const Half *h, Wide value, int scale) {
  const bool minus = value < 0;
  const Wide size = minus ? -value : value;
  int top = 0;
  while (size >> (top + 1)) top++;
  const int least = 1 - h->bias;  // subnormal ones have its last digit
  int last = top - scale - h->digits;
  if (last < least - h->digits) last = least - h->digits;
  const int drop = last + scale;
  Wide kept = drop > 0 ? size >> drop : size << -drop;
  if (drop > 0) {
    const Wide rest = size - (kept << drop), middle = (Wide)1 << (drop - 1);
    if (rest > middle || (rest == middle && (kept & 1))) kept++;
  }
  const int field = last + h->digits - 1 + h->bias;  // a carry goes on to the exponent
  return (uint64_t)minus << 15 | (((uint64_t)field << h->digits) + (uint64_t)kept);
}

typedef struct Operands {
  uint64_t a, b, c;
} Operands;

// Every third one has a product in the middle of two halves, and a small c; the next one's sum
// cancels.
static Operands drawn(const Half *h, uint64_t *seed, int n) {
  const int digits = 1 << h->digits;
#define DIGITS (int)random_between(seed, 0, digits - 1)
#define SIGN (random_between(seed, 0, 1) == 1)
#define EXPONENT(most) (int)random_between(seed, h->digits == 10 ? -12 : LEAST, most)
  Operands o = {bits_of(h, SIGN, EXPONENT(6), DIGITS), bits_of(h, SIGN, EXPONENT(6), DIGITS),
                bits_of(h, SIGN, EXPONENT(SPREAD), DIGITS)};
  if (n % 3 == 0) {
    // (1 + 2^-digits · odd) · 1.5: one digit more than a half has.
    o.a = bits_of(h, SIGN, 6, DIGITS / 4 * 2 + 1);
    o.b = bits_of(h, SIGN, 6, digits / 2);
    o.c = bits_of(h, SIGN, h->digits == 10 ? -13 : -50, DIGITS);
  }
  if (n % 3 == 1) {
    const uint64_t product = rounded(h, scaled(h, o.a, 36) * scaled(h, o.b, 36), SCALE);
    o.c = product ^ 0x8000;
  }
  return o;
}

typedef struct Form {
  const char *text;
  char kind;
} Form;
static const Form forms[] = {{"fma.rn", 'f'}, {"add.rn", '+'}, {"sub.rn", '-'}, {"mul.rn", '*'}};
enum { FORMS = 4 };

static Wide exact(const Half *h, char kind, const Operands *o) {
  const Wide a = scaled(h, o->a, SCALE), b = scaled(h, o->b, SCALE), c = scaled(h, o->c, SCALE);
  const Wide product = scaled(h, o->a, 36) * scaled(h, o->b, 36);
  return kind == 'f' ? product + c : kind == '+' ? a + b : kind == '-' ? a - b : product;
}

static Arena *arena;
static void setup(void) { arena = arena_new("halves"); }
static void teardown(void) { arena_free(arena); }

// Each lane has ROUNDS triples, 96 words apart, and writes their results in the same order.
static const char *body_of(const Half *h, const Form *form) {
  Str out = str_new(arena);
  for (int n = 0; n < ROUNDS; n++) {
    str_printf(&out,
               "ld.global.u16 %%h1, [%%i+%d];\nld.global.u16 %%h2, [%%i+%d];\n"
               "ld.global.u16 %%h3, [%%i+%d];\n%s.%s %%h4, %%h1, %%h2%s;\n"
               "cvt.u32.u16 %%r1, %%h4;\nst.global.u32 [%%o+%d], %%r1;\n",
               384 * n, 384 * n + 128, 384 * n + 256, form->text, h->name,
               form->kind == 'f' ? ", %h3" : "", 128 * n);
  }
  return ptx_kernel_text(arena, out.text);
}

static void check_form(const Half *h, const Form *form, uint64_t *seed) {
  static uint32_t in[PTX_KERNEL_WORDS];
  Operands given[ROUNDS][LANES];
  for (int n = 0; n < ROUNDS; n++)
    for (int l = 0; l < LANES; l++) {
      given[n][l] = drawn(h, seed, n * LANES + l);
      in[96 * n + l] = (uint32_t)given[n][l].a;
      in[96 * n + 32 + l] = (uint32_t)given[n][l].b;
      in[96 * n + 64 + l] = (uint32_t)given[n][l].c;
    }
  const PtxKernel k = ptx_kernel_run(arena, body_of(h, form), NULL, LANES, in);
  ck_assert_int_eq(k.outcome, PTX_DONE);
  for (int n = 0; n < ROUNDS; n++)
    for (int l = 0; l < LANES; l++) {
      const Operands *o = &given[n][l];
      const Wide wanted = exact(h, form->kind, o);
      if (wanted == 0) continue;  // its sign is another rule's
      ck_assert_msg(k.out[32 * n + l] == rounded(h, wanted, SCALE),
                    "%s.%s of %04x %04x %04x is %04x, not %04x", form->text, h->name,
                    (unsigned)o->a, (unsigned)o->b, (unsigned)o->c, k.out[32 * n + l],
                    (unsigned)rounded(h, wanted, SCALE));
    }
}

START_TEST(one_rounding_of_what_is_exact) {
  uint64_t seed = 11 + (uint64_t)_i;
  for (int run = 0; run < RUNS; run++, arena_reset(arena))
    check_form(&halves[_i / FORMS], &forms[_i % FORMS], &seed);
}
END_TEST

Suite *suite_exact_halves(void) {
  Suite *suite = suite_create("exact_halves");
  TCase *tcase = tcase_create("halves");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, one_rounding_of_what_is_exact, 0, 2 * FORMS);
  suite_add_tcase(suite, tcase);
  return suite;
}
