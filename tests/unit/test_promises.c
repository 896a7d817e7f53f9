// Promises that belong to no single part: storms of resizes, mutants of whatever a
// person types or keeps in files, memory that runs out, disks that are full. Hostile texts have a
// suite of their own: injection.
//
// malloc, calloc and realloc of our own code are wrapped by the linker (--wrap), so the n-th call
// can be made to fail; libraries keep theirs.
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "banks/layouts/layout.h"
#include "base/embed.h"
#include "base/json.h"
#include "base/str.h"
#include "canvas_random.h"
#include "kernels/device/history/recorded.h"
#include "kernels/worker/lines.h"
#include "model/words/ladder.h"
#include "model/words/target.h"
#include "stress.h"
#include "tui/app.h"
#include "tui/frame/config.h"
#include "tui/frame/drive.h"
#include "tui/frame/explorer.h"
#include "tui/frame/view.h"
#include "unclean.h"
#include "vterm_harness.h"

// ---- memory that runs out -----------------------------------------------------------------------

static atomic_long allocations;  // the client's thread allocates too
static long failing_at;          // 0: none fails

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

static bool fails(void) {
  const long n = atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed) + 1;
  return failing_at && n == failing_at;
}

void *__wrap_malloc(size_t bytes) { return fails() ? NULL : __real_malloc(bytes); }
void *__wrap_calloc(size_t n, size_t bytes) { return fails() ? NULL : __real_calloc(n, bytes); }
void *__wrap_realloc(void *old, size_t bytes) {
  return fails() ? NULL : __real_realloc(old, bytes);
}

static Arena *arena;
static Diags diags;

static void setup(void) {
  setenv("GEMMVIEW_DATA", "tests/data/explorer", 1);
  arena = arena_new("test");
  diags = diags_new(arena);
}

static void teardown(void) {
  arena_free(arena);
  unsetenv("GEMMVIEW_DATA");
}

// Opens a session, turns a knob, looks at every view; what a person does in a second.
static void short_life(void) {
  Arena *mine = arena_new("life");
  Diags found = diags_new(mine);
  Session *session = explorer_open(&(SessionOptions){.rung = "padded"}, &found);
  Canvas *canvas = canvas_new(mine, 24, 80, false);
  for (int view = 0; session && view < view_count; view++) {
    view_show(session, view);
    drive_frame(session, canvas);
    drive_keys(session, canvas, "Right", &found);
  }
  if (session) explorer_close(session);
  arena_free(mine);
}

// In a child: the n-th allocation fails. Exit 0: there were not so many.
static int life_without(long n, char *said, size_t size) {
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  pid_t pid = fork();
  if (pid == 0) {
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    allocations = 0;
    failing_at = n;
    short_life();
    _exit(0);
  }
  close(ends[1]);
  size_t n_said = 0;
  for (ssize_t got;
       n_said < size - 1 && (got = read(ends[0], said + n_said, size - 1 - n_said)) > 0;)
    n_said += (size_t)got;
  said[n_said] = '\0';
  close(ends[0]);
  int status;
  waitpid(pid, &status, 0);
  return status;
}

// Whatever allocation fails, the end is a sentence and an abort, never a wild pointer.
START_TEST(memory_that_runs_out_is_told) {
  allocations = 0;
  short_life();
  const long all = allocations;
  ck_assert_int_gt(all, 20);
  const long tries = stress_count(25, (int)all);
  for (long i = 0; i < tries; i++) {
    char said[4096];
    long n = 1 + i * all / tries;
    int status = life_without(n, said, sizeof said);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT,
                  "allocation %ld: status %d: %s", n, status, said);
    ck_assert_msg(strstr(said, "out of memory") != NULL, "allocation %ld: %s", n, said);
  }
  char said[4096];
  ck_assert_int_eq(life_without(2 * all, said, sizeof said), 0);
}
END_TEST

// ---- resizes ------------------------------------------------------------------------------------

static int run_explorer(void *argument) {
  Diags found = diags_new(arena_new("explorer"));
  return (int)app_run(argument, &found);
}

static const char *const terminals[] = {"xterm-256color", "tmux-256color", "screen", "linux",
                                        "vt100"};

START_TEST(a_storm_of_resizes) {
  AppOptions options = {.session = {.rung = "padded"}};
  VtProgram *p = vt_start(24, 80, (VtEnv){.term = terminals[_i]}, run_explorer, &options);
  vt_expect(p, "KNOBS");
  Random random = random_new((uint64_t)_i + 1);
  int n = stress_count(60, 10000);
  for (int i = 0; i < n; i++) {
    int rows = random_between(&random, 1, 70), cols = random_between(&random, 1, 220);
    if (i % 5 == 0) cols = 1 + i / 5 % 3;  // one to three columns
    if (i % 37 == 0) vt_send(p, &"1234567\t?c]["[i / 37 % 12], 1);
    vt_resize(p, rows, cols);
    if (i % 8 == 0) vt_pump(p, 1);
    ck_assert_msg(!p->ended, "%s: ended at resize %d", terminals[_i], i);
  }
  vt_resize(p, 24, 80);
  vt_pump(p, 500);  // a loaded machine draws all those screens first
  vt_keys(p, "Esc");
  vt_pump(p, 500);
  vt_keys(p, "1");
  vt_expect(p, "KNOBS");
  vt_keys(p, "q q q");
  ck_assert(vt_wait_end(p));
  ck_assert(vt_restored(p));
  ck_assert_int_eq(p->status, 0);
  vt_finish(p);
}
END_TEST

// ---- mutants ------------------------------------------------------------------------------------

// One to four bytes changed, doubled, or taken out.
static size_t mutate(Random *random, char *text, size_t n) {
  static const char bytes[] = "{}[]\",:'^&|()<>%+-*/ 0123456789colrwxoffpadswizne;.\\\n\200\377";
  for (int edits = random_between(random, 1, 4); edits > 0 && n > 2; edits--) {
    size_t at = random_bits(random) % n;
    text[at] = bytes[random_bits(random) % (sizeof bytes - 1)];
    if (random_bits(random) % 4) continue;
    memmove(text + at, text + at + 1, n - at - 1);
    n--;
  }
  text[n] = '\0';
  return n;
}

START_TEST(mutants_of_layouts) {
  static const char *const texts[] = {"xor:'col ^ (((row >> 1) & 3) << 2)'",
                                      "xoroff:'off ^ (row & 4)'",
                                      "swizzle:3,4,3",
                                      "pad:4",
                                      "swizzle:2,4,3; pad:8",
                                      "xor:'row < 4 ? col : col ^ 8'",
                                      "128B"};
  static const LayoutSlab slab = {.rows = 8, .row_bytes = 128, .elem_bytes = 4};
  Random random = random_new(5);
  int n_parsed = 0, n = stress_count(20000, 100000);
  for (int i = 0; i < n; i++) {
    char text[128];
    arena_reset(arena);
    diags = diags_new(arena);
    snprintf(text, sizeof text, "%s", texts[i % 7]);
    mutate(&random, text, strlen(text));
    const Layout *layout = layout_parse(arena, &slab, text, &diags);
    if (!layout) {
      ck_assert_msg(diags.count > 0 && !unclean(diags_text(arena, &diags)), "%s", text);
      continue;
    }
    n_parsed++;
    for (int byte = 0; byte < slab.rows * slab.row_bytes; byte++)
      ck_assert_msg(layout->offset_of[byte] >= 0 && layout->offset_of[byte] < layout->storage_bytes,
                    "%s", text);
  }
  ck_assert_int_gt(n_parsed, 100);
}
END_TEST

static bool read_file(const char *path, const char *text, size_t n) {
  TargetTable table;
  if (strstr(path, "gpus")) return targets_parse(arena, text, n, &diags, &table);
  if (strstr(path, "ladders/")) return ladder_read(arena, text, n, path, &diags) != NULL;
  if (strstr(path, "results/")) return recorded_read_json(arena, text, n, path, &diags) != NULL;
  if (strstr(path, "themes/")) return theme_read(arena, text, n, path, &diags) != NULL;
  Config config = config_default();
  return config_read(arena, text, n, path, &config, &diags);
}

START_TEST(mutants_of_files) {
  unsetenv("GEMMVIEW_DATA");
  Arena *files = arena_new("files");
  Config defaults = config_default();
  const char *const names[] = {"gpus.json",          "ladders/fp32.json",
                               "ladders/hgemm.json", "results/h200_tf32.json",
                               "themes/light.json",  "config"};
  Random random = random_new(9);
  int n = stress_count(240, 100000), n_refused = 0;
  for (int i = 0; i < n; i++) {
    const char *name = names[i % 6];
    const EmbeddedFile *file = embed_find(files, name);
    const char *from = file ? file->text : config_text(files, &defaults, true);
    arena_reset(arena);
    diags = diags_new(arena);
    char *text = arena_strdup(arena, from);
    bool ok = read_file(name, text, mutate(&random, text, strlen(text)));
    ck_assert_msg(ok || diags.count > 0, "%s: refused without a word", name);
    const char *bad = unclean(diags_text(arena, &diags));
    ck_assert_msg(!bad, "%s: %.120s", name, bad ? str_sanitise(arena, bad) : "");
    n_refused += !ok;
    if (i % 64 == 63) arena_reset(files);
  }
  ck_assert_int_gt(n_refused, n / 2);
  arena_free(files);
}
END_TEST

// ---- short reads, full disks --------------------------------------------------------------------

START_TEST(lines_come_in_pieces) {
  Random random = random_new(3);
  for (int round = 0; round < stress_count(50, 5000); round++) {
    int ends[2], n_lines = 0;
    ck_assert_int_eq(pipe2(ends, O_NONBLOCK), 0);
    LineReader reader = line_reader_new(1 << 16);
    for (int i = 0; i < 20; i++) {
      char text[64];
      int length = snprintf(text, sizeof text, "{\"line\":%d,\"round\":%d}\n", i, round), sent = 0;
      while (sent < length) {
        int piece = random_between(&random, 1, 7);
        if (piece > length - sent) piece = length - sent;
        ck_assert_int_eq(write(ends[1], text + sent, (size_t)piece), piece);
        sent += piece;
        while (line_reader_fill(&reader, ends[0]) > 0) {
        }
        char *line;
        size_t n;
        if (line_reader_next(&reader, &line, &n) != LINE_READY) continue;
        ck_assert_int_eq(sent, length);
        ck_assert(strncmp(line, text, n) == 0 && n == (size_t)length - 1);
        n_lines++;
      }
    }
    ck_assert_int_eq(n_lines, 20);
    line_reader_free(&reader);
    close(ends[0]);
    close(ends[1]);
  }
}
END_TEST

START_TEST(a_full_disk_is_told_and_changes_nothing) {
  Session *session = explorer_open(&(SessionOptions){.rung = "padded"}, &diags);
  Canvas *canvas = canvas_new(arena, 24, 80, false);
  drive_frame(session, canvas);
  drive_save(session, canvas, "/dev/full");
  ck_assert_int_eq(session->prompt.said, SAID_ERROR);
  ck_assert_ptr_nonnull(strstr(session->prompt.message, "/dev/full"));
  drive_save(session, canvas, "/dev/null/none/x.svg");
  ck_assert_int_eq(session->prompt.said, SAID_ERROR);
  explorer_close(session);
}
END_TEST

Suite *suite_promises(void);
Suite *suite_promises(void) {
  Suite *suite = suite_create("promises");
  TCase *tcase = tcase_create("promises");
  tcase_set_timeout(tcase, 4 * 3600);
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, memory_that_runs_out_is_told);
  tcase_add_loop_test(tcase, a_storm_of_resizes, 0, 5);
  tcase_add_test(tcase, mutants_of_layouts);
  tcase_add_test(tcase, mutants_of_files);
  tcase_add_test(tcase, lines_come_in_pieces);
  tcase_add_test(tcase, a_full_disk_is_told_and_changes_nothing);
  suite_add_tcase(suite, tcase);
  return suite;
}
