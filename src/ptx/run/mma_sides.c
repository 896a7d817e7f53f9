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
  const int per = packing.per_register, n = packing.n_values * PTX_LANES;
  *side =
      (PtxSide){type, packing.n_values, per, packing.value_bits, ARENA_ARRAY(arena, uint16_t, n)};
  for (int v = 0; v < packing.n_values; v++)
    for (int lane = 0; lane < PTX_LANES; lane++) {
      const FragmentElement e = fragment_map_element(&map, lane, v);
      side->at[(v / per * PTX_LANES + lane) * per + v % per] =
          (uint16_t)(e.row * row_step + e.col * col_step);
    }
  return true;
}

static void read_f32(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, const PtxSide *side,
                     double *matrix) {
  for (int v = 0; v < side->n_values; v++) {
    const uint64_t *R = ptx_lanes(m, w, g, v);
    const uint16_t *at = side->at + v * PTX_LANES;
    for (int lane = 0; lane < PTX_LANES; lane++) matrix[at[lane]] = (double)ptx_f32(R[lane]);
  }
}

// The low `width` bytes of all lanes of a register, one behind the other.
static void take_bytes(const uint64_t *R, size_t width, unsigned char *out) {
  if (width == sizeof(uint32_t)) {
    uint32_t words[PTX_LANES];
    for (int lane = 0; lane < PTX_LANES; lane++) words[lane] = (uint32_t)R[lane];
    memcpy(out, words, sizeof words);
    return;
  }
  for (int lane = 0; lane < PTX_LANES; lane++) memcpy(out + (size_t)lane * width, &R[lane], width);
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
  for (int r = 0; r < side->n_values / per; r++)
    take_bytes(ptx_lanes(m, w, g, r), width, bytes + (size_t)(r * PTX_LANES) * width);
  ptx_elements(side->type, bytes, n, values);
  for (int e = 0; e < n; e++) matrix[side->at[e]] = values[e];
}

static void write_f32(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, const PtxSide *side,
                      const double *matrix) {
  uint32_t sums[PTX_SIDE_ELEMENTS];
  ptx_sums_f32(matrix, side->n_values * PTX_LANES, sums);
  for (int v = 0; v < side->n_values; v++) {
    uint64_t *D = ptx_lanes(m, w, g, v);
    const uint16_t *at = side->at + v * PTX_LANES;
    for (int lane = 0; lane < PTX_LANES; lane++) D[lane] = sums[at[lane]];
  }
}

static void write_f16(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, const PtxSide *side,
                      const double *matrix) {
  uint16_t sums[PTX_SIDE_ELEMENTS];
  ptx_sums_f16(matrix, side->n_values * PTX_LANES, sums);
  for (int r = 0; r < side->n_values / 2; r++) {
    uint64_t *D = ptx_lanes(m, w, g, r);
    const uint16_t *at = side->at + r * PTX_LANES * 2;
    for (int lane = 0; lane < PTX_LANES; lane++)
      D[lane] = sums[at[2 * lane]] | (uint32_t)sums[at[2 * lane + 1]] << 16;
  }
}

void ptx_side_write(const PtxMachine *m, PtxWarp *w, const PtxInst *i, const PtxGroup *g,
                    const PtxSide *side, const double *matrix) {
  if (side->type == PTX_F32) {
    write_f32(m, w, g, side, matrix);
    return;
  }
  const int per = side->per_register;
  if (side->type == PTX_F16 && per == 2) {
    write_f16(m, w, g, side, matrix);
    return;
  }
  for (int v = 0; v < side->n_values; v++) {
    uint64_t *D = ptx_lanes(m, w, g, v / per);
    const int part = v % per, shift = part * side->value_bits;
    const uint16_t *at = side->at + v / per * PTX_LANES * per + part;
    for (int lane = 0; lane < PTX_LANES; lane++) {
      const uint64_t bits = ptx_mma_bits(i, side->type, matrix[at[lane * per]]);
      D[lane] = part == 0 ? bits : D[lane] | bits << shift;
    }
  }
}
