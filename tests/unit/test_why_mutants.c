// `gemmview why FILE` on cubins with something wrong: bytes of headers and tables, bits of
// instructions, pieces cut off or put elsewhere, and files that are no cubins. Each ends in clocks
// or in one sentence, and the command in status 0 or 2.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/str.h"
#include "cli_harness.h"
#include "kernels/toolchain/machine/clock_answer.h"
#include "stress.h"

Suite *suite_why_mutants(void);

enum { SAMPLED = 40, WHOLE = 20000, ROOM = 1 << 17, ASKED = 6, RUN_SAMPLED = 2, RUN_WHOLE = 400 };

static const char *const files[] = {
    "tests/data/cubins/sm_75.cubin",     "tests/data/cubins/sm_80.cubin",
    "tests/data/cubins/sm_86.cubin",     "tests/data/cubins/sm_89.cubin",
    "tests/data/cubins/sm_90a.cubin",    "tests/data/cubins/sm_100a.cubin",
    "tests/data/cubins/sm_120.cubin",    "tests/data/machine/lost_sign.cubin",
    "tests/data/machine/open/k01.cubin", "tests/data/machine/open/k07.cubin",
    "tests/data/machine/open/k15.cubin",
};
enum { N_FILES = sizeof files / sizeof *files };

static Arena *arena;
static void setup(void) { arena = arena_new("test why mutants"); }
static void teardown(void) { arena_free(arena); }

static uint32_t seed;
static uint32_t chosen(uint32_t n) {
  seed = seed * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)seed * n >> 32);
}

// ---- what goes wrong ----------------------------------------------------------------------------

typedef struct Bytes {
  unsigned char *at;
  size_t n;
} Bytes;

static void change_bytes(Bytes *of) {
  const uint32_t times = 1 + chosen(6);
  for (uint32_t i = 0; i < times; i++) of->at[chosen((uint32_t)of->n)] = (unsigned char)chosen(256);
}

static void flip_bits(Bytes *of) {
  const uint32_t times = 1 + chosen(12);
  for (uint32_t i = 0; i < times; i++)
    of->at[chosen((uint32_t)of->n)] ^= (unsigned char)(1 << chosen(8));
}

// A field of the header or of a table: nothing, the greatest, or one too many.
static void change_word(Bytes *of) {
  static const uint32_t words[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF0};
  const uint32_t at = chosen((uint32_t)of->n / 4) * 4,
                 word = words[chosen(sizeof words / sizeof *words)];
  if (at + sizeof word <= of->n) memcpy(of->at + at, &word, sizeof word);
}

static void cut_off(Bytes *of) { of->n = chosen((uint32_t)of->n); }

// Instructions are 16 bytes: one stands where another one stood.
static void move_instruction(Bytes *of) {
  enum { INSTRUCTION = 16 };
  const uint32_t n = (uint32_t)of->n / INSTRUCTION;
  if (n < 2) return;
  memmove(of->at + chosen(n) * INSTRUCTION, of->at + chosen(n) * INSTRUCTION, INSTRUCTION);
}

static void (*const changes[])(Bytes *) = {change_bytes, flip_bits, flip_bits,
                                           change_word,  cut_off,   move_instruction};

static Bytes read_bytes(const char *path) {
  FILE *file = fopen(path, "rb");
  ck_assert_msg(file != NULL, "%s", path);
  Bytes out = {arena_alloc(arena, ROOM), 0};
  out.n = fread(out.at, 1, ROOM, file);
  ck_assert(out.n > 0 && out.n < ROOM);
  fclose(file);
  return out;
}

static Bytes mutant_of(const Bytes *real) {
  Bytes out = {malloc(real->n), real->n};  // so that a byte behind the end is found
  ck_assert_ptr_nonnull(out.at);
  memcpy(out.at, real->at, real->n);
  const uint32_t times = 1 + chosen(3);
  for (uint32_t i = 0; i < times && out.n > 0; i++)
    changes[chosen(sizeof changes / sizeof *changes)](&out);
  return out;
}

// ---- what is asked ------------------------------------------------------------------------------

static const TargetTable *targets(void) {
  static TargetTable table;
  Diags diags = diags_new(arena);
  const EmbeddedFile *file = embed_find(arena, "gpus.json");
  ck_assert(targets_parse(arena, file->text, file->size, &diags, &table));
  return &table;
}

// Nothing of the launch, or a launch and turns of loops, some of which are none.
static ClockAsk question(void) {
  static const char *const kernels[] = {"dots", "pairs", NULL};
  ClockAsk ask = {.kernel = kernels[chosen(3)], .cold = chosen(2), .what_if = !chosen(8)};
  if (chosen(2)) return ask;
  ask.launch = (ClockLaunch){.blocks = 1 + chosen(300), .threads = 1 + (int)chosen(1024)};
  ask.n_trips = (int)chosen(4);
  for (int i = 0; i < ask.n_trips; i++)
    ask.trip[i] = (ClockTrip){(int)chosen(64) * 16, 1 + (int)chosen(40)};
  return ask;
}

static void check_sentence(const char *text) {
  ck_assert_msg(*text && !strchr(text, '\n'), "\"%s\"", text);
  for (const char *at = text; *at; at++)
    ck_assert_msg((unsigned char)*at >= ' ', "\"%s\" has byte %d", text, *at);
}

START_TEST(test_a_mutant_has_clocks_or_a_sentence) {
  const Bytes real = read_bytes(files[_i]);
  const TargetTable *table = targets();
  int answered = 0, refused = 0;
  for (int i = 0; i < stress_count(SAMPLED, WHOLE); i++) {
    seed = (uint32_t)i * 2654435761u + (uint32_t)_i;
    Arena *own = arena_new("mutant");
    const Bytes mutant = mutant_of(&real);
    const ClockAsk ask = question();
    const ClockAnswer answer = clock_answer_cubin(own, mutant.at, mutant.n, table, &ask);
    if (answer.why_not)
      check_sentence(answer.why_not);
    else
      ck_assert_msg(answer.clocks.value > 0 || answer.n_loops > 0, "%s, mutant %d", files[_i], i);
    answered += !answer.why_not;
    refused += answer.why_not != NULL;
    free(mutant.at);
    arena_free(own);
  }
  ck_assert_int_gt(refused, 0);
  ck_assert_msg(answered > 0 || strstr(files[_i], "sm_75") || strstr(files[_i], "open/"), "%s",
                files[_i]);
}
END_TEST

// ---- the command --------------------------------------------------------------------------------

static const char *put_file(const char *dir, const char *name, const void *bytes, size_t n) {
  const char *path = arena_printf(arena, "%s/%s", dir, name);
  FILE *file = fopen(path, "wb");
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
  fclose(file);
  return path;
}

// One sentence and status 2, or clocks and status 0.
static void check_command(const char *path, const char *more) {
  const CliRun run = cli_run(arena, arena_printf(arena, "why %s %s", path, more));
  ck_assert_msg(run.status == 0 || run.status == 2, "%s %s: %d, %s", path, more, run.status,
                run.err);
  if (run.status == 0) return;
  ck_assert_msg(*run.err && strchr(run.err, '\n') == run.err + strlen(run.err) - 1, "%s: %s", path,
                run.err);
  ck_assert_str_eq(run.out, "");
}

START_TEST(test_the_command_refuses_mutants) {
  static const char *const more[] = {
      "", "--json", "--kernel dots", "--kernel dots --json --launch grid=300,block=256",
      "--kernel dots --launch grid=3x4,block=8x8 --trips 0x1d0=4 --what-if"};
  if (!cli_has_program()) return;
  const Bytes real = read_bytes(files[_i]);
  const char *dir = cli_own_folder(arena);
  for (int i = 0; i < stress_count(RUN_SAMPLED, RUN_WHOLE); i++) {
    seed = (uint32_t)i * 40503u + (uint32_t)_i;
    const Bytes mutant = mutant_of(&real);
    const char *path = put_file(dir, "mutant.cubin", mutant.at, mutant.n);
    check_command(path, more[chosen(sizeof more / sizeof *more)]);
    free(mutant.at);
  }
}
END_TEST

START_TEST(test_what_is_no_cubin_is_refused) {
  static const char *const paths[] = {"tests/data/open/k01.ptx",
                                      "tests/data/machine/lost_sign.ptx",
                                      "tests/data/cubins/lines.cu",
                                      "tests/data/machine/open/k01.sass",
                                      "tests/data/h200_cycles.jsonl",
                                      "/bin/sh",
                                      "/proc/self/exe"};
  if (!cli_has_program()) return;
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    const CliRun run = cli_run(arena, arena_printf(arena, "why %s", paths[i]));
    ck_assert_msg(run.status == 2 && *run.err && !*run.out, "%s: %d, %s", paths[i], run.status,
                  run.err);
    check_command(paths[i], "--json");
  }
}
END_TEST

Suite *suite_why_mutants(void) {
  Suite *suite = suite_create("why_mutants");
  TCase *tcase = tcase_create("mutants");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 900);
  tcase_add_loop_test(tcase, test_a_mutant_has_clocks_or_a_sentence, 0, N_FILES);
  tcase_add_loop_test(tcase, test_the_command_refuses_mutants, 0, N_FILES);
  tcase_add_test(tcase, test_what_is_no_cubin_is_refused);
  suite_add_tcase(suite, tcase);
  return suite;
}
