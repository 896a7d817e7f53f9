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
#include "tui/tutor.h"

#include <stdio.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "tui/session.h"
#include "tui/view.h"

Tutor *tutor_new(Arena *app) {
  Tutor *tutor = ARENA_NEW(app, Tutor);
  tutor->arena = arena_new("lesson");
  return tutor;
}

void tutor_free(Tutor *tutor) {
  if (tutor) arena_free(tutor->arena);
}

// ---- reading ------------------------------------------------------------------------------------

// A step may be about every view but the lesson's own and help.
int tutor_views(const char **names) {
  int n = 0;
  for (int i = 0; i < view_count; i++)
    if (!str_equal(view_table[i].name, "lesson") && !str_equal(view_table[i].name, "help"))
      names[n++] = view_table[i].name;
  return n;
}

static void set_world(struct Session *session) {
  Tutor *tutor = session->tutor;
  const char **views = ARENA_ARRAY(session->app, const char *, SESSION_VIEWS_MAX);
  tutor->world = (LessonWorld){
      .facts = {&session->targets, session->ladders, session->n_ladders},
      .views = views,
      .n_views = tutor_views(views),
  };
}

bool tutor_load(struct Session *session, Diags *diags) {
  Tutor *tutor = session->tutor;
  if (tutor->loaded) return tutor->n_lessons > 0;
  tutor->loaded = true;
  set_world(session);
  EmbeddedList list = embed_list(session->app, "lessons/");
  Diags findings = diags_new(session->app);
  for (int i = 0; i < list.count && tutor->n_lessons < TUTOR_LESSONS_MAX; i++) {
    const EmbeddedFile *file = embed_find(session->app, list.paths[i]);
    const Lesson *lesson =
        lesson_read(session->app, file->text, file->size, file->path, &tutor->world, &findings);
    if (!lesson) continue;
    LessonMark *mark = &tutor->mark[tutor->n_lessons];
    snprintf(mark->name, sizeof mark->name, "%s", lesson->name);
    tutor->lesson[tutor->n_lessons++] = lesson;
  }
  for (const Diag *d = findings.first; d; d = d->next)
    diag_add(diags, d->rule, "%s", d->text)->nearest = d->nearest;
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
  if (session->ladder != step->ladder) session_go_ladder(session, step->ladder->name, &ignored);
  session_go_rung(session, (int)(step->rung - step->ladder->rung));
}

// The first line of the step's view that holds its text gets the cursor.
static void seek_line(struct Session *session, const ViewBody *body, const char *text) {
  int n = body->line && body->count ? body->count(session) : 0;
  for (int i = 0; i < n; i++) {
    const char *line = body->line(session, i);
    if (!line || !strstr(line, text)) continue;
    if (body->go)
      body->go(session, i);
    else
      session_view_state(session)->cursor = i;
    return;
  }
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

// The cursor of a view to what the step is about.
static void point_view(struct Session *session, const char *name, const LessonStep *step) {
  int view = session->view;
  session->view = view_find(name);
  const ViewBody *body = view_table[session->view].body;
  *session_view_state(session) = (ViewState){0};
  if (body->enter) body->enter(session);
  if (body->prepare) body->prepare(session);
  if (step->line)
    seek_line(session, body, step->line);
  else if (session->tutor->facts.site >= 0)
    seek_site(session, body, session_site(session));
  session->view = view;
  session->prepared = NULL;
}

static void point(struct Session *session, const LessonStep *step) {
  const Tutor *tutor = session->tutor;
  if (step->knob != KNOB_NONE) session->knob = step->knob;
  if (tutor->facts.site >= 0) session->site = tutor->facts.site;
  session->phase = 0;
  point_view(session, step->before, step);
  if (!str_equal(step->view, step->before)) point_view(session, step->view, step);
  if (tutor->facts.site >= 0) session->site = tutor->facts.site;
}

const char *tutor_view(const Tutor *tutor) {
  const LessonStep *step = tutor_step(tutor);
  return tutor->run.revealed ? step->view : step->before;
}

static void show(struct Session *session) {
  Tutor *tutor = session->tutor;
  const LessonStep *step = tutor_step(tutor);
  go_to_rung(session, step);
  session_set_schedule(session, &step->schedule);
  session_compare_off(session);
  if (step->compares) session_compare(session, &step->then, step->then_name);
  session->message[0] = '\0';
  point(session, step);
}

static void enter_step(struct Session *session, int step) {
  Tutor *tutor = session->tutor;
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
  const Tutor *tutor = session->tutor;
  if (!tutor->run.lesson || step < 0 || step >= tutor->run.lesson->n_steps) return false;
  if (step != tutor->run.step) enter_step(session, step);
  return true;
}

bool tutor_open_at(struct Session *session, int lesson, int step) {
  Tutor *tutor = session->tutor;
  if (lesson < 0 || lesson >= tutor->n_lessons) return false;
  int n = tutor->lesson[lesson]->n_steps;
  int to = step > 0 ? step - 1 : tutor->mark[lesson].step;
  tutor->run = (LessonRun){.lesson = tutor->lesson[lesson], .held = tutor->run.held};
  tutor->list_at = lesson;
  enter_step(session, to < 0 || to >= n ? 0 : to);
  return true;
}

bool tutor_open(struct Session *session, const char *name, int step, Diags *diags) {
  Tutor *tutor = session->tutor;
  if (!tutor_load(session, diags)) return false;
  const Lesson *lesson = lesson_find(tutor->lesson, tutor->n_lessons, name, diags);
  if (!lesson) return false;
  if (step < 0 || step > lesson->n_steps) {
    Diag *diag = diag_add(diags, "lesson", "the lesson %s has steps 1 to %d, not %d", lesson->name,
                          lesson->n_steps, step);
    diag->nearest = step < 0 ? "1" : arena_printf(diags->arena, "%d", lesson->n_steps);
    return false;
  }
  int at = 0;
  while (tutor->lesson[at] != lesson) at++;
  return tutor_open_at(session, at, step);
}

// ---- guessing -----------------------------------------------------------------------------------

static void mark_step(struct Session *session, bool right) {
  Tutor *tutor = session->tutor;
  LessonMark *mark = &tutor->mark[tutor_index(tutor)];
  uint32_t bit = UINT32_C(1) << tutor->run.step;
  if (right && !(mark->shown & bit)) mark->right |= bit;
  if (!right && !(mark->right & bit)) mark->shown |= bit;
  session->wishes.keep_progress = true;
}

static void judge(struct Session *session, Verdict verdict) {
  Tutor *tutor = session->tutor;
  tutor->verdict = verdict;
  if (tutor->run.held)
    tutor->verdict.text = arena_printf(tutor->arena, "%s: your guess is in", tutor->run.guess);
  if (tutor->run.held || verdict.fact != FACT_RIGHT) return;
  mark_step(session, true);
  tutor->run.revealed = true;
}

void tutor_guess(struct Session *session, const char *guess) {
  Tutor *tutor = session->tutor;
  const LessonStep *step = tutor_step(tutor);
  if (!step || tutor->error || step->ask.kind == ASK_NOTHING) return;
  snprintf(tutor->run.guess, sizeof tutor->run.guess, "%s", str_sanitise(session->frame, guess));
  judge(session, lesson_check(tutor->arena, &tutor->world, step, &tutor->facts, tutor->run.guess));
}

void tutor_guess_schedule(struct Session *session) {
  Tutor *tutor = session->tutor;
  const LessonStep *step = tutor_step(tutor);
  if (!step || tutor->error || step->ask.kind != ASK_MAKE) return;
  snprintf(tutor->run.guess, sizeof tutor->run.guess, "your schedule");
  judge(session, lesson_check_schedule(tutor->arena, &tutor->world, step, &tutor->facts,
                                       &session->now.schedule));
}

void tutor_reveal(struct Session *session) {
  Tutor *tutor = session->tutor;
  const LessonStep *step = tutor_step(tutor);
  if (!step || tutor->error || step->ask.kind == ASK_NOTHING || tutor->run.revealed) return;
  if (tutor->run.held) {
    session_say(session, SAID_NOTE, "the teacher reveals this one");
    return;
  }
  tutor->run.revealed = true;
  mark_step(session, false);
}

void tutor_release(struct Session *session) {
  Tutor *tutor = session->tutor;
  const LessonStep *step = tutor_step(tutor);
  tutor->run.held = false;
  if (!step || tutor->run.revealed) return;
  if (tutor->run.guess[0] && step->ask.kind != ASK_MAKE)
    tutor_guess(session, arena_strdup(session->frame, tutor->run.guess));
  tutor_reveal(session);
}

// ---- the knobs ----------------------------------------------------------------------------------

int tutor_edits(const struct Session *session) {
  const LessonStep *step = tutor_step(session->tutor);
  return step ? schedule_distance(&session->now.schedule, &step->schedule) : 0;
}

void tutor_restore(struct Session *session) {
  if (tutor_step(session->tutor) && !session->tutor->error) show(session);
}
