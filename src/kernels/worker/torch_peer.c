// One line asked, one answered; the deadline is what a first import of torch takes on a slow disk.
#include "kernels/worker/torch_peer.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/embed.h"
#include "base/json.h"
#include "base/str.h"

enum { DEADLINE_MS = 120000, LINE_MAX_BYTES = 1 << 16 };

static bool ask(TorchPeer *torch, const char *line, size_t n) {
  Process *process = &torch->process;
  out_queue_add(&process->queue, line, n);
  out_queue_add(&process->queue, "\n", 1);
  while (!out_queue_is_empty(&process->queue)) {
    struct pollfd in = {.fd = process->in, .events = POLLOUT};
    if (poll(&in, 1, DEADLINE_MS) <= 0 || !out_queue_flush(&process->queue, process->in, true))
      return false;
  }
  return true;
}

// NULL: it has ended, or says nothing any more.
static const JsonValue *answer(TorchPeer *torch, Arena *arena) {
  Process *process = &torch->process;
  const int64_t until = clock_ms() + DEADLINE_MS;
  for (;;) {
    char *line = NULL;
    size_t n = 0;
    process_read_words(process);
    const LineStatus status = line_reader_next(&process->lines, &line, &n);
    Diags diags = diags_new(arena);
    if (status == LINE_READY)
      return json_parse(arena, arena_strdup(arena, line), n, &diags, "torch");
    struct pollfd out = {.fd = process->out, .events = POLLIN};
    const int64_t left = until - clock_ms();
    if (status == LINE_TOO_LONG || left <= 0 || poll(&out, 1, (int)left) <= 0) return NULL;
    if (line_reader_fill(&process->lines, process->out) == 0) return NULL;
  }
}

static void put_buffer(JsonWriter *w, const PeerBuffer *buffer) {
  static const char digits[] = "0123456789abcdef";
  char hex[2 * sizeof buffer->handle + 1] = {0};
  for (size_t i = 0; i < sizeof buffer->handle; i++) {
    hex[2 * i] = digits[buffer->handle[i] >> 4];
    hex[2 * i + 1] = digits[buffer->handle[i] & 15];
  }
  json_begin_object(w);
  json_member_string(w, "handle", hex);
  json_member_int(w, "offset", (int64_t)buffer->offset);
  json_end_object(w);
}

static Str problem_line(Arena *arena, const Plan *plan, const char *gpu_uuid,
                        const PeerBuffer *buffer) {
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  json_begin_object(&w);
  json_member_string(&w, "gpu", gpu_uuid ? gpu_uuid : "");
  json_member_int(&w, "heads", plan->heads);
  json_member_int(&w, "m", plan->m);
  json_member_int(&w, "n", plan->n);
  json_member_int(&w, "k", plan->k);
  json_member_string(&w, "type", plan_type_name(plan->operand_type));
  json_member_bool(&w, "causal", plan->causal);
  json_key(&w, "buffers");
  json_begin_array(&w);
  for (int i = 0; i < PEER_BUFFERS; i++) put_buffer(&w, &buffer[i]);
  json_end_array(&w);
  json_end_object(&w);
  return out;
}

// Tells what torch cannot be asked.
static const char *fault_of(const Plan *plan) {
  if (plan->operand_type != PLAN_F16 && plan->operand_type != PLAN_BF16)
    return "torch's fused attention takes f16 and bf16";
  if (plan->causal && plan->m != plan->n)
    return "torch's causal mask begins at the first key, gemmview's ends at the last";
  return NULL;
}

static const char *why_not(TorchPeer *torch, Arena *arena) {
  process_read_words(&torch->process);
  const char *words = torch->process.words;
  return words[0] ? arena_printf(arena, "python3 printed only \"%.200s\"", words)
                  : "python3 printed nothing";
}

static bool start(TorchPeer *torch, Arena *arena) {
  const char *own = getenv("GEMMVIEW_PYTHON");
  const EmbeddedFile *script = embed_find(arena, "peers/attention.py");
  const char *const argv[] = {own && own[0] ? own : "python3", "-c", script->text, NULL};
  const ProcessOptions options = {.line_limit = LINE_MAX_BYTES};
  signal(SIGPIPE, SIG_IGN);
  return process_start(&torch->process, argv, &options);
}

static bool read_rows(const JsonValue *said, Arena *arena, PeerRows *rows, const char **error) {
  Diags diags = diags_new(arena);
  if (json_object_get(said, "error")) {
    json_require_string(said, "error", error, &diags);
    return false;
  }
  const JsonValue *names = json_require_array(said, "rows", &diags);
  json_require_string(said, "library", &rows->library, &diags);
  for (int i = 0; i < json_count(names) && i < PEER_ROWS_MAX; i++)
    rows->n += json_read_string(json_at(names, i), &rows->name[i], &diags);
  if (diags.count) *error = diags_text(arena, &diags);
  return diags.count == 0;
}

// A process for each problem: what it has opened is gone with the buffers.
static bool open_problem(void *context, Arena *arena, const Plan *plan, const char *gpu_uuid,
                         const PeerBuffer *buffer, PeerRows *rows, const char **error) {
  TorchPeer *torch = context;
  torch_peer_close(torch);
  *error = fault_of(plan);
  if (*error) return false;
  const Str line = problem_line(arena, plan, gpu_uuid, buffer);
  const JsonValue *said = NULL;
  if (start(torch, arena) && ask(torch, line.text, line.length)) said = answer(torch, arena);
  if (said) return read_rows(said, arena, rows, error);
  *error = why_not(torch, arena);
  return false;
}

static bool run_row(void *context, int row, int count, double *ns) {
  TorchPeer *torch = context;
  Arena *arena = arena_new("torch");
  Diags diags = diags_new(arena);
  const char *line = arena_printf(arena, "{\"row\": %d, \"count\": %d}", row, count);
  const JsonValue *said = ask(torch, line, strlen(line)) ? answer(torch, arena) : NULL;
  double ms = 0;
  const bool ok = said && json_require_double(said, "ms", &ms, &diags);
  *ns = ms * 1e6;
  arena_free(arena);
  return ok;
}

BenchPeer torch_peer(TorchPeer *torch) {
  return (BenchPeer){.context = torch, .open = open_problem, .run = run_row};
}

void torch_peer_close(TorchPeer *torch) {
  process_kill(&torch->process, &torch->reaper);
  reaper_collect(&torch->reaper);
}
