// One small screen in all formats, compared with reviewed files, and their promises one by one.
#include <check.h>
#include <string.h>

#include "canvas_random.h"
#include "golden.h"
#include "tui/canvas/export.h"

static Arena *arena;
static Diags diags;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
}
static void teardown(void) { arena_free(arena); }

// A corner of the explorer: a frame, tiers, a punch card, bars, an overlay, awkward text.
static Canvas *sample(bool ascii) {
  Canvas *canvas = canvas_new(arena, 9, 48, ascii);
  Rect all = canvas_rect(canvas), card = {2, 27, 3, 20};
  canvas_frame(canvas, all, STYLE_BORDER, STYLE_TITLE, "LOOPS & <BANKS>");
  canvas_vline(canvas, all, 0, 25, 9, STYLE_BORDER);
  canvas_text(canvas, all, 1, 2, STYLE_TIER_BLOCK, "BLOCK  1024 tiles");
  canvas_text(canvas, all, 2, 2, STYLE_TIER_THREAD, "THREAD 16 × 16");
  canvas_text(canvas, all, 3, 2, STYLE_SITE, "a ← A_s");
  canvas_text(canvas, all, 3, 12, STYLE_BAD, "x2");
  canvas_over(canvas, (Rect){2, 1, 1, 24}, STYLE_CURSOR);
  canvas_text(canvas, all, 1, 27, STYLE_WARN, "2-WAY");
  for (int i = 0; i < 20; i++)
    for (int row = 0; row < 3; row++)
      canvas_printf(canvas, card, row, i, style_address(i / 4 + 8 * row), "%x", i / 4 + 4 * row);
  canvas_bar(canvas, all, 5, 27, 16, 0.86, STYLE_BAR_BEST);
  canvas_spark(canvas, all, 6, 27, (double[]){1, 2, 3, 4, 5, 6, 7, 8}, 8, 8, STYLE_BAR);
  canvas_text(canvas, all, 5, 2, STYLE_CLAIM, "claimed 44.1 TFLOP/s");
  canvas_text(canvas, all, 6, 2, STYLE_MEASURED, "漢 e\u0301 \"quoted\" ✓");
  canvas_text(canvas, all, 7, 2, STYLE_FIELD, "BM=64 ");
  return canvas;
}

static const Theme *theme(const char *name) { return theme_find(arena, name, &diags); }

START_TEST(text_and_ansi_are_as_reviewed) {
  golden_check("export/sample.txt", export_text(arena, sample(false)));
  golden_check("export/sample_ascii.txt", export_text(arena, sample(true)));
  golden_check("export/sample_16.ansi",
               export_ansi(arena, sample(false), theme("default"), DEPTH_16));
  golden_check("export/sample_mono.ansi",
               export_ansi(arena, sample(false), theme("default"), DEPTH_MONO));
  golden_check("export/sample_true.ansi",
               export_ansi(arena, sample(true), theme("colour-blind"), DEPTH_TRUE));
}
END_TEST

START_TEST(svg_is_as_reviewed) {
  golden_check("export/sample.svg",
               export_svg(arena, sample(false), theme("default"), DEPTH_TRUE, "a <sample>"));
  golden_check("export/sample_mono.svg",
               export_svg(arena, sample(false), theme("default"), DEPTH_MONO, NULL));
  golden_check("export/sample_light.svg",
               export_svg(arena, sample(false), theme("light"), DEPTH_TRUE, NULL));
}
END_TEST

static const char *json_of(const Canvas *canvas) {
  Str out = str_new(arena);
  JsonWriter writer = json_writer(&out);
  form_write(&writer, arena, &screen_form, canvas, NULL);
  return out.text;
}

START_TEST(json_holds_rows_and_spans) {
  Canvas *canvas = canvas_new(arena, 2, 9, false);
  canvas_text(canvas, canvas_rect(canvas), 0, 0, STYLE_KNOB, "BM");
  canvas_text(canvas, canvas_rect(canvas), 0, 4, STYLE_TEXT, "\"64\"");
  canvas_over(canvas, (Rect){0, 1, 1, 1}, STYLE_CURSOR);
  ck_assert_str_eq(json_of(canvas),
                   "{\"rows\":2,\"cols\":9,\"lines\":[\"BM  \\\"64\\\"\",\"\"],\"styles\":[[0,0,1,"
                   "\"knob\"],[0,1,1,\"knob\",\"cursor\"]]}");
}
END_TEST

START_TEST(json_of_any_canvas_is_json) {
  for (int seed = 0; seed < 40; seed++) {
    Canvas *canvas = canvas_new(arena, 20, 60, seed % 2);
    canvas_scribble(canvas, (uint64_t)seed, 40);
    const char *text = json_of(canvas);
    const JsonValue *root = json_parse(arena, text, strlen(text), &diags, "screen");
    ck_assert_msg(root != NULL, "%s", diags_text(arena, &diags));
    const JsonValue *lines = json_object_get(root, "lines");
    ck_assert_int_eq(json_count(lines), 20);
    for (int row = 0; row < 20; row++) {
      const char *line;
      ck_assert(json_read_string(json_at(lines, row), &line, &diags));
      ck_assert_str_eq(line, export_row(arena, canvas, row));
    }
  }
}
END_TEST

// Tags are balanced and no text can open one; a reader of XML could take it.
// Upper and lower half of a cell, its left and right one, and every other shape.
START_TEST(shapes_lie_where_they_lie_in_a_cell) {
  Canvas *canvas = canvas_new(arena, 2, GLYPH_COUNT, false);
  for (int i = 0; i < GLYPH_COUNT; i++)
    canvas_glyph(canvas, canvas_rect(canvas), 1, i, STYLE_TEXT, (Glyph)i);
  golden_check("export/shapes.svg", export_svg(arena, canvas, theme("default"), DEPTH_TRUE, NULL));
}
END_TEST

START_TEST(svg_of_any_canvas_is_well_formed) {
  for (int seed = 0; seed < 40; seed++) {
    Canvas *canvas = canvas_new(arena, 20, 60, false);
    canvas_scribble(canvas, (uint64_t)seed, 40);
    const char *svg = export_svg(arena, canvas, theme("default"), DEPTH_TRUE, "\"<&>");
    int depth = 0;
    for (const char *at = strchr(svg, '<'); at; at = strchr(at + 1, '<')) {
      const char *end = strchr(at, '>');
      ck_assert_ptr_nonnull(end);
      if (at[1] == '/')
        depth--;
      else if (end[-1] != '/')
        depth++;
      ck_assert_int_ge(depth, 0);
    }
    ck_assert_int_eq(depth, 0);
    for (const char *at = strchr(svg, '&'); at; at = strchr(at + 1, '&'))
      ck_assert(!strncmp(at, "&lt;", 4) || !strncmp(at, "&gt;", 4) || !strncmp(at, "&amp;", 5) ||
                !strncmp(at, "&quot;", 6));
    for (const char *at = svg; *at; at++)
      if (*at != '\n' && (unsigned char)*at < ' ') ck_abort_msg("byte %02x", (unsigned char)*at);
  }
}
END_TEST

START_TEST(rows_end_without_blanks) {
  Canvas *canvas = canvas_new(arena, 3, 20, false);
  canvas_text(canvas, canvas_rect(canvas), 1, 3, STYLE_TEXT, "x  ");
  ck_assert_str_eq(export_text(arena, canvas), "\n   x\n\n");
  ck_assert_str_eq(export_ansi(arena, canvas, theme("default"), DEPTH_256), "\n   x\n\n");
  ck_assert_str_eq(export_row(arena, canvas, 9), "");
}
END_TEST

START_TEST(no_escape_comes_from_a_text) {
  static const char *const attacks[] = {"\033]0;x\a",
                                        "\033[2J",
                                        "\x9b"
                                        "31m",
                                        "\xC2\x9B"
                                        "31m",
                                        "\a\b\r",
                                        "\033P1$r\033\\",
                                        "\x7f\x00"};
  Canvas *canvas = canvas_new(arena, 2, 40, false);
  for (size_t i = 0; i < sizeof attacks / sizeof attacks[0]; i++) {
    canvas_text(canvas, canvas_rect(canvas), 0, 0, STYLE_TEXT, attacks[i]);
    canvas_frame(canvas, (Rect){0, 20, 2, 20}, STYLE_TEXT, STYLE_TEXT, attacks[i]);
    const char *outs[] = {
        export_text(arena, canvas), export_ansi(arena, canvas, theme("mono"), DEPTH_MONO),
        export_svg(arena, canvas, theme("default"), DEPTH_TRUE, attacks[i]), json_of(canvas)};
    for (int o = 0; o < 4; o++)
      for (const char *at = outs[o]; *at; at++)
        if (((unsigned char)*at < ' ' && *at != '\n') || *at == 0x7f ||
            (at[0] == '\xC2' && at[1] == '\x9B'))
          ck_abort_msg("attack %zu, format %d: byte %02x", i, o, (unsigned char)*at);
  }
}
END_TEST

START_TEST(formats_have_names) {
  ExportFormat format;
  ck_assert(export_format("svg", &format, &diags) && format == EXPORT_SVG);
  ck_assert(!export_format("svgg", &format, &diags));
  ck_assert_str_eq(diags.first->nearest, "svg");
}
END_TEST

Suite *suite_export(void);
Suite *suite_export(void) {
  Suite *suite = suite_create("export");
  TCase *tcase = tcase_create("export");
  tcase_set_timeout(tcase, 60);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, text_and_ansi_are_as_reviewed);
  tcase_add_test(tcase, svg_is_as_reviewed);
  tcase_add_test(tcase, json_holds_rows_and_spans);
  tcase_add_test(tcase, json_of_any_canvas_is_json);
  tcase_add_test(tcase, shapes_lie_where_they_lie_in_a_cell);
  tcase_add_test(tcase, svg_of_any_canvas_is_well_formed);
  tcase_add_test(tcase, rows_end_without_blanks);
  tcase_add_test(tcase, no_escape_comes_from_a_text);
  tcase_add_test(tcase, formats_have_names);
  suite_add_tcase(suite, tcase);
  return suite;
}
