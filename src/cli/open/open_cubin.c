// Cubin → nvdisasm → module.
#include "cli/open/open_cubin.h"

#include <string.h>

#include "base/str.h"
#include "cli/common/cli.h"
#include "cli/open/open_capsule.h"
#include "kernels/toolchain/machine/code_module.h"
#include "ptx/tally/tally.h"

bool open_is_cubin(const void *bytes, size_t n) {
  return n >= 4 && memcmp(bytes, "\177ELF", 4) == 0 && elf_cuda_sm(bytes, n) > 0;
}

static bool is_named(Arena *arena, const McKernel *kernel, const char *name) {
  return str_equal(kernel->name, name) || str_equal(ptx_plain_name(arena, kernel->name), name);
}

static const McKernel *choose(Arena *arena, const McCubin *cubin, const char *name,
                              const char *what, Diags *diags) {
  const McKernel *found = NULL;
  int n = 0;
  Str names = str_new(arena);
  for (int i = 0; i < cubin->n_kernels; i++) {
    const McKernel *kernel = &cubin->kernels[i];
    str_printf(&names, "%s%s", i ? "; " : "", kernel->name);
    if (name && !is_named(arena, kernel, name)) continue;
    found = kernel;
    n++;
  }
  if (n == 1) return found;
  diag_add(diags, "kernel",
           n ? "%s: several kernels, choose one with --kernel: %s"
             : "%s: no kernel of that name; there are: %s",
           what, names.text);
  return NULL;
}

// The variables that were recorded.
static void take_variables(Arena *arena, const Capsule *capsule, McCubin *cubin) {
  enum { SLACK = 16 };
  McVariable *out = ARENA_ARRAY(arena, McVariable, capsule->n_memory + 1);
  for (int i = 0; i < capsule->n_memory; i++) {
    const CapsuleMemory *m = &capsule->memory[i];
    McVariable *v = &out[cubin->n_variables];
    if (m->kind == CAPSULE_ALLOCATION) continue;
    *v = (McVariable){.symbol = m->name, .address = m->address, .n = m->bytes};
    if (m->kind == CAPSULE_CONSTANT) {
      unsigned char *bytes = arena_alloc(arena, (size_t)m->bytes + SLACK);
      open_capsule_before(m, bytes, NULL);
      v->bytes = bytes;
    }
    cubin->n_variables++;
  }
  cubin->variables = out;
}

const PtxModule *open_cubin(Arena *arena, const OpenRequest *request, const Capsule *capsule,
                            const void *bytes, size_t n, bool kernels_only, Diags *diags) {
  const char *what = str_sanitise(arena, ptx_base_name(request->path));
  McCubin cubin;
  if (!mc_cubin_read(arena, bytes, n, &cubin)) {
    diag_add(diags, "machine", "%s is not a cubin", what);
    return NULL;
  }
  if (capsule) take_variables(arena, capsule, &cubin);
  if (kernels_only) return mc_kernels(arena, &cubin, what);
  const McKernel *kernel = choose(arena, &cubin, request->kernel, what, diags);
  if (!kernel) return NULL;
  int lines = 0;
  OpenListings *known = request->listings;
  const McListing *listing =
      known ? open_known_listing(arena, known, &cubin, kernel, &lines) : NULL;
  if (listing) return mc_module(arena, &cubin, kernel, listing, lines, what, diags);
  listing = code_listing(arena, &cubin, kernel, what, &lines, diags);
  if (!listing) return NULL;
  if (known) open_know_listing(arena, known, &cubin, kernel, listing, lines);
  return mc_module(arena, &cubin, kernel, listing, lines, what, diags);
}
