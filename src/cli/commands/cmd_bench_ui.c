// gemmview bench-ui: from a key press to a finished frame, over all rungs.
//
// At every rung each of a set of keys is pressed and the frame is built as in the explorer: the
// model, its pictures, the view and the bytes that change the terminal. What is timed is everything
// between the key and those bytes; what goes on beside, on a thread, is left alone. Reported are
// the 50th and the 99th percentile and the worst.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "base/whole.h"
#include "cli/common/cli.h"
#include "cli/common/documents.h"
#include "cli/common/options.h"
#include "tui/canvas/canvas_diff.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/pins.h"
#include "tui/frame/view.h"

enum { SAMPLES_MAX = 1 << 16 };

typedef struct BenchUiOptions {
  bool json;
  OptionSize size;
  OptionList pin;
  const char *ladder, *view, *color, *press;
} BenchUiOptions;

#define TEXT(key) \
  { .name = #key, .kind = OPTION_KIND_TEXT, .offset = offsetof(BenchUiOptions, key) }

static const Option options[] = {OPTION_JSON(BenchUiOptions),
                                 OPTION_SIZE(BenchUiOptions),
                                 TEXT(ladder),
                                 TEXT(view),
                                 TEXT(color),
                                 TEXT(press),
                                 OPTION_PIN(BenchUiOptions)};
#undef TEXT

typedef struct BenchUi {
  Arena *arena, *bytes_arena;
  Session *session;
  Canvas *now, *before;
  Present present;
  int n;
  double *us, *cpu_us, worst_bytes;
} BenchUi;

static void sample(BenchUi *bench, Key key) {
  arena_reset(bench->bytes_arena);
  Str bytes = str_new(bench->bytes_arena);
  const double begin = clock_seconds(), cpu_begin = clock_cpu_seconds();
  view_key(bench->session, key);
  drive_frame(bench->session, bench->now);
  present_difference(&bytes, &bench->present, bench->before, bench->now, bench->now->rows,
                     bench->now->cols);
  const double us = (clock_seconds() - begin) * 1e6;
  const double cpu_us = (clock_cpu_seconds() - cpu_begin) * 1e6;
  Canvas *swap = bench->before;
  bench->before = bench->now;
  bench->now = swap;
  if (bench->n < SAMPLES_MAX) {
    bench->us[bench->n] = us;
    bench->cpu_us[bench->n++] = cpu_us;
  }
  if ((double)bytes.length > bench->worst_bytes) bench->worst_bytes = (double)bytes.length;
}

// The next of keys as "x x w"; KEY_NONE behind the last one, or where it is no key.
static Key next_key(Arena *arena, const char **keys, Diags *diags) {
  *keys += strspn(*keys, " ");
  const size_t n = strcspn(*keys, " ");
  const char *name = arena_printf(arena, "%.*s", (int)n, *keys);
  *keys += n;
  return n ? key_parse(name, diags) : KEY_NONE;
}

static void press_all(BenchUi *bench, const char *keys) {
  for (Key key; (key = next_key(bench->arena, &keys, NULL)) != KEY_NONE;) sample(bench, key);
}

// Every knob of the panel one up and back again, then some lines of the next pane.
static void walk_rung(BenchUi *bench) {
  static const char *const keys[] = {"Tab", "Down", "Down", "PgDn", "Down", "g", "S-Tab"};
  for (int i = 0; i < KNOB_COUNT; i++) {
    if (knob_table[i].type == KNOB_TYPE_TARGET) continue;
    bench->session->at.knob = (KnobId)i;
    sample(bench, key_parse("Right", NULL));
    sample(bench, key_parse("u", NULL));
  }
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) sample(bench, key_parse(keys[i], NULL));
}

static double percentile(const BenchUi *bench, const double *us, double p) {
  return us[(int)(p * (bench->n - 1))];
}

typedef struct BenchUiShown {
  const BenchUi *bench;
  OptionSize size;
} BenchUiShown;

#define FORM_FILE "cli/commands/forms/cmd_bench_ui.form"
#include "base/form_make.h"

static void print(BenchUi *bench, const BenchUiOptions *given) {
  if (given->json)
    return cli_print_document(bench->arena, &bench_ui_form, &(BenchUiShown){bench, given->size},
                              NULL);
  printf(
      "%d key presses over %d rungs at %dx%d: p50 %.0f µs, p99 %.0f µs, worst %.0f µs, "
      "at most %.0f bytes to the terminal; CPU time: p99 %.0f µs, worst %.0f µs\n",
      bench->n, bench->session->doc.ladder->n_rungs, given->size.width, given->size.height,
      percentile(bench, bench->us, 0.5), percentile(bench, bench->us, 0.99),
      bench->us[bench->n - 1], bench->worst_bytes, percentile(bench, bench->cpu_us, 0.99),
      bench->cpu_us[bench->n - 1]);
}

static void run(BenchUi *bench, const BenchUiOptions *given) {
  bench->us = ARENA_ARRAY(bench->arena, double, SAMPLES_MAX);
  bench->cpu_us = ARENA_ARRAY(bench->arena, double, SAMPLES_MAX);
  bench->now = canvas_new(bench->arena, given->size.height, given->size.width, false);
  bench->before = canvas_new(bench->arena, given->size.height, given->size.width, false);
  drive_frame(bench->session, bench->before);
  for (int rung = 0; rung < bench->session->doc.ladder->n_rungs; rung++) {
    session_go_rung(bench->session, rung);
    drive_frame(bench->session, bench->before);
    if (given->press)
      press_all(bench, given->press);
    else
      walk_rung(bench);
  }
  qsort(bench->us, (size_t)bench->n, sizeof *bench->us, by_double);
  qsort(bench->cpu_us, (size_t)bench->n, sizeof *bench->cpu_us, by_double);
  print(bench, given);
}

int cmd_bench_ui(Arena *arena, int argc, char **argv) {
  BenchUi bench = {.arena = arena, .bytes_arena = arena_new("bytes")};
  BenchUiOptions given = {.size = {120, 40}, .view = "explore", .color = "256"};
  Diags diags = diags_new(bench.arena);
  int n = sizeof options / sizeof *options, status = CLI_OK;
  bool ok = options_parse(options, n, &given, &argc, argv, &diags);
  if (ok && argc > 1)
    diag_add(&diags, "usage", "bench-ui takes no argument, not \"%s\"; --ladder names one",
             argv[1]);
  ok = ok && argc <= 1;
  SessionOptions opening = {.ladder = given.ladder};
  if (ok) bench.session = explorer_open(&opening, &diags);
  const char **names = ARENA_ARRAY(bench.arena, const char *, view_count);
  for (int i = 0; i < view_count; i++) names[i] = view_table[i].name;
  if (ok && view_find(given.view) < 0)
    diag_add_unknown(&diags, "view", "view", given.view, names, view_count);
  if (bench.session) pins_take(bench.session, given.pin.items, given.pin.count, &diags);
  for (const char *keys = given.press; keys && *keys;) next_key(bench.arena, &keys, &diags);
  bench.present = (Present){.theme = theme_find(bench.arena, "default", &diags), .can_erase = true};
  color_depth(&(ColorSettings){.option = given.color}, &bench.present.depth, &diags);
  if (diags.count || !bench.session) {
    status = cli_fail(&diags);
  } else {
    view_show(bench.session, view_find(given.view));
    run(&bench, &given);
  }
  if (bench.session) explorer_close(bench.session);
  arena_free(bench.bytes_arena);
  return status;
}
