// The tools of `gemmview mcp`: commands of this program, and what may be asked of them.
//
// A tool's properties are the options that its row allows, with the help that the command line has;
// "args" are the words that are no options. What would write a file, start another program or wait
// for ever is not allowed.
#pragma once
#include "base/json.h"

typedef struct McpTool {
  const char *name;  // of the command
  const char *help;
  const char *usage;    // of the command
  const char *allowed;  // "--launch --arg"
  const char *origin;   // where its numbers come from
  bool own_json;        // it takes --json
} McpTool;

enum { MCP_TOOLS = 8, MCP_WORDS_MAX = 128 };

const McpTool *mcp_tool(int index);  // NULL behind the last one
const McpTool *mcp_tool_find(const char *name);
// {"name":…,"description":…,"inputSchema":{…}}
void mcp_tool_write(JsonWriter *writer, const McpTool *tool);

// A call's arguments as words of the command line; or a handle and an offset.
typedef struct McpCall {
  int n;
  const char *word[MCP_WORDS_MAX];
  const char *handle;  // NULL: the words are run
  int offset;
} McpCall;

// `root`: the folder outside of which no path may lead. False after findings (rules "arguments",
// "path").
bool mcp_call_read(Arena *arena, const McpTool *tool, const JsonValue *arguments, const char *root,
                   McpCall *out, Diags *diags);
