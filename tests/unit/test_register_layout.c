// Layouts of registers against those who define them: Triton's own linear layouts
// (tests/data/triton_layouts.tsv) and CuTe's printed layouts of threads and values
// (tests/data/cute_tv_layouts.txt).
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banks/layouts/cute_text.h"
#include "banks/layouts/notation.h"
#include "banks/registers/register_cute.h"
#include "banks/registers/register_text.h"
#include "banks/registers/ttgir.h"
#include "banks/solver/register_cost.h"
#include "base/str.h"

Suite *suite_register_layout(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static const RegisterLayout *read_over(const char *text, const char *shape, const char *operand) {
  Diags diags = diags_new(arena);
  RegisterAsked asked = {.operand = operand};
  if (shape) ck_assert(tensor_shape_parse(shape, &asked.shape, &diags));
  const RegisterLayout *layout = register_text_read(arena, text, &asked, &diags);
  ck_assert_msg(layout != NULL, "%s: %s", text, diags_text(arena, &diags));
  return layout;
}

static const char *refusal(const char *text, const char *shape) {
  Diags diags = diags_new(arena);
  RegisterAsked asked = {.operand = NULL};
  if (shape && !tensor_shape_parse(shape, &asked.shape, &diags)) return diags.first->text;
  const RegisterLayout *layout = register_text_read(arena, text, &asked, &diags);
  ck_assert_msg(layout == NULL && diags.count > 0, "%s is read", text);
  return diags.first->text;
}

// ---- Triton -------------------------------------------------------------------------------------

static bool basis_is(const RegisterLayout *layout, int element, const Attr *basis) {
  int at[TENSOR_DIMS_MAX];
  tensor_coordinate(&layout->shape, element, at);
  if (basis->n != layout->shape.rank) return false;
  for (int dim = 0; dim < basis->n; dim++)
    if (basis->item[dim].number != at[dim]) return false;
  return true;
}

static bool holder_is(const RegisterLayout *layout, Holder holder, const char *bases) {
  Diags diags = diags_new(arena);
  const Attr *list = attr_parse(arena, bases, NULL, &diags);
  if (!list || list->n != layout->n_bits[holder]) return false;
  for (int bit = 0; bit < list->n; bit++)
    if (!basis_is(layout, layout->basis[holder][bit], &list->item[bit])) return false;
  return true;
}

enum { LINE_MAX_BYTES = 16384, COLUMNS = 7 };

static void check_row(char *line) {
  char *column[COLUMNS];
  for (int i = 0; i < COLUMNS; i++) column[i] = strsep(&line, "\t\n");
  for (int text = 1; text <= 2; text++) {
    const RegisterLayout *layout = read_over(column[text], column[0], NULL);
    ck_assert(layout->linear);
    for (int holder = 0; holder < HOLDERS; holder++) {
      Str printed = str_new(arena);
      register_layout_print(&printed, layout);
      ck_assert_msg(holder_is(layout, (Holder)holder, column[3 + holder]), "%s %s:\n%s%s, not %s",
                    column[0], column[text], printed.text, holder_name(layout, (Holder)holder),
                    column[3 + holder]);
    }
  }
}

START_TEST(encodings_are_what_triton_makes_of_them) {
  const char *path = getenv("TRITON_LAYOUTS");
  FILE *file = fopen(path ? path : "tests/data/triton_layouts.tsv", "r");
  static char line[LINE_MAX_BYTES];
  int rows = 0;
  ck_assert(file != NULL);
  for (; fgets(line, sizeof line, file); arena_reset(arena))
    if (line[0] != '#' || line[1] != 's') check_row(line), rows++;
  fclose(file);
  ck_assert_int_ge(rows, 200);
}
END_TEST

// ---- CuTe ---------------------------------------------------------------------------------------

#define CUTE_DATA "tests/data/cute_tv_layouts.txt"

static void same_table(const RegisterLayout *a, const RegisterLayout *b, const char *of) {
  for (int holder = 0; holder < HOLDERS; holder++)
    ck_assert_msg(a->n[holder] == b->n[holder], "%s: %d and %d of %s", of, a->n[holder],
                  b->n[holder], holder_name(a, (Holder)holder));
  ck_assert_str_eq(tensor_shape_text(arena, &a->shape), tensor_shape_text(arena, &b->shape));
  for (int place = 0; place < register_places(a); place++) {
    const RegisterPlace at = register_place_at(a, place);
    ck_assert_msg(register_element(a, at) == register_element(b, at), "%s: register %d of lane %d",
                  of, at.at[HOLDER_REGISTER], at.at[HOLDER_LANE]);
  }
}

// A line of a printed block: "= A 32x16 LAYOUT".
static void check_tiled(const char *block, const char *line) {
  char operand[2], shape[32], layout[512];
  Diags diags = diags_new(arena);
  TensorShape extents;
  ck_assert_int_eq(sscanf(line, "= %1s %31s %511s", operand, shape, layout), 3);
  ck_assert(tensor_shape_parse(shape, &extents, &diags));
  const RegisterLayout *printed = register_tv_read(arena, layout, &extents, &diags);
  ck_assert_msg(printed != NULL, "%s: %s", layout, diags_text(arena, &diags));
  same_table(read_over(block, NULL, operand), printed, arena_printf(arena, "%s%s", block, line));
}

// The same by the atom's C++ name alone.
static void check_named(const char *name, const char *block) {
  if (!strstr(block, ",1,1,1):") || !strstr(block, "(_,_,_)")) return;
  const char *operands[] = {"A", "B", "C"};
  for (int i = 0; i < 3; i++) {
    const bool in_memory = strstr(name, "SM90") && (i == 1 || (i == 0 && strstr(name, "_SS")));
    if (in_memory) continue;
    same_table(read_over(name, NULL, operands[i]), read_over(block, NULL, operands[i]), name);
  }
}

START_TEST(tiles_are_what_cute_prints_of_them) {
  FILE *file = fopen(CUTE_DATA, "r");
  char line[1024], name[64] = "";
  Str block = str_new(arena);
  int compared = 0;
  ck_assert(file != NULL);
  while (fgets(line, sizeof line, file)) {
    if (line[0] == '=') {
      check_tiled(block.text, line);
      check_named(name, block.text);
      compared++;
    } else if (sscanf(line, "@ %63s", name) == 1) {
      arena_reset(arena);
      block = str_new(arena);
    } else {
      str_add(&block, line);
    }
  }
  fclose(file);
  ck_assert_int_ge(compared, 250);
}
END_TEST

// Sparse atoms as CUTLASS 4.8's MMA_Traits print them: A is as wide as K, and two of each four
// columns of a lane are stored.
START_TEST(sparse_atoms_are_what_cute_prints_of_them) {
  static const struct {
    const char *atom, *operand, *shape, *layout;
  } rows[] = {
      {"SM90::GMMA::SPARSE::GMMA_64x128x32_F32F16F16_RS", "A", "64x32",
       "((_4,_8,_4),(_4,_2,_2)):((_256,_1,_16),(_64,_8,_1024))"},
      {"SM90::GMMA::SPARSE::GMMA_64x128x32_F32F16F16_RS", "C", "64x128",
       "((_4,_8,_4),(_2,_2,_16)):((_128,_1,_16),(_64,_8,_512))"},
      {"SM90::GMMA::SPARSE::GMMA_64x64x64_F32E4M3E4M3_RS_TN", "A", "64x64",
       "((_4,_8,_4),(_8,_2,_2)):((_512,_1,_16),(_64,_8,_2048))"},
      {"SM90::GMMA::SPARSE::GMMA_64x8x16_F32TF32TF32_RS_TN", "A", "64x16",
       "((_4,_8,_4),(_2,_2,_2)):((_128,_1,_16),(_64,_8,_512))"},
      {"SM120_SPARSE_16x8x64_TN", "A", "16x64", "((_4,_8),(_8,_2,_2)):((_128,_1),(_16,_8,_512))"},
      {"SM120_SPARSE_16x8x64_TN", "B", "8x64", "((_4,_8),(_4,_4)):((_32,_1),(_8,_128))"},
      {"SM120_SPARSE_16x8x64_TN", "C", "16x8", "((_4,_8),(_2,_2)):((_32,_1),(_16,_8))"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Diags diags = diags_new(arena);
    TensorShape extents;
    ck_assert(tensor_shape_parse(rows[i].shape, &extents, &diags));
    const RegisterLayout *printed = register_tv_read(arena, rows[i].layout, &extents, &diags);
    ck_assert_msg(printed != NULL, "%s", diags_text(arena, &diags));
    same_table(read_over(rows[i].atom, NULL, rows[i].operand), printed, rows[i].atom);
  }
  // The dense one by its name in a namespace.
  same_table(read_over("SM90::GMMA::MMA_64x128x16_F32F16F16_SS", NULL, "C"),
             read_over("SM90_64x128x16_F32F16F16_SS", NULL, "C"), "SM90::GMMA");
}
END_TEST

// ---- by hand ------------------------------------------------------------------------------------

#define BLOCKED                                                                                   \
  "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = " \
  "[1, 0]}>"
#define MMA                                                                                  \
  "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = " \
  "[16, 8]}>"
#define OPERAND "#ttg.dot_op<{opIdx = 0, parent = " MMA ", kWidth = 2}>"

// A slice drops the dimension over which lanes differ, so eight lanes hold each row.
START_TEST(a_row_of_a_slice_has_eight_lanes) {
  int n;
  const RegisterLayout *layout =
      read_over("#ttg.slice<{dim = 1, parent = " BLOCKED "}>", "64", NULL);
  const RegisterPlace *owner = register_owners(arena, layout, 5, &n);
  ck_assert_int_eq(n, 8);
  for (int i = 0; i < n; i++) {
    ck_assert_int_eq(owner[i].at[HOLDER_WARP], 1);
    ck_assert_int_eq(owner[i].at[HOLDER_LANE], 8 + i);
  }
}
END_TEST

// PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type", sums in f32: value i of
// lane l is row (l & 1) + (i & 2) + 4 for lanes 16 and more, column (i & 4) + (l & 2) + (i & 1).
START_TEST(the_quads_of_version_70_are_those_of_the_isa) {
  const RegisterLayout *sums = read_over("SM70_8x8x4_F32F16F16F32_TN", NULL, "C");
  for (int lane = 0; lane < 32; lane++)
    for (int i = 0; i < 8; i++) {
      const int row = (lane & 1) + (i & 2) + (lane >= 16 ? 4 : 0);
      const int col = (i & 4) + (lane & 2) + (i & 1);
      const bool first = lane % 16 < 4;  // the other quads have products of their own
      if (!first || lane >= sums->n[HOLDER_LANE]) continue;
      ck_assert_int_eq(register_element(sums, (RegisterPlace){{i, lane, 0, 0}}), row * 8 + col);
    }
}
END_TEST

static const Layout *slab_of(const char *text, int rows, int cols) {
  Diags diags = diags_new(arena);
  const Layout *layout = notation_parse(arena, &(LayoutSlab){rows, cols * 2, 2}, text, &diags);
  ck_assert_msg(layout != NULL, "%s", diags_text(arena, &diags));
  return layout;
}

// Rows of 128 bytes begin in one bank, so each of the eight rows of a matrix waits; a swizzle over
// eight chunks spreads them.
START_TEST(a_local_load_is_counted) {
  static const struct {
    const char *registers, *memory, *op, *matrices;
    int wavefronts, ideal;
  } cases[] = {
      {OPERAND, "none", "lds32", "ldsm_x4", 1024, 128},
      {OPERAND, "swizzle:3,4,3", "lds32", "ldsm_x4", 128, 128},
      {OPERAND, "pad:8", "lds32", "ldsm_x4", 128, 128},
      {BLOCKED, "none", "lds128", NULL, 64, 64},
      {BLOCKED, "pad:4", "lds64", NULL, 128, 64},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    RegisterAccesses loads;
    Diags diags = diags_new(arena);
    ck_assert(register_access_count(arena, read_over(cases[i].registers, "64x64", NULL),
                                    slab_of(cases[i].memory, 64, 64), false, &loads, &diags));
    ck_assert_str_eq(loads.access[0].op->name, cases[i].op);
    ck_assert_int_eq(loads.n, cases[i].matrices ? 2 : 1);
    if (cases[i].matrices) ck_assert_str_eq(loads.access[1].op->name, cases[i].matrices);
    for (int k = 0; k < loads.n; k++) {
      ck_assert_msg(loads.access[k].ideal == cases[i].ideal || !cases[i].matrices, "%zu", i);
      if (cases[i].matrices) ck_assert_int_eq(loads.access[k].wavefronts, cases[i].wavefronts);
    }
  }
}
END_TEST

// Elements that have to travel, against a count that looks at every pair of places.
static void move_by_pairs(const RegisterLayout *from, const RegisterLayout *to, int64_t found[4]) {
  for (int i = 0; i < register_places(to); i++) {
    const RegisterPlace at = register_place_at(to, i);
    int best = 3;
    for (int k = 0; k < register_places(from); k++) {
      const RegisterPlace has = register_place_at(from, k);
      if (register_element(from, has) != register_element(to, at)) continue;
      const bool warp = has.at[HOLDER_WARP] == at.at[HOLDER_WARP];
      const bool lane = warp && has.at[HOLDER_LANE] == at.at[HOLDER_LANE];
      const bool same = lane && has.at[HOLDER_REGISTER] == at.at[HOLDER_REGISTER];
      const int far = same ? 0 : lane ? 1 : warp ? 2 : 3;
      best = far < best ? far : best;
    }
    found[best]++;
  }
}

START_TEST(a_conversion_is_counted) {
  static const char *const texts[] = {
      BLOCKED, MMA, OPERAND,
      "#ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order "
      "= "
      "[1, 0]}>",
      ("#ttg.linear<{register = [[0, 4], [0, 1], [0, 2], [16, 0]], lane = [[0, 8], [0, 16], [1, "
       "0], "
       "[2, 0], [0, 0]], warp = [[4, 0], [8, 0]], block = []}>")};
  for (int i = 0; i < 5; i++)
    for (int k = 0; k < 5; k++) {
      RegisterMove move;
      Diags diags = diags_new(arena);
      int64_t found[4] = {0};
      const RegisterLayout *from = read_over(texts[i], "16x16", NULL);
      const RegisterLayout *to = read_over(texts[k], "16x16", NULL);
      ck_assert(register_move_count(arena, from, to, 2, &move, &diags));
      move_by_pairs(from, to, found);
      const int64_t said[] = {move.same, move.thread, move.lanes, move.warps};
      for (int far = 0; far < 4; far++) ck_assert_int_eq(said[far], found[far]);
      ck_assert_int_eq(move.kind, found[3]   ? MOVE_WARPS
                                  : found[2] ? MOVE_LANES
                                  : found[1] ? MOVE_REGISTERS
                                             : MOVE_NONE);
    }
}
END_TEST

// 32 threads with 2^17 registers each have 2^22 places, two warps with the same elements twice as
// many.
START_TEST(conversions_end_at_2_to_the_22_places) {
  static const char blocked[] =
      "#ttg.blocked<{sizePerThread = [1, 131072], threadsPerWarp = [32, 1], warpsPerCTA = [%d, 1], "
      "order = [1, 0]}>";
  const RegisterLayout *most = read_over(arena_printf(arena, blocked, 1), "32x131072", NULL);
  const RegisterLayout *more = read_over(arena_printf(arena, blocked, 2), "32x131072", NULL);
  RegisterMove move;
  Diags diags = diags_new(arena);
  ck_assert_int_eq(register_places(most), 1 << 22);
  ck_assert(register_move_count(arena, most, most, 2, &move, &diags));
  ck_assert_int_eq(move.same, 1 << 22);
  ck_assert_int_eq(register_places(more), 1 << 23);
  ck_assert(!register_move_count(arena, most, more, 2, &move, &diags));
  ck_assert(!register_move_count(arena, more, most, 2, &move, &diags));
}
END_TEST

START_TEST(a_file_names_its_layouts_and_moves) {
  FILE *file = fopen("tests/data/matmul.ttgir", "r");
  Str text = str_new(arena);
  Diags diags = diags_new(arena);
  char line[1024];
  ck_assert(file != NULL);
  while (fgets(line, sizeof line, file)) str_add(&text, line);
  fclose(file);
  const Ttgir *ttgir = ttgir_read(arena, text.text, &diags);
  ck_assert(ttgir != NULL);
  ck_assert_int_eq(ttgir->n_aliases, 3);
  ck_assert_int_eq(ttgir->n_moves, 2);
  ck_assert_str_eq(ttgir->use[ttgir->move[0].from].text,
                   "memdesc<128x16xf16, #shared, #smem, mutable, 128x32>");
  ck_assert_int_eq(ttgir->use[ttgir->move[0].from].whole.extent[1], 32);
  ck_assert_int_eq(ttgir->move[1].line, 13);
}
END_TEST

START_TEST(what_cannot_be_read_says_why) {
  static const struct {
    const char *text, *shape, *says;
  } cases[] = {
      {BLOCKED, NULL, "does not name the shape"},
      {BLOCKED, "64x48", "powers of two"},
      {BLOCKED, "64", "numbers and the tensor 1 dimensions"},
      {"#ttg.blocked<{sizePerThread = [1, 3], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order "
       "= [1, 0]}>",
       "64x64", "3 is not a power of two"},
      {"#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order "
       "= [1, 1]}>",
       "64x64", "order does not name each dimension once"},
      {"#ttg.blocked<{sizePerThread = [1, 2]}>", "64x64", "blocked has no threadsPerWarp"},
      {"#ttg.nvidia_mma<{versionMajor = 1}>", "64x64", "versions 2 (mma.sync) and 3"},
      {"#ttg.dot_op<{opIdx = 1, parent = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, "
       "warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>, kWidth = 2}>",
       "64x64", "read from shared memory"},
      {"#ttg.slice<{dim = 3, parent = " BLOCKED "}>", "64", "dim is not a dimension"},
      {"#ttg.linear<{register = [[0, 1]], lane = [], warp = [], block = []}>", "1x2", NULL},
      {"#ttg.linear<{register = [[0, 3]], lane = [], warp = [], block = [[0]]}>", "1x4",
       "a basis has 1 numbers"},
      {"#ttg.slice<{dim = 1, parent = #blocked}>", "64", "#blocked is not defined"},
      {"tensor<0x4xf16, " BLOCKED ">", NULL, "from 1 to 2^22 elements"},
      {"SM80_16x8x17_F32F16F16F32_TN", NULL, "not a tensor-core atom"},
      {"SM90_64x128x16_F32F16F16_SS", "65x128", "not a multiple of the tile"},
      {"MMA_Atom\n  ThrID: _32:_1\n", NULL, "names no atom"},
      {"Tiled Copy\n  Tiler MN: (32:1,8:1)\n", NULL, "the line TiledLayoutTV is missing"},
      {"Tiled Copy\n  Tiler MN: (32:1,8:1)\n  TiledLayoutTV: Sw<2,4,3> o _0 o (32,8):(8,1)\n", NULL,
       "has no swizzle"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    if (!cases[i].says) continue;
    const char *said = refusal(cases[i].text, cases[i].shape);
    ck_assert_msg(strstr(said, cases[i].says), "%s: %s", cases[i].text, said);
  }
}
END_TEST

START_TEST(shapes_end_at_2_to_the_22_elements) {
  static const struct {
    const char *text;
    int rank, size;  // rank 0: refused
  } rows[] = {{"1", 1, 1},           {"4194304", 1, 1 << 22},
              {"4194305", 0, 0},     {"2048x2048", 2, 1 << 22},
              {"2048x2049", 0, 0},   {"1x2x3x4x5", 5, 120},
              {"1x2x3x4x5x6", 0, 0}, {"64x", 0, 0},
              {"0x4", 0, 0},         {"", 0, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    TensorShape shape;
    Diags diags = diags_new(arena);
    const bool is_read = tensor_shape_parse(rows[i].text, &shape, &diags);
    ck_assert_msg(is_read == (rows[i].rank > 0), "%s", rows[i].text);
    if (!is_read) continue;
    ck_assert_int_eq(shape.rank, rows[i].rank);
    ck_assert_int_eq(tensor_size(&shape), rows[i].size);
  }
}
END_TEST

// Any change of a character is read or refused, and what is read has its elements in the tensor.
START_TEST(mutated_texts_are_read_or_refused) {
  static const char *const texts[] = {
      "#ttg.slice<{dim = 1, parent = " BLOCKED "}>", OPERAND,
      "DotOperandLayout(operand_index=1, parent=NVMMADistributedLayout(version=[2, 0], "
      "warps_per_cta=[2, 2], instr_shape=[16, 8], cga_layout=[[0, 1]]), k_width=4)",
      "TiledMMA<MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>, Layout<Shape<_2,_2,_1>>, "
      "Tile<_32,_32,_16>>",
      "Tiled Copy\n  Tiler MN: (32:1,8:1)\n  TV Layout tiled: ((8,4),(4,2)):((32,1),(4,128))\n"};
  srand(39);
  for (int i = 0; i < 5; i++)
    for (int trial = 0; trial < 400; trial++, arena_reset(arena)) {
      Diags diags = diags_new(arena);
      char *text = arena_strdup(arena, texts[i]);
      for (int k = rand() % 3; k >= 0; k--)
        text[rand() % (int)strlen(text)] = "0123456789[](){}<>,=:#_ \nx-"[rand() % 27];
      RegisterAsked asked = {.shape = {i == 0 ? 1 : 2, {64, 64}}};
      if (!register_text_is(text, NULL)) continue;
      const RegisterLayout *layout = register_text_read(arena, text, &asked, &diags);
      ck_assert(layout || diags.count > 0);
      for (int place = 0; layout && place < register_places(layout) && place < 4096; place++)
        ck_assert_int_lt(register_element(layout, register_place_at(layout, place)),
                         tensor_size(&layout->shape));
    }
}
END_TEST

Suite *suite_register_layout(void) {
  Suite *suite = suite_create("register_layout");
  TCase *texts = tcase_create("texts");
  tcase_add_checked_fixture(texts, setup, teardown);
  tcase_set_timeout(texts, 60);
  tcase_add_test(texts, encodings_are_what_triton_makes_of_them);
  tcase_add_test(texts, tiles_are_what_cute_prints_of_them);
  tcase_add_test(texts, sparse_atoms_are_what_cute_prints_of_them);
  tcase_add_test(texts, a_row_of_a_slice_has_eight_lanes);
  tcase_add_test(texts, the_quads_of_version_70_are_those_of_the_isa);
  tcase_add_test(texts, a_local_load_is_counted);
  tcase_add_test(texts, a_conversion_is_counted);
  tcase_add_test(texts, conversions_end_at_2_to_the_22_places);
  tcase_add_test(texts, a_file_names_its_layouts_and_moves);
  tcase_add_test(texts, what_cannot_be_read_says_why);
  tcase_add_test(texts, shapes_end_at_2_to_the_22_elements);
  tcase_add_test(texts, mutated_texts_are_read_or_refused);
  suite_add_tcase(suite, texts);
  return suite;
}
