// grid: which CTA computes which tile of C, in which wave, and what a run of CTAs fetches.
//
// Left and Right move a window of consecutive CTAs through the launch order; Up and Down choose how
// long it is: a lap (until the order comes back to a panel it left), a row of blocks, a wave, or
// any number. The margins show the panels of A and B that it touches, the table what they weigh
// beside L2. o sets the order with and without CTA groups side by side.
//
// Where clusters claim their tiles by place every tile has the letter of its place on the chip, and
// beside it stands what that does to the fetches of a turn (grid_view.h).
//
// ViewState: cursor is the window's number.
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "base/whole.h"
#include "model/ir/program.h"
#include "model/schedules/block_order.h"
#include "tui/canvas/fmt.h"
#include "tui/canvas/utf8.h"
#include "tui/views/places/grid_view.h"
#include "tui/views/places/tiles.h"

enum { BLOCKS_DEFAULT = 64 };
enum {
  TABLE_COLS = 40,
  TABLE_ROWS = GRID_SPANS + 1,
  BESIDE_COLS = 76,
  PICTURE_ROWS_MIN = 5,
  PLACES_ROWS = 4,
  STACKED_ROWS = TABLE_ROWS + 6
};

// Every tile has the colour of its place where it has one, on a large screen that of its wave,
// unless the user changed that.
enum { WAVES_COLS = 80, WAVES_ROWS = 28 };
typedef enum Colours {
  COLOURS_AUTO,
  COLOURS_WAVES,
  COLOURS_WINDOW,
  COLOURS_PLACES,
  COLOURS
} Colours;

typedef struct GridChosen {
  GridSpan span;
  Colours colours;
  int blocks;  // of a window; 0: BLOCKS_DEFAULT
} GridChosen;

// The data of a frame: A and B when comparing, else B alone.
typedef struct GridFrame {
  int n;
  GridHalf half[2];
} GridFrame;

// ---- what is chosen -----------------------------------------------------------------------------

static GridChosen *chosen_of(const Session *session) { return view_chosen(session, &grid_view); }

static int blocks_of(const GridChosen *chosen) {
  return chosen->blocks ? chosen->blocks : BLOCKS_DEFAULT;
}

static bool all_waves(const Session *session, const GridChosen *chosen) {
  bool large = session->cols >= WAVES_COLS && session->rows >= WAVES_ROWS;
  return chosen->colours == COLOURS_AUTO ? large : chosen->colours == COLOURS_WAVES;
}

static bool all_places(const GridChosen *chosen, const Grid *grid) {
  const Colours colours = chosen->colours;
  return grid_has_places(grid) && (colours == COLOURS_AUTO || colours == COLOURS_PLACES);
}

static int64_t windows_of(const Grid *grid, int64_t ctas) { return ceil_div(grid->n_ctas, ctas); }

// ---- preparing ----------------------------------------------------------------------------------

static void mark_window(Arena *arena, GridHalf *half) {
  const GridOverview *o = &half->grid->overview;
  const GridWindow *window = &half->window[half->span];
  uint8_t *inside = ARENA_ARRAY(arena, uint8_t, o->splits * o->rows * o->cols);
  uint8_t *row = ARENA_ARRAY(arena, uint8_t, o->splits * o->rows);
  uint8_t *col = ARENA_ARRAY(arena, uint8_t, o->splits * o->cols);
  half->split = grid_cta(half->grid, window->first).split / o->split_step;
  for (int64_t i = 0; i < window->n; i += GRID_BATCH) {
    GridCta cta[GRID_BATCH];
    int n = grid_ctas(half->grid, window->first + i, cta);
    for (int b = 0; b < n && i + b < window->n; b++) {
      int64_t cell = grid_overview_cell(o, &cta[b]), split = cell / o->cols / o->rows;
      inside[cell] = 1;
      row[cell / o->cols] = 1;
      col[split * o->cols + cell % o->cols] = 1;
    }
  }
  half->inside = inside;
  half->row = row;
  half->col = col;
}

static void prepare_half(Session *session, GridHalf *half, Side *side, const char *name) {
  const GridChosen *chosen = chosen_of(session);
  *half = (GridHalf){.grid = side_grid(side), .name = name, .span = chosen->span};
  half->counted = side->picture->model->resources.counted;
  half->places = all_places(chosen, half->grid);
  half->all_waves = !half->places && all_waves(session, chosen);
  half->l2_hit = side->picture->model->traffic.l2_hit;
  half->spots = GRID_SPOTS / (session->doc.comparing ? 2 : 1);
  const Grid *grid = half->grid;
  half->work = grid_work(session->frame, grid);
  int blocks = blocks_of(chosen);
  int64_t ctas = grid_span_ctas(grid, half->span, blocks);
  half->n_windows = windows_of(grid, ctas);
  half->at = clamp_index(session_view_state(session)->cursor, half->n_windows);
  for (int i = 0; i < GRID_SPANS; i++) {
    int64_t n = grid_span_ctas(grid, (GridSpan)i, blocks);
    half->window[i] = grid_window(session->frame, grid, half->at * ctas / n * n, n);
  }
  mark_window(session->frame, half);
  if (!grid->persistent || !grid->chip) return;
  half->merge = chip_merge(session->frame, grid, grid->chip);
  if (grid->chip->placed) half->merge_anywhere = chip_merge(session->frame, grid, grid->anywhere);
}

static void grid_prepare(Session *session) {
  GridFrame *frame = ARENA_NEW(session->frame, GridFrame);
  bool comparing = session->doc.comparing;
  if (comparing)
    prepare_half(session, &frame->half[frame->n++], &session->doc.then,
                 arena_printf(session->frame, "A %s", session->doc.then_name));
  prepare_half(session, &frame->half[frame->n++], &session->doc.now, comparing ? "B now" : NULL);
  session->prepared = frame;
}

// ---- numbers ------------------------------------------------------------------------------------

static const char *share_text(char out[FMT_MAX], const Grid *grid, const GridWindow *window) {
  double share = (double)window->bytes / (double)grid->l2_bytes;
  if (share >= 10)
    snprintf(out, FMT_MAX, "%.0f×", share);
  else
    snprintf(out, FMT_MAX, share < 0.01 ? "<1 %%" : "%.0f %%", 100 * share);
  return out;
}

// Three digits are enough, and leave room: "64 MiB", "1.25 MiB".
static const char *size_text(char out[FMT_MAX], double bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  char figure[FMT_MAX];
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; unit++) bytes /= 1024;
  snprintf(out, FMT_MAX, "%.20s %s", fmt_figure(figure, bytes), units[unit]);
  return out;
}

static void draw_span(Canvas *canvas, Rect row, const GridHalf *half, GridSpan span) {
  const GridWindow *window = &half->window[span];
  char bytes[FMT_MAX], share[FMT_MAX];
  bool here = span == half->span, fits = window->bytes <= half->grid->l2_bytes;
  if (here) canvas_glyph(canvas, row, 0, 0, STYLE_TITLE, GLYPH_POINTER);
  canvas_text(canvas, row, 0, 1, here ? STYLE_TITLE : STYLE_TEXT, grid_span_here(half->grid, span));
  canvas_printf(canvas, row, 0, 7, STYLE_NUMBER, "%6lld%6lld%5lld", (long long)window->n,
                (long long)window->a_panels, (long long)window->b_panels);
  canvas_fit(canvas, row, 0, 24, 9, ALIGN_RIGHT, here ? STYLE_TITLE : STYLE_NUMBER,
             size_text(bytes, (double)window->bytes));
  canvas_fit(canvas, row, 0, 33, 6, ALIGN_RIGHT, fits ? STYLE_OK : STYLE_BAD,
             share_text(share, half->grid, window));
  canvas_spot(canvas, row, GRID_SPOT_SPAN, (int)span);
}

static void draw_table(Canvas *canvas, Rect in, const GridHalf *half) {
  canvas_printf(canvas, in, 0, 1, STYLE_HEADER, "window %5s     %s  fetches of L2",
                grid_words(half->grid).ctas, half->grid->heads ? "Q   KV" : "A    B");
  for (int i = 0; i < GRID_SPANS && i + 1 < in.rows; i++)
    draw_span(canvas, (Rect){in.row + 1 + i, in.col, 1, in.cols}, half, (GridSpan)i);
}

static int draw_explained(Canvas *canvas, Rect in, const GridHalf *half) {
  char text[256];
  snprintf(
      text, sizeof text,
      "%s: %s.%s The panels come from the program. The %s are an estimate: blocks per SM follow "
      "from the %s registers, and %s start %s.",
      grid_span_here(half->grid, half->span), grid_span_help(half->span),
      half->grid->stride > 1 ? " The picture shows every n-th CTA." : "",
      grid_words(half->grid).waves, half->counted ? "compiler's" : "model's",
      half->grid->launch.cluster > 1 ? "clusters" : grid_words(half->grid).ctas,
      half->grid->launch.cluster == 1 ? "one by one"
      : half->grid->chip              ? "as GPCs have room"
                                      : "as GPCs have room; no source says how much");
  return canvas_wrap(canvas, in, STYLE_DIM, text);
}

// ---- waves --------------------------------------------------------------------------------------

// "2 264–527": its digit in its colour, and a bar of how much of the GPU it fills.
static void draw_wave(Canvas *canvas, Rect row, const GridHalf *half, int64_t wave) {
  enum { CTAS_COL = 5, BAR_COL = 24 };
  const Grid *grid = half->grid;
  const int64_t first = wave * grid->wave_ctas, n = grid_wave_size(grid, wave);
  const GridWindow *window = &half->window[half->span];
  bool here = window->first < first + n && window->first + window->n > first;
  if (here) canvas_glyph(canvas, row, 0, 0, STYLE_TITLE, GLYPH_POINTER);
  char mark[] = {' ', grid_mark(wave + 1), ' ', '\0'};
  canvas_text(canvas, row, 0, 1, style_address((int)(wave % STYLE_ADDRESSES)), mark);
  canvas_printf(canvas, row, 0, CTAS_COL, here ? STYLE_TEXT : STYLE_DIM, "%lld–%lld",
                (long long)first, (long long)(first + n - 1));
  const int64_t items = n * (wave + 1 == grid->n_waves ? grid->tail_parts : 1);
  const int64_t room = ceil_div(items, grid->wave_ctas) * grid->wave_ctas;
  canvas_bar(canvas, row, 0, BAR_COL, row.cols - BAR_COL - 1, (double)items / (double)room,
             here ? STYLE_BAR_BEST : STYLE_BAR);
}

// The legend of the colours; of more waves than rows the first and the last.
static void draw_wave_list(Canvas *canvas, Rect in, const GridHalf *half) {
  const int64_t n = half->grid->n_waves;
  if (in.rows < 3) return;
  Rect head = rect_take_top(&in, 1);
  const GridWords words = grid_words(half->grid);
  canvas_printf(canvas, head, 0, 1, STYLE_HEADER, "%s %-5s             share of GPU", words.wave,
                words.ctas);
  for (int i = 0; i < in.rows && i < n; i++) {
    Rect row = {in.row + i, in.col, 1, in.cols};
    bool cut = n > in.rows;
    if (cut && i == in.rows - 2)
      canvas_printf(canvas, row, 0, 1, STYLE_DIM, " … %lld more", (long long)(n - in.rows + 1));
    else
      draw_wave(canvas, row, half, cut && i == in.rows - 1 ? n - 1 : i);
  }
}

// The same in a line: the ones that fit.
static void draw_wave_line(Canvas *canvas, Rect row, const GridHalf *half) {
  enum { WAVE_COLS = 4, WORD_COLS = 6 };
  const int64_t n = half->grid->n_waves;
  int col = canvas_printf(canvas, row, 0, 0, STYLE_DIM, "%s ", grid_words(half->grid).waves);
  for (int64_t wave = 0; wave < n && col + WAVE_COLS + WORD_COLS <= row.cols; wave++) {
    char mark[] = {' ', grid_mark(wave + 1), ' ', '\0'};
    col = canvas_text(canvas, row, 0, col, style_address((int)(wave % STYLE_ADDRESSES)), mark) + 1;
    if (wave + 1 < n && col + WAVE_COLS + WORD_COLS > row.cols)
      canvas_glyph(canvas, row, 0, col, STYLE_DIM, GLYPH_ELLIPSIS);
  }
}

// ---- the picture and what stands with it --------------------------------------------------------

// "a-l place 1-g turn ": the letters and digits of a tile.
static int draw_marks(Canvas *canvas, Rect row, int col, const GridHalf *half) {
  const Grid *grid = half->grid;
  const char *wave = grid_words(grid).wave;
  if (half->places)
    return canvas_printf(canvas, row, 0, col, STYLE_DIM, "a-%c place 1-%c %s ",
                         grid_place_letter(grid->chip->n - 1),
                         grid_mark(min64(grid->n_waves, GRID_MARKS - 1)), wave);
  return canvas_printf(canvas, row, 0, col, STYLE_DIM, "1-9 a-z %s%s ", wave,
                       grid->n_waves > GRID_MARKS ? ", modulo 36" : "");
}

static void draw_key_line(Canvas *canvas, Rect row, const GridHalf *half) {
  enum { PARTLY_COLS = 9 };
  int col = draw_marks(canvas, row, 2, half);
  col = canvas_text(canvas, row, 0, col, grid_picture_window(half, 0), "1");
  col = canvas_text(canvas, row, 0, col, STYLE_DIM, " in window ");
  if (half->places && col + PARTLY_COLS > row.cols) return;
  col = canvas_glyph(canvas, row, 0, col, STYLE_TITLE, GLYPH_HALF_UPPER);
  col = canvas_glyph(canvas, row, 0, col, STYLE_TITLE, GLYPH_SHADE_MEDIUM);
  col = canvas_text(canvas, row, 0, col, STYLE_DIM, " partly  ");
  static const char panels[] = " its panels";
  if (half->grid->heads || col + 2 + (int)strlen(panels) > row.cols) return;
  col = canvas_text(canvas, row, 0, col, style_over(STYLE_ACCENT, STYLE_LINKED), "AB");
  canvas_text(canvas, row, 0, col, STYLE_DIM, panels);
}

static void draw_beside(Canvas *canvas, Rect in, const GridHalf *half) {
  Rect right = rect_take_right(&in, TABLE_COLS);
  rect_take_right(&in, 1);
  draw_key_line(canvas, rect_take_bottom(&in, 1), half);
  grid_picture_draw(canvas, in, half);
  grid_facts_head(canvas, rect_take_top(&right, 2), half->grid);
  draw_table(canvas, rect_take_top(&right, TABLE_ROWS), half);
  rect_take_top(&right, 1);
  grid_facts_draw(canvas, rect_take_top(&right, grid_facts_lines(half)), half);
  rect_take_top(&right, 1);
  if (half->places) {
    grid_draw_places(canvas, right, half);
    return;
  }
  rect_take_top(&right, draw_explained(canvas, right, half) + 1);
  if (half->all_waves) draw_wave_list(canvas, right, half);
}

static void draw_stacked(Canvas *canvas, Rect in, const GridHalf *half) {
  grid_facts_head(canvas, rect_take_top(&in, 1), half->grid);
  int spare = in.rows - TABLE_ROWS - PICTURE_ROWS_MIN;
  int facts = grid_facts_lines(half);
  if (facts > spare / 2) facts = spare > 0 ? 1 + spare / 3 : 0;
  grid_facts_draw(canvas, rect_take_bottom(&in, facts), half);
  if (spare >= 0)
    draw_table(canvas, rect_take_bottom(&in, TABLE_ROWS), half);
  else
    draw_span(canvas, rect_take_bottom(&in, 1), half, half->span);
  if (half->all_waves && spare > facts) draw_wave_line(canvas, rect_take_bottom(&in, 1), half);
  if (half->places && spare > facts)
    grid_draw_places(canvas, rect_take_bottom(&in, spare - facts < PLACES_ROWS ? 1 : PLACES_ROWS),
                     half);
  grid_picture_draw(canvas, in, half);
}

// The numbers stand where they leave more of the picture; a row is as high as two columns are wide.
static bool goes_beside(Rect in) {
  int beside = min_int(in.cols - TABLE_COLS - 1, 2 * (in.rows - 1));
  int stacked = min_int(in.cols, 2 * (in.rows - STACKED_ROWS));
  return in.cols >= BESIDE_COLS && beside >= stacked;
}

static void draw_half(Canvas *canvas, Rect in, const GridHalf *half) {
  if (half->name) {
    Style style = half->name[0] == 'A' ? STYLE_SIDE_A : STYLE_SIDE_B;
    canvas_fit(canvas, rect_take_top(&in, 1), 0, 0, in.cols, ALIGN_LEFT, style, half->name);
  }
  if (goes_beside(in))
    draw_beside(canvas, in, half);
  else
    draw_stacked(canvas, in, half);
}

static void grid_draw(Canvas *canvas, Rect in, const Session *session) {
  const GridFrame *frame = session->prepared;
  rect_take_left(&in, 1);
  if (frame->n == 1) {
    draw_half(canvas, in, &frame->half[0]);
    return;
  }
  draw_half(canvas, canvas_halve(canvas, &in), &frame->half[0]);
  draw_half(canvas, in, &frame->half[1]);
}

// ---- as data ------------------------------------------------------------------------------------

#define FORM_FILE "tui/views/places/view_grid.form"
#include "base/form_make.h"

// ---- keys ---------------------------------------------------------------------------------------

static int64_t window_ctas(const Session *session, const Grid *grid) {
  const GridChosen *chosen = chosen_of(session);
  return grid_span_ctas(grid, chosen->span, blocks_of(chosen));
}

// The window of another length that holds the first CTA of this one.
static void change_span(Session *session, GridSpan span, int blocks) {
  ViewState *state = session_view_state(session);
  const Grid *grid = side_grid(&session->doc.now);
  int64_t ctas = window_ctas(session, grid);
  int64_t first = clamp_index(state->cursor, windows_of(grid, ctas)) * ctas;
  chosen_of(session)->span = span;
  chosen_of(session)->blocks = blocks;
  state->cursor = (int)(first / grid_span_ctas(grid, span, blocks));
}

static void grid_move(Session *session, int delta) {
  const GridChosen *chosen = chosen_of(session);
  int span = (int)clamp_index((int64_t)chosen->span + delta, GRID_SPANS);
  change_span(session, (GridSpan)span, blocks_of(chosen));
}

static void step_window(Session *session, int64_t step) {
  ViewState *state = session_view_state(session);
  const Grid *grid = side_grid(&session->doc.now);
  int64_t n = windows_of(grid, window_ctas(session, grid));
  state->cursor = (int)clamp_index(clamp_index(state->cursor, n) + step, n);
}

static void window_before(Session *s, const char *a) { (void)a, step_window(s, -1); }
static void window_after(Session *s, const char *a) { (void)a, step_window(s, 1); }
static void window_first(Session *s, const char *a) { (void)a, step_window(s, -INT32_MAX); }
static void window_last(Session *s, const char *a) { (void)a, step_window(s, INT32_MAX); }

// "waves on" and "waves off" say which; alone it is the other of both.
static void colour_waves(Session *session, const char *argument) {
  GridChosen *chosen = chosen_of(session);
  bool on = argument && *argument ? str_equal(argument, "on") : !all_waves(session, chosen);
  chosen->colours = on ? COLOURS_WAVES : COLOURS_WINDOW;
}

// "places on" and "places off" say which; alone it is the other of both.
static void colour_places(Session *session, const char *argument) {
  GridChosen *chosen = chosen_of(session);
  const Grid *grid = side_grid(&session->doc.now);
  const bool on = argument && *argument ? str_equal(argument, "on") : !all_places(chosen, grid);
  if (on && !grid_has_places(grid))
    session_say(session, SAID_ERROR,
                "tiles have no place on the chip here: set TILE_ORDER=gpc on a GPU whose places "
                "are known");
  else
    chosen->colours = on ? COLOURS_PLACES : COLOURS_WINDOW;
}

// A as this schedule in row order, or in groups where it is in row order itself.
static void toggle_order(Session *session, const char *argument) {
  (void)argument;
  if (session->doc.comparing) {
    session_compare_off(session);
    return;
  }
  Schedule other = session->doc.now.pictured;
  const char *change = block_order_toggle(session->frame, &other);
  session_compare(session, &other, change);
}

static void set_blocks(Session *session, const char *argument) {
  char *end = NULL;
  long blocks = argument ? strtol(argument, &end, 10) : 0;
  if (!argument || end == argument || *end || blocks < 1 || blocks > GRID_WINDOW_MAX)
    session_say(session, SAID_ERROR, "blocks takes the CTAs of a window: 1 to %d", GRID_WINDOW_MAX);
  else
    change_span(session, GRID_SPAN_BLOCKS, (int)blocks);
}

static void scale_blocks(Session *session, bool more) {
  int blocks = blocks_of(chosen_of(session));
  if (chosen_of(session)->span == GRID_SPAN_BLOCKS) blocks = more ? blocks * 2 : blocks / 2;
  if (blocks >= 1 && blocks <= GRID_WINDOW_MAX) change_span(session, GRID_SPAN_BLOCKS, blocks);
}

static void blocks_more(Session *s, const char *a) { (void)a, scale_blocks(s, true); }
static void blocks_fewer(Session *s, const char *a) { (void)a, scale_blocks(s, false); }

static void say_cta(Session *session, const Grid *grid, int64_t index) {
  GridCta cta = grid_cta(grid, index);
  GridRange k = grid_k_range(grid, cta.split);
  const GridWords words = grid_words(grid);
  session_say(session, SAID_NOTE,
              "%s %lld, %s %lld: tile (%lld, %lld), rows from %lld, columns from %lld of C, k "
              "%lld to %lld",
              words.cta, (long long)index, words.wave, (long long)grid_wave(grid, index) + 1,
              (long long)cta.row, (long long)cta.col, (long long)(cta.row * grid->tile_m),
              (long long)(cta.col * grid->tile_n), (long long)k.begin, (long long)k.end - 1);
}

static void go_to_cta(Session *session, const Grid *grid, int64_t index) {
  session_view_state(session)->cursor = (int)(index / window_ctas(session, grid));
  say_cta(session, grid, index);
}

static void choose_cta(Session *session, const char *argument) {
  const Grid *grid = side_grid(&session->doc.now);
  char *end = NULL;
  long long index = argument ? strtoll(argument, &end, 10) : -1;
  if (!argument || end == argument || *end || index < 0 || index >= grid->n_ctas)
    session_say(session, SAID_ERROR, "cta takes a number from 0 to %lld",
                (long long)grid->n_ctas - 1);
  else
    go_to_cta(session, grid, index);
}

// The tile of the window's first CTA, cut down the tiers.
static void open_tile(Session *session, const char *argument) {
  (void)argument;
  const ViewState *state = session_view_state(session);
  const Grid *grid = side_grid(&session->doc.now);
  int64_t ctas = window_ctas(session, grid);
  GridCta cta = grid_cta(grid, clamp_index(state->cursor, windows_of(grid, ctas)) * ctas);

  tiles_of(session)->placed = true;
  tiles_of(session)->at =
      (TraceAt){cta.row * grid->tile_m, cta.col * grid->tile_n, grid_k_range(grid, cta.split).begin,
                grid->program->n_products - 1};
  view_show(session, view_find("tiles"));
  tiles_chosen(session)->level = 1;
}

static void grid_click(Session *session, int what, int value) {
  const Grid *grid = side_grid(&session->doc.now);
  const GridOverview *o = &grid->overview;
  if (what == GRID_SPOT_SPAN && value >= 0 && value < GRID_SPANS)
    change_span(session, (GridSpan)value, blocks_of(chosen_of(session)));
  if (what == GRID_SPOT_CELL && value >= 0 && value < o->splits * o->rows * o->cols &&
      o->first[value] >= 0)
    go_to_cta(session, grid, o->first[value]);
}

static const Action actions[] = {
    {"window-before", "Left h", "window", "window-after", "the window before", window_before},
    {"window-after", "Right l", NULL, NULL, "the next window of the launch order", window_after},
    {"order", "o", "order on/off", NULL, "A|B: with and without CTA groups (GROUP_M, GROUP_N)",
     toggle_order},
    {"waves", "v", "waves", NULL, "colour every tile by its wave, or the window alone",
     colour_waves},
    {"places", "p", NULL, NULL, "show or hide the letter of each tile's place on the chip",
     colour_places},
    {"open-tile", "Enter", "tile", NULL, "show the first tile of the window in the tiles view",
     open_tile},
    {"blocks-more", "+ =", "blocks", "blocks-fewer", "double the CTAs of a window of blocks",
     blocks_more},
    {"blocks-fewer", "-", NULL, NULL, "halve them", blocks_fewer},
    {"window-first", "", NULL, NULL, "the first window", window_first},
    {"window-last", "", NULL, NULL, "the last window", window_last},
    {"blocks", "", NULL, NULL, "set the CTAs of a window: blocks 8", set_blocks},
    {"cta", "", NULL, NULL, "find the tile of a CTA: cta 37", choose_cta},
};

const ViewBody grid_view = {
    .chosen_bytes = sizeof(GridChosen),
    .prepare = grid_prepare,
    .draw = grid_draw,
    .move = grid_move,
    .move_label = "kind",
    .click = grid_click,
    .data = view_prepared,
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
};
