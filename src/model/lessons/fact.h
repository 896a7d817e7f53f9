// Facts: one question about one schedule, answered by the model.
//
//   FactWorld world = {&targets, ladders, n_ladders};
//   FactScene scene = {.arena = arena, .world = &world, .model = model};
//   FactValue value;
//   if (fact_compute(&scene, "wavefronts b<-B_s", &value, &diags)) …    value.number 8
//   fact_compute(&scene, "with PAD_SMEM=4 | smem_bytes", …)    of a schedule that differs in a knob
//   fact_compute(&scene, "at fp32/padded | estimate", …)       of a rung
//   fact_compute(&scene, "A | conflicts 1", …)                 of what the step is compared with
//
// Lessons never hold a number that the model knows: their texts name facts, and guesses are checked
// against the values computed here.
#pragma once
#include "base/diag.h"
#include "model/readings/model.h"
#include "model/words/ladder.h"

typedef enum FactKind { FACT_COUNT, FACT_REAL, FACT_PAIR, FACT_WORD, FACT_TEXT } FactKind;

// The origin of a number; the screen says it beside the number.
typedef enum FactOrigin {
  FACT_DERIVED,    // read off the program
  FACT_COUNTED,    // by the bank model
  FACT_ESTIMATED,  // from limits and peaks
  FACT_SIMULATED,  // by the interpreter
  FACT_CLAIMED,    // by an article
  FACT_RECORDED,   // on a GPU
  FACT_COMPILED,   // by the compiler
  FACT_PLAYED,     // by the clock of machine code
} FactOrigin;

enum { FACT_ARGS_MAX = 6, FACT_TEXT_MAX = 96 };

typedef struct FactValue {
  FactKind kind;
  FactOrigin origin;
  const char *unit;
  double number;             // COUNT, REAL
  double limit;              // the most that such a number can be; infinity: there is no such
  int64_t pair[2];           // PAIR
  const char *word;          // WORD, TEXT
  const char *const *words;  // WORD: all it could be, NULL-terminated
  const char *const *also;   // WORD: what is as right, NULL-terminated; NULL: that word alone
} FactValue;

typedef struct FactRecord {
  double tflops, ratio;        // ratio: of cuBLAS in the same run; 0: not known
  int registers, spill_bytes;  // -1: not known
  const char *gpu, *date;
} FactRecord;

// A number that was counted of a whole kernel, by a GPU's counters or by the compiler.
typedef struct FactCount {
  double number;
  const char *by, *date;  // "NVIDIA H200", "NVRTC 13.0"
} FactCount;

// A run that a fact asks for: of a program that has something to break so, or of one intact.
typedef struct FactQuestion {
  const char *of;        // both of these as a text
  Schedule schedule;     // cut down
  const char *breakage;  // "intact": nothing is broken
  bool every_order;      // searched through all orders (model/schedules/every_turn.h), not run
  struct FactQuestion *next;
} FactQuestion;

// Holds the interpreter's findings on broken programs: a step asks for its finding and for the text
// of it, and asks again when the user comes back to it. Nothing is run twice as long as these are
// kept.
//
// A run takes up to a tenth of a second where a pair of CTAs multiplies. A caller that cannot wait
// sets `later`: a run that is not known is then wanted instead of made, each once. Its fact is
// without an answer, after a finding of rule "run". A thread answers, and a caller that asks again
// is told.
//   FactRun *run = fact_run_make(arena, &targets, question);     on any thread
//   fact_run_keep(runs, run);                                    where the facts are asked for
typedef struct FactRun FactRun;
typedef struct FactRuns {
  Arena *arena;
  const FactRun *first;
  bool later;
  FactQuestion *wanted;  // the last one first, in the arena
} FactRuns;

struct ClockMachine;

typedef struct FactWorld {
  const TargetTable *targets;
  const Ladder *const *ladders;
  int n_ladders;
  // Fills in the record of a schedule on a GPU; false: no record. The model reads no files: the
  // owner of the records answers. NULL: there are none.
  bool (*recorded)(const void *records, const Schedule *schedule, FactRecord *out);
  const void *records;
  // The same for what was counted, by name: "wavefronts_lds", "registers"; false: it never was.
  bool (*counted)(const void *counters, const Schedule *schedule, const char *name, FactCount *out);
  const void *counters;
  FactRuns *runs;  // NULL: each question is a run of its own
  // The facts of a GPU's SM; false: none are known. NULL: there are none at all.
  bool (*clock)(Arena *arena, const Target *target, struct ClockMachine *machine);
} FactWorld;

typedef struct FactScene {
  Arena *arena;
  const FactWorld *world;
  const Model *model;  // legal
  const Model *then;   // A; NULL: nothing is compared
} FactScene;

typedef struct FactArgs {
  int n;
  const char *word[FACT_ARGS_MAX];
} FactArgs;

// Computes one fact; `value` comes with kind, unit and origin set. False after findings.
typedef bool FactCompute(const FactScene *scene, const FactArgs *args, FactValue *value,
                         Diags *diags);

typedef struct Fact {
  const char *name, *arguments, *unit;
  FactKind kind;
  FactOrigin origin;
  const char *help;
  FactCompute *compute;
} Fact;

extern const Fact fact_table[];
extern const int fact_count;

// For the arena, as its text is.
const FactRun *fact_run_make(Arena *arena, const TargetTable *targets,
                             const FactQuestion *question);
void fact_run_keep(FactRuns *runs, const FactRun *run);  // a copy; no longer wanted

const char *fact_origin_text(FactOrigin origin);  // "counted by the bank model"

// False after findings of rules "fact", "rung", "record" (it was never timed), "run" (FactRuns) or
// rules of the knobs, with the nearest name.
bool fact_compute(const FactScene *scene, const char *text, FactValue *value, Diags *diags);

// A text with its "{FACT}" places filled in: "{wavefronts 4}" becomes "8", "{{" is a brace. A place
// that cannot be computed becomes a dash, after findings that begin with the place: "{wavefronts
// 9}: …".
const char *fact_fill(const FactScene *scene, const char *text, Diags *diags);

// The KNOBS of a text "with KNOBS | …"; NULL when it is not of that form.
const char *fact_knobs(Arena *arena, const char *text);

// "8", "0.29", "(27, 12)", "shared memory". In `out` or in the scene's arena.
const char *fact_print(const FactValue *value, char out[FACT_TEXT_MAX]);

// The value with its unit: "8 wavefronts", "1 block", "thread 37".
const char *fact_say(Arena *arena, const FactValue *value);

// The outcome of comparing a guess with the value.
typedef enum FactVerdict {
  FACT_RIGHT,
  FACT_IS_MORE,  // the value is more than the guess
  FACT_IS_LESS,
  FACT_IS_OTHER,
  FACT_OTHER_COLUMN,  // of a pair; its row is right
  FACT_OTHER_ROW,
  FACT_NO_GUESS,  // it cannot be read as a guess
} FactVerdict;

// A guess as it is understood, so that equal ones read alike: "4", "(1, 2)", "race". As it is when
// it is none. In the arena.
const char *fact_guess_text(Arena *arena, const FactValue *value, const char *guess);

// All the words that a WORD could be, each after the letter that chooses it and `mark`: with ") "
// "a) nothing  b) race". NULL: the value is no word.
const char *fact_words_text(Arena *arena, const FactValue *value, const char *mark);

// COUNT must be equal; REAL within 2 %; a PAIR is two numbers in any brackets; a WORD is its letter
// in the list, or may be cut short as long as no other word begins like it. Where several words are
// true of a program, such as all kinds of findings about it, each of them is right.
FactVerdict fact_check(const FactValue *value, const char *guess);

// "fp32/padded": NULL after findings. `ladder` (may be NULL) gets the ladder.
const Rung *fact_find_rung(const FactWorld *world, const char *name, const Ladder **ladder,
                           Diags *diags);
