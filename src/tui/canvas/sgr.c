// The shorter of two ways from one look to another: naming what differs, or starting from nothing.
//
// Worked example, from bold red to green: switching off bold and setting green is "\e[22;32m";
// starting anew is "\e[;32m", two bytes less, so that is taken. From green to bold green it is
// "\e[1m" against "\e[;1;32m". Bold and dim share the switch 22, so the one that stays is said
// again.
#include "tui/canvas/sgr.h"

#include <stdio.h>
#include <string.h>

enum { SGR_MAX = 96 };

typedef struct Codes {
  char text[SGR_MAX];
  size_t length;
} Codes;

static void add(Codes *codes, const char *code) {
  size_t n = strlen(code);
  if (codes->length) codes->text[codes->length++] = ';';
  memcpy(codes->text + codes->length, code, n + 1);
  codes->length += n;
}

// The entry of the 256 that is this very colour: it takes half the bytes. Entries below 22 are left
// alone, because some set-ups of terminals repaint those.
static Color shortest(Color color) {
  enum { FIRST_SAFE = 22 };
  if (color.kind != COLOR_RGB) return color;
  Color entry = color_approximate(color, DEPTH_256), exact = color_from_index(entry.index);
  bool same = exact.r == color.r && exact.g == color.g && exact.b == color.b;
  return same && entry.index >= FIRST_SAFE ? entry : color;
}

static void add_color(Codes *codes, Color color, bool background, bool eight) {
  color = shortest(color);
  char code[24];
  int base = background ? 40 : 30;
  if (color.kind == COLOR_RGB)
    snprintf(code, sizeof code, "%d;2;%d;%d;%d", base + 8, color.r, color.g, color.b);
  else if (color.kind == COLOR_DEFAULT)
    snprintf(code, sizeof code, "%d", base + 9);
  else if (color.index < 8 || eight)
    snprintf(code, sizeof code, "%d", base + color.index % 8);
  else if (color.index < 16)
    snprintf(code, sizeof code, "%d", base + 60 + color.index - 8);
  else
    snprintf(code, sizeof code, "%d;5;%d", base + 8, color.index);
  add(codes, code);
}

// With 8 colours a bright foreground is the bold one.
static unsigned attributes_of(const Look *look, bool eight) {
  bool bright = look->fg.kind == COLOR_INDEX && look->fg.index >= 8 && look->fg.index < 16;
  return look->attributes | (eight && bright ? (unsigned)LOOK_BOLD : 0);
}

static void add_attributes(Codes *codes, unsigned on) {
  static const struct {
    unsigned bit;
    const char *code;
  } table[] = {{LOOK_BOLD, "1"},
               {LOOK_DIM, "2"},
               {LOOK_ITALIC, "3"},
               {LOOK_UNDERLINE, "4"},
               {LOOK_REVERSE, "7"}};
  for (int i = 0; i < 5; i++)
    if (on & table[i].bit) add(codes, table[i].code);
}

static Codes anew(const Look *to, bool eight) {
  Codes codes = {0};
  unsigned on = attributes_of(to, eight);
  add_attributes(&codes, on);
  if (to->fg.kind != COLOR_DEFAULT) add_color(&codes, to->fg, false, eight);
  if (to->bg.kind != COLOR_DEFAULT) add_color(&codes, to->bg, true, eight);
  if (!codes.length) return codes;
  // An empty parameter is 0, the reset: ";1" says what "0;1" says.
  memmove(codes.text + 1, codes.text, codes.length + 1);
  codes.text[0] = ';';
  codes.length++;
  return codes;
}

static Codes difference(const Look *from, const Look *to, bool eight) {
  Codes codes = {0};
  unsigned old = attributes_of(from, eight), new = attributes_of(to, eight);
  unsigned off = old & ~new, on = new & ~old;
  if (off & (LOOK_BOLD | LOOK_DIM)) {
    add(&codes, "22");
    on |= new &(LOOK_BOLD | LOOK_DIM);
  }
  if (off & LOOK_ITALIC) add(&codes, "23");
  if (off & LOOK_UNDERLINE) add(&codes, "24");
  if (off & LOOK_REVERSE) add(&codes, "27");
  add_attributes(&codes, on);
  if (!color_equal(from->fg, to->fg)) add_color(&codes, to->fg, false, eight);
  if (!color_equal(from->bg, to->bg)) add_color(&codes, to->bg, true, eight);
  return codes;
}

void sgr_change(Str *out, Look from, Look to, bool eight) {
  if (look_equal(from, to)) return;
  Codes fresh = anew(&to, eight), delta = difference(&from, &to, eight);
  if (!delta.length) return;  // they differ in nothing that 8 colours can show
  const Codes *codes = fresh.length < delta.length ? &fresh : &delta;
  str_add(out, "\033[");
  str_add_bytes(out, codes->text, codes->length);
  str_add_char(out, 'm');
}
