// Cubin → listing → module. nvdisasm prints one function alone, so that a kernel of a cubin with
// hundreds takes no longer than it has to.
#include "kernels/toolchain/machine/code_module.h"

#include "base/str.h"
#include "kernels/toolchain/machine/sass.h"

enum { DISASSEMBLE_SECONDS = 120 };

static McListing *listing_of(Arena *arena, const SassResult *sass, const char *kernel, int *n) {
  McListing *out = ARENA_ARRAY(arena, McListing, sass->n_lines + 1);
  *n = 0;
  for (int i = 0; i < sass->n_lines; i++)
    if (sass->lines[i].opcode && str_equal(sass->lines[i].kernel, kernel))
      out[(*n)++] = (McListing){sass->lines[i].address, sass->lines[i].text};
  return out;
}

const McListing *code_listing(Arena *arena, const McCubin *cubin, const McKernel *kernel,
                              const char *what, int *n, Diags *diags) {
  const SassResult *sass =
      sass_disassemble_one(arena, cubin->bytes, cubin->n,
                           mc_cubin_symbol_index(cubin, kernel->name), DISASSEMBLE_SECONDS);
  if (sass->ok) return listing_of(arena, sass, kernel->name, n);
  diag_add(diags, "machine", "%s: %s", what, sass->error);
  return NULL;
}

const PtxModule *code_module(Arena *arena, const McCubin *cubin, const McKernel *kernel,
                             const char *what, Diags *diags) {
  int n = 0;
  const McListing *listing = code_listing(arena, cubin, kernel, what, &n, diags);
  return listing ? mc_module(arena, cubin, kernel, listing, n, what, diags) : NULL;
}
