// Steps into sessions, guesses into verdicts.
//
// A step is computed once, when it is entered, into the tutor's own arena: placeholders, answer and
// choices; frames only draw it. Entering sets, in this order, the ladder and rung it names, the
// schedule, the comparison, the site, the knob, and the cursor of the view it is about, so that
// both the lesson view and that view itself open on what the text speaks of.
//
// Worked example: step 3 of "padding" has rung fp32/transposed and compares with PAD_SMEM=4. The
// session goes to that rung, A is the padded schedule, the cursor of banks stands on the store, and
// a guess of "8" is answered "8: no, it is more".
#include "tui/frame/tutor.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/stmt.h"
#include "tui/frame/view.h"
#include "tui/session/session.h"

Tutor *tutor_of(const struct Session *session) { return view_own(session, &lesson_view); }

void tutor_init(void *state) { ((Tutor *)state)->arena = arena_new("lesson"); }

void tutor_done(void *state) { arena_free(((Tutor *)state)->arena); }

// ---- reading ------------------------------------------------------------------------------------

// A step may be about every view but the lesson's own and help.
int tutor_views(const char **names) {
  int n = 0;
  for (int i = 0; i < view_count; i++)
    if (!str_equal(view_table[i].name, "lesson") && !str_equal(view_table[i].name, "help"))
      names[n++] = view_table[i].name;
  return n;
}

static const Action *find_action(const Action *actions, int n, const char *call) {
  size_t length = strcspn(call, " ");
  for (int i = 0; i < n; i++)
    if (strlen(actions[i].name) == length && strncmp(actions[i].name, call, length) == 0)
      return &actions[i];
  return NULL;
}

// "element 3,5" of the fragments view. Of what can be done everywhere only Tab: a lesson turns a
// view, it does not leave it.
static const Action *action_of(const char *view, const char *call) {
  int at = view_find(view);
  if (at < 0) return NULL;
  const ViewBody *body = view_table[at].body;
  const Action *action = find_action(body->actions, body->n_actions, call);
  if (action || !str_equal(call, "pane-next")) return action;
  return find_action(global_actions, global_action_count, call);
}

static bool can_do(const char *view, const char *call) { return action_of(view, call) != NULL; }

static void set_world(struct Session *session) {
  Tutor *tutor = tutor_of(session);
  const char **views = ARENA_ARRAY(session->app, const char *, SESSION_VIEWS_MAX);
  tutor->world = (LessonWorld){
      .facts = *session_facts(session),
      .views = views,
      .n_views = tutor_views(views),
      .can_do = can_do,
  };
}

// A second lesson of a name could not be opened, and would share the marks of the first.
static bool is_taken(const Tutor *tutor, const char *name, const char *path, Diags *diags) {
  for (int i = 0; i < tutor->n_lessons; i++) {
    if (!str_equal_fold(tutor->lesson[i]->name, name)) continue;
    diag_add(diags, "lesson", "%s: another lesson is named \"%s\"", path, name);
    return true;
  }
  return false;
}

bool tutor_load(struct Session *session, Diags *diags) {
  Tutor *tutor = tutor_of(session);
  if (tutor->loaded) return tutor->n_lessons > 0;
  tutor->loaded = true;
  set_world(session);
  EmbeddedList list = embed_list(session->app, "lessons/");
  Diags findings = diags_new(session->app);
  for (int i = 0; i < list.count && tutor->n_lessons < TUTOR_LESSONS_MAX; i++) {
    const EmbeddedFile *file = embed_find(session->app, list.paths[i]);
    const Lesson *lesson =
        lesson_read(session->app, file->text, file->size, file->path, &tutor->world, &findings);
    if (!lesson || is_taken(tutor, lesson->name, file->path, &findings)) continue;
    LessonMark *mark = &tutor->mark[tutor->n_lessons];
    snprintf(mark->name, sizeof mark->name, "%s", lesson->name);
    tutor->lesson[tutor->n_lessons++] = lesson;
  }
  diags_add_all(diags, &findings);
  if (findings.first)
    tutor->trouble = arena_printf(session->app, "%s%s%s", findings.first->text,
                                  findings.first->nearest ? "; nearest: " : "",
                                  findings.first->nearest ? findings.first->nearest : "");
  if (list.count == 0) diag_add(diags, "data", "data/lessons has no lesson");
  return tutor->n_lessons > 0;
}

// ---- a step -------------------------------------------------------------------------------------

int tutor_index(const Tutor *tutor) {
  for (int i = 0; i < tutor->n_lessons; i++)
    if (tutor->lesson[i] == tutor->run.lesson) return i;
  return -1;
}

const LessonStep *tutor_step(const Tutor *tutor) {
  return tutor->run.lesson ? &tutor->run.lesson->step[tutor->run.step] : NULL;
}

static void compute(Tutor *tutor) {
  arena_reset(tutor->arena);
  Diags diags = diags_new(tutor->arena);
  tutor->error = tutor->answer = NULL;
  tutor->verdict = (Verdict){0};
  if (lesson_compute(tutor->arena, &tutor->world, tutor->run.lesson, tutor->run.step, &tutor->facts,
                     &diags))
    tutor->answer = lesson_answer(tutor->arena, tutor_step(tutor), &tutor->facts);
  else
    tutor->error = diags_text(tutor->arena, &diags);
}

static void go_to_rung(struct Session *session, const LessonStep *step) {
  Diags ignored = diags_new(session->frame);
  if (!step->rung) return;
  if (session->doc.ladder != step->ladder) session_go_ladder(session, step->ladder->name, &ignored);
  session_go_rung(session, (int)(step->rung - step->ladder->rung));
}

// The first line of the step's view that holds its text gets the cursor; of "last TEXT" the last.
static void seek_line(struct Session *session, const ViewBody *body, const char *text) {
  int n = body->line && body->count ? body->count(session) : 0, found = -1;
  bool last = str_starts(text, "last ");
  if (last) text += strlen("last ");
  for (int i = 0; i < n && (found < 0 || last); i++) {
    const char *line = body->line(session, i);
    if (line && strstr(line, text)) found = i;
  }
  if (found >= 0 && body->go)
    body->go(session, found);
  else if (found >= 0)
    session_view_state(session)->cursor = found;
}

static const char *skip_blanks(const char *text) { return text + strspn(text, " "); }

// The last of them, because a prologue stands before the loop. Of "b <- B_s  LDS.128" the line
// "b[…] = load B_s[…]".
static bool is_line_of(const char *line, const Site *site) {
  const char *dst = site->stmt->op.dst.buffer->name, *src = site->stmt->op.src.buffer->name;
  size_t n = strlen(dst);
  line = skip_blanks(line);
  const char *from = strstr(line, " = ");
  return strncmp(line, dst, n) == 0 && line[n] == '[' && from && strstr(from, src);
}

static void seek_site(struct Session *session, const ViewBody *body, const Site *site) {
  int n = body->line && body->count ? body->count(session) : 0;
  for (int i = 0; i < n && !body->go; i++)
    if (body->line(session, i) && is_line_of(body->line(session, i), site))
      session_view_state(session)->cursor = i;
}

// Lets the view do what the step asks of it; each action finds what the one before prepared.
static void act(struct Session *session, const ViewBody *body, const LessonStep *step) {
  Prompt prompt = session->prompt.kind;  // the line being typed is a guess
  for (int i = 0; i < step->n_do; i++) {
    const char *call = tutor_of(session)->facts.does[i], *argument = strchr(call, ' ');
    if (body->prepare) body->prepare(session);
    action_of(step->view, step->does[i])->run(session, argument ? argument + 1 : NULL);
  }
  session->prompt.kind = prompt;
}

// The cursor of a view to what the step is about.
static void point_view(struct Session *session, const char *name, const LessonStep *step) {
  int view = session->at.view;
  session->at.view = view_find(name);
  const ViewBody *body = view_table[session->at.view].body;
  view_choose_nothing(session);
  if (body->enter) body->enter(session);
  if (body->prepare) body->prepare(session);
  if (step->line)
    seek_line(session, body, step->line);
  else if (step->site && session_site(session))
    seek_site(session, body, session_site(session));
  if (str_equal(name, step->view)) act(session, body, step);
  session->at.view = view;
  session->prepared = NULL;
}

// The site that the step names, in the picture of now: the answer's knobs may have made another.
static void choose_site(struct Session *session, const LessonStep *step) {
  const Model *model = session_model(session);
  FactScene scene = {session->frame, &tutor_of(session)->world.facts, model, NULL};
  Diags ignored = diags_new(session->frame);
  FactValue site;
  if (!step->site) return;
  const char *text = arena_printf(session->frame, "site %s", step->site);
  if (!fact_compute(&scene, text, &site, &ignored)) return;
  for (int i = 0; i < model->n_sites; i++)
    if (model->site[i].text == site.word) session->at.site = i;
  for (int i = 0; i < model->global.n; i++)
    if (model->global.site[i].text == site.word) session->at.site = model->n_sites + i;
}

static void point(struct Session *session, const LessonStep *step) {
  const char *view = tutor_view(tutor_of(session));
  choose_site(session, step);
  session->at.phase = 0;
  point_view(session, view, step);
  // A view that seeks a line may select what stands on it: what the step names goes before.
  if (step->knob != KNOB_NONE) session->at.knob = step->knob;
  choose_site(session, step);
}

const char *tutor_view(const Tutor *tutor) {
  const LessonStep *step = tutor_step(tutor);
  return tutor->run.revealed ? step->view : step->before;
}

// The schedule to show now: the step's own, and with the answer the one that the answer is about.
static const Schedule *wanted(const Tutor *tutor) {
  const LessonStep *step = tutor_step(tutor);
  bool answered = tutor->run.revealed && step->ask.kind != ASK_MAKE;
  return answered ? &tutor->facts.shown : &step->schedule;
}

// A is what the step names; else, where the answer is about other knobs, the step itself.
static void compare(struct Session *session, const LessonStep *step) {
  bool turned = !schedule_same(&step->schedule, &session->doc.now.schedule);
  session_compare_off(session);
  if (step->compares)
    session_compare(session, &step->then, step->then_name);
  else if (turned)
    session_compare(session, &step->schedule, "the step");
}

static void show(struct Session *session) {
  Tutor *tutor = tutor_of(session);
  const LessonStep *step = tutor_step(tutor);
  go_to_rung(session, step);
  session_set_schedule(session, wanted(tutor));
  compare(session, step);
  session->prompt.message[0] = '\0';
  session->at.arrived = false;       // the step tells its own story
  session->at.change = CHANGE_GONE;  // the step before is nothing to hold this one against
  point(session, step);
  if (session->prompt.said != SAID_ERROR) session->prompt.message[0] = '\0';
}

// The text from its first line on, or its end where it is longer than its part of the screen.
static void scroll(struct Session *session, int line) {
  session->at.state[view_find("lesson")].cursor = line;
}

static void enter_step(struct Session *session, int step) {
  Tutor *tutor = tutor_of(session);
  scroll(session, 0);
  tutor->run.step = step;
  tutor->run.guess[0] = '\0';
  tutor->run.revealed = false;
  tutor->listing = false;
  compute(tutor);
  if (!tutor->error) show(session);
  LessonMark *mark = &tutor->mark[tutor_index(tutor)];
  mark->step = step;
  session->wishes.keep_progress = true;
}

bool tutor_go(struct Session *session, int step) {
  const Tutor *tutor = tutor_of(session);
  if (!tutor->run.lesson || step < 0 || step >= tutor->run.lesson->n_steps) return false;
  if (step != tutor->run.step) enter_step(session, step);
  return true;
}

bool tutor_open_at(struct Session *session, int lesson, int step) {
  Tutor *tutor = tutor_of(session);
  if (lesson < 0 || lesson >= tutor->n_lessons) return false;
  int n = tutor->lesson[lesson]->n_steps;
  int to = step > 0 ? step - 1 : tutor->mark[lesson].step;
  tutor->run = (LessonRun){.lesson = tutor->lesson[lesson], .held = tutor->run.held};
  session->doc.narrated = true;
  tutor->list_at = lesson;
  enter_step(session, to < 0 || to >= n ? 0 : to);
  return true;
}

bool tutor_open(struct Session *session, const char *name, int step, Diags *diags) {
  Tutor *tutor = tutor_of(session);
  if (!tutor_load(session, diags)) return false;
  const Lesson *lesson = lesson_find(tutor->lesson, tutor->n_lessons, name, diags);
  if (!lesson) return false;
  if (step < 0 || step > lesson->n_steps) {
    Diag *diag = diag_add(diags, "lesson",
                          "the lesson %s has steps 1 to %d; step %d does not "
                          "exist",
                          lesson->name, lesson->n_steps, step);
    diag->nearest = step < 0 ? "1" : arena_printf(diags->arena, "%d", lesson->n_steps);
    return false;
  }
  int at = 0;
  while (tutor->lesson[at] != lesson) at++;
  return tutor_open_at(session, at, step);
}

// ---- guessing -----------------------------------------------------------------------------------

static void mark_step(struct Session *session, bool right) {
  Tutor *tutor = tutor_of(session);
  LessonMark *mark = &tutor->mark[tutor_index(tutor)];
  uint32_t bit = UINT32_C(1) << tutor->run.step;
  if (right && !(mark->shown & bit)) mark->right |= bit;
  if (!right && !(mark->right & bit)) mark->shown |= bit;
  session->wishes.keep_progress = true;
}

// A schedule of the reader's own stays: it is what the answer is about.
static void show_answer(struct Session *session) {
  Tutor *tutor = tutor_of(session);
  tutor->run.revealed = true;
  scroll(session, INT_MAX);
  if (tutor_step(tutor)->ask.kind != ASK_MAKE) show(session);
}

static void judge(struct Session *session, Verdict verdict) {
  Tutor *tutor = tutor_of(session);
  tutor->verdict = verdict;
  tutor->judged = session->doc.now.schedule;
  if (tutor->run.held)
    tutor->verdict.text = arena_printf(tutor->arena, "%s: your guess is in", tutor->run.guess);
  if (tutor->run.held || verdict.fact != FACT_RIGHT) return;
  mark_step(session, true);
  show_answer(session);
}

void tutor_guess(struct Session *session, const char *guess) {
  Tutor *tutor = tutor_of(session);
  const LessonStep *step = tutor_step(tutor);
  if (!step || tutor->error || step->ask.kind == ASK_NOTHING) return;
  snprintf(tutor->run.guess, sizeof tutor->run.guess, "%s", str_sanitise(session->frame, guess));
  judge(session, lesson_check(tutor->arena, &tutor->world, step, &tutor->facts, tutor->run.guess));
}

void tutor_guess_schedule(struct Session *session) {
  Tutor *tutor = tutor_of(session);
  const LessonStep *step = tutor_step(tutor);
  if (!step || tutor->error || step->ask.kind != ASK_MAKE) return;
  snprintf(tutor->run.guess, sizeof tutor->run.guess, "your schedule");
  judge(session, lesson_check_schedule(tutor->arena, &tutor->world, step, &tutor->facts,
                                       &session->doc.now.schedule));
}

void tutor_reveal(struct Session *session) {
  Tutor *tutor = tutor_of(session);
  const LessonStep *step = tutor_step(tutor);
  if (!step || tutor->error || step->ask.kind == ASK_NOTHING || tutor->run.revealed) return;
  if (tutor->run.held) {
    session_say(session, SAID_NOTE, "the teacher reveals this one");
    return;
  }
  mark_step(session, false);
  show_answer(session);
}

void tutor_release(struct Session *session) {
  Tutor *tutor = tutor_of(session);
  const LessonStep *step = tutor_step(tutor);
  tutor->run.held = false;
  if (!step || tutor->run.revealed) return;
  if (tutor->run.guess[0] && step->ask.kind != ASK_MAKE)
    tutor_guess(session, arena_strdup(session->frame, tutor->run.guess));
  tutor_reveal(session);
}

// ---- the knobs ----------------------------------------------------------------------------------

int tutor_edits(const struct Session *session) {
  const LessonStep *step = tutor_step(tutor_of(session));
  return step ? schedule_distance(&session->doc.now.schedule, wanted(tutor_of(session))) : 0;
}

void tutor_restore(struct Session *session) {
  if (tutor_step(tutor_of(session)) && !tutor_of(session)->error) show(session);
}
