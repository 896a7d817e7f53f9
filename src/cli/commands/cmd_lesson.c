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

#include "base/json.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_worker.h"
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

static void print_facts_json(Arena *arena) {
  Str out = str_new(arena);
  JsonWriter w = json_writer(&out);
  json_begin_document(&w);
  json_member_string(&w, "command", "lesson");
  json_key(&w, "facts");
  json_begin_array(&w);
  for (int i = 0; i < fact_count; i++) {
    const Fact *fact = &fact_table[i];
    json_begin_object(&w);
    json_member_string(&w, "name", fact->name);
    json_member_string(&w, "arguments", fact->arguments);
    json_member_string(&w, "help", fact->help);
    json_member_string(&w, "unit", strchr("#", *fact->unit) ? NULL : fact->unit);
    json_member_string(&w, "origin", fact_origin_text(fact->origin));
    json_end_object(&w);
  }
  json_end_array(&w);
  json_end_object(&w);
  puts(out.text);
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

// What is done in the view once the file is open.
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

static void put_value(JsonWriter *w, const char *key, const FactValue *value) {
  json_key(w, key);
  json_begin_object(w);
  json_key(w, "value");
  if (value->kind == FACT_PAIR) {
    json_begin_array(w);
    json_put_int(w, value->pair[0]);
    json_put_int(w, value->pair[1]);
    json_end_array(w);
  } else if (value->kind == FACT_WORD) {
    json_put_string(w, value->word);
  } else {
    json_put_double(w, value->number);
  }
  json_member_string(w, "unit", value->unit + (*value->unit == '#'));
  json_member_string(w, "origin", fact_origin_text(value->origin));
  json_end_object(w);
}

static void put_choices(JsonWriter *w, const Handout *h, const StepFacts *facts) {
  json_key(w, "choices");
  json_begin_array(w);
  for (int i = 0; i < facts->n_choices; i++) {
    json_begin_object(w);
    json_member_string(w, "knobs", facts->choice[i].knobs);
    if (h->given->answers) put_value(w, "result", &facts->choice[i].value);
    if (h->given->answers) json_member_bool(w, "right", facts->choice[i].right);
    json_end_object(w);
  }
  json_end_array(w);
}

static void put_words(JsonWriter *w, const StepFacts *facts) {
  json_key(w, "words");
  json_begin_array(w);
  for (int i = 0; facts->answer.words[i]; i++) json_put_string(w, facts->answer.words[i]);
  json_end_array(w);
}

static void put_ask(JsonWriter *w, const Handout *h, const LessonStep *step,
                    const StepFacts *facts) {
  static const char *const kinds[] = {"nothing", "fact", "choice", "make"};
  json_member_string(w, "ask", kinds[step->ask.kind]);
  json_member_string(w, "question", facts->question);
  json_member_string(w, "hint", facts->hint);
  put_choices(w, h, facts);
  if (step->ask.kind == ASK_FACT && facts->answer.kind == FACT_WORD) put_words(w, facts);
  if (step->ask.kind == ASK_FACT && h->given->answers) put_value(w, "answer", &facts->answer);
  if (step->ask.kind == ASK_MAKE) put_value(w, "limit", &facts->limit);
  if (!h->given->answers || step->ask.kind == ASK_NOTHING) return;
  json_member_string(w, "answer_text", lesson_answer(h->arena, step, facts));
  json_member_string(w, "why", facts->why);
  json_member_string(w, "answer_state", schedule_text(h->arena, &facts->shown));
}

static bool put_lesson(JsonWriter *w, const Handout *h, const Lesson *lesson, Diags *diags) {
  json_begin_object(w);
  json_member_string(w, "name", lesson->name);
  json_member_string(w, "title", lesson->title);
  json_member_string(w, "about", lesson->about);
  json_key(w, "steps");
  json_begin_array(w);
  for (int s = 0; s < lesson->n_steps; s++) {
    const LessonStep *step = &lesson->step[s];
    StepFacts facts;
    if (!lesson_compute(h->arena, &h->tutor->world, lesson, s, &facts, diags)) return false;
    json_begin_object(w);
    json_member_int(w, "step", s + 1);
    json_member_string(w, "title", step->title);
    json_member_string(w, "text", facts.text);
    json_member_string(w, "view", step->view);
    json_member_string(w, "state", schedule_text(h->arena, &step->schedule));
    json_member_string(w, "notes", facts.notes);
    put_ask(w, h, step, &facts);
    json_end_object(w);
  }
  json_end_array(w);
  json_end_object(w);
  return true;
}

static bool print_json(const Handout *h, Diags *diags) {
  Str out = str_new(h->arena);
  JsonWriter w = json_writer(&out);
  json_begin_document(&w);
  json_member_string(&w, "command", "lesson");
  json_key(&w, "lessons");
  json_begin_array(&w);
  for (int i = h->first; i < h->first + h->n; i++)
    if (!put_lesson(&w, h, h->tutor->lesson[i], diags)) return false;
  json_end_array(&w);
  json_end_object(&w);
  puts(out.text);
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
  if (argc > 2) return cli_error(CLI_USAGE, "one lesson at a time; \"%s\" is left over", argv[2]);
  const char *name = argc > 1 ? argv[1] : NULL;
  if (given.at && !name) return cli_error(CLI_USAGE, "--at needs the name of a lesson");
  if (given.facts) {
    given.json ? print_facts_json(arena) : print_facts();
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
