// Rows of allowed options; everything else about them is in commands.def and option.def.
//
// Paths stand in many places: alone, behind "file:" in an argument, behind "=" in an option. So
// every text is cut at the characters that may stand around one, and each piece that begins at the
// root, in a home, or climbs, or that is there, has to lie below the folder once its links are
// followed.
#include "cli/common/mcp_tools.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/nearest.h"
#include "cli/common/cli.h"

static const struct {
  const char *name, *allowed, *origin;
} ROWS[MCP_TOOLS] = {
    {"check", "-k --failing --every-order --strict", "model rules"},
    {"open",
     "--kernel --launch --arg --blocks --slab --list --budget --compare --tolerance "
     "--allow "
     "--machine --predict --every-order --strict",
     "CPU run"},
    {"why", "-k --kernel --launch --trips --what-if --mhz --cold --ptxas-opt", "clock"},
    {"diff", "--kernel --launch --arg --blocks --budget --trips", "the commands"},
    {"solve", "--example --list", "bank rules"},
    {"layout", "--shape --type --to --tma --map --lane --warp --block --element --operand",
     "layout"},
    {"occupancy", "--regs --threads --smem --target", "CUDA occupancy"},
    {"decode", "-k", "name"},
};

static McpTool tool_at(int index) {
  const Command *command = cli_find_command(ROWS[index].name);
  return (McpTool){.name = ROWS[index].name,
                   .help = command->help,
                   .usage = command->usage,
                   .allowed = ROWS[index].allowed,
                   .origin = ROWS[index].origin,
                   .own_json = strstr(command->usage, "--json") != NULL};
}

const McpTool *mcp_tool(int index) {
  static McpTool tools[MCP_TOOLS];
  if (index < 0 || index >= MCP_TOOLS) return NULL;
  tools[index] = tool_at(index);
  return &tools[index];
}

const McpTool *mcp_tool_find(const char *name) {
  for (int i = 0; i < MCP_TOOLS; i++)
    if (str_equal(ROWS[i].name, name)) return mcp_tool(i);
  return NULL;
}

// ---- properties ---------------------------------------------------------------------------------

typedef struct Property {
  char key[32], option[32];
  bool takes_value, repeats;
} Property;

enum { PROPERTIES_MAX = 24 };

// How the usage has the option: with a value, "[--arg ARG]..." several times.
static void read_usage(const char *usage, Property *property) {
  const char *at = usage;
  NamedOption named;
  while (cli_next_option(&at, &named))
    if (str_equal(named.name, property->option)) property->takes_value |= named.value[0] != '\0';
  const size_t n = strlen(property->option);
  for (at = usage; (at = strstr(at, property->option)); at += n) {
    const char *end = at + strcspn(at, "]|");
    property->repeats |= at[n] == ' ' && str_starts(end, "]...");
  }
}

static int properties_of(const McpTool *tool, Property out[PROPERTIES_MAX]) {
  int n = 0;
  for (const char *at = tool->allowed; *at && n < PROPERTIES_MAX; at += strspn(at, " ")) {
    const int length = (int)strcspn(at, " ");
    Property *property = &out[n++];
    *property = (Property){.repeats = false};
    snprintf(property->option, sizeof property->option, "%.*s", length, at);
    snprintf(property->key, sizeof property->key, "%s",
             property->option + strspn(property->option, "-"));
    if (str_equal(property->option, "-k")) snprintf(property->key, sizeof property->key, "state");
    for (char *c = property->key; *c; c++)
      if (*c == '-') *c = '_';
    read_usage(tool->usage, property);
    at += length;
  }
  return n;
}

static void write_type(JsonWriter *writer, const Property *property) {
  if (property->repeats) {
    json_member_string(writer, "type", "array");
    json_key(writer, "items");
    json_begin_object(writer);
    json_member_string(writer, "type", "string");
    json_end_object(writer);
  } else if (property->takes_value) {
    json_key(writer, "type");
    json_begin_array(writer);
    json_put_string(writer, "string");
    json_put_string(writer, "number");
    json_end_array(writer);
  } else {
    json_member_string(writer, "type", "boolean");
  }
}

static void write_property(JsonWriter *writer, const char *key, const char *type,
                           const char *help) {
  json_key(writer, key);
  json_begin_object(writer);
  json_member_string(writer, "type", type);
  json_member_string(writer, "description", help);
  json_end_object(writer);
}

void mcp_tool_write(JsonWriter *writer, const McpTool *tool) {
  Property property[PROPERTIES_MAX];
  const int n = properties_of(tool, property);
  json_begin_object(writer);
  json_member_string(writer, "name", tool->name);
  json_member_string(writer, "description", tool->help);
  json_key(writer, "inputSchema");
  json_begin_object(writer);
  json_member_string(writer, "type", "object");
  json_key(writer, "properties");
  json_begin_object(writer);
  json_key(writer, "args");
  json_begin_object(writer);
  write_type(writer, &(Property){.repeats = true});
  json_member_string(writer, "description", tool->usage);
  json_end_object(writer);
  for (int i = 0; i < n; i++) {
    json_key(writer, property[i].key);
    json_begin_object(writer);
    write_type(writer, &property[i]);
    json_member_string(writer, "description", cli_option_help(tool->name, property[i].option));
    json_end_object(writer);
  }
  write_property(writer, "handle", "string",
                 "the handle of an earlier answer: returns its document from `offset` on");
  write_property(writer, "offset", "integer", "the first byte of the document that is wanted");
  json_end_object(writer);
  json_key(writer, "additionalProperties");
  json_put_bool(writer, false);
  json_end_object(writer);
  json_end_object(writer);
}

// ---- paths --------------------------------------------------------------------------------------

static bool lies_below(const char *path, const char *root) {
  char real[PATH_MAX];
  const size_t n = strlen(root);
  if (!realpath(path, real)) return false;
  return !strncmp(real, root, n) && (real[n] == '/' || real[n] == '\0' || root[n - 1] == '/');
}

static bool climbs(const char *path) {
  for (const char *at = path; (at = strstr(at, "..")); at += 2)
    if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0')) return true;
  return false;
}

static bool piece_is_inside(const char *piece, const char *root) {
  struct stat found;
  if (!*piece) return true;
  const bool there = lstat(piece, &found) == 0;
  if (piece[0] == '/' || piece[0] == '~' || climbs(piece)) return there && lies_below(piece, root);
  return !there || lies_below(piece, root);
}

// Every end of the text behind one of these characters may be a path; a pipe or stdin is none.
static bool paths_are_inside(Arena *arena, const char *text, const char *root) {
  static const char *const around = ":=,@";
  if (!piece_is_inside(text, root)) return false;
  for (const char *at = text; *at; at += strcspn(at, around)) {
    at += strspn(at, around);
    const char *piece = arena_strndup(arena, at, strcspn(at, around));
    if (!piece_is_inside(at, root) || !piece_is_inside(piece, root)) return false;
  }
  return true;
}

// ---- a call -------------------------------------------------------------------------------------

static bool push(McpCall *call, const char *word, const JsonValue *value, Diags *diags) {
  if (call->n < MCP_WORDS_MAX) {
    call->word[call->n++] = word;
    return true;
  }
  json_diag(diags, value, "more than %d words", MCP_WORDS_MAX);
  return false;
}

// A string, or a number as it is written.
static const char *word_of(Arena *arena, const JsonValue *value, Diags *diags) {
  const char *text = NULL;
  double number;
  if (json_kind(value) == JSON_NUMBER && json_read_double(value, &number, diags))
    return arena_printf(arena, "%.15g", number);
  return json_read_string(value, &text, diags) ? text : NULL;
}

static bool push_checked(Arena *arena, const JsonValue *value, const char *root, McpCall *call,
                         Diags *diags) {
  const char *word = word_of(arena, value, diags);
  if (!word) return false;
  if (!paths_are_inside(arena, word, root)) {
    diag_add(diags, "path", "%s leads out of the folder in which gemmview mcp was started",
             str_sanitise(arena, word));
    return false;
  }
  return push(call, word, value, diags);
}

static bool read_property(Arena *arena, const Property *property, const JsonValue *value,
                          const char *root, McpCall *call, Diags *diags) {
  bool yes = false;
  if (!property->takes_value && !property->repeats) {
    if (!json_read_bool(value, &yes, diags)) return false;
    return !yes || push(call, arena_strdup(arena, property->option), value, diags);
  }
  const bool list = property->repeats && json_kind(value) == JSON_ARRAY;
  for (int i = 0; i < (list ? json_count(value) : 1); i++) {
    if (!push(call, arena_strdup(arena, property->option), value, diags)) return false;
    if (!push_checked(arena, list ? json_at(value, i) : value, root, call, diags)) return false;
  }
  return true;
}

// Words that are no options, behind them "--json".
static bool read_words(Arena *arena, const JsonValue *args, const char *root, McpCall *call,
                       Diags *diags) {
  if (json_kind(args) != JSON_ARRAY && !json_is_null(args)) {
    json_diag(diags, args, "args is an array of strings");
    return false;
  }
  for (int i = 0; i < json_count(args); i++) {
    const JsonValue *value = json_at(args, i);
    if (!push_checked(arena, value, root, call, diags)) return false;
    if (call->word[call->n - 1][0] != '-') continue;
    json_diag(diags, value, "args takes no options: give them as properties");
    return false;
  }
  return true;
}

bool mcp_call_read(Arena *arena, const McpTool *tool, const JsonValue *arguments, const char *root,
                   McpCall *out, Diags *diags) {
  Property property[PROPERTIES_MAX];
  const int n = properties_of(tool, property);
  const char *known[PROPERTIES_MAX + 3] = {"args", "handle", "offset"};
  *out = (McpCall){.n = 1, .word = {tool->name}};
  if (json_kind(arguments) != JSON_OBJECT && !json_is_null(arguments)) {
    json_diag(diags, arguments, "arguments are an object");
    return false;
  }
  for (int i = 0; i < n; i++) known[3 + i] = property[i].key;
  if (!json_check_keys(arguments, known, n + 3, diags)) return false;
  if (!json_optional_string(arguments, "handle", &out->handle, diags) ||
      !json_optional_int(arguments, "offset", 0, INT_MAX, &out->offset, diags))
    return false;
  if (!read_words(arena, json_object_get(arguments, "args"), root, out, diags)) return false;
  for (int i = 0; i < n; i++) {
    const JsonValue *value = json_object_get(arguments, property[i].key);
    if (value && !read_property(arena, &property[i], value, root, out, diags)) return false;
  }
  return !tool->own_json || push(out, "--json", arguments, diags);
}
