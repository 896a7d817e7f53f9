// Stamps: what a traced text says, that it is a text without stamps otherwise, and that NVRTC takes
// it as it takes the other.
#include <check.h>
#include <string.h>

#include "base/str.h"
#include "compile_once.h"
#include "emit_cases.h"
#include "kernels/toolchain/emit_plan.h"

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

static bool is_of_trace(const char *line, size_t n) {
  static const char *const words[] = {"stamp(trace, ", "trace_end(trace);",
                                      "trace_writer trace = "};
  const char *text = arena_strndup(arena, line, n);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strncmp(text + strspn(text, " "), words[i], strlen(words[i])) == 0) return true;
  return false;
}

// Words of the kernels, without stamps, braces and breaks of lines.
static const char *bare_words(const Emission *emission) {
  Str out = str_new(arena);
  for (int i = 0; i < emission->n_lines; i++) {
    const EmitLine *line = &emission->lines[i];
    const char *text = emission->text + line->begin;
    if (line->kernel < 0 || is_of_trace(text, line->length)) continue;
    for (size_t c = 0; c < line->length; c++)
      if (!strchr(" {}", text[c])) str_add_char(&out, text[c]);
  }
  return out.text;
}

static const char *without(const char *text, const char *part) {
  const char *at = strstr(text, part);
  ck_assert_ptr_nonnull(at);
  return arena_printf(arena, "%.*s%s", (int)(at - text), text, at + strlen(part));
}

// Begins and ends of each place: one of each, the begin first.
static void check_marks(const Emission *emission, const char *name) {
  for (int mark = 0; mark < 2 * emission->n_stamps; mark++) {
    const char *stamp = arena_printf(arena, "stamp(trace, %d, ", mark);
    const char *at = strstr(emission->text, stamp);
    ck_assert_msg(at && !strstr(at + 1, stamp), "%s: mark %d", name, mark);
    if (mark % 2 == 0) continue;
    const char *begin = arena_printf(arena, "stamp(trace, %d, ", mark - 1);
    ck_assert_msg(strstr(emission->text, begin) < at, "%s: mark %d ends first", name, mark);
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
    const char *words = without(bare_words(traced), ",trace_page*stamps,inttraced");
    ck_assert_msg(str_equal(words, bare_words(plain)), "%s: more than stamps is new", name);
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

START_TEST(every_traced_rung_compiles_without_a_warning) {
  for (int i = 0; has_nvrtc && i < cases.n; i++) {
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
    ck_assert_msg(strstr(result->ptx, "%clock64") && strstr(result->ptx, "%globaltimer"), "%s",
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
