// Cubins and listings with bytes that nobody meant: they are read or refused, run or stopped, and
// neither end the program nor go on for ever.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/open/open_parts.h"
#include "kernels/toolchain/machine/sass.h"
#include "machine_case.h"
#include "open_case.h"
#include "ptx/run/machine.h"
#include "stress.h"

Suite *suite_machine_mutants(void);

enum { SAMPLED = 18, WHOLE = 1100, KERNELS = 10, BUDGET = 60000 };

static uint32_t next(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

// The same ones each time, but for another GEMMVIEW_SEED.
static uint32_t seed_of(int mutant, int of) {
  const char *other = getenv("GEMMVIEW_SEED");
  return (uint32_t)mutant * 977u + (uint32_t)of + (other ? (uint32_t)atoi(other) * 104729u : 0);
}

// Bytes of the cubin: headers, attributes, symbols, code.
static void mutate_bytes(char *bytes, size_t n, uint32_t *seed) {
  const int times = 1 + (int)(next(seed) % 6);
  for (int i = 0; i < times; i++) bytes[next(seed) % n] = (char)next(seed);
}

// Characters of instructions.
static void mutate_listing(char *text, size_t n, uint32_t *seed) {
  static const char signs[] = "0123456789RUPZTX,.[]|!-~+ ";
  const int times = 1 + (int)(next(seed) % 8);
  for (int i = 0; i < times; i++) {
    char *at = &text[next(seed) % n];
    if (*at != '\n' && *at != '/' && *at != '*') *at = signs[next(seed) % (sizeof signs - 1)];
  }
}

static void run(Arena *arena, const PtxModule *module) {
  Diags diags = diags_new(arena);
  const PtxFunction *kernel = ptx_module_kernel(module, NULL, &diags);
  const PtxLaunch launch = {.grid = {2, 1, 1}, .block = {32, 4, 1}, .budget = BUDGET};
  if (!kernel) return;
  PtxMachine *m = ptx_machine_new(arena, module, kernel, &launch, &diags);
  if (!m) return;
  const uint64_t memory = ptx_machine_buffer(m, "all", 65536, NULL, PTX_CONTENT_ZERO);
  const uint64_t number = 64;
  for (int i = 0; i < kernel->n_params; i++)
    ptx_machine_param(m, i, kernel->params[i].bytes == 8 ? &memory : &number, 8);
  ptx_machine_run(m, 1, 0, 0);
}

START_TEST(test_a_mutant_is_run_or_refused) {
  for (int i = 0; i < stress_count(SAMPLED, WHOLE); i++) {
    Arena *arena = arena_new("mutant");
    Diags diags = diags_new(arena);
    size_t n = 0, length = 0;
    char *cubin = machine_case_file(arena, open_case_id(_i), ".cubin", &n);
    char *listing = machine_case_file(arena, open_case_id(_i), ".sass", &length);
    uint32_t seed = seed_of(i, _i);
    if (i % 3 != 1) mutate_bytes(cubin, n, &seed);
    if (i % 3 != 0) mutate_listing(listing, length, &seed);
    const PtxModule *module = machine_case_read(arena, cubin, n, listing, NULL, &diags);
    if (module) run(arena, module);
    arena_free(arena);
  }
}
END_TEST

// The same of each architecture that is run: bytes of the cubin beside its own listing, which the
// disassembler prints once.
static const char *const archs[] = {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120"};
enum { ARCHS = sizeof archs / sizeof *archs, SAMPLED_ARCH = 20, WHOLE_ARCH = 1700 };

// Kernels of tensor cores and bulk copies, as they are assembled here: bytes of the
// cubin, and characters of some lines.
static const char *const newest[] = {
    "triton_matmul", "triton_attention", "triton_fp8", "tensors", "c06", "c10", "groups"};
enum { NEWEST = sizeof newest / sizeof *newest, SAMPLED_NEWEST = 9, WHOLE_NEWEST = 800 };

static const SassResult *mutate_lines(Arena *arena, const SassResult *sass, uint32_t *seed) {
  SassResult *out = ARENA_NEW(arena, SassResult);
  *out = *sass;
  SassLine *lines = ARENA_ARRAY(arena, SassLine, sass->n_lines + 1);
  memcpy(lines, sass->lines, sizeof *lines * (size_t)sass->n_lines);
  out->lines = lines;
  for (int i = (int)(next(seed) % 8); i >= 0 && sass->n_lines; i--) {
    SassLine *line = &lines[next(seed) % (uint32_t)sass->n_lines];
    char *text = arena_strndup(arena, line->text, strlen(line->text));
    if (*text) mutate_listing(text, strlen(text), seed);
    line->text = text;
  }
  return out;
}

// Runs a kernel of bytes that are changed, or of lines that are; whether it could be read.
static bool run_mutant(const char *bytes, size_t n, const SassResult *lines, const char *kernel,
                       bool in_bytes, bool in_lines, uint32_t seed) {
  Arena *arena = arena_new("mutant");
  Diags diags = diags_new(arena);
  char *mutant = arena_alloc(arena, n + 1);
  memcpy(mutant, bytes, n);
  if (in_bytes) mutate_bytes(mutant, n, &seed);
  const SassResult *listed = in_lines ? mutate_lines(arena, lines, &seed) : lines;
  const PtxModule *module = machine_case_listed(arena, mutant, n, listed, kernel, &diags);
  if (module) run(arena, module);
  arena_free(arena);
  return module != NULL;
}

START_TEST(test_a_mutant_of_each_architecture_is_run_or_refused) {
  Arena *whole = arena_new("cubin");
  const char *tool = sass_find_tool(whole);
  size_t n = 0;
  const char *path = arena_printf(whole, "tests/data/cubins/%s.cubin", archs[_i]);
  const char *bytes = open_case_bytes(whole, path, &n);
  const SassResult *sass = tool ? sass_disassemble(whole, bytes, n, 60) : NULL;
  int modules = 0;
  for (int i = 0; sass && i < stress_count(SAMPLED_ARCH, WHOLE_ARCH); i++)
    modules += run_mutant(bytes, n, sass, "dots", true, false, seed_of(i, _i));
  ck_assert(!sass || modules > 0);
  arena_free(whole);
}
END_TEST

// A text may name a version that is newer than the assembler.
static const char *assemble(Arena *arena, const char *name, size_t *n) {
  size_t length = 0;
  const char *ptxas = open_find_tool(arena, "ptxas"), *why = NULL;
  char *ptx = open_case_bytes(arena, arena_printf(arena, "tests/data/open/%s.ptx", name), &length);
  char *version = strstr(ptx, ".version 9.");
  if (version) memcpy(version, ".version 8.7", strlen(".version 8.7"));
  const char *target = strstr(ptx, ".target sm_100a") ? "sm_100a" : "sm_90a";
  const OpenText text = {.ptx = ptx, .bytes = strlen(ptx)};
  return ptxas ? open_assemble(arena, ptxas, &text, NULL, target, n, &why) : NULL;
}

START_TEST(test_a_mutant_of_the_newest_forms_is_run_or_refused) {
  Arena *whole = arena_new("cubin");
  size_t n = 0;
  const char *cubin = sass_find_tool(whole) ? assemble(whole, newest[_i], &n) : NULL;
  const SassResult *sass = cubin ? sass_disassemble(whole, cubin, n, 60) : NULL;
  int modules = 0;
  for (int i = 0; sass && i < stress_count(SAMPLED_NEWEST, WHOLE_NEWEST); i++)
    modules += run_mutant(cubin, n, sass, NULL, i % 3 != 1, i % 3 != 0, seed_of(i, _i));
  ck_assert(!sass || modules > 0);
  arena_free(whole);
}
END_TEST

Suite *suite_machine_mutants(void) {
  Suite *suite = suite_create("machine_mutants");
  TCase *tcase = tcase_create("mutants");
  tcase_set_timeout(tcase, 600);
  tcase_add_loop_test(tcase, test_a_mutant_is_run_or_refused, 0, KERNELS);
  tcase_add_loop_test(tcase, test_a_mutant_of_each_architecture_is_run_or_refused, 0, ARCHS);
  tcase_add_loop_test(tcase, test_a_mutant_of_the_newest_forms_is_run_or_refused, 0, NEWEST);
  suite_add_tcase(suite, tcase);
  return suite;
}
