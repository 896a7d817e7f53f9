// The members of `gemmview why --json`.
#include "base/str.h"
#include "cli/common/why.h"

static const char *const if_keys[] = {
#define ROW(id, key, title) key,
    CLOCK_IF_TABLE(ROW)
#undef ROW
};

static void put_span(JsonWriter *w, const char *key, const ClockSpan *span) {
  json_key(w, key);
  if (span->value < 0) {
    json_put_null(w);
    return;
  }
  json_begin_object(w);
  json_member_double(w, "value", span->value);
  json_member_double(w, "low", span->low);
  json_member_double(w, "high", span->high);
  json_end_object(w);
}

static void put_ifs(JsonWriter *w, const ClockIf what_if[CLOCK_IFS]) {
  json_key(w, "what_if");
  json_begin_object(w);
  for (int i = 0; i < CLOCK_IFS; i++) {
    json_key(w, if_keys[i]);
    if (what_if[i].clocks > 0)
      json_put_double(w, what_if[i].clocks);
    else
      json_put_null(w);
  }
  json_end_object(w);
}

// The kernel, or all of them where there are several: their clocks are one after the other's.
static void put_kernel(JsonWriter *w, const Why *why) {
  const ClockAnswer *answer = why->answer;
  const double others = answer->others;
  ClockSpan all = answer->clocks;
  if (all.value >= 0) all = (ClockSpan){all.value + others, all.low + others, all.high + others};
  json_key(w, "kernel");
  json_begin_object(w);
  json_member_string(w, "name", *answer->kernel ? answer->kernel : NULL);
  put_span(w, "clocks", &all);
  json_key(w, "tflops");
  if (answer->tflops > 0)
    json_put_double(w, answer->tflops);
  else
    json_put_null(w);
  if (why->what_if) put_ifs(w, answer->what_if);
  json_end_object(w);
}

static void put_stalls(JsonWriter *w, const ClockAnswer *answer) {
  json_key(w, "stalls");
  if (answer->stand_in || answer->clocks.value < 0) {
    json_put_null(w);
    return;
  }
  json_begin_object(w);
  for (int i = 0; i < CLOCK_CAUSE_COUNT; i++)
    json_member_double(w, clock_cause_name((ClockCause)i), answer->stalls[i]);
  json_end_object(w);
}

static void put_instruction(JsonWriter *w, const ClockAnswer *answer, int i) {
  json_begin_object(w);
  json_member_int(w, "pc", (int64_t)i * SASS_BYTES);
  json_member_string(w, "sass", answer->text[i]);
  json_member_double(w, "executed", answer->executed[i]);
  json_member_double(w, "lost", answer->lost[i]);
  json_member_string(w, "cause", answer->lost[i] > 0 ? clock_cause_name(answer->cause[i]) : NULL);
  json_member_known(w, "blame_pc", answer->blame[i] >= 0, (int64_t)answer->blame[i] * SASS_BYTES);
  json_end_object(w);
}

static void put_loop(JsonWriter *w, const Why *why, const ClockedLoop *loop) {
  json_begin_object(w);
  json_member_int(w, "begin_pc", (int64_t)loop->loop.first * SASS_BYTES);
  json_member_int(w, "end_pc", (int64_t)loop->loop.last * SASS_BYTES);
  json_key(w, "turns");
  if (loop->turns > 0)
    json_put_double(w, loop->turns);
  else
    json_put_null(w);
  put_span(w, "clocks", &loop->clocks);
  json_member_double(w, "issued", loop->turn.issued);
  json_key(w, "lost");
  json_begin_object(w);
  for (int i = 0; i < CLOCK_CAUSE_COUNT; i++)
    if (loop->turn.lost_to[i] > 0)
      json_member_double(w, clock_cause_name((ClockCause)i), loop->turn.lost_to[i]);
  json_end_object(w);
  if (why->what_if) put_ifs(w, loop->what_if);
  json_end_object(w);
}

void why_put_json(JsonWriter *w, const Why *why) {
  const ClockAnswer *answer = why->answer;
  json_member_bool(w, "stand_in", answer->stand_in);
  json_member_string(w, "gpu", answer->target->name);
  json_member_double(w, "mhz", answer->mhz);
  put_kernel(w, why);
  put_stalls(w, answer);
  json_key(w, "instructions");
  json_begin_array(w);
  for (int i = 0; i < answer->code.n; i++) put_instruction(w, answer, i);
  json_end_array(w);
  json_key(w, "loops");
  json_begin_array(w);
  for (int i = 0; i < answer->n_loops; i++)
    if (answer->loop[i].clocks.value > 0) put_loop(w, why, &answer->loop[i]);
  json_end_array(w);
}
