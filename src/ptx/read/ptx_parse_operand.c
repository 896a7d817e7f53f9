// Operands of an instruction of PTX text. (PTX ISA, chapter 6.)
//
// They are read by what they look like (a bracket is an address, a brace a vector) and then held
// against the letters of the opcode's row.
#include <string.h>

#include "ptx/read/ptx_parse.h"
#include "ptx/run/run.h"

int ptx_add_arg(PtxParser *p, PtxArg arg) {
  PtxModule *module = p->module;
  PTX_GROW(p, module->args, p->cap_args, module->n_args + 1);
  module->args[module->n_args] = arg;
  return module->n_args++;
}

static uint64_t float_bits(double value, PtxType type) {
  uint64_t bits = 0;
  const float single = (float)value;
  if (ptx_types[type].bits == 64)
    memcpy(&bits, &value, sizeof value);
  else
    memcpy(&bits, &single, sizeof single);
  return bits;
}

bool ptx_parse_number(PtxParser *p, PtxType type, uint64_t *bits) {
  const bool negative = ptx_accept(p, '-');
  if (!negative) ptx_accept(p, '+');
  const bool inverted = !negative && ptx_accept(p, '~');
  const PtxToken token = p->token;
  if (token.kind < PTX_TOKEN_INT || token.kind > PTX_TOKEN_FLOAT) {
    ptx_error(p, token.line, "expected a number, not \"%s\"", ptx_token_text(p, &token));
    return false;
  }
  ptx_advance(p);
  *bits = token.bits;
  const bool is_float = ptx_types[type].class == 'F';
  if (token.kind == PTX_TOKEN_FLOAT || (is_float && token.kind == PTX_TOKEN_INT)) {
    const double value = token.kind == PTX_TOKEN_FLOAT ? token.value : (double)token.bits;
    *bits = float_bits(negative ? -value : value, type);
  } else if (token.kind == PTX_TOKEN_F32 || token.kind == PTX_TOKEN_F64) {
    if (negative) *bits ^= token.kind == PTX_TOKEN_F32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
  } else if (negative) {
    *bits = 0 - *bits;
  }
  if (inverted) *bits = ~*bits;
  return true;
}

static int zeros_of(uint64_t bits) { return bits ? __builtin_ctzll(bits) : 64; }

static PtxArg dynamic_address(PtxParser *p, const PtxVariable *v) {
  PtxFunction *f = p->function >= 0 ? &p->module->functions[p->function] : NULL;
  if (f && v->align > f->dynamic_align) f->dynamic_align = v->align;
  return ~PTX_SPECIAL_dynamic_base;
}

// The address of a variable as a value: fixed, but for an extern array of shared memory.
static PtxArg variable_address(PtxParser *p, const PtxVariable *v) {
  if (v->space == PTX_SPACE_SHARED && v->is_extern) return dynamic_address(p, v);
  const int variable = v->space == PTX_SPACE_SHARED ? (int)(v - p->module->variables) : -1;
  const uint64_t base = v->space == PTX_SPACE_GLOBAL  ? PTX_GLOBAL_VARIABLES
                        : v->space == PTX_SPACE_CONST ? PTX_CONST_VARIABLES
                                                      : 0;
  return ptx_constant_of(p, base + (uint64_t)v->offset, zeros_of((uint64_t)v->align), variable);
}

bool ptx_parse_word(PtxParser *p, const PtxToken *word, PtxGroup *group, PtxArg *arg) {
  int64_t value = 0;
  group->kind = PTX_GROUP_VALUE;
  if (word->length == 1 && word->text[0] == '_') {
    group->kind = PTX_GROUP_SINK;
    *arg = ~PTX_SPECIAL_zero;
    return true;
  }
  if (ptx_token_is(word, "WARP_SZ")) {
    *arg = ptx_constant(p, 32, 5);
    return true;
  }
  const PtxName *name = ptx_name_find(p, word->text, word->length, &value);
  const PtxNameKind kind = name ? name->kind : PTX_NAME_LABEL;
  if (kind == PTX_NAME_REG || kind == PTX_NAME_WIDE) {
    *arg = (PtxArg)value;
    p->is_wide |= kind == PTX_NAME_WIDE;
  } else if (kind == PTX_NAME_PRED) {
    group->kind = PTX_GROUP_PRED;
    *arg = (PtxArg)value;
  } else if (kind == PTX_NAME_VARIABLE) {
    *arg = variable_address(p, &p->module->variables[value]);
  } else if (kind == PTX_NAME_PARAM) {
    *arg = ptx_constant(p, (uint64_t)value, 0);
  } else if (kind == PTX_NAME_SLOT) {
    *arg = ptx_constant(p, PTX_SLOT_TAG | (uint64_t)value, 0);
  } else if (kind == PTX_NAME_FUNCTION) {
    *arg = ptx_constant(p, PTX_FUNCTION_TAG | (uint64_t)value, 0);
  } else {
    *arg = ptx_special(p, word->text, word->length);
    if (*arg) return true;
    ptx_error(p, word->line, "%s is not declared", ptx_token_text(p, word));
    return false;
  }
  return true;
}

static PtxType literal_type(const PtxForm *form) {
  if (form->shape[0]) return PTX_B32;
  return form->n_types ? form->types[form->n_types - 1] : PTX_B32;
}

bool ptx_parse_value(PtxParser *p, const PtxForm *form, PtxGroup *group, PtxArg *arg) {
  group->kind = PTX_GROUP_VALUE;
  if (ptx_accept(p, '!')) group->negated = true;
  if (p->token.kind != PTX_TOKEN_WORD) {
    uint64_t bits = 0;
    if (!ptx_parse_number(p, literal_type(form), &bits)) return false;
    *arg = ptx_constant(p, bits, zeros_of(bits));
    return true;
  }
  const PtxToken word = p->token;
  ptx_advance(p);
  if (!ptx_parse_word(p, &word, group, arg)) return false;
  const bool moves = *arg < ~(PTX_SPECIALS - 1) && p->token.kind == PTX_TOKEN_SIGN &&
                     (p->token.sign == '+' || p->token.sign == '-');
  if (moves) {
    uint64_t more = 0;
    if (!ptx_parse_number(p, PTX_B64, &more)) return false;
    const int at = ~*arg - PTX_SPECIALS;
    const int zeros = p->module->constant_zeros[at], added = zeros_of(more);
    *arg = ptx_constant_of(p, p->module->constants[at] + more, zeros < added ? zeros : added,
                           p->module->constant_variable[at]);
  }
  return true;
}

enum { VALUES_MAX = 256 };

// {a, b, {c, d}}: the args of a group lie behind each other.
static bool read_vector(PtxParser *p, const PtxForm *form, PtxGroup *group) {
  PtxArg values[VALUES_MAX];
  int n = 0;
  bool sink = true;
  while (!ptx_accept(p, '}')) {
    if (n == VALUES_MAX) {
      ptx_error(p, p->token.line, "more than %d registers in one operand", VALUES_MAX);
      return false;
    }
    PtxGroup one = {0};
    if (!ptx_parse_value(p, form, &one, &values[n])) return false;
    sink &= one.kind == PTX_GROUP_SINK;
    if (one.kind == PTX_GROUP_SINK) values[n] = PTX_SINK;
    n++;
    if (!ptx_accept(p, ',') && !(p->token.kind == PTX_TOKEN_SIGN && p->token.sign == '}')) {
      ptx_expect(p, '}');
      return false;
    }
  }
  group->kind = sink ? PTX_GROUP_SINK : PTX_GROUP_VALUE;
  group->n = n;
  group->at = p->module->n_args;
  for (int i = 0; i < n; i++) ptx_add_arg(p, values[i]);
  return true;
}

// [map, {x, y}]: the coordinates lie behind the base.
static bool read_coordinates(PtxParser *p, PtxGroup *group) {
  if (!ptx_accept(p, ',')) return ptx_expect(p, ']');
  if (!ptx_expect(p, '{')) return false;
  do {
    const PtxForm form = {.n_types = 0};
    PtxGroup one = {0};
    PtxArg arg = 0;
    if (!ptx_parse_value(p, &form, &one, &arg)) return false;
    if (one.kind != PTX_GROUP_VALUE || group->n == PTX_GROUPS_MAX) {
      ptx_error(p, p->token.line, "expected up to %d coordinates", PTX_GROUPS_MAX - 1);
      return false;
    }
    ptx_add_arg(p, arg);
    group->n++;
  } while (ptx_accept(p, ','));
  return ptx_expect(p, '}') && ptx_expect(p, ']');
}

static bool read_address(PtxParser *p, PtxGroup *group) {
  PtxArg base = ~PTX_SPECIAL_zero;
  if (p->token.kind == PTX_TOKEN_WORD) {
    const PtxToken word = p->token;
    ptx_advance(p);
    if (!ptx_parse_word(p, &word, group, &base)) return false;
    if (group->kind != PTX_GROUP_VALUE) {
      ptx_error(p, word.line, "%s is not an address", ptx_token_text(p, &word));
      return false;
    }
  } else {
    uint64_t bits = 0;
    if (!ptx_parse_number(p, PTX_B64, &bits)) return false;
    base = ptx_constant(p, bits, zeros_of(bits));
  }
  while (p->token.kind == PTX_TOKEN_SIGN && (p->token.sign == '+' || p->token.sign == '-')) {
    uint64_t more = 0;
    // "[%r1+-4]" has two signs.
    if (p->token.sign == '+') ptx_advance(p);
    if (!ptx_parse_number(p, PTX_B64, &more)) return false;
    group->offset = (int64_t)((uint64_t)group->offset + more);
  }
  group->kind = PTX_GROUP_ADDRESS;
  group->n = 1;
  group->at = ptx_add_arg(p, base);
  return read_coordinates(p, group);
}

static bool read_single(PtxParser *p, const PtxForm *form, PtxGroup *group) {
  PtxArg arg = 0;
  if (!ptx_parse_value(p, form, group, &arg)) return false;
  group->n = 1;
  group->at = ptx_add_arg(p, group->kind == PTX_GROUP_SINK ? PTX_SINK : arg);
  if (p->is_wide) {
    ptx_add_arg(p, arg + 1);
    group->n = 2;
  }
  p->is_wide = false;
  return true;
}

// Numbers have the last type, except where the last type belongs to a register alone: slct's sign,
// the halves of add.f32.f16. The bytes of a reduction in bulk, the lanes of redux, the stride of
// wmma's matrices and what selects metadata and scale factors of an mma are whole numbers, whatever
// type is reduced, moved or multiplied.
static PtxForm form_of_numbers(const PtxInst *inst) {
  PtxForm form = inst->form;
  enum { MMA_MATRICES = 4 };
  if (inst->run == run_cp_async_bulk || inst->run == run_redux || inst->run == run_wmma_load ||
      inst->run == run_wmma_store || (inst->run == run_mma && inst->n_groups > MMA_MATRICES))
    form.n_types = 0;
  if (inst->run == run_slct || inst->run == run_add_float || inst->run == run_sub_float ||
      inst->run == run_fma_float)
    form.n_types = form.n_types > 1 ? 1 : form.n_types;
  return form;
}

static bool read_operand(PtxParser *p, PtxInst *inst, PtxGroup *group) {
  if (ptx_accept(p, '[')) return read_address(p, group);
  const PtxForm form = form_of_numbers(inst);
  if (ptx_accept(p, '{')) return read_vector(p, &form, group);
  if (!read_single(p, &form, group)) return false;
  if (ptx_accept(p, '|')) {
    inst->pair = (PtxGroup){.written = true};
    return read_single(p, &inst->form, &inst->pair);
  }
  return true;
}

bool ptx_parse_operand(PtxParser *p, PtxInst *inst, PtxGroup *group) {
  *group = (PtxGroup){0};
  p->is_wide = false;
  if (!read_operand(p, inst, group)) return false;
  if (p->is_wide) ptx_error(p, inst->line, "a register of 128 bits stands alone");
  return !p->is_wide;
}

// ---- operands against the letters of the row ----------------------------------------------------

static const char *kind_expected(char letter) {
  switch (letter | 32) {
    case 'a':
      return "an address in brackets";
    case 'p':
    case 'q':
      return "a predicate";
    default:
      return "a register or a number";
  }
}

static bool fits(char letter, const PtxGroup *group) {
  switch (letter | 32) {
    case 'a':
      return group->kind == PTX_GROUP_ADDRESS;
    case 'p':
      return group->kind == PTX_GROUP_PRED || group->kind == PTX_GROUP_SINK;
    case 'q':
      return group->kind == PTX_GROUP_PRED || group->kind == PTX_GROUP_VALUE;
    case 'd':
    case 'm':
      return group->kind == PTX_GROUP_VALUE || group->kind == PTX_GROUP_SINK;
    default:
      return group->kind == PTX_GROUP_VALUE || group->kind == PTX_GROUP_PRED;
  }
}

// A predicate that is a number: mov.pred p, 1. One special register is a predicate.
static void number_to_pred(PtxParser *p, PtxGroup *group) {
  if (group->kind != PTX_GROUP_VALUE) return;
  const int at = ~p->module->args[group->at] - PTX_SPECIALS;
  if (at + PTX_SPECIALS == PTX_SPECIAL_is_explicit_cluster) {
    group->kind = PTX_GROUP_PRED;
    return;
  }
  const bool holds = at >= 0 && p->module->constants[at] != 0;
  group->kind = PTX_GROUP_PRED;
  p->module->args[group->at] = holds ? PTX_PRED_TRUE : PTX_PRED_FALSE;
}

static bool check_written(PtxParser *p, const PtxInst *inst, const PtxGroup *group) {
  for (int i = 0; group->kind == PTX_GROUP_VALUE && i < group->n; i++) {
    const PtxArg arg = p->module->args[group->at + i];
    if (arg >= 0 || arg == PTX_SINK) continue;
    ptx_error(p, inst->line, "a result goes to a register, not to a number");
    return false;
  }
  return true;
}

bool ptx_check_operands(PtxParser *p, PtxInst *inst, const char *name) {
  const char *letter = inst->row->operands;
  for (int i = 0; i < inst->n_groups; i++) {
    PtxGroup *group = &inst->groups[i];
    if (*letter == '*') return true;
    if (*letter == '?') {
      group->written = i == 0 && group->kind != PTX_GROUP_ADDRESS;
      if (!group->written || check_written(p, inst, group)) continue;
      return false;
    }
    if (*letter == '\0') {
      ptx_error(p, inst->line, "%s takes %d operands", name, (int)strlen(inst->row->operands));
      return false;
    }
    if (!fits(*letter, group)) {
      ptx_error(p, inst->line, "operand %d of %s: expected %s", i + 1, name,
                kind_expected(*letter));
      return false;
    }
    if (*letter == 'q' || *letter == 'Q') number_to_pred(p, group);
    group->written = *letter == 'd' || *letter == 'p' || *letter == 'm';
    if (group->written && !check_written(p, inst, group)) return false;
    letter++;
  }
  if (*letter >= 'a' && *letter <= 'z') {
    ptx_error(p, inst->line, "%s takes at least %d operands: %s is missing", name,
              inst->n_groups + 1, kind_expected(*letter));
    return false;
  }
  return true;
}
