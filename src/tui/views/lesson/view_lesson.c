// lesson: read, predict, reveal. The text above the view it is about, both live; on a wide screen
// the question stands beside the text, on a very wide one both beside the view.
//
//   LESSON 4 banks  3/8  One word for all                            ●●▸○··○○
//   text …                                  PREDICT question
//                                           verdict, answer, why
//   ── 3 banks ────────────────────────────────────────────────────────────────
//   the view of the step, drawn by that view
//
// Until the answer is shown the view is one that does not give it away: the nest instead of a card
// that says "4-WAY", and no access wears its price. A step about a breakage shows the program and
// the broken one as a diff instead (lesson_view.h). The view draws itself into its part of the
// screen, with its own cursor: `prepare` lets it prepare, and a copy of the session with that view
// on is what it draws. Up and Down move its cursor; pages move the text where there is more of it
// than fits. v shows that view alone, 0 comes back to the same place. Without a lesson, and with L,
// the list of lessons is shown.
//
// ViewState: cursor is the first line of the text that is shown.
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/tutor.h"
#include "tui/frame/view.h"
#include "tui/views/lesson/lesson_view.h"

enum { SPOT_LESSON = 1 << 20, SPOT_STEP, PAGE = 3 };
enum {
  TWO_COLUMNS = 100,  // of text from here on
  BESIDE_COLS = 170,  // text and view side by side from here on
  TEXT_COLS_MAX = 72,
  STAGE_ROWS_MIN = 7,
  STAGE_ROWS = 9,    // that a long text leaves to the view, as long as it has
  TEXT_ROWS_MIN = 8  // rows itself
};

enum { FRAME_ROWS = 3 };  // tabs, the state and the footer; a message takes one more

typedef struct LessonFrame {
  LessonParts parts;
  int inner;                  // the view of the step; -1: none
  const Session *stage;       // the session as that view sees it; NULL: there is none
  const LessonBreak *broken;  // drawn in that view's place; NULL: nothing is broken here
  bool stage_shown;
  int hidden;  // lines of text that do not fit
} LessonFrame;

// The step's view draws a copy of the session, in which the accesses may be veiled: what is large
// in a session lies behind pointers.
_Static_assert(sizeof(Session) <= 16 << 10, "every frame of a lesson copies the session");

// The places of the text, the question and the step's view.
typedef struct LessonLayout {
  Rect text, ask, stage;  // ask.cols 0: it stands under the text; stage.rows 0: not shown
} LessonLayout;

// ---- preparing ----------------------------------------------------------------------------------

// A copy in which no access has a count: what wavefronts and sectors there are is not told before
// it is guessed.
static Picture *veil(Arena *arena, const Picture *picture) {
  Picture *veiled = ARENA_NEW(arena, Picture);
  Model *model = ARENA_NEW(arena, Model);
  Site *site = ARENA_ARRAY(arena, Site, picture->model->n_sites);
  GlobalSite *global = ARENA_ARRAY(arena, GlobalSite, picture->model->global.n);
  *veiled = *picture;
  *model = *picture->model;
  for (int i = 0; i < model->n_sites; i++) {
    site[i] = picture->model->site[i];
    site[i].count = (BankCount){.known = false};
  }
  for (int i = 0; i < model->global.n; i++) {
    global[i] = picture->model->global.site[i];
    global[i].count = (SectorCount){.known = false};
  }
  model->site = site;
  model->global.site = global;
  veiled->model = model;
  return veiled;
}

static bool is_veiled(const Tutor *tutor) {
  AskKind kind = tutor_step(tutor)->ask.kind;
  return !tutor->run.revealed && (kind == ASK_FACT || kind == ASK_CHOICE);
}

// A column of text leaves a blank on either side.
static int column_rows(const LessonFrame *frame, PartKind kind, int cols) {
  return parts_rows(&frame->parts, kind, cols - 2);
}

static int needed_rows(const LessonFrame *frame, const LessonLayout *at) {
  if (!at->ask.cols) return column_rows(frame, PART_ANY, at->text.cols);
  int told = column_rows(frame, PART_TOLD, at->text.cols);
  int asked = column_rows(frame, PART_ASKED, at->ask.cols);
  return told > asked ? told : asked;
}

static LessonLayout lay_out(const LessonFrame *frame, Rect in) {
  LessonLayout at = {.text = in};
  rect_take_top(&at.text, 1);
  if (frame->inner < 0) return at;
  at.stage = at.text;
  if (in.cols >= BESIDE_COLS) {
    int cols = in.cols * 2 / 5;
    at.text = rect_take_left(&at.stage, cols > TEXT_COLS_MAX ? TEXT_COLS_MAX : cols);
    return at;
  }
  int half = in.cols >= TWO_COLUMNS ? in.cols / 2 : 0;
  at.ask.cols = half;
  at.text.cols -= half;
  int all = at.text.rows, most = all - STAGE_ROWS, rows = needed_rows(frame, &at);
  if (most < TEXT_ROWS_MIN) most = all;
  at.text.rows = at.ask.rows = rows < most ? rows : most;
  rect_take_top(&at.stage, at.text.rows);
  if (at.stage.rows < STAGE_ROWS_MIN) {
    at.text.rows = at.ask.rows = all;
    at.stage.rows = 0;
  }
  at.ask.row = at.text.row;
  at.ask.col = at.text.col + at.text.cols;
  return at;
}

// The session as the step's view is to draw it: what it prepared, and no counts before the answer.
static const Session *make_stage(Session *session) {
  Session *stage = ARENA_NEW(session->frame, Session);
  *stage = *session;
  if (!is_veiled(tutor_of(session))) return stage;
  stage->doc.now.picture = veil(session->frame, session->doc.now.picture);
  if (session->doc.comparing)
    stage->doc.then.picture = veil(session->frame, session->doc.then.picture);
  return stage;
}

// The step's view prepares itself as if its part of the screen, `in`, were all there is of it.
static void prepare_stage(Session *session, LessonFrame *frame, Rect in) {
  const ViewBody *body = view_table[frame->inner].body;
  const int view = session->at.view, rows = session->rows, cols = session->cols;
  const bool beside = in.cols < cols;  // a line stands between it and the text
  session->at.view = frame->inner;
  session->prepared = NULL;
  if (in.rows > 0) {
    session->rows = in.rows - 1 + FRAME_ROWS;
    session->cols = in.cols - beside;
  }
  if (body->prepare) body->prepare(session);
  frame->stage = make_stage(session);
  session->at.view = view;
  session->rows = rows;
  session->cols = cols;
}

static void prepare_step(Session *session, LessonFrame *frame) {
  const Tutor *tutor = tutor_of(session);
  if (tutor->error) {
    parts_tell(&frame->parts, STYLE_BAD, tutor->error);
  } else {
    parts_tell(&frame->parts, STYLE_TEXT, tutor->facts.text);
    parts_add_question(session, &frame->parts);
    parts_add_class(session, &frame->parts);
    parts_add_answer(session, &frame->parts);
    parts_add_remarks(session, &frame->parts);
    frame->inner = view_find(tutor_view(tutor));
    frame->broken =
        lesson_break(session->frame, tutor_step(tutor), session_model(session)->program);
  }
  LessonLayout at = lay_out(frame, (Rect){0, 0, session->rows - FRAME_ROWS, session->cols});
  if (frame->inner >= 0) prepare_stage(session, frame, at.stage);
  int hidden = needed_rows(frame, &at) - at.text.rows;
  ViewState *state = session_view_state(session);
  frame->stage_shown = at.stage.rows > 0;
  frame->hidden = hidden > 0 ? hidden : 0;
  if (state->cursor > frame->hidden) state->cursor = frame->hidden;
}

static void lesson_prepare(Session *session) {
  LessonFrame *frame = ARENA_NEW(session->frame, LessonFrame);
  frame->inner = -1;
  if (tutor_of(session)->run.lesson && !tutor_of(session)->listing) prepare_step(session, frame);
  session->prepared = frame;
}

// ---- a step -------------------------------------------------------------------------------------

static Glyph step_glyph(const LessonStep *step, const LessonMark *mark, int i) {
  if (step->ask.kind == ASK_NOTHING) return GLYPH_MIDDLE_DOT;
  if (mark->right >> i & 1) return GLYPH_CIRCLE;
  return mark->shown >> i & 1 ? GLYPH_SHADE_MEDIUM : GLYPH_CIRCLE_OPEN;
}

// One mark for each step: guessed right, looked at, open; nothing is asked at a dot.
static void draw_dots(Canvas *canvas, Rect row, int col, const Tutor *tutor) {
  const Lesson *lesson = tutor->run.lesson;
  const LessonMark *mark = &tutor->mark[tutor_index(tutor)];
  for (int i = 0; i < lesson->n_steps; i++) {
    bool here = i == tutor->run.step;
    Style style = mark->right >> i & 1 ? STYLE_OK : STYLE_TEXT;
    if (here) style = style_over(style, STYLE_CURSOR);
    canvas_glyph(canvas, row, 0, col + i, style, step_glyph(&lesson->step[i], mark, i));
    canvas_spot(canvas, (Rect){row.row, row.col + col + i, 1, 1}, SPOT_STEP, i);
  }
}

static void draw_head(Canvas *canvas, Rect row, const Tutor *tutor) {
  const Lesson *lesson = tutor->run.lesson;
  int dots = row.cols - lesson->n_steps - 1;
  int col = canvas_printf(canvas, row, 0, 1, STYLE_HEADER, "LESSON %d ", tutor_index(tutor) + 1);
  col = canvas_text(canvas, row, 0, col, STYLE_ACCENT, lesson->name);
  col = canvas_printf(canvas, row, 0, col + 2, STYLE_DIM, "%d/%d", tutor->run.step + 1,
                      lesson->n_steps);
  if (dots - col > 4)
    canvas_fit(canvas, row, 0, col + 2, dots - col - 3, ALIGN_LEFT, STYLE_TITLE,
               tutor_step(tutor)->title);
  if (dots > col) draw_dots(canvas, row, dots, tutor);
}

static void draw_text(Canvas *canvas, Rect in, const LessonFrame *frame, PartKind kind, int first) {
  Rect body = {in.row, in.col + 1, in.rows, in.cols - 2};
  int skip = first;
  for (int i = 0; i < frame->parts.n && body.rows > 0; i++) {
    const Part *part = &frame->parts.part[i];
    if (!part_is(part, kind)) continue;
    int rows = *part->text ? canvas_wrap_from(canvas, body, part->style, part->text, skip) : 1;
    int shown = rows > skip ? rows - skip : 0;
    skip = rows > skip ? 0 : skip - rows;
    rect_take_top(&body, shown);
  }
}

static void draw_more(Canvas *canvas, Rect in, const LessonFrame *frame, int first) {
  if (first < frame->hidden)
    canvas_glyph(canvas, in, in.rows - 1, in.cols - 1, STYLE_DIM, GLYPH_TRIANGLE_DOWN);
  if (first > 0) canvas_glyph(canvas, in, 0, in.cols - 1, STYLE_DIM, GLYPH_TRIANGLE_UP);
}

static void draw_stage(Canvas *canvas, Rect all, Rect in, const LessonFrame *frame) {
  const View *view = &view_table[frame->inner];
  if (in.cols < all.cols) {
    canvas_vline(canvas, all, in.row - all.row, in.col - all.col, in.rows, STYLE_BORDER);
    rect_take_left(&in, 1);
  }
  Rect head = rect_take_top(&in, 1);
  canvas_hline(canvas, all, head.row - all.row, head.col - all.col - (in.cols < all.cols),
               head.cols + (in.cols < all.cols), STYLE_BORDER);
  if (frame->broken) {
    canvas_printf(canvas, head, 0, 2, STYLE_DIM, " broken: %s ", frame->broken->help);
    lesson_break_draw(canvas, in, frame->broken);
    return;
  }
  int col = canvas_printf(canvas, head, 0, 2, STYLE_KEY, " %s ", view->key);
  canvas_printf(canvas, head, 0, col, STYLE_DIM, "%s ", view->title);
  view->body->draw(canvas, in, frame->stage);
}

static void draw_step(Canvas *canvas, Rect in, const Session *session) {
  const LessonFrame *frame = session->prepared;
  LessonLayout at = lay_out(frame, in);
  int first = session_view_state_const(session)->cursor;
  draw_head(canvas, (Rect){in.row, in.col, 1, in.cols}, tutor_of(session));
  draw_text(canvas, at.text, frame, at.ask.cols ? PART_TOLD : PART_ANY, first);
  if (at.ask.cols) draw_text(canvas, at.ask, frame, PART_ASKED, first);
  at.text.cols += at.ask.cols;
  draw_more(canvas, at.text, frame, first);
  if (at.stage.rows > 0) draw_stage(canvas, in, at.stage, frame);
}

static void lesson_draw(Canvas *canvas, Rect in, const Session *session) {
  const LessonFrame *frame = session->prepared;
  if (frame->parts.n)
    draw_step(canvas, in, session);
  else
    lesson_draw_list(canvas, in, tutor_of(session), SPOT_LESSON);
}

// ---- keys ---------------------------------------------------------------------------------------

static bool in_list(const Session *session) {
  return tutor_of(session)->listing || !tutor_of(session)->run.lesson;
}

static void lesson_enter(Session *session) {
  Diags diags = diags_new(session->frame);
  if (!tutor_load(session, &diags))
    session_say(session, SAID_ERROR, "%s", diags.first ? diags.first->text : "no lessons");
}

static void move_list(Tutor *tutor, int delta) {
  int64_t to = (int64_t)tutor->list_at + delta;
  if (to > tutor->n_lessons - 1) to = tutor->n_lessons - 1;
  tutor->list_at = to < 0 ? 0 : (int)to;
}

static void move_text(Session *session, const LessonFrame *frame, int delta) {
  ViewState *state = session_view_state(session);
  int64_t to = (int64_t)state->cursor + delta;
  if (to > frame->hidden) to = frame->hidden;
  state->cursor = to < 0 ? 0 : (int)to;
}

// A view of the step acts with its own cursor and what it prepared.
static void act_on_stage(Session *session, const LessonFrame *frame, int what, int value) {
  const ViewBody *body = view_table[frame->inner].body;
  int view = session->at.view;
  session->at.view = frame->inner;
  session->prepared = frame->stage->prepared;
  if (what == 0)
    view_move(session, value);
  else if (body->click)
    body->click(session, what, value);
  // A click may have led to another view.
  if (session->at.view == frame->inner) session->at.view = view;
  session->prepared = frame;
}

static void lesson_move(Session *session, int delta) {
  const LessonFrame *frame = session->prepared;
  bool page = delta <= -PAGE || delta >= PAGE;
  if (in_list(session))
    move_list(tutor_of(session), delta);
  else if (frame && frame->stage_shown && !frame->broken && !(page && frame->hidden))
    act_on_stage(session, frame, 0, delta);
  else if (frame)
    move_text(session, frame, delta);
}

// In a class the pages are the teacher's, as long as there is one.
static bool is_led(Session *session) {
  const ClassState *class = &tutor_of(session)->class;
  bool led = class->role == CLASS_FOLLOWER && class->connected;
  if (led) session_say(session, SAID_NOTE, "the teacher turns the pages");
  return led;
}

static void lesson_click(Session *session, int what, int value) {
  const LessonFrame *frame = session->prepared;
  if (what == SPOT_STEP && !is_led(session)) tutor_go(session, value);
  if (what == SPOT_LESSON && !is_led(session)) tutor_open_at(session, value, 0);
  if (what < SPOT_LESSON && frame && frame->stage && !frame->broken)
    act_on_stage(session, frame, what, value);
}

static void step_by(Session *session, int step) {
  const Tutor *tutor = tutor_of(session);
  if (in_list(session)) return;
  if (is_led(session)) return;
  if (tutor_go(session, tutor->run.step + step)) return;
  session_say(session, SAID_NOTE,
              step > 0 ? "the last step; L shows the other lessons" : "the first step");
}

static void step_next(Session *s, const char *a) { (void)a, step_by(s, 1); }
static void step_previous(Session *s, const char *a) { (void)a, step_by(s, -1); }

static void open_field(Session *session) {
  session->prompt.kind = PROMPT_FIELD;
  session->prompt.field.history = NULL;
  textfield_set(&session->prompt.field, "");
}

// Guess, check the schedule, or go on: whatever is next. With an argument it is the guess.
static void guess(Session *session, const char *argument) {
  Tutor *tutor = tutor_of(session);
  const LessonStep *step = tutor_step(tutor);
  if (in_list(session))
    tutor_open_at(session, tutor->list_at, 0);
  else if (argument && *argument)
    tutor_guess(session, argument);
  else if (tutor->run.revealed || step->ask.kind == ASK_NOTHING || tutor->error)
    step_by(session, 1);
  else if (step->ask.kind == ASK_MAKE)
    tutor_guess_schedule(session);
  else
    open_field(session);
}

// Tab goes through the choices, from the one that stands in the field.
static void next_choice(Session *session) {
  const Tutor *tutor = tutor_of(session);
  const LessonStep *step = tutor_step(tutor);
  int n = 0, at = -1;
  for (const char *text; (text = lesson_choice(step, &tutor->facts, n)); n++)
    if (str_equal(text, session->prompt.field.text)) at = n;
  if (n) textfield_set(&session->prompt.field, lesson_choice(step, &tutor->facts, (at + 1) % n));
}

static void lesson_typed(Session *session, TextFieldResult result) {
  if (result == TEXTFIELD_COMPLETE) next_choice(session);
  if (result == TEXTFIELD_ACCEPTED && *session->prompt.field.text)
    tutor_guess(session, session->prompt.field.text);
}

static void reveal(Session *s, const char *a) { (void)a, tutor_reveal(s); }
static void restore(Session *s, const char *a) { (void)a, tutor_restore(s); }

static void knob_less(Session *s, const char *a) { (void)a, session_step_knob(s, s->at.knob, -1); }
static void knob_more(Session *s, const char *a) { (void)a, session_step_knob(s, s->at.knob, 1); }

static void lessons(Session *session, const char *argument) {
  (void)argument;
  Tutor *tutor = tutor_of(session);
  if (tutor->run.lesson && is_led(session)) return;
  tutor->listing = !tutor->listing && tutor->run.lesson;
}

static void look(Session *session, const char *argument) {
  (void)argument;
  if (in_list(session) || tutor_of(session)->error) return;
  view_show(session, view_find(tutor_view(tutor_of(session))));
  session_say(session, SAID_NOTE, "0 goes back to the lesson");
}

static void notes(Session *session, const char *argument) {
  (void)argument;
  tutor_of(session)->noting = !tutor_of(session)->noting;
}

static const Action actions[] = {
    {"guess", "Enter", "guess", NULL, "enter your guess; go on where no guess is asked", guess},
    {"reveal", "r", "reveal", NULL, "reveal the computed answer, and its reason", reveal},
    {"step-previous", "Left h Backspace", "step", "step-next", "the step before", step_previous},
    {"step-next", "Right l Space", NULL, NULL, "the next step", step_next},
    {"lessons", "L", "lessons", NULL, "the list of lessons", lessons},
    {"look", "v", "look", NULL, "show the view of this step alone; 0 comes back", look},
    {"knob-less", "( -", "turn", "knob-more", "the selected knob, a step down", knob_less},
    {"knob-more", ") +", NULL, NULL, "the selected knob, a step up", knob_more},
    {"restore", "=", NULL, NULL, "set the knobs as the step has them", restore},
    {"notes", "t", NULL, NULL, "the teacher's notes", notes},
};

// Enter is whatever is next; what cannot be done here is not offered.
static const char *lesson_hint(const Session *session, const Action *action) {
  const Tutor *tutor = tutor_of(session);
  const LessonStep *step = tutor_step(tutor);
  bool enter = action->run == guess, list = in_list(session);
  if (list) return enter ? "open" : action->run == lessons && step ? "back" : NULL;
  bool open = step->ask.kind != ASK_NOTHING && !tutor->run.revealed && !tutor->error;
  if (enter) return !open ? "next" : step->ask.kind == ASK_MAKE ? "check" : action->label;
  return action->run == reveal && (!open || tutor->run.held) ? NULL : action->label;
}

const Form lesson_data_form = {.name = "lesson_data", .help = "no data"};

const ViewBody lesson_view = {
    .state_bytes = sizeof(Tutor),
    .open = tutor_init,
    .close = tutor_done,
    .enter = lesson_enter,
    .prepare = lesson_prepare,
    .draw = lesson_draw,
    .move = lesson_move,
    .move_label = "move",
    .click = lesson_click,
    .typed = lesson_typed,
    .field_label = "guess ",
    .hint = lesson_hint,
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
    .estimates = true,  // its answers are the model's
};
