// The loop: wait, change the session, draw, present.
//
// Drawing comes before everything that can wait. After a key the frame is prepared, drawn and sent;
// only when no key is waiting does an idle step run (a trial of the model, half a millisecond), and
// only when the knobs have rested is something compiled, by the worker. Keys that are already there
// are all taken before the next frame, so that a held key never lags behind.
#include "tui/app.h"
#include "tui/frame/explorer.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "kernels/worker/lines.h"
#include "tui/canvas/clipboard.h"
#include "tui/frame/classroom.h"
#include "tui/frame/drive.h"
#include "tui/frame/lesson_progress.h"
#include "tui/frame/requests.h"
#include "tui/frame/resume.h"
#include "tui/frame/script.h"
#include "tui/frame/tutor.h"
#include "tui/frame/view.h"
#include "tui/session/tuning.h"
#include "tui/views/own/own_work.h"

enum { EVENTS_PER_FRAME = 64, IDLE_STEPS = 8, IDLE_MS = 3, VERB_MS = 40 };

typedef struct App {
  Arena *arena;
  Session *session;
  Terminal *terminal;
  Canvas *canvas;
  const Theme *theme;
  Requests *requests;
  bool idle_left;        // there are trials to make
  bool ended;            // the terminal is gone or a signal came
  const char *progress;  // where they are kept; NULL: nowhere
  Classroom *class;      // NULL: no class
  int wake;              // epoll of the worker and the class; -1 without a class
} App;

static void frame(App *app) {
  int rows = terminal_rows(app->terminal), cols = terminal_cols(app->terminal);
  if (rows != app->canvas->rows || cols != app->canvas->cols)
    canvas_resize(app->canvas, rows, cols);
  drive_frame(app->session, app->canvas);
  terminal_present(app->terminal, app->canvas, app->theme);
  app->idle_left = true;
}

static void copy(App *app, const char *text) {
  const char *said = clipboard_copy(app->session->frame, text, terminal_write, app->terminal);
  session_say(app->session, SAID_NOTE, "%s: %s", said, text);
}

// Marks are known before the first key, so that "where it was left" is where it was left.
static void load_progress(App *app) {
  Tutor *tutor = tutor_of(app->session);
  Diags diags = diags_new(app->arena);
  const char *path = progress_path(app->arena);
  if (!path || !tutor_load(app->session, &diags)) return;
  diags = diags_new(app->arena);
  if (progress_load(tutor, path, &diags))
    app->progress = path;
  else
    session_say(app->session, SAID_WARNING, "no progress is kept: %s", diags.first->text);
}

static void keep_progress(App *app) {
  if (!app->progress) return;
  Arena *arena = arena_new("progress");
  const char *why = progress_save(arena, tutor_of(app->session), app->progress);
  if (why) session_say(app->session, SAID_WARNING, "%s: %s", app->progress, why);
  if (why) app->progress = NULL;
  arena_free(arena);
}

static void grant_wishes(App *app) {
  Session *session = app->session;
  Wishes wishes = session->wishes;
  session->wishes = (Wishes){.quit = wishes.quit};
  if (wishes.keep_progress) keep_progress(app);
  if (wishes.copy) copy(app, wishes.copy);
  if (wishes.save_path) drive_save(session, app->canvas, wishes.save_path);
  if (wishes.redraw) terminal_redraw(app->terminal);
  if (wishes.bench) requests_bench(app->requests);
  if (wishes.probe) requests_probe(app->requests);
  if (wishes.trace) requests_trace(app->requests);
  if (wishes.bench_sweep) requests_bench_sweep(app->requests);
  if (wishes.tune_seconds > 0) requests_tune(app->requests, wishes.tune_seconds);
  if (wishes.known) requests_known_again(app->requests);
  if (wishes.history) requests_history(app->requests);
  if (wishes.stop) requests_stop_timing(app->requests);
  if (wishes.suspend) terminal_suspend(app->terminal);
  if (!wishes.toggle_mouse) return;
  terminal_set_mouse(app->terminal, !terminal_mouse(app->terminal));
  session_say(session, SAID_NOTE, "mouse %s", terminal_mouse(app->terminal) ? "on" : "off");
}

// The canvas says what a click means, and a key of the same batch may have outdated it: an old spot
// could name a row or a knob that is no more.
static void click(App *app, const Event *event) {
  drive_frame(app->session, app->canvas);
  view_mouse(app->session, app->canvas, event);
}

static void take(App *app, const Event *event) {
  if (event->kind == EVENT_KEY) view_key(app->session, event->key);
  if (event->kind == EVENT_MOUSE) click(app, event);
  if (event->kind == EVENT_PASTE) view_paste(app->session, event->text);
  if (event->kind == EVENT_WAKE) {
    requests_poll(app->requests);
    if (app->class) classroom_poll(app->class);
  }
  if (event->kind == EVENT_END) app->ended = true;
  grant_wishes(app);
  // The next key may ask a view what it prepared: that must be of the state the key is for.
  view_prepare(app->session, app->canvas->rows, app->canvas->cols);
}

// A few trials, no longer than a key may wait; true when they changed what the screen can say.
static bool idle(App *app) {
  bool news = false;
  int before = app->session->background.advice->n_done;
  int64_t begin = clock_ms();
  for (int i = 0; i < IDLE_STEPS && app->idle_left && clock_ms() - begin < IDLE_MS; i++) {
    bool its = false;
    app->idle_left = view_idle(app->session, &its);
    news |= its;
  }
  bool first = before < 2 && app->session->background.advice->n_done >= 2;
  return news || first || !app->idle_left;
}

// The terminal waits for one descriptor besides its own.
static void join_fds(App *app) {
  if (!app->class) return;
  app->wake = epoll_create1(EPOLL_CLOEXEC);
  int fds[] = {classroom_fd(app->class), requests_fd(app->requests)};
  for (int i = 0; i < 2; i++) {
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = fds[i]}};
    if (fds[i] >= 0) epoll_ctl(app->wake, EPOLL_CTL_ADD, fds[i], &event);
  }
}

static int wake_fd(const App *app) { return app->class ? app->wake : requests_fd(app->requests); }

static int sooner(int a, int b) { return a < 0 ? b : b < 0 ? a : a < b ? a : b; }

// Does the next work of the worker and of the class; returns the milliseconds until the next.
static int tick(App *app) {
  int64_t now = clock_ms();
  int due = requests_tick(app->requests, now);
  if (!app->class) return due;
  return sooner(due, classroom_tick(app->class, now));
}

// Waits for something, doing what can wait meanwhile; then takes everything that is there.
static void turn(App *app) {
  int fd = wake_fd(app);
  for (;;) {
    int due = tick(app);
    bool running = verbs_running(pager_of(app->session)->verbs);
    bool waits = views_wait(app->session);
    if ((running || waits) && (due < 0 || due > VERB_MS)) due = VERB_MS;
    Event event = terminal_wait(app->terminal, app->idle_left ? 0 : due, fd);
    if (running && verbs_poll(pager_of(app->session)->verbs)) frame(app);
    if (waits && views_poll(app->session)) {
      grant_wishes(app);
      frame(app);
    }
    if (event.kind == EVENT_NONE) {
      if (app->idle_left && idle(app)) {
        bool left = app->idle_left;
        frame(app);
        app->idle_left = left;
      }
      continue;
    }
    take(app, &event);
    for (int i = 0; i < EVENTS_PER_FRAME && !app->ended && !app->session->wishes.quit; i++) {
      event = terminal_wait(app->terminal, 0, -1);
      if (event.kind == EVENT_NONE) return;
      take(app, &event);
    }
    return;
  }
}

static bool run_script(App *app, const char *path, Diags *diags) {
  if (!path) return true;
  return drive_script_file(app->session, app->canvas, path, diags);
}

static bool open_lesson(App *app, const AppOptions *options, Diags *diags) {
  Session *session = app->session;
  if (!options->lesson) return true;
  if (!tutor_load(session, diags)) return false;
  bool chosen = *options->lesson != '\0';
  if (chosen && !tutor_open(session, options->lesson, options->lesson_step, diags)) return false;
  view_show(session, view_find("lesson"));
  return true;
}

static bool open_kernel(App *app, const AppOptions *options, Diags *diags) {
  if (options->n_opened == 0) return true;
  view_show(app->session, view_find("own"));
  return own_begin(app->session, options->opened, options->n_opened, options->watches, diags);
}

// A class is called like the lesson that it begins with.
static bool open_class(App *app, const AppOptions *options, Diags *diags) {
  Session *session = app->session;
  if (options->role == CLASS_TEACHER)
    app->class = classroom_teach(app->arena, session, tutor_of(session)->run.lesson->name, diags);
  if (options->role == CLASS_FOLLOWER)
    app->class = classroom_join(app->arena, session, options->room, options->who, diags);
  if (app->class && options->results)
    return classroom_keep_results(app->class, options->results, diags);
  return options->role == CLASS_NONE || app->class;
}

static bool open_app(App *app, const AppOptions *options, Diags *diags) {
  app->theme = theme_find(app->arena, options->theme ? options->theme : "default", diags);
  if (!app->theme) return false;
  SessionOptions session = options->session;
  session.ascii = options->terminal.ascii || terminal_wants_ascii();
  app->session = explorer_open(&session, diags);
  if (app->session) load_progress(app);
  return app->session && open_lesson(app, options, diags) && open_class(app, options, diags) &&
         open_kernel(app, options, diags);
}

static void print_state(const App *app) {
  const OpenedRun *opened = own_work(app->session)->run;
  if (opened_run_given(opened)) printf("gemmview open %s\n", opened_run_text(app->arena, opened));
  const LessonRun *run = &tutor_of(app->session)->run;
  const char *command[] = {
      [CLASS_NONE] = "lesson", [CLASS_TEACHER] = "teach", [CLASS_FOLLOWER] = "lesson"};
  printf("gemmview -k '%s'\n", session_state_text(app->arena, app->session));
  if (run->lesson)
    printf("gemmview %s %s --at %d\n", command[tutor_of(app->session)->class.role],
           run->lesson->name, run->step + 1);
  fflush(stdout);
}

// A faulty configuration costs its faulty lines, never the explorer.
static void bind_keys(App *app, const AppOptions *options) {
  Diags diags = diags_new(app->arena);
  if (options->config) config_bind(options->config, app->session->keymap, &diags);
  const char *notice = options->notice ? options->notice : diags.first ? diags.first->text : NULL;
  if (notice) session_say(app->session, SAID_WARNING, "%s", notice);
}

// A user who asked for nothing in particular is told where to begin.
static void welcome(App *app, const AppOptions *options) {
  Session *session = app->session;
  const SessionOptions *asked = &options->session;
  session->prompt.fresh = !asked->state && !asked->ladder && !asked->rung && !options->lesson &&
                          !options->script && !options->n_opened && options->role == CLASS_NONE &&
                          !session->prompt.message[0];
  if (session->prompt.fresh)
    session_say(session, SAID_NOTE, "new here? Enter opens the lessons, %s lists every key",
                view_key_name(session, "view help"));
}

static AppEnd run_terminal(App *app, const AppOptions *options, Diags *diags) {
  app->terminal = terminal_open(&options->terminal, diags);
  if (!app->terminal) return APP_NO_TERMINAL;
  if (diags->first) session_say(app->session, SAID_WARNING, "%s", diags->first->text);
  bind_keys(app, options);
  if (options->resumes && resume_take(app->session))
    session_say(app->session, SAID_NOTE, "back where the connection was lost");
  welcome(app, options);
  if (options->n_verbs) pager_of(app->session)->verbs = verbs_new(options->verbs, options->n_verbs);
  app->canvas = canvas_new(app->arena, terminal_rows(app->terminal), terminal_cols(app->terminal),
                           terminal_ascii(app->terminal));
  frame(app);
  app->requests = requests_start(app->arena, options->client, app->session);
  join_fds(app);
  bool ok = run_script(app, options->script, diags);
  frame(app);
  while (ok && !app->ended && !app->session->wishes.quit) {
    turn(app);
    frame(app);
  }
  if (app->ended && options->resumes) resume_save(app->session);
  tuning_free(app->session);
  requests_stop(app->requests);
  verbs_free(pager_of(app->session)->verbs);
  terminal_close(app->terminal);
  print_state(app);
  return !ok ? APP_FAILED : app->ended ? APP_INTERRUPTED : APP_QUIT;
}

AppEnd app_run(const AppOptions *options, Diags *diags) {
  App app = {.arena = arena_new("explorer"), .wake = -1};
  AppEnd end = APP_FAILED;
  if (open_app(&app, options, diags)) end = run_terminal(&app, options, diags);
  classroom_close(app.class);
  if (app.wake >= 0) close(app.wake);
  diags_keep(diags);  // names of lessons and rooms go with the session and the arena
  if (app.session) explorer_close(app.session);
  arena_free(app.arena);
  return end;
}
