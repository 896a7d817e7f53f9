// One request, asked and awaited: for commands, which have nothing else to do meanwhile.
//
//   ClientAnswer answer = client_ask(client, &request, on_event, NULL);
//   if (answer.failed) status = cli_error(answer.exit_status, "%s", answer.error);
//   else print(answer.bench);
//   client_answer_free(&answer);
#pragma once
#include "kernels/client.h"

typedef struct ClientAnswer {
  bool failed;        // there was an error event: `error` is its sentence
  const char *error;  // NULL when not failed
  ErrorKind kind;     // of the error
  int exit_status;    // 0, or the error's; a text that does not compile is 4, a failed timing 5
  const CompileResult *ptx, *cubin;  // NULL = did not come
  const SassResult *sass;
  const BenchResult *bench;
  ClientEvent *events;  // own everything above
} ClientAnswer;

// Called for every event of the request, and with NULL ten times a second while nothing comes.
// False cancels the request; its answer then is an error of kind ERROR_CANCELLED.
typedef bool ClientWatch(void *context, const ClientEvent *event);

// Events of other requests that come in meanwhile are dropped. `watch` may be NULL.
ClientAnswer client_ask(Client *client, const ClientRequest *request, ClientWatch *watch,
                        void *context);
void client_answer_free(ClientAnswer *answer);
