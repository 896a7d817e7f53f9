// A state's gaps, filled: the values of knobs that were left out, or typed as auto.
//
// The one rule: as long as a state names neither STAGE, TMA, WARP_SPECIALIZE nor an atom, the knobs
// that it leaves out are off, so that `BM=16,BN=16` stays the plain nest. From then on they follow
// the defaults of the article's compiler (knob_auto.def). Worked example, its final kernel:
//   BM=8,BN=32,FM=26,FN=4,BK=32,SPLITK=1,STAGE=11,TMA=1
//   leaves BUFFER_COUNT=2, PIPELINE_STAGES=1, VECTORIZE=1, INTERLEAVE_LOADS=1, GROUP_M=8,
//   UNROLL_K=32
// and the fp16 one, with roles: LDMATRIX=1, SWIZZLE=2, GROUP_M=8, PRODUCER_WARPS=1.
//
// A state that names VECTORIZE spells out all data movement, as the articles' strings never do:
// knobs that it leaves out are off. AUTO=0 switches all of it off except knobs typed as auto:
// ladders and records are read so, and always mean the same kernel.
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "model/readings/rules/rule.h"
#include "model/words/fragment.h"
#include "model/words/knob.h"
#include "model/words/schedule_atom.h"

const char *const knob_auto_rule =
    "A knob is auto if a state does not name it, or names it as NAME=auto. auto means the "
    "default; once the state names STAGE, TMA, WARP_SPECIALIZE or an ATOM_KIND, it means the "
    "knob's auto rule. A state that names VECTORIZE has AUTO=0 unless it says AUTO=1. AUTO=0 "
    "keeps all knobs that are not named at their defaults; rungs of ladders and records begin "
    "with it.";

#define V(id) (S->value[KNOB_##id])

static bool is_given(const Schedule *S, KnobId knob) {
  for (int i = 0; i < S->n_given; i++)
    if (S->given[i] == knob) return !S->automatic[knob];
  return false;
}

static bool begun(const Schedule *S) { return V(STAGE) || V(ATOM_KIND) || is_given(S, KNOB_STAGE); }

// A schedule knows its target by name alone; these of gpus.json are older than sm_80. The rule
// async_arch says it of others.
static bool has_cp_async(const Schedule *S) {
  static const char *const older[] = {"t4", "v100"};
  for (size_t i = 0; i < sizeof older / sizeof *older; i++)
    if (str_equal_fold(S->target, older[i])) return false;
  return strncasecmp(S->target, "sm_", 3) != 0 || atoi(S->target + 3) >= 80;
}

// One of the staged operands may come by it: all of them where copies are dealt out among k-steps.
static bool comes_async(const Schedule *S) {
  int64_t by = V(STAGE) & V(ASYNC_OPERANDS);
  return by && !V(TMA) && has_cp_async(S) && (by == V(STAGE) || !V(COPY_STEPS));
}

// An atom that reads tiles: a warpgroup's, or one in tensor memory.
static bool is_group(const Schedule *S) {
  const Atom *atom = schedule_atom_row(S);
  return atom && atom_reads_tiles(atom);
}

// Its warps multiply as warpgroups, between which registers can be moved.
static bool by_warpgroup(const Schedule *S) {
  return is_group(S) && !atom_is_of_thread(schedule_atom_row(S));
}

static bool can_ldmatrix(const Schedule *S) {
  const Atom *atom = V(STAGE) ? schedule_atom_row(S) : NULL;
  return atom && atom->bits <= 32 && (!is_group(S) || V(A_REGS));
}

static int64_t widest_swizzle(const Schedule *S) {
  Schedule trial = *S;
  int64_t *bits = &trial.value[KNOB_SWIZZLE];
  *bits = knob_table[KNOB_SWIZZLE].hi;
  if (!(V(LDMATRIX) || is_group(S)) || V(PAD_SMEM) || V(PAD_CELLS) || S->layout[0][0] ||
      S->layout[1][0])
    return 0;
  while (*bits > 0 && !rule_rows_take_swizzle(&trial)) --*bits;
  return *bits;
}

// The article's listing writes out all steps of a slab. A body of more multiply-adds than that,
// which is a minute's work for the compiler, is left to it.
static int64_t unrolled_steps(const Schedule *S) {
  enum { BODY_MAX = 4096 };
  const int64_t most = knob_table[KNOB_UNROLL_K].hi, steps = V(BK) < most ? V(BK) : most;
  bool plain = V(STAGE) && !V(ATOM_KIND) && !V(PROGRAM);
  return plain && V(BK) * V(FM) * V(FN) <= BODY_MAX ? steps : 0;
}

// Rows of a warp's lanes that stand `stride` words apart: do two of them begin in one bank?
static bool rows_collide(int64_t rows, int64_t stride) {
  int64_t apart = 32;  // banks until the same one comes again
  while (stride % apart) apart /= 2;
  return rows > 32 / apart;
}

// The operands, as bits of STAGE, with slabs that the article's compiler pads. By its listings it
// pads a slab if the lanes of a warp, reading word by word, would collide in it. Worked example, 16
// x 16 threads with 2 x 2 cells, BK=16: a warp has two rows of threads. They read A 32 words apart,
// and collide; 16 lanes read B 2 words apart, and do not. In the tile of 8 x 32 threads with 26 x 4
// cells a warp reads one row of A, and 32 lanes read B 4 words apart: B collides.
static int64_t colliding(const Schedule *S) {
  bool other = is_given(S, KNOB_PAD_CELLS) || is_given(S, KNOB_PAD_SMEM);
  const KnobId turned[] = {KNOB_TMA,         KNOB_ATOM_KIND, KNOB_PROGRAM, KNOB_SWIZZLE,
                           KNOB_TRANSPOSE_A, KNOB_A_COL,     KNOB_B_COL,   KNOB_LANES_M,
                           KNOB_LANE_ORDER,  KNOB_CELL_GROUP};
  for (size_t i = 0; i < sizeof turned / sizeof *turned; i++) other = other || S->value[turned[i]];
  if (other || !V(STAGE) || S->layout[0][0] || S->layout[1][0]) return 0;
  int64_t across = V(BN) < 32 ? V(BN) : 32, down = (32 + V(BN) - 1) / V(BN);
  if (down > V(BM)) down = V(BM);
  return V(STAGE) & ((rows_collide(down, V(FM) * V(BK)) ? STAGE_A : 0) |
                     (rows_collide(across, V(FN)) ? STAGE_B : 0));
}

#define AUTO(id, text, value) \
  static int64_t auto_##id(const Schedule *S) { return value; }
#include "model/words/knob_auto.def"
#undef AUTO

static const struct {
  KnobId knob;
  const char *text;
  int64_t (*value)(const Schedule *schedule);
} rows[] = {
#define AUTO(id, text, value) {KNOB_##id, text, auto_##id},
#include "model/words/knob_auto.def"
#undef AUTO
};
enum { N_ROWS = sizeof rows / sizeof *rows };

const char *knob_auto_text(KnobId knob) {
  for (int i = 0; i < N_ROWS; i++)
    if (rows[i].knob == knob) return rows[i].text;
  return NULL;
}

bool knob_is_auto(const Schedule *schedule, KnobId knob) {
  if (!knob_auto_text(knob)) return false;
  return schedule->automatic[knob] || (schedule->value[KNOB_AUTO] && !is_given(schedule, knob));
}

void schedule_settle(Schedule *schedule) {
  for (int i = 0; i < N_ROWS; i++)
    if (knob_is_auto(schedule, rows[i].knob))
      schedule->value[rows[i].knob] = rows[i].value(schedule);
}

void schedule_switch_off(Schedule *schedule) {
  for (int i = 0; i < N_ROWS; i++)
    if (!is_given(schedule, rows[i].knob))
      schedule->value[rows[i].knob] = knob_table[rows[i].knob].value;
}

// Sets the given knobs in their order, then those that auto chose. Texts come last: until then
// those that were never given differ, and are marked.
static Schedule schedule_pinned(const Schedule *schedule) {
  Schedule pinned = schedule_plain();
  for (int i = 0; i < schedule->n_given; i++) {
    KnobId knob = schedule->given[i];
    if (knob != KNOB_AUTO && !schedule->automatic[knob])
      schedule_set(&pinned, knob, schedule->value[knob]);
  }
  schedule_take_type(&pinned);
  for (int i = 0; i < KNOB_COUNT; i++)
    if (schedule_differs(&pinned, schedule, (KnobId)i))
      schedule_set(&pinned, (KnobId)i, schedule->value[i]);
  memcpy(pinned.target, schedule->target, sizeof pinned.target);
  memcpy(pinned.layout, schedule->layout, sizeof pinned.layout);
  return pinned;
}

char *schedule_record_text(Arena *arena, const Schedule *schedule) {
  const Schedule pinned = schedule_pinned(schedule);
  return schedule_text(arena, &pinned);
}
