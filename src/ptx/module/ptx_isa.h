// The words of PTX: types, modifiers, and the one table of opcodes.
//
// opcode.def is read by the decoder (which row does "ld.shared.v4.f32" belong to), the runner (the
// row's function), the help (`gemmview open --opcodes`) and the fuzzer.
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef enum PtxType {
  PTX_NO_TYPE,
#define TYPE(id, spelling, bits, class) PTX_##id,
#include "ptx/module/ptx_type.def"
  PTX_TYPES
} PtxType;

typedef struct PtxTypeRow {
  const char *name;
  int bits;
  char class;
} PtxTypeRow;

extern const PtxTypeRow ptx_types[PTX_TYPES];
PtxType ptx_type_find(const char *text, int length);  // without the dot; PTX_NO_TYPE when none

typedef enum PtxModifier {
  PTX_MOD_none,
#define MODIFIER(id, spelling, class) PTX_MOD_##id,
#include "ptx/module/modifier.def"
  PTX_MODIFIERS
} PtxModifier;

typedef enum PtxModifierClass {
  PTX_CLASS_SPACE,
  PTX_CLASS_ROUND,
  PTX_CLASS_COMPARE,
  PTX_CLASS_LOGIC,
  PTX_CLASS_VECTOR,
  PTX_CLASS_WORD,
  PTX_CLASS_HINT,
} PtxModifierClass;

typedef struct PtxModifierRow {
  const char *name;
  PtxModifierClass class;
} PtxModifierRow;

extern const PtxModifierRow ptx_modifiers[PTX_MODIFIERS];
PtxModifier ptx_modifier_find(const char *text, int length);

enum { PTX_MOD_WORDS = (PTX_MODIFIERS + 63) / 64, PTX_FORM_TYPES = 5 };

typedef struct PtxMods {
  uint64_t bits[PTX_MOD_WORDS];
} PtxMods;

static inline bool ptx_mods_has(const PtxMods *mods, PtxModifier modifier) {
  return mods->bits[modifier / 64] >> (modifier % 64) & 1;
}
static inline void ptx_mods_add(PtxMods *mods, PtxModifier modifier) {
  mods->bits[modifier / 64] |= UINT64_C(1) << (modifier % 64);
}

// The modifiers and types behind an instruction's name: "global.nc.v4.f32".
typedef struct PtxForm {
  PtxMods mods;
  PtxType types[PTX_FORM_TYPES];  // in the order of the text
  int n_types;
  int vector;  // 1, 2, 4, 8
  PtxModifier space, round, compare, logic;
  int shape[3];  // of "m64n128k16": M, N, K; 0 where the shape is a modifier of its own, or none
} PtxForm;

struct PtxMachine;
struct PtxWarp;
struct PtxInst;
// Runs one instruction for the lanes of `mask`.
typedef void PtxRun(struct PtxMachine *m, struct PtxWarp *w, const struct PtxInst *i,
                    uint32_t mask);

// The way values flow, for a reader that follows where addresses come from.
typedef enum PtxFlow {
  PTX_FLOW_LANE,  // each lane's results come from its own operands
  PTX_FLOW_WARP,  // and from other lanes'
  PTX_FLOW_OWN,   // the row's function says it itself
} PtxFlow;

typedef struct PtxOpcode {
  const char *name;
  const char *needs;     // modifiers that must be there: "wide", "async bulk"; "" none
  uint64_t types;        // sets of the first type; 0: there is none
  const char *operands;  // one letter each, see opcode.def
  PtxRun *run;           // NULL: known, but not run
  PtxFlow flow;
  const char *takes;  // the other modifiers that `run` heeds
  const char *help;
} PtxOpcode;

extern const PtxOpcode ptx_opcodes[];
extern const int ptx_opcode_count;

// Whether a list of modifiers, with blanks between, has this one.
bool ptx_modifier_listed(const char *list, PtxModifier modifier);
// The first row with that name that agrees in modifiers and types; NULL when there is none.
// `*known` says whether there is a row of the name at all.
const PtxOpcode *ptx_opcode_find(const char *name, int length, const PtxForm *form, bool *known);
