// The two ends of a class, between a session and a room.
//
// The teacher's end composes the message of where the class is after every key; when its text
// differs from what was sent last, everybody gets it. So there is no protocol of changes, and
// a follower who joins late, or again, gets the same line as all the others. Worked example of a
// step:
//   teacher  {"type":"step","lesson":"banks","step":3,"state":"BM=16,…","revealed":false}
//   ana      {"type":"guess","lesson":"banks","step":3,"guess":"4"}       counted
//   ben      {"type":"guess","lesson":"banks","step":2,"guess":"2"}       late: passed over
//   teacher  the same with "revealed":true       everybody's guess is judged on their own screen
//
// Lines are read strictly and are short; a follower that sends anything else is let go. A guess is
// a text of at most CLASS_GUESS_BYTES, sanitised before it is kept; a follower has one guess at a
// time.
#include "tui/frame/classroom.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/foreign.h"
#include "base/form.h"
#include "base/nearest.h"
#include "base/str.h"
#include "tui/frame/class_socket.h"
#include "tui/frame/tutor.h"
#include "tui/frame/view.h"

enum { NAME_BYTES = 24, TEACHER_LINE_MAX = 4096, FLUSH_MS = 50 };

typedef struct Follower {
  ClassPeer peer;
  char name[NAME_BYTES];  // "" until it said hello
  char guess[CLASS_GUESS_BYTES];
  int64_t since_ms;  // that it is connected
} Follower;

struct Classroom {
  Session *session;
  Arena *scratch;
  const char *path, *name;
  int epoll, listener;
  ino_t node;  // of the listener's path
  char *said;  // TEACHER: the last message; FOLLOWER: the last state
  Follower follower[CLASS_FOLLOWERS_MAX];
  ClassPeer teacher;  // FOLLOWER: the other end
  int64_t retry_ms;
  bool is_held;  // FOLLOWER: a listener, with or without a place
  char sent_guess[CLASS_GUESS_BYTES];
  const Lesson *lesson;  // what the guesses are about
  int step;
  int n_gone;  // TEACHER: followers who left and have not come back
  char gone[CLASS_FOLLOWERS_MAX][NAME_BYTES];
  const char *results;  // TEACHER: a file for them; NULL: none
  bool revealed;        // and those of this step are in it
};

static void watch(Classroom *class, int fd) {
  struct epoll_event event = {.events = EPOLLIN, .data = {.fd = fd}};
  epoll_ctl(class->epoll, EPOLL_CTL_ADD, fd, &event);
}

static Classroom *new_classroom(Arena *arena, Session *session, const char *path, ClassRole role) {
  Classroom *class = ARENA_NEW(arena, Classroom);
  class->session = session;
  class->scratch = arena_new("class");
  class->path = path;
  class->epoll = epoll_create1(EPOLL_CLOEXEC);
  class->listener = class->teacher.fd = -1;
  for (int i = 0; i < CLASS_FOLLOWERS_MAX; i++) class->follower[i].peer.fd = -1;
  tutor_of(class->session)->class = (ClassState){.role = role};
  return class;
}

static void replace(char **kept, const char *text) {
  free(*kept);
  *kept = strdup(text);
}

void classroom_close(Classroom *class) {
  if (!class) return;
  for (int i = 0; i < CLASS_FOLLOWERS_MAX; i++) class_peer_close(&class->follower[i].peer);
  class_peer_close(&class->teacher);
  if (class->listener >= 0) class_socket_leave(class->path, class->node);
  if (class->listener >= 0) close(class->listener);
  close(class->epoll);
  free(class->said);
  arena_free(class->scratch);
  tutor_of(class->session)->class = (ClassState){.role = CLASS_NONE};
}

int classroom_fd(const Classroom *class) { return class->epoll; }

// One object of a known shape; NULL when the line is anything else.
static const JsonValue *read_line(Classroom *class, const char *line, size_t n,
                                  const char *const *keys, int n_keys, const char **type) {
  Diags diags = diags_new(class->scratch);
  const JsonValue *root = json_parse(class->scratch, line, n, &diags, "line");
  json_require_string(root, "type", type, &diags);
  if (root) json_check_keys(root, keys, n_keys, &diags);
  return root && diags.count == 0 ? root : NULL;
}

// ---- the histogram ------------------------------------------------------------------------------

static bool is_right(const Classroom *class, const char *guess) {
  const Tutor *tutor = tutor_of(class->session);
  const LessonStep *step = tutor_step(tutor);
  if (tutor->error || step->ask.kind == ASK_NOTHING) return false;
  if (step->ask.kind == ASK_MAKE) return str_equal(guess, "passed");
  return lesson_check(class->scratch, &tutor->world, step, &tutor->facts, guess).fact == FACT_RIGHT;
}

// "4", " 4.0" and "4 wavefronts" are one guess.
static const char *count_as(const Classroom *class, const char *guess) {
  const Tutor *tutor = tutor_of(class->session);
  const LessonStep *step = tutor_step(tutor);
  return tutor->error ? guess : lesson_guess_text(class->scratch, step, &tutor->facts, guess);
}

static ClassRow *find_row(ClassRow *rows, int n, const char *guess) {
  for (int i = 0; i < n; i++)
    if (str_equal_fold(rows[i].guess, guess)) return &rows[i];
  return NULL;
}

static int compare_rows(const void *a, const void *b) {
  const ClassRow *left = a, *right = b;
  return left->count != right->count ? right->count - left->count
                                     : strcmp(left->guess, right->guess);
}

static void add_name(char *names, const char *name) {
  size_t n = strlen(names);
  if (n + strlen(name) + 8 < CLASS_NAMES_BYTES)
    snprintf(names + n, CLASS_NAMES_BYTES - n, "%s%s", n ? ", " : "", name);
  else if (n > 0 && names[n - 1] != '.')
    snprintf(names + n, CLASS_NAMES_BYTES - n, ", ...");
}

static void name_all(Classroom *class) {
  ClassState *state = &tutor_of(class->session)->class;
  state->guessed[0] = state->waiting[0] = state->gone[0] = '\0';
  for (int i = 0; i < CLASS_FOLLOWERS_MAX; i++) {
    const Follower *follower = &class->follower[i];
    if (follower->peer.fd < 0 || !follower->name[0]) continue;
    add_name(follower->guess[0] ? state->guessed : state->waiting, follower->name);
  }
  for (int i = 0; i < class->n_gone; i++) add_name(state->gone, class->gone[i]);
}

static void note_gone(Classroom *class, const char *name) {
  if (*name && class->n_gone < CLASS_FOLLOWERS_MAX)
    snprintf(class->gone[class->n_gone++], NAME_BYTES, "%s", name);
}

// A follower who joins under the name of one who left takes that one's place.
static void note_back(Classroom *class, const char *name) {
  for (int i = 0; i < class->n_gone; i++)
    if (str_equal(class->gone[i], name)) {
      class->n_gone--;
      memmove(class->gone[i], class->gone[i + 1], (size_t)(class->n_gone - i) * NAME_BYTES);
      return;
    }
}

static void count_guesses(Classroom *class) {
  name_all(class);
  ClassState *state = &tutor_of(class->session)->class;
  ClassRow rows[CLASS_FOLLOWERS_MAX];
  int n = 0;
  state->n_here = state->n_guessed = 0;
  for (int i = 0; i < CLASS_FOLLOWERS_MAX; i++) {
    const Follower *follower = &class->follower[i];
    if (follower->peer.fd < 0 || !follower->name[0]) continue;
    state->n_here++;
    if (!follower->guess[0]) continue;
    state->n_guessed++;
    const char *guess = count_as(class, follower->guess);
    ClassRow *row = find_row(rows, n, guess);
    if (!row) {
      row = &rows[n++];
      *row = (ClassRow){.right = is_right(class, follower->guess)};
      snprintf(row->guess, sizeof row->guess, "%s", guess);
    }
    row->count++;
  }
  if (n > 1) qsort(rows, (size_t)n, sizeof *rows, compare_rows);
  state->n_rows = n < CLASS_ROWS_MAX ? n : CLASS_ROWS_MAX;
  memcpy(state->row, rows, sizeof *rows * (size_t)state->n_rows);
}

// ---- the teacher's end --------------------------------------------------------------------------

Classroom *classroom_teach(Arena *arena, Session *session, const char *room, Diags *diags) {
  bool shared = false;
  const char *path = class_socket_path(arena, room, &shared, diags);
  int listener = path ? class_socket_listen(path, shared, diags) : -1;
  if (listener < 0) return NULL;
  Classroom *class = new_classroom(arena, session, path, CLASS_TEACHER);
  class->listener = listener;
  class->node = class_socket_node(path);
  class->lesson = tutor_of(session)->run.lesson;
  class->step = tutor_of(session)->run.step;
  watch(class, listener);
  ClassState *state = &tutor_of(session)->class;
  if (shared)
    snprintf(state->way_in, sizeof state->way_in, "GEMMVIEW_CLASSROOM=%.180s gemmview join %.40s",
             getenv("GEMMVIEW_CLASSROOM"), room);
  else
    snprintf(state->way_in, sizeof state->way_in,
             "gemmview join %.40s, for you alone; gemmview classroom lets others in", room);
  return class;
}

// ---- results ------------------------------------------------------------------------------------

// A header where the file is new.
static FILE *open_results(const char *path) {
  struct stat status;
  const bool waits = stat(path, &status) == 0 && S_ISFIFO(status.st_mode);
  FILE *file = waits ? NULL : fopen(path, "a");
  if (waits) errno = ENXIO;  // there may never be a reader
  if (file && fseek(file, 0, SEEK_END) == 0 && ftell(file) == 0)
    fputs("time,lesson,step,name,guess,right\n", file);
  return file;
}

bool classroom_keep_results(Classroom *class, const char *path, Diags *diags) {
  FILE *file = open_results(path);
  if (file && fclose(file) == 0) {
    class->results = path;
    return true;
  }
  diag_add(diags, "class", "%s: %s", path, strerror(errno));
  return false;
}

static void put_result(Classroom *class, FILE *file, const char *when, const Follower *follower) {
  fprintf(file, "%s,", when);
  foreign_cell(file, class->lesson->name, ',');
  fprintf(file, "%d,", class->step + 1);
  foreign_cell(file, follower->name, ',');
  foreign_cell(file, follower->guess[0] ? count_as(class, follower->guess) : "", ',');
  fprintf(file, "%s\n", !follower->guess[0] ? "" : is_right(class, follower->guess) ? "yes" : "no");
}

static void file_results(Classroom *class) {
  char when[32];
  time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
  FILE *file = open_results(class->results);
  for (int i = 0; file && i < CLASS_FOLLOWERS_MAX; i++)
    if (class->follower[i].peer.fd >= 0 && class->follower[i].name[0])
      put_result(class, file, when, &class->follower[i]);
  if (!file || fclose(file) != 0)
    session_say(class->session, SAID_ERROR, "%s: %s", class->results, strerror(errno));
}

// With the answer, once for each step.
static void note_reveal(Classroom *class) {
  const LessonRun *run = &tutor_of(class->session)->run;
  bool asks = tutor_step(tutor_of(class->session))->ask.kind != ASK_NOTHING;
  if (run->revealed && !class->revealed && asks && class->results) file_results(class);
  class->revealed = run->revealed;
}

#define FORM_FILE "tui/frame/classroom.form"
#include "base/form_make.h"

static char *line_of(Classroom *class, const Form *form) {
  Str out = str_new(class->scratch);
  JsonWriter w = json_writer(&out);
  form_write(&w, class->scratch, form, class, NULL);
  return out.text;
}

// A connection without a hello in its time is closed: a place is for a follower with a name.
static void drop_silent(Classroom *class) {
  const int64_t now = clock_ms();
  for (int i = 0; i < CLASS_FOLLOWERS_MAX; i++) {
    Follower *follower = &class->follower[i];
    const bool silent = follower->peer.fd >= 0 && !follower->name[0];
    if (silent && now - follower->since_ms > CLASS_HELLO_MS) class_peer_close(&follower->peer);
  }
}

// A free one, else the one with the longest silence; NULL: all have names.
static Follower *find_place(Classroom *class) {
  Follower *silent = NULL;
  for (int i = 0; i < CLASS_FOLLOWERS_MAX; i++) {
    Follower *at = &class->follower[i];
    if (at->peer.fd < 0) return at;
    if (!at->name[0] && (!silent || at->since_ms < silent->since_ms)) silent = at;
  }
  if (silent) class_peer_close(&silent->peer);
  return silent;
}

static void admit(Classroom *class) {
  drop_silent(class);
  for (int fd; (fd = accept4(class->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
    Follower *free_one = find_place(class);
    if (!free_one) {
      close(fd);
      continue;
    }
    *free_one = (Follower){.name = "", .since_ms = clock_ms()};
    class_peer_open(&free_one->peer, fd, CLASS_LINE_MAX);
    watch(class, fd);
    if (class->said && !class_peer_send(&free_one->peer, class->said))
      class_peer_close(&free_one->peer);
  }
}

static void keep_text(Classroom *class, char *out, size_t size, const char *text) {
  const char *clean = str_sanitise(class->scratch, text);
  while (*clean == ' ') clean++;
  snprintf(out, size, "%s", clean);
  for (size_t n = strlen(out); n && out[n - 1] == ' ';) out[--n] = '\0';
}

static bool take_guess(Classroom *class, Follower *follower, const JsonValue *root) {
  const Tutor *tutor = tutor_of(class->session);
  const char *lesson = NULL, *guess = NULL;
  int step = 0;
  Diags diags = diags_new(class->scratch);
  json_require_string(root, "lesson", &lesson, &diags);
  json_require_int(root, "step", 1, LESSON_STEPS_MAX, &step, &diags);
  json_require_string(root, "guess", &guess, &diags);
  if (diags.count) return false;
  bool now = tutor->run.lesson && str_equal(lesson, tutor->run.lesson->name) &&
             step == tutor->run.step + 1;
  if (now && !tutor->run.revealed) keep_text(class, follower->guess, sizeof follower->guess, guess);
  return true;
}

// False: that is no follower's line.
static bool hear_follower(Classroom *class, Follower *follower, const char *line, size_t n) {
  static const char *const keys[] = {"type", "name", "lesson", "step", "guess"};
  const char *type = NULL, *name = NULL;
  const JsonValue *root = read_line(class, line, n, keys, 5, &type);
  Diags diags = diags_new(class->scratch);
  if (!root) return false;
  if (str_equal(type, "guess")) return follower->name[0] && take_guess(class, follower, root);
  if (!str_equal(type, "hello") || !json_require_string(root, "name", &name, &diags)) return false;
  keep_text(class, follower->name, sizeof follower->name, *name ? name : "?");
  note_back(class, follower->name);
  return true;
}

// One reading at a time, so that no follower keeps the teacher from the keys.
static bool serve(Classroom *class, Follower *follower) {
  char *line;
  size_t n;
  bool there = class_peer_read(&follower->peer);
  for (LineStatus status; (status = line_reader_next(&follower->peer.in, &line, &n));)
    if (status == LINE_TOO_LONG || !hear_follower(class, follower, line, n)) return false;
  return there;
}

static bool poll_teacher(Classroom *class) {
  admit(class);
  for (int i = 0; i < CLASS_FOLLOWERS_MAX; i++) {
    Follower *follower = &class->follower[i];
    if (follower->peer.fd < 0 || serve(class, follower)) continue;
    note_gone(class, follower->name);
    class_peer_close(&follower->peer);
  }
  count_guesses(class);
  return true;
}

static void begin_step(Classroom *class) {
  const Tutor *tutor = tutor_of(class->session);
  if (class->lesson == tutor->run.lesson && class->step == tutor->run.step) return;
  class->lesson = tutor->run.lesson;
  class->step = tutor->run.step;
  class->revealed = tutor->run.revealed;
  for (int i = 0; i < CLASS_FOLLOWERS_MAX; i++) class->follower[i].guess[0] = '\0';
  count_guesses(class);
}

static int tick_teacher(Classroom *class) {
  if (!tutor_of(class->session)->run.lesson) return -1;
  begin_step(class);
  note_reveal(class);
  const char *message = line_of(class, &class_step_form);
  bool news = !class->said || !str_equal(class->said, message), waits = false, silent = false;
  drop_silent(class);
  if (news) replace(&class->said, message);
  for (int i = 0; i < CLASS_FOLLOWERS_MAX; i++) {
    ClassPeer *peer = &class->follower[i].peer;
    if (peer->fd < 0) continue;
    silent = silent || !class->follower[i].name[0];
    if (!(news ? class_peer_send(peer, message) : class_peer_flush(peer))) {
      note_gone(class, class->follower[i].name);
      class_peer_close(peer);
    }
    waits = waits || (peer->fd >= 0 && !out_queue_is_empty(&peer->out));
  }
  return waits ? FLUSH_MS : silent ? CLASS_HELLO_MS : -1;
}

// ---- a follower's end ---------------------------------------------------------------------------

static const char *only_room(Arena *arena, Diags *diags) {
  const char **rooms = class_socket_list(arena, diags);
  if (!rooms) return NULL;
  if (rooms[0] && !rooms[1]) return rooms[0];
  Str names = str_new(arena);
  for (int i = 0; rooms[i]; i++) str_printf(&names, " %s", rooms[i]);
  if (rooms[0])
    diag_add(diags, "class", "several classes are open here:%s; name one", names.text);
  else
    diag_add(diags, "class", "no class is open here: gemmview teach NAME begins a class; %s",
             class_socket_way_out(arena));
  return NULL;
}

static void call(Classroom *class) {
  int fd = class_socket_connect(class->path);
  class->is_held = fd >= 0 || errno == EAGAIN;
  if (fd < 0) return;
  class_peer_open(&class->teacher, fd, TEACHER_LINE_MAX);
  watch(class, fd);
  class->sent_guess[0] = '\0';
  if (!class_peer_send(&class->teacher, line_of(class, &class_hello_form)))
    class_peer_close(&class->teacher);
  tutor_of(class->session)->class.connected = class->teacher.fd >= 0;
}

Classroom *classroom_join(Arena *arena, Session *session, const char *room, const char *name,
                          Diags *diags) {
  bool shared;
  if (!room) room = only_room(arena, diags);
  const char *path = room ? class_socket_path(arena, room, &shared, diags) : NULL;
  if (!path) return NULL;
  Classroom *class = new_classroom(arena, session, path, CLASS_FOLLOWER);
  class->name = arena_strdup(arena, name);
  call(class);
  if (class->teacher.fd >= 0) return class;
  if (class->is_held) {
    diag_add(diags, "class",
             "the class \"%s\" does not answer: its %d places are taken, or its teacher is "
             "suspended",
             room, CLASS_FOLLOWERS_MAX);
    classroom_close(class);
    return NULL;
  }
  const char **rooms = class_socket_list(arena, diags);
  int n = 0;
  while (rooms && rooms[n]) n++;
  diag_add(diags, "class", "no class \"%s\" is open here; %s", room, class_socket_way_out(arena))
      ->nearest = rooms ? nearest_name(room, rooms, n) : NULL;
  classroom_close(class);
  return NULL;
}

// `anew`: whatever was set here meanwhile, by the step or by its answer, goes.
static void take_state(Classroom *class, const char *state, bool anew) {
  Diags ignored = diags_new(class->scratch);
  Schedule schedule = schedule_default();
  if (!anew && class->said && str_equal(class->said, state)) return;
  replace(&class->said, state);
  if (schedule_parse(&schedule, state, &ignored)) session_set_schedule(class->session, &schedule);
}

// A follower who looks at another step is told of the teacher's, not moved there; a half-typed line
// was about the step before.
static void call_back(Session *session) {
  const LessonRun *run = &tutor_of(session)->run;
  bool there = session->at.view == view_find("lesson");
  if (there && session->prompt.kind == PROMPT_FIELD) textfield_set(&session->prompt.field, "");
  if (!there)
    session_say(session, SAID_NOTE, "the class is at %s, step %d; 0 goes there", run->lesson->name,
                run->step + 1);
}

static bool take_step(Classroom *class, const JsonValue *root) {
  Tutor *tutor = tutor_of(class->session);
  const char *lesson = NULL, *state = NULL;
  bool revealed = false;
  int step = 0;
  Diags diags = diags_new(class->scratch);
  json_require_string(root, "lesson", &lesson, &diags);
  json_require_int(root, "step", 1, LESSON_STEPS_MAX, &step, &diags);
  json_require_string(root, "state", &state, &diags);
  json_require_bool(root, "revealed", &revealed, &diags);
  if (diags.count) return false;
  bool here = tutor->run.lesson && str_equal(tutor->run.lesson->name, lesson) &&
              tutor->run.step == step - 1;
  if (!here && !tutor_open(class->session, lesson, step, &diags)) {
    session_say(class->session, SAID_WARNING, "%s", diags.first->text);
    return true;
  }
  if (!here) call_back(class->session);
  bool makes = tutor_step(tutor)->ask.kind == ASK_MAKE, answered = revealed && tutor->run.held;
  tutor->run.held = !revealed && !makes;
  if (revealed) tutor_release(class->session);
  // A follower who is making a schedule keeps it until the teacher shows one.
  if (!here || revealed || !makes) take_state(class, state, !here || answered);
  return true;
}

// No one holds the answer any more; a waiting follower may go on alone.
static void lose_teacher(Classroom *class) {
  class_peer_close(&class->teacher);
  tutor_of(class->session)->class.connected = tutor_of(class->session)->run.held = false;
}

static bool poll_follower(Classroom *class) {
  static const char *const keys[] = {"type", "lesson", "step", "state", "revealed"};
  char *line;
  size_t n;
  if (class->teacher.fd < 0) return false;
  bool ok = class_peer_read(&class->teacher);
  for (LineStatus status; (status = line_reader_next(&class->teacher.in, &line, &n));) {
    const char *type = NULL;
    const JsonValue *root = status == LINE_READY ? read_line(class, line, n, keys, 5, &type) : NULL;
    ok = ok && root && str_equal(type, "step") && take_step(class, root);
    if (!root) break;
  }
  if (!ok) lose_teacher(class);
  return true;
}

static void send_guess(Classroom *class) {
  const Tutor *tutor = tutor_of(class->session);
  const char *guess = tutor->run.guess;
  if (tutor->run.lesson && tutor_step(tutor)->ask.kind == ASK_MAKE && *guess)
    guess = tutor->verdict.fact == FACT_RIGHT ? "passed" : "not yet";
  bool moved = class->lesson != tutor->run.lesson || class->step != tutor->run.step;
  if (moved) class->sent_guess[0] = '\0';
  class->lesson = tutor->run.lesson;
  class->step = tutor->run.step;
  if (!*guess || strncmp(class->sent_guess, guess, sizeof class->sent_guess - 1) == 0) return;
  snprintf(class->sent_guess, sizeof class->sent_guess, "%.*s", CLASS_GUESS_BYTES - 1, guess);
  if (!class_peer_send(&class->teacher, line_of(class, &class_guess_form))) lose_teacher(class);
}

static int tick_follower(Classroom *class, int64_t now_ms) {
  if (class->teacher.fd < 0 && now_ms >= class->retry_ms) {
    class->retry_ms = now_ms + CLASS_RETRY_MS;
    call(class);
  }
  if (class->teacher.fd >= 0) send_guess(class);
  return class->teacher.fd >= 0 ? -1 : (int)(class->retry_ms - now_ms);
}

// ---- both ---------------------------------------------------------------------------------------

bool classroom_poll(Classroom *class) {
  arena_reset(class->scratch);
  bool teaches = tutor_of(class->session)->class.role == CLASS_TEACHER;
  return teaches ? poll_teacher(class) : poll_follower(class);
}

int classroom_tick(Classroom *class, int64_t now_ms) {
  arena_reset(class->scratch);
  bool teaches = tutor_of(class->session)->class.role == CLASS_TEACHER;
  return teaches ? tick_teacher(class) : tick_follower(class, now_ms);
}
