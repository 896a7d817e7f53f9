// The events that reach the program: the terminal and scripts speak in these.
#pragma once
#include <stdbool.h>

#include "tui/canvas/key.h"

typedef enum EventKind {
  EVENT_NONE,  // the time is up
  EVENT_KEY,
  EVENT_MOUSE,
  EVENT_PASTE,    // text pasted in one piece: it is text wherever text can go, never keys
  EVENT_RESIZE,   // the screen has another size, or must be drawn anew
  EVENT_WAKE,     // the extra descriptor can be read
  EVENT_END,      // the terminal is gone, or a signal asks to end
  EVENT_COMMAND,  // scripts: a line for the command interpreter, without its ':'
  EVENT_WAIT,     // scripts: let something finish before the next event
  EVENT_EXPECT,   // scripts: the screen must show a text
} EventKind;

typedef enum MouseKind {
  MOUSE_PRESS,
  MOUSE_RELEASE,
  MOUSE_DRAG,
  MOUSE_WHEEL_UP,
  MOUSE_WHEEL_DOWN,
} MouseKind;

typedef struct Event {
  EventKind kind;
  Key key;
  MouseKind mouse;
  int button;        // 1 left, 2 middle, 3 right
  int row, col;      // of the mouse, from 0
  int rows, cols;    // EVENT_RESIZE
  int signal;        // EVENT_END: its number, SIGHUP when the terminal is gone
  int wait_ms;       // EVENT_WAIT: 0 waits for what `text` names ("worker")
  int line;          // scripts: where the event is written
  bool absent;       // EVENT_EXPECT: the text must not be there
  const char *text;  // paste, command, wait, expect
} Event;
