// Stamps: what a traced text says, that it is a text without stamps otherwise, and that NVRTC takes
// it as it takes the other.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "compile_once.h"
#include "emit_cases.h"
#include "kernels/toolchain/emit_plan.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "stress.h"

static Arena *arena;
static EmitCases cases;
static bool has_nvrtc;

static void setup(void) {
  arena = arena_new("test stamp");
  cases = emit_cases(arena);
  nvrtc_describe(arena, &has_nvrtc);
}
static void teardown(void) { arena_free(arena); }

// ---- the text -----------------------------------------------------------------------------------

static bool begins_with(const char *line, const char *word) {
  return strncmp(line + strspn(line, " "), word, strlen(word)) == 0;
}

// Of a traced text alone, and the pool, which is static only where nothing is traced.
static bool is_of_trace(const char *line) {
  static const char *const words[] = {
      "stamp(trace, ",       "stamp_met(trace, ", "trace_end(trace);", "trace_kind trace;",
      "trace_begin(trace, ", "__shared__ ",       "extern __shared__ "};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (begins_with(line, words[i])) return true;
  return false;
}

// Words of the functions that are kernels, or the body of one, without stamps, signatures, braces
// and breaks of lines. The kernel around a body has none.
static const char *bare_words(const Emission *emission) {
  Str out = str_new(arena);
  bool inside = false;
  for (int i = 0; i < emission->n_lines; i++) {
    const EmitLine *line = &emission->lines[i];
    const char *text = arena_strndup(arena, emission->text + line->begin, line->length);
    if (line->kernel < 0) continue;
    if (inside && !is_of_trace(text) && !begins_with(text, "//"))
      for (const char *c = text; *c; c++)
        if (!strchr(" {}", *c)) str_add_char(&out, *c);
    if (text[0] != ' ' && *text) inside = false;
    if (!inside && strstr(text, ") {") && !strstr(text, ", int traced) {")) inside = true;
  }
  return out.text;
}

// Begins and ends of each place: one end, and a begin in front of it; where it follows another
// place, that one's end. Behind a barrier the warp's threads meet before the clock is read.
static void check_marks(const Emission *emission, const char *name) {
  for (int i = 0; i < emission->n_stamps; i++) {
    const bool meets = timeline_kind_of(&emission->stamp[i].stmt->op) == TIMELINE_MEET;
    const char *end =
        arena_printf(arena, "%s(trace, %d, ", meets ? "stamp_met" : "stamp", 2 * i + 1);
    const char *begin = arena_printf(arena, "stamp(trace, %d, ", 2 * i);
    const char *at = strstr(emission->text, end), *from = strstr(emission->text, begin);
    ck_assert_msg(at && !strstr(at + 1, end), "%s: place %d", name, i);
    ck_assert_msg(!from == emission->stamp[i].follows, "%s: begin of place %d", name, i);
    if (from) ck_assert_msg(from < at && !strstr(from + 1, begin), "%s: place %d", name, i);
  }
}

START_TEST(a_traced_text_is_the_text_and_stamps) {
  for (int i = 0; i < cases.n; i++) {
    const Model *model = emit_case(&cases, i);
    if (!model) continue;
    const char *name = cases.rung[i].name;
    const Emission *plain = emit_model(arena, model, model->program),
                   *traced = emit_traced(arena, model);
    ck_assert_int_gt(traced->n_stamps, 1);
    ck_assert_int_eq(plain->n_stamps, 0);
    check_marks(traced, name);
    ck_assert_msg(str_equal(bare_words(traced), bare_words(plain)),
                  "%s: more than stamps is new:\n%s\n%s", name, bare_words(traced),
                  bare_words(plain));
    ck_assert_uint_gt(strlen(bare_words(plain)), 200);
  }
}
END_TEST

// Whatever waits, and whatever is waited for, has a place; multiplications and stores have.
START_TEST(all_that_orders_is_stamped) {
  for (int i = 0; i < cases.n; i++) {
    const Model *model = emit_case(&cases, i);
    if (!model) continue;
    const Emission *traced = emit_traced(arena, model);
    int n[TIMELINE_KINDS] = {0};
    for (int s = 0; s < traced->n_stamps; s++) n[timeline_kind_of(&traced->stamp[s].stmt->op)]++;
    ck_assert_int_ge(n[TIMELINE_MULTIPLY], 1);
    ck_assert_int_ge(n[TIMELINE_STORE] + n[TIMELINE_WRITE], 1);
    bool waits = false;
    for (int l = 0; l < traced->n_lines; l++) {
      const Stmt *stmt = traced->lines[l].stmt;
      if (stmt && stmt->kind == STMT_OP && traced->lines[l].kernel == model->program->main_kernel)
        waits = waits || timeline_kind_waits(timeline_kind_of(&stmt->op));
    }
    ck_assert_int_eq(waits, n[TIMELINE_WAIT] + n[TIMELINE_MEET] > 0);
  }
}
END_TEST

// ---- the compiler -------------------------------------------------------------------------------

// One rung in 78, in CI one in 20, in `make stress` all of them: a traced text is twice as long
// as the rung's own.
START_TEST(every_traced_rung_compiles_without_a_warning) {
  for (int i = 0; has_nvrtc && i < cases.n; i++) {
    if (!stress_has_dear_turn(i, 156, 20)) continue;
    const Model *model = emit_case(&cases, i);
    const char *name = cases.rung[i].name;
    if (!model) continue;
    const Plan *plan =
        plan_from_emission(arena, emit_traced(arena, model), model->program, model->target, name);
    const CompileResult *result = compile_once(arena, plan, COMPILE_BOTH);
    ck_assert_msg(result->ok, "%s: %s\n%.2000s", name, result->error, result->log);
    ck_assert_msg(!strstr(result->log, "warning"), "%s: %s", name, result->log);
    ck_assert_msg(!strstr(result->log, "serialized") && !strstr(result->log, "setmaxnreg"),
                  "%s: %s", name, result->log);
    ck_assert_msg(strstr(result->ptx, "%clock;") && strstr(result->ptx, "%globaltimer"), "%s",
                  name);
  }
}
END_TEST

Suite *suite_stamp(void);
Suite *suite_stamp(void) {
  Suite *suite = suite_create("stamp");
  TCase *tc = tcase_create("text");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_set_timeout(tc, 300);
  tcase_add_test(tc, a_traced_text_is_the_text_and_stamps);
  tcase_add_test(tc, all_that_orders_is_stamped);
  tcase_add_test(tc, every_traced_rung_compiles_without_a_warning);
  suite_add_tcase(suite, tc);
  return suite;
}
