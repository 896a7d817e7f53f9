// gemmview show VIEW: any screen without a terminal, through the session and canvas of the
// explorer.
//
//   gemmview show banks --ladder fp32 --rung padded --size 120x40 --format svg > banks.svg
//   gemmview show -k BM=16,BN=16,FM=8,FN=8 --keys "Tab j j" --format json
//
//   gemmview show own --open 'k.cu --launch grid=8,block=256 --arg mem:65536' --format svg
//
// --keys and --script act on the screen first; what a person would see then is printed.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/common/cli_clock.h"
#include "cli/common/cli_model.h"
#include "cli/common/cli_worker.h"
#include "cli/common/options.h"
#include "cli/common/tables/place_table.h"
#include "kernels/toolchain/emit_plan.h"
#include "kernels/toolchain/machine/sass.h"
#include "tui/canvas/export.h"
#include "tui/canvas/terminal.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/palette.h"
#include "tui/frame/pins.h"
#include "tui/frame/view.h"
#include "tui/frame/view_json.h"
#include "tui/session/clock_ahead.h"
#include "tui/session/placed_loads.h"

typedef struct ShowOptions {
  const char *state, *ladder, *rung, *format, *color, *theme, *keys, *script, *open;
  OptionSize size;
  OptionList pin;
  bool ascii, json, compile;
} ShowOptions;

#define TEXT(key) \
  { .name = #key, .kind = OPTION_KIND_TEXT, .offset = offsetof(ShowOptions, key) }

static const Option options[] = {
    OPTION_STATE(ShowOptions),
    OPTION_SIZE(ShowOptions),
    OPTION_JSON(ShowOptions),
    TEXT(ladder),
    TEXT(rung),
    TEXT(format),
    TEXT(color),
    TEXT(theme),
    TEXT(keys),
    TEXT(script),
    TEXT(open),
    OPTION_PIN(ShowOptions),
    {.name = "compile", .kind = OPTION_KIND_FLAG, .offset = offsetof(ShowOptions, compile)},
    {.name = "ascii", .kind = OPTION_KIND_FLAG, .offset = offsetof(ShowOptions, ascii)},
};

// The screen to draw, and the format to write it in.
typedef struct Show {
  Arena *arena;
  ShowOptions given;
  int view;
  ExportFormat format;
  const Theme *theme;
  ColorDepth depth;
  Session *session;
  Canvas *canvas;
} Show;

static bool find_view(Show *show, const char *name, Diags *diags) {
  show->view = name ? view_find(name) : 0;
  if (show->view >= 0) return true;
  const char **names = ARENA_ARRAY(show->arena, const char *, view_count);
  for (int i = 0; i < view_count; i++) names[i] = view_table[i].name;
  diag_add_unknown(diags, "view", "view", name, names, view_count);
  return false;
}

static bool read_options(Show *show, int argc, char **argv, Diags *diags) {
  int n = sizeof options / sizeof *options;
  show->given = (ShowOptions){.size = {80, 24}, .format = "text", .theme = "default"};
  if (!options_parse(options, n, &show->given, &argc, argv, diags)) return false;
  cli_take_rung(&show->given.state, &show->given.ladder, &show->given.rung, diags);
  if (argc > 2)
    diag_add(diags, "usage",
             "one view is needed; \"%s\" is one argument too "
             "many",
             argv[2]);
  find_view(show, argc > 1 ? argv[1] : NULL, diags);
  export_format(show->given.json ? "json" : show->given.format, &show->format, diags);
  show->theme = theme_find(show->arena, show->given.theme, diags);
  const char *no_color = getenv("NO_COLOR");
  const char *color = no_color && *no_color ? "never" : "truecolor";
  ColorSettings settings = {.option = show->given.color ? show->given.color : color};
  color_depth(&settings, &show->depth, diags);
  return diags->count == 0;
}

static bool run_steps(Show *show, Diags *diags) {
  const ShowOptions *given = &show->given;
  if (given->open) {
    const char *line = arena_printf(show->arena, "own %s", given->open);
    if (!palette_run(show->session, line, diags)) return false;
    drive_wait(show->session);
    drive_frame(show->session, show->canvas);
    view_show(show->session, show->view);
    drive_frame(show->session, show->canvas);
  }
  if (given->script && !drive_script_file(show->session, show->canvas, given->script, diags))
    return false;
  if (given->keys && !drive_keys(show->session, show->canvas, given->keys, diags)) return false;
  drive_wait(show->session);
  return true;
}

static void ask_schedule(Show *show, CliWorker *worker) {
  Session *session = show->session;
  const Model *model = session_model(session);
  const Emission *emission = side_emission(&session->doc.now);
  const Plan *plan =
      plan_from_emission(show->arena, emission, model->program, model->target, "show");
  const char *want = sass_find_tool(show->arena) ? "cubin,code,sass" : "cubin,code";
  ClientRequest request = {.kind = MESSAGE_COMPILE, .plan = plan, .want = want};
  WorkerAnswer *answer = cli_worker_submit(worker, &request, "compiling");
  if (!cli_worker_wait(worker, answer)) return;
  Compiled *compiled =
      results_begin_compile(&session->background.results, session->doc.now.picture->key);
  results_add_compile(compiled, answer->cubin);
  results_add_code(compiled, answer->code);
  if (answer->sass) results_add_sass(compiled, answer->sass);
}

// The kernel with each copy at each place where it may stand, if the view asked for places.
static void ask_places(Show *show, CliWorker *worker) {
  Session *session = show->session;
  if (!session->background.placed) return;
  session->background.worker.can_compile = cli_worker_machine(worker).can_compile;
  if (session->background.worker.can_compile)
    cli_compile_places(show->arena, worker, session->background.placed, NULL, NULL);
}

// ---- the clock ----------------------------------------------------------------------------------

enum { CLOCKS_MAX = 64 };

typedef struct ClocksAsked {
  int n;
  ClockWanted wanted[CLOCKS_MAX];
  WorkerAnswer *answer[CLOCKS_MAX];
} ClocksAsked;

static bool is_asked(const void *context, uint64_t key) {
  const ClocksAsked *asked = context;
  for (int i = 0; i < asked->n; i++)
    if (asked->wanted[i].key == key) return true;
  return false;
}

static void submit_clock(Show *show, CliWorker *worker, ClocksAsked *asked) {
  const ClockWanted *wanted = &asked->wanted[asked->n];
  const Model *model = model_build(show->arena, &show->session->doc.targets, &wanted->schedule);
  const Plan *plan = plan_from_model(show->arena, model, "show");
  asked->answer[asked->n++] = cli_clock_submit(worker, show->arena, model, plan, "the clock");
}

// All that the screen would have after a while in the explorer: the numbers of the schedule, of its
// neighbours, of the changes worth trying, and of the rungs or points that it lists.
static void ask_clocks(Show *show, CliWorker *worker) {
  Session *session = show->session;
  ClocksAsked *asked = ARENA_NEW(show->arena, ClocksAsked);
  for (int from = 0; asked->n < CLOCKS_MAX; from = asked->n) {
    while (asked->n < CLOCKS_MAX &&
           clock_ahead_next(session, is_asked, asked, &asked->wanted[asked->n]))
      submit_clock(show, worker, asked);
    if (asked->n == from) return;
    for (int i = from; i < asked->n; i++) {
      cli_worker_wait(worker, asked->answer[i]);
      const ClockNumber *number = asked->answer[i]->clock;
      results_add_clock(&session->background.results, asked->wanted[i].key,
                        number && !number->why_not ? &number->speed : NULL);
    }
    drive_frame(session, show->canvas);
  }
}

// A picture and its data say the same: what the machine code does, where a compiler and a
// disassembler are here to ask, as in the explorer once it has compiled.
static void ask_compiler(Show *show) {
  Session *session = show->session;
  Diags diags = diags_new(show->arena);
  const OptionList here = {0};
  const Model *model = session->doc.now.picture ? session_model(session) : NULL;
  const bool lists = sass_find_tool(show->arena) != NULL,
             reads = lists || view_table[session->at.view].body->reads_code;
  if (!model || session->doc.now.reasons || !(reads || show->given.compile)) return;
  CliWorker *worker = cli_worker_open(show->arena, &here, false, &diags);
  if (!worker) return;
  if (reads && !results_compiled(&session->background.results, session->doc.now.picture->key))
    ask_schedule(show, worker);
  if (lists) ask_places(show, worker);
  if (show->given.compile) ask_clocks(show, worker);
  drive_frame(session, show->canvas);
  drive_wait(session);
  drive_frame(session, show->canvas);
  cli_worker_close(worker);
}

static bool draw(Show *show, Diags *diags) {
  const ShowOptions *given = &show->given;
  bool ascii = given->ascii || (isatty(STDOUT_FILENO) && terminal_wants_ascii());
  bool news;
  SessionOptions opening = {given->state, given->ladder, given->rung, ascii};
  show->session = explorer_open(&opening, diags);
  if (!show->session) return false;
  if (!pins_take(show->session, given->pin.items, given->pin.count, diags)) return false;
  cli_note_gpu(show->arena, &show->session->doc.targets, &show->session->doc.now.schedule);
  show->canvas = canvas_new(show->arena, given->size.height, given->size.width, ascii);
  view_show(show->session, show->view);
  drive_frame(show->session, show->canvas);
  // Keys go about in what was made of the machine code: it comes first.
  if (view_table[show->view].body->reads_code) ask_compiler(show);
  if (!run_steps(show, diags)) return false;
  while (view_idle(show->session, &news)) {
  }
  drive_frame(show->session, show->canvas);
  return true;
}

static void print_json(const Show *show) {
  Str out = str_new(show->arena);
  JsonWriter w = json_writer(&out);
  view_document(&w, show->session, show->canvas, "show");
  puts(out.text);
}

static void print(const Show *show) {
  if (show->format == EXPORT_JSON) print_json(show);
  if (show->format == EXPORT_TEXT) fputs(export_text(show->arena, show->canvas), stdout);
  if (show->format == EXPORT_ANSI)
    fputs(export_ansi(show->arena, show->canvas, show->theme, show->depth), stdout);
  if (show->format == EXPORT_SVG)
    fputs(export_svg(show->arena, show->canvas, show->theme, show->depth, "gemmview"), stdout);
}

int cmd_show(Arena *arena, int argc, char **argv) {
  Show show = {.arena = arena};
  Diags diags = diags_new(show.arena);
  bool ok = read_options(&show, argc, argv, &diags) && draw(&show, &diags);
  if (ok) ask_compiler(&show);
  if (ok) print(&show);
  int status = ok ? CLI_OK : cli_fail(&diags);
  if (show.session) explorer_close(show.session);
  return status;
}
