// The lesson under way: which step, what was guessed, whether the answer is shown; and its marks.
//
//   tutor_load(session, &diags);                 data/lessons, once
//   tutor_open(session, "banks", 3, &diags);     step 3: its state, its view, its highlights
//   tutor_guess(session, "8");                   checked at once, unless the answer is held back
//   tutor_reveal(session);
//
// LessonRun is all that decides what the lesson view shows: a key or a teacher's message sets it
// and drives the same screen. A step puts its schedule into the session as one edit, so that `u`
// leads back; the knobs may then be turned freely, and tutor_restore() puts the step's back.
#pragma once
#include "model/lessons/lesson.h"

struct Session;

enum { TUTOR_LESSONS_MAX = 64, TUTOR_GUESS_BYTES = 128 };

typedef struct LessonRun {
  const Lesson *lesson;  // NULL: none is open
  int step;
  char guess[TUTOR_GUESS_BYTES];  // "" = none yet
  bool revealed;
  bool held;  // the reveal is the teacher's; guesses are taken, not judged
} LessonRun;

// The marks of a lesson, kept between runs; bit i stands for step i.
typedef struct LessonMark {
  char name[LESSON_NAME_MAX + 1];
  int step;               // where it was left
  uint32_t right, shown;  // guessed right; the answer was looked at first
} LessonMark;

typedef enum ClassRole { CLASS_NONE, CLASS_TEACHER, CLASS_FOLLOWER } ClassRole;

enum { CLASS_ROWS_MAX = 8, CLASS_GUESS_BYTES = 48, CLASS_NAMES_BYTES = 512 };

typedef struct ClassRow {
  char guess[CLASS_GUESS_BYTES];
  int count;
  bool right;
} ClassRow;

// The class as the screen shows it (classroom.h fills it in).
typedef struct ClassState {
  ClassRole role;
  bool connected;  // CLASS_FOLLOWER: the teacher is there
  int n_here, n_guessed, n_rows;
  ClassRow row[CLASS_ROWS_MAX];  // CLASS_TEACHER: guesses, the most frequent first
  // CLASS_TEACHER: names in the order of coming, "ana, ben": the ones with a guess, the ones here
  // without, the ones that are gone
  char guessed[CLASS_NAMES_BYTES], waiting[CLASS_NAMES_BYTES], gone[CLASS_NAMES_BYTES];
  char way_in[256];  // CLASS_TEACHER: the line to type to join
} ClassState;

typedef struct Tutor {
  Arena *arena;  // of the step
  bool loaded;
  LessonWorld world;
  int n_lessons;
  const Lesson *lesson[TUTOR_LESSONS_MAX];
  const char *trouble;  // the first finding about a file that could not be read; NULL: none
  LessonRun run;
  StepFacts facts;
  const char *error;     // why the step has no facts; NULL: it has
  const char *answer;    // one sentence
  Verdict verdict;       // of run.guess; text NULL: none
  Schedule judged;       // what was on the screen then
  bool listing, noting;  // the list of lessons is shown; the notes are
  int list_at;
  ClassState class;
  LessonMark mark[TUTOR_LESSONS_MAX];  // by lesson
} Tutor;

// It is what the lesson view keeps between frames: begun and ended with that (ViewBody.open,
// .close).
Tutor *tutor_of(const struct Session *session);
void tutor_init(void *state);
void tutor_done(void *state);

// Reads the lessons when that was not done yet. False, with findings, when there is none to show; a
// file that is wrong is left out and told in tutor->trouble.
bool tutor_load(struct Session *session, Diags *diags);

// The names of the views that a step may be about; `names` has SESSION_VIEWS_MAX places.
int tutor_views(const char **names);

// `step` from 1; 0: where it was left.
bool tutor_open(struct Session *session, const char *name, int step, Diags *diags);
bool tutor_open_at(struct Session *session, int lesson, int step);
// To step `step` (from 0) of the open lesson; at either end nothing happens.
bool tutor_go(struct Session *session, int step);
int tutor_index(const Tutor *tutor);               // of the open lesson; -1: none
const LessonStep *tutor_step(const Tutor *tutor);  // NULL: none

// The view to show beside the text now: another one before the answer than after it.
const char *tutor_view(const Tutor *tutor);

void tutor_guess(struct Session *session, const char *guess);
// Takes the present schedule as the guess, in a step that asks for one.
void tutor_guess_schedule(struct Session *session);
void tutor_reveal(struct Session *session);
// The answer is free: the guess is judged, then everything is shown.
void tutor_release(struct Session *session);
// Knobs in which the session differs from the step, and back to none.
int tutor_edits(const struct Session *session);
void tutor_restore(struct Session *session);
