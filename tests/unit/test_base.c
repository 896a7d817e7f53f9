// Arenas, strings, diagnostics, nearest names, embedded files and the user's own.
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/disk.h"
#include "base/embed.h"
#include "base/nearest.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/whole.h"

static Arena *arena;

static void setup(void) { arena = arena_new("test"); }
static void teardown(void) { arena_free(arena); }

// One assertion per byte would take half a minute: Check notes each of them in a file.
static bool is_zero(const unsigned char *bytes, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (bytes[i]) return false;
  return true;
}

START_TEST(arena_gives_zeroed_aligned_disjoint_memory) {
  unsigned char *before = NULL;
  for (size_t bytes = 0; bytes < 3000; bytes++) {
    unsigned char *at = arena_alloc(arena, bytes);
    ck_assert_uint_eq((uintptr_t)at % 16, 0);
    ck_assert_ptr_ne(at, before);
    ck_assert(is_zero(at, bytes));
    memset(at, 0xAA, bytes);
    before = at;
  }
}
END_TEST

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
static bool is_closed(const void *at) { return __asan_address_is_poisoned(at); }

// A byte too many, or one of what was given out before a reset, is told by AddressSanitizer.
START_TEST(what_was_not_given_out_is_poisoned) {
  for (size_t bytes = 0; bytes < 40; bytes++) {
    const unsigned char *at = arena_alloc(arena, bytes), *next = arena_alloc(arena, 8);
    ck_assert(bytes == 0 || (!is_closed(at) && !is_closed(at + bytes - 1)));
    ck_assert(is_closed(at + bytes) && is_closed(next - 1) && !is_closed(next) &&
              is_closed(next + 8));
  }
  const char *text = arena_strdup(arena, "four");
  ck_assert(!is_closed(text + 4) && is_closed(text + 5));
  arena_reset(arena);
  ck_assert(is_closed(text));
}
END_TEST
#endif

START_TEST(arena_reset_keeps_the_largest_block_and_zeroes_again) {
  memset(arena_alloc(arena, 1 << 20), 0xFF, 1 << 20);
  memset(arena_alloc(arena, 1000), 0xFF, 1000);
  ck_assert_uint_ge(arena_used(arena), (1 << 20) + 1000);
  arena_reset(arena);
  ck_assert_uint_eq(arena_used(arena), 0);
  const unsigned char *again = arena_alloc(arena, 1 << 20);
  ck_assert(is_zero(again, 1 << 20));
  arena_reset(arena);
  arena_reset(arena);
  Arena *empty = arena_new("empty");
  arena_reset(empty);
  arena_free(empty);
  arena_free(NULL);
}
END_TEST

START_TEST(str_grows_over_every_boundary) {
  Str str = str_new(arena);
  for (int i = 0; i < 10000; i++) str_printf(&str, "%d,", i % 10);
  ck_assert_uint_eq(str.length, 20000);
  ck_assert_uint_eq(strlen(str.text), 20000);
  for (size_t i = 0; i < 10000; i++) ck_assert_int_eq(str.text[2 * i], '0' + (int)(i % 10));
  str_add_repeat(&str, 'x', -3);
  ck_assert_uint_eq(str.length, 20000);
  str_add_repeat(&str, 'x', 3);
  ck_assert_str_eq(str.text + 20000, "xxx");
}
END_TEST

START_TEST(numbers_are_those_of_printf) {
  static const long long numbers[] = {0, 7, -1, 10, -987654321, INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    Str str = str_new(arena);
    str_add_number(&str, numbers[i]);
    ck_assert_str_eq(str.text, arena_printf(arena, "%lld", numbers[i]));
  }
}
END_TEST

START_TEST(sanitise_lets_nothing_through_that_a_terminal_acts_on) {
  static const struct {
    const char *in, *out;
  } cases[] = {
      {"plain ünïcode 漢字 🚀\n\t", "plain ünïcode 漢字 🚀\n\t"},
      {"\x1b[2J\x1b]52;c;AAAA\a", "?[2J?]52;c;AAAA?"},
      {"\xc2\x9b"
       "31m",
       "??31m"},  // C1 CSI in UTF-8
      {"\x9b"
       "31m",
       "?31m"},                      // C1 CSI as a bare byte
      {"a\x7f\r\b", "a???"},         // DEL, CR, BS
      {"\xc0\xaf", "??"},            // overlong slash
      {"\xe0\x80\xaf", "???"},       // overlong slash, three bytes
      {"\xed\xa0\x80", "???"},       // surrogate
      {"\xf5\x80\x80\x80", "????"},  // beyond U+10FFFF
      {"\xf4\x90\x80\x80", "????"},  // beyond U+10FFFF
      {"\xe2\x82", "??"},            // cut off
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    ck_assert_str_eq(str_sanitise(arena, cases[i].in), cases[i].out);
}
END_TEST

START_TEST(diags_keep_their_order_and_their_nearest) {
  Diags diags = diags_new(arena);
  ck_assert_str_eq(diags_text(arena, &diags), "");
  diag_add(&diags, "range", "BM=%d", 0)->nearest = "BM=1";
  diag_add(&diags, "syntax", "no value");
  ck_assert_int_eq(diags.count, 2);
  ck_assert_str_eq(diags_text(arena, &diags), "range: BM=0; nearest: BM=1\nsyntax: no value\n");
}
END_TEST

START_TEST(nearest_counts_edits) {
  ck_assert_int_eq(nearest_distance("", ""), 0);
  ck_assert_int_eq(nearest_distance("", "abc"), 3);
  ck_assert_int_eq(nearest_distance("kitten", "sitting"), 3);
  ck_assert_int_eq(nearest_distance("stagte", "STAGE"), 1);
  ck_assert_int_eq(nearest_distance("ab", "ba"), 1);
  ck_assert_int_eq(nearest_distance("bnaks", "banks"), 1);
  char wide[1000];
  memset(wide, 'a', sizeof wide - 1);
  wide[sizeof wide - 1] = '\0';
  ck_assert_int_eq(nearest_distance(wide, "a"), INT_MAX);
  wide[64] = '\0';
  ck_assert_int_eq(nearest_distance(wide, wide), 0);
}
END_TEST

START_TEST(nearest_distance_is_symmetric) {
  static const char *const words[] = {"", "BM", "BN", "BUFFER_COUNT", "h200", "b200", "sm_90a"};
  enum { N = sizeof words / sizeof words[0] };
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      ck_assert_int_eq(nearest_distance(words[i], words[j]), nearest_distance(words[j], words[i]));
}
END_TEST

START_TEST(nearest_name_guesses_only_near_ones) {
  static const char *const names[] = {"h200", "h100", "a100", "rtx5090"};
  ck_assert_str_eq(nearest_name("h20", names, 4), "h200");
  ck_assert_str_eq(nearest_name("rtx509", names, 4), "rtx5090");
  ck_assert_str_eq(nearest_name("H100", names, 4), "h100");
  ck_assert_ptr_null(nearest_name("zzzzzzzz", names, 4));
  ck_assert_ptr_null(nearest_name("h200", names, 0));
  ck_assert_ptr_null(nearest_name("", names, 4));
}
END_TEST

START_TEST(embedded_files_are_those_of_the_tree) {
  unsetenv("GEMMVIEW_DATA");
  const EmbeddedFile *file = embed_find(arena, "gpus.json");
  ck_assert_ptr_nonnull(file);
  FILE *in = fopen("data/gpus.json", "rb");
  ck_assert_ptr_nonnull(in);
  char *text = arena_alloc(arena, file->size + 2);
  ck_assert_uint_eq(fread(text, 1, file->size + 1, in), file->size);
  fclose(in);
  ck_assert_int_eq(memcmp(text, file->text, file->size), 0);
  ck_assert_int_eq(file->text[file->size], '\0');
  ck_assert_ptr_null(embed_find(arena, "gpus"));
  ck_assert_ptr_null(embed_find(arena, ""));
}
END_TEST

START_TEST(embed_list_is_sorted_and_filtered) {
  unsetenv("GEMMVIEW_DATA");
  EmbeddedList all = embed_list(arena, "");
  ck_assert_int_ge(all.count, 1);
  for (int i = 1; i < all.count; i++) ck_assert_int_lt(strcmp(all.paths[i - 1], all.paths[i]), 0);
  ck_assert_int_eq(embed_list(arena, "gpus.j").count, 1);
  ck_assert_int_eq(embed_list(arena, "no such folder/").count, 0);
}
END_TEST

static void write_file(const char *path, const char *text) {
  FILE *out = fopen(path, "w");
  ck_assert_ptr_nonnull(out);
  fputs(text, out);
  fclose(out);
}

START_TEST(a_folder_stands_in_for_the_embedded_files) {
  char folder[] = "/tmp/gemmview-test-XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(folder));
  const char *inside = arena_printf(arena, "%s/gpus.json", folder);
  const char *below = arena_printf(arena, "%s/ladders", folder);
  const char *ladder = arena_printf(arena, "%s/mine.json", below);
  const char *outside = arena_printf(arena, "%s.secret", folder);
  mkdir(below, 0700);
  write_file(inside, "{}");
  write_file(ladder, "[]");
  write_file(outside, "secret");
  setenv("GEMMVIEW_DATA", folder, 1);
  ck_assert_str_eq(embed_find(arena, "gpus.json")->text, "{}");
  ck_assert_str_eq(embed_find(arena, "ladders/mine.json")->text, "[]");
  ck_assert_int_eq(embed_list(arena, "ladders/mine").count, 1);
  ck_assert_ptr_null(embed_find(arena, "ladders"));
  ck_assert_ptr_null(
      embed_find(arena, arena_printf(arena, "../%s.secret", strrchr(folder, '/') + 1)));
  ck_assert_ptr_null(embed_find(arena, "ladders/../gpus.json"));
  ck_assert_ptr_null(embed_find(arena, outside));
  setenv("GEMMVIEW_DATA", "/dev/null/none", 1);
  ck_assert_uint_gt(embed_find(arena, "gpus.json")->size, 100);
  unsetenv("GEMMVIEW_DATA");
  unlink(inside), unlink(ladder), unlink(outside), rmdir(below), rmdir(folder);
}
END_TEST

START_TEST(own_files_lie_where_xdg_says) {
  setenv("HOME", "/home/ana", 1);
  setenv("XDG_STATE_HOME", "/srv/ana", 1);
  ck_assert_str_eq(disk_path(arena, DISK_STATE, "x.json"), "/srv/ana/gemmview/x.json");
  setenv("XDG_STATE_HOME", "ana", 1);  // relative: as good as unset
  ck_assert_str_eq(disk_path(arena, DISK_STATE, NULL), "/home/ana/.local/state/gemmview");
  setenv("HOME", "", 1);
  ck_assert_ptr_null(disk_path(arena, DISK_STATE, "x.json"));
}
END_TEST

START_TEST(a_file_is_replaced_as_a_whole_or_not_at_all) {
  char folder[] = "/tmp/gemmview-disk-XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(folder));
  char *below = arena_printf(arena, "%s/a", folder), *path = arena_printf(arena, "%s/b", below);
  char block[16] = "";
  ck_assert(disk_replace(path, "first"));
  ck_assert(disk_replace(path, "second"));
  ck_assert(!disk_replace(arena_printf(arena, "%s/c", path), "below a file"));
  ck_assert_int_eq(errno, ENOTDIR);
  FILE *file = fopen(path, "rb");
  ck_assert_uint_eq(fread(block, 1, sizeof block - 1, file), 6);
  ck_assert_str_eq(block, "second");
  fclose(file);
  unlink(path);
  ck_assert_msg(rmdir(below) == 0, "something is left beside the file");
  rmdir(folder);
}
END_TEST

static const char *text_of(const char *path) {
  char block[64] = "";
  FILE *file = fopen(path, "rb");
  if (!file) return "(none)";
  block[fread(block, 1, sizeof block - 1, file)] = '\0';
  fclose(file);
  return arena_strdup(arena, block);
}

// Settings that lie in a folder of dotfiles stay there.
START_TEST(a_link_stays_a_link) {
  char folder[] = "/tmp/gemmview-disk-XXXXXX";
  struct stat info;
  ck_assert_ptr_nonnull(mkdtemp(folder));
  char *link = arena_printf(arena, "%s/link", folder),
       *real = arena_printf(arena, "%s/real", folder);
  ck_assert_int_eq(symlink("real", link), 0);
  ck_assert(disk_replace(link, "through a link to nothing yet"));
  ck_assert_str_eq(text_of(real), "through a link to nothing yet");
  ck_assert_int_eq(chmod(real, 0640), 0);
  ck_assert(disk_write(link, "again"));
  ck_assert_str_eq(text_of(real), "again");
  ck_assert(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
  ck_assert(stat(real, &info) == 0 && (info.st_mode & 0777) == 0640);
  unlink(link), unlink(real);
  ck_assert(symlink("link", link) == 0 && !disk_write(link, "in circles"));
  unlink(link);
  ck_assert_msg(rmdir(folder) == 0, "something is left beside the file");
}
END_TEST

// A disk that is full, played by a limit on the size of files.
START_TEST(what_cannot_be_written_whole_leaves_the_old_file) {
  char folder[] = "/tmp/gemmview-disk-XXXXXX";
  int status = 0;
  ck_assert_ptr_nonnull(mkdtemp(folder));
  char *path = arena_printf(arena, "%s/x.cu", folder);
  ck_assert(disk_write(path, "the old one"));
  pid_t pid = fork();
  if (pid == 0) {
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100});
    _exit(disk_write(path, arena_printf(arena, "%0200d", 7)) || errno != EFBIG);
  }
  ck_assert(waitpid(pid, &status, 0) == pid && status == 0);
  ck_assert_str_eq(text_of(path), "the old one");
  ck_assert(!disk_write("/dev/full", "x") && errno == ENOSPC);
  ck_assert(disk_write("/dev/null", "x") && access("/dev/null", F_OK) == 0);
  unlink(path);
  ck_assert_msg(rmdir(folder) == 0, "something is left beside the file");
}
END_TEST

START_TEST(a_home_that_is_not_there_is_not_made) {
  char folder[] = "/tmp/gemmview-disk-XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(folder));
  char *home = arena_printf(arena, "%s/home", folder);
  setenv("HOME", home, 1);
  unsetenv("XDG_STATE_HOME");
  ck_assert(!disk_replace(disk_path(arena, DISK_STATE, "x.json"), "text"));
  ck_assert_int_eq(errno, ENOENT);
  ck_assert_msg(rmdir(folder) == 0, "something was made");
}
END_TEST

START_TEST(a_cut_never_falls_inside_a_character) {
  ck_assert_uint_eq(utf8_cut("ab", 5), 2);
  ck_assert_uint_eq(utf8_cut("a\xE2\x80\xA6", 3), 1);
  ck_assert_uint_eq(utf8_cut("a\xE2\x80\xA6", 4), 4);
  ck_assert_uint_eq(utf8_cut("\xE2\x80\xA6", 2), 0);
}
END_TEST

START_TEST(whole_numbers_round_up) {
  ck_assert_int_eq(ceil_div(0, 32), 0);
  ck_assert_int_eq(ceil_div(33, 32), 2);
  ck_assert_int_eq(round_up(33, 32), 64);
  ck_assert_int_eq(log2_up(1), 0);
  ck_assert_int_eq(log2_up(33), 6);
  ck_assert_int_eq(common_divisor(8, -12), 4);
  ck_assert_int_eq(common_divisor(0, 3), 3);
  ck_assert_int_eq(common_multiple(8, 12), 24);
  ck_assert(is_power_of_two(64) && !is_power_of_two(0) && !is_power_of_two(65));
  ck_assert_int_eq(clamp_index(-1, 4), 0);
  ck_assert_int_eq(clamp_index(9, 4), 3);
}
END_TEST

Suite *suite_base(void);
Suite *suite_base(void) {
  Suite *suite = suite_create("base");
  TCase *tests = tcase_create("base");
  tcase_add_checked_fixture(tests, setup, teardown);
#ifdef __SANITIZE_ADDRESS__
  tcase_add_test(tests, what_was_not_given_out_is_poisoned);
#endif
  tcase_add_test(tests, arena_gives_zeroed_aligned_disjoint_memory);
  tcase_add_test(tests, arena_reset_keeps_the_largest_block_and_zeroes_again);
  tcase_add_test(tests, str_grows_over_every_boundary);
  tcase_add_test(tests, numbers_are_those_of_printf);
  tcase_add_test(tests, sanitise_lets_nothing_through_that_a_terminal_acts_on);
  tcase_add_test(tests, diags_keep_their_order_and_their_nearest);
  tcase_add_test(tests, nearest_counts_edits);
  tcase_add_test(tests, nearest_distance_is_symmetric);
  tcase_add_test(tests, nearest_name_guesses_only_near_ones);
  tcase_add_test(tests, embedded_files_are_those_of_the_tree);
  tcase_add_test(tests, embed_list_is_sorted_and_filtered);
  tcase_add_test(tests, a_folder_stands_in_for_the_embedded_files);
  tcase_add_test(tests, own_files_lie_where_xdg_says);
  tcase_add_test(tests, a_file_is_replaced_as_a_whole_or_not_at_all);
  tcase_add_test(tests, a_link_stays_a_link);
  tcase_add_test(tests, what_cannot_be_written_whole_leaves_the_old_file);
  tcase_add_test(tests, a_home_that_is_not_there_is_not_made);
  tcase_add_test(tests, a_cut_never_falls_inside_a_character);
  tcase_add_test(tests, whole_numbers_round_up);
  suite_add_tcase(suite, tests);
  return suite;
}
