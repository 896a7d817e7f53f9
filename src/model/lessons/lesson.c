// Lesson files: JSON text in, const lessons out; steps filled with values that the model computes.
//
// Reading proves names and knob strings; lesson_compute() builds the step's model and computes
// every placeholder and every answer. Both tell all findings with their place in the file:
//   lessons/banks.json:31:16: steps[2].text: {wavefront 4}: there is no fact "wavefront"; …
//
// A step without a rung and a state has those of the step before, so that `--at 5` needs no replay.
#include "model/lessons/lesson.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"

static const char *const lesson_keys[] = {"name", "title", "about", "steps"};
static const char *const step_keys[] = {"title",   "text", "notes",  "rung", "state",
                                        "compare", "view", "before", "site", "knob",
                                        "line",    "do",   "ask"};
static const char *const ask_keys[] = {"question",  "why",       "hint",    "fact",      "choose",
                                       "least",     "most",      "beside",  "beside_is", "make",
                                       "more_than", "less_than", "solution"};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

// ---- findings with their place ------------------------------------------------------------------

static void tell(Diags *diags, const JsonValue *place, const Diags *inner, const char *what) {
  for (const Diag *d = inner->first; d; d = d->next) {
    Diag *told = json_diag(diags, place, "%s%s%s", what ? what : "", what ? ": " : "", d->text);
    told->nearest = d->nearest;
  }
}

static const JsonValue *place_of(const JsonValue *object, const char *key) {
  const JsonValue *value = json_object_get(object, key);
  return value ? value : object;
}

// ---- reading ------------------------------------------------------------------------------------

// Lessons are printed and drawn, and they may come from anybody.
static void check_text(const JsonValue *value, Diags *diags) {
  const char *text = NULL;
  Diags ignored = diags_new(diags->arena);
  if (!json_read_string(value, &text, &ignored)) return;
  if (strpbrk(text, "\n\t") || !str_equal(text, str_sanitise(diags->arena, text)))
    json_diag(diags, value, "there is a control character in it");
}

static void check_texts(const JsonValue *value, Diags *diags) {
  for (int i = 0; i < json_count(value); i++) {
    const char *key = json_key_at(value, i);
    check_texts(key ? json_object_get(value, key) : json_at(value, i), diags);
  }
  check_text(value, diags);
}

// The name must be one that a command line can type and a file (of progress, of a class) can have.
static void read_name(const JsonValue *root, Lesson *lesson, Diags *diags) {
  if (!json_require_string(root, "name", &lesson->name, diags)) return;
  size_t n = strlen(lesson->name), good = 0;
  while (good < n &&
         (isalnum((unsigned char)lesson->name[good]) || strchr("-_", lesson->name[good])))
    good++;
  if (n == 0 || good < n || n > LESSON_NAME_MAX)
    json_diag(diags, place_of(root, "name"),
              "\"%s\" is not a name for a lesson: use letters, digits, - and _, at most %d",
              str_sanitise(diags->arena, lesson->name), LESSON_NAME_MAX);
}

// An array of lines, joined by blanks; "" begins a paragraph.
static bool read_lines(Arena *arena, const JsonValue *object, const char *key, const char **out,
                       Diags *diags) {
  const JsonValue *lines = json_require_array(object, key, diags);
  Str text = str_new(arena);
  for (int i = 0; i < json_count(lines); i++) {
    const char *line = NULL;
    if (!json_read_string(json_at(lines, i), &line, diags)) return false;
    bool begins = !text.length || text.text[text.length - 1] == '\n';
    str_add(&text, *line ? begins ? "" : " " : "\n");
    str_add(&text, line);
  }
  if (lines && !text.length) json_diag(diags, lines, "there is no text in it");
  *out = text.text ? text.text : "";
  return text.length > 0;
}

static bool parse_knobs(Schedule *schedule, const char *knobs, const JsonValue *place,
                        Diags *diags) {
  Diags inner = diags_new(diags->arena);
  if (schedule_parse(schedule, knobs, &inner)) return true;
  tell(diags, place, &inner, NULL);
  return false;
}

static const Rung *read_rung(const FactWorld *world, const JsonValue *object, const char *key,
                             const Ladder **ladder, Diags *diags) {
  const char *name = NULL;
  Diags inner = diags_new(diags->arena);
  if (!json_optional_string(object, key, &name, diags) || !name) return NULL;
  const Rung *rung = fact_find_rung(world, name, ladder, &inner);
  tell(diags, place_of(object, key), &inner, NULL);
  return rung;
}

static void read_state(const FactWorld *world, const JsonValue *object, const LessonStep *before,
                       LessonStep *step, Diags *diags) {
  const char *knobs = NULL;
  step->rung = read_rung(world, object, "rung", &step->ladder, diags);
  json_optional_string(object, "state", &knobs, diags);
  step->schedule = step->rung ? step->rung->schedule : schedule_plain();
  if (!step->rung && !knobs && before) {
    step->schedule = before->schedule;
    step->rung = before->rung;
    step->ladder = before->ladder;
  }
  if (knobs) parse_knobs(&step->schedule, knobs, place_of(object, "state"), diags);
}

static void read_compare(const FactWorld *world, const JsonValue *object, LessonStep *step,
                         Diags *diags) {
  const char *with = NULL;
  if (!json_optional_string(object, "compare", &with, diags) || !with) return;
  step->compares = true;
  step->then = step->schedule;
  step->then_name = with;
  if (strchr(with, '=')) {
    parse_knobs(&step->then, with, place_of(object, "compare"), diags);
    return;
  }
  const Rung *rung = read_rung(world, object, "compare", NULL, diags);
  if (rung) step->then = rung->schedule;
}

static void read_view(const LessonWorld *world, const JsonValue *object, const char *key,
                      const char **view, Diags *diags) {
  json_optional_string(object, key, view, diags);
  for (int i = 0; i < world->n_views; i++)
    if (str_equal(world->views[i], *view)) return;
  Diag *diag = json_diag(diags, place_of(object, key), "there is no view \"%s\"",
                         str_sanitise(diags->arena, *view));
  diag->nearest = nearest_name(*view, world->views, world->n_views);
}

// The nest tells the work and not its cost; every other view would give the answer away.
static const char *view_before(const LessonStep *step) {
  bool asks = step->ask.kind == ASK_FACT || step->ask.kind == ASK_CHOICE;
  return asks ? "loops" : step->view;
}

static void read_knob(const JsonValue *object, LessonStep *step, Diags *diags) {
  const char *name = NULL, *nearest = NULL;
  step->knob = KNOB_NONE;
  if (!json_optional_string(object, "knob", &name, diags) || !name) return;
  step->knob = knob_find(name, &nearest);
  if (step->knob != KNOB_NONE) return;
  json_diag(diags, place_of(object, "knob"), "%s: no such knob", str_sanitise(diags->arena, name))
      ->nearest = nearest;
}

static void read_does(const LessonWorld *world, const JsonValue *object, LessonStep *step,
                      Diags *diags) {
  const JsonValue *does = json_object_get(object, "do");
  if (json_is_null(does) || !json_require_array(object, "do", diags)) return;
  step->n_do = json_count(does);
  if (step->n_do > LESSON_DO_MAX) {
    json_diag(diags, does, "%d actions; a step has at most %d", step->n_do, LESSON_DO_MAX);
    step->n_do = 0;
  }
  for (int i = 0; i < step->n_do; i++) {
    step->does[i] = "";
    if (!json_read_string(json_at(does, i), &step->does[i], diags)) continue;
    if (world->can_do && !world->can_do(step->view, step->does[i]))
      json_diag(diags, json_at(does, i), "the view %s has no action \"%s\"",
                str_sanitise(diags->arena, step->view), str_sanitise(diags->arena, step->does[i]));
  }
}

// ---- questions ----------------------------------------------------------------------------------

static void read_choices(const JsonValue *value, Ask *ask, Diags *diags) {
  const JsonValue *choices = json_require_array(value, "choose", diags);
  ask->kind = ASK_CHOICE;
  ask->n_choices = json_count(choices);
  if (ask->n_choices < 2 || ask->n_choices > LESSON_CHOICES_MAX) {
    json_diag(diags, place_of(value, "choose"), "%d choices; expected 2 to %d", ask->n_choices,
              LESSON_CHOICES_MAX);
    ask->n_choices = 0;
  }
  for (int i = 0; i < ask->n_choices; i++)
    if (!json_read_string(json_at(choices, i), &ask->choice[i], diags)) ask->choice[i] = "";
}

// Exactly one of two keys says in which direction.
static void read_either(const JsonValue *value, const char *less, const char *more,
                        const char **out, bool *is_more, Diags *diags) {
  const char *low = NULL, *high = NULL;
  json_optional_string(value, less, &low, diags);
  json_optional_string(value, more, &high, diags);
  if (!low == !high) json_diag(diags, value, "one of \"%s\" and \"%s\" is needed", less, more);
  *is_more = high != NULL;
  *out = high ? high : low;
}

static void read_ask(Arena *arena, const JsonValue *value, Ask *ask, Diags *diags) {
  if (json_is_null(value)) return;
  const char *made = NULL;
  ask->place = value;
  json_check_keys(value, ask_keys, COUNT(ask_keys), diags);
  json_require_string(value, "question", &ask->question, diags);
  read_lines(arena, value, "why", &ask->why, diags);
  json_optional_string(value, "hint", &ask->hint, diags);
  json_optional_string(value, "fact", &ask->fact, diags);
  json_optional_string(value, "make", &made, diags);
  bool chooses = !json_is_null(json_object_get(value, "choose"));
  if ((ask->fact != NULL) + (made != NULL) + chooses != 1) {
    json_diag(diags, value, "one of \"fact\", \"choose\" and \"make\" is needed");
    return;
  }
  ask->kind = ASK_FACT;
  if (chooses) {
    read_choices(value, ask, diags);
    read_either(value, "least", "most", &ask->fact, &ask->most, diags);
    json_optional_string(value, "beside", &ask->beside, diags);
    json_optional_string(value, "beside_is", &ask->beside_is, diags);
  } else if (made) {
    ask->kind = ASK_MAKE;
    ask->fact = made;
    read_either(value, "less_than", "more_than", &ask->limit, &ask->most, diags);
    json_require_string(value, "solution", &ask->solution, diags);
  }
}

static void read_step(Arena *arena, const LessonWorld *world, const JsonValue *value,
                      const LessonStep *before, LessonStep *step, Diags *diags) {
  step->place = value;
  json_check_keys(value, step_keys, COUNT(step_keys), diags);
  json_require_string(value, "title", &step->title, diags);
  read_lines(arena, value, "text", &step->text, diags);
  json_optional_string(value, "notes", &step->notes, diags);
  json_optional_string(value, "site", &step->site, diags);
  json_optional_string(value, "line", &step->line, diags);
  read_state(&world->facts, value, before, step, diags);
  read_compare(&world->facts, value, step, diags);
  read_knob(value, step, diags);
  read_ask(arena, json_object_get(value, "ask"), &step->ask, diags);
  step->view = "explore";
  read_view(world, value, "view", &step->view, diags);
  step->before = view_before(step);
  read_view(world, value, "before", &step->before, diags);
  read_does(world, value, step, diags);
}

const Lesson *lesson_read(Arena *arena, const char *text, size_t n, const char *what,
                          const LessonWorld *world, Diags *diags) {
  int before = diags->count;
  const JsonValue *root = json_parse(arena, text, n, diags, what);
  if (!root) return NULL;
  Lesson *lesson = ARENA_NEW(arena, Lesson);
  json_check_keys(root, lesson_keys, COUNT(lesson_keys), diags);
  check_texts(root, diags);
  read_name(root, lesson, diags);
  json_require_string(root, "title", &lesson->title, diags);
  json_require_string(root, "about", &lesson->about, diags);
  const JsonValue *steps = json_require_array(root, "steps", diags);
  lesson->n_steps = json_count(steps);
  if (steps && (lesson->n_steps < 1 || lesson->n_steps > LESSON_STEPS_MAX)) {
    json_diag(diags, steps, "%d steps; a lesson has 1 to %d", lesson->n_steps, LESSON_STEPS_MAX);
    return NULL;
  }
  LessonStep *step = ARENA_ARRAY(arena, LessonStep, lesson->n_steps);
  for (int i = 0; i < lesson->n_steps; i++)
    read_step(arena, world, json_at(steps, i), i ? &step[i - 1] : NULL, &step[i], diags);
  lesson->step = step;
  return diags->count == before ? lesson : NULL;
}

const Lesson *lesson_find(const Lesson *const *lessons, int n, const char *name, Diags *diags) {
  char *end;
  long number = strtol(name, &end, 10);
  if (isdigit((unsigned char)*name) && !*end && number >= 1 && number <= n)
    return lessons[number - 1];
  const char **names = ARENA_ARRAY(diags->arena, const char *, n);
  for (int i = 0; i < n; i++) {
    names[i] = lessons[i]->name;
    if (str_equal_fold(names[i], name)) return lessons[i];
  }
  Diag *diag = diag_add(diags, "lesson", "there is no lesson \"%s\"; lessons are 1 to %d",
                        str_sanitise(diags->arena, name), n);
  diag->nearest = nearest_name(name, names, n);
  return NULL;
}
