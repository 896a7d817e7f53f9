// gemmview lesson: the lessons, in the explorer or as text.
//
//   gemmview lesson                          the list; in a terminal the explorer shows it
//   gemmview lesson banks --at 3             step 3 of a lesson, live
//   gemmview lesson banks | less             the same lesson as text
//   gemmview lesson --markdown --answers     a handout of all of them, with the answers
//   gemmview lesson --facts                  the facts that a lesson file may ask for and state
//
// Every step of what is printed is computed, so a wrong lesson file is told here with its place.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_worker.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "tui/app.h"
#include "tui/frame/explorer.h"
#include "tui/frame/tutor.h"

typedef struct LessonOptions {
  const char *color, *theme;
  int at;
  bool list, markdown, answers, json, facts, ascii, no_mouse, no_worker;
  OptionList worker;
} LessonOptions;

#define FLAG(key, field) \
  { .name = key, .kind = OPTION_KIND_FLAG, .offset = offsetof(LessonOptions, field) }
#define TEXT(key) \
  { .name = #key, .kind = OPTION_KIND_TEXT, .offset = offsetof(LessonOptions, key) }

static const Option options[] = {
    {.name = "at",
     .kind = OPTION_KIND_INT,
     .offset = offsetof(LessonOptions, at),
     .lo = 1,
     .hi = LESSON_AT_MAX},
    FLAG("list", list),
    FLAG("markdown", markdown),
    FLAG("answers", answers),
    FLAG("facts", facts),
    FLAG("ascii", ascii),
    FLAG("no-mouse", no_mouse),
    FLAG("no-worker", no_worker),
    OPTION_WORKER(LessonOptions),
    TEXT(color),
    TEXT(theme),
    OPTION_JSON(LessonOptions),
};
#undef TEXT

// The lessons to print, from `first` on.
typedef struct Handout {
  Arena *arena;
  const LessonOptions *given;
  Session *session;
  const Tutor *tutor;
  int first, n;
} Handout;

// ---- the explorer -------------------------------------------------------------------------------

static int explore(Arena *arena, const LessonOptions *given, const char *name, Diags *diags) {
  ClientOptions client;
  if (!cli_client_options(arena, &given->worker, &client, diags)) return cli_fail(diags);
  AppOptions app = {.terminal = {given->color, given->ascii, given->no_mouse},
                    .theme = given->theme,
                    .client = given->no_worker ? NULL : &client,
                    .lesson = name ? name : "",
                    .lesson_step = given->at};
  AppEnd end = app_run(&app, diags);
  if (end == APP_FAILED || end == APP_NO_TERMINAL) return cli_fail(diags);
  return end == APP_INTERRUPTED ? CLI_INTERRUPTED : CLI_OK;
}

// ---- text ---------------------------------------------------------------------------------------

static void print_list(const Handout *h) {
  for (int i = 0; i < h->tutor->n_lessons; i++) {
    const Lesson *lesson = h->tutor->lesson[i];
    printf("%2d %-10s %2d steps  %s\n", i + 1, lesson->name, lesson->n_steps, lesson->title);
  }
}

static void print_facts(void) {
  for (int i = 0; i < fact_count; i++) {
    const Fact *fact = &fact_table[i];
    printf("%-18s %-24s %s%s%s; %s\n", fact->name, fact->arguments, fact->help,
           *fact->unit && *fact->unit != '#' ? ", in " : "", *fact->unit == '#' ? "" : fact->unit,
           fact_origin_text(fact->origin));
  }
}

// "\n" in a text is the end of a paragraph.
static void print_paragraphs(const char *text) {
  for (; *text; text++)
    if (*text == '\n')
      fputs("\n\n", stdout);
    else
      putchar(*text);
  fputs("\n\n", stdout);
}

static void print_choices(const Handout *h, const LessonStep *step, const StepFacts *facts) {
  for (int i = 0; i < facts->n_choices; i++) {
    const StepChoice *choice = &facts->choice[i];
    printf("- %c) `%s`", 'a' + i, choice->knobs);
    if (h->given->answers) printf(": %s", lesson_choice_text(h->arena, &step->ask, choice));
    putchar('\n');
  }
  if (facts->n_choices) putchar('\n');
  const char *words =
      step->ask.kind == ASK_FACT ? fact_words_text(h->arena, &facts->answer, ") ") : NULL;
  if (words) printf("One of: %s\n\n", words);
}

// As keys at the prompt: "layout pad:1" is ": l a y o u t Space p a d : 1 Enter".
static void print_typed(const char *action) {
  fputs(": ", stdout);
  for (const char *c = action; *c; c++) printf(*c == ' ' ? "Space " : "%c ", *c);
  fputs("Enter", stdout);
}

// Tells the keys to press in the view once the file is open.
static void print_keys(const LessonStep *step, const StepFacts *facts) {
  int n = 0;
  for (int i = 0; i < step->n_do; i++) {
    if (str_starts(facts->does[i], "open ")) continue;
    fputs(n++ ? " " : " --keys \"", stdout);
    print_typed(facts->does[i]);
  }
  if (n) putchar('"');
}

// The picture alone: of a schedule, or of the kernel that the step opens.
static void print_picture(const Handout *h, const LessonStep *step, const StepFacts *facts) {
  const char *open = NULL;
  for (int i = 0; i < step->n_do; i++)
    if (str_starts(facts->does[i], "open ")) open = facts->does[i] + strlen("open ");
  printf("`gemmview show %s ", step->view);
  if (open) {
    printf("--open \"%s\"", open);
    print_keys(step, facts);
  } else {
    printf("-k \"%s\"", schedule_text(h->arena, &facts->shown));
  }
  fputs("`\n\n", stdout);
}

static void print_question(const Handout *h, const LessonStep *step, const StepFacts *facts) {
  if (step->ask.kind == ASK_NOTHING) return;
  printf("**%s** %s\n\n", step->ask.kind == ASK_MAKE ? "Make." : "Predict.", facts->question);
  print_choices(h, step, facts);
  if (!h->given->answers) {
    fputs("Answer: ____________________\n\n", stdout);
    return;
  }
  printf("**Answer:** %s\n\n", lesson_answer(h->arena, step, facts));
  print_paragraphs(facts->why);
  print_picture(h, step, facts);
}

// Commands that show the step live; with the answers also the picture alone, which gives them away.
static void print_step(const Handout *h, const Lesson *lesson, const StepFacts *facts, int number) {
  const LessonStep *step = &lesson->step[number - 1];
  printf("### %d. %s\n\n", number, step->title);
  print_paragraphs(facts->text);
  printf("`gemmview lesson %s --at %d`\n\n", lesson->name, number);
  print_question(h, step, facts);
  if (h->given->answers && facts->notes) printf("*For the teacher:* %s\n\n", facts->notes);
}

static bool print_lesson(const Handout *h, int i, Diags *diags) {
  const Lesson *lesson = h->tutor->lesson[i];
  int first = h->given->at ? h->given->at - 1 : 0;
  printf("## Lesson %d: %s\n\n%s\n\n", i + 1, lesson->title, lesson->about);
  for (int s = first; s < lesson->n_steps; s++) {
    StepFacts facts;
    if (!lesson_compute(h->arena, &h->tutor->world, lesson, s, &facts, diags)) return false;
    print_step(h, lesson, &facts, s + 1);
  }
  return true;
}

// ---- JSON ---------------------------------------------------------------------------------------

// A step with its computed values, and a lesson with its steps.
typedef struct LessonStepShown {
  int number;
  const LessonStep *step;
  StepFacts facts;
} LessonStepShown;

typedef struct LessonShown {
  const Lesson *lesson;
  LessonStepShown *step;
} LessonShown;

typedef struct LessonsShown {
  int n;
  LessonShown *lesson;
} LessonsShown;

static void write_fact(JsonWriter *w, const void *it, const void *in, Arena *arena) {
  (void)in, (void)arena;
  const FactValue *value = it;
  if (value->kind == FACT_WORD) return json_put_string(w, value->word);
  if (value->kind != FACT_PAIR) return json_put_double(w, value->number);
  json_begin_array(w);
  json_put_int(w, value->pair[0]);
  json_put_int(w, value->pair[1]);
  json_end_array(w);
}

static int count_words(const char *const *words) {
  int n = 0;
  while (words && words[n]) n++;
  return n;
}

#define FORM_FILE "cli/commands/forms/cmd_lesson.form"
#include "base/form_make.h"

static bool compute(const Handout *h, LessonShown *shown, Diags *diags) {
  const Lesson *lesson = shown->lesson;
  shown->step = ARENA_ARRAY(h->arena, LessonStepShown, lesson->n_steps);
  for (int s = 0; s < lesson->n_steps; s++) {
    shown->step[s] = (LessonStepShown){.number = s + 1, .step = &lesson->step[s]};
    if (!lesson_compute(h->arena, &h->tutor->world, lesson, s, &shown->step[s].facts, diags))
      return false;
  }
  return true;
}

static bool print_json(const Handout *h, Diags *diags) {
  LessonsShown shown = {h->n, ARENA_ARRAY(h->arena, LessonShown, h->n)};
  for (int i = 0; i < h->n; i++) {
    shown.lesson[i].lesson = h->tutor->lesson[h->first + i];
    if (!compute(h, &shown.lesson[i], diags)) return false;
  }
  cli_print_document(h->arena, &lessons_form, &shown, h);
  return true;
}

// ---- the command --------------------------------------------------------------------------------

static bool choose(Handout *h, const char *name, Diags *diags) {
  h->n = h->tutor->n_lessons;
  if (!name) return true;
  const Lesson *lesson = lesson_find(h->tutor->lesson, h->tutor->n_lessons, name, diags);
  if (!lesson) return false;
  while (h->tutor->lesson[h->first] != lesson) h->first++;
  h->n = 1;
  if (h->given->at <= lesson->n_steps) return true;
  diag_add(diags, "lesson", "the lesson %s has steps 1 to %d, not %d", lesson->name,
           lesson->n_steps, h->given->at)
      ->nearest = arena_printf(diags->arena, "%d", lesson->n_steps);
  return false;
}

static bool print(Handout *h, const char *name, Diags *diags) {
  h->session = explorer_open(&(SessionOptions){0}, diags);
  if (!h->session || !tutor_load(h->session, diags) || diags->count) return false;
  h->tutor = tutor_of(h->session);
  if (!choose(h, name, diags)) return false;
  if (h->given->json) return print_json(h, diags);
  if (!name && !h->given->markdown) {
    print_list(h);
    return true;
  }
  for (int i = h->first; i < h->first + h->n; i++)
    if (!print_lesson(h, i, diags)) return false;
  return true;
}

int cmd_lesson(Arena *arena, int argc, char **argv) {
  Diags diags = diags_new(arena);
  LessonOptions given = {0};
  if (!options_parse(options, sizeof options / sizeof *options, &given, &argc, argv, &diags))
    return cli_fail(&diags);
  if (argc > 2)
    return cli_error(CLI_USAGE,
                     "one lesson is needed; \"%s\" is one argument too "
                     "many",
                     argv[2]);
  const char *name = argc > 1 ? argv[1] : NULL;
  if (given.at && !name) return cli_error(CLI_USAGE, "--at needs the name of a lesson");
  if (given.facts) {
    given.json ? cli_print_document(arena, &lesson_facts_form, &given, NULL) : print_facts();
    return CLI_OK;
  }
  bool prints = given.list || given.markdown || given.answers || given.json;
  if (!prints && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO))
    return explore(arena, &given, name, &diags);
  Handout handout = {.arena = arena, .given = &given};
  bool ok = print(&handout, given.list ? NULL : name, &diags);
  int status = ok ? CLI_OK : cli_fail(&diags);
  if (handout.session) explorer_close(handout.session);
  return status;
}
