// One question at a time goes to the thread, copied first. The search asks every few hundred states
// whether it goes on (SearchOptions.goes_on). There it gives the number of states so far, and hears
// whether it was given up, so that a later question waits for some milliseconds at most.
#include "tui/views/time/pipeline.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/die.h"
#include "base/str.h"
#include "base/team.h"
#include "base/whole.h"
#include "model/schedules/every_turn.h"
#include "tui/frame/view.h"

enum { SECONDS = 20, ROLE_COLS = 26, LABEL_COLS = 9 };

typedef struct Question {
  TargetTable targets;
  Schedule schedule;
  BreakageId breakage;
} Question;

struct PipelineOrders {
  Team *team;  // NULL: nothing was asked yet
  Question asked, running;
  bool wanted, runs, has_answer;  // asked and not begun; on the thread; `answer` is of `running`
  EveryTurn answer;
  double began;
  atomic_bool given_up;
  _Atomic int64_t states;
  int64_t told;  // states that were told of last
};

PipelineOrders *orders_new(void) {
  PipelineOrders *orders = calloc(1, sizeof *orders);
  if (!orders) die("out of memory for a search of orders");
  return orders;
}

void orders_free(PipelineOrders *o) {
  atomic_store(&o->given_up, true);
  team_end(o->team);
  every_turn_free(&o->answer);
  free(o);
}

static bool same_question(const Question *a, const Question *b) {
  return a->breakage == b->breakage && a->targets.targets == b->targets.targets &&
         schedule_same(&a->schedule, &b->schedule);
}

// ---- on the thread ------------------------------------------------------------------------------

static bool goes_on(void *context, int64_t states) {
  PipelineOrders *o = context;
  atomic_store(&o->states, states);
  return !atomic_load(&o->given_up) && clock_seconds() - o->began < SECONDS;
}

static void run(void *context, int item) {
  (void)item;
  PipelineOrders *o = context;
  o->answer = every_turn_search(&o->running.targets, &o->running.schedule, o->running.breakage,
                                &(SearchOptions){.goes_on = goes_on, .context = o});
}

// ---- beside it ----------------------------------------------------------------------------------

static void begin(PipelineOrders *o) {
  if (!o->team) o->team = team_new(2);
  every_turn_free(&o->answer);
  o->running = o->asked;
  o->wanted = o->has_answer = false;
  o->runs = true;
  o->began = clock_seconds();
  atomic_store(&o->given_up, false);
  atomic_store(&o->states, 0);
  team_begin(o->team, 1, run, o);
}

void orders_ask(PipelineOrders *o, const TargetTable *targets, const Schedule *schedule,
                BreakageId breakage) {
  const Question question = {*targets, *schedule, breakage};
  const bool given_up = atomic_load(&o->given_up);
  if (o->team && !o->wanted && !given_up && same_question(&question, &o->running)) return;
  o->asked = question;
  o->wanted = true;
  if (o->runs)
    atomic_store(&o->given_up, true);
  else
    begin(o);
}

void orders_give_up(PipelineOrders *o) {
  o->wanted = false;
  if (o->runs) atomic_store(&o->given_up, true);
}

bool orders_is_under_way(const PipelineOrders *o) { return o->runs || o->wanted; }

bool orders_poll(PipelineOrders *o) {
  if (!o->runs) return false;
  if (!team_is_done(o->team)) {
    const int64_t states = atomic_load(&o->states);
    const bool more = states != o->told;
    o->told = states;
    return more;
  }
  team_finish(o->team);
  o->runs = false;
  o->has_answer = !atomic_load(&o->given_up);
  if (o->wanted) begin(o);
  return true;
}

static const SearchResult *found_by(const PipelineOrders *o) {
  return o->has_answer && o->answer.search && o->answer.result.verdict == SEARCH_FOUND
             ? &o->answer.result
             : NULL;
}

int orders_count(const PipelineOrders *o) { return found_by(o) ? found_by(o)->n_steps : 0; }

// ---- the picture --------------------------------------------------------------------------------

static void draw_verdict(Canvas *canvas, Rect in, const PipelineOrders *o) {
  const EveryTurn *e = &o->answer;
  if (!o->has_answer) {
    canvas_printf(canvas, in, 0, 1, STYLE_DIM,
                  o->runs ? "every order: %lld states so far; o stops"
                          : "every order: stopped; o starts again",
                  (long long)atomic_load(&o->states));
    return;
  }
  if (e->fault) {
    canvas_printf(canvas, in, 0, 1, STYLE_DIM, "every order: %s", e->fault);
    return;
  }
  const bool found = e->result.verdict == SEARCH_FOUND;
  const int col = canvas_printf(canvas, in, 0, 1, found ? STYLE_BAD : STYLE_OK, "%s",
                                search_verdict_name(e->result.verdict));
  canvas_printf(canvas, in, 0, col + 2, STYLE_DIM, "%lld stage%s, up to %lld turn%s, %lld states",
                (long long)e->slots, plural_s(e->slots), (long long)e->turns, plural_s(e->turns),
                (long long)e->result.states);
}

static Rect draw_text(Canvas *canvas, Rect in, const char *label, const char *text) {
  if (!text || in.rows < 1) return in;
  Rect line = in;
  line.col += LABEL_COLS;
  line.cols -= LABEL_COLS;
  canvas_text(canvas, in, 0, 1, STYLE_DIM, label);
  const int rows = canvas_wrap(canvas, line, STYLE_TEXT, text);
  rect_take_top(&in, max_int(rows, 1));
  return in;
}

// Why a proof, or a search that ended early, says what it does; NULL: nothing more.
static const char *reason(const PipelineOrders *o) {
  const EveryTurn *e = &o->answer;
  if (!o->has_answer || e->fault) return NULL;
  if (e->result.verdict == SEARCH_BOUNDED)
    return "No order that was tried does harm. Not all were: there was no time or no room for "
           "more.";
  if (e->result.verdict != SEARCH_PROVED) return NULL;
  return e->spared ? e->spared
                   : "Warps, copies and products may come in any order: none races, none waits for "
                     "ever, no phase is missed. This holds for any number of slabs and tiles.";
}

static int text_rows(const char *text, int cols) {
  return text ? max_int(canvas_wrap_rows(text, cols - LABEL_COLS), 1) : 0;
}

int orders_rows(const PipelineOrders *o, int cols) {
  int rows = 1 + text_rows(reason(o), cols);
  for (int i = 0; o->has_answer && i < o->answer.n_left_out; i++)
    rows += text_rows(o->answer.left_out[i], cols);
  const SearchResult *r = found_by(o);
  if (!r) return rows;
  return rows + 1 + text_rows(r->root, cols) + text_rows(r->cure, cols) + 1 + r->n_steps;
}

static void draw_step(Canvas *canvas, Rect in, const PipelineOrders *o, int i, bool here) {
  const Search *s = o->answer.search;
  const SearchStep *step = &o->answer.result.step[i];
  canvas_printf(canvas, in, 0, 1, STYLE_DIM, "%4d", i + 1);
  const int col = canvas_printf(canvas, in, 0, 7, STYLE_TEXT, "%-*s", ROLE_COLS,
                                s->process[step->process].name);
  const int end = canvas_text(canvas, in, 0, col + 1, STYLE_TEXT,
                              search_event_text(s, step->process, step->at));
  if (here) canvas_over(canvas, (Rect){in.row, in.col + 7, 1, end - 7}, STYLE_CURSOR);
}

void orders_draw(Canvas *canvas, Rect in, const PipelineOrders *o, int step) {
  draw_verdict(canvas, rect_take_top(&in, 1), o);
  const SearchResult *r = found_by(o);
  in = draw_text(canvas, in, "why", reason(o));
  for (int i = 0; o->has_answer && i < o->answer.n_left_out; i++)
    in = draw_text(canvas, in, "left out", o->answer.left_out[i]);
  if (!r) return;
  in = draw_text(canvas, in, "fault", search_fault_name(r->fault));
  in = draw_text(canvas, in, "root", r->root);
  in = draw_text(canvas, in, "cure", r->cure);
  if (in.rows < 2) return;
  canvas_hline(canvas, rect_take_top(&in, 1), 0, 0, in.cols, STYLE_BORDER);
  ViewList list = view_list(in, step, r->n_steps);
  while (view_list_next(canvas, &list)) draw_step(canvas, list.row, o, list.at, list.at == step);
}
