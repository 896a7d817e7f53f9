// Lessons: steps that each show one state of one view, tell about it, and ask for a prediction.
//
//   LessonWorld world = {.facts = {&targets, ladders, n}, .views = names, .n_views = n_names};
//   const Lesson *lesson = lesson_read(arena, text, size, "lessons/01_tiers.json", &world, &diags);
//   StepFacts facts;
//   if (lesson_compute(arena, &world, lesson, 2, &facts, &diags)) …  facts.text, facts.answer
//
// The file is one object; what is marked * must be there:
//   {"name": "banks"*, "title": "…"*, "about": "one line"*, "steps": [*
//     {"title": "…"*,
//      "text": ["lines that are joined", "by a blank"]*,   {FACT} stands for a computed value
//      "notes": "what a teacher should know",
//      "rung": "fp32/padded", "state": "PAD_SMEM=4",   the knobs over the rung, or the defaults;
//                                                      neither: what the step before had
//      "compare": "PAD_SMEM=0",                        A: the knobs over the state, or LADDER/RUNG
//      "view": "banks", "site": "b<-B_s", "knob": "PAD_SMEM", "line": "barrier",   what to look at;
//                                                      "last barrier" is the last such line
//      "do": ["picture", "element 3,5"],               actions of that view, once it is there
//      "before": "banks",                              the view until the answer is shown; without
//                                                      it the nest, which tells no costs
//      "ask": {"question": "…"*, "why": ["…"]*, "hint": "after a wrong guess", and one of
//         "fact": "wavefronts b<-B_s"                   the guess is a value
//         "choose": ["PAD_SMEM=1", "PAD_SMEM=4"], "least" or "most": FACT
//                                                      the guess is one of these knobs; with
//                                                      "beside": FACT, "beside_is": "from DRAM" a
//                                                      second number stands there, and what it is
//         "make": FACT, "more_than" or "less_than": FACT, "solution": "KNOBS"
//                                                      the guess is a schedule of the reader's own
//      }}]}
// FACT is a text for fact_compute() (fact.def lists them). No answer is ever written into a file.
#pragma once
#include "base/json.h"
#include "model/lessons/fact.h"

// LESSON_AT_MAX is for options: a lesson itself says its number of steps.
enum {
  LESSON_AT_MAX = 999,
  LESSON_CHOICES_MAX = 8,
  LESSON_STEPS_MAX = 32,
  LESSON_DO_MAX = 4,
  LESSON_NAME_MAX = 31
};

typedef enum AskKind { ASK_NOTHING, ASK_FACT, ASK_CHOICE, ASK_MAKE } AskKind;

typedef struct Ask {
  AskKind kind;
  const char *question, *why;  // with placeholders
  const char *hint;            // the same; NULL: none
  const char *fact;            // the fact to guess, or to compare between choices, or to make
  int n_choices;
  const char *choice[LESSON_CHOICES_MAX];
  bool most;               // CHOICE: the right one has the most; MAKE: more than
  const char *beside;      // CHOICE: a second number, for the reveal; NULL: none
  const char *beside_is;   // what that is, behind it; NULL: its unit says so
  const char *limit;       // MAKE: the fact to pass
  const char *solution;    // MAKE: knobs that do, over the state
  const JsonValue *place;  // in the file
} Ask;

typedef struct LessonStep {
  const char *title, *text, *notes;  // notes: NULL none
  const Rung *rung;                  // NULL: none
  const Ladder *ladder;              // of the rung
  Schedule schedule;
  bool compares;
  Schedule then;
  const char *then_name;
  const char *view;         // "explore"
  const char *before;       // the view until the answer is shown
  const char *site, *line;  // NULL: none
  KnobId knob;              // KNOB_NONE: none
  int n_do;
  const char *does[LESSON_DO_MAX];  // "element 3,5", with placeholders
  Ask ask;
  const JsonValue *place;
} LessonStep;

typedef struct Lesson {
  const char *name, *title, *about;
  int n_steps;
  const LessonStep *step;
} Lesson;

typedef struct LessonWorld {
  FactWorld facts;
  const char *const *views;
  int n_views;
  // Whether a view has an action "NAME ARGUMENT"; NULL: not known, any will do.
  bool (*can_do)(const char *view, const char *action);
} LessonWorld;

// Syntax, names and knob strings. NULL when anything is wrong; the findings say what and where, as
// in "lessons/01_tiers.json:12:16: steps[2].knob: …". No model is built.
const Lesson *lesson_read(Arena *arena, const char *text, size_t n, const char *what,
                          const LessonWorld *world, Diags *diags);

// Finds a lesson by its name or by its number from 1; NULL after a finding with the nearest name.
const Lesson *lesson_find(const Lesson *const *lessons, int n, const char *name, Diags *diags);

// One choice, computed.
typedef struct StepChoice {
  const char *knobs;
  FactValue value, beside;
  bool right;
} StepChoice;

// A step with everything that the model has to say about it.
typedef struct StepFacts {
  const char *text, *notes;           // filled in; notes NULL: none
  const char *does[LESSON_DO_MAX];    // step.n_do of them
  const char *question, *why, *hint;  // NULL when nothing is asked
  FactValue answer;                   // ASK_FACT; ASK_MAKE: of the state
  FactValue limit;                    // ASK_MAKE: the limit to pass
  FactValue solution;                 // ASK_MAKE: what the file's solution reaches
  int n_choices;
  StepChoice choice[LESSON_CHOICES_MAX];
  Schedule shown;  // what the answer is about: the right choice, the question's "with KNOBS |", the
                   // solution
} StepFacts;

// False after findings with their place in the file: a state that is not legal, a fact that cannot
// be computed, a question without an answer.
bool lesson_compute(Arena *arena, const LessonWorld *world, const Lesson *lesson, int step,
                    StepFacts *out, Diags *diags);

// The verdict on a guess. For ASK_CHOICE the guess is a letter from "a" on or the knobs; for
// ASK_MAKE the knobs of a schedule, over the step's.
typedef struct Verdict {
  FactVerdict fact;
  const char *text;  // one sentence; of a wrong guess it does not give the answer away
} Verdict;
Verdict lesson_check(Arena *arena, const LessonWorld *world, const LessonStep *step,
                     const StepFacts *facts, const char *guess);
// ASK_MAKE: the same for a whole schedule.
Verdict lesson_check_schedule(Arena *arena, const LessonWorld *world, const LessonStep *step,
                              const StepFacts *facts, const Schedule *made);

// A guess as it is understood: "8", "(1, 2)", "b) PAD_SMEM=2"; a text that is no guess stays as it
// is.
const char *lesson_guess_text(Arena *arena, const LessonStep *step, const StepFacts *facts,
                              const char *guess);

// The choices there are, in the order in which they are always listed, as a guess would name them:
// knobs or words. NULL behind the last, and where anything may be guessed.
const char *lesson_choice(const LessonStep *step, const StepFacts *facts, int i);

// "80 MiB, 0.381 GiB from DRAM": what a choice comes to.
const char *lesson_choice_text(Arena *arena, const Ask *ask, const StepChoice *choice);

// The answer in one sentence, with its unit and where it comes from.
const char *lesson_answer(Arena *arena, const LessonStep *step, const StepFacts *facts);
