// The places of a kernel's shared variables.
//
// A kernel has its own variables, the module's variables that it or a function it calls names, and
// the variables of these functions. ptxas 13.0 counts the same (a variable of the module that
// nothing names takes no room, one inside the kernel does). They follow each other as they are
// declared, and the dynamic memory begins behind them.
//
//   .shared big[16384], small[32]; a kernel that names small alone has it at 0, and 32 bytes
#include "base/whole.h"
#include "ptx/run/run.h"

typedef struct Uses {
  const PtxModule *module;
  bool *function;  // that the kernel may come to
  bool *variable;  // that one of these names
  int *order;      // these functions as they were found
  int n_order;
} Uses;

static void reach(Uses *u, int f) {
  if (u->function[f] || !u->module->functions[f].has_body) return;
  u->function[f] = true;
  u->order[u->n_order++] = f;
}

// A call through a pointer may mean any function.
static void reach_called(Uses *u, const PtxInst *i) {
  if (i->run != run_call) return;
  if (i->target >= 0) reach(u, i->target);
  for (int f = 0; i->target < 0 && f < u->module->n_functions; f++)
    if (!u->module->functions[f].is_kernel) reach(u, f);
}

static void name_arg(const Uses *u, PtxArg arg) {
  const int constant = ~arg - PTX_SPECIALS;
  if (arg >= 0 || constant < 0) return;
  const int v = u->module->constant_variable[constant];
  if (v >= 0) u->variable[v] = true;
}

static void name_variables(const Uses *u, const PtxInst *i) {
  for (int g = 0; g < i->n_groups; g++)
    for (int n = 0; n < i->groups[g].n; n++) name_arg(u, u->module->args[i->groups[g].at + n]);
  if (i->run != run_call || i->call < 0) return;
  const PtxCall *call = &u->module->calls[i->call];
  for (int n = 0; n < call->n_args; n++)
    if (call->args[n].in_register) name_arg(u, call->args[n].reg);
}

static bool counts(const Uses *u, const PtxVariable *v, int index) {
  return v->function < 0 ? u->variable[index] : u->function[v->function];
}

PtxSharedPlace ptx_place_shared(Arena *arena, const PtxModule *module, int kernel) {
  Uses u = {.module = module,
            .function = ARENA_ARRAY(arena, bool, module->n_functions + 1),
            .variable = ARENA_ARRAY(arena, bool, module->n_variables + 1),
            .order = ARENA_ARRAY(arena, int, module->n_functions + 1)};
  PtxSharedPlace out = {ARENA_ARRAY(arena, int64_t, module->n_variables + 1), 0};
  int64_t align = 16;
  reach(&u, kernel);
  for (int n = 0; n < u.n_order; n++) {
    const PtxFunction *function = &module->functions[u.order[n]];
    align = max64(align, function->dynamic_align);
    for (int pc = function->first; pc < function->end; pc++) {
      reach_called(&u, &module->code[pc]);
      name_variables(&u, &module->code[pc]);
    }
  }
  for (int i = 0; i < module->n_variables; i++) {
    const PtxVariable *v = &module->variables[i];
    out.offset[i] = -1;
    if (v->space != PTX_SPACE_SHARED || v->is_extern || !counts(&u, v, i)) continue;
    out.offset[i] = round_up(out.end, v->align);
    out.end = out.offset[i] + v->bytes;
  }
  out.end = round_up(out.end, align);
  return out;
}
