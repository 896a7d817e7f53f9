// Kernel texts that mean harm, given to the real worker all at once: files to be read, compilers to
// be kept busy or filled up, logs to be poisoned. Each is answered within its deadline, nothing of
// the machine leaks into an answer, no escape sequence gets out, and the worker that took them all
// still compiles an honest text.
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernels/worker/client.h"
#include "kernels/worker/lines.h"
#include "stress.h"
#include "worker_messages.h"

enum { DEADLINE_MS = 1500, SLACK_MS = 1000 };

#define KERNEL "extern \"C\" __global__ void gemm(float *C) { C[0] = 1; }\n"
#define TEN(x) x x x x x x x x x x
#define NEST(name, of) "#define " name "(x) " of "(x) " of "(x) " of "(x) " of "(x)\n"

static const struct {
  const char *name, *cuda;
  bool may_compile;
} texts[] = {
    {"include", "#include \"/etc/passwd\"\n" KERNEL, false},
    {"include of a macro", "#define F \"/etc/passwd\"\n#include F\n" KERNEL, false},
    {"include spliced", "#inc\\\nlude \"/etc/passwd\"\n" KERNEL, false},
    {"include by digraph", "%:include </etc/passwd>\n" KERNEL, false},
    {"include behind a comment", "/**/ # /**/ include \"/etc/passwd\"\n" KERNEL, false},
    {"include by trigraphs",
     "?"
     "?=inc?"
     "?/\nlude \"/etc/passwd\"\n" KERNEL,
     false},
    {"include_next", "#include_next <stdio.h>\n" KERNEL, false},
    {"import", "#import \"/etc/passwd\"\n" KERNEL, false},
    {"embed", "const char b[] = {\n#embed \"/etc/passwd\"\n};\n" KERNEL, false},
    {"has_include", "#if __has_include(\"/etc/passwd\")\n#error yes\n#endif\n" KERNEL, false},
    {"include of the process", "#include \"/proc/self/environ\"\n" KERNEL, false},
    {"include of a device", "#include \"/dev/zero\"\n" KERNEL, false},
    {"incbin", "asm(\".incbin \\\"/etc/passwd\\\"\");\n" KERNEL, false},
    {"incbin in two",
     "extern \"C\" __global__ void gemm(float *C) { asm(\".inc\" \"bin \\\"/etc/passwd\\\";\"); "
     "}\n",
     true},
    {"include in a pragma", "_Pragma(\"include \\\"/etc/passwd\\\"\")\n" KERNEL, true},
    {"line names a file", "#line 1 \"/etc/passwd\"\nint x = y;\n" KERNEL, false},
    {"error with escapes",
     "#error \x1b]0;owned\a\x1b[2J\x9b"
     "31m\n" KERNEL,
     false},
    {"pragma with escapes", "#pragma message(\"\x1b[2J\")\n#warning \x1b[31m\n" KERNEL, true},
    {"static_assert with escapes", "static_assert(false, \"\\x1b[2J\\033[31m\x1b[2J\");\n" KERNEL,
     false},
    {"line with escapes", "#line 1 \"\x1b[2J\"\nint x = y;\n" KERNEL, false},
    {"bad UTF-8", "// \xff\xfe\xc0\x80\nint \xc3 = 1;\n" KERNEL, false},
    {"templates doubling",
     "template <int n, long m> struct F { static constexpr long v = F<n - 1, 2 * m>::v + F<n - 1, "
     "2 * m + 1>::v; };\n"
     "template <long m> struct F<0, m> { static constexpr long v = m; };\n"
     "extern \"C\" __global__ void gemm(float *C) { C[0] = (float)F<26, 1>::v; }\n",
     false},
    {"templates without end",
     "template <int n> struct F { using T = typename F<n + 1>::T; };\n"
     "extern \"C\" __global__ void gemm(float *C) { F<0>::T x; }\n",
     false},
    {"templates growing",
     "template <class T> struct P { T a, b; };\n"
     "template <int n, class T> struct G { static void f() { G<n - 1, P<T>>::f(); } };\n"
     "template <class T> struct G<0, T> { static void f() { T t; } };\n"
     "extern \"C\" __global__ void gemm(float *C) { G<400, P<P<int>>>::f(); }\n",
     true},
    {"macros doubling",
     NEST("a", "") NEST("b", "a") NEST("c", "b") NEST("d", "c") NEST("e", "d") NEST("f", "e")
         NEST("g", "f") NEST("h", "g") NEST("i", "h") NEST("j", "i") NEST("k", "j")
             NEST("l", "k") "int x = l(1+) 1;\n" KERNEL,
     false},
    {"constexpr without end",
     "constexpr int f(unsigned n) { int s = 0; while (n) s += n & 1; return s; }\n"
     "constexpr int x = f(1);\n" KERNEL,
     false},
    {"constexpr recursion",
     "constexpr int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
     "constexpr int x = f(60);\n" KERNEL,
     false},
    {"unrolled",
     "extern \"C\" __global__ void gemm(float *C) {\n#pragma unroll\n"
     "for (int i = 0; i < 100000000; i++) C[i * i] = C[i] * 1.5f + C[i + 7];\n}\n",
     true},
    {"unrolled five deep",
     "extern \"C\" __global__ void gemm(float *C) {\nfloat s[64];\n"
     "#pragma unroll\nfor (int i = 0; i < 64; i++)\n"
     "#pragma unroll\nfor (int j = 0; j < 64; j++)\n"
     "#pragma unroll\nfor (int k = 0; k < 64; k++) s[(i * j + k) % 64] += C[i] * C[j * k];\n"
     "for (int i = 0; i < 64; i++) C[i] = s[i];\n}\n",
     true},
    {"a large array", "__device__ float x[1ull << 46] = {1};\n" KERNEL, false},
    {"an initialised array", "__device__ float x[1 << 28] = {1, 2, 3};\n" KERNEL, true},
    {"deep parentheses", "int x = " TEN(TEN(TEN("(((((((((("))) "1;\n" KERNEL, false},
    {"deep blocks", "extern \"C\" __global__ void gemm(float *C) " TEN(TEN(TEN("{{{{{{{{{{"))) "\n",
     false},
    {"a spin at compile time", "extern \"C\" __global__ void gemm(float *C) { for (;;) {} }\n",
     true},
    {"PTX by hand",
     "extern \"C\" __global__ void gemm(float *C) { asm volatile(\"} .entry evil() { ret;\"); }\n",
     true},
    {"PTX names a file",
     "extern \"C\" __global__ void gemm(float *C) { asm(\".file 1 \\\"/etc/passwd\\\"\"); }\n",
     true},
    {"nothing", "", false},
    {"no kernel of that name", "extern \"C\" __global__ void other(float *C) {}\n", false},
    {"no end of comment", "/* " KERNEL, false},
    {"no end of string", "const char *s = \"" KERNEL, false},
};
enum { N_TEXTS = sizeof texts / sizeof *texts };

static Arena *arena;
static char folder[64];

static bool is_clean(const char *text) {
  if (!text) return true;
  Arena *scratch = arena_new("clean");
  const bool same = strcmp(text, str_sanitise(scratch, text)) == 0;
  arena_free(scratch);
  return same;
}

static void check_nothing_leaks(const char *name, const char *text) {
  if (!text) return;
  ck_assert_msg(is_clean(text), "%s: a control character in an answer", name);
  ck_assert_msg(!strstr(text, "root:") && !strstr(text, "/bin/bash"), "%s: the file leaks", name);
}

static int64_t submit(Client *client, int index, const char *cuda) {
  const Plan plan = worker_plan(cuda);
  return client_submit(client, &(ClientRequest){.kind = MESSAGE_COMPILE,
                                                .plan = &plan,
                                                .keep = true,
                                                .key = (uint64_t)index,
                                                .deadline_ms = DEADLINE_MS});
}

static void check_event(const ClientEvent *event, bool compiled[N_TEXTS]) {
  const char *name = event->key < N_TEXTS ? texts[event->key].name : "honest";
  check_nothing_leaks(name, event->message.text);
  check_nothing_leaks(name, event->message.data);
  if (!event->compile) return;
  check_nothing_leaks(name, event->compile->log);
  check_nothing_leaks(name, event->compile->error);
  check_nothing_leaks(name, event->compile->ptx);
  if (event->compile->ok && event->key < N_TEXTS) compiled[event->key] = true;
}

// Until every request had its done; gives how many had.
static int take_answers(Client *client, int n, int64_t until, bool compiled[N_TEXTS]) {
  int n_done = 0;
  while (n_done < n && clock_ms() < until) {
    ClientEvent *event = client_next(client, 100);
    if (!event) continue;
    check_event(event, compiled);
    n_done += event->message.kind == MESSAGE_DONE;
    client_event_free(event);
  }
  return n_done;
}

static bool can_compile(Client *client) {
  ClientStatus status = {0};
  for (int i = 0; i < 1000 && !status.machine_known; i++) {
    client_status(client, 0, &status);
    poll(NULL, 0, 10);
  }
  return status.can_compile;
}

START_TEST(test_hostile_texts) {
  const char *path = getenv("GEMMVIEW");
  const char *const argv[] = {path ? path : "build/plain/gemmview", "worker", NULL};
  const char *const *const commands[] = {argv};
  bool compiled[N_TEXTS] = {false};
  ClientStatus status;
  Client *client =
      client_start(&(ClientOptions){.version = "t", .workers = commands, .n_workers = 1});
  ck_assert_ptr_nonnull(client);
  if (can_compile(client)) {
    const int64_t since = clock_ms();
    for (int i = 0; i < N_TEXTS; i++) submit(client, i, texts[i].cuda);
    // Two compile at a time at least, so half of them may take their whole deadline one by one.
    const int64_t until = since + (N_TEXTS / 2 + 1) * (DEADLINE_MS + SLACK_MS);
    ck_assert_int_eq(take_answers(client, N_TEXTS, until, compiled), N_TEXTS);
    for (int i = 0; i < N_TEXTS; i++)
      ck_assert_msg(texts[i].may_compile || !compiled[i], "\"%s\" compiled", texts[i].name);
    submit(client, N_TEXTS, KERNEL);
    ck_assert_int_eq(take_answers(client, 1, clock_ms() + (int64_t)stress_wall(20000), compiled),
                     1);
    client_status(client, 0, &status);
    ck_assert_int_eq(status.n_starts, 1);
  }
  client_stop(client);
}
END_TEST

static void setup(void) {
  arena = arena_new("test hostile");
  strcpy(folder, "/tmp/gemmview-hostile-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("XDG_CACHE_HOME", folder, 1);
}

static void teardown(void) {
  unsetenv("XDG_CACHE_HOME");
  ck_assert_int_eq(system(arena_printf(arena, "rm -rf '%s'", folder)), 0);
  arena_free(arena);
}

Suite *suite_hostile(void);
Suite *suite_hostile(void) {
  Suite *suite = suite_create("hostile");
  TCase *tests = tcase_create("hostile");
  tcase_set_timeout(tests, 600);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, test_hostile_texts);
  suite_add_tcase(suite, tests);
  return suite;
}
