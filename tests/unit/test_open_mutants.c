// Real PTX with one thing wrong: a word, a number or a line changed, moved or taken away. Whatever
// it is then, reading and running it ends, and does not touch what it must not.
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "open_case.h"
#include "stress.h"

Suite *suite_open_mutants(void);

enum { SAMPLED = 400, WHOLE = 10000, BUDGET = 2000000, MORE = 4, TEXTS = 10 + MORE };

static uint32_t seed;
static uint32_t chosen(uint32_t n) {
  seed = seed * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)seed * n >> 32);
}

static const char signs[] = "09%[]{}();,.@-+_xrpfdsub";

static void change_byte(char *text, size_t n) {
  text[chosen((uint32_t)n)] = signs[chosen(sizeof signs - 1)];
}
// A digit becomes another one: registers, offsets, widths.
static void change_digit(char *text, size_t n) {
  for (int tries = 0; tries < 200; tries++) {
    char *at = text + chosen((uint32_t)n);
    if (*at < '0' || *at > '9') continue;
    *at = (char)('0' + chosen(10));
    return;
  }
}
static char *line_at(char *text, size_t at) {
  while (at > 0 && text[at - 1] != '\n') at--;
  return text + at;
}
static void drop_line(char *text, size_t n) {
  char *line = line_at(text, chosen((uint32_t)n));
  memset(line, ' ', strcspn(line, "\n"));
}
// A line's words go into another line's place.
static void copy_line(char *text, size_t n) {
  const char *from = line_at(text, chosen((uint32_t)n));
  char *to = line_at(text, chosen((uint32_t)n));
  const size_t length = strcspn(from, "\n"), room = strcspn(to, "\n");
  memmove(to, from, length < room ? length : room);
}

static void (*const changes[])(char *, size_t) = {change_byte, change_digit, change_digit,
                                                  drop_line, copy_line};

static void run_mutant(Arena *arena, const char *ptx) {
  Diags diags = diags_new(arena);
  const size_t n = strlen(ptx);
  const PtxModule *module = ptx_module_read(arena, ptx, n, "mutant.ptx", &diags);
  ck_assert((module == NULL) == (diags.count > 0));
  if (!module || module->local_bytes > (1 << 16)) return;
  const PtxFunction *kernel = ptx_module_kernel(module, NULL, &diags);
  if (!kernel || kernel->n_regs > 20000) return;
  const PtxLaunch launch = {
      .grid = {2, 2, 1}, .block = {128, 1, 1}, .dynamic_smem = 16000, .budget = BUDGET};
  PtxMachine *machine = ptx_machine_new(arena, module, kernel, &launch, &diags);
  if (!machine) return;
  for (int i = 0; i < kernel->n_params; i++) {
    const uint64_t value = kernel->params[i].bytes == 8
                               ? ptx_machine_buffer(machine, "p", 1 << 16, NULL, PTX_CONTENT_ZERO)
                               : 64;
    ptx_machine_param(machine, i, &value, 8);
  }
  PtxTally *tally = ptx_tally_new(arena, module, kernel);
  ptx_machine_watch(machine, ptx_tally_access, tally);
  ptx_machine_run(machine, 1, 1, 0);
  ck_assert_ptr_nonnull(ptx_tally_lines(arena, tally));
}

START_TEST(test_mutants_of_real_text_end) {
  Arena *outer = arena_new("texts");
  static const char *const more[] = {"triton_matmul.ptx", "triton_fp8.ptx", "triton_attention.ptx",
                                     "products.ptx"};
  const char *texts[TEXTS];
  for (int i = 0; i < MORE; i++) texts[10 + i] = open_case_text(outer, more[i]);
  for (int i = 0; i < open_case_count(); i++)
    texts[i] = open_case_text(outer, arena_printf(outer, "%s.ptx", open_case_id(i)));
  seed = (uint32_t)_i + 1;
  const int n = stress_count(SAMPLED, WHOLE) / 4;
  for (int i = 0; i < n; i++) {
    Arena *arena = arena_new("mutant");
    char *text = arena_strdup(arena, texts[chosen(TEXTS)]);
    const int times = 1 + (int)chosen(3);
    for (int k = 0; k < times; k++)
      changes[chosen(sizeof changes / sizeof changes[0])](text, strlen(text));
    run_mutant(arena, text);
    arena_free(arena);
  }
  arena_free(outer);
}
END_TEST

Suite *suite_open_mutants(void) {
  Suite *suite = suite_create("open_mutants");
  TCase *tcase = tcase_create("mutants");
  tcase_set_timeout(tcase, stress_is_on() ? 3600 : 120);
  tcase_add_loop_test(tcase, test_mutants_of_real_text_end, 0, 4);
  suite_add_tcase(suite, tcase);
  return suite;
}
