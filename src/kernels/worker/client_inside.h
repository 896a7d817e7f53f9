// Inside of the client: what its two halves share. client.c is called by the user's thread and
// touches only what `mutex` guards; client_thread.c is the other thread and owns the rest.
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "kernels/device/history/history.h"
#include "kernels/worker/client.h"
#include "kernels/worker/process.h"

// The history's entry about one side, beside its result.
typedef struct FlightSide {
  const char *state, *text_hash, *problem;
  CompiledKernel compiled;
} FlightSide;

// A request from submit to done. A cancel travels the same way, so that order is kept.
typedef struct Flight {
  struct Flight *next;
  int64_t id;
  uint64_t key;
  MessageKind kind;  // a request of the protocol, or MESSAGE_CANCEL
  bool keep;
  int worker;           // ClientRequest's
  int64_t deadline_ms;  // a duration
  int64_t heard_at;     // when it was sent or last spoken of
  char *line;           // NULL for a cancel
  size_t n_line;
  Arena *arena;         // of `sides`; NULL when nothing is to be recorded
  FlightSide sides[2];  // A and B
  bool share;           // what the history knows of side A is as good
  int n_rows;           // of the history, that are asked for; 0: it is no such request
  const char *gpu;      // what is known of it, and of sides[0].problem, is asked for; NULL: no such
} Flight;

typedef struct FlightList {
  Flight *first, *last;
  int n;
} FlightList;

typedef struct Worker {
  const char *const *argv;
  Process process;
  FlightList flights;  // sent and not done
  ClientStatus status;
  int64_t heard_at;  // anything at all
  int64_t start_at;  // when to start it again
  int n_failures;    // starts in a row that did not get as far as to tell of the machine
  int n_quick;       // ends in a row that came soon after the start, with nothing done
  int64_t born_at, hello_at;
  bool said_hello, told_machine, has_done;  // since its last start
  int n_banner_lines;
  char gpu_uuid[64];  // "" = not known
} Worker;

struct Client {
  pthread_mutex_t mutex;
  // Guarded by `mutex`:
  FlightList inbox;
  ClientEvent *first, *last;
  ClientStatus status[CLIENT_WORKERS_MAX];
  int64_t last_id;
  int n_open;  // submitted and not done
  char history_error[256];
  // Read by both, without it:
  atomic_bool stopping;
  // Constant after client_start:
  pthread_t thread;
  int wake_fd, control_fd;
  int silence_ms, hello_ms, machine_ms, grace_ms, leave_ms;
  int n_workers;
  Str hello;
  bool records;
  const char *history_path;
  // The thread's own:
  Arena *app, *arena;
  int64_t now_ms;
  Worker workers[CLIENT_WORKERS_MAX];
  FlightList pending;  // for no worker yet
  Reaper reaper;
  History *history;
  int64_t history_again_ms;  // not opened before
};

void *client_thread_main(void *client);

// client_history.c, on the thread. The file is opened when it is first needed and, after a failure,
// tried again some time later: a disk may have room by then.
// One row for each side of a timing.
void client_record(Client *client, const Worker *worker, const Flight *flight,
                   const BenchResult *bench);
// Hands over what others have measured of the same; false: it has to be measured.
bool client_share(Client *client, const Worker *worker, const Flight *flight);
// Hands over the rows that were asked for.
void client_show_history(Client *client, const Flight *flight);
// Hands over the best kernel of the problem and what the GPU's rooflines were fitted to be.
void client_show_known(Client *client, const Flight *flight);

void flight_list_add(FlightList *list, Flight *flight);
void flight_list_remove(FlightList *list, Flight *flight);
void flight_free(Flight *flight);
// Copies at most `size` − 1 bytes, cut between characters.
void client_copy_text(char *to, size_t size, const char *from);
// Takes the message (whose strings may live anywhere) into an event of its own.
ClientEvent *client_event_new(int64_t id, uint64_t key, int worker, const Message *message);
// An event of the client's own, without words of a worker.
ClientEvent *client_event_of(int64_t id, uint64_t key, int worker, MessageKind kind);
void client_hand_over(Client *client, ClientEvent *event);
void client_publish(Client *client, int64_t id, uint64_t key, int worker, const Message *message);
