// The sentence below the bar is about the place under the cursor: what the interpreter found there,
// and which line it met. At the right of each line stands what the compiler makes of the kernel
// with the chosen copy there.
#include "tui/views/program/loops.h"

#include <stdio.h>

#include "base/str.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/view.h"

enum { COPY_COLS = 7, SENTENCE_ROWS = 3 };

// ---- the work -----------------------------------------------------------------------------------

void places_look(PlacesWork *work, Session *session) {
  if (!session->background.placed) session->background.placed = placed_loads_new(session->app);
  const bool is_new = placed_loads_look(session->background.placed, &session->doc.targets,
                                        &session->doc.now.pictured);
  if (is_new || work->placed != session->background.placed)
    *work = (PlacesWork){.placed = session->background.placed};
  work->can_compile = session->background.worker.can_compile;
}

static bool is_empty(const PlacesWork *work) {
  return !work->placed || placed_loads_are_none(work->placed);
}

int places_count(const PlacesWork *work) {
  return is_empty(work) ? 0 : work->placed->places->n_lines + 1;
}
const char *places_text(const PlacesWork *work, int place) { return work->placed->text[place]; }

static int clamp(const PlacesWork *work, int cursor) {
  const int n = places_count(work);
  return cursor < n ? cursor : n - 1;
}

bool places_idle(PlacesWork *work, int cursor) {
  if (is_empty(work)) return false;
  const int at = clamp(work, cursor);
  if (work->placed->places->copy[work->copy].place[at].verdict == LOAD_UNTRIED)
    return placed_loads_try(work->placed, work->copy, at);
  return placed_loads_try(work->placed, 0, LOAD_ANYWHERE);
}

void places_turn(PlacesWork *work, int step) {
  if (is_empty(work)) return;
  const int n = work->placed->places->n_copies;
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
  col = canvas_text(canvas, in, 0, col + 2, STYLE_TITLE, "places for each copy in one turn");
  canvas_printf(canvas, in, 0, col + 2, STYLE_SIMULATED, "run with M=%lld, N=%lld, K=%lld",
                (long long)work->placed->small.value[KNOB_M],
                (long long)work->placed->small.value[KNOB_N],
                (long long)work->placed->small.value[KNOB_K]);
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
  const LoadPlaces *places = work->placed->places;
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

// ---- what the compiler says ---------------------------------------------------------------------

// The last two columns are those of wide screens.
static const struct {
  const char *title, *unit;
  int cols;
} costs[] = {
    {"regs", "", 5}, {"spilled", " B", 9}, {"instrs", "", 8}, {"in loops", "", 10}, {"clk", "", 7}};
enum { SPILLED = 1 };
enum { COSTS = sizeof costs / sizeof *costs, FEW_COSTS = 3, COSTS_MIN = 72, ALL_COSTS_MIN = 104 };

// The number of them that there is room for; none where there is no compiler.
static int n_costs(const PlacesWork *work, int cols) {
  if (!work->can_compile || cols < COSTS_MIN) return 0;
  return cols < ALL_COSTS_MIN ? FEW_COSTS : COSTS;
}

static int cost_cols(int n) {
  int cols = 0;
  for (int i = 0; i < n; i++) cols += costs[i].cols;
  return cols;
}

static void draw_cost_titles(Canvas *canvas, Rect row, int n) {
  int col = row.cols - cost_cols(n) - 1;
  for (int i = 0; i < n; col += costs[i].cols, i++)
    canvas_fit(canvas, row, 0, col, costs[i].cols, ALIGN_RIGHT, STYLE_HEADER, costs[i].title);
}

static void draw_cost(Canvas *canvas, Rect row, const PlacesWork *work, int place, int n) {
  const int cols = cost_cols(n), from = row.cols - cols - 1;
  const PlacedLoads *placed = work->placed;
  const KernelResources *kernel = placed_loads_kernel(placed, work->copy, place);
  if (n == 0 || placed->places->copy[work->copy].place[place].verdict != LOAD_SAFE) return;
  if (!kernel) {
    const bool known = placed->cost[work->copy][place].state == PLACED_KNOWN;
    canvas_fit(canvas, row, 0, from, cols, ALIGN_RIGHT, STYLE_UNKNOWN,
               known ? "not compiled" : "compiling");
    return;
  }
  const CompiledLoop loop = placed_loads_loop(kernel);
  const double value[COSTS] = {kernel->registers, kernel->spill_store_bytes, kernel->instructions,
                               loop.instructions, loop.near_clocks};
  for (int i = 0, col = from; i < n; col += costs[i].cols, i++) {
    char text[32];
    snprintf(text, sizeof text, "%.0f%s", value[i], costs[i].unit);
    canvas_fit(canvas, row, 0, col, costs[i].cols, ALIGN_RIGHT,
               i == SPILLED && value[i] > 0 ? STYLE_BAD : STYLE_NUMBER,
               value[i] > 0 || (value[i] == 0 && i < FEW_COSTS) ? text : "-");
  }
}

// ---- the lines ----------------------------------------------------------------------------------

// The chosen copy's name stands out.
static void draw_names(Canvas *canvas, Rect row, const PlacesWork *work) {
  int col = 1;
  for (int i = 0; i < work->placed->places->n_copies; i++) {
    const LoadCopy *copy = &work->placed->places->copy[i];
    canvas_text(canvas, row, 0, col, i == work->copy ? STYLE_SELECTED : STYLE_HEADER, copy->slabs);
    col += copy_cols(copy);
  }
  canvas_text(canvas, row, 0, col, STYLE_HEADER, "in front of");
  draw_cost_titles(canvas, row, n_costs(work, row.cols));
}

static void draw_place(Canvas *canvas, Rect row, const PlacesWork *work, int place) {
  const LoadPlaces *places = work->placed->places;
  int col = 1;
  for (int i = 0; i < places->n_copies; i++) {
    draw_mark(canvas, row, col + 1, &places->copy[i], place);
    col += copy_cols(&places->copy[i]);
  }
  const int n = n_costs(work, row.cols), room = row.cols - col - 1 - cost_cols(n);
  canvas_fit(canvas, row, 0, col, room, ALIGN_LEFT, style_of(work, place),
             work->placed->text[place]);
  draw_cost(canvas, row, work, place, n);
}

// The line that the copy under the cursor would meet; -1: none.
static int met_line(const PlacesWork *work, int cursor) {
  const LoadPlace *at = &work->placed->places->copy[work->copy].place[cursor];
  return at->verdict == LOAD_UNSAFE ? at->meets : -1;
}

// The compiler's words beside those of where the copy stands.
static const char *compiled_sentence(Arena *arena, const PlacesWork *work, int place) {
  const PlacedCost *cost = &work->placed->cost[work->copy][place];
  const KernelResources *kernel = placed_loads_kernel(work->placed, work->copy, place);
  const int at = work->placed->places->copy[work->copy].at;
  const KernelResources *stands = placed_loads_kernel(work->placed, work->copy, at);
  if (cost->error) return arena_printf(arena, ". Not compiled: %s", cost->error);
  if (!kernel) return "";
  const char *text = placed_loads_cost_text(arena, kernel);
  if (!stands || place == at) return arena_printf(arena, ". Compiled: %s", text);
  return arena_printf(arena, ". Compiled: %s; where it stands %s", text,
                      placed_loads_cost_text(arena, stands));
}

static const char *sentence(Arena *arena, const PlacesWork *work, int place, Style *style) {
  const LoadCopy *copy = &work->placed->places->copy[work->copy];
  const LoadPlace *at = &copy->place[place];
  *style = at->verdict == LOAD_UNSAFE ? STYLE_BAD : STYLE_TEXT;
  if (at->verdict == LOAD_UNTRIED)
    return arena_printf(arena, "%s here: not tried yet", copy->slabs);
  if (at->verdict == LOAD_UNSAFE) return arena_printf(arena, "%s here: %s", copy->slabs, at->text);
  return arena_printf(arena, "%s %s: no race, no unwritten read, every cell right%s", copy->slabs,
                      copy->at == place ? "is here" : "may be here",
                      compiled_sentence(arena, work, place));
}

static void draw_empty(Canvas *canvas, Rect in) {
  canvas_wrap(canvas, (Rect){in.row, in.col + 1, in.rows, in.cols - 2}, STYLE_DIM, LOADS_NONE);
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
  ViewList list = view_list(in, cursor, places_count(work));
  while (view_list_next(canvas, &list)) {
    draw_place(canvas, list.row, work, list.at);
    if (list.at == met_line(work, cursor)) canvas_over(canvas, list.row, STYLE_LINKED);
    view_list_mark(canvas, &list, spot, in.cols);
  }
  const char *said = sentence(frame, work, cursor, &style);
  canvas_wrap(canvas, (Rect){below.row, below.col + 1, below.rows, below.cols - 2}, style, said);
}
