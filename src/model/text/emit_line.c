// Lines: where a long one is broken, and where the remarks behind them stand.
//
// A statement of more than 100 columns goes on below, indented by four; it is broken after a comma,
// before a ?, after an &&, = + or ^, and of those where the fewest parentheses are open. Worked
// example, the two candidates of one line and what they cost:
//   store4(&C[(m_b * 128 + m_t) * N + n_t * 4], &acc[m_t][0]);
//                                   ^ a sum inside one parenthesis and one bracket: 2 + 1 + 4
//                                             ^ a comma inside one parenthesis: 1
// A remark that would make its line too long stands above it instead.
#include <stdarg.h>
#include <string.h>

#include "model/text/emitter.h"

enum { LINE_COLUMNS = 100, WRAP_INDENT = 4 };

void emitter_row(Emitter *emitter, const char *text) {
  EmitRows *rows = &emitter->rows;
  if (rows->n == rows->capacity) {
    rows->capacity = rows->capacity ? rows->capacity * 2 : 128;
    EmitRow *larger = ARENA_ARRAY(emitter->arena, EmitRow, rows->capacity);
    if (rows->n) memcpy(larger, rows->row, sizeof *larger * (size_t)rows->n);
    rows->row = larger;
  }
  rows->row[rows->n++] = (EmitRow){text, emitter->stmt, emitter->knob, emitter->kernel};
}

// How good a place is for a line break after text[at]: depth of the parentheses around it, with
// breaks inside brackets worse than any other; -1 where there may be none.
static int break_cost(const char *text, size_t at, int parens, int brackets) {
  bool comma = text[at] == ',' && text[at + 1] == ' ';
  bool question = text[at] == ' ' && (text[at + 1] == '?' || text[at + 1] == ':');
  bool conjunction = text[at] == '&' && at > 0 && text[at - 1] == '&' && text[at + 1] == ' ';
  bool assignment = text[at] == '=' && text[at + 1] == ' ' && at > 0 &&
                    (text[at - 1] == ' ' || text[at - 1] == '+');
  bool sum =
      (text[at] == '+' || text[at] == '^') && text[at + 1] == ' ' && at > 0 && text[at - 1] == ' ';
  if (comma || question || assignment) return parens + 4 * brackets;
  if (conjunction) return 1 + parens + 4 * brackets;
  return sum ? 2 + parens + 4 * brackets : -1;
}

// The number of characters of `text` that stay on a line of `columns`; the rest goes on below.
static size_t break_point(const char *text, size_t columns) {
  size_t best = 0;
  int best_cost = INT32_MAX, parens = 0, brackets = 0;
  for (size_t i = 0; text[i] && i + 1 < columns; i++) {
    parens += (text[i] == '(') - (text[i] == ')');
    brackets += (text[i] == '[') - (text[i] == ']');
    int cost = break_cost(text, i, parens, brackets);
    if (cost < 0 || cost > best_cost) continue;
    best = i + 1;
    best_cost = cost;
  }
  return best;
}

// A remark inside a kernel goes on in a second one; the heading's state line stays whole, to be
// copied.
static void add_comment(Emitter *emitter, int indent, const char *text) {
  size_t room = (size_t)(LINE_COLUMNS - indent);
  while (emitter->kernel >= 0 && strlen(text) > room) {
    size_t keep = room;
    while (keep > 3 && text[keep] != ' ') keep--;
    if (keep <= 3) break;
    emitter_row(emitter, arena_printf(emitter->arena, "%*s%.*s", indent, "", (int)keep, text));
    text = arena_printf(emitter->arena, "// %s", text + keep + 1);
  }
  emitter_row(emitter, arena_printf(emitter->arena, "%*s%s", indent, "", text));
}

static void add_wrapped(Emitter *emitter, int indent, const char *text) {
  bool continued = false;
  if (strncmp(text, "//", 2) == 0) {
    add_comment(emitter, indent, text);
    return;
  }
  for (;;) {
    while (continued && *text == ' ') text++;
    int own = indent + (continued ? WRAP_INDENT : 0);
    size_t room = LINE_COLUMNS > own ? (size_t)(LINE_COLUMNS - own) : 1, n = strlen(text);
    size_t keep = n > room ? break_point(text, room) : n;
    if (keep == 0) keep = n;
    size_t end = keep;
    while (end > 0 && text[end - 1] == ' ') end--;
    emitter_row(emitter, arena_printf(emitter->arena, "%*s%.*s", own, "", (int)end, text));
    if (keep == n) return;
    text += keep;
    continued = true;
  }
}

void emitter_line(Emitter *emitter, const char *format, ...) {
  Str text = str_new(emitter->arena);
  va_list args;
  va_start(args, format);
  str_vprintf(&text, format, args);
  va_end(args);
  int indent = emitter->depth * 2;
  const char *remark = strstr(text.text, "  // ");
  if (remark && indent + (int)text.length > LINE_COLUMNS) {  // above the line instead of behind it
    add_wrapped(emitter, indent, remark + 2);
    add_wrapped(emitter, indent,
                arena_strndup(emitter->arena, text.text, (size_t)(remark - text.text)));
  } else {
    add_wrapped(emitter, indent, text.text);
  }
}

void emitter_blank(Emitter *emitter) { emitter_row(emitter, ""); }

// The remark behind a line; NULL when there is none, or nothing before it.
static const char *remark_behind(const char *text) {
  const char *remark = strstr(text, "  // ");
  return remark && strspn(text, " ") < (size_t)(remark - text) ? remark : NULL;
}

// Puts the remarks behind the rows from `first` on below each other.
void emitter_align_remarks(Emitter *emitter, int first) {
  size_t column = 0;
  for (int i = first; i < emitter->rows.n; i++) {
    const char *remark = remark_behind(emitter->rows.row[i].text);
    size_t at = remark ? (size_t)(remark - emitter->rows.row[i].text) : 0;
    if (at > column) column = at;
  }
  for (int i = first; i < emitter->rows.n; i++) {
    EmitRow *row = &emitter->rows.row[i];
    const char *remark = remark_behind(row->text);
    if (!remark || column > LINE_COLUMNS / 2 || column + strlen(remark) > LINE_COLUMNS) continue;
    row->text = arena_printf(emitter->arena, "%-*.*s%s", (int)column, (int)(remark - row->text),
                             row->text, remark);
  }
}
