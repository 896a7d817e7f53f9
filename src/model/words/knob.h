// Knobs and schedules: the few numbers from which everything else is derived.
//
// A schedule is a value for every knob, plus the order in which the user gave some of them, so that
// the one-line state "BM=8,BN=32,FM=26,…" echoes back as it was typed. Knob and value spellings
// come from the articles; aliases are accepted and echo in the table's spelling. A knob that a
// state leaves out is `auto` and settled by the rows of knob_auto.def, unless the state says
// AUTO=0.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

typedef enum KnobId {
  KNOB_NONE = -1,
#define KNOB(id, type, unit, lo, hi, value, tier, aliases, help) KNOB_##id,
#include "model/words/knob.def"
#undef KNOB
  KNOB_COUNT
} KnobId;

typedef enum KnobType {
  KNOB_TYPE_INT,      // a number in lo..hi
  KNOB_TYPE_POWER,    // a power of two in lo..hi
  KNOB_TYPE_FLAG,     // 0 or 1
  KNOB_TYPE_STAGE,    // two bits written A then B: 00 10 01 11
  KNOB_TYPE_DTYPE,    // a name of the dtype list
  KNOB_TYPE_ACC,      // f32 or f16
  KNOB_TYPE_ATOM,     // a name of the atom list
  KNOB_TYPE_ORDER,    // a name of the list of tile orders
  KNOB_TYPE_ROLES,    // a name of the list of role schedules
  KNOB_TYPE_PROGRAM,  // a name of the list of programs
  KNOB_TYPE_SPLIT,    // a name of the list of splits (split.def)
  KNOB_TYPE_LAYOUT,   // a text, kept in Schedule.layout; quotes may hold commas
  KNOB_TYPE_TARGET,   // a row of gpus.json or an arch, kept as text in Schedule.target
  KNOB_TYPES
} KnobType;

typedef struct Knob {
  const char *name;
  KnobType type;
  const char *unit;       // "elem", "threads", …
  int64_t lo, hi, value;  // range and default
  const char *tier;       // heading it belongs under in the nest: "BLOCK", "THREAD", …
  const char *aliases;    // space separated, or ""
  const char *help;       // one line
} Knob;

extern const Knob knob_table[KNOB_COUNT];

enum { TARGET_TEXT_MAX = 24, LAYOUT_TEXT_MAX = 256 };
// The bits of the STAGE knob.
enum { STAGE_A = 2, STAGE_B = 1 };
// The values of the PROGRAM knob.
enum { COMPUTES_MATMUL, COMPUTES_ATTENTION };
// The values of the TILE_ORDER knob.
enum {
#define TILE_ORDER(id, name, grouped, met) ORDER_##id,
#include "model/words/tile_order.def"
  TILE_ORDERS
};
// The values of the ROLE_SCHEDULE knob, by CUTLASS's names for them.
enum { ROLES_COOPERATIVE, ROLES_PINGPONG };

typedef struct Schedule {
  int64_t value[KNOB_COUNT];
  char target[TARGET_TEXT_MAX];     // TARGET as typed: a row of gpus.json or an arch
  char layout[2][LAYOUT_TEXT_MAX];  // LAYOUT_A and LAYOUT_B as typed; "" = none
  int n_given;
  KnobId given[KNOB_COUNT];    // explicitly set, in the order they were typed
  bool automatic[KNOB_COUNT];  // among those: typed as "auto"
} Schedule;

Schedule schedule_default(void);

// AUTO=0: what the rungs of ladders and recorded states, which say all that is on, are read over.
Schedule schedule_plain(void);
// The library with kernels that are timed beside it: "cuBLAS", and "torch" beside attention.
const char *schedule_reference(const Schedule *schedule);
const char *schedule_of_reference(Arena *arena, const Schedule *schedule);  // "of cuBLAS"

// The knobs of a line that sets them for the article's compiler, as its listings have it:
//   DEPLODOCK_KNOBS="BM=8,BN=32" \    export DEPLODOCK_KNOBS=BM=8    what stands behind is no knob
// NULL: it is no such line.
const char *knobs_of_export(Arena *arena, const char *line);

// Reads "NAME=value,NAME=value", or a line of knobs_of_export(), (spaces and newlines allowed
// around the commas) over `schedule`. Every finding goes to `diags` (rules: syntax, unknown_knob,
// duplicate_knob, value, range); on any finding `schedule` is left as it was and the answer is
// false.
bool schedule_parse(Schedule *schedule, const char *text, Diags *diags);

// The state line: the given knobs in the order they were given.
char *schedule_text(Arena *arena, const Schedule *schedule);

// The line of the same kernel with AUTO=0 and every knob that is on: what a record keeps.
char *schedule_record_text(Arena *arena, const Schedule *schedule);

// ---- auto ---------------------------------------------------------------------------------------

// The one rule, in a sentence: for help and lists.
extern const char *const knob_auto_rule;
// Whether the knob's value follows from the others now.
bool knob_is_auto(const Schedule *schedule, KnobId knob);
// The rule it follows then ("2 once slabs are staged: a double buffer"); NULL where auto is nothing
// but the knob's default.
const char *knob_auto_text(KnobId knob);
// Gives such knobs their values. The functions below do so by themselves; code that writes into
// value[] fixes those values.
void schedule_settle(Schedule *schedule);
// Switches off the knobs that were not given.
void schedule_switch_off(Schedule *schedule);
// DTYPE, where it is not given, is what the atom multiplies.
void schedule_take_type(Schedule *schedule);

// ---- one knob -----------------------------------------------------------------------------------

// The value as it is written ("11", "mma_m16n8k16_f16", "h200", "128").
const char *knob_value_text(Arena *arena, const Schedule *schedule, KnobId knob);

// The value as a screen shows it: operands by their names, an atom with the N that ATOM_N gives it
// (knob_said.c).
const char *knob_value_said(Arena *arena, const Schedule *schedule, KnobId knob);
// "A+B" of STAGE=11, which may be typed so too.
const char *knob_operands_said(int64_t value);

// All that tile_order.def says of a value of TILE_ORDER.
bool tile_order_is_grouped(int64_t order);
// An order of tiles in which clusters settle their tiles; `other` where there is none.
int64_t tile_order_met(int64_t other);

// The spelling of a named value ("mma_m16n8k16_f16"); NULL for knobs with numbers as values.
const char *knob_enum_text(KnobId knob, int64_t value);

// Sets one knob (marks it as given) and settles what follows from it. The value is not checked
// against rules, only stored.
void schedule_set(Schedule *schedule, KnobId knob, int64_t value);
// Whether a state, or schedule_set, said this knob.
bool schedule_is_given(const Schedule *schedule, KnobId knob);

// The next (+1) or previous (-1) value worth visiting; false at the end of the range. TARGET has no
// steps here: the holder of the table of targets steps through it; neither have layouts.
bool knob_step(const Schedule *schedule, KnobId knob, int direction, int64_t *value);

// Finds a knob by name or alias, any case; KNOB_NONE when unknown. `nearest` (may be NULL) gets the
// closest name.
KnobId knob_find(const char *name, const char **nearest);

// The first knob of how the task is done: where a cursor may begin.
KnobId knob_first_to_turn(void);
// 0 for the layout of A, 1 for the layout of B; -1: the knob is no layout.
int knob_layout_side(KnobId knob);
// Part of the task (M, N, K, types, GPU), not of how it is done.
bool knob_is_problem(KnobId knob);

// Whether the two differ in that knob; TARGET and typed layouts are compared as texts. Which knobs
// were given, in what order, and AUTO, which only says how gaps are filled, make no difference.
bool schedule_differs(const Schedule *a, const Schedule *b, KnobId knob);
// The number of knobs in which two schedules differ, the problem's knobs included.
int schedule_distance(const Schedule *a, const Schedule *b);
// Whether two schedules ask for the same kernel, or at least for a kernel of the same problem.
bool schedule_same(const Schedule *a, const Schedule *b);
// One number for schedules that are the same, in all likelihood another for any other: results,
// pictures and requests are filed under it. The history names a kernel by its CUDA text instead,
// which begins with the state and is another one once the program writes that kernel differently.
uint64_t schedule_identity(const Schedule *schedule);
// The same, and the same knobs follow by auto: nothing that the two say of themselves differs.
bool schedule_says_same(const Schedule *a, const Schedule *b);
bool schedule_same_problem(const Schedule *a, const Schedule *b);
