// One instruction of PTX text → a row of the dense table. (PTX ISA, chapters 4.5, 6 and 9.)
//
// An instruction with a row that does not run, or with unknown modifiers, is kept. It stops the
// thread that comes to it and says why: a kernel beside it in the text still runs.
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "ptx/read/ptx_parse.h"
#include "ptx/run/mma.h"
#include "ptx/run/run.h"

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
// "m64n128k16"; N may be any of 32 numbers.
static bool read_shape(const char *text, int length, int shape[3]) {
  char word[16] = {0};
  int read = 0, m, n, k;
  if (length >= (int)sizeof word) return false;
  memcpy(word, text, (size_t)length);
  if (sscanf(word, "m%3dn%3dk%3d%n", &m, &n, &k, &read) != 3 || read != length) return false;
  shape[0] = m;
  shape[1] = n;
  shape[2] = k;
  return true;
}

static void read_parts(const char *at, const char *end, PtxForm *form, const char **unknown,
                       int *n_unknown) {
  while (at && at < end) {
    const char *part = at + 1;
    at = memchr(part, '.', (size_t)(end - part));
    const int length = (int)((at ? at : end) - part);
    const PtxType type = ptx_type_find(part, length);
    const PtxModifier modifier = ptx_modifier_find(part, length);
    if (type && form->n_types < PTX_FORM_TYPES)
      form->types[form->n_types++] = type;
    else if (modifier)
      add_modifier(form, modifier);
    else if (read_shape(part, length, form->shape))
      continue;
    else if (!*unknown) {
      *unknown = part;
      *n_unknown = length;
    }
  }
}

// Modifiers may stand apart from the name: "cp.async.bulk.tensor.2d.bulk_group .L2::cache_hint".
static int read_form(PtxParser *p, const PtxToken *word, PtxForm *form, const char **unknown,
                     int *n_unknown) {
  *form = (PtxForm){.vector = 1};
  const char *end = word->text + word->length;
  const char *at = memchr(word->text, '.', (size_t)word->length);
  read_parts(at, end, form, unknown, n_unknown);
  for (; p->token.kind == PTX_TOKEN_WORD && *p->token.text == '.'; ptx_advance(p))
    read_parts(p->token.text, p->token.text + p->token.length, form, unknown, n_unknown);
  return at ? (int)(at - word->text) : word->length;
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
    ptx_error(p, label.line, "expected a label, not \"%s\"", ptx_token_text(p, &label));
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
    ptx_error(p, label.line, "%s is not a list of .branchtargets", ptx_token_text(p, &label));
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
    p->is_wide = false;
    if (!ptx_parse_value(p, form, &group, &actual.reg)) return false;
    if (p->is_wide) {
      ptx_error(p, p->token.line, "a register of 128 bits as a parameter is not read");
      return false;
    }
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
    if (!ptx_parse_word(p, &word, pointer, &arg)) return false;
    pointer->at = ptx_add_arg(p, arg);
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
    ptx_error(p, p->token.line, "expected a predicate after '@', not \"%s\"",
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
    if (!ptx_parse_operand(p, inst, &inst->groups[inst->n_groups++])) return false;
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

// A modifier that the row's function does not heed, and that would change a value; none: 0.
static PtxModifier not_heeded(const PtxInst *inst) {
  if (inst->row->run == run_nothing || inst->row->run == run_fence) return PTX_MOD_none;
  for (int i = 1; i < PTX_MODIFIERS; i++) {
    const PtxModifier modifier = (PtxModifier)i;
    const PtxModifierClass class = ptx_modifiers[i].class;
    if (!ptx_mods_has(&inst->form.mods, modifier) || class == PTX_CLASS_SPACE ||
        class == PTX_CLASS_VECTOR || class == PTX_CLASS_HINT)
      continue;
    if (!ptx_modifier_listed(inst->row->needs, modifier) &&
        !ptx_modifier_listed(inst->row->takes, modifier))
      return modifier;
  }
  return PTX_MOD_none;
}

// The way of an instruction that is not run: one that does nothing but write registers gives
// unknown values, any other ends its block.
static PtxRun *not_run(const PtxInst *inst) {
  const bool gives = inst->row && inst->row->flow != PTX_FLOW_OWN && inst->row->operands[0] &&
                     strchr("dpm", inst->row->operands[0]);
  return gives ? ptx_run_unknown : ptx_run_why;
}

static void settle_row(PtxParser *p, PtxInst *inst, const PtxToken *word, int name_length,
                       const char *unknown, int n_unknown) {
  bool known = false;
  inst->row = ptx_opcode_find(word->text, name_length, &inst->form, &known);
  const PtxModifier other = inst->row && inst->row->run ? not_heeded(inst) : PTX_MOD_none;
  // An instruction that changes no value may have modifiers that are not known.
  if (inst->row && inst->row->run && !other &&
      (!unknown || inst->row->run == run_nothing || inst->row->run == run_fence)) {
    inst->run = inst->row->run;
    return;
  }
  const char *text = str_sanitise(p->arena, ptx_token_text(p, word));
  inst->run = not_run(inst);
  if (!known)
    inst->why = arena_printf(p->arena, "%s is not a known instruction", text);
  else if (inst->row && !inst->row->run)
    inst->why = arena_printf(p->arena, "%s is not run here: %s", text, inst->row->help);
  else if (other)
    inst->why = arena_printf(p->arena, "%s is not run here: .%s is not supported", text,
                             ptx_modifiers[other].name);
  else if (unknown)
    inst->why =
        arena_printf(p->arena, "%s is not run here: .%.*s is not known", text, n_unknown, unknown);
  else
    inst->why = arena_printf(p->arena, "%s is not run here: not of this type", text);
}

// The policy that a cache hint names stands last and changes no value: no function sees it. False:
// it is missing, for what stands last the row needs.
static bool drop_policy(PtxInst *inst) {
  if (!ptx_mods_has(&inst->form.mods, PTX_MOD_L2_cache_hint)) return true;
  int needed = 0;
  for (const char *c = inst->row->operands; *c; c++) needed += *c >= 'a' && *c <= 'z';
  if (inst->n_groups <= needed) return false;
  const PtxGroup *last = &inst->groups[inst->n_groups - 1];
  if (last->kind != PTX_GROUP_VALUE || last->n != 1) return false;
  inst->n_groups--;
  return true;
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
    ok = ptx_parse_operand(p, inst, &inst->groups[inst->n_groups++]) && ptx_expect(p, ',') &&
         read_label(p, inst, true);
  } else {
    ok = read_operands(p, inst) && ptx_check_operands(p, inst, name);
  }
  return ok && ptx_expect(p, ';');
}

// The registers that are written; what they are computed from does not matter.
static bool read_result(PtxParser *p, PtxInst *inst) {
  PtxGroup *to = &inst->groups[inst->n_groups++];
  if (!ptx_parse_operand(p, inst, to)) return false;
  to->written = to->kind == PTX_GROUP_VALUE || to->kind == PTX_GROUP_PRED;
  skip_to_semicolon(p);
  return true;
}

// A load or store of 128 bits is one of its register's two halves.
static void split_wide(PtxInst *inst) {
  const bool moves = inst->run == run_ld || inst->run == run_st;
  if (!moves || inst->form.n_types != 1 || inst->form.types[0] != PTX_B128 ||
      inst->form.vector != 1)
    return;
  inst->form.types[0] = PTX_B64;
  inst->form.vector = 2;
}

static bool read_instruction(PtxParser *p, PtxInst *inst, const PtxToken *word) {
  const char *unknown = NULL;
  int n_unknown = 0;
  const int length = read_form(p, word, &inst->form, &unknown, &n_unknown);
  settle_row(p, inst, word, length, unknown, n_unknown);
  if (inst->run == ptx_run_why) {
    skip_to_semicolon(p);
    return true;
  }
  if (inst->run == ptx_run_unknown) return read_result(p, inst);
  const char *name = arena_strndup(p->arena, word->text, (size_t)length);
  if (!read_rest(p, inst, name)) return false;
  settle_space(p, inst);
  split_wide(inst);
  inst->plain = is_plain(&inst->form) && inst->form.n_types == 1;
  inst->why = drop_policy(inst) ? ptx_run_refuses(p->module, inst)
                                : "a cache hint names its policy after the other operands";
  if (inst->run == run_mma) inst->mma = ptx_mma_plan(p->arena, inst, &inst->why);
  if (inst->run == run_wgmma) inst->wgmma = ptx_wgmma_plan(p->arena, p->module, inst, &inst->why);
  if (inst->why) inst->run = not_run(inst);
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
    ptx_error(p, word.line, "expected an instruction, not \"%s\"", ptx_token_text(p, &word));
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
