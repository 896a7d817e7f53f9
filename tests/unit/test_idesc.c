// Instruction descriptors of tcgen05.mma: bits, codes, shapes. The numbers are put together here by
// hand from tables 42 to 44 of the PTX ISA, not by the product's tables.
#include <check.h>
#include <inttypes.h>
#include <string.h>

#include "banks/layouts/instruction_descriptor.h"
#include "base/str.h"

Suite *suite_idesc(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

static const InstructionUse alone = {1, false}, pair = {2, false}, stationary = {1, true};

static InstructionDescriptor read(const char *kind, const char *text) {
  InstructionDescriptor out;
  Diags diags = diags_new(arena);
  ck_assert_msg(instruction_descriptor_parse(arena, kind, text, &out, &diags), "%s: %s", text,
                diags_text(arena, &diags));
  return out;
}

static const struct {
  const char *kind, *fields;
  uint32_t word;
  InstructionUse use;
} goldens[] = {
    {"f16",
     "d=f32,a=bf16,b=bf16,m=128,n=256",
     1u << 4 | 1u << 7 | 1u << 10 | 32u << 17 | 8u << 24,
     {1, false}},
    {"f16", "d=f16,a=f16,b=f16,m=64,n=8", 1u << 17 | 4u << 24, {1, false}},
    {"f16",
     "a=bf16,b=bf16,ta=mn,tb=mn,negb=1,m=256,n=256",
     1u << 4 | 1u << 7 | 1u << 10 | 1u << 14 | 1u << 15 | 1u << 16 | 32u << 17 | 16u << 24,
     {2, false}},
    {"tf32", "m=128,n=128", 1u << 4 | 2u << 7 | 2u << 10 | 16u << 17 | 8u << 24, {1, false}},
    {"f8f6f4",
     "a=e5m2,b=e2m1,m=128,n=24",
     1u << 4 | 1u << 7 | 5u << 10 | 3u << 17 | 8u << 24,
     {1, false}},
    {"i8",
     "a=s8,b=u8,sat=1,m=128,n=48",
     1u << 3 | 2u << 4 | 1u << 7 | 6u << 17 | 8u << 24,
     {1, false}},
    {"f16",
     "a=f16,b=f16,m=32,n=128,shift=16",
     1u << 4 | 16u << 17 | 2u << 24 | 2u << 30,
     {1, true}},
    {"mxf8f6f4",
     "a=e4m3,b=e4m3,sfa=3,sfb=1,m=256,n=256",
     1u << 4 | 32u << 17 | 1u << 23 | 2u << 27 | 3u << 29,
     {2, false}},
    {"mxf4nvf4",
     "scale=ue4m3,sfa=2,m=128,n=128",
     1u << 7 | 1u << 10 | 16u << 17 | 1u << 27 | 2u << 29,
     {1, false}},
    {"mxf4",
     "k96=1,m=256,n=128",
     1u << 7 | 1u << 10 | 16u << 17 | 1u << 23 | 2u << 27 | 1u << 31,
     {2, false}},
};

START_TEST(fields_lie_where_the_isa_says) {
  const InstructionDescriptor d = read(goldens[_i].kind, goldens[_i].fields);
  ck_assert_msg(d.word == goldens[_i].word, "%s: 0x%08" PRIx32 ", not 0x%08" PRIx32,
                goldens[_i].fields, d.word, goldens[_i].word);
  Diags diags = diags_new(arena);
  ck_assert_msg(instruction_descriptor_check(arena, &d, goldens[_i].use, &diags), "%s: %s",
                goldens[_i].fields, diags_text(arena, &diags));
  const InstructionDescriptor back =
      read(goldens[_i].kind, arena_printf(arena, "0x%" PRIx32, goldens[_i].word));
  ck_assert_uint_eq(back.word, d.word);
}
END_TEST

// The fields of each format are neighbours, and no bit is left over.
START_TEST(every_bit_belongs_to_one_field) {
  const char *const *names;
  const int n = instruction_kind_names(&names);
  ck_assert_int_eq(n, 7);
  for (int i = 0; i < n; i++) {
    const InstructionKind *kind = instruction_kind_find(names[i]);
    int next = 0;
    for (int f = 0; f < instruction_field_count(kind); f++) {
      const InstructionField *field = instruction_field_at(kind, f);
      ck_assert_msg(field->first == next, "%s: bit %d", names[i], next);
      next += field->bits;
    }
    ck_assert_msg(next == 32, "%s: %d bits", names[i], next);
  }
}
END_TEST

// How many (M, N) the check allows; counted by hand from table 39.
static int count_shapes(const char *kind, InstructionUse use, bool sparse) {
  int n_legal = 0;
  for (int m = 0; m < 512; m += 16)
    for (int n = 0; n < 512; n += 8) {
      InstructionDescriptor d = read(kind, sparse ? "sparse=1" : "n=0");
      const bool scaled = strncmp(kind, "mx", 2) == 0;
      if (scaled && m % 128) continue;
      d.word |= (uint32_t)(n / 8) << 17 | (uint32_t)(scaled ? m / 128 << 3 : m / 16) << 24;
      Diags diags = diags_new(arena);
      n_legal += instruction_descriptor_check(arena, &d, use, &diags);
    }
  return n_legal;
}

START_TEST(shapes_are_those_of_the_isa) {
  static const struct {
    const char *kind;
    int alone, pair, ws, ws_sparse, pair_sparse;
  } rows[] = {
      {"f16", 2 * 32, 2 * 16, 3 * 3, 3 * 2, 2 * 16},
      {"tf32", 2 * 32, 2 * 16, 3 * 3, 3 * 2, 2 * 16},
      {"f8f6f4", 2 * 32, 2 * 16, 3 * 3, 3 * 2, 2 * 16},
      {"i8", 2 * (4 + 14), 2 * 8, 3 * 3, 3 * 2, 2 * 8},
      {"mxf8f6f4", 32, 2 * 16, 0, 0, 16},
      {"mxf4", 32, 2 * 16, 0, 0, 16},
      {"mxf4nvf4", 32, 2 * 16, 0, 0, 16},
  };
  const InstructionUse none = {2, true};
  const char *kind = rows[_i].kind;
  ck_assert_int_eq(count_shapes(kind, alone, false), rows[_i].alone);
  ck_assert_int_eq(count_shapes(kind, pair, false), rows[_i].pair);
  ck_assert_int_eq(count_shapes(kind, stationary, false), rows[_i].ws);
  ck_assert_int_eq(count_shapes(kind, stationary, true), rows[_i].ws_sparse);
  ck_assert_int_eq(count_shapes(kind, pair, true), rows[_i].pair_sparse);
  ck_assert_int_eq(count_shapes(kind, none, false), 0);
}
END_TEST

static const struct {
  const char *kind, *text;
  InstructionUse use;
  const char *finding, *nearest;
} illegal[] = {
    {"f16", "d=f16,a=bf16,b=bf16,m=128,n=64", {1, false}, "bf16 is summed only in f32", "d=f32"},
    {"f16", "m=96,n=100", {1, false}, NULL, NULL},
    {"f16",
     "m=96,n=264",
     {1, false},
     "M = 96, N = 264: .kind::f16, cta_group::1, dense has M of 64 or 128",
     "m=128,n=256"},
    {"i8", "a=s8,b=s8,m=64,n=40", {1, false}, "N from 48 to 256 in steps of 16", "m=64,n=48"},
    {"f16", "0x08400498", {1, false}, "bit 3: 1, but .kind::f16 needs 0 there", NULL},
    {"i8", "0x08402420", {1, false}, "bit 13: 1, but .kind::i8 needs 0 there", NULL},
    {"tf32",
     "0x08400490",
     {1, false},
     "1 is not defined for .kind::tf32, which has tf32",
     "a=tf32"},
    {"mxf4", "sfa=1,m=128,n=64", {1, false}, "sfa and sfb are 0 or 2", NULL},
    {"mxf4", "k96=1,m=128,n=64", {1, false}, "K = 96 exists only for", NULL},
    {"mxf4", "0x08438480", {1, false}, "bits 15-16: 3, but .kind::mxf4 needs 0 there", NULL},
    {"mxf8f6f4", "m=128,n=64", {1, true}, "this instruction does not exist", NULL},
};

START_TEST(what_is_illegal_is_said_with_what_is_near) {
  InstructionDescriptor d;
  Diags diags = diags_new(arena);
  const bool read_well =
      instruction_descriptor_parse(arena, illegal[_i].kind, illegal[_i].text, &d, &diags);
  if (!illegal[_i].finding) {
    ck_assert(!read_well);
    ck_assert_msg(strstr(diags.first->text, "n is a multiple of 8, at most 256"), "%s",
                  diags.first->text);
    return;
  }
  ck_assert(read_well && !instruction_descriptor_check(arena, &d, illegal[_i].use, &diags));
  const Diag *found = diags.first;
  while (found && !strstr(found->text, illegal[_i].finding)) found = found->next;
  ck_assert_msg(found, "%s: %s", illegal[_i].text, diags_text(arena, &diags));
  if (illegal[_i].nearest) ck_assert_str_eq(found->nearest, illegal[_i].nearest);
}
END_TEST

// The ISA's table has steps of 8 with M = 128; CUTLASS asks for 16, which is told and not refused.
START_TEST(what_cutlass_does_not_build_is_noted) {
  static const struct {
    const char *kind, *text;
    InstructionUse use;
    const char *note;
  } cases[] = {{"f16", "a=bf16,b=bf16,m=128,n=136", {1, false}, "CUTLASS uses steps of 16"},
               {"f16", "a=bf16,b=bf16,m=128,n=144", {1, false}, NULL},
               {"f16", "a=bf16,b=bf16,m=64,n=136", {1, false}, NULL},
               {"f8f6f4", "a=e4m3,b=e4m3,m=256,n=48", {2, false}, "steps of 32"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    InstructionDescriptor d;
    Diags diags = diags_new(arena);
    ck_assert(instruction_descriptor_parse(arena, cases[i].kind, cases[i].text, &d, &diags));
    ck_assert(instruction_descriptor_check(arena, &d, cases[i].use, &diags));
    const char *note = instruction_shape_note(arena, &d, cases[i].use);
    ck_assert_msg(!note == !cases[i].note, "%s", cases[i].text);
    if (note) ck_assert_ptr_nonnull(strstr(note, cases[i].note));
  }
}
END_TEST

START_TEST(a_text_that_says_nothing_has_its_place) {
  static const struct {
    const char *kind, *text, *part;
  } cases[] = {{"f18", "m=64", "f16"},         {"f16", "q=1", "field"},
               {"f16", "a=e4m3", "bf16"},      {"f16", "m", "column 2"},
               {"f16", "m=128 n=8", "column"}, {"f16", "0x1ffffffff", "more than 32 bits"},
               {"f16", "", "field"},           {"i8", "shift=7", "shift"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    InstructionDescriptor d;
    Diags diags = diags_new(arena);
    ck_assert_msg(!instruction_descriptor_parse(arena, cases[i].kind, cases[i].text, &d, &diags),
                  "%s", cases[i].text);
    ck_assert_int_eq(diags.count, 1);
    const char *said = diags_text(arena, &diags);
    ck_assert_msg(strstr(said, cases[i].part), "%s: %s", cases[i].text, said);
  }
}
END_TEST

// "Data Path Layout Organization": M, group, .ws, sparse.
START_TEST(d_lies_where_the_isa_says) {
  static const struct {
    const char *fields;
    InstructionUse use;
    const char *letter;
  } cases[] = {{"m=256,n=64", {2, false}, "A"},          {"m=128,n=64", {2, false}, "B"},
               {"m=128,n=64,sparse=1", {2, false}, "C"}, {"m=128,n=64", {1, false}, "D"},
               {"m=128,n=64", {1, true}, "D"},           {"m=64,n=64", {1, true}, "E"},
               {"m=64,n=64", {1, false}, "F"},           {"m=32,n=64", {1, true}, "G"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const InstructionDescriptor d = read("f16", cases[i].fields);
    const char *letter = "";
    ck_assert(instruction_data_path(&d, cases[i].use, &letter) != NULL);
    ck_assert_str_eq(letter, cases[i].letter);
  }
  const InstructionDescriptor none = read("f16", "m=96,n=64");
  const char *letter;
  ck_assert_ptr_null(instruction_data_path(&none, alone, &letter));
}
END_TEST

// 17 · 8 columns; what another kind has, or nobody, is -1, not 0.
START_TEST(a_field_of_another_kind_has_no_value) {
  const InstructionDescriptor d = read("f16", "m=128,n=136"), scaled = read("mxf4", "m=128,n=64");
  ck_assert_int_eq(instruction_value(&d, "n"), 136);
  ck_assert_int_eq(instruction_value(&d, "nega"), 0);
  ck_assert_int_eq(instruction_value(&d, "sfa"), -1);
  ck_assert_int_eq(instruction_value(&d, "nobody"), -1);
  ck_assert_int_eq(instruction_value(&scaled, "sfa"), 0);
  ck_assert_int_eq(instruction_value(&scaled, "d"), -1);
}
END_TEST

Suite *suite_idesc(void) {
  Suite *suite = suite_create("idesc");
  TCase *tc = tcase_create("bits");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_add_loop_test(tc, fields_lie_where_the_isa_says, 0,
                      (int)(sizeof goldens / sizeof goldens[0]));
  tcase_add_test(tc, every_bit_belongs_to_one_field);
  tcase_add_loop_test(tc, shapes_are_those_of_the_isa, 0, 7);
  tcase_add_loop_test(tc, what_is_illegal_is_said_with_what_is_near, 0,
                      (int)(sizeof illegal / sizeof illegal[0]));
  tcase_add_test(tc, what_cutlass_does_not_build_is_noted);
  tcase_add_test(tc, a_text_that_says_nothing_has_its_place);
  tcase_add_test(tc, d_lies_where_the_isa_says);
  tcase_add_test(tc, a_field_of_another_kind_has_no_value);
  suite_add_tcase(suite, tc);
  return suite;
}
