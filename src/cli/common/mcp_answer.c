// Members of the document are taken one after the other while there is room: scalars first, then
// objects that are an interval, then lists as they are; what did not fit is counted in "left_out".
#include "cli/common/mcp_answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/whole.h"
#include "cli/common/cli.h"

enum { FACTS_BYTES = 1500, SAID_BYTES = 300, PART_BYTES = 1400 };

// ---- what is kept -------------------------------------------------------------------------------

void mcp_kept_free(McpKept *kept) {
  for (int i = 0; i < MCP_KEPT; i++) free(kept->text[i]);
}

// The handle's number; 0: there is no room.
static int keep(McpKept *kept, const SelfRun *run) {
  const int at = kept->count % MCP_KEPT;
  char *copy = malloc(run->n_out + 1);
  if (!copy) return 0;
  memcpy(copy, run->out, run->n_out);
  copy[run->n_out] = '\0';
  free(kept->text[at]);
  kept->text[at] = copy;
  kept->n[at] = run->n_out;
  return ++kept->count;
}

// ---- numbers ------------------------------------------------------------------------------------

static const struct {
  const char *end, *unit;
} UNITS[] = {{"_bytes", "bytes"},
             {"bytes", "bytes"},
             {"clocks", "clocks"},
             {"_ms", "ms"},
             {"_us", "us"},
             {"mhz", "MHz"},
             {"tflops", "TFLOP/s"},
             {"wavefronts", "wavefronts"},
             {"ideal", "wavefronts"},
             {"sectors", "sectors"},
             {"registers", "registers"},
             {"_per_sm", "per SM"},
             {"threads", "threads"},
             {"lanes", "lanes"},
             {"warps", "warps"},
             {"blocks", "blocks"},
             {"instructions", "instructions"}};

static const char *unit_of(const char *key) {
  for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
    const size_t n = strlen(key), m = strlen(UNITS[i].end);
    if (n >= m && str_equal(key + n - m, UNITS[i].end)) return UNITS[i].unit;
  }
  return "1";
}

// error: half of the interval; NAN where it is not known. A count is exact.
static void put_number(JsonWriter *writer, const char *key, const char *origin, double value,
                       double error) {
  json_begin_object(writer);
  json_member_double(writer, "value", value);
  json_member_string(writer, "unit", unit_of(key));
  json_member_string(writer, "origin", origin);
  json_member_double(writer, "error", error);
  json_end_object(writer);
}

static double number_of(Arena *arena, const JsonValue *value) {
  Diags unused = diags_new(arena);
  double out = NAN;
  if (json_kind(value) == JSON_NUMBER) json_read_double(value, &out, &unused);
  return out;
}

// ---- facts --------------------------------------------------------------------------------------

typedef struct Facts {
  Arena *arena;
  const McpTool *tool;
  int left_out;
  Str text;  // members, each with a comma behind it
} Facts;

static void put_value(const Facts *facts, JsonWriter *writer, const char *key,
                      const JsonValue *value) {
  const double low = number_of(facts->arena, json_object_get(value, "low"));
  const double high = number_of(facts->arena, json_object_get(value, "high"));
  const double middle = number_of(facts->arena, json_object_get(value, "value"));
  if (json_kind(value) == JSON_NUMBER) {
    const double number = number_of(facts->arena, value);
    put_number(writer, key, facts->tool->origin, number, number == floor(number) ? 0 : (double)NAN);
  } else if (!isnan(middle) && !isnan(low) && !isnan(high)) {
    put_number(writer, key, facts->tool->origin, middle, (high - low) / 2);
  } else if (json_kind(value) == JSON_OBJECT) {
    json_begin_object(writer);
    for (int i = 0; i < json_count(value); i++) {
      json_key(writer, json_key_at(value, i));
      put_value(facts, writer, json_key_at(value, i), json_at(value, i));
    }
    json_end_object(writer);
  } else {
    json_put_value(writer, value);
  }
}

static void add_fact(Facts *facts, const char *key, const JsonValue *value) {
  Str one = str_new(facts->arena), whole = str_new(facts->arena);
  JsonWriter writer = json_writer(&one);
  put_value(facts, &writer, key, value);
  JsonWriter name = json_writer(&whole);
  json_put_string(&name, key);
  str_printf(&whole, ":%s,", one.text);
  if (facts->text.length + whole.length <= FACTS_BYTES)
    str_add(&facts->text, whole.text);
  else
    facts->left_out++;
}

static bool is_list(const JsonValue *value) {
  return json_kind(value) == JSON_ARRAY || json_kind(value) == JSON_OBJECT;
}

static void collect(Facts *facts, const JsonValue *root) {
  for (int lists = 0; lists < 2; lists++)
    for (int i = 0; i < json_count(root); i++) {
      const char *key = json_key_at(root, i);
      const JsonValue *value = json_at(root, i);
      if (is_list(value) != (lists == 1) || str_equal(key, "schema")) continue;
      add_fact(facts, key, value);
    }
  if (facts->text.length) facts->text.text[--facts->text.length] = '\0';
}

// ---- answers ------------------------------------------------------------------------------------

static const char *verdict_of(int status) {
  static const struct {
    int status;
    const char *word;
  } words[] = {{CLI_OK, "ok"},           {CLI_NO, "no"},           {CLI_USAGE, "usage"},
               {CLI_MISSING, "missing"}, {CLI_COMPILE, "compile"}, {CLI_TIMEOUT, "timeout"}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (words[i].status == status) return words[i].word;
  return "failed";
}

static void begin(JsonWriter *writer, const McpTool *tool) {
  json_begin_object(writer);
  json_member_string(writer, "schema", "gemmview/answer/1");
  json_member_string(writer, "tool", tool->name);
}

static void put_more(JsonWriter *writer, int handle, size_t bytes, size_t next) {
  char name[24];
  json_key(writer, "more");
  if (!handle) {
    json_put_null(writer);
    return;
  }
  snprintf(name, sizeof name, "h%d", handle);
  json_begin_object(writer);
  json_member_string(writer, "handle", name);
  json_member_int(writer, "bytes", (int64_t)bytes);
  json_member_int(writer, "offset", (int64_t)next);
  json_end_object(writer);
}

// The first bytes of a text, whole characters alone.
static const char *beginning(Arena *arena, const char *text, size_t most) {
  size_t n = strnlen(text, most);
  while (n && n == most && ((unsigned char)text[n] & 0xc0) == 0x80) n--;
  return arena_strndup(arena, text, n);
}

char *mcp_answer(Arena *arena, const McpTool *tool, const SelfRun *run, McpKept *kept) {
  Diags unused = diags_new(arena);
  Facts facts = {.arena = arena, .tool = tool, .text = str_new(arena)};
  const bool whole = run->n_out && !run->cut;
  const JsonValue *root = whole ? json_parse(arena, run->out, run->n_out, &unused, "answer") : NULL;
  if (root) collect(&facts, root);
  const bool more = facts.left_out || (run->n_out && !root);
  Str out = str_new(arena);
  JsonWriter writer = json_writer(&out);
  begin(&writer, tool);
  json_member_string(&writer, "verdict", verdict_of(run->status));
  json_member_int(&writer, "status", run->status);
  if (*run->err) json_member_string(&writer, "said", beginning(arena, run->err, SAID_BYTES));
  put_more(&writer, more ? keep(kept, run) : 0, run->n_out, 0);
  json_member_int(&writer, "left_out", facts.left_out);
  json_end_object(&writer);
  out.text[--out.length] = '\0';  // facts are written already
  str_printf(&out, ",\"facts\":{%s}}", facts.text.text);
  return out.text;
}

char *mcp_answer_more(Arena *arena, const McpTool *tool, const McpKept *kept, const char *handle,
                      int offset) {
  int number = 0, used = 0;
  if (sscanf(handle, "h%9d%n", &number, &used) != 1 || handle[used]) return NULL;
  if (number < 1 || number > kept->count || number <= kept->count - MCP_KEPT) return NULL;
  const int at = (number - 1) % MCP_KEPT;
  const size_t n = kept->n[at], from = (size_t)offset < n ? (size_t)offset : n;
  // Quotes and backslashes of the part are written twice.
  size_t room = PART_BYTES, to = from;
  for (; to < n && room > 6; to++) room -= strchr("\"\\", kept->text[at][to]) ? 2 : 1;
  while (to < n && to > from && ((unsigned char)kept->text[at][to] & 0xc0) == 0x80) to--;
  Str out = str_new(arena);
  JsonWriter writer = json_writer(&out);
  begin(&writer, tool);
  json_member_string(&writer, "part", arena_strndup(arena, kept->text[at] + from, to - from));
  put_more(&writer, to < n ? number : 0, n, to);
  json_end_object(&writer);
  return out.text;
}
