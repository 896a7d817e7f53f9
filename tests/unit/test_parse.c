// The text of a program, read back: what is printed is what was read, and the program is the same
// to the emitter and to the interpreter; what cannot be read is said where and why.
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/embed.h"
#include "base/random.h"
#include "model/interp/breakage.h"
#include "model/interp/interp.h"
#include "model/ir/notation/parse.h"
#include "model/ir/notation/print.h"
#include "model/passes/pass.h"
#include "model/readings/model.h"
#include "model/schedules/random_schedule.h"
#include "model/schedules/reduce.h"
#include "model/text/emit.h"
#include "property.h"
#include "stress.h"

Suite *suite_parse(void);

static Arena *arena(void) { return property_arena; }

// Texts are longer than a message of the test may be.
static void fail_unless_same(const char *wanted, const char *got, const char *what) {
  if (strcmp(wanted, got) == 0) return;
  size_t n = 0;
  while (wanted[n] == got[n]) n++;
  while (n && wanted[n - 1] != '\n') n--;
  ck_abort_msg("%s\n%.600s\nwanted, got\n%.600s", what, wanted + n, got + n);
}

// ---- there and back -----------------------------------------------------------------------------

static const Program *read_back(const char *text, const char *what) {
  Diags diags = diags_new(arena());
  const Program *program = program_parse(arena(), text, strlen(text), "text", &diags);
  ck_assert_msg(program != NULL, "%.500s: %s", what, diags_text(arena(), &diags));
  return program;
}

static const char *cuda(const Program *program, const Schedule *schedule) {
  return emit_cuda(arena(), program, &(EmitOptions){.schedule = schedule})->text;
}

// The program that is read from the text is the one that was printed. On the way to it, before
// slabs are staged and swizzled, no text says where wgmma finds its tiles.
static const Program *comes_back(const Program *program, const Schedule *schedule, bool on_way) {
  const char *text = program_text_full(arena(), program), *what = schedule_text(arena(), schedule);
  const char *trouble = interpret_fault(arena(), program);
  // Scores of 64 heads that no product has been fused around have 2^30 elements, and edges beyond.
  const bool is_size = on_way && trouble && strstr(trouble, " is too large");
  ck_assert_msg(!trouble || is_size, "%s: %s", trouble, what);
  const char *fault = emit_fault(arena(), program);
  bool emits = !fault;
  ck_assert_msg(emits || on_way, "%s: %s", fault, what);
  const Program *again = read_back(text, what);
  fail_unless_same(text, program_text_full(arena(), again), what);
  if (emits) fail_unless_same(cuda(program, schedule), cuda(again, schedule), what);
  return again;
}

static void every_stage_comes_back(const Schedule *schedule) {
  const Model *model = model_build(arena(), &property_targets, schedule);
  ck_assert_msg(model->ok, "%s", diags_text(arena(), &model->diags));
  for (int i = 0; i < model->pipeline.n_stages; i++)
    comes_back(model->pipeline.stage[i].program, schedule, i < model->pipeline.n_stages - 1);
}

START_TEST(every_rung_comes_back) {
  EmbeddedList list = embed_list(property_data, "ladders/");
  int rungs = 0;
  for (int f = 0; f < list.count; f++) {
    const Ladder *ladder = property_read_ladder(list.paths[f]);
    for (int r = 0; r < ladder->n_rungs; r++) {
      if (ladder->rung[r].not_built) continue;
      arena_reset(property_arena);
      every_stage_comes_back(&ladder->rung[r].schedule);
      rungs++;
    }
  }
  ck_assert_int_ge(rungs, 60);
}
END_TEST

static Schedule draw(uint64_t *state) {
  const RandomLimits limits = {.extent_max = 100, .fma_max = 100000};
  Schedule schedule = schedule_random(arena(), &property_targets, "h200", &limits, state, NULL);
  arena_reset(property_arena);
  return schedule;
}

START_TEST(random_schedules_come_back) {
  uint64_t state = property_seed();
  int n = stress_count(stress_part(100, 3), 1500);
  for (int i = 0; i < n; i++) {
    Schedule schedule = draw(&state);
    every_stage_comes_back(&schedule);
  }
}
END_TEST

// ---- the interpreter's verdict ------------------------------------------------------------------

static void same_verdict(const Program *before, const Program *after, const char *what) {
  InterpOptions options = {.seed = 1, .runs = 1};
  InterpCheck a = interpret_check(arena(), before, &options);
  InterpCheck b = interpret_check(arena(), after, &options);
  ck_assert_msg(a.ok == b.ok, "%s", what);
  ck_assert_msg(a.n_found == b.n_found && a.n_findings == b.n_findings, "%s", what);
  ck_assert_msg(a.n_wrong == b.n_wrong, "%s", what);
  for (int i = 0; i < a.n_findings; i++)
    ck_assert_msg(a.finding[i].kind == b.finding[i].kind, "%s: %s", what, a.finding[i].text);
}

// Of a breakage drawn at random, where the program has something of the kind.
static void same_broken(const Program *program, const Schedule *schedule, uint64_t *state) {
  BreakageId id = (BreakageId)random_between(state, 0, BREAK_COUNT - 1);
  const Program *broken = program_break(arena(), program, id);
  Diags diags = diags_new(arena());
  if (!broken) return;
  const char *text = program_text_full(arena(), broken);
  const Program *again = program_parse(arena(), text, strlen(text), "text", &diags);
  const char *what = arena_printf(arena(), "%s of %s: %s", breakage_name(id),
                                  schedule_text(arena(), schedule), diags_text(arena(), &diags));
  if (!again && str_equal(diags.first->rule, "program")) return;
  ck_assert_msg(again != NULL, "%s", what);
  // A loop that was cut short lets its text be read as something simpler, but then it stays.
  const char *printed = program_text_full(arena(), again);
  fail_unless_same(printed, program_text_full(arena(), read_back(printed, what)), what);
  same_verdict(broken, again, what);
}

START_TEST(what_comes_back_runs_alike) {
  uint64_t state = property_seed() + 1;
  int n = stress_count(stress_part(60, 3), 600);
  for (int i = 0; i < n; i++) {
    Schedule schedule = draw(&state);
    const Model *model = model_build(arena(), &property_targets, &schedule);
    const Program *again = comes_back(model->program, &schedule, false);
    same_verdict(model->program, again, schedule_text(arena(), &schedule));
    same_broken(model->program, &schedule, &state);
  }
}
END_TEST

// ---- mutated texts ------------------------------------------------------------------------------

static void change_bytes(char *text, int64_t n, uint64_t *state) {
  static const char bytes[] = " 0123456789abk_[]()+-*/%<>=&|^,.:@\"#\n\t{}?";
  for (int64_t i = random_between(state, 1, 3); i > 0; i--)
    text[random_between(state, 0, n - 1)] =
        bytes[random_between(state, 0, (int64_t)sizeof bytes - 2)];
}

static void change_digits(char *text, int64_t n, uint64_t *state) {
  for (int64_t i = random_between(state, 1, 3); i > 0; i--) {
    char *at = strpbrk(text + random_between(state, 0, n - 1), "0123456789");
    if (at) *at = (char)random_between(state, '0', '9');
  }
}

static void cut_line(char *text, int64_t n, uint64_t *state) {
  char *at = strchr(text + random_between(state, 0, n - 1), '\n');
  char *end = at ? strchr(at + 1, '\n') : NULL;
  if (end) memmove(at, end, strlen(end) + 1);
}

static void mutate(char *text, uint64_t *state) {
  static void (*const ways[])(char *, int64_t, uint64_t *) = {change_bytes, change_digits,
                                                              change_digits, cut_line};
  ways[random_between(state, 0, 3)](text, (int64_t)strlen(text), state);
}

// Whatever was read is emitted, unless it could not run; a few steps of a run come to no harm.
static void use(const Program *program) {
  if (interpret_fault(arena(), program)) return;
  if (!emit_fault(arena(), program))
    ck_assert_uint_gt(emit_cuda(arena(), program, &(EmitOptions){0})->length, 0);
  interpret_check(arena(), program, &(InterpOptions){.runs = 1, .step_limit = 3000});
}

START_TEST(mutated_texts_are_read_or_refused) {
  uint64_t state = property_seed() + 2;
  int n = stress_count(stress_part(1500, 3), 15000), n_read = 0;
  const char *whole = NULL;
  for (int i = 0; i < n; i++) {
    arena_reset(property_arena);
    if (i % 20 == 0) {  // twenty mutants of each text
      const Schedule schedule = draw(&state);
      const Model *model = model_build(arena(), &property_targets, &schedule);
      whole = arena_strdup(property_data, program_text_full(arena(), model->program));
    }
    char *text = arena_strdup(arena(), whole);
    mutate(text, &state);
    Diags diags = diags_new(arena());
    const Program *program = program_parse(arena(), text, strlen(text), "text", &diags);
    ck_assert_int_eq(program == NULL, diags.count);
    if (!program) continue;
    const char *printed = program_text_full(arena(), program);
    fail_unless_same(printed, program_text_full(arena(), read_back(printed, text)), "mutated");
    use(program);
    n_read++;
  }
  ck_assert_int_gt(n_read, n / 50);
  ck_assert_int_lt(n_read, n - n / 4);
}
END_TEST

// ---- what is wrong, by hand ---------------------------------------------------------------------

// The naive nest of a small problem, tiled; line by line, so that errors can be put into one.
static const char *const lines[] = {
    "problem C[30 x 32] f32 = A[30 x 16] f32 * B[16 x 32] f32, sums f32",
    "axis m in 0..30: m_b in 0..2 BLOCK by 16, m_t in 0..16 THREAD by 1",
    "axis n in 0..32: n_b in 0..2 BLOCK by 16, n_t in 0..16 THREAD by 1",
    "axis k in 0..16: k in 0..16 by 1",
    "thread tid in 0..256",
    "registers acc[1 x 1], a[1], b[1]   as acc f32, frag_a f32, frag_b f32",
    "for m_b in 0..2 BLOCK, n_b in 0..2 BLOCK",
    "  for m_t in 0..16 THREAD, n_t in 0..16 THREAD",
    "    acc[0, 0] = 0",
    "    for k in 0..16",
    "      a[0] = load A[m_b * 16 + m_t, k] if m_b * 16 + m_t < 30",
    "      b[0] = load B[k, n_b * 16 + n_t]",
    "      acc[0, 0] += a[0] * b[0]",
    "    C[m_b * 16 + m_t, n_b * 16 + n_t] = acc[0, 0] if m_b * 16 + m_t < 30",
};
enum { N_LINES = sizeof lines / sizeof lines[0] };

static char *text_with(int number, const char *instead) {
  Str text = str_new(arena());
  for (int i = 0; i < N_LINES; i++) str_printf(&text, "%s\n", i + 1 == number ? instead : lines[i]);
  return text.text;
}

START_TEST(a_text_written_by_hand_computes) {
  const Program *program = read_back(text_with(0, ""), "by hand");
  InterpCheck check = interpret_check(arena(), program, &(InterpOptions){.seed = 3});
  ck_assert(check.ok);
  ck_assert_str_eq(program_text_full(arena(), program), text_with(0, ""));
  // A product with the wrong column of B is wrong, and says so.
  program = read_back(text_with(12, "      b[0] = load B[k, n_b * 16 + n_t / 2 * 2]"), "by hand");
  check = interpret_check(arena(), program, &(InterpOptions){.seed = 3});
  ck_assert(!check.ok && check.n_wrong > 0);
}
END_TEST

// Which of the block's barriers a warp meets at is an expression: each half has its own, and
// whoever waits for another half's waits for ever.
START_TEST(halves_of_a_block_meet_at_barriers_of_their_own) {
  static const struct {
    const char *meet;
    bool ok;
  } meetings[] = {{"barrier", true},
                  {"barrier 3 of 256 threads", true},
                  {"barrier tid / 128 + 1 of 128 threads", true},
                  {"barrier tid / 64 + 1 of 128 threads", false}};
  for (size_t i = 0; i < sizeof meetings / sizeof *meetings; i++) {
    const char *line = arena_printf(arena(), "    %s\n    acc[0, 0] = 0", meetings[i].meet);
    const Program *program = read_back(text_with(9, line), meetings[i].meet);
    InterpCheck check = interpret_check(arena(), program, &(InterpOptions){.seed = 3});
    ck_assert_msg(check.ok == meetings[i].ok, "%s", meetings[i].meet);
    ck_assert(strstr(program_text_full(arena(), program), meetings[i].meet) != NULL);
  }
}
END_TEST

static const struct {
  int line;
  const char *instead, *message;
} errors[] = {
    {9, "    barrier 16 of 32 threads", "text:9:13: expected a barrier: 0 to 15, found \"16\""},
    {1, "problem C[30 x 32] f32 = A[31 x 16] f32 * B[16 x 32] f32, sums f32",
     "text:1:28: expected 30, found \"31\""},
    {1, "axis m in 0..30: m in 0..30 by 1", "text:1:1: expected \"problem\", found \"axis\""},
    {2, "axis m in 0..30: m_b in 0..2 BLOCK by 16 m_t in 0..16 THREAD by 1",
     "text:2:42: expected \",\" or the end of the line, found \"m_t\""},
    {4, "", "text:7:1: expected \"axis k\", found \"for\""},
    {5, "thread tid in 0..128", "text:5:18: expected 256, found \"128\""},
    {6, "registers acc[1 x 1], a[1], b[1]   as acc f32, frag_a f33, frag_b f32",
     "text:6:55: expected a type: f32, f16, ..., found \"f33\""},
    {6, "registers acc[1 x 1], a[1], a[1]   as acc f32, frag_a f32, frag_b f32",
     "text:6:29: expected a name that no other buffer has, found \"a\""},
    {7, "fro m_b in 0..2 BLOCK, n_b in 0..2 BLOCK",
     "text:7:1: expected a statement, found \"fro\""},
    {8, "  for m_t in 0..16 THREADS, n_t in 0..16 THREAD",
     "text:8:20: expected a tier (BLOCK, WARP, THREAD, ...), \",\" or the end of the line, found "
     "\"THREADS\""},
    {9, "   acc[0, 0] = 0", "text:10:5: expected an indentation of 3 blanks, found \"for\""},
    {10, "    for k in 0..",
     "text:10:17: expected a number from 1 to 1073741824, found the end of the line"},
    {11, "      a[0] = load A[m_b * 16 + m_t, k] if m_b * 16 + m_t < 29",
     "text:11:43: expected \"m_b * 16 + m_t < 30\", found \"m_b\""},
    {11, "      a[0] = load A[m_b * 16 + m_t, k]",
     "text:11:39: expected \"if m_b * 16 + m_t < 30\", found the end of the line"},
    {11, "      a[0] = load A[m_b * 16 + m_x, k] if m_b * 16 + m_t < 30",
     "text:11:32: expected a variable that is known here, found \"m_x\""},
    {12, "      b[0] = load B[k, n_b * 16 + n_t] if k < 15",
     "text:12:43: expected no condition, or one that always holds, found \"k\""},
    {12, "      b[0] = load B[k n_b * 16 + n_t]", "text:12:23: expected \",\", found \"n_b\""},
    {12, "      b[0] = load B[k - 1, n_b * 16 + n_t]",
     "text:12:21: expected an index that is never negative, found \"k\""},
    {12, "      b[0] = load B[k / (k - k), n_b * 16 + n_t]",
     "text:12:25: expected a divisor that is never below 1, found \"(\""},
    {12, "      b[0] = load B[k, n_b * 16 + n_t]   6 B",
     "text:12:42: expected a multiple of 4 from 8 on, found \"6\""},
    {12, "      b[0] = load B[k, n_b * 16 + n_t]   8 B @STAGGER",
     "text:12:47: expected the name of a knob, found \"STAGGER\""},
    {13, "      acc[0, 0] += a[0] * b[0", "text:13:30: expected \"]\", found the end of the line"},
    {13, "      acc[0, 0] += a[0] * B[k, 0]",
     "text:13:27: expected a buffer in registers, found \"B\""},
    {13, "      acc[0, 0] += m16n8k99.f16 a[0] * b[0]",
     "text:13:20: expected a buffer in registers or an atom: m16n8k16.f16, ..., found "
     "\"m16n8k99\""},
    {13, "\tacc[0, 0] += a[0] * b[0]", "text:13:1: expected blanks instead of tabs, found a tab"},
    {13, "      acc[0, 1] += a[0] * b[0]",
     "text: acc is accessed outside its bounds (statement 13)"},
};

START_TEST(what_is_wrong_is_said) {
  Diags diags = diags_new(arena());
  const char *text = text_with(errors[_i].line, errors[_i].instead);
  ck_assert_ptr_null(program_parse(arena(), text, strlen(text), "text", &diags));
  ck_assert_int_eq(diags.count, 1);
  ck_assert_str_eq(diags.first->text, errors[_i].message);
}
END_TEST

static TCase *new_case(Suite *suite, const char *name) {
  TCase *tc = tcase_create(name);
  tcase_add_checked_fixture(tc, property_setup, property_teardown);
  tcase_set_timeout(tc, 300);
  suite_add_tcase(suite, tc);
  return tc;
}

Suite *suite_parse(void) {
  Suite *suite = suite_create("parse");
  tcase_add_test(new_case(suite, "rungs"), every_rung_comes_back);
  TCase *random = new_case(suite, "random");
  tcase_add_test(random, random_schedules_come_back);
  tcase_add_test(random, what_comes_back_runs_alike);
  tcase_add_test(random, mutated_texts_are_read_or_refused);
  TCase *hand = new_case(suite, "by hand");
  tcase_add_test(hand, a_text_written_by_hand_computes);
  tcase_add_test(hand, halves_of_a_block_meet_at_barriers_of_their_own);
  tcase_add_loop_test(hand, what_is_wrong_is_said, 0, sizeof errors / sizeof errors[0]);
  return suite;
}
