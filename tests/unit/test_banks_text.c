// The punch card as text, cell by cell.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "banks/engine/bank_input.h"
#include "banks/engine/bank_text.h"

Suite *suite_banks_text(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static const BankMap *map_of(const char *op, const char *addresses) {
  Diags diags = diags_new(arena);
  int64_t addr[BANK_LANES];
  ck_assert_msg(bank_input_addresses(banks_op_find(op), addresses, addr, &diags), "%s",
                diags_text(arena, &diags));
  BankMap *map = ARENA_NEW(arena, BankMap);
  banks_map(map, banks_op_find(op), addr);
  return map;
}

static char *card(const char *op, const char *addresses) {
  Str out = str_new(arena);
  bank_text_card(&out, map_of(op, addresses), true);
  return out.text;
}

START_TEST(a_card_of_two_wavefronts) {
  ck_assert_str_eq(card("lds32", "lane*8"),
                   "lds32  LDS  ld.shared.b32\n"
                   "32 active lanes, 4 bytes each; 1 phase, the whole warp\n"
                   "\n"
                   "     bank   0       8       16      24     31\n"
                   "            |       |       |       |      |\n"
                   "  w1     1  0.1.2.3.4.5.6.7.8.9.a.b.c.d.e.f.\n"
                   "         2  g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.\n");
}
END_TEST

START_TEST(a_card_with_sharing_merging_and_an_idle_phase) {
  ck_assert_str_eq(card("lds128", "lane < 16 ? lane / 4 * 128 : -1"),
                   "lds128  LDS.128  ld.shared.v4.b32\n"
                   "16 active lanes, 16 bytes each; 2 phases, one for each half-warp\n"
                   "lanes l and l^1 read the same address: phases merge two by two\n"
                   "\n"
                   "     bank   0       8       16      24     31\n"
                   "            |       |       |       |      |\n"
                   "  h1     1  0000............................\n"
                   "   sharing  +3--\n"
                   "         2  4444............................\n"
                   "   sharing  +3--\n"
                   "         3  8888............................\n"
                   "   sharing  +3--\n"
                   "         4  cccc............................\n"
                   "   sharing  +3--\n"
                   "  h2     -  no active lane\n");
}
END_TEST

START_TEST(the_worst_bank_is_told) {
  Str out = str_new(arena);
  bank_text_worst(&out, map_of("sts64", "lane/2*128"));
  ck_assert_ptr_nonnull(strstr(out.text,
                               "worst: h1, banks 0-1; in bank 0 these words collide:\n"
                               "  word 0 (byte 0) for lanes 0-1\n"
                               "  word 32 (byte 128) for lanes 2-3\n"));
  out = str_new(arena);
  bank_text_worst(&out, map_of("cpasync4", "lane*0"));
  ck_assert_ptr_nonnull(strstr(out.text, "cp.async does not share"));
  out = str_new(arena);
  bank_text_worst(&out, map_of("lds32", "lane*4"));
  ck_assert_str_eq(out.text, "");
}
END_TEST

START_TEST(lanes_are_written_as_runs) {
  static const struct {
    uint32_t lanes;
    const char *text;
  } cases[] = {
      {0, ""}, {1, "0"}, {0x80000000u, "31"}, {0xFFFFFFFFu, "0-31"}, {0x80000107u, "0-2 8 31"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Str out = str_new(arena);
    bank_text_lanes(&out, cases[i].lanes);
    ck_assert_str_eq(out.text, cases[i].text);
  }
  ck_assert_int_eq(bank_text_lane(31), 'v');
}
END_TEST

static const char *runs_of(const char *digits, BankMark mark, bool ascii) {
  uint8_t number[BANK_COUNT] = {0};
  BankCells cells;
  for (int i = 0; digits[i]; i++) number[i] = (uint8_t)(digits[i] - '0');
  bank_text_runs(number, mark, ascii, cells);
  Str out = str_new(arena);
  for (int i = 0; digits[i]; i++) str_add(&out, cells[i][0] ? cells[i] : ".");
  return out.text;
}

// A digit alone would be a lane: a number has its mark, and where there is no room the mark is all.
START_TEST(numbers_of_banks_are_no_lanes) {
  ck_assert_str_eq(runs_of("88880000", BANK_TIMES, false), "×8──....");
  ck_assert_str_eq(runs_of("88880000", BANK_TIMES, true), "x8--....");
  ck_assert_str_eq(runs_of("33000300", BANK_MORE, true), "+3...+3.");
  ck_assert_str_eq(runs_of("12330000", BANK_TIMES, true), "xxx3....");
  ck_assert_str_eq(runs_of("000", BANK_TIMES, true), "...");
  uint8_t all[BANK_COUNT];
  BankCells cells;
  memset(all, 32, sizeof all);
  bank_text_runs(all, BANK_TIMES, true, cells);
  ck_assert_str_eq(cells[0], "x");
  ck_assert_str_eq(cells[1], "3");
  ck_assert_str_eq(cells[2], "2");
  ck_assert_str_eq(cells[31], "-");
  BankRow row = {.cells = {{.lanes = 0xFFFFFFFFu}, {.lanes = 4}}};
  uint8_t more[BANK_COUNT];
  bank_text_sharers(&row, more);
  ck_assert_int_eq(more[0], 31);
  ck_assert_int_eq(more[1], 0);
}
END_TEST

START_TEST(what_goes_past_l1_has_bounds_not_zeros) {
  Str out = str_new(arena);
  bank_text_numbers(&out, map_of("cpasync16", "lane*16"));
  ck_assert_ptr_nonnull(strstr(out.text, "wavefronts 4 to 32 "));
  ck_assert_ptr_null(strstr(out.text, " 0 "));
}
END_TEST

Suite *suite_banks_text(void) {
  Suite *suite = suite_create("banks_text");
  TCase *text = tcase_create("text");
  tcase_add_checked_fixture(text, setup, teardown);
  tcase_add_test(text, a_card_of_two_wavefronts);
  tcase_add_test(text, a_card_with_sharing_merging_and_an_idle_phase);
  tcase_add_test(text, the_worst_bank_is_told);
  tcase_add_test(text, lanes_are_written_as_runs);
  tcase_add_test(text, numbers_of_banks_are_no_lanes);
  tcase_add_test(text, what_goes_past_l1_has_bounds_not_zeros);
  suite_add_tcase(suite, text);
  return suite;
}
