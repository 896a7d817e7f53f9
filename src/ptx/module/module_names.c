// Finding things in a module that was read.
#include "ptx/module/ptx_module.h"

#include <string.h>

#include "base/str.h"
#include "ptx/module/signature.h"

// The length that a mangled name says in front of a part: "15transpose_naive" is 15; 0: there is
// none.
static int part_length(const char **text) {
  int length = 0;
  while (**text >= '0' && **text <= '9' && length < 4096) length = length * 10 + (*(*text)++ - '0');
  return length;
}

// "tile" of "_ZZ9transposePfE4tile": a variable in a function, behind the function's own name.
static const char *local_name(Arena *arena, const char *symbol) {
  for (const char *end = symbol + strlen(symbol); end > symbol; end--) {
    if (*end != 'E') continue;
    const char *at = end + 1;
    const int n = part_length(&at);
    if (n > 0 && strlen(at) >= (size_t)n && (!at[n] || at[n] == '_'))
      return arena_strndup(arena, at, (size_t)n);
  }
  return symbol;
}

const char *ptx_plain_name(Arena *arena, const char *symbol) {
  if (str_starts(symbol, "_ZZ")) return local_name(arena, symbol);
  if (!str_starts(symbol, "_Z")) return symbol;
  const char *at = symbol + 2;
  const bool nested = *at == 'N';
  if (nested) at++;
  const char *name = symbol;
  int length = 0;
  for (int n = part_length(&at); n > 0 && strlen(at) >= (size_t)n; n = part_length(&at)) {
    name = at;
    length = n;
    at += n;
    if (!nested) break;
  }
  return length ? arena_strndup(arena, name, (size_t)length) : symbol;
}

const char *ptx_file_name(const PtxModule *module, int number) {
  for (int i = 0; i < module->n_files; i++)
    if (module->files[i].number == number) return module->files[i].name;
  return "";
}

static size_t folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

// Whether a file lies in the folder that the first n letters of `home` name, or below it; without a
// folder those do that are named from there.
static bool lies_below(const char *file, const char *home, size_t n) {
  return n > 0 ? strncmp(file, home, n) == 0 : file[0] != '/';
}

int ptx_own_loc(const PtxModule *module, int loc) {
  int outer = loc;
  while (outer >= 0 && module->locs[outer].inlined_at >= 0) outer = module->locs[outer].inlined_at;
  if (outer == loc) return loc;
  const char *home = ptx_file_name(module, module->locs[outer].file);
  const size_t n = folder_length(home);
  int own = loc;
  while (own != outer && !lies_below(ptx_file_name(module, module->locs[own].file), home, n))
    own = module->locs[own].inlined_at;
  return own;
}

const char *ptx_inst_text(Arena *arena, const PtxModule *module, const PtxInst *inst) {
  const char *at = module->source;
  for (int line = 1; line < inst->line && at; line++) {
    at = strchr(at, '\n');
    if (at) at++;
  }
  if (!at) return "";
  while (*at == ' ' || *at == '\t') at++;
  return str_sanitise(arena, arena_strndup(arena, at, strcspn(at, ";\n")));
}

static bool means(Arena *arena, const PtxFunction *f, const char *name) {
  return str_equal(f->name, name) || str_equal(ptx_plain_name(arena, f->name), name);
}

const PtxFunction *ptx_module_kernel(const PtxModule *module, const char *name, Diags *diags) {
  const PtxFunction *found = NULL;
  int n = 0;
  const char *names = "";
  for (int i = 0; i < module->n_functions; i++) {
    const PtxFunction *f = &module->functions[i];
    if (!f->is_kernel || !f->has_body) continue;
    const char *signature = ptx_signature_text(diags->arena, f);
    names = arena_printf(diags->arena, "%s%s%s", names, *names ? "; " : "", signature);
    if (name && !means(diags->arena, f, name)) continue;
    found = f;
    n++;
  }
  if (n == 1) return found;
  if (n == 0 && name)
    diag_add(diags, "kernel", "%s: no kernel %s; its kernels are: %s", module->what, name,
             *names ? names : "none");
  else if (n == 0)
    diag_add(diags, "kernel", "%s: no kernel (.entry) in it", module->what);
  else if (name)
    diag_add(diags, "kernel", "%s: %d kernels are called %s: give the whole name in PTX",
             module->what, n, name);
  else
    diag_add(diags, "kernel", "%s: several kernels, --kernel chooses one: %s", module->what, names);
  return NULL;
}
