// Sentences: what the cursor is on, what one step of it would do, and what would help most.
//
// Every figure comes from a trial of the model (knob_trials.h) or from the site under the card; a
// figure that has not been worked out yet is left out, never guessed. Worked example, the cursor on
// CELL_GROUP at 0:
//   CELL_GROUP  cut a thread's rows and columns into groups of this many, …
//   ◀ 0 is the lowest   ▶ 4: shared 2752 → 1728 clk, 48.3 → 64.9 TFLOP/s estimated
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/whole.h"
#include "kernels/device/timing.h"
#include "model/ir/program.h"
#include "model/ir/stmt.h"
#include "model/readings/derive.h"
#include "tui/canvas/fmt.h"
#include "tui/frame/view.h"
#include "tui/session/at_hand.h"
#include "tui/session/better_kernel.h"
#include "tui/session/knob_gain.h"
#include "tui/views/memory/bank_why.h"
#include "tui/views/memory/sector_card.h"
#include "tui/views/program/explore.h"

// Rows of a screen on which sentences are wrapped, and on which there are three.
enum { EFFECTS = 4, WRAP_SCREEN = 39, STORY_SCREEN = 21 };

static void say(Explore *explore, Style style, const char *text) {
  if (explore->n_sentences < EXPLORE_SENTENCES && text && *text)
    explore->sentence[explore->n_sentences++] = (Sentence){.style = style, .text = text};
}

// "shared 2752 → 1728 clk"; nothing when both read alike, or when *left of them are said.
static void add_change(Str *out, const Session *session, int *left, const char *what, double before,
                       double after, const char *unit) {
  char a[FMT_MAX], b[FMT_MAX];
  if (str_equal(fmt_figure(a, before), fmt_figure(b, after)) || (*left)-- <= 0) return;
  bool follows = out->length && out->text[out->length - 1] != ' ';
  str_printf(out, "%s%s %s %s %s%s", follows ? ", " : "", what, a, session->ascii ? "->" : "→", b,
             unit);
}

// Counted from what FIT says: the compiler's registers, where it was asked, and what the change
// adds to them by the model.
static Resources expected_resources(const Session *session, const Trial *trial) {
  const Picture *picture = session->doc.now.picture;
  const Resources *fit = &picture->model->resources, *guess = &picture->estimate->resources;
  if (!fit->counted) return trial->resources;
  int registers = fit->n_registers + trial->resources.n_registers - guess->n_registers;
  return resources_with_registers(&trial->resources, picture->model->target,
                                  registers < 1 ? 1 : registers, -1);
}

// All that was timed of a neighbour, where the state was not: "recorded 38.3".
static void add_record(Str *out, const Session *session, const Promise *promise) {
  char figure[FMT_MAX];
  const Timed *there = promise->there;
  if (!there || at_hand_is_other(session, there)) return;
  str_printf(out, "%s%s %s", out->length && out->text[out->length - 1] != ' ' ? ", " : "",
             results_said(there), fmt_figure(figure, there->tflops));
}

// "clock 36.5 → 38.0 TFLOP/s, recorded 36.7 → 38.3", "stand-in 34.1 → 36.0 TFLOP/s, recorded 38.3".
static void add_promise(Str *out, const Session *session, int *left, const Promise *promise) {
  add_change(out, session, left, estimate_word(&promise->to), promise->from.tflops,
             promise->to.tflops, " TFLOP/s");
  if (promise->comparable)
    add_change(out, session, left, results_said(promise->there), promise->here->tflops,
               promise->there->tflops, "");
  else
    add_record(out, session, promise);
}

static Promise promise_here(const Session *session, const Trial *trial) {
  const Estimate own = session_stand_in(session, session->doc.now.picture->estimate);
  return promise_of(&session->background.results, &session->doc.now.pictured, &own, trial);
}

static void add_effects(Str *out, const Session *session, const Trial *trial, int most) {
  const Model *now = session->doc.now.picture->estimate;
  size_t before = out->length;
  const Promise promise = promise_here(session, trial);
  add_promise(out, session, &most, &promise);
  add_change(out, session, &most, "shared",
             traffic_per_kfma(&now->traffic, now->traffic.shared_clocks),
             traffic_per_kfma(&trial->traffic, trial->traffic.shared_clocks), " clk/kFMA");
  const Resources *fit = &session_model(session)->resources;
  const Resources after = expected_resources(session, trial);
  add_change(out, session, &most, fit->counted ? "registers" : "est. registers", fit->n_registers,
             after.n_registers, fit->counted ? " est." : "");
  add_change(out, session, &most, "blocks/SM", fit->blocks_per_sm, after.blocks_per_sm, "");
  if (out->length == before) str_add(out, "no change by the model");
}

static const char *trial_value(Arena *arena, const Session *session, const Trial *trial) {
  Schedule schedule = session->doc.now.schedule;
  schedule.value[trial->knob] = trial->value;
  return knob_value_said(arena, &schedule, trial->knob);
}

static void add_trial(Str *out, const Session *session, const Trial *trial, const char *arrow,
                      const char *gap, int most) {
  if (!trial || !trial->exists) return;
  str_printf(out, "%s%s %s: ", out->length ? gap : "", arrow,
             trial_value(out->arena, session, trial));
  if (trial->legal)
    add_effects(out, session, trial, most);
  else
    str_printf(out, "illegal: %s", most == EFFECTS ? trial->why : trial->rule);
}

// Says what a step down and a step up would do: each on a line of its own, or the figures of
// both as have room beside each other.
static const char *say_neighbours(Arena *arena, const Session *session) {
  const bool wraps = session->rows >= WRAP_SCREEN;
  const char *gap = wraps ? "\n" : "   ";
  const Advice *advice = session->background.advice;
  for (int most = EFFECTS;; most--) {
    Str out = str_new(arena);
    add_trial(&out, session, advice_find(advice, session->at.knob, -1), "◀", gap, most);
    add_trial(&out, session, advice_find(advice, session->at.knob, +1), "▶", gap, most);
    if (most == 1 || canvas_wrap_rows(out.text, session->cols - 2) <= 1 + wraps) return out.text;
  }
}

static void explain_knob(Arena *arena, const Session *session, Explore *explore) {
  const Knob *knob = &knob_table[session->at.knob];
  const char *follows = knob_is_auto(&session->doc.now.schedule, session->at.knob)
                            ? arena_printf(arena, " (auto: %s)", knob_auto_text(session->at.knob))
                            : "";
  say(explore, STYLE_TEXT, arena_printf(arena, "%s%s: %s", knob->name, follows, knob->help));
  say(explore, STYLE_DIM, say_neighbours(arena, session));
}

// "LDS.128: 8 wavefronts (ideal 4) × 32 per slab × 8 warps = 2048 of 2752"; where not every warp or
// iteration pays that, "LDS.128: 8 wavefronts (ideal 4) at most, 1840 of 2752 per slab".
static void explain_site(Arena *arena, const Session *session, Explore *explore, int index) {
  const Picture *picture = session->doc.now.picture;
  if (index >= picture->model->n_sites) {
    const GlobalSite *global = &picture->model->global.site[index - picture->model->n_sites];
    if (global->count.known) say(explore, STYLE_DIM, sector_card_say(arena, global));
    return;
  }
  const Site *site = &picture->model->site[index];
  double warps = (double)picture->model->resources.n_consumers;
  if (!site->count.known) return;
  double all = picture->model->totals.wavefronts, alike = site->executions * warps;
  Str out = str_new(arena);
  str_printf(&out, "%s: %d wavefront%s (ideal %d)", site->op->sass, site->count.wavefronts,
             plural_s(site->count.wavefronts), site->count.ideal);
  if (!(site->executions > 0))
    str_add(&out, ", outside of the loop over slabs");
  else if (fabs(alike * site->count.wavefronts - site->clocks) < 0.5)
    str_printf(&out, " × %.0f per slab × %.0f warps = %.0f of %.0f", site->executions, warps,
               site->clocks, all);
  else
    str_printf(&out, " at most, %.0f of %.0f per slab", site->clocks, all);
  if (site->word != ACCESS_WRITTEN) str_printf(&out, " (%s)", site_forms_text(arena, site));
  say(explore, STYLE_DIM, out.text);
}

// "the producer only fetches, 4 warps behind the others, of which one thread asks for slabs; …"
static const char *role_help(Arena *arena, const Stmt *body) {
  const WarpRole *role = body->role;
  long long warps = ceil_div(role->n_threads, LANES);
  Str out = str_new(arena);
  str_printf(&out, "%s, %lld warp%s", body->note, warps, plural_s(warps));
  if (role->work == WORK_FETCHES)
    str_add(&out, " after the others; one of its threads asks for slabs");
  if (role->registers)
    str_printf(&out, "; setmaxnreg leaves them %lld registers a thread",
               (long long)role->registers);
  return out.text;
}

static const char *row_help(Arena *arena, const NestRow *row) {
  const Stmt *stmt = row->stmt;
  if (stmt && stmt->kind == STMT_LOOP && stmt->var->tier != TIER_SERIAL)
    return tier_help(stmt->var->tier);
  if (stmt && stmt->kind == STMT_OP) return row->note ? row->note : nest_op_help(&stmt->op);
  if (stmt && stmt->role) return role_help(arena, stmt);
  if (row->note) return row->note;
  if (stmt) return nest_group_name(row->group);
  return tier_help(row->group == NEST_BLOCK  ? TIER_BLOCK
                   : row->group == NEST_WARP ? TIER_WARP
                                             : TIER_THREAD);
}

static void explain_row(Arena *arena, const Session *session, Explore *explore) {
  const Nest *nest = explore->nest;
  int at = session_view_state_const(session)->cursor;
  const NestRow *row = &nest->row[at < nest->n_rows ? at : nest->n_rows - 1];
  bool is_op = row->stmt && row->stmt->kind == STMT_OP;
  Str out = str_new(arena);
  str_printf(&out, "%s: %s", row->wide && is_op ? row->wide : row->text, row_help(arena, row));
  if (row->knob != KNOB_NONE) str_printf(&out, "  (made by %s)", knob_table[row->knob].name);
  const SourcePart *code = &explore->code;
  if (code->n == 1) str_printf(&out, "  (CUDA line %d)", code->first);
  if (code->n > 1) str_printf(&out, "  (CUDA lines %d to %d)", code->first, code->last);
  say(explore, STYLE_TEXT, out.text);
  if (row->site) explain_site(arena, session, explore, row->site - 1);
}

const Trial *explore_best(const Session *session) {
  const Estimate own = session_stand_in(session, session->doc.now.picture->estimate);
  return promise_best(&session->background.results, session->background.advice, &own);
}

static void explain_best(Arena *arena, const Session *session, Explore *explore) {
  const Trial *best = explore_best(session);
  if (!best) return;
  Str out = str_new(arena);
  char name[KEY_PRINT_MAX];
  Key key = keymap_key(session->keymap, "explore", "take-advice");
  str_printf(&out, "try %s %s", knob_table[best->knob].name, trial_value(arena, session, best));
  if (key != KEY_NONE) str_printf(&out, " (%s)", key_print(key, name));
  str_add(&out, ": ");
  add_effects(&out, session, best, EFFECTS);
  say(explore, STYLE_NOTE, out.text);
}

// "tuned (A): 3.05 ms, ×1.23 on 3.75 ms recorded: CELL_GROUP 0 → 4, …"; of a state that was never
// timed "tuned (A): 3.05 ms, 45 TFLOP/s, this was never timed: …".
static void explain_better(Arena *arena, const Session *session, Explore *explore) {
  const BetterKernel better = better_kernel(arena, session);
  if (!better.row) return;
  char time[FMT_MAX], text[FMT_MAX];
  Str out = str_new(arena);
  str_printf(&out, "tuned (%s): %s%s, ", view_key_name(session, "take-tuned"),
             fmt_time(time, better.row->time_ns),
             timing_is_simulated(better.row->method) ? " simulated" : "");
  if (better.own) {
    str_printf(&out, "×%s on ", fmt_ratio(text, better.gain));
    str_printf(&out, "%s %s", fmt_time(text, better.own->time_ns), results_said(better.own));
  } else {
    str_printf(&out, "%s TFLOP/s; never timed", fmt_figure(text, better.row->tflops));
  }
  str_printf(&out, ": %s", better_kernel_changes(arena, session, better.schedule));
  say(explore, STYLE_NOTE, out.text);
}

// Says what has been made of the rung: "since rung 11: CELL_GROUP 0 → 4, FM 8 → 4".
static void explain_edits(Arena *arena, const Session *session, Explore *explore) {
  const Schedule *own = &session_rung(session)->schedule, *now = &session->doc.now.schedule;
  Str out = str_new(arena);
  for (int i = 0; i < KNOB_COUNT; i++)
    if (schedule_differs(own, now, (KnobId)i))
      str_printf(&out, "%s%s %s %s %s", out.length ? ", " : "", knob_table[i].name,
                 knob_value_said(arena, own, (KnobId)i), session->ascii ? "->" : "→",
                 knob_value_said(arena, now, (KnobId)i));
  say(explore, STYLE_DIM, arena_printf(arena, "since rung %d: %s", session->doc.rung, out.text));
}

static void explain_legality(Arena *arena, const Session *session, Explore *explore) {
  if (session->doc.now.reasons)
    say(explore, STYLE_WARN,
        arena_printf(arena,
                     "The screen shows the last legal schedule. %s repairs this one, %s takes it "
                     "back.",
                     view_key_name(session, "fix"), view_key_name(session, "undo")));
  else
    explain_better(arena, session, explore);
  if (!session->doc.now.reasons) explain_best(arena, session, explore);
}

static void explain_card(Arena *arena, const Session *session, Explore *explore) {
  const Site *site = session_site(session);
  if (!site) return;
  const BankMap *map = &session->doc.now.picture->map[session->at.site];
  explore->reason = bank_says(arena, session, site, map);
  explore->reason_brief = bank_reason(arena, map, site->addr);
}

void explore_explain(Arena *arena, const Session *session, Explore *explore) {
  const bool holds = session_departures(session) == 0;
  const bool roomy = session->rows >= WRAP_SCREEN,
             of_knob = session_view_state_const(session)->pane == 0;
  const bool small = session->rows < STORY_SCREEN;
  const bool first = holds && session->at.arrived && of_knob && !roomy && !small;
  if (first) {
    say(explore, STYLE_TEXT, session_rung(session)->line);
    explore->sentence[0].whole = true;
    explain_legality(arena, session, explore);
  }
  if (of_knob)
    explain_knob(arena, session, explore);
  else
    explain_row(arena, session, explore);
  if (!first) explain_legality(arena, session, explore);
  if (holds && !first) say(explore, STYLE_DIM, session_rung(session)->line);
  if (session_edits(session)) explain_edits(arena, session, explore);
  explain_card(arena, session, explore);
}
