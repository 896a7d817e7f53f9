// own: the kernel that one brought along, line by line with its wavefronts.
//
// Above or on the left the source with a gutter; the cursor is a line. Below or on the right one of
// five panes, which Tab changes: the punch card of the line's worst execution with the address as a
// formula, the sectors of its access to global memory, its PTX, its machine code, what was found
// wrong. Where machine code was run, control words and clocks stand in place of the two texts. A
// layout on trial changes the gutter (before → after) and the card.
//
// ViewState: cursor is the line from 0, pane one of OwnPane.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "base/whole.h"
#include "tui/views/own/own_work.h"

enum {
  WIDE_COLS = 110,
  PANE_COLS = 52,
  SOURCE_ROWS_MIN = 4,
  CARD_ROWS = 11,
  SCROLL_COLS = 8,
  WORDS_MAX = 60,  // of a line of options
  ACROSS_MAX = 400
};

// ---- the frame ----------------------------------------------------------------------------------

static void own_prepare(Session *session) { session->prepared = own_look(session); }

static const char nothing_given[] =
    "Open your own CUDA or PTX kernel: bank conflicts per source line. Enter opens an example.\n\n"
    "  gemmview open k.cu --launch grid=8x8,block=256 --arg mem:65536 --arg 64\n"
    "  :own kernel.cu --launch … --arg …     the same, here\n"
    "  :own example:sums                     the example\n\n"
    "A program of yours can be recorded as it runs. Its launch then opens with nothing typed:\n\n"
    "  gemmview record -o k.capsule -- ./program\n"
    "  gemmview open k.capsule               or, here, :own k.capsule\n\n"
    "The kernel runs on the CPU, from the PTX of nvcc, NVRTC or Triton. No GPU is needed, and no "
    "permission to read counters.\n\n"
    "Each line then has its wavefronts. x goes to the worst access, s searches a better layout, + "
    "and - try a pad, y copies the line to write.";

static void draw_waiting(Canvas *canvas, Rect in, const Session *session, const OwnWork *work) {
  in = rect_inset(in, 1, 2);
  const char *error = own_error(work);
  if (*error) {
    rect_take_top(&in, canvas_wrap(canvas, in, STYLE_BAD, error) + 1);
    if (work->needs)
      canvas_printf(canvas, in, 0, 0, STYLE_NOTE, "%s types launch and arguments",
                    view_key_name(session, "launch"));
  } else if (opened_run_going(work->run)) {
    canvas_printf(canvas, in, 0, 0, STYLE_TEXT, "%s: %s …", opened_run_file(work->run),
                  opened_run_stage(work->run));
    canvas_printf(canvas, in, 2, 0, STYLE_NOTE, "%s ends it", view_key_name(session, "stop"));
  } else if (opened_run_given(work->run))
    canvas_printf(canvas, in, 0, 0, STYLE_TEXT, "%s was stopped; %s runs it again",
                  opened_run_file(work->run), view_key_name(session, "run"));
  else
    canvas_wrap(canvas, in, STYLE_TEXT, nothing_given);
}

static void own_draw(Canvas *canvas, Rect in, const Session *session) {
  const OwnFrame *frame = session->prepared;
  if (own_chooses(frame->work)) {
    own_draw_choice(canvas, in, frame->work);
    return;
  }
  if (!frame->opened) {
    draw_waiting(canvas, in, session, frame->work);
    return;
  }
  own_draw_head(canvas, rect_take_top(&in, OWN_HEAD_ROWS), frame);
  if (in.cols >= WIDE_COLS) {
    Rect pane = rect_take_right(&in, PANE_COLS);
    canvas_vline(canvas, in, 0, in.cols - 1, in.rows, STYLE_BORDER);
    in.cols -= 2;
    own_draw_source(canvas, in, frame);
    own_draw_pane(canvas, pane, frame);
    return;
  }
  const int rows = max_int(SOURCE_ROWS_MIN, min_int(in.rows / 2, in.rows - CARD_ROWS));
  own_draw_source(canvas, rect_take_top(&in, rows), frame);
  canvas_hline(canvas, in, 0, 0, in.cols, STYLE_BORDER);
  rect_take_top(&in, 1);
  own_draw_pane(canvas, in, frame);
}

static const void *own_data(Session *session) { return own_look(session); }

// ---- the child ----------------------------------------------------------------------------------

static void jump_worst(Session *session, const char *argument);
static void type_layout(Session *session, const char *argument);
static void try_best(Session *session, const char *argument);
static void open_example(Session *session);
static void ask(Session *session, bool launch, const char *text);

// A kernel that was opened just now: its worst line, and the layout that was asked for meanwhile.
static void arrive(Session *session, OwnWork *work) {
  char pending[sizeof work->pending];
  memcpy(pending, work->pending, sizeof pending);
  work->arrives = false;
  work->pending[0] = '\0';
  jump_worst(session, NULL);
  if (str_equal(pending, "best"))
    try_best(session, NULL);
  else if (*pending)
    type_layout(session, pending);
}

static bool own_poll(Session *session) {
  OwnWork *work = own_work(session);
  size_t bytes = 0;
  if (!opened_run_poll(work->run)) return false;
  const char *document = opened_run_take(work->run, &bytes);
  if (document && own_work_ask(work, document, bytes)) {
    const bool here = session->at.view == view_find("own") && session->prompt.kind == PROMPT_NONE;
    if (work->needs->options && here) ask(session, true, work->needs->options);
  } else if (document && own_work_take(work, document, bytes)) {
    session->prompt.message[0] = '\0';  // it was about the run before
    if (work->arrives) arrive(session, work);
  }
  return true;
}

static ViewWait own_waits(const Session *session) {
  const OpenedRun *run = own_work(session)->run;
  if (opened_run_going(run)) return VIEW_EXPECTS;
  return opened_run_watches(run) ? VIEW_WATCHES : VIEW_WAITS_NOT;
}

static void run_again(Session *session, const char *argument) {
  (void)argument;
  OwnWork *work = own_work(session);
  work->needs = NULL;
  if (!opened_run_given(work->run))
    session_say(session, SAID_ERROR, "no file is open: own FILE --launch …");
  else if (!opened_run_start(work->run))
    session_say(session, SAID_ERROR, "the run could not be started");
}

static void stop(Session *session, const char *argument) {
  (void)argument;
  opened_run_stop(own_work(session)->run);
}

static void watch(Session *session, const char *argument) {
  (void)argument;
  OpenedRun *run = own_work(session)->run;
  opened_run_watch(run, !opened_run_watches(run));
  session_say(
      session, SAID_NOTE,
      opened_run_watches(run) ? "runs again after every save of %s" : "no longer watched: %s",
      opened_run_watched(session->frame, run));
}

// ---- lines --------------------------------------------------------------------------------------

static int own_count(const Session *session) {
  const OwnWork *work = own_work(session);
  if (own_chooses(work)) return own_choices(work);
  return work->opened ? work->opened->sources[work->source].n : 0;
}

static const char *own_line(const Session *session, int i) {
  const OwnWork *work = own_work(session);
  if (own_chooses(work)) return own_choice_text(work, i);
  return work->opened ? work->opened->sources[work->source].line[i] : "";
}

static int own_at(const Session *session) {
  const OwnWork *work = own_work(session);
  return own_chooses(work) ? work->choice : session->at.state[view_find("own")].cursor;
}

static void go(Session *session, int line) {
  OwnWork *work = own_work(session);
  if (own_chooses(work)) {
    work->choice = line;
    return;
  }
  work->nth = 0;
  session->at.state[view_find("own")].cursor = line;
}

static void own_move(Session *session, int delta) {
  const int n = own_count(session);
  go(session, (int)clamp_index(own_at(session) + delta, n));
}

// Whether line a comes before line b by badness; equal ones by their place.
static bool is_worse(const OpenedLine *lines, int a, int b) {
  const int64_t x = opened_badness(&lines[a]), y = opened_badness(&lines[b]);
  return x != y ? x > y : a < b;
}

// The line whose place by badness is `step` from the present one's; accesses only.
static void step_badness(Session *session, int step) {
  const OwnFrame *frame = own_look(session);
  if (!frame->opened) return;
  int best = 0;
  for (int i = 1; i <= frame->source->n; i++) {
    if (!frame->lines[i].shared || i == frame->line) continue;
    const bool behind = is_worse(frame->lines, frame->line, i);
    if (behind != (step > 0)) continue;
    if (!best || (step > 0 ? is_worse(frame->lines, i, best) : is_worse(frame->lines, best, i)))
      best = i;
  }
  if (best) go(session, best - 1);
}

static void jump_worst(Session *session, const char *argument) {
  (void)argument;
  const OwnFrame *frame = own_look(session);
  if (!frame->opened) return;
  int best = 0;
  for (int i = 1; i <= frame->source->n; i++)
    if (frame->lines[i].shared && (!best || is_worse(frame->lines, i, best))) best = i;
  if (best) go(session, best - 1);
}

static void worse(Session *s, const char *a) { (void)a, step_badness(s, -1); }
static void better(Session *s, const char *a) { (void)a, step_badness(s, 1); }

static void next_site(Session *session, const char *argument) {
  (void)argument;
  const OwnFrame *frame = own_look(session);
  int n = 0;
  for (int i = 0; i < frame->n_here; i++) n += frame->opened->sites[frame->here[i]].shared;
  if (n) own_work(session)->nth = (own_work(session)->nth + 1) % n;
}

static void fold(Session *session, const char *argument) {
  (void)argument;
  OwnWork *work = own_work(session);
  work->calls = !work->calls;
  session_say(session, SAID_NOTE,
              work->calls ? "inlined lines count at their calls"
                          : "inlined lines count where they stand, as in a profiler");
}

static void next_source(Session *session, const char *argument) {
  (void)argument;
  OwnWork *work = own_work(session);
  if (!work->opened) return;
  work->source = (work->source + 1) % work->opened->n_sources;
  jump_worst(session, NULL);
}

// ---- layouts ------------------------------------------------------------------------------------

// The array of the chosen access; -1 after a message.
static int array_here(Session *session) {
  const OwnFrame *frame = own_look(session);
  if (frame->site && frame->site->array >= 0) return frame->site->array;
  session_say(session, SAID_NOTE, "no array of shared memory is accessed in this line");
  return -1;
}

static void say_trial(Session *session, bool ok) {
  OwnWork *work = own_work(session);
  if (!ok) session_say(session, SAID_ERROR, "%s", work->error);
  work->error[0] = '\0';
}

static void pad(Session *session, int step) {
  const int array = array_here(session);
  if (array >= 0) say_trial(session, own_trial_step(own_work(session), array, step));
}
static void pad_more(Session *s, const char *a) { (void)a, pad(s, 1); }
static void pad_less(Session *s, const char *a) { (void)a, pad(s, -1); }

// A request while a kernel is under way is met when it is there.
static bool postpone(Session *session, const char *layout) {
  OwnWork *work = own_work(session);
  if (!work->arrives || !opened_run_going(work->run)) return false;
  snprintf(work->pending, sizeof work->pending, "%s", layout);
  return true;
}

static void try_best(Session *session, const char *argument) {
  (void)argument;
  if (postpone(session, "best")) return;
  const int array = array_here(session);
  if (array < 0) return;
  OwnWork *work = own_work(session);
  const OpenedArray *of = &work->opened->arrays[array];
  if (of->best)
    say_trial(session, own_trial_set(work, array, of->best));
  else
    session_say(session, SAID_NOTE, "no pad, swizzle or XOR of %s among those tried is cheaper",
                of->name);
}

static void drop(Session *session, const char *argument) {
  (void)argument;
  OwnWork *work = own_work(session);
  if (work->opened) own_trial_set(work, -1, NULL);
}

static void ask(Session *session, bool launch, const char *text) {
  own_work(session)->asks_launch = launch;
  session->prompt.kind = PROMPT_FIELD;
  session->prompt.field.history = NULL;
  textfield_set(&session->prompt.field, text);
}

// A capsule holds one launch: for another the program has to be recorded again.
static void say_how_to_record(Session *session, const OpenedLaunch *launch) {
  const char *program = own_work(session)->opened->program;
  session_say(session, SAID_NOTE,
              "to open this launch: gemmview record --kernel %s --launch %" PRId64 " -- %s",
              launch->kernel, launch->first, program ? program : "PROGRAM");
}

static void choose(Session *session) {
  OwnWork *work = own_work(session);
  if (work->lists_launches && !opened_run_has(work->run, "--main")) {
    const OpenedLaunch *launch = &work->opened->launches[work->choice];
    if (!launch->held) say_how_to_record(session, launch);
    work->lists_launches = !launch->held;
    return;
  }
  const char *words[4];
  const int n = own_choice_words(session->frame, work, words);
  work->arrives = work->lists_launches;
  work->lists_launches = false;
  opened_run_drop(work->run, "--kernel");
  if (n > 2) opened_run_drop(work->run, "--launch");
  opened_run_put(work->run, words, n);
  run_again(session, NULL);
}

static void list_launches(Session *session, const char *argument) {
  (void)argument;
  OwnWork *work = own_work(session);
  if (work->lists_launches)
    work->lists_launches = false;
  else if (!own_chooses(work) && !own_list_launches(work))
    session_say(session, SAID_NOTE,
                "own FILE.cu --main, or own FILE.capsule, lists the launches of a program");
}

static bool own_back(Session *session) {
  OwnWork *work = own_work(session);
  const bool listed = work->lists_launches;
  work->lists_launches = false;
  return listed;
}

static void type_layout(Session *session, const char *argument) {
  OwnWork *work = own_work(session);
  if (own_chooses(work)) {
    choose(session);
    return;
  }
  if (argument && *argument && postpone(session, argument)) return;
  if (!opened_run_given(work->run)) {
    open_example(session);
    return;
  }
  const int array = array_here(session);
  if (array < 0) return;
  if (argument && *argument)
    say_trial(session, own_trial_set(work, array, argument));
  else
    ask(session, false, work->trial.layout ? work->trial.layout : "pad:1");
}

static int split_words(Session *session, const char *from, const char *word[WORDS_MAX]) {
  int n = 0;
  char *text = arena_strdup(session->frame, from);
  for (char *save = NULL, *next = strtok_r(text, " ", &save); next && n < WORDS_MAX;
       next = strtok_r(NULL, " ", &save))
    word[n++] = next;
  return n;
}

// "grid=8,block=256" alone, or options: --launch, and with --arg all arguments.
static void take_launch(Session *session, const char *text) {
  OpenedRun *run = own_work(session)->run;
  const char *word[WORDS_MAX] = {"--launch", text};
  const bool options = str_starts(text, "--");
  const int n = options ? split_words(session, text, word) : 2;
  bool args = false;
  for (int i = 0; i < n; i++) args |= str_starts(word[i], "--arg");
  opened_run_drop(run, "--launch");
  if (options && args) opened_run_drop(run, "--arg");
  opened_run_put(run, word, n);
  run_again(session, NULL);
}

static void type_launch(Session *session, const char *argument) {
  const OwnWork *work = own_work(session);
  if (argument && *argument)
    take_launch(session, argument);
  else if (work->needs && work->needs->options)
    ask(session, true, work->needs->options);
  else
    ask(session, true, work->opened ? work->opened->as_given : "--launch grid=1,block=128");
}

static void own_typed(Session *session, TextFieldResult result) {
  OwnWork *work = own_work(session);
  if (result != TEXTFIELD_ACCEPTED) return;
  if (work->asks_launch)
    take_launch(session, session->prompt.field.text);
  else
    type_layout(session, session->prompt.field.text);
}

// The replacement that is on trial, else the best one there is.
static void copy(Session *session, const char *argument) {
  (void)argument;
  const OwnFrame *frame = own_look(session);
  const OwnTrial *trial = &frame->work->trial;
  const char *text = trial->layout ? trial->write : NULL;
  if (!text && frame->site && frame->site->array >= 0)
    text = frame->opened->arrays[frame->site->array].write;
  if (text)
    session->wishes.copy = text;
  else
    session_say(session, SAID_NOTE, "no better line is known for this one");
}

// ---- from the prompt ----------------------------------------------------------------------------

static bool own_takes(const char *argument) { return *argument != '\0' && *argument != '-'; }

static const char example[] = "example:";

// "example:sums" → "example:sums.ptx --launch … --arg …": an example brings its launch along.
static const char *whole_example(Arena *arena, const char *argument) {
  if (!str_starts(argument, example)) return argument;
  const char *name = argument + strlen(example);
  const size_t n = strcspn(name, " ."), word = strcspn(name, " ");
  const EmbeddedFile *launch =
      embed_find(arena, arena_printf(arena, "examples/%.*s.launch", (int)n, name));
  if (!launch) return argument;
  const char *suffix = n == word ? ".ptx" : "";
  const bool given = strstr(name, "--launch") != NULL;
  return arena_printf(arena, "%s%.*s%s%s %.*s", example, (int)word, name, suffix, name + word,
                      given ? 0 : (int)strcspn(launch->text, "\n"), launch->text);
}

static bool own_command(Session *session, const char *argument, Diags *diags) {
  const char *word[WORDS_MAX];
  argument = whole_example(session->frame, argument);
  return own_begin(session, word, split_words(session, argument, word), false, diags);
}

static void open_example(Session *session) {
  Diags diags = diags_new(session->frame);
  if (!own_command(session, "example:sums", &diags))
    session_say(session, SAID_ERROR, "%s", diags.first->text);
}

static void scroll(Session *session, int step) {
  OwnWork *work = own_work(session);
  work->across = max_int(0, min_int(work->across + step, ACROSS_MAX));
}
static void left(Session *s, const char *a) { (void)a, scroll(s, -SCROLL_COLS); }
static void right(Session *s, const char *a) { (void)a, scroll(s, SCROLL_COLS); }

static void open_words(Session *session, const char *argument) {
  Diags diags = diags_new(session->frame);
  if (!argument || !own_takes(argument) || !own_command(session, argument, &diags))
    session_say(session, SAID_ERROR, "open takes FILE --launch … --arg …");
}

static void own_click(Session *session, int what, int value) {
  if (what == OWN_SPOT_LINE || what == OWN_SPOT_KERNEL) go(session, value);
}

static const char *own_standing(const Session *session) {
  const OwnWork *work = own_work(session);
  if (!opened_run_given(work->run)) return NULL;
  if (!work->opened) return opened_run_text(session->frame, work->run);
  return arena_printf(session->frame, "%s  %s%s", work->opened->kernel, work->opened->as_given,
                      work->opened->as_last_time ? "  (as last time)" : "");
}

// One kernel of several is chosen before anything else; the first run is waited for, or ended.
static const char *own_hint(const Session *session, const Action *action) {
  const OwnWork *work = own_work(session);
  const bool is_stop = action->run == stop;
  const bool is_list = action->run == list_launches;
  if (own_chooses(work))
    return action->run == type_layout ? "open" : is_list && work->lists_launches ? "back" : NULL;
  if (!work->opened && opened_run_going(work->run)) return is_stop ? action->label : NULL;
  const bool recorded = work->opened && work->opened->n_launches > 0;
  return is_stop || (is_list && !recorded) ? NULL : action->label;
}

static const Action actions[] = {
    {"launches", "O", "launches", NULL,
     "of a recorded program (own FILE.cu --main, own FILE.capsule): list its launches, and open "
     "one",
     list_launches},
    {"worst", "x", "worst", NULL, "the line that costs most beyond its ideal", jump_worst},
    {"worse", ", <", "by cost", "better", "the next worse line", worse},
    {"better", ". >", NULL, NULL, "the next less bad line", better},
    {"pad-more", "+ =", "pad", "pad-less", "try rows of the array one element longer", pad_more},
    {"pad-less", "-", NULL, NULL, "try rows one element shorter", pad_less},
    {"solve", "s", "solve", NULL, "try the best layout that the solver finds", try_best},
    {"layout", "Enter e", "type", NULL,
     "type a layout: pad:4, swizzle:3,4,3, xor:'…'; in a list open this kernel or launch",
     type_layout},
    {"drop", "Backspace", NULL, NULL, "end the trial: the array as it is", drop},
    {"launch", "L", NULL, NULL, "change grid, block or arguments, and run again", type_launch},
    {"watch", "w", "watch", NULL, "watch the file: run again after every save", watch},
    {"run", "r", NULL, NULL, "run again", run_again},
    {"stop", "X", "stop", NULL, "stop the run", stop},
    {"next-access", "a", NULL, NULL, "another access of this line", next_site},
    {"fold", "f", NULL, NULL, "count inlined functions where they stand, or at their calls", fold},
    {"source", "o", NULL, NULL, "show another file of the kernel; the PTX comes last", next_source},
    {"left", "Left h", NULL, NULL, "long lines: scroll left", left},
    {"right", "Right l", NULL, NULL, "long lines: scroll right", right},
    {"open", "", NULL, NULL,
     "open a kernel: open FILE --launch … --arg …; example:sums is built "
     "in",
     open_words},
    {"copy", "y", NULL, NULL, "copy the line to write instead", copy},
};

const ViewBody own_view = {
    .state_bytes = sizeof(OwnWork),
    .open = own_work_open,
    .close = own_work_close,
    .prepare = own_prepare,
    .draw = own_draw,
    .data = own_data,
    .move = own_move,
    .move_label = "line",
    .pane_label = "card, sectors, code",
    .count = own_count,
    .line = own_line,
    .at = own_at,
    .go = go,
    .click = own_click,
    .typed = own_typed,
    .field_label = "own ",
    .takes = own_takes,
    .command = own_command,
    .poll = own_poll,
    .waits = own_waits,
    .subject = own_subject,
    .standing = own_standing,
    .hint = own_hint,
    .actions = actions,
    .n_actions = sizeof actions / sizeof *actions,
    .n_panes = OWN_PANES,
    .back = own_back,
};
