// A document of a command as an answer of at most 2 kB: numbers with unit, origin and error, the
// rest by a handle.
//
//   {"schema":"gemmview/answer/1","tool":"occupancy","verdict":"ok","status":0,
//    "facts":{"blocks_per_sm":{"value":2,"unit":"blocks","origin":"…","error":0},…},"more":null}
#pragma once
#include "base/json.h"
#include "cli/common/mcp_tools.h"
#include "cli/common/self_run.h"

enum { MCP_ANSWER_BYTES = 2048, MCP_KEPT = 16 };

// Documents that have more than was told, the newest MCP_KEPT of them.
typedef struct McpKept {
  int count;  // the number kept in all
  char *text[MCP_KEPT];
  size_t n[MCP_KEPT];
} McpKept;

void mcp_kept_free(McpKept *kept);
// The answer's text: in `arena`.
char *mcp_answer(Arena *arena, const McpTool *tool, const SelfRun *run, McpKept *kept);
// A part of a document that was kept, from a byte on; NULL: there is no such handle, or it is gone.
char *mcp_answer_more(Arena *arena, const McpTool *tool, const McpKept *kept, const char *handle,
                      int offset);
