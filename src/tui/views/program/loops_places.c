// The sentence below the bar is about the place under the cursor: what the interpreter found there,
// and which line it met.
#include "tui/views/program/loops_places.h"

#include <string.h>

#include "base/str.h"
#include "model/ir/notation/print.h"
#include "model/readings/model.h"
#include "model/schedules/reduce.h"
#include "model/text/emit.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"

enum { COPY_COLS = 7, SENTENCE_ROWS = 3 };

// ---- what each line does ------------------------------------------------------------------------

typedef struct Says {
  Arena *arena;
  const Program *program;
  Str text;
  const char *last;
} Says;

static void say_once(Says *said, const char *text) {
  if (!text || (said->last && str_equal(said->last, text))) return;
  str_printf(&said->text, "%s%s", said->text.length ? "; " : "", text);
  said->last = text;
}

static void say_op(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Says *said = context;
  if (stmt->kind == STMT_OP) say_once(said, emit_says(said->arena, said->program, stmt));
}

static const char *printed(const ProgramText *text, const Stmt *stmt) {
  for (int i = 0; i < text->n_lines; i++)
    if (text->line[i].stmt && text->line[i].stmt->id == stmt->id) return text->line[i].text;
  return "";
}

// Its own remark, those of what it holds, or the statement as the nest writes it. A wait or a
// barrier has both.
static const char *text_of(Arena *arena, const Program *program, const ProgramText *text,
                           const Stmt *stmt) {
  Says said = {.arena = arena, .program = program, .text = str_new(arena)};
  if (stmt->kind == STMT_OP && stmt->note)
    return arena_printf(arena, "%s: %s", printed(text, stmt), stmt->note);
  say_once(&said, emit_says(arena, program, stmt));
  if (stmt->body) stmt_walk(stmt->body, say_op, &said);
  if (said.text.length) return said.text.text;
  while (stmt->body && stmt->kind != STMT_OP) stmt = stmt->body;
  return printed(text, stmt);
}

// ---- the work -----------------------------------------------------------------------------------

void places_open(PlacesWork *work) { *work = (PlacesWork){.arena = arena_new("places")}; }
void places_close(PlacesWork *work) { arena_free(work->arena); }

// One block of the same kernel, with as many slabs as show all that may go wrong.
static Schedule one_block(const Schedule *schedule) {
  Schedule small = *schedule;
  const KnobId walked = schedule_walked(schedule);
  schedule_set(&small, KNOB_HEADS, 1);
  schedule_resize(&small, schedule_tile(schedule, KNOB_M), schedule_tile(schedule, KNOB_N),
                  schedule_tile(schedule, walked) * schedule_slabs_to_see(schedule));
  return small;
}

void places_look(PlacesWork *work, const Session *session) {
  const uint64_t key = schedule_identity(&session->now.pictured);
  if (work->key == key) return;
  arena_reset(work->arena);
  *work = (PlacesWork){.arena = work->arena, .key = key};
  work->small = one_block(&session->now.pictured);
  const Model *model = model_build(work->arena, &session->targets, &work->small);
  if (!model->ok) return;
  work->places = load_places_new(work->arena, model->program);
  const int n = work->places->n_lines;
  const ProgramText text = program_print(work->arena, model->program);
  work->text = ARENA_ARRAY(work->arena, const char *, n + 1);
  for (int i = 0; i < n; i++)
    work->text[i] = text_of(work->arena, model->program, &text, work->places->line[i]);
  work->text[n] = "the end of the turn";
}

static bool is_empty(const PlacesWork *work) { return !work->places || !work->places->n_copies; }

int places_count(const PlacesWork *work) { return is_empty(work) ? 0 : work->places->n_lines + 1; }
const char *places_text(const PlacesWork *work, int place) { return work->text[place]; }

static int clamp(const PlacesWork *work, int cursor) {
  const int n = places_count(work);
  return cursor < n ? cursor : n - 1;
}

bool places_idle(PlacesWork *work, int cursor) {
  if (is_empty(work)) return false;
  const int at = clamp(work, cursor);
  if (work->places->copy[work->copy].place[at].verdict == LOAD_UNTRIED)
    return load_places_try(work->places, work->copy, at);
  return load_places_try(work->places, 0, LOAD_ANYWHERE);
}

void places_turn(PlacesWork *work, int step) {
  if (is_empty(work)) return;
  const int n = work->places->n_copies;
  work->copy = (work->copy + step + n) % n;
}

// ---- drawing ------------------------------------------------------------------------------------

static void draw_legend(Canvas *canvas, Rect in) {
  static const struct {
    Style style;
    const char *mark, *text;
  } legend[] = {{STYLE_ACCENT, "●", "stands"},
                {STYLE_OK, "┃", "safe"},
                {STYLE_BAD, "×", "not safe"},
                {STYLE_UNKNOWN, "?", "not tried yet"}};
  int col = 1;
  for (size_t i = 0; i < sizeof legend / sizeof *legend; i++) {
    col = canvas_text(canvas, in, 0, col, legend[i].style, legend[i].mark);
    col = canvas_text(canvas, in, 0, col + 1, STYLE_DIM, legend[i].text) + 3;
  }
}

void places_draw_head(Canvas *canvas, Rect in, const PlacesWork *work) {
  int col = canvas_text(canvas, in, 0, 1, STYLE_HEADER, "PLACES");
  if (is_empty(work)) return;
  col = canvas_text(canvas, in, 0, col + 2, STYLE_TITLE, "where each copy may stand in one turn");
  canvas_printf(canvas, in, 0, col + 2, STYLE_SIMULATED, "run with M=%lld, N=%lld, K=%lld",
                (long long)work->small.value[KNOB_M], (long long)work->small.value[KNOB_N],
                (long long)work->small.value[KNOB_K]);
}

static void draw_mark(Canvas *canvas, Rect row, int col, const LoadCopy *copy, int place) {
  static const struct {
    Style style;
    const char *mark;
  } marks[] = {[LOAD_UNTRIED] = {STYLE_UNKNOWN, "?"},
               [LOAD_SAFE] = {STYLE_OK, "┃"},
               [LOAD_UNSAFE] = {STYLE_BAD, "×"}};
  const LoadVerdict verdict = copy->place[place].verdict;
  const bool stands = copy->at == place && verdict != LOAD_UNSAFE;
  canvas_text(canvas, row, 0, col, stands ? STYLE_ACCENT : marks[verdict].style,
              stands ? "●" : marks[verdict].mark);
}

static Style style_of(const PlacesWork *work, int place) {
  const LoadPlaces *places = work->places;
  if (place == places->n_lines) return STYLE_DIM;
  const Stmt *stmt = places->line[place];
  if (stmt->kind != STMT_OP) return STYLE_TEXT;
  return op_orders(stmt->op.kind) || op_facts(stmt->op.kind)->action == ACTION_WAIT ? STYLE_BARRIER
                                                                                    : STYLE_TEXT;
}

static int copy_cols(const LoadCopy *copy) {
  const int cols = utf8_columns(copy->slabs) + 3;
  return cols < COPY_COLS ? COPY_COLS : cols;
}

// The chosen copy's name stands out.
static int draw_names(Canvas *canvas, Rect row, const PlacesWork *work) {
  int col = 1;
  for (int i = 0; i < work->places->n_copies; i++) {
    const LoadCopy *copy = &work->places->copy[i];
    canvas_text(canvas, row, 0, col, i == work->copy ? STYLE_SELECTED : STYLE_HEADER, copy->slabs);
    col += copy_cols(copy);
  }
  canvas_text(canvas, row, 0, col, STYLE_HEADER, "in front of");
  return col;
}

static void draw_place(Canvas *canvas, Rect row, const PlacesWork *work, int place) {
  const LoadPlaces *places = work->places;
  int col = 1;
  for (int i = 0; i < places->n_copies; i++) {
    draw_mark(canvas, row, col + 1, &places->copy[i], place);
    col += copy_cols(&places->copy[i]);
  }
  canvas_fit(canvas, row, 0, col, row.cols - col - 1, ALIGN_LEFT, style_of(work, place),
             work->text[place]);
}

// The line that the copy under the cursor would meet; -1: none.
static int met_line(const PlacesWork *work, int cursor) {
  const LoadPlace *at = &work->places->copy[work->copy].place[cursor];
  return at->verdict == LOAD_UNSAFE ? at->meets : -1;
}

static const char *sentence(Arena *arena, const PlacesWork *work, int place, Style *style) {
  const LoadCopy *copy = &work->places->copy[work->copy];
  const LoadPlace *at = &copy->place[place];
  *style = at->verdict == LOAD_UNSAFE ? STYLE_BAD : STYLE_TEXT;
  if (at->verdict == LOAD_UNTRIED)
    return arena_printf(arena, "%s here: not tried yet", copy->slabs);
  if (at->verdict == LOAD_UNSAFE) return arena_printf(arena, "%s here: %s", copy->slabs, at->text);
  return arena_printf(arena, "%s %s: no race, nothing unwritten, every cell right", copy->slabs,
                      copy->at == place ? "stands here" : "may stand here");
}

static void draw_empty(Canvas *canvas, Rect in) {
  canvas_wrap(canvas, (Rect){in.row, in.col + 1, in.rows, in.cols - 2}, STYLE_DIM,
              "No copy stands by itself in the loop over slabs of the warps that multiply: none is "
              "made in the background, or another warp asks for it, or it is spread over the "
              "products. attention/eager_kv has two that can be moved.");
}

void places_draw(Canvas *canvas, Rect in, Arena *frame, const PlacesWork *work, int cursor,
                 int spot) {
  if (is_empty(work)) {
    draw_empty(canvas, in);
    return;
  }
  Style style;
  cursor = clamp(work, cursor);
  Rect below = rect_take_bottom(&in, SENTENCE_ROWS);
  draw_legend(canvas, rect_take_bottom(&in, 1));
  draw_names(canvas, rect_take_top(&in, 1), work);
  const int n = places_count(work), first = view_scroll(cursor, n, in.rows);
  for (int i = first; i < n && i - first < in.rows; i++) {
    const Rect row = {in.row + i - first, in.col, 1, in.cols};
    draw_place(canvas, row, work, i);
    canvas_spot(canvas, row, spot, i);
    if (i == met_line(work, cursor)) canvas_over(canvas, row, STYLE_LINKED);
    if (i == cursor) canvas_over(canvas, row, STYLE_CURSOR);
  }
  view_draw_more(canvas, in, first, n);
  const char *said = sentence(frame, work, cursor, &style);
  canvas_wrap(canvas, (Rect){below.row, below.col + 1, below.rows, below.cols - 2}, style, said);
}

// ---- data ---------------------------------------------------------------------------------------

static const char *verdict_name(LoadVerdict verdict) {
  static const char *const words[] = {"untried", "safe", "unsafe"};
  return words[verdict];
}

#define FORM_FILE "tui/views/program/loops_places.form"
#include "base/form_make.h"
