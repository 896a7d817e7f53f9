// Nest rows and knobs → one list of rows.
//
// Each group of tiers (blocks; warps and threads; registers; serial and stage) has its rows in the
// nest and its knobs in knob.def. The knobs that are shown (knob_panel.h) flow down beside their
// rows in the table's order, whatever their values: what can be turned stays where it was. Worked
// example, the register tile 8×8: REG has one row before the loop over k, and FM, FN at 8 sit there
// as "FM 8  FN 8". The row that multiplies stands among those of the k loop with a knob of its own,
// the atom, and so do the rows that are a knob's seat (roles, boxes of TMA); knobs of the other
// family of kernels (BM and BN where warps are tiled) are nowhere. With roles the loop over k is
// there twice: its knobs begin beside the producer's rows and go on beside the consumers'.
#include "tui/views/program/explore.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "model/ir/program.h"
#include "model/readings/rules/knob_use.h"
#include "tui/canvas/utf8.h"
#include "tui/session/knob_panel.h"

enum {
  KNOB_COLS = 15,
  KNOB_COLS_NAMED = 21,  // the longest name, ATOMIC_FREE_SPLITK, with a digit
  KNOB_COLS_WIDE = 26,
  NAMED = 50,
  WIDE = 60,
  LISTING = 100,
  ROWS_MAX = 320,
  CLASS_ATOM = 4,
  CLASSES = 5,
  NAME_MIN_COLS = 4
};

// The rows of the nest that share their knobs.
static int class_of(NestGroup group) {
  static const int classes[NEST_GROUP_COUNT + 1] = {
      [NEST_KERNEL] = -1, [NEST_BLOCK] = 0,         [NEST_WARP] = 1,
      [NEST_THREAD] = 1,  [NEST_REGISTER] = 2,      [NEST_SERIAL] = 3,
      [NEST_STAGE] = 3,   [NEST_ATOM] = CLASS_ATOM, [NEST_GROUP_COUNT] = -1};
  return classes[group];
}

typedef struct Layout {
  Arena *arena;
  const Session *session;
  Explore *explore;
  const char *text[KNOB_COUNT];
  bool placed[KNOB_COUNT];
  KnobShown shown[KNOB_COUNT];
  bool seated[KNOB_COUNT];  // a row of the nest is kept for it
} Layout;

// "ATOM m16n8k16_f16" for "ATOM_KIND mma_m16n8k16_f16" in fewer columns, else without the name,
// else without the type behind the shape; NULL: it does not fit either.
static const char *shorten_atom(const Layout *layout, const Knob *knob, const char *value) {
  const int cols = layout->explore->knob_cols;
  const char *shape = strchr(value, '_');
  if (!shape++) return NULL;
  const size_t alias = strcspn(knob->aliases, " ");
  const char *text = arena_printf(layout->arena, "%.*s %s", (int)alias, knob->aliases, shape);
  if (utf8_columns(text) >= cols) text = shape;
  if (utf8_columns(text) >= cols && strrchr(text, '_'))
    text = arena_printf(layout->arena, "%.*s", (int)(strrchr(text, '_') - text), text);
  return utf8_columns(text) < cols ? text : NULL;
}

// "PIPELINE_ST… 1" for "PIPELINE_STAGES 1": the name is cut and the value is whole. The title and
// the line of the knob in hand have the whole name. A value that leaves no room for a name is cut.
static const char *shorten(const Layout *layout, const Knob *knob, const char *value) {
  const int room = layout->explore->knob_cols - 1, left = room - utf8_columns(value) - 2;
  const char *atom = knob->type == KNOB_TYPE_ATOM ? shorten_atom(layout, knob, value) : NULL;
  if (atom) return atom;
  if (left >= NAME_MIN_COLS)
    return arena_printf(layout->arena, "%.*s… %s", left, knob->name, value);
  const char *text = arena_printf(layout->arena, "%s %s", knob->name, value);
  return arena_printf(layout->arena, "%.*s…", (int)utf8_fit(text, room - 1), text);
}

// "2", or "(2)" where it follows by auto.
static const char *value_text(const Layout *layout, KnobId knob) {
  const Schedule *schedule = &layout->session->doc.now.schedule;
  const char *value = knob_value_said(layout->arena, schedule, knob);
  return knob_is_auto(schedule, knob) ? arena_printf(layout->arena, "(%s)", value) : value;
}

static void write_texts(Layout *layout) {
  knobs_shown(layout->session, layout->shown);
  for (int i = 0; i < KNOB_COUNT; i++) {
    const Knob *knob = &knob_table[i];
    const char *value = value_text(layout, (KnobId)i);
    layout->text[i] = arena_printf(layout->arena, "%s %s", knob->name, value);
    if (utf8_columns(layout->text[i]) >= layout->explore->knob_cols)
      layout->text[i] = shorten(layout, knob, value);
    layout->placed[i] = !layout->shown[i];
  }
}

static void place(Layout *layout, KnobId knob, int row, int col) {
  Explore *explore = layout->explore;
  const bool off = knob_at_rest(&layout->session->doc.now.schedule, knob);
  explore->cell[explore->n_cells++] = (KnobCell){knob, row, col, off, layout->text[knob]};
  layout->placed[knob] = true;
}

static ExploreRow *add_row(Layout *layout, const char *label, int nest) {
  Explore *explore = layout->explore;
  if (explore->n_rows < ROWS_MAX) explore->n_rows++;
  ExploreRow *row = &explore->row[explore->n_rows - 1];
  *row = (ExploreRow){label, nest};
  return row;
}

// The knobs of a class in the table's order, whatever their values are: a knob that is turned stays
// where it was.
static int knobs_of(const Layout *layout, int class, KnobId out[KNOB_COUNT]) {
  int n = 0;
  for (int i = 0; i < KNOB_COUNT; i++)
    if (!layout->placed[i] && !layout->seated[i] && !knob_is_problem((KnobId)i) &&
        class_of(nest_group_of_knobs(knob_table[i].tier)) == class)
      out[n++] = (KnobId)i;
  return n;
}

// The number of knobs from `at` on that stand in one row: two when both are short.
static int knobs_in_row(const Layout *layout, const KnobId *knob, int at, int n) {
  if (at + 1 >= n) return 1;
  int cols = utf8_columns(layout->text[knob[at]]) + 1 + utf8_columns(layout->text[knob[at + 1]]);
  return cols < layout->explore->knob_cols ? 2 : 1;
}

static int class_of_row(const Layout *layout, int row) {
  int nest = layout->explore->row[row].nest;
  return nest < 0 ? -1 : class_of(layout->explore->nest->row[nest].group);
}

// The first row that multiplies takes the knob of the atom.
static void place_atom(Layout *layout, int row) {
  KnobId knob[KNOB_COUNT];
  if (knobs_of(layout, CLASS_ATOM, knob) > 0)
    place(layout, knob[0], row, layout->explore->knob_col);
}

static bool is_seat(const Layout *layout, int row) {
  int nest = layout->explore->row[row].nest;
  return nest >= 0 && layout->explore->nest->row[nest].seat != KNOB_NONE;
}

// The knobs of a class but for the useful ones that would need rows of their own.
static int knobs_that_fit(const Layout *layout, int class, int rows, KnobId out[KNOB_COUNT]) {
  KnobId all[KNOB_COUNT];
  const int n_all = knobs_of(layout, class, all);
  int n = 0, n_useful = 0, wanted = 0;
  for (int i = 0; i < n_all; i++) wanted += layout->shown[all[i]] == KNOB_WANTED;
  for (int i = 0; i < n_all; i++) {
    const bool useful = layout->shown[all[i]] == KNOB_USEFUL;
    if (useful && wanted + n_useful >= rows) continue;
    n_useful += useful;
    out[n++] = all[i];
  }
  return n;
}

// Rows from `begin` on that knobs flow into.
static int rows_for_knobs(const Layout *layout, int begin) {
  int rows = 0;
  for (int row = begin; row < layout->explore->n_rows; row++)
    rows += class_of_row(layout, row) != CLASS_ATOM && !is_seat(layout, row);
  return rows;
}

// Fills the rows of a class, the last so far, with its knobs; adds rows while knobs are left over,
// unless the class comes again.
static void flow_knobs(Layout *layout, int class, int begin, bool again) {
  KnobId knob[KNOB_COUNT];
  int n = knobs_that_fit(layout, class, rows_for_knobs(layout, begin), knob), at = 0;
  for (int row = begin; at < n; row++) {
    if (row >= layout->explore->n_rows) {
      if (again) return;
      add_row(layout, NULL, -1);
    }
    if (class_of_row(layout, row) == CLASS_ATOM || is_seat(layout, row)) continue;
    int k = knobs_in_row(layout, knob, at, n), col = layout->explore->knob_col;
    for (; k > 0; k--, at++) {
      place(layout, knob[at], row, col);
      col += utf8_columns(layout->text[knob[at]]) + 1;
    }
  }
}

// Places the knobs that are left, the ones that fit in a row: knobs of the problem that were
// touched, and knobs that belong to no row.
static void flow_rest(Layout *layout, const char *label, bool problem, int cols) {
  int col = 0, row = -1;
  for (int i = 0; i < KNOB_COUNT; i++) {
    if (layout->placed[i] || knob_is_problem((KnobId)i) != problem) continue;
    if (layout->shown[i] != KNOB_WANTED) continue;
    int width = utf8_columns(layout->text[i]);
    if (row < 0 || col + width > cols) {
      add_row(layout, row < 0 ? label : NULL, -1);
      row = layout->explore->n_rows - 1;
      col = 0;
    }
    place(layout, (KnobId)i, row, col);
    col += width + 2;
  }
}

static void find_seats(Layout *layout) {
  const Nest *nest = layout->explore->nest;
  for (int i = 0; i < nest->n_rows; i++)
    if (nest->row[i].seat != KNOB_NONE) layout->seated[nest->row[i].seat] = true;
}

static void place_seat(Layout *layout, KnobId knob) {
  const Explore *explore = layout->explore;
  if (knob != KNOB_NONE) place(layout, knob, explore->n_rows - 1, explore->knob_col);
}

// Whether rows of the class come after row `from`: with roles, in the consumers' loop.
static bool comes_again(const Layout *layout, int class, int from) {
  const Nest *nest = layout->explore->nest;
  bool again = false;
  const Program *program = session_model(layout->session)->program;
  for (int i = from; program_main(program)->n_roles && i < nest->n_rows; i++)
    again |= class_of(nest->row[i].group) == class;
  return again;
}

static void add_nest(Layout *layout) {
  const Picture *picture = layout->session->doc.now.picture;
  const Nest *nest = layout->explore->nest;
  int begin[CLASSES], last_class = -1, main_kernel = picture->model->program->main_kernel;
  bool flowed[CLASSES] = {false};
  NestGroup last = NEST_GROUP_COUNT;
  for (int i = 0; i < nest->n_rows; i++) {
    const NestRow *row = &nest->row[i];
    int class = row->kernel == main_kernel ? class_of(row->group) : -1;
    bool multiplies = class == CLASS_ATOM;
    if (multiplies) class = last_class;
    if (class != last_class && last_class >= 0 && !flowed[last_class]) {
      bool again = comes_again(layout, last_class, i);
      flow_knobs(layout, last_class, begin[last_class], again);
      flowed[last_class] = !again;
    }
    add_row(layout, row->group == last ? NULL : nest_group_name(row->group), i);
    if (class != last_class && class >= 0) begin[class] = layout->explore->n_rows - 1;
    if (multiplies) place_atom(layout, layout->explore->n_rows - 1);
    place_seat(layout, row->seat);
    last_class = class;
    last = row->group;
  }
  if (last_class >= 0 && !flowed[last_class])
    flow_knobs(layout, last_class, begin[last_class], false);
}

static void sort_cells(Explore *explore) {
  for (int i = 1; i < explore->n_cells; i++) {
    KnobCell cell = explore->cell[i];
    int at = i;
    for (; at > 0; at--) {
      const KnobCell *before = &explore->cell[at - 1];
      if (before->row < cell.row || (before->row == cell.row && before->col < cell.col)) break;
      explore->cell[at] = *before;
    }
    explore->cell[at] = cell;
  }
}

static bool has_cell(const Explore *explore, KnobId knob) {
  for (int i = 0; i < explore->n_cells; i++)
    if (explore->cell[i].knob == knob) return true;
  return false;
}

// Puts the knobs that are not shown behind those that are.
static void add_rest(Layout *layout) {
  Explore *explore = layout->explore;
  const Schedule *now = &layout->session->doc.now.schedule;
  for (int i = 0; i < KNOB_COUNT; i++)
    if (knob_is_used((KnobId)i, now) && !has_cell(explore, (KnobId)i))
      explore->cell[explore->n_cells + explore->n_rest++] =
          (KnobCell){.knob = (KnobId)i, .off = knob_at_rest(now, (KnobId)i)};
}

const Nest *explore_nest_in(const Session *session, int cols) {
  const Picture *picture = session->doc.now.picture;
  return cols >= LISTING ? &picture->listing : &picture->nest;
}

Explore *explore_layout(Arena *arena, const Session *session, int cols) {
  Explore *explore = ARENA_NEW(arena, Explore);
  explore->row = ARENA_ARRAY(arena, ExploreRow, ROWS_MAX);
  explore->cell = ARENA_ARRAY(arena, KnobCell, KNOB_COUNT);
  explore->knob_cols = cols >= WIDE ? KNOB_COLS_WIDE : cols >= NAMED ? KNOB_COLS_NAMED : KNOB_COLS;
  explore->knob_col = cols > explore->knob_cols ? cols - explore->knob_cols : 0;
  explore->nest = explore_nest_in(session, cols);
  Layout layout = {.arena = arena, .session = session, .explore = explore};
  write_texts(&layout);
  find_seats(&layout);
  add_nest(&layout);
  flow_rest(&layout, "INPUT", true, cols);
  flow_rest(&layout, "OTHER", false, cols);
  sort_cells(explore);
  add_rest(&layout);
  return explore;
}
