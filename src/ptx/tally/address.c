// Low bits, roots and symbols of registers, over all instructions of a function at once.
//
// Low bits begin as "everything is known to be 0" and are weakened until nothing changes: a
// register that several instructions write has what they all have. PTX from compilers writes most
// registers once, which is what makes roots worth while: %r7 = %r3 + 16 and [%r7+4] is [%r3+20].
#include "ptx/tally/widen.h"

#include "ptx/run/run.h"

static const PtxKnown nothing = {0, 0};

static uint64_t low(uint64_t value, int bits) { return ptx_cut(value, bits); }
static int least(int a, int b) { return a < b ? a : b; }

static PtxKnown make(int bits, uint64_t residue) {
  if (bits < 0) bits = 0;
  if (bits > 64) bits = 64;
  return (PtxKnown){(uint8_t)bits, low(residue, bits)};
}

static int zeros(const PtxKnown *k) { return k->residue ? __builtin_ctzll(k->residue) : k->bits; }

static PtxKnown known_of(const PtxAddressing *a, PtxArg arg) {
  if (arg >= 0) return a->known[arg];
  const int constant = ~arg - PTX_SPECIALS;
  if (constant >= 0) return make(64, a->module->constants[constant]);
  if (arg == ~PTX_SPECIAL_zero) return make(64, 0);
  return arg == ~PTX_SPECIAL_dynamic_base ? make(4, 0) : nothing;
}

static PtxKnown product(const PtxKnown *x, const PtxKnown *y) {
  // x = 2^bits·p + r: in x·y those low bits are known that neither unknown part reaches.
  return make(least(x->bits + zeros(y), y->bits + zeros(x)), x->residue * y->residue);
}

static PtxKnown sum(const PtxKnown *x, const PtxKnown *y) {
  return make(least(x->bits, y->bits), x->residue + y->residue);
}

// Bits that one side has as zeros are zeros of the result, whatever the other side is.
static PtxKnown conjunction(const PtxKnown *x, const PtxKnown *y) {
  const int both = least(x->bits, y->bits);
  const int more = zeros(x) > zeros(y) ? zeros(x) : zeros(y);
  return make(both > more ? both : more, both > more ? x->residue & y->residue : 0);
}

typedef enum Rule {
  RULE_NONE,
  RULE_ADD,
  RULE_SUB,
  RULE_MUL,
  RULE_MAD,
  RULE_AND,
  RULE_OR,
  RULE_XOR,
  RULE_SHL,
  RULE_SHR,
  RULE_COPY,
  RULE_CHOICE,
} Rule;

static const struct {
  const char *name;
  Rule rule;
} rules[] = {{"add", RULE_ADD},    {"sub", RULE_SUB},  {"mul", RULE_MUL},  {"mad", RULE_MAD},
             {"and", RULE_AND},    {"or", RULE_OR},    {"xor", RULE_XOR},  {"shl", RULE_SHL},
             {"shr", RULE_SHR},    {"mov", RULE_COPY}, {"cvt", RULE_COPY}, {"cvta", RULE_COPY},
             {"selp", RULE_CHOICE}};

static Rule rule_of(const PtxInst *i) {
  if (!i->row || i->form.n_types == 0 || ptx_has(i, PTX_MOD_hi) || ptx_has(i, PTX_MOD_sat) ||
      ptx_has(i, PTX_MOD_cc))
    return RULE_NONE;
  for (int t = 0; t < i->form.n_types; t++)
    if (strchr("FHXP", ptx_types[i->form.types[t]].class)) return RULE_NONE;
  for (int g = 0; g < i->n_groups; g++)
    if (i->groups[g].n != 1) return RULE_NONE;
  for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++)
    if (strcmp(rules[r].name, i->row->name) == 0) return rules[r].rule;
  return RULE_NONE;
}

static PtxKnown shifted(Rule rule, const PtxKnown *x, const PtxKnown *by, int width) {
  if (by->bits < 64) return rule == RULE_SHL ? make(zeros(x), 0) : nothing;
  const int n = (int)(by->residue > 63 ? 63 : by->residue);
  if (rule == RULE_SHL) return make(x->bits + n, n < 64 ? x->residue << n : 0);
  return x->bits >= width ? make(64, low(x->residue, width) >> n)
                          : make(x->bits - n, x->residue >> n);
}

static PtxKnown result_of(const PtxAddressing *a, const PtxInst *i) {
  const Rule rule = rule_of(i);
  PtxKnown k[4] = {{0, 0}};
  for (int g = 1; rule && g < i->n_groups && g < 4; g++)
    if (i->groups[g].kind == PTX_GROUP_VALUE) k[g] = known_of(a, a->module->args[i->groups[g].at]);
  const PtxKnown *x = &k[1], *y = &k[2];
  const int both = least(x->bits, y->bits), width = rule ? ptx_types[i->form.types[0]].bits : 0;
  switch (rule) {
    case RULE_ADD:
      return sum(x, y);
    case RULE_SUB:
      return make(both, x->residue - y->residue);
    case RULE_MUL:
      return product(x, y);
    case RULE_MAD: {
      const PtxKnown p = product(x, y);
      return sum(&p, &k[3]);
    }
    case RULE_AND:
      return conjunction(x, y);
    case RULE_OR:
      return make(both, x->residue | y->residue);
    case RULE_XOR:
      return make(both, x->residue ^ y->residue);
    case RULE_SHL:
    case RULE_SHR:
      return shifted(rule, x, y, width);
    case RULE_COPY:
      return x->bits < 64 ? make(least(x->bits, width), x->residue) : *x;
    case RULE_CHOICE: {
      const uint64_t differ = x->residue ^ y->residue;
      return make(differ ? least(both, __builtin_ctzll(differ)) : both, x->residue);
    }
    case RULE_NONE:
      break;
  }
  return nothing;
}

// Keeps only the facts that hold of both: the low bits in which both agree.
static bool weaken(PtxKnown *to, const PtxKnown *with, bool first) {
  if (first) {
    const bool changed = to->bits != with->bits || to->residue != with->residue;
    *to = *with;
    return changed;
  }
  int bits = least(to->bits, with->bits);
  const uint64_t differ = low(to->residue ^ with->residue, bits);
  if (differ) bits = least(bits, __builtin_ctzll(differ));
  if (bits == to->bits) return false;
  *to = make(bits, to->residue);
  return true;
}

// Registers start unset; the first value that reaches one is taken as it is, later ones weaken it.
static void find_known(Arena *arena, PtxAddressing *a) {
  const PtxFunction *f = a->function;
  bool *set = ARENA_ARRAY(arena, bool, f->n_regs + 1);
  for (int n = 0; n < f->n_regs; n++) a->known[n] = make(64, 0);
  bool changed = true;
  for (int round = 0; changed && round < 200; round++) {
    changed = false;
    for (int pc = f->first; pc < f->end; pc++) {
      const PtxInst *i = &a->module->code[pc];
      for (int g = 0; g < i->n_groups; g++) {
        if (!i->groups[g].written || i->groups[g].kind != PTX_GROUP_VALUE) continue;
        const PtxKnown known = result_of(a, i);
        for (int k = 0; k < i->groups[g].n; k++) {
          const PtxArg arg = a->module->args[i->groups[g].at + k];
          if (arg < 0) continue;
          changed |= weaken(&a->known[arg], &known, !set[arg]);
          set[arg] = true;
        }
      }
    }
  }
  if (changed) memset(a->known, 0, sizeof *a->known * (size_t)f->n_regs);
}

static void count_defs(PtxAddressing *a) {
  for (int pc = a->function->first; pc < a->function->end; pc++) {
    const PtxInst *i = &a->module->code[pc];
    for (int g = 0; g < i->n_groups; g++)
      for (int k = 0;
           i->groups[g].written && i->groups[g].kind == PTX_GROUP_VALUE && k < i->groups[g].n;
           k++) {
        const PtxArg arg = a->module->args[i->groups[g].at + k];
        if (arg < 0) continue;
        a->n_defs[arg]++;
        a->def[arg] = pc;
      }
  }
  // A function's formals come from outside.
  for (int n = 0; n < a->function->n_params; n++)
    if (a->function->params[n].in_register) a->n_defs[a->function->params[n].reg] += 2;
}

// ---- symbols ------------------------------------------------------------------------------------

static int symbol_of_constant(const PtxModule *module, int function, uint64_t value) {
  for (int v = 0; v < module->n_variables; v++) {
    const PtxVariable *variable = &module->variables[v];
    if (variable->space != PTX_SPACE_SHARED || variable->is_extern) continue;
    if (variable->function >= 0 && variable->function != function) continue;
    const uint64_t first = (uint64_t)variable->offset;
    if (value >= first && value < first + (uint64_t)variable->bytes) return v;
  }
  return PTX_SYMBOL_NONE;
}

// A constant counts as a pointer only where it stands for an address: as mov's source or as base.
static int symbol_of_arg(const PtxAddressing *a, PtxArg arg, bool may_point) {
  if (arg >= 0) return a->symbol[arg];
  if (arg == ~PTX_SPECIAL_dynamic_base) return a->module->n_variables;
  const int constant = ~arg - PTX_SPECIALS;
  if (constant < 0 || !may_point || a->module->constant_zeros[constant] > 12)
    return PTX_SYMBOL_NONE;
  return symbol_of_constant(a->module, (int)(a->function - a->module->functions),
                            a->module->constants[constant]);
}

static int join_symbols(int x, int y) {
  if (x == PTX_SYMBOL_NONE) return y;
  return y == PTX_SYMBOL_NONE || x == y ? x : PTX_SYMBOL_ANY;
}

static int symbol_of_result(const PtxAddressing *a, const PtxInst *i) {
  const Rule rule = rule_of(i);
  if (rule == RULE_NONE) return PTX_SYMBOL_NONE;
  int symbol = PTX_SYMBOL_NONE;
  const int last = rule == RULE_CHOICE ? 3 : i->n_groups;
  for (int g = 1; g < last; g++)
    if (i->groups[g].kind == PTX_GROUP_VALUE)
      symbol = join_symbols(symbol, symbol_of_arg(a, a->module->args[i->groups[g].at],
                                                  strcmp(i->row->name, "mov") == 0));
  return symbol;
}

static void find_symbols(PtxAddressing *a) {
  for (int n = 0; n < a->function->n_regs; n++) a->symbol[n] = PTX_SYMBOL_NONE;
  bool changed = true;
  for (int round = 0; changed && round < 200; round++) {
    changed = false;
    for (int pc = a->function->first; pc < a->function->end; pc++) {
      const PtxInst *i = &a->module->code[pc];
      if (i->n_groups == 0 || !i->groups[0].written || i->groups[0].n != 1 ||
          i->groups[0].kind != PTX_GROUP_VALUE)
        continue;
      const PtxArg arg = a->module->args[i->groups[0].at];
      if (arg < 0) continue;
      const int symbol = join_symbols(a->symbol[arg], symbol_of_result(a, i));
      changed |= symbol != a->symbol[arg];
      a->symbol[arg] = symbol;
    }
  }
}

// ---- the answers --------------------------------------------------------------------------------

PtxAddressing *ptx_addressing(Arena *arena, const PtxModule *module, const PtxFunction *function) {
  PtxAddressing *a = ARENA_NEW(arena, PtxAddressing);
  const int n = function->n_regs + 1;
  *a = (PtxAddressing){.module = module, .function = function};
  a->n_defs = ARENA_ARRAY(arena, int, n);
  a->def = ARENA_ARRAY(arena, int, n);
  a->known = ARENA_ARRAY(arena, PtxKnown, n);
  a->symbol = ARENA_ARRAY(arena, int, n);
  count_defs(a);
  find_known(arena, a);
  find_symbols(a);
  return a;
}

static bool constant_value(const PtxAddressing *a, PtxArg arg, int64_t *value) {
  if (arg >= 0) return false;
  const PtxKnown known = known_of(a, arg);
  *value = (int64_t)known.residue;
  return known.bits == 64;
}

// One step towards the root: `arg` is another one plus a constant, and both are written once.
static bool step_down(const PtxAddressing *a, PtxArg *arg, int64_t *offset) {
  if (*arg < 0 || a->n_defs[*arg] != 1) return false;
  const PtxInst *i = &a->module->code[a->def[*arg]];
  const Rule rule = rule_of(i);
  if (i->guard != PTX_PRED_TRUE || (rule != RULE_ADD && rule != RULE_SUB && rule != RULE_COPY))
    return false;
  if (rule == RULE_COPY && strcmp(i->row->name, "mov") != 0) return false;
  const PtxArg x = a->module->args[i->groups[1].at];
  const PtxArg y = rule == RULE_COPY ? ~PTX_SPECIAL_zero : a->module->args[i->groups[2].at];
  int64_t more = 0;
  const bool turned = rule == RULE_ADD && constant_value(a, x, &more);
  if (!turned && !constant_value(a, y, &more)) return false;
  const PtxArg from = turned ? y : x;
  if (from >= 0 && a->n_defs[from] != 1) return false;
  *arg = from;
  const int64_t moved = ptx_sign((uint64_t)more, ptx_types[i->form.types[0]].bits);
  *offset += rule == RULE_SUB ? -moved : moved;
  return true;
}

PtxRoot ptx_address_root(const PtxAddressing *a, const PtxGroup *address) {
  PtxRoot root = {a->module->args[address->at], address->offset};
  for (int steps = 0; steps < 64 && step_down(a, &root.base, &root.offset); steps++) {
  }
  int64_t value = 0;
  if (constant_value(a, root.base, &value)) {
    root.base = ~PTX_SPECIAL_zero;
    root.offset += value;
  }
  return root;
}

PtxKnown ptx_address_known(const PtxAddressing *a, const PtxRoot *root) {
  const PtxKnown known = known_of(a, root->base);
  return make(known.bits, known.residue + (uint64_t)root->offset);
}

int ptx_address_symbol(const PtxAddressing *a, const PtxGroup *address) {
  return symbol_of_arg(a, a->module->args[address->at], true);
}
