// Places of the source and kernels of a result, for the documents that list them.
#include "cli/open/open_result.h"

const PtxLoc **open_chain(Arena *arena, const OpenResult *r, int loc) {
  const PtxLoc **chain = ARENA_ARRAY(arena, const PtxLoc *, OPEN_CHAIN_MAX);
  for (int depth = 0; loc >= 0 && depth < OPEN_CHAIN_MAX; depth++) {
    chain[depth] = &r->module->locs[loc];
    loc = chain[depth]->inlined_at;
  }
  return chain;
}

const PtxFunction **open_kernels(Arena *arena, const PtxModule *module) {
  const PtxFunction **kernel = ARENA_ARRAY(arena, const PtxFunction *, module->n_functions + 1);
  for (int i = 0; i < module->n_functions; i++) {
    const PtxFunction *f = &module->functions[i];
    kernel[i] = f->is_kernel && f->has_body ? f : NULL;
  }
  return kernel;
}

#define FORM_FILE "cli/open/open_result.form"
#include "base/form_make.h"
