// Bytes as keys pressed one after the other at a session without a terminal: nothing but a screen
// comes of it. Files are never written: what would save one is left out.
#include <stdint.h>
#include <stdlib.h>

#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Key key_of(uint8_t byte) {
  if (byte < 0x80) return key_from_character(byte);
  return (Key)(KEY_FIRST + 1 + byte % (KEY_LIMIT - KEY_FIRST - 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { KEYS_MAX = 200 };
  Arena *arena = arena_new("fuzz");
  Diags diags = diags_new(arena);
  Session *session = explorer_open(&(SessionOptions){.ascii = size % 2}, &diags);
  if (!session) abort();
  Canvas *canvas = canvas_new(arena, 24, 80, size % 2);
  drive_frame(session, canvas);
  for (size_t i = 0; i < size && i < KEYS_MAX; i++) {
    view_key(session, key_of(data[i]));
    session->wishes = (Wishes){0};
    if (i % 4 == 3) drive_frame(session, canvas);
    view_prepare(session, canvas->rows, canvas->cols);
  }
  explorer_close(session);
  arena_free(arena);
  return 0;
}
