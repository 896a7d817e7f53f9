// In this process hostile texts meet the compiler and kernels meet the GPU.
//
// Nothing here guards against a hang or a crash: the worker does, from outside. A compile looks
// into the cache under (compiler, flags, text) first. Worked example, want "ptx,cubin,sass", cold
// cache:
//
//   ← {"type":"compile","id":7,"plan":{…},"want":"ptx,cubin,sass"}
//   → {"type":"progress","id":7,"stage":"ptx"}
//   → {"type":"result","id":7,"what":"ptx","data":{…},"cached":false}      after some 100 ms
//   → {"type":"progress","id":7,"stage":"cubin"}
//   → {"type":"result","id":7,"what":"cubin","data":{…},"cached":false}    after some 200 ms more
//   → … sass …, then {"type":"done","id":7}
//
// A plan that does not compile is a result (ok is false in its data), and nothing follows it but
// done: it is the user's text that is wrong, not the world. The bench job compiles by the same
// function and therefore finds its cubins in the cache, put there by a compile child that could be
// killed without losing a GPU context.
#include "kernels/worker/job_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/str.h"
#include "kernels/device/bench.h"
#include "kernels/device/driver.h"
#include "kernels/device/probe/probe.h"
#include "kernels/device/trace_run.h"
#include "kernels/toolchain/cache.h"
#include "kernels/toolchain/machine/sass.h"
#include "kernels/toolchain/nvrtc.h"
#include "kernels/worker/client.h"
#include "kernels/worker/compile_cached.h"
#include "kernels/worker/lines.h"
#include "kernels/worker/protocol.h"
#include "kernels/worker/result_json.h"
#include "kernels/worker/torch_peer.h"

enum { SASS_DEADLINE_S = 10, TRIM_EACH = 16 };

typedef struct Job {
  Arena *app;    // for the process
  Arena *arena;  // for one request
  int in, out;
  LineReader lines;
  Compiler compiler;
  int ordinal;
  Gpu *gpu;  // that one; NULL until a bench needs it
  TorchPeer torch;
} Job;

// ---- saying -------------------------------------------------------------------------------------

static void job_say(Job *job, const Message *message) {
  Str line = str_new(job->arena);
  message_write(&line, message);
  if (!disk_write_all(job->out, line.text, line.length)) _exit(1);  // the listener is gone
}

static void say_progress(Job *job, int64_t id, const char *stage, double fraction) {
  Message message = message_new(MESSAGE_PROGRESS);
  MESSAGE_SET(message, id, id);
  MESSAGE_SET(message, stage, stage);
  if (fraction >= 0 && fraction <= 1) MESSAGE_SET(message, fraction, fraction);
  job_say(job, &message);
}

static void say_result(Job *job, int64_t id, const char *what, const char *data, bool cached) {
  Message message = message_new(MESSAGE_RESULT);
  MESSAGE_SET(message, id, id);
  MESSAGE_SET(message, what, what);
  MESSAGE_SET(message, data, data);
  MESSAGE_SET(message, cached, cached);
  job_say(job, &message);
}

static void say_error(Job *job, int64_t id, ErrorKind kind, const char *text) {
  Message message = message_new(MESSAGE_ERROR);
  MESSAGE_SET(message, id, id);
  MESSAGE_SET(message, error, kind);
  MESSAGE_SET(message, text, text);
  job_say(job, &message);
}

static void say_done(Job *job, int64_t id) {
  Message message = message_new(MESSAGE_DONE);
  MESSAGE_SET(message, id, id);
  job_say(job, &message);
}

// ---- compiling ----------------------------------------------------------------------------------

static CompileResult *job_compile(Job *job, const Plan *plan, CompileStage stage, bool *cached) {
  return compile_cached(job->arena, &job->compiler, plan, stage, cached);
}

static bool answer_compile(Job *job, int64_t id, const Plan *plan, CompileStage stage) {
  const char *what = stage == COMPILE_PTX ? "ptx" : "cubin";
  bool cached = false;
  say_progress(job, id, what, -1);
  const CompileResult *result = job_compile(job, plan, stage, &cached);
  Str json = str_new(job->arena);
  compile_result_write_json(&json, result);
  say_result(job, id, what, json.text, cached);
  return result->ok;
}

static bool answer_ptx(Job *job, const Message *ask, const Plan *plan) {
  return answer_compile(job, ask->id, plan, COMPILE_PTX);
}

static bool answer_cubin(Job *job, const Message *ask, const Plan *plan) {
  return answer_compile(job, ask->id, plan, COMPILE_CUBIN);
}

static bool answer_sass(Job *job, const Message *ask, const Plan *plan) {
  const int64_t id = ask->id;
  bool cached = false;
  say_progress(job, id, "sass", -1);
  const CompileResult *binary = job_compile(job, plan, COMPILE_CUBIN, &cached);
  if (!binary->ok) {
    Str json = str_new(job->arena);
    compile_result_write_json(&json, binary);
    say_result(job, id, "cubin", json.text, cached);
    return false;
  }
  SassResult *sass =
      sass_disassemble(job->arena, binary->cubin, binary->cubin_bytes, SASS_DEADLINE_S);
  sass_add_live(job->arena, sass, binary->cubin, binary->cubin_bytes, SASS_DEADLINE_S);
  Str json = str_new(job->arena);
  sass_result_write_json(&json, sass);
  say_result(job, id, "sass", json.text, false);
  return sass->ok;
}

static bool answer_code(Job *job, const Message *ask, const Plan *plan) {
  bool cached = false;
  const CompileResult *binary = job_compile(job, plan, COMPILE_CUBIN, &cached);
  if (!binary->ok) return answer_cubin(job, ask, plan);
  Str json = str_new(job->arena);
  kernel_texts_write_json(&json, kernel_texts_of(job->arena, binary));
  say_result(job, ask->id, "code", json.text, cached);
  return true;
}

static bool answer_clock(Job *job, const Message *ask, const Plan *plan) {
  const ClockSubject subject = {.state = ask->state ? ask->state : "",
                                .device = client_device(ask)};
  bool cached = false;
  say_progress(job, ask->id, "clock", -1);
  const CompileResult *binary = job_compile(job, plan, COMPILE_CUBIN, &cached);
  if (!binary->ok) return answer_cubin(job, ask, plan);
  Str json = str_new(job->arena);
  clock_number_write_json(
      &json, clock_cached(job->arena, &job->compiler, plan, &subject, binary, &cached));
  say_result(job, ask->id, "clock", json.text, cached);
  return true;
}

typedef struct Want {
  const char *name;
  bool (*answer)(Job *job, const Message *ask, const Plan *plan);
} Want;

static const Want wants[] = {{"ptx", answer_ptx},
                             {"cubin", answer_cubin},
                             {"code", answer_code},
                             {"clock", answer_clock},
                             {"sass", answer_sass}};
enum { N_WANTS = sizeof wants / sizeof *wants };

static const Want *find_want(const char *name, size_t n) {
  for (int i = 0; i < N_WANTS; i++)
    if (strlen(wants[i].name) == n && strncmp(wants[i].name, name, n) == 0) return &wants[i];
  return NULL;
}

static bool check_wants(Job *job, const Message *ask) {
  for (const char *at = ask->want; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    size_t n = strcspn(at, ",");
    if (find_want(at, n)) continue;
    say_error(job, ask->id, ERROR_PROTOCOL,
              arena_printf(job->arena, "want: \"%.*s\" is not one of ptx, cubin, code, clock, sass",
                           (int)n, at));
    return false;
  }
  return true;
}

static const Plan *read_plan(Job *job, const Message *ask, const char *text) {
  Diags diags = diags_new(job->arena);
  const Plan *plan = plan_read_json(job->arena, text, &diags);
  if (!plan) say_error(job, ask->id, ERROR_PLAN, diags_text(job->arena, &diags));
  return plan;
}

static void run_compile(Job *job, const Message *ask) {
  const Plan *plan = read_plan(job, ask, ask->plan);
  if (!plan || !check_wants(job, ask)) return;
  for (const char *at = ask->want; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
    if (!find_want(at, strcspn(at, ","))->answer(job, ask, plan)) return;
}

static bool prepare_side(Job *job, const Message *ask, const char *side, const char *text) {
  bool cached = false;
  const Plan *plan = read_plan(job, ask, text);
  if (!plan) return false;
  const CompileResult *result = job_compile(job, plan, COMPILE_CUBIN, &cached);
  if (result->ok) return true;
  Str json = str_new(job->arena);
  compile_result_write_json(&json, result);
  say_result(job, ask->id, "cubin", json.text, cached);
  say_error(job, ask->id, job->compiler.found ? ERROR_COMPILER : ERROR_NO_TOOL,
            arena_printf(job->arena, "side %s does not compile: %s", side, result->error));
  return false;
}

static void prepare_bench(Job *job, const Message *ask) {
  say_progress(job, ask->id, "cubin", -1);
  if (!prepare_side(job, ask, "A", ask->plan)) return;
  if (MESSAGE_HAS(*ask, plan_b)) prepare_side(job, ask, "B", ask->plan_b);
}

// ---- timing -------------------------------------------------------------------------------------

typedef struct Watching {
  Job *job;
  int64_t id;
} Watching;

// Whether a cancel of this request has come in.
static bool was_cancelled(Job *job, int64_t id) {
  struct pollfd in = {.fd = job->in, .events = POLLIN};
  char *line = NULL;
  size_t n = 0;
  if (poll(&in, 1, 0) > 0 && line_reader_fill(&job->lines, job->in) == 0) return true;
  while (line_reader_next(&job->lines, &line, &n) == LINE_READY) {
    Message message;
    Diags diags = diags_new(job->arena);
    if (!message_read(job->arena, line, n, FROM_CLIENT, &message, &diags)) continue;
    if (message.kind == MESSAGE_CANCEL && message.id == id) return true;
  }
  return false;
}

static bool on_progress(void *context, const char *stage, double fraction) {
  const Watching *watching = context;
  say_progress(watching->job, watching->id, stage, fraction);
  return was_cancelled(watching->job, watching->id);
}

static bool open_gpu(Job *job, const Message *ask) {
  const char *why = NULL;
  if (job->gpu) return true;
  say_progress(job, ask->id, "context", -1);
  job->gpu = gpu_open(job->app, job->ordinal, &why);
  if (!job->gpu) say_error(job, ask->id, ERROR_NO_GPU, why);
  return job->gpu != NULL;
}

static bool bench_input(Job *job, const Message *ask, const char *text, BenchInput *input) {
  bool cached = false;
  const Plan *plan = read_plan(job, ask, text);
  if (!plan) return false;
  const CompileResult *binary = job_compile(job, plan, COMPILE_CUBIN, &cached);
  *input = (BenchInput){.plan = plan, .cubin = binary->cubin, .cubin_bytes = binary->cubin_bytes};
  if (!binary->ok) say_error(job, ask->id, ERROR_COMPILER, binary->error);
  return binary->ok;
}

static void run_bench(Job *job, const Message *ask) {
  BenchInput inputs[2];
  Watching watching = {job, ask->id};
  const int n = MESSAGE_HAS(*ask, plan_b) ? 2 : 1;
  const BenchPeer torch = torch_peer(&job->torch);
  const BenchOptions options = {
      .budget_s = (double)ask->budget_ms / 1000,
      .flush_l2 = ask->flush_l2,
      .hot = ask->hot,
      .brief = ask->brief,
      .no_reference = MESSAGE_HAS(*ask, reference) && !ask->reference,
      .verify_only = ask->verify_only,
      .peer = &torch,
      .seed = (uint64_t)ask->seed,
      .progress = on_progress,
      .context = &watching,
  };
  if (!bench_input(job, ask, ask->plan, &inputs[0])) return;
  if (n == 2 && !bench_input(job, ask, ask->plan_b, &inputs[1])) return;
  if (!open_gpu(job, ask)) return;
  const BenchResult *result = bench_run(job->arena, job->gpu, inputs, n, &options);
  torch_peer_close(&job->torch);
  Str json = str_new(job->arena);
  bench_result_write_json(&json, result);
  say_result(job, ask->id, "bench", json.text, false);
  if (result->cancelled) say_error(job, ask->id, ERROR_CANCELLED, "the timing was cancelled");
}

// ---- tracing ------------------------------------------------------------------------------------

static void run_trace(Job *job, const Message *ask) {
  BenchInput traced, plain;
  Watching watching = {job, ask->id};
  const BenchOptions options = {.budget_s = (double)ask->budget_ms / 1000,
                                .seed = (uint64_t)ask->seed,
                                .progress = on_progress,
                                .context = &watching};
  if (!bench_input(job, ask, ask->plan, &traced)) return;
  if (!bench_input(job, ask, ask->plan_b, &plain)) return;
  if (!open_gpu(job, ask)) return;
  const TraceResult *result = trace_run(job->arena, job->gpu, &traced, &plain, &options);
  Str json = str_new(job->arena);
  trace_result_write_json(&json, result);
  say_result(job, ask->id, "trace", json.text, false);
  if (result->bench.cancelled) say_error(job, ask->id, ERROR_CANCELLED, "the trace was cancelled");
}

// ---- probing ------------------------------------------------------------------------------------

static const CompileResult *compile_probe(void *context, const Plan *plan) {
  const Watching *watching = context;
  bool cached = false;
  return job_compile(watching->job, plan, COMPILE_CUBIN, &cached);
}

static void run_probe(Job *job, const Message *ask) {
  Diags diags = diags_new(job->arena);
  Watching watching = {job, ask->id};
  const ProbeHooks hooks = {compile_probe, on_progress, &watching};
  const ProbeRequest *request = probe_request_read_json(job->arena, ask->probe, &diags);
  if (!request) {
    say_error(job, ask->id, ERROR_PLAN, diags_text(job->arena, &diags));
    return;
  }
  if (!open_gpu(job, ask)) return;
  const ProbeResults *results = probe_run_all(job->arena, job->gpu, request, &hooks);
  Str json = str_new(job->arena);
  probe_results_write_json(&json, results);
  say_result(job, ask->id, "probe", json.text, false);
  if (results->cancelled) say_error(job, ask->id, ERROR_CANCELLED, "the probing was cancelled");
}

// ---- what this machine has ----------------------------------------------------------------------

// A text that a driver does not tell is empty, not absent: absent means that there is no GPU.
static const char *known_text(Job *job, const char *text) {
  return arena_strdup(job->app, text ? text : "");
}

static void describe_gpu(Job *job, Message *machine) {
  const char *why = NULL;
  GpuInfo found, *info = &found;
  if (!gpu_find(job->app, job->ordinal, info, &why)) {
    MESSAGE_SET(*machine, gpu_error, why);
    return;
  }
  MESSAGE_SET(*machine, gpu, known_text(job, info->name));
  MESSAGE_SET(*machine, gpu_uuid, known_text(job, info->uuid));
  MESSAGE_SET(*machine, gpus, info->n_gpus);
  MESSAGE_SET(*machine, driver, known_text(job, info->driver));
  MESSAGE_SET(*machine, cuda, known_text(job, info->cuda));
  MESSAGE_SET(*machine, arch, known_text(job, info->device.arch));
#define X(field) MESSAGE_SET(*machine, field, info->device.field);
  DEVICE_FIELD_TABLE(X)
#undef X
}

static void describe_machine(Job *job) {
  char host[256] = "";
  Message machine = message_new(MESSAGE_MACHINE);
  MESSAGE_SET(machine, can_compile, job->compiler.found);
  MESSAGE_SET(machine, nvrtc, job->compiler.described);
  const char *tool = sass_find_tool(job->app);
  if (tool) MESSAGE_SET(machine, nvdisasm, tool);
  if (gethostname(host, sizeof host - 1) == 0) MESSAGE_SET(machine, host, host);
  describe_gpu(job, &machine);
  job_say(job, &machine);
}

// ---- the three jobs -----------------------------------------------------------------------------

// The protocol keeps the pipe; whatever a library prints to stdout goes to stderr.
static int take_stdout(void) {
  int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return out;
}

static void use_compiler(Job *job) {
  job->compiler = compiler_find(job->app, cache_folder(job->app));
}

// False at the end of stdin and at a line that cannot be from the worker.
static bool next_request(Job *job, Message *ask) {
  char *line = NULL;
  size_t n = 0;
  LineStatus status = LINE_NONE;
  while ((status = line_reader_next(&job->lines, &line, &n)) == LINE_NONE)
    if (line_reader_fill(&job->lines, job->in) == 0) return false;
  if (status != LINE_READY) return false;
  Diags diags = diags_new(job->arena);
  if (message_read(job->arena, line, n, FROM_CLIENT, ask, &diags)) return true;
  fprintf(stderr, "%s\n", diags_text(job->arena, &diags));
  return false;
}

static void serve_compile(Job *job, const Message *ask) {
  if (ask->kind == MESSAGE_COMPILE) run_compile(job, ask);
  if (ask->kind == MESSAGE_BENCH || ask->kind == MESSAGE_TRACE) prepare_bench(job, ask);
}

// The compiler opens its libraries' pages at its first text, whatever it says.
static void warm_up(Job *job) {
  static const char cuda[] =
      "extern \"C\" __global__ void warm(const float *a, float *b, int n) {\n"
      "  __shared__ float slab[32][33];\n"
      "  for (int i = 0; i < n; i += 32) {\n"
      "    slab[threadIdx.y][threadIdx.x] = a[i + threadIdx.x];\n"
      "    __syncthreads();\n"
      "    b[i + threadIdx.y] += slab[threadIdx.x][threadIdx.y];\n"
      "    __syncthreads();\n"
      "  }\n"
      "}\n";
  const Plan plan = {.cuda = cuda,
                     .arch = "sm_80",
                     .label = "warm",
                     .m = 1,
                     .n = 1,
                     .k = 1,
                     .n_kernels = 1,
                     .kernels = {{.name = "warm", .grid = {1, 1, 1}, .block = {32, 32, 1}}}};
  if (!job->compiler.found) return;
  const CompileResult *result = nvrtc_compile(job->arena, &plan, COMPILE_BOTH);
  if (!result->ok) fprintf(stderr, "the first text did not compile: %s\n", result->error);
  arena_reset(job->arena);
}

// One request in a process of its own, which leaves this one as it was: NVRTC keeps some of what it
// has compiled, and does not always say the same of a text afterwards. What that one ends by, this
// one ends by: the worker knows one process of each slot, and their group when it kills.
static int compile_apart(Job *job, const Message *ask) {
  int status = 0;
  const pid_t self = getpid(), pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(1);
    serve_compile(job, ask);
    _exit(0);
  }
  if (pid < 0) {
    serve_compile(job, ask);  // where there is room for no other process
    return 0;
  }
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) raise(WTERMSIG(status));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int job_compile_main(Job *job) {
  Message ask;
  int status = 0;
  use_compiler(job);
  warm_up(job);
  for (int n = 0; status == 0 && next_request(job, &ask); n++) {
    status = compile_apart(job, &ask);
    if (status) break;
    say_done(job, ask.id);
    if (n % TRIM_EACH == 0) cache_trim(job->compiler.cache, (int64_t)CACHE_MAX_MIB << 20);
    arena_reset(job->arena);
  }
  return status;
}

static int serve_gpu(Job *job) {
  Message ask;
  while (next_request(job, &ask)) {
    if (ask.kind == MESSAGE_BENCH)
      run_bench(job, &ask);
    else if (ask.kind == MESSAGE_TRACE)
      run_trace(job, &ask);
    else if (ask.kind == MESSAGE_PROBE)
      run_probe(job, &ask);
    else
      continue;  // a cancel that came after its request was done
    say_done(job, ask.id);
    if (job->gpu && gpu_poisoned(job->gpu)) return 1;
    arena_reset(job->arena);
  }
  if (job->gpu) gpu_close(job->gpu);
  return 0;
}

static int job_bench_main(Job *job) {
  use_compiler(job);
  return serve_gpu(job);
}

// A driver takes a second to start where no other process uses it, so the process that asked it for
// its devices goes on with it.
static int job_machine_main(Job *job) {
  use_compiler(job);
  describe_machine(job);
  return serve_gpu(job);
}

typedef struct JobRow {
  const char *name;
  int (*run)(Job *job);
} JobRow;

static const JobRow jobs[] = {
    {"compile", job_compile_main}, {"bench", job_bench_main}, {"machine", job_machine_main}};
enum { N_JOBS = sizeof jobs / sizeof *jobs };

static const JobRow *find_job(const char *name) {
  for (int i = 0; i < N_JOBS; i++)
    if (str_equal(name, jobs[i].name)) return &jobs[i];
  return NULL;
}

bool job_child_exists(const char *job) { return find_job(job) != NULL; }

int job_child_run(const char *name, int gpu) {
  const JobRow *row = find_job(name);
  if (!row) return 2;
  Job job = {.app = arena_new("app"), .arena = arena_new("job"), .in = STDIN_FILENO};
  job.ordinal = gpu;
  job.out = take_stdout();
  job.lines = line_reader_new(PROTOCOL_LINE_MAX);
  int status = row->run(&job);
  line_reader_free(&job.lines);
  arena_free(job.arena);
  arena_free(job.app);
  return status;
}
