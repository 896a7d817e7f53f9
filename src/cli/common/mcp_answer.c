// Members of the document are taken one after the other while there is room: scalars first, then
// objects, then lists, of which the first items are told; what did not fit is counted in
// "left_out". A number with an interval beside it has half of that as its error.
#include "cli/common/mcp_answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/whole.h"
#include "cli/common/cli.h"

enum {
  FACTS_BYTES = 1500,
  SCALARS_BYTES = 500,
  SAID_BYTES = 300,
  TEXT_BYTES = 1200,
  PART_BYTES = 1400
};

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
             {"wavefronts_at_most", "wavefronts"},
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
                      const JsonValue *value);

static bool has_objects(const JsonValue *value) {
  return json_kind(value) == JSON_ARRAY && json_kind(json_at(value, 0)) == JSON_OBJECT;
}

// Bounds of a number stand beside it: "a_low" and "a_high", or "a_at_least" and "a_at_most".
static const char *const BOUNDS[][2] = {{"_low", "_high"}, {"_at_least", "_at_most"}};

// Half of the interval of a member of an object; NAN: it has none.
static double interval(const Facts *facts, const JsonValue *object, const char *key) {
  for (int i = 0; i < 2; i++) {
    double bound[2];
    for (int k = 0; k < 2; k++)
      bound[k] =
          number_of(facts->arena,
                    json_object_get(object, arena_printf(facts->arena, "%s%s", key, BOUNDS[i][k])));
    if (!isnan(bound[0]) && !isnan(bound[1])) return (bound[1] - bound[0]) / 2;
  }
  return NAN;
}

// Whether the member is the bound of another, which is told as that one's error.
static bool is_bound(const Facts *facts, const JsonValue *object, const char *key) {
  for (int i = 0; i < 4; i++) {
    const char *end = BOUNDS[i / 2][i % 2];
    const size_t n = strlen(key), m = strlen(end);
    if (n <= m || !str_equal(key + n - m, end)) continue;
    const char *of = arena_strndup(facts->arena, key, n - m);
    return json_object_get(object, of) && !isnan(interval(facts, object, of));
  }
  return false;
}

// Items of lists do without these: what is not known, and the many numbers of one access.
static bool says_little(const JsonValue *value) {
  enum { NUMBERS_MAX = 8 };
  const int n = json_count(value);
  return json_kind(value) == JSON_NULL ||
         (json_kind(value) == JSON_ARRAY && (n == 0 || n > NUMBERS_MAX) && !has_objects(value));
}

// A place in a text is no measure.
static bool is_place(const char *key) {
  const size_t n = strlen(key);
  return n >= 4 && str_equal(key + n - 4, "line");
}

// Members of an object; the unit of a row that says its metric is the metric's.
static void put_members(const Facts *facts, JsonWriter *writer, const JsonValue *object) {
  Diags unused = diags_new(facts->arena);
  const char *metric = NULL;
  const JsonValue *named = json_object_get(object, "metric");
  if (json_kind(named) == JSON_STRING) json_read_string(named, &metric, &unused);
  json_begin_object(writer);
  for (int i = 0; i < json_count(object); i++) {
    const char *key = json_key_at(object, i);
    const JsonValue *value = json_at(object, i);
    if (is_bound(facts, object, key) || says_little(value)) continue;
    const double error = interval(facts, object, key);
    const char *of = metric ? metric : key;
    json_key(writer, key);
    if (json_kind(value) == JSON_NUMBER && !isnan(error))
      put_number(writer, of, facts->tool->origin, number_of(facts->arena, value), error);
    else if (is_place(key))
      json_put_value(writer, value);
    else
      put_value(facts, writer, of, value);
  }
  json_end_object(writer);
}

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
    put_members(facts, writer, value);
  } else if (has_objects(value)) {
    json_begin_array(writer);
    for (int i = 0; i < json_count(value); i++) put_value(facts, writer, key, json_at(value, i));
    json_end_array(writer);
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

// The first items of a list, as many as there is room for.
static void add_items(Facts *facts, const char *key, const JsonValue *list) {
  Str whole = str_new(facts->arena);
  JsonWriter name = json_writer(&whole);
  json_put_string(&name, key);
  str_add(&whole, ":[");
  int n = 0;
  for (; n < json_count(list); n++) {
    Str one = str_new(facts->arena);
    JsonWriter writer = json_writer(&one);
    put_value(facts, &writer, key, json_at(list, n));
    if (facts->text.length + whole.length + one.length + 3 > FACTS_BYTES) break;
    str_printf(&whole, "%s%s", n ? "," : "", one.text);
  }
  facts->left_out += n < json_count(list);
  if (n == 0) return;
  str_printf(&facts->text, "%s],", whole.text);
}

static bool is_list(const JsonValue *value) {
  return json_kind(value) == JSON_ARRAY || json_kind(value) == JSON_OBJECT;
}

// First scalars up to a limit, so that lists have room; then these, then the other scalars. Null
// members are left away, and not counted.
static void collect(Facts *facts, const JsonValue *root) {
  const int n = json_count(root);
  bool *told = ARENA_ARRAY(facts->arena, bool, n + 1);
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < n; i++) {
      const char *key = json_key_at(root, i);
      const JsonValue *value = json_at(root, i);
      const bool full = round == 0 && facts->text.length > SCALARS_BYTES;
      if (told[i] || full || is_list(value) != (round == 1) || str_equal(key, "schema") ||
          json_kind(value) == JSON_NULL)
        continue;
      told[i] = true;
      if (has_objects(value))
        add_items(facts, key, value);
      else
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

// The bytes of a text that take at most `room` in a string of JSON: some are written by two or six.
static size_t fitting(const char *text, size_t n, size_t room) {
  size_t to = 0;
  for (; to < n; to++) {
    const unsigned char c = (unsigned char)text[to];
    const size_t cost = c == '"' || c == '\\' || c == '\n' || c == '\t' ? 2 : c < ' ' ? 6 : 1;
    if (cost > room) break;
    room -= cost;
  }
  while (to < n && to > 0 && ((unsigned char)text[to] & 0xc0) == 0x80) to--;
  return to;
}

static const char *room_for(Arena *arena, const char *text, size_t room) {
  return arena_strndup(arena, text, fitting(text, strlen(text), room));
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
  if (run->n_out && !root)
    json_member_string(&writer, "text", room_for(arena, run->out, TEXT_BYTES));
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
  const size_t to = from + fitting(kept->text[at] + from, n - from, PART_BYTES);
  Str out = str_new(arena);
  JsonWriter writer = json_writer(&out);
  begin(&writer, tool);
  json_member_string(&writer, "part", arena_strndup(arena, kept->text[at] + from, to - from));
  put_more(&writer, to < n ? number : 0, n, to);
  json_end_object(&writer);
  return out.text;
}
