// Layouts in others' dialects: what each text means, that each converts to each that can say it,
// and what is said where it cannot.
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "banks/layouts/cute_cxx.h"
#include "banks/layouts/layout_unit.h"
#include "banks/layouts/notation.h"
#include "base/str.h"

Suite *suite_notation(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static const Layout *parse_as(LayoutSlab slab, const char *text) {
  Diags diags = diags_new(arena);
  const Layout *layout = notation_parse(arena, &slab, text, &diags);
  ck_assert_msg(layout != NULL, "%s: %s", text, diags_text(arena, &diags));
  return layout;
}
static const Layout *parse(const char *text) { return parse_as((LayoutSlab){0}, text); }

// In elements.
static int64_t at(const Layout *layout, int row, int col) {
  const LayoutSlab *slab = &layout->slab;
  return layout->offset_of[row * slab->row_bytes + col * slab->elem_bytes] / slab->elem_bytes;
}

static const char *evaluated(const char *text) {
  CuteText cute;
  Diags diags = diags_new(arena);
  ck_assert_msg(cute_text_parse(arena, text, &cute, &diags), "%s", diags_text(arena, &diags));
  Str out = str_new(arena);
  cute_print(&out, &cute.part[0].layout);
  return out.text;
}

// ---- CuTe ---------------------------------------------------------------------------------------

// The results that CUTLASS's "CuTe Layout Algebra" prints for these.
START_TEST(the_algebra_is_that_of_its_documentation) {
  static const struct {
    const char *text, *is;
  } cases[] = {
      {"coalesce((2,(1,6)):(1,(6,2)))", "_12:_1"},
      {"composition((6,2):(8,2), (4,3):(3,1))", "((_2,_2),_3):((_24,_2),_8)"},
      {"composition(20:2, (5,4):(4,1))", "(_5,_4):(_8,_2)"},
      {"composition((10,2):(16,4), (5,4):(1,5))", "(_5,(_2,_2)):(_16,(_80,_4))"},
      {"composition((12,(4,8)):(59,(13,1)), <3:4, 8:2>)", "(_3,(_2,_4)):(_236,(_26,_1))"},
      {"complement(4:1, 24)", "_6:_4"},
      {"complement(6:4, 24)", "_4:_1"},
      {"complement(4:2, 24)", "(_2,_3):(_1,_8)"},
      {"complement((2,4):(1,6), 24)", "_3:_2"},
      {"complement((2,2):(1,6), 24)", "(_3,_2):(_2,_12)"},
      {"logical_divide((4,2,3):(2,1,8), 4:2)", "((_2,_2),(_2,_3)):((_4,_1),(_2,_8))"},
      {"logical_divide((9,(4,8)):(59,(13,1)), <3:3, (2,4):(1,8)>)",
       "((_3,_3),((_2,_4),(_2,_2))):((_177,_59),((_13,_2),(_26,_1)))"},
      {"zipped_divide((9,(4,8)):(59,(13,1)), <3:3, (2,4):(1,8)>)",
       "((_3,(_2,_4)),(_3,(_2,_2))):((_177,(_13,_2)),(_59,(_26,_1)))"},
      {"logical_product((2,2):(4,1), 6:1)", "((_2,_2),(_2,_3)):((_4,_1),(_2,_8))"},
      // By hand: rows of 8 in halves of 4, columns of 64 in 16 at a time.
      {"tiled_divide((8,64):(64,1), (4,16))", "((_4,_16),_2,_4):((_64,_1),_256,_16)"},
      {"flat_divide((8,64):(64,1), (4,16))", "(_4,_16,_2,_4):(_64,_1,_256,_16)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    ck_assert_str_eq(evaluated(cases[i].text), cases[i].is);
}
END_TEST

// tests/data/cute_layouts.txt: what CUTLASS's own Python implementation gives.
START_TEST(the_algebra_is_that_of_pycute) {
  FILE *file = fopen("tests/data/cute_layouts.txt", "r");
  ck_assert_ptr_nonnull(file);
  char line[512];
  int n = 0;
  for (; fgets(line, sizeof line, file); n++) {
    char *equals = strstr(line, " = ");
    ck_assert_ptr_nonnull(equals);
    *equals = '\0';
    equals[3 + strcspn(equals + 3, "\n")] = '\0';
    ck_assert_msg(str_equal(evaluated(line), evaluated(equals + 3)), "%s: %s, not %s", line,
                  evaluated(line), equals + 3);
  }
  fclose(file);
  ck_assert_int_eq(n, 416);
}
END_TEST

// Each result is a function of the number of an element, and that is what a composition is.
START_TEST(a_composition_is_one_function_after_the_other) {
  CuteAlgebra algebra = {.arena = arena};
  CuteText a, b;
  Diags diags = diags_new(arena);
  ck_assert(cute_text_parse(arena, "(4,(3,8)):(3,(96,12))", &a, &diags));
  ck_assert(cute_text_parse(arena, "((2,2),6):((6,12),4)", &b, &diags) && diags.count == 0);
  const CuteLayout *outer = &a.part[0].layout, *inner = &b.part[0].layout;
  CuteLayout both = cute_composition(&algebra, *outer, *inner);
  ck_assert_ptr_nonnull(algebra.fault);  // 6 and 4 do not divide
  algebra.fault = NULL;
  ck_assert(cute_text_parse(arena, "(4,6):(1,12)", &b, &diags));
  both = cute_composition(&algebra, *outer, *inner);
  ck_assert_ptr_null(algebra.fault);
  for (int i = 0; i < 24; i++)
    ck_assert_int_eq(cute_offset(&both, i), cute_offset(outer, cute_offset(inner, i)));
}
END_TEST

// Element (1,0) of rows of 64 halves: 64, bits 6-8 are 1, so bit 3 is flipped: 72. Of bytes: 128 ^
// 16 = 144, the same place.
START_TEST(swizzles_are_of_elements_or_of_bytes) {
  const Layout *elements = parse("Sw<3,3,3> o _0 o (_8,_64):(_64,_1)");
  ck_assert_int_eq(at(elements, 1, 0), 72);
  ck_assert_int_eq(at(elements, 7, 9), 7 * 64 + (9 ^ 56));
  const char *const same[] = {"Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)",
                              "Sw<3,4,3>_smem_ptr[16b](0x7f0c00000400) o (8,64):(64,1)",
                              "S<3,3,3> o 0 o (8,64):(64,1)", "Swizzle<3,3,3> o (8,64):(64,1)"};
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
    ck_assert_msg(notation_same(elements, parse(same[i])), "%s", same[i]);
  // Without smem_ptr these are elements: bits 7-9 onto 4-6, and 64 has none of them.
  ck_assert_int_eq(at(parse("Sw<3,4,3> o (_8,_64):(_64,_1)"), 1, 0), 64);
  ck_assert_int_eq(at(parse("Sw<3,4,3> o (_8,_64):(_64,_1)"), 2, 0), 128 ^ 16);
}
END_TEST

// (2,3):(3,1) is 0 3 1 4 2 5 from the first mode on; further modes lie across.
// What stands in a program of CUTLASS, and what print() shows of it.
START_TEST(layouts_of_cxx_are_those_that_are_printed) {
  static const struct {
    const char *cxx, *printed;
  } cases[] = {
      {"Layout<Shape<_8,_64>,Stride<_64,_1>>{}", "(_8,_64):(_64,_1)"},
      {"Layout<Shape<_8,_64>>", "(_8,_64):(_1,_8)"},
      {"make_layout(make_shape(Int<8>{}, _64{}), LayoutRight{})", "(_8,_64):(_64,_1)"},
      {"make_layout(make_shape(make_shape(_2{},_4{}),64), GenColMajor{})",
       "((_2,_4),_64):((_1,_2),_8)"},
      {"cute::make_layout(cute::make_shape(8, 64), cute::make_stride(72, 1))", "(8,64):(72,1)"},
      {"composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{})",
       "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)"},
      {"ComposedLayout<Swizzle<3, 4, 3>, smem_ptr_flag_bits<16>, "
       "Layout<Shape<_8, _64>, Stride<_64, _1>>>",
       "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)"},
      {"cute::ComposedLayout<cute::Swizzle<3, 3, 3>, cute::C<0>, "
       "cute::Layout<cute::tuple<cute::C<8>, "
       "cute::C<64> >, cute::tuple<cute::C<64>, cute::C<1> > > >",
       "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)"},
      {"GMMA::Layout_K_SW128_Atom<half_t>{}",
       "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)"},
      {"GMMA::Layout_K_INTER_Atom<bfloat16_t>",
       "Sw<0,4,3> o smem_ptr[16b](unset) o (_8,_8):(_8,_1)"},
      {"UMMA::Layout_MN_SW64_Atom<float_e4m3_t>",
       "Sw<2,4,3> o smem_ptr[8b](unset) o (_64,_8):(_1,_64)"},
      {"tile_to_shape(GMMA::Layout_K_SW128_Atom<cutlass::half_t>{}, make_shape(_128{}, _64{}))",
       "Sw<3,4,3> o smem_ptr[16b](unset) o ((_8,_16),(_64,_1)):((_64,_512),(_1,_0))"},
      {"tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_16,_128>{}, Step<_2,_1>{})",
       "Sw<3,4,3> o smem_ptr[16b](unset) o ((_8,_2),(_64,_2)):((_64,_1024),(_1,_512))"},
      {"logical_divide(make_layout(make_shape(_8{},_64{}),GenRowMajor{}), make_tile(_4{},_16{}))",
       "((_4,_2),(_16,_4)):((_64,_256),(_1,_16))"},
      {"composition(Layout<Shape<_6,_2>,Stride<_8,_2>>{}, Layout<Shape<_4,_3>,Stride<_3,_1>>{})",
       "composition((6,2):(8,2), (4,3):(3,1))"},
  };
  const LayoutSlab unknown = {0};
  Diags diags = diags_new(arena);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const Layout *cxx = notation_parse(arena, &unknown, cases[i].cxx, &diags),
                 *printed = notation_parse(arena, &unknown, cases[i].printed, &diags);
    ck_assert_msg(cxx && printed, "%s: %s", cases[i].cxx, diags_text(arena, &diags));
    ck_assert_msg(notation_same(cxx, printed), "%s", cases[i].cxx);
  }
}
END_TEST

START_TEST(the_first_mode_runs_down) {
  const Layout *two = parse("(2,3):(3,1)"), *one = parse("6:2"), *three = parse("(2,3,2):(1,2,6)");
  for (int i = 0; i < 6; i++) ck_assert_int_eq(at(two, i % 2, i / 2), i % 2 * 3 + i / 2);
  ck_assert(one->slab.rows == 1 && at(one, 0, 5) == 10);
  ck_assert_int_eq(at(three, 1, 5), 1 + 2 * 2 + 6);
  ck_assert_int_eq(at(parse("(8,8):(8,1) o (4,2):(1,4)"), 3, 1), 7 * 8);
}
END_TEST

// A batch of matrices, or the slots of a ring: the mode with stride 1 runs across, the others down
// as they follow each other in memory.
START_TEST(of_three_modes_the_one_with_stride_1_runs_across) {
  static const struct {
    const char *text;
    int rows, cols;
  } cases[] = {{"(2,64,64):(4096,64,1)", 128, 64},
               {"(2,64,64):LayoutRight", 128, 64},
               {"make_layout(make_shape(_2{},_64{},_64{}),LayoutRight{})", 128, 64},
               {"(64,64,2):(64,1,4096)", 128, 64},
               {"((8,8),(64,1),(1,2)):((64,512),(1,0),(0,4096))", 128, 64},
               {"(2,2,16,64):(2048,1024,64,1)", 64, 64}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const Layout *layout = parse(cases[i].text);
    ck_assert_msg(layout->slab.rows == cases[i].rows &&
                      layout->slab.row_bytes == cases[i].cols * layout->slab.elem_bytes,
                  "%s: %d rows of %d bytes", cases[i].text, layout->slab.rows,
                  layout->slab.row_bytes);
    ck_assert_str_eq(notation_canonical(arena, layout), "none");
  }
  ck_assert_str_eq(notation_canonical(arena, parse("Sw<3,3,3> o (64,64,3):(64,1,4096)")),
                   "swizzle:3,4,3");
  ck_assert_int_eq(parse("(64,64,2):LayoutLeft")->slab.rows, 64);
}
END_TEST

// Each typed swizzle has one unit, and the text with the same numbers in the other one where it
// does not say itself which it is.
START_TEST(a_swizzle_has_its_unit) {
  static const struct {
    const char *text;
    LayoutUnit unit;
    const char *other, *canonical;  // of the other
  } cases[] = {
      {"S<3,4,3> o 0 o (8,64):(64,1)", LAYOUT_UNIT_ELEMENTS,
       "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)", "swizzle:3,4,3"},
      {"composition(Swizzle<2,3,3>{}, Layout<Shape<_8,_32>,Stride<_32,_1>>{})",
       LAYOUT_UNIT_ELEMENTS, "Sw<2,3,3> o smem_ptr[16b](unset) o (_8,_32):(_32,_1)",
       "swizzle:2,3,3"},
      {"Sw<2,4,3> o smem_ptr[16b](unset) o (8,32):(32,1)", LAYOUT_UNIT_BYTES, NULL, NULL},
      {"GMMA::Layout_K_SW128_Atom<half_t>{}", LAYOUT_UNIT_BYTES, NULL, NULL},
      {"Sw<2,4,3> o smem_ptr[8b](unset) o (8,64):(64,1)", LAYOUT_UNIT_BYTES, NULL, NULL},
      {"(8,64):(64,1)", LAYOUT_UNIT_NONE, NULL, NULL},
      {"Swizzle<2,3,3>", LAYOUT_UNIT_BYTES, "swizzle_elem:2,3,3", "swizzle:2,4,3"},
      {"swizzle:2:3:3", LAYOUT_UNIT_BYTES, "swizzle_elem:2:3:3", "swizzle:2,4,3"},
      {"swizzle_elem:2,3,3", LAYOUT_UNIT_ELEMENTS, "swizzle:2,3,3", "swizzle:2,3,3"},
      {"none;swizzle:2,3,3;xor:col", LAYOUT_UNIT_BYTES, "none;swizzle_elem:2,3,3;xor:col",
       "swizzle:2,4,3"},
      {"128B", LAYOUT_UNIT_NONE, NULL, NULL},
      {"xor:'col ^ 8'", LAYOUT_UNIT_NONE, NULL, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const bool own = !notation_is(cases[i].text);
    const Layout *layout =
        own ? parse_as((LayoutSlab){8, 128, 2}, cases[i].text) : parse(cases[i].text);
    const LayoutOther other = layout_other(arena, layout);
    ck_assert_msg(layout->unit == cases[i].unit, "%s: %d", cases[i].text, layout->unit);
    ck_assert_msg((other.text != NULL) == (cases[i].other != NULL), "%s", cases[i].text);
    if (!cases[i].other) continue;
    ck_assert_str_eq(other.text, cases[i].other);
    ck_assert_str_eq(other.canonical, cases[i].canonical);
    ck_assert_int_eq(other.layout->unit, other.unit);
    ck_assert_int_ne(other.unit, layout->unit);
  }
  ck_assert_ptr_null(parse_as((LayoutSlab){8, 128, 1}, "swizzle:2,4,3")->other);
}
END_TEST

// In the other unit the numbers may take elements apart.
START_TEST(the_other_unit_may_be_none) {
  const Layout *layout = parse("composition(Swizzle<3,0,3>{}, Layout<Shape<_8,_64>>{})");
  const LayoutOther other = layout_other(arena, layout);
  ck_assert_ptr_null(other.layout);
  ck_assert_ptr_nonnull(strstr(other.canonical, "splits elements of 2 bytes"));
  ck_assert_str_eq(layout_unit_phrase(arena, parse("smem_ptr[16b](unset) o (8,8):(8,1)")), "");
}
END_TEST

// ---- Triton -------------------------------------------------------------------------------------

// TritonGPUAttrDefs.td shows memory as rows of element numbers: "[ 9, 8, 11, 10]" in row 2 says
// that element 8 lies at 9.
START_TEST(swizzled_shared_is_that_of_its_documentation) {
  LayoutSlab four = {4, 8, 2}, eight = {4, 16, 2};
  const Layout *basic =
      parse_as(four, "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0]}>");
  static const int rows[4][4] = {{0, 1, 2, 3}, {5, 4, 7, 6}, {10, 11, 8, 9}, {15, 14, 13, 12}};
  for (int i = 0; i < 16; i++)
    ck_assert_int_eq(at(basic, rows[i / 4][i % 4] / 4, rows[i / 4][i % 4] % 4), i);
  const Layout *pairs = parse_as(four, "#shared<{vec=1, perPhase=2, maxPhase=4, order=[1,0]}>");
  ck_assert(at(pairs, 2, 0) == 9 && at(pairs, 1, 3) == 7 && at(pairs, 3, 3) == 14);
  const Layout *vec = parse_as(eight, "#shared<{vec=2, perPhase=1, maxPhase=4, order=[1,0]}>");
  ck_assert(at(vec, 1, 2) == 8 && at(vec, 2, 4) == 16 && at(vec, 3, 6) == 24);
  const Layout *turned =
      parse_as(four, "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [0, 1]}>");
  ck_assert_int_eq(at(turned, 0, 1), 5);
  // An encoding that says nothing turns nothing: elements lie row by row.
  const Layout *plain = parse_as(four, "#shared<{}>");
  for (int i = 0; i < 16; i++) ck_assert_int_eq(at(plain, i / 4, i % 4), i);
}
END_TEST

// Bases of one dimension are columns: the k-th bit of a place is that of the k-th basis.
START_TEST(bases_of_one_dimension_are_columns) {
  const LayoutSlab row = {1, 16, 2};
  const Layout *turned = parse_as(row, "#ttg.shared_linear<{offset = [[4], [2], [1]]}>");
  ck_assert_int_eq(at(turned, 0, 1), 4);
  ck_assert_int_eq(at(turned, 0, 6), 3);
}
END_TEST

// 8 x 64 halves with 128-byte panels: row bits 0-2 flip columns 8, 16, 32. 64-byte panels of 8 x
// 64: two of them, the second 8 * 32 elements on.
START_TEST(nvmma_shared_has_panels) {
  const Layout *layout = parse(
      "!ttg.memdesc<8x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, "
      "elementBitWidth = 16}>, #smem, mutable>");
  const char *bases =
      "#ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], "
      "[2, 16], [4, 32]]}, alignment = 128>";
  ck_assert(notation_same(layout, parse(bases)));
  const Layout *narrow = parse_as((LayoutSlab){8, 128, 2},
                                  "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, "
                                  "elementBitWidth = 16}>");
  ck_assert_int_eq(at(narrow, 0, 32), 8 * 32);
  ck_assert_int_eq(at(narrow, 2, 0), 2 * 32 + 8);  // (row / 2) % 4 = 1: the next chunk
  ck_assert_int_eq(at(narrow, 1, 0), 32);
}
END_TEST

// What Triton's LinearLayoutConversionsTest expects of toLinearLayout: shape, encoding, bases.
START_TEST(encodings_have_the_bases_that_triton_tests_them_for) {
#define SHARED(vec, phase, most, order)                                            \
  "#ttg.swizzled_shared<{vec = " #vec ", perPhase = " #phase ", maxPhase = " #most \
  ", order = " order "}>"
#define NVMMA(width, turned, bits)                                            \
  "#ttg.nvmma_shared<{swizzlingByteWidth = " #width ", transposed = " #turned \
  ", elementBitWidth = " #bits "}>"
  static const struct {
    LayoutSlab slab;
    const char *text, *bases;
  } cases[] = {
      {{4, 16, 2}, SHARED(2, 1, 4, "[1, 0]"), "[[0,1],[0,2],[0,4],[1,2],[2,4]]"},
      {{32, 64, 2},
       SHARED(2, 2, 4, "[1, 0]"),
       "[[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,2],[4,4],[8,0],[16,0]]"},
      {{4, 16, 2}, SHARED(1, 1, 4, "[0, 1]"), "[[1,0],[2,0],[1,1],[2,2],[0,4]]"},
      {{64, 2, 2}, SHARED(2, 2, 4, "[1, 0]"), "[[1,0],[2,0],[4,0],[8,0],[16,0],[32,0]]"},
      {{8, 32, 2}, NVMMA(32, false, 16), "[[0,1],[0,2],[0,4],[0,8],[1,0],[2,0],[4,8]]"},
      {{128, 32, 2},
       NVMMA(32, false, 16),
       "[[0,1],[0,2],[0,4],[0,8],[1,0],[2,0],[4,8],[8,0],[16,0],[32,0],[64,0]]"},
      {{8, 64, 2}, NVMMA(64, false, 16), "[[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,8],[4,16]]"},
      {{8, 256, 4},
       NVMMA(128, false, 32),
       "[[0,1],[0,2],[0,4],[0,8],[0,16],[1,4],[2,8],[4,16],[0,32]]"},
      {{128, 512, 4},
       NVMMA(128, true, 32),
       "[[1,0],[2,0],[4,0],[8,0],[16,0],[4,1],[8,2],[16,4],[0,8],[0,16],[0,32],[0,64],[32,0],[64,0]"
       "]"},
  };
#undef SHARED
#undef NVMMA
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const Layout *layout = parse_as(cases[i].slab, cases[i].text);
    ck_assert_msg(notation_same(layout, parse_as(cases[i].slab, cases[i].bases)), "%s",
                  cases[i].text);
  }
}
END_TEST

// "[e0, e1, p0, e2, e3, p1, p2, p3, e4 …]": e2 at 3, e4 at 8, e6 at 11. With bases, the
// documentation puts x1y0 behind a pad of one after 16 elements, and x3y0 four further.
START_TEST(padded_shared_is_that_of_its_documentation) {
  const Layout *layout = parse("#ttg.padded_shared<[2:+1, 4:+2] {order = [0], shape = [8]}>");
  ck_assert(at(layout, 0, 2) == 3 && at(layout, 0, 4) == 8 && at(layout, 0, 6) == 11);
  layout = parse(
      "#ttg.padded_shared<[16:+1] {offset = [[0, 1], [0, 2], [2, 0], [4, 0], [1, 0]], block = "
      "[]}>");
  ck_assert(at(layout, 2, 0) == 4 && at(layout, 1, 0) == 17 && at(layout, 3, 0) == 21);
}
END_TEST

START_TEST(bases_are_read_as_they_are_printed) {
  const Layout *layout = parse("offset=[[0, 1], [0, 2], [1, 1]]");
  ck_assert_int_eq(at(layout, 1, 0), 5);  // (0,1) ^ (1,1)
  ck_assert(notation_same(
      layout, parse(" - offset=1 -> (0, 1)\n   offset=2 -> (0, 2)\n   offset=4 -> (1, 1)\n"
                    " - block is a size 1 dimension\n"
                    "where out dims are: [dim0 (size 2), dim1 (size 4)]")));
  ck_assert(notation_same(layout, parse("{offset = [[0, 1], [0, 2], [1, 1]]}")));
}
END_TEST

// ---- conversions --------------------------------------------------------------------------------

static const char *converted(const Layout *layout, const char *to, const char **why) {
  Diags diags = diags_new(arena);
  LayoutForm form = layout_form(arena, layout);
  const Notation *notation = notation_find(to, &diags);
  ck_assert_ptr_nonnull(notation);
  *why = "";
  return notation_print(arena, notation, &form, why);
}

static const LayoutSlab HALVES = {64, 128, 2};

START_TEST(what_can_be_said_is_said) {
  static const struct {
    const char *from, *to, *is;
  } cases[] = {
      {"swizzle:3,4,3", "cute", "Sw<3,3,3> o _0 o (_64,_64):(_64,_1)"},
      {"swizzle:3,4,3", "smem_ptr", "Sw<3,4,3> o smem_ptr[16b](unset) o (_64,_64):(_64,_1)"},
      {"swizzle:3,4,3", "xor", "xor:col ^ ((row << 3) & 56)"},
      {"swizzle:3,4,3", "swizzled_shared",
       "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"},
      {"swizzle:3,4,3", "nvmma_shared",
       "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>"},
      {"#ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>",
       "swizzle", "none"},
      {"xor:col ^ ((row & 7) << 3)", "swizzle", "swizzle:3,4,3"},
      {"xor:col ^ ((row >> 1 & 3) << 3)", "swizzled_shared",
       "#ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>"},
      {"(_64,_64):(_1,_64)", "swizzled_shared",
       "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>"},
      {"pad:8", "cute", "(_64,_64):(_72,_1)"},
      {"pad:8", "padded_shared", "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>"},
      {"pad:1,16", "padded_shared",
       "#ttg.padded_shared<[16:+1] {order = [1, 0], shape = [64, 64]}>"},
      {"pad:1,16", "cute", "(_64,(_16,_4)):(_68,(_1,_17))"},
      {"(_64,(_16,_4)):(_68,(_1,_17))", "pad", "pad:1,16"},
      {"((_8,_8),(_64,_1)):((_64,_512),(_1,_0))", "swizzle", "none"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *why, *text = converted(parse_as(HALVES, cases[i].from), cases[i].to, &why);
    ck_assert_msg(text && str_equal(text, cases[i].is), "%s to %s: %s %s", cases[i].from,
                  cases[i].to, text ? text : "-", why);
  }
}
END_TEST

START_TEST(what_cannot_be_said_says_why) {
  static const struct {
    const char *from, *to, *says;
  } cases[] = {
      {"pad:1", "swizzled_shared", "no encoding has a pad of 1; padded_shared can write it"},
      {"pad:3", "padded_shared", "Triton's pads are powers of two, not 3"},
      {"pad:8", "swizzle", "a pad of 8 after rows of 64 elements is not a swizzle"},
      {"pad:8", "bases", "cannot express a pad"},
      {"swizzle:3,4,3", "pad", "a swizzle is not a pad"},
      {"swizzle:3,4,3", "padded_shared",
       "a power of two of elements; swizzled_shared can write it"},
      {"xor:(col + row) % 64", "cute", "not a sum of strides"},
      {"xor:(col + row) % 64", "xor", "not linear"},
      {"xor:col ^ ((row & 3) << 1) ^ ((row & 4) << 3)", "cute", "not one swizzle"},
      {"xor:col ^ ((row & 3) << 1) ^ ((row & 4) << 3)", "swizzled_shared",
       "shared_linear can write it"},
      {"(_64,_64):(_1,_64)", "swizzle", "strides are (_64,_64):(_1,_64)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *why, *text = converted(parse_as(HALVES, cases[i].from), cases[i].to, &why);
    ck_assert_msg(!text && strstr(why, cases[i].says), "%s to %s: %s %s", cases[i].from,
                  cases[i].to, text ? text : "-", why);
  }
  const char *why;
  ck_assert_ptr_null(converted(parse("(24,48):(48,1)"), "swizzled_shared", &why));
  ck_assert_ptr_null(converted(parse("(24,48):(48,1)"), "bases", &why));
  ck_assert_ptr_nonnull(strstr(why, "not powers of two"));
}
END_TEST

// Whatever a dialect prints is the same layout again, from every dialect to every other.
START_TEST(conversions_come_back) {
  static const char *const texts[] = {
      "none",
      "pad:4",
      "pad:2,8",
      "swizzle:2,4,3",
      "swizzle:3,3,4",
      "swizzle:2,4,-3",
      "xor:col ^ (row & 31)",
      "xoroff:off ^ ((off >> 3) & 12)",
      "(_64,_64):(_1,_64)",
      "Sw<2,3,3> o _0 o (_64,(_32,_2)):(_32,(_1,_2048))",
      "#ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 16}>"};
  int said = 0;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    for (int to = 0; to < notation_count; to++) {
      const Layout *layout = parse_as(HALVES, texts[i]);
      const char *why, *text = converted(layout, notation_table[to].name, &why);
      if (!text) {
        ck_assert_msg(*why, "%s to %s", texts[i], notation_table[to].name);
        continue;
      }
      said++;
      ck_assert_msg(notation_same(layout, parse_as(HALVES, text)), "%s: %s", texts[i], text);
    }
  ck_assert_int_gt(said, 60);
}
END_TEST

START_TEST(one_layout_has_one_canonical_text) {
  static const char *const same[] = {
      "128B", "Sw<3,3,3> o _0 o ((_8,_8),_64):((_64,_512),_1)",
      "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
      "xoroff:off ^ ((off >> 3) & 56)"};
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
    ck_assert_str_eq(notation_canonical(arena, parse_as(HALVES, same[i])), "swizzle:3,4,3");
  ck_assert_str_eq(notation_canonical(arena, parse("(8,64):(72,1)")), "pad:8");
}
END_TEST

// ---- errors -------------------------------------------------------------------------------------

START_TEST(what_cannot_be_read_is_named_with_its_column) {
  static const struct {
    const char *text, *says;
  } cases[] = {
      {"(8,64)", "column 7: expected \":\" and the strides"},
      {"(8,64):(64", "column 11: expected \",\" and stride 2 of 2"},
      {"(8,64):(64,1,2)", "column 13: expected \")\" after 2 strides"},
      {"(8,64):(64,(1,2))", "column 12: expected one stride"},
      {"((2,4),64):(64,1)", "column 13: expected \"(\" and 2 strides"},
      {"(8,0):(1,8)", "a shape of 0"},
      {"(8,64):(1@0,1@1)", "strides of coordinates"},
      {"Sw<3,3> o (8,64):(64,1)", "column 7: expected \",\", found \">\""},
      {"Sw<3,3,2> o (8,64):(64,1)", "|S| < B"},
      {"Sw<3,3,3>", "expected \"o\" and the layout"},
      {"Sw<3,3,3> o _0", "expected \"o\" and the layout"},
      {"Sw<3,0,3> o smem_ptr[16b](unset) o (8,64):(64,1)", "splits elements of 2 bytes"},
      {"smem_ptr[12b](unset) o (8,64):(64,1)", "elements have 1, 4, 8, 16"},
      {"smem_ptr[16b](0x7f0010) o (8,64):(64,1)", "not a multiple of 1024"},
      {"composition((6,2):(8,2), 4:4)", "neither divides the other"},
      {"logical_divide((8,64):(64,1))", "column 29: expected \",\""},
      {"complement((4,4):(1,1), 16)", "has no complement"},
      {"(8,64):(64,1) x", "column 15: expected the end"},
      {"(99999999,64):(64,1)", "more than shared memory holds"},
      {"(8,64):(65536,1)", "it reaches byte"},
      {"#ttg.swizzled_shared<{vec = 8}>", "does not name the shape"},
      {"#ttg.swizzled_shared<{vek = 8}>", "no encoding has \"vek\""},
      {"#ttg.blocked<{sizePerThread = [1]}>", "a layout of registers"},
      {"#ttg.padded_shared<[3:+2] {order = [1, 0], shape = [8, 8]}>", "are powers of two"},
      {"!ttg.memdesc<8x64xf16, #ttg.swizzled_shared<{vec = 3, perPhase = 1, maxPhase = 1, "
       "order = [1, 0]}>>",
       "are powers of two"},
      {"!ttg.memdesc<8x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, "
       "elementBitWidth = 8}>>",
       "elementBitWidth = 8"},
      {"offset=[[0, 1], [0, 1]]", "2 bases are 4 places, and 1 x 2 are 2"},
      {"offset=[[0, 1], [0, 3], [0, 2]]", "3 bases are 8 places"},
      {"offset=2 -> (0, 1)", "expected offset=1, the next bit"},
      {"swizzle:3,4,3", "does not name the shape"},
      {"[64][64 + 8]", "there is no layout"},
      {"Layout<Shape<_8,_64>,Stride<_64>>", "column 33: strides must be nested as their shapes"},
      {"Layout<Shape<_8,_64>,Stride<_64,_1>", "column 36: expected \">\", but the text ends"},
      {"make_layout(make_shape(M, N))", "column 24: expected a shape: a number"},
      {"GMMA::Layout_K_SW96_Atom<half_t>", "column 16: expected \"INTER\""},
      {"GMMA::Layout_K_SW64_Atom<Element>", "a type such as half_t"},
      {"composition(Swizzle<3,3,3>{})", "the layout that the swizzle is applied to"},
      {"tile_to_shape(GMMA::Layout_K_SW64_Atom<half_t>{}, make_shape(_12{},_64{}))",
       "not a multiple"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Diags diags = diags_new(arena);
    const Layout *layout = notation_parse(arena, &(LayoutSlab){0}, cases[i].text, &diags);
    const char *text = diags_text(arena, &diags);
    ck_assert_msg(!layout && strstr(text, cases[i].says), "%s: %s", cases[i].text, text);
    ck_assert_int_eq(diags.count, 1);
  }
}
END_TEST

START_TEST(a_slab_wants_its_own_shape) {
  Diags diags = diags_new(arena);
  ck_assert_ptr_null(layout_parse(arena, &HALVES, "(8,64):(64,1)", &diags));
  ck_assert_ptr_nonnull(
      strstr(diags_text(arena, &diags), "it is 8 x 64 elements, the slab 64 x 64"));
  diags = diags_new(arena);
  ck_assert_ptr_null(layout_parse(arena, &HALVES, "smem_ptr[32b](unset) o (64,32):(32,1)", &diags));
  ck_assert_ptr_nonnull(strstr(diags_text(arena, &diags), "elements of 4 bytes, but they have 2"));
}
END_TEST

START_TEST(encodings_of_triton_are_four) {
  int n = 0;
  for (int i = 0; i < notation_count; i++) n += notation_is_triton(&notation_table[i]);
  Diags diags = diags_new(arena);
  ck_assert_int_eq(n, 4);
  ck_assert(notation_is_triton(notation_find("shared_linear", &diags)));
  ck_assert(!notation_is_triton(notation_find("bases", &diags)));
}
END_TEST

Suite *suite_notation(void) {
  Suite *suite = suite_create("notation");
  TCase *notation = tcase_create("notation");
  tcase_add_checked_fixture(notation, setup, teardown);
  tcase_add_test(notation, encodings_of_triton_are_four);
  tcase_add_test(notation, layouts_of_cxx_are_those_that_are_printed);
  tcase_add_test(notation, the_algebra_is_that_of_its_documentation);
  tcase_add_test(notation, the_algebra_is_that_of_pycute);
  tcase_add_test(notation, a_composition_is_one_function_after_the_other);
  tcase_add_test(notation, swizzles_are_of_elements_or_of_bytes);
  tcase_add_test(notation, the_first_mode_runs_down);
  tcase_add_test(notation, of_three_modes_the_one_with_stride_1_runs_across);
  tcase_add_test(notation, a_swizzle_has_its_unit);
  tcase_add_test(notation, the_other_unit_may_be_none);
  tcase_add_test(notation, swizzled_shared_is_that_of_its_documentation);
  tcase_add_test(notation, bases_of_one_dimension_are_columns);
  tcase_add_test(notation, nvmma_shared_has_panels);
  tcase_add_test(notation, encodings_have_the_bases_that_triton_tests_them_for);
  tcase_add_test(notation, padded_shared_is_that_of_its_documentation);
  tcase_add_test(notation, bases_are_read_as_they_are_printed);
  tcase_add_test(notation, what_can_be_said_is_said);
  tcase_add_test(notation, what_cannot_be_said_says_why);
  tcase_add_test(notation, conversions_come_back);
  tcase_add_test(notation, one_layout_has_one_canonical_text);
  tcase_add_test(notation, what_cannot_be_read_is_named_with_its_column);
  tcase_add_test(notation, a_slab_wants_its_own_shape);
  suite_add_tcase(suite, notation);
  return suite;
}
