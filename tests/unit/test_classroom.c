// A class: teacher and followers in one process, followers who misbehave, and both as programs in
// front of a terminal.
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "golden.h"
#include "tui/app.h"
#include "tui/classroom.h"
#include "tui/drive.h"
#include "tui/export.h"
#include "tui/room.h"
#include "tui/tutor.h"
#include "tui/view.h"
#include "vterm_harness.h"

static Arena *arena;
static Diags diags;
static char folder[64];

static void setup(void) {
  arena = arena_new("test class");
  diags = diags_new(arena);
  snprintf(folder, sizeof folder, "/tmp/gemmview-class-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("GEMMVIEW_CLASSROOM", folder, 1);
  setenv("XDG_STATE_HOME", folder, 1);
}

static void teardown(void) {
  unsetenv("GEMMVIEW_CLASSROOM");
  unsetenv("XDG_STATE_HOME");
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  ck_assert_int_eq(system(command), 0);
  arena_free(arena);
}

// One end: a session with a screen of its own.
typedef struct End {
  Session *session;
  Canvas *canvas;
  Classroom *class;
} End;

static End open_end(void) {
  End end = {.session = session_open(&(SessionOptions){0}, &diags)};
  ck_assert_msg(end.session != NULL, "%s", diags_text(arena, &diags));
  end.canvas = canvas_new(arena, 40, 120, false);
  ck_assert(tutor_load(end.session, &diags));
  view_show(end.session, view_find("lesson"));
  drive_frame(end.session, end.canvas);
  return end;
}

static End teach(const char *lesson, int step) {
  End end = open_end();
  ck_assert(tutor_open(end.session, lesson, step, &diags));
  end.class = classroom_teach(arena, end.session, lesson, &diags);
  ck_assert_msg(end.class != NULL, "%s", diags_text(arena, &diags));
  return end;
}

static End join(const char *room, const char *name) {
  End end = open_end();
  end.class = classroom_join(arena, end.session, room, name, &diags);
  ck_assert_msg(end.class != NULL, "%s", diags_text(arena, &diags));
  return end;
}

static void leave(End *end) {
  classroom_close(end->class);
  session_close(end->session);
}

// Everybody says and hears what there is, a few times over.
static void settle(End *end, int n) {
  for (int round = 0; round < 6; round++)
    for (int i = 0; i < n; i++) {
      classroom_poll(end[i].class);
      classroom_tick(end[i].class, (int64_t)round * CLASS_RETRY_MS * 2);
    }
}

static const char *screen(End *end) {
  drive_frame(end->session, end->canvas);
  return export_text(arena, end->canvas);
}

static const ClassState *state_of(const End *end) { return &end->session->tutor->class; }
static LessonRun *run_of(const End *end) { return &end->session->tutor->run; }

// ---- the room ----------------------------------------------------------------------------------

// Ctrl-Z holds a class up: its queue fills, and a second teacher once took its socket away.
START_TEST(a_suspended_class_keeps_its_room) {
  const char *path = arena_printf(arena, "%s/class-banks.sock", folder);
  int door = room_listen(path, false, &diags), waiting[64], n = 0;
  ck_assert_int_ge(door, 0);
  while (n < 64 && (waiting[n] = room_connect(path)) >= 0) n++;
  ck_assert_int_lt(n, 64);
  ck_assert_int_eq(room_listen(path, false, &diags), -1);
  ck_assert_ptr_nonnull(strstr(diags.first->text, "somebody is teaching there already"));
  ck_assert_uint_ne(room_node(path), 0);
  while (n > 0) close(waiting[--n]);
  close(door);
}
END_TEST

START_TEST(a_class_takes_away_its_own_socket_only) {
  const char *path = arena_printf(arena, "%s/class-banks.sock", folder);
  int first = room_listen(path, false, &diags);
  ino_t node = room_node(path);
  ck_assert_int_eq(rename(path, arena_printf(arena, "%s/old", folder)), 0);
  int second = room_listen(path, false, &diags);
  ck_assert(first >= 0 && second >= 0);
  room_leave(path, node);
  ck_assert_int_eq(access(path, F_OK), 0);
  room_leave(path, room_node(path));
  ck_assert_int_ne(access(path, F_OK), 0);
  close(first), close(second);
}
END_TEST

// ---- a class ------------------------------------------------------------------------------------

START_TEST(followers_see_what_the_teacher_shows) {
  End end[] = {teach("banks", 3), join("banks", "ana"), join(NULL, "ben")};
  settle(end, 3);
  ck_assert_int_eq(state_of(&end[0])->n_here, 2);
  ck_assert_str_eq(run_of(&end[1])->lesson->name, "banks");
  ck_assert_int_eq(run_of(&end[1])->step, 2);
  ck_assert(run_of(&end[1])->held && !run_of(&end[0])->held);
  tutor_guess(end[1].session, "4");
  tutor_guess(end[2].session, "16");
  settle(end, 3);
  ck_assert_int_eq(state_of(&end[0])->n_guessed, 2);
  ck_assert_int_eq(state_of(&end[0])->n_rows, 2);
  ck_assert(!run_of(&end[1])->revealed);
  ck_assert_ptr_nonnull(strstr(screen(&end[1]), "your guess is in"));
  ck_assert_ptr_null(strstr(screen(&end[1]), "4: right"));
  tutor_guess(end[2].session, " 4 ");
  settle(end, 3);
  ck_assert_int_eq(state_of(&end[0])->n_rows, 1);
  ck_assert_int_eq(state_of(&end[0])->row[0].count, 2);
  tutor_guess(end[2].session, "8");
  settle(end, 3);
  tutor_reveal(end[0].session);
  settle(end, 3);
  ck_assert(run_of(&end[1])->revealed && run_of(&end[2])->revealed);
  ck_assert_ptr_nonnull(strstr(screen(&end[1]), "4: right"));
  ck_assert_ptr_nonnull(strstr(screen(&end[2]), "8: no, it is less"));
  ck_assert_ptr_nonnull(strstr(screen(&end[2]), "ANSWER 4 wavefronts"));
  ck_assert_uint_eq(end[1].session->tutor->mark[3].right, 4);
  ck_assert_uint_eq(end[2].session->tutor->mark[3].right, 0);
  ck_assert_uint_eq(end[2].session->tutor->mark[3].shown, 4);
  for (int i = 0; i < 3; i++) leave(&end[i]);
}
END_TEST

START_TEST(steps_and_knobs_are_pushed) {
  End end[] = {teach("tiers", 1), join("tiers", "ana")};
  settle(end, 2);
  ck_assert(tutor_go(end[0].session, 4));
  settle(end, 2);
  ck_assert_int_eq(run_of(&end[1])->step, 4);
  session_set_knob(end[0].session, KNOB_FM, 4);
  settle(end, 2);
  ck_assert_int_eq(end[1].session->now.schedule.value[KNOB_FM], 4);
  // A follower's own knobs stay until the teacher turns one.
  session_set_knob(end[1].session, KNOB_FN, 2);
  settle(end, 2);
  ck_assert_int_eq(end[1].session->now.schedule.value[KNOB_FN], 2);
  ck_assert(tutor_open(end[0].session, "banks", 2, &diags));
  settle(end, 2);
  ck_assert_str_eq(run_of(&end[1])->lesson->name, "banks");
  ck_assert(schedule_same(&end[0].session->now.schedule, &end[1].session->now.schedule));
  // Half a guess does not become one of the next step.
  view_show(end[1].session, view_find("lesson"));
  drive_frame(end[1].session, end[1].canvas);
  ck_assert(drive_keys(end[1].session, end[1].canvas, "Enter 4", &diags));
  ck_assert_str_eq(end[1].session->field.text, "4");
  ck_assert(tutor_go(end[0].session, 3));
  settle(end, 2);
  ck_assert_str_eq(end[1].session->field.text, "");
  ck_assert(drive_keys(end[1].session, end[1].canvas, "8 Enter", &diags));
  ck_assert_str_eq(run_of(&end[1])->guess, "8");
  // Who looks elsewhere is told, and stays there.
  view_show(end[1].session, view_find("banks"));
  ck_assert(tutor_go(end[0].session, 2));
  settle(end, 2);
  ck_assert_int_eq(end[1].session->view, view_find("banks"));
  ck_assert_str_eq(end[1].session->message, "the class goes on with banks, step 3; 0 goes there");
  view_show(end[1].session, view_find("lesson"));
  // The pages are the teacher's.
  view_run(end[1].session, "step-next", NULL);
  ck_assert_int_eq(run_of(&end[1])->step, 2);
  for (int i = 0; i < 2; i++) leave(&end[i]);
}
END_TEST

START_TEST(guesses_of_another_step_do_not_count) {
  End end[] = {teach("banks", 1), join("banks", "ana")};
  settle(end, 2);
  tutor_guess(end[1].session, "1");
  settle(end, 2);
  ck_assert_int_eq(state_of(&end[0])->n_guessed, 1);
  ck_assert(tutor_go(end[0].session, 1));
  settle(end, 2);
  ck_assert_int_eq(state_of(&end[0])->n_guessed, 0);
  tutor_reveal(end[0].session);
  tutor_guess(end[1].session, "7");
  settle(end, 2);
  ck_assert_int_eq(state_of(&end[0])->n_guessed, 0);
  for (int i = 0; i < 2; i++) leave(&end[i]);
}
END_TEST

START_TEST(making_is_judged_at_once_and_counted) {
  End end[] = {teach("banks", 7), join("banks", "ana"), join("banks", "ben")};
  settle(end, 3);
  ck_assert(!run_of(&end[1])->held);
  tutor_guess_schedule(end[1].session);
  session_set_knob(end[2].session, KNOB_CELL_GROUP, 1);
  tutor_guess_schedule(end[2].session);
  ck_assert(run_of(&end[2])->revealed && !run_of(&end[1])->revealed);
  settle(end, 3);
  ck_assert_int_eq(state_of(&end[0])->n_rows, 2);
  ck_assert_str_eq(state_of(&end[0])->row[0].guess, "not yet");
  ck_assert_str_eq(state_of(&end[0])->row[1].guess, "passed");
  ck_assert(state_of(&end[0])->row[1].right);
  // What is being made is not taken away, until the teacher shows a schedule.
  session_set_knob(end[0].session, KNOB_FM, 4);
  settle(end, 3);
  ck_assert_int_eq(end[1].session->now.schedule.value[KNOB_FM], 8);
  tutor_reveal(end[0].session);
  settle(end, 3);
  ck_assert(run_of(&end[1])->revealed);
  ck_assert_int_eq(end[1].session->now.schedule.value[KNOB_FM], 4);
  for (int i = 0; i < 3; i++) leave(&end[i]);
}
END_TEST

// The answer's own knobs come with it, to who was there and to who comes late; then the teacher's.
START_TEST(an_answer_brings_its_knobs) {
  End end[] = {teach("padding", 2), join("padding", "ana"), {0}};
  settle(end, 2);
  session_set_knob(end[1].session, KNOB_FM, 4);
  tutor_reveal(end[0].session);
  settle(end, 2);
  ck_assert_int_eq(end[0].session->now.schedule.value[KNOB_PAD_SMEM], 2);
  end[2] = join("padding", "late");
  settle(end, 3);
  for (int i = 1; i < 3; i++) {
    ck_assert(schedule_same(&end[i].session->now.schedule, &end[0].session->now.schedule));
    ck_assert(run_of(&end[i])->revealed && end[i].session->comparing);
  }
  session_set_knob(end[0].session, KNOB_PAD_SMEM, 3);
  settle(end, 3);
  ck_assert_int_eq(end[2].session->now.schedule.value[KNOB_PAD_SMEM], 3);
  for (int i = 0; i < 3; i++) leave(&end[i]);
}
END_TEST

// "4" and "4 wavefronts" are one row; and without a teacher nobody is kept from going on.
START_TEST(equal_guesses_are_one_and_who_is_alone_goes_on) {
  End end[] = {teach("banks", 3), join("banks", "ana"), join("banks", "ben")};
  settle(end, 3);
  tutor_guess(end[1].session, "2 wavefronts");
  tutor_guess(end[2].session, "2.0");
  settle(end, 3);
  ck_assert_int_eq(state_of(&end[0])->n_rows, 1);
  ck_assert_str_eq(state_of(&end[0])->row[0].guess, "2");
  tutor_reveal(end[1].session);
  ck_assert(!run_of(&end[1])->revealed);
  leave(&end[0]);
  classroom_poll(end[1].class);
  ck_assert(!state_of(&end[1])->connected);
  tutor_guess(end[1].session, "4");
  ck_assert(run_of(&end[1])->revealed);
  view_run(end[1].session, "step-next", NULL);
  ck_assert_int_eq(run_of(&end[1])->step, 3);
  for (int i = 1; i < 3; i++) leave(&end[i]);
}
END_TEST

START_TEST(who_is_dropped_comes_back) {
  End teacher = teach("banks", 3), ana = join("banks", "ana");
  End end[] = {teacher, ana};
  settle(end, 2);
  tutor_guess(ana.session, "2");
  settle(end, 2);
  ck_assert_int_eq(state_of(&teacher)->n_guessed, 1);
  leave(&teacher);
  classroom_poll(ana.class);
  ck_assert(!state_of(&ana)->connected);
  ck_assert_ptr_nonnull(strstr(screen(&ana), "the teacher is away"));
  int64_t now = 100000;
  ck_assert_int_eq(classroom_tick(ana.class, now), CLASS_RETRY_MS);
  End again[] = {teach("banks", 3), ana};
  classroom_tick(ana.class, now + 2 * CLASS_RETRY_MS);
  settle(again, 2);
  ck_assert(state_of(&ana)->connected);
  ck_assert_int_eq(state_of(&again[0])->n_here, 1);
  ck_assert_int_eq(state_of(&again[0])->n_guessed, 1);
  for (int i = 0; i < 2; i++) leave(&again[i]);
}
END_TEST

// ---- rooms --------------------------------------------------------------------------------------

static bool said(const char *text) { return diags.last && strstr(diags.last->text, text) != NULL; }

START_TEST(rooms_are_refused_with_the_reason) {
  End end = open_end(), teacher = teach("banks", 1);
  bool shared;
  ck_assert_ptr_null(classroom_join(arena, end.session, "bnaks", "ana", &diags));
  ck_assert(said("nobody teaches \"bnaks\" here"));
  ck_assert_pstr_eq(diags.last->nearest, "banks");
  ck_assert_ptr_null(classroom_teach(arena, end.session, "banks", &diags));
  ck_assert(said("somebody is teaching there already"));
  ck_assert_ptr_null(room_path(arena, "../x", &shared, &diags));
  ck_assert(said("no name of a class"));
  ck_assert_ptr_null(room_path(arena, "a-name-that-is-longer-than-thirty-two", &shared, &diags));
  leave(&teacher);
  ck_assert_ptr_null(classroom_join(arena, end.session, NULL, "ana", &diags));
  ck_assert(said("nobody teaches here"));
  ck_assert_int_eq(chmod(folder, 0777), 0);
  ck_assert_ptr_null(classroom_teach(arena, end.session, "banks", &diags));
  ck_assert(said("writable for everybody"));
  ck_assert_int_eq(chmod(folder, 0700), 0);
  char longer[160];
  snprintf(longer, sizeof longer, "%s/%0100d", folder, 1);
  ck_assert_int_eq(mkdir(longer, 0700), 0);
  setenv("GEMMVIEW_CLASSROOM", longer, 1);
  ck_assert_ptr_null(room_path(arena, "banks", &shared, &diags));
  ck_assert(said("too long for a socket"));
  session_close(end.session);
}
END_TEST

static int n_pipes;
static void count_pipe(int signal) { (void)signal, n_pipes++; }

// join without a name looks into every room and leaves; a teacher outlives what was sent to that.
START_TEST(whoever_only_looks_in_does_no_harm) {
  struct sigaction count = {.sa_handler = count_pipe}, before;
  sigaction(SIGPIPE, &count, &before);
  End end[] = {teach("banks", 3), join(NULL, "ana")};
  settle(end, 2);
  const char **rooms = room_list(arena, &diags);
  ck_assert_pstr_eq(rooms[0], "banks");
  settle(end, 2);
  ck_assert(tutor_go(end[0].session, 3));
  classroom_tick(end[0].class, 0);
  classroom_close(end[1].class);
  session_close(end[1].session);
  classroom_tick(end[0].class, 1);
  ck_assert(tutor_go(end[0].session, 2));
  classroom_tick(end[0].class, 2);
  sigaction(SIGPIPE, &before, NULL);
  ck_assert_int_eq(n_pipes, 0);
  leave(&end[0]);
}
END_TEST

START_TEST(a_dead_socket_is_replaced_and_closed_to_strangers) {
  bool shared;
  const char *path = room_path(arena, "banks", &shared, &diags);
  ck_assert(shared);
  int fd = room_listen(path, shared, &diags);
  ck_assert_int_ge(fd, 0);
  close(fd);
  struct stat about;
  ck_assert_int_eq(stat(path, &about), 0);
  ck_assert_int_eq(about.st_mode & 0777, 0660);
  End teacher = teach("banks", 1);
  leave(&teacher);
  ck_assert_int_ne(stat(path, &about), 0);
}
END_TEST

// ---- followers who misbehave --------------------------------------------------------------------

static int stranger(void) {
  bool shared;
  int fd = room_connect(room_path(arena, "banks", &shared, &diags));
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
  End end[] = {teach("banks", 3), join("banks", "ana")};
  settle(end, 2);
  int fd = stranger();
  say(fd, hostile[_i], strlen(hostile[_i]));
  settle(end, 2);
  char bytes[8192];
  while (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
  }
  ck_assert_int_le(recv(fd, bytes, sizeof bytes, MSG_DONTWAIT), 0);
  ck_assert_msg(send(fd, "x", 1, MSG_NOSIGNAL) < 0, "%s", hostile[_i]);
  close(fd);
  ck_assert_int_eq(state_of(&end[0])->n_here, 1);
  ck_assert(state_of(&end[1])->connected);
  for (int i = 0; i < 2; i++) leave(&end[i]);
}
END_TEST

START_TEST(long_lines_floods_and_crowds_do_no_harm) {
  End end[] = {teach("banks", 3), join("banks", "ana")};
  settle(end, 2);
  char *flood = arena_alloc(arena, 200000);
  memset(flood, 'x', 200000);
  int fd = stranger();
  say(fd, flood, 200000);
  settle(end, 2);
  ck_assert_int_lt(send(fd, "x", 1, MSG_NOSIGNAL), 0);
  close(fd);
  int crowd[300], n = 0;
  for (int i = 0; i < 300; i++) {
    bool shared;
    crowd[n] = room_connect(room_path(arena, "banks", &shared, &diags));
    if (crowd[n] >= 0) n++;
    classroom_poll(end[0].class);
  }
  ck_assert_int_gt(n, CLASS_FOLLOWERS_MAX);
  tutor_guess(end[1].session, "4");
  settle(end, 2);
  ck_assert_int_eq(state_of(&end[0])->n_guessed, 1);
  ck_assert_int_eq(state_of(&end[0])->n_here, 1);
  for (int i = 0; i < n; i++) close(crowd[i]);
  settle(end, 2);
  for (int i = 0; i < 2; i++) leave(&end[i]);
}
END_TEST

START_TEST(guesses_are_only_text) {
  End teacher = teach("banks", 3);
  int fd = stranger();
  const char *line =
      "{\"type\":\"hello\",\"name\":\"\\u001b[2J\"}\n"
      "{\"type\":\"guess\",\"lesson\":\"banks\",\"step\":3,\"guess\":\"\\u001b]52;c;AAAA\\u0007 "
      "and a very long guess indeed that goes on and on and on and on\"}\n";
  say(fd, line, strlen(line));
  settle(&teacher, 1);
  ck_assert_int_eq(state_of(&teacher)->n_guessed, 1);
  const char *text = screen(&teacher);
  ck_assert_ptr_null(strchr(text, '\033'));
  ck_assert_ptr_null(strchr(text, '\007'));
  ck_assert_ptr_nonnull(strstr(text, "CLASS 1 here, 1 guessed"));
  close(fd);
  leave(&teacher);
}
END_TEST

START_TEST(random_bytes_never_harm_the_teacher) {
  End end[] = {teach("banks", 3), join("banks", "ana")};
  static const char *const parts[] = {
      "{",        "}", "\"type\"", ":",     "\"guess\"", ",", "\"hello\"", "\"name\"", "\n",
      "\"step\"", "3", "\"\"",     "\x1b[", "\xff",      "[", "null",      "1e999",    "-"};
  uint64_t state = 99 + (uint64_t)_i;
  int rounds = getenv("GEMMVIEW_STRESS") ? 5000 : 150;
  settle(end, 2);
  for (int i = 0; i < rounds; i++) {
    int fd = stranger();
    Str text = str_new(arena);
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
  settle(end, 2);
  ck_assert_int_eq(state_of(&end[0])->n_here, 1);
  ck_assert(state_of(&end[1])->connected);
  for (int i = 0; i < 2; i++) leave(&end[i]);
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
  const char *path = room_path(arena, "banks", &shared, &diags);
  int listener = room_listen(path, shared, &diags);
  End ana = join("banks", "ana");
  int fd = accept(listener, NULL, NULL);
  ck_assert_int_ge(fd, 0);
  say(fd, bad_teachers[_i], strlen(bad_teachers[_i]));
  classroom_poll(ana.class);
  ck_assert(!state_of(&ana)->connected);
  ck_assert_ptr_null(run_of(&ana)->lesson);
  close(fd);
  close(listener);
  leave(&ana);
}
END_TEST

START_TEST(an_unknown_lesson_or_state_is_told_not_followed) {
  bool shared = false;
  const char *path = room_path(arena, "banks", &shared, &diags);
  int listener = room_listen(path, shared, &diags);
  End ana = join("banks", "ana");
  int fd = accept(listener, NULL, NULL);
  const char *lines =
      "{\"type\":\"step\",\"lesson\":\"bnaks\",\"step\":3,\"state\":\"\",\"revealed\":false}\n";
  say(fd, lines, strlen(lines));
  classroom_poll(ana.class);
  ck_assert_ptr_nonnull(strstr(ana.session->message, "no lesson \"bnaks\""));
  lines =
      "{\"type\":\"step\",\"lesson\":\"banks\",\"step\":3,\"state\":\"BM=x\",\"revealed\":false}\n"
      "{\"type\":\"step\",\"lesson\":\"banks\",\"step\":3,\"state\":\"BM=1000,BN=1000\","
      "\"revealed\":true}\n";
  say(fd, lines, strlen(lines));
  classroom_poll(ana.class);
  ck_assert(state_of(&ana)->connected && run_of(&ana)->revealed);
  ck_assert_ptr_nonnull(strstr(screen(&ana), "not legal"));
  close(fd);
  close(listener);
  leave(&ana);
}
END_TEST

// ---- screens ------------------------------------------------------------------------------------

START_TEST(the_teacher_sees_the_guesses) {
  static const char *const guesses[] = {"4", "16", "4", "8", "4", "2", "16"};
  enum { N = sizeof guesses / sizeof *guesses };
  End end[N + 1] = {teach("banks", 3)};
  for (int i = 0; i < N; i++) end[i + 1] = join("banks", "somebody");
  settle(end, N + 1);
  for (int i = 0; i < N; i++) tutor_guess(end[i + 1].session, guesses[i]);
  settle(end, N + 1);
  golden_check("screens/class_teacher.txt", screen(&end[0]));
  golden_check("screens/class_follower.txt", screen(&end[1]));
  tutor_reveal(end[0].session);
  settle(end, N + 1);
  golden_check("screens/class_teacher_revealed.txt", screen(&end[0]));
  golden_check("screens/class_follower_revealed.txt", screen(&end[2]));
  for (int i = 0; i < N + 1; i++) leave(&end[i]);
}
END_TEST

// Who is here, who has guessed, who is missing; what they guessed only with the answer.
START_TEST(the_teacher_knows_names_before_guesses) {
  const char *file = arena_printf(arena, "%s/results.csv", folder);
  End end[] = {teach("banks", 3), join("banks", "ana"), join("banks", "ben \"x\""),
               join("banks", "cem")};
  ck_assert(classroom_keep_results(end[0].class, file, &diags));
  settle(end, 4);
  tutor_guess(end[1].session, "4");
  tutor_guess(end[2].session, "16");
  settle(end, 4);
  leave(&end[3]);
  settle(end, 3);
  const ClassState *state = state_of(&end[0]);
  ck_assert_str_eq(state->guessed, "ana, ben \"x\"");
  ck_assert_str_eq(state->waiting, "");
  ck_assert_str_eq(state->gone, "cem");
  const char *before = screen(&end[0]);
  ck_assert_msg(strstr(before, "guessed: ana, ben \"x\"") && strstr(before, "missing: cem"), "%s",
                before);
  ck_assert_msg(!strstr(before, "█ 1"), "%s", before);
  end[3] = join("banks", "cem");
  settle(end, 4);
  ck_assert_str_eq(state->gone, "");
  ck_assert_str_eq(state->waiting, "cem");
  tutor_reveal(end[0].session);
  settle(end, 4);
  ck_assert_ptr_nonnull(strstr(screen(&end[0]), "█ 1"));
  ck_assert_ptr_nonnull(strstr(screen(&end[0]), "did not guess: cem"));
  char text[512];
  FILE *in = fopen(file, "r");
  ck_assert_ptr_nonnull(in);
  text[fread(text, 1, sizeof text - 1, in)] = '\0';
  fclose(in);
  ck_assert(strncmp(text, "time,lesson,step,name,guess,right\n", 34) == 0);
  ck_assert_msg(strstr(text, ",\"banks\",3,\"ana\",\"4\",yes\n") != NULL, "%s", text);
  ck_assert_msg(strstr(text, ",3,\"ben \"\"x\"\"\",\"16\",no\n") != NULL, "%s", text);
  ck_assert_msg(strstr(text, ",3,\"cem\",\"\",\n") != NULL, "%s", text);
  for (int i = 0; i < 4; i++) leave(&end[i]);
}
END_TEST

// Whoever has another home, and no folder in common, is told what to do.
START_TEST(who_finds_no_class_is_told_the_way_out) {
  End end = open_end();
  unsetenv("GEMMVIEW_CLASSROOM");
  setenv("XDG_RUNTIME_DIR", folder, 1);
  ck_assert_ptr_null(classroom_join(arena, end.session, "banks", "ana", &diags));
  const char *text = diags_text(arena, &diags);
  ck_assert_msg(
      strstr(text, "gemmview classroom init FOLDER") && strstr(text, "GEMMVIEW_CLASSROOM"), "%s",
      text);
  diags = diags_new(arena);
  ck_assert_ptr_null(classroom_join(arena, end.session, NULL, "ana", &diags));
  ck_assert(strstr(diags_text(arena, &diags), "only your own classes are seen") != NULL);
  unsetenv("XDG_RUNTIME_DIR");
  session_close(end.session);
}
END_TEST

static int run_explorer(void *argument) {
  Diags found = diags_new(arena);
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
  tcase_add_checked_fixture(tcase, setup, teardown);
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
  tcase_add_loop_test(tcase, what_is_no_line_of_a_follower_ends_it, 0,
                      sizeof hostile / sizeof *hostile);
  tcase_add_test(tcase, long_lines_floods_and_crowds_do_no_harm);
  tcase_add_test(tcase, guesses_are_only_text);
  tcase_add_loop_test(tcase, random_bytes_never_harm_the_teacher, 0, 2);
  tcase_add_loop_test(tcase, a_follower_trusts_no_teacher, 0,
                      sizeof bad_teachers / sizeof *bad_teachers);
  tcase_add_test(tcase, an_unknown_lesson_or_state_is_told_not_followed);
  tcase_add_test(tcase, the_teacher_sees_the_guesses);
  tcase_add_test(tcase, the_teacher_knows_names_before_guesses);
  tcase_add_test(tcase, who_finds_no_class_is_told_the_way_out);
  tcase_add_test(tcase, two_terminals_one_lesson);
  suite_add_tcase(suite, tcase);
  return suite;
}
