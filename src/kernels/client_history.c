// What the client keeps of timings, and what it takes from others instead of a timing.
//
// Worked example, a class of two on one GPU: ana times a kernel, and her client adds a row with the
// hash of its text. A minute later ben, with the same kernel before him, presses b: his client
// finds the row before it asks its worker, hands it over as a result "history", and the GPU stays
// free.
#include <string.h>

#include "kernels/client_thread.h"

static void set_error(Client *client, const Diags *diags) {
  pthread_mutex_lock(&client->mutex);
  client_copy_text(client->history_error, sizeof client->history_error,
                   diags->first ? diags->first->text : "");
  pthread_mutex_unlock(&client->mutex);
}

static History *opened(Client *client, Diags *diags) {
  if (!client->history) client->history = history_open(client->app, client->history_path, diags);
  return client->history;
}

void client_record(Client *client, const Worker *worker, const Flight *flight,
                   const BenchResult *bench) {
  if (!flight->arena) return;
  Diags diags = diags_new(client->arena);
  History *history = opened(client, &diags);
  for (int i = 0; i < bench->n_entries && i < 2 && history; i++) {
    HistoryRow row = history_row(client->arena, bench, i);
    if (!flight->sides[i].state) break;
    row.state = flight->sides[i].state;
    row.text_hash = flight->sides[i].text_hash;
    row.problem = flight->sides[i].problem;
    if (worker->status.host[0]) row.host = worker->status.host;
    if (!history_add(history, &row, &diags)) break;
  }
  set_error(client, &diags);
}

// Measured as this client would have it measured: beside cuBLAS, with nothing flushed.
static bool is_plain(const HistoryRow *row) {
  return row->cublas_time_ns > 0 && strstr(row->method, "L2 warm") != NULL;
}

static ClientEvent *new_event(const Flight *flight, int worker) {
  ClientEvent *event = client_event_of(flight->id, flight->key, worker, MESSAGE_RESULT);
  MESSAGE_SET(event->message, id, flight->id);
  MESSAGE_SET(event->message, what, "history");
  return event;
}

bool client_share(Client *client, const Worker *worker, const Flight *flight) {
  const FlightSide *side = &flight->sides[0];
  HistoryRow row;
  if (!flight->share || !worker->gpu_uuid[0]) return false;
  Diags diags = diags_new(client->arena);
  History *history = opened(client, &diags);
  set_error(client, &diags);
  ClientEvent *event = new_event(flight, (int)(worker - client->workers));
  if (!history_shared(history, event->arena, side->text_hash, side->problem, worker->gpu_uuid,
                      &row) ||
      !is_plain(&row)) {
    client_event_free(event);
    return false;
  }
  event->row = ARENA_NEW(event->arena, HistoryRow);
  *event->row = row;
  event->n_rows = 1;
  client_hand_over(client, event);
  return true;
}

void client_show_history(Client *client, const Flight *flight) {
  Diags diags = diags_new(client->arena);
  History *history = client->records ? opened(client, &diags) : NULL;
  ClientEvent *event = new_event(flight, -1);
  event->row = ARENA_ARRAY(event->arena, HistoryRow, flight->n_rows);
  event->n_rows = history_recent(history, event->arena, event->row, flight->n_rows);
  set_error(client, &diags);
  client_hand_over(client, event);
}
