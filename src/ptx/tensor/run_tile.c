// Descriptor → elements of a tile, 16 bytes at a time, which no layout tears apart.
//
// Where a chunk lies before the swizzle is a sum of what its row adds and what its k adds.
#include "ptx/tensor/run_tile.h"

#include "model/ir/matrix_tile.h"
#include "ptx/module/multiply.h"
#include "ptx/run/races.h"
#include "ptx/run/run_orders.h"

enum { CHUNK = PTX_PIECE };
#define EACH UINT64_C(0x0101010101010101)

// A tile that is being read.
typedef struct Reading {
  PtxMachine *m;
  PtxWarp *w;
  const PtxTile *tile;
  MatrixTile layout;
  PtxTouchKind kind;
  PtxToucher by;
} Reading;

static void tell_outside(const Reading *r, int64_t at) {
  PtxFinding *f = ptx_find(r->m, r->w, PTX_FINDING_OUT_OF_BOUNDS, r->w->pc, -1, r->w->mask);
  f->address = (uint64_t)at;
  f->space = PTX_SPACE_SHARED;
  f->bytes = CHUNK;
  f->text = "by the descriptor of a tile";
  r->m->stopped = true;
}

static void tell_unwritten(const Reading *r, int64_t at) {
  PtxFinding *f = ptx_find(r->m, r->w, PTX_FINDING_UNWRITTEN, r->w->pc, -1, r->w->mask);
  f->address = (uint64_t)ptx_smem_offset(r->m, at);
  f->space = PTX_SPACE_SHARED;
  f->bytes = CHUNK;
}

// A chunk that lies so far behind the start address; false after a finding that ends the block.
static bool take_chunk(Reading *r, int64_t offset, unsigned char *out) {
  PtxMachine *m = r->m;
  int64_t at = matrix_tile_placed(&r->tile->descriptor, &r->layout, offset);
  if (at < 0 || at + CHUNK > m->smem) {
    tell_outside(r, at);
    return false;
  }
  at += m->smem_stride * r->tile->rank;
  ptx_touch_piece(&r->by, at, NULL);
  if (m->orders) ptx_orders_touch(m, r->w, at, CHUNK, r->kind);
  uint64_t known[CHUNK / 8];
  memcpy(known, m->shared.state + at, sizeof known);
  known[0] |= known[1];
  if (known[0] & EACH * PTX_BYTE_UNKNOWN || m->blocks[r->tile->rank].unsure)
    ptx_doubt(m, r->w, ~0u);
  if (!(known[0] & EACH * PTX_BYTE_WRITTEN)) tell_unwritten(r, at);
  memcpy(out, m->shared.bytes + at, CHUNK);
  return true;
}

// 16 elements of 4 or 6 bits, lowest first, each to a byte as registers have it: 4 bits lie in the
// middle, which is the e2m3 of the same value.
static void unpack_chunk(PtxTilePacking packing, unsigned char *chunk) {
  unsigned char out[CHUNK];
  const int bits = packing == PTX_TILE_4_IN_16 ? 4 : 6;
  for (int e = 0; e < CHUNK; e++) {
    const int at = e * bits, byte = at / 8;
    const unsigned pair = chunk[byte] | (byte + 1 < CHUNK ? (unsigned)chunk[byte + 1] << 8 : 0);
    const unsigned code = pair >> at % 8 & ((1u << bits) - 1);
    out[e] = (unsigned char)(bits == 4 ? code << 2 : code);
  }
  memcpy(chunk, out, sizeof out);
}

static void take_elements(const PtxTile *tile, int k_bytes, unsigned char *bytes, double *out) {
  const bool wide = tile->packing == PTX_TILE_4_IN_16 || tile->packing == PTX_TILE_6_IN_16;
  for (int at = 0; wide && at < tile->rows * k_bytes; at += CHUNK)
    unpack_chunk(tile->packing, bytes + at);
  const PtxType type = tile->packing == PTX_TILE_4_IN_16 ? PTX_E2M3 : tile->type;
  ptx_elements(type, bytes, tile->rows * tile->k, out);
}

bool ptx_tile_read(PtxMachine *m, PtxWarp *w, int lane, const PtxTile *tile, PtxTouchKind kind,
                   double *out) {
  unsigned char bytes[PTX_TILE_ROWS * PTX_TILE_BYTES];
  const int width = tile->element_bytes, per = CHUNK / width;
  const int row_step = tile->trans ? per : 1, k_step = tile->trans ? 1 : per;
  const int k_units = tile->packing == PTX_TILE_PAIRS ? tile->k / 2 : tile->k;
  const PtxTileSteps steps = tile->trans ? ptx_tile_steps(tile) : (PtxTileSteps){k_units, 1};
  Reading r = {m,    w,
               tile, matrix_tile_decode(&tile->descriptor, tile->trans),
               kind, ptx_toucher(m, w, lane, kind)};
  PtxTurn turns[PTX_TURNS] = {0};
  r.by.turn = turns;
  int64_t of_row[PTX_TILE_ROWS];
  for (int row = 0; row < tile->rows; row += row_step)
    of_row[row] = matrix_tile_offset(&r.layout, width, tile->first_row + row, 0);
  for (int k = 0; k < k_units; k += k_step) {
    const int64_t of_k = matrix_tile_offset(&r.layout, width, 0, k);
    for (int row = 0; row < tile->rows; row += row_step)
      if (!take_chunk(&r, of_row[row] + of_k, bytes + (row * steps.row + k * steps.k) * width))
        return false;
  }
  take_elements(tile, k_units, bytes, out);
  return true;
}
