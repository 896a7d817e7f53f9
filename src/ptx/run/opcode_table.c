// The tables of types, modifiers and opcodes, and how a name finds its row.
#include "ptx/module/ptx_isa.h"

#include <string.h>

#include "ptx/run/run.h"

const PtxTypeRow ptx_types[PTX_TYPES] = {
    [PTX_NO_TYPE] = {"", 0, '-'},
#define TYPE(id, spelling, n, letter) [PTX_##id] = {spelling, n, #letter[0]},
#include "ptx/module/ptx_type.def"
};

const PtxModifierRow ptx_modifiers[PTX_MODIFIERS] = {
    [PTX_MOD_none] = {"", PTX_CLASS_WORD},
#define MODIFIER(id, spelling, class) [PTX_MOD_##id] = {spelling, PTX_CLASS_##class},
#include "ptx/module/modifier.def"
};

static bool same(const char *name, const char *text, int length) {
  return strncmp(name, text, (size_t)length) == 0 && name[length] == '\0';
}

PtxType ptx_type_find(const char *text, int length) {
  for (int i = 1; i < PTX_TYPES; i++)
    if (same(ptx_types[i].name, text, length)) return (PtxType)i;
  return PTX_NO_TYPE;
}

PtxModifier ptx_modifier_find(const char *text, int length) {
  for (int i = 1; i < PTX_MODIFIERS; i++)
    if (same(ptx_modifiers[i].name, text, length)) return (PtxModifier)i;
  return PTX_MOD_none;
}

#define ONE(type) (UINT64_C(1) << PTX_##type)
#define PRD ONE(PRED)
#define U16T ONE(U16)
#define S16T ONE(S16)
#define U32T ONE(U32)
#define S32T ONE(S32)
#define U64T ONE(U64)
#define S64T ONE(S64)
#define I16 (U16T | S16T | ONE(B16))
#define I32 (U32T | S32T | ONE(B32))
#define I64 (U64T | S64T | ONE(B64))
#define X16 (ONE(U16X2) | ONE(S16X2))
#define ANYI (I16 | I32 | I64 | ONE(B8) | ONE(U8) | ONE(S8))
#define F32F64 (ONE(F32) | ONE(F64))
#define FLT (F32F64 | ONE(F16) | ONE(F16X2) | ONE(BF16) | ONE(BF16X2) | ONE(F32X2))
#define NONE 0
#define ANY (~UINT64_C(0))
#define run_NOT_RUN NULL

const PtxOpcode ptx_opcodes[] = {
#define OP(name, needs, types, operands, run, flow, takes, help) \
  {name, needs, types, operands, run_##run, PTX_FLOW_##flow, takes, help},
#include "ptx/module/opcode.def"
};
const int ptx_opcode_count = (int)(sizeof ptx_opcodes / sizeof ptx_opcodes[0]);

// Whether the form has every modifier of the list.
static bool has_all(const PtxForm *form, const char *needs) {
  while (*needs) {
    const int length = (int)strcspn(needs, " ");
    const PtxModifier modifier = ptx_modifier_find(needs, length);
    if (!ptx_mods_has(&form->mods, modifier)) return false;
    needs += length + (needs[length] == ' ');
  }
  return true;
}

bool ptx_modifier_listed(const char *list, PtxModifier modifier) {
  const char *name = ptx_modifiers[modifier].name;
  const size_t length = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at += length) {
    const bool begins = at == list || at[-1] == ' ';
    if (begins && (at[length] == ' ' || at[length] == '\0')) return true;
  }
  return false;
}

static bool takes(const PtxOpcode *row, const PtxForm *form) {
  if (!has_all(form, row->needs)) return false;
  if (row->types == ANY) return true;
  if (row->types == NONE) return true;
  return form->n_types > 0 && (row->types >> form->types[0] & 1);
}

const PtxOpcode *ptx_opcode_find(const char *name, int length, const PtxForm *form, bool *known) {
  *known = false;
  for (int i = 0; i < ptx_opcode_count; i++) {
    if (!same(ptx_opcodes[i].name, name, length)) continue;
    *known = true;
    if (takes(&ptx_opcodes[i], form)) return &ptx_opcodes[i];
  }
  return NULL;
}
