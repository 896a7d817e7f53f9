// The state line: what parses, what echoes, and what is said of everything else.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "model/words/knob.h"
#include "stress.h"

Suite *suite_knob(void);

static Arena *arena;
static Diags diags;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
}
static void teardown(void) { arena_free(arena); }

static Schedule parse(const char *text) {
  Schedule schedule = schedule_default();
  schedule_parse(&schedule, text, &diags);
  return schedule;
}

static const char *const article_lines[] = {
    "BM=8,BN=32,FM=26,FN=4,BK=32,SPLITK=1,TMA=1,STAGE=11",
    ("TMA=1,ATOM_KIND=mma_m16n8k16_f16,WM=1,WN=4,FM=4,FN=2,BK=2,BUFFER_COUNT=2,WARP_SPECIALIZE=1,"
     "SPLITK=1"),
    "BM=8,BN=32,FM=26,FN=4,BK=32,SPLITK=1,STAGE=11,TMA=0,ASYNC_COPY=0,PIPELINE_STAGES=0",
    "FM=2,FN=2,STAGE=11,PAD_SMEM=1",
    "BM=16,BN=16,FM=4,FN=4,BK=16,STAGE=11,INTERLEAVE_LOADS=0",
    "BM=16,BN=16,FM=2,FN=2,BK=32,STAGE=11,SPLITK=8,ATOMIC_FREE_SPLITK=1,TARGET=rtx5090",
    "",
};

START_TEST(test_article_lines_echo) {
  const char *line = article_lines[_i];
  Schedule schedule = parse(line);
  ck_assert_int_eq(diags.count, 0);
  ck_assert_str_eq(schedule_text(arena, &schedule), line);
}
END_TEST

// The panel of knobs has 14 columns for a name, or the first of its other names, and a value.
START_TEST(test_names_fit_the_panel) {
  enum { PANEL_COLS = 14 };
  for (int i = 0; i < KNOB_COUNT; i++) {
    const Knob *knob = &knob_table[i];
    const KnobType type = knob->type;
    if (type != KNOB_TYPE_INT && type != KNOB_TYPE_POWER && type != KNOB_TYPE_FLAG &&
        type != KNOB_TYPE_STAGE)
      continue;
    if (knob->hi == INT32_MAX) continue;  // M, N and K stand in the title
    const char *most =
        type == KNOB_TYPE_STAGE ? "11" : arena_printf(arena, "%lld", (long long)knob->hi);
    const size_t alias = strcspn(knob->aliases, " "), name = strlen(knob->name);
    const size_t least = alias && alias < name ? alias : name;
    ck_assert_msg(least + 1 + strlen(most) <= PANEL_COLS, "%s %s", knob->name, most);
  }
}
END_TEST

START_TEST(test_aliases_echo_in_the_tables_spelling) {
  Schedule schedule = parse(" block_m = 8 ");
  ck_assert_int_eq(diags.count, 1);  // blanks inside an item are not part of a name
  diags = diags_new(arena);
  schedule = parse("block_m=8,\n stages=3 , atom=m16n8k16.f16,arch=sm_90a");
  ck_assert_int_eq(diags.count, 0);
  ck_assert_str_eq(schedule_text(arena, &schedule),
                   "BM=8,BUFFER_COUNT=3,ATOM_KIND=mma_m16n8k16_f16,TARGET=sm_90a");
}
END_TEST

// TMA copies slabs: both operands have one, unless STAGE says otherwise, in whatever order.
// What a screen shows of a value: operands by name, which may be typed; an atom with its own N.
START_TEST(test_values_are_said_in_words) {
  const Schedule both = parse("STAGE=11"), typed = parse("STAGE=A+B"), one = parse("STAGE=10");
  ck_assert_int_eq(typed.value[KNOB_STAGE], both.value[KNOB_STAGE]);
  ck_assert_str_eq(knob_value_said(arena, &both, KNOB_STAGE), "A+B");
  ck_assert_str_eq(knob_value_said(arena, &one, KNOB_STAGE), "A");
  ck_assert_str_eq(knob_value_text(arena, &typed, KNOB_STAGE), "11");
  const Schedule narrow = parse("ATOM_KIND=wgmma_m64n256k16_bf16,ATOM_N=128"),
                 whole = parse("ATOM_KIND=mma_m16n8k16_f16");
  ck_assert_str_eq(knob_value_said(arena, &narrow, KNOB_ATOM_KIND), "wgmma_m64n128k16_bf16");
  ck_assert_str_eq(knob_value_said(arena, &whole, KNOB_ATOM_KIND), "mma_m16n8k16_f16");
  ck_assert_int_eq(diags.count, 0);
}
END_TEST

START_TEST(test_tma_stages_unless_given) {
  static const struct {
    const char *line, *stage;
  } lines[] = {{"TMA=1", "11"},          {"TMA=1,STAGE=10", "10"}, {"STAGE=00,TMA=1", "00"},
               {"STAGE=01,TMA=1", "01"}, {"TMA=0", "00"},          {"BM=8", "00"}};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    Schedule schedule = parse(lines[i].line), again;
    ck_assert_str_eq(knob_value_text(arena, &schedule, KNOB_STAGE), lines[i].stage);
    ck_assert_str_eq(schedule_text(arena, &schedule), lines[i].line);
    again = parse(schedule_text(arena, &schedule));
    ck_assert(schedule_same(&again, &schedule));
  }
  Schedule schedule = parse("BM=8");
  schedule_set(&schedule, KNOB_TMA, 1);
  ck_assert_str_eq(knob_value_text(arena, &schedule, KNOB_STAGE), "11");
  schedule_set(&schedule, KNOB_TMA, 0);
  ck_assert_str_eq(knob_value_text(arena, &schedule, KNOB_STAGE), "00");
  ck_assert_int_eq(diags.count, 0);
}
END_TEST

// The commas of a layout part no knobs, and a fraction has neighbours.
START_TEST(test_commas_before_numbers) {
  Schedule schedule = parse("LAYOUT_A=swizzle:3,4,-3,BM=8,LAYOUT_B=Swizzle<3,4,3>,BN=4");
  ck_assert_int_eq(diags.count, 0);
  ck_assert_str_eq(schedule.layout[0], "swizzle:3,4,-3");
  ck_assert_str_eq(schedule.layout[1], "Swizzle<3,4,3>");
  ck_assert_int_eq(schedule.value[KNOB_BN], 4);
  Schedule again = parse(schedule_text(arena, &schedule));
  ck_assert(schedule_same(&again, &schedule));
  parse("BUFFER_COUNT=3.5");
  ck_assert_str_eq(diags.first->nearest, "BUFFER_COUNT=3");
}
END_TEST

START_TEST(test_atom_sets_dtype_unless_given) {
  Schedule schedule = parse("ATOM_KIND=mma_m16n8k8_tf32");
  ck_assert_str_eq(knob_value_text(arena, &schedule, KNOB_DTYPE), "tf32");
  schedule = parse("DTYPE=f16,ATOM_KIND=mma_m16n8k8_tf32");
  ck_assert_str_eq(knob_value_text(arena, &schedule, KNOB_DTYPE), "f16");
}
END_TEST

static const struct {
  const char *line, *rule, *nearest;
} mistakes[] = {
    {"BM", "syntax", NULL},
    {"BN=", "value", "BN=16"},
    {"BM=8x", "value", "BM=16"},
    {"BM= 8", "value", "BM=16"},
    {"BM=0x10", "value", "BM=16"},
    {"BM=0", "range", "BM=1"},
    {"BM=-3", "range", "BM=1"},
    {"M=0", "range", "M=1"},
    {"M=2147483648", "range", "M=2147483647"},
    {"K=99999999999999999999999999", "range", "K=2147483647"},
    {"CELL_GROUP=3", "range", "CELL_GROUP=2"},
    {"CELL_GROUP=17", "range", "CELL_GROUP=16"},
    {"STAGE=12", "value", NULL},
    {"STAGE=1", "value", NULL},
    {"BUFFR_COUNT=2", "unknown_knob", "BUFFER_COUNT"},
    {"BM=8,BM=8", "duplicate_knob", NULL},
    {"BM=8,BLOCK_M=8", "duplicate_knob", NULL},
    {"ATOM_KIND=mma_m16n8k16_f61", "value", "ATOM_KIND=mma_m16n8k16_f16"},
    {"TARGET=", "value", "TARGET=h200"},
    {"TARGET=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "value", "TARGET=h200"},
};

START_TEST(test_mistakes_are_told) {
  Schedule before = parse("FM=3"), schedule = before;
  ck_assert(!schedule_parse(&schedule, mistakes[_i].line, &diags));
  ck_assert_int_eq(diags.count, 1);
  ck_assert_str_eq(diags.first->rule, mistakes[_i].rule);
  if (mistakes[_i].nearest) ck_assert_str_eq(diags.first->nearest, mistakes[_i].nearest);
  ck_assert_msg(schedule_same(&before, &schedule), "a bad line must change nothing");
}
END_TEST

START_TEST(test_all_mistakes_of_a_line_are_told) {
  parse("BM=0,NOPE=1,BN=x");
  ck_assert_int_eq(diags.count, 3);
}
END_TEST

// Random bytes and mutants of good lines: never a crash, and what parses echoes to itself.
// What is the same has one identity, and a step in any knob gives another; AUTO and the case of a
// GPU's name tell nobody apart, the letters of a layout do.
START_TEST(test_one_identity) {
  Schedule a = schedule_default(), b = a;
  for (int i = 0; i < KNOB_COUNT; i++) {
    int64_t value;
    b = a;
    if (!knob_step(&a, (KnobId)i, 1, &value) && !knob_step(&a, (KnobId)i, -1, &value)) continue;
    b.value[i] = value;
    ck_assert_int_eq(schedule_same(&a, &b), i == KNOB_AUTO);
    ck_assert_int_eq(schedule_identity(&a) == schedule_identity(&b), schedule_same(&a, &b));
  }
  static const struct {
    const char *one, *other;
    bool same;
  } pairs[] = {{"TARGET=h200", "TARGET=H200", true},
               {"TARGET=h200", "TARGET=h100", false},
               {"LAYOUT_A=pad:4", "LAYOUT_B=pad:4", false},
               {"LAYOUT_A='xor:col ^ 4'", "LAYOUT_A='xor:COL ^ 4'", false},
               {"BM=16,BN=32", "BN=32,BM=16", true}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    a = b = schedule_default();
    ck_assert(schedule_parse(&a, pairs[i].one, &diags));
    ck_assert(schedule_parse(&b, pairs[i].other, &diags));
    ck_assert_int_eq(schedule_same(&a, &b), pairs[i].same);
    ck_assert_int_eq(schedule_identity(&a) == schedule_identity(&b), pairs[i].same);
  }
}
END_TEST

START_TEST(test_mutants) {
  srand(7);
  for (int i = 0; i < stress_count(20000, 100000); i++) {
    char line[128];
    const char *from = article_lines[rand() % 6];
    size_t n = strlen(from);
    if (n > 120) n = 120;
    memcpy(line, from, n);
    line[n] = '\0';
    for (int k = rand() % 4; k >= 0; k--) line[(size_t)rand() % n] = (char)(1 + rand() % 255);
    arena_reset(arena);
    diags = diags_new(arena);
    Schedule schedule = schedule_default();
    if (!schedule_parse(&schedule, line, &diags)) {
      ck_assert_int_gt(diags.count, 0);
      continue;
    }
    Schedule again = schedule_default();
    ck_assert(schedule_parse(&again, schedule_text(arena, &schedule), &diags));
    ck_assert(schedule_same(&schedule, &again));
  }
}
END_TEST

START_TEST(test_every_knob_steps_through_its_range) {
  for (int id = 0; id < KNOB_COUNT; id++) {
    Schedule schedule = schedule_default();
    int64_t value;
    int steps = 0;
    while (knob_step(&schedule, (KnobId)id, -1, &value)) schedule.value[id] = value;
    int64_t lowest = schedule.value[id];
    for (; knob_step(&schedule, (KnobId)id, 1, &value) && steps < 300; steps++) {
      ck_assert_int_gt(value, schedule.value[id]);
      schedule.value[id] = value;
    }
    ck_assert_int_lt(steps, 300);
    if (id != KNOB_TARGET) ck_assert_int_eq(lowest, knob_table[id].lo);
  }
}
END_TEST

Suite *suite_knob(void) {
  Suite *suite = suite_create("knob");
  TCase *tcase = tcase_create("state line");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, test_article_lines_echo, 0,
                      (int)(sizeof article_lines / sizeof *article_lines));
  tcase_add_test(tcase, test_names_fit_the_panel);
  tcase_add_test(tcase, test_aliases_echo_in_the_tables_spelling);
  tcase_add_test(tcase, test_values_are_said_in_words);
  tcase_add_test(tcase, test_tma_stages_unless_given);
  tcase_add_test(tcase, test_commas_before_numbers);
  tcase_add_test(tcase, test_atom_sets_dtype_unless_given);
  tcase_add_loop_test(tcase, test_mistakes_are_told, 0, (int)(sizeof mistakes / sizeof *mistakes));
  tcase_add_test(tcase, test_all_mistakes_of_a_line_are_told);
  tcase_add_test(tcase, test_one_identity);
  tcase_add_test(tcase, test_mutants);
  tcase_add_test(tcase, test_every_knob_steps_through_its_range);
  suite_add_tcase(suite, tcase);
  return suite;
}
