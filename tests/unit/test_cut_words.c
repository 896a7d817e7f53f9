// No word of a screen is cut without an ellipsis: whatever stands on one, in every view at four
// sizes, is a word of the sources, of the data or of the programs' texts.
//
//   "wavefron" of "wavefronts", that another text was drawn over or that its box ended in, is none.
#include "tui/frame/explorer.h"

#include <check.h>
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tui/frame/view.h"

// Behind the others: its names are short.
#include "screen_harness.h"

enum { LETTERS_MIN = 4, WORD_BYTES = 32 };

// ---- the words that there are -------------------------------------------------------------------

typedef struct Word {
  char text[WORD_BYTES];
} Word;

static Word *known;
static size_t n_known, room;

static int compare(const void *a, const void *b) {
  return strcmp(((const Word *)a)->text, ((const Word *)b)->text);
}

static void know(const char *text, size_t n) {
  if (n_known == room) known = realloc(known, (room = 2 * room + 4096) * sizeof *known);
  Word *word = &known[n_known++];
  for (size_t i = 0; i < n; i++) word->text[i] = (char)tolower((unsigned char)text[i]);
  word->text[n] = '\0';
}

// Letters in a row; 0: none here.
static size_t letters_at(const char *text) {
  size_t n = 0;
  while (isalpha((unsigned char)text[n])) n++;
  return n;
}

static void know_text(const char *text) {
  for (const char *at = text; *at;) {
    const size_t n = letters_at(at);
    if (n >= LETTERS_MIN && n < WORD_BYTES) know(at, n);
    at += n ? n : 1;
  }
}

static void know_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return;
  char line[8192];
  while (fgets(line, sizeof line, file)) know_text(line);
  fclose(file);
}

static void know_folder(const char *path) {
  DIR *folder = opendir(path);
  if (!folder) {
    know_file(path);
    return;
  }
  for (struct dirent *entry; (entry = readdir(folder));) {
    char name[512];
    if (entry->d_name[0] == '.') continue;
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    know_folder(name);
  }
  closedir(folder);
}

static void learn(void) {
  static const char *const folders[] = {"src", "data", "tests/golden/ir", "tests/golden/cuda",
                                        "tests/data/explorer"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) know_folder(folders[i]);
  qsort(known, n_known, sizeof *known, compare);
  size_t n = 0;
  for (size_t i = 0; i < n_known; i++)
    if (!n || compare(&known[i], &known[n - 1])) known[n++] = known[i];
  n_known = n;
}

static bool is_known(const char *text, size_t n) {
  Word word;
  for (size_t i = 0; i < n; i++) word.text[i] = (char)tolower((unsigned char)text[i]);
  word.text[n] = '\0';
  return bsearch(&word, known, n_known, sizeof word, compare) != NULL;
}

// ---- the screens --------------------------------------------------------------------------------

static void setup(void) {
  screen_setup(&(SessionOptions){.rung = "padded"}, 40, 120);
  if (!known) learn();  // once for all screens
}

// A word with its ellipsis, before or behind, says itself that it is cut; letters in pictures stand
// in the order of lanes, banks or CTAs, or repeat.
static bool is_picture(const char *text, size_t n) {
  int steps = 0;
  for (size_t i = 1; i < n; i++) {
    const int step = text[i] - text[i - 1], before = i > 1 ? text[i - 1] - text[i - 2] : step;
    steps += abs(step) <= 2 || step == before;
  }
  return 2 * steps >= (int)n - 1;
}

static void check_row(const char *where, const char *row) {
  static const char ellipsis[] = "…";
  for (const char *at = row; *at;) {
    const size_t n = letters_at(at);
    const bool cut = str_starts(at + n, ellipsis) || (at - row >= (long)strlen(ellipsis) &&
                                                      str_starts(at - strlen(ellipsis), ellipsis));
    if (n >= LETTERS_MIN && n < WORD_BYTES && !cut && !is_picture(at, n))
      ck_assert_msg(is_known(at, n), "%s: \"%.*s\" in \"%s\"", where, (int)n, at, row);
    at += n ? n : 1;
  }
}

START_TEST(a_part_of_a_word_is_none) {
  ck_assert(is_known("wavefronts", 10) && is_known("Wavefront", 9));
  ck_assert(!is_known("wavefron", 8) && !is_known("descripto", 9) && !is_known("TFLOPTFLOP", 10));
  ck_assert(is_picture("abcdefgh", 8) && is_picture("FFFFFFFF", 8) && !is_picture("wavefron", 8));
}
END_TEST

static const struct {
  const char *ladder, *rung;
} rungs[] = {{"fp32", "naive"},      {"fp32", "padded"},  {"hgemm", "register_buffer"},
             {"hopper", "roles"},    {"hopper", "gpc"},   {"attention", "three_groups"},
             {"blackwell", "roles"}, {"scaled", "words"}, {"tf32", "bt_swizzle"}};
static const struct { int rows, cols; } sizes[] = {{24, 80}, {40, 120}, {50, 160}, {60, 200}};

START_TEST(no_word_is_cut_without_a_mark) {
  if (!session_go_ladder(session, rungs[_i].ladder, &diags)) ck_abort_msg("%s", rungs[_i].ladder);
  const int rung = ladder_find_rung(session->doc.ladder, rungs[_i].rung, &diags);
  ck_assert_int_ge(rung, 0);
  session_go_rung(session, rung);
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int view = 0; view < view_count; view++) {
      canvas_resize(canvas, sizes[s].rows, sizes[s].cols);
      view_show(session, view);
      drive_frame(session, canvas);
      const char *where = arena_printf(arena, "%s/%s %s %dx%d", rungs[_i].ladder, rungs[_i].rung,
                                       view_table[view].name, sizes[s].cols, sizes[s].rows);
      for (int row = 0; row < sizes[s].rows; row++)
        check_row(where, export_row(arena, canvas, row));
    }
}
END_TEST

Suite *suite_cut_words(void);
Suite *suite_cut_words(void) {
  Suite *suite = suite_create("cut_words");
  TCase *tcase = tcase_create("cut_words");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, a_part_of_a_word_is_none);
  tcase_add_loop_test(tcase, no_word_is_cut_without_a_mark, 0, sizeof rungs / sizeof *rungs);
  suite_add_tcase(suite, tcase);
  return suite;
}
