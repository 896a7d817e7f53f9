// From a text to a row of fact.def, from there to a value; values as text, guesses against values.
//
// A text is "[SCENE | ]NAME ARGUMENTS". The scene stands before the last " | ", so that a layout in
// quotes may hold one. Worked example, on a rung with STAGE=11 and no pad:
//   "with PAD_SMEM=4 | wavefronts A_s<-r_a"
//   scene "with PAD_SMEM=4": the schedule with one knob changed, built anew
//   name "wavefronts", argument "A_s<-r_a": the site with a text that begins so
//
// A guess is read leniently (units, brackets and blanks do not matter) and judged strictly.
#include "model/lessons/fact.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "base/str.h"
#include "model/lessons/fact_compute.h"

const Fact fact_table[] = {
#define FACT(name, arguments, unit, kind, origin, help) \
  {#name, arguments, unit, FACT_##kind, FACT_##origin, help, fact_##name},
#include "model/lessons/fact.def"
};
const int fact_count = sizeof fact_table / sizeof *fact_table;

enum { ITSELF = -1 };

// Nothing may be more than this of which a fact tells.
static double limit_of(const Fact *fact, double number) {
  static const struct {
    const char *name;
    double most;
  } limits[] = {
#define FACT(name, arguments, unit, kind, origin, help)
#define FACT_LIMIT(name, most) {#name, most},
#include "model/lessons/fact.def"
  };
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (str_equal(limits[i].name, fact->name)) return limits[i].most < 0 ? number : limits[i].most;
  return INFINITY;
}

const char *fact_origin_text(FactOrigin origin) {
  static const char *const texts[] = {[FACT_DERIVED] = "read from the program",
                                      [FACT_COUNTED] = "counted by the bank model",
                                      [FACT_ESTIMATED] = "estimated from limits and peaks",
                                      [FACT_SIMULATED] = "found by the interpreter",
                                      [FACT_CLAIMED] = "claimed by an article",
                                      [FACT_RECORDED] = "recorded on a GPU",
                                      [FACT_COMPILED] = "reported by the compiler",
                                      [FACT_PLAYED] = "played clock by clock"};
  return texts[origin];
}

// ---- reading ------------------------------------------------------------------------------------

static int split(Arena *arena, const char *text, FactArgs *args) {
  int n = 0;
  args->n = 0;
  for (const char *c = text; *(c += strspn(c, " ")); n++) {
    size_t length = strcspn(c, " ");
    if (n < FACT_ARGS_MAX) args->word[args->n++] = arena_strndup(arena, c, length);
    c += length;
  }
  return n;
}

static const Fact *find_fact(const char *name, Diags *diags) {
  const char *names[sizeof fact_table / sizeof *fact_table];
  for (int i = 0; i < fact_count; i++) {
    names[i] = fact_table[i].name;
    if (str_equal(names[i], name)) return &fact_table[i];
  }
  Diag *diag = diag_add(diags, "fact", "there is no fact \"%s\"", str_sanitise(diags->arena, name));
  diag->nearest = nearest_name(name, names, fact_count);
  return NULL;
}

static int count_words(const char *text) {
  int n = 0;
  for (const char *c = text; *(c += strspn(c, " ")); n++) c += strcspn(c, " ");
  return n;
}

bool fact_int(const char *text, int64_t lo, int64_t hi, const char *what, int64_t *out,
              Diags *diags) {
  char *end;
  long long value = strtoll(text, &end, 10);
  bool whole = (isdigit((unsigned char)*text) || *text == '-') && *end == '\0';
  if (whole && value >= lo && value <= hi) {
    *out = value;
    return true;
  }
  Diag *diag = diag_add(diags, "fact", "%s: \"%s\" is not a whole number from %lld to %lld", what,
                        str_sanitise(diags->arena, text), (long long)lo, (long long)hi);
  if (whole) diag->nearest = arena_printf(diags->arena, "%lld", (long long)(value < lo ? lo : hi));
  return false;
}

// ---- scenes -------------------------------------------------------------------------------------

static const Ladder *find_ladder(const FactWorld *world, const char *name, Diags *diags) {
  const char **names = ARENA_ARRAY(diags->arena, const char *, world->n_ladders);
  for (int i = 0; i < world->n_ladders; i++) {
    names[i] = world->ladders[i]->name;
    if (str_equal_fold(names[i], name)) return world->ladders[i];
  }
  Diag *diag = diag_add(diags, "rung", "there is no ladder \"%s\"", name);
  diag->nearest = nearest_name(name, names, world->n_ladders);
  return NULL;
}

const Rung *fact_find_rung(const FactWorld *world, const char *name, const Ladder **ladder,
                           Diags *diags) {
  const char *clean = str_sanitise(diags->arena, name), *slash = strchr(clean, '/');
  if (!slash) {
    diag_add(diags, "rung", "\"%s\" is not a rung: write LADDER/NAME, as in fp32/padded", clean);
    return NULL;
  }
  const char *first = arena_strndup(diags->arena, clean, (size_t)(slash - clean));
  const Ladder *found = find_ladder(world, first, diags);
  int rung = found ? ladder_find_rung(found, slash + 1, diags) : -1;
  if (rung < 0) return NULL;
  if (ladder) *ladder = found;
  return &found->rung[rung];
}

static const Model *legal_model(const FactScene *scene, const Schedule *schedule, Diags *diags) {
  const Model *model = model_build(scene->arena, scene->world->targets, schedule);
  if (model->ok) return model;
  const Diag *first = model->diags.first;
  Diag *diag = diag_add(diags, first->rule, "%s", first->text);
  diag->nearest = first->nearest;
  return NULL;
}

// "LADDER/RUNG", or "LADDER/RUNG,KNOBS" as -k takes it.
static const Model *rung_model(const FactScene *scene, const char *text, Diags *diags) {
  const char *comma = strchr(text, ',');
  size_t length = comma ? (size_t)(comma - text) : strlen(text);
  const Rung *rung =
      fact_find_rung(scene->world, arena_strndup(scene->arena, text, length), NULL, diags);
  if (!rung) return NULL;
  Schedule schedule = rung->schedule;
  if (comma && !schedule_parse(&schedule, comma + 1, diags)) return NULL;
  return legal_model(scene, &schedule, diags);
}

// The model that "with …", "at …" or "A" names.
static const Model *scene_model(const FactScene *scene, const char *text, Diags *diags) {
  if (str_equal(text, "A")) {
    if (!scene->then) diag_add(diags, "fact", "\"A |\" needs a step that compares");
    return scene->then;
  }
  Schedule schedule = scene->model->schedule;
  if (str_starts(text, "with "))
    return schedule_parse(&schedule, text + 5, diags) ? legal_model(scene, &schedule, diags) : NULL;
  if (str_starts(text, "at ")) return rung_model(scene, text + 3, diags);
  diag_add(diags, "fact",
           "\"%s |\" is neither \"with KNOBS |\" nor \"at LADDER/RUNG |\" nor \"A |\"",
           str_sanitise(diags->arena, text));
  return NULL;
}

static const char *last_bar(const char *text) {
  const char *bar = NULL;
  for (const char *c = text; (c = strstr(c, " | ")); c++) bar = c;
  return bar;
}

const char *fact_knobs(Arena *arena, const char *text) {
  const char *bar = last_bar(text);
  if (!bar || !str_starts(text, "with ")) return NULL;
  return arena_strndup(arena, text + 5, (size_t)(bar - text) - 5);
}

bool fact_compute(const FactScene *scene, const char *text, FactValue *value, Diags *diags) {
  FactScene inner = *scene;
  const char *bar = last_bar(text);
  if (bar) {
    const char *name = arena_strndup(scene->arena, text, (size_t)(bar - text));
    inner.model = scene_model(scene, name, diags);
    if (!inner.model) return false;
    text = bar + 3;
  }
  FactArgs args;
  text += strspn(text, " ");
  const char *name = arena_strndup(scene->arena, text, strcspn(text, " "));
  const Fact *fact = find_fact(name, diags);
  if (!fact) return false;
  int given = split(scene->arena, text + strlen(name), &args);
  if (given != count_words(fact->arguments)) {
    diag_add(diags, "fact", "%s takes %d argument%s (%s), not %d", fact->name,
             count_words(fact->arguments), plural_s(count_words(fact->arguments)),
             *fact->arguments ? fact->arguments : "none", given);
    return false;
  }
  *value = (FactValue){.kind = fact->kind, .origin = fact->origin, .unit = fact->unit};
  if (!fact->compute(&inner, &args, value, diags)) return false;
  value->limit = limit_of(fact, value->number);
  return true;
}

// ---- writing ------------------------------------------------------------------------------------

const char *fact_print(const FactValue *value, char out[FACT_TEXT_MAX]) {
  double v = value->number;
  switch (value->kind) {
    case FACT_WORD:
    case FACT_TEXT:
      return value->word;
    case FACT_PAIR:
      snprintf(out, FACT_TEXT_MAX, "(%lld, %lld)", (long long)value->pair[0],
               (long long)value->pair[1]);
      break;
    case FACT_COUNT:
      snprintf(out, FACT_TEXT_MAX, "%.0f", v);
      break;
    case FACT_REAL:
      snprintf(out, FACT_TEXT_MAX, fabs(v) >= 1000 ? "%.0f" : "%.3g", v);
      break;
  }
  return out;
}

const char *fact_say(Arena *arena, const FactValue *value) {
  char out[FACT_TEXT_MAX];
  const char *text = fact_print(value, out), *unit = value->unit;
  if (*unit == '#') return arena_printf(arena, "%s %s", unit + 1, text);
  size_t n = strlen(unit);
  bool one = value->kind == FACT_COUNT && str_equal(text, "1") && n && unit[n - 1] == 's';
  return arena_printf(arena, "%s%s%.*s", text, n ? " " : "", (int)(one ? n - 1 : n), unit);
}

// ---- texts --------------------------------------------------------------------------------------

static void fill_place(const FactScene *scene, const char *fact, Str *out, Diags *diags) {
  FactValue value;
  char buffer[FACT_TEXT_MAX];
  Diags inner = diags_new(scene->arena);
  bool known = fact_compute(scene, fact, &value, &inner);
  str_add(out, known ? fact_print(&value, buffer) : "–");
  for (const Diag *d = inner.first; d; d = d->next)
    diag_add(diags, d->rule, "{%s}: %s", fact, d->text)->nearest = d->nearest;
}

const char *fact_fill(const FactScene *scene, const char *text, Diags *diags) {
  Str out = str_new(scene->arena);
  str_add(&out, "");
  for (const char *c = text; *c;) {
    size_t plain = strcspn(c, "{");
    str_add_bytes(&out, c, plain);
    c += plain;
    if (!*c) break;
    const char *end = strchr(c, '}');
    if (c[1] == '{' || !end) {
      if (c[1] != '{')
        diag_add(diags, "fact",
                 "a \"{\" without its \"}\"; write \"{{\" for a "
                 "brace");
      str_add_char(&out, '{');
      c += c[1] == '{' ? 2 : 1;
      continue;
    }
    fill_place(scene, arena_strndup(scene->arena, c + 1, (size_t)(end - c - 1)), &out, diags);
    c = end + 1;
  }
  return out.text;
}

// ---- guesses ------------------------------------------------------------------------------------

static bool read_number(const char *guess, double *out) {
  char *end;
  guess += strspn(guess, " ");
  if (!isdigit((unsigned char)*guess) && !strchr("-.", *guess)) return false;
  *out = strtod(guess, &end);
  if (end > guess && *end == '/' && isdigit((unsigned char)end[1]))  // "1/4"
    *out /= strtod(end + 1, &end);
  end += strspn(end, " ");
  // A unit may follow the number, but not another number.
  return end != guess && isfinite(*out) && !strpbrk(end, "0123456789");
}

static FactVerdict check_number(const FactValue *value, const char *guess) {
  double given;
  if (!read_number(guess, &given)) return FACT_NO_GUESS;
  double off = value->kind == FACT_REAL ? 0.02 * fabs(value->number) : 0;
  if (fabs(given - value->number) <= off) return FACT_RIGHT;
  return value->number > given ? FACT_IS_MORE : FACT_IS_LESS;
}

static bool read_pair(const char *guess, int64_t out[2]) {
  for (int i = 0; i < 2; i++) {
    char *end;
    guess += strcspn(guess, "0123456789");
    if (!*guess) return false;
    out[i] = strtoll(guess, &end, 10);
    guess = end;
  }
  return !strpbrk(guess, "0123456789");
}

static FactVerdict check_pair(const FactValue *value, const char *guess) {
  int64_t given[2];
  if (!read_pair(guess, given)) return FACT_NO_GUESS;
  bool row = given[0] == value->pair[0], col = given[1] == value->pair[1];
  if (row && col) return FACT_RIGHT;
  return row ? FACT_OTHER_COLUMN : col ? FACT_OTHER_ROW : FACT_IS_OTHER;
}

// The word of that letter, or else the one that begins so, as long as it is the only one; NULL:
// none.
static const char *read_word(const FactValue *value, const char *guess) {
  guess += strspn(guess, " (");
  size_t n = strlen(guess);
  while (n && (guess[n - 1] == ' ' || guess[n - 1] == ')')) n--;
  const char *meant = NULL;
  for (int i = 0; n == 1 && value->words[i]; i++)
    if ((*guess | 0x20) == 'a' + i) return value->words[i];
  for (int i = 0; n && value->words[i]; i++) {
    if (strncasecmp(value->words[i], guess, n) != 0) continue;
    bool whole = strlen(value->words[i]) == n;
    if (meant && !whole) return NULL;
    meant = value->words[i];
    if (whole) break;
  }
  return meant;
}

static FactVerdict check_word(const FactValue *value, const char *guess) {
  const char *meant = read_word(value, guess);
  if (!meant) return FACT_NO_GUESS;
  bool right = str_equal(meant, value->word);
  for (int i = 0; value->also && value->also[i]; i++) right |= str_equal(meant, value->also[i]);
  return right ? FACT_RIGHT : FACT_IS_OTHER;
}

const char *fact_words_text(Arena *arena, const FactValue *value, const char *mark) {
  if (value->kind != FACT_WORD) return NULL;
  Str out = str_new(arena);
  for (int i = 0; value->words[i]; i++)
    str_printf(&out, "%s%c%s%s", i ? "  " : "", 'a' + i, mark, value->words[i]);
  return out.text;
}

const char *fact_guess_text(Arena *arena, const FactValue *value, const char *guess) {
  double number;
  int64_t pair[2];
  const char *word = value->kind == FACT_WORD ? read_word(value, guess) : NULL;
  if (word) return word;
  if (value->kind == FACT_PAIR && read_pair(guess, pair))
    return arena_printf(arena, "(%lld, %lld)", (long long)pair[0], (long long)pair[1]);
  bool counts = value->kind == FACT_COUNT || value->kind == FACT_REAL;
  return counts && read_number(guess, &number) ? arena_printf(arena, "%.10g", number) : guess;
}

FactVerdict fact_check(const FactValue *value, const char *guess) {
  switch (value->kind) {
    case FACT_COUNT:
    case FACT_REAL:
      return check_number(value, guess);
    case FACT_PAIR:
      return check_pair(value, guess);
    case FACT_WORD:
      return check_word(value, guess);
    case FACT_TEXT:
      break;
  }
  return FACT_NO_GUESS;
}
