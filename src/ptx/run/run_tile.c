// Descriptor → elements of a tile, 16 bytes at a time, which no layout tears apart.
#include "ptx/run/run_tile.h"

#include "model/ir/matrix_tile.h"
#include "ptx/module/float_format.h"

enum { CHUNK = 16 };
#define EACH UINT64_C(0x0101010101010101)

// A chunk begins at element (row, k); NULL after a finding that ends the block.
static const unsigned char *take_chunk(PtxMachine *m, PtxWarp *w, int lane, const PtxTile *tile,
                                       PtxTouchKind kind, int row, int k) {
  int64_t at = matrix_tile_address(&tile->descriptor, tile->trans, tile->element_bytes,
                                   tile->first_row + row, k);
  if (at < 0 || at + CHUNK > m->smem) {
    PtxFinding *f = ptx_find(m, w, PTX_FINDING_OUT_OF_BOUNDS, w->pc, -1, w->mask);
    f->address = (uint64_t)at;
    f->space = PTX_SPACE_SHARED;
    f->bytes = CHUNK;
    f->text = "by the descriptor of a tile";
    m->stopped = true;
    return NULL;
  }
  at += m->smem_stride * tile->rank;
  ptx_touch(m, w, lane, at, CHUNK, kind, NULL);
  uint64_t known[CHUNK / 8];
  memcpy(known, m->shared.state + at, sizeof known);
  known[0] |= known[1];
  if (known[0] & EACH * PTX_BYTE_UNKNOWN || m->blocks[tile->rank].unsure) ptx_doubt(m, w, ~0u);
  if (!(known[0] & EACH * PTX_BYTE_WRITTEN)) {
    PtxFinding *f = ptx_find(m, w, PTX_FINDING_UNWRITTEN, w->pc, -1, w->mask);
    f->address = (uint64_t)ptx_smem_offset(m, at);
    f->space = PTX_SPACE_SHARED;
    f->bytes = CHUNK;
  }
  return m->shared.bytes + at;
}

static double element(const PtxTile *tile, const unsigned char *bytes) {
  uint64_t bits = 0;
  memcpy(&bits, bytes, (size_t)tile->element_bytes);
  if (tile->type == PTX_F16) return (double)ptx_f16_value((uint16_t)bits);
  if (tile->type == PTX_BF16) return (double)ptx_f32(bits << 16);
  return ptx_type_value(tile->type, bits);
}

bool ptx_tile_read(PtxMachine *m, PtxWarp *w, int lane, const PtxTile *tile, PtxTouchKind kind,
                   double *out) {
  const int bytes = tile->element_bytes, per = CHUNK / bytes;
  const int row_step = tile->trans ? per : 1, k_step = tile->trans ? 1 : per;
  for (int k = 0; k < tile->k; k += k_step)
    for (int row = 0; row < tile->rows; row += row_step) {
      const unsigned char *chunk = take_chunk(m, w, lane, tile, kind, row, k);
      if (!chunk) return false;
      for (int e = 0; e < per; e++) {
        const int r = row + (tile->trans ? e : 0), c = k + (tile->trans ? 0 : e);
        out[c * tile->rows + r] = element(tile, chunk + e * bytes);
      }
    }
  return true;
}
