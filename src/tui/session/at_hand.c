// Worked example: on an H100 the session opens on fp32/padded for the default, h200. The worker
// tells "NVIDIA H100 80GB HBM3", sm_90, 50 MiB of L2: every ladder's rungs, what was made of them
// and the undo list stand on h100 from then on, unless the state on the screen says TARGET itself,
// or a lesson is open, whose text speaks of one GPU. Numbers that the driver gives otherwise than
// the row replace those of the row: L2, SMs, shared memory, registers, clock.
#include "tui/session/at_hand.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

// Ladders live in the session's own arena; only readers see them as const.
static void move_rungs(Session *session, const Target *target) {
  for (int i = 0; i < session->n_ladders; i++)
    for (int rung = 0; rung < session->ladders[i]->n_rungs; rung++) {
      Rung *own = (Rung *)(uintptr_t)&session->ladders[i]->rung[rung];
      device_take_target(&session->targets, target, &own->schedule);
      device_take_target(&session->targets, target, &session->works[i][rung]);
    }
}

// A message that stands is not written over, and a lesson speaks of its own GPU.
static bool may_speak(const Session *session) { return !session->message[0] && !session->narrated; }

static bool may_move(const Session *session) {
  return !session->narrated && !schedule_is_given(&session->now.schedule, KNOB_TARGET);
}

static bool move(Session *session, const Target *target) {
  if (!may_move(session)) return false;
  move_rungs(session, target);
  for (int i = 0; i <= session->undo_top; i++)
    device_take_target(&session->targets, target, &session->undo[i].schedule);
  device_take_target(&session->targets, target, &session->then.schedule);
  return device_take_target(&session->targets, target, &session->now.schedule);
}

// Drops all that was computed with the numbers of the row before.
static void forget(Session *session) {
  session->estimated = NULL;
  results_forget_clocks(&session->results);
  advice_free(session->advice);
  advice_init(session->advice);
  knobsweep_free(session->sweep);
  knobsweep_init(session->sweep);
  side_build(&session->now, &session->targets);
  if (session->comparing) side_build(&session->then, &session->targets);
  session->change = CHANGE_GONE;
  session->has_fix = false;
}

static void tell(Session *session, const Device *device, const Target *row, int n_differ) {
  if (!may_speak(session)) return;
  const char *id = session->now.schedule.target;
  if (!row)
    session_say(session, SAID_NOTE, "the GPU at hand, %.60s, has no row in gpus.json: this is %s",
                device->name, id);
  else if (target_find(&session->targets, id, NULL) != row)
    session_say(session, SAID_NOTE, "this is %s; the GPU at hand is %.60s: TARGET=%s", id,
                device->name, row->id);
  else
    session_say(session, SAID_NOTE, "for the GPU at hand, %.60s: TARGET=%s%s", device->name,
                row->id, n_differ ? "; where the driver gives other limits, they count" : "");
}

void at_hand_take(Session *session, const Device *device) {
  bool nothing_new = session->device_known && (session->device.name[0] || !device->name[0]);
  if (nothing_new) return;
  session->device_known = true;
  session->device = *device;
  if (!device->name[0]) {
    if (may_speak(session))
      session_say(session, SAID_NOTE, "no GPU at hand: shown for %s", session->now.schedule.target);
    return;
  }
  const int n_differ = device_apply(session->app, device, &session->targets).n;
  const Target *row = device_target(&session->targets, device);
  bool moved = row && move(session, row);
  if (n_differ || moved) forget(session);
  tell(session, device, row, n_differ);
}

bool at_hand_is_other(const Session *session, const Timed *timed) {
  if (!session->device.name[0] || !timed->gpu) return false;
  Device other = {0};
  snprintf(other.name, sizeof other.name, "%s", timed->gpu);
  if (strcmp(other.name, session->device.name) == 0) return false;
  const Target *there = device_target(&session->targets, &other);
  return !there || there != device_target(&session->targets, &session->device);
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
  const Target *target =
      session->device.name[0] ? device_target(&session->targets, &session->device) : NULL;
  if (!target || n == 0) return;
  Calibration *fits = ARENA_ARRAY(session->app, Calibration, CALIBRATION_FAMILIES);
  for (int i = 0; i < CALIBRATION_FAMILIES; i++) fits[i] = calibration_none();
  for (int i = 0; i < n; i++)
    if (str_equal(rows[i].gpu, session->device.name)) fits[rows[i].family] = rows[i].fit;
  if (session->fits && same_fits(fits, session->fits)) return;
  session->fits = fits;
  session->fits_target = target->id;
  session->estimated = NULL;
}

// The fastest that the history has is measured, unless this session has a time of its own.
static void file_best(Session *session, const HistoryRow *row, const Schedule *schedule) {
  const Timed *timed = results_find(&session->results, schedule);
  if (timed && timed->origin == ORIGIN_MEASURED && !timed->by) return;
  const HistoryRow said = history_said(session->trial, row);
  results_add_shared(&session->results, schedule, &said);
}

void at_hand_take_best(Session *session, const HistoryRow *row) {
  arena_reset(session->trial);
  Diags diags = diags_new(session->trial);
  Schedule schedule = schedule_plain();
  results_set_best(&session->results, NULL, NULL);
  const Target *target =
      session->device.name[0] ? device_target(&session->targets, &session->device) : NULL;
  if (!row || !target || !*row->state || !schedule_parse(&schedule, row->state, &diags)) return;
  device_take_target(&session->targets, target, &schedule);
  if (!model_build(session->trial, &session->targets, &schedule)->ok) return;
  results_set_best(&session->results, row, &schedule);
  file_best(session, row, &schedule);
}
