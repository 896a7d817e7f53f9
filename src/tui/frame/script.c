// Lines into events, one table row per verb.
//
// A line can become several events: "keys j Enter" is two, "mouse click 5 10" a press and a
// release. Worked example: line 3 "kyes j" gives the diagnostic
//   script: demo.keys:3: "kyes" is not a step; nearest: keys
// and reading goes on, so that one look at the list mends the whole file.
#include "tui/frame/script.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/utf8.h"

struct Script {
  Event *events;
  int count, capacity, next;
};

typedef struct Reader {
  Arena *arena;
  Script *script;
  const char *name;
  int line;
  Diags *diags;
} Reader;

static void add(Reader *reader, Event event) {
  Script *script = reader->script;
  if (script->count == script->capacity) {
    int capacity = script->capacity ? 2 * script->capacity : 64;
    Event *events = ARENA_ARRAY(reader->arena, Event, capacity);
    if (script->count) memcpy(events, script->events, sizeof(Event) * (size_t)script->count);
    script->events = events;
    script->capacity = capacity;
  }
  event.line = reader->line;
  script->events[script->count++] = event;
}

__attribute__((format(printf, 2, 3))) static Diag *complain(Reader *reader, const char *format,
                                                            ...) {
  Str text = str_new(reader->arena);
  va_list args;
  va_start(args, format);
  str_vprintf(&text, format, args);
  va_end(args);
  return diag_add(reader->diags, "script", "%s:%d: %s", reader->name, reader->line, text.text);
}

// Cuts the next word off `rest`; NULL when there is none.
static char *next_word(Reader *reader, const char **rest) {
  *rest += strspn(*rest, " \t");
  size_t n = strcspn(*rest, " \t");
  if (n == 0) return NULL;
  char *word = arena_strndup(reader->arena, *rest, n);
  *rest += n;
  return word;
}

static void read_keys(Reader *reader, const char *rest) {
  int before = reader->script->count;
  for (const char *word; (word = next_word(reader, &rest));) {
    Diags found = diags_new(reader->arena);
    Key key = key_parse(word, &found);
    if (key)
      add(reader, (Event){.kind = EVENT_KEY, .key = key});
    else
      complain(reader, "%s", found.first->text)->nearest = found.first->nearest;
    before -= key == KEY_NONE;
  }
  if (reader->script->count == before) complain(reader, "keys needs at least one key");
}

static void read_type(Reader *reader, const char *rest) {
  uint32_t code;
  if (!*rest) complain(reader, "type needs a text");
  for (int bytes; (bytes = utf8_decode(rest, &code)) > 0; rest += bytes)
    add(reader, (Event){.kind = EVENT_KEY, .key = key_from_character(code)});
}

static void add_text(Reader *reader, EventKind kind, const char *rest, const char *verb,
                     bool absent) {
  if (*rest)
    add(reader, (Event){.kind = kind, .text = arena_strdup(reader->arena, rest), .absent = absent});
  else
    complain(reader, "%s needs a text", verb);
}

static void read_paste(Reader *reader, const char *rest) {
  add_text(reader, EVENT_PASTE, rest, "paste", false);
}
static void read_expect(Reader *reader, const char *rest) {
  add_text(reader, EVENT_EXPECT, rest, "expect", false);
}
static void read_absent(Reader *reader, const char *rest) {
  add_text(reader, EVENT_EXPECT, rest, "absent", true);
}

// A whole number from 0 to `most` and nothing behind it; -1 for anything else.
static int read_number(const char *word, int most) {
  char *end;
  if (!word || !isdigit((unsigned char)*word)) return -1;
  long number = strtol(word, &end, 10);
  return *end || number > most ? -1 : (int)number;
}

static void read_resize(Reader *reader, const char *rest) {
  char *cols = next_word(reader, &rest), *rows = cols ? strchr(cols, 'x') : NULL;
  if (rows) *rows++ = 0;
  int n_cols = read_number(cols, CANVAS_COLS_MAX), n_rows = read_number(rows, CANVAS_ROWS_MAX);
  if (n_cols < 1 || n_rows < 1 || next_word(reader, &rest))
    complain(reader, "resize needs columns x rows, 1x1 to %dx%d, such as 80x24", CANVAS_COLS_MAX,
             CANVAS_ROWS_MAX);
  else
    add(reader, (Event){.kind = EVENT_RESIZE, .rows = n_rows, .cols = n_cols});
}

static void read_mouse(Reader *reader, const char *rest) {
  static const char *const names[] = {"press",    "release",    "drag",
                                      "wheel-up", "wheel-down", "click"};
  enum { CLICK = 5 };
  const char *name = next_word(reader, &rest);
  int row = read_number(next_word(reader, &rest), CANVAS_ROWS_MAX - 1);
  int col = read_number(next_word(reader, &rest), CANVAS_COLS_MAX - 1);
  const char *button_word = next_word(reader, &rest);
  int button = button_word ? read_number(button_word, 3) : 1, kind = 0;
  while (name && kind <= CLICK && !str_equal(name, names[kind])) kind++;
  if (!name || kind > CLICK || row < 0 || col < 0 || button < 1 || next_word(reader, &rest)) {
    complain(reader,
             "mouse needs press, release, click, drag, wheel-up or wheel-down, a row, a column "
             "and at most a button 1-3, such as: mouse click 5 10");
    return;
  }
  Event event = {.kind = EVENT_MOUSE, .button = button, .row = row, .col = col};
  event.mouse = kind == CLICK ? MOUSE_PRESS : (MouseKind)kind;
  add(reader, event);
  event.mouse = MOUSE_RELEASE;
  if (kind == CLICK) add(reader, event);
}

static void read_wait(Reader *reader, const char *rest) {
  enum { HOUR_MS = 3600 * 1000 };
  char *what = next_word(reader, &rest), *end;
  if (!what || next_word(reader, &rest)) {
    complain(reader, "wait needs one word: worker, or a time such as 200ms or 1.5s");
  } else if (!isdigit((unsigned char)*what)) {
    add(reader, (Event){.kind = EVENT_WAIT, .text = what});
  } else {
    double time = strtod(what, &end);
    double ms = str_equal(end, "ms") ? time : str_equal(end, "s") ? time * 1000 : NAN;
    if (ms > 0 && ms <= HOUR_MS)
      add(reader, (Event){.kind = EVENT_WAIT, .wait_ms = (int)ceil(ms), .text = what});
    else
      complain(reader, "wait %s: expected a time from 1ms to 3600s",
               str_sanitise(reader->arena, what));
  }
}

typedef struct Verb {
  const char *name;
  void (*read)(Reader *reader, const char *rest);
} Verb;

static const Verb verbs[] = {
    {"keys", read_keys},   {"type", read_type}, {"paste", read_paste},   {"resize", read_resize},
    {"mouse", read_mouse}, {"wait", read_wait}, {"expect", read_expect}, {"absent", read_absent},
};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

static void unknown_verb(Reader *reader, const char *word) {
  const char *names[VERBS];
  for (int i = 0; i < VERBS; i++) names[i] = verbs[i].name;
  Diag *diag = complain(reader, "\"%s\" is not a step", str_sanitise(reader->arena, word));
  diag->nearest = nearest_name(word, names, VERBS);
}

static void read_line(Reader *reader, const char *line) {
  line += strspn(line, " \t");
  if (!*line || *line == '#') return;
  if (*line == ':') {
    add_text(reader, EVENT_COMMAND, line + 1, ":", false);
    return;
  }
  const char *rest = line, *word = next_word(reader, &rest);
  for (int i = 0; i < VERBS; i++)
    if (str_equal(word, verbs[i].name)) {
      verbs[i].read(reader, *rest ? rest + 1 : rest);
      return;
    }
  unknown_verb(reader, word);
}

Script *script_read(Arena *arena, const char *text, const char *name, Diags *diags) {
  Reader reader = {arena, ARENA_NEW(arena, Script), str_sanitise(arena, name), 0, diags};
  int before = diags->count;
  while (*text) {
    size_t n = strcspn(text, "\n"), end = n;
    while (end > 0 && strchr(" \t\r", text[end - 1])) end--;
    reader.line++;
    read_line(&reader, arena_strndup(arena, text, end));
    text += n + (text[n] == '\n');
  }
  return diags->count == before ? reader.script : NULL;
}

bool script_next(Script *script, Event *event) {
  if (script->next == script->count) return false;
  *event = script->events[script->next++];
  return true;
}

int script_count(const Script *script) { return script->count; }
