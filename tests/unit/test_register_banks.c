// Which FFMA wait for a register bank: each sentence of the rule as a listing of a few lines.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "kernels/toolchain/machine/register_banks.h"
#include "quick_check.h"
#include "sass_listing.h"

static Arena *arena;
static void setup(void) { arena = arena_new("test register banks"); }
static void teardown(void) { arena_free(arena); }

// The marks of a listing (sass_listing.h), one letter a line: '.', 'r' or '!'.
static const char *marks(const char *text, int sm, ClockMarks *banks) {
  const SassResult *sass = sass_listing(arena, text);
  *banks = register_banks_read(arena, sass, sm);
  char *letters = arena_alloc(arena, (size_t)sass->n_lines + 1);
  for (int i = 0; i < sass->n_lines; i++) letters[i] = ".r!"[banks->mark[i]];
  letters[sass->n_lines] = '\0';
  return letters;
}

// `slow`: where an FFMA takes two clocks (sm_80); `fast`: where it takes one (sm_90).
static const struct {
  const char *text, *slow, *fast;
} cases[] = {
    // Three of one bank, even or odd, whatever stands around the number.
    {"FFMA R1, R2, R4, R6", "!", "!"},
    {"FFMA R0, R1, R3, R255", "!", "!"},
    {"FFMA.FTZ R1, -R2, |R4|, -R6", "!", "!"},
    {"@!P0 FFMA R1, R2, R4, R6", "!", "!"},
    // Two of one bank cost where there is a clock for one.
    {"FFMA R1, R2, R4, R7", ".", "!"},
    {"FFMA R1, R2, R3, R4", ".", "!"},
    {"FFMA R1, R2, R2, R4", ".", "!"},
    {"FFMA R1, R2, RZ, R4", ".", "!"},
    {"FFMA R1, R2, UR4, R6", ".", "!"},
    {"FFMA R1, R2, 2, R4", ".", "!"},
    {"FFMA R1, R2, c[0x0][0x160], R4", ".", "!"},
    // One of each bank.
    {"FFMA R1, R2, RZ, R5", ".", "."},
    {"FFMA R1, R2, R2, R5", ".", "."},
    {"FFMA R2, R2, R2, R2", ".", "."},
    // No FFMA: it has other pipes and other limits.
    {"IMAD R1, R2, R4, R6", ".", "."},
    {"FMUL R1, R2, R4", ".", "."},
    {"FFMA2 R2, R4, R6, R8", ".", "."},
    // The mark spares the next reader of the slot, and itself nothing.
    {"FFMA R1, R2.reuse, R4, R6; FFMA R3, R2, R8, R10; FFMA R5, R2, R8, R10", "!r!", "!!!"},
    {"FFMA R1, R2.reuse, R4, R6; FFMA R3, R2.reuse, R8, R10; FFMA R5, R2, R8, R10", "!rr", "!!!"},
    {"FFMA R1, R2, R4.reuse, R6; FFMA R3, R8, R4, R10", "!r", "!!"},
    {"FFMA R1, R2.reuse, R4, R7; FFMA R3, R2, R8, R11", "..", "!r"},
    // Another slot's cache does not help, nor does one that holds another register.
    {"FFMA R1, R2.reuse, R4, R6; FFMA R3, R8, R2, R10", "!!", "!!"},
    {"FFMA R1, R2.reuse, R4, R7; FFMA R3, R8, R4, R10", ".!", "!!"},
    // An instruction without a register of that bank there leaves the cache as it is.
    {"FFMA R1, R2.reuse, R4, R6; LDS.128 R20, [R40+0x10]; FFMA R3, R2, R8, R10", "!.r", "!.!"},
    {"FFMA R1, R2.reuse, R4, R7; IADD3 R20, R21, 1, RZ; FFMA R3, R2, R8, R11", "...", "!.r"},
    {"FFMA R1, R2.reuse, R4, R7; IADD3 R20, R22, 1, RZ; FFMA R3, R2, R8, R11", "...", "!.!"},
    {"FFMA R1, R2.reuse, R4, R6; IADD3 R20, R22, 1, RZ; FFMA R3, R2, R8, R10", "!.!", "!.!"},
    // What was written since is read anew, and nothing is known behind a label or in a new kernel.
    {"FFMA R2, R2.reuse, R4, R6; FFMA R3, R2, R8, R10", "!!", "!!"},
    {"FFMA R1, R2.reuse, R4, R6; LDS R2, [R40]; FFMA R3, R2, R8, R10", "!.!", "!.!"},
    {"FFMA R1, R2.reuse, R4, R6; .L_x_1:; FFMA R3, R2, R8, R10", "!.!", "!.!"},
    {"FFMA R1, R2.reuse, R4, R6; |FFMA R3, R2, R8, R10", "!!", "!!"},
    // Texts that no disassembler writes.
    {"FFMA", ".", "."},
    {"FFMA R1,,,", ".", "."},
    {"FFMA R1, R, R4, R6; FFMA ,R2,R4,R6", ".!", "!!"},
};

START_TEST(rule) {
  static const int slow[] = {70, 75, 80}, fast[] = {86, 89, 90, 100, 103, 120, 0};
  ClockMarks banks;
  for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
    ck_assert_str_eq(marks(cases[_i].text, slow[i], &banks), cases[_i].slow);
  for (size_t i = 0; i < sizeof fast / sizeof *fast; i++)
    ck_assert_str_eq(marks(cases[_i].text, fast[i], &banks), cases[_i].fast);
}
END_TEST

START_TEST(totals) {
  ClockMarks banks;
  static const char text[] =
      "FFMA R1, R2.reuse, R4, R6; FFMA R3, R2, R8, R10; NOP; FFMA R5, R2, R8, R10";
  marks(text, 80, &banks);
  ck_assert_int_eq(banks.n_ffma, 3);
  ck_assert_int_eq(banks.n_conflicts, 2);
  ck_assert_int_eq(banks.n_spared, 1);
  ck_assert_int_eq(banks.n_reused, 1);
  ck_assert_int_eq(banks.lost_most, 2);
  ck_assert_str_eq(
      register_banks_sentence(arena, &banks),
      "3 FFMA: 2 read a bank three times (!), .reuse spares 1 (r); 0 to 2 clocks lost");
  marks(text, 90, &banks);
  ck_assert_int_eq(banks.n_conflicts, 3);
  ck_assert_int_eq(banks.lost_most, 2 + 1 + 2);
  ck_assert_str_eq(register_banks_sentence(arena, &banks),
                   "3 FFMA: 3 read a bank twice (!), .reuse spares 0 (r); 2 to 5 clocks lost");
  marks("EXIT", 90, &banks);
  ck_assert_str_eq(register_banks_sentence(arena, &banks), "");
}
END_TEST

// One that reads a bank twice costs nothing where its neighbours leave that bank free, and a clock
// where they do not.
START_TEST(neighbours_give_and_take) {
  static const char even[] = "FFMA R1, R2, R4, R7", odd[] = "FFMA R1, R3, R5, R8";
  ClockMarks alike, turns;
  Str one = str_new(arena), two = str_new(arena);
  for (int i = 0; i < 64; i++) {
    str_printf(&one, "%s%s", i ? "; " : "", even);
    str_printf(&two, "%s%s", i ? "; " : "", i % 2 ? odd : "FFMA R1, R2, RZ, R4");
  }
  marks(one.text, 90, &alike);
  marks(two.text, 90, &turns);
  ck_assert_int_eq(alike.lost_most, 64);
  ck_assert_int_ge(alike.lost_least, 60);
  ck_assert_int_eq(turns.lost_most, 64);
  ck_assert_int_ge(turns.lost_least, 28);  // 3 reads of the even bank in two clocks
  ck_assert_int_le(turns.lost_least, 32);
}
END_TEST

// Only the bank of a number counts.
START_TEST(only_the_bank_counts) {
  for (int a = 0; a < 8; a++)
    for (int b = 0; b < 8; b++)
      for (int c = 0; c < 8; c++) {
        ClockMarks near, far;
        marks(arena_printf(arena, "FFMA R9, R%d, R%d, R%d", a, b, c), 80, &near);
        marks(arena_printf(arena, "FFMA R9, R%d, R%d, R%d", a + 40, b + 40, c + 40), 80, &far);
        const bool distinct = a != b && a != c && b != c;
        const bool same_bank = a % 2 == b % 2 && b % 2 == c % 2;
        ck_assert_int_eq(near.n_conflicts, distinct && same_bank);
        ck_assert_int_eq(far.n_conflicts, near.n_conflicts);
      }
}
END_TEST

// ---- what was measured --------------------------------------------------------------------------

typedef struct Waits {
  int n;
  double samples;
} Waits;

static int reads_of_one_bank(const ClockMarks *before, const ClockMarks *with) {
  const int even = with->n_read[0] - before->n_read[0], odd = with->n_read[1] - before->n_read[1];
  return even > odd ? even : odd;
}

// Adds the samples of a kernel's FFMA by how often they read one bank.
static void add_waits(const SassLine *lines, const double *samples, int n, Waits waits[4]) {
  ClockMarks before = {0};
  for (int i = 0; i < n; i++) {
    const SassResult sass = {.ok = true, .lines = lines, .n_lines = i + 1};
    const ClockMarks with = register_banks_read(arena, &sass, 90);
    if (with.n_ffma > before.n_ffma) {
      const int reads = reads_of_one_bank(&before, &with);
      waits[reads].n++;
      waits[reads].samples += samples[i];
    }
    before = with;
  }
}

static double mean(const Waits *waits) { return waits->n ? waits->samples / waits->n : 0; }

// FFMA of a loop that read a bank more often than others have more samples in which
// their warp waited for its dispatch.
START_TEST(the_profiler_saw_them_wait) {
  enum { LINES = 400 };
  FILE *file = fopen("tests/data/h200_dispatch.tsv", "r");
  ck_assert_ptr_nonnull(file);
  SassLine *lines = ARENA_ARRAY(arena, SassLine, LINES);
  double samples[LINES];
  char row[256], kernel[64] = "";
  int n = 0, kernels = 0;
  for (bool more = true; more;) {
    more = fgets(row, sizeof row, file) != NULL;
    char *name = more ? strtok(row, "\t") : NULL, *count = name ? strtok(NULL, "\t") : NULL,
         *text = count ? strtok(NULL, "\n") : NULL;
    if ((!more || strcmp(name, kernel) != 0) && n > 0) {
      Waits waits[4] = {{0}};
      sass_list(arena, lines, n);
      add_waits(lines, samples, n, waits);
      ck_assert_msg(waits[1].n > 10 && waits[2].n > 10, "%s", kernel);
      ck_assert_msg(mean(&waits[2]) > 1.1 * mean(&waits[1]), "%s: %g and %g", kernel,
                    mean(&waits[1]), mean(&waits[2]));
      if (waits[3].n) ck_assert_double_gt(mean(&waits[3]), mean(&waits[2]));
      kernels++;
      n = 0;
    }
    if (!more) break;
    snprintf(kernel, sizeof kernel, "%s", name);
    ck_assert_int_lt(n, LINES);
    samples[n] = atof(count);
    lines[n] = (SassLine){
        .kernel = arena_strdup(arena, kernel), .text = arena_strdup(arena, text), .address = n};
    n++;
  }
  fclose(file);
  ck_assert_int_eq(kernels, 3);
}
END_TEST

Suite *suite_register_banks(void);
Suite *suite_register_banks(void) {
  Suite *suite = suite_create("register_banks");
  TCase *tests = tcase_create("register_banks");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_loop_test(tests, rule, 0, (int)(sizeof cases / sizeof *cases));
  tcase_add_test(tests, totals);
  tcase_add_test(tests, neighbours_give_and_take);
  tcase_add_test(tests, only_the_bank_counts);
  tcase_add_test(tests, the_profiler_saw_them_wait);
  suite_add_tcase(suite, tests);
  return suite;
}
