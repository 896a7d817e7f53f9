// Cubins and listings with bytes that nobody meant: they are read or refused, run or stopped, and
// neither end the program nor go on for ever.
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "kernels/toolchain/machine/sass.h"
#include "machine_case.h"
#include "open_case.h"
#include "ptx/run/machine.h"
#include "stress.h"

Suite *suite_machine_mutants(void);

enum { SAMPLED = 60, WHOLE = 3400, KERNELS = 3, BUDGET = 60000 };
static const char *const ids[KERNELS] = {"k01", "k07", "k15"};

static uint32_t next(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

// Bytes of the cubin: headers, attributes, symbols, code.
static void mutate_bytes(char *bytes, size_t n, uint32_t *seed) {
  const int times = 1 + (int)(next(seed) % 6);
  for (int i = 0; i < times; i++) bytes[next(seed) % n] = (char)next(seed);
}

// Characters of instructions: of one other, or a digit for a digit.
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
    char *cubin = machine_case_file(arena, ids[_i], ".cubin", &n);
    char *listing = machine_case_file(arena, ids[_i], ".sass", &length);
    uint32_t seed = (uint32_t)i * 977u + (uint32_t)_i;
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

START_TEST(test_a_mutant_of_each_architecture_is_run_or_refused) {
  Arena *whole = arena_new("cubin");
  const char *tool = sass_find_tool(whole);
  size_t n = 0;
  const char *path = arena_printf(whole, "tests/data/cubins/%s.cubin", archs[_i]);
  const char *bytes = open_case_bytes(whole, path, &n);
  const SassResult *sass = tool ? sass_disassemble(whole, bytes, n, 60) : NULL;
  int modules = 0;
  for (int i = 0; sass && i < stress_count(SAMPLED_ARCH, WHOLE_ARCH); i++) {
    Arena *arena = arena_new("mutant");
    Diags diags = diags_new(arena);
    uint32_t seed = (uint32_t)i * 977u + (uint32_t)_i;
    char *mutant = arena_alloc(arena, n + 1);
    memcpy(mutant, bytes, n);
    mutate_bytes(mutant, n, &seed);
    const PtxModule *module = machine_case_listed(arena, mutant, n, sass, "dots", &diags);
    if (module) run(arena, module);
    modules += module != NULL;
    arena_free(arena);
  }
  ck_assert(!sass || modules > 0);
  arena_free(whole);
}
END_TEST

Suite *suite_machine_mutants(void) {
  Suite *suite = suite_create("machine_mutants");
  TCase *tcase = tcase_create("mutants");
  tcase_set_timeout(tcase, 300);
  tcase_add_loop_test(tcase, test_a_mutant_is_run_or_refused, 0, KERNELS);
  tcase_add_loop_test(tcase, test_a_mutant_of_each_architecture_is_run_or_refused, 0, ARCHS);
  suite_add_tcase(suite, tcase);
  return suite;
}
