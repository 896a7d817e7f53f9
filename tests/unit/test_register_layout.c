// Layouts of registers against those who define them: Triton's own linear layouts
// (tests/data/triton_layouts.tsv) and CuTe's printed layouts of threads and values
// (tests/data/cute_tv_layouts.txt).
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banks/layouts/cute_text.h"
#include "banks/layouts/register_cute.h"
#include "banks/layouts/register_text.h"
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
    ck_assert_msg(a->n[holder] == b->n[holder], "%s: %d and %d of %s", of, a->n[holder], b->n[holder],
                  holder_name(a, (Holder)holder));
  ck_assert_str_eq(tensor_shape_text(arena, &a->shape), tensor_shape_text(arena, &b->shape));
  for (int place = 0; place < register_places(a); place++) {
    const RegisterPlace at = register_place_at(a, place);
    ck_assert_msg(register_element(a, at) == register_element(b, at), "%s: register %d of lane %d",
                  of, at.at[HOLDER_REGISTER], at.at[HOLDER_LANE]);
  }
}

// Of a printed block: "= A 32x16 LAYOUT".
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

Suite *suite_register_layout(void) {
  Suite *suite = suite_create("register_layout");
  TCase *texts = tcase_create("texts");
  tcase_add_checked_fixture(texts, setup, teardown);
  tcase_set_timeout(texts, 60);
  tcase_add_test(texts, encodings_are_what_triton_makes_of_them);
  tcase_add_test(texts, tiles_are_what_cute_prints_of_them);
  suite_add_tcase(suite, texts);
  (void)refusal;
  return suite;
}
