// Themes: reading, approximating, and that what must differ differs.
#include <check.h>
#include <math.h>
#include <string.h>

#include "tui/canvas/theme.h"

static Arena *arena;
static Diags diags;

static void setup(void) {
  arena = arena_new("test");
  diags = diags_new(arena);
}
static void teardown(void) { arena_free(arena); }

static const Theme *find(const char *name) {
  const Theme *theme = theme_find(arena, name, &diags);
  ck_assert_msg(theme != NULL, "%s", diags_text(arena, &diags));
  ck_assert_int_eq(diags.count, 0);
  return theme;
}

static const Theme *read(const char *text) {
  return theme_read(arena, text, strlen(text), "t.json", &diags);
}

START_TEST(all_promised_themes_are_there) {
  static const char *const promised[] = {"default", "mono", "light", "colour-blind"};
  const char *const *names;
  ck_assert_int_eq(theme_names(arena, &names), 4);
  for (int i = 0; i < 4; i++) ck_assert_str_eq(theme_name(find(promised[i])), promised[i]);
}
END_TEST

START_TEST(an_unknown_theme_names_the_nearest) {
  ck_assert_ptr_null(theme_find(arena, "ligth", &diags));
  ck_assert_str_eq(diags.first->nearest, "light");
  ck_assert_ptr_nonnull(strstr(diags.first->text, "default, mono, colour-blind, light"));
  ck_assert_ptr_null(theme_find(arena, "../gpus", &diags));
}
END_TEST

START_TEST(looks_are_read) {
  const Theme *theme = read(
      "{\"name\":\"t\",\"styles\":{\"text\":\"#102030 on 17\",\"ok\":\"bold underline green\","
      "\"bad\":\"red on default | reverse\"}}");
  ck_assert_ptr_nonnull(theme);
  Look text = theme_look(theme, STYLE_TEXT, DEPTH_TRUE),
       ok = theme_look(theme, STYLE_OK, DEPTH_TRUE);
  ck_assert(color_equal(text.fg, (Color){COLOR_RGB, 0, 0x10, 0x20, 0x30}));
  ck_assert(color_equal(text.bg, (Color){.kind = COLOR_INDEX, .index = 17}));
  ck_assert(color_equal(ok.bg, text.bg));
  ck_assert_int_eq(ok.attributes, LOOK_BOLD | LOOK_UNDERLINE);
  ck_assert_int_eq(theme_look(theme, STYLE_BAD, DEPTH_256).attributes, 0);
  ck_assert_int_eq(theme_look(theme, STYLE_BAD, DEPTH_16).attributes, LOOK_REVERSE);
  ck_assert_int_eq(theme_look(theme, STYLE_BAD, DEPTH_TRUE).bg.kind, COLOR_DEFAULT);
}
END_TEST

START_TEST(wrong_themes_are_told_with_their_place) {
  static const struct {
    const char *text, *says, *nearest;
  } wrong[] = {
      {"{\"styles\":{}}", "name", NULL},
      {"{\"name\":\"t\"}", "styles", NULL},
      {"{\"name\":\"t\",\"styles\":{},\"colour\":1}", "colour", NULL},
      {"{\"name\":\"t\",\"styles\":{\"tier_wrap\":\"red\"}}", "\"tier_wrap\" is not a style",
       "tier_warp"},
      {"{\"name\":\"t\",\"styles\":{\"ok\":\"gren\"}}", "\"gren\" in \"gren\"", NULL},
      {"{\"name\":\"t\",\"styles\":{\"ok\":\"red on\"}}", "is not part of a style", NULL},
      {"{\"name\":\"t\",\"styles\":{\"ok\":\"#12345\"}}", "#12345", NULL},
      {"{\"name\":\"t\",\"styles\":{\"ok\":\"256\"}}", "256", NULL},
      {"{\"name\":\"t\",\"styles\":{\"ok\":\"red | blue | green\"}}", "is not part of a style",
       NULL},
      {"{\"name\":\"t\",\"styles\":{\"ok\":\"on bold\"}}", "bold", NULL},
      {"{\"name\":\"t\",\"styles\":{\"ok\":3}}", "t.json:1", NULL},
      {"{\"name\":\"t\",\"styles\":{},\"palette\":[\"#000000\"]}", "1 colours, must be 16", NULL},
      {"{\"name\":\"t\",\"styles\":{},\"paper\":\"white\"}", "not a colour written #rrggbb", NULL},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    diags = diags_new(arena);
    ck_assert_ptr_null(read(wrong[i].text));
    ck_assert_int_ge(diags.count, 1);
    ck_assert_msg(strstr(diags.first->text, wrong[i].says) != NULL, "%s", diags.first->text);
    if (wrong[i].nearest) ck_assert_str_eq(diags.first->nearest, wrong[i].nearest);
  }
}
END_TEST

START_TEST(colors_are_approximated) {
  Color orange = {COLOR_RGB, 0, 0xff, 0x87, 0x00}, grey = {COLOR_RGB, 0, 0x80, 0x80, 0x80};
  ck_assert_int_eq(color_approximate(orange, DEPTH_256).index, 208);
  ck_assert_int_eq(color_approximate(grey, DEPTH_256).index, 244);
  ck_assert_int_eq(color_approximate(grey, DEPTH_16).index, 8);
  ck_assert_int_eq(color_approximate(orange, DEPTH_MONO).kind, COLOR_DEFAULT);
  ck_assert(color_equal(color_approximate(orange, DEPTH_TRUE), orange));
  for (int n = 0; n < 16; n++)
    ck_assert_int_eq(
        color_approximate((Color){.kind = COLOR_INDEX, .index = (uint8_t)n}, DEPTH_16).index, n);
  for (int n = 16; n < 256; n++)
    ck_assert(color_equal(color_from_index(color_approximate(color_from_index(n), DEPTH_256).index),
                          color_from_index(n)));
}
END_TEST

START_TEST(every_depth_knows_only_its_colors) {
  static const char *const names[] = {"default", "mono", "light", "colour-blind"};
  for (int t = 0; t < 4; t++) {
    const Theme *theme = find(names[t]);
    for (int role = 0; role < STYLE_COUNT; role++) {
      Look mono = theme_look(theme, (Style)role, DEPTH_MONO);
      Look sixteen = theme_look(theme, (Style)role, DEPTH_16);
      Look many = theme_look(theme, (Style)role, DEPTH_256);
      ck_assert(mono.fg.kind == COLOR_DEFAULT && mono.bg.kind == COLOR_DEFAULT);
      ck_assert(sixteen.fg.kind != COLOR_RGB && sixteen.fg.index < 16 && sixteen.bg.index < 16);
      ck_assert(many.fg.kind != COLOR_RGB && many.bg.kind != COLOR_RGB);
    }
  }
}
END_TEST

// Without colour the cursor, what is wrong and what changed must still stand out from plain text.
START_TEST(mono_still_tells_apart) {
  static const StyleRole apart[][2] = {
      {STYLE_TEXT, STYLE_BAD},
      {STYLE_OK, STYLE_BAD},
      {STYLE_OK, STYLE_WARN},
      {STYLE_WARN, STYLE_BAD},
      {STYLE_MEASURED, STYLE_CLAIM},
      {STYLE_MEASURED, STYLE_RECORDED},
      {STYLE_RECORDED, STYLE_SIMULATED},
      {STYLE_SIMULATED, STYLE_ESTIMATED},
      {STYLE_KNOB, STYLE_KNOB_OFF},
      {STYLE_DIFF_ADD, STYLE_DIFF_DELETE},
      {STYLE_TEXT, STYLE_TITLE},
  };
  const Theme *theme = find("mono");
  for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++)
    ck_assert_msg(!look_equal(theme_look(theme, (Style)apart[i][0], DEPTH_TRUE),
                              theme_look(theme, (Style)apart[i][1], DEPTH_TRUE)),
                  "%s looks like %s", style_name(apart[i][0]), style_name(apart[i][1]));
  for (int role = 0; role < STYLE_CURSOR; role++) {
    Look plain = theme_look(theme, (Style)role, DEPTH_MONO);
    Look under = theme_look(theme, style_over((Style)role, STYLE_CURSOR), DEPTH_MONO);
    ck_assert(under.attributes & LOOK_REVERSE);
    ck_assert(role == STYLE_BAD || !look_equal(plain, under));
  }
}
END_TEST

static double luminance(Color color) {
  double part[3] = {color.r / 255.0, color.g / 255.0, color.b / 255.0};
  for (int i = 0; i < 3; i++)
    part[i] = part[i] <= 0.04045 ? part[i] / 12.92 : pow((part[i] + 0.055) / 1.055, 2.4);
  return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
}

// Dim text is drawn at 62 % over its ground, as in the pictures (export_svg.c).
static Color seen(const Theme *theme, Look look) {
  Color fg = theme_color_rgb(theme, look.fg, false), bg = theme_color_rgb(theme, look.bg, true);
  const double share = look.attributes & LOOK_DIM ? 0.62 : 1;
  fg.r = (uint8_t)lround(share * fg.r + (1 - share) * bg.r);
  fg.g = (uint8_t)lround(share * fg.g + (1 - share) * bg.g);
  fg.b = (uint8_t)lround(share * fg.b + (1 - share) * bg.b);
  return fg;
}

// WCAG 2 contrast, 1 to 21.
static double contrast(const Theme *theme, Look look) {
  double a = luminance(seen(theme, look)), b = luminance(theme_color_rgb(theme, look.bg, true));
  return (fmax(a, b) + 0.05) / (fmin(a, b) + 0.05);
}

static const char *const coloured[] = {"default", "light", "colour-blind"};
enum { COLOURED = sizeof coloured / sizeof *coloured };

// WCAG AA: 4.5 for text on its ground. Lines, bars and what lies beside a picture's subject are no
// text: 3 for bars, 1.4 for the others.
START_TEST(text_can_be_read) {
  static const StyleRole faint[] = {STYLE_BORDER, STYLE_BAR_TRACK, STYLE_SHADOW};
  const Theme *theme = find(coloured[_i / 2]);
  const ColorDepth depth = _i % 2 ? DEPTH_TRUE : DEPTH_256;
  for (int role = 0; role < STYLE_COUNT; role++) {
    double need = role == STYLE_BAR ? 3 : 4.5;
    for (size_t i = 0; i < sizeof faint / sizeof *faint; i++)
      if (role == (int)faint[i]) need = 1.4;
    double has = contrast(theme, theme_look(theme, (Style)role, depth));
    ck_assert_msg(has >= need, "%s, depth %d: %s has contrast %.2f", coloured[_i / 2], depth,
                  style_name((StyleRole)role), has);
  }
}
END_TEST

// Lightness, red-green and blue-yellow of CIE L*a*b*, as an eye without M cones has it: linear RGB
// through the matrix of Vienot, Brettel and Mollon 1999.
static void deuteranope(const Theme *theme, Look look, double lab[3]) {
  const Color c = seen(theme, look);
  double in[3] = {c.r / 255.0, c.g / 255.0, c.b / 255.0}, f[3];
  for (int i = 0; i < 3; i++)
    in[i] = in[i] <= 0.04045 ? in[i] / 12.92 : pow((in[i] + 0.055) / 1.055, 2.4);
  const double rg = 0.29275 * in[0] + 0.70725 * in[1];
  const double b = fmax(0, -0.02234 * in[0] + 0.02234 * in[1] + in[2]);
  const double xyz[3] = {(0.4124 * rg + 0.3576 * rg + 0.1805 * b) / 0.9505,
                         0.2126 * rg + 0.7152 * rg + 0.0722 * b,
                         (0.0193 * rg + 0.1192 * rg + 0.9505 * b) / 1.089};
  for (int i = 0; i < 3; i++) f[i] = xyz[i] > 0.008856 ? cbrt(xyz[i]) : 7.787 * xyz[i] + 16.0 / 116;
  lab[0] = 116 * f[1] - 16;
  lab[1] = 500 * (f[0] - f[1]);
  lab[2] = 200 * (f[1] - f[2]);
}

static double distance(const Theme *theme, Look a, Look b) {
  double x[3], y[3], sum = 0;
  deuteranope(theme, a, x);
  deuteranope(theme, b, y);
  for (int i = 0; i < 3; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sqrt(sum);
}

static const StyleRole states[][2] = {
    {STYLE_OK, STYLE_WARN},           {STYLE_OK, STYLE_BAD},
    {STYLE_WARN, STYLE_BAD},          {STYLE_TEXT, STYLE_OK},
    {STYLE_MEASURED, STYLE_CLAIM},    {STYLE_RECORDED, STYLE_SIMULATED},
    {STYLE_RECORDED, STYLE_CLAIM},    {STYLE_DIFF_ADD, STYLE_DIFF_DELETE},
    {STYLE_SIDE_A, STYLE_SIDE_B},     {STYLE_KNOB, STYLE_KNOB_OFF},
    {STYLE_MEASURED, STYLE_ESTIMATED}};

// States tell apart without red and green: 12 of L*a*b*, 20 in the theme that is made for it (2.3
// is just noticeable). Colours of the default theme are the terminal's own: there bold will do,
// too, and in 16 colours and none it has to (or underline, italic, reverse); every state has a word
// or a mark besides.
static bool by_attribute(Look a, Look b) { return a.attributes != b.attributes; }

START_TEST(states_tell_apart_under_deuteranopia) {
  const Theme *theme = find(coloured[_i / 2]);
  const ColorDepth depth = _i % 2 ? DEPTH_TRUE : DEPTH_256;
  const double need = _i / 2 == 2 ? 20 : 12;
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
    const Look a = theme_look(theme, (Style)states[i][0], depth),
               b = theme_look(theme, (Style)states[i][1], depth);
    const double has = distance(theme, a, b);
    if (_i / 2 == 0 && by_attribute(a, b)) continue;
    ck_assert_msg(has >= need, "%s, depth %d: %s and %s are %.1f apart", coloured[_i / 2], depth,
                  style_name(states[i][0]), style_name(states[i][1]), has);
  }
}
END_TEST

// In 16 colours: another colour, or another attribute; the sign and the word in the cell are tested
// with the views (test_view.c, in monochrome).
START_TEST(states_differ_in_sixteen_colours) {
  const Theme *theme = find(coloured[_i]);
  for (size_t i = 0; i < sizeof states / sizeof *states; i++)
    ck_assert_msg(!look_equal(theme_look(theme, (Style)states[i][0], DEPTH_16),
                              theme_look(theme, (Style)states[i][1], DEPTH_16)),
                  "%s: %s looks like %s", coloured[_i], style_name(states[i][0]),
                  style_name(states[i][1]));
}
END_TEST

START_TEST(addresses_have_colors_of_their_own) {
  static const char *const names[] = {"default", "light", "colour-blind"};
  for (int t = 0; t < 3; t++) {
    const Theme *theme = find(names[t]);
    for (int a = 0; a < STYLE_ADDRESSES; a++) {
      for (int b = 0; b < a; b++)
        ck_assert_msg(!look_equal(theme_look(theme, style_address(a), DEPTH_256),
                                  theme_look(theme, style_address(b), DEPTH_256)),
                      "%s: addresses %d and %d look alike at 256 colours", names[t], a, b);
      Look here = theme_look(theme, style_address(a), DEPTH_16);
      Look next = theme_look(theme, style_address(a + 1), DEPTH_16);
      ck_assert_msg(!look_equal(here, next), "%s: %d and %d at 16", names[t], a, a + 1);
    }
  }
  ck_assert_uint_eq(style_address(33), STYLE_ADDRESS_1);
}
END_TEST

START_TEST(the_upper_style_wins_only_where_it_speaks) {
  const Theme *theme = find("default");
  Look warp = theme_look(theme, STYLE_TIER_WARP, DEPTH_16);
  Look under = theme_look(theme, style_over(STYLE_TIER_WARP, STYLE_CURSOR), DEPTH_16);
  Look changed = theme_look(theme, style_over(STYLE_TIER_WARP, STYLE_CHANGED), DEPTH_16);
  ck_assert(color_equal(under.fg, warp.fg));
  ck_assert(under.attributes & LOOK_REVERSE);
  ck_assert_int_eq(changed.fg.index, 3);
  ck_assert(look_equal(theme_look(theme, 0xFFFF, DEPTH_16), theme_look(theme, 0, DEPTH_16)));
}
END_TEST

// In a picture of banks what is read now has the coloured ground (in mono: reverse), all the rest
// none. Of sixteen colours one may be the paper's: bold and the number in the cell are left then.
START_TEST(what_is_read_now_is_the_brightest) {
  const char *const *names;
  int n = theme_names(arena, &names);
  for (int i = 0; i < n; i++)
    for (int depth = DEPTH_MONO; depth <= DEPTH_TRUE; depth++)
      for (int bank = 0; bank < STYLE_ADDRESSES; bank++) {
        const Theme *theme = find(names[i]);
        Look text = theme_look(theme, STYLE_TEXT, (ColorDepth)depth);
        Style style = style_address(bank);
        Look rest = theme_look(theme, style_over(style, STYLE_SHADOW), (ColorDepth)depth);
        Look now = theme_look(theme, style_over(style, STYLE_TOUCHED), (ColorDepth)depth);
        ck_assert(color_equal(rest.bg, text.bg) && !(rest.attributes & LOOK_REVERSE));
        ck_assert(!color_equal(now.bg, text.bg) || (now.attributes & LOOK_REVERSE) ||
                  depth == DEPTH_16);
        ck_assert(now.attributes & LOOK_BOLD);
      }
}
END_TEST

START_TEST(the_depth_follows_option_then_environment) {
  static const struct {
    ColorSettings settings;
    ColorDepth depth;
  } cases[] = {
      {{"never", NULL, "truecolor", "xterm-256color", 256}, DEPTH_MONO},
      {{"truecolor", "1", NULL, "vt100", -1}, DEPTH_TRUE},
      {{"16", NULL, NULL, "xterm-256color", 256}, DEPTH_16},
      {{NULL, "1", "truecolor", "xterm-256color", 256}, DEPTH_MONO},
      {{"auto", "", "truecolor", "xterm-256color", 256}, DEPTH_TRUE},
      {{"auto", NULL, "24bit", "xterm", 8}, DEPTH_TRUE},
      {{"auto", NULL, NULL, "xterm-256color", -1}, DEPTH_256},
      {{"auto", NULL, NULL, "xterm-direct", 16777216}, DEPTH_TRUE},
      {{"auto", NULL, NULL, "linux", 8}, DEPTH_16},
      {{"auto", NULL, NULL, "vt100", 0}, DEPTH_MONO},
      {{"auto", NULL, NULL, "dumb", -1}, DEPTH_MONO},
      {{"auto", NULL, NULL, NULL, -1}, DEPTH_MONO},
  };
  ColorDepth depth;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ck_assert(color_depth(&cases[i].settings, &depth, &diags));
    ck_assert_msg(depth == cases[i].depth, "case %zu gives %d", i, depth);
  }
  ck_assert(!color_depth(&(ColorSettings){.option = "truecolour"}, &depth, &diags));
  ck_assert_str_eq(diags.first->nearest, "truecolor");
}
END_TEST

Suite *suite_theme(void);
Suite *suite_theme(void) {
  Suite *suite = suite_create("theme");
  TCase *tcase = tcase_create("theme");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, all_promised_themes_are_there);
  tcase_add_test(tcase, an_unknown_theme_names_the_nearest);
  tcase_add_test(tcase, looks_are_read);
  tcase_add_test(tcase, wrong_themes_are_told_with_their_place);
  tcase_add_test(tcase, colors_are_approximated);
  tcase_add_test(tcase, every_depth_knows_only_its_colors);
  tcase_add_test(tcase, mono_still_tells_apart);
  tcase_add_loop_test(tcase, text_can_be_read, 0, 2 * COLOURED);
  tcase_add_loop_test(tcase, states_differ_in_sixteen_colours, 0, COLOURED);
  tcase_add_loop_test(tcase, states_tell_apart_under_deuteranopia, 0, 2 * COLOURED);
  tcase_add_test(tcase, addresses_have_colors_of_their_own);
  tcase_add_test(tcase, the_upper_style_wins_only_where_it_speaks);
  tcase_add_test(tcase, what_is_read_now_is_the_brightest);
  tcase_add_test(tcase, the_depth_follows_option_then_environment);
  suite_add_tcase(suite, tcase);
  return suite;
}
