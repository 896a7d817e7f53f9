// A class: teacher and followers in one process, and both as programs in front of a terminal.
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "classroom_harness.h"
#include "golden.h"
#include "tui/app.h"
#include "tui/canvas/export.h"
#include "tui/frame/class_socket.h"
#include "tui/frame/classroom.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/tutor.h"
#include "tui/frame/view.h"
#include "vterm_harness.h"

// ---- the room ----------------------------------------------------------------------------------

// Ctrl-Z holds a class up: its queue fills, and a second teacher once took its socket away.
START_TEST(a_suspended_class_keeps_its_room) {
  const char *path = arena_printf(class_arena, "%s/class-banks.sock", class_folder);
  int door = class_socket_listen(path, false, &class_diags), waiting[64], n = 0;
  ck_assert_int_ge(door, 0);
  while (n < 64 && (waiting[n] = class_socket_connect(path)) >= 0) n++;
  ck_assert_int_lt(n, 64);
  ck_assert_int_eq(class_socket_listen(path, false, &class_diags), -1);
  ck_assert_ptr_nonnull(strstr(class_diags.first->text, "a class of this name is open already"));
  ck_assert_uint_ne(class_socket_node(path), 0);
  while (n > 0) close(waiting[--n]);
  close(door);
}
END_TEST

START_TEST(a_class_takes_away_its_own_socket_only) {
  const char *path = arena_printf(class_arena, "%s/class-banks.sock", class_folder);
  int first = class_socket_listen(path, false, &class_diags);
  ino_t node = class_socket_node(path);
  ck_assert_int_eq(rename(path, arena_printf(class_arena, "%s/old", class_folder)), 0);
  int second = class_socket_listen(path, false, &class_diags);
  ck_assert(first >= 0 && second >= 0);
  class_socket_leave(path, node);
  ck_assert_int_eq(access(path, F_OK), 0);
  class_socket_leave(path, class_socket_node(path));
  ck_assert_int_ne(access(path, F_OK), 0);
  close(first), close(second);
}
END_TEST

// ---- a class ------------------------------------------------------------------------------------

START_TEST(followers_see_what_the_teacher_shows) {
  End end[] = {end_teach("banks", 3), end_join("banks", "ana"), end_join(NULL, "ben")};
  ends_settle(end, 3);
  ck_assert_int_eq(end_state(&end[0])->n_here, 2);
  ck_assert_str_eq(end_run(&end[1])->lesson->name, "banks");
  ck_assert_int_eq(end_run(&end[1])->step, 2);
  ck_assert(end_run(&end[1])->held && !end_run(&end[0])->held);
  tutor_guess(end[1].session, "4");
  tutor_guess(end[2].session, "16");
  ends_settle(end, 3);
  ck_assert_int_eq(end_state(&end[0])->n_guessed, 2);
  ck_assert_int_eq(end_state(&end[0])->n_rows, 2);
  ck_assert(!end_run(&end[1])->revealed);
  ck_assert_ptr_nonnull(strstr(end_screen(&end[1]), "your guess is in"));
  ck_assert_ptr_null(strstr(end_screen(&end[1]), "4: right"));
  tutor_guess(end[2].session, " 4 ");
  ends_settle(end, 3);
  ck_assert_int_eq(end_state(&end[0])->n_rows, 1);
  ck_assert_int_eq(end_state(&end[0])->row[0].count, 2);
  tutor_guess(end[2].session, "8");
  ends_settle(end, 3);
  tutor_reveal(end[0].session);
  ends_settle(end, 3);
  ck_assert(end_run(&end[1])->revealed && end_run(&end[2])->revealed);
  ck_assert_ptr_nonnull(strstr(end_screen(&end[1]), "4: right"));
  ck_assert_ptr_nonnull(strstr(end_screen(&end[2]), "8: no, it is less"));
  ck_assert_ptr_nonnull(strstr(end_screen(&end[2]), "ANSWER 4 wavefronts"));
  ck_assert_uint_eq(tutor_of(end[1].session)->mark[3].right, 4);
  ck_assert_uint_eq(tutor_of(end[2].session)->mark[3].right, 0);
  ck_assert_uint_eq(tutor_of(end[2].session)->mark[3].shown, 4);
  for (int i = 0; i < 3; i++) end_leave(&end[i]);
}
END_TEST

START_TEST(steps_and_knobs_are_pushed) {
  End end[] = {end_teach("tiers", 1), end_join("tiers", "ana")};
  ends_settle(end, 2);
  ck_assert(tutor_go(end[0].session, 4));
  ends_settle(end, 2);
  ck_assert_int_eq(end_run(&end[1])->step, 4);
  session_set_knob(end[0].session, KNOB_FM, 4);
  ends_settle(end, 2);
  ck_assert_int_eq(end[1].session->doc.now.schedule.value[KNOB_FM], 4);
  // A follower's own knobs stay until the teacher turns one.
  session_set_knob(end[1].session, KNOB_FN, 2);
  ends_settle(end, 2);
  ck_assert_int_eq(end[1].session->doc.now.schedule.value[KNOB_FN], 2);
  ck_assert(tutor_open(end[0].session, "banks", 2, &class_diags));
  ends_settle(end, 2);
  ck_assert_str_eq(end_run(&end[1])->lesson->name, "banks");
  ck_assert(schedule_same(&end[0].session->doc.now.schedule, &end[1].session->doc.now.schedule));
  // Half a guess does not become one of the next step.
  view_show(end[1].session, view_find("lesson"));
  drive_frame(end[1].session, end[1].canvas);
  ck_assert(drive_keys(end[1].session, end[1].canvas, "Enter 4", &class_diags));
  ck_assert_str_eq(end[1].session->prompt.field.text, "4");
  ck_assert(tutor_go(end[0].session, 3));
  ends_settle(end, 2);
  ck_assert_str_eq(end[1].session->prompt.field.text, "");
  ck_assert(drive_keys(end[1].session, end[1].canvas, "8 Enter", &class_diags));
  ck_assert_str_eq(end_run(&end[1])->guess, "8");
  // Who looks elsewhere is told, and stays there.
  view_show(end[1].session, view_find("banks"));
  ck_assert(tutor_go(end[0].session, 2));
  ends_settle(end, 2);
  ck_assert_int_eq(end[1].session->at.view, view_find("banks"));
  ck_assert_str_eq(end[1].session->prompt.message, "the class is at banks, step 3; 0 goes there");
  view_show(end[1].session, view_find("lesson"));
  // The pages are the teacher's.
  view_run(end[1].session, "step-next", NULL);
  ck_assert_int_eq(end_run(&end[1])->step, 2);
  for (int i = 0; i < 2; i++) end_leave(&end[i]);
}
END_TEST

START_TEST(guesses_of_another_step_do_not_count) {
  End end[] = {end_teach("banks", 1), end_join("banks", "ana")};
  ends_settle(end, 2);
  tutor_guess(end[1].session, "1");
  ends_settle(end, 2);
  ck_assert_int_eq(end_state(&end[0])->n_guessed, 1);
  ck_assert(tutor_go(end[0].session, 1));
  ends_settle(end, 2);
  ck_assert_int_eq(end_state(&end[0])->n_guessed, 0);
  tutor_reveal(end[0].session);
  tutor_guess(end[1].session, "7");
  ends_settle(end, 2);
  ck_assert_int_eq(end_state(&end[0])->n_guessed, 0);
  for (int i = 0; i < 2; i++) end_leave(&end[i]);
}
END_TEST

START_TEST(making_is_judged_at_once_and_counted) {
  End end[] = {end_teach("banks", 7), end_join("banks", "ana"), end_join("banks", "ben")};
  ends_settle(end, 3);
  ck_assert(!end_run(&end[1])->held);
  tutor_guess_schedule(end[1].session);
  session_set_knob(end[2].session, KNOB_CELL_GROUP, 1);
  tutor_guess_schedule(end[2].session);
  ck_assert(end_run(&end[2])->revealed && !end_run(&end[1])->revealed);
  ends_settle(end, 3);
  ck_assert_int_eq(end_state(&end[0])->n_rows, 2);
  ck_assert_str_eq(end_state(&end[0])->row[0].guess, "not yet");
  ck_assert_str_eq(end_state(&end[0])->row[1].guess, "passed");
  ck_assert(end_state(&end[0])->row[1].right);
  // What is being made is not taken away, until the teacher shows a schedule.
  session_set_knob(end[0].session, KNOB_FM, 4);
  ends_settle(end, 3);
  ck_assert_int_eq(end[1].session->doc.now.schedule.value[KNOB_FM], 8);
  tutor_reveal(end[0].session);
  ends_settle(end, 3);
  ck_assert(end_run(&end[1])->revealed);
  ck_assert_int_eq(end[1].session->doc.now.schedule.value[KNOB_FM], 4);
  for (int i = 0; i < 3; i++) end_leave(&end[i]);
}
END_TEST

// The answer's own knobs come with it, to who was there and to who comes late; then the teacher's.
START_TEST(an_answer_brings_its_knobs) {
  End end[] = {end_teach("padding", 2), end_join("padding", "ana"), {0}};
  ends_settle(end, 2);
  session_set_knob(end[1].session, KNOB_FM, 4);
  tutor_reveal(end[0].session);
  ends_settle(end, 2);
  ck_assert_int_eq(end[0].session->doc.now.schedule.value[KNOB_PAD_SMEM], 2);
  end[2] = end_join("padding", "late");
  ends_settle(end, 3);
  for (int i = 1; i < 3; i++) {
    ck_assert(schedule_same(&end[i].session->doc.now.schedule, &end[0].session->doc.now.schedule));
    ck_assert(end_run(&end[i])->revealed && end[i].session->doc.comparing);
  }
  session_set_knob(end[0].session, KNOB_PAD_SMEM, 3);
  ends_settle(end, 3);
  ck_assert_int_eq(end[2].session->doc.now.schedule.value[KNOB_PAD_SMEM], 3);
  for (int i = 0; i < 3; i++) end_leave(&end[i]);
}
END_TEST

// "4" and "4 wavefronts" are one row; and without a teacher nobody is kept from going on.
START_TEST(equal_guesses_are_one_and_who_is_alone_goes_on) {
  End end[] = {end_teach("banks", 3), end_join("banks", "ana"), end_join("banks", "ben")};
  ends_settle(end, 3);
  tutor_guess(end[1].session, "2 wavefronts");
  tutor_guess(end[2].session, "2.0");
  ends_settle(end, 3);
  ck_assert_int_eq(end_state(&end[0])->n_rows, 1);
  ck_assert_str_eq(end_state(&end[0])->row[0].guess, "2");
  tutor_reveal(end[1].session);
  ck_assert(!end_run(&end[1])->revealed);
  end_leave(&end[0]);
  classroom_poll(end[1].class);
  ck_assert(!end_state(&end[1])->connected);
  tutor_guess(end[1].session, "4");
  ck_assert(end_run(&end[1])->revealed);
  view_run(end[1].session, "step-next", NULL);
  ck_assert_int_eq(end_run(&end[1])->step, 3);
  for (int i = 1; i < 3; i++) end_leave(&end[i]);
}
END_TEST

START_TEST(who_is_dropped_comes_back) {
  End teacher = end_teach("banks", 3), ana = end_join("banks", "ana");
  End end[] = {teacher, ana};
  ends_settle(end, 2);
  tutor_guess(ana.session, "2");
  ends_settle(end, 2);
  ck_assert_int_eq(end_state(&teacher)->n_guessed, 1);
  end_leave(&teacher);
  classroom_poll(ana.class);
  ck_assert(!end_state(&ana)->connected);
  ck_assert_ptr_nonnull(strstr(end_screen(&ana), "the teacher is away"));
  int64_t now = 100000;
  ck_assert_int_eq(classroom_tick(ana.class, now), CLASS_RETRY_MS);
  End again[] = {end_teach("banks", 3), ana};
  classroom_tick(ana.class, now + 2 * CLASS_RETRY_MS);
  ends_settle(again, 2);
  ck_assert(end_state(&ana)->connected);
  ck_assert_int_eq(end_state(&again[0])->n_here, 1);
  ck_assert_int_eq(end_state(&again[0])->n_guessed, 1);
  for (int i = 0; i < 2; i++) end_leave(&again[i]);
}
END_TEST

// ---- rooms --------------------------------------------------------------------------------------

static bool said(const char *text) {
  return class_diags.last && strstr(class_diags.last->text, text) != NULL;
}

START_TEST(rooms_are_refused_with_the_reason) {
  End end = end_open(), teacher = end_teach("banks", 1);
  bool shared;
  ck_assert_ptr_null(classroom_join(class_arena, end.session, "bnaks", "ana", &class_diags));
  ck_assert(said("no class \"bnaks\" is open here"));
  ck_assert_pstr_eq(class_diags.last->nearest, "banks");
  ck_assert_ptr_null(classroom_teach(class_arena, end.session, "banks", &class_diags));
  ck_assert(said("a class of this name is open already"));
  ck_assert_ptr_null(class_socket_path(class_arena, "../x", &shared, &class_diags));
  ck_assert(said("not a name for a class"));
  ck_assert_ptr_null(class_socket_path(class_arena, "a-name-that-is-longer-than-thirty-two",
                                       &shared, &class_diags));
  end_leave(&teacher);
  ck_assert_ptr_null(classroom_join(class_arena, end.session, NULL, "ana", &class_diags));
  ck_assert(said("no class is open here"));
  ck_assert_int_eq(chmod(class_folder, 0777), 0);
  ck_assert_ptr_null(classroom_teach(class_arena, end.session, "banks", &class_diags));
  ck_assert(said("everybody can write"));
  ck_assert_int_eq(chmod(class_folder, 0700), 0);
  char longer[sizeof class_folder + 102];
  snprintf(longer, sizeof longer, "%s/%0100d", class_folder, 1);
  ck_assert_int_eq(mkdir(longer, 0700), 0);
  setenv("GEMMVIEW_CLASSROOM", longer, 1);
  ck_assert_ptr_null(class_socket_path(class_arena, "banks", &shared, &class_diags));
  ck_assert(said("too long for a socket"));
  explorer_close(end.session);
}
END_TEST

static int n_pipes;
static void count_pipe(int signal) { (void)signal, n_pipes++; }

// join without a name looks into every room and leaves; a teacher outlives what was sent to that.
START_TEST(whoever_only_looks_in_does_no_harm) {
  struct sigaction count = {.sa_handler = count_pipe}, before;
  sigaction(SIGPIPE, &count, &before);
  End end[] = {end_teach("banks", 3), end_join(NULL, "ana")};
  ends_settle(end, 2);
  const char **rooms = class_socket_list(class_arena, &class_diags);
  ck_assert_pstr_eq(rooms[0], "banks");
  ends_settle(end, 2);
  ck_assert(tutor_go(end[0].session, 3));
  classroom_tick(end[0].class, 0);
  classroom_close(end[1].class);
  explorer_close(end[1].session);
  classroom_tick(end[0].class, 1);
  ck_assert(tutor_go(end[0].session, 2));
  classroom_tick(end[0].class, 2);
  sigaction(SIGPIPE, &before, NULL);
  ck_assert_int_eq(n_pipes, 0);
  end_leave(&end[0]);
}
END_TEST

START_TEST(a_dead_socket_is_replaced_and_closed_to_strangers) {
  bool shared;
  const char *path = class_socket_path(class_arena, "banks", &shared, &class_diags);
  ck_assert(shared);
  int fd = class_socket_listen(path, shared, &class_diags);
  ck_assert_int_ge(fd, 0);
  close(fd);
  struct stat about;
  ck_assert_int_eq(stat(path, &about), 0);
  ck_assert_int_eq(about.st_mode & 0777, 0660);
  End teacher = end_teach("banks", 1);
  end_leave(&teacher);
  ck_assert_int_ne(stat(path, &about), 0);
}
END_TEST

// ---- screens ------------------------------------------------------------------------------------

START_TEST(the_teacher_sees_the_guesses) {
  static const char *const guesses[] = {"4", "16", "4", "8", "4", "2", "16"};
  enum { N = sizeof guesses / sizeof *guesses };
  End end[N + 1] = {end_teach("banks", 3)};
  for (int i = 0; i < N; i++) end[i + 1] = end_join("banks", "somebody");
  ends_settle(end, N + 1);
  for (int i = 0; i < N; i++) tutor_guess(end[i + 1].session, guesses[i]);
  ends_settle(end, N + 1);
  golden_check("screens/class_teacher.txt", end_screen(&end[0]));
  golden_check("screens/class_follower.txt", end_screen(&end[1]));
  tutor_reveal(end[0].session);
  ends_settle(end, N + 1);
  golden_check("screens/class_teacher_revealed.txt", end_screen(&end[0]));
  golden_check("screens/class_follower_revealed.txt", end_screen(&end[2]));
  for (int i = 0; i < N + 1; i++) end_leave(&end[i]);
}
END_TEST

// Who is here, who has guessed, who is missing; what they guessed only with the answer.
START_TEST(the_teacher_knows_names_before_guesses) {
  const char *file = arena_printf(class_arena, "%s/results.csv", class_folder);
  End end[] = {end_teach("banks", 3), end_join("banks", "ana"), end_join("banks", "ben \"x\""),
               end_join("banks", "cem")};
  ck_assert(classroom_keep_results(end[0].class, file, &class_diags));
  ends_settle(end, 4);
  tutor_guess(end[1].session, "4");
  tutor_guess(end[2].session, "16");
  ends_settle(end, 4);
  end_leave(&end[3]);
  ends_settle(end, 3);
  const ClassState *state = end_state(&end[0]);
  ck_assert_str_eq(state->guessed, "ana, ben \"x\"");
  ck_assert_str_eq(state->waiting, "");
  ck_assert_str_eq(state->gone, "cem");
  const char *before = end_screen(&end[0]);
  ck_assert_msg(strstr(before, "guessed: ana, ben \"x\"") && strstr(before, "missing: cem"), "%s",
                before);
  ck_assert_msg(!strstr(before, "█ 1"), "%s", before);
  end[3] = end_join("banks", "cem");
  ends_settle(end, 4);
  ck_assert_str_eq(state->gone, "");
  ck_assert_str_eq(state->waiting, "cem");
  tutor_reveal(end[0].session);
  ends_settle(end, 4);
  ck_assert_ptr_nonnull(strstr(end_screen(&end[0]), "█ 1"));
  ck_assert_ptr_nonnull(strstr(end_screen(&end[0]), "did not guess: cem"));
  char text[512];
  FILE *in = fopen(file, "r");
  ck_assert_ptr_nonnull(in);
  text[fread(text, 1, sizeof text - 1, in)] = '\0';
  fclose(in);
  ck_assert(strncmp(text, "time,lesson,step,name,guess,right\n", 34) == 0);
  ck_assert_msg(strstr(text, ",\"banks\",3,\"ana\",\"4\",yes\n") != NULL, "%s", text);
  ck_assert_msg(strstr(text, ",3,\"ben \"\"x\"\"\",\"16\",no\n") != NULL, "%s", text);
  ck_assert_msg(strstr(text, ",3,\"cem\",\"\",\n") != NULL, "%s", text);
  for (int i = 0; i < 4; i++) end_leave(&end[i]);
}
END_TEST

// Whoever has another home, and no class_folder in common, is told what to do.
START_TEST(who_finds_no_class_is_told_the_way_out) {
  End end = end_open();
  unsetenv("GEMMVIEW_CLASSROOM");
  setenv("XDG_RUNTIME_DIR", class_folder, 1);
  ck_assert_ptr_null(classroom_join(class_arena, end.session, "banks", "ana", &class_diags));
  const char *text = diags_text(class_arena, &class_diags);
  ck_assert_msg(
      strstr(text, "gemmview classroom init FOLDER") && strstr(text, "GEMMVIEW_CLASSROOM"), "%s",
      text);
  class_diags = diags_new(class_arena);
  ck_assert_ptr_null(classroom_join(class_arena, end.session, NULL, "ana", &class_diags));
  ck_assert(strstr(diags_text(class_arena, &class_diags), "only your own classes are in") != NULL);
  unsetenv("XDG_RUNTIME_DIR");
  explorer_close(end.session);
}
END_TEST

static int run_explorer(void *argument) {
  Diags found = diags_new(class_arena);
  return (int)app_run(argument, &found);
}

START_TEST(two_terminals_one_lesson) {
  AppOptions teacher = {
      .lesson = "banks", .lesson_step = 2, .role = CLASS_TEACHER, .terminal = {.color = "256"}};
  AppOptions follower = {.lesson = "",
                         .role = CLASS_FOLLOWER,
                         .room = "banks",
                         .who = "ana",
                         .terminal = {.color = "256"}};
  VtEnv env = {.term = "xterm-256color"};
  VtProgram *t = vt_start(24, 80, env, run_explorer, &teacher);
  vt_expect(t, "CLASS 0 here");
  VtProgram *f = vt_start(24, 80, env, run_explorer, &follower);
  vt_expect(f, "banks  2/7");
  vt_expect(t, "CLASS 1 here, 0 guessed");
  vt_keys(f, "Enter");
  vt_send(f, "2\r", 2);
  vt_expect(f, "your guess is in");
  vt_expect(t, "1 here, 1 guessed");
  vt_keys(t, "r");
  vt_expect(f, "ANSWER 2 wavefronts");
  vt_keys(t, "Right");
  vt_expect(f, "banks  3/7");
  vt_keys(t, "q");
  vt_expect(t, "q again ends the class, 1 here");
  vt_keys(t, "j");
  vt_keys(t, "q");
  vt_expect(t, "q again ends the class, 1 here");
  vt_keys(t, "q");
  ck_assert(vt_wait_end(t));
  vt_expect(f, "the teacher is away");
  VtProgram *again = vt_start(24, 80, env, run_explorer, &teacher);
  vt_expect(again, "CLASS 1 here");
  vt_expect(f, "banks  2/7");
  vt_keys(f, "q");
  ck_assert(vt_wait_end(f));
  vt_expect(again, "CLASS 0 here");
  vt_keys(again, "q q");
  ck_assert(vt_wait_end(again));
  vt_finish(t);
  vt_finish(f);
  vt_finish(again);
}
END_TEST

Suite *suite_classroom(void);
Suite *suite_classroom(void) {
  Suite *suite = suite_create("classroom");
  TCase *tcase = tcase_create("classroom");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, class_setup, class_teardown);
  tcase_add_test(tcase, a_suspended_class_keeps_its_room);
  tcase_add_test(tcase, a_class_takes_away_its_own_socket_only);
  tcase_add_test(tcase, followers_see_what_the_teacher_shows);
  tcase_add_test(tcase, steps_and_knobs_are_pushed);
  tcase_add_test(tcase, guesses_of_another_step_do_not_count);
  tcase_add_test(tcase, making_is_judged_at_once_and_counted);
  tcase_add_test(tcase, an_answer_brings_its_knobs);
  tcase_add_test(tcase, equal_guesses_are_one_and_who_is_alone_goes_on);
  tcase_add_test(tcase, who_is_dropped_comes_back);
  tcase_add_test(tcase, rooms_are_refused_with_the_reason);
  tcase_add_test(tcase, whoever_only_looks_in_does_no_harm);
  tcase_add_test(tcase, a_dead_socket_is_replaced_and_closed_to_strangers);
  tcase_add_test(tcase, the_teacher_sees_the_guesses);
  tcase_add_test(tcase, the_teacher_knows_names_before_guesses);
  tcase_add_test(tcase, who_finds_no_class_is_told_the_way_out);
  tcase_add_test(tcase, two_terminals_one_lesson);
  suite_add_tcase(suite, tcase);
  return suite;
}
