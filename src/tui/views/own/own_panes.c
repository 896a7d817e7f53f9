// Head, source with its gutter, and the five panes.
//
// The gutter of a line:
//
//     39    1024     32 x32   out[…] = tile[tid.x][tid.y];
//     39    1024→32  32 x1    with a layout on trial: before → after, the ideal, what is left of it
//     40    128s    64s x2    sectors of 32 bytes, where only global memory is accessed
//
// A "~" before the wavefronts: predicted from PTX, not held against machine code. Behind them "d"
// for a line whose addresses or lanes depend on data, "?" for one that cannot be counted, "+" for
// one whose accesses the compiler copied and charged to other lines, ">" where it is the least:
// copies by cp.async can make more as their data arrives.
//
// Where machine code was run, a column more says how many of its instructions warps executed there.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "banks/engine/bank_text.h"
#include "banks/engine/sector.h"
#include "base/str.h"
#include "base/whole.h"
#include "tui/canvas/utf8.h"
#include "tui/views/memory/bank_card.h"
#include "tui/views/memory/bank_why.h"
#include "tui/views/memory/sector_card.h"
#include "tui/views/own/own_work.h"
#include "tui/views/program/source.h"

enum { NUMBER_COLS = 5, COUNT_COLS = 8, TRIAL_COLS = 13, IDEAL_COLS = 7, TIMES_COLS = 6 };
enum { CARD_ROWS_MIN = 4 };  // below the sentence that says why
enum { EXECUTED_COLS = 9 };

static const char *times_text(int64_t count, int64_t ideal, char out[16]) {
  out[0] = '\0';
  if (ideal > 0 && count > ideal) snprintf(out, 16, "×%.3g", (double)count / (double)ideal);
  return out;
}

// ---- head ---------------------------------------------------------------------------------------

static void draw_name(Canvas *canvas, Rect row, const OwnFrame *frame) {
  const Opened *o = frame->opened;
  const OpenedRun *run = frame->work->run;
  char right[128] = "";
  if (opened_run_going(run))
    snprintf(right, sizeof right, "%s …", opened_run_stage(run));
  else if (opened_run_watches(run))
    snprintf(right, sizeof right, "watching %d file%s", opened_run_n_watched(run),
             plural_s(opened_run_n_watched(run)));
  enum { GAP = 2 };
  Rect at = rect_take_right(&row, utf8_columns(right) + GAP + 1);
  canvas_text(canvas, at, 0, GAP, STYLE_NOTE, right);
  const char *slash = strrchr(o->file, '/');
  const char *file = *frame->source->file ? frame->source->file : slash ? slash + 1 : o->file;
  int col = canvas_text(canvas, row, 0, 1, STYLE_TITLE, file) + 1;
  const int cols = min_int(utf8_columns(o->signature), row.cols - col);
  col = canvas_fit(canvas, row, 0, col, cols, ALIGN_LEFT, STYLE_ACCENT, o->signature);
  char blocks[96];
  snprintf(blocks, sizeof blocks, "%" PRId64 " of %dx%dx%d blocks of %dx%dx%d", o->blocks,
           o->grid[0], o->grid[1], o->grid[2], o->block[0], o->block[1], o->block[2]);
  if (col + 2 + utf8_columns(blocks) <= row.cols)
    canvas_text(canvas, row, 0, col + 2, STYLE_DIM, blocks);
}

static int data_sites(const Opened *o, int *n) {
  int data = 0;
  *n = 0;
  for (int i = 0; i < o->n_sites; i++) {
    *n += o->sites[i].shared;
    data += o->sites[i].shared && o->sites[i].data;
  }
  return data;
}

static void draw_totals(Canvas *canvas, Rect row, const OwnFrame *frame) {
  const Opened *o = frame->opened;
  const OwnWork *work = frame->work;
  char times[16];
  int n, col = 1;
  const int data = data_sites(o, &n), others = o->n_findings - o->n_races;
  col = canvas_printf(canvas, row, 0, col, STYLE_HEADER, "wavefronts ");
  if (work->before >= 0 && work->before != o->wavefronts)
    col = canvas_printf(canvas, row, 0, col, STYLE_SIDE_A, "%" PRId64 " → ", work->before);
  col = canvas_printf(canvas, row, 0, col, STYLE_NUMBER, "%" PRId64 "%s", o->wavefronts,
                      o->countable ? "" : " + ?");
  if (o->countable && o->wavefronts_most > o->wavefronts)
    col = canvas_printf(canvas, row, 0, col, STYLE_DIM, " to %" PRId64, o->wavefronts_most);
  col = canvas_printf(canvas, row, 0, col, STYLE_DIM, "  ideal %" PRId64, o->ideal);
  col = canvas_printf(canvas, row, 0, col + 1, STYLE_BAD, "%s",
                      times_text(o->wavefronts, o->ideal, times));
  col = canvas_printf(canvas, row, 0, col + 1, o->n_races ? STYLE_BAD : STYLE_OK, " races %d",
                      o->n_races);
  if (others > 0) col = canvas_printf(canvas, row, 0, col, STYLE_BAD, "  findings %d", others);
  const bool is_cut = o->outcome && str_equal(o->outcome, "beyond");
  if (is_cut) col = canvas_printf(canvas, row, 0, col, STYLE_DIM, "  as far as its memory is held");
  if (!is_cut && !str_equal(o->outcome ? o->outcome : "done", "done"))
    col = canvas_printf(canvas, row, 0, col, STYLE_BAD, "  %s", o->outcome);
  col = canvas_printf(canvas, row, 0, col, STYLE_DIM, "  data-dependent %d/%d", data, n);
  canvas_printf(canvas, row, 0, col + 2, o->as_compiled ? STYLE_SIMULATED : STYLE_ESTIMATED,
                o->as_compiled ? "as compiled" : "~ predicted");
}

static void draw_trial(Canvas *canvas, Rect row, const OwnFrame *frame, const OwnTrial *trial) {
  const OpenedArray *a = &frame->opened->arrays[trial->array];
  const int64_t more = trial->cost.storage_bytes - a->at.bytes;
  int col = canvas_printf(canvas, row, 0, 1, STYLE_KEY, "on trial ");
  col = canvas_printf(canvas, row, 0, col, STYLE_CHANGED, "%s %s", a->name, trial->layout);
  col = canvas_printf(canvas, row, 0, col + 2, STYLE_TEXT, "%" PRId64 " → %" PRId64,
                      frame->opened->wavefronts, trial->total);
  if (more) col = canvas_printf(canvas, row, 0, col, STYLE_DIM, ", %+" PRId64 " B", more);
  canvas_printf(canvas, row, 0, col + 2, STYLE_OK, "%s", trial->write);
}

// The line with the error, out of all that a compiler says.
static void draw_error(Canvas *canvas, Rect row, const char *text) {
  const char *at = strstr(text, " error");
  if (!at) at = text;
  while (at > text && at[-1] != '\n') at--;
  canvas_printf(canvas, row, 0, 1, STYLE_BAD, "%.*s", (int)strcspn(at, "\n"), at);
}

static void draw_cure(Canvas *canvas, Rect row, const OwnFrame *frame) {
  const OwnWork *work = frame->work;
  const char *error = own_error(work);
  const OpenedArray *a =
      frame->site && frame->site->array >= 0 ? &frame->opened->arrays[frame->site->array] : NULL;
  if (*error) {
    draw_error(canvas, row, error);
  } else if (work->trial.layout) {
    draw_trial(canvas, row, frame, &work->trial);
  } else if (a && a->write) {
    int col = canvas_text(canvas, row, 0, 1, STYLE_KEY, "write ");
    col = canvas_text(canvas, row, 0, col, STYLE_OK, a->write);
    canvas_printf(canvas, row, 0, col + 2, STYLE_TEXT, "%s %" PRId64 " → %" PRId64 " wavefronts",
                  a->name, a->wavefronts, a->best_wavefronts);
  } else if (frame->opened->warning) {
    canvas_printf(canvas, row, 0, 1, STYLE_WARN, "%s", frame->opened->warning);
  } else if (a) {
    canvas_printf(canvas, row, 0, 1, STYLE_NOTE, "%s: no layout that was tried is cheaper",
                  a->name);
  }
}

void own_draw_head(Canvas *canvas, Rect in, const OwnFrame *frame) {
  draw_name(canvas, rect_take_top(&in, 1), frame);
  draw_totals(canvas, rect_take_top(&in, 1), frame);
  draw_cure(canvas, rect_take_top(&in, 1), frame);
}

// ---- source -------------------------------------------------------------------------------------

// Columns in front of the wavefronts.
static int number_cols(const OwnFrame *frame) {
  return NUMBER_COLS + (frame->opened->is_machine_code ? EXECUTED_COLS : 0);
}

// The sign behind the count of a line, and its meaning.
static const struct {
  const char *mark, *means;
} marks[] = {{"", NULL},           {"s", "sectors"},     {"d", "depends on data"},
             {"?", "not counted"}, {"+", "with others"}, {">", "at least"}};
enum { MARKS = sizeof marks / sizeof marks[0] };

static int mark_of(const OwnFrame *frame, const OpenedLine *line) {
  if (!line->shared) return line->n_sites > 0;
  const bool with_others = frame->opened->as_compiled && !line->as_compiled;
  const bool least = line->wavefronts_most > line->wavefronts;
  return !line->countable ? 3 : line->data ? 2 : with_others ? 4 : least ? 5 : 0;
}

static void draw_counts(Canvas *canvas, Rect row, const OwnFrame *frame, const OpenedLine *line) {
  char count[40], ideal[24], times[16];
  const bool trial = frame->work->trial.layout && line->then != line->wavefronts;
  const int cols = frame->work->trial.layout ? TRIAL_COLS : COUNT_COLS;
  const int64_t now = trial ? line->then : line->wavefronts;
  if (!line->shared) {
    snprintf(count, sizeof count, "%" PRId64 "s", line->sectors);
    snprintf(ideal, sizeof ideal, "%" PRId64 "s", line->ideal_sectors);
    times_text(line->sectors, line->ideal_sectors, times);
  } else {
    const char *mark = marks[mark_of(frame, line)].mark;
    if (trial)
      snprintf(count, sizeof count, "%" PRId64 "→%" PRId64 "%s", line->wavefronts, line->then,
               mark);
    else
      snprintf(count, sizeof count, "%s%" PRId64 "%s", line->as_compiled ? "" : "~",
               line->wavefronts, mark);
    snprintf(ideal, sizeof ideal, "%" PRId64, line->ideal);
    times_text(now, line->ideal, times);
  }
  const Style style = !line->shared       ? STYLE_DIM
                      : trial             ? STYLE_CHANGED
                      : line->as_compiled ? STYLE_NUMBER
                                          : STYLE_ESTIMATED;
  int col = canvas_fit(canvas, row, 0, number_cols(frame), cols, ALIGN_RIGHT, style, count);
  col = canvas_fit(canvas, row, 0, col, IDEAL_COLS, ALIGN_RIGHT, STYLE_DIM, ideal);
  canvas_text(canvas, row, 0, col + 1, line->shared ? STYLE_BAD : STYLE_WARN, times);
}

static void draw_source_line(Canvas *canvas, Rect row, const OwnFrame *frame, int i) {
  const OpenedLine *line = &frame->lines[i + 1];
  const int counts = frame->work->trial.layout ? TRIAL_COLS : COUNT_COLS;
  char number[16];
  snprintf(number, sizeof number, "%d", i + 1);
  canvas_fit(canvas, row, 0, 0, NUMBER_COLS, ALIGN_RIGHT, STYLE_DIM, number);
  if (line->executed) {
    char executed[24];
    snprintf(executed, sizeof executed, "%" PRId64, line->executed);
    canvas_fit(canvas, row, 0, NUMBER_COLS, EXECUTED_COLS, ALIGN_RIGHT, STYLE_DIM, executed);
  }
  if (line->n_sites) draw_counts(canvas, row, frame, line);
  const SourceLine text = {.text = frame->source->line[i], .style = STYLE_TEXT};
  source_draw_text(canvas, row, number_cols(frame) + counts + IDEAL_COLS + TIMES_COLS + 1, &text,
                   frame->across);
  canvas_spot(canvas, row, OWN_SPOT_LINE, i);
  if (i + 1 == frame->line) canvas_over(canvas, row, STYLE_CURSOR);
}

// The marks that stand there, in words.
static void draw_legend(Canvas *canvas, Rect head, int col, const OwnFrame *frame) {
  bool seen[MARKS] = {false};
  for (int i = 1; i <= frame->source->n; i++) seen[mark_of(frame, &frame->lines[i])] = true;
  for (int i = 1; i < MARKS; i++) {
    if (!seen[i]) continue;
    char text[32];
    snprintf(text, sizeof text, "%s %s", marks[i].mark, marks[i].means);
    if (col + utf8_columns(text) > head.cols) return;
    col = canvas_text(canvas, head, 0, col, STYLE_DIM, text) + 2;
  }
}

void own_draw_source(Canvas *canvas, Rect in, const OwnFrame *frame) {
  const int counts = frame->work->trial.layout ? TRIAL_COLS : COUNT_COLS;
  Rect head = rect_take_top(&in, 1);
  canvas_fit(canvas, head, 0, 0, NUMBER_COLS, ALIGN_RIGHT, STYLE_HEADER, "line");
  if (frame->opened->is_machine_code)
    canvas_fit(canvas, head, 0, NUMBER_COLS, EXECUTED_COLS, ALIGN_RIGHT, STYLE_HEADER, "executed");
  int col =
      canvas_fit(canvas, head, 0, number_cols(frame), counts, ALIGN_RIGHT, STYLE_HEADER, "wavefr.");
  col = canvas_fit(canvas, head, 0, col, IDEAL_COLS, ALIGN_RIGHT, STYLE_HEADER, "ideal");
  col += TIMES_COLS + 1;
  if (frame->work->calls && *frame->source->file)
    col = canvas_text(canvas, head, 0, col, STYLE_HEADER, "inlined lines at their calls") + 2;
  draw_legend(canvas, head, col, frame);
  ViewList list = view_list(in, frame->line - 1, frame->source->n);
  while (view_list_next(canvas, &list)) draw_source_line(canvas, list.row, frame, list.at);
}

// ---- panes --------------------------------------------------------------------------------------

// "57 < 116", "tile.h:12 < 40": the calls that a site was inlined by, files that are not the one
// that is shown by name; nothing where it stands in the line itself.
static void draw_chain(Canvas *canvas, Rect row, int col, const OwnFrame *frame,
                       const OpenedChain *chain) {
  const char *file = frame->source->file;
  const bool is_listing = !*file && frame->opened->is_machine_code;
  if (chain->n < 2 && !is_listing && (chain->n == 0 || str_equal(chain->place[0].file, file)))
    return;
  for (int i = 0; i < chain->n; i++) {
    const OpenedPlace *place = &chain->place[i];
    const bool other = !str_equal(place->file, file);
    col = canvas_printf(canvas, row, 0, col, i ? STYLE_DIM : STYLE_TEXT, "%s%s%s%d", i ? " < " : "",
                        other ? place->file : "", other ? ":" : "", place->line);
  }
}

const char *own_formula(const Opened *opened, const OpenedSite *site, char out[512]) {
  const char *name = !site->shared      ? "an address"
                     : site->array >= 0 ? opened->arrays[site->array].name
                                        : "shared";
  if (!site->formula)
    snprintf(out, 512, "not affine: %s%s", site->not_affine ? site->not_affine : "not analysed",
             site->data ? " (they depend on data)" : "");
  else
    snprintf(out, 512, "%s + %s B%s%s", name, site->formula,
             strpbrk(site->formula, "n") ? "; n: the executions of this warp before" : "",
             site->formula_of_all ? "" : "; in the first block");
  return out;
}

// Over the rows that it takes.
static int draw_formula(Canvas *canvas, Rect in, const OwnFrame *frame, const OpenedSite *site) {
  char text[512];
  return canvas_wrap(canvas, in, site->formula ? STYLE_ACCENT : STYLE_NOTE,
                     own_formula(frame->opened, site, text));
}

// The addresses of the card: the worst execution's, moved by the trial where its array is on it.
static bool card_addresses(const OwnFrame *frame, int64_t addr[BANK_LANES]) {
  const OwnTrial *trial = &frame->work->trial;
  memcpy(addr, frame->site->worst, sizeof frame->site->worst);
  if (!trial->layout || frame->site->array != trial->array) return false;
  return recorded_addresses(&frame->opened->arrays[trial->array].at, &frame->site->recorded,
                            trial->read, frame->site->worst, addr);
}

// Whether it is a copy that the pipe has no wavefronts of.
static bool past_l1(const OpenedSite *site) {
  return site && site->recorded.op && !site->recorded.op->counted;
}

// The cost of the worst execution. Past L1 that is the least, and its addresses say what is most.
static const char *worst_text(const OpenedSite *site, char out[32]) {
  const int least = site->worst_wavefronts;
  const int most = past_l1(site) ? banks_count(site->recorded.op, site->worst).profiled_most : 0;
  return bank_text_bounds(least, most, out);
}

static void draw_no_card(Canvas *canvas, Rect in, const OwnFrame *frame) {
  const char *why = "This line does not use shared memory; x goes to the worst line that does.";
  if (frame->site && frame->site->recorded.atomic)
    why =
        "An atomic operation: lanes of one bank wait for each other, even for one word. "
        "Increments of one word go together.";
  else if (past_l1(frame->site))
    why = bank_text_past_l1;
  else if (frame->site)
    why =
        "No wavefronts are counted here: no lane has an address, or no rule is known for this "
        "access.";
  canvas_wrap(canvas, in, STYLE_NOTE, why);
}

// Below the card on trial, where there is room, the one as it is.
static void draw_before(Canvas *canvas, Rect in, const OpenedSite *site) {
  enum { ROWS_MIN = 6 };
  if (in.rows < ROWS_MIN) return;
  BankMap map;
  banks_map(&map, site->recorded.op, site->worst);
  rect_take_top(&in, 1);
  canvas_text(canvas, rect_take_top(&in, 1), 0, 0, STYLE_DIM, "without the trial layout");
  card_draw(canvas, in, &map, -1);
}

static void draw_card(Canvas *canvas, Rect in, const OwnFrame *frame) {
  const OpenedSite *site = frame->site;
  if (!site) {
    draw_no_card(canvas, in, frame);
    return;
  }
  int64_t addr[BANK_LANES];
  const bool moved = card_addresses(frame, addr);
  Rect row = rect_take_top(&in, 1);
  int col = canvas_text(canvas, row, 0, 0, STYLE_SITE,
                        site->recorded.op ? site->recorded.op->sass : "ATOMS");
  char verdict[32], worst[32];
  Style style = STYLE_TEXT;
  BankMap map;
  if (site->recorded.op) {
    banks_map(&map, site->recorded.op, addr);
    card_verdict(&map.count, verdict, &style);
    if (map.count.known) col = canvas_printf(canvas, row, 0, col + 1, style, "%s", verdict);
  }
  const char *cost = worst_text(site, worst);
  col = canvas_printf(canvas, row, 0, col + 1, STYLE_DIM,
                      "%sworst of %" PRId64 " run%s: %s wavefront%s  ", moved ? "before: " : "",
                      site->executions, plural_s(site->executions), cost,
                      str_equal(cost, "1") ? "" : "s");
  draw_chain(canvas, row, col, frame, &site->chain);
  rect_take_top(&in, draw_formula(canvas, in, frame, site));
  if (!site->recorded.op || !map.count.known) {
    draw_no_card(canvas, in, frame);
    return;
  }
  const char *why = map.count.conflicts ? bank_reason(frame->arena, &map, addr) : NULL;
  const int why_rows = why ? canvas_wrap_rows(why, in.cols) : 0;
  if (why_rows + CARD_ROWS_MIN <= in.rows)
    rect_take_top(&in, canvas_wrap(canvas, in, STYLE_WARN, why ? why : ""));
  rect_take_top(&in, card_draw(canvas, in, &map, -1));
  if (moved) draw_before(canvas, in, site);
}

static void draw_global(Canvas *canvas, Rect in, const OwnFrame *frame) {
  const OpenedSite *site = frame->global;
  if (!site) {
    canvas_wrap(canvas, in, STYLE_NOTE, "This line accesses no global memory.");
    return;
  }
  SectorMap map;
  sectors_map(&map, site->global_op, site->worst_global);
  char verdict[32];
  Style style;
  sector_card_verdict(&map.count, verdict, &style);
  Rect row = rect_take_top(&in, 1);
  int col = canvas_text(canvas, row, 0, 0, STYLE_SITE, site->global_op->sass);
  col = canvas_printf(canvas, row, 0, col + 1, style, "%s", verdict);
  canvas_printf(canvas, row, 0, col + 1, STYLE_DIM, "%" PRId64 " sectors, %" PRId64 " would do",
                site->sectors, site->ideal_sectors);
  if (!site->shared) rect_take_top(&in, draw_formula(canvas, in, frame, site));
  sector_card_draw(canvas, in, &map);
}

static void draw_texts(Canvas *canvas, Rect in, const OwnFrame *frame, const OpenedText *texts,
                       int n, const char *none) {
  int shown = 0, more = 0;
  for (int i = 0; i < n; i++) {
    const OpenedText *t = &texts[i];
    if (opened_line_of(frame->source, &t->chain, t->ptx_line, frame->work->calls) != frame->line)
      continue;
    if (shown + 1 < in.rows || (shown < in.rows && i == n - 1))
      canvas_text(canvas, in, shown++, 0, STYLE_TEXT, t->text);
    else
      more++;
  }
  if (more) canvas_printf(canvas, in, in.rows - 1, 0, STYLE_DIM, "… %d more", more);
  if (shown == 0) canvas_wrap(canvas, in, STYLE_NOTE, none);
}

static void draw_findings(Canvas *canvas, Rect in, const OwnFrame *frame) {
  const Opened *o = frame->opened;
  if (o->n_findings == 0) {
    canvas_wrap(canvas, in, STYLE_OK, "No race, no unwritten read, no access out of bounds.");
    rect_take_top(&in, 2);
  }
  for (int i = 0; i < o->n_findings && in.rows > 0; i++)
    rect_take_top(&in, canvas_wrap(canvas, in, STYLE_BAD, o->finding[i]));
  if (o->warning && in.rows > 0)
    rect_take_top(&in, canvas_wrap(canvas, in, STYLE_WARN, o->warning));
  if (o->predicted_because && in.rows > 0) canvas_wrap(canvas, in, STYLE_DIM, o->predicted_because);
}

void own_draw_pane(Canvas *canvas, Rect in, const OwnFrame *frame) {
  static const char *const ptx[] = {"card", "sectors", "PTX", "SASS", "findings"},
                           *const machine[] = {"card", "sectors", "control", "clocks", "findings"};
  const char *const *titles = frame->opened->is_machine_code ? machine : ptx;
  Rect row = rect_take_top(&in, 1);
  int col = canvas_printf(canvas, row, 0, 1, STYLE_TITLE, "line %d ", frame->line);
  for (int i = 0; i < OWN_PANES; i++)
    col = canvas_text(canvas, row, 0, col + 1, i == (int)frame->pane ? STYLE_HEADER : STYLE_DIM,
                      titles[i]);
  rect_take_left(&in, 1);
  const Opened *o = frame->opened;
  if (frame->pane == OWN_CARD) draw_card(canvas, in, frame);
  if (frame->pane == OWN_GLOBAL) draw_global(canvas, in, frame);
  if (frame->pane == OWN_PTX && o->is_machine_code)
    own_draw_control(canvas, in, frame);
  else if (frame->pane == OWN_PTX)
    draw_texts(canvas, in, frame, o->code, o->n_code, "This line has no instructions.");
  if (frame->pane == OWN_SASS && o->is_machine_code)
    own_draw_clocks(canvas, in, frame);
  else if (frame->pane == OWN_SASS)
    draw_texts(canvas, in, frame, o->sass, o->n_sass,
               o->n_sass ? "This line has no instructions in machine code."
                         : "There is no machine code: ptxas and nvdisasm are needed for it.");
  if (frame->pane == OWN_FINDINGS) draw_findings(canvas, in, frame);
}
