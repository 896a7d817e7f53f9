// Styles say what a cell means; a theme says how that looks; a depth says what the terminal can.
//
// Views name styles only. A style is a role of style.def, optionally with a second one laid over it
// (the cursor over a tier's colour): style_over(STYLE_TIER_WARP, STYLE_CURSOR).
//
//   const Theme *theme = theme_find(arena, "colour-blind", &diags);   NULL: a diagnostic
//   Look look = theme_look(theme, style, DEPTH_256);
//
// A theme is approximated, never refused: #ff8700 becomes entry 208 of 256, and one of 16.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

typedef enum StyleRole {
#define STYLE(name, text, look, mono, help) STYLE_##name,
#include "tui/canvas/style.def"
#undef STYLE
  STYLE_COUNT,
} StyleRole;

enum { STYLE_ADDRESSES = 32 };

// The low byte is the role, the high byte the role laid over it (0: none).
typedef uint16_t Style;

Style style_over(Style style, StyleRole over);
// The colour of address (or bank) `n`, taken modulo 32.
Style style_address(int n);
const char *style_name(StyleRole role);
const char *style_help(StyleRole role);

typedef enum ColorDepth { DEPTH_MONO, DEPTH_16, DEPTH_256, DEPTH_TRUE } ColorDepth;

typedef enum ColorKind { COLOR_DEFAULT, COLOR_INDEX, COLOR_RGB } ColorKind;

typedef struct Color {
  uint8_t kind;     // ColorKind
  uint8_t index;    // COLOR_INDEX: 0-15 the terminal's palette, 16-255 the cube and the greys
  uint8_t r, g, b;  // COLOR_RGB
} Color;

enum { LOOK_BOLD = 1, LOOK_DIM = 2, LOOK_ITALIC = 4, LOOK_UNDERLINE = 8, LOOK_REVERSE = 16 };

typedef struct Look {
  Color fg, bg;
  uint8_t attributes;  // LOOK_*
} Look;

typedef struct Theme Theme;

// "default", "mono", or the name of a file data/themes/NAME.json.
const Theme *theme_find(Arena *arena, const char *name, Diags *diags);
// A theme from the text of such a file; `what` names it in messages.
const Theme *theme_read(Arena *arena, const char *text, size_t n, const char *what, Diags *diags);
const char *theme_name(const Theme *theme);
// The names theme_find knows, "default" first.
int theme_names(Arena *arena, const char *const **names);
Look theme_look(const Theme *theme, Style style, ColorDepth depth);
// The colour of a palette entry, or the default one, where there is no terminal to ask (in SVG).
Color theme_color_rgb(const Theme *theme, Color color, bool background);

bool color_equal(Color a, Color b);
bool look_equal(Look a, Look b);
// Entry n of 256 as RGB (the usual xterm palette below 16), and the nearest entry of 256 or of 16.
Color color_from_index(int n);
Color color_approximate(Color color, ColorDepth depth);

// `option` is the argument of --color ("auto" or NULL: the environment decides). False, with a
// diagnostic, when it is not never, 16, 256, truecolor or auto.
typedef struct ColorSettings {
  const char *option, *no_color, *colorterm, *term;
  int terminfo_colors;  // what the terminal's description says; -1 unknown
} ColorSettings;
bool color_depth(const ColorSettings *settings, ColorDepth *depth, Diags *diags);
