// Layouts: what every kind does to addresses, and the facts that are read off them.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "banks/layouts/layout.h"

Suite *suite_banks_layout(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static const LayoutSlab FLOATS16 = {.rows = 128, .row_bytes = 64, .elem_bytes = 4};
static const LayoutSlab HALVES64 = {.rows = 64, .row_bytes = 128, .elem_bytes = 2};

static const Layout *parse(const LayoutSlab *slab, const char *text) {
  Diags diags = diags_new(arena);
  const Layout *layout = layout_parse(arena, slab, text, &diags);
  ck_assert_msg(layout != NULL, "%s: %s", text, diags_text(arena, &diags));
  return layout;
}

static bool same(const Layout *a, const Layout *b) {
  size_t n = (size_t)(a->slab.rows * a->slab.row_bytes);
  return a->storage_bytes == b->storage_bytes && !memcmp(a->offset_of, b->offset_of, n * 4);
}

START_TEST(swizzle_moves_bits_as_cutlass_says) {
  const Layout *layout = parse(&HALVES64, "swizzle:3,4,3");
  for (int i = 0; i < 64 * 128; i++)
    ck_assert_int_eq(layout->offset_of[i], i ^ ((i & (7 << 7)) >> 3));
  layout = parse(&HALVES64, "swizzle:2,4,-3");
  for (int i = 0; i < 64 * 128; i++)
    ck_assert_int_eq(layout->offset_of[i], i ^ ((i & (3 << 4)) << 3));
}
END_TEST

START_TEST(spellings_of_one_layout) {
  static const char *const a[] = {"swizzle:2,4,3",
                                  "Swizzle<2,4,3>",
                                  "64B",
                                  "xor:'col ^ (((row >> 1) & 3) << 2)'",
                                  "xor: \"col ^ ((row << 1) & 12)\"",
                                  "xoroff:off ^ ((off >> 3) & 12)",
                                  "none; swizzle:2,4,3",
                                  "swizzle:1,4,3;swizzle:1,5,3"};
  for (size_t i = 1; i < sizeof a / sizeof a[0]; i++)
    ck_assert_msg(same(parse(&FLOATS16, a[0]), parse(&FLOATS16, a[i])), "%s", a[i]);
  ck_assert(same(parse(&HALVES64, "128B"), parse(&HALVES64, "xor:col ^ ((row & 7) << 3)")));
  ck_assert(same(parse(&HALVES64, "pad:0"), parse(&HALVES64, "none")));
}
END_TEST

START_TEST(pads_lengthen_rows) {
  const Layout *layout = parse(&FLOATS16, "pad:4");
  ck_assert_int_eq(layout->storage_bytes, 128 * 80);
  ck_assert_int_eq(layout->offset_of[3 * 64 + 20], 3 * 80 + 20);
  LayoutFacts facts = layout_examine(arena, layout);
  ck_assert(facts.bijective && !facts.linear);
  ck_assert_int_eq(facts.whole_bytes, 16);
  facts = layout_examine(arena, parse(&FLOATS16, "pad:1"));
  ck_assert_int_eq(facts.whole_bytes, 4);
  facts = layout_examine(arena, parse(&FLOATS16, "pad:2"));
  ck_assert_int_eq(facts.whole_bytes, 8);
  layout = parse(&FLOATS16, "pad:4;pad:4");
  ck_assert_int_eq(layout->storage_bytes, 128 * 96);
  ck_assert_int_eq(layout->offset_of[64 + 8], 96 + 8);
}
END_TEST

// 16 floats in runs of four, one more behind each: rows of 80 bytes, words 5 apart.
START_TEST(pads_part_runs) {
  const Layout *layout = parse(&FLOATS16, "pad:1,4");
  ck_assert_int_eq(layout->storage_bytes, 128 * 80);
  for (int col = 0; col < 16; col++)
    ck_assert_int_eq(layout->offset_of[3 * 64 + col * 4], 3 * 80 + (col + col / 4) * 4);
  LayoutFacts facts = layout_examine(arena, layout);
  ck_assert(facts.bijective && facts.whole_bytes == 4);
  ck_assert_int_eq(layout_examine(arena, parse(&FLOATS16, "pad:4,4")).whole_bytes, 16);
  ck_assert(same(parse(&FLOATS16, "pad:3"), parse(&FLOATS16, "pad:3,16")));
}
END_TEST

START_TEST(linear_layouts_have_their_matrix) {
  LayoutFacts facts = layout_examine(arena, parse(&FLOATS16, "swizzle:2,4,3"));
  ck_assert(facts.linear && facts.bijective);
  ck_assert_int_eq(facts.n_bits, 13);
  for (int bit = 0; bit < 13; bit++)
    ck_assert_int_eq(facts.column[bit], 1 << bit | (bit == 7 ? 1 << 4 : bit == 8 ? 1 << 5 : 0));
  Str out = str_new(arena);
  layout_print_bits(&out, &facts);
  ck_assert_ptr_nonnull(
      strstr(out.text, "\n           4   .  .  .  .  .  1  .  .  1  .  .  .  .\n"));
  facts = layout_examine(arena, parse(&FLOATS16, "xor:15 - col"));
  ck_assert(facts.linear && facts.bijective && facts.constant == 60);
  ck_assert_int_eq(facts.whole_bytes, 4);
  facts = layout_examine(arena, parse(&FLOATS16, "xor:(col + row) % 16"));
  ck_assert(!facts.linear && facts.bijective);
  facts = layout_examine(arena, parse(&FLOATS16, "xor:(col + row * 4) % 16"));
  ck_assert_int_eq(facts.whole_bytes, 16);
}
END_TEST

START_TEST(clashes_are_found) {
  LayoutFacts facts = layout_examine(arena, parse(&FLOATS16, "xor:col & ~8"));
  ck_assert(!facts.bijective);
  ck_assert_int_eq(facts.clash[0], 0);
  ck_assert_int_eq(facts.clash[1], 32);
  facts = layout_examine(arena, parse(&FLOATS16, "xoroff:off ^ off"));
  ck_assert(!facts.bijective);
}
END_TEST

START_TEST(a_swizzle_below_the_element_takes_it_apart) {
  LayoutFacts facts = layout_examine(arena, parse(&FLOATS16, "swizzle:2,1,6"));
  ck_assert(facts.bijective);
  ck_assert_int_eq(facts.whole_bytes, 2);
}
END_TEST

START_TEST(rows_need_not_be_powers_of_two) {
  LayoutSlab slab = {.rows = 26, .row_bytes = 48, .elem_bytes = 4};
  LayoutFacts facts = layout_examine(arena, parse(&slab, "none"));
  ck_assert(facts.bijective && facts.linear);
  ck_assert_int_eq(facts.whole_bytes, 16);
  facts = layout_examine(arena, parse(&slab, "xor:col ^ (row & 3)"));
  ck_assert(facts.bijective);
  // Byte 64 of 96 goes to the first one behind them.
  Diags diags = diags_new(arena);
  slab = (LayoutSlab){.rows = 3, .row_bytes = 32, .elem_bytes = 4};
  ck_assert_ptr_null(layout_parse(arena, &slab, "swizzle:1,5,1", &diags));
  const char *text = diags_text(arena, &diags);
  ck_assert_msg(strstr(text, "moves a byte to 96, outside of the slab's 96 bytes"), "%s", text);
}
END_TEST

START_TEST(bad_layouts_are_named) {
  static const struct {
    const char *text, *says;
  } cases[] = {
      {"", "there is no layout \"\""},
      {"swizle:3,4,3", "nearest: swizzle"},
      {"swizzle", "column 9: expected B, the number of bits"},
      {"swizzle:3,4,3,1", "column 14: expected the end"},
      {"swizzle:3;4;3", "column 10: expected \",\" and M"},
      {"Swizzle<3,4,x>{}", "column 13: expected S, the shift"},
      {"swizzle:3,4,2", "|S| < B"},
      {"swizzle:9,4,9", "outside 0 to 8"},
      {"swizzle:9,4,9", "nearest: swizzle:8,4,9"},
      {"swizzle:4,4,-99", "nearest: swizzle:4,4,-10"},
      {"swizzle:9,4,3", "nearest: swizzle:3,4,3"},
      {"swizzle:3,99999999999,3", "outside"},
      {"swizzle:3,99999999999999999999,3", "above 2^40"},
      {"swizzle:3,4,-10", "moves a byte to"},
      {"pad:", "column 5: expected a number of elements"},
      {"pad:4x", "column 6: expected the end"},
      {"pad:1,3", "not a whole number of runs"},
      {"pad:1,0", "not a whole number of runs"},
      {"pad:-1,4", "not from 0"},
      {"pad:9999999999,4", "not from 0"},
      {"pad:999999", "from 0 to 440; nearest: pad:440"},
      {"pad:-1", "nearest: pad:0"},
      {"none:1", "takes no argument"},
      {"none;none;none;none;none", "more than 4 stages"},
      {"xor:col ^", "ends before"},
      {"xor:off ^ 1", "no variable \"off\""},
      {"xor:col ^ 16", "outside 0 to 15"},
      {"xor:col ^ 010", "column 7: C reads a number with a leading 0 as octal; leave out the 0"},
      {"xor:col ^ 010", "nearest: 10"},
      {"xor:-col", "outside"},
      {"xoroff:off + 1", "outside 0 to 2047"},
      {"xoroff:off / (row - 5) * 0", "divides by zero for row 5, col 0"},
      {"xor:(col << 62) * 0", "overflows"},
      {"\x1b]0;x\x07", "?"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Diags diags = diags_new(arena);
    ck_assert_ptr_null(layout_parse(arena, &FLOATS16, cases[i].text, &diags));
    const char *text = diags_text(arena, &diags);
    ck_assert_msg(strstr(text, cases[i].says), "%s: %s", cases[i].text, text);
  }
}
END_TEST

START_TEST(bad_slabs_are_named) {
  static const LayoutSlab slabs[] = {
      {0, 64, 4}, {128, 0, 4},           {-1, -1, 4},    {128, 66, 4}, {128, 64, 3},
      {8, 64, 0}, {2000000, 2000000, 4}, {128, 2048, 4}, {8, 64, 32}};
  for (size_t i = 0; i < sizeof slabs / sizeof slabs[0]; i++) {
    Diags diags = diags_new(arena);
    ck_assert(!layout_check_slab(&slabs[i], &diags));
    ck_assert_int_gt(diags.count, 0);
  }
}
END_TEST

Suite *suite_banks_layout(void) {
  Suite *suite = suite_create("banks_layout");
  TCase *layout = tcase_create("layout");
  tcase_add_checked_fixture(layout, setup, teardown);
  tcase_add_test(layout, swizzle_moves_bits_as_cutlass_says);
  tcase_add_test(layout, spellings_of_one_layout);
  tcase_add_test(layout, pads_lengthen_rows);
  tcase_add_test(layout, pads_part_runs);
  tcase_add_test(layout, linear_layouts_have_their_matrix);
  tcase_add_test(layout, clashes_are_found);
  tcase_add_test(layout, a_swizzle_below_the_element_takes_it_apart);
  tcase_add_test(layout, rows_need_not_be_powers_of_two);
  tcase_add_test(layout, bad_layouts_are_named);
  tcase_add_test(layout, bad_slabs_are_named);
  suite_add_tcase(suite, layout);
  return suite;
}
