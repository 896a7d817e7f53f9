// Address lists and expressions as people paste them, and what is said about bad ones.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "banks/engine/bank_input.h"
#include "banks/engine/formula.h"
#include "base/random.h"
#include "base/str.h"

Suite *suite_banks_input(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// "" when the text is accepted, else the diagnostics.
static const char *read_addresses(const char *op, const char *text, int64_t addr[BANK_LANES]) {
  Diags diags = diags_new(arena);
  bool ok = bank_input_addresses(banks_op_find(op), text, addr, &diags);
  ck_assert_msg(ok == (diags.count == 0), "%s", text);
  return diags_text(arena, &diags);
}

// Where nothing has a name, no name is the nearest.
START_TEST(a_name_where_there_are_none_has_no_neighbour) {
  Diags diags = diags_new(arena);
  ck_assert_ptr_null(formula_parse(arena, "1 + x", NULL, 0, &diags));
  ck_assert_int_eq(diags.count, 1);
  ck_assert_ptr_null(diags.first->nearest);
  ck_assert_ptr_nonnull(formula_parse(arena, "1 + 2", NULL, 0, &diags));
}
END_TEST

START_TEST(spellings_of_one_list) {
  static const char *const spellings[] = {
      "0:512:16",
      "0:512",
      "0:0x200:0x10",
      "0:256:16 256:512:16",
      "[0:256:16, 256:512:16]",
      "lane*16",
      "tid * 16",
      "threadIdx.x << 4",
      "(lane%8)*16 + (lane/8)*128",
      "(lane & 7) << 4 | (lane >> 3) << 7",
      "0,16,32,48,64,80,96,112,128,144,160,176,192,208,224,240,256,272,288,304,320,336,352,368,384,"
      "400,416,432,448,464,480,496",
      "{0x0 0x10 0x20 0x30;0x40 0x50 0x60 0x70;\n0x80 0x90 0xa0 0xb0 0xc0 0xD0 0xE0 0XF0 0x100, "
      "0x110,,0x120 0x130 0x140 0x150 0x160 0x170 0x180 0x190 0x1a0 0x1b0 0x1c0 0x1d0 0x1e0u "
      "496UL}",
  };
  for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
    int64_t addr[BANK_LANES];
    ck_assert_str_eq(read_addresses("lds128", spellings[i], addr), "");
    for (int lane = 0; lane < BANK_LANES; lane++)
      ck_assert_msg(addr[lane] == 16 * lane, "%s", spellings[i]);
  }
}
END_TEST

// The same five lanes as a debugger, a program or a table would print them.
static const char *const pastes[] = {
    "lane 0: 0x0\nlane 1: 0x80\nlane 2: 256\nlane 4: 12\n",
    "lane 4: 12\nlane 1: 0x80\nlane 0: 0x0\nlane 2: 256",
    "0: 0x0\n1: 0x80\n2: 256\n3: -1\n4: 12",
    "  0 -> 0\n  1 -> 128\r\n  2 -> 256\r\n\n  4 -> 12",
    "[0] = 0, [1] = 128, [2] = 256, [4] = 12",
    "{0: 0, 1: 128, 2: 256, 3: _, 4: 12}",
    "T0=0;T1=128;T2=256;T4=0xc",
    "tid=0 addr=0x0\ntid=1 addr=0x80\ntid=2 addr=0x100\ntid=4 addr=0xc\n",
    "lane   address\nthread 0 addr 0x0\nthread 1 addr 0x80\nthread 2 addr 256\nthread 4 addr 12",
    "0 128 256 -1 12 _ <repeats 27 times>",
    "$1 = {0, 128, 256, -1, 12, -1 <repeats 27 times>}",
    "int addr[32] = {0, 128, 256, -1,\n12, x <repeats 27 times>};",
    "$2 = (@shared float *) 0\n$3 = (@shared float *) 0x80\n256 _ 12 _ <repeats 27 times>",
    "0x7fffe000 <row>:\t0\t0x80\n0x7fffe010 <row+16>:\t256\t-1\n12 _ <repeats 27 times>",
    "{\"addr\": [0, 128, 256, -1, 12, -1 <repeats 27 times>]}",
    "lane 0: 0x0 lane 1: 0x80 lane 2: 256 lane 4: 12",
    "tid 64: ptr=0x0\ntid 65: ptr=0x80\ntid 66: ptr=256\ntid 68: ptr=12",
    "$3 = (@generic float * @local [32]) {0x7fffd9000000 <row>, 0x7fffd9000080 <row+128>, "
    "0x7fffd9000100 <row+256>, -1, 0x7fffd900000c <row+12>, -1 <repeats 27 times>}",
    "(@generic float *) 0x7fffd9000000\n(@generic float *) 0x7fffd9000080\n0x7fffd9000100 _ "
    "0x7fffd900000c _ <repeats 27 times>",
};

START_TEST(what_stands_around_addresses_is_taken_off) {
  static const int64_t first[] = {0, 128, 256, -1, 12};
  for (size_t i = 0; i < sizeof pastes / sizeof pastes[0]; i++) {
    int64_t addr[BANK_LANES];
    ck_assert_str_eq(read_addresses("lds32", pastes[i], addr), "");
    for (int lane = 0; lane < BANK_LANES; lane++)
      ck_assert_msg(addr[lane] == (lane < 5 ? first[lane] : BANK_INACTIVE), "%s: lane %d is %ld",
                    pastes[i], lane, (long)addr[lane]);
  }
  Str table = str_new(arena);
  for (int lane = 0; lane < BANK_LANES; lane++) str_printf(&table, "%2d\t0x%x\n", lane, 8 * lane);
  int64_t addr[BANK_LANES];
  ck_assert_str_eq(read_addresses("lds64", table.text, addr), "");
  for (int lane = 0; lane < BANK_LANES; lane++) ck_assert_int_eq(addr[lane], 8 * lane);
}
END_TEST

// The window of shared memory is taken off 64-bit addresses, when all of them are in one.
START_TEST(generic_addresses_leave_their_window) {
  int64_t addr[BANK_LANES];
  ck_assert_str_eq(read_addresses("lds128", "0x7fffd9000400:0x7fffd9000600:16", addr), "");
  for (int lane = 0; lane < BANK_LANES; lane++) ck_assert_int_eq(addr[lane], 0x400 + 16 * lane);
  ck_assert_str_eq(read_addresses("lds32", "0x7f3f4c000000 + lane * 4", addr), "");
  ck_assert_int_eq(addr[31], 124);
  const char *global = read_addresses("lds32", "0x7f3f4c400000:0x7f3f4c400080", addr);
  ck_assert_msg(strstr(global, "an address of global memory?") != NULL, "%s", global);
  const char *apart = read_addresses("lds32", "lane * 16777216 + 16777216", addr);
  ck_assert_msg(strstr(apart, "cannot both be in shared memory") != NULL, "%s", apart);
  ck_assert_str_eq(read_addresses("lds32", "warp * 4 + tid * 4", addr), "");
  const char *warps = read_addresses("lds32", "tid 32: 0\ntid 64: 4", addr);
  ck_assert_msg(strstr(warps, "of another warp") != NULL, "%s", warps);
}
END_TEST

START_TEST(inactive_lanes_have_many_spellings) {
  int64_t addr[BANK_LANES];
  ck_assert_str_eq(read_addresses("lds32", "-1 _ x X . - inactive 4:104:4", addr), "");
  for (int lane = 0; lane < BANK_LANES; lane++)
    ck_assert_int_eq(addr[lane], lane < 7 ? BANK_INACTIVE : (lane - 6) * 4);
  ck_assert_str_eq(read_addresses("lds64", "lane < 16 ? lane * 8 : -1", addr), "");
  for (int lane = 0; lane < BANK_LANES; lane++)
    ck_assert_int_eq(addr[lane], lane < 16 ? lane * 8 : BANK_INACTIVE);
}
END_TEST

START_TEST(progressions_may_run_down) {
  int64_t addr[BANK_LANES];
  ck_assert_str_eq(read_addresses("lds32", "124:-1:-4", addr), "");
  for (int lane = 0; lane < BANK_LANES; lane++) ck_assert_int_eq(addr[lane], 124 - 4 * lane);
}
END_TEST

START_TEST(a_matrix_needs_its_rows_only) {
  int64_t addr[BANK_LANES];
  ck_assert_str_eq(read_addresses("ldsm_x1", "0:1024:128", addr), "");
  ck_assert_int_eq(addr[7], 896);
  for (int lane = 8; lane < BANK_LANES; lane++) ck_assert_int_eq(addr[lane], BANK_INACTIVE);
  ck_assert_str_eq(read_addresses("stsm_x2t", "0:2048:128", addr), "");
  ck_assert_int_eq(addr[15], 1920);
  ck_assert_int_eq(addr[16], BANK_INACTIVE);
  ck_assert_str_eq(read_addresses("ldsm_x2", "lane*128", addr), "");
  ck_assert_int_eq(addr[31], BANK_INACTIVE);
  ck_assert_str_eq(read_addresses("ldsm_x1", "0:4096:128", addr), "");
  ck_assert_ptr_nonnull(strstr(read_addresses("ldsm_x4", "0:1024:128", addr), "8 addresses"));
  ck_assert_ptr_nonnull(strstr(read_addresses("ldsm_x2", "0:1024:128", addr), "nearest: 16"));
}
END_TEST

START_TEST(shared_memory_ends_at_228_kib) {
  int64_t addr[BANK_LANES];
  ck_assert_str_eq(read_addresses("lds128", "lane*0 + 232432", addr), "");
  ck_assert_str_eq(read_addresses("lds128", "lane*0 + 233456", addr), "");
  const char *text = read_addresses("lds128", "lane*0 + 233472", addr);
  ck_assert_ptr_nonnull(strstr(text, "nearest: 233456"));
  ck_assert_ptr_nonnull(strstr(text, "and 28 more lanes"));
}
END_TEST

START_TEST(faults_name_value_rule_and_nearest) {
  static const struct {
    const char *op, *text, *says;
  } cases[] = {
      {"lds128", "0 16 32 18 64:512:16",
       "addr_align: lane 3: 18 is not a multiple of 16, the size of one lds128 access; nearest: "
       "16"},
      {"lds128", "0 16 32 30 64:512:16", "nearest: 32"},
      {"ldsm_x4", "lane*8", "lane 1: 8 is not a multiple of 16"},
      {"lds32", "", "0 addresses, but a warp has 32 lanes"},
      {"lds32", "4", "1 address, but"},
      {"lds32", "0:124:4", "31 addresses"},
      {"lds32", "0:132:4", "33 addresses"},
      {"lds32", "0:4000000000:4", "1000000000 addresses"},
      {"lds32", "0:128:4 0:4000000000:4 0:40:4", "1000000042 addresses"},
      {"lds32", "-2 0:124:4", "lane 0: -2 is negative; only -1"},
      {"lds32", "0:128:0", "has a step of 0"},
      {"lds32", "0:128:-4", "nearest: 0:128:4"},
      {"lds32", "128:0:4", "nearest: 128:0:-4"},
      {"lds32", "-4:124:4", "runs below 0"},
      {"lds32", "0:1:2:3", "more than three parts"},
      {"lds32", "0:", "\"0:\" (value 0 of the list) is not an address"},
      {"lds32", ":", "is not an address"},
      {"lds32", "0 4 8k", "\"8k\" (value 2 of the list) is not an address"},
      {"lds32", "0x", "is not an address"},
      {"lds32", "1.5", "is not an address"},
      {"lds32", "99999999999999999999", "is too large"},
      {"lds32", "0:99999999999999999999:1", "is too large"},
      {"lds32", "banana", "is not an address"},
      {"lds32", "\x1b[31m", "?"},
      {"lds32", "lane 0: 0\nlane 32: 4", "\"lane 32: 4\" names a lane that does not exist"},
      {"lds32", "lane 0: 0\nlane 32: 4", "nearest: 31"},
      {"lds32", "0: 0\n1: 4\n0: 8", "\"0: 8\" names its lane a second time"},
      {"lds32", "0: 0\n1 4 8\n", "\"1 4 8\" does not name a lane and its address"},
      {"lds32", "lane 0: 0x\n", "\"0x\" (value 0 of the list) is not an address"},
      {"lds32", "lane 3: 6\n", "lane 3: 6 is not a multiple of 4"},
      {"lds32", "<repeats 3 times>", "is not an address"},
      {"lds32", "0 <repeats 2000000000 times> 4", "2000000001 addresses"},
      {"lds32", "0 <repeats 0 times>", "is not an address"},
      {"lds32", "lane*", "ends before a number"},
      {"lds32", "lane*4)", "an operator or the end"},
      {"lds32", "lane/0", "divides by zero for lane 0"},
      {"lds32", "4/(lane-5)", "divides by zero for lane 5"},
      {"lds32", "lane<<lane<<40", "overflows 64 bits"},
      {"lds32", "(0-9223372036854775807-1)/(lane-1)", "overflows 64 bits"},
      {"lds32", "lane<<-1", "shifts by less than 0"},
      {"lds32", "lane*4+row", "there is no variable \"row\""},
      {"lds32", "lane*4-128", "lane 0: -128 is negative"},
      {"lds32", "lane*9223372036854775808", "does not fit"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int64_t addr[BANK_LANES];
    const char *text = read_addresses(cases[i].op, cases[i].text, addr);
    ck_assert_msg(strstr(text, cases[i].says), "%s: %s", cases[i].text, text);
    ck_assert_ptr_null(strchr(text, '\x1b'));
  }
}
END_TEST

START_TEST(unknown_operations_name_the_nearest) {
  static const char *const cases[][2] = {
      {"lds182", "lds128"}, {"LDS_128", "lds128"}, {"ldsmx4", "ldsm_x4"}, {"cpasync", "cpasync4"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Diags diags = diags_new(arena);
    ck_assert_ptr_null(bank_input_op(cases[i][0], &diags));
    ck_assert_str_eq(diags.first->nearest, cases[i][1]);
  }
}
END_TEST

// Cut short, with bytes changed or doubled: a paste is read or refused with a reason, and what is
// read is legal.
START_TEST(damaged_pastes_are_read_or_refused) {
  enum { MUTANTS = 20000 };
  static const char bytes[] = "0:=<>{}[]()$ \n\t,;-_x9lantT*@";
  uint64_t random = 11;
  int accepted = 0;
  for (int i = 0; i < MUTANTS; i++) {
    arena_reset(arena);
    char *text =
        arena_strdup(arena, pastes[random_next(&random) % (sizeof pastes / sizeof *pastes)]);
    size_t n = strlen(text);
    for (int edits = (int)random_between(&random, 1, 4); edits > 0; edits--)
      text[random_next(&random) % n] = bytes[random_next(&random) % sizeof bytes];
    int64_t addr[BANK_LANES];
    if (*read_addresses("lds32", text, addr)) continue;
    accepted++;
    for (int lane = 0; lane < BANK_LANES; lane++)
      ck_assert(addr[lane] >= -1 && addr[lane] + 4 <= BANK_SMEM_BYTES_MAX);
  }
  ck_assert_int_gt(accepted, MUTANTS / 20);
  ck_assert_int_lt(accepted, MUTANTS / 2);
}
END_TEST

START_TEST(operations_are_known_by_their_other_spellings) {
  static const char *const cases[][2] = {{"LDS128", "lds128"},
                                         {"LDS.128", "lds128"},
                                         {"LDS", "lds32"},
                                         {"ld.shared.v4.f32", "lds128"},
                                         {"st.shared.u32", "sts32"},
                                         {"LDSM.16.MT88.2", "ldsm_x2t"},
                                         {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", "ldsm_x4"},
                                         {"LDGSTS.E.BYPASS.128", "cpasync16"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Diags diags = diags_new(arena);
    const BankOp *op = bank_input_op(cases[i][0], &diags);
    ck_assert_msg(op != NULL, "%s", cases[i][0]);
    ck_assert_str_eq(op->name, cases[i][1]);
  }
}
END_TEST

static const FormulaName NAMES[] = {{"row", 0}, {"col", 1}};

START_TEST(expressions_follow_c) {
  int64_t values[2] = {6, 5}, row = values[0], col = values[1];
  struct {
    const char *text;
    int64_t value;
  } cases[] = {
      {"col ^ (((row >> 1) & 3) << 2)", col ^ (((row >> 1) & 3) << 2)},
      {"col ^ ((row >> 1) & 3) << 2", 9},
      {"1 + 2 * 3 - 4 / 2 % 3", 1 + 2 * 3 - 4 / 2 % 3},
      {"10 - 3 - 2", 5},
      {"100 / 5 / 2", 10},
      {"-row + ~col", -12},
      {"- - 3", 3},
      {"!row + !0", 1},
      {"row < col || col < row && 0", 0},
      {"row == 6 ? col == 6 ? 1 : 2 : 3", 2},
      {"row > 9 ? 1 / 0 : 7", 7},
      {"row < 9 || 1 / 0", 1},
      {"row > 9 && 1 / 0", 0},
      {"1 | 2 ^ 3 & 6", 1 | (2 ^ (3 & 6))},
      {"row >= 6 == col <= 5", 1},
      {"0x1F & 0XFf", 31},
      {"(((((7)))))", 7},
      {"-7 / 2 * 10 + -7 % 2", -31},
      {"-8 >> 1", -4},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Diags diags = diags_new(arena);
    const Formula *formula = formula_parse(arena, cases[i].text, NAMES, 2, &diags);
    ck_assert_msg(formula != NULL, "%s: %s", cases[i].text, diags_text(arena, &diags));
    int64_t value = 0;
    const char *why;
    ck_assert_msg(formula_eval(formula, values, &value, &why), "%s", cases[i].text);
    ck_assert_msg(value == cases[i].value, "%s is %ld", cases[i].text, (long)value);
  }
}
END_TEST

START_TEST(deep_and_long_expressions_are_refused) {
  static char text[10001];
  static const char *const repeated[] = {"(", "-", "~", "1+(", "row?", "1?2:", "row^row<<", "!(-"};
  for (size_t i = 0; i < sizeof repeated / sizeof repeated[0]; i++) {
    size_t n = strlen(repeated[i]);
    for (size_t size = 999 / n * n; size <= 10000; size += 9000 / n * n) {
      for (size_t at = 0; at < size; at++) text[at] = repeated[i][at % n];
      text[size] = '\0';
      Diags diags = diags_new(arena);
      ck_assert_ptr_null(formula_parse(arena, text, NAMES, 2, &diags));
      ck_assert_int_eq(diags.count, 1);
    }
  }
  Str sum = str_new(arena);
  str_add(&sum, "1");
  for (int i = 0; i < 499; i++) str_add(&sum, "+1");
  Diags diags = diags_new(arena);
  const Formula *formula = formula_parse(arena, sum.text, NAMES, 2, &diags);
  ck_assert_ptr_nonnull(formula);
  int64_t value, none[2] = {0};
  const char *why;
  ck_assert(formula_eval(formula, none, &value, &why));
  ck_assert_int_eq(value, 500);
}
END_TEST

// Each parenthesis and each sign is one deep, so 64 of them are read and 65 are not.
START_TEST(the_depth_that_is_refused_is_the_one_that_is_named) {
  static const struct {
    const char *open, *close;
    int deep;
  } levels[] = {{"(", ")", 1}, {"-", "", 1}, {"!(", ")", 2}};
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
    for (int depth = 64; depth <= 64 + levels[i].deep; depth += levels[i].deep) {
      Str text = str_new(arena);
      for (int n = 0; n < depth; n += levels[i].deep) str_add(&text, levels[i].open);
      str_add(&text, "7");
      for (int n = 0; n < depth; n += levels[i].deep) str_add(&text, levels[i].close);
      Diags diags = diags_new(arena);
      bool read = formula_parse(arena, text.text, NAMES, 2, &diags) != NULL;
      ck_assert_msg(read == (depth == 64), "%s: %s", text.text, diags_text(arena, &diags));
      if (!read) ck_assert_ptr_nonnull(strstr(diags_text(arena, &diags), "deeper than 64 levels"));
    }
}
END_TEST

Suite *suite_banks_input(void) {
  Suite *suite = suite_create("banks_input");
  TCase *input = tcase_create("input");
  tcase_add_checked_fixture(input, setup, teardown);
  tcase_add_test(input, a_name_where_there_are_none_has_no_neighbour);
  tcase_add_test(input, spellings_of_one_list);
  tcase_add_test(input, what_stands_around_addresses_is_taken_off);
  tcase_add_test(input, damaged_pastes_are_read_or_refused);
  tcase_add_test(input, operations_are_known_by_their_other_spellings);
  tcase_add_test(input, generic_addresses_leave_their_window);
  tcase_add_test(input, inactive_lanes_have_many_spellings);
  tcase_add_test(input, progressions_may_run_down);
  tcase_add_test(input, a_matrix_needs_its_rows_only);
  tcase_add_test(input, shared_memory_ends_at_228_kib);
  tcase_add_test(input, faults_name_value_rule_and_nearest);
  tcase_add_test(input, unknown_operations_name_the_nearest);
  tcase_add_test(input, expressions_follow_c);
  tcase_add_test(input, deep_and_long_expressions_are_refused);
  tcase_add_test(input, the_depth_that_is_refused_is_the_one_that_is_named);
  suite_add_tcase(suite, input);
  return suite;
}
