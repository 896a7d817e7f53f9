// Editing by byte offsets that always lie between characters.
//
// Worked example: "tile·8" with the cursor behind the dot is offset 6 of 7 (the dot takes two
// bytes). Backspace asks utf8_previous for the offset before, 4, and removes bytes 4 and 5.
//
// A command is a row: key, function. Each function returns what happened; the one that deletes
// keeps what it took for Ctrl-Y.
#include "tui/canvas/textfield.h"

#include <string.h>

#include "base/str.h"
#include "tui/canvas/utf8.h"

static int length_of(const TextField *field) { return (int)strlen(field->text); }

void textfield_set(TextField *field, const char *text) {
  field->text[0] = 0;
  field->cursor = 0;
  field->leaf = 0;
  textfield_insert(field, text);
}

// ---- history ------------------------------------------------------------------------------------

static const char *history_line(const TextHistory *history, int back) {
  int at = (history->next - back + 2 * TEXTFIELD_HISTORY) % TEXTFIELD_HISTORY;
  return history->lines[at];
}

void text_history_add(TextHistory *history, const char *line) {
  if (!*line || strlen(line) >= TEXTFIELD_BYTES) return;
  if (history->count && str_equal(history_line(history, 1), line)) return;
  strcpy(history->lines[history->next], line);
  history->next = (history->next + 1) % TEXTFIELD_HISTORY;
  if (history->count < TEXTFIELD_HISTORY) history->count++;
}

static TextFieldResult leaf_to(TextField *field, int leaf) {
  if (!field->history) return TEXTFIELD_IGNORED;
  if (leaf < 0 || leaf > field->history->count) return TEXTFIELD_MOVED;
  if (field->leaf == 0) strcpy(field->draft, field->text);
  strcpy(field->text, leaf ? history_line(field->history, leaf) : field->draft);
  field->leaf = leaf;
  field->cursor = length_of(field);
  return TEXTFIELD_CHANGED;
}

static TextFieldResult history_up(TextField *field) { return leaf_to(field, field->leaf + 1); }
static TextFieldResult history_down(TextField *field) { return leaf_to(field, field->leaf - 1); }

// ---- inserting and deleting ---------------------------------------------------------------------

// The bytes a character becomes in the field: itself, a blank for line breaks and tabs, or nothing.
static int kept_bytes(uint32_t code, char bytes[4]) {
  if (code == '\n' || code == '\t' || code == '\r') return bytes[0] = ' ', 1;
  if (utf8_width(code) < 0 || code == UTF8_REPLACEMENT) return 0;
  return utf8_encode(code, bytes);
}

bool textfield_insert(TextField *field, const char *text) {
  char clean[TEXTFIELD_BYTES], bytes[4];
  int n = 0, length = length_of(field);
  uint32_t code;
  for (int used; (used = utf8_decode(text, &code)) > 0; text += used) {
    int kept = kept_bytes(code, bytes);
    if (length + n + kept >= TEXTFIELD_BYTES) return false;
    memcpy(clean + n, bytes, (size_t)kept);
    n += kept;
  }
  char *at = field->text + field->cursor;
  memmove(at + n, at, (size_t)(length - field->cursor) + 1);
  memcpy(at, clean, (size_t)n);
  field->cursor += n;
  return n > 0;
}

static TextFieldResult delete_between(TextField *field, int from, int to, bool keep) {
  if (from == to) return TEXTFIELD_MOVED;
  if (keep) {
    memcpy(field->yanked, field->text + from, (size_t)(to - from));
    field->yanked[to - from] = 0;
  }
  memmove(field->text + from, field->text + to, (size_t)(length_of(field) - to) + 1);
  field->cursor = from;
  return TEXTFIELD_CHANGED;
}

// ---- where things are ---------------------------------------------------------------------------

static int before(const TextField *field) {
  return (int)utf8_previous(field->text, (size_t)field->cursor);
}
static int after(const TextField *field) {
  if (!field->text[field->cursor]) return field->cursor;
  return (int)utf8_next(field->text, (size_t)field->cursor);
}

static bool in_word(char c) { return !strchr(" ,=()", c); }

static int word_before(const TextField *field) {
  int at = field->cursor;
  while (at > 0 && !in_word(field->text[at - 1])) at--;
  while (at > 0 && in_word(field->text[at - 1])) at--;
  return at;
}

static int word_after(const TextField *field) {
  int at = field->cursor;
  while (field->text[at] && !in_word(field->text[at])) at++;
  while (field->text[at] && in_word(field->text[at])) at++;
  return at;
}

// ---- keys ---------------------------------------------------------------------------------------

static TextFieldResult move(TextField *field, int to) {
  field->cursor = to;
  return TEXTFIELD_MOVED;
}

static TextFieldResult left(TextField *field) { return move(field, before(field)); }
static TextFieldResult right(TextField *field) { return move(field, after(field)); }
static TextFieldResult home(TextField *field) { return move(field, 0); }
static TextFieldResult end(TextField *field) { return move(field, length_of(field)); }
static TextFieldResult left_word(TextField *field) { return move(field, word_before(field)); }
static TextFieldResult right_word(TextField *field) { return move(field, word_after(field)); }

static TextFieldResult backspace(TextField *field) {
  if (!field->text[0]) return TEXTFIELD_CANCELLED;
  return delete_between(field, before(field), field->cursor, false);
}
static TextFieldResult delete (TextField *field) {
  return delete_between(field, field->cursor, after(field), false);
}
static TextFieldResult delete_word(TextField *field) {
  return delete_between(field, word_before(field), field->cursor, true);
}
static TextFieldResult delete_before(TextField *field) {
  return delete_between(field, 0, field->cursor, true);
}
static TextFieldResult delete_after(TextField *field) {
  return delete_between(field, field->cursor, length_of(field), true);
}
static TextFieldResult yank(TextField *field) {
  return textfield_insert(field, field->yanked) ? TEXTFIELD_CHANGED : TEXTFIELD_MOVED;
}
static TextFieldResult accept(TextField *field) {
  if (field->history) text_history_add(field->history, field->text);
  field->leaf = 0;
  return TEXTFIELD_ACCEPTED;
}
static TextFieldResult cancel(TextField *field) {
  field->leaf = 0;
  return TEXTFIELD_CANCELLED;
}
static TextFieldResult complete(TextField *field) {
  (void)field;
  return TEXTFIELD_COMPLETE;
}

static const struct {
  Key key;
  TextFieldResult (*run)(TextField *field);
} commands[] = {
    {KEY_CODE_LEFT, left},
    {KEY_CTRL | 'b', left},
    {KEY_CODE_RIGHT, right},
    {KEY_CTRL | 'f', right},
    {KEY_CODE_HOME, home},
    {KEY_CTRL | 'a', home},
    {KEY_CODE_END, end},
    {KEY_CTRL | 'e', end},
    {KEY_CTRL | KEY_CODE_LEFT, left_word},
    {KEY_ALT | 'b', left_word},
    {KEY_CTRL | KEY_CODE_RIGHT, right_word},
    {KEY_ALT | 'f', right_word},
    {KEY_CODE_BACKSPACE, backspace},
    {KEY_CODE_DELETE, delete},
    {KEY_CTRL | 'd', delete},
    {KEY_CTRL | 'w', delete_word},
    {KEY_ALT | KEY_CODE_BACKSPACE, delete_word},
    {KEY_CTRL | 'u', delete_before},
    {KEY_CTRL | 'k', delete_after},
    {KEY_CTRL | 'y', yank},
    {KEY_CODE_UP, history_up},
    {KEY_CTRL | 'p', history_up},
    {KEY_CODE_DOWN, history_down},
    {KEY_CTRL | 'n', history_down},
    {KEY_CODE_ENTER, accept},
    {KEY_CODE_ESCAPE, cancel},
    {KEY_CODE_TAB, complete},
};

TextFieldResult textfield_key(TextField *field, Key key) {
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
    if (commands[i].key == key) return commands[i].run(field);
  if (!key_is_printable(key)) return TEXTFIELD_IGNORED;
  char text[5] = {0};
  text[utf8_encode(key, text)] = 0;
  return textfield_insert(field, text) ? TEXTFIELD_CHANGED : TEXTFIELD_MOVED;
}

void textfield_draw(const TextField *field, Canvas *canvas, Rect in, Style style,
                    const char *prompt) {
  in.rows = in.rows > 1 ? 1 : in.rows;
  canvas_fill(canvas, in, style);
  Rect prompt_area = rect_take_left(&in, utf8_columns(prompt));
  canvas_text(canvas, prompt_area, 0, 0, style, prompt);
  char head[TEXTFIELD_BYTES];
  memcpy(head, field->text, (size_t)field->cursor);
  head[field->cursor] = 0;
  // The last cell is the cursor's; an ellipsis there would hide what it stands on.
  bool goes_on =
      field->text[field->cursor] && field->text[utf8_next(field->text, (size_t)field->cursor)];
  int at = utf8_columns(head), scroll = at - in.cols + 1 + goes_on;
  if (scroll < 0) scroll = 0;
  canvas_text(canvas, in, 0, -scroll, style, field->text);
  canvas_set_cursor(canvas, in, 0, at - scroll);
}
