// gemmview mcp: the commands as tools of the Model Context Protocol, JSON-RPC 2.0 over stdin and
// stdout, one object on a line.
//
//   {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"occupancy","arguments":
//     {"regs":92,"threads":224,"smem":16384,"target":"a100"}}}
//
// A call runs the command as a process of its own with --json and answers in 2 kB
// (cli/common/mcp_answer.h); the commands stay the truth. Nothing is answered to a notification. It
// ends where stdin does.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/common/cli.h"
#include "cli/common/mcp_answer.h"
#include "cli/common/mcp_tools.h"
#include "cli/common/options.h"
#include "cli/common/self_run.h"

CommandRun cmd_mcp;

enum { LINE_MAX_BYTES = 1 << 20, CALL_SECONDS = 120 };
enum {
  PARSE_ERROR = -32700,
  INVALID_REQUEST = -32600,
  UNKNOWN_METHOD = -32601,
  BAD_PARAMS = -32602
};

typedef struct Server {
  char root[PATH_MAX];
  McpKept kept;
} Server;

typedef struct Request {
  Arena *arena;
  Server *server;
  const JsonValue *id;  // NULL: a notification
  const JsonValue *params;
} Request;

// ---- replies ------------------------------------------------------------------------------------

static void send(const Str *line) {
  fputs(line->text, stdout);
  putchar('\n');
  fflush(stdout);
}

static JsonWriter begin_reply(Str *out, const JsonValue *id) {
  JsonWriter writer = json_writer(out);
  json_begin_object(&writer);
  json_member_string(&writer, "jsonrpc", "2.0");
  json_key(&writer, "id");
  if (id)
    json_put_value(&writer, id);
  else
    json_put_null(&writer);
  return writer;
}

static void send_error(Arena *arena, const JsonValue *id, int code, const char *sentence) {
  Str out = str_new(arena);
  JsonWriter writer = begin_reply(&out, id);
  json_key(&writer, "error");
  json_begin_object(&writer);
  json_member_int(&writer, "code", code);
  json_member_string(&writer, "message", sentence);
  json_end_object(&writer);
  json_end_object(&writer);
  send(&out);
}

static void send_findings(const Request *request, const Diags *diags) {
  const Diag *first = diags->first;
  send_error(request->arena, request->id, BAD_PARAMS,
             first->nearest
                 ? arena_printf(request->arena, "%s; nearest: %s", first->text, first->nearest)
                 : first->text);
}

static void send_text(const Request *request, const char *text, bool is_error) {
  Str out = str_new(request->arena);
  JsonWriter writer = begin_reply(&out, request->id);
  json_key(&writer, "result");
  json_begin_object(&writer);
  json_key(&writer, "content");
  json_begin_array(&writer);
  json_begin_object(&writer);
  json_member_string(&writer, "type", "text");
  json_member_string(&writer, "text", text);
  json_end_object(&writer);
  json_end_array(&writer);
  json_member_bool(&writer, "isError", is_error);
  json_end_object(&writer);
  json_end_object(&writer);
  send(&out);
}

// ---- methods ------------------------------------------------------------------------------------

static void answer_initialize(const Request *request) {
  static const char *const versions[] = {"2025-06-18", "2025-03-26", "2024-11-05"};
  const char *version = versions[0], *asked = NULL;
  Diags unused = diags_new(request->arena);
  json_optional_string(request->params, "protocolVersion", &asked, &unused);
  for (size_t i = 0; asked && i < sizeof versions / sizeof versions[0]; i++)
    if (str_equal(asked, versions[i])) version = versions[i];
  Str out = str_new(request->arena);
  JsonWriter writer = begin_reply(&out, request->id);
  json_key(&writer, "result");
  json_begin_object(&writer);
  json_member_string(&writer, "protocolVersion", version);
  json_key(&writer, "capabilities");
  json_begin_object(&writer);
  json_key(&writer, "tools");
  json_begin_object(&writer);
  json_end_object(&writer);
  json_end_object(&writer);
  json_key(&writer, "serverInfo");
  json_begin_object(&writer);
  json_member_string(&writer, "name", "gemmview");
  json_member_string(&writer, "version", cli_version);
  json_end_object(&writer);
  json_end_object(&writer);
  json_end_object(&writer);
  send(&out);
}

static void answer_ping(const Request *request) {
  Str out = str_new(request->arena);
  JsonWriter writer = begin_reply(&out, request->id);
  json_key(&writer, "result");
  json_begin_object(&writer);
  json_end_object(&writer);
  json_end_object(&writer);
  send(&out);
}

static void answer_list(const Request *request) {
  Str out = str_new(request->arena);
  JsonWriter writer = begin_reply(&out, request->id);
  json_key(&writer, "result");
  json_begin_object(&writer);
  json_key(&writer, "tools");
  json_begin_array(&writer);
  for (int i = 0; i < MCP_TOOLS; i++) mcp_tool_write(&writer, mcp_tool(i));
  json_end_array(&writer);
  json_end_object(&writer);
  json_end_object(&writer);
  send(&out);
}

static void answer_more(const Request *request, const McpTool *tool, const McpCall *call) {
  const char *text =
      mcp_answer_more(request->arena, tool, &request->server->kept, call->handle, call->offset);
  if (text)
    send_text(request, text, false);
  else
    send_error(request->arena, request->id, BAD_PARAMS, "this handle is unknown or expired");
}

static void answer_call(const Request *request) {
  Diags diags = diags_new(request->arena);
  const char *name = NULL;
  McpCall call;
  if (!json_require_string(request->params, "name", &name, &diags)) {
    if (!diags.first) diag_add(&diags, "arguments", "params with the name of a tool are needed");
    send_findings(request, &diags);
    return;
  }
  const McpTool *tool = mcp_tool_find(name);
  if (!tool) {
    send_error(request->arena, request->id, BAD_PARAMS,
               arena_printf(request->arena, "there is no tool \"%s\"",
                            str_sanitise(request->arena, name)));
    return;
  }
  const JsonValue *arguments = json_object_get(request->params, "arguments");
  if (!mcp_call_read(request->arena, tool, arguments, request->server->root, &call, &diags)) {
    send_findings(request, &diags);
  } else if (call.handle) {
    answer_more(request, tool, &call);
  } else {
    const SelfRun run = self_run(request->arena, call.n, call.word, CALL_SECONDS);
    const char *text = mcp_answer(request->arena, tool, &run, &request->server->kept);
    send_text(request, text, run.status != CLI_OK && run.status != CLI_NO);
  }
}

static const struct {
  const char *name;
  void (*answer)(const Request *request);
} METHODS[] = {{"initialize", answer_initialize},
               {"ping", answer_ping},
               {"tools/list", answer_list},
               {"tools/call", answer_call}};

// ---- lines --------------------------------------------------------------------------------------

static bool is_id(const JsonValue *id) {
  return !id || json_kind(id) == JSON_STRING || json_kind(id) == JSON_NUMBER ||
         json_kind(id) == JSON_NULL;
}

static void answer(Server *server, Arena *arena, const char *line, size_t n) {
  Diags diags = diags_new(arena);
  const JsonValue *root = json_parse(arena, line, n, &diags, "request");
  if (!root) {
    send_error(arena, NULL, PARSE_ERROR, diags.first->text);
    return;
  }
  const char *method = NULL, *version = NULL;
  const JsonValue *id = json_object_get(root, "id");
  if (json_kind(root) != JSON_OBJECT || !json_require_string(root, "method", &method, &diags) ||
      !json_require_string(root, "jsonrpc", &version, &diags) || !str_equal(version, "2.0") ||
      !is_id(id)) {
    send_error(
        arena, is_id(id) ? id : NULL, INVALID_REQUEST,
        diags.first ? diags.first->text : "an object with jsonrpc 2.0 and a method is needed");
    return;
  }
  if (!id) return;  // a notification
  const Request request = {arena, server, id, json_object_get(root, "params")};
  for (size_t i = 0; i < sizeof METHODS / sizeof METHODS[0]; i++)
    if (str_equal(METHODS[i].name, method)) {
      METHODS[i].answer(&request);
      return;
    }
  send_error(arena, id, UNKNOWN_METHOD,
             arena_printf(arena, "there is no method \"%s\"", str_sanitise(arena, method)));
}

// A line without its end; -1 at the end of stdin. One that is too long is read to its end: *n is
// LINE_MAX_BYTES + 1.
static bool read_line(char *line, size_t *n) {
  int c;
  for (*n = 0; (c = getchar()) != EOF && c != '\n';) {
    if (*n < LINE_MAX_BYTES) line[*n] = (char)c;
    if (*n <= LINE_MAX_BYTES) ++*n;
  }
  return c != EOF || *n > 0;
}

static bool is_blank(const char *line, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!strchr(" \t\r", line[i])) return false;
  return true;
}

static int serve(Server *server) {
  char *line = malloc(LINE_MAX_BYTES);
  Arena *arena = arena_new("mcp");
  if (!line) return cli_error(CLI_MISSING, "there is no memory for a line");
  for (size_t n; read_line(line, &n); arena_reset(arena)) {
    if (n > LINE_MAX_BYTES)
      send_error(arena, NULL, INVALID_REQUEST, "a line has 1 MiB at most");
    else if (!is_blank(line, n))
      answer(server, arena, line, n);
  }
  arena_free(arena);
  free(line);
  mcp_kept_free(&server->kept);
  return CLI_OK;
}

int cmd_mcp(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  Server *server = ARENA_NEW(arena, Server);
  *server = (Server){.root = ""};
  options_parse(NULL, 0, NULL, &argc, argv, &diags);
  if (argc > 1) diag_add(&diags, "usage", "mcp takes no arguments: it reads requests from stdin");
  if (diags.count) return cli_fail(&diags);
  if (!realpath(".", server->root)) return cli_error(CLI_MISSING, "this folder cannot be read");
  return serve(server);
}
