// Machine code alone → a module that the machine runs, where nvdisasm is at hand. PyTorch's own
// kernels are so: some of them stand in front of a Triton kernel, which has PTX.
//
// Variables are the symbols of the cubin's sections for them, and get memory as those of a text do.
// A constant is read from the kernel's bank: before each launch the bank gets what the variable
// has.
#include "base/str.h"
#include "driver/driver_launch.h"
#include "kernels/toolchain/machine/code_module.h"

static const struct {
  const char *section;
  PtxSpace space;
} homes[] = {{".nv.global", PTX_SPACE_GLOBAL},
             {".nv.global.init", PTX_SPACE_GLOBAL},
             {".nv.constant3", PTX_SPACE_CONST}};

// The contents that the cubin begins with; NULL: zeros.
static const void *init_of(const McCubin *cubin, const McSymbol *s) {
  const ElfBytes all = elf_section(cubin->bytes, cubin->n, s->section);
  const uint64_t n = all.at ? (uint64_t)(all.end - all.at) : 0;
  return s->at <= n && s->bytes <= n - s->at && n ? all.at + s->at : NULL;
}

static DriverResult place(DriverModule *module, const McSymbol *s) {
  for (size_t i = 0; i < sizeof homes / sizeof homes[0]; i++)
    if (s->section && str_equal(homes[i].section, s->section))
      return driver_place_variable(module, s->name, homes[i].space, (int64_t)s->bytes,
                                   init_of(module->cubin, s));
  return DRIVER_OK;
}

static void tell_variables(const DriverModule *module, McCubin *cubin) {
  int n = 0;
  for (const DriverVariable *v = module->variables; v; v = v->next) n++;
  McVariable *out = ARENA_ARRAY(module->arena, McVariable, n + 1);
  for (const DriverVariable *v = module->variables; v; v = v->next) {
    unsigned char *state;
    McVariable *to = &out[cubin->n_variables++];
    *to = (McVariable){.symbol = v->name, .address = v->address, .n = (uint64_t)v->bytes};
    if (v->space == PTX_SPACE_CONST) to->bytes = driver_bytes(v->address, (size_t)v->bytes, &state);
  }
  cubin->variables = out;
}

DriverResult driver_place_code(DriverModule *module) {
  const DriverImage *image = &module->image;
  McCubin *cubin = ARENA_NEW(module->arena, McCubin);
  if (!image->cubin || !mc_cubin_read(module->arena, image->cubin, image->cubin_bytes, cubin))
    return DRIVER_OK;
  module->cubin = cubin;
  McSymbol symbol;
  DriverResult result = DRIVER_OK;
  for (int i = 0; result == DRIVER_OK && mc_cubin_symbol_at(cubin, i, &symbol); i++)
    if (symbol.is_variable && symbol.bytes > 0) result = place(module, &symbol);
  tell_variables(module, cubin);
  return result;
}

static const PtxModule *read_code(const DriverFunction *f, Diags *diags) {
  const McCubin *cubin = f->module->cubin;
  const McKernel *kernel = mc_cubin_kernel(cubin, f->name);
  if (kernel) return code_module(f->module->arena, cubin, kernel, "its machine code", diags);
  diag_add(diags, "machine", "its machine code has no such kernel");
  return NULL;
}

void driver_read_code(DriverFunction *f) {
  if (f->kernel || f->code_was_read || !f->module->cubin) return;
  f->code_was_read = true;
  Diags diags = diags_new(f->module->arena);
  f->ptx = read_code(f, &diags);
  if (f->ptx)
    f->kernel = ptx_module_kernel(f->ptx, f->name, &diags);
  else
    f->why_not = diags.first->text;
}

const PtxModule *driver_code_of(const DriverFunction *f) {
  if (f->ptx->machine) mc_module_constants(f->ptx, f->module->cubin);
  return f->ptx;
}
