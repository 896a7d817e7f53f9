// The interface between rule.c, which judges, and rule_nearest.c, which looks for values that hold.
#pragma once
#include "model/readings/rules/rule.h"
#include "model/words/fragment.h"

enum { FM_BM, FN_BN };  // the sides of a tile: A's, and B's

// The facts that a rule is judged by.
typedef struct Facts {
  Arena *arena;  // for what a rule must build to be judged
  const Schedule *schedule;
  const Target *target;
  const Resources *resources;  // NULL in phase KNOBS
  bool has_atom;
  Atom atom;  // the schedule's, its N and its sums chosen
} Facts;

Facts rule_facts(Arena *arena, const Schedule *schedule, const Target *target,
                 const Resources *resources);

typedef enum RulePhase { PHASE_KNOBS, PHASE_PROGRAM } RulePhase;
RulePhase rule_phase(int rule);
bool rule_holds(int rule, const Facts *facts);
// Tells what does not hold, with its numbers.
char *rule_text(Arena *arena, int rule, const Facts *facts);
// For a rule about a typed layout, of A (0) or B: "LAYOUT_A=swizzle:3:4:3".
const char *rule_nearest_layout(const Facts *facts, int side);

// PROGRAM=attention; the knob of the other program that is on; what its atoms and its fusion lack;
// the elements that would have to change lanes between its products; the extent that is no whole
// number of steps: NULL where nothing is wrong (rule_attention.c).
bool rule_is_attention(const Facts *facts);
const char *rule_knob_of_other(const Facts *facts);
const char *rule_products_fault(const Facts *facts);
const char *rule_fusion_fault(const Facts *facts);
const char *rule_relayout_fault(const Facts *facts);
const char *rule_steps_fault(const Facts *facts);
const char *rule_attention_roles_fault(const Facts *facts);
// Registers of O, S and one step's fragments, or FRAG_BUFFER of them, with an atom.
const char *rule_queries_fault(const Facts *f);  // why Q cannot be kept in registers
int64_t rule_attention_registers(const Facts *facts);
// The same with an atom of a warpgroup, which reads K and V where they lie: those of O, S and P.
int64_t rule_group_registers(const Facts *facts);

// The operand whose typed layout the rule is about; -1: it is about something else.
int rule_layout_side(int rule);

// "BN=128": a value of one of the rule's knobs that breaks nothing else; if there is none, one that
// is built; NULL where there is neither. Knobs that are `kept` (may be NULL) are not moved.
const char *rule_nearest(int rule, const Facts *facts, const bool *kept, Arena *arena);

// The atom that multiplies; NULL for fma, and for a name without a row.
const Atom *rule_atom_of(const Facts *facts);
// The value of the DTYPE knob that the atom multiplies; fma: f32. An atom without a row is told by
// another rule.
int64_t rule_dtype_of_atom(const Facts *facts);

// For tcgen05 (rule_tensor.c): columns of the sums of a block, those that a thread reads at a time,
// why EPI_N cannot be, and the first knob that is not built for it; NULL: none.
bool rule_in_tensor_memory(const Facts *f);
int64_t rule_tensor_columns(const Facts *f);
// Those of scale factors beside them, " and 48 of scale factors"; what these do not go with.
const char *rule_tensor_allocation_fault(const Facts *f);
int64_t rule_factor_columns(const Facts *f);
const char *rule_factor_words(const Facts *f);
const char *rule_factors_fault(const Facts *f);
// The fault of ASYNC_OPERANDS or PAD_OPERANDS beside the other knobs; NULL: none.
const char *rule_async_operands_fault(const Facts *f);
const char *rule_pad_operands_fault(const Facts *f);
const char *rule_operands_text(const Facts *f, KnobId id);  // "ASYNC_OPERANDS=10"
int64_t rule_tensor_piece(const Facts *f);
const char *rule_tensor_piece_fault(const Facts *f);
const char *rule_pair_fault(const Facts *f);
const char *rule_pair_columns_fault(const Facts *f);
const char *rule_tensor_sets_fault(const Facts *f);
const char *rule_tensor_knob(const Facts *f);
const char *rule_tensor_why(const Facts *f);

// For a block-scaled atom (rule_scaled.c): elements along K of one instruction, else 1; what its
// elements and factors do not go with, and why four factors make no word; NULL: nothing.
int64_t rule_scale_step(const Facts *f);
const char *rule_scaled_fault(const Facts *f);
const char *rule_words_fault(const Facts *f);

// Products of parts (rule_split.c): what SPLIT_F32 does not go with, and what PROMOTE; NULL:
// nothing.
const char *rule_split_fault(const Facts *f);
const char *rule_promotion_fault(const Facts *f);
// Elements along K of a slab.
int64_t rule_depth(const Facts *f);
