// The commands of the prompt that are no actions: what each takes, what it does.
#include "tui/frame/palette_commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/disk.h"
#include "base/nearest.h"
#include "base/str.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/export/export_cu.h"
#include "model/lessons/fact.h"
#include "model/schedules/decode.h"
#include "tui/frame/tutor.h"
#include "tui/frame/view.h"

// False after a finding: a command that is told of knobs says how where there are none.
static bool names_knobs(const char *command, const char *argument, Diags *diags) {
  if (*argument) return true;
  diag_add(diags, "usage", "%s needs knobs, as in %s BM=16,FN=4", command, command);
  return false;
}

static bool run_set(Session *session, const char *argument, Diags *diags) {
  return names_knobs("set", argument, diags) && session_set_text(session, argument, diags);
}

// "padded" and "7" of the present ladder, "hgemm/swizzle" and "fp32/0" of any; NULL after findings.
static const Rung *find_rung(const Session *session, const char *name, const Ladder **ladder,
                             Diags *diags) {
  const FactWorld world = {.ladders = session->doc.ladders, .n_ladders = session->doc.n_ladders};
  *ladder = session->doc.ladder;
  if (strchr(name, '/')) return fact_find_rung(&world, name, ladder, diags);
  int rung = ladder_find_rung(session->doc.ladder, name, diags);
  return rung < 0 ? NULL : &session->doc.ladder->rung[rung];
}

static bool run_rung(Session *session, const char *argument, Diags *diags) {
  const Ladder *ladder;
  const Rung *rung = find_rung(session, argument, &ladder, diags);
  return rung && session_go_rung_of(session, ladder, (int)(rung - ladder->rung));
}

static bool run_ladder(Session *session, const char *argument, Diags *diags) {
  return session_go_ladder(session, argument, diags);
}

bool palette_run_state(Session *session, const char *argument, Diags *diags) {
  Schedule schedule = schedule_default();
  if (!names_knobs("state", argument, diags)) return false;
  if (!schedule_parse(&schedule, argument, diags)) return false;
  session_set_schedule(session, &schedule);
  return true;
}

static bool run_compare(Session *session, const char *argument, Diags *diags) {
  if (!*argument) {
    session_compare(session, NULL, NULL);
    return true;
  }
  if (strchr(argument, '=')) {
    Schedule schedule = session->doc.now.schedule;
    if (!schedule_parse(&schedule, argument, diags)) return false;
    return session_compare(session, &schedule, argument);
  }
  const Ladder *ladder;
  const Rung *with = find_rung(session, argument, &ladder, diags);
  if (!with) return false;
  const char *of = ladder == session->doc.ladder ? "" : ladder->name;
  const char *name = arena_printf(session->frame, "%s%srung %d %s", of, *of ? " " : "",
                                  (int)(with - ladder->rung), with->title);
  return session_compare(session, &with->schedule, name);
}

static bool run_view(Session *session, const char *argument, Diags *diags) {
  int view = view_find(argument);
  const char **names = ARENA_ARRAY(diags->arena, const char *, view_count);
  for (int i = 0; i < view_count; i++) names[i] = view_table[i].name;
  if (view < 0) diag_add_unknown(diags, "view", "view", argument, names, view_count);
  view_show(session, view);
  return view >= 0;
}

// The nearest schedule becomes B, what was there A.
static bool run_decode(Session *session, const char *argument, Diags *diags) {
  DecodedKernel kernel;
  if (!decode_kernel(session->frame, argument, &kernel, diags)) return false;
  Schedule now = session->doc.now.schedule;
  DecodedSchedule near = decode_schedule(session->frame, &kernel, &now);
  if (!session_compare(session, &now, "the state before")) return true;
  session_set_schedule(session, &near.schedule);
  if (session->doc.now.reasons) return true;
  Str said = str_new(session->frame);
  for (int i = 0; i < near.n_notes; i++) str_printf(&said, "%s%s", i ? "; " : "", near.note[i]);
  session_say(session, SAID_NOTE, "B as decoded: %s", near.n_notes ? said.text : near.knobs);
  return true;
}

static bool run_sweep(Session *session, const char *argument, Diags *diags) {
  (void)diags;
  view_show(session, view_find("measure"));
  return view_run(session, "sweep", argument);
}

// "lesson banks 3"; without a name the lesson that is open, or the list.
static bool run_lesson(Session *session, const char *argument, Diags *diags) {
  size_t n = strcspn(argument, " ");
  const char *name = arena_strndup(session->frame, argument, n);
  const char *step = argument + n + strspn(argument + n, " ");
  if (*name && !tutor_open(session, name, atoi(step), diags)) return false;
  view_show(session, view_find("lesson"));
  return true;
}

// The view that a lesson shows beside its text; any other is shown itself.
static int shown_view(const Session *session) {
  const Tutor *tutor = tutor_of(session);
  bool staged = session->at.view == view_find("lesson") && tutor_step(tutor) && !tutor->listing;
  return staged ? view_find(tutor_view(tutor)) : session->at.view;
}

// In the view at hand where it shows elements by themselves, else in the tiles.
static bool run_element(Session *session, const char *argument, Diags *diags) {
  const int view = session->at.view;
  const Action *action = view_find_action(session, "element");
  if (!*argument && action) return view_run(session, "element", NULL);
  if (!*argument) {
    diag_add(diags, "usage", "element needs its name, as in element C[130][7]");
    return false;
  }
  session->at.view = shown_view(session);
  action = view_find_action(session, "element");
  if (action) action->run(session, argument);
  session->at.view = view;
  if (action) return true;
  view_show(session, view_find("tiles"));
  return view_run(session, "element", argument);
}

static bool run_save_display(Session *session, const char *argument, Diags *diags) {
  if (!*argument || *argument == '-') {
    diag_add(diags, "usage", "save-display needs a file: .txt, .ansi, .svg or .json");
    return false;
  }
  session->wishes.save_path = arena_strdup(session->app, argument);
  return true;
}

// A standalone .cu; anything else is a picture of the screen.
static bool run_export(Session *session, const char *argument, Diags *diags) {
  size_t n = strlen(argument);
  if (n < 3 || *argument == '-' || !str_equal(argument + n - 3, ".cu")) {
    if (*argument && *argument != '-') return run_save_display(session, argument, diags);
    diag_add(diags, "usage", "export needs a file: .cu for the kernel, .svg for this screen");
    return false;
  }
  const Model *model = session_model(session);
  const Emission *emission = emit_model(session->frame, model, model->program);
  const char *text = export_cu(session->frame, emission, model->program, model->target);
  if (disk_write(argument, text)) {
    session_say(session, SAID_NOTE, "saved %s, which checks and times itself", argument);
    return true;
  }
  diag_add(diags, "file", "%s: %s", argument, strerror(errno));
  return false;
}

const PaletteCommand palette_commands[] = {
    {"set", "KNOB=value,…", "change knobs; \":FM=4\" alone does the same", run_set},
    {"state", "STATE", "replace the whole state by this one", palette_run_state},
    {"rung", "[LADDER/]NAME | NUMBER", "go to a rung of this ladder or of another", run_rung},
    {"ladder", "NAME", "another ladder", run_ladder},
    {"compare", "[RUNG | KNOB=value,…]", "show another schedule as A beside this one", run_compare},
    {"decode", "KERNEL", "the schedule nearest to a cuBLAS or CUTLASS kernel, as B", run_decode},
    {"view", "NAME", "another view", run_view},
    {"sweep", "[KNOB]", "a knob through all its values, in the measure view", run_sweep},
    {"element", "C[130][7]", "an element of A, B or C: its holder, and its way there", run_element},
    {"lesson", "[NAME [STEP]]", "a lesson, or the list of them", run_lesson},
    {"export", "FILE", "the kernel as a standalone .cu, or this screen by another suffix",
     run_export},
    {"save-display", "FILE", "this screen as .txt, .ansi, .svg or .json", run_save_display},
};
const int palette_command_count = sizeof palette_commands / sizeof *palette_commands;
