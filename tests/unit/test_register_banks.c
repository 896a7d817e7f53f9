// Which FFMA wait for a register bank: each sentence of the rule as a listing of a few lines.
#include <check.h>
#include <string.h>

#include "kernels/toolchain/register_banks.h"
#include "quick_check.h"
#include "sass_listing.h"

static Arena *arena;
static void setup(void) { arena = arena_new("test register banks"); }
static void teardown(void) { arena_free(arena); }

// The marks of a listing (sass_listing.h), one letter a line: '.', 'r' or '!'.
static const char *marks(const char *text, RegisterBanks *banks) {
  const SassResult *sass = sass_listing(arena, text);
  *banks = register_banks_read(arena, sass);
  char *letters = arena_alloc(arena, (size_t)sass->n_lines + 1);
  for (int i = 0; i < sass->n_lines; i++) letters[i] = ".r!"[banks->mark[i]];
  letters[sass->n_lines] = '\0';
  return letters;
}

static const struct {
  const char *text, *marks;
} cases[] = {
    // Three of one bank, even or odd, whatever stands around the number.
    {"FFMA R1, R2, R4, R6", "!"},
    {"FFMA R0, R1, R3, R255", "!"},
    {"FFMA.FTZ R1, -R2, |R4|, -R6", "!"},
    {"@!P0 FFMA R1, R2, R4, R6", "!"},
    // Both banks, or fewer than three registers.
    {"FFMA R1, R2, R4, R7", "."},
    {"FFMA R1, R2, R3, R4", "."},
    {"FFMA R1, R2, R2, R4", "."},
    {"FFMA R1, R2, RZ, R4", "."},
    {"FFMA R1, R2, UR4, R6", "."},
    {"FFMA R1, R2, 2, R4", "."},
    {"FFMA R1, R2, c[0x0][0x160], R4", "."},
    // No FFMA: it has other pipes and other limits.
    {"IMAD R1, R2, R4, R6", "."},
    {"FMUL R1, R2, R4", "."},
    {"FFMA2 R2, R4, R6, R8", "."},
    // The mark spares the next reader of the slot, and itself nothing.
    {"FFMA R1, R2.reuse, R4, R6; FFMA R3, R2, R8, R10; FFMA R5, R2, R8, R10", "!r!"},
    {"FFMA R1, R2.reuse, R4, R6; FFMA R3, R2.reuse, R8, R10; FFMA R5, R2, R8, R10", "!rr"},
    {"FFMA R1, R2, R4.reuse, R6; FFMA R3, R8, R4, R10", "!r"},
    // Another slot's cache does not help, nor does one that holds another register.
    {"FFMA R1, R2.reuse, R4, R6; FFMA R3, R8, R2, R10", "!!"},
    {"FFMA R1, R2.reuse, R4, R7; FFMA R3, R8, R4, R10", ".!"},
    // An instruction without a register there leaves the cache as it is; one with it does not.
    {"FFMA R1, R2.reuse, R4, R6; LDS.128 R20, [R40+0x10]; FFMA R3, R2, R8, R10", "!.r"},
    {"FFMA R1, R2.reuse, R4, R6; IADD3 R20, R21, 1, RZ; FFMA R3, R2, R8, R10", "!.!"},
    // What was written since is read anew, and nothing is known behind a label or in a new kernel.
    {"FFMA R2, R2.reuse, R4, R6; FFMA R3, R2, R8, R10", "!!"},
    {"FFMA R1, R2.reuse, R4, R6; LDS R2, [R40]; FFMA R3, R2, R8, R10", "!.!"},
    {"FFMA R1, R2.reuse, R4, R6; .L_x_1:; FFMA R3, R2, R8, R10", "!.!"},
    {"FFMA R1, R2.reuse, R4, R6; |FFMA R3, R2, R8, R10", "!!"},
    // Texts that no disassembler writes.
    {"FFMA", "."},
    {"FFMA R1,,,", "."},
    {"FFMA R1, R, R4, R6; FFMA ,R2,R4,R6", ".!"},
};

START_TEST(rule) {
  RegisterBanks banks;
  ck_assert_str_eq(marks(cases[_i].text, &banks), cases[_i].marks);
}
END_TEST

START_TEST(totals) {
  RegisterBanks banks;
  marks("FFMA R1, R2.reuse, R4, R6; FFMA R3, R2, R8, R10; NOP; FFMA R5, R2, R8, R10", &banks);
  ck_assert_int_eq(banks.n_ffma, 3);
  ck_assert_int_eq(banks.n_conflicts, 2);
  ck_assert_int_eq(banks.n_spared, 1);
  ck_assert_int_eq(banks.n_reused, 1);
  ck_assert_str_eq(register_banks_sentence(arena, &banks),
                   "3 FFMA: 2 wait a clock for a register bank (!), 1 spared it by .reuse (r)");
  marks("EXIT", &banks);
  ck_assert_str_eq(register_banks_sentence(arena, &banks), "");
}
END_TEST

// The sums of all shifts of the registers' numbers by two are the same: only the bank counts.
START_TEST(only_the_bank_counts) {
  for (int a = 0; a < 8; a++)
    for (int b = 0; b < 8; b++)
      for (int c = 0; c < 8; c++) {
        RegisterBanks near, far;
        marks(arena_printf(arena, "FFMA R9, R%d, R%d, R%d", a, b, c), &near);
        marks(arena_printf(arena, "FFMA R9, R%d, R%d, R%d", a + 40, b + 40, c + 40), &far);
        bool distinct = a != b && a != c && b != c;
        bool same_bank = a % 2 == b % 2 && b % 2 == c % 2;
        ck_assert_int_eq(near.n_conflicts, distinct && same_bank);
        ck_assert_int_eq(far.n_conflicts, near.n_conflicts);
      }
}
END_TEST

Suite *suite_register_banks(void);
Suite *suite_register_banks(void) {
  Suite *suite = suite_create("register_banks");
  TCase *tests = tcase_create("register_banks");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_loop_test(tests, rule, 0, (int)(sizeof cases / sizeof *cases));
  tcase_add_test(tests, totals);
  tcase_add_test(tests, only_the_bank_counts);
  suite_add_tcase(suite, tests);
  return suite;
}
