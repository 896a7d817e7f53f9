// Copies that go on by themselves, and matrices by rows. (PTX ISA, 9.7.9.25, 9.7.14.5.15 and .16.)
//
// cp.async is carried out at once, and its bytes are marked as on their way until the thread that
// issued it has waited for its group: a thread that touches them before is told.
#include "ptx/run/run_access.h"
#include "ptx/run/run_sync.h"

void run_cp_async(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const PtxGroup *to = &i->groups[0], *from = &i->groups[1];
  const bool by_pred = i->n_groups > 3 && i->groups[3].kind == PTX_GROUP_PRED;
  const bool by_size = i->n_groups > 3 && !by_pred;
  const uint32_t ignored = by_pred ? ptx_pred(m, w, &i->groups[3]) : 0;
  const int bytes = (int)ptx_lanes(m, w, &i->groups[2], 0)[0];
  PtxAccess access, source;
  ptx_access_begin(m, w, i, mask, bytes, true, to, &access);
  ptx_access_begin(m, w, i, mask, bytes, false, from, &source);
  FOR_LANES(mask) {
    int64_t wanted = by_size ? (int64_t)(uint32_t)ptx_lanes(m, w, &i->groups[3], 0)[l] : bytes;
    if (ignored >> l & 1) wanted = 0;
    if (wanted > bytes) wanted = bytes;
    const PtxPlace place =
        ptx_access_lane(m, w, &access, l, PTX_SPACE_SHARED, ptx_access_address(m, w, to, l));
    if (!place.bytes) return;
    unsigned char values[16] = {0};
    bool unknown = false;
    const uint64_t address = ptx_access_address(m, w, from, l);
    access.global[l] = (int64_t)address;
    if (wanted > 0) {
      const PtxPlace read = ptx_access_lane(m, w, &source, l, PTX_SPACE_GLOBAL, address);
      if (!read.bytes) return;
      ptx_check_written(m, w, &source, l, &read, (int64_t)address);
      memcpy(values, read.bytes, (size_t)wanted);
      unknown = ptx_place_is_unknown(m, &read, PTX_SPACE_GLOBAL, (int)wanted);
    }
    ptx_touch(m, w, (int)l, place.offset, bytes, PTX_COPIES, values);
    memcpy(place.bytes, values, (size_t)bytes);
    ptx_mark_written(&place, bytes, true);
    if (unknown) ptx_mark_unknown(&place, bytes);
  }
  ptx_access_end(m, &access);
  ptx_access_end(m, &source);
}

void run_cp_async_commit(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  (void)m;
  FOR_LANES(mask) {
    OrderGroups *groups = &w->groups->copies[l];
    w->groups->copy_boards[l][groups->closed++ % ORDER_GROUPS_KEPT] = i->boards;
  }
}

void ptx_wait_for_copies(PtxWarp *w, uint32_t lane, uint32_t left) {
  order_groups_wait_at(&w->groups->copies[lane], &w->groups->copied[lane], left,
                       w->clock[w->index]);
}

// The copies so far have landed when the mbarrier learns of it.
void ptx_land_copies(PtxWarp *w, uint32_t lane) {
  w->groups->copies[lane].closed++;
  ptx_wait_for_copies(w, lane, 0);
}

// wait_group n leaves the last n groups; wait_all closes the open group first.
void run_cp_async_wait(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const bool all = ptx_has(i, PTX_MOD_wait_all);
  FOR_LANES(mask) {
    if (all)
      ptx_land_copies(w, l);
    else
      ptx_wait_for_copies(w, l, (uint32_t)ptx_lanes(m, w, &i->groups[0], 0)[l]);
  }
}

// ---- matrices -----------------------------------------------------------------------------------

enum { ROW_BYTES = 16 };  // of a matrix

static int matrices(const PtxInst *i) {
  return ptx_has(i, PTX_MOD_x4) ? 4 : ptx_has(i, PTX_MOD_x2) ? 2 : 1;
}

// The 8·n rows that lanes point at; false after a finding.
static bool take_rows(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask,
                      const PtxGroup *address, bool is_store, PtxAccess *access,
                      PtxPlace rows[PTX_LANES]) {
  const int n = 8 * matrices(i);
  ptx_access_begin(m, w, i, mask, 16, is_store, address, access);
  for (uint32_t l = 0; l < (uint32_t)n; l++) {
    rows[l] = ptx_access_lane(m, w, access, l,
                              i->space == PTX_SPACE_GENERIC ? PTX_SPACE_GENERIC : PTX_SPACE_SHARED,
                              ptx_access_address(m, w, address, l));
    if (!rows[l].bytes) return false;
  }
  return true;
}

// Byte of a row that half `h` of a lane's register comes from, and its row.
static int row_of(bool trans, uint32_t lane, int h) {
  return trans ? 2 * (int)(lane % 4) + h : (int)lane / 4;
}
static int byte_of(bool trans, uint32_t lane, int h) {
  return trans ? 2 * ((int)lane / 4) : 4 * (int)(lane % 4) + 2 * h;
}

// A row as registers get it: its bytes, or 16 elements of 4 or 6 bits, lowest first, each in the
// low bits of a byte. (CUTLASS, cute/atom/mma_traits_sm120.hpp, moves 4 bits up by two for a
// product.)
static void read_row(const PtxInst *i, const PtxPlace *row, unsigned char out[ROW_BYTES]) {
  const int bits = ptx_has(i, PTX_MOD_from_b4) ? 4 : ptx_has(i, PTX_MOD_from_b6) ? 6 : 8;
  if (bits == 8) {
    memcpy(out, row->bytes, ROW_BYTES);
    return;
  }
  for (int e = 0; e < ROW_BYTES; e++) {
    const int at = e * bits, byte = at / 8;
    const unsigned pair =
        row->bytes[byte] | (byte + 1 < ROW_BYTES ? (unsigned)row->bytes[byte + 1] << 8 : 0);
    out[e] = (unsigned char)(pair >> at % 8 & ((1u << bits) - 1));
  }
}

void run_ldmatrix(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const bool trans = ptx_has(i, PTX_MOD_trans);
  const int n = matrices(i);
  PtxAccess access;
  PtxPlace rows[PTX_LANES];
  if (!take_rows(m, w, i, mask, &i->groups[1], false, &access, rows)) return;
  for (uint32_t l = 0; l < 8 * (uint32_t)n; l++) {
    ptx_touch(m, w, (int)l, rows[l].offset, 16, PTX_READS, NULL);
    if (ptx_place_is_unknown(m, &rows[l], PTX_SPACE_SHARED, 16)) ptx_doubt(m, w, ~0u);
    ptx_check_written(m, w, &access, l, &rows[l], access.addr[l]);
  }
  uint32_t data = w->control;
  for (int matrix = 0; matrix < n; matrix++) {
    uint64_t *D = ptx_lanes(m, w, &i->groups[0], matrix);
    unsigned char values[8][ROW_BYTES];
    for (int r = 0; r < 8; r++) {
      if (ptx_place_is_data(&rows[8 * matrix + r], ROW_BYTES)) data = ~0u;
      read_row(i, &rows[8 * matrix + r], values[r]);
    }
    FOR_LANES(mask) {
      uint64_t word = 0;
      for (int h = 0; h < 2; h++)
        memcpy((unsigned char *)&word + 2 * h, values[row_of(trans, l, h)] + byte_of(trans, l, h),
               2);
      D[l] = word;
    }
    const PtxArg arg = m->module->args[i->groups[0].at + matrix];
    if (arg >= 0) w->frame_taint[arg] = data;
  }
  ptx_access_end(m, &access);
}

void run_stmatrix(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const bool trans = ptx_has(i, PTX_MOD_trans);
  const int n = matrices(i);
  PtxAccess access;
  PtxPlace rows[PTX_LANES];
  unsigned char values[PTX_LANES][16];
  if (!take_rows(m, w, i, mask, &i->groups[0], true, &access, rows)) return;
  bool is_data = w->control != 0;
  for (int matrix = 0; matrix < n; matrix++) {
    const uint64_t *A = ptx_lanes(m, w, &i->groups[1], matrix);
    const PtxArg arg = m->module->args[i->groups[1].at + matrix];
    is_data |= arg >= 0 && w->frame_taint[arg];
    for (uint32_t l = 0; l < PTX_LANES; l++)
      for (int h = 0; h < 2; h++)
        memcpy(&values[8 * matrix + row_of(trans, l, h)][byte_of(trans, l, h)],
               (const unsigned char *)&A[l] + 2 * h, 2);
  }
  for (uint32_t l = 0; l < 8 * (uint32_t)n; l++) {
    ptx_touch(m, w, (int)l, rows[l].offset, 16, PTX_WRITES, values[l]);
    memcpy(rows[l].bytes, values[l], 16);
    ptx_mark_written(&rows[l], 16, is_data);
    if (w->doubt) ptx_mark_unknown(&rows[l], 16);
  }
  ptx_access_end(m, &access);
}
