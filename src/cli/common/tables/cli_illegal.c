#include "cli/common/tables/cli_illegal.h"

#include <stdio.h>

void cli_print_illegal(const Diags *findings) {
  for (const Diag *diag = findings->first; diag; diag = diag->next)
    printf("illegal: %s%s%s\n", diag->text, diag->nearest ? "; nearest: " : "",
           diag->nearest ? diag->nearest : "");
}

const Diag **cli_illegal(Arena *arena, const Diags *findings) {
  const Diag **out = ARENA_ARRAY(arena, const Diag *, findings->count);
  int n = 0;
  for (const Diag *diag = findings->first; diag; diag = diag->next) out[n++] = diag;
  return out;
}

#define FORM_FILE "cli/common/tables/cli_illegal.form"
#include "base/form_make.h"
