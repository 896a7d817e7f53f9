// A row in words, and what makes a row of a result: what the history says of a measurement, without
// the file.
//
// Worked example: 4096³ of bf16, both row-major, is the problem
// "4096x4096x4096 bf16*bf16+f32->bf16 NN"; a row of three minutes ago is "ana, 3 min ago".
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/str.h"
#include "base/user.h"
#include "kernels/device/history/history.h"
#include "kernels/device/timing.h"

double history_ratio(const HistoryRow *row) {
  return row->time_ns > 0 ? row->cublas_time_ns / row->time_ns : 0;
}

const char *history_date(Arena *arena, const HistoryRow *row) {
  static const int64_t end_of_9999 = 253402300799;
  char text[32] = "0000-00-00T00:00:00Z";
  struct tm utc;
  const time_t when = (time_t)row->when_unix;
  bool is_date = row->when_unix >= 0 && row->when_unix <= end_of_9999;
  if (is_date && gmtime_r(&when, &utc)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return arena_strdup(arena, text);
}

HistoryRow history_said(Arena *arena, const HistoryRow *row) {
  HistoryRow said = *row;
  if (str_equal(row->user, user_name(arena))) said.user = "you";
  return said;
}

const char *history_gpu(Arena *arena, const HistoryRow *row) {
  return timing_is_simulated(row->method) ? arena_printf(arena, "%s, simulated", row->gpu)
                                          : row->gpu;
}

const char *history_age(Arena *arena, const HistoryRow *row, int64_t now_unix) {
  static const struct {
    int64_t below, seconds;
    const char *unit;
  } steps[] = {{60, 1, "s"}, {3600, 60, "min"}, {86400, 3600, "h"}, {INT64_MAX, 86400, "d"}};
  const int64_t age = now_unix - row->when_unix;
  if (age < 10) return arena_printf(arena, "%s, just now", row->user);
  int i = 0;
  while (age >= steps[i].below) i++;
  return arena_printf(arena, "%s, %lld %s ago", row->user, (long long)(age / steps[i].seconds),
                      steps[i].unit);
}

const char *history_hash(Arena *arena, const char *text) {
  return arena_printf(arena, "%016llx", (unsigned long long)hash_text(HASH_START, text));
}

const char *history_problem(Arena *arena, const Plan *plan) {
  const char *operand = plan_type_name(plan->operand_type);
  const char *heads = "";
  if (plan_is_attention(plan))
    heads = arena_printf(arena, "attention%s %lldx", plan->causal ? " causal" : "",
                         (long long)plan->heads);
  return arena_printf(arena, "%s%lldx%lldx%lld %s*%s+%s->%s %c%c", heads, (long long)plan->m,
                      (long long)plan->n, (long long)plan->k, operand, operand,
                      plan_type_name(plan->accumulate_type), plan_type_name(plan->output_type),
                      plan->a_col_major ? 'T' : 'N', plan->b_col_major ? 'T' : 'N');
}

static const char *host_name(Arena *arena) {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 ? arena_strdup(arena, name) : "";
}

static const char *entry_status(const BenchEntry *entry) {
  if (entry->ok) return "ok";
  return entry->verify.ran && !entry->verify.ok ? "wrong" : "failed";
}

HistoryRow history_row(Arena *arena, const BenchResult *result, int index) {
  const BenchEntry *entry = &result->entries[index];
  const Timing *time = &entry->time;
  const double spread = time->median_ns > 0 ? (time->p75_ns - time->p25_ns) / time->median_ns : 0;
  return (HistoryRow){
      .user = user_name(arena),
      .host = host_name(arena),
      .gpu = result->gpu,
      .gpu_uuid = result->gpu_uuid,
      .driver = result->driver,
      .time_ns = entry->ok ? time->median_ns : 0,
      .cublas_time_ns = result->reference.ok ? result->reference.time.median_ns : 0,
      .tflops = entry->ok ? entry->tflops : 0,
      .spread = entry->ok ? spread : -1,
      .sm_mhz = result->before.known ? result->before.sm_mhz : -1,
      .memory_mhz = result->before.known ? result->before.memory_mhz : -1,
      .status = entry_status(entry),
      .method = result->method,
  };
}
