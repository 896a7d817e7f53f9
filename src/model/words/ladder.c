// Ladder files: JSON text in, a const Ladder out. Nothing is read from disk here.
//
// All findings of a file are collected, each with its line, so that a wrong file is mended in one
// go. A rung's knob string says all that is on (AUTO=0). A fault in it is told with the place of
// the string in the file:
//   ladders/fp32.json:12:16: rungs[2].knobs: BMM: no such knob; nearest: BM
#include "model/words/ladder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/nearest.h"
#include "base/str.h"

static const char *const ladder_keys[] = {"name", "title", "source", "place", "rungs"};
static const char *const rung_keys[] = {"name",  "title", "knobs",    "line",
                                        "aside", "claim", "not_built"};
static const char *const claim_keys[] = {"text", "value", "unit", "gpu", "source"};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const Claim *read_claim(Arena *arena, const JsonValue *value, Diags *diags) {
  if (json_is_null(value)) return NULL;
  Claim *claim = ARENA_NEW(arena, Claim);
  json_check_keys(value, claim_keys, COUNT(claim_keys), diags);
  json_require_string(value, "text", &claim->text, diags);
  const JsonValue *number = json_object_get(value, "value");
  claim->has_value = !json_is_null(number) && json_read_double(number, &claim->value, diags);
  json_optional_string(value, "unit", &claim->unit, diags);
  json_optional_string(value, "gpu", &claim->gpu, diags);
  json_optional_string(value, "source", &claim->source, diags);
  return claim;
}

// The findings of a knob string, each told again with the string's place in the file.
static void read_knobs(Arena *arena, const JsonValue *object, Rung *rung, Diags *diags) {
  Diags inner = diags_new(arena);
  rung->schedule = schedule_plain();
  bool ok = schedule_parse(&rung->schedule, rung->knobs, &inner);
  rung->state = schedule_text(arena, &rung->schedule);
  if (ok) return;
  const JsonValue *knobs = json_object_get(object, "knobs");
  for (const Diag *d = inner.first; d; d = d->next) {
    Diag *told = json_diag(diags, knobs, "%s", d->text);
    told->nearest = d->nearest;
  }
}

static void read_rung(Arena *arena, const JsonValue *value, Rung *rung, Diags *diags) {
  json_check_keys(value, rung_keys, COUNT(rung_keys), diags);
  json_require_string(value, "name", &rung->name, diags);
  json_require_string(value, "title", &rung->title, diags);
  json_require_string(value, "line", &rung->line, diags);
  json_optional_string(value, "not_built", &rung->not_built, diags);
  json_optional_bool(value, "aside", &rung->aside, diags);
  rung->claim = read_claim(arena, json_object_get(value, "claim"), diags);
  if (json_require_string(value, "knobs", &rung->knobs, diags))
    read_knobs(arena, value, rung, diags);
}

static void check_names(const JsonValue *rungs, const Rung *rung, int n, Diags *diags) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      if (rung[i].name && rung[j].name && str_equal(rung[i].name, rung[j].name))
        json_diag(diags, json_at(rungs, i), "the name \"%s\" is taken by rungs[%d]", rung[i].name,
                  j);
}

static void read_place(const JsonValue *root, Ladder *ladder, Diags *diags) {
  enum { PLACES = 100 };
  const JsonValue *place = json_object_get(root, "place");
  int64_t number = 0;
  if (!json_is_null(place)) json_read_int64(place, 0, PLACES, &number, diags);
  ladder->place = (int)number;
}

const Ladder *ladder_read(Arena *arena, const char *text, size_t n, const char *what,
                          Diags *diags) {
  int before = diags->count;
  const JsonValue *root = json_parse(arena, text, n, diags, what);
  if (!root) return NULL;
  Ladder *ladder = ARENA_NEW(arena, Ladder);
  ladder->source = "";
  json_check_keys(root, ladder_keys, COUNT(ladder_keys), diags);
  json_require_string(root, "name", &ladder->name, diags);
  json_require_string(root, "title", &ladder->title, diags);
  json_optional_string(root, "source", &ladder->source, diags);
  read_place(root, ladder, diags);
  const JsonValue *rungs = json_require_array(root, "rungs", diags);
  ladder->n_rungs = json_count(rungs);
  if (rungs && ladder->n_rungs == 0) json_diag(diags, rungs, "a ladder has at least one rung");
  Rung *rung = ARENA_ARRAY(arena, Rung, ladder->n_rungs);
  for (int i = 0; i < ladder->n_rungs; i++) read_rung(arena, json_at(rungs, i), &rung[i], diags);
  check_names(rungs, rung, ladder->n_rungs, diags);
  ladder->rung = rung;

  return diags->count == before ? ladder : NULL;
}

static int find_by_number(const Ladder *ladder, const char *text) {
  char *end;
  long number = strtol(text, &end, 10);
  bool whole = *text >= '0' && *text <= '9' && *end == '\0';
  return whole && number < ladder->n_rungs ? (int)number : -1;
}

int ladder_find_rung(const Ladder *ladder, const char *rung, Diags *diags) {
  for (int i = 0; i < ladder->n_rungs; i++)
    if (str_equal_fold(ladder->rung[i].name, rung)) return i;
  int number = find_by_number(ladder, rung);
  if (number >= 0 || !diags) return number;
  const char **names = ARENA_ARRAY(diags->arena, const char *, ladder->n_rungs);
  for (int i = 0; i < ladder->n_rungs; i++) names[i] = ladder->rung[i].name;
  Diag *diag = diag_add(diags, "rung", "the ladder %s has no rung \"%s\"; its rungs are 0 to %d",
                        ladder->name, str_sanitise(diags->arena, rung), ladder->n_rungs - 1);
  diag->nearest = nearest_name(rung, names, ladder->n_rungs);
  return -1;
}

// Asides stand in groups that are about one thing each; within a group few knobs are turned.
enum { ASIDE_KNOBS_MAX = 3 };

int ladder_rung_before(const Ladder *ladder, int rung) {
  const Rung *all = ladder->rung;
  int before = rung - 1;
  if (all[rung].aside) {
    bool follows = before >= 0 && all[before].aside &&
                   schedule_distance(&all[before].schedule, &all[rung].schedule) <= ASIDE_KNOBS_MAX;
    return follows ? before : -1;
  }
  while (before >= 0 && all[before].aside) before--;
  return before;
}

void ladders_sort(const Ladder **ladders, int n) {
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && ladders[j]->place < ladders[j - 1]->place; j--) {
      const Ladder *moved = ladders[j];
      ladders[j] = ladders[j - 1];
      ladders[j - 1] = moved;
    }
}

bool rung_tells_of(const Rung *rung, const Schedule *schedule) {
  enum { FEW = 3 };
  static const KnobId kind[] = {KNOB_ATOM_KIND, KNOB_STAGE, KNOB_TMA, KNOB_WARP_SPECIALIZE};
  int n = 0;
  for (int i = 0; i < COUNT(kind); i++)
    if (schedule_differs(&rung->schedule, schedule, kind[i])) return false;
  for (int i = 0; i < KNOB_COUNT; i++)
    n += !knob_is_problem((KnobId)i) && schedule_differs(&rung->schedule, schedule, (KnobId)i);
  return n <= FEW;
}

// 2·M·N·K of the problem behind the name of the GPU; NaN where none is named so.
static double claimed_flop(const char *gpu) {
  const char *comma = gpu ? strrchr(gpu, ',') : NULL;
  long long m = 0, n = 0, k = 0;
  int end = -1;
  if (!comma) return NAN;
  if (sscanf(comma, ", %lld^3%n", &m, &end) == 1 && end >= 0 && !comma[end])
    return 2 * pow((double)m, 3);
  if (sscanf(comma, ", %lld x %lld x %lld%n", &m, &n, &k, &end) == 3 && !comma[end])
    return 2 * (double)m * (double)n * (double)k;
  return NAN;
}

double claim_tflops(const Claim *claim) {
  static const struct {
    const char *unit;
    double seconds;
  } times[] = {{"ms", 1e-3}, {"us", 1e-6}};
  if (!claim->has_value || !claim->unit) return NAN;
  if (str_equal(claim->unit, "TFLOP/s")) return claim->value;
  for (int i = 0; i < COUNT(times); i++)
    if (str_equal(claim->unit, times[i].unit))
      return claimed_flop(claim->gpu) / (claim->value * times[i].seconds) * 1e-12;
  return NAN;
}

#define FORM_FILE "model/words/claim.form"
#include "base/form_make.h"
