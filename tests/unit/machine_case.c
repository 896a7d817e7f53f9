#include "machine_case.h"

#include "open_case.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/open/open_parts.h"
#include "kernels/toolchain/machine/sass.h"

char *machine_case_file(Arena *arena, const char *id, const char *ending, size_t *n) {
  const char *path = arena_printf(arena, "tests/data/machine/open/%s%s", id, ending);
  return open_case_bytes(arena, path, n);
}

static const PtxModule *module_of(Arena *arena, const void *cubin, size_t n, const SassResult *sass,
                                  const char *name, Diags *diags) {
  McCubin read;
  if (!mc_cubin_read(arena, cubin, n, &read)) return NULL;
  const McKernel *kernel = name             ? mc_cubin_kernel(&read, name)
                           : read.n_kernels ? read.kernels
                                            : NULL;
  if (!kernel) return NULL;
  McListing *listing = ARENA_ARRAY(arena, McListing, sass->n_lines + 1);
  int lines = 0;
  for (int i = 0; i < sass->n_lines; i++)
    if (sass->lines[i].opcode && str_equal(sass->lines[i].kernel, kernel->name))
      listing[lines++] = (McListing){sass->lines[i].address, sass->lines[i].text};
  return mc_module(arena, &read, kernel, listing, lines, "test", diags);
}

const PtxModule *machine_case_listed(Arena *arena, const void *cubin, size_t n,
                                     const SassResult *sass, const char *kernel, Diags *diags) {
  return module_of(arena, cubin, n, sass, kernel, diags);
}

const PtxModule *machine_case_read(Arena *arena, const void *cubin, size_t n, const char *listing,
                                   const char *kernel, Diags *diags) {
  return module_of(arena, cubin, n, sass_parse(arena, listing), kernel, diags);
}

const PtxModule *machine_case_recorded(Arena *arena, const char *id) {
  Diags diags = diags_new(arena);
  size_t n = 0, length = 0;
  const char *cubin = machine_case_file(arena, id, ".cubin", &n);
  const char *listing = machine_case_file(arena, id, ".sass", &length);
  const PtxModule *module = machine_case_read(arena, cubin, n, listing, NULL, &diags);
  ck_assert_msg(module != NULL, "%s: %s", id, diags_text(arena, &diags));
  return module;
}

const PtxModule *machine_case_module(Arena *arena, const void *cubin, size_t n, const char *kernel,
                                     Diags *diags) {
  if (!sass_find_tool(arena)) return NULL;
  const SassResult *sass = sass_disassemble(arena, cubin, n, 60);
  ck_assert_msg(sass->ok, "%s", sass->error);
  return module_of(arena, cubin, n, sass, kernel, diags);
}

const char *machine_case_assemble(Arena *arena, const char *ptx, const char *target, size_t *n) {
  const char *ptxas = open_find_tool(arena, "ptxas"), *why = NULL;
  const OpenText text = {.ptx = ptx, .bytes = strlen(ptx)};
  if (!ptxas) return NULL;
  const char *cubin = open_assemble(arena, ptxas, &text, NULL, target, n, &why);
  ck_assert_msg(cubin != NULL, "%s", why);
  return cubin;
}
