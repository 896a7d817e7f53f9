// Rules in, misbehaviour out.
//
// The script is read whole before anything is said, so a mistake in it is a message and not a
// strange failure of the test. One request is handled after the other, on blocking descriptors: the
// fake is as simple as the client's view of a worker allows. While it waits it says a heartbeat
// every 5 s, like the real one; hang and freeze stop that too.
//
// Worked example: a machine whose login prints a banner and whose compiler dies at one text.
//   {"on":"start","do":"print","text":"Welcome to box"}
//   {"on":"start","do":"hello"}
//   {"on":"compile","match":"boom","do":"crash"}
#include "kernels/worker/worker_fake.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/json.h"
#include "base/str.h"
#include "kernels/worker/lines.h"
#include "kernels/worker/protocol.h"
#include "kernels/worker/result_json.h"
#include "kernels/worker/worker_simulate.h"

typedef struct Rule {
  const char *on, *match, *action, *text;
  const JsonValue *line;
  int nth, delay_ms, code;
  int64_t bytes;
} Rule;

typedef struct Fake {
  Arena *app, *arena;
  Rule *rules;
  int n_rules;
  int n_seen[MESSAGE_N_KINDS];
  const char *gpu;  // the machine's
  Message ask;      // at hand
  Simulation *simulation;
  bool answered;  // the request at hand got its done, or must not get one
} Fake;

// ---- actions ------------------------------------------------------------------------------------

static void put(const char *bytes, size_t n) {
  if (!disk_write_all(STDOUT_FILENO, bytes, n)) _exit(0);
}

static void say(Fake *fake, const Message *message) {
  Str line = str_new(fake->arena);
  message_write(&line, message);
  put(line.text, line.length);
}

static void act_hello(Fake *fake, const Rule *rule, int64_t id) {
  (void)id;
  Message message = message_new(MESSAGE_HELLO);
  MESSAGE_SET(message, protocol, rule->code > 0 ? rule->code : PROTOCOL_VERSION);
  MESSAGE_SET(message, version, "fake");
  say(fake, &message);
}

static void act_machine(Fake *fake, const Rule *rule, int64_t id) {
  (void)id;
  Message message = message_new(MESSAGE_MACHINE);
  MESSAGE_SET(message, can_compile, true);
  MESSAGE_SET(message, nvrtc, "NVRTC fake");
  fake->gpu = rule->text ? rule->text : "FAKE GPU";
  MESSAGE_SET(message, gpu, fake->gpu);
  MESSAGE_SET(message, gpu_uuid, "GPU-fake");
  if (rule->code > 0) MESSAGE_SET(message, gpus, rule->code);
  if (rule->bytes > 0) MESSAGE_SET(message, compiles, rule->bytes);
  say(fake, &message);
}

static void act_done(Fake *fake, const Rule *rule, int64_t id) {
  (void)rule;
  Message message = message_new(MESSAGE_DONE);
  if (id <= 0) return;
  MESSAGE_SET(message, id, id);
  say(fake, &message);
  fake->answered = true;
}

static void act_reply(Fake *fake, const Rule *rule, int64_t id) {
  Str line = str_new(fake->arena);
  JsonWriter writer = json_writer(&line);
  json_begin_object(&writer);
  for (int i = 0; i < json_count(rule->line); i++) {
    const char *key = json_key_at(rule->line, i);
    json_key(&writer, key);
    if (str_equal(key, "id"))
      json_put_int(&writer, id);
    else
      json_put_value(&writer, json_at(rule->line, i));
  }
  json_end_object(&writer);
  str_add_char(&line, '\n');
  put(line.text, line.length);
}

static void act_print(Fake *fake, const Rule *rule, int64_t id) {
  (void)fake, (void)id;
  if (rule->text) put(rule->text, strlen(rule->text));
  put("\n", 1);
}

// A line without its end, and then nothing for ever.
static void act_partial(Fake *fake, const Rule *rule, int64_t id) {
  const char *text = rule->text ? rule->text : "{\"type\":\"done\",\"id";
  (void)id;
  put(text, strlen(text));
  fake->answered = true;
}

static void act_huge(Fake *fake, const Rule *rule, int64_t id) {
  (void)id;
  char block[4096];
  memset(block, 'x', sizeof block);
  for (int64_t at = 0; at < rule->bytes; at += (int64_t)sizeof block) put(block, sizeof block);
  put("\n", 1);
  fake->answered = true;
}

// Bytes that are no text at all, escape sequences among them.
static void act_garbage(Fake *fake, const Rule *rule, int64_t id) {
  static const char bytes[] =
      "\x1b[2J\x1b]0;owned\a\xff\xfe\x00{]}\r\n\x9b"
      "31m\n";
  (void)id, (void)rule;
  put(bytes, sizeof bytes - 1);
  fake->answered = true;
}

static void act_crash(Fake *fake, const Rule *rule, int64_t id) {
  (void)fake, (void)id;
  if (rule->text) fprintf(stderr, "%s\n", rule->text);
  signal(rule->code > 0 ? rule->code : SIGSEGV, SIG_DFL);
  raise(rule->code > 0 ? rule->code : SIGSEGV);
}

static void act_exit(Fake *fake, const Rule *rule, int64_t id) {
  (void)fake, (void)id;
  if (rule->text) fprintf(stderr, "%s\n", rule->text);
  _exit(rule->code);
}

// Deaf, dumb and immortal: not even the end of stdin ends it. Only SIGKILL does.
static void act_hang(Fake *fake, const Rule *rule, int64_t id) {
  (void)fake, (void)rule, (void)id;
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  for (;;) pause();
}

static void act_close(Fake *fake, const Rule *rule, int64_t id) {
  close(STDOUT_FILENO);
  act_hang(fake, rule, id);
}

// Alive (heartbeats) but without an answer: only a deadline helps.
static void act_ignore(Fake *fake, const Rule *rule, int64_t id) {
  (void)rule, (void)id;
  fake->answered = true;
}

// ---- a GPU that is not there --------------------------------------------------------------------

static void say_result(Fake *fake, int64_t id, const char *what, const char *data) {
  Message message = message_new(MESSAGE_RESULT);
  MESSAGE_SET(message, id, id);
  MESSAGE_SET(message, what, what);
  MESSAGE_SET(message, data, data);
  say(fake, &message);
}

static const Plan *plan_asked(Fake *fake, const char *text) {
  Diags diags = diags_new(fake->arena);
  const Plan *plan = text ? plan_read_json(fake->arena, text, &diags) : NULL;
  if (text && !plan) fprintf(stderr, "%s\n", diags_text(fake->arena, &diags));
  return plan;
}

static void simulate_compile(Fake *fake, const Plan *plan, int64_t id) {
  Str json = str_new(fake->arena);
  compile_result_write_json(&json, simulation_compile(fake->arena, plan));
  say_result(fake, id, "cubin", json.text);
}

// The clock is as right as can be: it says what the law will.
static void simulate_clock(Fake *fake, const Plan *plan, int64_t id) {
  const double ns = simulation_ns(fake->simulation, plan, 1), tflops = plan_flops(plan) / ns * 1e-3;
  const ClockNumber number = {.why_not = ns > 0 ? NULL : "unknown law",
                              .speed = {tflops, tflops, tflops, false}};
  Str json = str_new(fake->arena);
  clock_number_write_json(&json, &number);
  say_result(fake, id, "clock", json.text);
}

// The GPU has the machine's name; "speed" per cent of the model's. With the text "clock" a compile
// is answered by the clock too.
static void act_simulate(Fake *fake, const Rule *rule, int64_t id) {
  const Message *ask = &fake->ask;
  if (!fake->simulation) fake->simulation = simulation_new(fake->app);
  const Plan *plans[] = {plan_asked(fake, ask->plan), plan_asked(fake, ask->plan_b)};
  if (!fake->simulation || !plans[0]) return;
  if (ask->kind == MESSAGE_COMPILE) {
    simulate_compile(fake, plans[0], id);
    if (rule->text && str_equal(rule->text, "clock")) simulate_clock(fake, plans[0], id);
    return;
  }
  const bool reference = !MESSAGE_HAS(*ask, reference) || ask->reference;
  const BenchResult *result =
      simulation_bench(fake->arena, fake->simulation, plans, plans[1] ? 2 : 1, reference, fake->gpu,
                       (rule->code > 0 ? rule->code : 100) / 100.0);
  if (!result) return;
  Str json = str_new(fake->arena);
  bench_result_write_json(&json, result);
  say_result(fake, id, "bench", json.text);
}

typedef struct Action {
  const char *name;
  void (*run)(Fake *fake, const Rule *rule, int64_t id);
} Action;

static const Action actions[] = {
    {"hello", act_hello},        // text of a greeting; "code": another protocol number
    {"machine", act_machine},    // a GPU named "text", one of "code"; "bytes" compiles at once
    {"reply", act_reply},        // "line", with the request's id
    {"done", act_done},          // ends the request
    {"print", act_print},        // "text" as a line of its own
    {"partial", act_partial},    // "text" without a newline, no done
    {"huge", act_huge},          // a line of "bytes" bytes, no done
    {"garbage", act_garbage},    // bytes that are no message, no done
    {"crash", act_crash},        // signal "code", SIGSEGV by default; "text" to stderr
    {"exit", act_exit},          // status "code"; "text" to stderr
    {"hang", act_hang},          // no answer to anything any more, no end at end of input
    {"close", act_close},        // closes stdout, then hangs
    {"simulate", act_simulate},  // compiles, or times by worker_simulate.h, "code" % as fast
    {"ignore", act_ignore},      // no done, but alive
};
enum { N_ACTIONS = sizeof actions / sizeof *actions };

static const Action *find_action(const char *name) {
  for (int i = 0; i < N_ACTIONS; i++)
    if (str_equal(name, actions[i].name)) return &actions[i];
  return NULL;
}

// ---- the script ---------------------------------------------------------------------------------

static bool read_rule(const JsonValue *root, Rule *rule, Diags *diags) {
  static const char *const keys[] = {"on",    "match", "do",   "text",    "line",
                                     "bytes", "nth",   "code", "delay_ms"};
  bool ok = json_require_string(root, "on", &rule->on, diags) &&
            json_require_string(root, "do", &rule->action, diags) &&
            json_optional_string(root, "match", &rule->match, diags) &&
            json_optional_string(root, "text", &rule->text, diags) &&
            json_optional_int64(root, "bytes", 0, INT64_C(1) << 32, &rule->bytes, diags) &&
            json_optional_int(root, "nth", 1, 1000000, &rule->nth, diags) &&
            json_optional_int(root, "code", 0, 255, &rule->code, diags) &&
            json_optional_int(root, "delay_ms", 0, 3600000, &rule->delay_ms, diags) &&
            json_check_keys(root, keys, sizeof keys / sizeof *keys, diags);
  rule->line = json_object_get(root, "line");
  if (!ok || find_action(rule->action)) return ok;
  json_diag(diags, json_object_get(root, "do"), "unknown action");
  return false;
}

static bool read_script(Fake *fake, char *text, Diags *diags) {
  int n_lines = 1;
  for (const char *at = text; *at; at++) n_lines += *at == '\n';
  fake->rules = ARENA_ARRAY(fake->app, Rule, n_lines);
  char *rest = NULL;
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    if (line[0] == '#' || line[0] == '\0') continue;
    const JsonValue *root = json_parse(fake->app, line, strlen(line), diags, "script");
    if (root) read_rule(root, &fake->rules[fake->n_rules++], diags);
  }
  return diags->count == 0;
}

static char *read_file(Arena *arena, const char *path) {
  char block[4096];
  size_t got = 0;
  Str text = str_new(arena);
  FILE *file = disk_open(path, true, NULL);
  if (!file) return NULL;
  while ((got = fread(block, 1, sizeof block, file)) > 0) str_add_bytes(&text, block, got);
  fclose(file);
  return text.text;
}

// ---- serving ------------------------------------------------------------------------------------

static bool has_rule(const Fake *fake, const char *on) {
  for (int i = 0; i < fake->n_rules; i++)
    if (str_equal(fake->rules[i].on, on)) return true;
  return false;
}

static void carry_out(Fake *fake, const char *on, const char *line, int nth, int64_t id) {
  for (int i = 0; i < fake->n_rules; i++) {
    const Rule *rule = &fake->rules[i];
    if (!str_equal(rule->on, on) || (rule->nth > 0 && rule->nth != nth)) continue;
    if (rule->match && !strstr(line, rule->match)) continue;
    if (rule->delay_ms > 0) poll(NULL, 0, rule->delay_ms);
    find_action(rule->action)->run(fake, rule, id);
  }
}

static void start(Fake *fake) {
  static const Rule plain = {0};
  if (has_rule(fake, "start")) {
    carry_out(fake, "start", "", 1, 0);
  } else {
    act_hello(fake, &plain, 0);
    act_machine(fake, &plain, 0);
  }
}

static void serve_line(Fake *fake, const char *line, size_t n) {
  Message ask;
  Diags diags = diags_new(fake->arena);
  if (!message_read(fake->arena, line, n, FROM_CLIENT, &ask, &diags)) {
    fprintf(stderr, "%s\n", diags_text(fake->arena, &diags));
    return;
  }
  fake->answered = false;
  fake->ask = ask;
  carry_out(fake, message_kind_name(ask.kind), line, ++fake->n_seen[ask.kind], ask.id);
  const bool is_request = ask.kind == MESSAGE_COMPILE || ask.kind == MESSAGE_BENCH ||
                          ask.kind == MESSAGE_TRACE || ask.kind == MESSAGE_PROBE;
  if (!fake->answered && is_request) act_done(fake, NULL, ask.id);
  arena_reset(fake->arena);
}

static void serve(Fake *fake) {
  LineReader lines = line_reader_new(PROTOCOL_LINE_MAX);
  const Message heartbeat = message_new(MESSAGE_HEARTBEAT);
  struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
  char *line = NULL;
  size_t n = 0;
  for (;;) {
    if (poll(&in, 1, PROTOCOL_HEARTBEAT_MS) == 0) {
      say(fake, &heartbeat);
      continue;
    }
    if (line_reader_fill(&lines, STDIN_FILENO) == 0) break;
    while (line_reader_next(&lines, &line, &n) == LINE_READY) serve_line(fake, line, n);
  }
  line_reader_free(&lines);
}

int worker_fake_run(const char *path) {
  Fake fake = {.app = arena_new("app"), .arena = arena_new("job")};
  Diags diags = diags_new(fake.app);
  char *text = read_file(fake.app, path);
  int status = 2;
  signal(SIGPIPE, SIG_IGN);
  if (!text) {
    fprintf(stderr, "gemmview: %s: %s\n", path, strerror(errno));
  } else if (!read_script(&fake, text, &diags)) {
    fprintf(stderr, "%s\n", diags_text(fake.app, &diags));
  } else {
    start(&fake);
    serve(&fake);
    status = 0;
  }
  arena_free(fake.arena);
  arena_free(fake.app);
  return status;
}
