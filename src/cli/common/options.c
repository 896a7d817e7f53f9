// One pass over argv that fills fields by offset and moves the other arguments to the front.
//
//   --size 120x40 measure -kBM=8     size = {120, 40}, state = "BM=8", argv[1] = "measure"
//
// Reading goes on after a mistake, so that all of them are told at once.
#include "cli/common/options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"

enum { SCREEN_SIZE_MAX = 1000, OPTIONS_MAX = 64 };

bool option_parse_int(const char *text, int lo, int hi, const char *what, int *out, Diags *diags) {
  char *end;
  errno = 0;
  long value = strtol(text, &end, 10);
  bool whole = end != text && *end == '\0' && (unsigned char)*text > ' ';
  if (whole && errno == 0 && value >= lo && value <= hi) {
    *out = (int)value;
    return true;
  }
  Diag *diag = diag_add(diags, "usage", "%s: \"%s\" is not a whole number from %d to %d", what,
                        str_sanitise(diags->arena, text), lo, hi);
  if (whole) diag->nearest = arena_printf(diags->arena, "%d", value < lo ? lo : hi);
  return false;
}

static bool parse_seconds(const Option *option, const char *text, const char *what, double *out,
                          Diags *diags) {
  char *end;
  const double lo = option->lo / 1e3, hi = option->hi / 1e3, value = strtod(text, &end);
  const bool number = end != text && *end == '\0' && *text >= '.' && *text <= '9';
  if (number && value >= lo && value <= hi) {
    *out = value;
    return true;
  }
  Diag *diag = diag_add(diags, "usage", "%s: \"%s\" is not a number of seconds from %g to %g", what,
                        str_sanitise(diags->arena, text), lo, hi);
  if (number) diag->nearest = arena_printf(diags->arena, "%g", value < lo ? lo : hi);
  return false;
}

static int screen_limit(long n) {
  return n < 1 ? 1 : n > SCREEN_SIZE_MAX ? SCREEN_SIZE_MAX : (int)n;
}

static bool parse_size(const char *text, const char *what, OptionSize *out, Diags *diags) {
  char *end;
  long width = strtol(text, &end, 10), height = 0;
  bool whole = end != text && *end == 'x' && end[1] >= '0' && end[1] <= '9';
  if (whole) height = strtol(end + 1, &end, 10);
  whole = whole && *end == '\0' && *text >= '0' && *text <= '9';
  if (whole && width >= 1 && width <= SCREEN_SIZE_MAX && height >= 1 && height <= SCREEN_SIZE_MAX) {
    *out = (OptionSize){(int)width, (int)height};
    return true;
  }
  Diag *diag =
      diag_add(diags, "usage", "%s: \"%s\" is not WIDTHxHEIGHT in columns and rows from 1 to %d",
               what, str_sanitise(diags->arena, text), SCREEN_SIZE_MAX);
  diag->nearest =
      whole ? arena_printf(diags->arena, "%dx%d", screen_limit(width), screen_limit(height))
            : "80x24";
  return false;
}

static void list_add(OptionList *list, const char *text, Arena *arena) {
  const char **items = ARENA_ARRAY(arena, const char *, list->count + 1);
  if (list->count) memcpy(items, list->items, sizeof *items * (size_t)list->count);
  items[list->count++] = text;
  list->items = items;
}

static void set_value(const Option *option, void *out, const char *value, Diags *diags) {
  char *field = (char *)out + option->offset;
  const char *what = arena_printf(diags->arena, "--%s", option->name);
  switch (option->kind) {
    case OPTION_KIND_FLAG:
      *(bool *)(void *)field = true;
      break;
    case OPTION_KIND_TEXT:
      *(const char **)(void *)field = value;
      break;
    case OPTION_KIND_INT:
      option_parse_int(value, option->lo, option->hi, what, (int *)(void *)field, diags);
      break;
    case OPTION_KIND_SECONDS:
      parse_seconds(option, value, what, (double *)(void *)field, diags);
      break;
    case OPTION_KIND_SIZE:
      parse_size(value, what, (OptionSize *)(void *)field, diags);
      break;
    case OPTION_KIND_LIST:
      list_add((OptionList *)(void *)field, value, diags->arena);
      break;
  }
}

static void add_unknown(const Option *options, int n, const char *name, const char *shown,
                        Diags *diags) {
  const char *names[OPTIONS_MAX];
  Str all = str_new(diags->arena);
  int count = 0;
  bool states = false;
  for (int i = 0; i < n && count < OPTIONS_MAX; i++) {
    names[count++] = options[i].name;
    states |= str_equal(options[i].name, "state");
    str_printf(&all, "%s--%s", i ? ", " : ": there are ", options[i].name);
  }
  const char *nearest = nearest_name(name, names, count);
  bool rung = states && (str_equal(name, "ladder") || str_equal(name, "rung"));
  Diag *diag = diag_add(diags, "usage", "there is no option \"%s\" here%s",
                        str_sanitise(diags->arena, shown), nearest || rung ? "" : all.text);
  if (nearest) diag->nearest = arena_printf(diags->arena, "--%s", nearest);
  if (rung) diag->nearest = "-k LADDER/RUNG";
}

// The option that `arg` names; *value points into arg when the value is attached, else NULL.
static const Option *find_option(const Option *options, int n, const char *arg,
                                 const char **value) {
  bool is_long = arg[1] == '-';
  const char *name = arg + 1 + is_long;
  size_t length = is_long ? strcspn(name, "=") : 1;
  *value = is_long ? (name[length] ? name + length + 1 : NULL) : (name[1] ? name + 1 : NULL);
  for (int i = 0; i < n; i++) {
    if (!is_long && options[i].letter == *name) return &options[i];
    if (is_long && strlen(options[i].name) == length && !strncmp(options[i].name, name, length))
      return &options[i];
  }
  return NULL;
}

bool options_parse(const Option *options, int n, void *out, int *argc, char **argv, Diags *diags) {
  int kept = 1, before = diags->count;
  bool ended = false;
  for (int i = 1; i < *argc; i++) {
    char *arg = argv[i];
    if (ended || arg[0] != '-' || arg[1] == '\0') {
      argv[kept++] = arg;
      continue;
    }
    ended = str_equal(arg, "--");
    if (ended) continue;
    const char *value;
    const Option *option = find_option(options, n, arg, &value);
    if (!option) {
      add_unknown(options, n, arg + 1 + (arg[1] == '-'), arg, diags);
      continue;
    }
    bool is_flag = option->kind == OPTION_KIND_FLAG;
    if (is_flag && value) {
      diag_add(diags, "usage", "--%s takes no value", option->name);
      continue;
    }
    if (!is_flag && !value && i + 1 < *argc) value = argv[++i];
    if (!is_flag && !value)
      diag_add(diags, "usage", "%s needs a value", arg);  // as it was typed
    else
      set_value(option, out, value, diags);
  }
  *argc = kept;
  return diags->count == before;
}

bool option_check_ptxas_opt(const char *level, Diags *diags) {
  if (!level || (*level && strchr("0123", *level) && !level[1])) return true;
  Diag *diag = diag_add(diags, "usage", "--ptxas-opt %s: the levels are 0 to 3",
                        str_sanitise(diags->arena, level));
  char *end;
  const long number = strtol(level, &end, 10);
  if (*level && !*end) diag->nearest = number < 0 ? "0" : "3";
  return false;
}

char **options_behind(int *argc, char **argv) {
  for (int i = 1; i < *argc; i++) {
    if (!str_equal(argv[i], "--")) continue;
    char **words = argv + i + 1;
    *argc = i;
    return words;
  }
  return argv + *argc;
}
