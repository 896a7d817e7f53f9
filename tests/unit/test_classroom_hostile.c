// A class whose followers misbehave, and a teacher who is none: whoever behaves notices nothing.
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/str.h"
#include "classroom_harness.h"
#include "stress.h"
#include "tui/frame/class_socket.h"

static int stranger(void) {
  bool shared;
  int fd = class_socket_connect(class_socket_path(class_arena, "banks", &shared, &class_diags));
  ck_assert_int_ge(fd, 0);
  return fd;
}

static void say(int fd, const char *bytes, size_t n) {
  ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
  ck_assert(sent >= 0 || errno == EPIPE || errno == EAGAIN || errno == ECONNRESET);
}

static const char *const hostile[] = {
    "x\n",
    "{}\n",
    "[]\n",
    "{\"type\":\"guess\",\"lesson\":\"banks\",\"step\":3,\"guess\":\"1\"}\n",
    "{\"type\":\"hello\",\"name\":7}\n",
    "{\"type\":\"hello\"}\n",
    "{\"type\":\"hello\",\"name\":\"a\",\"uid\":0}\n",
    "{\"type\":\"hello\",\"name\":\"a\",\"name\":\"b\"}\n",
    "{\"type\":\"step\",\"lesson\":\"banks\",\"step\":1,\"guess\":\"\"}\n",
    ("{\"type\":\"hello\",\"name\":\"a\"}\n{\"type\":\"guess\",\"lesson\":\"banks\",\"step\":99,"
     "\"guess\":\"1\"}\n"),
    "{\"type\":\"hello\",\"name\":\"a\"}\n{\"type\":\"guess\",\"step\":3,\"guess\":\"1\"}\n",
    "{\"type\":\"hello\",\"name\":\"\\ud800\"}\n",
    "\xff\xfe\n",
};

// Whoever says something else is let go; the others stay, and the teacher's screen is whole.
START_TEST(what_is_no_line_of_a_follower_ends_it) {
  End end[] = {end_teach("banks", 3), end_join("banks", "ana")};
  ends_settle(end, 2);
  int fd = stranger();
  say(fd, hostile[_i], strlen(hostile[_i]));
  ends_settle(end, 2);
  char bytes[8192];
  while (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
  }
  ck_assert_int_le(recv(fd, bytes, sizeof bytes, MSG_DONTWAIT), 0);
  ck_assert_msg(send(fd, "x", 1, MSG_NOSIGNAL) < 0, "%s", hostile[_i]);
  close(fd);
  ck_assert_int_eq(end_state(&end[0])->n_here, 1);
  ck_assert(end_state(&end[1])->connected);
  for (int i = 0; i < 2; i++) end_leave(&end[i]);
}
END_TEST

START_TEST(long_lines_floods_and_crowds_do_no_harm) {
  End end[] = {end_teach("banks", 3), end_join("banks", "ana")};
  ends_settle(end, 2);
  char *flood = arena_alloc(class_arena, 200000);
  memset(flood, 'x', 200000);
  int fd = stranger();
  say(fd, flood, 200000);
  ends_settle(end, 2);
  ck_assert_int_lt(send(fd, "x", 1, MSG_NOSIGNAL), 0);
  close(fd);
  int crowd[300], n = 0;
  for (int i = 0; i < 300; i++) {
    bool shared;
    crowd[n] = class_socket_connect(class_socket_path(class_arena, "banks", &shared, &class_diags));
    if (crowd[n] >= 0) n++;
    classroom_poll(end[0].class);
  }
  ck_assert_int_gt(n, CLASS_FOLLOWERS_MAX);
  tutor_guess(end[1].session, "4");
  ends_settle(end, 2);
  ck_assert_int_eq(end_state(&end[0])->n_guessed, 1);
  ck_assert_int_eq(end_state(&end[0])->n_here, 1);
  for (int i = 0; i < n; i++) close(crowd[i]);
  ends_settle(end, 2);
  for (int i = 0; i < 2; i++) end_leave(&end[i]);
}
END_TEST

// 128 that say nothing had all the places, and who came then was told that nobody teaches.
START_TEST(who_says_nothing_keeps_nobody_out) {
  enum { SILENT = CLASS_FOLLOWERS_MAX + 20 };
  End end[2] = {end_teach("banks", 3)};
  int fd[SILENT], n = 0;
  for (int i = 0; i < SILENT; i++) {
    fd[i] = stranger();
    if (i % 16 == 15) ends_settle(end, 1);
  }
  end[1] = end_join("banks", "ana");
  ends_settle(end, 2);
  ck_assert_int_eq(end_state(&end[0])->n_here, 1);
  ck_assert(end_state(&end[1])->connected);
  usleep((CLASS_HELLO_MS + 200) * 1000);
  ends_settle(end, 2);
  for (int i = 0; i < SILENT; i++) {
    n += send(fd[i], "x", 1, MSG_NOSIGNAL) < 0;
    close(fd[i]);
  }
  ck_assert_int_eq(n, SILENT);
  ck_assert_int_eq(end_state(&end[0])->n_here, 1);
  for (int i = 0; i < 2; i++) end_leave(&end[i]);
}
END_TEST

START_TEST(guesses_are_only_text) {
  End teacher = end_teach("banks", 3);
  int fd = stranger();
  const char *line =
      "{\"type\":\"hello\",\"name\":\"\\u001b[2J\"}\n"
      "{\"type\":\"guess\",\"lesson\":\"banks\",\"step\":3,\"guess\":\"\\u001b]52;c;AAAA\\u0007 "
      "and a very long guess indeed that goes on and on and on and on\"}\n";
  say(fd, line, strlen(line));
  ends_settle(&teacher, 1);
  ck_assert_int_eq(end_state(&teacher)->n_guessed, 1);
  const char *text = end_screen(&teacher);
  ck_assert_ptr_null(strchr(text, '\033'));
  ck_assert_ptr_null(strchr(text, '\007'));
  ck_assert_ptr_nonnull(strstr(text, "CLASS 1 here, 1 guessed"));
  close(fd);
  end_leave(&teacher);
}
END_TEST

START_TEST(random_bytes_never_harm_the_teacher) {
  End end[] = {end_teach("banks", 3), end_join("banks", "ana")};
  static const char *const parts[] = {
      "{",        "}", "\"type\"", ":",     "\"guess\"", ",", "\"hello\"", "\"name\"", "\n",
      "\"step\"", "3", "\"\"",     "\x1b[", "\xff",      "[", "null",      "1e999",    "-"};
  uint64_t state = 99 + (uint64_t)_i;
  int rounds = stress_count(450, 5000);
  ends_settle(end, 2);
  for (int i = 0; i < rounds; i++) {
    int fd = stranger();
    Str text = str_new(class_arena);
    for (int k = 0; k < 30; k++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      str_add(&text, parts[(state >> 33) % (sizeof parts / sizeof *parts)]);
    }
    say(fd, text.text, text.length);
    classroom_poll(end[0].class);
    classroom_tick(end[0].class, 0);
    if (i % 2) close(fd);
    classroom_poll(end[0].class);
    if (i % 2 == 0) close(fd);
  }
  ends_settle(end, 2);
  ck_assert_int_eq(end_state(&end[0])->n_here, 1);
  ck_assert(end_state(&end[1])->connected);
  for (int i = 0; i < 2; i++) end_leave(&end[i]);
}
END_TEST

// A teacher who is none: the follower lets go and waits, whatever it was sent.
static const char *const bad_teachers[] = {
    "x\n",
    "{\"type\":\"step\",\"lesson\":\"banks\",\"step\":3,\"revealed\":false}\n",
    "{\"type\":\"step\",\"lesson\":\"banks\",\"step\":0,\"state\":\"\",\"revealed\":false}\n",
    "{\"type\":\"stop\",\"lesson\":\"banks\",\"step\":3,\"state\":\"\",\"revealed\":false}\n",
};

START_TEST(a_follower_trusts_no_teacher) {
  bool shared;
  const char *path = class_socket_path(class_arena, "banks", &shared, &class_diags);
  int listener = class_socket_listen(path, shared, &class_diags);
  End ana = end_join("banks", "ana");
  int fd = accept(listener, NULL, NULL);
  ck_assert_int_ge(fd, 0);
  say(fd, bad_teachers[_i], strlen(bad_teachers[_i]));
  classroom_poll(ana.class);
  ck_assert(!end_state(&ana)->connected);
  ck_assert_ptr_null(end_run(&ana)->lesson);
  close(fd);
  close(listener);
  end_leave(&ana);
}
END_TEST

START_TEST(an_unknown_lesson_or_state_is_told_not_followed) {
  bool shared = false;
  const char *path = class_socket_path(class_arena, "banks", &shared, &class_diags);
  int listener = class_socket_listen(path, shared, &class_diags);
  End ana = end_join("banks", "ana");
  int fd = accept(listener, NULL, NULL);
  const char *lines =
      "{\"type\":\"step\",\"lesson\":\"bnaks\",\"step\":3,\"state\":\"\",\"revealed\":false}\n";
  say(fd, lines, strlen(lines));
  classroom_poll(ana.class);
  ck_assert_ptr_nonnull(strstr(ana.session->prompt.message, "no lesson \"bnaks\""));
  lines =
      "{\"type\":\"step\",\"lesson\":\"banks\",\"step\":3,\"state\":\"BM=x\",\"revealed\":false}\n"
      "{\"type\":\"step\",\"lesson\":\"banks\",\"step\":3,\"state\":\"BM=1000,BN=1000\","
      "\"revealed\":true}\n";
  say(fd, lines, strlen(lines));
  classroom_poll(ana.class);
  ck_assert(end_state(&ana)->connected && end_run(&ana)->revealed);
  ck_assert_ptr_nonnull(strstr(end_screen(&ana), "not legal"));
  close(fd);
  close(listener);
  end_leave(&ana);
}
END_TEST

Suite *suite_classroom_hostile(void);
Suite *suite_classroom_hostile(void) {
  Suite *suite = suite_create("classroom_hostile");
  TCase *tcase = tcase_create("classroom_hostile");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, class_setup, class_teardown);
  tcase_add_loop_test(tcase, what_is_no_line_of_a_follower_ends_it, 0,
                      sizeof hostile / sizeof *hostile);
  tcase_add_test(tcase, long_lines_floods_and_crowds_do_no_harm);
  tcase_add_test(tcase, guesses_are_only_text);
  tcase_add_test(tcase, who_says_nothing_keeps_nobody_out);
  tcase_add_loop_test(tcase, random_bytes_never_harm_the_teacher, 0, 2);
  tcase_add_loop_test(tcase, a_follower_trusts_no_teacher, 0,
                      sizeof bad_teachers / sizeof *bad_teachers);
  tcase_add_test(tcase, an_unknown_lesson_or_state_is_told_not_followed);
  suite_add_tcase(suite, tcase);
  return suite;
}
