// Findings → a document with what could be answered.
#include "cli/open/open_needs.h"

#include <stdio.h>

#include "base/str.h"
#include "cli/open/open_memory.h"
#include "ptx/module/signature.h"

static void put_kernels(JsonWriter *w, const OpenResult *r) {
  json_key(w, "kernels");
  json_begin_array(w);
  for (int i = 0; i < r->module->n_functions; i++) {
    const PtxFunction *f = &r->module->functions[i];
    if (!f->is_kernel || !f->has_body) continue;
    json_begin_object(w);
    json_member_string(w, "entry", f->name);
    json_member_string(w, "signature", ptx_signature_text(r->arena, f));
    json_end_object(w);
  }
  json_end_array(w);
}

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

void open_print_needs(const OpenRequest *request, const OpenResult *r, const Diags *diags) {
  if (!r->module || !diags->first) return;
  Str out = str_new(r->arena);
  JsonWriter w = json_writer(&out);
  json_begin_document(&w);
  json_member_string(&w, "command", "open");
  json_member_string(&w, "needs", r->kernel ? "launch" : "kernel");
  json_member_string(&w, "sentence", str_sanitise(r->arena, diags->first->text));
  if (r->kernel) {
    json_member_string(&w, "signature", ptx_signature_text(r->arena, r->kernel));
    json_member_string(&w, "options", options_text(r->arena, request, r));
  } else {
    put_kernels(&w, r);
  }
  json_end_object(&w);
  puts(out.text);
}
