// A step of a lesson, computed: placeholders filled, answers found, guesses judged.
//
// Worked example: "its eight rows take {wavefronts a<-A_s} wavefronts" on the hgemm rung ldmatrix
// becomes "its eight rows take 32 wavefronts". The right choice among
//   {"choose": ["PAD_SMEM=1", "PAD_SMEM=2", "PAD_SMEM=4"], "least": "conflicts A_s<-r_a"}
// is whichever of the three schedules has the least of that fact; several may.
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "model/lessons/lesson.h"

// Everything one step is computed with.
typedef struct Desk {
  Arena *arena;
  const LessonStep *step;
  FactScene scene;
  Diags *diags;
} Desk;

static void tell(const Desk *desk, const JsonValue *place, const char *key, const char *what,
                 const Diags *inner) {
  const JsonValue *value = json_object_get(place, key);
  for (const Diag *d = inner->first; d; d = d->next) {
    Diag *told = json_diag(desk->diags, value ? value : place, "%s%s%s%s", *what ? "{" : "", what,
                           *what ? "}: " : "", d->text);
    told->nearest = d->nearest;
  }
}

static const Model *build(const Desk *desk, const LessonWorld *world, const Schedule *schedule,
                          const char *key) {
  const Model *model = model_build(desk->arena, world->facts.targets, schedule);
  if (!model->ok) tell(desk, desk->step->place, key, "", &model->diags);
  return model->ok ? model : NULL;
}

static bool compute(const Desk *desk, const JsonValue *place, const char *key, const char *text,
                    FactValue *value) {
  Diags inner = diags_new(desk->arena);
  if (fact_compute(&desk->scene, text, value, &inner)) return true;
  tell(desk, place, key, text, &inner);
  return false;
}

// ---- placeholders -------------------------------------------------------------------------------

static const char *fill(const Desk *desk, const JsonValue *place, const char *key,
                        const char *text) {
  Diags inner = diags_new(desk->arena);
  const char *filled = fact_fill(&desk->scene, text, &inner);
  tell(desk, place, key, "", &inner);
  return filled;
}

// ---- answers ------------------------------------------------------------------------------------

static double size_of(const FactValue *value) { return value->number; }

static bool is_number(const Desk *desk, const Ask *ask, const char *key, const FactValue *value) {
  bool number = value->kind == FACT_COUNT || value->kind == FACT_REAL;
  const JsonValue *place = json_object_get(ask->place, key);
  if (!number)
    json_diag(desk->diags, place ? place : ask->place, "\"%s\" is not a number: it has no minimum",
              ask->fact);
  return number;
}

static bool compute_choice(const Desk *desk, const Ask *ask, int i, StepChoice *out) {
  const char *key = ask->most ? "most" : "least", *knobs = ask->choice[i];
  out->knobs = knobs;
  const char *fact = arena_printf(desk->arena, "with %s | %s", knobs, ask->fact);
  if (!compute(desk, ask->place, key, fact, &out->value)) return false;
  if (!is_number(desk, ask, key, &out->value)) return false;
  if (!ask->beside) return true;
  fact = arena_printf(desk->arena, "with %s | %s", knobs, ask->beside);
  return compute(desk, ask->place, "beside", fact, &out->beside);
}

static bool compute_choices(const Desk *desk, const Ask *ask, StepFacts *out) {
  double best = 0;
  int n_right = 0;
  for (int i = 0; i < ask->n_choices; i++) {
    if (!compute_choice(desk, ask, i, &out->choice[i])) return false;
    double size = size_of(&out->choice[i].value);
    if (i == 0 || (ask->most ? size > best : size < best)) best = size;
  }
  out->n_choices = ask->n_choices;
  for (int i = 0; i < out->n_choices; i++) {
    out->choice[i].right =
        !(size_of(&out->choice[i].value) > best) && !(size_of(&out->choice[i].value) < best);
    n_right += out->choice[i].right;
  }
  if (n_right < out->n_choices) return true;
  json_diag(desk->diags, ask->place, "all choices are equally good: nothing to choose");
  return false;
}

static bool passes(const Ask *ask, const FactValue *value, const FactValue *limit) {
  return ask->most ? value->number > limit->number : value->number < limit->number;
}

static bool compute_goal(const Desk *desk, const Ask *ask, StepFacts *out) {
  const char *limit = ask->most ? "more_than" : "less_than";
  const char *solution = arena_printf(desk->arena, "with %s | %s", ask->solution, ask->fact);
  if (!compute(desk, ask->place, "make", ask->fact, &out->answer) ||
      !is_number(desk, ask, "make", &out->answer) ||
      !compute(desk, ask->place, limit, ask->limit, &out->limit) ||
      !is_number(desk, ask, limit, &out->limit) ||
      !compute(desk, ask->place, "solution", solution, &out->solution))
    return false;
  if (passes(ask, &out->answer, &out->limit)) {
    json_diag(desk->diags, ask->place, "the state passes already: there is nothing to make");
    return false;
  }
  if (passes(ask, &out->solution, &out->limit)) return true;
  json_diag(desk->diags, json_object_get(ask->place, "solution"), "it gives %g; %g passes",
            out->solution.number, out->limit.number);
  return false;
}

static bool compute_ask(const Desk *desk, StepFacts *out) {
  const Ask *ask = &desk->step->ask;
  if (ask->kind == ASK_NOTHING) return true;
  out->question = fill(desk, ask->place, "question", ask->question);
  out->why = fill(desk, ask->place, "why", ask->why);
  if (ask->hint) out->hint = fill(desk, ask->place, "hint", ask->hint);
  if (ask->kind == ASK_CHOICE) return compute_choices(desk, ask, out);
  if (ask->kind == ASK_MAKE) return compute_goal(desk, ask, out);
  if (!compute(desk, ask->place, "fact", ask->fact, &out->answer)) return false;
  if (out->answer.kind != FACT_TEXT) return true;
  json_diag(desk->diags, ask->place, "\"%s\" is a text and cannot be guessed", ask->fact);
  return false;
}

// The schedule that the answer shows: of a choice the first that is right, of a question about
// "with KNOBS | …" the one with these knobs, of a task its solution; else the step's own.
static void choose_shown(const Desk *desk, StepFacts *out) {
  const Ask *ask = &desk->step->ask;
  const char *knobs = ask->kind == ASK_FACT ? fact_knobs(desk->arena, ask->fact) : ask->solution;
  out->shown = desk->step->schedule;
  for (int i = out->n_choices; i-- > 0;)
    if (out->choice[i].right) knobs = out->choice[i].knobs;
  Diags known = diags_new(desk->arena);  // the fact was computed: they can be read
  if (knobs) schedule_parse(&out->shown, knobs, &known);
}

bool lesson_compute(Arena *arena, const LessonWorld *world, const Lesson *lesson, int step,
                    StepFacts *out, Diags *diags) {
  int before = diags->count;
  Desk desk = {.arena = arena, .step = &lesson->step[step], .diags = diags};
  const LessonStep *at = desk.step;
  *out = (StepFacts){0};
  desk.scene = (FactScene){.arena = arena, .world = &world->facts};
  desk.scene.model = build(&desk, world, &at->schedule, "state");
  if (at->compares) desk.scene.then = build(&desk, world, &at->then, "compare");
  if (diags->count > before) return false;
  FactValue site;
  if (at->site) compute(&desk, at->place, "site", arena_printf(arena, "site %s", at->site), &site);
  out->text = fill(&desk, at->place, "text", at->text);
  for (int i = 0; i < at->n_do; i++) out->does[i] = fill(&desk, at->place, "do", at->does[i]);
  if (at->notes) out->notes = fill(&desk, at->place, "notes", at->notes);
  if (!compute_ask(&desk, out) || diags->count > before) return false;
  choose_shown(&desk, out);
  return true;
}

// ---- guesses ------------------------------------------------------------------------------------

static Verdict judge_value(Arena *arena, const FactValue *value, const char *guess) {
  Verdict verdict = {.fact = fact_check(value, guess)};
  static const char *const wanted[] = {[FACT_COUNT] = "a whole number",
                                       [FACT_REAL] = "a number",
                                       [FACT_PAIR] = "row and column, as in 12, 34",
                                       [FACT_WORD] = "one of the words, or its letter",
                                       [FACT_TEXT] = "nothing"};
  static const char *const says[] = {[FACT_RIGHT] = "right",
                                     [FACT_IS_MORE] = "no, it is more",
                                     [FACT_IS_LESS] = "no, it is less",
                                     [FACT_IS_OTHER] = "no",
                                     [FACT_OTHER_COLUMN] = "no, but the row is right",
                                     [FACT_OTHER_ROW] = "no, but the column is right"};
  const char *clean = str_sanitise(arena, guess);
  const char *word = value->kind == FACT_WORD ? fact_guess_text(arena, value, guess) : clean;
  const bool beside = verdict.fact == FACT_RIGHT && value->also && !str_equal(word, value->word);
  if (verdict.fact == FACT_NO_GUESS)
    verdict.text =
        arena_printf(arena, "\"%.40s\" is not an answer: type %s", clean, wanted[value->kind]);
  else
    verdict.text = arena_printf(arena, "%s: %s%s%s", word, says[verdict.fact],
                                beside ? ", and so is " : "", beside ? value->word : "");
  return verdict;
}

static int find_choice(const StepFacts *facts, const char *guess) {
  while (*guess == ' ' || *guess == '(') guess++;
  size_t n = strcspn(guess, " )");
  if (n == 1 && (*guess | 0x20) >= 'a' && (*guess | 0x20) < 'a' + facts->n_choices)
    return (*guess | 0x20) - 'a';
  for (int i = 0; i < facts->n_choices; i++)
    if (str_equal_fold(facts->choice[i].knobs, guess)) return i;
  return -1;
}

static Verdict judge_choice(Arena *arena, const StepFacts *facts, const char *guess) {
  int i = find_choice(facts, guess);
  if (i < 0)
    return (Verdict){FACT_NO_GUESS,
                     arena_printf(arena, "\"%.40s\" is not an answer: type a letter, a to %c",
                                  str_sanitise(arena, guess), 'a' + facts->n_choices - 1)};
  const StepChoice *choice = &facts->choice[i];
  const char *name = arena_printf(arena, "%c) %s", 'a' + i, choice->knobs);
  if (choice->right) return (Verdict){FACT_RIGHT, arena_printf(arena, "%s: right", name)};
  return (Verdict){FACT_IS_OTHER, arena_printf(arena, "%s: no, it has %s; another is better", name,
                                               fact_say(arena, &choice->value))};
}

const char *lesson_choice(const LessonStep *step, const StepFacts *facts, int i) {
  const FactValue *value = &facts->answer;
  if (step->ask.kind == ASK_CHOICE) return i < facts->n_choices ? facts->choice[i].knobs : NULL;
  bool word = step->ask.kind == ASK_FACT && value->kind == FACT_WORD;
  return word ? value->words[i] : NULL;
}

const char *lesson_guess_text(Arena *arena, const LessonStep *step, const StepFacts *facts,
                              const char *guess) {
  int i = step->ask.kind == ASK_CHOICE ? find_choice(facts, guess) : -1;
  if (i >= 0) return arena_printf(arena, "%c) %s", 'a' + i, facts->choice[i].knobs);
  return step->ask.kind == ASK_FACT ? fact_guess_text(arena, &facts->answer, guess) : guess;
}

Verdict lesson_check_schedule(Arena *arena, const LessonWorld *world, const LessonStep *step,
                              const StepFacts *facts, const Schedule *made) {
  if (!schedule_same_problem(&step->schedule, made))
    return (Verdict){FACT_NO_GUESS,
                     "the problem (M, N, K, types, GPU) is part of the task: leave it as it is"};
  const Model *model = model_build(arena, world->facts.targets, made);
  if (!model->ok)
    return (Verdict){FACT_NO_GUESS, arena_printf(arena, "not legal: %s", model->diags.first->text)};
  FactScene scene = {.arena = arena, .world = &world->facts, .model = model};
  FactValue value;
  Diags ignored = diags_new(arena);
  if (!fact_compute(&scene, step->ask.fact, &value, &ignored))
    return (Verdict){FACT_NO_GUESS, ignored.first->text};
  bool right = passes(&step->ask, &value, &facts->limit);
  return (Verdict){right ? FACT_RIGHT : FACT_IS_OTHER,
                   arena_printf(arena, "%s: %s %s than %s", fact_say(arena, &value),
                                right ? "done: the task was" : "not yet: the task is",
                                step->ask.most ? "more" : "less", fact_say(arena, &facts->limit))};
}

static Verdict judge_knobs(Arena *arena, const LessonWorld *world, const LessonStep *step,
                           const StepFacts *facts, const char *guess) {
  Schedule made = step->schedule;
  Diags diags = diags_new(arena);
  if (schedule_parse(&made, guess, &diags))
    return lesson_check_schedule(arena, world, step, facts, &made);
  return (Verdict){FACT_NO_GUESS, diags.first->text};
}

Verdict lesson_check(Arena *arena, const LessonWorld *world, const LessonStep *step,
                     const StepFacts *facts, const char *guess) {
  if (step->ask.kind == ASK_CHOICE) return judge_choice(arena, facts, guess);
  if (step->ask.kind == ASK_MAKE) return judge_knobs(arena, world, step, facts, guess);
  if (step->ask.kind == ASK_FACT) return judge_value(arena, &facts->answer, guess);
  return (Verdict){FACT_NO_GUESS, "this step asks nothing"};
}

// ---- the answer ---------------------------------------------------------------------------------

const char *lesson_choice_text(Arena *arena, const Ask *ask, const StepChoice *choice) {
  const char *value = fact_say(arena, &choice->value);
  if (!ask->beside) return value;
  return arena_printf(arena, "%s, %s%s%s", value, fact_say(arena, &choice->beside),
                      ask->beside_is ? " " : "", ask->beside_is ? ask->beside_is : "");
}

static const char *choices_text(Arena *arena, const Ask *ask, const StepFacts *facts) {
  Str out = str_new(arena);
  for (int i = 0; i < facts->n_choices; i++) {
    const StepChoice *choice = &facts->choice[i];
    if (!choice->right) continue;
    str_printf(&out, "%s%c) %s: %s", out.length ? "; " : "", 'a' + i, choice->knobs,
               lesson_choice_text(arena, ask, choice));
  }
  return out.text;
}

const char *lesson_answer(Arena *arena, const LessonStep *step, const StepFacts *facts) {
  const Ask *ask = &step->ask;
  if (ask->kind == ASK_NOTHING) return "";
  if (ask->kind == ASK_CHOICE)
    return arena_printf(arena, "%s (%s)", choices_text(arena, ask, facts),
                        fact_origin_text(facts->choice[0].value.origin));
  if (ask->kind == ASK_MAKE)
    return arena_printf(arena, "one way: %s, %s (%s)", ask->solution,
                        fact_say(arena, &facts->solution),
                        fact_origin_text(facts->solution.origin));
  return arena_printf(arena, "%s (%s)", fact_say(arena, &facts->answer),
                      fact_origin_text(facts->answer.origin));
}
