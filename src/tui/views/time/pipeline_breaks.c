// The ways to break this program: a list by what is seen of each on a GPU, and the way through it.
//
//   BREAKAGES  6 of 31
//   hangs: the launch does not end
//     last_slab     the consumers stop one slab early
//   ▸ more_arrivals one arrival more is expected than comes
//
// Line 0 is the program as it is. x and X step through the list, break NAME goes to one by its
// name, break SYMPTOM to the next that shows it.
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"
#include "base/whole.h"
#include "tui/frame/view.h"
#include "tui/views/time/pipeline.h"

static PipelineOwn *own_of(const Session *session) { return view_own(session, &pipeline_view); }

// ---- the list -----------------------------------------------------------------------------------

// The gravest symptom, which a breakage is listed under.
static Symptom listed_under(BreakageId id) {
  for (int i = 0; i < SYMPTOM_COUNT; i++)
    if (breakage_seen(id) >> i & 1) return (Symptom)i;
  return SYMPTOM_COUNT;
}

// Each is tried on a copy, which takes a moment: once for each program.
static void find_ways(Session *session, PipelineOwn *own) {
  const Program *program = session_model(session)->program;
  if (own->ways_of == program) return;
  own->ways_of = program;
  own->n_ways = 0;
  for (int symptom = 0; symptom < SYMPTOM_COUNT; symptom++)
    for (int id = 0; id < BREAK_COUNT; id++)
      if ((int)listed_under((BreakageId)id) == symptom &&
          program_break(session->frame, program, (BreakageId)id))
        own->way[own->n_ways++] = (BreakageId)id;
}

int pipeline_way_now(Session *session) {
  PipelineOwn *own = own_of(session);
  find_ways(session, own);
  for (int i = 0; i < own->n_ways; i++)
    if (own->broken == (int)own->way[i] + 1) return i + 1;
  return 0;
}

// `line` from 1 on; 0: as it is.
static void break_line(Session *session, int line) {
  const PipelineOwn *own = own_of(session);
  pipeline_break(session, line ? (int)own->way[line - 1] + 1 : 0);
}

// The next breakage of a symptom or (SYMPTOM_COUNT) any; behind the last one none.
static void step_way(Session *session, int by, Symptom symptom) {
  int line = pipeline_way_now(session);
  const PipelineOwn *own = own_of(session);
  const int n = own->n_ways + 1;
  if (n == 1) session_say(session, SAID_NOTE, "this kernel has no barrier, copy or role to break");
  const unsigned seen = symptom == SYMPTOM_COUNT ? ~0u : 1u << symptom;
  do line = (line + by + n) % n;
  while (line && !(breakage_seen(own->way[line - 1]) & seen));
  break_line(session, line);
}

// ---- by name ------------------------------------------------------------------------------------

// By its name, or "off"; a symptom's name is the next breakage that shows it.
static bool break_named(Session *session, const char *name, Diags *diags) {
  const Symptom symptom = symptom_find(name);
  if (symptom != SYMPTOM_COUNT) {
    step_way(session, 1, symptom);
    return true;
  }
  const char *names[BREAK_COUNT + 1] = {"off"};
  for (int i = 0; i < BREAK_COUNT; i++) names[i + 1] = breakage_name((BreakageId)i);
  for (int i = 0; i <= BREAK_COUNT; i++) {
    if (!str_equal(names[i], name)) continue;
    pipeline_break(session, i);
    if (own_of(session)->broken == i) return true;
    diag_add(diags, "break", "%s: this program has nothing that it could break", name);
    return false;
  }
  diag_add_unknown(diags, "break", "breakage", name, names, BREAK_COUNT + 1);
  return false;
}

void pipeline_break_next(Session *session, const char *argument) {
  Diags diags = diags_new(session->frame);
  if (!argument || !*argument)
    step_way(session, 1, SYMPTOM_COUNT);
  else if (!break_named(session, argument, &diags))
    session_say(session, SAID_ERROR, "%s", diags_text(session->frame, &diags));
}

void pipeline_break_before(Session *session, const char *argument) {
  (void)argument;
  step_way(session, -1, SYMPTOM_COUNT);
}

bool pipeline_takes(const char *argument) { return str_starts(argument, "break "); }

bool pipeline_command(Session *session, const char *argument, Diags *diags) {
  return break_named(session, argument + strlen("break "), diags);
}

// ---- on the screen ------------------------------------------------------------------------------

void pipeline_open_ways(Session *session, const char *argument) {
  PipelineOwn *own = own_of(session);
  const bool open = argument && *argument ? str_equal(argument, "on") : own->over != PIPELINE_WAYS;
  own->over = open ? PIPELINE_WAYS : PIPELINE_LANES;
  own->way_line = pipeline_way_now(session);
}

void pipeline_go_way(Session *session, int line) {
  PipelineOwn *own = own_of(session);
  find_ways(session, own);
  own->way_line = (int)clamp_index(line, own->n_ways + 1);
}

void pipeline_take_way(Session *session) {
  PipelineOwn *own = own_of(session);
  own->over = PIPELINE_LANES;
  break_line(session, own->way_line);
}

static void draw_way(Canvas *canvas, Rect row, const PipelineOwn *own, int line) {
  enum { NAME_COLS = 18, SEEN_COLS = 24 };
  const bool here = line == own->way_line;
  if (here) canvas_glyph(canvas, row, 0, 0, STYLE_SITE, GLYPH_POINTER);
  canvas_spot(canvas, row, PIPELINE_SPOT_WAY, line);
  if (!line) {
    canvas_text(canvas, row, 0, 3, here ? STYLE_TITLE : STYLE_TEXT,
                "none: the program as it is, unbroken");
    return;
  }
  const BreakageId id = own->way[line - 1];
  char seen[SYMPTOMS_BYTES];
  const bool wide = row.cols >= 100;
  int col = 3;
  canvas_fit(canvas, row, 0, col, NAME_COLS - 1, ALIGN_LEFT, here ? STYLE_TITLE : STYLE_KNOB,
             breakage_name(id));
  col += NAME_COLS;
  if (wide)
    canvas_fit(canvas, row, 0, col, SEEN_COLS - 1, ALIGN_LEFT, STYLE_DIM,
               breakage_symptoms(seen, id));
  col += wide ? SEEN_COLS : 0;
  canvas_fit(canvas, row, 0, col, row.cols - col, ALIGN_LEFT, STYLE_TEXT, breakage_help(id));
}

// Rows of the picture: a heading in front of each symptom's breakages; -1 - symptom is a heading's.
static int rows_of(const PipelineOwn *own, int row[BREAK_COUNT + 1 + SYMPTOM_COUNT]) {
  int n = 0, under = -1;
  row[n++] = 0;
  for (int line = 1; line <= own->n_ways; line++) {
    const int its = (int)listed_under(own->way[line - 1]);
    if (its != under) row[n++] = -1 - its;
    under = its;
    row[n++] = line;
  }
  return n;
}

static void draw_heading(Canvas *canvas, Rect row, Symptom symptom) {
  int col = canvas_text(canvas, row, 0, 1, STYLE_HEADER, symptom_name(symptom));
  canvas_fit(canvas, row, 0, col + 2, row.cols - col - 2, ALIGN_LEFT, STYLE_DIM,
             symptom_help(symptom));
}

void pipeline_draw_ways(Canvas *canvas, Rect in, const PipelineOwn *own) {
  int row[BREAK_COUNT + 1 + SYMPTOM_COUNT], here = 0;
  const int n = rows_of(own, row);
  Rect head = rect_take_top(&in, 1);
  int col = canvas_text(canvas, head, 0, 1, STYLE_HEADER, "BREAKAGES");
  col = canvas_printf(canvas, head, 0, col + 2, STYLE_TEXT, "%d of %d", own->way_line, own->n_ways);
  canvas_fit(canvas, head, 0, col + 2, head.cols - col - 2, ALIGN_LEFT, STYLE_DIM,
             "sorted by the worst symptom on a GPU");
  for (int i = 0; i < n; i++)
    if (row[i] == own->way_line) here = i;
  ViewList list = view_list(in, here, n);
  while (view_list_next(canvas, &list)) {
    if (row[list.at] < 0)
      draw_heading(canvas, list.row, (Symptom)(-1 - row[list.at]));
    else
      draw_way(canvas, list.row, own, row[list.at]);
  }
}
