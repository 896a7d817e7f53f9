// Fragments of a warp → matrices of f64, and sums → fragments.
//
// Which lane holds which element is fragment.h's business; a side is its map laid out once for an
// instruction. Values are made into f64 in the order of registers and lanes, many at once, and then
// put where they belong.
#include "ptx/module/float_format.h"
#include "ptx/module/multiply.h"
#include "ptx/run/mma.h"

bool ptx_side_plan(Arena *arena, PtxSide *side, const Atom *atom, AtomOperand operand, PtxType type,
                   const PtxGroup *group, int row_step, int col_step) {
  const FragmentPacking packing = fragment_packing(atom, operand);
  const FragmentMap map = fragment_map(atom, operand);
  if (packing.n_registers != group->n || packing.n_values * PTX_LANES > PTX_SIDE_ELEMENTS)
    return false;
  *side = (PtxSide){type, packing.n_values, packing.per_register, packing.value_bits,
                    arena_alloc(arena, sizeof *side->at * (size_t)packing.n_values)};
  for (int v = 0; v < packing.n_values; v++)
    for (int lane = 0; lane < PTX_LANES; lane++) {
      const FragmentElement e = fragment_map_element(&map, lane, v);
      side->at[v][lane] = (uint16_t)(e.row * row_step + e.col * col_step);
    }
  return true;
}

static void read_f32(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, const PtxSide *side,
                     double *matrix) {
  for (int v = 0; v < side->n_values; v++) {
    const uint64_t *R = ptx_lanes(m, w, g, v);
    for (int lane = 0; lane < PTX_LANES; lane++)
      matrix[side->at[v][lane]] = (double)ptx_f32(R[lane]);
  }
}

void ptx_side_read(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, const PtxSide *side,
                   double *matrix) {
  if (side->type == PTX_F32) {
    read_f32(m, w, g, side, matrix);
    return;
  }
  unsigned char bytes[PTX_SIDE_ELEMENTS * sizeof(uint32_t)];
  double values[PTX_SIDE_ELEMENTS];
  const int per = side->per_register, n = side->n_values * PTX_LANES;
  const size_t width = (size_t)(per * side->value_bits) / 8;
  for (int r = 0; r < side->n_values / per; r++) {
    const uint64_t *R = ptx_lanes(m, w, g, r);
    for (int lane = 0; lane < PTX_LANES; lane++)
      memcpy(bytes + (size_t)(r * PTX_LANES + lane) * width, &R[lane], width);
  }
  ptx_elements(side->type, bytes, n, values);
  for (int v = 0; v < side->n_values; v++)
    for (int lane = 0; lane < PTX_LANES; lane++)
      matrix[side->at[v][lane]] = values[(v / per * PTX_LANES + lane) * per + v % per];
}

static void write_f32(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, const PtxSide *side,
                      const double *matrix) {
  uint32_t sums[PTX_SIDE_ELEMENTS];
  ptx_sums_f32(matrix, side->n_values * PTX_LANES, sums);
  for (int v = 0; v < side->n_values; v++) {
    uint64_t *D = ptx_lanes(m, w, g, v);
    for (int lane = 0; lane < PTX_LANES; lane++) D[lane] = sums[side->at[v][lane]];
  }
}

void ptx_side_write(const PtxMachine *m, PtxWarp *w, const PtxInst *i, const PtxGroup *g,
                    const PtxSide *side, const double *matrix) {
  if (side->type == PTX_F32) {
    write_f32(m, w, g, side, matrix);
    return;
  }
  for (int v = 0; v < side->n_values; v++) {
    uint64_t *D = ptx_lanes(m, w, g, v / side->per_register);
    const int part = v % side->per_register, shift = part * side->value_bits;
    for (int lane = 0; lane < PTX_LANES; lane++) {
      const uint64_t bits = ptx_mma_bits(i, side->type, matrix[side->at[v][lane]]);
      D[lane] = part == 0 ? bits : D[lane] | bits << shift;
    }
  }
}
