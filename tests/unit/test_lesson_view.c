// The lesson view: reviewed screens, steps that set the session, marks, what is not told too early,
// and the place that is kept between runs.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "golden.h"
#include "stress.h"
#include "tui/app.h"
#include "tui/canvas/export.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/lesson_progress.h"
#include "tui/frame/tutor.h"
#include "tui/frame/view.h"
#include "vterm_harness.h"

static Arena *arena;
static Diags diags;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
}

static void teardown(void) { arena_free(arena); }

static Session *open_session(Canvas **canvas, int rows, int cols) {
  Session *session = explorer_open(&(SessionOptions){0}, &diags);
  ck_assert_msg(session != NULL, "%s", diags_text(arena, &diags));
  *canvas = canvas_new(arena, rows, cols, false);
  drive_frame(session, *canvas);
  return session;
}

START_TEST(a_step_sets_the_session_and_undo_leads_back) {
  Canvas *canvas;
  Session *session = open_session(&canvas, 24, 80);
  Schedule before = session->doc.now.schedule;
  ck_assert(tutor_open(session, "tiers", 2, &diags));
  const LessonStep *step = tutor_step(tutor_of(session));
  ck_assert(schedule_same(&session->doc.now.schedule, &step->schedule));
  ck_assert_int_eq(tutor_edits(session), 0);
  session_step_knob(session, KNOB_BM, 1);
  ck_assert_int_eq(tutor_edits(session), 1);
  tutor_restore(session);
  ck_assert_int_eq(tutor_edits(session), 0);
  for (int i = 0; i < 8 && session_undo(session); i++) {
  }
  ck_assert(schedule_same(&session->doc.now.schedule, &before));
  ck_assert(!tutor_open(session, "teirs", 0, &diags));
  ck_assert_pstr_eq(diags.last->nearest, "tiers");
  ck_assert(!tutor_open(session, "tiers", 99, &diags));
  explorer_close(session);
}
END_TEST

START_TEST(a_held_answer_is_not_shown) {
  Canvas *canvas;
  Session *session = open_session(&canvas, 24, 80);
  ck_assert(tutor_open(session, "tiers", 2, &diags));
  Tutor *tutor = tutor_of(session);
  tutor->run.held = true;
  view_show(session, view_find("lesson"));
  tutor_guess(session, "65536");
  ck_assert_str_eq(tutor->verdict.text, "65536: your guess is in");
  tutor_reveal(session);
  ck_assert(!tutor->run.revealed);
  drive_frame(session, canvas);
  ck_assert_ptr_null(strstr(export_text(arena, canvas), "ANSWER"));
  tutor->run.held = false;
  tutor_reveal(session);
  drive_frame(session, canvas);
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "ANSWER"));
  explorer_close(session);
}
END_TEST

START_TEST(marks_tell_right_from_looked_at) {
  Canvas *canvas;
  Session *session = open_session(&canvas, 24, 80);
  ck_assert(tutor_open(session, "tiers", 2, &diags));
  Tutor *tutor = tutor_of(session);
  session->wishes.keep_progress = false;
  tutor_guess(session, "1");
  ck_assert_int_eq(tutor->verdict.fact, FACT_IS_MORE);
  ck_assert(!tutor->run.revealed && tutor->mark[0].right == 0);
  tutor_guess(session, "65536");
  ck_assert(tutor->run.revealed && session->wishes.keep_progress);
  ck_assert_uint_eq(tutor->mark[0].right, 2);
  ck_assert(tutor_go(session, 2));
  ck_assert(!tutor->run.revealed);
  tutor_reveal(session);
  tutor_guess(session, "89");
  ck_assert_uint_eq(tutor->mark[0].right, 2);
  ck_assert_uint_eq(tutor->mark[0].shown, 4);
  explorer_close(session);
}
END_TEST

static const struct {
  const char *name, *script;
  int cols, rows;
  bool ascii;
} screens[] = {
    {"lesson_list", "keys 0\n", 80, 24, false},
    {"lesson_list_120x40", "keys 0 Down Down Down Down\n", 120, 40, false},
    {"lesson_80x24", ":lesson banks 3\n", 80, 24, false},
    {"lesson_80x24_ascii", ":lesson banks 3\n", 80, 24, true},
    {"lesson_120x40", ":lesson banks 3\n", 120, 40, false},
    {"lesson_200x60", ":lesson swizzle 4\nkeys r\n", 200, 60, false},
    {"lesson_40x12", ":lesson banks 3\nkeys PgDn\n", 40, 12, false},
    {"lesson_wrong", ":lesson banks 3\n:guess 2\n", 80, 24, false},
    {"lesson_revealed", ":lesson banks 3\nkeys r\n", 80, 24, false},
    {"lesson_revealed_120x40", ":lesson tiers 6\n:guess 19 42\n", 120, 40, false},
    {"lesson_choices", ":lesson padding 2\nkeys r\n", 80, 24, false},
    {"lesson_make", ":lesson beat 3\nkeys Enter\n", 120, 40, false},
    {"lesson_typing", ":lesson rings 6\nkeys Enter\ntype miss\n", 80, 24, false},
    {"lesson_notes", ":lesson barriers 7\nkeys t\n", 80, 24, false},
};

// At 120 columns the list tells the whole of what each lesson is about.
START_TEST(the_list_cuts_no_lesson) {
  Session *session = explorer_open(&(SessionOptions){0}, &diags);
  Canvas *canvas = canvas_new(arena, 40, 120, false);
  drive_frame(session, canvas);
  ck_assert(drive_script(session, canvas, "keys 0\n", "list", &diags));
  const char *text = export_text(arena, canvas);
  const Tutor *tutor = tutor_of(session);
  for (int i = 0; i < tutor->n_lessons; i++)
    ck_assert_msg(strstr(text, tutor->lesson[i]->about) != NULL, "%s", tutor->lesson[i]->about);
  explorer_close(session);
}
END_TEST

START_TEST(reviewed_lesson_screen) {
  Session *session = explorer_open(&(SessionOptions){.ascii = screens[_i].ascii}, &diags);
  Canvas *canvas = canvas_new(arena, screens[_i].rows, screens[_i].cols, screens[_i].ascii);
  drive_frame(session, canvas);
  bool ok = drive_script(session, canvas, screens[_i].script, screens[_i].name, &diags);
  ck_assert_msg(ok, "%s", diags_text(arena, &diags));
  while (session_idle(session)) {
  }
  drive_frame(session, canvas);
  golden_check(arena_printf(arena, "screens/%s.txt", screens[_i].name), export_text(arena, canvas));
  explorer_close(session);
}
END_TEST

// Before the answer neither the card nor a badge tells it: of every step that asks for a count, no
// number of wavefronts and no verdict is on the screen, nor is the answer with its unit.
START_TEST(the_picture_does_not_tell) {
  Canvas *canvas;
  Session *session = open_session(&canvas, 60, 200);
  ck_assert(tutor_load(session, &diags));
  view_show(session, view_find("lesson"));
  for (int i = 0; i < tutor_of(session)->n_lessons; i++)
    for (int s = 0; s < tutor_of(session)->lesson[i]->n_steps; s++) {
      if (!stress_has_turn(i + s, 9)) continue;
      ck_assert(tutor_open_at(session, i, s + 1));
      ck_assert_msg(!tutor_of(session)->error, "%s", tutor_of(session)->error);
      AskKind kind = tutor_step(tutor_of(session))->ask.kind;
      if (kind != ASK_FACT && kind != ASK_CHOICE) continue;
      drive_frame(session, canvas);
      const char *text = export_text(arena, canvas);
      // A screen of 60 x 200 is too long for a message of Check's.
      const char *where = tutor_of(session)->run.lesson->name;
      ck_assert_msg(!strstr(text, "-WAY") && !strstr(text, " \u00d72"), "%s %d: %.4000s", where,
                    s + 1, text);
      const FactValue *answer = &tutor_of(session)->facts.answer;
      bool counts = kind == ASK_FACT && *answer->unit;
      const char *told = counts ? strstr(text, fact_say(arena, answer)) : NULL;
      ck_assert_msg(!told, "%s %d: %.80s", where, s + 1, told);
    }
  explorer_close(session);
}
END_TEST

// A question is there whole on a small screen. With the answer there are its line and the picture
// that it is about, and every action of a step was understood by its view.
START_TEST(every_answer_is_shown_with_its_picture) {
  Canvas *canvas;
  Session *session = open_session(&canvas, 24, 80);
  Tutor *tutor = tutor_of(session);
  ck_assert_msg(tutor_load(session, &diags) && !tutor->trouble, "%s", tutor->trouble);
  view_show(session, view_find("lesson"));
  for (int i = 0; i < tutor->n_lessons; i++)
    for (int s = 0; s < tutor->lesson[i]->n_steps; s++) {
      if (!stress_has_turn(i + s + 1, 9)) continue;
      ck_assert(tutor_open_at(session, i, s + 1));
      const LessonStep *step = tutor_step(tutor);
      if (step->ask.kind == ASK_NOTHING) continue;
      drive_frame(session, canvas);
      const char *asked = export_text(arena, canvas);
      ck_assert_msg(!strstr(asked, "▼"), "the question is cut: %s", asked);
      tutor_reveal(session);
      ck_assert_msg(!session->prompt.message[0], "%s %d: %s", tutor->run.lesson->name, s + 1,
                    session->prompt.message);
      drive_frame(session, canvas);
      const char *text = export_text(arena, canvas);
      const View *view = &view_table[view_find(step->view)];
      ck_assert_msg(strstr(text, "ANSWER") != NULL, "%s", text);
      const char *head = arena_printf(arena, "── %s %s ─", view->key, view->title);
      ck_assert_msg(strstr(text, head) || strstr(text, "── broken: "), "%s", text);
    }
  explorer_close(session);
}
END_TEST

// The knobs that an answer is about are set, with the step as A beside them; = and the next step
// lead back, and one's own schedule is left alone.
// What can be found is listed alike for every question of it, whole, on the screen and in handouts:
// "deadlock" among the choices tells nothing.
START_TEST(choices_are_one_list) {
  Canvas *canvas;
  Session *session = open_session(&canvas, 24, 80);
  Tutor *tutor = tutor_of(session);
  ck_assert(tutor_load(session, &diags));
  view_show(session, view_find("lesson"));
  const char *list = NULL;
  int n = 0;
  for (int i = 0; i < tutor->n_lessons; i++)
    for (int s = 0; s < tutor->lesson[i]->n_steps; s++) {
      const Ask *ask = &tutor->lesson[i]->step[s].ask;
      if (ask->kind != ASK_FACT || strncmp(ask->fact, "finding ", 8) != 0) continue;
      ck_assert(tutor_open_at(session, i, s + 1));
      const char *words = fact_words_text(arena, &tutor->facts.answer, ")");
      if (list) ck_assert_str_eq(words, list);
      list = words;
      drive_frame(session, canvas);
      const char *text = export_text(arena, canvas);
      ck_assert_msg(strstr(text, "a)nothing  b)wrong cells  c)race"), "%s", text);
      ck_assert_msg(strstr(text, "m)deadlock") && strstr(text, "o)unwritten"), "%s", text);
      n++;
    }
  ck_assert_int_gt(n, 9);
  ck_assert(tutor_open(session, "barriers", 9, &diags));
  ck_assert(drive_keys(session, canvas, "Enter Tab Tab Tab", &diags));
  ck_assert_str_eq(session->prompt.field.text, "race");
  ck_assert(drive_keys(session, canvas, "Enter", &diags));
  ck_assert_str_eq(tutor->verdict.text, "race: no");
  ck_assert(drive_keys(session, canvas, "Enter M Enter", &diags));
  ck_assert_str_eq(tutor->verdict.text, "deadlock: right");
  explorer_close(session);
}
END_TEST

START_TEST(the_answer_is_shown_beside_the_step) {
  Canvas *canvas;
  Session *session = open_session(&canvas, 40, 120);
  ck_assert(tutor_open(session, "padding", 2, &diags));
  const Schedule asked = tutor_step(tutor_of(session))->schedule;
  ck_assert(schedule_same(&session->doc.now.schedule, &asked) && !session->doc.comparing);
  tutor_guess(session, "b");
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_PAD_SMEM], 2);
  ck_assert(session->doc.comparing && schedule_same(&session->doc.then.schedule, &asked));
  ck_assert_int_eq(tutor_edits(session), 0);
  ck_assert_int_eq(session->at.change, CHANGE_GONE);
  session_step_knob(session, KNOB_PAD_SMEM, 1);
  ck_assert_int_eq(tutor_edits(session), 1);
  tutor_restore(session);
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_PAD_SMEM], 2);
  ck_assert(tutor_go(session, 0));
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_PAD_SMEM], 0);
  ck_assert(!session->doc.comparing);
  ck_assert(tutor_open(session, "banks", 7, &diags));
  session_set_knob(session, KNOB_CELL_GROUP, 1);
  tutor_guess_schedule(session);
  ck_assert(tutor_of(session)->run.revealed);
  ck_assert_int_eq(session->doc.now.schedule.value[KNOB_CELL_GROUP], 1);
  explorer_close(session);
}
END_TEST

// What a step names stays selected whatever its line would select, and "last" is the last.
START_TEST(the_highlight_is_what_is_named) {
  Canvas *canvas;
  Session *session = open_session(&canvas, 40, 120);
  ck_assert(tutor_open(session, "registers", 4, &diags));
  tutor_reveal(session);
  ck_assert_int_eq(session->at.knob, KNOB_FM);
  ck_assert(tutor_open(session, "barriers", 1, &diags));
  view_show(session, view_find("loops"));
  drive_frame(session, canvas);
  const ViewBody *loops = view_table[session->at.view].body;
  int at = session_view_state(session)->cursor, n = loops->count(session);
  ck_assert_ptr_nonnull(strstr(loops->line(session, at), "barrier"));
  for (int i = at + 1; i < n; i++) ck_assert_ptr_null(strstr(loops->line(session, i), "barrier"));
  explorer_close(session);
}
END_TEST

START_TEST(a_wrong_guess_is_helped) {
  Canvas *canvas;
  Session *session = open_session(&canvas, 24, 80);
  ck_assert(tutor_open(session, "banks", 3, &diags));
  const char *hint = tutor_of(session)->facts.hint;
  view_show(session, view_find("lesson"));
  drive_frame(session, canvas);
  ck_assert_ptr_null(strstr(export_text(arena, canvas), hint));
  tutor_guess(session, "2");
  drive_frame(session, canvas);
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), hint));
  tutor_guess(session, "4");
  drive_frame(session, canvas);
  ck_assert_ptr_null(strstr(export_text(arena, canvas), hint));
  explorer_close(session);
}
END_TEST

static const Lesson *lesson_that_does(const Tutor *tutor, const char *view, const char *action) {
  const char *text =
      arena_printf(arena,
                   "{\"name\":\"l\",\"title\":\"t\",\"about\":\"a\",\"steps\":[{\"title\":\"s\","
                   "\"text\":[\"t\"],"
                   "\"rung\":\"hgemm/"
                   "swizzle\",\"compare\":\"SWIZZLE=0\",\"view\":\"%s\",\"do\":[\"%s\",\"%s\"]}]}",
                   view, action, action);
  return lesson_read(arena, text, strlen(text), "l.json", &tutor->world, &diags);
}

// Every action of every view, twice, with and without an argument, is survived by the screen, and
// the lesson is still what is shown.
// Each third action, or so, in `make stress` all of them.
START_TEST(a_step_may_do_whatever_its_view_can) {
  static const char *const arguments[] = {"", " 3", " x y"};
  Canvas *canvas;
  Session *session = open_session(&canvas, 24, 80);
  Tutor *tutor = tutor_of(session);
  const char *views[SESSION_VIEWS_MAX];
  int n_views = tutor_views(views), n_done = 0;
  ck_assert(tutor_load(session, &diags));
  view_show(session, view_find("lesson"));
  for (int v = 0; v < n_views; v++) {
    const ViewBody *body = view_table[view_find(views[v])].body;
    for (int i = 0; i < body->n_actions * 3; i++) {
      if (!stress_has_turn(i + v, 12)) continue;
      const char *action = arena_printf(arena, "%s%s", body->actions[i / 3].name, arguments[i % 3]);
      tutor->lesson[tutor->n_lessons] = lesson_that_does(tutor, views[v], action);
      ck_assert_msg(tutor->lesson[tutor->n_lessons++] != NULL, "%s", diags_text(arena, &diags));
      ck_assert(tutor_open_at(session, tutor->n_lessons - 1, 1));
      drive_frame(session, canvas);
      ck_assert_msg(session->at.view == view_find("lesson"), "%s leaves the lesson", action);
      tutor->n_lessons--;
      ck_assert_msg(session->prompt.kind == PROMPT_NONE, "%s asks for something", action);
      n_done++;
    }
  }
  ck_assert_int_gt(n_done, stress_part(50, 2));
  explorer_close(session);
}
END_TEST

// What was said of a schedule goes when a knob is turned.
START_TEST(a_verdict_is_of_what_is_shown) {
  Canvas *canvas;
  Session *session = open_session(&canvas, 24, 80);
  ck_assert(tutor_open(session, "banks", 7, &diags));
  view_show(session, view_find("lesson"));
  tutor_guess_schedule(session);
  drive_frame(session, canvas);
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "not yet: the task is less"));
  session_set_knob(session, KNOB_FM, 4);
  drive_frame(session, canvas);
  ck_assert_ptr_null(strstr(export_text(arena, canvas), "not yet: the task is less"));
  tutor_guess_schedule(session);
  drive_frame(session, canvas);
  ck_assert_ptr_nonnull(strstr(export_text(arena, canvas), "wavefronts: "));
  explorer_close(session);
}
END_TEST

// From one step to the next, the key that a class presses all day.
START_TEST(every_step_of_every_lesson_by_keys) {
  Canvas *canvas;
  Session *session = open_session(&canvas, 24, 80);
  ck_assert(tutor_load(session, &diags));
  for (int i = 0; i < tutor_of(session)->n_lessons; i++) {
    if (!stress_has_turn(i, 9)) continue;
    ck_assert(tutor_open_at(session, i, 1));
    view_show(session, view_find("lesson"));
    int n = tutor_of(session)->run.lesson->n_steps;
    for (int s = 0; s < n; s++) {
      drive_frame(session, canvas);
      ck_assert_int_eq(tutor_of(session)->run.step, s);
      ck_assert(drive_keys(session, canvas, "r Down Up PgDn Right", &diags));
    }
    ck_assert(strstr(session->prompt.message, "last step"));
  }
  explorer_close(session);
}
END_TEST

// ---- progress -----------------------------------------------------------------------------------

static const char *make_folder(void) {
  char *folder = arena_strdup(arena, "/tmp/gemmview-lesson-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  return folder;
}

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  ck_assert_ptr_nonnull(file);
  ck_assert_int_ge(fputs(text, file), 0);
  ck_assert_int_eq(fclose(file), 0);
}

START_TEST(marks_come_back) {
  Canvas *canvas;
  Session *session = open_session(&canvas, 24, 80);
  const char *folder = make_folder(), *path = arena_printf(arena, "%s/a/b/lessons.json", folder);
  ck_assert(tutor_load(session, &diags));
  Tutor *tutor = tutor_of(session);
  ck_assert(progress_load(tutor, path, &diags));
  tutor->mark[0].right = 6;
  tutor->mark[0].shown = 8;
  tutor->mark[3].step = 4;
  ck_assert_pstr_eq(progress_save(arena, tutor, path), NULL);
  tutor->mark[0].right = tutor->mark[0].shown = 0;
  tutor->mark[3].step = 0;
  ck_assert_msg(progress_load(tutor, path, &diags), "%s", diags_text(arena, &diags));
  ck_assert_uint_eq(tutor->mark[0].right, 6);
  ck_assert_uint_eq(tutor->mark[0].shown, 8);
  ck_assert_int_eq(tutor->mark[3].step, 4);
  ck_assert_ptr_nonnull(progress_save(arena, tutor, "/dev/null/none/lessons.json"));
  explorer_close(session);
}
END_TEST

// The marks of a lesson that is not here now are still there when it is back.
START_TEST(marks_of_other_lessons_are_kept) {
  Canvas *canvas;
  Session *session = open_session(&canvas, 24, 80);
  const char *path = arena_printf(arena, "%s/lessons.json", make_folder());
  const char *own = "{\"name\":\"own\",\"step\":3,\"right\":[1],\"shown\":[2]}";
  write_file(path, arena_printf(arena, "{\"schema\":\"gemmview/1\",\"lessons\":[%s]}", own));
  ck_assert(tutor_load(session, &diags));
  for (int i = 0; i < 2; i++) {
    ck_assert_msg(progress_load(tutor_of(session), path, &diags), "%s", diags_text(arena, &diags));
    tutor_of(session)->mark[0].right |= 1U << i;
    ck_assert_pstr_eq(progress_save(arena, tutor_of(session), path), NULL);
  }
  char text[512] = "";
  FILE *file = fopen(path, "rb");
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
  fclose(file);
  ck_assert_msg(strstr(text, own) && strstr(text, "\"right\":[1,2]"), "%s", text);
  // What is no file of marks has nothing to keep.
  write_file(path, "{\"lessons\":[{\"name\":7},3,{}]}");
  ck_assert_pstr_eq(progress_save(arena, tutor_of(session), path), NULL);
  ck_assert(progress_load(tutor_of(session), path, &diags));
  explorer_close(session);
}
END_TEST

static const char *const bad_marks[] = {
    "{",
    "{\"lessons\":[{\"name\":\"tiers\",\"step\":0,\"right\":[],\"shown\":[]}]}",
    "{\"lessons\":[{\"name\":\"tiers\",\"step\":1,\"right\":[99],\"shown\":[]}]}",
    "{\"lessons\":[{\"name\":\"tiers\",\"step\":1,\"shown\":[]}]}",
    "{\"lessons\":[{\"name\":\"tiers\",\"step\":1,\"right\":[],\"shown\":[],\"x\":1}]}",
    "{\"lessons\":{}}",
};

START_TEST(bad_marks_are_told_and_change_nothing) {
  Canvas *canvas;
  Session *session = open_session(&canvas, 24, 80);
  const char *path = arena_printf(arena, "%s/lessons.json", make_folder());
  ck_assert(tutor_load(session, &diags));
  tutor_of(session)->mark[0].right = 6;
  write_file(path, bad_marks[_i]);
  ck_assert(!progress_load(tutor_of(session), path, &diags));
  ck_assert_int_ge(diags.count, 1);
  ck_assert_uint_eq(tutor_of(session)->mark[0].right, 6);
  explorer_close(session);
}
END_TEST

static int run_explorer(void *argument) {
  Diags found = diags_new(arena);
  return (int)app_run(argument, &found);
}

// The name that is nearest outlives the lessons it was found among.
START_TEST(a_misspelled_lesson_has_its_nearest_name) {
  AppOptions options = {.lesson = "odrer", .role = CLASS_TEACHER};
  ck_assert_int_eq(app_run(&options, &diags), APP_FAILED);
  ck_assert_str_eq(diags.last->nearest, "order");
}
END_TEST

START_TEST(the_explorer_keeps_the_place) {
  setenv("XDG_STATE_HOME", make_folder(), 1);
  AppOptions options = {.lesson = "banks", .lesson_step = 3, .terminal = {.color = "256"}};
  VtEnv env = {.term = "xterm-256color"};
  VtProgram *p = vt_start(24, 80, env, run_explorer, &options);
  vt_expect(p, "banks  3/7");
  vt_keys(p, "Enter");
  vt_send(p, "4\r", 2);
  vt_expect(p, "4: right");
  vt_keys(p, "Right Right");
  vt_expect(p, "banks  5/7");
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  ck_assert(vt_restored(p));
  vt_expect(p, "gemmview lesson banks --at 5");
  vt_finish(p);
  options = (AppOptions){.lesson = "", .terminal = {.color = "256"}};
  p = vt_start(24, 80, env, run_explorer, &options);
  vt_expect(p, "1 of 7 right");
  vt_keys(p, "Down Down Down Enter");
  vt_expect(p, "banks  5/7");
  vt_keys(p, "q");
  ck_assert(vt_wait_end(p));
  vt_finish(p);
  unsetenv("XDG_STATE_HOME");
}
END_TEST

// The broken line is a line of a diff, before the answer and after it, on the smallest full screen;
// of the first step both barriers are there.
START_TEST(what_is_broken_is_a_diff) {
  Canvas *canvas;
  Session *session = open_session(&canvas, 24, 80);
  ck_assert(tutor_open(session, "barriers", 1, &diags));
  view_show(session, view_find("lesson"));
  drive_frame(session, canvas);
  const char *text = export_text(arena, canvas);
  // The first column says where lines are left out.
  const char *gone = strstr(text, "-    barrier\n"), *kept = strstr(text, "     barrier\n");
  ck_assert_msg(gone && kept, "%s", text);
  int n = 0;
  for (int step = 0; tutor_go(session, step); step++) {
    const char *fact = tutor_step(tutor_of(session))->ask.fact;
    bool broken = fact && str_starts(fact, "finding ") && !str_equal(fact, "finding intact");
    for (int shown = 0; broken && shown < 2; shown++) {
      if (shown) tutor_reveal(session);
      drive_frame(session, canvas);
      text = export_text(arena, canvas);
      const char *stage = strstr(text, "── broken: ");
      ck_assert_msg(stage != NULL, "step %d", step + 1);
      ck_assert_msg(strstr(stage, "- ") != NULL, "step %d shown %d", step + 1, shown);
      n++;
    }
  }
  ck_assert_int_eq(n, 22);
  explorer_close(session);
}
END_TEST

Suite *suite_lesson_view(void);
Suite *suite_lesson_view(void) {
  Suite *suite = suite_create("lesson_view");
  TCase *tcase = tcase_create("lesson_view");
  tcase_set_timeout(tcase, 120);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, a_step_sets_the_session_and_undo_leads_back);
  tcase_add_test(tcase, a_held_answer_is_not_shown);
  tcase_add_test(tcase, marks_tell_right_from_looked_at);
  tcase_add_loop_test(tcase, reviewed_lesson_screen, 0, sizeof screens / sizeof *screens);
  tcase_add_test(tcase, the_picture_does_not_tell);
  tcase_add_test(tcase, every_answer_is_shown_with_its_picture);
  tcase_add_test(tcase, choices_are_one_list);
  tcase_add_test(tcase, the_list_cuts_no_lesson);
  tcase_add_test(tcase, the_answer_is_shown_beside_the_step);
  tcase_add_test(tcase, the_highlight_is_what_is_named);
  tcase_add_test(tcase, a_wrong_guess_is_helped);
  tcase_add_test(tcase, what_is_broken_is_a_diff);
  tcase_add_test(tcase, a_step_may_do_whatever_its_view_can);
  tcase_add_test(tcase, a_verdict_is_of_what_is_shown);
  tcase_add_test(tcase, every_step_of_every_lesson_by_keys);
  tcase_add_test(tcase, marks_come_back);
  tcase_add_test(tcase, marks_of_other_lessons_are_kept);
  tcase_add_loop_test(tcase, bad_marks_are_told_and_change_nothing, 0,
                      sizeof bad_marks / sizeof *bad_marks);
  tcase_add_test(tcase, a_misspelled_lesson_has_its_nearest_name);
  tcase_add_test(tcase, the_explorer_keeps_the_place);
  suite_add_tcase(suite, tcase);
  return suite;
}
