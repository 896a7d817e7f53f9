// Boxes of tensors, copied by their maps: cp.async.bulk.tensor. (PTX ISA, 9.7.9.27; what a map says
// is banks/layouts/tma_box.h's business.)
//
// A map is 128 bytes that only the driver can write, so a tensor of the machine is found by them:
// recorded ones, or bytes made here, which hold its number behind what a GPU reads. A box is copied
// where it is issued, as other bulk copies are (run_bulk.c).
#include "banks/layouts/tma_map.h"
#include "base/str.h"
#include "base/whole.h"
#include "ptx/run/races.h"
#include "ptx/run/run_access.h"
#include "ptx/run/run_orders.h"
#include "ptx/run/run_sync.h"

enum { CHUNK = 16 };
#define MAP_MAGIC UINT64_C(0x70616d726f736e74)

bool ptx_machine_map(PtxMachine *m, const TmaBox *box, uint64_t address,
                     const unsigned char map[PTX_MAP_BYTES], Diags *diags) {
  const Layout *layout = tma_box_layout(m->arena, box, "tma", diags);
  if (!layout) return false;
  PtxTensor *tensor = ARENA_NEW(m->arena, PtxTensor);
  *tensor = (PtxTensor){.box = *box, .address = address, .layout = layout, .next = m->tensors};
  memcpy(tensor->map, map, PTX_MAP_BYTES);
  m->tensors = tensor;
  return true;
}

bool ptx_machine_tensor(PtxMachine *m, const TmaBox *box, uint64_t address,
                        unsigned char map[PTX_MAP_BYTES], Diags *diags) {
  const uint64_t words[2] = {MAP_MAGIC, (uint64_t)++m->n_tensors};
  memset(map, 0, PTX_MAP_BYTES);
  if (!tma_map_write(box, address, map)) memset(map, 0, TMA_MAP_BYTES);
  memcpy(map + TMA_MAP_BYTES, words, sizeof words);
  return ptx_machine_map(m, box, address, map, diags);
}

const PtxTensor *ptx_tensor_of(const PtxMachine *m, const unsigned char *bytes) {
  for (const PtxTensor *t = m->tensors; t; t = t->next)
    if (memcmp(t->map, bytes, PTX_MAP_BYTES) == 0) return t;
  return NULL;
}

// A map that the launch brought, as the hardware reads it.
static const PtxTensor *coded_tensor(PtxMachine *m, const unsigned char *bytes) {
  TmaBox box;
  uint64_t address;
  Diags ignored = diags_new(m->arena);
  if (!tma_map_read(bytes, &box, &address) || !tma_box_check(&box, &ignored)) return NULL;
  return ptx_machine_map(m, &box, address, bytes, &ignored) ? m->tensors : NULL;
}

static const PtxTensor *tensor_at(PtxMachine *m, PtxWarp *w, const PtxGroup *g, uint32_t lane) {
  PtxSpace space = PTX_SPACE_GENERIC;
  const uint64_t address = ptx_access_address(m, w, g, lane);
  const PtxPlace place = ptx_place(m, ptx_thread(w, (int)lane), &space, address, PTX_MAP_BYTES);
  const char *why = NULL;
  const PtxTensor *tensor = place.bytes ? ptx_tensor_of(m, place.bytes) : NULL;
  if (!tensor && place.bytes) tensor = ptx_made_tensor(m, place.bytes, &why);
  if (!tensor && place.bytes && !why) tensor = coded_tensor(m, place.bytes);
  if (tensor) return tensor;
  ptx_stop(m, w, PTX_FINDING_NOT_RUN, 1u << lane,
           why ? why : "no tensor map lies at this address: --arg tma:shape=…,box=… makes one");
  return NULL;
}

// ---- one box ------------------------------------------------------------------------------------

typedef struct Box {
  PtxMachine *m;
  PtxWarp *w;
  uint32_t lane;
  const PtxTensor *tensor;
  TmaUnit unit;
  int64_t start[TMA_RANK_MAX];  // the coordinates, the first in units
  int64_t corner;               // in the cluster's shared memory
  bool is_store, reduces;
  PtxModifier logic;  // of a reduction
  PtxType type;
  const PtxMbarrier *mbarrier;  // that is told of it
  PtxToucher by;
} Box;

// The part of a row of the box that lies in the tensor: `n` units from `first` on.
typedef struct BoxRow {
  bool inside;
  uint64_t address;  // of unit 0 of the tensor's row
  int64_t first, n;
  PtxPlace place;  // of all of them; NULL: some lie nowhere
} BoxRow;

// The address of the first element of a row of the box, before its innermost coordinate; false when
// the row lies outside of the tensor.
static bool row_address(const Box *b, int64_t row, uint64_t *address) {
  const TmaBox *box = &b->tensor->box;
  int64_t at = 0;
  for (int d = 1; d < box->rank; d++) {
    const int64_t n = (box->box[d] + box->step[d] - 1) / box->step[d];
    const int64_t index = b->start[d] + row % n * box->step[d];
    if (index < 0 || index >= box->shape[d]) return false;
    at += index * box->stride[d];
    row /= n;
  }
  *address = b->tensor->address + (uint64_t)at;
  return true;
}

// The units of a row of the tensor.
static int64_t width(const Box *b) { return b->tensor->box.shape[0] / b->unit.elements; }

static BoxRow take_row(const Box *b, int64_t row) {
  BoxRow r = {0};
  if (!row_address(b, row, &r.address)) return r;
  r.inside = true;
  r.first = max64(b->start[0], 0);
  r.n = min64(b->start[0] + b->tensor->layout->slab.row_bytes / b->unit.shared_bytes, width(b)) -
        r.first;
  if (r.n <= 0) return r;
  PtxSpace space = PTX_SPACE_GLOBAL;
  r.place = ptx_place(b->m, 0, &space, r.address + (uint64_t)(r.first * b->unit.global_bytes),
                      r.n * b->unit.global_bytes);
  return r;
}

// Between `values` and global memory. *unknown: of a store, whether they are; of a load it is found
// out.
static void move_bytes(const Box *b, const PtxPlace *place, int bytes, unsigned char *values,
                       bool *unknown) {
  const bool is_unknown = ptx_place_is_unknown(b->m, place, PTX_SPACE_GLOBAL, bytes);
  if (!b->is_store) *unknown |= is_unknown;
  if (b->reduces)
    ptx_atomic_bytes(b->logic, b->type, place->bytes, values, bytes);
  else
    memcpy(b->is_store ? place->bytes : values, b->is_store ? values : place->bytes, (size_t)bytes);
  if (b->reduces)
    ptx_mark_atomic(place, bytes);
  else if (b->is_store)
    ptx_mark_written(place, bytes, true);
  if (b->is_store && (*unknown || (b->reduces && is_unknown))) ptx_mark_unknown(place, bytes);
}

static bool move_unit(const Box *b, const BoxRow *row, int64_t index, unsigned char *bytes,
                      bool *unknown) {
  const int n = b->unit.global_bytes;
  if (index < 0 || index >= width(b)) return true;
  PtxSpace space = PTX_SPACE_GLOBAL;
  const uint64_t address = row->address + (uint64_t)(index * n);
  const PtxPlace place = ptx_place(b->m, 0, &space, address, n);
  if (!place.bytes) {
    PtxFinding *f = ptx_find(b->m, b->w, PTX_FINDING_OUT_OF_BOUNDS, b->w->pc, -1, 1u << b->lane);
    f->address = address;
    f->space = space;
    f->bytes = n;
    b->m->stopped = true;
    return false;
  }
  move_bytes(b, &place, n, bytes, unknown);
  return true;
}

// A row that lies in memory is moved a chunk at a time, the bytes of the chunk that the row has.
// Otherwise each unit finds its own place. A unit with a gap behind it is a chunk.
static bool move_chunk(const Box *b, const BoxRow *row, int64_t byte, unsigned char *values,
                       bool *unknown) {
  const int64_t bytes = b->unit.shared_bytes, index = b->start[0] + byte / bytes;
  if (!row->place.bytes) {
    for (int e = 0; row->inside && e < CHUNK; e += (int)bytes)
      if (!move_unit(b, row, index + e / bytes, values + e, unknown)) return false;
    return true;
  }
  const int64_t from = max64(index, row->first),
                n = min64(index + CHUNK / bytes, row->first + row->n) - from,
                moved = b->unit.global_bytes, at = (from - row->first) * moved;
  const PtxPlace place = {row->place.bytes + at, row->place.state + at, row->place.offset + at};
  if (n > 0) move_bytes(b, &place, (int)(n * moved), values + (from - index) * bytes, unknown);
  return true;
}

// 16 bytes of a row, which no swizzle tears apart; outside of the tensor there are zeros.
static bool copy_chunk(Box *b, const BoxRow *part, int64_t row, int64_t byte) {
  const int64_t at = tma_box_address(&b->tensor->box, b->corner, row, byte);
  unsigned char *shared = b->m->shared.bytes + at, values[CHUNK] = {0};
  const PtxPlace there = {shared, b->m->shared.state + at, at};
  bool unknown = b->is_store && ptx_place_is_unknown(b->m, &there, PTX_SPACE_SHARED, CHUNK);
  if (b->is_store) {
    memcpy(values, shared, CHUNK);
    ptx_touch_piece(&b->by, at, NULL);
    if (b->m->orders) ptx_orders_touch(b->m, b->w, at, CHUNK, PTX_SENDS);
  }
  if (!move_chunk(b, part, byte, values, &unknown)) return false;
  if (b->is_store) return true;
  ptx_touch_piece(&b->by, at, values);
  if (b->m->orders) ptx_orders_lands(b->m, b->w, at, CHUNK);
  memcpy(shared, values, CHUNK);
  memset(b->m->shared.state + at,
         PTX_BYTE_WRITTEN | PTX_BYTE_DATA | (unknown ? PTX_BYTE_UNKNOWN : 0), CHUNK);
  return true;
}

static bool copy_box(Box *b) {
  const LayoutSlab *slab = &b->tensor->layout->slab;
  PtxTurn turns[PTX_TURNS] = {0};
  b->by = b->is_store ? ptx_toucher(b->m, b->w, (int)b->lane, PTX_SENDS)
                      : ptx_toucher_landing(b->m, b->w, (int)b->lane, b->mbarrier);
  b->by.turn = turns;
  for (int64_t row = 0; row < slab->rows; row++) {
    const BoxRow part = take_row(b, row);
    for (int64_t byte = 0; byte < slab->row_bytes; byte += CHUNK)
      if (!copy_chunk(b, &part, row, byte)) return false;
  }
  b->m->events++;
  return true;
}

// The corner of the box in shared memory; false after a finding that ends the block.
static bool take_corner(Box *b, const PtxInst *i, const PtxGroup *g) {
  PtxAccess access;
  ptx_access_begin(b->m, b->w, i, 1u << b->lane, CHUNK, !b->is_store, g, &access);
  const PtxPlace place = ptx_access_lane(b->m, b->w, &access, b->lane, PTX_SPACE_SHARED,
                                         ptx_access_address(b->m, b->w, g, b->lane));
  if (!place.bytes) return false;
  b->corner = place.offset;
  const TmaBox *box = &b->tensor->box;
  if (b->corner % tma_box_alignment(box)) {
    ptx_stop(
        b->m, b->w, PTX_FINDING_MISALIGNED, 1u << b->lane,
        arena_printf(b->m->arena, "a box lies at multiples of %d bytes", tma_box_alignment(box)));
    return false;
  }
  if (ptx_smem_offset(b->m, b->corner) + tma_box_bytes(box) <= b->m->smem) return true;
  ptx_stop(b->m, b->w, PTX_FINDING_OUT_OF_BOUNDS, 1u << b->lane,
           "the box does not end in shared memory");
  return false;
}

// The box comes to each block of the cluster that it is for, and is told of there.
static bool load_box(Box *b, const PtxInst *i) {
  PtxMachine *m = b->m;
  const PtxMbarrier *own = ptx_mbarrier_of(m, b->w, i, &i->groups[2], b->lane);
  if (!own) return false;
  const int64_t corner = ptx_smem_offset(m, b->corner), told = ptx_smem_offset(m, own->address);
  const bool casts = ptx_has(i, PTX_MOD_multicast);
  const uint32_t ranks = ptx_ranks_of(m, b->w, i, 3, b->lane, ptx_rank_at(m, b->corner));
  // The even CTA of a pair is told, in the hardware by an mbarrier's address without the bit of the
  // odd one; an address that names no block is taken for that.
  const bool pair = ptx_has(i, PTX_MOD_cta_group_2);
  const bool names = ptx_rank_at(m, own->address) != b->w->block->rank;
  for (int rank = 0; rank < m->n_blocks; rank++) {
    if (!(ranks >> rank & 1)) continue;
    const int64_t base = m->smem_stride * rank;
    const int64_t told_at = pair && (casts || !names) ? m->smem_stride * (rank & ~1) + told
                            : casts                   ? base + told
                                                      : own->address;
    PtxMbarrier *at = ptx_mbarrier_at(m, b->w, b->lane, told_at);
    if (!at) return false;
    ptx_reach(m, b->w, (int)b->lane, rank);
    b->corner = base + corner;
    b->mbarrier = at;
    if (!copy_box(b)) return false;
    ptx_mbarrier_bytes(m, b->w, at, tma_box_moved_bytes(&b->tensor->box));
  }
  return !m->stopped;
}

// The elements' type is the map's.
static bool take_reduction(Box *b, const PtxInst *i) {
  b->reduces = true;
  b->logic = i->form.logic;
  const char *name = b->tensor->box.type;
  b->type = ptx_type_find(name, (int)strlen(name));
  const char *why = b->type != PTX_NO_TYPE ? ptx_reduction_refuses(i, b->type)
                                           : "reductions do not have the map's type";
  if (why) ptx_stop(b->m, b->w, PTX_FINDING_NOT_RUN, 1u << b->lane, why);
  return !why;
}

// False after a finding: the copy would tear a unit, or its map is for loads alone.
static bool take_units(Box *b) {
  const TmaBox *box = &b->tensor->box;
  b->unit = tma_box_unit(box);
  const bool tears = b->start[0] % b->unit.elements != 0, writes = b->is_store && box->packed;
  b->start[0] /= b->unit.elements;
  if (!tears && !(writes && !box->packed->is_stored)) return true;
  ptx_stop(b->m, b->w, PTX_FINDING_NOT_RUN, 1u << b->lane,
           tears ? arena_printf(b->m->arena, "the first coordinate of %s is a multiple of %d",
                                box->type, b->unit.elements)
                 : arena_printf(b->m->arena, "a map of %s is for loads alone", box->type));
  return false;
}

static bool run_box(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t lane, bool is_store) {
  const PtxGroup *map = &i->groups[is_store ? 0 : 1], *shared = &i->groups[is_store ? 1 : 0];
  Box b = {.m = m, .w = w, .lane = lane, .is_store = is_store};
  b.tensor = tensor_at(m, w, map, lane);
  if (!b.tensor || !take_corner(&b, i, shared)) return false;
  if (map->n - 1 != b.tensor->box.rank) {
    ptx_stop(m, w, PTX_FINDING_NOT_RUN, 1u << lane,
             "the map has another number of dimensions than the instruction");
    return false;
  }
  for (int d = 0; d < b.tensor->box.rank; d++)
    b.start[d] = (int32_t)ptx_lanes(m, w, map, 1 + d)[lane];
  if (!take_units(&b)) return false;
  if (!is_store) return load_box(&b, i);
  if (ptx_has(i, PTX_MOD_reduce) && !take_reduction(&b, i)) return false;
  ptx_note_sent(w, lane);
  return copy_box(&b) && !m->stopped;
}

const char *ptx_tensor_refuses(const PtxInst *i) {
  const bool is_store = ptx_has(i, PTX_MOD_bulk_group);
  const int map = is_store ? 0 : 1;
  if (ptx_has(i, PTX_MOD_reduce) && !is_store) return "a reduction of a box needs .bulk_group";
  if (i->n_groups < (is_store ? 2 : 3)) return "a copy of a box takes more operands";
  for (int g = 0; g < (is_store ? 2 : 3); g++)
    if (i->groups[g].kind != PTX_GROUP_ADDRESS || (g != map && i->groups[g].n != 1))
      return "a copy of a box takes addresses, and coordinates behind the map's";
  if (ptx_has(i, PTX_MOD_multicast) &&
      (i->n_groups < 4 || i->groups[3].kind != PTX_GROUP_VALUE || i->groups[3].n != 1))
    return "a multicast takes a mask of blocks";
  const int n = i->groups[map].n - 1;
  return n >= 1 && n <= TMA_RANK_MAX ? NULL : "a map takes 1 to 5 coordinates";
}

void run_cp_tensor(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask) {
  const bool is_store = ptx_has(i, PTX_MOD_bulk_group);
  FOR_LANES(mask) if (!run_box(m, w, i, l, is_store)) return;
}
