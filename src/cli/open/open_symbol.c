// symbol:scale=file:scale.bin → the contents of a __constant__ or __device__ variable.
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "cli/open/open_input.h"

enum { SLACK = 16 };

static const PtxVariable *variable_of(Arena *arena, const PtxModule *module, const char *name) {
  for (int i = 0; i < module->n_variables; i++) {
    const PtxVariable *v = &module->variables[i];
    const bool holds = v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST;
    if (holds && v->bytes > 0 &&
        (str_equal(v->name, name) || str_equal(ptx_plain_name(arena, v->name), name)))
      return v;
  }
  return NULL;
}

bool open_is_symbol(const char *arg) { return str_starts(arg, "symbol:"); }

bool open_give_symbol(Arena *arena, PtxMachine *machine, const PtxModule *module, const char *arg,
                      Diags *diags) {
  const char *name = arg + strlen("symbol:"), *value = strstr(name, "=file:");
  const char *clean = str_sanitise(arena, arg);
  if (!value) {
    diag_add(diags, "arg", "\"%s\": expected symbol:NAME=file:PATH", clean);
    return false;
  }
  const PtxVariable *v =
      variable_of(arena, module, arena_strndup(arena, name, (size_t)(value - name)));
  if (!v) {
    diag_add(diags, "arg", "\"%s\": there is no __constant__ or __device__ variable of this name",
             clean);
    return false;
  }
  size_t n = 0;
  const char *bytes = open_read_given(arena, value + strlen("=file:"), &n, diags);
  if (!bytes) return false;
  PtxGiven given = {.name = v->name,
                    .bytes = v->bytes,
                    .memory = arena_alloc(arena, (size_t)v->bytes + SLACK),
                    .state = arena_alloc(arena, (size_t)v->bytes + SLACK)};
  const bool fits = (int64_t)n == v->bytes;
  if (fits) memcpy(given.memory, bytes, n);
  memset(given.state, PTX_BYTE_WRITTEN, (size_t)v->bytes);
  if (fits && ptx_machine_give_variable(machine, &given)) return true;
  diag_add(diags, "arg", "\"%s\": the variable has %" PRId64 " bytes, the file %zu", clean,
           v->bytes, n);
  return false;
}
