// Findings → a document with what could be answered.
#include "cli/open/open_needs.h"

#include <stdio.h>

#include "base/str.h"
#include "cli/common/documents.h"
#include "cli/open/open_memory.h"
#include "ptx/module/signature.h"

// An argument that the parameter could take: memory where it points, or may point, to something.
static const char *argument_for(Arena *arena, const PtxParam *param, const PtxParamType *type) {
  const PtxTypeRow *row = &ptx_types[param->type];
  if (row->bits != param->bytes * 8 || row->bits > 64) {
    Str zeros = str_new(arena);
    str_add(&zeros, "bytes:");
    str_add_repeat(&zeros, '0', (int)(2 * param->bytes));
    return zeros.text;
  }
  return type->is_pointer || row->bits == 64 ? "mem:65536" : "64";
}

static const char *block_of(Arena *arena, const PtxFunction *kernel) {
  const int *known = kernel->reqntid[0] ? kernel->reqntid : kernel->maxntid;
  if (!known[0]) return "grid=1,block=128";
  return arena_printf(arena, "grid=1,block=%dx%dx%d", known[0], known[1] ? known[1] : 1,
                      known[2] ? known[2] : 1);
}

static const char *options_text(Arena *arena, const OpenRequest *request, const OpenResult *r) {
  OpenRequest given = *request;
  open_recall(arena, open_memory_path(arena, r->path, r->kernel->name), &given);
  const PtxParamType *types = ptx_signature(arena, r->kernel);
  Str out = str_new(arena);
  str_printf(&out, "--launch %s", given.launch ? given.launch : block_of(arena, r->kernel));
  for (int i = 0; i < r->kernel->n_params; i++)
    str_printf(&out, " --arg %s",
               i < given.args.count ? given.args.items[i]
                                    : argument_for(arena, &r->kernel->params[i], &types[i]));
  return str_sanitise(arena, out.text);
}

typedef struct Needs {
  const OpenRequest *request;
  const OpenResult *result;
  const char *sentence;
} Needs;

#define FORM_FILE "cli/open/open_needs.form"
#include "base/form_make.h"

void open_print_needs(const OpenRequest *request, const OpenResult *r, const Diags *diags) {
  if (!r->module || !diags->first) return;
  cli_print_document(r->arena, &open_needs_form, &(Needs){request, r, diags->first->text}, r);
}
