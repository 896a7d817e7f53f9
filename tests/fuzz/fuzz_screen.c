// Any bytes as a text on the screen, a script, a theme, a key's name and keys typed into a field:
// no crash, no byte that a terminal acts on in any export, every screen a sound one.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "tui/canvas/export.h"
#include "tui/canvas/textfield.h"
#include "tui/canvas/utf8.h"
#include "tui/frame/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_harmless(const char *text) {
  uint32_t code;
  for (int n; (n = utf8_decode(text, &code)) > 0; text += n)
    assert(code == '\n' || code == '\t' || utf8_width(code) >= 0);
}

static void fuzz_text(Arena *arena, const char *text, bool ascii) {
  Diags diags = diags_new(arena);
  Canvas *canvas = canvas_new(arena, 7, 23, ascii);
  Rect in = {1, 2, 5, 17};
  canvas_frame(canvas, in, STYLE_BORDER, STYLE_TITLE, text);
  canvas_wrap(canvas, rect_inset(in, 1, 1), STYLE_OK, text);
  canvas_fit(canvas, in, 4, 3, 9, ALIGN_CENTRE, STYLE_OK, text);
  check_harmless(export_text(arena, canvas));
  check_harmless(export_svg(arena, canvas, theme_find(arena, "mono", &diags), DEPTH_MONO, text));
  for (int row = 0; row < 7; row++)
    assert(utf8_columns(export_row(arena, canvas, row)) <= canvas->cols);
}

static void fuzz_script(Arena *arena, const char *text) {
  Diags diags = diags_new(arena);
  Event event;
  Script *script = script_read(arena, text, "fuzz", &diags);
  assert((script == NULL) == (diags.count > 0));
  while (script && script_next(script, &event)) assert(event.line > 0);
  check_harmless(diags_text(arena, &diags));
}

static void fuzz_theme(Arena *arena, const char *text, size_t n) {
  Diags diags = diags_new(arena);
  const Theme *theme = theme_read(arena, text, n, "fuzz", &diags);
  assert((theme == NULL) == (diags.count > 0));
  for (int role = 0; theme && role < STYLE_COUNT; role++)
    assert(theme_look(theme, (Style)role, DEPTH_16).fg.index < 16);
}

static void fuzz_key(const char *text) {
  char name[KEY_PRINT_MAX];
  Key key = key_parse(text, NULL);
  if (key) assert(key_parse(key_print(key, name), NULL) == key);
}

static void fuzz_field(const char *text) {
  static TextHistory history;
  TextField field = {.history = &history};
  uint32_t code;
  for (int n; (n = utf8_decode(text, &code)) > 0; text += n) {
    Key key = code < 0x3000 ? key_from_character(code) : KEY_FIRST + code % 40;
    textfield_key(&field, key | (code % 7 == 0 ? (Key)KEY_CTRL : 0));
    assert(field.cursor >= 0 && field.cursor <= (int)strlen(field.text));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  Arena *arena = arena_new("fuzz");
  const char *text = arena_strndup(arena, (const char *)data + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      fuzz_script(arena, text);
      break;
    case 1:
      fuzz_theme(arena, text, size - 1);
      break;
    case 2:
      fuzz_key(text);
      break;
    case 3:
      fuzz_field(text);
      break;
    default:
      fuzz_text(arena, text, data[0] & 1);
  }
  arena_free(arena);
  return 0;
}
