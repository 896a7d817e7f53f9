// Reading and printing key names.
//
// "Ctrl-S-Left" is read from the front: "Ctrl-" and "S-" are modifiers because something follows
// them, "Left" is a row of key.def. "-" alone is the minus key, "Ctrl--" is Ctrl and minus: a
// prefix is only taken while at least one character remains. Ctrl-I, Ctrl-M and Ctrl-[ become Tab,
// Enter and Esc, because that is what every terminal sends for them.
#include "tui/canvas/key.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "base/str.h"
#include "tui/canvas/utf8.h"

typedef struct KeyRow {
  const char *name, *aliases;
} KeyRow;

static const KeyRow rows[] = {
#define KEY(code, name, aliases) {name, aliases},
#include "tui/canvas/key.def"
#undef KEY
};
enum { KEYS = sizeof rows / sizeof rows[0] };

typedef struct Prefix {
  const char *text;
  Key modifier;
} Prefix;

// The first of each modifier is the one that is printed.
static const Prefix prefixes[] = {
    {"Ctrl-", KEY_CTRL},   {"Alt-", KEY_ALT},  {"S-", KEY_SHIFT},
    {"C-", KEY_CTRL},      {"M-", KEY_ALT},    {"A-", KEY_ALT},
    {"Shift-", KEY_SHIFT}, {"Meta-", KEY_ALT}, {"^", KEY_CTRL},
};

Key key_from_character(uint32_t code) {
  if (code == 13 || code == 10) return KEY_CODE_ENTER;
  if (code == 9) return KEY_CODE_TAB;
  if (code == 27) return KEY_CODE_ESCAPE;
  if (code == 127 || code == 8) return KEY_CODE_BACKSPACE;
  if (code == 0) return KEY_CTRL | ' ';
  if (code < 27) return KEY_CTRL | ('a' + code - 1);
  if (code < 32) return KEY_CTRL | (Key) "\\]^_"[code - 28];
  return code;
}

bool key_is_printable(Key key) { return key >= 32 && key < KEY_FIRST && utf8_width(key) > 0; }

bool key_is_reserved(Key key) {
  static const char plain[] = "hjklgG/nN?:0123456789[]ucymq";
  if (key < 0x80) return key > 0 && strchr(plain, (int)key) != NULL;
  Key base = key & KEY_BASE;
  if ((key & ~(Key)KEY_BASE) == KEY_CTRL) return base < 0x80 && base && strchr("durlzc", (int)base);
  return (base >= KEY_CODE_UP && base <= KEY_CODE_PAGE_DOWN) || base == KEY_CODE_TAB ||
         key == KEY_CODE_ESCAPE;
}

const char *key_print(Key key, char text[KEY_PRINT_MAX]) {
  Key base = key & KEY_BASE;
  char *at = text;
  *at = 0;
  for (int i = 0; i < 3; i++)
    if (key & prefixes[i].modifier) at = stpcpy(at, prefixes[i].text);
  if (base > KEY_FIRST && base < KEY_LIMIT) {
    strcpy(at, rows[base - KEY_FIRST - 1].name);
  } else if (base == ' ') {
    strcpy(at, "Space");
  } else if (key & KEY_CTRL && base < 0x80) {
    at[0] = (char)toupper((int)base);
    at[1] = 0;
  } else {
    at[utf8_encode(base, at)] = 0;
  }
  return text;
}

static bool is_alias(const char *aliases, const char *name) {
  size_t n = strlen(name);
  while (*aliases) {
    size_t length = strcspn(aliases, " ");
    if (length == n && !strncasecmp(aliases, name, n)) return true;
    aliases += length + strspn(aliases + length, " ");
  }
  return false;
}

static Key parse_base(const char *name) {
  uint32_t code;
  int bytes = utf8_decode(name, &code);
  if (bytes == 0) return KEY_NONE;
  if (!name[bytes]) return code == UTF8_REPLACEMENT || utf8_width(code) < 1 ? KEY_NONE : code;
  if (str_equal_fold(name, "Space")) return ' ';
  for (int i = 0; i < KEYS; i++)
    if (str_equal_fold(name, rows[i].name) || is_alias(rows[i].aliases, name))
      return (Key)(KEY_FIRST + 1 + i);
  return KEY_NONE;
}

// Ctrl and Shift with characters, as terminals send them.
static Key normalise(Key base, Key modifiers) {
  if (base >= KEY_FIRST) return base | modifiers;
  if (modifiers & KEY_SHIFT) {
    if (base >= 0x80) return KEY_NONE;
    base = (Key)toupper((int)base);
    modifiers &= ~(Key)KEY_SHIFT;
  }
  if (!(modifiers & KEY_CTRL)) return base | modifiers;
  if (base >= 0x80) return KEY_NONE;
  base = (Key)tolower((int)base);
  modifiers &= ~(Key)KEY_CTRL;
  if (base >= '@' && base <= '~') return key_from_character(base & 0x1F) | modifiers;
  return base | modifiers | KEY_CTRL;
}

static void unknown_key(const char *name, Diags *diags) {
  const char *names[KEYS];
  for (int i = 0; i < KEYS; i++) names[i] = rows[i].name;
  Diag *diag = diag_add(diags, "key",
                        "\"%s\" is not a key: a character, or a name such as Up, F1, Ctrl-D, S-Tab",
                        str_sanitise(diags->arena, name));
  diag->nearest = nearest_name(name, names, KEYS);
}

Key key_parse(const char *name, Diags *diags) {
  const char *rest = name;
  Key modifiers = 0;
  for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0];) {
    size_t n = strlen(prefixes[i].text);
    bool taken = !strncasecmp(rest, prefixes[i].text, n) && rest[n];
    if (taken && modifiers & prefixes[i].modifier) break;
    if (taken)
      modifiers |= prefixes[i].modifier, rest += n, i = 0;
    else
      i++;
  }
  Key base = parse_base(rest), key = base ? normalise(base, modifiers) : KEY_NONE;
  if (key == KEY_NONE && diags) unknown_key(name, diags);
  return key;
}
