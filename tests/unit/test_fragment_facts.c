// Atoms besides the cells of their fragments: sums in tensor memory, facts, spellings, mistakes and
// words.
#include <check.h>

#include "base/str.h"
#include "model/readings/place/fragment_text.h"
#include "model/words/knob.h"

Suite *suite_fragment_facts(void);

static Arena *arena;
static Diags diags;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
}
static void teardown(void) { arena_free(arena); }

static Atom parse(const char *name) {
  Atom atom;
  ck_assert_msg(atom_parse(name, &atom, &diags), "%s: %s", name, diags_text(arena, &diags));
  return atom;
}

// CUTLASS's layouts of sums in tensor memory, tmem_frg and tmem_frg_ws of mma_traits_sm100: rows
// and columns of one CTA as (lanes, columns apart), a column being 128 further on.
static int place_in_tensor_memory(const Atom *atom, int row, int col) {
  enum { COLUMN = 128 };
  const int rows = atom->m / atom->ctas, half = atom->n / 2, quarter = atom->n / 4;
  if (rows == 128) return row + col * COLUMN;
  if (rows == 32) return row + col % quarter * COLUMN + col / quarter * 32;
  if (atom->ctas == 2 || atom->stationary) return row + col % half * COLUMN + col / half * 64;
  return row % 16 + row / 16 * 32 + col * COLUMN;
}

START_TEST(test_sums_lie_in_tensor_memory_as_cutlass_has_them) {
  int compared = 0;
  for (int i = 0; i < atom_count; i++) {
    Atom atom = atom_table[i];
    if (!atom_is_of_thread(&atom)) continue;
    for (int n = atom.n_step; n <= 256; n += atom.n_step) {
      if (!atom_has_n(&atom, n)) continue;
      atom_set_n(&atom, n);
      const FragmentMap map = fragment_map(&atom, ATOM_C);
      const int rows = atom.m / atom.ctas;
      compared++;
      for (int row = 0; row < atom.m; row++)
        for (int col = 0; col < n; col++) {
          const int place = place_in_tensor_memory(&atom, row % rows, col);
          const FragmentOwner got = fragment_map_owner(&map, row, col);
          ck_assert_msg(got.lane == row / rows * 128 + place % 128 && got.value == place / 128,
                        "%s [%d][%d] in lane %d, column %d", atom.name, row, col, got.lane,
                        got.value);
          ck_assert_int_eq(got.lane & map.idle_lanes, 0);
          const FragmentElement back = fragment_map_element(&map, got.lane, got.value);
          ck_assert(back.row == row && back.col == col);
        }
    }
  }
  ck_assert_int_eq(compared, 9 * 32 + 5 * 32 + 3 * 5 * 3 + 2 * 5 * 16);
}
END_TEST

// PTX ISA, "Data Path Layout Organization": the letters.
START_TEST(test_data_paths_have_the_letters_of_the_ptx_isa) {
  static const struct {
    const char *atom;
    char letter;
  } paths[] = {{"tcgen05.cta2.m256n64k16.f16", 'A'}, {"tcgen05.cta2.m128n64k16.f16", 'B'},
               {"tcgen05.m128n64k16.f16", 'D'},      {"tcgen05.ws.m128n64k16.f16", 'D'},
               {"tcgen05.ws.m64n64k16.f16", 'E'},    {"tcgen05.m64n64k16.f16", 'F'},
               {"tcgen05.ws.m32n64k16.f16", 'G'}};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    const Atom atom = parse(paths[i].atom);
    ck_assert_int_eq(atom_data_path(&atom), paths[i].letter);
    const char *end = strrchr(atom.section, ' ') + 1;
    if (strstr(atom.section, "layout ")) ck_assert_int_eq(*end, paths[i].letter);
  }
}
END_TEST

START_TEST(test_shapes_of_tensor_memory_that_do_not_exist) {
  static const char *const wrong[][2] = {
      {"tcgen05.ws.m32n192k16.f16", "tcgen05.ws.m32n256k16.f16"},
      {"tcgen05.ws.m64n32k16.f16", "tcgen05.ws.m64n64k16.f16"},
      {"tcgen05.cta2.m256n24k16.f16", "tcgen05.cta2.m256n32k16.f16"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    Atom atom;
    Diags found = diags_new(arena);
    ck_assert_msg(!atom_parse(wrong[i][0], &atom, &found), "%s", wrong[i][0]);
    ck_assert_str_eq(found.first->nearest, wrong[i][1]);
  }
}
END_TEST

// ---- facts --------------------------------------------------------------------------------------

START_TEST(test_facts_of_the_rows) {
  Atom atom = parse("m16n8k16.f16");
  ck_assert_str_eq(atom_ptx(arena, &atom), "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  ck_assert_int_eq(atom_flop(&atom), 4096);
  ck_assert(atom_on(&atom, 80) && atom_on(&atom, 120) && !atom_on(&atom, 75));
  atom = parse("wgmma.m64n128k16.bf16");
  ck_assert_str_eq(atom.name, "wgmma.m64n128k16.bf16");
  ck_assert_str_eq(atom_ptx(arena, &atom), "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16");
  ck_assert_int_eq(atom_flop(&atom), 262144);
  ck_assert_int_eq(atom_lanes(&atom), 128);
  ck_assert(atom_on(&atom, 90) && !atom_on(&atom, 100));
  ck_assert(!atom_in_registers(&atom, ATOM_B));
  atom = parse("m8n8k4.f64");
  FragmentPacking packing = fragment_packing(&atom, ATOM_A);
  ck_assert_int_eq(packing.register_bits, 64);
  ck_assert_int_eq(packing.per_register, 1);
}
END_TEST

static const struct {
  const char *text, *name, *acc;
} spellings[] = {
    {"m16n8k16.f16", "m16n8k16.f16", "f32"},
    {"M16N8K16.F16", "m16n8k16.f16", "f32"},
    {"m16n8k16.f16.f16", "m16n8k16.f16.f16", "f16"},
    {"mma_m16n8k16_f16", "m16n8k16.f16", "f32"},
    {"mma.m16n8k8.tf32", "m16n8k8.tf32", "f32"},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "m16n8k16.f16.f16", "f16"},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "m16n8k32.s8", "s32"},
    {"mma_m16n8k64_nvfp4", "m16n8k64.nvfp4", "f32"},
    {"mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e5m2.e5m2."
     "f32.ue8m0",
     "m16n8k32.mxf8e5m2", "f32"},
    {"wgmma_m64n256k16_bf16", "wgmma.m64n256k16.bf16", "f32"},
    {"wgmma.mma_async.sync.aligned.m64n96k8.f32.tf32.tf32", "wgmma.m64n96k8.tf32", "f32"},
};

START_TEST(test_spellings) {
  Atom atom = parse(spellings[_i].text);
  ck_assert_str_eq(atom.name, spellings[_i].name);
  ck_assert_str_eq(atom.acc, spellings[_i].acc);
  Atom again = parse(atom.name);  // one name, one atom: what a view shows can be asked for
  ck_assert_str_eq(atom_ptx(arena, &again), atom_ptx(arena, &atom));
}
END_TEST

static const struct {
  const char *text, *nearest;
} mistakes[] = {
    {"m16n8k17.f16", "m16n8k16.f16"},
    {"m16n8k16", "m16n8k16.f16"},
    {"m16n8k16.bf16.f16", "m16n8k16.bf16.f32"},
    {"m16n8k8.tf23", "m16n8k8.tf32"},
    {"wgmma.m64n12k16.f16", "wgmma.m64n16k16.f16"},
    {"wgmma.m64n0k16.f16", "wgmma.m64n8k16.f16"},
    {"wgmma.m64n264k16.f16", "wgmma.m64n256k16.f16"},
    {"tcgen05.m128n12k16.f16", "tcgen05.m128n16k16.f16"},
    {"tcgen05.m96n64k16.f16", NULL},
    {"tcgen05.cta2.m64n64k16.f16", NULL},
    {"tcgen05.cta1.m256n64k16.f16", NULL},
    {"m8n8k4.row.row.f64", "m8n8k4.f64"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32", NULL},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16", NULL},
    {"mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32", "m16n8k16.f16"},
    {"mma.sync.aligned.m16n8k16.col.f32.f16.f16.f32", "m16n8k16.f16"},
    {"m16n8k016.f16", NULL},
    {"m 16n8k16.f16", NULL},
    {"m16n8k16.f16.f32.", NULL},
    {"wgmma.m16n8k16.f16", NULL},
    {"m64n256k16.f16", NULL},
    {"", NULL},
    {"....", NULL},
    {"\x1b[2J", NULL},
    {"m99999999999999999999n8k16.f16", NULL},
};

START_TEST(test_mistakes_are_told_with_the_nearest_atom) {
  Atom atom = {.n = -1};
  ck_assert(!atom_parse(mistakes[_i].text, &atom, &diags));
  ck_assert_int_eq(diags.count, 1);
  ck_assert_int_eq(atom.n, -1);
  ck_assert_str_eq(diags.first->rule, "atom");
  ck_assert_ptr_nonnull(diags.first->nearest);
  if (mistakes[_i].nearest) ck_assert_str_eq(diags.first->nearest, mistakes[_i].nearest);
  ck_assert_ptr_null(strchr(diags.first->text, '\x1b'));
  Atom nearest;
  ck_assert(atom_parse(diags.first->nearest, &nearest, &diags));
}
END_TEST

START_TEST(test_a_text_of_any_length_is_refused) {
  char *text = arena_alloc(arena, 20001);
  memset(text, 'm', 20000);
  Atom atom;
  ck_assert(!atom_parse(text, &atom, &diags));
  ck_assert_int_lt((int)strlen(diags.first->text), 200);
}
END_TEST

// Each value of ATOM_KIND but fma is an atom, and each atom's knob is such a value.
START_TEST(test_knob_values_are_atoms) {
  Schedule schedule = schedule_plain();
  int found = 0;
  for (int64_t i = 1; i <= knob_table[KNOB_ATOM_KIND].hi; i++) {
    schedule_set(&schedule, KNOB_ATOM_KIND, i);
    const char *value = knob_value_text(arena, &schedule, KNOB_ATOM_KIND);
    const Atom *row = atom_find_knob(value);
    ck_assert_msg(row != NULL, "%s is no atom", value);
    found += row != NULL;
  }
  int named = 0;
  for (int i = 0; i < atom_count; i++) named += atom_table[i].knob != NULL;
  ck_assert_int_eq(found, named);
}
END_TEST

// ---- words --------------------------------------------------------------------------------------

// No qualifier of any atom is left without a meaning, and the four types come in the order D A B C.
START_TEST(test_every_word_of_every_atom_is_told) {
  for (int i = 0; i < atom_count; i++) {
    PtxWord word[PTX_WORDS_MAX];
    int n = ptx_words(arena, &atom_table[i], NULL, word);
    Str joined = str_new(arena);
    for (int w = 0; w < n; w++) {
      str_add(&joined, word[w].text);
      ck_assert_msg(*word[w].meaning, "%s of %s", word[w].text, atom_table[i].name);
    }
    ck_assert_str_eq(joined.text, atom_ptx(arena, &atom_table[i]));
  }
}
END_TEST

START_TEST(test_words_say_the_atoms_own_numbers) {
  Atom atom = parse("m16n8k16.f16"), tf32 = parse("m16n8k8.tf32");
  PtxWord word[PTX_WORDS_MAX];
  ck_assert_int_eq(ptx_words(arena, &atom, NULL, word), 10);
  ck_assert_str_eq(word[3].meaning, "A is 16 x 16 (m x k), B 16 x 8 (k x n), C and D 16 x 8");
  ck_assert_str_eq(word[6].meaning, "the type of D, the sums that come out");
  ck_assert_str_eq(word[9].meaning, "the type of C, the sums that go in");
  LdMatrix load;
  ck_assert(fragment_ldmatrix(&atom, ATOM_B, false, 1, &load));
  int n = ptx_words(arena, &atom, &load, word);
  ck_assert_int_eq(n, 8);  // ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16, without an unknown one
  ck_assert_str_eq(word[4].meaning, "2 matrices; lanes 0 to 15 give the addresses of their rows");
  for (int w = 0; w < n; w++) ck_assert(*word[w].meaning);
  ck_assert_ptr_nonnull(strstr(wmma_text(arena, &atom), "the work of 2 such instructions"));
  ck_assert_ptr_nonnull(strstr(wmma_text(arena, &atom), "8 fragments of B here and 4 in WMMA"));
  ck_assert_ptr_null(wmma_text(arena, &tf32));
}
END_TEST

Suite *suite_fragment_facts(void) {
  Suite *suite = suite_create("fragment_facts");
  TCase *tc = tcase_create("facts");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_add_test(tc, test_sums_lie_in_tensor_memory_as_cutlass_has_them);
  tcase_add_test(tc, test_data_paths_have_the_letters_of_the_ptx_isa);
  tcase_add_test(tc, test_shapes_of_tensor_memory_that_do_not_exist);
  tcase_add_test(tc, test_facts_of_the_rows);
  tcase_add_loop_test(tc, test_spellings, 0, sizeof spellings / sizeof *spellings);
  tcase_add_loop_test(tc, test_mistakes_are_told_with_the_nearest_atom, 0,
                      sizeof mistakes / sizeof *mistakes);
  tcase_add_test(tc, test_a_text_of_any_length_is_refused);
  tcase_add_test(tc, test_knob_values_are_atoms);
  tcase_add_test(tc, test_every_word_of_every_atom_is_told);
  tcase_add_test(tc, test_words_say_the_atoms_own_numbers);
  suite_add_tcase(suite, tc);
  return suite;
}
