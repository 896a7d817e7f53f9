// The style table, themes from files, and approximation.
//
// A theme holds the final look of every role at every depth, worked out once when it is made, so
// that drawing only indexes a table. Worked example: warn is "#e69f00 bold" in the colour-blind
// theme. At 256 the nearest cube entry is 178 (#d7af00), at 16 it is 3 (#cdcd00), in mono the bold
// of style.def remains. Parts that a look leaves out come from the theme's "text".
//
// Reading JSON and looks is all here; writing escape sequences is sgr.c's business.
#include "tui/canvas/theme.h"

#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/str.h"

enum { DEPTHS = DEPTH_TRUE + 1, PALETTE = 16 };

struct Theme {
  const char *name;
  Look looks[DEPTHS][STYLE_COUNT];
  bool has_fg[DEPTHS][STYLE_COUNT], has_bg[DEPTHS][STYLE_COUNT];
  Color palette[PALETTE], paper, ink;
};

typedef struct StyleRow {
  const char *name, *look, *mono, *help;
} StyleRow;

static const StyleRow rows[STYLE_COUNT] = {
#define STYLE(name, text, look, mono, help) [STYLE_##name] = {text, look, mono, help},
#include "tui/canvas/style.def"
#undef STYLE
};

static const char *const color_names[PALETTE] = {
    "black",        "red",           "green",       "yellow",         "blue",
    "magenta",      "cyan",          "white",       "bright_black",   "bright_red",
    "bright_green", "bright_yellow", "bright_blue", "bright_magenta", "bright_cyan",
    "bright_white",
};

static const char *const attribute_names[] = {"bold", "dim", "italic", "underline", "reverse"};
enum { ATTRIBUTES = sizeof attribute_names / sizeof attribute_names[0] };

// The palette of pictures made without a terminal: even lightness on a dark ground.
static const unsigned picture_palette[PALETTE] = {
    0x1c2128, 0xf47067, 0x6bc46d, 0xdaaa3f, 0x6cb6ff, 0xdcbdfb, 0x56d4dd, 0xc9d1d9,
    0x768390, 0xff938a, 0x8ddb8c, 0xeac55f, 0x96d0ff, 0xeacbff, 0x85e4ea, 0xf0f6fc,
};
enum { PICTURE_PAPER = 0x14181d, PICTURE_INK = 0xd5dbe1 };

// The palette that approximation to 16 colours measures against.
static const unsigned xterm_palette[PALETTE] = {
    0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
    0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
};

// ---- styles and colours -------------------------------------------------------------------------

Style style_over(Style style, StyleRole over) {
  return (Style)((style & 0xFF) | (unsigned)over << 8);
}

Style style_address(int n) { return (Style)(STYLE_ADDRESS_0 + (unsigned)n % STYLE_ADDRESSES); }

const char *style_name(StyleRole role) { return rows[role].name; }
const char *style_help(StyleRole role) { return rows[role].help; }

bool color_equal(Color a, Color b) { return !memcmp(&a, &b, sizeof a); }
bool look_equal(Look a, Look b) { return !memcmp(&a, &b, sizeof a); }

static Color from_rgb(unsigned rgb) {
  return (Color){COLOR_RGB, 0, (uint8_t)(rgb >> 16), (uint8_t)(rgb >> 8), (uint8_t)rgb};
}

static Color from_palette(int n) { return (Color){COLOR_INDEX, (uint8_t)n, 0, 0, 0}; }

static unsigned cube_level(int n) { return n ? 55 + 40 * (unsigned)n : 0; }

Color color_from_index(int n) {
  if (n < PALETTE) return from_rgb(xterm_palette[n]);
  if (n >= 232) return from_rgb((8 + 10 * (unsigned)(n - 232)) * 0x10101);
  n -= PALETTE;
  return from_rgb(cube_level(n / 36) << 16 | cube_level(n / 6 % 6) << 8 | cube_level(n % 6));
}

// Squared distance weighted as the eye weighs the primaries, near enough to choose a neighbour.
static int color_distance(Color a, Color b) {
  int dr = a.r - b.r, dg = a.g - b.g, db = a.b - b.b;
  return 3 * dr * dr + 6 * dg * dg + db * db;
}

static Color nearest_index(Color color, int first, int end) {
  int best = first;
  for (int n = first; n < end; n++)
    if (color_distance(color, color_from_index(n)) < color_distance(color, color_from_index(best)))
      best = n;
  return from_palette(best);
}

Color color_approximate(Color color, ColorDepth depth) {
  if (color.kind == COLOR_DEFAULT || depth == DEPTH_TRUE) return color;
  if (depth == DEPTH_MONO) return (Color){0};
  if (color.kind == COLOR_INDEX && (color.index < PALETTE || depth == DEPTH_256)) return color;
  if (color.kind == COLOR_INDEX) color = color_from_index(color.index);
  return depth == DEPTH_256 ? nearest_index(color, PALETTE, 256) : nearest_index(color, 0, PALETTE);
}

Color theme_color_rgb(const Theme *theme, Color color, bool background) {
  if (color.kind == COLOR_RGB) return color;
  if (color.kind == COLOR_DEFAULT) return background ? theme->paper : theme->ink;
  return color.index < PALETTE ? theme->palette[color.index] : color_from_index(color.index);
}

// ---- looks as words -----------------------------------------------------------------------------

typedef struct ParsedLook {
  Look look;
  bool fg, bg;
} ParsedLook;

static bool parse_number(const char *digits, int base, long limit, long *out) {
  char *end;
  if (!*digits || strchr("+- ", *digits)) return false;
  *out = strtol(digits, &end, base);
  return !*end && *out <= limit;
}

static bool parse_color(const char *word, Color *color) {
  long number;
  if (str_equal(word, "default")) return *color = (Color){0}, true;
  for (int i = 0; i < PALETTE; i++)
    if (str_equal(word, color_names[i])) return *color = from_palette(i), true;
  if (*word == '#' && strlen(word) == 7 && parse_number(word + 1, 16, 0xFFFFFF, &number))
    return *color = from_rgb((unsigned)number), true;
  if (parse_number(word, 10, 255, &number)) return *color = from_palette((int)number), true;
  return false;
}

static bool parse_word(const char *word, bool background, ParsedLook *into) {
  for (int i = 0; i < ATTRIBUTES && !background; i++)
    if (str_equal(word, attribute_names[i]))
      return into->look.attributes = (uint8_t)(into->look.attributes | 1 << i), true;
  if (!parse_color(word, background ? &into->look.bg : &into->look.fg)) return false;
  *(background ? &into->bg : &into->fg) = true;
  return true;
}

// Reads words up to the end or a '|'; NULL on the first word that is none, which is left in `word`.
static const char *parse_look(const char *text, ParsedLook *into, char word[32]) {
  bool background = false;
  *into = (ParsedLook){0};
  for (;;) {
    text += strspn(text, " ");
    size_t n = strcspn(text, " |");
    if (n == 0) return background ? NULL : text;
    memcpy(word, text, n < 31 ? n : 31);
    word[n < 31 ? n : 31] = 0;
    text += n;
    if (!background && str_equal(word, "on"))
      background = true;
    else if (!parse_word(word, background, into))
      return NULL;
    else
      background = false;
  }
}

static void set_look(Theme *theme, StyleRole role, ColorDepth depth, const ParsedLook *parsed) {
  Look look = parsed->look;
  look.fg = color_approximate(look.fg, depth);
  look.bg = color_approximate(look.bg, depth);
  theme->looks[depth][role] = look;
  theme->has_fg[depth][role] = parsed->fg;
  theme->has_bg[depth][role] = parsed->bg;
}

// "black on #5fafff | black on bright_blue": the first part at every depth with colour, the second
// at 16. False when a word is unknown.
static bool set_colored(Theme *theme, StyleRole role, const char *text, char word[32]) {
  ParsedLook rich, poor;
  const char *rest = parse_look(text, &rich, word);
  if (!rest) return false;
  poor = rich;
  if (*rest == '|' && (!(rest = parse_look(rest + 1, &poor, word)) || *rest)) return false;
  set_look(theme, role, DEPTH_TRUE, &rich);
  set_look(theme, role, DEPTH_256, &rich);
  set_look(theme, role, DEPTH_16, &poor);
  return true;
}

// ---- themes -------------------------------------------------------------------------------------

static void inherit_text(Theme *theme) {
  for (int depth = 0; depth < DEPTHS; depth++) {
    Look text = theme->looks[depth][STYLE_TEXT];
    for (int role = 1; role < STYLE_COUNT; role++) {
      if (!theme->has_fg[depth][role]) theme->looks[depth][role].fg = text.fg;
      if (!theme->has_bg[depth][role]) theme->looks[depth][role].bg = text.bg;
    }
  }
}

static Theme *built_in(Arena *arena, const char *name) {
  Theme *theme = ARENA_NEW(arena, Theme);
  char word[32];
  theme->name = arena_strdup(arena, name);
  for (int i = 0; i < PALETTE; i++) theme->palette[i] = from_rgb(picture_palette[i]);
  theme->paper = from_rgb(PICTURE_PAPER);
  theme->ink = from_rgb(PICTURE_INK);
  for (int role = 0; role < STYLE_COUNT; role++) {
    ParsedLook mono;
    parse_look(rows[role].mono, &mono, word);
    set_look(theme, (StyleRole)role, DEPTH_MONO, &mono);
    set_colored(theme, (StyleRole)role, rows[role].look, word);
  }
  return theme;
}

static void make_mono(Theme *theme) {
  for (int depth = 1; depth < DEPTHS; depth++) {
    memcpy(theme->looks[depth], theme->looks[0], sizeof theme->looks[0]);
    memcpy(theme->has_fg[depth], theme->has_fg[0], sizeof theme->has_fg[0]);
    memcpy(theme->has_bg[depth], theme->has_bg[0], sizeof theme->has_bg[0]);
  }
}

static int find_role(const char *name) {
  for (int role = 0; role < STYLE_COUNT; role++)
    if (str_equal(name, rows[role].name)) return role;
  return -1;
}

static void unknown_role(const JsonValue *value, const char *key, Diags *diags) {
  const char *names[STYLE_COUNT];
  for (int role = 0; role < STYLE_COUNT; role++) names[role] = rows[role].name;
  Diag *diag = json_diag(diags, value, "\"%s\" is not a style", key);
  diag->nearest = nearest_name(key, names, STYLE_COUNT);
}

static void read_styles(Theme *theme, const JsonValue *styles, Diags *diags) {
  for (int i = 0; i < json_count(styles); i++) {
    const JsonValue *value = json_at(styles, i);
    const char *key = json_key_at(styles, i), *text;
    char word[32] = "";
    int role = find_role(key);
    if (role < 0)
      unknown_role(value, key, diags);
    else if (json_read_string(value, &text, diags) &&
             !set_colored(theme, (StyleRole)role, text, word))
      json_diag(diags, value,
                "\"%s\" in \"%s\" is not part of a style: bold, dim, italic, underline, reverse, "
                "on, a colour's name, 0-255 or #rrggbb",
                word, text);
  }
}

static void read_color(const JsonValue *value, Color *color, Diags *diags) {
  const char *text;
  Color read;
  if (!value || !json_read_string(value, &text, diags)) return;
  if (*text == '#' && parse_color(text, &read))
    *color = read;
  else
    json_diag(diags, value, "\"%s\" is not a colour written #rrggbb", text);
}

static void read_palette(Theme *theme, const JsonValue *root, Diags *diags) {
  const JsonValue *palette = json_object_get(root, "palette");
  if (palette && json_count(palette) != PALETTE)
    json_diag(diags, palette, "%d colours, must be %d", json_count(palette), PALETTE);
  for (int i = 0; i < json_count(palette) && i < PALETTE; i++)
    read_color(json_at(palette, i), &theme->palette[i], diags);
  read_color(json_object_get(root, "paper"), &theme->paper, diags);
  read_color(json_object_get(root, "ink"), &theme->ink, diags);
}

const Theme *theme_read(Arena *arena, const char *text, size_t n, const char *what, Diags *diags) {
  static const char *const keys[] = {"name", "styles", "paper", "ink", "palette"};
  int before = diags->count;
  const JsonValue *root = json_parse(arena, text, n, diags, what);
  const char *name = NULL;
  if (!root || !json_check_keys(root, keys, 5, diags) ||
      !json_require_string(root, "name", &name, diags))
    return NULL;
  Theme *theme = built_in(arena, name);
  read_styles(theme, json_require_object(root, "styles", diags), diags);
  read_palette(theme, root, diags);
  inherit_text(theme);
  return diags->count == before ? theme : NULL;
}

int theme_names(Arena *arena, const char *const **names) {
  EmbeddedList files = embed_list(arena, "themes/");
  const char **list = ARENA_ARRAY(arena, const char *, files.count + 2);
  int count = 0;
  list[count++] = "default";
  list[count++] = "mono";
  for (int i = 0; i < files.count; i++) {
    const char *file = files.paths[i] + strlen("themes/");
    const char *dot = strrchr(file, '.');
    if (dot && str_equal(dot, ".json"))
      list[count++] = arena_strndup(arena, file, (size_t)(dot - file));
  }
  *names = list;
  return count;
}

static void unknown_theme(Arena *arena, const char *name, Diags *diags) {
  const char *const *names;
  int count = theme_names(arena, &names);
  Str list = str_new(arena);
  for (int i = 0; i < count; i++) str_printf(&list, "%s%s", i ? ", " : "", names[i]);
  const char *clean = str_sanitise(arena, name);
  Diag *diag = diag_add(diags, "theme", "\"%s\" is not a theme: %s", clean, list.text);
  diag->nearest = nearest_name(name, names, count);
}

const Theme *theme_find(Arena *arena, const char *name, Diags *diags) {
  if (str_equal(name, "default") || str_equal(name, "mono")) {
    Theme *theme = built_in(arena, name);
    if (str_equal(name, "mono")) make_mono(theme);
    inherit_text(theme);
    return theme;
  }
  const char *path = arena_printf(arena, "themes/%s.json", name);
  const EmbeddedFile *file = embed_find(arena, path);
  if (file) return theme_read(arena, file->text, file->size, path, diags);
  unknown_theme(arena, name, diags);
  return NULL;
}

const char *theme_name(const Theme *theme) { return theme->name; }

Look theme_look(const Theme *theme, Style style, ColorDepth depth) {
  unsigned role = style & 0xFFu, over = style >> 8;
  Look look = theme->looks[depth][role < STYLE_COUNT ? role : STYLE_TEXT];
  if (over == 0 || over >= STYLE_COUNT) return look;
  const Look *top = &theme->looks[depth][over], *text = &theme->looks[depth][STYLE_TEXT];
  if (over == STYLE_SHADOW && theme->has_bg[depth][role]) look.fg = look.bg, look.bg = text->bg;
  if (theme->has_fg[depth][over]) look.fg = top->fg;
  if (theme->has_bg[depth][over]) look.bg = top->bg;
  // Dim in reverse is grey on grey.
  if (top->attributes & LOOK_REVERSE) look.attributes &= (uint8_t)~LOOK_DIM;
  look.attributes |= top->attributes;
  return look;
}

// ---- the number of colours ----------------------------------------------------------------------

static bool environment_depth(const ColorSettings *from, ColorDepth *depth) {
  const char *term = from->term ? from->term : "", *colorterm = from->colorterm;
  if (from->no_color && *from->no_color) return *depth = DEPTH_MONO, true;
  if (str_equal(term, "dumb") || from->terminfo_colors == 0) return *depth = DEPTH_MONO, true;
  if (colorterm && (str_equal(colorterm, "truecolor") || str_equal(colorterm, "24bit")))
    return *depth = DEPTH_TRUE, true;
  if (strstr(term, "direct") || from->terminfo_colors > 256) return *depth = DEPTH_TRUE, true;
  if (strstr(term, "256color") || from->terminfo_colors == 256) return *depth = DEPTH_256, true;
  if (from->terminfo_colors < 0 && !*term) return *depth = DEPTH_MONO, true;
  return *depth = DEPTH_16, true;
}

bool color_depth(const ColorSettings *settings, ColorDepth *depth, Diags *diags) {
  static const char *const options[] = {"never", "16", "256", "truecolor", "auto"};
  const char *option = settings->option;
  if (!option || str_equal(option, "auto")) return environment_depth(settings, depth);
  for (int i = 0; i <= DEPTH_TRUE; i++)
    if (str_equal(option, options[i])) return *depth = (ColorDepth)i, true;
  Diag *diag = diag_add(diags, "color", "--color=%s: choose never, 16, 256, truecolor or auto",
                        str_sanitise(diags->arena, option));
  diag->nearest = nearest_name(option, options, 5);
  return false;
}
