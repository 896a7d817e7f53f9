// Whether control words fit registers, and which of two registers a compiler would have taken.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "machine/mc_banks.h"
#include "machine/mc_cubin.h"
#include "machine/mc_flow.h"
#include "machine/mc_handed.h"
#include "machine/mc_issue.h"
#include "machine/mc_run.h"
#include "machine_case.h"
#include "open_case.h"

Suite *suite_machine_issue(void);

enum { KERNELS = 10 };

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// No control word of a compiler's waits for nothing, or comes too early.
START_TEST(test_control_words_fit) {
  for (int index = 0; index < KERNELS; index++) {
    const PtxModule *module = machine_case_recorded(arena, open_case_id(index));
    ck_assert_msg(mc_issue_misfits(module, -1, NULL, NULL) == 0, "%s", open_case_id(index));
  }
}
END_TEST

// A wrong register in one instruction.
static const struct {
  const char *id;
  int at;
  McSwap swap;
} wrong[] = {
    // @!P1 FADD R10, R10, R7 waits for what LDS R7 releases.
    {"k07", 0x270, {false, 7, 39, 1}},
    // @!P0 LDC.64 R6: a pair begins at an even one.
    {"k07", 0x3f0, {true, 6, 7, 2}},
    // MOV R9, 0x400: R1 is the stack pointer.
    {"k19", 0x1e0, {true, 9, 1, 1}},
    // IMAD.IADD R31, R3.reuse, 0x1, R6: nobody reads R35 soon behind it.
    {"k11", 0x390, {false, 3, 35, 1}},
};

START_TEST(test_a_wrong_register_does_not_fit) {
  const PtxModule *module = machine_case_recorded(arena, wrong[_i].id);
  bool *concerns = ARENA_ARRAY(arena, bool, module->n_code + 1);
  const int pc = wrong[_i].at / 16, n = mc_issue_misfits(module, pc, &wrong[_i].swap, concerns);
  ck_assert_msg(n > 0 && concerns[pc], "%s 0x%x: %d", wrong[_i].id, wrong[_i].at, n);
}
END_TEST

// IMAD.IADD R13 writes R9 instead, while ATOMS [R9] may still read it: what is told are these two.
START_TEST(test_a_register_is_read_before_it_is_written_over) {
  enum { READER = 0x770 / 16, WRITER = 0x780 / 16 };
  const PtxModule *module = machine_case_recorded(arena, "k15");
  bool *concerns = ARENA_ARRAY(arena, bool, module->n_code + 1);
  const McSwap swap = {true, 13, 9, 1};
  ck_assert_int_gt(mc_issue_misfits(module, WRITER, &swap, concerns), 0);
  ck_assert(concerns[READER] && concerns[WRITER]);
}
END_TEST

// `pc`, `bit`: turned round in the code, where numbers of branches are; -1: none.
static const PtxModule *with_bit(const char *id, int pc, int bit, const char *was, const char *is) {
  size_t bytes = 0, length = 0;
  char *cubin = machine_case_file(arena, id, ".cubin", &bytes),
       *listing = machine_case_file(arena, id, ".sass", &length);
  char *at = strstr(listing, was);
  ck_assert(at && strlen(was) == strlen(is));
  memcpy(at, is, strlen(is));
  Diags diags = diags_new(arena);
  McCubin of;
  ck_assert(mc_cubin_read(arena, cubin, bytes, &of));
  char *text = cubin + ((const char *)of.kernels[0].text.at - cubin);
  if (pc >= 0) text[pc * 16 + bit / 8] ^= (char)(1 << bit % 8);
  const PtxModule *module =
      machine_case_read(arena, cubin, bytes, listing, of.kernels[0].name, &diags);
  ck_assert_ptr_nonnull(module);
  return module;
}

static const PtxModule *with_text(const char *id, const char *was, const char *is) {
  return with_bit(id, -1, 0, was, is);
}

// BSSY B1 names the place behind a BSYNC B1.
START_TEST(test_lanes_meet_where_it_was_said) {
  enum { BEGINS = 0x290 / 16, MEET = 0x2e0 / 16 };
  const PtxModule *module = with_text("k13", "/*02e0*/                   BSYNC B1",
                                      "/*02e0*/                   BSYNC B0");
  bool *concerns = ARENA_ARRAY(arena, bool, module->n_code + 1);
  const int n = mc_issue_misfits(module, -1, NULL, concerns);
  ck_assert_msg(n == 2 && concerns[BEGINS] && concerns[MEET], "%d", n);
}
END_TEST

// No branch between the two goes to the place behind the BSYNC.
START_TEST(test_no_branch_goes_past_where_lanes_meet) {
  enum { GOES = 0x7d0 / 16 };
  const PtxModule *module = with_bit("k15", GOES, 18, "@P1 BRA `(.L_x_13)", "@P1 BRA `(.L_x_12)");
  bool *concerns = ARENA_ARRAY(arena, bool, module->n_code + 1);
  const int n = mc_issue_misfits(module, -1, NULL, concerns);
  ck_assert_msg(n == 1 && concerns[GOES], "%d", n);
}
END_TEST

// Of the registers that an instruction reads not all lie in one bank, but for a few.
START_TEST(test_registers_are_of_both_banks) {
  int n = 0, all = 0;
  for (int index = 0; index < KERNELS; index++) {
    const PtxModule *module = machine_case_recorded(arena, open_case_id(index));
    for (int pc = 0; pc < module->n_code; pc++) {
      PtxArg regs[MC_FLOW_SOURCES];
      all += mc_flow_reads(&module->code[pc], regs) > 1;
      n += mc_meets_in_bank(&module->code[pc], NULL);
    }
  }
  ck_assert_msg(n * 16 < all, "%d of %d", n, all);
  const PtxModule *module = machine_case_recorded(arena, "k07");
  const PtxInst *lea = &module->code[0x540 / 16];  // LEA R6, R4, R7, 0x18
  ck_assert(!mc_meets_in_bank(lea, NULL));
  ck_assert(mc_meets_in_bank(lea, &(McSwap){false, 7, 6, 1}));
}
END_TEST

// A number and modifiers that no other instruction has, and one that is usual.
START_TEST(test_what_is_usual) {
  const PtxModule *module = machine_case_recorded(arena, "k15"),
                  *other = with_text("k15", "IADD3 R2, -R4, 0x300", "IADD3 R2, -R4, 0x30f");
  const int pc = 0x210 / 16;
  ck_assert(mc_lone_numbers(module, pc, &module->code[pc]) == 0);
  ck_assert(mc_lone_numbers(other, pc, &other->code[pc]) == 1);
  ck_assert(!mc_has_odd_number(other, pc) && !mc_has_odd_number(module, pc));
  other = with_text("k15", "ISETP.GT.AND P1, PT, R2, 0x900", "ISETP.GT.XOR P1, PT, R2, 0x900");
  ck_assert(mc_has_usual_words(module, pc + 1, &module->code[pc + 1]));
  ck_assert(!mc_has_usual_words(other, pc + 1, &other->code[pc + 1]));
}
END_TEST

// One that writes and one that reads, of which one got another register, and what tells.
static const struct {
  const char *id;
  int writer, reader;
  const char *was, *is;  // of the listing's text
  PtxArg in, or_in;
  int least, most;
} handed[] = {
    // All others of the reader's kind write over what they read.
    {"k15", 0x710, 0x750, "LOP3.LUT R11, R10, 0x3fc", "LOP3.LUT R15, R10, 0x3fc", 11, 15,
     MC_EVEN + 1, 1000},
    // R20 lies in one bank with what it is written beside.
    {"k01", 0x3f0, 0x450, "LDS R21, [R8+0x40]", "LDS R20, [R8+0x40]", 21, 20, MC_EVEN + 1, 1000},
    {"k11", 0x390, 0x840, "IMAD.IADD R31, R3", "IMAD.IADD R30, R3", 31, 30, MC_EVEN + 1, 1000},
    // Nothing tells: both are to be named.
    {"k03", 0x540, 0x590, "IMAD R25, R25, 0x20", "IMAD R17, R25, 0x20", 25, 17, -MC_EVEN, MC_EVEN},
};

START_TEST(test_a_register_is_likelier) {
  const PtxModule *module = with_text(handed[_i].id, handed[_i].was, handed[_i].is);
  const McHanded h = {handed[_i].writer / 16, handed[_i].reader / 16, handed[_i].in,
                      handed[_i].or_in, 1};
  const int odds = mc_handed_in(module, &h);
  ck_assert_msg(odds >= handed[_i].least && odds <= handed[_i].most, "%s: %d", handed[_i].id, odds);
}
END_TEST

// What comes in its turn releases no scoreboard: neither the one of its result nor the one of its
// sources.
START_TEST(test_arithmetic_has_no_scoreboard) {
  enum { WRITES_AT = 110 - 64, READS_AT = 113 - 64 };
  static const char *const names[] = {"IADD3", "LOP3", "IMAD"};
  const PtxModule *module = machine_case_recorded(arena, "k15");
  int n = 0;
  for (int pc = 0; pc < module->n_code; pc++)
    for (int i = 0; i < 3; i++) {
      const McStep *as_it_is = module->code[pc].machine;
      if (!as_it_is || strcmp(as_it_is->op->name, names[i]) != 0) continue;
      McStep step = *as_it_is;
      module->code[pc].machine = &step;
      step.high = as_it_is->high & ~(UINT64_C(7) << WRITES_AT);
      ck_assert_msg(mc_issue_misfits(module, -1, NULL, NULL) > 0, "0x%x writes", 16 * pc);
      step.high = as_it_is->high & ~(UINT64_C(7) << READS_AT);
      ck_assert_msg(mc_issue_misfits(module, -1, NULL, NULL) > 0, "0x%x reads", 16 * pc);
      module->code[pc].machine = as_it_is;
      n++;
    }
  ck_assert_int_gt(n, 10);
}
END_TEST

// Under a guard that no other instruction has, an instruction is less like the others, by that one
// guard: of k15 those that are likest to one with their guard.
START_TEST(test_a_guard_makes_instructions_alike) {
  enum { NOBODYS = 5 };
  const PtxModule *module = machine_case_recorded(arena, "k15");
  int n = 0;
  for (int pc = 0; pc < module->n_code; pc++) ck_assert_int_ne(module->code[pc].guard, NOBODYS);
  for (int pc = 0; pc < module->n_code; pc++) {
    PtxInst guarded = module->code[pc];
    guarded.guard = NOBODYS;
    const int less =
        mc_likeness(module, pc, &module->code[pc], NULL) - mc_likeness(module, pc, &guarded, NULL);
    ck_assert_msg(less == 0 || less == 1, "0x%x: %d", 16 * pc, less);
    n += less;
  }
  ck_assert_int_gt(n, 0);
}
END_TEST

Suite *suite_machine_issue(void) {
  Suite *suite = suite_create("machine_issue");
  TCase *tcase = tcase_create("issue");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, test_control_words_fit);
  tcase_add_loop_test(tcase, test_a_wrong_register_does_not_fit, 0,
                      (int)(sizeof wrong / sizeof *wrong));
  tcase_add_test(tcase, test_a_register_is_read_before_it_is_written_over);
  tcase_add_test(tcase, test_lanes_meet_where_it_was_said);
  tcase_add_test(tcase, test_no_branch_goes_past_where_lanes_meet);
  tcase_add_test(tcase, test_registers_are_of_both_banks);
  tcase_add_test(tcase, test_what_is_usual);
  tcase_add_loop_test(tcase, test_a_register_is_likelier, 0, (int)(sizeof handed / sizeof *handed));
  tcase_add_test(tcase, test_arithmetic_has_no_scoreboard);
  tcase_add_test(tcase, test_a_guard_makes_instructions_alike);
  suite_add_tcase(suite, tcase);
  return suite;
}
