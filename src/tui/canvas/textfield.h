// One line of text being typed: the command line, searches, the XOR editor.
//
// Keys as in a shell: arrows, Home/Ctrl-A, End/Ctrl-E, Ctrl-Left/Alt-b and Ctrl-Right/Alt-f by
// words, Backspace, Del, Ctrl-W and Ctrl-U (delete a word, everything before), Ctrl-K (everything
// after), Ctrl-Y (what was deleted last). Up and Down leaf through the history when there is one.
// Every printable key is text. The memory is the struct itself.
#pragma once
#include <stdbool.h>

#include "tui/canvas/canvas.h"
#include "tui/canvas/key.h"

enum { TEXTFIELD_BYTES = 1024, TEXTFIELD_HISTORY = 32 };

typedef struct TextHistory {
  char lines[TEXTFIELD_HISTORY][TEXTFIELD_BYTES];  // a ring; the newest at (next - 1)
  int next, count;
} TextHistory;

typedef struct TextField {
  char text[TEXTFIELD_BYTES], yanked[TEXTFIELD_BYTES], draft[TEXTFIELD_BYTES];
  int cursor;            // a byte offset, always at the start of a character
  TextHistory *history;  // NULL: none
  int leaf;              // the lines that the history is leafed back; 0: the draft
} TextField;

typedef enum TextFieldResult {
  TEXTFIELD_IGNORED,  // the key is not one of the editor's
  TEXTFIELD_MOVED,
  TEXTFIELD_CHANGED,
  TEXTFIELD_ACCEPTED,   // Enter; the line joins the history
  TEXTFIELD_CANCELLED,  // Esc, or Backspace in an empty field
  TEXTFIELD_COMPLETE,   // Tab: the caller completes
} TextFieldResult;

void textfield_set(TextField *field, const char *text);  // cursor at the end
TextFieldResult textfield_key(TextField *field, Key key);
// Inserts text at the cursor; line breaks and tabs become blanks, other controls are left out. What
// does not fit is left out whole. Returns whether anything was inserted.
bool textfield_insert(TextField *field, const char *text);
// Draws the field over row 0 of `in` after `prompt`, scrolled so that the cursor shows.
void textfield_draw(const TextField *field, Canvas *canvas, Rect in, Style style,
                    const char *prompt);
void text_history_add(TextHistory *history, const char *line);
