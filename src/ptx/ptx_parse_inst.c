// One instruction of PTX text → a row of the dense table. (PTX ISA, chapters 4.5, 6 and 9.)
//
// Operands are read by what they look like (a bracket is an address, a brace a vector) and then
// held against the letters of the opcode's row. An instruction whose row does not run, or whose
// modifiers are not known, is kept as one that stops whoever comes to it and says why: a kernel
// beside it in the text still runs.
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "ptx/mma.h"
#include "ptx/ptx_parse.h"
#include "ptx/run.h"

static void skip_to_semicolon(PtxParser *p) {
  while (p->token.kind != PTX_TOKEN_END) {
    if (ptx_accept(p, ';')) return;
    ptx_advance(p);
  }
}

// ---- the opcode ---------------------------------------------------------------------------------

static const PtxModifier spaces_of[] = {
    [PTX_SPACE_GLOBAL] = PTX_MOD_global, [PTX_SPACE_LOCAL] = PTX_MOD_local,
    [PTX_SPACE_CONST] = PTX_MOD_const,   [PTX_SPACE_SHARED] = PTX_MOD_shared,
    [PTX_SPACE_PARAM] = PTX_MOD_param,
};

static PtxSpace space_of(PtxModifier modifier) {
  if (modifier == PTX_MOD_shared_cta || modifier == PTX_MOD_shared_cluster) return PTX_SPACE_SHARED;
  if (modifier == PTX_MOD_param_entry || modifier == PTX_MOD_param_func) return PTX_SPACE_PARAM;
  for (int i = PTX_SPACE_GLOBAL; i <= PTX_SPACE_PARAM; i++)
    if (spaces_of[i] == modifier) return (PtxSpace)i;
  return PTX_SPACE_GENERIC;
}

static void add_modifier(PtxForm *form, PtxModifier modifier) {
  ptx_mods_add(&form->mods, modifier);
  switch (ptx_modifiers[modifier].class) {
    case PTX_CLASS_SPACE:
      if (form->space == PTX_MOD_none) form->space = modifier;
      return;
    case PTX_CLASS_ROUND:
      form->round = modifier;
      return;
    case PTX_CLASS_COMPARE:
      form->compare = modifier;
      return;
    case PTX_CLASS_LOGIC:
      form->logic = modifier;
      return;
    case PTX_CLASS_VECTOR:
      form->vector = modifier == PTX_MOD_v2 ? 2 : modifier == PTX_MOD_v4 ? 4 : 8;
      return;
    case PTX_CLASS_WORD:
    case PTX_CLASS_HINT:
      return;
  }
}

// "ld.global.nc.v4.f32": its form; the first part that is not known goes to `unknown`.
static int read_form(const PtxToken *word, PtxForm *form, const char **unknown, int *n_unknown) {
  *form = (PtxForm){.vector = 1};
  const char *end = word->text + word->length;
  const char *at = memchr(word->text, '.', (size_t)word->length);
  const int name = at ? (int)(at - word->text) : word->length;
  while (at && at < end) {
    const char *part = at + 1;
    at = memchr(part, '.', (size_t)(end - part));
    const int length = (int)((at ? at : end) - part);
    const PtxType type = ptx_type_find(part, length);
    const PtxModifier modifier = ptx_modifier_find(part, length);
    if (type && form->n_types < 4)
      form->types[form->n_types++] = type;
    else if (modifier)
      add_modifier(form, modifier);
    else if (!*unknown) {
      *unknown = part;
      *n_unknown = length;
    }
  }
  return name;
}

// ---- operands -----------------------------------------------------------------------------------

static int add_arg(PtxParser *p, PtxArg arg) {
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
    ptx_error(p, token.line, "a number is expected, not \"%s\"", ptx_token_text(p, &token));
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

// The address of a variable as a value: fixed, but for an extern array of shared memory.
static PtxArg variable_address(PtxParser *p, const PtxVariable *v) {
  if (v->space == PTX_SPACE_SHARED && v->is_extern) return ~PTX_SPECIAL_dynamic_base;
  const uint64_t base = v->space == PTX_SPACE_GLOBAL  ? PTX_GLOBAL_VARIABLES
                        : v->space == PTX_SPACE_CONST ? PTX_CONST_VARIABLES
                                                      : 0;
  return ptx_constant(p, base + (uint64_t)v->offset, zeros_of((uint64_t)v->align));
}

// What a word means as a value. False after a finding.
static bool read_word(PtxParser *p, const PtxToken *word, PtxGroup *group, PtxArg *arg) {
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
  if (kind == PTX_NAME_REG) {
    *arg = (PtxArg)value;
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
  return form->n_types ? form->types[form->n_types - 1] : PTX_B32;
}

// One value: a number or a word, perhaps with an offset behind it ("var+16").
static bool read_value(PtxParser *p, const PtxForm *form, PtxGroup *group, PtxArg *arg) {
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
  if (!read_word(p, &word, group, arg)) return false;
  const bool moves = *arg < ~(PTX_SPECIALS - 1) && p->token.kind == PTX_TOKEN_SIGN &&
                     (p->token.sign == '+' || p->token.sign == '-');
  if (moves) {
    uint64_t more = 0;
    if (!ptx_parse_number(p, PTX_B64, &more)) return false;
    const int at = ~*arg - PTX_SPECIALS;
    const int zeros = p->module->constant_zeros[at], added = zeros_of(more);
    *arg = ptx_constant(p, p->module->constants[at] + more, zeros < added ? zeros : added);
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
    if (!read_value(p, form, &one, &values[n])) return false;
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
  for (int i = 0; i < n; i++) add_arg(p, values[i]);
  return true;
}

static bool read_address(PtxParser *p, PtxGroup *group) {
  PtxArg base = ~PTX_SPECIAL_zero;
  if (p->token.kind == PTX_TOKEN_WORD) {
    const PtxToken word = p->token;
    ptx_advance(p);
    if (!read_word(p, &word, group, &base)) return false;
    if (group->kind != PTX_GROUP_VALUE) {
      ptx_error(p, word.line, "%s is no address", ptx_token_text(p, &word));
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
  group->at = add_arg(p, base);
  return ptx_expect(p, ']');
}

static bool read_single(PtxParser *p, const PtxForm *form, PtxGroup *group) {
  PtxArg arg = 0;
  if (!read_value(p, form, group, &arg)) return false;
  group->n = 1;
  group->at = add_arg(p, group->kind == PTX_GROUP_SINK ? PTX_SINK : arg);
  return true;
}

static bool read_operand(PtxParser *p, PtxInst *inst, PtxGroup *group) {
  *group = (PtxGroup){0};
  if (ptx_accept(p, '[')) return read_address(p, group);
  if (ptx_accept(p, '{')) return read_vector(p, &inst->form, group);
  if (!read_single(p, &inst->form, group)) return false;
  if (ptx_accept(p, '|')) {
    inst->pair = (PtxGroup){.written = true};
    return read_single(p, &inst->form, &inst->pair);
  }
  return true;
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

// A predicate that is a number: mov.pred p, 1.
static void number_to_pred(PtxParser *p, PtxGroup *group) {
  if (group->kind != PTX_GROUP_VALUE) return;
  const int at = ~p->module->args[group->at] - PTX_SPECIALS;
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

static bool check_operands(PtxParser *p, PtxInst *inst, const char *name) {
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
      ptx_error(p, inst->line, "operand %d of %s: %s is expected", i + 1, name,
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

// ---- branches and calls -------------------------------------------------------------------------

static void add_fixup(PtxParser *p, const PtxToken *label, int inst) {
  PTX_GROW(p, p->fixups, p->cap_fixups, p->n_fixups + 1);
  p->fixups[p->n_fixups++] =
      (PtxFixup){.text = label->text, .length = label->length, .line = label->line, .inst = inst};
}

static bool read_label(PtxParser *p, PtxInst *inst, bool is_list) {
  const PtxToken label = p->token;
  if (label.kind != PTX_TOKEN_WORD) {
    ptx_error(p, label.line, "a label is expected, not \"%s\"", ptx_token_text(p, &label));
    return false;
  }
  ptx_advance(p);
  inst->target = -1;
  if (!is_list) {
    add_fixup(p, &label, p->module->n_code);
    return true;
  }
  int64_t value = 0;
  const PtxName *name = ptx_name_find(p, label.text, label.length, &value);
  if (!name || name->kind != PTX_NAME_TARGETS) {
    ptx_error(p, label.line, "%s is no list of .branchtargets", ptx_token_text(p, &label));
    return false;
  }
  inst->target = (int)(value >> 32);
  inst->n_targets = (int)(value & 0xffffffff);
  return true;
}

// name: .branchtargets L1, L2;
static void read_targets(PtxParser *p, const PtxToken *name) {
  PtxModule *module = p->module;
  const int first = module->n_targets;
  do {
    const PtxToken label = p->token;
    ptx_advance(p);
    PTX_GROW(p, module->targets, p->cap_targets, module->n_targets + 1);
    module->targets[module->n_targets] = -1;
    add_fixup(p, &label, -1 - module->n_targets++);
  } while (ptx_accept(p, ','));
  const int64_t value = (int64_t)first << 32 | (module->n_targets - first);
  ptx_name_add(p, name->text, name->length, PTX_NAME_TARGETS, value);
  if (!ptx_expect(p, ';')) skip_to_semicolon(p);
}

// (a, b): registers, numbers, or .param variables.
static bool read_actuals(PtxParser *p, const PtxForm *form, PtxActual **actuals, int *n) {
  int capacity = 0;
  while (!ptx_accept(p, ')')) {
    PtxGroup group = {0};
    PtxActual actual = {.in_register = true};
    if (!read_value(p, form, &group, &actual.reg)) return false;
    const int at = ~actual.reg - PTX_SPECIALS;
    if (at >= 0 && (p->module->constants[at] & PTX_TAGS) == PTX_SLOT_TAG) {
      actual.in_register = false;
      actual.offset = (int64_t)(p->module->constants[at] & ~PTX_TAGS);
    }
    if (group.kind == PTX_GROUP_PRED) {
      ptx_error(p, p->token.line, "a predicate as a parameter is not read");
      return false;
    }
    PTX_GROW(p, *actuals, capacity, *n + 1);
    (*actuals)[(*n)++] = actual;
    if (!ptx_accept(p, ',') && !(p->token.kind == PTX_TOKEN_SIGN && p->token.sign == ')')) {
      ptx_expect(p, ')');
      return false;
    }
  }
  return true;
}

// call.uni (results), function, (arguments), prototype;
static bool read_call(PtxParser *p, PtxInst *inst) {
  PtxCall call = {0};
  if (ptx_accept(p, '(')) {
    if (!read_actuals(p, &inst->form, &call.results, &call.n_results)) return false;
    if (!ptx_expect(p, ',')) return false;
  }
  const PtxToken word = p->token;
  ptx_advance(p);
  int64_t value = 0;
  const PtxName *name = ptx_name_find(p, word.text, word.length, &value);
  inst->target = name && name->kind == PTX_NAME_FUNCTION ? (int)value : -1;
  if (!name) {
    ptx_error(p, word.line, "the function %s is not declared", ptx_token_text(p, &word));
    return false;
  }
  if (inst->target < 0) {
    PtxGroup *pointer = &inst->groups[inst->n_groups++];
    *pointer = (PtxGroup){.n = 1};
    PtxArg arg = 0;
    if (!read_word(p, &word, pointer, &arg)) return false;
    pointer->at = add_arg(p, arg);
  }
  if (ptx_accept(p, ',') && ptx_accept(p, '(') &&
      !read_actuals(p, &inst->form, &call.args, &call.n_args))
    return false;
  if (ptx_accept(p, ',')) ptx_advance(p);
  PtxModule *module = p->module;
  PTX_GROW(p, module->calls, p->cap_calls, module->n_calls + 1);
  inst->call = module->n_calls;
  module->calls[module->n_calls++] = call;
  return true;
}

// ---- the statement ------------------------------------------------------------------------------

static void append(PtxParser *p, const PtxInst *inst) {
  PtxModule *module = p->module;
  PTX_GROW(p, module->code, p->cap_code, module->n_code + 1);
  module->code[module->n_code++] = *inst;
}

static bool read_guard(PtxParser *p, PtxInst *inst) {
  inst->guard = PTX_PRED_TRUE;
  if (!ptx_accept(p, '@')) return true;
  inst->guard_not = ptx_accept(p, '!');
  int64_t value = 0;
  const PtxName *name = p->token.kind == PTX_TOKEN_WORD
                            ? ptx_name_find(p, p->token.text, p->token.length, &value)
                            : NULL;
  if (!name || name->kind != PTX_NAME_PRED) {
    ptx_error(p, p->token.line, "a predicate is expected behind '@', not \"%s\"",
              ptx_token_text(p, &p->token));
    return false;
  }
  inst->guard = (int)value;
  ptx_advance(p);
  return true;
}

static bool read_operands(PtxParser *p, PtxInst *inst) {
  if (p->token.kind == PTX_TOKEN_SIGN && p->token.sign == ';') return true;
  do {
    if (inst->n_groups == PTX_GROUPS_MAX) {
      ptx_error(p, inst->line, "more than %d operands", PTX_GROUPS_MAX);
      return false;
    }
    if (!read_operand(p, inst, &inst->groups[inst->n_groups++])) return false;
  } while (ptx_accept(p, ','));
  return true;
}

// ld.param of a function's own parameters and of what a call gave back is memory of the thread.
static void settle_space(PtxParser *p, PtxInst *inst) {
  inst->space = space_of(inst->form.space);
  for (int i = 0; i < inst->n_groups; i++) {
    PtxGroup *group = &inst->groups[i];
    const int at = group->n ? ~p->module->args[group->at] - PTX_SPECIALS : -1;
    if (group->kind != PTX_GROUP_ADDRESS || at < 0) continue;
    const uint64_t bits = p->module->constants[at];
    if ((bits & PTX_TAGS) != PTX_SLOT_TAG) continue;
    inst->space = PTX_SPACE_LOCAL;
    p->module->args[group->at] = ptx_constant(p, bits & ~PTX_TAGS, 0);
  }
}

static void settle_row(PtxParser *p, PtxInst *inst, const PtxToken *word, int name_length,
                       const char *unknown, int n_unknown) {
  bool known = false;
  inst->row = ptx_opcode_find(word->text, name_length, &inst->form, &known);
  // What changes no value may be told in words that are not known.
  if (inst->row && inst->row->run && (!unknown || inst->row->run == run_nothing)) {
    inst->run = inst->row->run;
    return;
  }
  const char *text = str_sanitise(p->arena, ptx_token_text(p, word));
  inst->run = ptx_run_why;
  if (!known)
    inst->why = arena_printf(p->arena, "%s is no instruction that is known here", text);
  else if (inst->row && !inst->row->run)
    inst->why = arena_printf(p->arena, "%s is not run here: %s", text, inst->row->help);
  else if (unknown)
    inst->why =
        arena_printf(p->arena, "%s is not run here: .%.*s is not known", text, n_unknown, unknown);
  else
    inst->why = arena_printf(p->arena, "%s is not run here: not of this type", text);
}

static bool is_plain(const PtxForm *form) {
  for (int i = 1; i < PTX_MODIFIERS; i++)
    if (ptx_mods_has(&form->mods, (PtxModifier)i) && i != PTX_MOD_rn) return false;
  return true;
}

static bool read_rest(PtxParser *p, PtxInst *inst, const char *name) {
  const char letter = inst->row->operands[0];
  if (inst->run == ptx_run_why || letter == '*') {
    skip_to_semicolon(p);
    return true;
  }
  bool ok;
  if (letter == 'l') {
    ok = read_label(p, inst, false);
  } else if (letter == 'f') {
    ok = read_call(p, inst);
  } else if (letter == 's' && inst->row->operands[1] == 'l') {
    ok = read_operand(p, inst, &inst->groups[inst->n_groups++]) && ptx_expect(p, ',') &&
         read_label(p, inst, true);
  } else {
    ok = read_operands(p, inst) && check_operands(p, inst, name);
  }
  return ok && ptx_expect(p, ';');
}

static bool read_instruction(PtxParser *p, PtxInst *inst, const PtxToken *word) {
  const char *unknown = NULL;
  int n_unknown = 0;
  const int length = read_form(word, &inst->form, &unknown, &n_unknown);
  settle_row(p, inst, word, length, unknown, n_unknown);
  if (inst->run == ptx_run_why) {
    skip_to_semicolon(p);
    return true;
  }
  const char *name = arena_strndup(p->arena, word->text, (size_t)length);
  if (!read_rest(p, inst, name)) return false;
  settle_space(p, inst);
  inst->plain = is_plain(&inst->form);
  inst->why = ptx_run_refuses(p->module, inst);
  if (inst->run == run_mma) inst->mma = ptx_mma_plan(p->arena, inst, &inst->why);
  if (inst->why) inst->run = ptx_run_why;
  return true;
}

void ptx_parse_instruction(PtxParser *p) {
  PtxInst inst = {.loc = p->loc, .line = p->token.line, .target = -1, .rejoin = -1, .access = -1};
  if (!read_guard(p, &inst)) {
    skip_to_semicolon(p);
    return;
  }
  const PtxToken word = p->token;
  ptx_advance(p);
  if (word.kind != PTX_TOKEN_WORD) {
    ptx_error(p, word.line, "an instruction is expected, not \"%s\"", ptx_token_text(p, &word));
    skip_to_semicolon(p);
    return;
  }
  if (ptx_accept(p, ':')) {
    if (ptx_accept_word(p, ".branchtargets")) {
      read_targets(p, &word);
      return;
    }
    if (ptx_token_is(&p->token, ".callprototype") || ptx_token_is(&p->token, ".calltargets")) {
      ptx_name_add(p, word.text, word.length, PTX_NAME_PROTOTYPE, 0);
      skip_to_semicolon(p);
      return;
    }
    ptx_name_add(p, word.text, word.length, PTX_NAME_LABEL, p->module->n_code);
    return;
  }
  if (!read_instruction(p, &inst, &word)) {
    skip_to_semicolon(p);
    return;
  }
  append(p, &inst);
}

void ptx_parse_end(PtxParser *p) {
  bool known;
  PtxInst inst = {.loc = -1,
                  .line = p->token.line,
                  .guard = PTX_PRED_TRUE,
                  .target = -1,
                  .rejoin = -1,
                  .access = -1,
                  .form = {.vector = 1}};
  inst.row = ptx_opcode_find("ret", 3, &inst.form, &known);
  inst.run = inst.row->run;
  append(p, &inst);
}
