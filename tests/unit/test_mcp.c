// gemmview mcp: replies line by line, what is refused, and ten thousand mutated requests.
#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"
#include "cli/common/mcp_tools.h"
#include "cli_harness.h"

Suite *suite_mcp(void);

static Arena *arena;
static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

#define CALL(name, arguments)                                                            \
  "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"" name \
  "\",\""                                                                                \
  "arguments\":" arguments "}}"

// The replies to these lines, which the program reads from a file.
static CliRun serve(const char *lines, size_t n) {
  char path[] = "/tmp/gemmview_mcp_XXXXXX";
  const int fd = mkstemp(path);
  ck_assert_int_ge(fd, 0);
  for (size_t done = 0; done < n;) {
    const ssize_t wrote = write(fd, lines + done, n - done);
    ck_assert_int_gt(wrote, 0);
    done += (size_t)wrote;
  }
  close(fd);
  CliRun run = cli_shell(arena, arena_printf(arena, "sh -c '\"$GEMMVIEW\" mcp < %s'", path));
  unlink(path);
  return run;
}

static const struct {
  const char *line, *says;  // NULL: no reply
} LINES[] = {
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
     "\"2025-03-26\"}}",
     "\"id\":1,\"result\":{\"protocolVersion\":\"2025-03-26\",\"capabilities\":{\"tools\":{}}"},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", NULL},
    {"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\"}",
     "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}"},
    {"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}",
     "\"name\":\"occupancy\",\"description\":"},
    {"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/remove\"}", "\"code\":-32601"},
    {"{\"jsonrpc\":\"2.0\",\"id\":2", "\"id\":null,\"error\":{\"code\":-32700"},
    {"[1]", "\"code\":-32600"},
    {"{\"jsonrpc\":\"1.0\",\"id\":2,\"method\":\"ping\"}", "\"code\":-32600"},
    {"{\"jsonrpc\":\"2.0\",\"id\":[2],\"method\":\"ping\"}", "\"code\":-32600"},
    {"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\"}", "\"code\":-32602"},
    {CALL("none", "{}"), "\"code\":-32602,\"message\":\"there is no tool \\\"none\\\""},
    {CALL("occupancy", "{\"reg\":92}"), "unknown key; nearest: regs"},
    {CALL("occupancy", "[92]"),
     "\"code\":-32602,\"message\":\"request:1:88: params.arguments: argum"},
    {CALL("occupancy", "{\"regs\":true}"), "\"code\":-32602"},
    {CALL("occupancy", "{\"handle\":\"h9\"}"), "this handle is unknown"},
    {CALL("occupancy", "{\"regs\":92,\"threads\":224,\"smem\":\"16384\",\"target\":\"a100\"}"),
     "\\\"blocks_per_sm\\\":{\\\"value\\\":2,\\\"unit\\\":\\\"per SM\\\",\\\"origin\\\":\\\"CUDA "
     "occupancy\\\",\\\"error\\\":0}"},
    {CALL("occupancy", "{\"regs\":92}"), "\\\"verdict\\\":\\\"usage\\\",\\\"status\\\":2,"},
    {CALL("open",
          "{\"args\":[\"tests/data/open/k01.ptx\"],\"launch\":\"grid=8x7,block=32x8\",\"arg\":"
          "[\"mem:200000:zero\",\"mem:200000\",\"250\",\"200\"]}"),
     "\\\"wavefronts\\\":{\\\"value\\\":1056,"},
    {CALL("open", "{\"args\":[\"--dump\",\"x=y\"]}"), "args takes no options"},
    {CALL("open", "{\"args\":[\"/etc/passwd\"]}"), "leads out of the folder"},
    {CALL("open", "{\"args\":[\"../../etc/passwd\"]}"), "leads out of the folder"},
    {CALL("open", "{\"args\":[\"tests/data/open/k01.ptx\"],\"arg\":[\"file:/etc/passwd\"]}"),
     "leads out of the folder"},
    {CALL("why", "{\"args\":[\"tests/data/../../../x.cubin\"]}"), "leads out of the folder"},
    {CALL("solve", "{\"args\":[\"build/outside\"]}"), "leads out of the folder"},
    {CALL("layout", "{\"args\":[\"pad:8\"],\"shape\":\"64x64\"}"), "\\\"verdict\\\":\\\"ok\\\""},
    {CALL("layout",
          "{\"args\":[\"xor:col ^ (row / 2 & 7)\"],\"shape\":\"64x64\",\"type\":\"f32\"}"),
     "\\\"verdict\\\":\\\"ok\\\""},
    {CALL("decode", "{\"args\":[\"ampere_h16816gemm_128x128_ldg8_stages_64x3_nn\"]}"),
     "\\\"tile_m\\\":{\\\"value\\\":128,"},
    {CALL("check", "{\"state\":\"fp32/padded,BM=7\"}"), "\\\"verdict\\\":"},
    {CALL("solve", "{\"example\":\"tf32-b\"}"), "\\\"optimal\\\":true"},
    {CALL("solve", "{\"handle\":\"h1\",\"offset\":4}"), "\\\"part\\\":\\\""},
    {CALL("solve", "{\"list\":true}"), "\\\"text\\\":\\\"tf32-a "},
    {CALL("diff", "{\"args\":[\"fp32/naive\",\"fp32/padded\"]}"),
     "{\\\"metric\\\":\\\"registers\\\",\\\"a\\\":{\\\"value\\\":46,\\\"unit\\\":"
     "\\\"registers\\\""},
    {CALL("open", "{\"args\":[\"tests/data/record/add.capsule\"],\"list\":true}"),
     "\\\"times\\\":{\\\"value\\\":6,"},
    {CALL("open",
          "{\"args\":[\"tests/data/open/k01.ptx\"],\"launch\":\"grid=8x7,block=32x8\",\"arg\":"
          "[\"mem:200000:zero\",\"mem:200000\",\"250\",\"200\"],\"predict\":true}"),
     "\\\"lines\\\":[{"},
};
enum { N_LINES = sizeof LINES / sizeof LINES[0] };

// Line by line; a result's text has 2 kB at most and is JSON itself.
static void check_text(const char *line) {
  Diags diags = diags_new(arena);
  const JsonValue *root = json_parse(arena, line, strlen(line), &diags, "reply");
  ck_assert_msg(root != NULL, "%s", line);
  const JsonValue *content = json_object_get(json_object_get(root, "result"), "content");
  const char *text = NULL;
  if (!json_optional_string(json_at(content, 0), "text", &text, &diags) || !text) return;
  ck_assert_int_le((int)strlen(text), 2048);
  ck_assert_msg(json_parse(arena, text, strlen(text), &diags, "text") != NULL, "%s", text);
}

START_TEST(each_line_has_its_reply) {
  if (!cli_has_program()) return;
  Str in = str_new(arena);
  unlink("build/outside");
  ck_assert_int_eq(symlink("/etc/passwd", "build/outside"), 0);
  for (int i = 0; i < N_LINES; i++) str_printf(&in, "%s\n", LINES[i].line);
  CliRun run = serve(in.text, in.length);
  unlink("build/outside");
  ck_assert_int_eq(run.status, 0);
  char *rest = arena_strdup(arena, run.out);
  for (int i = 0; i < N_LINES; i++) {
    if (!LINES[i].says) continue;
    const char *line = strsep(&rest, "\n");
    ck_assert_msg(line && strstr(line, LINES[i].says), "%s:\n%s\nnot %s", LINES[i].line, line,
                  LINES[i].says);
    check_text(line);
  }
  ck_assert(rest && !*rest);
}
END_TEST

START_TEST(a_line_beyond_a_mebibyte_is_refused) {
  if (!cli_has_program()) return;
  enum { LONG = (1 << 20) + 5 };
  static char line[LONG + 64];
  memset(line, 'x', LONG);
  strcpy(line + LONG, "\n{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}");
  CliRun run = serve(line, strlen(line));
  ck_assert_int_eq(run.status, 0);
  ck_assert_msg(strstr(run.out, "\"code\":-32600,\"message\":\"a line has 1 MiB at most\""), "%s",
                run.out);
  ck_assert(strstr(run.out, "\"id\":3,\"result\":{}"));
}
END_TEST

// The words that every call would run are looked at here, not run: those that a mutated request
// becomes are of the tool, allowed, and lead nowhere else. The requests go to the server, too;
// those that would run a command are left out there.
enum { MUTANTS = 10000 };

static char *mutate(const char *line) {
  static const char *const pieces[] = {"\"",          "{",
                                       "}",           "[",
                                       "]",           ":",
                                       ",",           "\\",
                                       "\\u0000",     "null",
                                       "-1",          "1e309",
                                       "/etc/passwd", "../",
                                       "~",           "--dump",
                                       "\xff",        "args",
                                       "handle",      "offset",
                                       "\t",          "9999999999999"};
  const size_t n = strlen(line), at = n ? (size_t)rand() % n : 0;
  const size_t cut = (size_t)rand() % 4 < n - at ? (size_t)rand() % 4 : 0;
  const char *piece = rand() % 3 ? pieces[rand() % 22] : "";
  return arena_printf(arena, "%.*s%s%s", (int)at, line, piece,
                      line + (at + cut <= n ? at + cut : n));
}

static bool allowed(const McpTool *tool, const char *word) {
  if (word[0] != '-' || str_equal(word, "--json")) return true;
  return strstr(tool->allowed, word) != NULL;
}

// Whether the line is a call that would be run.
static bool look_at_call(const char *line, const char *root) {
  Diags diags = diags_new(arena);
  const char *name = NULL;
  const JsonValue *request = json_parse(arena, line, strlen(line), &diags, "request");
  const JsonValue *params = json_object_get(request, "params");
  if (!json_optional_string(params, "name", &name, &diags) || !name) return false;
  const McpTool *tool = mcp_tool_find(name);
  McpCall call;
  if (!tool ||
      !mcp_call_read(arena, tool, json_object_get(params, "arguments"), root, &call, &diags))
    return false;
  for (int i = 1; i < call.n; i++) {
    const bool value = i > 1 && call.word[i - 1][0] == '-';
    ck_assert_msg(value || allowed(tool, call.word[i]), "%s: %s", line, call.word[i]);
    ck_assert_msg(!str_starts(call.word[i], "/etc/") && !strstr(call.word[i], ":/etc/"), "%s",
                  line);
  }
  return call.handle == NULL;
}

START_TEST(mutated_requests_are_answered_or_refused) {
  if (!cli_has_program()) return;
  char root[PATH_MAX];
  ck_assert(realpath(".", root) != NULL);
  srand(39);
  Str in = str_new(arena);
  int sent = 0;
  for (int i = 0; i < MUTANTS; i++) {
    char *line = mutate(LINES[i % N_LINES].line);
    if (rand() % 2) line = mutate(line);
    if (look_at_call(line, root)) continue;
    str_printf(&in, "%s\n", line);
    sent++;
  }
  str_add(&in, "{\"jsonrpc\":\"2.0\",\"id\":\"last\",\"method\":\"ping\"}\n");
  CliRun run = serve(in.text, in.length);
  ck_assert_int_eq(run.status, 0);
  ck_assert_int_gt(sent, MUTANTS / 2);
  ck_assert_msg(strstr(run.out, "\"id\":\"last\",\"result\":{}"), "%.300s", run.err);
}
END_TEST

Suite *suite_mcp(void) {
  Suite *suite = suite_create("mcp");
  TCase *lines = tcase_create("lines");
  tcase_add_checked_fixture(lines, setup, teardown);
  tcase_set_timeout(lines, 120);
  tcase_add_test(lines, each_line_has_its_reply);
  tcase_add_test(lines, a_line_beyond_a_mebibyte_is_refused);
  tcase_add_test(lines, mutated_requests_are_answered_or_refused);
  suite_add_tcase(suite, lines);
  return suite;
}
