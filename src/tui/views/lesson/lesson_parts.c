// The words of a step, part by part: its text, the question with its choices, the verdict, the
// answer and why, the class, the teacher's notes. Worked example, a question about a number after a
// wrong guess:
//
//   gap
//   asked   accent   PREDICT how many wavefronts does the load of b take?
//   asked   bad      4 is less
//   asked   note     the hint of the step
#include "tui/views/lesson/lesson_view.h"

#include "base/str.h"
#include "tui/canvas/canvas.h"
#include "tui/frame/tutor.h"

static void add_part(LessonParts *parts, PartKind kind, Style style, const char *text) {
  if (parts->n < PARTS_MAX) parts->part[parts->n++] = (Part){kind, style, text};
}

void parts_tell(LessonParts *parts, Style style, const char *text) {
  add_part(parts, PART_TOLD, style, text);
}

static void add(LessonParts *parts, Style style, const char *text) {
  add_part(parts, PART_ASKED, style, text);
}

bool part_is(const Part *part, PartKind kind) { return kind == PART_ANY || part->kind == kind; }

static int part_rows(const Part *part, int cols) {
  return *part->text ? canvas_wrap_rows(part->text, cols) : 1;
}

int parts_rows(const LessonParts *parts, PartKind kind, int cols) {
  int rows = 0;
  for (int i = 0; i < parts->n; i++)
    if (part_is(&parts->part[i], kind)) rows += part_rows(&parts->part[i], cols);
  return rows;
}

static void add_choices(Session *session, LessonParts *parts, const StepFacts *facts,
                        bool revealed) {
  Arena *arena = session->frame;
  const Ask *ask = &tutor_step(tutor_of(session))->ask;
  for (int i = 0; i < facts->n_choices; i++) {
    const StepChoice *choice = &facts->choice[i];
    const char *text = arena_printf(arena, "%c) %s", 'a' + i, choice->knobs);
    if (revealed)
      text = arena_printf(arena, "%s: %s%s", text, lesson_choice_text(arena, ask, choice),
                          choice->right ? "  <" : "");
    add(parts, revealed && choice->right ? STYLE_OK : STYLE_TEXT, text);
  }
}

// All of them in one order, whatever the answer is: the list must not give the answer away.
static void add_words(Session *session, LessonParts *parts, const FactValue *answer) {
  // A line is broken at blanks: a letter stays with its word.
  const char *words = fact_words_text(session->frame, answer, ")");
  add(parts, STYLE_DIM, arena_printf(session->frame, "one of (Tab): %s", words));
}

void parts_add_question(Session *session, LessonParts *parts) {
  const Tutor *tutor = tutor_of(session);
  const Ask *ask = &tutor_step(tutor)->ask;
  const StepFacts *facts = &tutor->facts;
  static const Style styles[] = {
      [FACT_RIGHT] = STYLE_OK,     [FACT_IS_MORE] = STYLE_BAD,      [FACT_IS_LESS] = STYLE_BAD,
      [FACT_IS_OTHER] = STYLE_BAD, [FACT_OTHER_COLUMN] = STYLE_BAD, [FACT_OTHER_ROW] = STYLE_BAD,
      [FACT_NO_GUESS] = STYLE_WARN};
  if (ask->kind == ASK_NOTHING) return;
  bool revealed = tutor->run.revealed;
  add_part(parts, PART_GAP, STYLE_TEXT, "");
  add(parts, STYLE_ACCENT,
      arena_printf(session->frame, "%s %s", ask->kind == ASK_MAKE ? "MAKE" : "PREDICT",
                   facts->question));
  add_choices(session, parts, facts, revealed);
  if (ask->kind == ASK_FACT && facts->answer.kind == FACT_WORD && !revealed)
    add_words(session, parts, &facts->answer);
  // A verdict on a schedule that was changed since is none on this one.
  bool stale = ask->kind == ASK_MAKE && !revealed &&
               !schedule_same(&session->doc.now.schedule, &tutor->judged);
  if (tutor->verdict.text && !stale)
    add(parts, tutor->run.held ? STYLE_NOTE : styles[tutor->verdict.fact], tutor->verdict.text);
  bool wrong =
      tutor->verdict.text && !stale && tutor->verdict.fact != FACT_RIGHT && !tutor->run.held;
  if (wrong && !revealed && facts->hint) add(parts, STYLE_NOTE, facts->hint);
}

void parts_add_answer(Session *session, LessonParts *parts) {
  const Tutor *tutor = tutor_of(session);
  if (!tutor->run.revealed || tutor_step(tutor)->ask.kind == ASK_NOTHING) return;
  add(parts, STYLE_TITLE, arena_printf(session->frame, "ANSWER %s", tutor->answer));
  add(parts, STYLE_TEXT, tutor->facts.why);
}

static void add_row(Session *session, LessonParts *parts, const ClassRow *row, bool revealed) {
  enum { BAR_MAX = 20 };
  Str text = str_new(session->frame);
  int n = row->count < BAR_MAX ? row->count : BAR_MAX;
  str_printf(&text, "%-16.16s ", row->guess);
  for (int i = 0; i < n; i++) str_add(&text, "█");
  str_printf(&text, " %d%s", row->count, revealed && row->right ? "  <" : "");
  add(parts, revealed && row->right ? STYLE_OK : STYLE_TEXT, text.text);
}

static void add_names(Session *session, LessonParts *parts, Style style, const char *what,
                      const char *names) {
  if (*names) add(parts, style, arena_printf(session->frame, "%s %s", what, names));
}

void parts_add_class(Session *session, LessonParts *parts) {
  const ClassState *class = &tutor_of(session)->class;
  bool revealed = tutor_of(session)->run.revealed;
  if (class->role == CLASS_NONE) return;
  if (class->role == CLASS_FOLLOWER) {
    add(parts, class->connected ? STYLE_NOTE : STYLE_WARN,
        class->connected ? "CLASS the teacher turns the pages and reveals"
                         : "CLASS the teacher is away: wait, or go on alone");
    return;
  }
  add(parts, STYLE_HEADER,
      arena_printf(session->frame, "CLASS %d here, %d guessed", class->n_here, class->n_guessed));
  add_names(session, parts, STYLE_OK, "guessed:", class->guessed);
  add_names(session, parts, STYLE_WARN, revealed ? "did not guess:" : "not yet:", class->waiting);
  add_names(session, parts, STYLE_DIM, "missing:", class->gone);
  if (class->n_here == 0) add_names(session, parts, STYLE_DIM, "to join:", class->way_in);
  // The guesses are counted on the screen with the answer only: the majority must not lead a
  // follower.
  for (int i = 0; revealed && i < class->n_rows; i++) add_row(session, parts, &class->row[i], true);
}

void parts_add_remarks(Session *session, LessonParts *parts) {
  const Tutor *tutor = tutor_of(session);
  int edits = tutor_edits(session);
  const char *notes = tutor->noting ? tutor->facts.notes : NULL;
  if (edits || notes) parts_tell(parts, STYLE_TEXT, "");
  if (edits)
    parts_tell(parts, STYLE_WARN,
               arena_printf(session->frame, "%d knob%s turned since; = resets to the step", edits,
                            plural_s(edits)));
  if (notes) parts_tell(parts, STYLE_NOTE, arena_printf(session->frame, "TEACHER %s", notes));
}
