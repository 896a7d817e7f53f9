// The loop every command would write: submit, take events until done, keep those with results.
//
// After a cancel the done still comes (from the worker, or from the client if the worker does not
// heed it), so the loop has one way out. Worked example, a text with a mistake in it: progress,
// result "ptx" with ok = false, done: not failed, ptx->log tells, exit_status 4.
#include "kernels/client_ask.h"

enum { WATCH_MS = 100, EXIT_COMPILE = 4, EXIT_BENCH = 5 };

static void keep(ClientAnswer *answer, ClientEvent *event) {
  const Message *message = &event->message;
  event->next = answer->events;
  answer->events = event;
  if (event->compile && str_equal(message->what, "ptx")) answer->ptx = event->compile;
  if (event->compile && str_equal(message->what, "cubin")) answer->cubin = event->compile;
  if (event->sass) answer->sass = event->sass;
  if (event->bench) answer->bench = event->bench;
  if (message->kind != MESSAGE_ERROR || answer->failed) return;
  answer->failed = true;
  answer->error = message->text;
  answer->kind = message->error;
}

static int exit_status(const ClientAnswer *answer) {
  const bool ptx_failed = answer->ptx && !answer->ptx->ok;
  const bool cubin_failed = answer->cubin && !answer->cubin->ok;
  if (ptx_failed || cubin_failed) return EXIT_COMPILE;
  if (answer->failed) return error_kind_exit_status(answer->kind);
  return answer->bench && !answer->bench->ok ? EXIT_BENCH : 0;
}

ClientAnswer client_ask(Client *client, const ClientRequest *request, ClientWatch *watch,
                        void *context) {
  ClientAnswer answer = {0};
  const int64_t id = client_submit(client, request);
  bool done = false, cancelled = false;
  while (!done) {
    ClientEvent *event = client_next(client, WATCH_MS);
    if (event && event->id != id) {
      client_event_free(event);
      continue;
    }
    if (watch && !cancelled && !watch(context, event)) {
      cancelled = true;
      client_cancel(client, id);
    }
    if (!event) continue;
    done = event->message.kind == MESSAGE_DONE;
    keep(&answer, event);
  }
  answer.exit_status = exit_status(&answer);
  return answer;
}

void client_answer_free(ClientAnswer *answer) {
  for (ClientEvent *at = answer->events, *next; at; at = next) {
    next = at->next;
    client_event_free(at);
  }
  *answer = (ClientAnswer){0};
}
