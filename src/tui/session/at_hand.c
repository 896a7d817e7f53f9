// Worked example: on an H100 the session opens on fp32/padded for the default, h200. The worker
// tells "NVIDIA H100 80GB HBM3", sm_90, 50 MiB of L2: every ladder's rungs, the states made of them
// and the undo list stand on h100 from then on. Two cases are different: the state on the screen
// says TARGET itself, or a lesson is open (its text speaks of one GPU). Where the driver's numbers
// differ from the row, they replace the row's: L2, SMs, shared memory, registers, clock.
#include "tui/session/at_hand.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

// Ladders live in the session's own arena; only readers see them as const.
static void move_rungs(Session *session, const Target *target) {
  for (int i = 0; i < session->doc.n_ladders; i++)
    for (int rung = 0; rung < session->doc.ladders[i]->n_rungs; rung++) {
      Rung *own = (Rung *)(uintptr_t)&session->doc.ladders[i]->rung[rung];
      device_take_target(&session->doc.targets, target, &own->schedule);
      device_take_target(&session->doc.targets, target, &session->doc.works[i][rung]);
    }
}

// A message that stands is not written over, and a lesson speaks of its own GPU.
static bool may_speak(const Session *session) {
  return !session->prompt.message[0] && !session->doc.narrated;
}

static bool may_move(const Session *session) {
  return !session->doc.narrated && !schedule_is_given(&session->doc.now.schedule, KNOB_TARGET);
}

static bool move(Session *session, const Target *target) {
  if (!may_move(session)) return false;
  move_rungs(session, target);
  for (int i = 0; i <= session->doc.undo_top; i++)
    device_take_target(&session->doc.targets, target, &session->doc.undo[i].schedule);
  device_take_target(&session->doc.targets, target, &session->doc.then.schedule);
  return device_take_target(&session->doc.targets, target, &session->doc.now.schedule);
}

// Drops all that was computed with the numbers of the row before.
static void forget(Session *session) {
  session->background.estimated = NULL;
  results_forget_clocks(&session->background.results);
  advice_free(session->background.advice);
  advice_init(session->background.advice);
  knobsweep_free(session->background.sweep);
  knobsweep_init(session->background.sweep);
  side_build(&session->doc.now, &session->doc.targets);
  if (session->doc.comparing) side_build(&session->doc.then, &session->doc.targets);
  session->at.change = CHANGE_GONE;
  session->doc.has_fix = false;
}

static void tell(Session *session, const Device *device, const Target *row, int n_differ) {
  if (!may_speak(session)) return;
  const char *id = session->doc.now.schedule.target;
  if (!row)
    session_say(session, SAID_NOTE, "the GPU at hand, %.60s, has no row in gpus.json: this is %s",
                device->name, id);
  else if (target_find(&session->doc.targets, id, NULL) != row)
    session_say(session, SAID_NOTE, "this is %s; the GPU at hand is %.60s: TARGET=%s", id,
                device->name, row->id);
  else
    session_say(session, SAID_NOTE, "for the GPU at hand, %.60s: TARGET=%s%s", device->name,
                row->id, n_differ ? "; where the driver gives other limits, they count" : "");
}

void at_hand_take(Session *session, const Device *device) {
  bool nothing_new =
      session->background.device_known && (session->background.device.name[0] || !device->name[0]);
  if (nothing_new) return;
  session->background.device_known = true;
  session->background.device = *device;
  if (!device->name[0]) {
    if (may_speak(session))
      session_say(session, SAID_NOTE, "no GPU at hand: shown for %s",
                  session->doc.now.schedule.target);
    return;
  }
  const int n_differ = device_apply(session->app, device, &session->doc.targets).n;
  const Target *row = device_target(&session->doc.targets, device);
  bool moved = row && move(session, row);
  if (n_differ || moved) forget(session);
  tell(session, device, row, n_differ);
}

bool at_hand_is_other(const Session *session, const Timed *timed) {
  if (!session->background.device.name[0] || !timed->gpu) return false;
  Device other = {0};
  snprintf(other.name, sizeof other.name, "%s", timed->gpu);
  if (strcmp(other.name, session->background.device.name) == 0) return false;
  const Target *there = device_target(&session->doc.targets, &other);
  return !there || there != device_target(&session->doc.targets, &session->background.device);
}

static bool same_fits(const Calibration *a, const Calibration *b) {
  for (int i = 0; i < CALIBRATION_FAMILIES; i++) {
    if (a[i].n != b[i].n || a[i].error != b[i].error) return false;
    for (int f = 0; f < CALIBRATION_FACTORS; f++)
      if (a[i].factor[f] != b[i].factor[f]) return false;
  }
  return true;
}

void at_hand_take_fits(Session *session, const HistoryCalibration *rows, int n) {
  const Target *target = session->background.device.name[0]
                             ? device_target(&session->doc.targets, &session->background.device)
                             : NULL;
  if (!target || n == 0) return;
  const Calibration *fits = history_fits(session->app, rows, n, session->background.device.name);
  if (session->background.fits && same_fits(fits, session->background.fits)) return;
  session->background.fits = fits;
  session->background.fits_target = target->id;
  session->background.estimated = NULL;
}

// The fastest that the history has is measured, unless this session has a time of its own.
static void file_best(Session *session, const HistoryRow *row, const Schedule *schedule) {
  const Timed *timed = results_find(&session->background.results, schedule);
  if (timed && timed->origin == ORIGIN_MEASURED && !timed->by) return;
  const HistoryRow said = history_said(session->trial, row);
  results_add_shared(&session->background.results, schedule, &said);
}

void at_hand_take_best(Session *session, const HistoryRow *row) {
  arena_reset(session->trial);
  Diags diags = diags_new(session->trial);
  Schedule schedule = schedule_plain();
  results_set_best(&session->background.results, NULL, NULL);
  const Target *target = session->background.device.name[0]
                             ? device_target(&session->doc.targets, &session->background.device)
                             : NULL;
  if (!row || !target || !*row->state || !schedule_parse(&schedule, row->state, &diags)) return;
  device_take_target(&session->doc.targets, target, &schedule);
  if (!model_build(session->trial, &session->doc.targets, &schedule)->ok) return;
  results_set_best(&session->background.results, row, &schedule);
  file_best(session, row, &schedule);
}
