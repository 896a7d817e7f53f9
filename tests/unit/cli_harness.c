// Scripts of the fake worker are made with the writers of the real one, so that they change with
// the protocol.
#include "cli_harness.h"

#include <check.h>
#include <ftw.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "kernels/worker/result_json.h"

bool cli_has_program(void) { return getenv("GEMMVIEW") != NULL; }

static const char *temporary(Arena *arena, const char *name) {
  const char *folder = getenv("TMPDIR");
  return arena_printf(arena, "%s/gemmview-%d-%s", folder ? folder : "/tmp", (int)getpid(), name);
}

// What was written is taken away again when the tests end.
enum { FILES_MAX = 512 };
static char *files[FILES_MAX];
static int n_files;

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at) {
  (void)info, (void)type, (void)at;
  return remove(path);
}

// Of a folder what programs put into it goes too.
static void remove_files(void) {
  enum { OPEN_FOLDERS = 8 };
  for (int i = n_files - 1; i >= 0; i--) {
    nftw(files[i], remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    free(files[i]);
  }
}

static void remember_file(const char *path) {
  if (n_files == 0) atexit(remove_files);
  ck_assert_int_lt(n_files, FILES_MAX);
  files[n_files++] = strdup(path);
}

const char *cli_write_file(Arena *arena, const char *name, const char *text) {
  const char *path = temporary(arena, name);
  remember_file(path);
  FILE *file = fopen(path, "w");
  ck_assert_msg(file != NULL, "%s", path);
  ck_assert(fputs(text, file) >= 0 && fclose(file) == 0);
  return path;
}

const char *cli_own_folder(Arena *arena) {
  static char folder[256];
  if (folder[0]) return folder;
  snprintf(folder, sizeof folder, "%s-XXXXXX", temporary(arena, "own"));
  ck_assert_msg(mkdtemp(folder) != NULL, "%s", folder);
  remember_file(folder);
  return folder;
}

// Timings that a test invents stay out of the user's history.
static void keep_state_apart(Arena *arena) {
  static bool apart;
  if (apart) return;
  apart = true;
  setenv("XDG_STATE_HOME", cli_own_folder(arena), 1);
  unsetenv("GEMMVIEW_CLASSROOM");
}

static char *read_all(Arena *arena, FILE *file) {
  Str text = str_new(arena);
  char block[4096];
  for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;) str_add_bytes(&text, block, n);
  return text.text;
}

// A screen asks the machine code what became of its accesses; where a test names no disassembler,
// nothing is compiled for that.
CliRun cli_run(Arena *arena, const char *arguments) {
  bool screen = str_starts(arguments, "show ") && !getenv("GEMMVIEW_NVDISASM");
  return cli_shell(arena,
                   arena_printf(arena, "%s%s %s", screen ? "GEMMVIEW_NVDISASM=/dev/null/none " : "",
                                getenv("GEMMVIEW"), arguments));
}

CliRun cli_shell(Arena *arena, const char *command) {
  CliRun run = {0};
  keep_state_apart(arena);
  const char *errors = temporary(arena, "stderr");
  FILE *pipe = popen(arena_printf(arena, "%s 2>%s </dev/null", command, errors), "r");
  ck_assert(pipe != NULL);
  run.out = read_all(arena, pipe);
  int status = pclose(pipe);
  ck_assert_msg(WIFEXITED(status), "%s", command);
  run.status = WEXITSTATUS(status);
  FILE *file = fopen(errors, "r");
  ck_assert(file != NULL);
  run.err = read_all(arena, file);
  fclose(file);
  remove(errors);
  return run;
}

const JsonValue *cli_json(Arena *arena, const CliRun *run) {
  Diags diags = diags_new(arena);
  const JsonValue *root = json_parse(arena, run->out, strlen(run->out), &diags, "stdout");
  ck_assert_msg(root != NULL, "%s\n%s%s", diags_text(arena, &diags), run->out, run->err);
  return root;
}

// ---- the fake worker ----------------------------------------------------------------------------

const char *cli_fake_worker_rules(Arena *arena, const char *rules) {
  static int n_scripts;
  const char *script =
      cli_write_file(arena, arena_printf(arena, "worker%d.jsonl", n_scripts++),
                     arena_printf(arena, "{\"on\":\"start\",\"do\":\"hello\"}\n%s", rules));
  return arena_printf(arena, "--worker '%s worker --fake %s'", getenv("GEMMVIEW"), script);
}

static void add_answer(Str *rules, const char *on, const char *what, const char *data) {
  if (data)
    str_printf(rules,
               "{\"on\":\"%s\",\"do\":\"reply\",\"line\":{\"type\":\"result\",\"id\":0,"
               "\"what\":\"%s\",\"data\":%s,\"cached\":false}}\n",
               on, what, data);
  str_printf(rules, "{\"on\":\"%s\",\"do\":\"done\"}\n", on);
}

static void add_machine(Str *rules, const char *gpu) {
  str_add(rules,
          "{\"on\":\"start\",\"do\":\"reply\",\"line\":{\"type\":\"machine\","
          "\"can_compile\":true,\"nvrtc\":\"NVRTC 13.0\",");
  if (gpu)
    str_printf(rules, "\"gpu\":\"%s\",\"gpu_uuid\":\"GPU-fake\",\"arch\":\"sm_90\"}}\n", gpu);
  else
    str_add(rules, "\"gpu_error\":\"no driver was found\"}}\n");
}

const char *cli_fake_worker(Arena *arena, const char *gpu, const CompileResult *cubin,
                            const BenchResult *bench) {
  Str rules = str_new(arena), cubin_text = str_new(arena), bench_text = str_new(arena);
  if (cubin) compile_result_write_json(&cubin_text, cubin);
  if (bench) bench_result_write_json(&bench_text, bench);
  add_machine(&rules, gpu);
  add_answer(&rules, "compile", "cubin", cubin ? cubin_text.text : NULL);
  add_answer(&rules, "bench", "bench", bench ? bench_text.text : NULL);
  return cli_fake_worker_rules(arena, rules.text);
}

CompileResult cli_good_cubin(void) {
  CompileResult result = {.ok = true,
                          .log = "",
                          .compiler = "NVRTC 13.0",
                          .ptx_ms = -1,
                          .cubin_ms = 120,
                          .cubin_bytes = 20000,
                          .n_kernels = 1};
  result.kernels[0] = (KernelResources){.name = "matmul", .registers = 96, .smem_bytes = 16384};
  return result;
}

static Timing timing_around(double ns) {
  return (Timing){.median_ns = ns,
                  .min_ns = ns * 0.99,
                  .p10_ns = ns * 0.995,
                  .p25_ns = ns * 0.999,
                  .p75_ns = ns * 1.001,
                  .p90_ns = ns * 1.005,
                  .n_samples = 100,
                  .launches_per_sample = 1};
}

static VerifyResult right(void) {
  return (VerifyResult){.ran = true,
                        .ok = true,
                        .tolerance = 1e-6,
                        .worst = 0.2,
                        .n_cells = 4096 * 4096,
                        .first_row = -1,
                        .first_col = -1};
}

BenchResult cli_good_bench(void) {
  const GpuState state = {.known = true,
                          .sm_mhz = 1980,
                          .memory_mhz = 3201,
                          .temperature_c = 50,
                          .power_w = 500,
                          .throttle_text = "none"};
  BenchResult result = {.ok = true,
                        .n_entries = 1,
                        .before = state,
                        .after = state,
                        .verify_ms = 10,
                        .total_ms = 2000,
                        .seed = 1,
                        .m = 4096,
                        .n = 4096,
                        .k = 4096,
                        .gpu = "NVIDIA H200",
                        .gpu_uuid = "GPU-fake",
                        .driver = "580.95.05",
                        .cuda = "13.0",
                        .date = "2026-11-20T12:00:00Z",
                        .method = "invented for a test"};
  result.entries[0] = (BenchEntry){.label = "",
                                   .ok = true,
                                   .verify = right(),
                                   .time = timing_around(3.0e6),
                                   .tflops = 45.8,
                                   .ratio = 0.9,
                                   .blocks_per_sm = 2,
                                   .registers = 96,
                                   .local_bytes = 0};
  result.entries[1] = result.entries[0];
  result.reference = (BenchReference){.ok = true,
                                      .name = "cublasLt heuristic 3",
                                      .library = "cuBLAS 13.1.0",
                                      .n_candidates = 8,
                                      .verify = right(),
                                      .time = timing_around(2.7e6),
                                      .tflops = 50.9};
  return result;
}
