// The proof over all orders as a part of the pipeline view: asked for, waited for, stepped through.
#include "base/str.h"
#include "base/whole.h"
#include "tui/frame/view.h"
#include "tui/views/time/pipeline.h"

void pipeline_proof_ask(const Session *session, PipelineOwn *own) {
  orders_ask(own->orders, &session->doc.targets, &session_model(session)->schedule,
             own->broken ? (BreakageId)(own->broken - 1) : BREAK_COUNT);
}

// The witness is shown from its end on, where it does harm.
bool pipeline_proof_poll(PipelineOwn *own) {
  if (!orders_poll(own->orders)) return false;
  if (!orders_is_under_way(own->orders)) own->step = max_int(orders_count(own->orders) - 1, 0);
  return true;
}

void pipeline_proof_step(PipelineOwn *own, int delta) {
  own->step = (int)clamp_index(own->step + (int64_t)delta, max_int(orders_count(own->orders), 1));
}

// Pressed while the search is under way, it is given up.
void pipeline_proof_show(Session *session, const char *argument) {
  PipelineOwn *own = view_own(session, &pipeline_view);
  const bool on =
      argument && *argument ? str_equal(argument, "on") : own->over != PIPELINE_EVERY_ORDER;
  if (!on && orders_is_under_way(own->orders)) orders_give_up(own->orders);
  own->over = on ? PIPELINE_EVERY_ORDER : PIPELINE_LANES;
  if (on) pipeline_proof_ask(session, own);
}
