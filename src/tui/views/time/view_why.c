// why: where the clocks of the compiled kernel go, instruction by instruction, and whose fault it
// is.
//
//    2742 clk a turn, 2468 to 3016     48.2 TFLOP/s ±10 %      the total, its causes, what if
//    ██████████████████████████████▓▓▓▓▒▒░
//     1900  0  95.9  FFMA R192, R17.reuse, R20, R192           the loop, with its control words
//    warp 0  FFFFFFFFssssssssssFFFF                            a turn, clock by clock
//    1900 FFMA loses 95.9 clk a turn: it waits for LDS at 14f0
//
// A thread plays the machine code as soon as the compiler has answered (session/why_answers.h);
// until then the calibrated stand-in has a number. Cursor and clock go together: the warp whose
// turn is shown stands at the instruction under the cursor.
//
// ViewState is not used: what is kept between frames is WhyOwn.
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "kernels/toolchain/machine/clock_number.h"
#include "tui/views/time/why_frame.h"

enum { WORST_COLS = 52, WORST_MIN_SCREEN = 176, COSTLY_MAX = 64, LISTING_ROWS = 5 };
static const double costly_clocks = 0.05;

static WhyOwn *own_of(const Session *session) { return view_own(session, &why_view); }

// ---- the answer ---------------------------------------------------------------------------------

static const char *missing_text(const Session *session, const Compiled *compiled) {
  if (!compiled) {
    if (!session->background.worker.present)
      return "No worker runs beside this screen, so nothing is compiled. `gemmview why` and the "
             "explorer compile; `gemmview doctor` tells whether they can.";
    if (session->background.worker.line[0]) return session->background.worker.line;
    return "Compiling begins when you stop turning knobs.";
  }
  if (compiled->error) return compiled->error;
  if (compiled->code) return "The clock plays the machine code …";
  return compiled->running ? "Compiling …"
                           : "No machine code came: the compiler here is not NVRTC, or it is too "
                             "old. `gemmview doctor` tells what was found.";
}

// A stand-in has the total of every other view: by the session's fits, and not by the
// registers that a compiler found.
static const ClockAnswer *with_stand_in(const Session *session, const ClockAnswer *loops) {
  const Model *model = session->doc.now.picture->estimate;
  const Estimate estimate = session_stand_in(session, model);
  ClockAnswer *out = ARENA_NEW(session->frame, ClockAnswer);
  *out = loops ? *loops : clock_answer_stand_in(model, &(ClockAsk){0});
  clock_answer_take(out, model, &estimate);
  return out;
}

static Estimate estimate_of_answer(const Session *session, const ClockAnswer *answer) {
  const Model *model = session->doc.now.picture->estimate;
  if (answer->stand_in) return session_stand_in(session, model);
  const ClockedSpeed speed = clock_speed(model, answer);
  return estimate_clocked(&speed);
}

// The kernel that a view brought: its machine code was played when it was run.
static void take_opened(Session *session, const Subject *subject, WhyFrame *frame) {
  const ClockAnswer *played = subject->clock(session);
  ClockAnswer *none = ARENA_NEW(session->frame, ClockAnswer);
  *none = (ClockAnswer){
      .kernel = "", .target = session_model(session)->target, .main = -1, .clocks = {-1, -1, -1}};
  frame->opened = true;
  frame->source = subject->text(session);
  frame->answer = played ? played : none;
  frame->missing = played ? NULL : subject->no_clock;
  frame->n_loops = played ? played->n_loops + (played->clocks.value >= 0) : 0;
  if (played) frame->ns = played->clocks.value / played->mhz * 1e3;
}

static void find_answer(Session *session, WhyFrame *frame) {
  WhyOwn *own = own_of(session);
  const uint64_t key = session->doc.now.picture->key;
  const Compiled *compiled = results_compiled(&session->background.results, key);
  const ClockAnswer *answer = why_answers_find(own->answers, key);
  // The listing, which has texts and lines, comes right behind the code; registers live later.
  const bool has_all = compiled && compiled->code && (compiled->sass || !compiled->running);
  if (has_all && !answer)
    why_answers_ask(own->answers, &session->doc.targets, &session->doc.now.pictured, compiled);
  const bool played = answer && !answer->why_not;
  if (!played)
    frame->missing = answer ? answer->why_not : missing_text(session, compiled);
  else if (answer->stand_in)
    frame->missing = answer->no_clocks;
  frame->answer =
      played && !answer->stand_in ? answer : with_stand_in(session, played ? answer : NULL);
  frame->n_loops = frame->answer->n_loops;
  frame->emission = side_emission(&session->doc.now);
  frame->estimate = estimate_of_answer(session, frame->answer);
  frame->ns = estimate_ns(&frame->estimate, session_model(session));
}

// Tells one kernel's answer from another's.
static uint64_t key_of(const Session *session) {
  const uint64_t brought = UINT64_C(1) << 63;
  const Subject *subject = session->at.subject;
  return subject ? brought | (uint64_t)subject->generation : session->doc.now.picture->key;
}

// ---- the place ----------------------------------------------------------------------------------

typedef struct Costly {
  double lost;
  int at;
} Costly;

static int by_lost(const void *a, const void *b) {
  const Costly *x = a, *y = b;
  return x->lost == y->lost ? x->at - y->at : x->lost < y->lost ? 1 : -1;
}

static void list_costly(Session *session, WhyFrame *frame) {
  const SassLoop *loop = &frame->loop->loop;
  const int length = loop->last - loop->first + 1;
  Costly *costly = ARENA_ARRAY(session->frame, Costly, length);
  int *all = ARENA_ARRAY(session->frame, int, length), n = 0;
  for (int i = loop->first; i <= loop->last; i++)
    if (frame->loop->turn.lost[i] >= costly_clocks)
      costly[n++] = (Costly){frame->loop->turn.lost[i], i};
  qsort(costly, (size_t)n, sizeof *costly, by_lost);
  for (int i = 0; i < n; i++) all[i] = costly[i].at;
  frame->costly = all;
  frame->n_costly = n;
  frame->most = n ? costly[0].lost : 1;
}

static int rank_of(const WhyFrame *frame, int at) {
  for (int i = 0; i < frame->n_costly; i++)
    if (frame->costly[i] == at) return i;
  return -1;
}

// The first clock in which the leader stands at the instruction; -1: it never does.
static int clock_at(const ClockWindow *window, int inst) {
  for (int i = 0; i < window->clocks; i++)
    if (clock_window_at(window, window->leader, i).pc == inst) return i;
  return -1;
}

static void go_inst(WhyOwn *own, const WhyFrame *frame, int at) {
  const SassLoop *loop = &frame->loop->loop;
  own->at = at < loop->first ? loop->first : at > loop->last ? loop->last : at;
  const int clock = frame->charted ? clock_at(&frame->answer->window, own->at) : -1;
  if (clock >= 0) own->clock = clock;
}

static bool same_loop(const SassLoop *a, const SassLoop *b) {
  return a->first == b->first && a->last == b->last;
}

// The kernel from launch to end, as if it were a loop that turns once.
static const ClockedLoop *whole_of(Arena *arena, const ClockAnswer *answer) {
  ClockedLoop *out = ARENA_NEW(arena, ClockedLoop);
  *out = (ClockedLoop){.loop = {0, answer->code.n - 1}, .turns = 1, .clocks = answer->clocks};
  while (out->loop.last > 0 && !(answer->executed[out->loop.last] > 0)) out->loop.last--;
  out->turn = (ClockTurn){.clocks = answer->clocks.value,
                          .issued = answer->issued,
                          .executed = answer->executed,
                          .lost = answer->lost,
                          .cause = answer->cause,
                          .blame = answer->blame};
  memcpy(out->turn.lost_to, answer->lost_to, sizeof out->turn.lost_to);
  return out;
}

static void choose_loop(WhyOwn *own, WhyFrame *frame, Session *session, int loop) {
  const ClockAnswer *answer = frame->answer;
  const int n = frame->n_loops;
  own->loop = frame->loop_at = (loop % n + n) % n;
  frame->whole = own->loop == answer->n_loops;
  frame->loop = frame->whole ? whole_of(session->frame, answer) : &answer->loop[own->loop];
  frame->charted = answer->main >= 0 && answer->window.clocks > 0 &&
                   same_loop(&frame->loop->loop, &answer->loop[answer->main].loop);
  list_costly(session, frame);
}

static void place(Session *session, WhyFrame *frame) {
  WhyOwn *own = own_of(session);
  const bool other = own->key != key_of(session) || !own->placed;
  const int main = frame->answer->main < 0 ? frame->answer->n_loops : frame->answer->main;
  choose_loop(own, frame, session, other ? main : own->loop);
  if (other || own->at < frame->loop->loop.first || own->at > frame->loop->loop.last)
    go_inst(own, frame, frame->n_costly ? frame->costly[0] : frame->loop->loop.first);
  own->placed = true;
  own->key = key_of(session);
  own->clock = (int)clamp_index(own->clock, max_int(1, frame->answer->window.clocks));
  frame->at = own->at;
  frame->clock = own->clock;
}

// ---- in words -----------------------------------------------------------------------------------

// The line of the text that an instruction was made of; 0: it is not known.
static int line_of(const WhyFrame *frame, int at) {
  if (!frame->opened) return frame->answer->line ? frame->answer->line[at] : 0;
  const PtxListing *listing = frame->source.compiled->listing;
  const int line = at < listing->n_lines ? listing->lines[at].cuda_line : 0;
  return line > 0 && line <= frame->source.n ? line : 0;
}

// "line 108, VECTORIZE:  …"; NULL where no line is known.
static const char *line_text(Session *session, const WhyFrame *frame, int at) {
  const Emission *emission = frame->emission;
  const int line = line_of(frame, at);
  if (frame->opened && line) {
    const char *text = frame->source.line[line - 1].text;
    return arena_printf(session->frame, "%d  %s", line, text + strspn(text, " "));
  }
  if (line < 1 || line > emission->n_lines) return NULL;
  const EmitLine *from = &emission->lines[line - 1];
  const KnobId knob = clock_knob(frame->answer, emission, at);
  const char *text = arena_strndup(session->frame, emission->text + from->begin, from->length);
  return arena_printf(session->frame, "%d  %s%s%s", line, text + strspn(text, " "),
                      knob == KNOB_NONE ? "" : "   ",
                      knob == KNOB_NONE ? "" : knob_table[knob].name);
}

// The exchange that takes the two registers apart.
static const char *exchange_text(Session *session, const WhyFrame *frame) {
  const ClockAnswer *answer = frame->answer;
  ClockBankPair pair;
  if (answer->marks.mark[frame->at] != BANK_MARK_CONFLICT) return NULL;
  if (!clock_assign_moves(&answer->assignment, &answer->code.inst[frame->at], &pair)) return NULL;
  return arena_printf(session->frame, "exchange R%d with R%d to use the other bank", pair.one,
                      pair.other);
}

static const char *fault_text(Session *session, const WhyFrame *frame) {
  const ClockTurn *turn = &frame->loop->turn;
  const int by = turn->blame[frame->at];
  if (turn->cause[frame->at] == CLOCK_DISPATCH) return exchange_text(session, frame);
  return by >= 0 && by < frame->answer->code.n && by != frame->at ? line_text(session, frame, by)
                                                                  : NULL;
}

// How far ahead of its use a load stands.
static const char *ahead_text(Session *session, const WhyFrame *frame) {
  const ClockTurn *turn = &frame->loop->turn;
  const SassLoop *loop = &frame->loop->loop;
  const ClockCause cause = turn->cause[frame->at];
  const int by = turn->blame[frame->at];
  const bool waits = cause == CLOCK_SHORT_SCOREBOARD || cause == CLOCK_LONG_SCOREBOARD;
  if (!waits || by < loop->first || by > loop->last) return "";
  const int ahead = clock_ahead(loop, by, frame->at);
  return arena_printf(session->frame, ", %d instruction%s before it", ahead, ahead == 1 ? "" : "s");
}

static const char *said_text(Session *session, const WhyFrame *frame) {
  const double lost = frame->loop->turn.lost[frame->at];
  const char *name = frame->answer->code.inst[frame->at].opcode->name;
  if (lost < costly_clocks)
    return arena_printf(session->frame, "%04x %s loses no clock", frame->at * SASS_BYTES, name);
  return arena_printf(
      session->frame, "%04x %s loses %.1f clk%s, %.1f %%: %s%s", frame->at * SASS_BYTES, name, lost,
      frame->whole ? "" : " a turn", 100 * lost / frame->loop->clocks.value,
      clock_reason(session->frame, frame->answer, frame->at), ahead_text(session, frame));
}

static void say(Session *session, WhyFrame *frame) {
  const SassLoop *loop = &frame->loop->loop;
  const int n = loop->last - loop->first + 1;
  const char **why = ARENA_ARRAY(session->frame, const char *, n);
  for (int i = 0; i < frame->n_costly; i++)
    why[frame->costly[i] - loop->first] =
        clock_reason(session->frame, frame->answer, frame->costly[i]);
  frame->why = why;
  frame->said = said_text(session, frame);
  frame->line = line_text(session, frame, frame->at);
  frame->fault_line = fault_text(session, frame);
}

static void why_prepare(Session *session) {
  WhyFrame *frame = ARENA_NEW(session->frame, WhyFrame);
  if (session->at.subject)
    take_opened(session, session->at.subject, frame);
  else
    find_answer(session, frame);
  session->prepared = frame;
  if (frame->answer->main < 0 && (!frame->opened || frame->missing)) return;
  place(session, frame);
  say(session, frame);
}

static bool why_poll(Session *session) { return why_answers_poll(own_of(session)->answers); }

static ViewWait why_waits(const Session *session) {
  return why_answers_are_under_way(own_of(session)->answers) ? VIEW_EXPECTS : VIEW_WAITS_NOT;
}

static void why_open(void *state) { ((WhyOwn *)state)->answers = why_answers_new(); }
static void why_close(void *state) { why_answers_free(((WhyOwn *)state)->answers); }

// ---- drawing ------------------------------------------------------------------------------------

static void draw_rule(Canvas *canvas, Rect row) {
  canvas_hline(canvas, row, 0, 0, row.cols, STYLE_BORDER);
}

static void why_draw(Canvas *canvas, Rect in, const Session *session) {
  const WhyFrame *frame = session->prepared;
  const Rect all = in;
  rect_take_top(&in, why_draw_total(canvas, in, frame));
  if (!frame->loop) {
    if (frame->missing) canvas_wrap(canvas, rect_inset(in, 1, 2), STYLE_DIM, frame->missing);
    return;
  }
  const int said = in.rows >= LISTING_ROWS + 5 ? 3 : min_int(1, in.rows);
  Rect words = rect_take_bottom(&in, said);
  if (in.rows > LISTING_ROWS) draw_rule(canvas, rect_take_bottom(&in, 1));
  if (in.rows > LISTING_ROWS) draw_rule(canvas, rect_take_top(&in, 1));
  const int rows =
      why_chart_rows(frame, min_int(in.rows - LISTING_ROWS - 1, all.rows / 2), in.cols);
  if (rows > 0) {
    Rect chart = rect_take_bottom(&in, rows);
    draw_rule(canvas, rect_take_bottom(&in, 1));
    why_draw_chart(canvas, chart, frame);
  }
  if (in.cols >= WORST_MIN_SCREEN) why_draw_worst(canvas, rect_take_right(&in, WORST_COLS), frame);
  why_draw_listing(canvas, in, frame);
  why_draw_said(canvas, words, frame);
}

// ---- keys ---------------------------------------------------------------------------------------

// All that was prepared, where there is a loop to go about in; NULL: a stand-in.
static const WhyFrame *frame_of(const Session *session) {
  const WhyFrame *frame = session->prepared;
  return frame && frame->loop ? frame : NULL;
}

static void go_rank(Session *session, int step) {
  WhyOwn *own = own_of(session);
  const WhyFrame *frame = frame_of(session);
  if (!frame || !frame->n_costly) return;
  const int rank = rank_of(frame, own->at), n = frame->n_costly,
            to = rank < 0 ? 0 : (rank + step + n) % n;
  go_inst(own, frame, frame->costly[to]);
  session_say(session, SAID_NOTE, "%d of %d that lose clocks, the costliest first", to + 1, n);
}

static void worst_next(Session *s, const char *a) { (void)a, go_rank(s, 1); }
static void worst_before(Session *s, const char *a) { (void)a, go_rank(s, -1); }

// The leader's instruction comes under the cursor.
static void step_clock(Session *session, int by) {
  WhyOwn *own = own_of(session);
  const WhyFrame *frame = frame_of(session);
  if (!frame || !frame->charted) {
    session_say(session, SAID_NOTE, "the chart shows the loop that takes most of the time");
    return;
  }
  const ClockWindow *window = &frame->answer->window;
  own->clock = (int)clamp_index(own->clock + by, window->clocks);
  const int pc = clock_window_at(window, window->leader, own->clock).pc;
  if (pc >= frame->loop->loop.first && pc <= frame->loop->loop.last) own->at = pc;
}

static void clock_before(Session *s, const char *a) { (void)a, step_clock(s, -1); }
static void clock_after(Session *s, const char *a) { (void)a, step_clock(s, 1); }
static void clocks_before(Session *s, const char *a) { (void)a, step_clock(s, -50); }
static void clocks_after(Session *s, const char *a) { (void)a, step_clock(s, 50); }

static void go_fault(Session *session, const char *argument) {
  (void)argument;
  WhyOwn *own = own_of(session);
  const WhyFrame *frame = frame_of(session);
  const int by = frame ? frame->loop->turn.blame[frame->at] : -1;
  if (by >= 0 && by >= frame->loop->loop.first && by <= frame->loop->loop.last && by != frame->at)
    go_inst(own, frame, by);
  else
    session_say(session, SAID_NOTE, "this instruction waits for no other one of the loop");
}

static void other_loop(Session *session, const char *argument) {
  (void)argument;
  const WhyFrame *frame = frame_of(session);
  if (!frame) return;
  if (frame->n_loops < 2)
    session_say(session, SAID_NOTE,
                frame->whole ? "the kernel has no loop" : "the kernel has one loop");
  own_of(session)->loop++;
  own_of(session)->at = -1;
}

static void open_source(Session *session, const char *argument) {
  (void)argument;
  const WhyFrame *frame = frame_of(session);
  const int line = frame ? line_of(frame, frame->at) : 0;
  if (line <= 0) {
    session_say(session, SAID_NOTE, "the %sline of this instruction is not known",
                frame && frame->opened ? "" : "CUDA ");
    return;
  }
  view_show(session, view_find("source"));
  view_prepare(session, session->rows, session->cols);
  view_run(session, "line", arena_printf(session->frame, "%d", line));
}

static void why_move(Session *session, int delta) {
  WhyOwn *own = own_of(session);
  const WhyFrame *frame = frame_of(session);
  if (frame) go_inst(own, frame, (int)clamp_index((int64_t)own->at + delta, frame->answer->code.n));
}

static int why_count(const Session *session) {
  const WhyFrame *frame = frame_of(session);
  return frame ? frame->loop->loop.last - frame->loop->loop.first + 1 : 0;
}

static const char *why_line(const Session *session, int i) {
  const WhyFrame *frame = frame_of(session);
  const char *text = frame->answer->text[frame->loop->loop.first + i];
  return text ? text : "";
}

static int why_at(const Session *session) {
  const WhyFrame *frame = frame_of(session);
  return frame ? frame->at - frame->loop->loop.first : 0;
}

static void why_go(Session *session, int i) {
  const WhyFrame *frame = frame_of(session);
  if (frame) go_inst(own_of(session), frame, frame->loop->loop.first + i);
}

static void why_click(Session *session, int what, int value) {
  const WhyFrame *frame = frame_of(session);
  if (frame && what == WHY_SPOT_INST) go_inst(own_of(session), frame, value);
  if (frame && what == WHY_SPOT_CLOCK) step_clock(session, value - own_of(session)->clock);
}

static const Action actions[] = {
    {"worst-next", "w", "costliest", "worst-before", "go to the next costliest instruction",
     worst_next},
    {"worst-before", "p", NULL, NULL, "the one before", worst_before},
    {"clock-before", "Left h", "clock", "clock-after", "go a clock back in the chart",
     clock_before},
    {"clock-after", "Right l", NULL, NULL, "go a clock on", clock_after},
    {"clocks-before", "<", NULL, NULL, "go 50 clocks back", clocks_before},
    {"clocks-after", ">", NULL, NULL, "go 50 clocks on", clocks_after},
    {"fault", "Enter", "cause", NULL, "go to the instruction that this one waits for", go_fault},
    {"loop-next", "o", "loop", NULL, "another loop of the kernel", other_loop},
    {"source-here", "e", "source", NULL, "show its line in the source view", open_source},
};

const ViewBody why_view = {
    .state_bytes = sizeof(WhyOwn),
    .open = why_open,
    .close = why_close,
    .prepare = why_prepare,
    .draw = why_draw,
    .data = why_data,
    .move = why_move,
    .move_label = "instruction",
    .count = why_count,
    .line = why_line,
    .at = why_at,
    .go = why_go,
    .click = why_click,
    .poll = why_poll,
    .waits = why_waits,
    .reads_code = true,
    .shows_subject = true,
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
};
