// Edits, undo, rungs and comparison over two sides.
//
// Every edit goes through session_set_schedule(): undo entry, build, message. Worked example: at
// rung 6 with FM=8 the user presses Right twice on FM and meets the register limit at 64. The
// schedule holds FM=64, the picture is still that of FM=32, the reasons are shown, and `f` applies
// the "FM=16" that the rule offers. `]` then files FM=16 under rung 6 and shows rung 7; `[` comes
// back to FM=16.
//
// Knobs of the problem (M, N, K, TARGET …) that were changed go along to the next rung, so that a
// whole ladder can be walked at 2048³; side branches keep the problem they were made for.
#include "tui/session/session.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/embed.h"
#include "base/nearest.h"
#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/readings/rules/knob_use.h"
#include "tui/session/claim_runs.h"
#include "tui/session/nearest_rung.h"
#include "tui/session/placed_loads.h"

// ---- opening ------------------------------------------------------------------------------------

static bool load_targets(Session *session, Diags *diags) {
  const EmbeddedFile *file = embed_find(session->app, "gpus.json");
  if (!file) {
    diag_add(diags, "data", "data/gpus.json is missing");
    return false;
  }
  return targets_parse(session->app, file->text, file->size, diags, &session->doc.targets);
}

static bool load_ladders(Session *session, Diags *diags) {
  EmbeddedList list = embed_list(session->app, "ladders/");
  session->doc.ladders = ARENA_ARRAY(session->app, const Ladder *, list.count);
  for (int i = 0; i < list.count; i++) {
    const EmbeddedFile *file = embed_find(session->app, list.paths[i]);
    const Ladder *ladder = ladder_read(session->app, file->text, file->size, file->path, diags);
    if (ladder) session->doc.ladders[session->doc.n_ladders++] = ladder;
  }
  if (list.count == 0) diag_add(diags, "data", "data/ladders has no ladder");
  ladders_sort(session->doc.ladders, session->doc.n_ladders);
  return diags->count == 0;
}

// A recorded file that cannot be read costs its numbers, never the explorer.
static void load_results(Session *session) {
  EmbeddedList list = embed_list(session->app, "results/");
  Diags diags = diags_new(session->app);
  results_init(&session->background.results, session->app);
  session->background.stand_ins = ARENA_ARRAY(session->app, StandIn, SESSION_RUNGS_MAX);
  for (int i = 0; i < list.count; i++) {
    const EmbeddedFile *file = embed_find(session->app, list.paths[i]);
    results_load(&session->background.results, file->text, file->size, file->path, &diags);
  }
  if (diags.first) session_say(session, SAID_WARNING, "%s", diags.first->text);
}

static const Ladder *find_ladder(const Session *session, const char *name, Diags *diags) {
  if (!name) return session->doc.ladders[0];
  const char **names = ARENA_ARRAY(diags->arena, const char *, session->doc.n_ladders);
  for (int i = 0; i < session->doc.n_ladders; i++) {
    names[i] = session->doc.ladders[i]->name;
    if (str_equal_fold(names[i], name)) return session->doc.ladders[i];
  }
  diag_add_unknown(diags, "ladder", "ladder", name, names, session->doc.n_ladders);
  return NULL;
}

static void begin_work(Session *session) {
  session->doc.works = ARENA_ARRAY(session->app, Schedule *, session->doc.n_ladders);
  for (int i = 0; i < session->doc.n_ladders; i++) {
    const Ladder *ladder = session->doc.ladders[i];
    session->doc.works[i] = ARENA_ARRAY(session->app, Schedule, ladder->n_rungs);
    for (int rung = 0; rung < ladder->n_rungs; rung++)
      session->doc.works[i][rung] = ladder->rung[rung].schedule;
  }
}

static int ladder_index(const Session *session, const Ladder *ladder) {
  int at = 0;
  while (session->doc.ladders[at] != ladder) at++;
  return at;
}

static void take_ladder(Session *session, const Ladder *ladder) {
  session->doc.ladder = ladder;
  session->doc.work = session->doc.works[ladder_index(session, ladder)];
}

// The ladder that a state stands on; for a text that is no state, the first.
static const Ladder *ladder_of_state(const Session *session, const char *state) {
  Schedule asked = schedule_default();
  Diags unused = diags_new(session->trial);
  if (!schedule_parse(&asked, state, &unused)) return session->doc.ladders[0];
  return standing_of(session->doc.ladders, session->doc.n_ladders, &asked).ladder;
}

static bool choose_rung(Session *session, const SessionOptions *options, Diags *diags) {
  const Ladder *ladder = session->doc.ladder;
  session->doc.rung = 0;
  if (options->rung) {
    session->doc.rung = ladder_find_rung(ladder, options->rung, diags);
    if (session->doc.rung < 0) return false;
  }
  Schedule *schedule = &session->doc.now.schedule;
  *schedule = options->rung ? ladder->rung[session->doc.rung].schedule : schedule_default();
  if (!options->state && !options->rung) *schedule = ladder->rung[session->doc.rung].schedule;
  if (options->state && !schedule_parse(schedule, options->state, diags)) return false;
  if (options->state && !options->rung) session->doc.rung = standing_of(&ladder, 1, schedule).rung;
  return true;
}

// Before there are slabs: what wastes most of global memory.
static int worst_global(const Globals *global) {
  int worst = 0;
  for (int i = 1; i < global->n; i++)
    if (global->site[i].sectors - global->site[i].ideal >
        global->site[worst].sectors - global->site[worst].ideal)
      worst = i;
  return worst;
}

static void show_worst_site(Session *session) {
  const Picture *picture = session->doc.now.picture;
  int site = picture->worst_site;
  double most = 0;
  session->at.site = 0;
  for (int i = 0; site < 0 && i < picture->model->n_sites; i++) {
    if (!(picture->model->site[i].clocks > most)) continue;
    most = picture->model->site[i].clocks;
    session->at.site = i;
  }
  if (site >= 0) session->at.site = site;
  if (!picture->model->n_sites) session->at.site = worst_global(&picture->model->global);
}

// A knob that says nothing here is put away for the one that made this rung of the rung before,
// else for the first one that makes a loop.
static void keep_knob(Session *session) {
  const Schedule *schedule = &session->doc.now.schedule;
  if (session->at.knob >= 0 && knob_is_used(session->at.knob, schedule)) return;
  const int before = ladder_rung_before(session->doc.ladder, session->doc.rung);
  for (int i = KNOB_COUNT - 1; i >= 0; i--)
    if (!knob_is_problem((KnobId)i) && knob_is_used((KnobId)i, schedule))
      session->at.knob = (KnobId)i;
  for (int i = KNOB_COUNT - 1; i >= 0 && before >= 0; i--)
    if (!knob_is_problem((KnobId)i) && knob_is_used((KnobId)i, schedule) &&
        schedule_differs(&session->doc.ladder->rung[before].schedule, schedule, (KnobId)i))
      session->at.knob = (KnobId)i;
}

static UndoEntry undo_entry(const Session *session) {
  return (UndoEntry){.schedule = session->doc.now.schedule,
                     .ladder = session->doc.ladder,
                     .rung = session->doc.rung};
}

static bool open_side(Session *session, const SessionOptions *options, Diags *diags) {
  bool is_free = options->state && !options->ladder && !options->rung;
  const Ladder *ladder = is_free ? ladder_of_state(session, options->state)
                                 : find_ladder(session, options->ladder, diags);
  if (!ladder) return false;
  begin_work(session);
  take_ladder(session, ladder);
  if (!choose_rung(session, options, diags)) return false;
  if (!side_build(&session->doc.now, &session->doc.targets)) {
    diags_add_all(diags, session->doc.now.reasons);
    return false;
  }
  session->doc.undo[0] = undo_entry(session);
  show_worst_site(session);
  keep_knob(session);
  return true;
}

Session *session_open(const SessionOptions *options, Diags *diags) {
  Arena *app = arena_new("session");
  Session *session = ARENA_NEW(app, Session);
  session->app = app;
  session->frame = arena_new("frame");
  session->trial = arena_new("trial");
  session->ascii = options->ascii;
  session->at.knob = knob_first_to_turn();
  session->at.arrived = true;
  session->doc.undo = ARENA_ARRAY(app, UndoEntry, SESSION_UNDO);
  session->prompt.history = ARENA_NEW(app, TextHistory);
  session->prompt.searches = ARENA_NEW(app, TextHistory);
  session->prompt.field.history = session->prompt.history;
  side_init(&session->doc.now, "now");
  side_init(&session->doc.then, "then");
  session->doc.now.ascii = session->doc.then.ascii = options->ascii;
  session->background.advice = ARENA_NEW(app, Advice);
  session->background.sweep = ARENA_NEW(app, KnobSweep);
  advice_init(session->background.advice);
  knobsweep_init(session->background.sweep);
  session->keymap = keymap_new(app);
  load_results(session);
  bool ok = load_targets(session, diags) && load_ladders(session, diags) &&
            open_side(session, options, diags);
  if (ok) return session;
  diags_keep(diags);  // names out of ladders go with the session
  session_close(session);
  return NULL;
}

void session_close(Session *session) {
  claim_runs_free(session->background.claim_runs);
  placed_loads_free(session->background.placed);
  results_free(&session->background.results);
  advice_free(session->background.advice);
  knobsweep_free(session->background.sweep);
  side_free(&session->doc.now);
  side_free(&session->doc.then);
  arena_free(session->trial);
  arena_free(session->frame);
  arena_free(session->app);
}

// ---- saying -------------------------------------------------------------------------------------

void session_say(Session *session, Said said, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(session->prompt.message, sizeof session->prompt.message, format, args);
  va_end(args);
  session->prompt.said = said;
}

// ---- editing ------------------------------------------------------------------------------------

// The name by which the selected access is found again in the next picture.
typedef struct Chosen {
  bool any, global;
  char text[64];  // of a site; the matrix of an access to global memory
} Chosen;

static Chosen chosen_site(const Session *session) {
  const Site *site = session_site(session);
  const GlobalSite *global = session_global(session);
  Chosen chosen = {.any = site || global, .global = global != NULL};
  snprintf(chosen.text, sizeof chosen.text, "%s",
           site     ? site->text
           : global ? global->matrix->name
                    : "");
  return chosen;
}

// The site of the new picture that is what the selected one was: the same statement of the nest, by
// its text. The worst one on another rung, unless the user chose one there; and where there was no
// shared memory to choose from, the worst now that there is.
static void keep_site(Session *session, const Chosen *chosen, int n_before) {
  const Model *model = session_model(session);
  bool first_shared = n_before == 0 && model->n_sites;
  if (session->at.site >= session_site_count(session)) session->at.site = 0;
  if (!chosen || first_shared) {
    show_worst_site(session);
    return;
  }
  int at =
      chosen->global ? side_find_global(model, chosen->text) : side_find_site(model, chosen->text);
  if (at >= 0) session->at.site = chosen->global ? model->n_sites + at : at;
  if (at < 0 && !chosen->global && session->at.site >= model->n_sites && model->n_sites)
    session->at.site = model->n_sites - 1;
}

static void rebuild(Session *session) {
  session->at.kernel_view = session->at.view;  // a user who edits the schedule looks at it
  session->at.subject = NULL;
  const Chosen chosen = chosen_site(session);
  int n_before = session_model(session)->n_sites;
  session->prompt.message[0] = '\0';
  if (side_build(&session->doc.now, &session->doc.targets))
    keep_site(session, chosen.any && !session->at.new_rung ? &chosen : NULL, n_before);
  else
    session_find_fix(session);
  session->doc.work[session->doc.rung] = session->doc.now.schedule;
  session->at.change = CHANGE_FRESH;
  session->at.new_rung = false;
  session->at.phase = 0;
  keep_knob(session);
}

static void push_undo(Session *session) {
  if (session->doc.undo_at == SESSION_UNDO - 1) {
    memmove(session->doc.undo, session->doc.undo + 1,
            sizeof *session->doc.undo * (SESSION_UNDO - 1));
    session->doc.undo_at--;
  }
  session->doc.undo[++session->doc.undo_at] = undo_entry(session);
  session->doc.undo_top = session->doc.undo_at;
}

void session_set_schedule(Session *session, const Schedule *schedule) {
  if (schedule_says_same(&session->doc.now.schedule, schedule)) return;
  for (int i = 0; i < KNOB_COUNT; i++)
    session->at.touched[i] |= schedule_differs(&session->doc.now.schedule, schedule, (KnobId)i);
  session->doc.now.schedule = *schedule;
  rebuild(session);
  push_undo(session);
}

void session_take_knob(Session *session, KnobId knob) {
  if (knob < 0) return;
  session->at.knob = knob;
  session->at.touched[knob] = true;
}

void session_set_knob(Session *session, KnobId knob, int64_t value) {
  Schedule schedule = session->doc.now.schedule;
  schedule_set(&schedule, knob, value);
  session_set_schedule(session, &schedule);
}

// TARGET has no values of its own: they are the rows of gpus.json.
static void step_target(Session *session, int direction) {
  const TargetTable *table = &session->doc.targets;
  const Target *now = target_find(table, session->doc.now.schedule.target, NULL);
  int at = now ? (int)(now - table->targets) : 0;
  at = (at + direction + table->count) % table->count;
  Diags ignored = diags_new(session->frame);
  session_set_text(session, arena_printf(session->frame, "TARGET=%s", table->targets[at].id),
                   &ignored);
}

void session_step_knob(Session *session, KnobId knob, int direction) {
  int64_t value;
  if (knob < 0) return;
  if (knob_table[knob].type == KNOB_TYPE_TARGET)
    step_target(session, direction);
  else if (knob_step(&session->doc.now.schedule, knob, direction, &value))
    session_set_knob(session, knob, value);
  else
    session_say(session, SAID_NOTE, "%s ends here: %lld to %lld", knob_table[knob].name,
                (long long)knob_table[knob].lo, (long long)knob_table[knob].hi);
}

bool session_set_text(Session *session, const char *text, Diags *diags) {
  Schedule schedule = session->doc.now.schedule;
  if (!schedule_parse(&schedule, text, diags)) return false;
  session_set_schedule(session, &schedule);
  return true;
}

bool session_fix(Session *session) {
  if (!session->doc.now.reasons || !session->doc.has_fix) return false;
  Schedule fix = session->doc.fix;
  session_set_schedule(session, &fix);
  return true;
}

// ---- rungs --------------------------------------------------------------------------------------

// Changes of the problem go along, unless the rung was given one of its own.
static void carry_problem(const Session *session, int from, int to, Schedule *schedule) {
  const Schedule *own = &session->doc.ladder->rung[from].schedule;
  const Schedule *next = &session->doc.ladder->rung[to].schedule;
  const Schedule *now = &session->doc.now.schedule;
  if (!str_equal_fold(now->target, own->target) && str_equal_fold(schedule->target, next->target))
    snprintf(schedule->target, sizeof schedule->target, "%s", now->target);
  bool aside = session->doc.ladder->rung[from].aside || session->doc.ladder->rung[to].aside;
  for (int i = 0; i < KNOB_COUNT && !aside; i++)
    if (knob_is_problem((KnobId)i) && i != KNOB_AUTO && now->value[i] != own->value[i] &&
        schedule->value[i] == next->value[i])
      schedule_set(schedule, (KnobId)i, now->value[i]);
}

// The schedule, as what has been made of that rung; what was made of the rung before stays there.
static void stand(Session *session, const Ladder *ladder, int rung, const Schedule *schedule) {
  bool same_ladder = ladder == session->doc.ladder;
  session->doc.work[session->doc.rung] = session->doc.now.schedule;
  take_ladder(session, ladder);
  if (!same_ladder) memset(session->at.touched, 0, sizeof session->at.touched);
  session->doc.rung = rung;
  session->at.new_rung = session->at.arrived = true;
  session->doc.now.schedule = *schedule;
  rebuild(session);
  push_undo(session);
  if (!same_ladder) session->at.change = CHANGE_GONE;  // nothing to hold against each other
}

bool session_go_rung(Session *session, int rung) {
  if (rung < 0 || rung >= session->doc.ladder->n_rungs) {
    session_say(session, SAID_NOTE, "the ladder %s ends here", session->doc.ladder->name);
    return false;
  }
  if (rung == session->doc.rung) return true;
  int from = session->doc.rung, edits = session_edits(session);
  Schedule schedule = session->doc.work[rung];
  carry_problem(session, from, rung, &schedule);
  stand(session, session->doc.ladder, rung, &schedule);
  if (edits)
    session_say(session, SAID_NOTE, "%d edit%s stay%s at rung %d", edits, plural_s(edits),
                edits == 1 ? "s" : "", from);
  return true;
}

bool session_go_rung_of(Session *session, const Ladder *ladder, int rung) {
  if (ladder == session->doc.ladder) return session_go_rung(session, rung);
  Schedule schedule = session->doc.works[ladder_index(session, ladder)][rung];
  stand(session, ladder, rung, &schedule);
  session_say(session, SAID_NOTE, "ladder %s: %s", ladder->name, ladder->title);
  return true;
}

bool session_go_ladder(Session *session, const char *name, Diags *diags) {
  const Ladder *ladder = find_ladder(session, name, diags);
  if (!ladder) return false;
  return ladder == session->doc.ladder || session_go_rung_of(session, ladder, 0);
}

void session_go_state(Session *session, const Schedule *schedule) {
  if (schedule_same(&session->doc.now.schedule, schedule)) return;
  Standing at = standing_of(session->doc.ladders, session->doc.n_ladders, schedule);
  Schedule replaced = session->doc.works[ladder_index(session, at.ladder)][at.rung];
  stand(session, at.ladder, at.rung, schedule);
  UndoEntry *entry = &session->doc.undo[session->doc.undo_at];
  entry->replaces = true;
  entry->replaced = replaced;
}

void session_step_ladder(Session *session, int direction) {
  int n = session->doc.n_ladders,
      to = (ladder_index(session, session->doc.ladder) + direction + n) % n;
  Diags ignored = diags_new(session->frame);
  session_go_ladder(session, session->doc.ladders[to]->name, &ignored);
}

void session_reset_rung(Session *session) {
  session_set_schedule(session, &session_rung(session)->schedule);
}

// ---- undo ---------------------------------------------------------------------------------------

static void restore(Session *session, int at) {
  session->doc.undo_at = at;
  session->doc.work[session->doc.rung] = session->doc.now.schedule;
  take_ladder(session, session->doc.undo[at].ladder);
  session->doc.now.schedule = session->doc.undo[at].schedule;
  session->doc.rung = session->doc.undo[at].rung;
  rebuild(session);
}

bool session_undo(Session *session) {
  if (session->doc.undo_at == 0) {
    session_say(session, SAID_NOTE, "nothing to undo");
    return false;
  }
  const UndoEntry *undone = &session->doc.undo[session->doc.undo_at];
  Schedule *work = &session->doc.works[ladder_index(session, undone->ladder)][undone->rung];
  restore(session, session->doc.undo_at - 1);
  if (undone->replaces && work != &session->doc.work[session->doc.rung]) *work = undone->replaced;
  return true;
}

bool session_redo(Session *session) {
  if (session->doc.undo_at == session->doc.undo_top) {
    session_say(session, SAID_NOTE, "nothing to redo");
    return false;
  }
  restore(session, session->doc.undo_at + 1);
  return true;
}

// ---- comparing ----------------------------------------------------------------------------------

static void name_rung(const Session *session, int rung, char *out, size_t size) {
  snprintf(out, size, "rung %d %s", rung, session->doc.ladder->rung[rung].name);
}

static const Schedule *default_comparison(Session *session) {
  int rung = session->doc.rung;
  if (session_edits(session) == 0 && rung > 0) rung--;
  name_rung(session, rung, session->doc.then_name, sizeof session->doc.then_name);
  return &session->doc.ladder->rung[rung].schedule;
}

bool session_has_comparison(const Session *session) {
  return session->doc.rung > 0 || session_edits(session) > 0;
}

// Shows the site with the largest difference in price between A and B.
static void show_difference(Session *session) {
  const Model *now = session_model(session), *then = session->doc.then.picture->model;
  int chosen = session->at.site;
  double most = 0;
  for (int i = 0; i < now->n_sites; i++) {
    session->at.site = i;
    int other = session_matching_site(session, session->doc.then.picture);
    double a = other < 0 ? 0 : side_site_price(&then->site[other]);
    double difference = fabs(side_site_price(&now->site[i]) - a);
    if (!(difference > most)) continue;
    most = difference;
    chosen = i;
  }
  session->at.site = chosen;
}

bool session_compare(Session *session, const Schedule *with, const char *name) {
  if (!with && !session_has_comparison(session)) {
    session_say(session, SAID_NOTE,
                "the first rung without edits has nothing before it; type :compare and a rung");
    return false;
  }
  if (with && name) snprintf(session->doc.then_name, sizeof session->doc.then_name, "%s", name);
  session->doc.then.schedule = with ? *with : *default_comparison(session);
  session->doc.comparing = side_build(&session->doc.then, &session->doc.targets);
  if (session->doc.comparing)
    show_difference(session);
  else
    session_say(session, SAID_ERROR, "cannot compare: %s", session->doc.then.reasons->first->text);
  return session->doc.comparing;
}

void session_compare_off(Session *session) { session->doc.comparing = false; }

void session_swap(Session *session) {
  if (!session->doc.comparing) return;
  Schedule schedule = session->doc.then.pictured;
  Schedule old = session->doc.now.schedule;
  session_compare(session, &old, "the former B");
  session_set_schedule(session, &schedule);
}

// ---- frames -------------------------------------------------------------------------------------

static void take_compilers_word(Session *session, Side *side, bool estimates) {
  if (!side->picture) return;
  Counted counted = results_counted(&session->background.results, &side->pictured);
  const Compiled *compiled = results_compiled(&session->background.results, side->picture->key);
  const SassResult *sass = compiled ? compiled->sass : NULL;
  if (estimates)
    side_set_compiled(side, -1, -1, NULL);
  else
    side_set_compiled(side, counted.registers, counted.spill_bytes, sass && sass->ok ? sass : NULL);
  if (session_view_state(session)->as_written) side_show_written(side);
}

void session_prepare(Session *session, int rows, int cols, bool estimates) {
  arena_reset(session->frame);
  session->rows = rows;
  session->cols = cols;
  session->prepared = NULL;
  session->prompt.offers = NULL;
  session->at.knob_value =
      session->at.knob < 0
          ? ""
          : knob_value_said(session->frame, &session->doc.now.schedule, session->at.knob);
  session->background.clocks_shown = CLOCKS_OF_STATE;
  take_compilers_word(session, &session->doc.now, estimates);
  if (session->doc.comparing) take_compilers_word(session, &session->doc.then, estimates);
  if (session->doc.now.reasons == NULL) session_start_advice(session);
}

void session_start_advice(Session *session) {
  const Schedule *now = &session->doc.now.schedule;
  advice_start(session->background.advice, now, session_fits(session, now), session->at.knob);
}

void session_start_sweep(Session *session) {
  const Schedule *now = &session->doc.now.schedule;
  knobsweep_start(session->background.sweep, now, session_fits(session, now), session->at.knob);
}

bool session_idle(Session *session) {
  if (session->doc.now.reasons) return false;
  session_start_advice(session);
  if (session->background.sweep->n_done < session->background.sweep->n &&
      knobsweep_step(session->background.sweep, &session->doc.targets))
    return true;
  return advice_step(session->background.advice, &session->doc.targets);
}
