// The timings that the client keeps, and those it takes from others instead of timing itself.
//
// Worked example, a class of two on one GPU: ana times a kernel, and her client adds a row with the
// hash of its text. A minute later ben, with the same kernel before him, presses b: his client
// finds the row before it asks its worker, hands it over as a result "history", and the GPU stays
// free.
#include "kernels/worker/client_inside.h"

enum { AGAIN_MS = 10000 };  // a file that cannot be had is tried again after

static void set_error(Client *client, const Diags *diags) {
  pthread_mutex_lock(&client->mutex);
  client_copy_text(client->history_error, sizeof client->history_error,
                   diags->first ? diags->first->text : "");
  pthread_mutex_unlock(&client->mutex);
}

// NULL and the error of the last attempt stands where there is none: a locked file takes seconds to
// say so, and this thread has other things to do.
static History *opened(Client *client) {
  if (client->history || client->now_ms < client->history_again_ms) return client->history;
  Diags diags = diags_new(client->arena);
  client->history =
      history_open_until(client->app, client->history_path, &client->stopping, &diags);
  if (!client->history) client->history_again_ms = client->now_ms + AGAIN_MS;
  set_error(client, &diags);
  return client->history;
}

// A file that did not answer would not the next time either.
static void look_at_failure(Client *client) {
  const char *failure = history_failure(client->history);
  if (!failure) return;
  Diags diags = diags_new(client->arena);
  diag_add(&diags, "history", "history %s: %s; going on without it", history_path(client->history),
           failure);
  history_close(client->history);
  client->history = NULL;
  client->history_again_ms = client->now_ms + AGAIN_MS;
  set_error(client, &diags);
}

void client_record(Client *client, const Worker *worker, const Flight *flight,
                   const BenchResult *bench) {
  if (!flight->arena) return;
  Diags diags = diags_new(client->arena);
  History *history = opened(client);
  if (!history) return;
  for (int i = 0; i < bench->n_entries && i < 2; i++) {
    HistoryRow row = history_row(client->arena, bench, i);
    if (!flight->sides[i].state) break;
    row.state = flight->sides[i].state;
    row.text_hash = flight->sides[i].text_hash;
    row.problem = flight->sides[i].problem;
    row.compiled = flight->sides[i].compiled;
    if (worker->status.host[0]) row.host = worker->status.host;
    if (!history_add(history, &row, &diags)) break;
  }
  set_error(client, &diags);
}

static ClientEvent *new_event(const Flight *flight, int worker, const char *what) {
  ClientEvent *event = client_event_of(flight->id, flight->key, worker, MESSAGE_RESULT);
  MESSAGE_SET(event->message, id, flight->id);
  MESSAGE_SET(event->message, what, what);
  return event;
}

bool client_share(Client *client, const Worker *worker, const Flight *flight) {
  const FlightSide *side = &flight->sides[0];
  HistoryRow row;
  if (!flight->share || !worker->gpu_uuid[0]) return false;
  History *history = opened(client);
  ClientEvent *event = new_event(flight, (int)(worker - client->workers), "history");
  if (!history_shared(history, event->arena, side->text_hash, side->problem, worker->gpu_uuid,
                      &row)) {
    client_event_free(event);
    look_at_failure(client);
    return false;
  }
  event->row = ARENA_NEW(event->arena, HistoryRow);
  *event->row = row;
  event->n_rows = 1;
  client_hand_over(client, event);
  return true;
}

void client_show_history(Client *client, const Flight *flight) {
  History *history = client->records ? opened(client) : NULL;
  ClientEvent *event = new_event(flight, -1, "history");
  event->row = ARENA_ARRAY(event->arena, HistoryRow, flight->n_rows);
  event->n_rows = history_recent(history, event->arena, event->row, flight->n_rows);
  look_at_failure(client);
  client_hand_over(client, event);
}

void client_show_known(Client *client, const Flight *flight) {
  History *history = client->records ? opened(client) : NULL;
  ClientEvent *event = new_event(flight, -1, "known");
  Arena *arena = event->arena;
  event->row = ARENA_NEW(arena, HistoryRow);
  event->n_rows =
      history_best_of(history, arena, flight->gpu, flight->sides[0].problem, event->row);
  event->fit = ARENA_ARRAY(arena, HistoryCalibration, CALIBRATION_FAMILIES);
  event->n_fits =
      history_calibrations(history, arena, flight->gpu, event->fit, CALIBRATION_FAMILIES);
  look_at_failure(client);
  client_hand_over(client, event);
}
