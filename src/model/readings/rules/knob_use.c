// A table of the knobs that one family of kernels alone reads; all others are read by both.
//
// A knob that waits for another one (PAD_SMEM for STAGE, LANE_ORDER for LANES_M) counts as used: it
// is at rest, and the way to make it do something is on the same screen. Worked example, the rung
// hgemm ldmatrix: ATOM_KIND is m16n8k16, so WM, WN, LDMATRIX are used and BM, BN, CELL_GROUP are
// not.
#include "model/readings/rules/knob_use.h"

#include "model/passes/passes.h"
#include "model/words/schedule_atom.h"

typedef enum Family {
  FAMILY_BOTH,
  FAMILY_FMA,
  FAMILY_ATOM,
  FAMILY_WGMMA,
  FAMILY_TENSOR,
  FAMILY_SCALED,
  FAMILY_BUT_WGMMA,
  FAMILY_ATTENTION,
  FAMILY_NONE
} Family;

static const unsigned char families[KNOB_COUNT] = {
    [KNOB_AUTO] = FAMILY_NONE,  // it fills gaps of the state
    [KNOB_BM] = FAMILY_FMA,
    [KNOB_BN] = FAMILY_FMA,
    [KNOB_CELL_GROUP] = FAMILY_FMA,
    [KNOB_LANES_M] = FAMILY_FMA,
    [KNOB_LANE_ORDER] = FAMILY_FMA,
    [KNOB_TRANSPOSE_A] = FAMILY_FMA,
    [KNOB_VECTORIZE] = FAMILY_FMA,
    [KNOB_FRAG_ORDER] = FAMILY_ATOM,
    [KNOB_ACC] = FAMILY_ATOM,
    [KNOB_WM] = FAMILY_ATOM,
    [KNOB_WN] = FAMILY_ATOM,
    [KNOB_TRANSPOSE_B] = FAMILY_ATOM,
    [KNOB_LDMATRIX] = FAMILY_ATOM,
    [KNOB_EPILOGUE] = FAMILY_ATOM,
    [KNOB_PAD_CELLS] = FAMILY_FMA,
    [KNOB_ATOM_N] = FAMILY_WGMMA,
    [KNOB_A_REGS] = FAMILY_WGMMA,
    [KNOB_MMA_GROUPS] = FAMILY_WGMMA,
    [KNOB_TMA_STORE] = FAMILY_ATOM,
    [KNOB_EPI_N] = FAMILY_ATOM,
    [KNOB_STMATRIX] = FAMILY_ATOM,
    [KNOB_EPI_BUFFERS] = FAMILY_ATOM,
    [KNOB_ROLE_SCHEDULE] = FAMILY_WGMMA,
    [KNOB_ACC_BUFFERS] = FAMILY_TENSOR,
    [KNOB_CTA_GROUP] = FAMILY_TENSOR,
    [KNOB_TENSOR_COLUMNS] = FAMILY_TENSOR,
    [KNOB_SCALE_WORDS] = FAMILY_SCALED,
    [KNOB_HEADS] = FAMILY_ATTENTION,
    [KNOB_CAUSAL] = FAMILY_ATTENTION,
    [KNOB_FUSE] = FAMILY_ATTENTION,
    [KNOB_EAGER_KV] = FAMILY_ATTENTION,
    [KNOB_UNROLL_K] = FAMILY_BUT_WGMMA,  // a group of wgmma has no loop
    [KNOB_SERPENTINE] = FAMILY_BUT_WGMMA,
};

bool knob_is_used(KnobId knob, const Schedule *schedule) {
  const Atom *atom = schedule_atom_row(schedule);
  Family now = schedule->value[KNOB_ATOM_KIND] ? FAMILY_ATOM : FAMILY_FMA, of = families[knob];
  bool group = atom && atom_reads_tiles(atom);
  if (atom_is_of_thread(atom) && of == FAMILY_WGMMA && knob != KNOB_ATOM_N) return false;
  if (knob == KNOB_DEPENDENT_LAUNCH) return schedule_has_kernels(schedule);
  if (knob == KNOB_ELECT) return schedule->value[KNOB_TMA] || atom_is_of_thread(atom);
  if (of == FAMILY_TENSOR) return atom_is_of_thread(atom);
  if (of == FAMILY_SCALED) return atom && atom_scales(atom);
  const bool attention = schedule->value[KNOB_PROGRAM] == COMPUTES_ATTENTION;
  if (of == FAMILY_ATTENTION) return attention;
  if (attention && knob == KNOB_A_REGS) return atom && !group;  // of Q, which wgmma reads as tiles
  return of == FAMILY_BOTH || of == now || of == (group ? FAMILY_WGMMA : FAMILY_BUT_WGMMA);
}
