// Text → text, one wrapping after the other; nothing here knows what an address may be.
//
// A text names its lanes when its first line does, by a word (lane, thread, tid, T), by a mark
// between two numbers (":" with a blank after it, "=", "->"), or when it is a table of 32 lines of
// two numbers. From then on every line must: half a table is a mistake, not a list. Lines without a
// digit are headings. "0:512" has no blank after its colon and stays start:stop.
//
// Worked example: "lane 2: 0x80\nlane 0: _" is "_ _ 0x80 _ … _", 32 of them.
#include "banks/engine/bank_paste.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "banks/engine/bank.h"
#include "base/str.h"

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r"); }

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

// ---- brackets, casts, memory ------------------------------------------------------------------

static const char *closing(const char *open) {
  int depth = 0;
  for (const char *at = open; *at; at++) {
    if (strchr("[{(", *at)) depth++;
    if (strchr("]})", *at) && --depth == 0) return at;
  }
  return NULL;
}

// Past "(@generic float * @local [32])", the type that a debugger prints before a bracket.
static const char *skip_type(const char *at) {
  const char *close = *at == '(' ? closing(at) : NULL;
  const char *next = close ? skip_blanks(close + 1) : at;
  return *next == '{' || *next == '[' ? next : at;
}

// The inside of the first bracket after "=" or a word and ":"; the text itself when there is none.
static const char *assigned(Arena *arena, const char *text) {
  for (const char *at = text; *at; at++) {
    const char *open = skip_type(skip_blanks(at + 1)), *close = NULL;
    bool names = *at == '=' || (*at == ':' && at > text && (is_name(at[-1]) || at[-1] == '"') &&
                                !isdigit((unsigned char)at[-1]));
    if (names && (*open == '{' || *open == '[')) close = closing(open);
    if (close) return arena_strndup(arena, open + 1, (size_t)(close - open - 1));
  }
  return text;
}

// "<row+16>" behind a value; before a colon it belongs to the label of a line of memory.
static size_t symbol_bytes(const char *at) {
  size_t n = 1 + strcspn(at + 1, " \t\n<>");
  bool name = isalpha((unsigned char)at[1]) || at[1] == '_';
  return name && at[n] == '>' && at[n + 1] != ':' ? n + 1 : 0;
}

// "(@shared float *)", "$2 =" and "<row+16>".
static size_t cast_bytes(const char *at) {
  if (*at == '<') return symbol_bytes(at);
  if (*at == '(') {
    size_t n = strcspn(at, ")\n");
    const char *first = skip_blanks(at + 1);
    bool pointer = at[n] == ')' && n > 1 && at[n - 1] == '*';
    return pointer && (*first == '@' || isalpha((unsigned char)*first)) ? n + 1 : 0;
  }
  if (*at != '$' || !isdigit((unsigned char)at[1])) return 0;
  const char *end = at + 1;
  while (isdigit((unsigned char)*end)) end++;
  end = skip_blanks(end);
  return *end == '=' ? (size_t)(end + 1 - at) : 0;
}

static const char *without_casts(Arena *arena, const char *text) {
  Str out = str_new(arena);
  for (const char *at = text; *at;) {
    size_t n = cast_bytes(at);
    if (n)
      at += n;
    else
      str_add_char(&out, *at++);
  }
  return out.text;
}

// The bytes of "0x7fffe000 <row+16>:"; without a symbol two values must follow, or "3: 128" would
// be memory. 0 when the line is none.
static size_t memory_label(const char *line) {
  const char *at = skip_blanks(line);
  if (!isdigit((unsigned char)*at)) return 0;
  while (is_name(*at)) at++;
  at = skip_blanks(at);
  bool symbol = *at == '<';
  if (symbol) at += strcspn(at, ">\n");
  at += symbol && *at == '>';
  if (*at != ':' || !isspace((unsigned char)at[1])) return 0;
  const char *second = skip_blanks(at + 1);
  while (is_name(*second) || *second == '-') second++;
  second = skip_blanks(second);
  return symbol || is_name(*second) || *second == '-' ? (size_t)(at + 1 - line) : 0;
}

static const char *without_memory_labels(Arena *arena, const char *text) {
  Str out = str_new(arena);
  for (const char *line = text; *line;) {
    line += memory_label(line);
    size_t n = strcspn(line, "\n");
    n += line[n] == '\n';
    str_add_bytes(&out, line, n);
    line += n;
  }
  return out.text;
}

// ---- lanes by name ----------------------------------------------------------------------------

typedef struct Named {
  long lane;
  const char *value;  // not terminated
  size_t n;
  bool marked;  // by more than the blank between two numbers
  bool thread;  // "tid 40" is lane 8 of its warp
} Named;

static const char *const LANE_WORDS[] = {"lane_id", "laneid", "lane", "threadidx.x",
                                         "thread",  "tid",    "t",    NULL};

static bool take_word(const char **at, const char *const *words) {
  for (; *words; words++) {
    size_t n = strlen(*words);
    size_t i = 0;
    while (i < n && tolower((unsigned char)(*at)[i]) == (*words)[i]) i++;
    if (i < n || isalpha((unsigned char)(*at)[n]) || (*at)[n] == '_') continue;
    *at = skip_blanks(*at + n);
    return true;
  }
  return false;
}

static bool take_mark(const char **at) {
  static const char *const marks[] = {"->", "=>", "=", ":"};
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
    if (str_starts(*at, marks[i])) return *at = skip_blanks(*at + strlen(marks[i])), true;
  return false;
}

// "lane 3: 0x80"; the line ends at `end`.
static bool read_named(const char *line, const char *end, Named *out) {
  static const char *const addresses[] = {"address", "addr", "offset",  "byte", "bytes",
                                          "reads",   "ptr",  "pointer", "at",   NULL};
  const char *at = line + strspn(line, " \t\r{");
  while (end > at && strchr(" \t\r}", end[-1])) end--;
  const bool thread = *at == 't' || *at == 'T';
  *out = (Named){.marked = take_word(&at, LANE_WORDS)};
  out->thread = out->marked && thread;
  if (out->marked) take_mark(&at);
  bool bracket = *at == '[' || *at == '(';
  if (bracket) at = skip_blanks(at + 1);
  if (!isdigit((unsigned char)*at)) return false;
  char *after;
  out->lane = strtol(at, &after, 10);
  const char *gap = skip_blanks(after);
  if (bracket && *gap != ']' && *gap != ')') return false;
  if (bracket) gap = skip_blanks(gap + 1);
  bool range = *gap == ':' && gap[1] != '\0' && !isspace((unsigned char)gap[1]) && !out->marked;
  if (range || (gap == after && is_name(*after))) return false;
  at = gap;
  out->marked |= take_mark(&at);
  if (take_word(&at, addresses)) out->marked = true, take_mark(&at);
  out->value = at;
  while (at < end && (is_name(*at) || *at == '-' || *at == '+')) at++;
  out->n = (size_t)(at - out->value);
  return out->n > 0 && skip_blanks(at) >= end;
}

static bool has_digit(const char *at, const char *end) {
  while (at < end && !isdigit((unsigned char)*at)) at++;
  return at < end;
}

// The next line with a digit in it; false at the end of the text.
static bool next_line(const char **at, const char *separators, const char **line,
                      const char **end) {
  while (**at) {
    *line = *at;
    *end = *line + strcspn(*line, separators);
    *at = **end ? *end + 1 : *end;
    if (has_digit(*line, *end)) return true;
  }
  return false;
}

// Whether the first line names its lane by a word or a mark.
static bool names_lanes(const char *text) {
  const char *at = text, *line, *end;
  Named named;
  return next_line(&at, "\n,;", &line, &end) && read_named(line, end, &named) && named.marked;
}

// Whether it is a table: 32 lines, each its own number and another one.
static bool is_table(const char *text) {
  const char *at = text, *line, *end;
  int n = 0;
  for (Named named; next_line(&at, "\n", &line, &end); n++)
    if (!read_named(line, end, &named) || named.lane != n) return false;
  return n == BANK_LANES;
}

static const char *refuse(Diags *diags, const char *line, const char *end, const char *why) {
  Arena *arena = diags->arena;
  const char *shown = str_sanitise(arena, arena_strndup(arena, line, (size_t)(end - line)));
  diag_add(diags, "addr_syntax", "\"%s\" %s", skip_blanks(shown), why);
  return NULL;
}

static const char *lanes_in_order(const char *text, const char *separators, Diags *diags) {
  Named of[BANK_LANES] = {{0}};
  const char *at = text, *line, *end;
  long first = -1;  // thread of the warp, of the first line
  while (next_line(&at, separators, &line, &end)) {
    Named named;
    if (!read_named(line, end, &named))
      return refuse(diags, line, end,
                    "does not name a lane and its address as the lines before "
                    "do");
    if (first < 0) first = named.thread ? named.lane / BANK_LANES * BANK_LANES : 0;
    if (named.lane < first || (first > 0 && named.lane >= first + BANK_LANES))
      return refuse(diags, line, end, "names a thread of another warp than the line before it");
    named.lane -= first;
    if (named.lane >= BANK_LANES) {
      refuse(diags, line, end, "names a lane that does not exist: a warp has lanes 0 to 31");
      diags->last->nearest = "31";
      return NULL;
    }
    if (of[named.lane].value) return refuse(diags, line, end, "names its lane a second time");
    of[named.lane] = named;
  }
  Str out = str_new(diags->arena);
  for (int lane = 0; lane < BANK_LANES; lane++)
    if (of[lane].value)
      str_printf(&out, " %.*s", (int)of[lane].n, of[lane].value);
    else
      str_add(&out, " _");
  return out.text;
}

// Lanes that a prompt has joined to one line, "lane 0: 0x0 lane 1: 0x80", a line each again.
static const char *lane_by_lane(Arena *arena, const char *text) {
  Str out = str_new(arena);
  for (const char *at = text; *at; at++) {
    const char *next = at;
    bool word = at > text && at[-1] == ' ' && take_word(&next, LANE_WORDS);
    if (word && isdigit((unsigned char)*next)) str_add_char(&out, '\n');
    str_add_char(&out, *at);
  }
  return out.text;
}

const char *bank_paste_plain(const char *text, Diags *diags) {
  const char *plain = without_casts(diags->arena, assigned(diags->arena, text));
  plain = lane_by_lane(diags->arena, plain);
  plain = without_memory_labels(diags->arena, plain);
  if (names_lanes(plain)) return lanes_in_order(plain, "\n,;", diags);
  if (is_table(plain)) return lanes_in_order(plain, "\n", diags);
  return plain;
}
